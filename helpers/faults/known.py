"""The ten faults as data: what is changed in a deployment that works, which lines of the log tell
it, what a right repair keeps, and how far a repaired start must come.

The id of a fault is that of its entry in the knowledge base. Not for starting anything: `trial`
does that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from helpers import paths
from helpers.faults.deployment import Deployment

Depth = Literal["arguments", "config", "engine", "serving"]

CONFIGURED = r"Resolved architecture"
LOADED = r"Loading weights took"
SIZED = r"KV cache size"
"""Lines of a start that has come past a stage; vLLM 0.18, 0.23 and 0.32 print them."""

PICTURES = paths.STANDINS / "minicpm_v"
"""A checkpoint with Python code of its own beside the weights, on every engine: these faults end
before a device is touched.
"""

LIMIT = {"image": 10}


@dataclass(frozen=True)
class Fault:
    """One way in which a deployment fails.

    Attributes:
        id: entry of the knowledge base.
        depth: how far the start comes; "serving": it starts, and fails later.
        plant: changes, as Deployment.with_changes takes them, that make it fail.
        evidence: regular expression of the lines that tell the cause.
        right: whether a repaired deployment (second) still does what the broken one (first) was
            wanted for.
        repair: changes that are right; "model_dir" and "asked_name" are filled in by the case.
        past: regular expression of the line that a repaired start must reach; "" means that it
            must serve and answer.
        pictures: True for the picture model in place of the text model.
        tools: True where the deployment has its tool flags.
        damaged: True for a copy of the model with one weight file cut in half.
        stranger: True where another program listens on the port before the server does.
        kill: True where the engine's process is killed once it serves.
    """

    id: str
    depth: Depth
    evidence: str
    right: Callable[[Deployment, Deployment], bool]
    plant: Mapping[str, Any] = field(default_factory=dict)
    repair: Mapping[str, Any] = field(default_factory=dict)
    past: str = CONFIGURED
    pictures: bool = False
    tools: bool = False
    damaged: bool = False
    stranger: bool = False
    kill: bool = False


def _limited(broken: Deployment, mended: Deployment) -> bool:
    return mended.options.limit_mm_per_prompt == LIMIT and mended.options.extra == ()


def _validated(broken: Deployment, mended: Deployment) -> bool:
    checks = "--fail-on-environ-validation" in mended.options.extra
    return checks and not mended.variables and mended.options.limit_mm_per_prompt == LIMIT


def _long_flag(broken: Deployment, mended: Deployment) -> bool:
    return mended.options.max_model_len == 4096 and mended.options.extra == ()


def _parses_tools(broken: Deployment, mended: Deployment) -> bool:
    return mended.options.enable_auto_tool_choice and bool(mended.options.tool_call_parser)


def _elsewhere(broken: Deployment, mended: Deployment) -> bool:
    return mended.options.port != broken.options.port and mended.model == broken.model


def _trusts(broken: Deployment, mended: Deployment) -> bool:
    return mended.options.trust_remote_code and mended.model == broken.model


def _whole(broken: Deployment, mended: Deployment) -> bool:
    return mended.model.path != broken.model.path and mended.options == broken.options


def _shorter(broken: Deployment, mended: Deployment) -> bool:
    length = mended.options.max_model_len
    return length is not None and 2048 <= length < (broken.options.max_model_len or 0)


def _same_name(broken: Deployment, mended: Deployment) -> bool:
    return mended.asked_name == mended.options.served_model_name


def _unchanged(broken: Deployment, mended: Deployment) -> bool:
    return mended == broken


CONTEXT = 1_048_576
"""Tokens that no KV cache of the labs holds: 1.5 GiB for the stand-in, which has 1 GiB."""

FAULTS: tuple[Fault, ...] = (
    Fault(
        "flag_unknown",
        "arguments",
        evidence=r"unrecognized arguments: --max-model-length",
        right=_long_flag,
        plant={"max_model_len": None, "extra": ("--max-model-length", "4096")},
        repair={"extra": (), "max_model_len": 4096},
    ),
    Fault(
        "limit_mm_old_syntax",
        "arguments",
        evidence=r"argument --limit-mm-per-prompt",
        right=_limited,
        plant={"trust_remote_code": True, "extra": ("--limit-mm-per-prompt", "image=10")},
        repair={"extra": (), "limit_mm_per_prompt": LIMIT},
        pictures=True,
    ),
    Fault(
        "tool_choice_without_parser",
        "arguments",
        evidence=r"enable-auto-tool-choice requires --tool-call-parser",
        right=_parses_tools,
        plant={"tool_call_parser": None},
        repair={"tool_call_parser": "minicpm5"},
        tools=True,
    ),
    Fault(
        "variable_unknown",
        "arguments",
        evidence=r"Unknown vLLM environment variable",
        right=_validated,
        plant={
            "trust_remote_code": True,
            "extra": ("--fail-on-environ-validation",),
            "variables": {"VLLM_LIMIT_MM_PER_PROMPT": '{"image": 10}'},
        },
        repair={"variables": {"VLLM_LIMIT_MM_PER_PROMPT": None}, "limit_mm_per_prompt": LIMIT},
        pictures=True,
    ),
    Fault(
        "port_in_use",
        "config",
        evidence=r"Address already in use",
        right=_elsewhere,
        repair={"port": 0},
        stranger=True,
    ),
    Fault(
        "remote_code_not_trusted",
        "config",
        evidence=r"contains custom code which must|trust_remote_code=True",
        right=_trusts,
        repair={"trust_remote_code": True},
        pictures=True,
    ),
    Fault(
        "weights_damaged",
        "engine",
        evidence=r"SafetensorError|incomplete metadata|MetadataIncompleteBuffer|InvalidHeader",
        right=_whole,
        past=LOADED,
        damaged=True,
    ),
    Fault(
        "kv_cache_smaller_than_context",
        "engine",
        evidence=r"KV cache is needed, which is larger|larger than the available KV cache",
        right=_shorter,
        plant={
            "max_model_len": CONTEXT,
            "extra": ("--hf-overrides", f'{{"max_position_embeddings": {CONTEXT}}}'),
        },
        repair={"max_model_len": 8192},
        past=SIZED,
    ),
    Fault(
        "model_name_unknown",
        "serving",
        evidence=r"does not exist|404 Not Found",
        right=_same_name,
        past="",
    ),
    Fault(
        "engine_died",
        "serving",
        evidence=r"engine core exited unexpectedly|EngineDeadError|died unexpectedly",
        right=_unchanged,
        past="",
        kill=True,
    ),
)

CAUSES = tuple(
    sorted(
        [one.id for one in FAULTS]
        + [
            "tool_parser_unknown",
            "context_longer_than_the_model",
            "model_path_wrong",
            "weights_missing",
            "cpu_memory_too_small",
        ]
    )
)
"""Ids to choose from: the faults, and five that they are easily taken for."""
