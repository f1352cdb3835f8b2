"""Open a notebook in JupyterLab in headless Chromium, choose Run All Cells, wait, save, take a picture.

Usage: python drive_jupyterlab.py URL NOTEBOOK PICTURE SECONDS     (with the Python of .venvs/browser)

Prints what the page's own status bar says at the end. Nothing is clicked but the menu, as a learner would.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, sync_playwright

CHROMIUM = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

PATIENCE = 300_000.0
"""Milliseconds for one thing to appear: minutes, on a machine that does much else."""


def run_all(page: Page, seconds: float) -> str:
    """Return the kernel's state in the status bar after Run All Cells has ended."""
    state = page.locator(".jp-StatusBar-Left")
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    state.filter(has_text="Busy").wait_for(timeout=PATIENCE)
    deadline, idle = time.monotonic() + seconds, 0
    while time.monotonic() < deadline and idle < 4:
        page.wait_for_timeout(1000)
        idle = idle + 1 if "Idle" in state.inner_text() else 0
    return "idle" if idle else state.inner_text()


@contextmanager
def opened(url: str, notebook: str) -> Iterator[Page]:
    """Open a notebook, and wait until its kernel is there."""
    browser_path = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=browser_path, args=CHROMIUM)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{url.split('?')[0]}/lab/tree/{notebook}?{url.split('?')[1]}", timeout=PATIENCE)
        page.locator(".jp-Notebook").first.wait_for(timeout=PATIENCE)
        # An indicator says idle before there is a kernel; the status bar does not.
        page.locator(".jp-StatusBar-Left").filter(has_text="Idle").wait_for(timeout=PATIENCE)
        yield page
        browser.close()


def save(page: Page) -> None:
    """Save the notebook by the keyboard, and wait until the server has taken it."""
    page.locator(".jp-Notebook").first.click(position={"x": 5, "y": 5})
    with page.expect_response(
        lambda one: one.request.method == "PUT" and "/api/contents/" in one.url, timeout=PATIENCE
    ):
        page.keyboard.press("Control+s")


def main(url: str, notebook: str, picture: str, seconds: float) -> None:
    """Drive one notebook from opening to saving."""
    with opened(url, notebook) as page:
        status = run_all(page, seconds)
        save(page)
        page.screenshot(path=picture)
    print(status)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]))
