"""Debian's Chromium, driven by playwright, for tests of pages: no display, no GPU, and no way out of this machine.

Names that end in .test lead to 127.0.0.1, so that a test can be a page of somebody else; all other names lead nowhere.
One browser serves all tests of a process (the fixture `browser` next to the tests); a test has a user of its own, `visitor`.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from lazily import Lazily
from waiting import GUARD

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

playwright = Lazily("playwright.sync_api")

PLACES = ("/usr/bin/chromium", "chromium", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--host-resolver-rules=MAP *.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
WINDOW = {"width": 900, "height": 600}  # every pixel is drawn by the processor
PATIENCE = 1e3 * GUARD  # [ms] for one action on a page: the first pictures take half a minute where all cores are busy
HERE = ("127.0.0.1", "localhost", None)  # None: data and blobs
HARMLESS = "Unable to preventDefault inside passive event listener"


def expect(shown):
    """What is expected of something that is shown, and waited for."""
    playwright.expect.set_options(timeout=PATIENCE)
    return playwright.expect(shown)


def installed() -> str | None:
    """Where Chromium is, or None."""
    return next((found for place in PLACES if (found := shutil.which(place)) is not None), None)


@contextmanager
def chromium() -> Iterator["Browser"]:
    """A browser. Where there is none the test is skipped, or fails where the variable CI is set."""
    if (found := installed()) is None:
        missing = "Chromium is not installed (Debian: apt-get install chromium)"
        if os.environ.get("CI"):
            pytest.fail(f"{missing}, and CI is set: there, tests of pages are not left out")
        pytest.skip(missing)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, headless=True, args=list(ARGUMENTS), timeout=PATIENCE)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def visitor(browser: "Browser") -> Iterator["BrowserContext"]:
    """A user with cookies of his own; at the end, none of his pages may have failed or asked another machine."""
    context = browser.new_context(viewport=WINDOW, service_workers="block")
    context.set_default_timeout(PATIENCE)
    asked: list[str] = []
    failed: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    context.on("weberror", lambda error: failed.append(str(error.error)))
    context.on("page", lambda page: page.on("websocket", lambda opened: asked.append(opened.url)))
    try:
        yield context
        away = [url for url in asked if not is_here(url)]
        assert not away, f"a page asked other machines: {away}"
        errors = [error for error in failed if HARMLESS not in error]
        assert not errors, f"a page failed: {errors}"
    finally:
        context.close()


def is_here(url: str) -> bool:
    """Whether a request for it stays on this machine."""
    host = urlsplit(url).hostname
    return host in HERE or host.endswith(".test")


def opened(context: "BrowserContext", url: str) -> "Page":
    """A page, loaded."""
    page = context.new_page()
    page.goto(url)
    return page
