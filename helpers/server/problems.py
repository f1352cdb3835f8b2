"""What can go wrong with a server's life beyond `helpers.errors`, one type a cause."""

from __future__ import annotations

import re
from typing import Any

from helpers.errors import DeviceBusy, LabError, ServerDied, ServerGone, UnrecognizedArguments


class DeviceLocked(LabError):
    """Another kernel has been looking whether the device is free for too long; values: seconds."""

    code = "server.device_locked"


class OfflineBusy(DeviceBusy):
    """Offline inference of ours holds the device; values as DeviceBusy."""

    code = "server.offline_busy"


class EngineDied(ServerGone, names_cause=False):
    """The API server still answered, but its engine process had ended; values as ServerGone, left
    ("pid name" of what still lives, or "-").
    """

    code = "server.engine_died"


class ApiServerDied(ServerGone, names_cause=False):
    """The process that answers has ended while its engine lives on and holds the device; values as
    EngineDied.
    """

    code = "server.api_died"


class ParserUnknown(ServerDied):
    """--tool-call-parser or --reasoning-parser has a value that this vLLM does not know; values as
    ServerDied, flag, name, known.
    """

    code = "server.parser_unknown"


class ParserMissing(ServerDied):
    """--enable-auto-tool-choice was given and --tool-call-parser was not; values as ServerDied."""

    code = "server.parser_missing"


# vLLM 0.32, seen; 0.18 and 0.23: entrypoints/openai/api_server.py and cli_args.py, and
# reasoning/abs_reasoning_parsers.py for the one without "invalid".
_COMMAND_LINE: tuple[tuple[type[ServerDied], str], ...] = (
    (UnrecognizedArguments, r"unrecognized arguments: ?(?P<argument>.*\S)"),
    (
        ParserUnknown,
        r"invalid (?P<kind>tool call|reasoning) parser: (?P<name>.+?) "
        r"\(chose from \{ ?(?P<known>[^}\n]*?) ?\}",
    ),
    (
        ParserUnknown,
        r"(?P<kind>Reasoning) parser '(?P<name>[^'\n]+)' not found\. "
        r"Available parsers: (?P<known>[\w, .-]*)",
    ),
    (ParserMissing, r"--enable-auto-tool-choice requires --tool-call-parser"),
)


def of_command_line(evidence: str, **told: Any) -> ServerDied | None:
    """Return the error of a server whose command line ended it, or None where that was not it.

    Args:
        evidence: the last lines of its log.
        told: what else ServerDied is told.
    """
    for kind, pattern in _COMMAND_LINE:
        found = [*re.finditer(rf"^.*{pattern}.*$", evidence, re.M)]
        if found:
            named = found[-1].groupdict()
            if kind is ParserUnknown:
                named = _parser(**named)
            return kind(evidence=evidence, original=found[-1].group().strip(), **named, **told)
    return None


def _parser(kind: str, name: str, known: str) -> dict[str, str]:
    flag = "--tool-call-parser" if kind == "tool call" else "--reasoning-parser"
    listed = ", ".join(one.strip() for one in known.split(","))
    return {"flag": flag, "name": name, "known": listed}
