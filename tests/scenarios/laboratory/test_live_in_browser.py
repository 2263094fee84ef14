"""The live page, handled by a real browser: what is done there by clicks is what the model would have done by itself."""

import itertools
import statistics
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress

import numpy as np
import psutil
import pytest

import scenarios
from calm import Calm
from campaign import more
from chromium import expect, opened
from coordinator import Penalty, Run, Simulation, first_difference
from coordinator.laboratory.replaying import replay
from coordinator.laboratory.session import Session
from scenarios.laboratory.opening import Laboratory
from waiting import GUARD, wait_for

COMMAND = [sys.executable, "-c", "from scenarios.cli import main; main()"]


@contextmanager
def command(*arguments):
    """`modular live` as somebody types it, and the address that it prints alone on a line."""
    process = subprocess.Popen(
        [*COMMAND, "live", *arguments, "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        for line in process.stdout:
            if line.startswith("http://127.0.0.1:"):
                assert "\x1b" not in line
                yield process, line.strip()
                return
        pytest.fail(process.stderr.read())
    finally:
        process.kill()
        process.communicate()


@contextmanager
def laboratory(model="double-pendulum", dt=1e-3, folder=None, **settings):
    """In this process, so that a test can see what the page does."""
    simulation = Simulation(scenarios.load(model, **settings), dt, Penalty(), record_every=10)
    with Laboratory(Session(simulation, folder)) as lab:
        yield lab


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def press(page, key, condition):
    """A key; the page may have to be ready for it first, and longer where all cores are busy."""
    for patience in (2, 4, 8, 16, 32, 64):
        page.keyboard.press(key)
        until = time.monotonic() + patience
        while time.monotonic() < until:
            if condition():
                return
            time.sleep(0.02)
    pytest.fail(f"{key} does nothing")


def close_notice(page):
    """That pictures are drawn without a GPU covers a corner."""
    notice = page.locator("[role=alert] button")
    if notice.count():
        notice.first.click()


def step(page, ticks, text):
    """So many ticks by the field and the button, until the page says where it stands."""
    field = page.get_by_label("steps per click", exact=True)
    field.fill(str(ticks))
    field.press("Tab")
    button(page, "Step").click()
    expect(page.get_by_text(text)).to_be_visible()


def cut(page, joint):
    """By its button, until that has gone: where all cores are busy, a folder that opens may carry it away under the mouse."""
    for _ in range(25):
        if not button(page, f"Cut {joint}").count():
            return
        button(page, f"Cut {joint}").click()
        with suppress(AssertionError):
            expect(button(page, f"Cut {joint}")).to_have_count(0, timeout=12_000)
            return
    pytest.fail(f"{joint} cannot be cut")


@pytest.mark.campaign
def test_figures_vi_30_and_vi_31_by_clicks_have_the_bits_of_the_scripted_run(user, tmp_path):
    """The elbow of the double pendulum is cut at 0.5 s, its pivot at 0.8 s (Séguy 2003, VI.5)."""
    out = tmp_path / "clicked"
    with command("double-pendulum", "--dt", "1e-4", "--record-every", "1", "--out", str(out)) as (process, url):
        page = opened(user, url)
        step(page, 5000, "tick 5,000")
        cut(page, "elbow")
        step(page, 3000, "tick 8,000")
        cut(page, "pivot")
        step(page, 4000, "tick 12,000")
        button(page, "Quit").click()
        assert process.wait(GUARD) == 0
    with Simulation(scenarios.load("cut-double-pendulum"), 1e-4) as simulation:
        told = simulation.run(1.2)
    assert first_difference(told, Run.load(out / "stretch-01")) is None
    assert replay(out).same


def test_a_session_of_clicks_keys_and_drags_is_repeated_to_the_last_bit(user, tmp_path):
    with laboratory(folder=tmp_path) as lab:
        page = opened(user, lab.url)
        session = lab.session
        button(page, "Play").wait_for()
        close_notice(page)
        page.set_viewport_size({"width": 1280, "height": 800})
        press(page, "Space", lambda: session.snapshot.playing)
        wait_for(lambda: session.snapshot.time > 0.1)
        press(page, "Space", lambda: not session.snapshot.playing)
        grab(page, session)
        button(page, "Cut elbow").click()
        wait_for(lambda: "elbow" not in session.snapshot.plan.joints)
        button(page, "Undo").click()
        wait_for(lambda: "elbow" in session.snapshot.plan.joints)
        button(page, "Reset").click()
        wait_for(lambda: session.snapshot.time == 0.0)
        acts = session.diary.count
    found = replay(tmp_path)
    assert (found.same, found.acts) == (True, acts)
    kinds = {type(entry.act).__name__ for entry in session.diary.entries}
    assert kinds >= {"Cut", "Undo", "Reset", "Grab", "Drag", "Release"}


def on_screen(page, point):
    """Where a point of the model is in the window, by the camera of the page; None where something covers the picture."""
    return page.evaluate(
        """([x, y, z]) => {
            const m = window.__viserMutable, camera = m.camera, v = camera.position.clone();
            const root = m.nodeRefFromName[''];
            v.set(x, y, z).applyMatrix4(root.matrixWorld).project(camera);
            const boxes = [...document.querySelectorAll('canvas')].map(c => c.getBoundingClientRect());
            const box = boxes.reduce((a, b) => (a.width * a.height > b.width * b.height ? a : b));
            const seen = [box.left + (v.x + 1) / 2 * box.width, box.top + (1 - v.y) / 2 * box.height];
            return document.elementFromPoint(...seen)?.tagName === 'CANVAS' ? seen : null;
        }""",
        list(map(float, point)),
    )


def grab(page, session):
    """Take the lower rod by the mouse and draw it a little way.

    Again where the page had not drawn yet what was grasped at, and at another place along the rod, which may lie behind the
    panel or the other rod: when it was stopped depends on how busy the machine is.
    """
    along = itertools.cycle([0.5, 0.8, 0.2, 0.95])

    def taken():
        snapshot = session.snapshot
        body, (q, v) = snapshot.plan.bodies["lower"], snapshot.state("lower")
        start, end = (body.port_motion(port, q, v, v)[0] for port in ("start", "end"))
        place = on_screen(page, (*(start + next(along) * (end - start)), 0.0))
        if place is None:
            return False
        x, y = place
        page.mouse.move(x, y)
        page.mouse.down()
        for k in range(1, 60):
            page.mouse.move(x + 4 * min(k, 15) + k % 2, y - 2 * min(k, 15))
            time.sleep(0.05)
            if k >= 15 and session.snapshot.held == "lower":
                return True
        page.mouse.up()
        return False

    wait_for(taken)
    press(page, "Space", lambda: session.snapshot.playing)
    time.sleep(0.5)
    press(page, "Space", lambda: not session.snapshot.playing)
    page.mouse.up()
    wait_for(lambda: session.snapshot.held is None)


@pytest.mark.campaign
def test_a_click_is_carried_out_within_a_quarter_of_a_second(user):
    with laboratory() as lab:
        page = opened(user, lab.url)
        button(page, "Step").wait_for()
        close_notice(page)
        box = button(page, "Step").bounding_box()
        times = []
        for _ in range(15):
            before = lab.session.snapshot.tick
            with Calm(*(child.pid for child in psutil.Process().children(recursive=True))) as took:  # and the browser
                page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
                wait_for(lambda before=before: lab.session.snapshot.tick > before)
            times.append(took.seconds)
        print(f"click to applied: median {1e3 * statistics.median(times):.0f} ms")
        assert statistics.median(times) < 0.25


@pytest.mark.campaign
def test_the_page_does_not_know_whether_workers_move_the_mechanism(user, tmp_path):
    with command("chain", "--set", "bodies=6", "--workers", "2", "--out", str(tmp_path / "away")) as (process, url):
        page = opened(user, url)
        step(page, 200, "tick 200")
        page.get_by_text("ball3", exact=True).first.click()
        cut(page, "ball3")
        step(page, 200, "tick 400")
        button(page, "Quit").click()
        assert process.wait(GUARD) == 0
    assert replay(tmp_path / "away").same


def test_whoever_closes_the_tab_lets_go_and_all_threads_end_in_a_second(user):
    before = set(threading.enumerate())
    with laboratory() as lab:
        page = opened(user, lab.url)
        button(page, "Play").wait_for()
        page.close()
        wait_for(lambda: not lab.gated.server.get_clients())
        with Calm() as took:
            lab.close()
            wait_for(lambda: not [t for t in threading.enumerate() if t not in before and t.is_alive()])
        assert took.seconds < 1.0


@pytest.mark.campaign
@pytest.mark.parametrize("sign", ["SIGINT", *more(["SIGTERM"])])
def test_ctrl_c_and_sigterm_end_it_with_everything_kept(tmp_path, sign):
    import signal

    if not hasattr(signal, sign):
        pytest.skip(f"no {sign} here")
    out = tmp_path / "kept"
    with command("double-pendulum", "--play", "--out", str(out)) as (process, _):
        time.sleep(0.5)
        began = time.monotonic()
        process.send_signal(getattr(signal, sign))
        assert process.wait(GUARD) == 0
        took = time.monotonic() - began
    print(f"{sign}: gone after {took:.2f} s")
    assert replay(out).same


@pytest.mark.campaign
def test_whoever_has_turned_the_mechanism_away_finds_back_and_is_told_at_the_end(user):
    with laboratory() as lab:
        page = opened(user, lab.url)
        button(page, "Play").wait_for()
        close_notice(page)
        seen = "() => window.__viserMutable.camera.position.toArray()"
        first = np.array(page.evaluate(seen))

        def turned():
            """Again, until the page is there to follow."""
            page.mouse.move(450, 500)
            page.mouse.down()
            page.mouse.move(380, 420, steps=5)
            page.mouse.up()
            page.wait_for_timeout(200)
            return np.linalg.norm(np.array(page.evaluate(seen)) - first) > 0.1

        wait_for(turned)
        page.get_by_text("View", exact=True).first.click()
        button(page, "Look from the start").click()
        wait_for(lambda: np.linalg.norm(np.array(page.evaluate(seen)) - first) < 1e-3)
        lab.close()
        expect(page.get_by_text("The session is over")).to_be_visible()
