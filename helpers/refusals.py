"""Turn what a server said no with, or its silence, into the typed error that names the cause.
Sends nothing itself.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import Any

from helpers import errors, picture_refusals, server, tool_errors
from helpers.server import Endpoint, Server, problems

# vLLM 0.32: "max_tokens=100000 cannot be greater than max_model_len=2048"; 0.18 and 0.23 put both
# cases into one text,
# "This model's maximum context length is N tokens. However, you requested M output tokens and your
# prompt contains …".
_TOO_LARGE = re.compile(r"max_(completion_)?tokens\S* (cannot be greater than|is too large)")
_TOO_LONG = re.compile(r"maximum context length|maximum model length|longer than the maximum")
# vllm/v1/engine/exceptions.py, EngineDeadError, 0.18 to 0.32.
_ENGINE_DEAD = re.compile(r"EngineCore encountered an issue|EngineDeadError")
_INVALID = re.compile(r"max_(completion_)?tokens must be at least 1")


def endpoint(given: Endpoint | None) -> Endpoint:
    """Return the endpoint to ask: the one given, else the last that this kernel started or attached
    to.

    Raises:
        NeverStarted: there is none, or this kernel has stopped it.
    """
    found = given or server.current()
    if found is None or (isinstance(found, Server) and found.stopped):
        raise errors.NeverStarted(url=found.base_url if found else "-")
    return found


def unreachable(asked: Endpoint, error: Exception) -> errors.LabError:
    """Return why nothing answered: our server is still starting, has ended, was never started, or
    is somebody else's.
    """
    original = str(error)
    if not isinstance(asked, Server):
        return errors.Unreachable(url=asked.base_url, original=original)
    if _ends(asked, 0.25):  # a process closes its connections a moment before it has ended
        return _gone(asked, problems.ApiServerDied if asked.processes() else None, original)
    return errors.StillStarting(
        url=asked.base_url, seconds=f"{asked.seconds():.0f}", original=original
    )


def engine_died(asked: Endpoint, said: str) -> errors.LabError:
    """Return the error for an answer of an API server whose engine has ended.

    It ends itself some tenths of a second after that; it is waited for, so that the error can tell
    how.
    """
    if not isinstance(asked, Server):
        return errors.RequestRefused(status=500, original=said)
    _ends(asked, 0.7)
    return _gone(asked, problems.EngineDied, said)


def _ends(asked: Server, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while asked.status != "dead":
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _gone(asked: Server, kind: type[errors.ServerGone] | None, original: str) -> errors.LabError:
    values = {"url": asked.base_url, "ended": asked.ended(), "log": asked.log}
    if kind is not None:
        values["left"] = ", ".join(asked.processes()) or "-"
    return (kind or errors.ServerGone)(
        **values, evidence=asked.tail(12), original=original, log_file=asked.log_file
    )


def refused(status: int, text: str, body: Mapping[str, Any], asked: Endpoint) -> errors.LabError:
    """Return the typed error for an HTTP status and the server's own text, which is kept.

    Source of the texts: vLLM 0.32, seen; 0.18 and 0.23, entrypoints/openai/serving_engine and
    renderers/params.py.
    """
    said = _message(text)
    max_tokens = body.get("max_tokens")
    if status == 500 and _ENGINE_DEAD.search(said):
        return engine_died(asked, said)
    if status in (401, 403):
        return errors.Unauthorized(status=status, original=said)
    if status == 404 and "does not exist" in said:
        served = re.search(r"Valid aliases: (.*?)\.?$", said)
        names = served.group(1) if served else asked.served_model_name
        return errors.WrongModelName(
            status=status, asked=body.get("model"), served=names, original=said
        )
    if _INVALID.search(said):
        if isinstance(max_tokens, int) and max_tokens >= 1:  # 0.32 lowers it to what is left: none
            return picture_refusals.too_long(status, said, body)
        return errors.MaxTokensInvalid(status=status, max_tokens=max_tokens, original=said)
    too_long = _TOO_LONG.search(said) is not None
    if _TOO_LARGE.search(said) or (too_long and _alone_too_large(max_tokens, said)):
        return errors.MaxTokensTooLarge(status=status, max_tokens=max_tokens, original=said)
    about_tools = tool_errors.refused(status, said, body, too_long)
    if about_tools:
        return about_tools
    if too_long:
        return picture_refusals.too_long(status, said, body)
    about_pictures = picture_refusals.refused(status, said, body)
    return about_pictures or errors.RequestRefused(status=status, original=said)


def _alone_too_large(max_tokens: object, said: str) -> bool:
    limit = re.search(r"maximum context length is (\d+)", said)
    return isinstance(max_tokens, int) and limit is not None and max_tokens > int(limit.group(1))


def _message(text: str) -> str:
    """Return the message inside an OpenAI-style error body, or the text itself."""
    try:
        body = json.loads(text)
        error = body.get("error")
        return str(
            (error.get("message") if isinstance(error, dict) else error)
            or body.get("message")
            or body.get("detail")
            or text
        )
    except (ValueError, AttributeError):
        return text[:1000]
