"""Stepping explicit equations y' = f(t, y): the classical Runge-Kutta method, or any method of scipy.

The fastest motion that springs and elastic bodies make, held against what an explicit method can follow in a step.

From the linearised equations of the free coordinates, M s'' + D s' + K s = 0. The classical Runge-Kutta method multiplies a motion
e^(z t / h) by R(z) = 1 + z + z^2/2 + z^3/6 + z^4/24 in a step h; what swings undamped grows beyond |z| = 2.83 (E. Hairer,
G. Wanner, "Solving Ordinary Differential Equations II", IV.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.freedoms import Freedoms
from coordinator.couplings.centralized.solver import NoSolution, Solver, finite
from coordinator.couplings.centralized.tangents import force_tangents
from modular.elements import Array
from modular.errors import ModelError
from modular.numbers import number

ADAPTIVE = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
METHODS = ("RK4", *ADAPTIVE)
MAX_EVALUATIONS_PER_TICK = 20_000  # evaluations in one tick


class Explicit(Solver):
    """One that steps explicit equations."""

    @property
    def meets_corners(self) -> bool:
        """`integrate` does."""
        return True


def check_method(owner: str, method: str, rtol: float, atol: float, methods: tuple[str, ...] = METHODS) -> None:
    """Refuse what nobody knows."""
    if method not in methods:
        raise ModelError(f"{owner}: method = {method!r} is unknown; give one of {', '.join(methods)}.")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if number(value, f"{owner}: {name}", "-") <= 0.0:
            raise ModelError(f"{owner}: {name} = {value!r}; give a positive tolerance, such as 1e-9.")


def integrate(
    rates: Callable[[float, Array], Array], time: float, y: Array, h: float, method: str, rtol: float, atol: float,
    memory: dict[str, Any], corners: Sequence[float] = (),
) -> Array:  # fmt: skip
    """y at time + h. `corners`: times in between at which something bends; no method goes over one of them in a step."""
    calls = 0

    def counted(t: float, x: Array) -> Array:
        nonlocal calls
        calls += 1
        if calls > MAX_EVALUATIONS_PER_TICK:
            raise NoSolution(
                f"{method} needed more than {MAX_EVALUATIONS_PER_TICK} evaluations for one tick at {t:.9g} s"
            )
        return rates(t, x)

    for start, end in pairwise((time, *corners, time + h)):
        if method == "RK4":
            y = _runge_kutta(rates, start, y, h if not corners else end - start)
        else:
            y = _adaptive(counted, start, end, y, method, rtol, atol, memory)
        finite(y)
    return y


def _runge_kutta(rates: Callable[[float, Array], Array], time: float, y: Array, h: float) -> Array:
    """Séguy 2003, (II.42), (II.43)."""
    k1 = rates(time, y)
    k2 = rates(time + 0.5 * h, y + 0.5 * h * k1)
    k3 = rates(time + 0.5 * h, y + 0.5 * h * k2)
    k4 = rates(time + h, y + h * k3)
    return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def _adaptive(
    rates: Callable[[float, Array], Array], time: float, end: float, y: Array, method: str, rtol: float, atol: float,
    memory: dict[str, Any],
) -> Array:  # fmt: skip
    """In as many steps as a method of scipy takes."""
    from scipy.integrate import solve_ivp  # an eighth of a second, for those who want it

    # as the interval is rounded, not h: a first step longer than the interval by one bit is refused
    first = {"first_step": min(end - time, memory["step"])} if "step" in memory and method != "LSODA" else {}
    part = solve_ivp(rates, (time, end), y, method=method, rtol=max(rtol, 3e-14), atol=atol, **first)
    if not part.success:
        raise NoSolution(f"{method} stopped: {part.message}")
    if len(part.t) > 2:
        memory["step"] = float(np.diff(part.t).max())
    return np.asarray(part.y[:, -1])


RESOLVED_RADIUS = 2.5  # |z| below which R(z) is not looked at: what grows there grows by itself
RK4_STABILITY_RADIUS = 2.8  # |z| that RK4 can follow, swinging or damped


@dataclass(frozen=True)
class Fastest:
    """The motion of the largest eigenvalue."""

    body: str  # that it moves most
    rate: float  # |eigenvalue| [rad/s]
    followed: bool  # whether RK4 can follow all motions in the step that was asked for

    def describe(self, h: float) -> str:
        """Against a step, as a sentence goes on."""
        return (
            f"body '{self.body}' swings or decays at {self.rate:.3g} rad/s, {self.rate * h:.3g} in a step of {h:.3g} s"
        )

    @property
    def step(self) -> float:
        """That RK4 could follow, with a little to spare [s]."""
        return 0.7 * RK4_STABILITY_RADIUS / self.rate


def find_fastest(equations: Equations, freedoms: Freedoms, time: float, h: float) -> Fastest | None:
    """Where the system stands; None where nothing is elastic or damped."""
    if not len(equations.force_rows) and not any(getattr(stack, "elastic", False) for stack in equations.stacks):
        return None
    basis, n = freedoms.basis, freedoms.number
    if n == 0:
        return None
    stiffness, damping = (basis.T @ (matrix @ basis) for matrix in force_tangents(equations, time))
    mass = basis.T @ (equations.mass @ basis)
    if not (np.isfinite(stiffness).all() and np.isfinite(damping).all()):
        return None
    first = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(mass, np.hstack([stiffness, damping]))]])
    values, vectors = np.linalg.eig(first)
    largest = int(np.argmax(np.abs(values)))
    z = h * values
    grows = np.abs(1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0)))) > 1.0
    moved = np.abs(basis @ vectors[:n, largest])
    return Fastest(
        body=_most_energy(equations, moved),
        rate=float(np.abs(values[largest])),
        followed=not bool((grows & (np.abs(z) > RESOLVED_RADIUS)).any()),
    )


def _most_energy(equations: Equations, moved: Array) -> str:
    """The body with most of the kinetic energy of a motion."""
    weight = moved * (equations.mass @ moved)
    return max(equations.columns, key=lambda name: float(np.abs(weight[equations.columns[name]]).sum()))
