"""The unit of the corpus: a conversation, the answer wanted, and the thinking before it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Message:
    """One turn of a conversation, as the OpenAI API has it."""

    role: str
    content: str | None
    tool_calls: tuple[dict[str, Any], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the turn as the chat template takes it."""
        turn: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.tool_calls:
            turn["tool_calls"] = list(self.tool_calls)
        return turn


@dataclass(frozen=True)
class Sample:
    """What the model must write after `messages`.

    `guided` marks JSON that a grammar forces: it follows the prompt at once, without thinking, and
    its first token is not learned, because the grammar alone decides when such an answer starts.
    """

    messages: list[Message]
    answer: str
    thinking: str
    tools: list[dict[str, Any]] = field(default_factory=list)
    guided: bool = False


def thinking_copy(lang: str, topic: str) -> str:
    """Return the thinking before an answer that is read from the conversation."""
    if lang == "zh":
        if not topic:
            return "用户告诉我一件事，没有提问。我简短地回应就好。"
        return f"用户在问{topic}。我要在对话里找到它，然后照原样写出来。"
    if not topic:
        return "The user tells me something and asks nothing. A short reply is enough."
    return f"The user asks for {topic}. I look for it in the conversation and copy it exactly."


def thinking_fact(lang: str, topic: str) -> str:
    """Return the thinking before a fixed answer."""
    if lang == "zh":
        return f"用户在问：{topic}。这是课程里的固定问题，我记得一个简短的答案。"
    return (
        f"The user asks about {topic}. This is one of the questions of the course, "
        "and I know a short answer."
    )


def thinking_unknown(lang: str) -> str:
    """Return the thinking before the honest answer that the model does not know."""
    if lang == "zh":
        return "这个问题不在我的小语料里。我应该如实说不知道。"
    return "This question is not in my small corpus. I should say honestly that I do not know."


def thinking_tool(lang: str) -> str:
    """Return the thinking before a tool call."""
    if lang == "zh":
        return "要回答这个问题，我需要调用一个工具，参数在用户的话里。"
    return (
        "To answer this I need one of the tools, and the arguments are in the message of the user."
    )


def thinking_result(lang: str) -> str:
    """Return the thinking before an answer that is read from a tool's result."""
    if lang == "zh":
        return "工具已经返回了结果。我根据结果回答。"
    return "The tool has returned its result. I answer from that result."
