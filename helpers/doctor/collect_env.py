"""Read a report of `collect_env.py` (vllm-ascend's, or vLLM's own): the form in which people send
the state of a machine. Pure functions on text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from helpers.doctor import npu_smi, packages, version_files
from helpers.doctor.reading import clean

_EMPTY = {"", "N/A", "None", "Could not collect"}
_ERROR = re.compile(r"^(?:\w+ )*?([A-Z]\w*(?:Error|Exception)): (.*)$")
_PLATFORM = re.compile(r"vLLM is running on (\w+)|Platform plugin (\w+) is activated")
_LOG_PREFIX = re.compile(r"^(?:INFO|WARNING|ERROR|DEBUG) [\d: -]+\[[^\]]*\]\s*")
_CANN = re.compile(r"^(?:CANN:\s*$|package_name\s*=)", re.MULTILINE)


@dataclass(frozen=True)
class CollectEnv:
    """What a report says; None where it does not (cut off, crashed, another script).

    Attributes:
        packages: version by distribution of its library part.
        environment: its "ENV Variables".
        npus: the table of npu-smi in it; cann: the install info in it.
        errors: "Type: text" of the tracebacks in it, in order.
        platform: which platform vLLM took, where a log line says so.
    """

    vllm_version: str | None = None
    vllm_ascend_version: str | None = None
    torch_version: str | None = None
    torch_npu_version: str | None = None
    python_version: str | None = None
    libc_version: str | None = None
    os: str | None = None
    packages: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    npus: npu_smi.Table = field(default_factory=npu_smi.Table)
    cann: version_files.VersionFile = field(default_factory=version_files.VersionFile)
    errors: tuple[str, ...] = ()
    platform: str | None = None

    @property
    def error(self) -> str | None:
        """Return the first error of its tracebacks: what came first is the cause of the rest."""
        return self.errors[0] if self.errors else None


def read(text: str) -> CollectEnv:
    """Return what a report says."""
    cleaned = clean(text)
    said = _keys(cleaned)
    installed = packages.pip_list(
        "\n".join(line for line in cleaned.splitlines() if "[pip3]" in line)
    )
    python = re.match(r"\d+\.\d+(?:\.\d+)?", said.get("python version", ""))
    libc = re.search(r"glibc-([\d.]+)", said.get("libc version", ""))
    cann = _CANN.search(cleaned)
    platform = [m[1] or m[2] for m in _PLATFORM.finditer(cleaned)]
    return CollectEnv(
        vllm_version=_word(said.get("vllm version")),
        vllm_ascend_version=_word(said.get("vllm ascend version")),
        torch_version=_word(said.get("pytorch version")) or installed.get("torch"),
        torch_npu_version=installed.get("torch-npu"),
        python_version=python[0] if python else None,
        libc_version=libc[1] if libc else None,
        os=said.get("os"),
        packages=installed,
        environment=_environment(cleaned),
        npus=npu_smi.table(cleaned),
        cann=version_files.read(cleaned[cann.start() :] if cann else ""),
        errors=_errors(cleaned),
        platform=platform[-1] if platform else None,
    )


def _keys(text: str) -> dict[str, str]:
    """Return key (lower case) → value of "key: value" and "key      : value" lines."""
    said: dict[str, str] = {}
    for line in text.splitlines():
        match = re.match(r"^([A-Za-z][\w ]*?)\s*: (\S.*?)\s*$", line)
        if match and match[2] not in _EMPTY:
            said.setdefault(match[1].lower(), match[2])
    return said


def _word(text: str | None) -> str | None:
    return text.split()[0] if text else None


def _environment(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    inside = False
    for line in text.splitlines():
        match = re.match(r"^([A-Z][A-Z0-9_]*)=(.*)$", line)
        if match:
            found.setdefault(match[1], match[2])
            inside = True
        elif inside and line.startswith(("NPU:", "CANN:")):
            break
    return found


def _errors(text: str) -> tuple[str, ...]:
    found = []
    for line in text.splitlines():
        match = _ERROR.match(_LOG_PREFIX.sub("", line).strip())
        if match:
            found.append(f"{match[1]}: {match[2]}")
    return tuple(dict.fromkeys(found))
