"""The knowledge base itself: its schema, its texts, and what it must cover."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from diagnose_logs import CASES
from pydantic import ValidationError

from helpers import diagnose, messages, paths
from helpers.diagnose import comparing, knowledge
from helpers.diagnose.knowledge import Entry, Signature

ENTRIES = list(knowledge.entries().values())
SYMPTOMS = [
    *("startup", "architecture", "version", "acl", "graph", "speculative", "oom", "pd"),
    *("distributed", "multimodal", "quantization", "lora", "hardware_310p", "garbled", "slow"),
    *("build", "rl"),
]


def entry(**changes: object) -> Entry:
    given: dict[str, object] = {
        "id": "one",
        "family": "diagnose.memory",
        "confidence": "high",
        "sources": ["somewhere"],
        "signatures": [{"text": "some text"}],
    }
    return Entry.model_validate(given | changes)


def test_every_file_of_knowledge_belongs_to_a_family() -> None:
    files = {f"diagnose.{path.stem}" for path in knowledge.FOLDER.glob("*.yml")}

    assert files == set(knowledge.FAMILIES)


def test_every_shared_case_is_covered_once() -> None:
    covered = [case for one in ENTRIES for case in one.covers]

    assert sorted(covered) == sorted(CASES)


@pytest.mark.parametrize("symptom", SYMPTOMS)
def test_every_row_of_the_symptom_table_has_an_entry(symptom: str) -> None:
    assert any(one.symptom == symptom for one in ENTRIES)


def test_no_entry_invents_a_symptom() -> None:
    assert {one.symptom for one in ENTRIES} - {None} == set(SYMPTOMS)


@pytest.mark.parametrize("language", messages.LANGUAGES)
@pytest.mark.parametrize("one", ENTRIES, ids=lambda one: one.id)
def test_entry_has_its_four_texts(one: Entry, language: str) -> None:
    texts = one.texts(language, {})

    assert list(texts) == ["title", "cause", "fix", "confirm"]
    assert all(len(text) > 3 for text in texts.values())


@pytest.mark.parametrize("family", knowledge.FAMILIES)
def test_no_text_stands_without_its_entry(family: str) -> None:
    ids = {one.id for one in ENTRIES if one.family == family}

    assert {name.rsplit(".", 1)[0] for name in messages.catalogue("zh")[family]} == ids


@pytest.mark.parametrize("one", ENTRIES, ids=lambda one: one.id)
def test_placeholders_of_an_entry_are_what_a_signature_captures(one: Entry) -> None:
    groups = {g for s in one.signatures for g in re.findall(r"\(\?P<(\w+)>", s.pattern or "")}
    asked = set(re.findall(r"(?<!\{)\{(\w+)\}", "".join(_raw(one))))

    assert asked <= groups


def _raw(one: Entry) -> list[str]:
    family = messages.catalogue("en")[one.family]
    return [family[f"{one.id}.{part}"] for part in knowledge.PARTS]


@pytest.mark.parametrize("one", ENTRIES, ids=lambda one: one.id)
def test_signature_text_holds_no_runs_numbers(one: Entry) -> None:
    for signature in one.signatures:
        assert not re.search(r"pid=\d|\d\d:\d\d:\d\d|0x[0-9a-f]{6}", signature.text)


PLAIN = [
    (one.id, signature)
    for one in ENTRIES
    for signature in one.signatures
    if not (signature.pattern or signature.near or signature.where)
]


@pytest.mark.parametrize(
    ("name", "signature"), PLAIN, ids=[f"{name}: {s.text[:30]}" for name, s in PLAIN]
)
def test_plain_signature_is_found_and_names_its_entry(name: str, signature: Signature) -> None:
    before = "Prompt: 'a', Generated text: 'b'\n" if signature.phase else ""

    found = diagnose.read_text(f"{before}RuntimeError: {signature.text}\n")

    assert name in [found.entry, *found.also, *(item.id for item in found.harmless)]


def test_what_nobody_verified_never_stands_first() -> None:
    hints = [one for one in ENTRIES if one.confidence == "unverified"]

    for one in hints:
        found = diagnose.read_text(f"RuntimeError: {one.signatures[0].text} num_speculative_tokens")
        assert found.entry != one.id
        assert one.id in found.also


@pytest.mark.parametrize(
    "changes",
    [
        {"confidence": "unverified"},
        {"signatures": []},
        {"sources": []},
        {"id": "Not An Id"},
        {"surprise": 1},
        {"signatures": [{"text": "ab"}]},
        {"signatures": [{"text": "abc", "pattern": "("}]},
        {"signatures": [{"text": "abc", "pattern": "a\\sb"}]},
    ],
)
def test_entry_that_breaks_the_schema_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        entry(**changes)


def test_entry_as_the_tests_make_it_is_valid() -> None:
    assert entry().signatures == (Signature(text="some text"),)


def test_entry_added_to_a_file_needs_no_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in knowledge.FOLDER.glob("*.yml"):
        (tmp_path / path.name).write_text(path.read_text("utf-8"), "utf-8")
    added = {
        "id": "npu_on_fire",
        "confidence": "high",
        "sources": ["a test"],
        "signatures": [{"text": "the NPU is on fire"}],
    }
    with (tmp_path / "device.yml").open("a", encoding="utf-8") as file:
        file.write(yaml.safe_dump([added]))
    monkeypatch.setattr(knowledge, "FOLDER", tmp_path)
    family = dict(messages.catalogue("en")["diagnose.device"])
    family |= {f"npu_on_fire.{part}": part for part in knowledge.PARTS}
    monkeypatch.setitem(messages.catalogue("en"), "diagnose.device", family)
    knowledge.entries.cache_clear()

    found = diagnose.read_text("RuntimeError: the NPU is\n on fire", "en")

    knowledge.entries.cache_clear()
    assert (found.entry, found.title) == ("npu_on_fire", "title")


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ("a > b", False),
        ("b > a", True),
        ("a + b < 3", True),
        ("a * 4 - b > 0.1", True),
        ("a > missing", False),
    ],
)
def test_comparison_of_captured_values_with_units(rule: str, holds: bool) -> None:
    assert comparing.holds(rule, {"a": "512 MiB", "b": "1.5GiB"}) is holds


def test_comparison_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="compared"):
        comparing.holds("__import__('os')", {})


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_guide_explains_every_field_and_family(language: str) -> None:
    guide = (paths.COURSE / "guide" / f"knowledge.{language}.md").read_text("utf-8")
    own = {"id", "family", "signatures", "stage"}

    fields = {*Signature.model_fields, *Entry.model_fields} - own

    assert {name for name in fields if f"`{name}`" not in guide} == set()
    assert {f for f in knowledge.FAMILIES if f.removeprefix("diagnose.") not in guide} == set()
