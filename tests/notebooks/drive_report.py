"""Open a run's report in headless Chromium at several widths and print what was seen, as JSON.

Usage: drive_report.py FILE PICTURES WIDTH [WIDTH …]     (with the Python of .venvs/browser)

For each width: the document's width, requests to elsewhere, whether the head of the table of runs is shown, and the
texts of links that lead to nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from drive_page import main, opened
from playwright.sync_api import Browser


def seen(browser: Browser, file: Path, width: int, pictures: Path) -> dict[str, Any]:
    """Return what the report looks like at one width."""
    page, asked = opened(browser, file, width, pictures)
    links = [(one.get_attribute("href") or "", one.inner_text()) for one in page.locator("a").all()]
    found = {
        "width": page.evaluate("document.documentElement.scrollWidth"),
        "elsewhere": [url for url in asked if url != file.as_uri()],
        "head": page.locator("table.runs thead").first.is_visible(),
        "broken": [text for href, text in links if not (file.parent / href).exists()],
    }
    page.close()
    return found


if __name__ == "__main__":
    main(seen, *sys.argv[1:])
