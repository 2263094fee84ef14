"""Why a modular run is not the exact motion: its error, split into what its springs, its bodies and its steps contribute.

A modular run T violates the equations of its joints (they are springs) and of its bodies (they drift). Let an otherwise exact
system follow the violations that T recorded: the joints' only (J), the bodies' only (B), both (JB). With the exact motion A:

    compliance of the joints   J - A
    drift inside the bodies    B - A
    time integration           T - JB

Their sum is T - A but for the remainder JB - J - B + A, which is of second order in the violations and is computed too. It
grows where motions are sensitive: there effects do not add up, and nothing can be said of single ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from modular.elements import Array
from modular.errors import CouplingError, ModelError
from scenarios.comparison.running import Share, carry_through
from scenarios.comparison.trace import Positions, ports_of
from scenarios.report.page import magnitude, peak

if TYPE_CHECKING:
    from coordinator.couplings import Penalty
    from coordinator.couplings.centralized.equations import Equations
    from coordinator.record.run import Run
    from coordinator.simulation import Simulation
    from modular.assembly import Assembly

PARTS = ("compliance", "drift", "integration")
NAMES = {
    "compliance": "compliance of the joints",
    "drift": "drift inside the bodies",
    "integration": "time integration",
}
# samples per piece of the curve through the violations: springs ring with periods of four or five
SAMPLES_PER_PIECE = 10
SPLINE_DEGREE = 5  # its second derivative must be smooth too
RTOL, ATOL = 1e-10, 1e-12
ROUNDING_LENGTH = 1e-10  # [m]: remainders below come from rounding and tolerances
INSTANT = 1e-9  # of an interval: times that are one
MAX_REMAINDER_SHARE = 0.1  # of the total: the largest remainder with which a budget is worth its name


@dataclass(frozen=True)
class Budget:
    """Largest distances over all ports [m], over time (n,): of the whole, of each part, and of what is left."""

    times: Array
    total: Array
    compliance: Array
    drift: Array
    integration: Array
    remainder: Array

    @property
    def largest(self) -> dict[str, float]:
        """Of each series, over time [m]."""
        return {name: peak(getattr(self, name)) for name in ("total", *PARTS, "remainder")}

    @property
    def share(self) -> float:
        """The largest remainder, as a share of the largest total."""
        largest = self.largest
        return largest["remainder"] / largest["total"] if largest["total"] > 0.0 else 0.0

    @property
    def holds(self) -> bool:
        """Whether the parts add up."""
        return self.share <= MAX_REMAINDER_SHARE

    @property
    def holds_until(self) -> float:
        """The last time before the remainder exceeds a tenth of the largest total so far [s]."""
        so_far = np.fmax.accumulate(np.nan_to_num(self.total))
        beyond = np.flatnonzero(
            np.nan_to_num(self.remainder) > np.maximum(MAX_REMAINDER_SHARE * so_far, ROUNDING_LENGTH)
        )
        return float(self.times[max(beyond[0] - 1, 0)] if beyond.size else self.times[-1])

    @property
    def sound(self) -> Budget:
        """The stretch over which the parts add up; all of it where they do."""
        if self.holds:
            return self
        kept = self.times <= self.holds_until
        return Budget(*(getattr(self, field.name)[kept] for field in fields(self)))


def budget(
    assembly: Assembly,
    dt: float,
    until: float,
    coupling: Penalty,
    times: Array,
    reference: Positions,
    *,
    run: Run | None = None,
    share: Share = lambda part: None,
) -> Budget:
    """The budget of the run of a penalty coupling at `times` [s], evenly spaced from 0 to `until`.

    reference: positions of all ports then, without error. run: that of the coupling, where it is there already.
    """
    check(assembly)
    samples = len(times) - 1
    interval = until / samples
    if run is None:
        run = carry_through(assembly, dt, coupling, interval, samples, lambda part: None)
    between = run.dt * float(run.ticks[1] - run.ticks[0])
    every = round(interval / between)
    if every < 1 or abs(every * between - interval) > INSTANT * interval:
        raise ModelError(
            f"budget: {samples + 1} times until {until:g} s lie {interval:g} s apart, and samples of the run {between:g} s; the "
            "one must be a whole number of the other: take other times, or another step."
        )
    modular = ports_of(run, every * np.arange(samples + 1))
    recorded: Run = run

    def motion(k: int, of_joints: bool, of_bodies: bool) -> Positions:
        return follow_violations(
            assembly, recorded, times, joints=of_joints, bodies=of_bodies, share=lambda part: share((k + part) / 3.0)
        )

    joints, bodies, both = motion(0, True, False), motion(1, False, True), motion(2, True, True)

    def largest(vector: Callable[[str], Array]) -> Array:
        return np.asarray(np.fmax.reduce([magnitude(vector(port)) for port in reference]))

    exact = reference
    return Budget(
        times=np.asarray(times),
        total=largest(lambda port: modular[port] - exact[port]),
        compliance=largest(lambda port: joints[port] - exact[port]),
        drift=largest(lambda port: bodies[port] - exact[port]),
        integration=largest(lambda port: modular[port] - both[port]),
        remainder=largest(lambda port: both[port] - joints[port] - bodies[port] + exact[port]),
    )


def check(assembly: Assembly) -> None:
    """Refuse models whose events happen at times of their own in each of the motions."""
    own = any(s.condition is not None for s in assembly.schedule)
    own = own or any(edge.breaks_at is not None for edge in assembly.joint_edges.values())
    if own:
        raise ModelError(
            "conditions and breaking joints act at another time in every motion, so their errors do not add up."
        )


# --- motions that follow ---------------------------------------------------------------------------------------------


def follow_violations(
    assembly: Assembly, run: Run, times: Array, *, joints: bool, bodies: bool, share: Share = lambda part: None
) -> Positions:
    """Positions of all ports in the motion whose joints, or bodies, or both, are violated as those of a run are."""
    from coordinator.couplings import Centralized
    from coordinator.couplings.centralized.equations import Equations
    from coordinator.couplings.centralized.solver import NoSolution
    from coordinator.simulation import Simulation
    from scenarios.comparison.following import follow

    ends = sorted({tick for s in assembly.schedule if s.time is not None if (tick := round(s.time / run.dt)) > 0})
    last = int(run.ticks[-1])
    stops = [0, *(tick for tick in ends if tick < last), last]
    try:
        with Simulation(
            assembly, run.dt, Centralized()
        ) as simulation:  # holds state and topology; its solver never steps
            found: Positions = {}
            for first, stop in pairwise(stops):
                simulation.tick = first
                simulation.apply_events()
                equations = Equations(simulation.system)
                asked = _asked(times, run.dt, first, stop)
                law = None
                if joints or bodies:
                    law = recorded_violations(run, equations, first, stop, joints=joints, bodies=bodies)
                states = follow(
                    simulation.system, asked, law, rtol=RTOL, atol=ATOL, show=lambda time: share(time / times[-1])
                )
                _keep(found, simulation, equations, times, asked, states)
    except (NoSolution, CouplingError, ArithmeticError, np.linalg.LinAlgError) as error:
        raise ModelError(f"a motion with the violations of the run could not be followed: {error}") from error
    return {
        port: found.get(port, np.full_like(series, np.nan)) for port, series in ports_of(run, slice(len(times))).items()
    }


def recorded_violations(
    run: Run, equations: Equations, first: int, stop: int, *, joints: bool, bodies: bool
) -> Callable[[float], tuple[Array, Array, Array]]:
    """What a run recorded between two ticks as smooth functions of time: phi, phi', phi'' over all rows.

    At the last tick stands what holds after an event, so it is left out, unless it is the end of the run.
    """
    ends_here = stop == int(run.ticks[-1])
    part = np.flatnonzero((run.ticks >= first) & ((run.ticks <= stop) if ends_here else (run.ticks < stop)))
    time = run.time[part]
    errors, rates = np.zeros((len(part), equations.rows)), np.zeros((len(part), equations.rows))
    if joints:
        for name, rows in equations.rows_of.items():
            width = rows.stop - rows.start
            if run.forms[name]["holonomic"]:
                errors[:, rows] = run.violation(name)[part, :width]
            else:
                rates[:, rows] = run.violation_rate(name)[part, :width]
    if bodies:
        for name, rows in equations.closing.items():
            errors[:, rows] = run.internal_violation(name)[part]
    place = _curve(time, errors)
    phi = (place, place.derivative(1), place.derivative(2))
    if not rates.any():  # no joint that locks velocities only
        return lambda now: (phi[0](now), phi[1](now), phi[2](now))
    speed = _curve(time, rates)
    psi = (speed, speed.derivative(1))
    return lambda now: (phi[0](now), phi[1](now) + psi[0](now), phi[2](now) + psi[1](now))


def _curve(time: Array, values: Array) -> Any:
    """A smooth curve near all values, in the sense of least squares: it follows what is slow and averages what rings."""
    from scipy.interpolate import BSpline, make_lsq_spline  # takes long

    degree = min(SPLINE_DEGREE, len(time) - 1)
    inner = time[SAMPLES_PER_PIECE:-SAMPLES_PER_PIECE:SAMPLES_PER_PIECE]
    knots = np.concatenate([[time[0]] * (degree + 1), inner, [time[-1]] * (degree + 1)])
    if degree < 2:
        return BSpline(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]), np.tile(values[:1], (3, 1)), 2)
    return make_lsq_spline(time, values, knots, k=degree)


def _asked(times: Array, dt: float, first: int, stop: int) -> list[float]:
    """The common times in a stretch, with its two ends."""
    begin, end = first * dt, stop * dt
    close = 1e-9 * dt + 1e-12 * end
    return [begin, *(float(t) for t in times if begin + close < t < end - close), end]


def _keep(
    found: Positions, simulation: Simulation, equations: Equations, times: Array, asked: list[float], states: Any
) -> None:
    """Write down where the ports are at the common times of a stretch; what came before at its start is replaced."""
    nearest = np.abs(np.asarray(asked)[:, None] - times[None, :])
    at = nearest.argmin(axis=1)
    common = nearest.min(axis=1) <= 1e-6 * (times[1] - times[0])
    for series in found.values():
        series[at[common]] = np.nan
    q = np.array([state[0] for state in states])[common]
    v = np.array([state[1] for state in states])[common]
    for name, body in simulation.assembly.bodies.items():
        shape = simulation.body(name).state()["q"].shape[1:]
        place, speed = (x[:, equations.columns[name]].reshape(-1, *shape) for x in (q, v))
        for port in body.port_names:
            position = body.port_motion(port, place, speed, np.zeros_like(place))[0]
            series = found.setdefault(f"{name}.{port}", np.full((len(times), position.shape[-1]), np.nan))
            series[at[common]] = position
