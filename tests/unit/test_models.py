"""Tests of models: a directory that cannot be served is told before vLLM spends half a minute on
it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers import catalog, models
from helpers.errors import LabError, ModelEmpty, ModelMissing, ModelNoConfig, ModelNoWeights

LAB = next(iter(catalog.labs()))


def _checkpoint(folder: Path, config: object = None, weights: bytes = b"12345") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(
        json.dumps({} if config is None else config), encoding="utf-8"
    )
    (folder / "model.safetensors").write_bytes(weights)
    return folder


def test_inspect_of_a_good_directory_returns_the_model(tmp_path: Path) -> None:
    folder = _checkpoint(tmp_path / "m", {"max_position_embeddings": 2048})

    found = models.inspect(folder, "M")

    assert found == models.Model(folder, "M", False, 2048, 5, frozenset())


def test_inspect_of_sharded_weights_adds_their_sizes(tmp_path: Path) -> None:
    folder = _checkpoint(tmp_path / "m")
    (folder / "model-00002.safetensors").write_bytes(b"123")

    assert models.inspect(folder, "M").bytes == 8


def test_inspect_of_the_courses_own_model_tells_a_stand_in(tmp_path: Path) -> None:
    found = models.inspect(_checkpoint(tmp_path / "m", {"stand_in": True}), "M")

    assert found.stand_in
    assert "STAND-IN" in str(found)


def test_inspect_of_real_weights_has_no_stand_in_label(tmp_path: Path) -> None:
    assert "STAND-IN" not in str(models.inspect(_checkpoint(tmp_path / "m"), "M"))


def test_inspect_of_a_missing_directory_raises_model_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="nothing"):
        models.inspect(tmp_path / "nothing", "M")


def test_inspect_of_a_file_raises_model_missing(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    path.write_bytes(b"x")

    with pytest.raises(ModelMissing) as caught:
        models.inspect(path, "M")

    assert "Not a directory" in str(caught.value.original)


def test_inspect_of_an_empty_directory_raises_model_empty(tmp_path: Path) -> None:
    with pytest.raises(ModelEmpty):
        models.inspect(tmp_path, "M")


def test_inspect_without_config_lists_the_files_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "MiniCPM5-2B").mkdir()

    with pytest.raises(ModelNoConfig) as caught:
        models.inspect(tmp_path, "M")

    assert caught.value.evidence == "MiniCPM5-2B"


@pytest.mark.parametrize(
    "text", ["{", "", "[1]", "null", '"x"'], ids=["cut", "empty", "list", "null", "text"]
)
def test_inspect_with_a_broken_config_raises_model_no_config(tmp_path: Path, text: str) -> None:
    _checkpoint(tmp_path)
    (tmp_path / "config.json").write_text(text, encoding="utf-8")

    with pytest.raises(ModelNoConfig):
        models.inspect(tmp_path, "M")


def test_inspect_with_a_binary_config_raises_model_no_config(tmp_path: Path) -> None:
    _checkpoint(tmp_path)
    (tmp_path / "config.json").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(ModelNoConfig):
        models.inspect(tmp_path, "M")


def test_inspect_without_weights_lists_the_files_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "model.safetensors.index.json").write_text("{}", encoding="utf-8")

    with pytest.raises(ModelNoWeights) as caught:
        models.inspect(tmp_path, "M")

    assert caught.value.evidence == "config.json\nmodel.safetensors.index.json"


def test_find_with_model_dir_returns_that_directory(tmp_path: Path) -> None:
    folder = _checkpoint(tmp_path / "m")

    found = models.find(LAB, "ascend", str(folder), "Mine")

    assert (found.path, found.name) == (folder, "Mine")


def test_find_with_a_bad_model_dir_does_not_search_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing):
        models.find(LAB, "cpu", str(tmp_path / "nothing"))


def test_find_for_a_remote_server_looks_at_no_disk(tmp_path: Path) -> None:
    found = models.find(LAB, "remote", str(tmp_path / "nothing"))

    assert (found.path, found.name) == (None, catalog.lab(LAB)["model"])


def test_find_takes_the_first_complete_copy_of_the_search_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    good = _checkpoint(tmp_path / "b")
    _checkpoint(tmp_path / "c")
    monkeypatch.setenv("LAB_PLACE", str(tmp_path))
    places = {"ascend": ["$LAB_PLACE/none", "$LAB_PLACE/a", "$LAB_PLACE/b", "$LAB_PLACE/c"]}
    monkeypatch.setitem(catalog.lab(LAB), "model_dirs", places)

    assert models.find(LAB, "ascend").path == good


def test_find_in_the_home_directory_expands_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    good = _checkpoint(tmp_path / "models" / "M")
    monkeypatch.setitem(catalog.lab(LAB), "model_dirs", {"ascend": ["~/models/M"]})

    assert models.find(LAB, "ascend").path == good


def test_find_without_any_copy_lists_every_place_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    places = {"ascend": [str(tmp_path / "none"), str(tmp_path / "a")]}
    monkeypatch.setitem(catalog.lab(LAB), "model_dirs", places)

    with pytest.raises(ModelMissing) as caught:
        models.find(LAB, "ascend")

    evidence = str(caught.value.evidence).splitlines()
    assert len(evidence) == 2
    assert evidence[1].endswith(ModelEmpty(path=str(tmp_path / "a")).what)


def test_find_of_an_unknown_lab_raises_lab_error() -> None:
    with pytest.raises(LabError, match="99_nothing"):
        models.find("99_nothing", "cpu")


def test_git_lfs_pointer_in_place_of_weights_is_told_with_its_text(tmp_path: Path) -> None:
    folder = _checkpoint(tmp_path / "M")
    weights = next(folder.glob("*.safetensors"))
    weights.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")

    with pytest.raises(ModelNoWeights) as caught:
        models.inspect(folder, "M")

    assert "git-lfs" in (caught.value.original or "")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("chat_template.jinja", "{% if enable_thinking %}", {"thinking", "course_facts"}),
        ("chat_template.jinja", "{% for tool in tools %}", {"tools"}),
        ("chat_template.jinja", "{{ messages }}", set()),
        (
            "tokenizer_config.json",
            '{"chat_template": "{{ tools }} {{ enable_thinking }}"}',
            {"thinking", "tools", "course_facts"},
        ),
        (
            "tokenizer_config.json",
            '{"chat_template": [{"name": "tool_use", "template": "{{ tools }}"}]}',
            {"tools"},
        ),
        ("tokenizer_config.json", "[]", set()),
        ("tokenizer_config.json", "not JSON", set()),
        ("README.md", "tools and enable_thinking", set()),
    ],
)
def test_capabilities_are_read_from_the_chat_template(
    tmp_path: Path, name: str, text: str, expected: set[str]
) -> None:
    folder = _checkpoint(tmp_path / "m")
    (folder / name).write_text(text, encoding="utf-8")

    assert models.inspect(folder, "M").capabilities == expected


def test_stand_in_has_the_courses_facts(tmp_path: Path) -> None:
    found = models.inspect(_checkpoint(tmp_path / "m", {"stand_in": True}), "M")

    assert found.capabilities == {"course_facts"}


def test_committed_stand_ins_have_every_capability_that_their_labs_need() -> None:
    text, pictures = models.find("02_minicpm5", "cpu"), models.find("01_minicpm_v", "cpu")

    assert text.capabilities == set(models.CAPABILITIES) - {"images"}
    assert {"images", "course_facts"} <= (pictures.capabilities or set())


def test_origin_of_real_weights_is_their_directory_and_of_a_stand_in_the_courses_name(
    tmp_path: Path,
) -> None:
    real = models.inspect(_checkpoint(tmp_path / "SmolLM2-135M"), "MiniCPM5-2B")
    ours = models.inspect(_checkpoint(tmp_path / "m", {"stand_in": True}), "MiniCPM5-2B")

    assert (real.origin, ours.origin) == ("SmolLM2-135M", "MiniCPM5-2B")
