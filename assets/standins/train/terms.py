"""The course's terms with one true sentence each, in English and Chinese. Standard library only."""

from __future__ import annotations

# term (en), term (zh), sentence (en), sentence (zh)
TERMS = (
    (
        "tensor parallelism",
        "张量并行",
        "Tensor parallelism splits the weight matrices of each layer across several devices, "
        "which compute together.",
        "张量并行把每一层的权重矩阵切分到多张卡上，由它们一起计算。",
    ),
    (
        "GQA",
        " GQA ",
        "GQA lets several query heads share one key and value head, "
        "which makes the KV cache smaller.",
        "GQA 让多个查询头共用一组键和值，从而减小 KV 缓存。",
    ),
    (
        "the KV cache",
        " KV 缓存",
        "The KV cache keeps the keys and values of past tokens, "
        "so that they are not computed again.",
        "KV 缓存保存已处理词元的键和值，避免重复计算。",
    ),
    (
        "vLLM",
        " vLLM ",
        "vLLM is an open-source engine that serves large language models.",
        "vLLM 是一个开源的大语言模型推理和服务引擎。",
    ),
    (
        "vllm-ascend",
        " vllm-ascend ",
        "vllm-ascend is a platform plugin that lets vLLM run on Ascend NPUs.",
        "vllm-ascend 是让 vLLM 在昇腾 NPU 上运行的平台插件。",
    ),
    (
        "an NPU",
        " NPU ",
        "An NPU is a processor made for the computations of neural networks.",
        "NPU 是为神经网络计算设计的处理器。",
    ),
    (
        "HBM",
        " HBM ",
        "HBM is fast memory that sits next to the accelerator chip.",
        "HBM 是紧挨加速器芯片的高带宽内存。",
    ),
    (
        "a token",
        "词元",
        "A token is the unit of text that a language model reads and writes.",
        "词元是语言模型读写文本的基本单位。",
    ),
    (
        "prefill",
        "预填充",
        "Prefill is the phase in which the model processes the whole prompt at once.",
        "预填充是模型一次处理完整个提示的阶段。",
    ),
    (
        "decode",
        "解码阶段",
        "Decode is the phase in which the model writes the answer one token at a time.",
        "解码阶段是模型逐个词元写出回答的阶段。",
    ),
    (
        "TTFT",
        " TTFT ",
        "TTFT is the time from the request to the first token of the answer.",
        "TTFT 是从发出请求到收到第一个词元的时间。",
    ),
    (
        "streaming",
        "流式输出",
        "Streaming sends the answer piece by piece while it is being written.",
        "流式输出是在生成的同时把回答一段一段地发送出来。",
    ),
    (
        "temperature",
        "温度参数",
        "Temperature controls how random the choice of the next token is.",
        "温度参数控制选择下一个词元时的随机程度。",
    ),
    (
        "the context length",
        "上下文长度",
        "The context length is the largest number of tokens that the model can handle at once.",
        "上下文长度是模型一次能处理的最大词元数。",
    ),
    (
        "quantization",
        "量化",
        "Quantization stores the weights with fewer bits to save memory.",
        "量化用更少的比特存储权重，以节省内存。",
    ),
    (
        "continuous batching",
        "连续批处理",
        "Continuous batching lets new requests join the running batch at every step.",
        "连续批处理让新请求在每一步都能加入正在运行的批次。",
    ),
    (
        "PagedAttention",
        " PagedAttention ",
        "PagedAttention stores the KV cache in small blocks, "
        "like the pages of an operating system.",
        "PagedAttention 像操作系统的分页一样，把 KV 缓存存成小块。",
    ),
    (
        "CANN",
        " CANN ",
        "CANN is the software stack for computing on Ascend processors.",
        "CANN 是昇腾处理器的计算软件栈。",
    ),
    (
        "torch_npu",
        " torch_npu ",
        "torch_npu is the plugin that lets PyTorch use Ascend NPUs.",
        "torch_npu 是让 PyTorch 使用昇腾 NPU 的插件。",
    ),
    (
        "pipeline parallelism",
        "流水线并行",
        "Pipeline parallelism places different layers of the model on different devices.",
        "流水线并行把模型的不同层放到不同的卡上。",
    ),
    (
        "data parallelism",
        "数据并行",
        "Data parallelism runs several copies of the model, and each handles other requests.",
        "数据并行运行模型的多个副本，各自处理不同的请求。",
    ),
)
