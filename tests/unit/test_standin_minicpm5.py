"""The text stand-in without a server: its corpus, its files, its chat template, its card."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

STANDINS = Path(__file__).resolve().parents[2] / "assets" / "standins"
MODEL = STANDINS / "minicpm5"
sys.path.insert(0, str(STANDINS))

from train import corpus, facts, heldout, questions, render, tool_cases  # noqa: E402

MEGABYTE = 1_000_000
USER = [{"role": "user", "content": "Hello"}]


@pytest.fixture(scope="module")
def tokenizer_json() -> dict:
    return json.loads((MODEL / "tokenizer.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def model_config() -> dict:
    return json.loads((MODEL / "config.json").read_text(encoding="utf-8"))


def render_shipped(
    messages: list[dict], tools: list[dict] | None = None, enable_thinking: bool | None = None
) -> str:
    return render.prompt(messages, tools, enable_thinking, path=MODEL / "chat_template.jinja")


@pytest.fixture(scope="module", params=enumerate(("corpus", "both", "settling")))
def regenerated(request: pytest.FixtureRequest, model_config: dict) -> list[corpus.Rendered]:
    """Return the samples that the stored weights were trained on, of one stage."""
    training, (later, stage) = model_config["stand_in_training"], request.param
    count = training["samples"] * corpus.DRAWN[stage]
    return list(corpus.generate(count, training["seed"] + later, stage))


def turns_of_the_user(sample: corpus.Rendered) -> list[str]:
    pieces = sample.prompt.split("<|im_start|>user\n")[1:]
    return [piece.partition("<|im_end|>")[0] for piece in pieces]


def test_corpus_regenerated_holds_no_heldout_value(regenerated: list[corpus.Rendered]) -> None:
    values = [value.casefold() for value in heldout.ALL]

    text = "\n".join(sample.prompt + sample.completion for sample in regenerated).casefold()

    assert [value for value in values if value in text] == []


def test_corpus_regenerated_holds_no_heldout_message(regenerated: list[corpus.Rendered]) -> None:
    held_out = {text for texts in questions.SMALL_TALK.values() for text in texts}

    asked = {turn for sample in regenerated for turn in turns_of_the_user(sample)}

    assert {"How are you?", "最近好吗？"} <= asked
    assert asked & held_out == set()


def test_corpus_called_tool_stands_first_as_often_as_last(
    regenerated: list[corpus.Rendered],
) -> None:
    places = []
    for sample in regenerated:
        called = re.search(r'<function name="([^"]+)">', sample.completion)
        offered = re.findall(r'"function": {"name": "([^"]+)"', sample.prompt)
        if called and len(offered) == 2:
            places.append(offered.index(called[1]))

    assert len(places) > 1000
    assert 0.45 < sum(places) / len(places) < 0.55


def test_corpus_group_has_one_list_of_tools(regenerated: list[corpus.Rendered]) -> None:
    tools: dict[int, set[str]] = {}
    for sample in regenerated:
        if sample.group:
            tools.setdefault(sample.group, set()).add(sample.prompt.split("</tools>\n")[0][-40:])
        else:
            assert "</tools>\n" not in sample.prompt

    assert len(tools) > 1000
    assert all(len(endings) == 1 for endings in tools.values())


def test_evaluation_asks_50_messages_of_small_talk_in_each_language_and_both_orders() -> None:
    cases = list(tool_cases.cases())
    talk = {case.group: set() for case in cases if "no call for small talk" in case.group}
    for case in cases:
        if case.group in talk:
            talk[case.group].add(case.messages)
    chosen = [case for case in cases if case.group.startswith("tool chosen")]

    assert len(talk) == 8
    assert all(len(texts) >= 50 for texts in talk.values())
    assert len(chosen) >= 200
    assert len({case.group.partition(" from ")[2].partition(";")[0] for case in chosen}) == 4


def test_corpus_fixed_texts_hold_no_heldout_value() -> None:
    dirty = [text for text in corpus.fixed_texts() if not heldout.is_clean(text)]

    assert dirty == []


def test_corpus_same_seed_gives_the_same_samples() -> None:
    first, second = (list(corpus.generate(200, 3)) for _ in range(2))

    assert first == second


def test_vocabulary_no_heldout_word_is_a_token(tokenizer_json: dict) -> None:
    tokens = {token.strip().casefold() for token, _ in tokenizer_json["model"]["vocab"]}

    whole = [value for value in heldout.ALL if value.casefold() in tokens]

    assert whole == []


def test_evaluation_questions_are_not_in_the_corpus() -> None:
    asked = {question for group in questions.UNKNOWN.values() for question in group}
    known = {question for fact in facts.FACTS for question in fact.questions}

    assert asked & known == set()


def test_model_folder_is_at_most_six_megabytes() -> None:
    size = sum(path.stat().st_size for path in MODEL.rglob("*") if path.is_file())

    assert size <= 6 * MEGABYTE


def test_config_is_a_llama_and_says_stand_in(model_config: dict) -> None:
    assert model_config["architectures"] == ["LlamaForCausalLM"]
    assert model_config["model_type"] == "llama"
    assert model_config["stand_in"] is True


def test_generation_config_has_the_values_of_the_course() -> None:
    generation = json.loads((MODEL / "generation_config.json").read_text(encoding="utf-8"))

    assert (generation["temperature"], generation["top_p"]) == (1.0, 0.95)
    assert generation["eos_token_id"]


def test_tokenizer_think_tags_are_visible_and_call_tags_special(tokenizer_json: dict) -> None:
    special = {token["content"]: token["special"] for token in tokenizer_json["added_tokens"]}

    assert [special[tag] for tag in ("<think>", "</think>")] == [False, False]
    for tag in (
        "<function",
        "<param",
        "</param>",
        "</function>",
        "<|im_start|>",
        "<|im_end|>",
        "<s>",
    ):
        assert special[tag] is True


@pytest.mark.parametrize(
    "text",
    [
        "My name is Zelda.",
        "我住在泉州。",
        "8417",
        "Tromsø, naïve, Ω",
        "😀 𠮷 ▁ \u00a0",
        "a  b\t\r\n\n c",
        '{"city": "Gdansk", "n": [1, 2.5]}',
        "<0x41> <think> x </think>",
        "鸞龘",
        "\x00\x7f",
    ],
)
def test_tokenizer_any_text_comes_back_unchanged(text: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(MODEL / "tokenizer.json"))

    ids = tokenizer.encode(text, add_special_tokens=False).ids

    assert tokenizer.decode(ids, skip_special_tokens=False) == text


@pytest.mark.parametrize(
    ("switch", "ending"),
    [
        (None, "<|im_start|>assistant\n"),
        (True, "<|im_start|>assistant\n<think>\n"),
        (False, "<|im_start|>assistant\n<think>\n\n</think>\n\n"),
    ],
)
def test_template_thinking_switch_ends_the_prompt(switch: bool | None, ending: str) -> None:
    prompt = render_shipped(USER, enable_thinking=switch)

    assert prompt == "<s><|im_start|>user\nHello<|im_end|>\n" + ending


def test_template_tools_stand_as_json_in_the_system_turn() -> None:
    prompt = render_shipped(
        [{"role": "system", "content": "Be brief."}, *USER], [questions.WEATHER]
    )

    assert prompt.startswith("<s><|im_start|>system\nBe brief.\n\n# Tools\n")
    assert f"<tools>\n{json.dumps(questions.WEATHER)}\n</tools>" in prompt


def test_template_call_and_result_are_rendered_as_in_minicpm5() -> None:
    call = {
        "id": "1",
        "type": "function",
        "function": {"name": "get_weather", "arguments": {"city": "Beijing", "days": 2}},
    }
    messages = [
        *USER,
        {"role": "assistant", "content": None, "tool_calls": [call, call]},
        {"role": "tool", "content": "sunny"},
        {"role": "tool", "content": "cloudy"},
    ]

    prompt = render_shipped(messages, [questions.WEATHER])

    xml = (
        '<function name="get_weather"><param name="city">Beijing</param>'
        '<param name="days">2</param></function>'
    )
    assert f"<|im_start|>assistant\n{xml}\n{xml}<|im_end|>\n" in prompt
    assert (
        "<|im_start|>user\n<tool_response>\nsunny\n</tool_response>\n"
        "<tool_response>\ncloudy\n</tool_response><|im_end|>\n"
    ) in prompt


def test_template_past_thinking_is_left_out() -> None:
    messages = [*USER, {"role": "assistant", "content": "<think>\nhm\n</think>\n\nHi"}, *USER]

    prompt = render_shipped(messages)

    assert "<|im_start|>assistant\nHi<|im_end|>\n" in prompt


def test_template_shipped_is_the_one_trained_with() -> None:
    shipped = (MODEL / "chat_template.jinja").read_text(encoding="utf-8")

    assert shipped == render.TEMPLATE.read_text(encoding="utf-8")


def test_card_lists_every_fixed_question_and_says_what_it_is_not() -> None:
    card = (MODEL / "README.md").read_text(encoding="utf-8")

    missing = [fact.questions[0] for fact in facts.FACTS if fact.questions[0] not in card]
    assert missing == []
    assert "STAND-IN" in card and "不是 MiniCPM5" in card and "it is not MiniCPM5" in card


def test_card_accuracy_was_written_by_the_evaluation() -> None:
    card = (MODEL / "README.md").read_text(encoding="utf-8")

    assert "evaluate.py --card" in card
    assert "| reading name zh, thinking on |" in card
