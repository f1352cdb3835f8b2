"""Run the committed notebooks by nbval and compare: `make nbval` strictly, `make nbval-npu` on real weights.

Usage: python tests/notebooks/regression.py [--npu] [--language zh|en] [LAB …]

Strictly means every cell, on the CPU engine with the stand-ins, whatever LAB_ variables say (but for
LAB_ENGINE_PYTHON and LAB_PORT). With --npu the LAB_ variables are the parameters, for nbval knows no other, and
nbval_npu.py says what is compared. That works with any engine: LAB_ENGINE=cpu is the rehearsal.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from helpers import catalog, engines, messages, paths  # noqa: E402

SANITIZE = Path(__file__).with_name("sanitize.cfg")
KEPT = ("LAB_ENGINE_PYTHON", "LAB_PORT")
CELL_SECONDS = {"strict": 600, "npu": 1800}
"""How long one cell may take; real weights load for minutes."""


def command(notebook: Path, npu: bool = False, junit: Path | None = None) -> list[str]:
    """Return the pytest command that runs one notebook and compares it; run it in the checkout's root.

    Args:
        npu: compare what depends on neither model nor machine, not every cell.
        junit: where the result goes as JUnit XML; None: nowhere.
    """
    way = ["--nbval-lax", "-p", "tests.notebooks.nbval_npu"] if npu else ["--nbval"]
    seconds = CELL_SECONDS["npu" if npu else "strict"]
    return [
        *(sys.executable, "-m", "pytest", *way, "-p", "tests.notebooks.conftest", "-q"),
        *("--nbval-sanitize-with", str(SANITIZE), "--nbval-cell-timeout", str(seconds)),
        *((f"--junitxml={junit}",) if junit else ()),
        str(notebook),
    ]


def environment(language: str, state: Path | None) -> dict[str, str]:
    """Return the variables of a run in a language.

    Args:
        language: "zh" or "en".
        state: the state directory of a strict run, to which no LAB_ variable but KEPT gets through; None keeps all.
    """
    if state is None:
        return os.environ | {"LAB_LANGUAGE": language}
    env = {k: v for k, v in os.environ.items() if not k.startswith("LAB_") or k in KEPT}
    return env | {"LAB_STATE_DIR": str(state), "LAB_LANGUAGE": language}


def compared(lab: str, language: str, npu: bool) -> bool:
    """Return True if a notebook, run now, shows what the committed one shows."""
    folder = paths.build_dir() / ("nbval-npu" if npu else "nbval")
    line = command(
        paths.NOTEBOOKS / language / f"{lab}.ipynb", npu, folder / f"{lab}.{language}.xml"
    )
    with tempfile.TemporaryDirectory() as scratch:
        env = environment(language, None if npu else Path(scratch))
        return subprocess.run(line, cwd=ROOT, env=env, check=False).returncode == 0


def refusal(npu: bool, variables: Mapping[str, str]) -> str:
    """Return why a run would compare the wrong things on this machine, or ""."""
    if npu:
        chosen = engines.select(
            variables.get("LAB_ENGINE", "auto"), variables.get("LAB_BASE_URL", "")
        )
        print(f"engine: {chosen.name}", flush=True)
        return ""
    if engines.Ascend().available().ok:
        return "the committed outputs are the CPU engine's, and here the labs would take the NPU: make nbval-npu"
    return "" if engines.Cpu().available().ok else engines.Cpu().available().reason


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if every notebook shows what it should, 1 if one does not, 2 where none was run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--npu", action="store_true", help="on real weights (see above)")
    parser.add_argument(
        "--language", choices=messages.LANGUAGES, help="default: LAB_LANGUAGE, else both"
    )
    parser.add_argument("labs", nargs="*", metavar="LAB", help="default: every lab")
    given = parser.parse_args(arguments)
    reason = refusal(given.npu, os.environ)
    if reason:
        print(reason, file=sys.stderr)
        return 2
    only = given.language or os.environ.get("LAB_LANGUAGE")
    languages = [only] if only else list(messages.LANGUAGES)
    labs = [catalog.lab(name)["id"] for name in given.labs] or list(catalog.labs())
    failed = [
        f"{lab} {language}"
        for lab in labs
        for language in languages
        if not compared(lab, language, given.npu)
    ]
    print(f"differ: {', '.join(failed)}" if failed else "every notebook shows what it should")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
