"""`make bench`: run every bench_*.py beside this file, print the figures, and write
build/bench.json.

    python tests/benchmarks/run.py [NAME …]      # say: server client; none means all
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]
from benchmarks.measured import Figure  # noqa: E402 - the path is set above
from helpers import paths, tables  # noqa: E402


def main(names: list[str]) -> int:
    """Return the exit status: 0 where every figure keeps its limit."""
    os.environ["LAB_RUN"] = f"bench-{os.getpid()}"
    found = names or sorted(p.stem.removeprefix("bench_") for p in HERE.glob("bench_*.py"))
    figures: list[Figure] = []
    for name in found:
        print(f"bench_{name} …", flush=True)
        with Path(os.devnull).open("w") as nobody, redirect_stdout(nobody):
            figures += import_module(f"benchmarks.bench_{name}").measure()
    folder = paths.build_dir()
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(figures, ensure_ascii=False, indent=1)
    (folder / "bench.json").write_text(text + "\n", encoding="utf-8")
    head = ["figure", "value", "limit", "ok"]
    cells = [
        (
            f["name"],
            f"{f['value']} {f['unit']}",
            f"{f['limit']} {f['unit']}",
            "ok" if f["ok"] else "NO",
        )
        for f in figures
    ]
    print(tables.plain(head, cells))
    return 0 if all(figure["ok"] for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
