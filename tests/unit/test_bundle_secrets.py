"""No secret, home or name is in a bundle, wherever it stood and however it was written."""

from __future__ import annotations

from pathlib import Path

import pytest
from bundling import Pack, fault_log, known_machine, pack, read_archive, recorded
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from planted import AROUND, BREAKS, FORMS, PREFIX, SHAPES, survives

from helpers import bundle
from helpers.bundle import contents, subject

HOME, USER = "/home/zhang.san", "zhang.san"
pytestmark = pytest.mark.usefixtures("own_state")
__all__ = ["known_machine", "pack"]


@pytest.fixture
def somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a user with a name and a home of their own."""
    monkeypatch.setenv("HOME", HOME)
    for name in ("USER", "LOGNAME"):
        monkeypatch.setenv(name, USER)


PLANTED = {
    "LAB_API_KEY": "pl4nted/lab+key==&x",
    "LAB_ATOMGIT_TOKEN": "Pl4ntedAtomgitTok3nXYZ",
    "OPENAI_API_KEY": "sk-planted-openai-0123456789",
    "HF_TOKEN": SHAPES["hugging face"],
    "MY_DB_PASSWORD": "p\"l'a\\nted 9",
    "SERVICE_SECRET": "pl4nted-service-secret",
    "HTTPS_PROXY": "http://proxyuser:pl4ntedproxy@proxy.example:3128",
}
VALUES = [*(v for k, v in PLANTED.items() if k != "HTTPS_PROXY"), "pl4ntedproxy"]


def _plantedfault_log() -> str:
    """Return a real fault's log with every secret in every form, and everything said in between."""
    lines = []
    for value in VALUES:
        lines += [f"{PREFIX}got {form(value)} !" for form in FORMS.values()]
        middle = len(value) // 2
        lines += [f"{PREFIX}x {value[:middle]}{cut}{value[middle:]} y" for cut in BREAKS.values()]
    for number, around in enumerate(AROUND.values()):
        lines.append(f"{PREFIX}{around.format(f'n0body-t0ld-{number:03d}')}")
    lines += [f"{PREFIX}refused {token}" for token in SHAPES.values()]
    lines.append(f"{PREFIX}loading {HOME}/models/x for {USER}, %2Fhome%2Fzhang.san%2Fy")
    return "\n".join([*lines, fault_log("truncated"), *lines])


def test_no_planted_secret_survives_in_any_file(
    tmp_path: Path, somebody: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    log = recorded(
        tmp_path, ["vllm", "serve", f"{HOME}/m", "--api-key", "argv-pl4nted", "second-0ne"]
    )
    log.write_text(
        _plantedfault_log() + "\nclient sent argv-pl4nted and second-0ne\n", encoding="utf-8"
    )

    made = bundle.make(subject.of_port(8123), tmp_path / "out.zip")

    untold = [f"n0body-t0ld-{number:03d}" for number in range(len(AROUND))]
    secrets = [*VALUES, *untold, *SHAPES.values(), "argv-pl4nted", "second-0ne", HOME, USER]
    for name, text in {**read_archive(made.path), "names": "\n".join(made.files)}.items():
        assert [one for one in secrets if survives(one, text)] == [], name
    assert made.diagnosis.entry == "weights_damaged"
    assert made.removed["value"] > 50
    assert made.removed["<home>"] > 0


@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    value=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=40),
    form=st.sampled_from(sorted(FORMS)),
    between=st.sampled_from(sorted(BREAKS)),
    line=st.integers(0, 100),
)
def test_no_secret_of_the_environment_survives_wherever_it_stands(
    pack: Pack, monkeypatch: pytest.MonkeyPatch, value: str, form: str, between: str, line: int
) -> None:
    monkeypatch.setenv("SOME_TOKEN", value)
    lines = fault_log("truncated").splitlines()
    middle = len(value) // 2
    lines[line:line] = [
        f"{PREFIX}{FORMS[form](value)} |",
        f"{PREFIX}{value[:middle]}{BREAKS[between]}{value[middle:]} |",
    ]

    files = pack("\n".join(lines))

    assert [name for name, text in files.items() if survives(value, text)] == []


def test_secret_in_the_lines_of_the_evidence_is_gone_from_the_issue(pack: Pack) -> None:
    files = pack(
        "KeyError: 'invalid tool call parser: hf_plantedplantedplanted (chose from { a })'"
    )

    assert all("hf_planted" not in text for text in files.values())
    assert "invalid tool call parser: " in files["issue.md"]


@pytest.mark.parametrize("name", ["root", "ma-user"])
def test_account_that_names_nobody_stays_and_its_home_does_not(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", f"/{name}")
    monkeypatch.setenv("USER", name)
    monkeypatch.setattr(contents.getpass, "getuser", lambda: name)

    mask = contents.new_mask(subject.Subject(()), [])

    assert mask.of(f"See {name} cause above: /{name}/x") == f"See {name} cause above: <home>/x"
