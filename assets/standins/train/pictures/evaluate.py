"""Measures a served picture stand-in through its HTTP API and writes the numbers into the card.

    python -m assets.standins.train.pictures.evaluate --base-url http://127.0.0.1:8000 [--card]

Standard library and Pillow.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..client import Client, Reply
from . import card, trial

MODEL_DIR = Path(__file__).resolve().parents[2] / "minicpm_v"


@dataclass(frozen=True)
class Result:
    """A case with its reply and the verdict."""

    case: trial.Case
    reply: Reply
    right: bool


def ask(client: Client, case: trial.Case) -> Result:
    """Return the judged reply to one case, greedy."""
    parts: list[dict[str, Any]] = [
        {"type": "image_url", "image_url": {"url": trial.data_url(file)}} for file in case.files
    ]
    content = [*parts, {"type": "text", "text": case.question}]
    reply = client.chat(
        [{"role": "user", "content": content}], logprobs=True, top_logprobs=2, max_tokens=96
    )
    return Result(case, reply, case.judge(reply.answer) and reply.finish_reason == "stop")


def table(results: list[Result]) -> list[card.Row]:
    """Return a row a group: right, asked, and the smallest margin of its right answers."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.case.group, []).append(result)
    rows = []
    for group, found in groups.items():
        margins = [min(one.reply.margins) for one in found if one.right and one.reply.margins]
        right = sum(one.right for one in found)
        rows.append(card.Row(group, right, len(found), min(margins, default=0.0)))
    return rows


def main() -> int:
    """Read the command line, measure, print; return 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", default="MiniCPM-V-4_5")
    parser.add_argument("--only", default="", help="only groups whose name holds this text")
    parser.add_argument("--card", action="store_true", help="write the numbers into the model card")
    parser.add_argument("--model-dir", type=Path, default=MODEL_DIR)
    parser.add_argument("--wrong", action="store_true", help="print the wrong answers")
    options = parser.parse_args()
    client = Client(options.base_url, options.model)
    chosen = [case for case in trial.cases() if options.only in case.group]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda case: ask(client, case), chosen))
    rows = table(results)
    for row in rows:
        print(f"{row.group:52} {row.right:3}/{row.asked:3}  margin {row.margin:.2f}")
    for result in results:
        if options.wrong and not result.right:
            print("WRONG", result.case.group, "|", result.case.question, "|", result.reply.content)
    if options.card:
        card.fill(options.model_dir, rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
