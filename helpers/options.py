"""The options of one `vllm serve`, under the field's names, and the arguments that they become.

Data only: which engine takes them is `engines`' business, what they are set to is the lab's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from helpers.errors import BadOption

FLAGS = {
    "served_model_name": "--served-model-name",
    "host": "--host",
    "port": "--port",
    "dtype": "--dtype",
    "max_model_len": "--max-model-len",
    "max_num_seqs": "--max-num-seqs",
    "gpu_memory_utilization": "--gpu-memory-utilization",
    "tensor_parallel_size": "--tensor-parallel-size",
    "enforce_eager": "--enforce-eager",
    "limit_mm_per_prompt": "--limit-mm-per-prompt",
    "trust_remote_code": "--trust-remote-code",
    "enable_auto_tool_choice": "--enable-auto-tool-choice",
    "tool_call_parser": "--tool-call-parser",
    "seed": "--seed",
    "allowed_media_domains": "--allowed-media-domains",
}
"""Option → flag of `vllm serve`; each flag is held against vLLM 0.18.0, 0.23.0 and 0.32.0 in
tests/unit/test_vllm_cli.py.
"""

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")


@dataclass(frozen=True)
class Options:
    """What a server is asked for; None leaves the flag out, and vLLM's own default holds.

    Attributes:
        served_model_name: the name that requests use as `model`.
        host: address to listen on; 127.0.0.1 keeps the server on this machine.
        port: TCP port; 0 takes a free one when the server starts.
        dtype: weights and activations, for instance "bfloat16".
        max_model_len: context length in tokens, prompt and answer together.
        max_num_seqs: sequences that may run at once.
        gpu_memory_utilization: share of the device's memory (HBM on an NPU) that vLLM may take, 0 <
            x <= 1.
        tensor_parallel_size: devices that hold one copy of the model together.
        enforce_eager: True leaves out graph capture.
        limit_mm_per_prompt: items a prompt per modality, for instance {"image": 10}.
        trust_remote_code: True runs Python code that lies beside the weights.
        enable_auto_tool_choice, tool_call_parser: both are needed for requests with `tools`.
        seed: of sampling.
        allowed_media_domains: hosts that pictures by URL may come from, names only; empty allows
            any. Redirects are off where it is set.
        image_fetch_timeout: seconds in which the server must have fetched a picture by URL; None
            leaves vLLM's 5. It holds for all requests to the server.
        devices: device ordinals as the container sees them; empty leaves ASCEND_RT_VISIBLE_DEVICES
            as it is.
        original_pair: True sets the two variables of the course that this one grew from, to see
            what they do.
        extra: further arguments, passed on as they are.
    """

    served_model_name: str
    host: str = "127.0.0.1"
    port: int = 8000
    dtype: str | None = None
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    gpu_memory_utilization: float | None = None
    tensor_parallel_size: int | None = None
    enforce_eager: bool | None = None
    limit_mm_per_prompt: Mapping[str, Any] | None = None
    trust_remote_code: bool = False
    enable_auto_tool_choice: bool = False
    tool_call_parser: str | None = None
    seed: int | None = None
    allowed_media_domains: tuple[str, ...] = ()
    image_fetch_timeout: int | None = None
    devices: tuple[int, ...] = ()
    original_pair: bool = False
    extra: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse values that cannot be right, before vLLM spends a minute on them.

        Raises:
            BadOption: names the option, its value and the rule.
        """
        object.__setattr__(self, "devices", tuple(self.devices))
        object.__setattr__(self, "extra", tuple(self.extra))
        self._check_media()
        counts = ("max_model_len", "max_num_seqs", "tensor_parallel_size", "image_fetch_timeout")
        for name in counts:
            value = getattr(self, name)
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int) or value < 1
            ):
                raise BadOption(name=name, value=repr(value), rule=">= 1 (int)")
        if not 0 <= self.port <= 65535:
            raise BadOption(name="port", value=repr(self.port), rule="0-65535")
        for device in self.devices:
            if isinstance(device, bool) or not isinstance(device, int) or device < 0:
                raise BadOption(name="devices", value=repr(device), rule="[0, 1, …] (int >= 0)")
        share = self.gpu_memory_utilization
        if share is not None and not 0 < share <= 1:
            raise BadOption(name="gpu_memory_utilization", value=repr(share), rule="0 < x <= 1")

    def _check_media(self) -> None:
        """Refuse what vLLM would take and never match: it compares the host of a URL, in lower
        case.
        """
        given: object = self.allowed_media_domains or ()
        hosts: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
        for host in hosts:
            if not isinstance(host, str) or not _HOST.fullmatch(host):
                rule = '["127.0.0.1", "example.com", …]'
                raise BadOption(name="allowed_media_domains", value=repr(host), rule=rule)
        object.__setattr__(self, "allowed_media_domains", tuple(host.lower() for host in hosts))

    def with_values(self, **changes: Any) -> Options:
        """Return the same options with some values changed."""
        return replace(self, **changes)

    def arguments(self) -> list[str]:
        """Return the arguments of `vllm serve` after the model, one list item each, nothing to be
        quoted.
        """
        words: list[str] = []
        for name, flag in FLAGS.items():
            value = getattr(self, name)
            if value is None or value is False or value == ():
                continue
            words.append(flag)
            if isinstance(value, tuple):
                words += value
            elif value is not True:
                words.append(json.dumps(value) if isinstance(value, Mapping) else str(value))
        return [*words, *self.extra]

    def llm_arguments(self) -> dict[str, Any]:
        """Return the same options as keyword arguments of vLLM's `LLM`; those of the HTTP server
        are left out.
        """
        server_only = {
            "served_model_name",
            "host",
            "port",
            "enable_auto_tool_choice",
            "tool_call_parser",
        }
        named = {name: getattr(self, name) for name in FLAGS if name not in server_only}
        named["allowed_media_domains"] = list(self.allowed_media_domains) or None
        return {
            name: value for name, value in named.items() if value is not None and value is not False
        }


def given(**values: Any) -> dict[str, Any]:
    """Return the values that were really given: None means "the engine's course value" and is left
    out.

    Raises:
        BadOption: a name that Options does not have.
    """
    known = {field.name for field in fields(Options)}
    for name in values:
        if name not in known:
            raise BadOption(name=name, value=repr(values[name]), rule=", ".join(sorted(known)))
    return {name: value for name, value in values.items() if value is not None}
