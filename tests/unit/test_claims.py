"""Tests of course/claims.yml: what labs claim has an entry with evidence, and entries have their place in a lab."""

from __future__ import annotations

import copy
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from helpers import catalog, messages, paths

CHINESE = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
MACHINE_PATH = re.compile(r"(?<![\w.:])/(?:root|home|tmp|work|farm)/\w")
NPU = {"chip": "910B3", "versions": {"vllm": "0.23.0"}, "date": "2026-11-30"}


def _claims_module() -> ModuleType:
    """Return course/claims.py as a module; it is an author's tool, not part of the package."""
    spec = importlib.util.spec_from_file_location("course_claims", paths.COURSE / "claims.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # pydantic looks annotations up there
    spec.loader.exec_module(module)
    return module


claims = _claims_module()
REGISTER = claims.load()
ENTRIES = {entry.id: entry for entry in REGISTER.claims}
RUNS = sorted({one.run for entry in REGISTER.claims for one in entry.evidence if one.run})


def test_entries_of_the_original_texts_are_twenty_five() -> None:
    found = [entry.id for entry in REGISTER.claims if entry.id.startswith("A")]

    assert found == [f"A{number}" for number in range(1, 26)]


def test_badges_and_entries_of_the_course_fit_together() -> None:
    assert claims.problems(REGISTER, claims.sources()) == []


def test_labs_of_the_register_include_the_catalogues() -> None:
    assert set(catalog.labs()) <= set(REGISTER.labs)


@pytest.mark.parametrize("claim", list(ENTRIES))
def test_entry_in_both_languages_is_written_in_them(claim: str) -> None:
    entry = ENTRIES[claim]

    for text in (entry.claim, entry.truth):
        assert CHINESE.search(text.zh)
        assert not CHINESE.search(text.en)


@pytest.mark.parametrize("run", RUNS)
def test_evidence_that_is_a_test_exists(run: str) -> None:
    path, _, name = run.partition("::")

    assert f"def {name}(" in (paths.ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "claim", [entry.id for entry in REGISTER.claims if entry.step and not entry.planned]
)
def test_step_of_an_entry_is_a_checkpoint_of_its_lab(claim: str) -> None:
    entry = ENTRIES[claim]

    assert entry.step in [step["id"] for step in catalog.lab(entry.lab)["checkpoints"]]


def test_register_names_no_path_of_a_machine() -> None:
    assert not MACHINE_PATH.search(claims.REGISTER.read_text(encoding="utf-8"))


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_page_on_disk_is_what_the_register_makes(language: str) -> None:
    assert claims.target(language).read_text(encoding="utf-8") == claims.page(language)


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_page_has_an_anchor_for_every_badge(language: str) -> None:
    page = claims.page(language)

    for claim in ENTRIES:
        assert page.count(claims.badge(claim, language).partition("#")[2].rstrip(")")) >= 1
        assert page.count(f'<a id="{claim.lower()}"></a>') == 1


# What follows runs the checks on small data of their own, so that each rule is seen to fail.


def made(**changes: Any) -> dict[str, Any]:
    """Return the data of an entry that is right, with some fields changed."""
    entry: dict[str, Any] = {
        "id": "A1",
        "claim": {"zh": "传言", "en": "a belief"},
        "verdict": "false",
        "truth": {"zh": "事实", "en": "a fact"},
        "evidence": [{"source": "vllm/envs.py:1@0.32.0"}],
        "version": "vLLM 0.32.0",
        "status": "read-in-source",
        "lab": "02_lab",
        "kind": "text",
    }
    return entry | changes


def register(*entries: dict[str, Any]) -> Any:
    """Return a register of these entries, for the labs 02_lab and 03_lab."""
    words = {language: {} for language in messages.LANGUAGES}
    data = {"schema": 1, "labs": ["02_lab", "03_lab"], "words": words, "claims": list(entries)}
    return claims.Register.model_validate(copy.deepcopy(data))


def lab(*badges: str, code: str = "x = 1", language: str = "zh") -> str:
    """Return the source of a lab with these badges and one code cell."""
    shown = " ".join(claims.badge(one, language) for one in badges)
    return f"# Lab\n\nText. {shown}\n\n```{{code-cell}} ipython3\n{code}\n```\n"


def both(*badges: str, code: str = "x = 1") -> dict[tuple[str, str], str]:
    """Return a lab 02_lab in both languages."""
    return {("02_lab", g): lab(*badges, code=code, language=g) for g in messages.LANGUAGES}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"id": "a-1"}, "id"),
        ({"claim": {"zh": "传言"}}, "claim.en"),
        ({"truth": {"zh": "事实", "en": ""}}, "truth.en"),
        ({"verdict": "wrong"}, "verdict"),
        ({"evidence": []}, "evidence"),
        ({"evidence": [{"hearsay": "someone"}]}, "evidence"),
        ({"evidence": [{"source": "a", "seen": "b"}]}, "exactly one"),
        ({"evidence": [{"source": ""}]}, "exactly one"),
        ({"evidence": [{"run": "it worked"}]}, "run"),
        ({"evidence": [{"issue": "#12"}]}, "issue"),
        ({"version": ""}, "version"),
        ({"status": "certain"}, "status"),
        ({"status": "held-on-npu"}, "chip, versions, date"),
        ({"status": "refuted-on-npu"}, "chip, versions, date"),
        ({"status": "held-on-npu", "npu": NPU | {"chip": ""}}, "chip"),
        ({"status": "held-on-npu", "npu": NPU | {"versions": {}}}, "versions"),
        ({"status": "held-on-npu", "npu": NPU | {"date": "today"}}, "date"),
        ({"status": "ran-on-cpu", "npu": NPU}, "others not"),
        ({"kind": "rumour"}, "kind"),
        ({"kind": "experiment"}, "names a phrase"),
        ({"planned": True, "cell": "x = 1"}, "no cell yet"),
        ({"lab": "02_typo"}, "not listed"),
        ({"note": "one field more"}, "note"),
    ],
)
def test_entry_that_breaks_a_rule_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(said)):
        register(made(**changes))


def test_entries_with_one_id_are_refused() -> None:
    with pytest.raises(ValidationError, match="used twice"):
        register(made(), made())


@pytest.mark.parametrize("status", ["held-on-npu", "refuted-on-npu"])
def test_measured_entry_with_chip_versions_and_date_is_taken(status: str) -> None:
    assert register(made(status=status, npu=NPU)).claims[0].npu.chip == "910B3"


def test_verdict_written_without_quotes_is_the_word() -> None:
    data = yaml.safe_load("{verdict: false}")

    assert register(made(**data)).claims[0].verdict == "false"


def test_lab_that_fits_its_entries_has_no_problem() -> None:
    entries = (
        made(),
        made(id="A2", kind="experiment", cell="run(1)"),
        made(id="B1", lab="03_lab", planned=True),
    )

    assert claims.problems(register(*entries), both("A1", "A2", code="run(1)")) == []


@pytest.mark.parametrize(
    ("entry", "labs", "said"),
    [
        (made(), both("A1", "A9"), "badge A9 has no entry"),
        (made(), {**both("A1"), ("02_lab", "en"): lab(language="en")}, "zh and en differ"),
        (made(), {**both("A1"), ("02_lab", "en"): lab("A1", language="zh")}, "leads elsewhere"),
        (made(), both("A1", code="# " + claims.badge("A1", "zh")), "in a code cell"),
        (made(), both(), "02_lab shows no badge"),
        (made(planned=True), both("A1"), "no longer planned"),
        (made(lab="03_lab"), both("A1"), "so the entry is planned"),
        (made(kind="experiment", cell="run(2)"), both("A1", code="run(1)"), "has 'run(2)'"),
        (made(kind="experiment", cell="Text."), both("A1", code="run(1)"), "has 'Text.'"),
        (made(step="chat"), both("A1", code='check("models")'), "no checkpoint 'chat'"),
        (made(), {("02_lab", "zh"): lab("A1")}, "en/02_lab shows no badge"),
    ],
)
def test_lab_that_does_not_fit_its_entries_is_told(
    entry: dict[str, Any], labs: dict[tuple[str, str], str], said: str
) -> None:
    assert any(said in line for line in claims.problems(register(entry), labs))


def test_sources_are_read_from_both_languages() -> None:
    found = claims.sources()

    assert {language for _, language in found} == set(messages.LANGUAGES)
    assert all((Path(paths.COURSE) / language / f"{name}.md").is_file() for name, language in found)
