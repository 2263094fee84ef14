"""One browser for all tests of pages in a process of pytest; every test that asks for it has a user of its own."""

from asyncio import events

import pytest

from chromium import chromium, visitor


@pytest.fixture(scope="session")
def _browser_and_loop():
    with chromium() as opened:
        loop = events._get_running_loop()
        events._set_running_loop(None)
        yield opened, loop
        events._set_running_loop(loop)


@pytest.fixture
def browser(_browser_and_loop):
    """Its driver keeps an event loop running in this thread; between tests it is set aside, so that others can run theirs."""
    opened, loop = _browser_and_loop
    events._set_running_loop(loop)
    yield opened
    events._set_running_loop(None)


@pytest.fixture
def user(browser):
    """A user of that browser, with cookies of his own."""
    with visitor(browser) as context:
        yield context


@pytest.fixture
def server():
    """A server of pages with nothing on them."""
    opened = pytest.importorskip("viser").ViserServer(host="127.0.0.1", port=0, verbose=False)
    yield opened
    opened.stop()
