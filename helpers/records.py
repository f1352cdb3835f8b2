"""What all records of ours on disk have in common: written whole or not at all, and dated. Standard
library only.

Not for what they say: `server.state`, `download.record` and the others know.
"""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path


def write_whole(path: Path, text: str, mode: int = 0o644) -> Path:
    """Return the path of a file that now holds a text; a reader never sees half of it.

    Args:
        path: in a directory that is there.
        text: the whole content.
        mode: permissions of the file, also where it replaces one that had others; the umask takes
            away from them.
    Raises:
        OSError: it cannot be written; what was there before still is.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        return temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def now() -> str:
    """Return this moment as ISO 8601 with the zone, for people; durations come from the monotonic
    clock.
    """
    return datetime.now(timezone.utc).astimezone().isoformat(timespec="seconds")
