"""Routing: where an utterance, Chinese or English, belongs; when to ask back; what lies below."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from helpers.cli import main
from helpers.diagnose import routing

VLLM, ASCEND, SGLANG = "vllm-project/vllm", "vllm-project/vllm-ascend", "sgl-project/sglang"
LLM, SD, MOTOR = (f"verylucky01/MindIE-{name}" for name in ("LLM", "SD", "Motor"))
PYMOTOR, TURBO = "verylucky01/MindIE-PyMotor", "verylucky01/MindIE-Turbo"
SLIM = "verylucky01/MindStudio-ModelSlim"

GO = [
    ("vllm 的 PagedAttention 是怎么实现的", [VLLM]),
    ("How does vLLM schedule preemption?", [VLLM]),
    ("vLLM --max-model-len 应该怎么设置", [VLLM]),
    ("does vllm support LoRA", [VLLM]),
    ("vllm-ascend 安装失败", [ASCEND]),
    ("vLLM-Ascend docker image for A3", [ASCEND]),
    ("vllm ascend 的 CANN 版本配套关系", [ASCEND]),
    ("vllm_ascend graph mode fails with FULL_DECODE_ONLY", [ASCEND]),
    ("vllm-ascend HCCL 多机超时怎么办", [ASCEND]),
    ("vllm-ascend 报 EL0009", [ASCEND]),
    ("which environment variables does vllm-ascend read", [ASCEND]),
    ("vllm-ascend 支持 MiniCPM-V-4_5 吗", [VLLM, ASCEND]),
    ("Is tool calling supported in vllm-ascend?", [VLLM, ASCEND]),
    ("vllm-ascend 的采样是怎么实现的", [VLLM, ASCEND]),
    ("how does vllm-ascend override the attention backend", [VLLM, ASCEND]),
    ("vllm-ascend 和 vllm 的 model runner 有什么区别", [VLLM, ASCEND]),
    ("vllm-ascend w8a8 量化权重怎么加载", [VLLM, ASCEND]),
    ("NPUModelRunner 的实现", [VLLM, ASCEND]),
    ("MindIE-LLM 怎么部署 Qwen3", [LLM]),
    ("mindie llm continuous batching", [LLM]),
    ("MindIE-LLM 性能调优", [LLM]),
    ("SGLang 在昇腾上怎么安装", [SGLANG]),
    ("sglang radix cache on NPU", [SGLANG]),
    ("MindIE-SD 能跑 Wan2.1 吗", [SD]),
    ("mindie-sd quantization of DiT", [SD]),
    ("MindIE-Motor 的健康检查接口", [MOTOR]),
    ("mindie motor endpoint load balancing", [MOTOR]),
    ("MindIE-Motor 部署后推理精度不对", [LLM, MOTOR]),
    ("MindIE-Motor out of memory during inference", [LLM, MOTOR]),
    ("MindIE-PyMotor 的 coordinator 端口怎么配", [PYMOTOR]),
    ("PyMotor 推理很慢", [ASCEND, SGLANG, PYMOTOR]),
    ("mindie-pymotor accuracy problem", [ASCEND, SGLANG, PYMOTOR]),
    ("MindIE-Turbo 安装", [TURBO]),
    ("how does MindIE-Turbo change the vllm scheduler", [TURBO, VLLM, ASCEND]),
    ("MindIE-Turbo 的优化原理", [TURBO, VLLM, ASCEND]),
    ("msmodelslim 导出 AscendV1", [SLIM]),
    ("ModelSlim W8A8 accuracy drop", [SLIM]),
    ("MindStudio-ModelSlim 支持哪些量化方法", [SLIM]),
    ("vllm-ascend 和 MindIE-LLM 哪个快", [ASCEND, LLM]),
    ("compare SGLang with MindIE-LLM", [LLM, SGLANG]),
]
ASK = [
    ("vllm 在 NPU 上怎么跑", "ask.vllm"),
    ("vLLM on Ascend 910B crashes", "ask.vllm"),
    ("昇腾 vllm 报错", "ask.vllm"),
    ("MindIE 怎么用", "ask.mindie"),
    ("mindie deployment guide", "ask.mindie"),
    ("昇腾推理用什么", "ask.ascend"),
    ("NPU out of memory", "ask.ascend"),
    ("Ascend inference is slow", "ask.ascend"),
    ("CANN 8.5 报错 507015", "ask.ascend"),
]
OUT = [
    "今天天气怎么样",
    "How do I train ResNet with PyTorch?",
    "TensorRT-LLM 怎么部署",
    "写一首诗",
    "kubernetes ingress config",
]


def test_utterances_are_forty_or_more() -> None:
    assert len(GO) + len(ASK) + len(OUT) >= 40


@pytest.mark.parametrize(("utterance", "expected"), GO, ids=[said for said, _ in GO])
def test_utterance_goes_to_its_repositories_in_order(utterance: str, expected: list[str]) -> None:
    route = routing.find(utterance)

    assert route.kind == "go"
    found = [place.repository for place in route.places]
    assert found == expected


@pytest.mark.parametrize(("utterance", "why"), ASK, ids=[said for said, _ in ASK])
def test_ambiguous_utterance_is_asked_back(utterance: str, why: str) -> None:
    route = routing.find(utterance, "en")

    assert (route.kind, route.places) == ("ask", [])
    assert route.reason.startswith(
        {"ask.vllm": "Is it up", "ask.mindie": "MindIE has", "ask.ascend": "Only Asc"}[why]
    )


@pytest.mark.parametrize("utterance", OUT)
def test_utterance_about_something_else_is_out_of_scope(utterance: str) -> None:
    assert routing.find(utterance).kind == "out"


def test_every_repository_of_the_table_is_reached() -> None:
    reached = {name for _, names in GO for name in names}

    assert reached == {one.name for one in routing.routes().repositories.values()}


@pytest.mark.parametrize(("utterance", "expected"), GO, ids=[said for said, _ in GO])
def test_question_is_english_and_names_the_repositories(
    utterance: str, expected: list[str]
) -> None:
    question = routing.find(utterance).question

    assert question is not None
    assert question.isascii()
    assert all(name in question for name in expected)


def test_question_carries_the_error_and_the_terms() -> None:
    route = routing.find(
        "vllm-ascend 启动报 RuntimeError: Failed to infer device type，加了 --enforce-eager 也不行"
    )

    assert route.question is not None
    assert (
        'Causes of and solutions for "RuntimeError: Failed to infer device type"' in route.question
    )
    assert "--enforce-eager" in route.question


def test_place_on_github_has_a_search_command_and_one_on_gitcode_an_address() -> None:
    here, there = (
        routing.find(f"{name} 507015").places[0] for name in ("vllm-ascend", "MindIE-LLM")
    )

    assert here.search == f"gh issue list --repo {ASCEND} --state all --search 507015"
    assert there.search is None
    assert there.issues == "https://gitcode.com/Ascend/MindIE-LLM/issues"


def test_search_command_quotes_what_a_shell_would_run() -> None:
    (place,) = routing.find("vllm-ascend SomeError: a'; rm -rf x #").places

    assert place.search is not None
    assert place.search.endswith("'")


@pytest.mark.parametrize(("language", "word"), [("zh", "去这里问"), ("en", "Ask here")])
def test_command_tells_in_the_language_asked(language: str, word: str) -> None:
    done = CliRunner().invoke(main, ["route", "--language", language, "vllm-ascend", "install"])

    assert done.exit_code == 0
    assert done.output.startswith(word)
    assert ASCEND in done.output


def test_command_as_json_has_the_route() -> None:
    done = CliRunner().invoke(main, ["route", "--json", "MindIE"])

    assert json.loads(done.output)["kind"] == "ask"
