"""A file server for pictures on 127.0.0.1, so that a model server can fetch them by URL.

A classroom is often a closed network; this kernel then is the host of the pictures. Serves picture
files of one folder and nothing else; no page, no listing, no other address.
"""

from __future__ import annotations

import mimetypes
import shutil
import threading
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from urllib.parse import quote, unquote, urlsplit

from helpers import messages, paths
from helpers.errors import PortTaken
from helpers.picture_errors import PictureMissing

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Visit:
    """One request that came: path, who asked (the User-Agent header), and the status answered."""

    path: str
    agent: str
    status: int


class PictureServer:
    """Pictures of a folder by URL, while it runs.

    Attributes:
        folder: what is served.
        visits: every request so far: who fetches a picture by URL is the model server.
    """

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.visits: list[Visit] = []
        self._httpd = ThreadingHTTPServer((HOST, port), partial(_Handler, self))
        self._httpd.daemon_threads = True
        self._thread = threading.Thread(
            target=self._httpd.serve_forever,
            kwargs={"poll_interval": 0.05},
            name="pictures",
            daemon=True,
        )
        self._thread.start()

    @property
    def port(self) -> int:
        """Return the TCP port."""
        return int(self._httpd.server_address[1])

    @property
    def base_url(self) -> str:
        """Return the address without a name, ending in a slash."""
        return f"http://{HOST}:{self.port}/"

    def url(self, name: str) -> str:
        """Return the URL of a picture; name is its path in the folder, which need not exist."""
        return self.base_url + quote(name)

    def find(self, name: str) -> Path | None:
        """Return the picture file of a name, or None where there is none inside the folder."""
        try:
            path = (self.folder / name.lstrip("/")).resolve()
        except (OSError, ValueError):  # a name that no file can have
            return None
        inside = self.folder.resolve() in path.parents
        return path if inside and path.is_file() and kind(path) else None

    def stop(self) -> None:
        """Close the port and end the thread; a second call does nothing."""
        if self._thread.is_alive():
            self._httpd.shutdown()
            self._thread.join()
        self._httpd.server_close()

    def __enter__(self) -> PictureServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return messages.text(
            "image.server.serving", url=self.base_url, folder=paths.shown(self.folder)
        )


def start(folder: str | Path | None = None, port: int = 0) -> PictureServer:
    """Return a running picture server, and print its address.

    Stop it with `stop()`, or use it in a `with` block. Its thread ends with the kernel.

    Args:
        folder: directory of the pictures; None serves the course's own.
        port: TCP port; 0 takes a free one.
    Raises:
        PictureMissing: no such directory.
        PortTaken: somebody else listens on the port.
    """
    place = Path(folder or paths.ROOT / "assets" / "images").expanduser().absolute()
    if not place.is_dir():
        raise PictureMissing(source=paths.shown(place))
    try:
        server = PictureServer(place, port)
    except OSError as error:
        raise PortTaken(port=port, owner="?", original=str(error)) from error
    print(server)
    return server


def kind(path: Path) -> str:
    """Return the MIME type of a picture file by its name, or "" for any other file."""
    named = mimetypes.guess_type(path.name)[0] or ""
    return named if named.startswith("image/") else ""


class _Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD with a picture of the server's folder, or 404."""

    def __init__(self, pictures: PictureServer, *more: object) -> None:
        self._pictures = pictures
        super().__init__(*more)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, with_body: bool) -> None:
        path = self._pictures.find(unquote(urlsplit(self.path).path))
        status = HTTPStatus.OK if path else HTTPStatus.NOT_FOUND
        agent = self.headers.get("User-Agent", "")
        self._pictures.visits.append(Visit(self.path, agent, int(status)))
        self.send_response(status)
        if path is None:
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_header("Content-Type", kind(path))
        self.send_header("Content-Length", str(path.stat().st_size))
        self.end_headers()
        if not with_body:
            return
        try:
            with path.open("rb") as file:
                shutil.copyfileobj(file, self.wfile)
        except ConnectionError:  # whoever asked has hung up
            self.close_connection = True

    def log_message(self, format: str, *values: object) -> None:
        """Print nothing: `visits` keeps what came."""
