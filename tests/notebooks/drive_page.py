"""Open a page in headless Chromium at several widths and print what was seen of its layout, as JSON.

Usage: drive_page.py FILE PICTURES WIDTH [WIDTH …]     (with the Python of .venvs/browser)

For each width: the document's width, the elements that stick out on the right, requests to elsewhere,
and whether a learner's name leads to the details.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from drive_jupyterlab import CHROMIUM
from playwright.sync_api import Browser, Page, sync_playwright

STICKING_OUT = """() => [...document.querySelectorAll("body *")]
  .filter(one => one.getClientRects().length && one.getBoundingClientRect().right > innerWidth + 1)
  .map(one => one.tagName + " " + one.textContent.slice(0, 40))"""


def opened(browser: Browser, file: Path, width: int, pictures: Path) -> tuple[Page, list[str]]:
    """Return a page at one width, its picture taken, and the list of what it asks for."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.set_default_timeout(120_000)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri(), timeout=120_000)
    page.screenshot(path=pictures / f"{file.stem}-{width}.png")
    return page, asked


def seen(browser: Browser, file: Path, width: int, pictures: Path) -> dict[str, Any]:
    """Return what a page looks like at one width."""
    page, asked = opened(browser, file, width, pictures)
    link = page.locator("table a").last
    target = (link.get_attribute("href") or "").removeprefix("#")
    link.click()
    found = {
        "width": page.evaluate("document.documentElement.scrollWidth"),
        "sticking_out": page.evaluate(STICKING_OUT),
        "elsewhere": [url for url in asked if url.partition("#")[0] != file.as_uri()],
        "details_in_view": page.evaluate(
            "id => document.getElementById(id).getBoundingClientRect().top < innerHeight", target
        ),
        "head": page.locator("thead").first.is_visible(),
    }
    page.close()
    return found


def main(see: Callable[..., dict[str, Any]], file: str, pictures: str, *widths: str) -> None:
    """Print what a function like `seen` sees at each width."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=CHROMIUM)
        folder = Path(pictures)
        print(json.dumps({w: see(browser, Path(file), int(w), folder) for w in widths}))
        browser.close()


if __name__ == "__main__":
    main(seen, *sys.argv[1:])
