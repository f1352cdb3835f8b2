"""Benchmarks of the download: what verifying costs beside the bare client, beside an unchanged
directory, beside `sha256sum`. Run by `make bench`; alone: python tests/benchmarks/run.py download
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from light import light_hub
from light.light_hub import REPO

from benchmarks.measured import Figure, at_least, at_most, interleaved
from helpers import download
from helpers.download import client, hashing
from helpers.download.patience import Patience

FILES = 8
SIZE = 125_000_000
"""Bytes of a file: 1 GB in 8 files."""

RATE = 100e6
"""Bytes a second that the hub sends, all connections together."""

REPEATS = 3


def measure() -> list[Figure]:
    """Return name, value, unit, limit and whether the limit is kept, a dict a benchmark.

    Needs 3 GB of disk for temporary files and about two minutes; everything is removed.
    """
    with tempfile.TemporaryDirectory(prefix="bench-download-") as place:
        folder = Path(place)
        before = {name: os.environ.get(name) for name in ("LAB_STATE_DIR", "LAB_RUN")}
        os.environ.update(LAB_STATE_DIR=str(folder / "state"), LAB_RUN="bench")
        try:
            client.prepare(*[lambda line: print(line, file=sys.stderr)] * 2)
            source = large_checkpoint(folder / "source")
            return [
                verified_against_bare(source, folder),
                reverification(folder / "verified"),
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


def verified_against_bare(source: Path, folder: Path) -> Figure:
    """Return the speed of a verified download by that of the bare client, as a median of pairs. The
    hub hashes its files before the clock starts.
    """
    numbers = itertools.count()

    def bare() -> float:
        target = folder / f"bare-{next(numbers)}"
        seconds = timed(lambda: run_bare_client(target, hub.url))
        shutil.rmtree(target)
        return seconds

    def verified() -> float:
        target = folder / "verified"
        shutil.rmtree(target, ignore_errors=True)
        return timed(lambda: download.download(REPO, target, hub=hub.url))

    with download.loopback_hub(source, REPO, handler=light_hub.limited(RATE)) as hub:
        assert hub.commit
        pairs = zip(*interleaved(REPEATS, bare, verified), strict=True)
        ratio = statistics.median(alone / both for alone, both in pairs)
    return at_least("download.verified_over_bare", ratio, 0.9, "of the bare client's speed")


def run_bare_client(target: Path, hub: str) -> None:
    """Run the client on a download, unverified, as our driver does and without watching it."""
    outcome = client.start(REPO, "main", target, hub, "", Patience()).outcome()
    assert outcome.ok, outcome.words


def reverification(verified: Path) -> Figure:
    """Return the seconds that verifying an unchanged directory takes, the longest of some."""
    seconds = max(timed(lambda: download.verify(verified)) for _ in range(5))
    return at_most("download.reverification", seconds, 0.5, "s")


def hashing_against_sha256sum(source: Path) -> Figure:
    """Return the speed of our hashing by that of `sha256sum`, the same bytes on the same cores,
    both from the page cache, as a median of pairs.
    """
    files = sorted(source.glob("*.safetensors"))
    command = ["xargs", "-0", "-n", "1", "-P", str(hashing.cores()), "sha256sum"]
    names = "\0".join(map(str, files)).encode()

    def theirs() -> float:
        return timed(
            lambda: subprocess.run(command, input=names, stdout=subprocess.DEVNULL, check=True)
        )

    def ours() -> float:
        return timed(lambda: hashing.all_seen([(path, "sha256") for path in files]))

    theirs()
    pairs = zip(*interleaved(REPEATS, theirs, ours), strict=True)
    ratio = statistics.median(their / our for their, our in pairs)
    return at_least("download.hashing_over_sha256sum", ratio, 0.9, "of its speed")
