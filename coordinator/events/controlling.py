"""Between two ticks: what instruments show, and the forces that decide by it what they do until they are asked again."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from coordinator.events.context import EventContext
from modular.elements import Array
from modular.errors import ModelError
from modular.force import Commands, Decides
from modular.names import missing
from modular.port import GROUND, PortName

DIFFERENCE_ANGLE = 1e-5  # how far one looks along the motion for the rates of axes, times a radian


class Instruments:
    """What there is to see of a simulation (`modular.force.Observation`)."""

    def __init__(self, simulation: EventContext) -> None:
        self._simulation, self._system = simulation, simulation.system

    @property
    def gravity(self) -> Array:
        """[m/s^2]."""
        return np.asarray(self._system.gravity, float)

    def _state(self, port: PortName) -> tuple[Any, Array, Array, Array]:
        system = self._system
        if port.body not in system.body_home:
            raise ModelError(missing("body", port.body, list(system.body_home), "sensor"))
        stack, body = system.body_home[port.body], system.described[port.body]
        if port.port not in body.port_names:
            raise ModelError(missing(f"port of body '{port.body}'", port.port, body.port_names, "sensor"))
        row, state = stack.row[port.body], stack.state()
        return body, state["q"][row].copy(), state["v"][row].copy(), state["a"][row].copy()

    def motion(self, port: str) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of a port; the ground is at the origin."""
        name, d = PortName.parse(port, "sensor"), len(self.gravity)
        if name.body == GROUND:
            return np.zeros(d), np.zeros(d), np.zeros(d)
        body, q, v, a = self._state(name)
        x, dx, ddx = body.port_motion(name.port, q, v, a)
        return x, dx, ddx

    def axes(self, port: str) -> Array:
        """Axes of a port in the world as rows."""
        name = PortName.parse(port, "sensor")
        if name.body == GROUND:
            return np.eye(len(self.gravity))
        body, q, _, _ = self._state(name)
        return np.asarray(body.port_axes(name.port, q))

    def output(self, body: str, name: str) -> float:
        """A variable that a body shows beside its motion."""
        system = self._system
        if body not in system.body_home:
            raise ModelError(missing("body", body, list(system.body_home), "sensor"))
        described: Any = system.described[body]
        known = list(getattr(described, "outputs", ()))
        if name not in known:
            raise ModelError(
                f"sensor: body '{body}' shows no variable '{name}'; "
                + (f"it has {', '.join(known)}." if known else "name it in the outputs=[…] of an Fmu.")
            )
        stack = system.body_home[body]
        return float(described.output(name, stack.state()["q"][stack.row[body]].copy()))

    def spin(self, port: str) -> Array:
        """Angular velocity of a port in the world [rad/s]: three numbers, or one in the plane."""
        name, d = PortName.parse(port, "sensor"), len(self.gravity)
        if name.body == GROUND:
            return np.zeros(2 * d - 3)
        body, q, v, _ = self._state(name)
        size = float(np.abs(v).max())
        h = DIFFERENCE_ANGLE / size if size > 0.0 else 1.0
        behind, now, ahead = body.port_axes(name.port, np.stack([q - h * v, q, q + h * v]))
        rate = (ahead - behind).T / (2.0 * h) @ now  # w x
        if d == 2:
            return np.array([0.5 * (rate[1, 0] - rate[0, 1])])
        return 0.5 * np.array([rate[2, 1] - rate[1, 2], rate[0, 2] - rate[2, 0], rate[1, 0] - rate[0, 1]])

    def force(self, name: str) -> tuple[Array, Array]:
        """Force of a joint or force on its last side in the last tick [N], and the way there from its first [m]; of one that has
        gone, nothing."""
        system, elements = self._system, self._system.elements
        if name in system.joint_home:
            starts: Any = system.joint_home[name].starts
        elif name in system.force_home:
            starts = system.force_home[name].starts
        elif name in system.closed:  # it was cut, or has gone
            return np.zeros(elements.dimension), np.zeros(elements.dimension)
        else:
            raise ModelError(missing("joint or force", name, [*system.joint_home, *system.force_home], "sensor"))
        last = starts[min(1, len(starts) - 1)]
        return elements.force[last].copy(), elements.position[last] - elements.position[starts[0]]


def consult(simulation: EventContext) -> None:
    """Ask those that are due; the bodies on which they act settle under what they have decided.

    Everybody sees the mechanism as the last tick has left it. Accelerations are state with a memory: after a jump of a force a
    stale one would be half a tick late.
    """
    tick, dt = simulation.tick, simulation.dt
    if not any(stack.due(tick, dt) for stack in _deciding(simulation)):
        return
    system = simulation.system  # taken back from the workers, where they have it
    due = [(stack, name) for stack in _deciding(simulation) for name in stack.due(tick, dt)]
    observation, time = Instruments(simulation), system.time(dt)
    for stack, name in due:
        stack.decide(name, tick, time, observation)
    commands: dict[tuple[str, str], str] = {}  # inputs of bodies, and who tells them
    for stack in _deciding(simulation):
        if not isinstance(stack, Commands):
            continue
        for name in stack.names:
            body, (variable, value) = system.force_home[name].owners[0], stack.commanded(name)
            if (other := commands.setdefault((body, variable), name)) != name:
                raise ModelError(
                    f"commands '{other}' and '{name}' both set the input '{variable}' of '{body}'; leave one of them out."
                )
            if (stack, name) in due:
                _command(system, name, body, variable, value)
    touched = dict.fromkeys(owner for _, name in due for owner in system.force_home[name].owners)
    simulation.coupling.settle(system, dt, list(touched))


def _command(system: Any, name: str, body: str, variable: str, value: float) -> None:
    """What was decided goes into an input of the body on which it was put."""
    command = getattr(system.body_home.get(body), "command", None)
    if command is None:
        raise ModelError(
            f"command '{name}': body '{body}' has no input '{variable}'; put it on a port of an Fmu, or of a black box that is one."
        )
    command(body, variable, value)


def next_look(simulation: EventContext) -> int | None:
    """The first tick after this one before which somebody is to be asked; None where nobody is there to be asked."""
    return min((stack.next_due(simulation.tick, simulation.dt) for stack in _deciding(simulation)), default=None)


def sensors_of(simulation: EventContext) -> list[tuple[str, Any]]:
    """What the forces that decide read, by their names."""
    edges = simulation.assembly.force_edges
    return [(name, getattr(edges[name].force, "inputs", {})) for stack in _deciding(simulation) for name in stack.names]


def _deciding(simulation: EventContext) -> list[Decides]:
    """Stacks of forces that decide; asked at every step, so one look at each has to do."""
    return [cast(Decides, stack) for stack in simulation.local_system.forces if hasattr(stack, "decide")]
