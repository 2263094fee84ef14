"""A race against a peer: the hanging chain, the same physics, the same step, in turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from modular.assembly import Assembly
from modular.elements import Array
from scenarios.bench.figures import Figure, Target
from scenarios.bench.harness import Subject, ratio, spread, take_turns
from scenarios.bench.peers.exact import exact_ends
from scenarios.bench.peers.mechanism import mechanism
from scenarios.bench.peers.peer import MakePeer, Peer, check_agreement, ours
from scenarios.bench.stepping import DT, Stepper
from scenarios.bench.suite import Case, MeasuringEffort

AGREEMENT_SECONDS = 0.2  # [s], over which the motions must agree
MAX_CHECKED_RODS = 100  # rods of the chain that is checked; a longer one is put together by the same lines


def race(
    family: str, label: str, model: Callable[[int], Assembly], make: MakePeer, bodies: int, target: Target | None = None
) -> Case:
    """Time of the peer over ours at a step of 1e-4 s; what its start costs is taken off its time."""
    name = f"{label}: {bodies:,} bodies"

    def figures(effort: MeasuringEffort) -> Iterator[Figure]:
        off, we = both_move_it(label, model(min(bodies, MAX_CHECKED_RODS)), make)
        assembly = model(bodies)
        peer = make(mechanism(assembly), DT)
        ticks = fitting(peer, effort.seconds)
        stepper = Stepper.of(assembly).calibrate(effort.seconds)
        subjects = {
            "modular": stepper.subject,
            "peer": Subject(lambda nothing: peer.run(ticks)),
            "start": Subject(lambda nothing: peer.run(1)),
        }
        seconds = take_turns(subjects, effort.rounds)
        cost = stepper.per_body(seconds["modular"])
        net = [a - b for a, b in zip(seconds["peer"], seconds["start"], strict=True)]
        other = [1e6 * value / (ticks - 1) / bodies for value in net]
        found, note = ratio(other, cost), costs(other, cost, off, we)
        yield Figure.of(family, name, "× our time", found, target, note)

    return Case(name, figures, 3 + bodies / 300, target)


def both_move_it(label: str, assembly: Assembly, make: MakePeer) -> tuple[float, float]:
    """Errors of the peer and of ours, as parts of the motion, at the step that is timed."""
    shared = mechanism(assembly)
    truth = exact_ends(shared, AGREEMENT_SECONDS)

    def theirs(dt: float, ticks: int) -> Array:
        peer = make(shared, dt)
        peer.run(ticks)
        return peer.ends()

    off = check_agreement(label, shared, theirs, DT, AGREEMENT_SECONDS, truth)
    we = check_agreement("modular", shared, lambda dt, ticks: ours(assembly, dt, ticks), DT, AGREEMENT_SECONDS, truth)
    return off, we


def costs(other: list[float], cost: list[float], off: float, we: float) -> str:
    """What stands behind a ratio."""
    both = f"{spread(other).median:.3g} against {spread(cost).median:.3g} µs per body and step"
    return f"{both}; off the exact motion by {100 * off:.1g} % and {100 * we:.1g} % of it"


def fitting(peer: Peer, seconds: float) -> int:
    """Steps that take about so long."""
    ticks = 20
    while True:
        started = time.perf_counter()
        peer.run(ticks)
        spent = time.perf_counter() - started
        if spent >= 0.3 * seconds or ticks >= 100_000:
            return max(20, min(100_000, int(ticks * seconds / spent)))
        ticks = min(100_000, max(2 * ticks, int(ticks * 0.5 * seconds / spent)))
