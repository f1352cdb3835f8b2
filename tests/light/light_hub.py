"""Hubs with a fault, for the download tests: handlers that derive from the course's loopback hub,
and a small checkpoint to serve.
"""

from __future__ import annotations

import json
import random
import threading
import time
from pathlib import Path
from typing import Any

from helpers.download.hub import Hub
from helpers.download.loopback_hub import BLOCK, Entry, Handler, loopback_hub
from helpers.download.record import Listing

REPO = "OpenBMB/Light"
SHARD = 3 * 2**20
CUT = 2 * 2**20 + 17
"""Where a connection is cut: between two of the client's blocks."""


def checkpoint(folder: Path, *, shard: int = SHARD, shards: int = 2, code: bool = True) -> Path:
    """Return a directory that looks like a checkpoint: an index, shards that fit it, a tokenizer,
    code. Its numbers are noise with a fixed seed.

    Args:
        folder: made here.
        shard: bytes of tensors in each shard.
    """
    folder.mkdir(parents=True)
    noise = random.Random(5)
    weights: dict[str, str] = {}
    for number in range(1, shards + 1):
        name = f"model-{number:05}-of-{shards:05}.safetensors"
        tensors = {f"layer.{number}.{half}": shard // 2 for half in ("a", "b")}
        (folder / name).write_bytes(safetensors(tensors, noise))
        weights.update(dict.fromkeys(tensors, name))
    write_json(folder / "model.safetensors.index.json", {"metadata": {}, "weight_map": weights})
    auto_map = {"AutoModel": "modeling_light.Light"} if code else {}
    write_json(folder / "config.json", {"model_type": "light", "auto_map": auto_map})
    write_json(folder / "tokenizer.json", {"vocab": {str(i): i for i in range(500)}})
    (folder / "README.md").write_text("noise\n", encoding="utf-8")
    if code:
        (folder / "modeling_light.py").write_text("class Light: ...\n", encoding="utf-8")
    return folder


def safetensors(tensors: dict[str, int], noise: random.Random) -> bytes:
    """Return a safetensors file of byte tensors: name → number of bytes."""
    head: dict[str, Any] = {}
    end = 0
    for name, count in tensors.items():
        head[name] = {"dtype": "U8", "shape": [count], "data_offsets": [end, end + count]}
        end += count
    raw = json.dumps(head).encode()
    return len(raw).to_bytes(8, "little") + raw + noise.randbytes(end)


def write_json(path: Path, value: object) -> None:
    """Write a file of JSON."""
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")


def listed(model: Path, source: str = "https://hub.example") -> Listing:
    """Return what a hub would say of a checkpoint; `source` is the address that it says it from."""
    with loopback_hub(model, REPO) as hub:
        found = Hub(REPO, hub.url).listing()
    return Listing(REPO, "main", found.commit, found.files, source)


class Faults:
    """How often a fault has happened, shared by the threads of one hub."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.happened = 0
        self._guard = threading.Lock()

    def take(self) -> bool:
        """Return whether the fault happens this time."""
        with self._guard:
            if self.left <= 0:
                return False
            self.left -= 1
            self.happened += 1
            return True


def cutting(faults: Faults, *, honours_range: bool = True) -> type[Handler]:
    """Return a hub that closes the connection in the middle of a shard; with honours_range=False it
    also answers every request for a part with the whole file.
    """

    class Cutting(Handler):
        def send_file(self, entry: Entry, body: bool, head: dict[str, str]) -> None:
            if not honours_range and "Range" in self.headers:
                del self.headers["Range"]
            super().send_file(entry, body, head)

        def send_bytes(self, entry: Entry, start: int, stop: int) -> None:
            self.hub.asked.append(f"sent {entry.name} from {start}")
            if entry.large and start == 0 and faults.take():
                super().send_bytes(entry, 0, CUT)
                self.close_connection = True
                self.wfile.flush()
                return
            super().send_bytes(entry, start, stop)

    return Cutting


def corrupting(faults: Faults) -> type[Handler]:
    """Return a hub that changes one byte of a shard; its size stays right."""

    class Corrupting(Handler):
        def send_bytes(self, entry: Entry, start: int, stop: int) -> None:
            if not (entry.large and start == 0 and faults.take()):
                return super().send_bytes(entry, start, stop)
            content = bytearray(entry.path.read_bytes())
            content[len(content) // 2] ^= 1
            self.wfile.write(content)
            return None

    return Corrupting


def missing(name: str, commands: tuple[str, ...]) -> type[Handler]:
    """Return a hub that lists a file and answers 404 for it, to these commands."""

    class Missing(Handler):
        def resolve(self, asked: str, body: bool) -> None:
            if asked == name and self.command in commands:
                return self.refuse(404, {"X-Error-Code": "EntryNotFound"})
            return super().resolve(asked, body)

        def large(self, digest: str, body: bool) -> None:
            if self.hub.files[name].etag == digest and self.command in commands:
                return self.refuse(404)
            return super().large(digest, body)

    return Missing


def silent(over: threading.Event, *, content: bool) -> type[Handler]:
    """Return a hub that accepts and never answers (until `over`): at all, or for content only."""

    class Silent(Handler):
        def _route(self, *, body: bool) -> None:
            if not content:
                over.wait(60)
            super()._route(body=body)

        def send_bytes(self, entry: Entry, start: int, stop: int) -> None:
            if entry.large:
                over.wait(60)
                self.close_connection = True
                return
            super().send_bytes(entry, start, stop)

    return Silent


def failing(status: int) -> type[Handler]:
    """Return a hub whose servers fail."""

    class Failing(Handler):
        def _route(self, *, body: bool) -> None:
            self.refuse(status)

    return Failing


def limited(rate: float, started: threading.Event | None = None) -> type[Handler]:
    """Return a hub that sends content at a rate, all connections together.

    Args:
        rate: bytes a second.
        started: set when the first content has been sent.
    """
    guard = threading.Lock()
    clock = [0.0]
    piece = min(BLOCK, max(2**14, int(rate / 20)))

    class Limited(Handler):
        def send_bytes(self, entry: Entry, start: int, stop: int) -> None:
            with entry.path.open("rb") as file:
                file.seek(start)
                while start < stop and (block := file.read(min(piece, stop - start))):
                    with guard:
                        now = time.monotonic()
                        clock[0] = max(clock[0], now) + len(block) / rate
                        wait = clock[0] - now
                    time.sleep(max(0.0, wait))
                    self.wfile.write(block)
                    start += len(block)
                    if started is not None:
                        started.set()

    return Limited


def calling(before_content: Any) -> type[Handler]:
    """Return a hub that calls a function before it sends a shard's bytes."""

    class Calling(Handler):
        def send_bytes(self, entry: Entry, start: int, stop: int) -> None:
            if entry.large:
                before_content()
            super().send_bytes(entry, start, stop)

    return Calling
