"""Open a notebook in JupyterLab in headless Chromium, choose Run All Cells, wait, save, take a picture.

Usage: python drive_jupyterlab.py URL NOTEBOOK PICTURE SECONDS     (with the Python of .venvs/browser)

Prints what the page's own status bar says at the end. Nothing is clicked but the menu, as a learner would.
"""

from __future__ import annotations

import shutil
import sys
import time

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


def run_all(page: Page, seconds: float) -> str:
    """Return the kernel's state in the status bar after Run All Cells has ended."""
    state = page.locator(".jp-StatusBar-Left")
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    state.filter(has_text="Busy").wait_for(timeout=30_000)
    deadline, idle = time.monotonic() + seconds, 0
    while time.monotonic() < deadline and idle < 4:
        page.wait_for_timeout(1000)
        idle = idle + 1 if "Idle" in state.inner_text() else 0
    return "idle" if idle else state.inner_text()


def main(url: str, notebook: str, picture: str, seconds: float) -> None:
    """Drive one notebook from opening to saving."""
    browser_path = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=browser_path, args=CHROMIUM)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{url.split('?')[0]}/lab/tree/{notebook}?{url.split('?')[1]}", timeout=90_000)
        page.locator(".jp-Notebook").first.wait_for(timeout=90_000)
        # An indicator says idle before there is a kernel; the status bar does not.
        page.locator(".jp-StatusBar-Left").filter(has_text="Idle").wait_for(timeout=90_000)
        status = run_all(page, seconds)
        page.locator(".jp-Notebook").first.click()
        page.keyboard.press("Control+s")
        page.wait_for_timeout(3000)
        page.screenshot(path=picture)
        browser.close()
    print(status)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]))
