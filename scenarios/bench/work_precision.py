"""Work against precision: what an error costs, for us and for the peers, on the same mechanisms in the same run.

The error is the largest distance of an end of a rod from where it should be at the end of the run; the truth of open chains is
an integration in angles to 1e-11, that of the slider-crank minimal coordinates to 1e-12. Building models is not timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

import scenarios
from coordinator import Centralized, Coupling, Glued, MinimalCoordinates, Penalty, Simulation
from modular.assembly import Assembly
from modular.elements import Array
from scenarios.bench.figures import Figure, Point
from scenarios.bench.harness import Spread, Subject, spread, take_turns, timed
from scenarios.bench.models import chain
from scenarios.bench.peers.exact import exact_ends
from scenarios.bench.peers.exudyn import Exudyn
from scenarios.bench.peers.mechanism import Mechanism, mechanism
from scenarios.bench.peers.mujoco import MuJoCo
from scenarios.bench.peers.peer import MakePeer, ends_of, largest_error
from scenarios.bench.suite import Case, MeasuringEffort, Skip

NAME = "work-precision"
DIVERGED_ERROR_RATIO = 10.0  # times the motion: an error beyond is a run that diverged
EXPLICIT_STEPS = (1e-3, 5e-4, 2e-4, 1e-4, 5e-5)  # [s]
COARSE_STEPS = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4)
HIGH_ORDER_STEPS = (5e-2, 2e-2, 1e-2, 5e-3, 2e-3)  # whole steps of many stages
GAP_TOLERANCE = 1e-10  # of the extent: what glued joints may leave open here
SPRINGS, GLUED = "modular, springs", "modular, glued, order {}"
OURS: dict[str, tuple[Coupling, tuple[float, ...]]] = {
    SPRINGS: (Penalty(), EXPLICIT_STEPS),
    GLUED.format(2): (Glued(tolerance=GAP_TOLERANCE), COARSE_STEPS),
    GLUED.format(4): (Glued(order=4, tolerance=GAP_TOLERANCE), HIGH_ORDER_STEPS),
    GLUED.format(6): (Glued(order=6, tolerance=GAP_TOLERANCE), HIGH_ORDER_STEPS),
    GLUED.format(8): (Glued(order=8, tolerance=GAP_TOLERANCE), HIGH_ORDER_STEPS),
}
SIDES = {"springs": (SPRINGS,), "glued": tuple(method for method in OURS if method != SPRINGS)}
PEERS: dict[str, tuple[MakePeer, tuple[float, ...]]] = {
    "Exudyn, penalty, velocity Verlet": (Exudyn, EXPLICIT_STEPS),
    "Exudyn, constraints, generalized α": (partial(Exudyn, implicit=True), COARSE_STEPS),
    "MuJoCo, joint tree, Euler": (MuJoCo, EXPLICIT_STEPS),
    "MuJoCo, joint tree, RK4": (partial(MuJoCo, integrator="RK4"), COARSE_STEPS),
}


@dataclass(frozen=True)
class Problem:
    """A mechanism and how long it moves [s], quick and full."""

    name: str
    model: Callable[[], Assembly]
    until: tuple[float, float]
    slide: bool = False
    always: bool = True  # in a quick run too


PROBLEMS = (
    Problem("double pendulum", partial(scenarios.load, "double-pendulum"), (1.0, 2.0)),
    Problem("slider-crank", partial(scenarios.load, "slider-crank"), (1.0, 1.0), slide=True),  # folded at 1.163 s
    Problem("chain of 10", partial(chain, 10), (0.2, 0.5)),
    Problem("chain of 100", partial(chain, 100), (0.1, 0.5)),
    Problem("chain of 1,000", partial(chain, 1000), (0.1, 0.2), always=False),
)


def cases(effort: MeasuringEffort) -> list[Case]:
    """One for each mechanism."""
    chosen = [problem for problem in PROBLEMS if problem.always or not effort.quick]
    return [Case(problem.name, measure(problem), effort.choose(10, 60)) for problem in chosen]


@dataclass
class Entry:
    """A method with a step: how it is timed, and where it arrives."""

    method: str
    dt: float
    subject: Subject
    ends: Callable[[], Array]


def measure(problem: Problem) -> Callable[[MeasuringEffort], Iterator[Figure | Point]]:
    """A point for every method and step, then how much longer each peer takes for the same error."""

    def found(effort: MeasuringEffort) -> Iterator[Figure | Point]:
        until = problem.until[0 if effort.quick else 1]
        assembly = problem.model()
        shared = mechanism(assembly, slide=problem.slide)
        truth = closed_truth(assembly, until) if problem.slide else exact_ends(shared, until)
        entries, missing = [], dict[str, str]()
        for method, (coupling, steps) in OURS.items():
            steps = effort.choose(steps[:-1], steps)
            entries += [our_entry(method, assembly, dt, until, coupling) for dt in steps]
        for method, (make, steps) in PEERS.items():
            try:
                entries += [peer_entry(method, make, shared, dt, until) for dt in effort.choose(steps[:-1], steps)]
            except Skip as reason:
                missing[method] = str(reason)
        points = take_points(problem.name, entries, truth, shared, effort)
        yield from points
        yield from ratios(problem.name, [point for point in points if not point.note], missing)

    return found


def take_points(
    problem: str, entries: Sequence[Entry], truth: Array, shared: Mechanism, effort: MeasuringEffort
) -> list[Point]:
    """Where every entry arrives, and how long it takes in turns with the others; one that gets lost is not timed."""
    motion = float(np.linalg.norm(truth - shared.ends, axis=1).max())
    errors, spent = {}, 0.0
    for number, entry in enumerate(entries):  # once for the errors; it warms up, too
        try:
            spent += timed(entry.subject)
            errors[number] = largest_error(entry.ends(), truth)
        except ArithmeticError:
            errors[number] = float("nan")
    alive = {
        n: entry for n, entry in enumerate(entries) if isfinite(errors[n]) and errors[n] < DIVERGED_ERROR_RATIO * motion
    }
    rounds = max(5, min(25, int(effort.choose(3.0, 20.0) / spent)))
    seconds = take_turns({str(n): entry.subject for n, entry in alive.items()}, rounds, warm_up=0)
    points = []
    for number, entry in enumerate(entries):
        about = (problem, entry.method, entry.dt)
        peer = entry.method in PEERS
        if number not in alive:
            points.append(Point(*about, float("nan"), 0.0, 0.0, 0.0, peer, "diverged"))
        else:
            cost = spread(seconds[str(number)])
            times = (cost.median, cost.low, cost.high)
            points.append(Point(*about, errors[number], *times, peer, samples=cost.samples))
    return points


def our_entry(method: str, assembly: Assembly, dt: float, until: float, coupling: Coupling) -> Entry:
    """A fresh simulation each time, recorded at its end only."""
    ticks = round(until / dt)
    last: list[Array] = []

    def prepare() -> Simulation:
        return Simulation(assembly, dt, coupling, record_every=ticks, threads=1)

    def act(simulation: Any) -> None:
        simulation.run(until)

    def finish(simulation: Any) -> None:
        last[:] = [ends_of(simulation)]
        simulation.close()

    return Entry(method, dt, Subject(act, prepare, finish), lambda: last[0])


def peer_entry(method: str, make: MakePeer, shared: Mechanism, dt: float, until: float) -> Entry:
    """A peer that goes from its start each time."""
    peer = make(shared, dt)
    ticks = round(until / dt)
    return Entry(method, dt, Subject(lambda nothing: peer.run(ticks)), peer.ends)


def closed_truth(assembly: Assembly, until: float) -> Array:
    """Ends of all rods by the whole at once, in independent coordinates."""
    whole = Centralized(MinimalCoordinates("DOP853", rtol=1e-12, atol=1e-12))
    with Simulation(assembly, until / 50, whole) as simulation:
        simulation.run(until)
        return ends_of(simulation)


# --- what the same error costs ---------------------------------------------------------------------------------------


def ratios(problem: str, points: Sequence[Point], missing: Mapping[str, str]) -> Iterator[Figure]:
    """Time of each peer over ours at an error that both reach, for springs and for glued joints of whatever order pays."""
    for side, methods in SIDES.items():
        mine = [point for point in points if point.method in methods]
        for method in PEERS:
            name = f"{problem}, {side}: {method}"
            theirs = [point for point in points if point.method == method]
            if method in missing or not theirs or not mine:
                why = missing.get(method, f"{'it' if mine else 'ours'} diverged at every step.")
                yield Figure.skipped(NAME, name, why)
                continue
            error = common_error(mine, theirs)
            if error is None:
                yield Figure.skipped(NAME, name, apart(mine, theirs))
                continue
            (who, ours), (_, other) = cheapest(mine, error), cheapest(theirs, error)
            found = times_as_long(other, ours)
            note = f"at an error of {error:.1e} m: {1e3 * other.median:.3g} against {1e3 * ours.median:.3g} ms"
            yield Figure.of(NAME, name, "× our time", found, note=note + (f", {who}" if len(methods) > 1 else ""))


def times_as_long(theirs: Spread, ours: Spread) -> Spread:
    """The ratio of two times that were not taken round by round, with all that their quartiles allow."""
    samples = min(theirs.samples, ours.samples)
    return Spread(theirs.median / ours.median, theirs.low / ours.high, theirs.high / ours.low, samples)


def cheapest(points: Sequence[Point], error: float) -> tuple[str, Spread]:
    """The method that takes the least time for an error, or for less where even its longest step is more exact."""
    by_method: dict[str, list[Point]] = {}
    for point in points:
        by_method.setdefault(point.method, []).append(point)
    reach = {method: at_error(own, error) for method, own in by_method.items() if min(p.error for p in own) <= error}
    method = min(reach, key=lambda key: reach[key].median)
    return method, reach[method]


def apart(mine: Sequence[Point], theirs: Sequence[Point]) -> str:
    """What there is to say where two methods reach no error together: the two runs that come nearest."""

    def describe(point: Point) -> str:
        return f"{point.error:.1e} m in {1e3 * point.seconds:.3g} ms"

    def by_error(point: Point) -> float:
        return point.error

    theirs_worst, ours_best = max(theirs, key=by_error), min(mine, key=by_error)
    if theirs_worst.error < ours_best.error:
        return f"more exact at its coarsest step ({describe(theirs_worst)}) than we are at our finest ({describe(ours_best)})."
    theirs_best, ours_worst = min(theirs, key=by_error), max(mine, key=by_error)
    return (
        f"less exact at its finest step ({describe(theirs_best)}) than we are at our coarsest ({describe(ours_worst)})."
    )


def common_error(mine: Sequence[Point], theirs: Sequence[Point]) -> float | None:
    """The geometric middle of the errors that both reach; None where they reach none together."""
    low = max(min(point.error for point in side) for side in (mine, theirs))
    high = min(max(point.error for point in side) for side in (mine, theirs))
    return float(np.sqrt(low * high)) if 0.0 < low < high else None


def at_error(points: Sequence[Point], error: float) -> Spread:
    """Seconds at an error, along a line through the points on logarithmic scales."""
    ordered = sorted(points, key=lambda point: point.error)
    where = np.log([point.error for point in ordered])

    def read(key: str) -> float:
        return float(np.exp(np.interp(np.log(error), where, np.log([getattr(point, key) for point in ordered]))))

    return Spread(read("seconds"), read("low"), read("high"), min(point.samples for point in points))
