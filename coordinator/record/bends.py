"""How fast one body goes, and how much its paths bend where that errs: a step takes them for straight."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coordinator.record.ever import Flags
from modular.body import Body
from modular.elements import Array
from modular.errors import ModelError

PORTS = 4  # of a body that are looked at
FREE_FALL_TOLERANCE = 1e-6  # of what acts: a mass centre that departs from free fall by no more flies, and errs nowhere


class Bends(NamedTuple):
    """The largest of any port at some samples, (samples,)."""

    speed: Array  # [m/s]
    bending: Array  # the speed on paths that bend [m/s]: of what flies freely about its mass centre
    bend: Array  # the acceleration that errs [m/s^2]: of what flies freely about its mass centre, but for what turns steadily
    twist: Array  # the square of how fast a body turns in space where that errs [1/s^2]
    places: list[Array]  # of its ports [m], (samples, d) each


class Flown(NamedTuple):
    """Velocity and acceleration of a mass centre where nothing but weight acts on a body, and else none, (samples, d)."""

    velocity: Array
    acceleration: Array
    flies: Flags


def bends_of(body: Body, q: Array, v: Array, a: Array, gravity: Array, *, at_once: bool) -> Bends:
    """Of one body; `at_once`: under joints that hold at once, where a free turn about an axis is followed exactly in space too.

    Under springs what turns freely errs by how its turn changes, and by the moment of gyros, which is that of a tick.
    """
    motions = [body.port_motion(port, q, v, a) for port in body.port_names[:PORTS]]
    largest = max((float(lengths(acceleration).max()) for *_, acceleration in motions), default=0.0)
    flown, beside = _flown(body, q, v, a, gravity, largest), body.off_axis(q, v)
    spin = _spin(body, q, v, wanted=body.dimension == 3 or beside is not None)
    steady = flown.flies & (beside is not None)
    exact = steady & (at_once or body.dimension == 2)
    pace = lengths(spin) if beside is None else np.where(exact, beside, lengths(spin))
    speed, bending, bend, most = np.zeros((4, len(q)))
    for _, velocity, acceleration in motions:
        along = velocity - flown.velocity
        bent = acceleration - flown.acceleration - steady[:, None] * _turned(spin, along)
        twist = pace**2 * (lengths(along) > 0.0) * (body.dimension == 3)
        speed, bending = np.maximum(speed, lengths(velocity)), np.maximum(bending, lengths(along))
        bend, most = np.maximum(bend, lengths(bent) * ~exact), np.maximum(most, twist)
    return Bends(speed, bending, bend, most, [place for place, *_ in motions])


def lengths(vectors: Array) -> Array:
    """Of each of them, (...,)."""
    length: Array = np.sqrt(np.square(vectors).sum(axis=-1))
    return length


def _flown(body: Body, q: Array, v: Array, a: Array, gravity: Array, largest: float) -> Flown:
    """`largest`: acceleration of a port [m/s^2]."""
    velocity, acceleration = (body.momentum(q, rates) / body.total_mass for rates in (v, a))
    falls = lengths(acceleration - gravity) <= FREE_FALL_TOLERANCE * (float(lengths(gravity)) + largest)
    return Flown(velocity * falls[:, None], acceleration * falls[:, None], falls)


def _spin(body: Body, q: Array, v: Array, *, wanted: bool) -> Array:
    """How a body turns [rad/s], (samples, 1 or 3), where that is wanted: in space it bends paths though no port goes round."""
    none = np.zeros((len(q), 2 * body.dimension - 3))
    if not wanted or not body.port_names:
        return none
    try:
        return np.nan_to_num(np.reshape(body.angular_velocity_of(body.port_names[0], q, v), none.shape))
    except ModelError:  # a kind that tells of no axes
        return none


def _turned(spin: Array, velocity: Array) -> Array:
    """The acceleration of what goes round with such a velocity while the spin stays."""
    if spin.shape[-1] == 1:
        return np.asarray(spin * velocity[:, ::-1] * np.array([-1.0, 1.0]))
    return np.asarray(np.cross(spin, velocity))
