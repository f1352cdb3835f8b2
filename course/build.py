"""Build the notebooks from course/: two editions from one source, canonical form, outputs from a
real run.

Usage: python course/build.py [--execute changed|all|none] [--check] [LAB …]

The learner edition goes to notebooks/, with the outputs of a run on the engine of this machine; the
solution edition to build/solutions/, without outputs. Stored outputs are kept as long as the code
cells, the helpers' version and the stand-in are the same. `--check` builds in memory and tells what
differs; it executes nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path

import claims
import jupytext
import nbformat
import troubleshooting
import version_pages
from nbformat import NotebookNode

import helpers
from helpers import batch, catalog, messages, paths

KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
SOLUTIONS = paths.ROOT / "build" / "solutions"


def source(lab: str, language: str) -> Path:
    """Return the path of a lab's text source."""
    return paths.COURSE / language / f"{lab}.md"


def target(lab: str, language: str) -> Path:
    """Return the path of a lab's learner edition."""
    return paths.NOTEBOOKS / language / f"{lab}.ipynb"


def read(lab: str, language: str) -> NotebookNode:
    """Return a lab's source as a notebook in canonical form, both editions' cells in it.

    Raises:
        FileNotFoundError: the lab has no source in this language.
    """
    notebook = jupytext.read(source(lab, language), fmt="md:myst")
    notebook.metadata = NotebookNode(
        {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    )
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        key = f"{cell.cell_type}\n{cell.source}"
        seen[key] = seen.get(key, -1) + 1
        cell.id = hashlib.sha256(f"{lab}\n{language}\n{key}\n{seen[key]}".encode()).hexdigest()[:12]
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def learner(notebook: NotebookNode) -> NotebookNode:
    """Return the learner edition: each cell tagged `solution` holds its stub instead."""
    for cell in notebook.cells:
        if "solution" in cell.metadata.get("tags", []):
            cell.source = cell.metadata.pop("stub").rstrip("\n")
            cell.metadata["tags"] = ["exercise"]
    return notebook


def solution(notebook: NotebookNode) -> NotebookNode:
    """Return the solution edition: the solution cells as they are in the source."""
    for cell in notebook.cells:
        cell.metadata.pop("stub", None)
    return notebook


def dumps(notebook: NotebookNode) -> str:
    """Return the one way of writing a notebook: sorted keys, one trailing newline, Chinese as it
    is.
    """
    plain = json.loads(nbformat.writes(notebook, version=4))
    for cell in plain["cells"]:
        cell["metadata"] = {
            name: value for name, value in cell["metadata"].items() if name in ("tags",) and value
        }
    return json.dumps(plain, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def fingerprint(notebook: NotebookNode, lab: str) -> str:
    """Return a hash of all that the stored outputs depend on: code cells, helpers' version, and the
    files of the stand-in that the lab serves, or downloads, on the CPU.
    """
    parts = [
        helpers.__version__,
        *(cell.source for cell in notebook.cells if cell.cell_type == "code"),
    ]
    for place in catalog.lab(lab)["model_dirs"].get("cpu", []):
        files = sorted(f for f in (paths.STANDINS / Path(place).name).iterdir() if f.is_file())
        parts += [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def with_stored_outputs(notebook: NotebookNode, path: Path) -> bool:
    """Take over the outputs that a notebook on disk has for the same fingerprint; return True if
    there were any.
    """
    mark = fingerprint(notebook, path.stem)
    notebook.metadata["labs"] = {"edition": "learner", "fingerprint": mark}
    if not path.exists():
        return False
    stored = nbformat.read(path, as_version=4)
    if stored.metadata.get("labs", {}).get("fingerprint") != mark:
        return False
    pairs = zip(_code(notebook), _code(stored), strict=False)
    for new, old in pairs:
        new.outputs, new.execution_count = old.outputs, old.execution_count
    return any(cell.outputs for cell in _code(stored))


def _code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def execute(wanted: list[tuple[str, str, NotebookNode]]) -> bool:
    """Run notebooks through papermill, put their outputs in, and return True if every checkpoint
    held.

    Args:
        wanted: (lab, language, notebook without outputs) for each.
    """
    with tempfile.TemporaryDirectory() as scratch:
        todo = []
        for lab, language, notebook in wanted:
            path = Path(scratch) / f"{lab}.{language}.source.ipynb"
            path.write_text(dumps(notebook), encoding="utf-8")
            todo.append(batch.Job(lab, language, path))
        folder = Path(scratch) / "run"
        folder.mkdir()
        summary = batch.run(todo, folder)
        for (_, _, notebook), run in zip(wanted, summary.runs, strict=False):
            executed = nbformat.read(folder / run.notebook, as_version=4)
            cells = [
                c
                for c in _code(executed)
                if "injected-parameters" not in c.metadata.get("tags", [])
            ]
            for number, (new, old) in enumerate(zip(_code(notebook), cells, strict=True), 1):
                new.outputs, new.execution_count = (
                    [_cleaned(output) for output in old.outputs],
                    number,
                )
    return summary.ok


def _cleaned(output: NotebookNode) -> NotebookNode:
    """Return an output without what belongs to one machine: paths are shortened, execution numbers
    left out.
    """
    text = json.dumps(output, ensure_ascii=False)
    cleaned = json.loads(
        re.sub(re.escape(tempfile.gettempdir()) + r"/[\w./-]+", "…", paths.shown(text))
    )
    if cleaned.get("output_type") == "execute_result":
        cleaned["execution_count"] = None
    return nbformat.from_dict(cleaned)


def sourced_labs() -> list[tuple[str, str]]:
    """Return (lab, language) for each lab of the catalogue."""
    return [(lab, language) for lab in catalog.labs() for language in messages.LANGUAGES]


def differences() -> list[str]:
    """Return a line for each notebook that is not what course/ makes; executes nothing."""
    found, spoken = [], messages.language()
    for lab, language in sourced_labs():
        path, built = target(lab, language), learner(read(lab, language))
        with_stored_outputs(built, path)
        if not path.exists() or path.read_text(encoding="utf-8") != dumps(built):
            made = source(lab, language).relative_to(paths.ROOT)
            found.append(f"{path.relative_to(paths.ROOT)}: not what {made} makes; make notebooks")
    for language in messages.LANGUAGES:
        page = troubleshooting.target(language)
        if not page.exists() or page.read_text(encoding="utf-8") != troubleshooting.page(language):
            found.append(f"{page.relative_to(paths.ROOT)}: not what helpers/messages makes")
        page = claims.target(language)
        if not page.exists() or page.read_text(encoding="utf-8") != claims.page(language):
            found.append(f"{page.relative_to(paths.ROOT)}: not what course/claims.yml makes")
        for name, make in version_pages.PAGES.items():
            page = version_pages.target(name, language)
            if not page.exists() or page.read_text(encoding="utf-8") != make(language):
                found.append(f"{page.relative_to(paths.ROOT)}: not what course/versions.yml makes")
    messages.use(spoken)  # the version pages speak each language in turn
    return found


def build(execute_which: str, labs: list[str]) -> bool:
    """Write both editions of the labs; return True if all executed checkpoints held.

    Args:
        execute_which: "changed", "all" or "none".
        labs: ids; an empty list means every lab.
    """
    spoken = messages.language()
    troubleshooting.main()
    version_pages.main()
    claims.main()
    messages.use(spoken)
    wanted: list[tuple[str, str, NotebookNode]] = []
    built: dict[Path, NotebookNode] = {}
    for lab, language in sourced_labs():
        if labs and lab not in labs:
            continue
        SOLUTIONS.joinpath(language).mkdir(parents=True, exist_ok=True)
        solved = dumps(solution(read(lab, language)))
        SOLUTIONS.joinpath(language, f"{lab}.ipynb").write_text(solved, encoding="utf-8")
        notebook = learner(read(lab, language))
        path = target(lab, language)
        kept = with_stored_outputs(notebook, path)
        if execute_which == "all" or (execute_which == "changed" and not kept):
            wanted.append((lab, language, notebook))
        built[path] = notebook
    ok = execute(wanted) if wanted else True
    if not ok:
        print("a checkpoint failed: the notebooks on disk are left as they were", file=sys.stderr)
        return False
    for path, notebook in built.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dumps(notebook), encoding="utf-8")
        print(paths.shown(path))
    return True


def main() -> int:
    """Return the exit status of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--execute", choices=("changed", "all", "none"), default="changed")
    parser.add_argument("--check", action="store_true", help="only tell what differs")
    parser.add_argument("labs", nargs="*", metavar="LAB", help="default: every lab")
    arguments = parser.parse_args()
    if arguments.check:
        found = differences()
        print("\n".join(found) or "notebooks/ is what course/ makes")
        return 1 if found else 0
    return 0 if build(arguments.execute, arguments.labs) else 1


if __name__ == "__main__":
    sys.exit(main())
