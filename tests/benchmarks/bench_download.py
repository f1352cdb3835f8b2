"""Benchmarks of the download: what verifying costs beside the bare client, beside an unchanged
directory, beside `sha256sum`. `measure()` returns the figures; tests never assert them.

Alone: PYTHONPATH=tests python tests/benchmarks/bench_download.py
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from light import light_hub
from light.light_hub import REPO

from helpers import download
from helpers.download import client, hashing
from helpers.download.patience import Patience

FILES = 8
SIZE = 125_000_000
"""Bytes of a file: 1 GB in 8 files."""

RATE = 100e6
"""Bytes a second that the hub sends, all connections together."""

REPEATS = 3


def measure() -> list[dict[str, Any]]:
    """Return name, value, unit, limit and whether the limit is kept, a dict a benchmark.

    Needs 3 GB of disk for temporary files and about two minutes; everything is removed.
    """
    with tempfile.TemporaryDirectory(prefix="bench-download-") as place:
        folder = Path(place)
        before = {name: os.environ.get(name) for name in ("LAB_STATE_DIR", "LAB_RUN")}
        os.environ.update(LAB_STATE_DIR=str(folder / "state"), LAB_RUN="bench")
        try:
            client.prepare(lambda line: print(line, file=sys.stderr))
            source = large_checkpoint(folder / "source")
            return [
                *verified_against_bare(source, folder),
                reverification(folder / "verified-0"),
                hashing_against_sha256sum(source),
            ]
        finally:
            for name, value in before.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value


def large_checkpoint(folder: Path) -> Path:
    """Return a checkpoint of 1 GB in 8 shards, written to the disk, with a config."""
    folder.mkdir()
    for number in range(FILES):
        noise = random.Random(number)
        content = light_hub.safetensors({f"layer.{number}": SIZE}, noise)
        (folder / f"model-{number + 1:05}-of-{FILES:05}.safetensors").write_bytes(content)
    light_hub.write_json(folder / "config.json", {"model_type": "light"})
    return folder


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that some work takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def verified_against_bare(source: Path, folder: Path) -> list[dict[str, Any]]:
    """Return the speed of a verified download by that of the bare client, as a median of pairs, and
    both speeds. The hub hashes its files before the clock starts.
    """
    bare, verified = [], []
    with download.loopback_hub(source, REPO, handler=light_hub.limited(RATE)) as hub:
        assert hub.commit
        for number in range(REPEATS):
            target = folder / f"bare-{number}"
            bare.append(timed(lambda: run_bare_client(target, hub.url)))  # noqa: B023
            remove(target)
            target = folder / f"verified-{number}"
            verified.append(timed(lambda: download.download(REPO, target, hub=hub.url)))  # noqa: B023
            if number:
                remove(target)
    ratio = sorted(b / v for b, v in zip(bare, verified, strict=True))[REPEATS // 2]
    total = FILES * SIZE / 1e6
    return [
        figure("download.verified_over_bare", ratio, "of the bare client's speed", 0.9),
        figure("download.verified_rate", total / sorted(verified)[REPEATS // 2], "MB/s"),
        figure("download.bare_rate", total / sorted(bare)[REPEATS // 2], "MB/s"),
    ]


def run_bare_client(target: Path, hub: str) -> None:
    """Run the client on a download, unverified, as our driver does and without watching it."""
    outcome = client.start(REPO, "main", target, hub, "", Patience()).outcome()
    assert outcome.ok, outcome.words


def reverification(verified: Path) -> dict[str, Any]:
    """Return the seconds that verifying an unchanged directory takes, the longest of some."""
    seconds = max(timed(lambda: download.verify(verified)) for _ in range(5))
    return figure("download.reverification", seconds, "s", 0.5, at_most=True)


def hashing_against_sha256sum(source: Path) -> dict[str, Any]:
    """Return the speed of our hashing by that of `sha256sum`, the same bytes on the same cores,
    both from the page cache, as a median of pairs.
    """
    files = sorted(source.glob("*.safetensors"))
    command = ["xargs", "-0", "-n", "1", "-P", str(hashing.cores()), "sha256sum"]
    names = "\0".join(map(str, files)).encode()

    def theirs() -> object:
        return subprocess.run(command, input=names, stdout=subprocess.DEVNULL, check=True)

    def ours() -> object:
        return hashing.all_seen([(path, "sha256") for path in files])

    theirs()
    ratios = sorted(timed(theirs) / timed(ours) for _ in range(REPEATS))
    return figure("download.hashing_over_sha256sum", ratios[REPEATS // 2], "of its speed", 0.9)


def figure(
    name: str, value: float, unit: str, limit: float | None = None, *, at_most: bool = False
) -> dict[str, Any]:
    """Return one result; without a limit it is for information and always ok."""
    kept = limit is None or (value <= limit if at_most else value >= limit)
    return {"name": name, "value": round(value, 3), "unit": unit, "limit": limit, "ok": kept}


def remove(folder: Path) -> None:
    """Remove a directory of files of our own making."""
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
