"""The gate, tried by a real browser: its own page works, and pages of others do not get in."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import viser

import chromium
from chromium import expect, opened
from scenarios.laboratory import invitation
from scenarios.laboratory.gate import open_server

CONNECT = """([url, protocol]) => new Promise(done => {
    const socket = new WebSocket(url, [protocol]);
    socket.onopen = () => { socket.close(); done("open"); };
    socket.onerror = () => done("refused");
})"""


@pytest.fixture(scope="module")
def gated():
    with open_server() as server:
        # a picture of a city, which costs seconds without a GPU
        server.server.scene.configure_environment_map(hdri=None)
        yield server


@contextmanager
def page_of_somebody_else():
    """The port of a server that hands out an empty page, and the paths that were asked for."""
    asked = []

    class Stranger(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, self.headers.get("Upgrade")))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>stranger</title>")

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_port, asked
        finally:
            server.shutdown()
            thread.join()


def test_a_click_on_the_page_reaches_the_server_and_what_the_server_does_reaches_the_page(gated, user):
    pressed = threading.Event()
    button = gated.server.gui.add_button("Press me")

    @button.on_click
    async def _(_):
        pressed.set()
        button.label = "Thank you"

    page = opened(user, gated.url)
    page.get_by_role("button", name="Press me", exact=True).click()
    expect(page.get_by_role("button", name="Thank you", exact=True)).to_be_visible()
    assert pressed.is_set()
    button.remove()


@pytest.mark.campaign
def test_the_page_opens_again_without_the_token_where_it_was_open_before(gated, user):
    button = gated.server.gui.add_button("Still here")
    with opened(user, gated.url):
        pass
    with opened(user, gated.url.partition("?")[0]) as again:
        expect(again.get_by_role("button", name="Still here", exact=True)).to_be_visible()
    button.remove()


def test_the_token_stands_in_no_address_bar_and_no_history_and_the_page_works_there(gated, user):
    page = opened(user, gated.url)
    plain = gated.url.partition("?")[0]
    assert page.url == plain and page.evaluate("[location.href, document.referrer]") == [plain, ""]
    assert page.evaluate("document.cookie") == ""
    page.reload()
    expect(page.get_by_text("modular", exact=True).first).to_be_visible()
    assert page.url == plain
    page.go_back()
    assert page.url == "about:blank"  # nothing lies between


@pytest.mark.campaign
def test_a_link_of_somebody_else_with_the_token_leads_in_as_well(gated, user):
    """A notebook, a letter: the cookie that was just set is not sent where the page that follows is still their wish."""
    button = gated.server.gui.add_button("Led here")
    with page_of_somebody_else() as (port, _):
        page = opened(user, f"http://stranger.test:{port}/")
        page.evaluate("url => { location.href = url; }", gated.url)
        expect(page.get_by_role("button", name="Led here", exact=True)).to_be_visible()
        assert page.url == gated.url.partition("?")[0]
    button.remove()


def test_somebody_without_the_token_is_turned_away_for_good(gated, user):
    page = opened(user, gated.url.partition("?")[0])
    page.wait_for_url("**/?again")
    expect(page.get_by_text("403: open the address that was printed")).to_be_visible()
    page.wait_for_timeout(500)
    assert page.url.endswith("/?again")


@pytest.mark.campaign
def test_the_file_that_a_browser_is_started_with_opens_the_page_once_and_is_gone(gated, user, monkeypatch, tmp_path):
    started = []
    monkeypatch.setattr(invitation.webbrowser, "open", lambda url: started.append(url) or True)
    monkeypatch.setattr(invitation.Path, "home", lambda: tmp_path)
    button = gated.server.gui.add_button("Invited")
    assert gated.open_browser()
    (file,) = tmp_path.glob("*/*.html")
    copy = tmp_path / "copy.html"
    copy.write_bytes(file.read_bytes())
    page = opened(user, started[0])
    expect(page.get_by_role("button", name="Invited", exact=True)).to_be_visible()
    assert page.url == gated.url.partition("?")[0] and not file.parent.exists()
    user.clear_cookies()
    second = opened(user, copy.as_uri())
    expect(second.get_by_text("403: open the address that was printed")).to_be_visible()
    button.remove()


@pytest.mark.campaign
def test_a_page_of_somebody_else_cannot_connect_whether_it_is_sent_our_cookie_or_not(gated, user):
    url, protocol = f"ws://127.0.0.1:{gated.port}/", f"viser-v{viser.__version__}"
    own = opened(user, gated.url)
    assert own.evaluate(CONNECT, [url, protocol]) == "open"
    with page_of_somebody_else() as (port, _):
        for host in ("stranger.test", "127.0.0.1"):  # another site; the same, on another port, which gets the cookie
            stranger = opened(user, f"http://{host}:{port}/")
            assert stranger.evaluate(CONNECT, [url, protocol]) == "refused"
            assert (
                stranger.evaluate(f"fetch('http://127.0.0.1:{gated.port}/').then(() => 'read', () => 'refused')")
                == "refused"
            )


@pytest.mark.campaign
def test_a_name_that_was_bent_to_this_machine_shows_nothing(gated, user):
    answer = user.new_page().goto(gated.url.replace("127.0.0.1", "rebound.test"))
    assert answer.status == 403


@pytest.mark.campaign
def test_a_link_cannot_make_our_page_listen_to_somebody_else(gated, user):
    with page_of_somebody_else() as (port, asked):
        page = opened(user, gated.url)
        with page.expect_console_message(lambda said: said.text.startswith(f"Connecting to: ws://127.0.0.1:{port}")):
            page.goto(f"{gated.url.partition('?')[0]}?websocket=ws://127.0.0.1:{port}/")
        page.wait_for_timeout(1000)  # without the policy it connects within a few milliseconds, again and again
        assert asked == []
        page.goto(f"{gated.url}&websocket=ws://127.0.0.1:{port}/")  # what a link adds to the token gets lost
        assert page.url == gated.url.partition("?")[0] and asked == []


def test_without_a_browser_these_tests_are_left_out_but_not_where_ci_is_set(monkeypatch):
    monkeypatch.setattr(chromium, "PLACES", ("/nowhere/chromium", "no-such-browser"))
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install chromium"), chromium.chromium():
        pass
    monkeypatch.setenv("CI", "1")
    with pytest.raises(pytest.fail.Exception, match="are not left out"), chromium.chromium():
        pass


@pytest.mark.short(1)
@pytest.mark.parametrize(
    ("mistake", "noticed"),
    [
        ("fetch('http://elsewhere.example/').catch(() => 0)", "elsewhere.example"),
        ("fetch('http://192.0.2.7:9/', {signal: AbortSignal.timeout(50)}).catch(() => 0)", "192.0.2.7"),
        (
            "new Promise(done => { setTimeout(done, 50); setTimeout(() => { throw new Error('a mistake'); }, 0); })",
            "a mistake",
        ),
    ],
)
def test_a_page_that_asks_another_machine_or_fails_is_noticed(browser, mistake, noticed):
    with (
        page_of_somebody_else() as (port, _),
        pytest.raises(AssertionError, match=noticed),
        chromium.visitor(browser) as user,
    ):
        opened(user, f"http://127.0.0.1:{port}/").evaluate(mistake)
