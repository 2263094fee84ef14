"""Nobody but the page of this run gets into the server of a live view, and nothing but what a page may say gets through."""

import asyncio
import gc
import http.client
import logging
import os
import random
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.request import url2pathname

import msgspec
import psutil
import pytest
import viser
import viser._viser
import websockets.asyncio.client
import websockets.asyncio.server
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import scenarios
from calm import Calm
from coordinator import Simulation
from coordinator.laboratory.session import Session
from modular import ModelError
from scenarios.laboratory import gate, guarded_server, invitation, message_filter
from scenarios.laboratory.admission import Admission, Answer
from scenarios.laboratory.gate import open_server
from scenarios.laboratory.page import Page
from waiting import GUARD, wait_for

TOKEN = "a-token-of-this-test"
SUBPROTOCOL = f"viser-v{viser.__version__}"
SERVE = websockets.asyncio.server.serve
CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": [0.5, 0.5, -0.5, 0.5],
    "position": [1.5, -6.0, 2],
    "fov": 1.2,
    "near": 0.1,
    "far": 1000,
    "image_height": 600,
    "image_width": 900,
    "look_at": [0.1, 0.2, 0.3],
    "up_direction": [0, 0, 1],
}


@pytest.fixture(scope="module")
def gated():
    with open_server(token=TOKEN) as server:
        yield server


@pytest.fixture(scope="module")
def _what_was_there_stays():
    """Collections look only at what has come since: they are many here, and each looks for what a test leaves behind."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def silence(_what_was_there_stays, capfd, caplog):
    """Nothing is printed and nothing is logged, also of what asyncio says only when it is collected."""
    yield
    gc.collect()
    assert capfd.readouterr() == ("", "")
    said = [*caplog.get_records("call"), *caplog.get_records("teardown")]
    assert [record.getMessage() for record in said] == []


@contextmanager
def page(gated, *, name=None, origin=None, cookie=None, subprotocol=SUBPROTOCOL, **options):
    """A WebSocket as the page of this server opens it, but for what is given."""
    name = name or f"127.0.0.1:{gated.port}"
    origin = f"http://{name}" if origin is None else origin
    cookie = f"modular-{gated.port}={TOKEN}" if cookie is None else cookie
    with (
        socket.create_connection(("127.0.0.1", gated.port)) as to,
        connect(
            f"ws://{name}/",
            sock=to,
            origin=origin or None,
            additional_headers={"Cookie": cookie} if cookie else {},
            subprotocols=[subprotocol] if subprotocol else None,
            open_timeout=GUARD,
            close_timeout=GUARD,
            max_size=None,
            **options,
        ) as connection,
    ):
        yield connection


def refusal(gated, **said):
    with pytest.raises(InvalidStatus) as refused, page(gated, **said):
        pass
    return refused.value.response.status_code


def got(gated, path="/", **headers):
    """The answer to a request for a file: status, headers, text."""
    headers = {"Host": f"127.0.0.1:{gated.port}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection = http.client.HTTPConnection("127.0.0.1", gated.port, timeout=GUARD)
    try:
        connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
        for name, values in headers.items():
            for value in values if isinstance(values, list) else [values]:
                connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def cookie_of(gated, token=TOKEN):
    return f"modular-{gated.port}={token}"


def send(connection, **message):
    connection.send(msgspec.msgpack.encode(message))


def press(connection, uuid):
    send(connection, type="GuiUpdateMessage", uuid=uuid, updates={"value": True})


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen()
        except OSError:
            return False
        return True


class Button:
    """A button of a server, and how often it was pressed."""

    def __init__(self, gated):
        self.presses = 0
        self.handle = gated.server.gui.add_button("press")
        self.uuid = self.handle._impl.uuid
        self.handle.on_click(self.pressed)

    async def pressed(self, _):
        self.presses += 1


@contextmanager
def at_the_button(gated):
    """A page that is fully there, and a button that it has pressed once."""
    button = Button(gated)
    with page(gated) as visitor:
        send(visitor, **CAMERA)
        press_until_counted(visitor, button)
        yield visitor, button
    button.handle.remove()


def press_until_counted(connection, button):
    before = button.presses
    press(connection, button.uuid)
    wait_for(lambda: button.presses > before)


# --- who gets in ------------------------------------------------------------------------------------------------------


def test_the_address_with_the_token_leaves_a_cookie_and_leads_to_the_page_at_an_address_without(gated):
    assert gated.url == f"http://127.0.0.1:{gated.port}/?token={TOKEN}"
    status, headers, text = got(gated, f"/?token={TOKEN}")
    assert (status, headers["Location"], text) == (303, "/", "")
    crumbs = headers["Set-Cookie"].split("; ")
    assert set(crumbs) == {cookie_of(gated), "HttpOnly", "SameSite=Strict", "Path=/"}
    status, headers, text = got(gated, "/", Cookie=f"other=1; {crumbs[0]}")
    assert status == 200 and "<html" in text and headers["Set-Cookie"] is None
    with at_the_button(gated) as (_, button):
        assert button.presses >= 1


def test_the_address_with_the_token_leads_nowhere_else_whatever_else_it_says(gated):
    for more in ("&websocket=ws://evil.example", "&invitation=none", "&again", "#top"):
        status, headers, _ = got(gated, f"/?token={TOKEN}{more}", Cookie=cookie_of(gated))
        assert (status, headers["Location"]) == ((303, "/") if "#" not in more else (200, None))


def test_who_was_led_here_by_others_comes_once_more_of_himself_and_not_again(gated):
    """A cookie that other sites do not send is not sent where a link of theirs has led on to the page."""
    status, headers, text = got(gated, "/")
    assert status == 403 and headers["Content-Type"].startswith("text/html")
    assert 'http-equiv="refresh" content="0;url=/?again"' in text
    status, headers, _ = got(gated, "/?again", Cookie=cookie_of(gated))
    assert (status, headers["Location"], headers["Set-Cookie"]) == (303, "/", None)
    status, headers, text = got(gated, "/?again")
    assert status == 403 and "refresh" not in text and headers["Content-Type"].startswith("text/plain")


def test_an_invitation_lets_in_once(gated):
    used = []
    invitation = gated._admission.invite(lambda: used.append(True))
    for wrong in (invitation[:-1], invitation + "x", "", f"{invitation}&invitation={invitation}"):
        assert got(gated, f"/?invitation={wrong}")[0] == 403
    assert got(gated, f"/?invitation={invitation}", Host="evil.example")[0] == 403
    assert got(gated, f"/index.html?invitation={invitation}")[0] == 403 and used == []
    status, headers, _ = got(gated, f"/?invitation={invitation}")
    assert (status, headers["Location"], used) == (303, "/", [True])
    assert headers["Set-Cookie"].startswith(cookie_of(gated))
    assert got(gated, f"/?invitation={invitation}")[0] == 403 and used == [True]


def test_localhost_is_a_name_of_ours_and_the_page_of_one_name_is_a_stranger_at_the_other(gated):
    localhost = f"localhost:{gated.port}"
    assert got(gated, f"/?token={TOKEN}", Host=localhost)[0] == 303
    assert got(gated, "/", Host=localhost, Cookie=cookie_of(gated))[0] == 200
    with page(gated, name=localhost):
        pass
    assert refusal(gated, name=localhost, origin=f"http://127.0.0.1:{gated.port}") == 403


@pytest.mark.parametrize("path", ["/", "/index.html", "/nowhere", "/?token=", "/?token=wrong", "/?Token={token}",
                                  "/index.html?token={token}", "/?token={token}&token=wrong", "/?token={token}x",
                                  "/?token={half}", "http://127.0.0.1/?token={token}", "/?token=%ff%00"])  # fmt: skip
def test_without_token_there_is_neither_page_nor_file(gated, path):
    status, headers, text = got(gated, path.format(token=TOKEN, half=TOKEN[:10]))
    assert status == 403 and headers["Set-Cookie"] is None
    assert TOKEN not in text


@pytest.mark.parametrize("cookie", ["modular-{port}=wrong", "modular-{port}=", "modular-{port}", "modular={token}",
                                    "modular-1={token}", "Modular-{port}={token}", "x=modular-{port}={token}",
                                    "modular-{port}=\"{token}\"", "modular-{port}={token}é"])  # fmt: skip
def test_a_cookie_that_is_not_ours_opens_nothing(gated, cookie):
    cookie = cookie.format(port=gated.port, token=TOKEN)
    assert got(gated, "/", Cookie=cookie)[0] == 403
    if cookie.isascii():
        assert refusal(gated, cookie=cookie) == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1", "null",
                                    "http://127.0.0.1:1", "http://localhost:{port}", "http://127.0.0.1:{port}.evil.example",
                                    "http://127.0.0.1:{port}/", "HTTP://127.0.0.1:{port}", ""])  # fmt: skip
def test_a_page_of_another_origin_cannot_connect_even_with_the_token(gated, origin):
    assert refusal(gated, origin=origin.format(port=gated.port)) == 403


def test_our_own_page_cannot_connect_without_the_token(gated):
    assert refusal(gated, cookie="") == 403
    assert refusal(gated, cookie=cookie_of(gated, TOKEN[:-1])) == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:{port}.", "",
                                  "LOCALHOST:{port}", ["127.0.0.1:{port}", "127.0.0.1:{port}"],
                                  ["127.0.0.1:{port}", "evil.example"], []])  # fmt: skip
def test_a_name_that_is_not_ours_gets_nothing_even_with_the_token(gated, host):
    host = host.format(port=gated.port) if isinstance(host, str) else [name.format(port=gated.port) for name in host]
    assert got(gated, f"/?token={TOKEN}", Host=host, Cookie=cookie_of(gated))[0] == 403


def test_a_socket_under_a_foreign_name_is_refused_though_its_origin_is_that_name(gated):
    assert refusal(gated, name=f"evil.example:{gated.port}") == 403


@pytest.mark.parametrize("upgrade", ["websocket", "WebSocket", "websocket, h2c", "h2c"])
def test_however_an_upgrade_is_spelled_it_is_asked_for_its_origin(gated, upgrade):
    handshake = {
        "Connection": "Upgrade",
        "Upgrade": upgrade,
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "bW9kdWxhci1tdWx0aWJvZA==",
        "Cookie": cookie_of(gated),
    }
    assert got(gated, f"/?token={TOKEN}", **handshake)[0] == 403
    own = f"http://127.0.0.1:{gated.port}"
    assert got(gated, f"/?token={TOKEN}", **handshake, Origin=[own, "http://evil.example"])[0] == 403
    assert got(gated, "/", **{**handshake, "Cookie": "none=1"}, Origin=own)[0] == 403


def test_the_page_may_connect_to_its_server_only_and_stands_in_nobodys_frame(gated):
    headers = got(gated, "/", Cookie=cookie_of(gated))[1]
    policy = {rule.split()[0]: rule.split()[1:] for rule in headers["Content-Security-Policy"].split(";")}
    assert policy["connect-src"] == ["'self'", f"ws://127.0.0.1:{gated.port}", "data:", "blob:"]
    assert policy["frame-ancestors"] == ["'none'"]
    assert headers["Referrer-Policy"] == "no-referrer" and headers["Cache-Control"] == "no-store"


def test_each_run_has_a_token_of_its_own_that_nobody_guesses():
    with open_server() as one, open_server() as two:
        tokens = [gated.url.partition("token=")[2] for gated in (one, two)]
        assert tokens[0] != tokens[1] and min(map(len, tokens)) >= 43  # 32 bytes
        for mine, foreign in ((one, tokens[1]), (two, tokens[0])):
            assert got(mine, f"/?token={foreign}")[0] == 403
            assert got(mine, "/", Cookie=cookie_of(mine, foreign))[0] == 403


def test_two_servers_of_one_machine_do_not_log_each_other_out(gated):
    with open_server(token=TOKEN[::-1]) as other:
        jar = [
            got(each, each.url.partition(str(each.port))[2])[1]["Set-Cookie"].split(";")[0] for each in (gated, other)
        ]
        assert len({crumb.partition("=")[0] for crumb in jar}) == 2
        both = "; ".join(jar)  # a browser sends cookies to all ports of a host
        for each in (gated, other):
            assert got(each, "/", Cookie=both)[0] == 200
            with page(each, cookie=both):
                pass


# --- how the browser is told ----------------------------------------------------------------------------------------------


@pytest.fixture
def started(monkeypatch):
    """What a browser was started with, by name; none is."""
    told = []
    monkeypatch.setattr(invitation.webbrowser, "open", lambda url: told.append(url) or True)
    return told


def link_in(url):
    """Where the file leads that a browser was started with, and the file."""
    path = Path(url2pathname(url.removeprefix("file:")))
    return re.search(r'content="0;url=([^"]*)"', path.read_text(encoding="utf-8"))[1], path


def test_a_browser_is_started_with_a_file_that_nobody_else_may_read_and_that_counts_once(
    started, monkeypatch, tmp_path
):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    with open_server(token=TOKEN) as gated:
        assert gated.open_browser() and len(started) == 1
        link, path = link_in(started[0])
        assert started[0].startswith("file:///") and path.is_relative_to(tmp_path)
        assert TOKEN not in started[0] + path.read_text() and link.rpartition("=")[2] not in started[0]
        if os.name == "posix":
            assert [one.stat().st_mode & 0o777 for one in (path, path.parent)] == [0o600, 0o700]
        assert got(gated, link.partition(str(gated.port))[2])[0] == 303
        wait_for(lambda: not path.parent.exists())
        assert got(gated, link.partition(str(gated.port))[2])[0] == 403
        gated.open_browser()
        assert link_in(started[1])[0] != link and len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []  # what nobody came with goes with the server


def test_without_a_home_the_file_is_elsewhere_and_where_nothing_is_private_no_browser_is_started(
    gated, started, monkeypatch, tmp_path
):
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "missing")
    monkeypatch.setattr(invitation.tempfile, "gettempdir", lambda: str(tmp_path))
    assert gated.open_browser() and link_in(started[0])[1].is_relative_to(tmp_path)
    before = set(tmp_path.iterdir())
    monkeypatch.setattr(invitation, "_is_private", lambda path: path.is_dir())  # a file system that knows no rights
    assert not gated.open_browser() and len(started) == 1 and set(tmp_path.iterdir()) == before
    monkeypatch.setattr(invitation, "_is_private", lambda path: False)
    assert not gated.open_browser() and len(started) == 1 and set(tmp_path.iterdir()) == before


@pytest.mark.skipif(os.name != "posix", reason="rights of Unix")
def test_what_others_may_read_is_no_private_place(tmp_path):
    for mode, private in ((0o700, True), (0o750, False), (0o701, False), (0o600, True)):
        tmp_path.chmod(mode)
        assert invitation._is_private(tmp_path) == private
    tmp_path.chmod(0o700)


# --- where it is --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.7", "modular.example", "localhost.example"])
def test_a_host_that_others_reach_must_be_meant(host):
    with pytest.raises(
        ModelError, match=r"open to other machines at host .*; take 127\.0\.0\.1, or say anywhere=True"
    ) as said:
        open_server(host=host)
    assert repr(host) in str(said.value)


def test_a_server_for_others_knows_the_names_of_its_machine_and_no_more():
    with open_server(host="0.0.0.0", anywhere=True, token=TOKEN) as gated:
        assert gated.url == f"http://127.0.0.1:{gated.port}/?token={TOKEN}"
        cards = [
            each.address for card in psutil.net_if_addrs().values() for each in card if each.family == socket.AF_INET
        ]
        for name in ("127.0.0.1", "localhost", socket.gethostname().lower(), *cards):
            assert got(gated, f"/?token={TOKEN}", Host=f"{name}:{gated.port}")[0] == 303
            assert got(gated, "/", Host=f"{name}:{gated.port}", Cookie=cookie_of(gated))[0] == 200
            with page(gated, name=f"{name}:{gated.port}"):
                pass
        assert got(gated, f"/?token={TOKEN}", Host=f"evil.example:{gated.port}")[0] == 403
        assert refusal(gated, origin="http://evil.example") == 403


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6")
def test_the_loopback_has_more_than_one_address():
    for host in ("localhost", "127.0.0.2" if sys.platform == "linux" else "127.0.0.1"):
        with open_server(host=host) as gated:
            assert gated.url.startswith(f"http://{host}:{gated.port}/?token=")
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("no IPv6 here")
    with open_server(host="::1") as gated:
        assert gated.url.startswith(f"http://[::1]:{gated.port}/?token=")


def test_a_port_is_the_one_asked_for_or_a_sentence_that_names_it(gated):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ModelError, match=rf"port {port} of 127\.0\.0\.1 is taken.*take another port, or 0"):
            open_server(port=port)
    with open_server(port=port) as here:
        assert here.port == here.server.get_port() == port
        with pytest.raises(ModelError, match=f"port {port} .* is taken"):
            open_server(port=port)
        assert got(here)[0] == 403  # still there


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_cannot_be_is_refused(port):
    with pytest.raises(ModelError, match=f"cannot have port {port}; take one from 1 to 65535, or 0"):
        open_server(port=port)


def test_an_address_that_is_not_ours_is_refused():
    with pytest.raises(ModelError, match=r"'192\.0\.2\.7' cannot be opened \(.*; take 127\.0\.0\.1"):
        open_server(host="192.0.2.7", anywhere=True)


@pytest.mark.parametrize(
    "token", ["", "short", "fifteen-letters", "with a space in it", "a;b=c; Path=/elsewhere", "x" * 129]
)
def test_a_token_that_is_weak_or_no_part_of_an_address_is_refused_without_being_told(token):
    with pytest.raises(ModelError, match=f"has {len(token)} characters .*; take 16 to 128 letters") as said:
        open_server(token=token)
    assert not token or token not in str(said.value)


def test_where_viser_is_missing_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['viser'] = None\n"
        "from scenarios.laboratory.gate import open_server\n"
        "try: open_server()\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=GUARD)
    assert said.stdout.startswith("ModelError the live view needs viser (")
    assert said.stdout.strip().endswith("get it with: python -m pip install 'modular-multibody[live]'")


# --- what gets through ----------------------------------------------------------------------------------------------------

DEEP = b"\x81\xa4type" + b"\x91" * 100_000 + b"\xc0"
GARBAGE = {
    "nothing": b"",
    "random bytes": bytes(range(255, -1, -1)),
    "a number": msgspec.msgpack.encode(3.5),
    "a list": msgspec.msgpack.encode([1, {"type": "GuiUpdateMessage"}]),
    "a message cut short": msgspec.msgpack.encode(CAMERA)[:-3],
    "two messages": msgspec.msgpack.encode(CAMERA) * 2,
    "a length that lies": b"\xdf\xff\xff\xff\xff\xa1a",
    "keys that are no names": msgspec.msgpack.encode({1: 2, "type": "GuiUpdateMessage"}),
    "a thousand floors": DEEP,
    "text": "hello",
    "text like a message": msgspec.json.encode(CAMERA).decode(),
}
STRANGE = {
    "no type": {"a": 1},
    "unknown type": {"type": "NoSuchMessage"},
    "type of a list": {"type": ["GuiUpdateMessage"]},
    "server's word": {"type": "RunJavascriptMessage", "source": "alert(1)"},
    "base of all": {"type": "Message"},
    "too little": {"type": "ViewerCameraMessage", "fov": 1.0},
    "too much": {**CAMERA, "excluded_self_client": 0},
    "camera of words": {**CAMERA, "position": ["a", "b", "c"]},
    "camera in the plane": {**CAMERA, "position": [1.0, 2.0]},
    "camera of nothing": {**CAMERA, "look_at": None},
    "dirty form of a list": {"type": "GuiFormDirtyMessage", "uuid": [[[[]]]]},
    "drag of an unknown kind": {"type": "SceneNodeDragMessage", "phase": "fling"},
    "click on nothing": {"type": "SceneNodeClickMessage", "name": 3},
    "upload without end": {"type": "FileTransferStartUpload", "part_count": 1e300},
    "updates that are no map": {"type": "GuiUpdateMessage", "uuid": "x", "updates": [1]},
}


@pytest.mark.parametrize("frame", GARBAGE.values(), ids=GARBAGE)
def test_garbage_ends_its_connection_and_nothing_else(gated, silence, frame):
    with at_the_button(gated) as (visitor, button):
        with page(gated) as stranger:
            stranger.send(frame)
            with pytest.raises(ConnectionClosed) as ended:
                while True:
                    stranger.recv(timeout=GUARD)
            assert ended.value.rcvd.code == 1008
        press_until_counted(visitor, button)


@pytest.mark.parametrize("message", STRANGE.values(), ids=STRANGE)
def test_what_no_page_says_is_left_out(gated, silence, message):
    with at_the_button(gated) as (visitor, button):
        before = len(gated.server._websock_server._broadcast_buffer.message_from_id)
        send(visitor, **message)
        press_until_counted(visitor, button)
        after = len(gated.server._websock_server._broadcast_buffer.message_from_id)
        assert after <= before + 1  # the press itself


def test_random_bytes_and_messages_with_one_bit_wrong_hurt_nobody(gated, silence):
    chance = random.Random(4)
    with at_the_button(gated) as (visitor, button):
        whole = [
            msgspec.msgpack.encode(CAMERA),
            msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": button.uuid, "updates": {"value": True}}),
        ]
        for _ in range(40):
            with page(gated) as stranger:
                try:
                    for _ in range(20):
                        frame = bytearray(chance.choice(whole) if chance.random() < 0.8 else chance.randbytes(30))
                        place = chance.randrange(len(frame))
                        frame[place] ^= 1 << chance.randrange(8)
                        stranger.send(bytes(frame))
                except ConnectionClosed:
                    pass
        press_until_counted(visitor, button)


@pytest.mark.parametrize("updates", [{"update_cb": 5}, {"removed": True}, {"value": True, "update_cb": 5}, {},
                                     {"value": [[1]]}, {"value": {"a": 1}}, {"label": "owned"}])  # fmt: skip
def test_a_page_changes_the_value_of_a_field_and_nothing_else_of_it(gated, silence, updates):
    with at_the_button(gated) as (visitor, button):
        send(visitor, type="GuiUpdateMessage", uuid=button.uuid, updates=updates)
        press_until_counted(visitor, button)
        assert button.handle.label == "press"


def test_a_value_that_viser_cannot_make_sense_of_is_left_out_silently(gated, silence):
    number = gated.server.gui.add_number("mass [kg]", 1.0)
    with at_the_button(gated) as (visitor, button):
        for value in ("abc", [], None):
            send(visitor, type="GuiUpdateMessage", uuid=number._impl.uuid, updates={"value": value})
        press_until_counted(visitor, button)
        send(visitor, type="GuiUpdateMessage", uuid=number._impl.uuid, updates={"value": 2})
        wait_for(lambda: number.value == 2.0)
    number.remove()


WHOLE, REAL = (1, 7), (1.0, 7.0)  # what a field holds, and what it holds when the page has said so
FIELDS = {
    "whole number": (lambda gui: gui.add_number("steps", 1, min=1, max=1000, step=1), WHOLE),
    "any whole number": (lambda gui: gui.add_number("many steps", 1), WHOLE),
    "number": (lambda gui: gui.add_number("mass", 1.0), REAL),
    "slider": (lambda gui: gui.add_slider("speed", 0.0, 10.0, 0.1, 1.0), REAL),
    "vector": (lambda gui: gui.add_vector3("place", (1.0, 2.0, 3.0)), ((1.0, 2.0, 3.0), (7.0, 8.0, 9.0))),
}
NO_NUMBERS = [True, 1e20, -1e20, 2**53, -(2**53), 2**64 - 1, 1e308, float("inf"), float("-inf"), float("nan"), "7", "nan",
              "1e400", "9" * 25, None, [], [7], {}, b"7"]  # fmt: skip
NOT_HERE = {"whole number": [0, 1001, 2.5, -1], "any whole number": [2.5], "slider": [-0.1, 10.1]}


@pytest.mark.parametrize("kind", FIELDS)
def test_a_number_that_a_field_cannot_hold_is_left_out_and_locks_nobody_out(gated, silence, kind):
    make, (held, new) = FIELDS[kind]
    field = make(gated.server.gui)
    values = [*NO_NUMBERS, *NOT_HERE.get(kind, [])]
    if kind == "vector":
        values += [[value, 8, 9] for value in values] + [[7, 8], [7, 8, 9, 10], 7]
    with at_the_button(gated) as (visitor, button):
        for value in values:
            send(visitor, type="GuiUpdateMessage", uuid=field._impl.uuid, updates={"value": value})
        press_until_counted(visitor, button)
        assert field.value == held
        said = list(new) if isinstance(new, tuple) else new
        send(visitor, type="GuiUpdateMessage", uuid=field._impl.uuid, updates={"value": said})
        wait_for(lambda: field.value == new and type(field.value) is type(held))
        with at_the_button(gated):  # a page that comes now is there as well
            pass
    field.remove()


def test_one_number_of_twenty_digits_does_not_lock_the_live_page_out(silence):
    """Steps per click once became 10**20, which no message can carry: every page that came later ended with code 1011."""
    with (
        Session(Simulation(scenarios.load("double-pendulum"), 1e-3), folder=None) as session,
        open_server(token=TOKEN) as gated,
    ):
        shown = Page(session, gated.server)
        steps = shown.controls.steps
        with page(gated) as visitor:
            send(visitor, **CAMERA)
            for value in (5, 2e9, 0, 1e20):
                send(visitor, type="GuiUpdateMessage", uuid=steps._impl.uuid, updates={"value": value})
            speed = shown.controls.speed.handle
            send(visitor, type="GuiUpdateMessage", uuid=speed._impl.uuid, updates={"value": 3})
            wait_for(lambda: speed.value == 3.0)
            assert steps.value == 5
        with page(gated) as late:
            send(late, **CAMERA)
            late.recv(timeout=GUARD)  # the page as it stands
            send(late, type="GuiUpdateMessage", uuid=steps._impl.uuid, updates={"value": 6})
            wait_for(lambda: steps.value == 6)
            assert late.ping().wait(GUARD)


@pytest.mark.parametrize("change", [{"fov": float("nan")}, {"near": float("inf")}, {"image_width": 10**20 % 2**64},
                                    {"image_height": 2**60}, {"position": [1e200, 0.0, 0.0]}])  # fmt: skip
def test_a_camera_that_no_page_has_is_left_out(gated, silence, change):
    with at_the_button(gated) as (visitor, button):
        (client,) = gated.server.get_clients().values()
        send(visitor, **{**CAMERA, **change})
        press_until_counted(visitor, button)
        assert client.camera.fov == CAMERA["fov"] and client.camera.image_width == CAMERA["image_width"]
        assert tuple(client.camera.position) == tuple(CAMERA["position"])


# --- files that are sent ------------------------------------------------------------------------------------------------


class Sending:
    """A button for files, what has come of it, and what is underway."""

    def __init__(self, gated):
        self.gated, self.came = gated, []
        self.handle = gated.server.gui.add_upload_button("file")
        self.handle.on_upload(self.uploaded)

    async def uploaded(self, _):
        self.came.append(self.handle.value.content)

    @property
    def underway(self):
        return self.gated.server.gui._current_file_upload_states

    def start(self, connection, size, parts, name="x", **other):
        start = {"source_component_uuid": self.handle._impl.uuid, "filename": "a.txt", "mime_type": "text/plain"}
        told = {**start, "transfer_uuid": name, "part_count": parts, "size_bytes": size, **other}
        send(connection, type="FileTransferStartUpload", **told)

    def part(self, connection, index, content, name="x", **other):
        told = {"source_component_uuid": self.handle._impl.uuid, "transfer_uuid": name, "part_index": index, **other}
        send(connection, type="FileTransferPart", content=content, **told)


@pytest.fixture
def sending(gated):
    files = Sending(gated)
    yield files
    files.handle.remove()


def test_a_file_arrives_whole_whatever_the_order_of_its_pieces(gated, silence, sending):
    content = random.Random(1).randbytes(2 * message_filter.FILE_CHUNK_BYTES + 5)
    pieces = [
        content[k : k + message_filter.FILE_CHUNK_BYTES]
        for k in range(0, len(content), message_filter.FILE_CHUNK_BYTES)
    ]
    with at_the_button(gated) as (visitor, _):
        sending.start(visitor, len(content), 3)
        for k in (2, 0, 1):
            sending.part(visitor, k, pieces[k])
        wait_for(lambda: sending.came == [content])
        sending.start(visitor, 0, 0, "empty")
        wait_for(lambda: sending.came == [content, b""])
    assert not sending.underway


@pytest.mark.parametrize(("size", "parts"), [(2**27, 2**8), (2**60, 2**41), (-1, 0), (5, 0), (5, 2), (0, 1), (2**20, 10**9),
                                             (10**9, 1), (1e300, 1), (5.5, 1)])  # fmt: skip
def test_a_file_that_is_too_large_or_in_other_pieces_than_a_page_makes_is_not_begun(
    gated, silence, sending, size, parts
):
    with at_the_button(gated) as (visitor, button):
        sending.start(visitor, size, parts)
        press_until_counted(visitor, button)
        assert not sending.underway and sending.came == []


def test_all_files_that_a_page_is_sending_are_bounded_together(gated, silence, sending):
    with at_the_button(gated) as (visitor, button):
        for k in range(8):
            sending.start(visitor, 2**24, 2**5, f"file {k}")
        press_until_counted(visitor, button)
        assert len(sending.underway) == message_filter.LARGEST_FILE // 2**24
    wait_for(lambda: not sending.underway)


def test_pieces_that_do_not_belong_to_their_file_are_left_out(gated, silence, sending):
    other = gated.server.gui.add_number("other", 1.0)
    content = random.Random(2).randbytes(message_filter.FILE_CHUNK_BYTES + 5)
    with at_the_button(gated) as (visitor, _), at_the_button(gated) as (stranger, button):
        sending.start(visitor, 5, 1, source_component_uuid=other._impl.uuid)
        sending.start(visitor, len(content), 2)
        sending.start(visitor, 10, 1)  # of the same name
        for index, piece in (
            (2, b"12345"),
            (-1, b"12345"),
            (0, b"12345"),
            (1, b"1234"),
            (1, content[: message_filter.FILE_CHUNK_BYTES]),
        ):
            sending.part(visitor, index, piece)
        sending.part(visitor, 1, b"12345", source_component_uuid=other._impl.uuid)
        sending.part(visitor, 1, b"12345", source_component_uuid=None)
        wait_for(lambda: list(sending.underway) == ["x"])
        sending.part(stranger, 1, b"12345")  # it has begun no such file
        press_until_counted(stranger, button)
        assert other.value == 1.0
        for k in (0, 1):
            sending.part(visitor, k, content[k * message_filter.FILE_CHUNK_BYTES :][: message_filter.FILE_CHUNK_BYTES])
        wait_for(lambda: sending.came == [content])
    other.remove()


def test_files_that_were_not_sent_to_their_end_end_with_their_connection(gated, silence, sending):
    with at_the_button(gated) as (visitor, _):
        sending.start(visitor, 3 * message_filter.FILE_CHUNK_BYTES, 3)
        sending.part(visitor, 0, bytes(message_filter.FILE_CHUNK_BYTES))
        wait_for(lambda: len(sending.underway.get("x", {"parts": ()})["parts"]) == 1)
        with page(gated) as other:
            send(other, **CAMERA)
            sending.start(other, 5, 1, "y")
            wait_for(lambda: "y" in sending.underway)
        wait_for(lambda: list(sending.underway) == ["x"])  # the other connection's alone is gone
    wait_for(lambda: not sending.underway)
    assert sending.came == []


def test_what_goes_wrong_in_a_callback_of_ours_is_said(gated, caplog):
    button = gated.server.gui.add_button("fail")

    @button.on_click
    async def _(_):
        float("a mistake of ours")

    with at_the_button(gated) as (visitor, _):
        press(visitor, button._impl.uuid)
        wait_for(lambda: "a mistake of ours" in caplog.text)
    button.remove()


def test_a_frame_that_is_too_large_ends_its_connection_and_the_largest_piece_of_a_file_does_not(gated, silence):
    piece = {"type": "FileTransferPart", "source_component_uuid": None, "transfer_uuid": "x", "part_index": 0}
    with at_the_button(gated) as (visitor, button):
        send(visitor, **piece, content=bytes(512 * 1024))
        press_until_counted(visitor, button)
        with page(gated) as stranger:
            with pytest.raises(ConnectionClosed) as ended:
                stranger.send(bytes(2**20 + 1))
                while True:
                    stranger.recv(timeout=GUARD)
            assert ended.value.rcvd.code == 1009
        press_until_counted(visitor, button)


def test_no_request_opens_a_tunnel(gated, monkeypatch):
    opened = []
    monkeypatch.setattr(viser._viser, "ViserTunnel", lambda *told: opened.append(told))
    with at_the_button(gated) as (visitor, button):
        send(visitor, type="ShareUrlRequest")
        send(visitor, type="ShareUrlDisconnect")
        press_until_counted(visitor, button)
        assert gated.server.request_share_url() is None
        gated.server.disconnect_share_url()
    assert opened == [] and gated.server._share_tunnel is None


def test_the_messages_let_through_are_those_that_viser_has_an_ear_for(gated):
    with page(gated):
        ears = {kind.__name__ for kind in gated.server._websock_server._incoming_handlers}
    asked_for = {"ViewerCameraMessage", "GetRenderResponseMessage", "LocalStorageGetItemResponseMessage"}
    assert set(message_filter.SPOKEN) == (ears | asked_for) - {"ShareUrlRequest", "ShareUrlDisconnect"}


def test_a_page_of_another_version_is_told_so_and_nothing_is_printed(gated, silence):
    for subprotocol in ("viser-v0.0.1", None):
        with page(gated, subprotocol=subprotocol) as stranger, pytest.raises(ConnectionClosed) as ended:
            stranger.recv(timeout=GUARD)
        assert ended.value.rcvd.code == 1002 and viser.__version__ in ended.value.rcvd.reason


def test_handshakes_that_fail_leave_no_trace_on_the_screen(gated, silence):
    for request in (
        b"",
        b"\x16\x03\x01\x02\x00\x01\x00",  # a handshake of TLS
        b"POST / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 1000 + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\nCookie: \xff\r\n\r\n",
        f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{gated.port}\r\nCookie: {cookie_of(gated)}\r\n"
        "Accept-Encoding: gzip\r\nAccept-Encoding: br\r\n\r\n".encode(),
        f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{gated.port}\r\nCookie: {cookie_of(gated)}\r\nUpgrade: websocket\r\n"
        f"Origin: http://127.0.0.1:{gated.port}\r\n\r\n".encode(),
    ):
        with socket.create_connection(("127.0.0.1", gated.port)) as stranger:
            stranger.sendall(request)
            stranger.shutdown(socket.SHUT_WR)
            stranger.settimeout(GUARD)
            answer = b""
            try:
                while more := stranger.recv(2**16):
                    answer += more
            except ConnectionResetError:
                pass
            assert not answer.startswith((b"HTTP/1.1 2", b"HTTP/1.1 1"))
    assert got(gated, "/", Cookie=cookie_of(gated))[0] == 200
    assert logging.getLogger("websockets.server").filters == []  # viser would quieten the logger of all


# --- opening and closing ---------------------------------------------------------------------------------------------------


def test_opening_and_closing_print_nothing_and_leave_nothing_behind(silence):
    threads = set(threading.enumerate())
    gated = open_server()
    assert websockets.asyncio.server.serve is SERVE
    pressed = threading.Event()
    button = gated.server.gui.add_button("press")
    button.on_click(lambda _: pressed.set())  # in a thread of viser's pool
    token = gated.url.partition("token=")[2]
    with page(gated, cookie=cookie_of(gated, token)) as visitor:
        send(visitor, **CAMERA)
        press(visitor, button._impl.uuid)
        wait_for(pressed.is_set)
    gated.close()
    with Calm() as took:
        wait_for(lambda: set(threading.enumerate()) <= threads)
    assert took.seconds < 1.0
    gated.close()
    assert is_free(gated.port)


def test_pages_that_do_not_answer_hold_up_no_closing(silence):
    threads = set(threading.enumerate())
    gated = open_server(token=TOKEN)
    handshake = (
        f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{gated.port}\r\nOrigin: http://127.0.0.1:{gated.port}\r\n"
        f"Cookie: {cookie_of(gated)}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Key: bW9kdWxhci1tdWx0aWJvZA==\r\nSec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
    )
    silent = [socket.create_connection(("127.0.0.1", gated.port)) for _ in range(6)]
    try:
        silent[0].sendall(b"GET / HT")  # and never the rest
        for visitor in silent[1:4]:
            visitor.sendall(handshake.encode())
            assert visitor.recv(2**16).startswith(b"HTTP/1.1 101")
        # reads nothing
        silent[4].sendall(
            f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{gated.port}\r\nCookie: {cookie_of(gated)}\r\n\r\n".encode()
        )
        time.sleep(0.1)
        with Calm() as took:
            gated.close()
            wait_for(lambda: set(threading.enumerate()) <= threads)
        assert took.seconds < 1.0
        assert is_free(gated.port)
    finally:
        for visitor in silent:
            visitor.close()


def test_connections_that_a_browser_keeps_ready_are_not_waited_for_at_all(silence, monkeypatch):
    monkeypatch.setattr(guarded_server, "CLOSING_TIMEOUT_SECONDS", 60.0)
    gated = open_server()
    with socket.create_connection(("127.0.0.1", gated.port)), socket.create_connection(("127.0.0.1", gated.port)):
        assert got(gated)[0] == 403  # by now those before it have been accepted
        with Calm() as took:
            gated.close()
        assert took.seconds < 0.9  # viser itself gives up after 1 s


def test_a_callback_that_waits_holds_up_no_closing(silence):
    gated = open_server(token=TOKEN)
    waiting = threading.Event()
    button = gated.server.gui.add_button("wait")

    @button.on_click
    async def _(_):
        waiting.set()
        await asyncio.sleep(3600)

    with page(gated) as visitor:
        send(visitor, **CAMERA)
        press(visitor, button._impl.uuid)
        wait_for(waiting.is_set)
        with Calm() as took:
            gated.close()
        assert took.seconds < 1.0


def test_a_server_that_nobody_closed_is_closed_when_python_ends():
    code = "from scenarios.laboratory.gate import open_server; open_server(); print('done')"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=GUARD)
    assert (said.stdout, said.stderr) == ("done\n", "")


def test_many_servers_open_at_once_each_with_its_gate(silence):
    opened = []
    threads = [threading.Thread(target=lambda: opened.append(open_server(token=TOKEN))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({gated.port for gated in opened}) == 6
    for gated in opened:
        with page(gated):
            pass
        assert refusal(gated, origin="http://evil.example") == 403
        gated.close()
    assert websockets.asyncio.server.serve is SERVE


def test_servers_that_others_make_at_the_same_time_are_what_they_were(monkeypatch):
    echoes = []
    original = guarded_server._ServeHook.serve

    async def echo(connection):
        await connection.send(await connection.recv())

    async def elsewhere():
        async with websockets.asyncio.server.serve(echo, "127.0.0.1", 0) as other:
            url = f"ws://127.0.0.1:{other.sockets[0].getsockname()[1]}"
            async with websockets.asyncio.client.connect(url, origin="http://evil.example") as visitor:
                await visitor.send("hello")
                echoes.append(await visitor.recv())

    def serve(door, handler, host=None, port=None, **options):
        if host is door.host:
            other = threading.Thread(target=asyncio.run, args=(elsewhere(),))
            other.start()
            other.join()
        return original(door, handler, host, port, **options)

    monkeypatch.setattr(guarded_server._ServeHook, "serve", serve)
    open_server().close()
    assert echoes == ["hello"]


# --- where the gate does not hold, there is no server -------------------------------------------------------------------------


@contextmanager
def refused_to_run(match):
    """Opening fails with these words, soon, and leaves neither thread nor port nor anything of ours in other libraries."""
    threads = set(threading.enumerate())
    ports = []
    original = gate._listening

    def noted(host, port):
        opened = original(host, port)
        ports.append(opened.getsockname()[1])
        return opened

    with Calm() as took, pytest.MonkeyPatch.context() as patch, pytest.raises(ModelError, match=match):
        patch.setattr(gate, "_listening", noted)
        yield
    assert took.seconds < 10.0
    with Calm() as took:
        wait_for(lambda: set(threading.enumerate()) <= threads)
    assert took.seconds < 1.0
    assert websockets.asyncio.server.serve is SERVE
    assert len(ports) == 1 and is_free(ports[0])


@pytest.mark.parametrize("blind", ["Host", "Origin", "Cookie"])
def test_a_gate_that_forgets_a_question_is_noticed_before_anybody_comes(monkeypatch, blind):
    original = Admission.answer

    def forgetful(admission, path, headers):
        name = headers("Host")[0] if blind != "Host" else next(iter(sorted(admission.names)))
        right = {
            "Host": [name],
            "Origin": [f"http://{name}"],
            "Cookie": [f"{admission.cookie}={admission.token}"],
        }
        return original(admission, path, lambda header: right[header] if header == blind else headers(header))

    monkeypatch.setattr(Admission, "answer", forgetful)
    with refused_to_run(r"the access check of the live view failed: .* instead of 403, so it was closed"):
        open_server()


def test_a_gate_that_lets_everybody_in_is_closed(monkeypatch):
    monkeypatch.setattr(Admission, "answer", lambda admission, path, headers: Answer.SOCKET)
    with refused_to_run(r"a page of another origin got 101 instead of 403"):
        open_server()


def test_a_viser_that_opens_its_port_by_another_call_is_closed(monkeypatch):
    monkeypatch.setattr(guarded_server._ServeHook, "serve", lambda door, *told, **options: SERVE(*told, **options))
    with refused_to_run(r"cannot install its access check in viser .* \(it opened another server\)"):
        open_server()


def test_a_websockets_that_does_not_take_our_settings_is_an_error_and_no_waiting(monkeypatch):
    class Other(SERVE):
        def __init__(self, *told, create_connection, **options):
            raise TypeError("unexpected keyword argument")

    monkeypatch.setattr(websockets.asyncio.server, "serve", Other)
    monkeypatch.setattr(sys.modules[__name__], "SERVE", Other)
    with refused_to_run(r"cannot install its access check in viser .* \(unexpected keyword argument\)"):
        open_server()


def test_a_viser_that_fails_after_it_has_started_leaves_no_server(monkeypatch):
    def failing(*_, **__):
        raise ModelError("something else")

    monkeypatch.setattr(viser._viser, "GuiApi", failing)
    with refused_to_run("something else"):
        open_server()


def test_a_server_that_gives_no_answer_is_closed(monkeypatch):
    monkeypatch.setattr(
        guarded_server._FilteredConnection, "connection_made", lambda connection, transport: transport.abort()
    )
    with refused_to_run("got no answer instead of 403"):
        open_server()
