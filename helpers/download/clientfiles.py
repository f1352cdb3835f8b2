"""What the AtomGit client leaves in MODEL_DIR, and what we set aside there: names, notes, partial
files.

Deletes nothing that a learner may have made: a file in the way is renamed into `.set-aside/`.
"""

from __future__ import annotations

import time
from base64 import urlsafe_b64encode
from hashlib import sha1
from pathlib import Path

ASIDE = ".set-aside"
RECORD = ".verified.json"
OURS = (".cache", ".git", ASIDE, RECORD)
"""Names at the top of MODEL_DIR that are the client's, git's or ours, not a repository's files."""


def metadata_path(directory: Path, name: str) -> Path:
    """Return the client's note about a file: commit, ETag (its hash), time; a line each.

    Source: huggingface_hub 1.1.7, _local_folder.py, get_local_download_paths.
    """
    return directory / ".cache" / "huggingface" / "download" / f"{name}.metadata"


def partial_path(directory: Path, name: str, etag: str) -> Path:
    """Return where the client keeps the part of a file that it has so far.

    Source: huggingface_hub 1.1.7, _local_folder.py, LocalDownloadFilePaths.incomplete_path.
    """
    metadata = metadata_path(directory, name)
    short = urlsafe_b64encode(sha1(metadata.name.encode()).digest()).decode()
    return metadata.with_name(f"{short}.{etag}.incomplete")


def noted(directory: Path) -> dict[str, str]:
    """Return what the client noted down: file name → ETag as the hub sent it."""
    folder = directory / ".cache" / "huggingface" / "download"
    found = {}
    for path in sorted(folder.rglob("*.metadata")) if folder.is_dir() else []:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        if len(lines) >= 2:
            found[path.relative_to(folder).as_posix().removesuffix(".metadata")] = lines[1].strip()
    return found


def size(path: Path) -> int:
    """Return a file's bytes, 0 where there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def present(directory: Path) -> list[str]:
    """Return the files in a model directory, sorted, without the client's and ours."""
    return sorted(
        path.relative_to(directory).as_posix()
        for top in (directory.iterdir() if directory.is_dir() else ())
        if top.name not in OURS
        for path in ([top] if not top.is_dir() else top.rglob("*"))
        if not path.is_dir()
    )


def set_aside(directory: Path, name: str) -> Path | None:
    """Return where a file was renamed to, out of the client's way (it would delete it), or None
    where there was none; the client's note about it goes, so that it is fetched anew.
    """
    metadata_path(directory, name).unlink(missing_ok=True)
    return _moved(directory, directory / name, name)


def set_partial_aside(directory: Path, name: str, etag: str) -> Path | None:
    """Return where the partial file of a download was renamed to, or None where there was none."""
    return _moved(directory, partial_path(directory, name, etag), f"{name}.incomplete")


def drop_partials(directory: Path) -> None:
    """Remove the partial files that were set aside: pieces of a download, replaced by now."""
    folder = directory / ASIDE
    for path in folder.rglob("*.incomplete.*") if folder.is_dir() else []:
        path.unlink(missing_ok=True)
    for one in sorted(folder.rglob("*"), reverse=True) if folder.is_dir() else []:
        if one.is_dir() and not any(one.iterdir()):
            one.rmdir()
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _moved(directory: Path, path: Path, name: str) -> Path | None:
    if not path.exists() and not path.is_symlink():
        return None
    stamp = time.strftime("%Y%m%d-%H%M%S")
    target = directory / ASIDE / f"{name}.{stamp}"
    number = 1
    while target.exists():
        number += 1
        target = directory / ASIDE / f"{name}.{stamp}-{number}"
    target.parent.mkdir(parents=True, exist_ok=True)
    return path.rename(target)
