"""Bad input on the real engine: a typed error each, told in zh and en, the original text kept."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from helpers import chat, errors, messages, models, server
from helpers.engines import Cpu
from helpers.errors import LabError
from helpers.models import Model
from helpers.options import Options
from helpers.server import Server, lifecycle, process

DIRECTORIES = {
    "missing": (errors.ModelMissing, "No such file or directory"),
    "empty": (errors.ModelEmpty, ""),
    "no_config": (errors.ModelNoConfig, "config.json"),
    "no_weights": (errors.ModelNoWeights, ""),
}

# What vLLM itself says last of each, where nobody checked before.
SAID = {
    "missing": "Repo id must be in the form",
    "empty": "1 validation error for ModelConfig",
    "no_config": "1 validation error for ModelConfig",
    "no_weights": "Cannot find any model weights",
}


def _caught(action: Callable[[], object]) -> LabError:
    with pytest.raises(LabError) as caught:
        action()
    return caught.value


def _assert_told(error: LabError, kind: type[LabError], original: str) -> None:
    """Assert type, code, original text, and that both languages tell what, why, next and it.

    Args:
        original: part of what the program that complained first said; "" where nobody did.
    """
    assert type(error) is kind
    assert error.code == kind.code
    assert original in error.original if original else error.original is None
    told = {language: error.told(language) for language in messages.LANGUAGES}
    for language, text in told.items():
        said = messages.parts(kind.code, language, **error.values)
        assert text.startswith(f"[{kind.code}] ")
        assert all(said[part].strip() and said[part] in text for part in ("what", "why", "next"))
        assert (error.original or "") in text
        assert (error.evidence or "").strip().split("\n")[-1].strip() in text
    assert told["zh"] != told["en"]


def _directory(kind: str, folder: Path, good: Model) -> Path:
    """Return a directory that is missing, empty, or a good model's without one kind of file."""
    path = folder / kind
    left_out = {"no_config": ["config.json"], "no_weights": list(models.WEIGHTS)}
    if kind in left_out:
        shutil.copytree(good.path, path, ignore=shutil.ignore_patterns(*left_out[kind]))
    elif kind == "empty":
        path.mkdir()
    return path


@pytest.mark.parametrize("kind", DIRECTORIES)
def test_model_directory_that_cannot_be_served_is_refused_before_a_start(
    kind: str, tmp_path: Path, model: Model
) -> None:
    path = _directory(kind, tmp_path, model)

    error = _caught(lambda: models.find("02_minicpm5", "cpu", str(path)))

    _assert_told(error, *DIRECTORIES[kind])
    assert str(path) in error.what


def test_wrong_model_name_is_told_with_the_served_one(served: Server) -> None:
    error = _caught(lambda: chat.ask("Hello", model="nobody", server=served))

    _assert_told(error, errors.WrongModelName, "The model `nobody` does not exist")
    assert served.served_model_name in error.why


def test_prompt_longer_than_the_context_is_told_with_the_limit(served: Server) -> None:
    error = _caught(lambda: chat.ask("word " * 4000, max_tokens=16, server=served))

    _assert_told(error, errors.PromptTooLong, f"context length is {served.max_model_len}")


@pytest.mark.parametrize("max_tokens", [0, -1])
def test_max_tokens_below_one_is_told_with_its_value(served: Server, max_tokens: int) -> None:
    error = _caught(lambda: chat.ask("Hello", max_tokens=max_tokens, server=served))

    _assert_told(error, errors.MaxTokensInvalid, f"got {max_tokens}")
    assert f"max_tokens={max_tokens}" in error.what


def test_max_tokens_above_the_context_is_told_with_its_value(served: Server) -> None:
    error = _caught(lambda: chat.ask("Hello", max_tokens=100_000, server=served))

    _assert_told(error, errors.MaxTokensTooLarge, "100000 cannot be greater than")


def test_stream_that_is_refused_raises_before_the_first_piece(served: Server) -> None:
    stream = chat.stream("Hello", max_tokens=0, server=served)

    error = _caught(lambda: next(iter(stream)))

    _assert_told(error, errors.MaxTokensInvalid, "got 0")


def test_field_of_a_wrong_type_is_refused_with_the_servers_words(served: Server) -> None:
    error = _caught(lambda: chat.ask("Hello", stop=3, server=served))

    _assert_told(error, errors.RequestRefused, "body.stop")


class _Answering(BaseHTTPRequestHandler):
    """Answers every GET with the status, type and body of its server."""

    def do_GET(self) -> None:
        status, kind, body = self.server.reply  # type: ignore[attr-defined]
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *words: Any) -> None:
        return None


@pytest.fixture
def stranger(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the address of an HTTP server that gives the test's parameter to every GET."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answering) as httpd:
        httpd.reply = request.param  # type: ignore[attr-defined]
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()
        thread.join()


@pytest.mark.parametrize(
    "stranger",
    [
        (200, "text/html", "<html>please log in</html>"),
        (404, "application/json", '{"detail": "Not Found"}'),
        (200, "application/json", '["a", "list"]'),
        (200, "application/json", '{"data": ["no entries"]}'),
    ],
    ids=["html", "other-api", "list", "other-entries"],
    indirect=True,
)
def test_base_url_that_is_not_openai_is_told_with_its_answer(
    stranger: str, request: pytest.FixtureRequest
) -> None:
    status, _, body = request.node.callspec.params["stranger"]

    error = _caught(lambda: server.attach(stranger))

    _assert_told(error, errors.NotOpenAI, body)
    assert f"HTTP {status}" in error.what


def test_connection_refused_by_a_remote_address_is_unreachable() -> None:
    port = process.free_port("127.0.0.1")

    error = _caught(lambda: server.attach(f"http://127.0.0.1:{port}/v1"))

    _assert_told(error, errors.Unreachable, "Connection refused")
    assert f"http://127.0.0.1:{port}" in error.what


def test_connection_when_nothing_was_started_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "_current", None)

    error = _caught(lambda: chat.ask("Hello"))

    _assert_told(error, errors.NeverStarted, "")


@pytest.fixture(scope="module")
def unknown_flag(device: Cpu, model: Model, options: Options) -> dict[str, LabError]:
    """Return the errors of one bad start: asked meanwhile, waited for, asked after its end."""
    started = server.start(device, model, options.with_values(extra=("--no-such-flag",)))
    assert isinstance(started, Server)
    return {
        "starting": _caught(lambda: chat.ask("Hello", server=started)),
        "died": _caught(lambda: started.wait_ready(120)),
        "gone": _caught(lambda: chat.ask("Hello", server=started)),
    }


def test_unknown_flag_is_named_and_the_process_has_ended(unknown_flag: dict[str, LabError]) -> None:
    """Starts its own: the command line is what is wrong."""
    error = unknown_flag["died"]

    _assert_told(error, errors.UnrecognizedArguments, "unrecognized arguments: --no-such-flag")
    assert error.values["argument"] == "--no-such-flag"
    assert error.values["ended"] == "exit code 2"
    assert float(error.values["seconds"]) < 60


def test_connection_refused_while_starting_says_so(unknown_flag: dict[str, LabError]) -> None:
    """Starts its own: it must not be ready yet."""
    _assert_told(unknown_flag["starting"], errors.StillStarting, "Connection refused")


def test_connection_refused_by_a_dead_server_says_how_it_ended(
    unknown_flag: dict[str, LabError],
) -> None:
    """Starts its own: it must have died."""
    error = unknown_flag["gone"]

    _assert_told(error, errors.ServerGone, "Connection refused")
    assert error.values["ended"] == "exit code 2"
    assert "--no-such-flag" in error.evidence


@pytest.mark.full
@pytest.mark.parametrize("kind", DIRECTORIES)
def test_model_directory_that_vllm_itself_refuses_is_told_with_its_words(
    device: Cpu, model: Model, options: Options, kind: str, tmp_path: Path
) -> None:
    """Starts its own, past the check of helpers.models: the engine's words must not get lost."""
    unchecked = Model(_directory(kind, tmp_path, model), model.name)
    started = server.start(device, unchecked, options)
    assert isinstance(started, Server)

    error = _caught(lambda: started.wait_ready(300))

    _assert_told(error, errors.ServerDied, SAID[kind])
    assert error.evidence
    assert error.values["ended"] == "exit code 1"
