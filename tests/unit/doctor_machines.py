"""The machines of tests/fixtures/ascend/machines, composed as its README says."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from helpers.doctor.machine import Machine

FIXTURES = Path(__file__).parents[1] / "fixtures" / "ascend"
FOLDER = FIXTURES / "machines"


@dataclass(frozen=True)
class Composed:
    """A machine and what must be found on it."""

    name: str
    machine: Machine
    expect: dict[str, Any]
    healthy: bool


def names() -> list[str]:
    """Return the machines by name; a name with a leading underscore is only a base."""
    return sorted(p.stem for p in FOLDER.glob("*.yml") if not p.stem.startswith("_"))


@cache
def load(name: str) -> Composed:
    """Return one machine."""
    raw = _with_base(name)
    fields = dict(raw.get("machine", {}))
    fields["npu_smi"] = _tool(raw.get("npu_smi", {"state": "missing"}))
    fields["version_texts"] = {p: _text(t) for p, t in raw.get("texts", {}).items()}
    fields["nodes"] = [_node(one) for one in fields.get("nodes", [])]
    return Composed(
        name, Machine.model_validate(fields), raw.get("expect", {}), raw.get("healthy", False)
    )


def recording(name: str) -> str:
    """Return the text of a recording."""
    return (FIXTURES / "recorded" / name).read_text("utf-8")


def _with_base(name: str) -> dict[str, Any]:
    raw = deepcopy(_raw(name))
    base = raw.pop("base", None)
    if base is None:
        return raw
    under = _with_base(base)
    for key in ("expect", "healthy"):
        under.pop(key, None)
    if "npu_smi" in raw:
        under.pop("npu_smi", None)
    return _merged(under, raw)


@cache
def _raw(name: str) -> Any:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load((FOLDER / f"{name}.yml").read_text("utf-8"), Loader=loader)


def _merged(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    result = dict(under)
    for key, value in over.items():
        if value is None and key in result:
            del result[key]
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = _merged(result[key], value)
        else:
            result[key] = value
    return result


def _tool(said: dict[str, Any]) -> dict[str, Any]:
    if "recording" in said:
        return {"state": "ran", "output": recording(said["recording"]), "returncode": 0}
    return {"state": "ran", "returncode": 0, **said}


def _text(said: Any) -> str:
    return recording(said["recording"]) if isinstance(said, dict) else str(said)


def _node(said: Any) -> dict[str, Any]:
    return {"name": said, "group": "HwHiAiUser"} if isinstance(said, str) else said
