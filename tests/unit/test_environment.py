"""Tests of environment: set, show, source a real script, and what a child process really sees."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import environment, messages
from helpers.errors import ScriptFailed, ScriptMissing

pytestmark = pytest.mark.usefixtures("kept_environ")


def _script(folder: Path, text: str, name: str = "set env.sh") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def _seen_by_child(name: str, env: dict[str, str] | None = None) -> str | None:
    code = f"import json, os; print(json.dumps(os.environ.get({name!r})))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    found: str | None = json.loads(done.stdout)
    return found


def _row(name: str, additions: dict[str, str] | None = None) -> tuple[str, ...]:
    messages.use("en")
    return environment.show(name, additions=additions).rows[0]


def test_set_variable_is_seen_by_a_child_process() -> None:
    environment.set(LAB_X='{"image": 10}')

    assert _seen_by_child("LAB_X") == '{"image": 10}'


def test_set_number_becomes_text() -> None:
    environment.set(LAB_X=10)

    assert os.environ["LAB_X"] == "10"


def test_set_none_removes_the_variable() -> None:
    environment.set(LAB_X="1")

    environment.set(LAB_X=None)

    assert "LAB_X" not in os.environ


def test_source_takes_over_what_the_script_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_OLD", "before")
    monkeypatch.setenv("LAB_GONE", "x")
    script = _script(
        tmp_path, "export LAB_NEW=1\nexport LAB_OLD=after\nunset LAB_GONE\nLAB_PRIVATE=1\n"
    )

    changed = environment.source(script)

    assert changed == ["LAB_GONE", "LAB_NEW", "LAB_OLD"]
    assert (os.environ["LAB_NEW"], os.environ["LAB_OLD"]) == ("1", "after")
    assert "LAB_GONE" not in os.environ


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("$'line 1\\nline 2'", "line 1\nline 2"),
        ("'a b  c'", "a b  c"),
        ("'k=v=w'", "k=v=w"),
        ("''", ""),
        ("'中文'", "中文"),
        ("\"'$\"'HOME'", "'$HOME"),
    ],
)
def test_source_keeps_a_difficult_value_exactly(
    tmp_path: Path, written: str, expected: str
) -> None:
    environment.source(_script(tmp_path, f"export LAB_X={written}\n"))

    assert os.environ["LAB_X"] == expected


def test_source_of_a_script_that_reads_unset_variables_succeeds(tmp_path: Path) -> None:
    script = _script(
        tmp_path,
        'export LAB_X=$LAB_NEVER_SET:/opt\n[ -n "$LAB_NEVER_SET" ] && export LAB_Y=1\ntrue\n',
    )

    environment.source(script)

    assert os.environ["LAB_X"] == ":/opt"


def test_source_of_a_script_that_prints_takes_no_text_for_a_variable(tmp_path: Path) -> None:
    changed = environment.source(_script(tmp_path, "echo LAB_Z=1\nexport LAB_X=1\n"))

    assert changed == ["LAB_X"]


def test_source_gives_the_script_no_arguments(tmp_path: Path) -> None:
    environment.source(_script(tmp_path, 'export LAB_X="$# $*"\n'))

    assert os.environ["LAB_X"] == "0 "


def test_source_tells_the_script_its_own_path(tmp_path: Path) -> None:
    script = _script(tmp_path, 'export LAB_X="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"\n')

    environment.source(script)

    assert os.environ["LAB_X"] == str(tmp_path)


def test_source_of_a_failing_script_raises_with_its_own_text(tmp_path: Path) -> None:
    script = _script(tmp_path, "export LAB_X=1\necho 'no such chip' >&2\nreturn 3\n")

    with pytest.raises(ScriptFailed) as caught:
        environment.source(script)

    assert caught.value.original == "no such chip"
    assert caught.value.values["returncode"] == 3
    assert "LAB_X" not in os.environ


def test_source_of_a_script_that_exits_raises(tmp_path: Path) -> None:
    with pytest.raises(ScriptFailed):
        environment.source(_script(tmp_path, "exit 4\n"))


def test_source_of_a_script_that_exits_with_zero_keeps_the_environment(tmp_path: Path) -> None:
    before = dict(os.environ)

    with pytest.raises(ScriptFailed):
        environment.source(_script(tmp_path, "export LAB_X=1\nexit 0\n"))

    assert dict(os.environ) == before


def test_source_of_a_missing_script_names_the_path(tmp_path: Path) -> None:
    with pytest.raises(ScriptMissing, match="nothing"):
        environment.source(tmp_path / "nothing.sh")


def test_sourced_scripts_see_what_the_earlier_one_set(tmp_path: Path) -> None:
    first = _script(tmp_path, "export LAB_A=1\n", "first.sh")
    second = _script(tmp_path, "export LAB_B=${LAB_A}2\n", "second.sh")

    result = environment.sourced([first, second], {"PATH": os.environ["PATH"]})

    assert (result["LAB_A"], result["LAB_B"]) == ("1", "12")
    assert "LAB_A" not in os.environ


def test_sourced_without_scripts_is_the_base() -> None:
    assert environment.sourced([], {"A": "1"}) == {"A": "1"}


def test_child_sees_this_kernels_variables_and_the_additions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAB_X", "kernel")

    found = environment.child({"LAB_Y": "engine"})

    assert (found["LAB_X"], found["LAB_Y"]) == ("kernel", "engine")


@pytest.mark.parametrize("name", ["VIRTUAL_ENV", "PYTHONHOME", "MPLBACKEND", "JPY_PARENT_PID"])
def test_child_does_not_see_variables_of_the_kernels_own_python(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "x")

    assert name not in environment.child()


def test_child_changes_nothing_here() -> None:
    before = dict(os.environ)

    environment.child({"LAB_Y": "1"})

    assert dict(os.environ) == before


def test_no_proxy_of_an_empty_environment_is_the_loopback_in_both_spellings() -> None:
    found = environment.no_proxy({})

    assert found == {"NO_PROXY": "127.0.0.1,localhost,::1", "no_proxy": "127.0.0.1,localhost,::1"}


def test_no_proxy_keeps_what_either_spelling_listed_once() -> None:
    found = environment.no_proxy(
        {"NO_PROXY": "corp.example, localhost", "no_proxy": "other.example,corp.example"}
    )

    assert found["no_proxy"] == "corp.example,localhost,other.example,127.0.0.1,::1"


def test_no_proxy_of_its_own_result_is_unchanged() -> None:
    once = environment.no_proxy({"no_proxy": "corp.example"})

    assert environment.no_proxy(once) == once


def test_child_behind_a_proxy_keeps_the_loopback_away_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")

    found = environment.child()

    assert found["HTTP_PROXY"] == "http://proxy.example:3128"
    assert "127.0.0.1" in found["no_proxy"].split(",")


@pytest.mark.parametrize(
    "name", ["VLLM_API_KEY", "LAB_ATOMGIT_TOKEN", "MY_SECRET", "DB_PASSWORD", "hf_token"]
)
def test_show_of_a_secret_masks_it_everywhere(name: str) -> None:
    environment.set(**{name: "s3cr3t"})

    table = environment.show(name)

    assert "s3cr3t" not in str(table)
    assert "s3cr3t" not in table._repr_html_()
    assert "****" in str(table)


def test_show_of_an_engines_secret_masks_what_the_child_sees() -> None:
    assert "s3cr3t" not in str(environment.show(additions={"VLLM_API_KEY": "s3cr3t"}))


def test_show_of_an_empty_and_of_an_unset_variable_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_X", "")
    monkeypatch.delenv("LAB_Y", raising=False)

    assert _row("LAB_X")[1] == "(empty string)"
    assert _row("LAB_Y")[1] == "(not set)"


def test_show_of_an_inherited_variable_names_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_X", "1")

    assert _row("LAB_X") == ("LAB_X", "1", "platform", "1")


def test_show_of_an_unset_variable_names_nobody() -> None:
    assert _row("LAB_NEVER_SET") == ("LAB_NEVER_SET", "(not set)", "", "(not set)")


def test_show_after_set_names_environment_set() -> None:
    environment.set(LAB_X=1)

    assert _row("LAB_X")[2] == "environment.set"


def test_show_after_source_names_the_script(tmp_path: Path) -> None:
    environment.source(_script(tmp_path, "export LAB_X=1\n"))

    assert _row("LAB_X")[2].startswith("source ")


def test_show_names_whoever_set_it_last(tmp_path: Path) -> None:
    environment.source(_script(tmp_path, "export LAB_X=1\n"))
    environment.set(LAB_X=2)

    assert _row("LAB_X")[2] == "environment.set"


def test_show_of_an_engines_addition_names_the_engine_and_what_the_child_sees() -> None:
    environment.set(LAB_X="kernel")

    row = _row("LAB_X", {"LAB_X": "engine"})

    assert row == ("LAB_X", "kernel", "engine", "engine")


def test_show_without_names_lists_what_was_set_then_the_additions() -> None:
    environment.set(LAB_B=1, LAB_A=2)

    table = environment.show(additions={"LAB_C": "3"})

    assert [row[0] for row in table.rows] == ["LAB_B", "LAB_A", "LAB_C"]


def test_show_as_html_escapes_values() -> None:
    environment.set(LAB_X="<b>&")

    assert "&lt;b&gt;&amp;" in environment.show("LAB_X")._repr_html_()
