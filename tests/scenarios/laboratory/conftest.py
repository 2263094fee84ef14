"""A browser for the tests of pages, one per module: an event loop runs in this thread as long as it is there."""

import pytest

from chromium import chromium, visitor


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


@pytest.fixture
def user(browser):
    """A user of that browser, with cookies of his own."""
    with visitor(browser) as context:
        yield context
