"""Ports of FMUs of which a part is told motion and a part forces, as vectors over all of them: place in and force out along some
axes, force in and place out along the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from components.fmi.fmu_system import FmuSystem
from components.fmi.moved_port import MotionMap
from components.fmi.port import PortMap, PowerPort
from modular.elements import Array
from modular.errors import ModelError

Indices = list[int]


class MixedMap:
    """Motions of some entries of all twists in and their forces out; forces on the others in and their motions out."""

    def __init__(self, fmus: FmuSystem, ports: Sequence[PowerPort], what: str) -> None:
        self.fmus, self.ports = fmus, ports
        self.d = ports[0].dimension
        self.width, self.pose_width = (3, 3) if self.d == 2 else (6, 7)
        self.count = len(ports)
        halves = [halves_of(port, fmus, what) for port in ports]
        self.moved = MotionMap(fmus, [moved for moved, _, _ in halves], what)
        self.forced = PortMap(fmus, [forced for _, forced, _ in halves], what)
        self.moved_rows: Indices = []  # entries of all twists
        self._led: Array = np.zeros((self.count, self.pose_width), bool)  # coordinates of all poses that are told
        for k, (_, _, which) in enumerate(halves):
            self._led[k, : self.d], self._led[k, self.d :] = which[: self.d], which[self.d]
            turning = range(self.d, self.width) if ports[k].turns and which[self.d] else ()
            self.moved_rows += [k * self.width + c for c in (*(c for c in range(self.d) if which[c]), *turning)]
        self.forced_rows: Indices = self.forced.inputs_at
        self._twists: Array = np.zeros(self.count * self.width, bool)
        self._twists[self.moved_rows] = True
        self.told = self._led, self._twists
        self.accelerates = self.forced.accelerates

    def begin(self, parameters: Mapping[str, Any]) -> tuple[Array, Array]:
        """Poses and twists with which what is told begins."""
        return self.moved.begin(parameters)

    def inputs(self, pose: Array, twist: Array, slope: Array, force: Array) -> list[tuple[Any, Array]]:
        """All that it is told at the beginning."""
        return [
            (self.moved.inputs, self.moved.values(pose, twist, slope)),
            (self.forced.inputs, force[self.forced.inputs_at]),
        ]

    def tell(self, pose: Array, twist: Array, slope: Array, start: Array, end: Array, h: float) -> None:
        """The motion at the end of the step, and forces at both ends."""
        self.moved.tell(pose, twist, slope)
        self.forced.tell(start, end, h)

    def merged(self, pose: Array, twist: Array) -> tuple[Array, Array, Array]:
        """Poses and twists as they were told, and as they are shown elsewhere; rates that are shown, nothing where told."""
        shown, rates, slope = self.forced.read()
        return (
            np.where(self._led, pose, shown),
            np.where(self._twists, twist, rates),
            np.where(self._twists, 0.0, slope),
        )

    def read(self) -> Array:
        """Forces that the motions take."""
        return self.moved.read()


def halves_of(port: PowerPort, fmus: FmuSystem, what: str) -> tuple[PowerPort, PowerPort, list[bool]]:
    """What is told motion of a port and what is told forces, and which axes and turns are told motion."""
    d = port.dimension

    def told(names: Sequence[Any]) -> bool:
        return any(isinstance(name, str) and fmus.variable(name, what).causality == "input" for name in names)

    along = [[*port.position[c : c + 1], *port.velocity[c : c + 1], *port.acceleration[c : c + 1]] for c in range(d)]
    turns = [*port.orientation, *port.angular_velocity, *port.angular_acceleration]
    which = [*map(told, along), told(turns)]
    forces = [*(port.force[c : c + 1] for c in range(d)), port.moment]
    for c, (led, names) in enumerate(zip(which, forces, strict=True)):
        if led and told(names):
            where = "its turns" if c == d else f"axis {'xyz'[c]}"
            raise ModelError(
                f"{what}: along {where} of a port both its motion and {names[0]!r} are inputs; one of them has to be shown by the "
                "FMU."
            )

    def kept(names: Sequence[Any], led: bool) -> tuple[Any, ...]:
        return tuple(name if which[c] == led else None for c, name in enumerate(names))

    def half(led: bool) -> PowerPort:
        turning = {} if which[d] == led else dict.fromkeys(TURNING, ())
        given = {name: kept(getattr(port, name), led) for name in ("position", "velocity", "force", "acceleration")}
        rates = kept(port.force_rate, led) if not led else ()
        whole: dict[str, Any] = {**given, "force_rate": rates, **turning}
        if not led and all(which[: d + (1 if port.turns else 0)]):
            whole["acceleration"] = (None,) * d  # nothing of it is to be shown
        return replace(port, **whole)

    return half(True), half(False), which


TURNING = ("orientation", "angular_velocity", "moment", "angular_acceleration", "moment_rate")
