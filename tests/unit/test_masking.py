"""Masking: no planted secret survives, however it is written; what is no secret stays."""

from __future__ import annotations

import gzip
import json
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import AROUND, BREAKS, FORMS, PREFIX, SHAPES, survives

from helpers import paths
from helpers.masking import MARK, Mask, masked

LOGS = sorted((paths.ROOT / "tests" / "fixtures" / "logs").glob("*/*.gz"))[::2]
PRINTABLE = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=60)
UNICODE = st.text(
    st.characters(exclude_categories=["C", "Z"], min_codepoint=33), min_size=8, max_size=40
).filter(lambda text: not text.isspace())
WORD = st.text(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", min_size=16, max_size=60
).filter(lambda text: text[0] not in "-_" and any(one.isdigit() for one in text))

ANY = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=60)
FEW = settings(max_examples=12, deadline=None, derandomize=True)


@pytest.mark.parametrize("form", FORMS)
@FEW
@given(secret=PRINTABLE)
def test_known_value_is_gone_however_it_is_written(form: str, secret: str) -> None:
    written = FORMS[form](secret)

    out = masked(f"before {written} after", [secret])

    assert not survives(secret, out)
    assert written.strip("\"'") not in out
    assert out.startswith("before ")
    assert out.endswith(" after")


@FEW
@given(secret=UNICODE)
def test_known_value_of_other_scripts_is_gone_too(secret: str) -> None:
    text = f"{secret} | {json.dumps(secret)} | {quote(secret)}"

    out = masked(text, [secret])

    assert secret not in out
    assert json.dumps(secret)[1:-1] not in out
    assert quote(secret) not in out


@pytest.mark.parametrize("between", BREAKS)
@FEW
@given(secret=PRINTABLE, data=st.data())
def test_known_value_cut_by_a_line_is_gone(between: str, secret: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(secret) - 1))
    text = f"{PREFIX}x {secret[:cut]}{BREAKS[between]}{secret[cut:]} y\n{PREFIX}next"

    out = masked(text, [secret])

    assert not survives(secret, out)
    assert out.count("\n") == text.count("\n")
    assert out.endswith("next")


@pytest.mark.parametrize("around", AROUND)
@FEW
@given(secret=WORD)
def test_value_that_nobody_told_is_gone_by_what_stands_before_it(around: str, secret: str) -> None:
    out = masked(AROUND[around].format(secret))

    assert secret not in out
    assert MARK in out


@pytest.mark.parametrize("around", ["variable", "option with =", "bearer", "yaml"])
@FEW
@given(secret=WORD, data=st.data())
def test_value_that_nobody_told_is_gone_where_a_logger_cut_it(
    around: str, secret: str, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(1, len(secret) - 1))
    broken = secret[:cut] + "\n" + PREFIX + secret[cut:]

    out = masked(PREFIX + AROUND[around].format(broken))

    assert not survives(secret, out)
    assert len(secret) - cut < 4 or secret[cut:] not in out


@pytest.mark.parametrize("name", SHAPES)
def test_token_of_a_known_form_is_gone(name: str) -> None:
    token = SHAPES[name]

    assert masked(f"refused {token}, sorry") == f"refused {MARK}, sorry"


@pytest.mark.parametrize("name", [name for name in SHAPES if name != "without a prefix"])
def test_token_of_a_known_form_cut_by_a_prefix_is_gone(name: str) -> None:
    token = SHAPES[name]

    out = masked(f"{PREFIX}{token[:12]}\n{PREFIX}{token[12:]} .")

    assert token[12:] not in out


def test_private_key_is_gone_as_a_block_and_its_lines_stay() -> None:
    block = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\nZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----"

    assert masked(f"a\n{block}\nb") == f"a\n{MARK}\n\n\n\nb"
    assert masked(json.dumps({"k": block})) == json.dumps({"k": MARK})


def test_value_seen_in_one_text_is_gone_from_the_others() -> None:
    mask = Mask()
    mask.learn("api_server: Namespace(api_key=['pl4nted-value'])")

    assert mask.of("the client sent pl4nted-value") == f"the client sent {MARK}"


def test_values_of_the_environment_and_of_arguments_are_known() -> None:
    mask = Mask()
    mask.learn_environment({"LAB_API_KEY": "first-one", "PATH": "/bin", "P": "http://u:second1@h"})
    mask.learn_arguments(
        ["vllm", "--api-key", "third-1", "third-2", "--hf-token=fourth", "-x", "y"]
    )

    out = mask.of("first-one second1 third-1 third-2 fourth /bin y")

    assert out == f"{MARK} {MARK} {MARK} {MARK} {MARK} /bin y"


def test_data_keep_their_form_and_lose_what_stands_under_a_secret_name() -> None:
    mask = Mask(["pl4nted-value"])

    out = mask.of_data(
        {"api_key": "x", "a": ["--token abc", 1, None], "pl4nted-value": {"b": "pl4nted-value"}}
    )

    assert out == {"api_key": MARK, "a": [f"--token {MARK}", 1, None], MARK: {"b": MARK}}


def test_arguments_lose_the_values_of_secret_options_however_short() -> None:
    argv = ["vllm", "serve", "m", "--api-key", "a", "b", "--port", "80", "--hf-token=c"]

    out = Mask().of_arguments(argv)

    assert out == [
        "vllm",
        "serve",
        "m",
        "--api-key",
        MARK,
        MARK,
        "--port",
        "80",
        f"--hf-token={MARK}",
    ]


def test_short_value_goes_only_as_a_word() -> None:
    assert masked("abc abcd xabc ABC=1", ["abc"]) == f"{MARK} abcd xabc {MARK}=1"


def test_home_and_name_get_placeholders_and_are_counted() -> None:
    mask = Mask(places={"/home/wei": "<home>", "wei": "<user>"})

    out = mask.of("/home/wei/x wei@host weights /home/weiss %2Fhome%2Fwei%2Fy wei")

    assert out == "<home>/x <user>@host weights /home/weiss <home>%2Fy <user>"
    assert mask.removed == {"<home>": 2, "<user>": 2}


HARMLESS = (
    "See root cause above for the error; KeyError: 'invalid tool call parser: nope (chose from { a,b })'",
    "eos_token: '<|im_end|>', max_tokens=512 --max-num-batched-tokens 4096 --tokenizer /m",
    "Avg prompt throughput: 3.1 tokens/s, prefix cache hit rate: 0.0%",
    "ValueError: Missing key layers.0.weight; commit 0123456789abcdef0123456789abcdef01234567",
    "Qwen2ForCausalLM MiniCPMV4_5 Llama4ForConditionalGeneration VLLM_ENGINE_READY_TIMEOUT_S=600",
    "api_key=None, hf_token=None, 'api_key': None}",
    'INFO: 127.0.0.1:43210 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
)


@pytest.mark.parametrize("text", HARMLESS)
def test_text_without_a_secret_stays_as_it_is(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_recorded_log_without_a_secret_stays_as_it_is(path: object) -> None:
    text = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")  # type: ignore[attr-defined]

    assert masked(text) == text


@FEW
@given(before=ANY, secret=ANY.filter(lambda text: len(text) > 5 and "*" not in text), after=ANY)
def test_known_value_is_gone_from_any_text(before: str, secret: str, after: str) -> None:
    assert secret not in masked(before + secret + after, [secret])


@pytest.mark.parametrize("line", ["a" * 50_000, "a-" * 25_000, "TOKEN" * 10_000, "\\" * 50_000])
def test_long_line_is_read_to_its_end(line: str) -> None:
    assert masked(f"{line} s3cret-value", ["s3cret-value"]) == f"{line} {MARK}"
