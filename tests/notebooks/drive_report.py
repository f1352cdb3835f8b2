"""Open a run's report in headless Chromium at several widths and print what was seen, as JSON.

Usage: drive_report.py FILE PICTURES WIDTH [WIDTH …]     (with the Python of .venvs/browser)

For each width: the document's width, requests to elsewhere, whether the head of the table of runs is shown, and the
texts of links that lead to nothing.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from drive_jupyterlab import CHROMIUM
from playwright.sync_api import Browser, sync_playwright


def seen(browser: Browser, file: Path, width: int, pictures: Path) -> dict[str, Any]:
    """Return what the report looks like at one width."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.set_default_timeout(120_000)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri(), timeout=120_000)
    page.screenshot(path=pictures / f"{file.stem}-{width}.png")
    links = [(one.get_attribute("href") or "", one.inner_text()) for one in page.locator("a").all()]
    found = {
        "width": page.evaluate("document.documentElement.scrollWidth"),
        "elsewhere": [url for url in asked if url != file.as_uri()],
        "head": page.locator("table.runs thead").first.is_visible(),
        "broken": [text for href, text in links if not (file.parent / href).exists()],
    }
    page.close()
    return found


def main(file: str, pictures: str, widths: list[str]) -> None:
    """Print what is seen at each width."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=CHROMIUM)
        print(json.dumps({w: seen(browser, Path(file), int(w), Path(pictures)) for w in widths}))
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
