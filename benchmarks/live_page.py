"""The live page with fifty bodies: pictures that a browser shows in a second, and what they cost the thread that simulates.

    python benchmarks/live_page.py

A Chromium without a GPU draws every pixel on the processor, so pictures are a lower bound. The cost is that of ticks as fast as
they can be computed, with the page drawn at its full rate, against the same session with nobody looking; in turns, medians of some.
"""

import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

import scenarios
from chromium import chromium, opened, visitor
from coordinator import Simulation
from coordinator.laboratory.acts import Pause, Resume, SetSpeed
from coordinator.laboratory.session import Session
from scenarios.laboratory.opening import Laboratory

BODIES, DT, TURNS, SECONDS = 50, 1e-4, 3, 4.0
SEEN = """(seconds) => new Promise(done => {
    const node = window.__viserMutable.nodeRefFromName['/bodies/sticks'];
    let seen = 0, frames = 0, last = null, began = performance.now();
    const place = () => {
        let found = null;
        node.traverse(o => { if (o.matricesTexture) found = o.matricesTexture._data; });
        return found ? Array.from(found.filter((_, k) => k % 7 === 0)).join() : '';
    };
    const look = () => {
        frames += 1;
        const now = place();
        if (now !== last) { seen += 1; last = now; }
        if (performance.now() - began > 1000 * seconds) done([seen / seconds, frames / seconds, now.length]);
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
})"""


def session():
    """A chain that hangs from its first rod."""
    return Session(Simulation(scenarios.load("chain", bodies=BODIES), DT, record_every=10))


def pace(of: Session) -> float:
    """Ticks in a second."""
    before, began = of.simulation.tick, time.perf_counter()
    time.sleep(SECONDS)
    return (of.simulation.tick - before) / (time.perf_counter() - began)


def main() -> None:
    """Print both figures."""
    with chromium() as browser, visitor(browser) as user, Laboratory(session()) as lab:
        page = opened(user, lab.url)
        page.get_by_role("button", name="Play", exact=True).wait_for()
        lab.session.do(SetSpeed(1.0))
        lab.session.do(Resume())
        time.sleep(2.0)
        simulated, began = lab.session.simulation.time, time.perf_counter()
        seen, frames, length = page.evaluate(SEEN, SECONDS)
        factor = (lab.session.simulation.time - simulated) / (time.perf_counter() - began)
        each = 1e3 * lab.page.seconds / lab.page.pictures
        print(f"{BODIES} bodies, {factor:.2f} times real time: {seen:.1f} updates a second in the browser")
        print(f"({frames:.1f} frames drawn, {lab.page.pictures} pictures pushed, {each:.2f} ms each)")
        assert length, "the instances were not found"
        alone_session = session().start()
        alone_session.do(SetSpeed(0.0))
        lab.session.do(Pause())
        lab.session.do(SetSpeed(0.0))
        page.close()
        alone, watched = [], []
        for _ in range(TURNS):
            alone_session.do(Resume())
            alone.append(pace(alone_session))
            alone_session.do(Pause())
            lab.session.do(Resume())
            watched.append(pace(lab.session))
            lab.session.do(Pause())
        alone_session.close()
        cost = 1.0 - statistics.median(watched) / statistics.median(alone)
        print(f"ticks a second: {statistics.median(alone):,.0f} with nobody looking,")
        print(f"{statistics.median(watched):,.0f} with the page drawn: {100 * cost:.1f} % fewer")


if __name__ == "__main__":
    main()
