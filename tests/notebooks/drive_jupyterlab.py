"""Open a notebook in JupyterLab in headless Chromium, choose Run All Cells, wait, save, take a picture.

Usage: python drive_jupyterlab.py URL NOTEBOOK PICTURE SECONDS     (with the Python of .venvs/browser)

Prints what the page's own status says at the end. Nothing is clicked but the menu, as a learner would.
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
    """Return the status of the notebook's execution indicator after Run All Cells has ended."""
    indicator = page.locator(".jp-Notebook-ExecutionIndicator").first
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    deadline, idle = time.monotonic() + seconds, 0
    while time.monotonic() < deadline and idle < 4:
        page.wait_for_timeout(1000)
        idle = idle + 1 if indicator.get_attribute("data-status") == "idle" else 0
    return indicator.get_attribute("data-status") or "?"


def main(url: str, notebook: str, picture: str, seconds: float) -> None:
    """Drive one notebook from opening to saving."""
    browser_path = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=browser_path, args=CHROMIUM)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{url.split('?')[0]}/lab/tree/{notebook}?{url.split('?')[1]}", timeout=90_000)
        page.locator(".jp-Notebook").first.wait_for(timeout=90_000)
        page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').first.wait_for(
            timeout=90_000
        )
        status = run_all(page, seconds)
        page.locator(".jp-Notebook").first.click()
        page.keyboard.press("Control+s")
        page.wait_for_timeout(3000)
        page.screenshot(path=picture)
        browser.close()
    print(status)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]))
