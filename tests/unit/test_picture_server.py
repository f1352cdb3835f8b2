"""Tests of the picture server: what it gives, to whom, and that it ends."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from PIL import Image

from helpers import messages, paths, picture_server
from helpers.errors import PortTaken
from helpers.picture_errors import PictureMissing
from helpers.picture_server import PictureServer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with pictures, one of them deeper, and files that are none."""
    inside = tmp_path / "pictures"
    (inside / "more").mkdir(parents=True)
    Image.new("RGB", (4, 4), "red").save(inside / "red dot.png")
    Image.new("RGB", (4, 4), "blue").save(inside / "more" / "blue.jpg")
    (inside / "notes.txt").write_text("private")
    Image.new("RGB", (4, 4)).save(tmp_path / "outside.png")
    (inside / "link.png").symlink_to(tmp_path / "outside.png")
    return inside


@pytest.fixture
def pictures(folder: Path) -> Iterator[PictureServer]:
    with picture_server.start(folder) as running:
        yield running


@pytest.fixture
def session() -> Iterator[requests.Session]:
    with requests.Session() as one:
        one.trust_env = False
        yield one


@pytest.mark.parametrize(
    ("name", "kind"), [("red dot.png", "image/png"), ("more/blue.jpg", "image/jpeg")]
)
def test_picture_is_given_with_its_type_and_all_its_bytes(
    pictures: PictureServer, session: requests.Session, folder: Path, name: str, kind: str
) -> None:
    reply = session.get(pictures.url(name), timeout=5)

    assert (reply.status_code, reply.headers["Content-Type"]) == (200, kind)
    assert reply.content == (folder / name).read_bytes()


def test_head_tells_the_length_without_the_bytes(
    pictures: PictureServer, session: requests.Session, folder: Path
) -> None:
    reply = session.head(pictures.url("red dot.png"), timeout=5)

    assert int(reply.headers["Content-Length"]) == (folder / "red dot.png").stat().st_size
    assert reply.content == b""


@pytest.mark.parametrize(
    "name",
    [
        "",
        "gone.png",
        "notes.txt",
        "more",
        "../outside.png",
        "%2e%2e/outside.png",
        "link.png",
        "%00",
    ],
)
def test_anything_but_a_picture_inside_the_folder_is_not_found(
    pictures: PictureServer, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_connection(("127.0.0.1", pictures.port), timeout=5) as raw:
        raw.sendall(f"GET /{name} HTTP/1.0\r\n\r\n".encode())
        answer = b"".join(iter(lambda: raw.recv(4096), b""))

    assert b" 404 " in answer.splitlines()[0]
    assert b"private" not in answer
    assert capfd.readouterr().err == ""


def test_visits_tell_who_fetched_what(pictures: PictureServer, session: requests.Session) -> None:
    session.get(pictures.url("red dot.png"), headers={"User-Agent": "vLLM/0"}, timeout=5)
    session.get(pictures.url("gone.png"), headers={"User-Agent": "vLLM/0"}, timeout=5)

    told = [(visit.path, visit.agent, visit.status) for visit in pictures.visits]
    assert told == [("/red%20dot.png", "vLLM/0", 200), ("/gone.png", "vLLM/0", 404)]


def test_start_prints_an_address_on_loopback(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages.use("en")

    with picture_server.start(folder) as running:
        printed = capsys.readouterr().out

    assert printed.startswith(f"Picture server http://127.0.0.1:{running.port}/ ")


def test_start_without_a_folder_serves_the_courses_pictures() -> None:
    with picture_server.start() as running:
        assert running.folder == paths.ROOT / "assets" / "images"


def test_start_on_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PictureMissing, match="nowhere"):
        picture_server.start(tmp_path / "nowhere")


def test_start_on_a_taken_port_is_refused(folder: Path, pictures: PictureServer) -> None:
    with pytest.raises(PortTaken) as caught:
        picture_server.start(folder, port=pictures.port)

    assert str(pictures.port) in caught.value.what


def test_stop_frees_the_port_and_can_be_called_again(folder: Path) -> None:
    running = picture_server.start(folder)
    port = running.port

    running.stop()
    running.stop()

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)


def test_client_that_hangs_up_is_no_error(
    folder: Path, pictures: PictureServer, capfd: pytest.CaptureFixture[str]
) -> None:
    Image.effect_noise((2000, 2000), 90).save(folder / "large.png")

    others = set(threading.enumerate())

    with socket.create_connection(("127.0.0.1", pictures.port), timeout=5) as raw:
        raw.sendall(b"GET /large.png HTTP/1.0\r\n\r\n")
        raw.recv(10)
    for thread in set(threading.enumerate()) - others:
        thread.join(5)

    assert capfd.readouterr().err == ""
    assert pictures.visits[-1].status == 200
