"""Tests of course/catalog.yml: every lab is complete, its values are options, its commands have
known flags.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from helpers import catalog, paths
from helpers.engines import Ascend, Cpu
from helpers.errors import BadOption, LabError
from helpers.interpreters import Interpreter
from helpers.options import Options

FLAGS_FILE = paths.ROOT / "tests" / "fixtures" / "vllm_cli" / "flags.py"
STACKS = {"ascend": ("0.18.0", "0.23.0"), "cpu": ("0.32.0",)}
LABS = list(catalog.labs())
LOCAL = [
    (lab, engine) for lab in LABS for engine in catalog.lab(lab)["engines"] if engine != "remote"
]
NEEDS = {"local", "course_facts", "thinking", "tools", "images", "reads_logs"}
PARAMETERS = {
    *(
        "LANGUAGE",
        "ENGINE",
        "MODEL_DIR",
        "SERVED_MODEL_NAME",
        "DEVICES",
        "HOST",
        "PORT",
        "BASE_URL",
    ),
    *("MAX_MODEL_LEN", "MAX_NUM_SEQS", "GPU_MEMORY_UTILIZATION", "TENSOR_PARALLEL_SIZE", "DTYPE"),
    *(
        "ENFORCE_EAGER",
        "KEEP_SERVER",
        "MODEL_REPO",
        "REVISION",
        "SOURCE",
        "LIMIT_IMAGES",
        "IMAGE_URL",
    ),
    *("TRUST_REMOTE_CODE", "SEED", "QUICK"),
}


def _flags_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("vllm_cli_flags", FLAGS_FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


flags = _flags_module()


def _command(engine: str, options: Options) -> list[str]:
    """Return the composed command of an engine whose interpreter is not asked anything."""
    made: Any = {"ascend": Ascend, "cpu": Cpu}[engine]()
    made.interpreter = Interpreter(Path("python"), "course")
    return made.command("weights", options)


@pytest.mark.parametrize("lab", LABS)
def test_lab_entry_has_every_field_with_its_type(lab: str) -> None:
    entry = catalog.lab(lab)

    assert set(entry["title"]) == {"zh", "en"}
    assert all(entry["title"].values())
    assert entry["minutes"] > 0
    assert entry["cpu_seconds"] > 0
    assert entry["engine_starts"] >= 0
    assert set(entry["engines"]) <= {"ascend", "cpu", "remote"}


@pytest.mark.parametrize("lab", LABS)
def test_lab_parameters_are_the_courses_names(lab: str) -> None:
    assert set(catalog.lab(lab)["parameters"]) <= PARAMETERS


@pytest.mark.parametrize("lab", LABS)
def test_lab_checkpoints_are_unique_with_known_needs(lab: str) -> None:
    steps = catalog.lab(lab)["checkpoints"]

    assert len({step["id"] for step in steps}) == len(steps)
    assert {need for step in steps for need in step.get("needs", [])} <= NEEDS


@pytest.mark.parametrize("lab", LABS)
def test_lab_first_answer_is_one_of_its_checkpoints(lab: str) -> None:
    entry = catalog.lab(lab)

    assert entry.get("first_answer") in [None, *(step["id"] for step in entry["checkpoints"])]


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("lab", LABS)
def test_lab_with_a_source_has_its_notebook(lab: str, language: str) -> None:
    source = paths.COURSE / language / f"{lab}.md"
    if not source.exists():
        pytest.skip(f"{lab} has no source in {language} yet")

    assert (paths.NOTEBOOKS / language / f"{lab}.ipynb").is_file()


@pytest.mark.parametrize("lab", LABS)
def test_lab_with_one_language_has_the_other_too(lab: str) -> None:
    found = [(paths.COURSE / language / f"{lab}.md").exists() for language in ("zh", "en")]
    if not any(found):
        pytest.skip(f"{lab} has no source yet")

    assert all(found)


def test_sources_of_labs_are_all_in_the_catalogue() -> None:
    sources = {
        path.stem
        for language in ("zh", "en")
        for path in (paths.COURSE / language).glob("[0-9]*.md")
    }

    assert sources - set(LABS) == set()


@pytest.mark.parametrize(("lab", "engine"), LOCAL)
def test_lab_values_on_a_local_engine_are_options(lab: str, engine: str) -> None:
    values = catalog.lab(lab)["values"][engine]

    options = catalog.options(lab, engine, served_model_name="M")

    assert {name: getattr(options, name) for name in values} == values


@pytest.mark.parametrize(
    ("lab", "engine", "version"), [(lab, e, version) for lab, e in LOCAL for version in STACKS[e]]
)
def test_lab_command_has_only_flags_of_its_vllm(lab: str, engine: str, version: str) -> None:
    argv = _command(engine, catalog.options(lab, engine, served_model_name="M"))

    assert flags.unknown_flags(argv[argv.index("serve") :], version) == []


@pytest.mark.parametrize(("engine", "version"), [(e, v) for e in STACKS for v in STACKS[e]])
def test_command_with_every_option_set_has_only_known_flags(engine: str, version: str) -> None:
    options = Options(
        served_model_name="M",
        dtype="bfloat16",
        max_model_len=64,
        max_num_seqs=2,
        gpu_memory_utilization=0.5,
        tensor_parallel_size=1,
        enforce_eager=True,
        limit_mm_per_prompt={"image": 1},
        trust_remote_code=True,
        enable_auto_tool_choice=True,
        tool_call_parser="hermes",
        seed=1,
    )

    argv = _command(engine, options)

    assert flags.unknown_flags(argv[argv.index("serve") :], version) == []


def test_options_with_chosen_values_overlay_the_courses() -> None:
    options = catalog.options(
        "02_minicpm5", "cpu", served_model_name="M", max_model_len=64, dtype=None
    )

    assert options.max_model_len == 64
    assert options.dtype == catalog.lab("02_minicpm5")["values"]["cpu"]["dtype"]


def test_options_with_an_unknown_name_are_refused() -> None:
    with pytest.raises(BadOption):
        catalog.options("02_minicpm5", "cpu", served_model_name="M", nonsense=1)


def test_lab_that_is_unknown_raises_lab_error_with_those_that_exist() -> None:
    with pytest.raises(LabError, match="02_minicpm5"):
        catalog.lab("99_nothing")


@pytest.mark.parametrize("version", ["0.18.0", "0.23.0", "0.32.0"])
def test_default_of_an_option_is_the_one_quoted_for_the_version(version: str) -> None:
    entry = next(e for e in catalog.versions()["defaults"] if e["name"] == "gpu_memory_utilization")

    found = catalog.default("gpu_memory_utilization", version)

    assert found == entry["versions"][version]["value"]
