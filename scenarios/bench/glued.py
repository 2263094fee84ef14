"""Glued joints: what an error costs over a whole run, what a step costs, and what stays open, beside Exudyn's constraints.

The time to an error is that of the cheapest run that errs no more, from its start to its end; building models is not timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import scenarios
from coordinator import Coupling, Glued, Simulation
from modular.assembly import Assembly
from scenarios.bench.figures import Figure, Point, Target
from scenarios.bench.harness import Subject, spread, take_turns
from scenarios.bench.models import chain
from scenarios.bench.peers.exact import exact_ends
from scenarios.bench.peers.mechanism import mechanism
from scenarios.bench.stepping import RECORD_EVERY
from scenarios.bench.suite import Case, MeasuringEffort, Skip
from scenarios.bench.work_precision import PEERS, our_entry, peer_entry, take_points, times_as_long

NAME = "glued"
PEER = "Exudyn, constraints, generalized α"
GAIN = Target(2.0, at_least=True)
STEP, FALL = 1e-3, 0.5  # [s], where the cost of a step is told, and how long it is taken
COST, FLAT = Target(3.0), Target(1.5)  # [us], ×
CLOSED, KEPT = Target(1e-13), Target(1e-8)  # [m], [J]


@dataclass(frozen=True)
class Race:
    """A mechanism, how long it moves [s], who takes part with which steps [s], and errors [m] with what they may cost."""

    name: str
    model: Callable[[], Assembly]
    until: float
    ours: Sequence[tuple[Coupling, Sequence[float]]]
    theirs: Sequence[float]
    errors: Mapping[float, Target | None]
    per_body: bool = False  # microseconds of each body, else milliseconds of all


PENDULUM = Race(
    "double pendulum, 5 s",
    partial(scenarios.load, "double-pendulum"),
    5.0,
    (
        (Glued(order=4, tolerance=1e-8), (2.5e-2, 2e-2, 1.25e-2)),
        (Glued(order=6, tolerance=1e-10), (2.5e-2, 2e-2, 1e-2, 8e-3)),
        (Glued(order=8), (2e-2, 1e-2)),
    ),
    (5e-3, 2e-3, 1e-3, 2e-4, 1e-4),
    {1e-4: Target(5.0), 1e-6: Target(8.0), 1e-9: Target(20.0)},
)


def hanging(bodies: int, most: float, theirs: Sequence[float]) -> Race:
    """A chain let go from the horizontal."""
    ours: list[tuple[Coupling, Sequence[float]]] = [
        (Glued(tolerance=1e-8), (5e-3, 2e-3, 1e-3)),
        (Glued(), (5e-3,)),
        (Glued(order=4, tolerance=1e-10), (5e-3, 2e-3, 1e-3)),
        (Glued(order=6, tolerance=1e-12), (5e-3, 2e-3, 1e-3)),
    ]
    errors = {2e-3: Target(most), 1e-4: None, 1e-6: None, 1e-8: None}
    return Race(f"chain of {bodies:,}, 0.2 s", partial(chain, bodies), 0.2, ours, theirs, errors, per_body=True)


def cases(effort: MeasuringEffort) -> list[Case]:
    """Races, what a step costs, and what is kept."""
    races = [PENDULUM, hanging(100, 80.0, (5e-3, 2e-3, 1e-3))]
    if not effort.quick:
        races.append(hanging(1000, 110.0, (2e-3, 1e-3)))
    return [
        *(Case(race.name, partial(run_race, race), effort.choose(10, 60)) for race in races),
        Case("chain, a step", cost_of_a_step, effort.choose(5, 60)),
        Case("slider-crank", what_is_kept, 2.0),
    ]


# --- time to an error ------------------------------------------------------------------------------------------------


def run_race(race: Race, effort: MeasuringEffort) -> Iterator[Figure]:
    """What each error costs us, and how many times as much it costs the peer."""
    assembly = race.model()
    shared = mechanism(assembly)
    entries = [our_entry(repr(c), assembly, dt, race.until, c) for c, steps in race.ours for dt in steps]
    absent = ""
    try:
        entries += [peer_entry(PEER, PEERS[PEER][0], shared, dt, race.until) for dt in race.theirs]
    except Skip as reason:
        absent = str(reason)
    points = [p for p in take_points(race.name, entries, exact_ends(shared, race.until), shared, effort) if not p.note]
    scale, unit = (1e6 / len(shared.links), "µs per body") if race.per_body else (1e3, "ms")
    for error, target in race.errors.items():
        name = f"{race.name}: to {error:.0e} m"
        ours, theirs = (first_to(points, error, peer=peer) for peer in (False, True))
        if ours is None:
            yield Figure.skipped(NAME, name, "none of our runs reaches this error.", target)
            continue
        yield Figure.of(NAME, name, unit, ours.cost.scaled(scale), target, f"{ours.method}, {describe(ours)}")
        if theirs is None:
            why = absent or "none of its runs reaches this error."
            yield Figure.skipped(NAME, f"{name}: {PEER}", why, GAIN if absent else None)
            continue
        found = times_as_long(theirs.cost, ours.cost)
        note = f"{scale * theirs.seconds:.3g} {unit}, {describe(theirs)}"
        yield Figure.of(NAME, f"{name}: {PEER}", "× our time", found, GAIN, note)


def first_to(points: Sequence[Point], error: float, *, peer: bool) -> Point | None:
    """The cheapest run that errs no more."""
    found = [point for point in points if point.peer == peer and point.error <= error]
    return min(found, key=lambda point: point.seconds, default=None)


def describe(point: Point) -> str:
    """Its step, and how far off it is."""
    return f"Δt = {1e3 * point.dt:g} ms, {point.error:.1e} m off"


# --- a step ----------------------------------------------------------------------------------------------------------


def cost_of_a_step(effort: MeasuringEffort) -> Iterator[Figure]:
    """By number of bodies, closed to rounding, while the chain falls: long ones crack like whips in the end."""

    def prepare(bodies: int) -> Simulation:
        simulation = Simulation(chain(bodies), STEP, Glued(), record_every=RECORD_EVERY, threads=1)
        simulation.run(STEP)
        return simulation

    def act(simulation: Any) -> None:
        simulation.run(FALL)

    sizes = effort.choose((100, 1000), (100, 1000, 10_000))
    subjects = {str(bodies): Subject(act, partial(prepare, bodies), Simulation.close) for bodies in sizes}
    each = 1e6 / (round(FALL / STEP) - 1)
    costs = {
        int(name): [each * one / int(name) for one in seconds]
        for name, seconds in take_turns(subjects, effort.rounds).items()
    }
    for bodies, values in costs.items():
        yield Figure.of(NAME, f"chain of {bodies:,}, Δt = 1 ms", "µs per body and step", spread(values), COST)
    flat = [max(values) / min(values) for values in zip(*costs.values(), strict=True)]
    yield Figure.of(
        NAME, f"chain: dearest over cheapest, {min(sizes):,} … {max(sizes):,} bodies", "×", spread(flat), FLAT
    )


# --- what is kept ----------------------------------------------------------------------------------------------------


def what_is_kept(effort: MeasuringEffort) -> Iterator[Figure]:
    """Joints and energy of the slider-crank over 5 s, through both of its folds."""
    with Simulation(scenarios.load("slider-crank"), STEP, Glued(order=4)) as simulation:
        run = simulation.run(5.0)
    gap = max(float(np.abs(run.violation(name)).max()) for name in run.joints)
    drift = float(np.abs(run.energy - run.energy[0]).max())
    about = "slider-crank, 5 s, order 4, Δt = 1 ms"
    yield Figure.of(NAME, f"{about}: joints open by at most", "m", spread([gap]), CLOSED)
    yield Figure.of(NAME, f"{about}: energy off by at most", "J", spread([drift]), KEPT)
