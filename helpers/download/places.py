"""Where weights lie, or may be put, when MODEL_DIR is empty: the course's fixed path, the
platform's persistent directory, caches.

Decides by what is there and what can be written; fetches nothing.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import psutil

from helpers import paths
from helpers.download import clientfiles
from helpers.download.record import Listing

SEARCHED = (
    "/opt/atomgit/{name}",  # the fixed path of the original course
    "/home/ma-user/work/{name}",  # what a ModelArts notebook keeps
    "~/work/{name}",
    "~/.cache/minicpm-labs/models/{repo}",
    "~/.cache/modelscope/hub/models/{repo}",
)
"""The search list, best first; `repo` is "owner/name". The same as in course/catalog.yml."""

NOT_OURS = "modelscope"
"""Another program's cache: read, never written."""


def own(repo: str) -> Path:
    """Return the course's own place for a repository, in the state directory."""
    return paths.state_dir() / "models" / repo


def searched(repo: str) -> list[Path]:
    """Return the places of a repository's copy, best first, whether or not they exist."""
    name = repo.rpartition("/")[2]
    found = [Path(one.format(name=name, repo=repo)).expanduser() for one in SEARCHED]
    return [*found, own(repo)]


def choose(repo: str, listing: Listing) -> Path:
    """Return the first complete copy by its files' sizes (`verify` reads them), else the place
    where a download was begun, else the first writable one with room, else the course's own.

    Args:
        repo: "owner/name".
        listing: what a complete copy holds.
    """
    places = searched(repo)
    for place in places:
        if all(
            (place / one.path).is_file() and clientfiles.size(place / one.path) == one.size
            for one in listing.files
        ):
            return place
    writable = [p for p in places if NOT_OURS not in p.parts and _may_write(p)]
    for place in writable:
        if (place / ".cache" / "huggingface" / "download").is_dir():
            return place
    for place in writable:
        if not place.exists() and free(place) >= listing.bytes:
            return place
    return own(repo)


def _may_write(place: Path) -> bool:
    """Return whether a directory can be written, or made: below home and our state any ancestor
    will do, elsewhere only the parent (we make no new directories in /opt).
    """
    if place.exists():
        return os.access(place, os.W_OK | os.X_OK)
    home = any(top in place.parents for top in (Path.home() / ".cache", paths.state_dir()))
    ancestor = nearest(place) if home else place.parent
    return ancestor.is_dir() and os.access(ancestor, os.W_OK | os.X_OK)


def nearest(place: Path) -> Path:
    """Return the closest directory on the way to a place that exists."""
    return next((p for p in (place, *place.parents) if p.is_dir()), Path("/"))


def free(place: Path) -> int:
    """Return the bytes that this user may still write there."""
    return shutil.disk_usage(nearest(place)).free


def volatile(place: Path) -> str:
    """Return the kind of a file system whose content does not last, or "" for one that does."""
    target = nearest(place).resolve()
    best, kind = Path(), ""
    for part in psutil.disk_partitions(all=True):
        mount = Path(part.mountpoint)
        if (mount == target or mount in target.parents) and len(mount.parts) >= len(best.parts):
            best, kind = mount, part.fstype
    return kind if kind in paths.LAYERED | paths.PASSING else ""
