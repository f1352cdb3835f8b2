"""The typed exceptions that several subjects raise, one a cause; their texts stand in `messages`.

What each can do is `lab_error.LabError`'s; families with a subject of their own stand beside it
(`server.problems`, `download.errors`, `picture_errors`, `tool_errors`). Not for deciding what
happened: `server`, `chat` and the others raise these.
"""

from __future__ import annotations

from helpers.lab_error import LabError as LabError


class UnknownEngine(LabError):
    """ENGINE is none of auto, ascend, cpu, remote."""

    code = "engine.unknown"


class EngineUnavailable(LabError):
    """The engine that was asked for cannot run here; values: engine, reason."""

    code = "engine.unavailable"


class NoEngine(LabError):
    """No engine at all can run here; the evidence lists each refusal."""

    code = "engine.none"


class BadOption(LabError):
    """An option of the engine has a value that cannot be right; values: name, value, rule."""

    code = "engine.bad_option"


class ScriptMissing(LabError):
    """A script that should set the environment is not there; values: path."""

    code = "environment.script_missing"


class ScriptFailed(LabError):
    """A script that should set the environment ended with an error; values: path, returncode."""

    code = "environment.script_failed"


class ModelMissing(LabError):
    """MODEL_DIR does not exist or cannot be read; values: path."""

    code = "model.missing"


class ModelEmpty(LabError):
    """MODEL_DIR is an empty directory; values: path."""

    code = "model.empty"


class ModelNoConfig(LabError):
    """MODEL_DIR has files but no readable config.json; values: path."""

    code = "model.no_config"


class ModelNoWeights(LabError):
    """MODEL_DIR has a config.json but no weights; values: path."""

    code = "model.no_weights"


class StateUnwritable(LabError):
    """The state directory cannot be written; values: path."""

    code = "server.state_unwritable"


class PortTaken(LabError):
    """Somebody else listens on the port; values: port, owner."""

    code = "server.port_taken"


class DeviceBusy(LabError):
    """One of our processes already holds the device; values: name, port, pid."""

    code = "server.device_busy"


class ServerDied(LabError, names_cause=False):
    """The server's process ended by itself; values: ended (exit code or signal), seconds, log.
    Evidence: log tail.
    """

    code = "server.died"


class UnrecognizedArguments(ServerDied):
    """The engine's command line has an argument that this version does not know; values as
    ServerDied, argument.
    """

    code = "server.unrecognized_arguments"


class ServerTimeout(LabError, names_cause=False):
    """The server did not become ready in time but still runs; values: seconds, log."""

    code = "server.timeout"


class StopFailed(LabError):
    """Processes of our group outlived SIGKILL, or the port is held; values: left, port."""

    code = "server.stop_failed"


class NeverStarted(LabError):
    """Nothing answers and nothing was started; values: url."""

    code = "server.never_started"


class StillStarting(LabError):
    """Nothing answers yet: our server is still loading; values: url, seconds."""

    code = "server.still_starting"


class ServerGone(LabError, names_cause=False):
    """Nothing answers: the server that we started has ended; values: url, ended, log. Evidence:
    log tail.
    """

    code = "server.gone"


class NotOpenAI(LabError):
    """BASE_URL answers, but not as an OpenAI-compatible server; values: url, answer."""

    code = "remote.not_openai"


class Unreachable(LabError):
    """BASE_URL does not answer at all; values: url."""

    code = "remote.unreachable"


class OfflineFailed(LabError, names_cause=False):
    """The offline script ended with an error; values: ended, log. Evidence: log tail."""

    code = "offline.failed"


class RequestRefused(LabError, names_cause=False):
    """The server refused a request for a reason without a type of its own; values: status.
    Original: its text.
    """

    code = "chat.refused"


class WrongModelName(RequestRefused):
    """The request names a model that the server does not serve; values: status, asked, served."""

    code = "chat.wrong_model"


class PromptTooLong(RequestRefused):
    """Prompt and answer do not fit in the context; values: status, max_tokens."""

    code = "chat.prompt_too_long"


class MaxTokensTooLarge(RequestRefused):
    """max_tokens alone is larger than the context; values: status, max_tokens."""

    code = "chat.max_tokens_too_large"


class MaxTokensInvalid(RequestRefused):
    """max_tokens is not a positive number; values: status, max_tokens."""

    code = "chat.max_tokens_invalid"


class Unauthorized(RequestRefused):
    """The server wants an API key, or another one; values: status."""

    code = "chat.unauthorized"


class AnswerTimeout(LabError):
    """The server took longer than the time allowed for one answer; values: seconds."""

    code = "chat.timeout"


class CheckFailed(LabError):
    """A checkpoint did not hold; values: step, reason."""

    code = "checkpoint.failed"


class UnknownLab(LabError):
    """A lab's name is not in the catalogue; values: lab, labs."""

    code = "run.unknown_lab"


class SecretParameter(LabError):
    """A run was given a secret as a parameter; values: name."""

    code = "run.secret_parameter"


class RunFailed(LabError):
    """A run could not be carried out at all; values: reason."""

    code = "run.failed"


class SetupMissing(LabError):
    """An interpreter of the course has not been made; values: name, command."""

    code = "setup.missing"
