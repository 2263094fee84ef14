"""Ports of an exported FMU that are moved from outside: each is joined to a body that is led as the master tells.

The master tells place, velocity and acceleration at the end of a step; on the way there goes the cubic in time that ends so and
begins where the port stands. What the joint exerts is the force that this takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from components import Fixed, LedBody, Revolute, Smooth, Spherical
from components.bodies.posed.quaternions import product
from coordinator import Simulation
from coordinator.events.controlling import Instruments
from modular.assembly import Assembly
from modular.courses import NUMBERS_PER_ROW
from modular.elements import Array
from modular.errors import ModelError
from scenarios.fmi.variables import Port

FAR = 1e-6  # m, rad, m/s and rad/s: how far a port may be told from where it is


def leader(port: Port) -> str:
    """Of the body that leads a port."""
    return f"{port.name.replace('.', '-')}-leader"


def grip(port: Port) -> str:
    """Of the joint between them."""
    return f"{port.name.replace('.', '-')}-grip"


def standing(simulation: Simulation, port: str, turns: bool) -> list[float]:
    """Place, orientation and velocities of a port, in the order of the inputs of one that is moved."""
    observed, d = Instruments(simulation), len(simulation.system.gravity)
    place, velocity, _ = observed.motion(port)
    if not turns:
        return [*place.tolist(), *velocity.tolist()]
    axes = observed.axes(port).T
    spin = np.atleast_1d(
        simulation.assembly.bodies[port.partition(".")[0]].angular_velocity_of(
            port.partition(".")[2], *_state(simulation, port)
        )
    )
    if d == 2:
        turn = [float(np.arctan2(axes[1, 0], axes[0, 0]))]
    else:
        from components.fmi.port import quaternion_of

        turn = quaternion_of(axes).tolist()
    return [*place.tolist(), *turn, *velocity.tolist(), *spin.tolist()]


def _state(simulation: Simulation, port: str) -> tuple[Array, Array]:
    body = port.partition(".")[0]
    stack = simulation.system.body_home[body]
    state, row = stack.state(), stack.row[body]
    return np.asarray(state["q"][row]), np.asarray(state["v"][row])


def hold(model: Assembly | Simulation, port: Port, body: LedBody) -> None:
    """Let a body lead a port from now on."""
    model.add(leader(port), body)
    joint = Fixed() if port.turns else Revolute() if body.dimension == 2 else Spherical()
    model.join(grip(port), joint, f"{leader(port)}.grip", port.name)


class LedPorts:
    """Those of one instance."""

    def __init__(self, ports: Sequence[tuple[int, Port, slice]], dimension: int) -> None:
        """`ports`: the number of each among all, the port, and where its inputs lie."""
        self.ports, self.d = list(ports), dimension
        self.turn = {2: 1, 3: 4}[dimension]
        self._homes: list[tuple[Any, int, Any, int]] = []

    def __len__(self) -> int:
        return len(self.ports)

    def _told(self, port: Port, values: Array) -> tuple[Array, Array]:
        """Place, velocity and acceleration of a port as they are told, and of its angle or quaternion, (3, ...) each."""
        d, w, spin = self.d, self.turn if port.turns else 0, 2 * self.d - 3 if port.turns else 0
        ends = np.cumsum([0, d, w, d, spin, d, spin])
        place, turn, velocity, rate, acceleration, bend = (values[a:b] for a, b in pairwise(ends))
        way = np.array([place, velocity, acceleration])
        if not port.turns:
            return way, np.zeros((3, 0))
        if d == 2:
            return way, np.array([turn, rate, bend])
        p = turn / np.linalg.norm(turn)
        first = 0.5 * product(np.array([0.0, *rate]), p)  # p' = w p / 2
        second = 0.5 * (product(np.array([0.0, *bend]), p) + product(np.array([0.0, *rate]), first))
        return way, np.array([p, first, second])

    def add_to(self, model: Assembly | Simulation, values: Array) -> None:
        """Leaders where the ports are told to be, and what holds the ports to them."""
        for _, port, rows in self.ports:
            way, turn = self._told(port, values[rows])
            turning = _course(turn) if port.turns else None
            hold(model, port, LedBody(way=_course(way), turning=turning, ports={"grip": way[0].tolist()}))

    def check(self, model: Assembly, values: Array) -> None:
        """Refuse to begin where the model does not stand."""
        with Simulation(model, 1e-3, "glued") as simulation:
            for _, port, rows in self.ports:
                now, told = np.array(standing(simulation, port.name, port.turns)), values[rows]
                told = told[: len(now)]
                apart = np.abs(told - now)
                if port.turns and self.d == 3:
                    other = told.copy()
                    other[3:7] *= -1.0  # the same turn
                    apart = np.minimum(apart, np.abs(other - now))
                if apart.max() > FAR:
                    raise ModelError(
                        f"port '{port.name}' is told to begin at {told.tolist()} (place, orientation, velocity, angular velocity), "
                        f"and the model begins at {now.tolist()}; tell it that motion while it is initialised."
                    )

    def take(self, simulation: Simulation) -> None:
        """Move the ports of this one from now on."""
        system = simulation.system
        self._homes = []
        for _, port, _ in self.ports:
            bodies: Any = system.body_home[leader(port)]
            joints: Any = system.joint_home[grip(port)].stack
            self._homes.append((bodies, bodies.row[leader(port)], joints, joints.row[grip(port)]))

    def lead(self, values: Array, start: float, end: float) -> None:
        """From where the ports stand at a time to where they are told to be at another, or let them be there."""
        for (_, port, rows), (bodies, row, _, _) in zip(self.ports, self._homes, strict=True):
            way, turn = self._told(port, values[rows])
            d = self.d
            now = bodies.q[row]
            bodies.way_head[row, 0] = bodies.turn_head[row, 0] = 1.0
            bodies.way_head[row, 1:] = 0.0
            bodies.way[row, : 1 + NUMBERS_PER_ROW * d] = _piece(way, now[:d], start, end)
            if port.turns:
                if d == 3 and now[3:7] @ turn[0] < 0.0:
                    turn = -turn
                first = now[d:] + (bodies.turn_head[row, 1:] if d == 2 else 0.0)
                bodies.turn[row, : 1 + NUMBERS_PER_ROW * self.turn] = _piece(turn, first, start, end)

    def place(self, simulation: Simulation) -> None:
        """Stand where they are told to be now."""
        for (_, port, _), (bodies, _, _, _) in zip(self.ports, self._homes, strict=True):
            bodies.place_on_course(leader(port), simulation.system.elements)

    def wrench(self, number: int, simulation: Simulation) -> Array:
        """Force and moment on a port."""
        at = [k for k, _, _ in self.ports].index(number)
        _, _, joints, row = self._homes[at]
        port = self.ports[at][1]
        return np.asarray(
            joints.wrenches(simulation.system.elements)[row][: self.d + (2 * self.d - 3 if port.turns else 0)].copy()
        )


def _course(motion: Array) -> Smooth:
    """One that begins so, with no change of its acceleration."""
    x, v, a = motion
    return Smooth((0.0, 1.0), (x.tolist(), (x + v + 0.5 * a).tolist()), (v.tolist(), (v + a).tolist()))


def _piece(motion: Array, before: Array, start: float, end: float) -> Array:
    """x + v s + a s^2 / 2 + c s^3 with s = t - end, through where it stood at the start."""
    x, v, a = motion
    h = start - end
    jerk = (before - (x + v * h + 0.5 * a * h * h)) / h**3 if h else np.zeros(len(x))
    rows = np.zeros((len(x), NUMBERS_PER_ROW))
    rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3] = x, v, 0.5 * a, jerk
    return np.concatenate([[end], rows.ravel()])
