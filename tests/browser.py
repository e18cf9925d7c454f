"""A browser for the tests of the report, and a reader's hands."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Locator, Page, sync_playwright

from dataworth import report

NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        own = shutil.which(playwright.chromium.executable_path)
        found = next(filter(None, map(shutil.which, NAMES)), own)
        if found is None:
            reason = f"none of {', '.join(NAMES)} is installed, and none could be"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


class Reader:
    """Writes reports and opens them; keeps what pages ask for and what they say."""

    def __init__(self, browser: Browser, path: Path) -> None:
        self.path = path
        self.asked: list[str] = []
        self.said: list[str] = []
        self.contexts: list[BrowserContext] = []
        self._browser = browser

    def __call__(self, *args: Any, context: dict[str, Any] | None = None, **options: Any) -> Page:
        report.write(self.path, *args, **options)
        # Without smooth scrolling, or a click may come while its target moves.
        settings: dict[str, Any] = {"reduced_motion": "reduce"}
        settings |= {"viewport": {"width": 1366, "height": 900}, **(context or {})}
        self.contexts.append(self._browser.new_context(**settings))
        page = self.contexts[-1].new_page()
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("console", lambda message: self.said.append(message.text))
        page.on("dialog", self._answer)
        page.goto(self.path.as_uri())
        page.wait_for_selector("html[data-ready]")
        return page

    def _answer(self, dialog: Dialog) -> None:
        self.said.append(dialog.message)
        dialog.accept()

    def heard(self) -> list[str]:
        """What pages said until now: errors, the console, and questions, all of them accepted."""
        said, self.said = self.said, []
        return said


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Reader]:
    """A reader. What its pages say unheard, or ask for beyond their own file, fails the test."""
    reader = Reader(browser, tmp_path / "report.html")
    yield reader
    for context in reader.contexts:
        context.close()
    own = (reader.path.as_uri(), "data:image/", "blob:")
    assert [url for url in reader.asked if not url.startswith(own)] == []
    assert reader.said == []


def rows(page: Page) -> list[int]:
    """The positions of the points in the table, from its top."""
    lines = page.locator("tr.point")
    return [int(p) for p in lines.evaluate_all("all => all.map(r => r.dataset.position)")]


def row(page: Page, position: int) -> Locator:
    return page.locator(f'tr.point[data-position="{position}"]')


def press(page: Page, position: int, decision: str) -> None:
    row(page, position).get_by_role("button", name=decision, exact=True).click()


def downloaded(page: Page) -> bytes:
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download decisions").click()
    assert waiting.value.suggested_filename == "decisions.csv"
    return waiting.value.path().read_bytes()


def count(page: Page) -> str:
    return " ".join(page.locator("#count > *").all_inner_texts())
