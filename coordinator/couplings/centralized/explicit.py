"""Stepping explicit equations y' = f(t, y): the classical Runge-Kutta method, or any method of scipy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from coordinator.couplings.centralized.solver import NoSolution, Solver, finite
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
