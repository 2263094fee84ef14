"""MuJoCo: the chain as its joint tree, so that joints are exact and the step is semi-implicit Euler.

Contacts, constraints and implicit damping are switched off where the mechanism needs none; whole runs go through one call
of `mj_step`, so no Python stands between the steps. A closed loop is one soft equality constraint, as stiff as its step
allows.
"""

from __future__ import annotations

from math import cos, sin
from typing import Any

import numpy as np

from modular.elements import Array
from scenarios.bench.figures import Target
from scenarios.bench.models import chain
from scenarios.bench.peers.mechanism import Link, Mechanism
from scenarios.bench.peers.peer import Peer, bring
from scenarios.bench.peers.race import race
from scenarios.bench.suite import Case, MeasuringEffort

NAME = "mujoco"
GAINS = {10: Target(2.0, at_least=True), 100: Target(30.0, at_least=True)}
MIN_AXIAL_INERTIA = 1e-9  # [kg m^2], about the axis of a planar rod: it must be something and never matters


def cases(effort: MeasuringEffort) -> list[Case]:
    """Chains of ball joints in space."""
    label = "spatial chain, joint tree, Euler"
    return [race(NAME, label, chain, MuJoCo, bodies, target) for bodies, target in GAINS.items()]


class MuJoCo(Peer):
    """A mechanism in MuJoCo; `integrator` is one of its own: Euler, RK4, implicitfast."""

    def __init__(self, mechanism: Mechanism, dt: float, *, integrator: str = "Euler") -> None:
        self.mujoco = bring("mujoco", "'modular-multibody[peers]'")
        self.mechanism = mechanism
        text = document(mechanism, dt, integrator)
        self.model: Any = self.mujoco.MjModel.from_xml_string(text)
        self.data: Any = self.mujoco.MjData(self.model)

    def run(self, ticks: int) -> None:
        """From the start, so many steps."""
        self.mujoco.mj_resetData(self.model, self.data)
        self.mujoco.mj_step(self.model, self.data, ticks)
        if self.data.time == 0.0:  # it starts anew by itself where it becomes unstable
            raise ArithmeticError("MuJoCo found its motion unstable and started anew.")

    def ends(self) -> Array:
        """Where the ends of all rods are."""
        self.mujoco.mj_forward(self.model, self.data)
        return np.array(self.data.site_xpos)[:, [0, 2]]


# --- the model as MuJoCo reads it ------------------------------------------------------------------------------------


def document(mechanism: Mechanism, dt: float, integrator: str) -> str:
    """The mechanism in the plane of x and z."""
    switch = "enable" if mechanism.slide else "disable"
    flags = f'<flag contact="disable" constraint="{switch}" eulerdamp="disable"/>'
    option = (
        f'<option timestep="{dt!r}" integrator="{integrator}" gravity="0 0 {-mechanism.gravity!r}">{flags}</option>'
    )
    body = closed(mechanism, dt) if mechanism.slide else f"<worldbody>{tree(mechanism)}</worldbody>"
    return f"<mujoco>{option}{body}</mujoco>"


def tree(mechanism: Mechanism) -> str:
    """Each rod inside the one before, at its angle; its end is a site."""
    joint = '<joint type="ball"/>' if mechanism.spatial else '<joint type="hinge" axis="0 -1 0"/>'
    opened, place, angle = [], (*mechanism.links[0].start[:1], 0.0, mechanism.links[0].start[1]), 0.0
    for k, link in enumerate(mechanism.links):
        at = f'name="rod{k}" pos="{place[0]!r} {place[1]!r} {place[2]!r}" {turned(link.angle - angle)}'
        end = f'<site name="end{k}" pos="{link.length!r} 0 0"/>'
        opened.append(f"<body {at}>{joint}{matter(link, link.centre)}{end}")
        place, angle = (link.length, 0.0, 0.0), link.angle
    return "".join(opened) + "</body>" * len(opened)


def closed(mechanism: Mechanism, dt: float) -> str:
    """A crank, and a rod that hangs by its end on a slide; the pin between them is a constraint."""
    crank, rod = mechanism.links
    swing = '<joint type="hinge" axis="0 -1 0"/>'
    first = (
        f'<body name="crank" pos="{crank.start[0]!r} 0 {crank.start[1]!r}" {turned(crank.angle)}>{swing}'
        f'{matter(crank, crank.centre)}<site name="end0" pos="{crank.length!r} 0 0"/></body>'
    )
    # the frame of the rod lies in its end, its start behind; it slides along x of the world
    along = f'<joint type="slide" axis="{cos(rod.angle)!r} 0 {-sin(rod.angle)!r}"/>'
    second = (
        f'<body name="rod" pos="{rod.end[0]!r} 0 {rod.end[1]!r}" {turned(rod.angle)}>{along}{swing}'
        f'{matter(rod, rod.centre - rod.length)}<site name="end1" pos="0 0 0"/></body>'
    )
    pin = (
        f'<connect body1="rod" body2="crank" anchor="{-rod.length!r} 0 0" solref="{2 * dt!r} 1" '
        'solimp="0.9999 0.9999 0.001 0.5 1"/>'
    )
    return f"<worldbody>{first}{second}</worldbody><equality>{pin}</equality>"


def turned(angle: float) -> str:
    """A turn from x towards z, which is one about -y."""
    return f'quat="{cos(angle / 2)!r} 0 {-sin(angle / 2)!r} 0"'


def matter(link: Link, centre: float) -> str:
    """Mass and inertia of a rod along x."""
    axial = link.axial or MIN_AXIAL_INERTIA
    inertia = f"{axial!r} {link.inertia!r} {link.inertia!r}"
    return f'<inertial pos="{centre!r} 0 0" mass="{link.mass!r}" diaginertia="{inertia}"/>'
