"""Lab 04's faults as data: what is drawn, which lines tell them, which repairs are right."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from helpers import catalog, diagnose, faults, messages, models, paths
from helpers.diagnose.knowledge import entries
from helpers.errors import BadOption
from helpers.faults import damage, logfile
from helpers.faults.known import FAULTS, PICTURES
from helpers.models import Model
from helpers.options import Options

LAB = "04_broken_deployment"
LOGS = paths.ROOT / "tests" / "fixtures" / "logs" / "faults"
RECORDED = {
    "flag_unknown": None,  # the recorded one has another flag
    "limit_mm_old_syntax": "limit_mm_legacy.log",
    "tool_choice_without_parser": "auto_without_parser.log",
    "variable_unknown": "env_validation.log",
    "port_in_use": "port_held.log",
    "remote_code_not_trusted": "custom_code.log",
    "weights_damaged": "truncated.log",
    "model_name_unknown": "client_wrong_model.json",
    "engine_died": "engine_killed.log",
}
IDS = [one.id for one in FAULTS]


@pytest.fixture
def model() -> Model:
    return models.find(LAB, "cpu")


@pytest.fixture
def options() -> Options:
    return catalog.options(LAB, "cpu", served_model_name="MiniCPM5-2B")


@pytest.fixture
def cases(model: Model, options: Options, own_state: Path) -> dict[str, faults.Case]:
    return {one.fault.id: one for one in faults.draw(0, False, model, options)}


@pytest.mark.parametrize("quick", [True, False])
def test_draw_with_the_same_seed_is_the_same(quick: bool, model: Model, options: Options) -> None:
    first, second = (faults.draw(5, quick, model, options) for _ in range(2))

    assert [one.fault.id for one in first] == [one.fault.id for one in second]


def test_draw_of_all_has_each_of_the_ten_once(model: Model, options: Options) -> None:
    drawn = faults.draw(1, False, model, options)

    assert sorted(one.fault.id for one in drawn) == sorted(IDS)
    assert [one.letter for one in drawn] == list("ABCDEFGHIJ")
    assert len(IDS) == 10


def test_quick_draws_are_three_of_three_depths_with_one_whole_start_at_most(
    model: Model, options: Options
) -> None:
    seen = set()
    for seed in range(60):
        drawn = [one.fault for one in faults.draw(seed, True, model, options)]
        assert [one.depth for one in drawn[:2]] == ["arguments", "config"]
        assert drawn[2].depth in ("engine", "serving") and len(drawn) == 3
        seen |= {one.id for one in drawn}

    assert seen == set(IDS)


def test_default_draw_of_the_catalogue_needs_no_whole_start(model: Model, options: Options) -> None:
    drawn = faults.draw(5, True, model, options)

    assert len(drawn) == catalog.lab(LAB)["engine_starts"]
    assert "serving" not in {one.fault.depth for one in drawn}


def test_case_shown_does_not_tell_its_fault(cases: dict[str, faults.Case]) -> None:
    for name, case in cases.items():
        assert name not in repr(case)
        assert name not in case.story


@pytest.mark.parametrize("name", IDS)
def test_fault_is_an_entry_of_the_knowledge_base_and_a_cause_to_choose(name: str) -> None:
    assert name in entries()
    assert name in faults.CAUSES


def test_causes_to_choose_from_all_have_a_meaning_in_both_languages() -> None:
    for language in messages.LANGUAGES:
        messages.use(language)
        assert [row[0] for row in faults.causes().rows] == list(faults.CAUSES)


@pytest.mark.parametrize(("name", "file"), [(n, f) for n, f in RECORDED.items() if f])
def test_evidence_of_a_fault_stands_in_a_real_log_of_it(
    name: str, file: str, tmp_path: Path
) -> None:
    log = tmp_path / "real.log"
    log.write_bytes(gzip.decompress((LOGS / f"{file}.gz").read_bytes()))
    fault = next(one for one in FAULTS if one.id == name)

    told = logfile.matching(logfile.lines(log), fault.evidence)

    assert told
    assert len(told) < 12
    assert diagnose.read(log).entry == name


@pytest.mark.parametrize("name", IDS)
def test_repair_of_the_solution_is_right(name: str, cases: dict[str, faults.Case]) -> None:
    case = cases[name]
    case_repair = _solved(case)

    assert case.fault.right(case.broken, case.broken.with_changes(case_repair))


def _solved(case: faults.Case) -> dict[str, Any]:
    """Return the solution's repair, without a log to find its line in."""
    repair = dict(case.fault.repair)
    if case.fault.damaged:
        repair["model_dir"] = case.whole.path
    if case.broken.asked_name != case.broken.options.served_model_name:
        repair["asked_name"] = case.broken.options.served_model_name
    return repair


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("flag_unknown", {}),
        ("flag_unknown", {"extra": ()}),
        ("limit_mm_old_syntax", {"extra": ()}),
        ("limit_mm_old_syntax", {"limit_mm_per_prompt": {"image": 10}}),
        ("tool_choice_without_parser", {"enable_auto_tool_choice": False}),
        ("variable_unknown", {"extra": (), "variables": {"VLLM_LIMIT_MM_PER_PROMPT": None}}),
        ("variable_unknown", {"variables": {"VLLM_LIMIT_MM_PER_PROMPT": None}}),
        ("port_in_use", {"host": "127.0.0.2"}),
        ("remote_code_not_trusted", {"dtype": "float32"}),
        ("weights_damaged", {}),
        ("kv_cache_smaller_than_context", {"max_model_len": 1024}),
        ("kv_cache_smaller_than_context", {"max_num_seqs": 1}),
        ("model_name_unknown", {}),
        ("engine_died", {"max_model_len": 1024}),
    ],
)
def test_repair_that_gives_up_what_was_wanted_is_wrong(
    name: str, changes: dict[str, Any], cases: dict[str, faults.Case]
) -> None:
    case = cases[name]

    assert not case.fault.right(case.broken, case.broken.with_changes(changes))


def test_repair_on_the_servers_side_of_a_wrong_name_is_right_too(
    cases: dict[str, faults.Case],
) -> None:
    case = cases["model_name_unknown"]

    mended = case.broken.with_changes({"served_model_name": case.broken.asked_name})

    assert case.fault.right(case.broken, mended)


def test_change_of_an_unknown_name_is_refused(cases: dict[str, faults.Case]) -> None:
    with pytest.raises(BadOption, match="max_model_length"):
        cases["flag_unknown"].broken.with_changes({"max_model_length": 1})


def test_variable_set_to_none_is_removed(cases: dict[str, faults.Case]) -> None:
    broken = cases["variable_unknown"].broken

    assert broken.with_changes({"variables": dict.fromkeys(broken.variables)}).variables == {}


def test_damaged_copy_is_half_a_file_and_links_and_the_model_is_untouched(
    model: Model, cases: dict[str, faults.Case]
) -> None:
    assert model.path is not None
    before = {file.name: file.read_bytes() for file in model.path.iterdir()}
    copy = cases["weights_damaged"].broken.model

    cut = damage.cut_in_half(model, copy)
    again = damage.cut_in_half(model, copy)

    assert cut == again
    assert cut.read_bytes() == before[cut.name][: len(before[cut.name]) // 2]
    assert copy.path is not None
    linked = [file for file in copy.path.iterdir() if file != cut]
    assert {file.name for file in linked} == set(before) - {cut.name}
    assert all(file.is_symlink() for file in linked)
    damage.remove(copy)
    assert not copy.path.exists()
    assert {file.name: file.read_bytes() for file in model.path.iterdir()} == before


def test_picture_model_of_the_faults_has_code_of_its_own() -> None:
    assert list(PICTURES.glob("configuration_*.py"))


@pytest.mark.parametrize("language", messages.LANGUAGES)
@pytest.mark.parametrize("family", ["faults.stories", "faults.wants"])
def test_every_fault_has_its_texts(language: str, family: str) -> None:
    assert list(messages.catalogue(language)[family]) == IDS


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_fault_has_two_hints(language: str) -> None:
    hints = messages.catalogue(language)["faults.hints"]

    assert list(hints) == [f"{name}.{number}" for name in IDS for number in (1, 2)]
