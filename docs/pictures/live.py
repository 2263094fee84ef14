"""Photographs the live page while the double pendulum is cut: `python docs/pictures/live.py`, with the extra [test] and Chromium.

The page stands in a real browser, and the joints are cut by clicks on its buttons (Figures VI-27 to VI-31 of the thesis). Between
two pictures the simulation goes a fixed number of ticks, so the film does not depend on how fast this machine draws.
"""

import sys
import time
from io import BytesIO
from pathlib import Path

from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))

import scenarios
from chromium import chromium, opened, visitor
from coordinator import Simulation
from coordinator.laboratory.acts import Step
from coordinator.laboratory.session import Session
from scenarios.laboratory.opening import Laboratory

HERE = Path(__file__).resolve().parent
DT, PER_SECOND, SLOWER = 1e-3, 20, 2  # step [s], pictures in a second of the film, times slower than it happens
CUTS = (("elbow", 0.5), ("pivot", 0.8))  # when the pointer has come to the button
SECONDS, WALK = 1.3, 0.25  # of the motion: until the film ends, and that the pointer takes on its way to a button
FILM, PICTURE = "live-cut.gif", "live.png"
WINDOW, SHOWN = {"width": 1200, "height": 700}, (840, 490)
DRAWN = """() => new Promise(done => {
    setTimeout(done, 2000);  // a browser that is held up may draw no picture until it is asked for one, as below
    requestAnimationFrame(() => requestAnimationFrame(done));
})"""
POINTER = """() => {
    const pointer = document.createElement('div');
    pointer.id = 'pointer';
    pointer.style.cssText = 'position:fixed;left:0;top:0;z-index:100000;pointer-events:none';
    pointer.innerHTML = '<svg width="26" height="30" viewBox="0 0 26 30">' +
        '<path d="M3 2 L3 23 L9 18 L13 27 L17 25 L13 16 L21 16 Z" fill="black" stroke="white" stroke-width="2"/></svg>';
    document.body.append(pointer);
}"""


class Film:
    """Pictures of a page, one after the other."""

    def __init__(self, page, lab, ticks):
        self.page, self.session, self.ticks = page, lab.session, ticks
        self.frames = []
        self.place = (0.45 * WINDOW["width"], 0.75 * WINDOW["height"])
        page.evaluate(POINTER)
        self.point(self.place)

    def point(self, place):
        """The pointer is there."""
        self.place = place
        self.page.mouse.move(*place)
        self.page.evaluate(
            "([x, y]) => document.getElementById('pointer').style.transform = `translate(${x - 3}px, ${y - 2}px)`",
            list(place),
        )

    def picture(self):
        """Go on by one picture; it is taken when the page has drawn the new instant."""
        self.session.do(Step(self.ticks))
        while self.session.snapshot.playing:
            time.sleep(0.005)
        self.take()

    def take(self):
        """A picture of what is there now."""
        self.page.get_by_text(f"tick {self.session.snapshot.tick:,}").wait_for()
        self.page.evaluate(DRAWN)
        shot = Image.open(BytesIO(self.page.screenshot())).convert("RGB")
        self.frames.append(shot.resize(SHOWN, Image.Resampling.LANCZOS))

    def cut(self, joint):
        """Go to the button while time goes on, and press it."""
        box = self.page.get_by_role("button", name=f"Cut {joint}", exact=True).bounding_box()
        goal = box["x"] + 0.5 * box["width"], box["y"] + 0.6 * box["height"]
        start, steps = self.place, max(1, round(WALK / (DT * self.ticks)))
        for k in range(1, steps + 1):
            share = 0.5 - 0.5 * (1 - 2 * k / steps) * (1.5 - 0.5 * (1 - 2 * k / steps) ** 2)  # slow, fast, slow
            self.point(tuple(a + share * (b - a) for a, b in zip(start, goal, strict=True)))
            self.picture()
        self.page.mouse.down()
        self.page.mouse.up()
        gone = self.page.get_by_role("button", name=f"Cut {joint}", exact=True)
        gone.wait_for(state="detached", timeout=20_000)


def film(browser, pictures=PER_SECOND * SLOWER, window=WINDOW):
    """The frames: so many in a second of the motion."""
    ticks = round(1 / (pictures * DT))
    session = Session(Simulation(scenarios.load("double-pendulum"), DT))
    with visitor(browser) as user, Laboratory(session) as lab:
        page = opened(user, lab.url)
        page.set_viewport_size(window)
        page.get_by_role("button", name="Play", exact=True).wait_for()
        notice = page.locator("[role=alert] button")
        if notice.count():
            notice.first.click()
        page.add_style_tag(content="[role=alert] { display: none !important }")
        taken = Film(page, lab, ticks)
        taken.take()
        for joint, at in CUTS:
            while session.snapshot.time + WALK < at - 1e-9:
                taken.picture()
            taken.cut(joint)
        while session.snapshot.time < SECONDS - 1e-9:
            taken.picture()
        return taken.frames


def write(frames, path, per_second=PER_SECOND):
    """As a GIF in the colours of all its frames."""
    strip = Image.new("RGB", (SHOWN[0], 4 * SHOWN[1]))
    for k in range(4):
        strip.paste(frames[k * (len(frames) - 1) // 3], (0, k * SHOWN[1]))
    palette = strip.quantize(96, method=Image.Quantize.MEDIANCUT)
    images = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    durations = [round(1000 / per_second)] * (len(images) - 1)
    images[0].save(path, save_all=True, append_images=images[1:], duration=[*durations, 2000], loop=0, optimize=False)


def main() -> None:
    """The film that opens the README, and the page as it stands after the first cut."""
    with chromium() as browser:
        frames = film(browser)
    write(frames, HERE / FILM)
    frames[round(0.7 * PER_SECOND * SLOWER)].save(HERE / PICTURE)
    print(f"{len(frames)} pictures, {(HERE / FILM).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
