"""A robot arm with three hinges that picks a load up and puts it down elsewhere, all hinges driven along smooth courses.

A column turns about the vertical, an upper arm and a forearm about level axes. At 1.1 s the hand takes the load from its table, by
a joint made while all stands; at 3 s it leaves it on another, 120 degrees further. The reactions of the drives are the torques
that motors would have to give: inverse dynamics without a model of its own. The ledger of a drive says what its motor brings.
"""

from __future__ import annotations

from math import pi

import numpy as np

from components import DrivenRotation, Fixed, Revolute, RigidBody, Smooth
from modular import Assembly, Cut, Join

GROUP = "Driven and controlled"

UPPER, FOREARM = 0.7, 0.6  # [m]


def build(load: float = 4.0, turn: float = 2 * pi / 3) -> Assembly:
    """load: its mass [kg]; turn: of the column between picking and placing [rad]."""
    base, shoulder = (0.0, 0.0, 0.0), (0.0, 0.0, 0.5)
    elbow = (UPPER, 0.0, 0.5)
    hand = (UPPER, 0.0, 0.5 - FOREARM)  # over the load: the forearm hangs down

    arm = Assembly(title="robot arm")
    arm.add("column", body(12.0, 0.1, base, shoulder, ("base", "shoulder")))
    arm.add("upper", body(6.0, 0.05, shoulder, elbow, ("shoulder", "elbow")))
    arm.add("forearm", body(3.0, 0.04, elbow, hand, ("elbow", "hand")))
    box = tuple(np.subtract(hand, (0.0, 0.0, 0.1)))
    foot = tuple(np.subtract(box, (0.0, 0.0, 0.1)))
    arm.add("load", RigidBody(mass=load, inertia=(0.02 * load,) * 3, centre=box, ports={"grip": hand, "foot": foot}))

    upright, level = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)
    arm.join("swivel", Revolute(upright), "ground", "column.base")
    arm.join("shoulder", Revolute(level), "column.shoulder", "upper.shoulder")
    arm.join("elbow", Revolute(level), "upper.elbow", "forearm.elbow")
    arm.join("table", Fixed(), "ground", "load.foot")

    # from over the load it goes back and up, round, and down again; then home, empty
    times = (0.0, 0.5, 1.0, 1.2, 1.7, 2.3, 2.8, 3.2, 4.0)
    swivel = (0.0, 0.2 * turn, 0.0, 0.0, 0.3 * turn, 0.7 * turn, turn, turn, 0.0)
    lift = (0.0, -0.4, 0.0, 0.0, -0.6, -0.6, 0.0, 0.0, 0.0)  # of the shoulder: a negative turn about y raises the arm
    bend = (0.0, 0.3, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0)
    arm.join("turning", DrivenRotation(rests(times, swivel), axis=upright), "ground", "column.base")
    arm.join("lifting", DrivenRotation(rests(times, lift), axis=level), "column.shoulder", "upper.shoulder")
    arm.join("bending", DrivenRotation(rests(times, bend), axis=level), "upper.elbow", "forearm.elbow")

    arm.at(1.1, Cut("table"), Join("grip", Fixed(), "forearm.hand", "load.grip", at=hand))
    arm.at(3.0, Cut("grip"), Join("other-table", Fixed(), "ground", "load.foot"))
    arm.suggested = {"dt": 2e-4, "until": 4.0, "record_every": 10}
    return arm


def rests(times: tuple[float, ...], values: tuple[float, ...]) -> Smooth:
    """A course that stands wherever it has come twice in a row to the same value, and where it turns back."""
    t, x = np.array(times), np.array(values)
    rise = np.diff(x) / np.diff(t)
    rates = np.zeros_like(x)
    going_on = rise[:-1] * rise[1:] > 0.0
    rates[1:-1][going_on] = (0.5 * (rise[:-1] + rise[1:]))[going_on]
    return Smooth(times, values, tuple(rates.tolist()))


def body(
    mass: float, radius: float, start: tuple[float, ...], end: tuple[float, ...], names: tuple[str, str]
) -> RigidBody:
    """A round bar."""
    a, b = np.array(start), np.array(end)
    along = (b - a) / np.linalg.norm(b - a)
    across = mass * (3 * radius**2 + float((b - a) @ (b - a))) / 12
    inertia = across * np.eye(3) + (0.5 * mass * radius**2 - across) * np.outer(along, along)
    return RigidBody(
        mass=mass,
        inertia=tuple(map(tuple, inertia.tolist())),
        centre=tuple((0.5 * (a + b)).tolist()),
        ports=dict(zip(names, (start, end), strict=True)),
    )
