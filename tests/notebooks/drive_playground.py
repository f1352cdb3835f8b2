"""Open a notebook in JupyterLab in headless Chromium, run it all, and use its chat playground by mouse and
keyboard.

Usage: python drive_playground.py URL NOTEBOOK PICTURES SECONDS PLAN     (with the Python of .venvs/browser)

PICTURES: beginning of the path of each screenshot. PLAN: a JSON list of steps, each [verb, …]:
["ask", question], ["stop", what is seen by then], ["fold"], ["upload", path], ["save"], ["shot", name].
Prints, as JSON, what was to be seen after each step.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from drive_jupyterlab import PATIENCE, opened, run_all, save
from playwright.sync_api import Locator, Page


class Playground:
    """The first panel on the page."""

    def __init__(self, page: Page, seconds: float, pictures: str) -> None:
        self.page, self.seconds, self.pictures = page, seconds, pictures
        self.box = page.locator(".labs-playground").first
        self.box.scroll_into_view_if_needed()
        self.box.wait_for(timeout=PATIENCE)

    def button(self, icon: str) -> Locator:
        """Return a button by its icon, whatever the language."""
        return self.box.locator(f"button:has(i.fa-{icon})")

    def ask(self, question: str) -> None:
        """Type a question, click Send, wait until the answer has ended."""
        self.ended(self.begin(question))

    def begin(self, question: str) -> int:
        """Type a question, click Send, wait until it stands there; return its number, from 0."""
        number = self.box.locator(".labs-question").count()
        self.box.locator("textarea").fill(question)
        self.button("paper-plane").click(timeout=PATIENCE)
        self.box.locator(".labs-question").nth(number).wait_for(timeout=PATIENCE)
        return number

    def ended(self, number: int) -> None:
        """Wait for the end of an answer, and until the panel takes the next question."""
        endings = self.box.locator(".labs-ending:not(.labs-running)")
        endings.nth(number).wait_for(timeout=self.seconds * 1000)
        self.button("paper-plane").and_(self.page.locator(":enabled")).wait_for(timeout=PATIENCE)

    def stop(self, question: str, seen: str) -> None:
        """Ask, wait for the first words while the answer is on its way, and click Stop."""
        number = self.begin(question)
        self.box.locator(".labs-answer", has_text=seen).wait_for(timeout=PATIENCE)
        self.button("stop").click(timeout=PATIENCE)
        self.ended(number)

    def fold(self) -> list[bool]:
        """Return whether the last thinking is visible: as it came, after a click, after another."""
        fold = self.box.locator(".labs-thinking-fold").last
        text = fold.locator(".labs-thinking")
        seen = [text.is_visible()]
        for state in ("visible", "hidden"):
            fold.locator(".jupyter-widget-Collapse-header").click()
            text.wait_for(state=state, timeout=PATIENCE)  # type: ignore[arg-type]
            seen.append(text.is_visible())
            if state == "visible":
                self.shot("thinking")
        return seen

    def upload(self, path: str) -> None:
        """Choose a file by the upload button; wait for its small view."""
        with self.page.expect_file_chooser(timeout=PATIENCE) as chooser:
            self.button("upload").click()
        chooser.value.set_files(path)
        self.box.locator("img").last.wait_for(timeout=PATIENCE)

    def shot(self, name: str) -> None:
        """Take a picture of the panel."""
        self.box.screenshot(path=f"{self.pictures}-{name}.png")

    def seen(self) -> dict[str, Any]:
        """Return what stands in the panel and on the page."""

        def texts(kind: str) -> list[str]:
            return self.box.locator(f".labs-{kind}").all_text_contents()

        return {
            **{kind: texts(kind) for kind in ("question", "thinking", "answer", "ending", "error")},
            "head": self.box.locator(".widget-html").first.inner_text(),
            "images": self.box.locator("img").count(),
            "markup": self.box.locator(".labs-answer *, .labs-thinking *, .labs-error *").count(),
            "hit": self.page.evaluate("window.hit === undefined ? null : window.hit"),
            "questions on the page": self.page.locator(".labs-question").count(),
            "board": self.page.locator(".labs-board").first.inner_text(),
        }


def main(url: str, notebook: str, pictures: str, seconds: float, plan: list[list[str]]) -> None:
    """Run the notebook, follow the plan, print what was seen."""
    told: list[Any] = []
    with opened(url, notebook) as page:
        told.append(run_all(page, seconds))
        panel = Playground(page, seconds, pictures)
        for verb, *given in plan:
            if verb == "save":
                save(page)
                told.append(None)
                continue
            result = getattr(panel, verb)(*given)
            told.append(result if verb == "fold" else panel.seen())
    print(json.dumps(told))


if __name__ == "__main__":
    plan = json.loads(Path(sys.argv[5]).read_text(encoding="utf-8"))
    main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), plan)
