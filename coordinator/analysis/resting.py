"""A model that rests: where it stands, or where it would come to rest from there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from coordinator.analysis.equilibrium import come_to_rest, put_up
from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.solver import State, settled
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError

REST_TOLERANCE = 1e-6  # accelerations at rest, as a share of those of free bodies under the same forces
ROUNDING = 1e-15  # of the extent, by which places may be off
STILL = 1e-9  # [m/s]


@dataclass(frozen=True)
class Rest:
    """A model as it was given, and its equations, which stand where it rests."""

    model: Assembly
    equations: Equations
    state: State
    start: Array  # coordinates where it was put
    steps: int  # in which it came to rest from there


@contextmanager
def at_rest(model: Assembly, *, seek: bool) -> Iterator[Rest]:
    """What does not rest is refused by the body that moves or would begin to; `seek`: it is let down first."""
    with put_up(model) as equations:
        yield resting(equations, model, seek=seek)


def resting(equations: Equations, model: Assembly, *, seek: bool) -> Rest:
    """The same of equations that stand somewhere already."""
    start, v = equations.read()
    _refuse_motion(equations, v)
    steps = come_to_rest(equations) if seek else 0
    state = settled(equations, 0.0, *equations.read())
    _refuse_acceleration(equations, state.a)
    return Rest(model, equations, state, start, steps)


def _refuse_motion(equations: Equations, v: Array) -> None:
    """What moves does not rest."""
    name, speed = _largest(equations, v)
    if speed > STILL:
        raise ModelError(
            f"body '{name}' moves ({speed:.3g} m/s), and vibrations are those about a place where a model rests; leave "
            "velocities, angular velocities and courses that move out, or ask for those about a motion that goes on: steady=True."
        )


def _refuse_acceleration(equations: Equations, a: Array) -> None:
    """Nor does what would begin to."""
    name, size = _largest(equations, a)
    drive = np.abs(equations.inverse_mass @ equations.forces(0.0)).max(initial=0.0)
    if size > REST_TOLERANCE * max(float(drive), 1e-300) and size > _of_rounding(equations, a):
        remedy = (
            "what follows courses has to rest too: hold its driven joints and led bodies where they are"
            if equations.driven
            else "put the model where its forces balance, or let that place be found: seek=True"
        )
        raise ModelError(
            f"body '{name}' does not rest where it stands: let go, it would accelerate by {size:.3g} m/s^2; {remedy}."
        )


def _of_rounding(equations: Equations, a: Array) -> float:
    """What places that are off by their last digits make of accelerations: much where something is stiff. Leaves all as it was."""
    q, v = equations.read()
    off = ROUNDING * equations.extent * np.sin(1.0 + np.arange(len(q)))
    moved = settled(equations, 0.0, q + off, v).a - a
    equations.go(q, v)
    return float(np.abs(moved).max(initial=0.0))


def _largest(equations: Equations, numbers: Array) -> tuple[str, float]:
    """The body with the largest of some numbers, and that."""
    sizes = {name: float(np.abs(numbers[own]).max(initial=0.0)) for name, own in equations.columns.items()}
    name = max(sizes, key=lambda body: sizes[body], default="")
    return name, sizes.get(name, 0.0)
