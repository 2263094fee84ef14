"""The hand: a force that holds one body at one point and draws it about. What it does is a line of the ledger, as of any force."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from coordinator.events.grip import grip
from coordinator.simulation import Simulation
from modular.component import find_class, known_packages
from modular.elements import Array
from modular.errors import ModelError
from modular.numbers import number

NAME = "hand"


class Hand:
    """It holds one body at most; what it holds is part of the model."""

    @staticmethod
    def holds(simulation: Simulation) -> str | None:
        """The body that it holds."""
        edge = simulation.assembly.force_edges.get(NAME)
        return None if edge is None else edge.ports[0].body

    def grab(
        self, simulation: Simulation, body: str, between: tuple[str, str], share: float, dt: float | None = None
    ) -> None:
        """Take hold of a body between two of its ports; the grip is made for a step of `dt` [s], or for that of the simulation."""
        model = simulation.assembly
        model.known(body, model.bodies, "body")
        ports = model.bodies[body].port_names
        if not ports:
            raise ModelError(f"body '{body}' has no port at which a force could act; give it one.")
        if NAME in model.joint_edges or NAME in model.bodies:
            raise ModelError(f"'{NAME}' is reserved for the hand; rename the component of that name.")
        first, second = (_place(simulation, body, port) for port in between)
        point = first + number(share, f"hand on '{body}': share", "-") * (second - first)
        stiffness, damping, most = grip(simulation.system, body, point.tolist(), dt or simulation.dt)
        self.release(simulation)
        force = force_of_hands()
        held = force(stiffness=stiffness, damping=damping, most=most, point=tuple(point.tolist()))
        port = next((one for one in between if one in ports), ports[0])  # bodies need not be rigid
        simulation.apply(NAME, held, f"{body}.{port}")

    def drag(self, simulation: Simulation, target: Sequence[float]) -> None:
        """Draw what it holds to a point [m]."""
        if self.holds(simulation) is None:
            raise ModelError("the hand holds nothing; grab a body first.")
        simulation.aim(NAME, target)

    def release(self, simulation: Simulation) -> None:
        """Let go, if it holds anything."""
        if self.holds(simulation) is not None:
            simulation.remove(NAME)


def force_of_hands() -> Any:
    """The force by which a hand holds: a package of components says which one of its own it is."""
    for package in sorted(known_packages()):
        name = getattr(importlib.import_module(package), "HAND", None)
        if name is not None:
            return find_class(name)
    raise ModelError("no component package defines the force of a hand; define in one of them HAND = 'package:Class'.")


def _place(simulation: Simulation, body: str, port: str) -> Array:
    """Where a port is, or the mass centre."""
    if port:
        return simulation.port_motion(f"{body}.{port}")[0]
    stack = simulation.system.body_home[body]
    return simulation.assembly.bodies[body].mass_centre(stack.state()["q"][stack.row[body]])
