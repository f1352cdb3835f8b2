"""Tests of Options: the arguments that they become, and the values that are refused."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from helpers.errors import BadOption
from helpers.options import FLAGS, Options, given

NOT_FLAGS = {"devices", "original_pair", "extra", "image_fetch_timeout"}


def test_arguments_with_defaults_are_name_host_and_port() -> None:
    words = Options(served_model_name="M").arguments()

    assert words == ["--served-model-name", "M", "--host", "127.0.0.1", "--port", "8000"]


def test_arguments_of_switches_have_no_value() -> None:
    words = Options(served_model_name="M", enforce_eager=True, trust_remote_code=True).arguments()

    assert words[6:] == ["--enforce-eager", "--trust-remote-code"]


def test_arguments_of_a_false_switch_leave_it_out() -> None:
    assert "--enforce-eager" not in Options(served_model_name="M", enforce_eager=False).arguments()


def test_arguments_of_a_mapping_are_one_json_word() -> None:
    words = Options(served_model_name="M", limit_mm_per_prompt={"image": 10}).arguments()

    assert json.loads(words[words.index("--limit-mm-per-prompt") + 1]) == {"image": 10}


def test_arguments_with_blanks_and_quotes_stay_one_word_each() -> None:
    words = Options(served_model_name='a "b" $c').arguments()

    assert words[1] == 'a "b" $c'


def test_arguments_of_domains_are_one_word_each_after_their_flag() -> None:
    options = Options(served_model_name="M", allowed_media_domains=["127.0.0.1", "Example.com"])

    assert options.arguments()[6:] == ["--allowed-media-domains", "127.0.0.1", "example.com"]


def test_arguments_of_domains_that_are_a_text_are_one_domain() -> None:
    assert Options(served_model_name="M", allowed_media_domains="a.b").arguments()[-1] == "a.b"


def test_arguments_without_domains_leave_the_flag_out() -> None:
    assert "--allowed-media-domains" not in Options(served_model_name="M").arguments()


def test_llm_arguments_of_domains_are_a_list() -> None:
    options = Options(served_model_name="M", allowed_media_domains=("a.b",))

    assert options.llm_arguments() == {"allowed_media_domains": ["a.b"]}


def test_arguments_with_port_and_seed_zero_keep_the_zero() -> None:
    words = Options(served_model_name="M", port=0, seed=0).arguments()

    assert (words[words.index("--port") + 1], words[words.index("--seed") + 1]) == ("0", "0")


def test_arguments_with_extra_come_last_unchanged() -> None:
    assert Options(served_model_name="M", extra=["--no-x", "1"]).arguments()[-2:] == ["--no-x", "1"]


def test_arguments_of_every_named_option_have_a_flag() -> None:
    assert {field.name for field in fields(Options)} == set(FLAGS) | NOT_FLAGS


def test_llm_arguments_leave_the_http_server_out() -> None:
    options = Options(
        served_model_name="M", dtype="bfloat16", max_model_len=64, tool_call_parser="x"
    )

    assert options.llm_arguments() == {"dtype": "bfloat16", "max_model_len": 64}


def test_with_values_returns_a_changed_copy() -> None:
    first = Options(served_model_name="M")

    second = first.with_values(port=0)

    assert (first.port, second.port) == (8000, 0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_model_len", 0),
        ("max_model_len", "2048"),
        ("max_model_len", 2048.0),
        ("max_num_seqs", -1),
        ("max_num_seqs", True),
        ("tensor_parallel_size", 0),
        ("port", -1),
        ("port", 65536),
        ("gpu_memory_utilization", 0),
        ("gpu_memory_utilization", 1.01),
        ("gpu_memory_utilization", 85),
        ("devices", "0,1"),
        ("devices", (0, -1)),
        ("image_fetch_timeout", 0),
        ("image_fetch_timeout", 2.5),
        ("allowed_media_domains", ["http://example.com"]),
        ("allowed_media_domains", ["example.com:80"]),
        ("allowed_media_domains", ["--port"]),
        ("allowed_media_domains", [""]),
        ("allowed_media_domains", [None]),
    ],
)
def test_options_with_an_impossible_value_name_the_option(name: str, value: object) -> None:
    with pytest.raises(BadOption) as caught:
        Options(served_model_name="M", **{name: value})

    assert name in caught.value.what
    assert caught.value.values["rule"]


@pytest.mark.parametrize("value", [1, 0.001, 0.85])
def test_options_with_a_possible_share_are_taken(value: float) -> None:
    assert (
        Options(served_model_name="M", gpu_memory_utilization=value).gpu_memory_utilization == value
    )


def test_options_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Options(served_model_name="M").port = 1  # type: ignore[misc]


def test_given_leaves_none_out_and_keeps_zero_and_false() -> None:
    assert given(port=0, dtype=None, enforce_eager=False) == {"port": 0, "enforce_eager": False}


def test_given_with_an_unknown_name_is_refused() -> None:
    with pytest.raises(BadOption) as caught:
        given(max_modle_len=1)

    assert "max_modle_len" in caught.value.what
