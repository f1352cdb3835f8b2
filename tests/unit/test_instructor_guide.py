"""Tests of the instructor's page: syllabi name steps and checkpoints that exist, with the catalogue's
minutes; the memory figures are the formula's; the class server's code does what the page says.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import shlex
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from guide_pages import blocks_of, commands_of, files, name_of, tables_of, text_of

from helpers import catalog, chat, engines, models, paths, server
from helpers.doctor import known_models, memory

INSTRUCTOR = files("instructor")
LENGTHS = (45, 90, 240)


def syllabi_of(path: Path) -> list[list[list[str]]]:
    """Return the rows of the three syllabi, in the page's order."""
    return [rows for rows in tables_of(path).values() if any(".ipynb" in row[0] for row in rows)]


def lab_of(cell: str) -> str | None:
    """Return the lab that a cell links to, or None for an opening or a break."""
    found = re.search(r"notebooks/\w+/(\w+)\.ipynb", cell)
    return found[1] if found else None


def sections_of(lab: str) -> dict[int, str]:
    """Return the sources of a lab's steps by number; 0 has its exercises."""
    parts = re.split(r"^## (?=\S)", text_of(paths.COURSE / "en" / f"{lab}.md"), flags=re.M)[1:]
    found = {}
    for part in parts:
        number = re.match(r"Step (\d+):", part)
        if number or part.startswith("Exercises"):
            found[int(number[1]) if number else 0] = part
    return found


def taught(cell: str, lab: str) -> set[int]:
    """Return the steps that a cell names, 0 for the exercises: "steps 5–8, 14" → 5, 6, 7, 8, 14."""
    if cell in ("全部", "all"):
        return set(sections_of(lab))
    found = {0} if "练习" in cell or "exercises" in cell else set()
    for first, last in re.findall(r"(\d+)(?:–(\d+))?", cell):
        found |= set(range(int(first), int(last or first) + 1))
    return found


@pytest.mark.parametrize("path", INSTRUCTOR, ids=name_of)
def test_runs_on_the_page_name_labs_and_their_parameters(path: Path) -> None:
    runs = [shlex.split(words) for words in commands_of(path) if words.startswith("run ")]

    assert len(runs) >= 2
    for words in runs:
        labs = [word for word in words[1:] if re.fullmatch(r"\d\d_\w+", word)]
        names = {name for option, name in pairwise(words) if option == "-p"}
        assert labs
        for lab in labs:
            assert names <= set(catalog.lab(lab)["parameters"])


@pytest.mark.parametrize("path", INSTRUCTOR, ids=name_of)
def test_values_of_parameters_in_the_table_are_of_the_parameters_type(path: Path) -> None:
    (rows,) = [
        rows for rows in tables_of(path).values() if any("LAB_DEVICES" in r[1] for r in rows)
    ]
    given = dict(
        shlex.split(one)[0].split("=", 1)
        for row in rows
        for one in re.findall(r"`(LAB_[^`]+)`", row[1])
    )

    assert isinstance(yaml.safe_load(given["LAB_DEVICES"]), list)
    assert yaml.safe_load(given["LAB_PORT"]) == 0


@pytest.mark.parametrize("path", INSTRUCTOR, ids=name_of)
def test_codes_that_are_linked_carry_the_anchor_of_their_code(path: Path) -> None:
    links = re.findall(r"\[([a-z]+\.[a-z_.]+)\]\([^)#]+#([a-z-]+)\)", text_of(path))

    assert len(links) >= 10
    for code, anchor in links:
        assert re.sub(r"[._]", "-", code) == anchor


@pytest.mark.parametrize("path", INSTRUCTOR, ids=name_of)
def test_syllabus_fits_the_length_that_its_heading_says(path: Path) -> None:
    headings = [name for name, rows in tables_of(path).items() if rows in syllabi_of(path)]
    sums = [sum(int(row[2]) for row in rows) for rows in syllabi_of(path)]

    assert len(sums) == len(LENGTHS)
    for heading, total, length in zip(headings, sums, LENGTHS, strict=True):
        assert str(length) in heading or str(length // 60) in heading
        assert length * 0.9 <= total <= length


@pytest.mark.parametrize("path", INSTRUCTOR, ids=name_of)
def test_syllabus_minutes_are_the_labs_minutes_by_its_steps(path: Path) -> None:
    rows = [row for rows in syllabi_of(path) for row in rows if lab_of(row[0])]

    assert len(rows) >= 10
    for first, steps, minutes, _ in rows:
        lab = lab_of(first)
        assert lab is not None
        every, named = set(sections_of(lab)), taught(steps, lab)
        assert named, steps
        assert named <= every, (lab, named - every)
        share = catalog.lab(lab)["minutes"] * len(named) / len(every)
        assert int(minutes) == round(share / 5) * 5, (lab, steps)


@pytest.mark.parametrize("path", INSTRUCTOR, ids=name_of)
def test_syllabus_gives_a_lab_that_it_teaches_whole_its_whole_time(path: Path) -> None:
    for rows in syllabi_of(path):
        for lab in {lab_of(row[0]) for row in rows} - {None}:
            assert lab is not None
            own = [row for row in rows if lab_of(row[0]) == lab]
            named = set().union(*(taught(row[1], lab) for row in own))
            total, whole = sum(int(row[2]) for row in own), catalog.lab(lab)["minutes"]
            assert total == whole if named == set(sections_of(lab)) else total < whole


@pytest.mark.parametrize("path", INSTRUCTOR, ids=name_of)
def test_checkpoints_of_a_syllabus_are_those_of_the_steps_that_it_names(path: Path) -> None:
    told = 0
    for rows in syllabi_of(path):
        for first, steps, _, checkpoints in rows:
            lab = lab_of(first)
            if lab is None:
                assert not checkpoints
                continue
            known = {one["id"] for one in catalog.lab(lab)["checkpoints"]}
            sources = "".join(sections_of(lab)[number] for number in taught(steps, lab))
            for one in re.findall(r"`(\w+)`", checkpoints):
                told += 1
                assert one in known, (lab, one)
                assert one == "stopped" or f'"{one}"' in sources, (lab, steps, one)

    assert told >= 20


@pytest.mark.parametrize("path", INSTRUCTOR, ids=name_of)
def test_memory_table_has_the_formulas_results(path: Path) -> None:
    (rows,) = [rows for rows in tables_of(path).values() if any("1164032" in r for r in rows)]
    known = {one.name: one.shape for one in known_models.all_known()}
    labs = {"MiniCPM5-2B": "03_tool_calling", "MiniCPM-V-4_5": "01_minicpm_v"}

    assert len(rows) == 4
    for name, card, share, sequences, *figures in rows:
        course = catalog.lab(labs[name])["values"]["ascend"]["gpu_memory_utilization"]
        usable = int(int(card) * memory.GIB * memory.USABLE_SHARE)
        terms = memory.budget(
            known[name], usable, gpu_memory_utilization=course, max_num_seqs=int(sequences)
        )
        assert float(share) == course
        assert figures == [
            f"{terms.weights / memory.GIB:.2f}",
            f"{terms.kv_cache / memory.GIB:.2f}",
            str(terms.token_bytes),
            str(terms.tokens),
            str(terms.tokens // 8192),
        ]


def run_block(source: str, **names: Any) -> str:
    """Return what a page's Python code prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "page", "exec"), dict(names))
    return printed.getvalue().strip()


@pytest.mark.parametrize("path", INSTRUCTOR, ids=name_of)
def test_code_for_another_card_prints_the_figure_of_the_table(path: Path) -> None:
    (source,) = [block for block in blocks_of(path, "python") if "memory.budget" in block]
    (rows,) = [rows for rows in tables_of(path).values() if any("1164032" in r for r in rows)]

    assert run_block(source) == rows[0][-1]


@pytest.mark.parametrize("path", INSTRUCTOR, ids=name_of)
def test_code_of_the_class_server_starts_it_as_the_memory_table_assumes(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `server.start` is given is looked at; a real start is the engine tests' business."""
    (source,) = [block for block in blocks_of(path, "python") if "server.start" in block]
    started: list[Any] = []

    def start(engine: Any, model: Any, options: Any) -> Any:
        started.append((engine.name, model.name, options))
        return SimpleNamespace(wait_ready=lambda: 0.0, base_url=f"http://{options.host}:8000")

    monkeypatch.setattr(engines, "select", lambda wanted: SimpleNamespace(name=wanted))
    monkeypatch.setattr(
        models, "find", lambda lab, engine: SimpleNamespace(name=catalog.lab(lab)["model"])
    )
    monkeypatch.setattr(server, "start", start)

    address = run_block(source)

    ((engine, model, options),) = started
    assert (engine, model, address) == ("ascend", "MiniCPM5-2B", "http://10.0.0.8:8000")
    assert (options.max_model_len, options.max_num_seqs) == (8192, 32)
    assert (options.gpu_memory_utilization, options.tool_call_parser) == (0.85, "minicpm5")
    assert f"export LAB_BASE_URL={address}" in text_of(path)


@pytest.mark.parametrize("path", INSTRUCTOR, ids=name_of)
def test_limits_on_the_page_are_the_courses_own(path: Path) -> None:
    (rows,) = [rows for rows in tables_of(path).values() if rows[0][0] == "`max_num_seqs`"]
    told = {
        row[0].strip("`"): [float(one) for one in re.findall(r"[\d.]+\d", row[2])] for row in rows
    }
    course = {lab: catalog.lab(lab)["values"]["ascend"] for lab in ("02_minicpm5", "01_minicpm_v")}
    waited = inspect.signature(chat.ask).parameters["timeout"].default

    assert course["01_minicpm_v"]["max_model_len"] in told["max_model_len"]
    for values in course.values():
        assert values["gpu_memory_utilization"] in told["gpu_memory_utilization"]
    assert f" {waited:.0f} " in text_of(path)


@pytest.mark.parametrize("path", INSTRUCTOR, ids=name_of)
def test_minutes_of_a_lab_outside_the_syllabi_are_the_catalogues(path: Path) -> None:
    told = re.findall(r"/(\d\d_\w+)\.ipynb\) ?[（(](\d+) (?:分钟|minutes)[)）]", text_of(path))

    assert told
    for lab, minutes in told:
        assert int(minutes) == catalog.lab(lab)["minutes"]
