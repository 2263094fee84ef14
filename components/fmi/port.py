"""Mechanical power ports of FMUs: which variables are place and motion, and which are force and moment.

Force in, motion out: the FMU is told forces and shows how its port moves. Motion in, force out: it is told how its port moves and
shows the force that this takes (moved_port.py). Which of the two a port is, its variables say: its force is made of inputs, or its
motion is. All in the axes of the world, in SI units or in units that the FMU declares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from components.bodies.posed.quaternions import crossed, product
from components.fmi.fmu_system import FmuSystem
from components.fmi.units import counts_turns
from modular.component import Component
from modular.elements import Array, Indices
from modular.errors import ModelError

Names = Sequence[str | float | None]
Rows = tuple[list[int], list[int]]  # places among what was asked for, and where they go
UNITS = {  # exponents of kg, m, s that a declared unit must have
    "position": (0, 1, 0), "velocity": (0, 1, -1), "acceleration": (0, 1, -2), "angular_velocity": (0, 0, -1),
    "angular_acceleration": (0, 0, -2), "force": (1, 1, -2), "moment": (1, 2, -2), "force_rate": (1, 1, -3),
    "moment_rate": (1, 2, -3),
}  # fmt: skip
FAR_FROM_ONE = 1e-2  # by how much what an FMU shows may miss a rotation, for its rounding and its integrator
NO_PORT = (
    "parameter",
    "calculatedParameter",
    "structuralParameter",
    "independent",
)  # causalities of what is neither told nor shown
AXES = {2: ("x", "y"), 3: ("x", "y", "z")}


@dataclass(frozen=True)
class PowerPort(Component):
    """A port by the names of variables, one per axis; a number is a place that does not change, None a direction that is locked.

    position, velocity [m, m/s] and force [N] on the port: two in the plane, three in space. orientation: nothing (a point), an
    angle in the plane, in space a unit quaternion (w, x, y, z), the nine numbers of a rotation matrix by rows, or roll, pitch and
    yaw [rad], turned about x, y and z of the world one after the other; angular_velocity [rad/s] and moment [N m] about the place
    of the port, one or three. Where the FMU has them: acceleration and angular_acceleration, with which the port is predicted;
    force_rate and moment_rate, how forces change in a step (else they are held in it).

    Where motion goes in and force comes out: None is not told (a force of None is none). exerts: the force shown is what the FMU
    exerts on what moves it, and not what is exerted on it. start: where the port stands at time 0, with orientation as an angle
    or a quaternion; left out, where the inputs begin. mass [kg], inertia [kg m2] (one number, or three about the axes of the
    port): of what carries the port, which the FMU does not know of; an FMU that has no inertia of its own needs it.
    """

    position: Names
    velocity: Names
    force: Names
    orientation: Names = field(kw_only=True, default=())
    angular_velocity: Names = field(kw_only=True, default=())
    moment: Names = field(kw_only=True, default=())
    acceleration: Names = field(kw_only=True, default=())
    angular_acceleration: Names = field(kw_only=True, default=())
    force_rate: Names = field(kw_only=True, default=())
    moment_rate: Names = field(kw_only=True, default=())
    exerts: bool = field(kw_only=True, default=False)
    start: Sequence[float] = field(kw_only=True, default=())
    mass: float = field(kw_only=True, default=0.0)
    inertia: float | Sequence[float] = field(kw_only=True, default=0.0)

    @classmethod
    def called(cls, name: str, fmus: FmuSystem, dimension: int) -> Self:
        """The port whose variables are called as `modular export-fmu` calls them: name.position.x, name.force.x, ...

        Where the FMU describes a terminal of that name (FMI 3, 2.4.9; FMI 2 files may hold the same), they are its members
        position.x, force.x, ..., whatever they are called.
        """
        terminal, axes = fmus.terminal(name), AXES[dimension]
        name = structured(name)
        found: dict[str, Names] = {}

        def take(what: str, members: Sequence[str]) -> None:
            names = [terminal.get(member, f"{name}.{member}") for member in members]
            if all(map(fmus.has, names)):
                found[what] = names

        for what in ("position", "velocity", "force", "acceleration", "force_rate"):
            take(what, [f"{what}.{axis}" for axis in axes])
        turning = [""] if dimension == 2 else [f".{axis}" for axis in axes]
        for what in ("angular_velocity", "moment", "angular_acceleration", "moment_rate"):
            take(what, [f"{what}{axis}" for axis in turning])
        take("orientation", ["angle"] if dimension == 2 else [f"orientation.{axis}" for axis in "wxyz"])
        if missing := [what for what in ("position", "velocity", "force") if what not in found]:
            raise ModelError(
                f"port '{name}': the FMU has no variables '{name}.{missing[0]}.x', … and no such terminal; give a "
                "PowerPort(position=[…], velocity=[…], force=[…]) with the names that it has."
            )
        given: dict[str, Any] = {**found}
        return cls(**given)

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return len(self.position)

    @property
    def turns(self) -> bool:
        """Whether it has an orientation."""
        return len(self.orientation) > 0

    def problems(self, owner: str) -> list[str]:
        """Numbers of names that do not fit."""
        d = self.dimension
        if d not in (2, 3):
            return [f"{owner}: position = {list(self.position)}; give two variables in the plane, three in space."]
        turning = (2 * d - 3,)
        wanted: dict[str, tuple[int, ...]] = {
            "velocity": (d,), "force": (d,), "acceleration": (0, d), "force_rate": (0, d),
            "orientation": (0, 1) if d == 2 else (0, 3, 4, 9),
            "start": (0, d, d + 1 if d == 2 else d + 4),
        }  # fmt: skip
        for what in ("angular_velocity", "moment"):
            wanted[what] = turning if self.turns else (0,)
        for what in ("angular_acceleration", "moment_rate"):
            wanted[what] = (0, *turning) if self.turns else (0,)
        found = []
        for what, counts in wanted.items():
            given = len(getattr(self, what))
            if given not in counts:
                words = " or ".join(map(str, counts))
                found.append(
                    f"{owner}: {what} names {given} variables; give {words} (in {'plane' if d == 2 else 'space'})."
                )
        if self.force_rate and self.turns and not self.moment_rate:
            found.append(f"{owner}: force_rate without moment_rate; give both or neither.")
        for axis, place, speed in zip("xyz", self.position, self.velocity):
            if isinstance(speed, str) and isinstance(place, int | float):
                found.append(
                    f"{owner}: position {place!r} stays along {axis}, and velocity '{speed}' does not; give None for it."
                )
        inertia = np.atleast_1d(np.asarray(self.inertia, float))
        if not (np.isfinite(self.mass) and self.mass >= 0.0):
            found.append(f"{owner}: mass = {self.mass!r}; give a mass in kg, 0 or more.")
        if len(inertia) not in (1, 3) or not (np.isfinite(inertia).all() and (inertia >= 0.0).all()):
            found.append(
                f"{owner}: inertia = {self.inertia!r}; give one number or, in space, three, 0 or more [kg m2]."
            )
        return found

    def is_moved(self, fmus: FmuSystem) -> bool:
        """Whether motion goes in: it has an input for its place, its velocity or its acceleration."""
        names = (*self.position, *self.orientation, *self.velocity, *self.acceleration)
        told = [name for name in (*names, *self.angular_velocity) if isinstance(name, str) and fmus.has(name)]
        return any(fmus.variable(name, "").causality == "input" for name in told)

    def told(self, fmus: FmuSystem) -> list[str]:
        """Inputs that it tells."""
        kinds = (*UNITS, "orientation")
        names = [name for kind in kinds for name in getattr(self, kind) if isinstance(name, str)]
        return [name for name in names if fmus.has(name) and fmus.variable(name, "").causality == "input"]

    def check_units(self, owner: str, fmus: FmuSystem) -> list[str]:
        """Variables that are missing, or declare a unit of another kind."""
        found = []
        for what, exponents in {**UNITS, "orientation": (0, 0, 0)}.items():
            for name in getattr(self, what):
                if not isinstance(name, str):
                    continue
                try:
                    variable = fmus.variable(name, owner)
                except ModelError as error:
                    found.append(str(error))
                    continue
                if variable.causality in NO_PORT:
                    found.append(
                        f"{owner}: {what} '{name}' is of causality {variable.causality}; give an output or an input."
                    )
                declared = variable.exponents or ()
                if any(declared) and declared[:3] != exponents:  # "dimensionless" says nothing
                    found.append(f"{owner}: {what} '{name}' is given in {variable.unit}, which is no unit of {what}.")
                elif variable.unit and variable.exponents is None:
                    found.append(
                        f"{owner}: {what} '{name}' is given in '{variable.unit}', which the FMU does not define, and nobody knows "
                        "its factor. Define it in the file (UnitDefinitions)."
                    )
                elif what.startswith("angular") and counts_turns(variable.unit, variable.exponents):
                    found.append(
                        f"{owner}: {what} '{name}' is given in {variable.unit}, which the FMU defines as 1/s without 'rad': turns "
                        'and radians cannot be told apart. Define it in the file with rad="1" and its factor.'
                    )
        return found or self._check_directions(owner, fmus) or self._check_use(owner, fmus)

    def _check_use(self, owner: str, fmus: FmuSystem) -> list[str]:
        """What nobody would look at where forces go in."""
        if self.is_moved(fmus):
            return []
        given = {"exerts": self.exerts, "mass": self.mass, "inertia": np.any(self.inertia), "start": len(self.start)}
        return [
            f"{owner}: {what} = {getattr(self, what)!r} is for ports that are told motions, and this one is told forces; leave it "
            "out" + (", and weld a body of ours to it." if what in ("mass", "inertia") else ".")
            for what, says in given.items()
            if says
        ]

    def _check_directions(self, owner: str, fmus: FmuSystem) -> list[str]:
        """Along every axis something has to go in: the force, or the motion."""
        told, along = set(self.told(fmus)), []
        for c, force in enumerate(self.force):
            motion = [
                entry for entries in (self.position, self.velocity, self.acceleration) for entry in entries[c : c + 1]
            ]
            along.append((f"along {'xyz'[c]}", motion, force))
        turns = [*self.orientation, *self.angular_velocity, *self.angular_acceleration]
        along += [("in turns", turns, moment) for moment in self.moment]
        return [
            f"{owner}: {where} neither the motion nor the force '{force}' is an input of the FMU; one of them has to go in, and "
            "the other one to come out."
            for where, motion, force in along
            if isinstance(force, str) and force not in told and not told.intersection(map(str, motion))
        ]


def structured(name: str) -> str:
    """A dotted name as FMI's structured names have it: what is no plain word stands in quotes."""
    parts = name.split(".")
    return ".".join(
        part if (part.isidentifier() and part.isascii()) or part[:1] == "'" else f"'{part}'" for part in parts
    )


class PortMap:
    """Vectors over all ports of a machine: poses and twists out, wrenches in; entries that no variable stands for are constant."""

    def __init__(self, fmus: FmuSystem, ports: Sequence[PowerPort], what: str) -> None:
        self.fmus, self.ports = fmus, ports
        self.d = ports[0].dimension
        self.width = 3 if self.d == 2 else 6  # of a twist
        self.pose_width = 3 if self.d == 2 else 7
        self.count = len(ports)
        names: list[str] = []

        def read(entries: Sequence[Any], rows: list[int]) -> Rows:
            places, targets = [], []
            for entry, row in zip(entries, rows, strict=True):
                if isinstance(entry, str):
                    targets.append(row)
                    places.append(len(names))
                    names.append(entry)
            return places, targets

        self.rest = np.zeros((self.count, self.pose_width))  # of poses
        if self.d == 3:
            self.rest[:, 3] = 1.0
        poses: list[Rows] = []
        twists: list[Rows] = []
        slopes: list[Rows] = []
        self._matrices: list[tuple[int, Rows]] = []  # nine numbers, or three angles
        for k, port in enumerate(ports):
            base = k * self.pose_width
            for c, entry in enumerate(port.position):
                self.rest[k, c] = float(entry) if isinstance(entry, int | float) else 0.0
            poses.append(read(port.position, [base + c for c in range(self.d)]))
            if len(port.orientation) in (3, 9):
                self._matrices.append((k, read(port.orientation, list(range(len(port.orientation))))))
            else:
                poses.append(read(port.orientation, [base + self.d + c for c in range(len(port.orientation))]))
            base = k * self.width
            twists.append(read(port.velocity, [base + c for c in range(self.d)]))
            twists.append(read(port.angular_velocity, [base + self.d + c for c in range(len(port.angular_velocity))]))
            slopes.append(read(port.acceleration, [base + c for c in range(len(port.acceleration))]))
            slopes.append(
                read(port.angular_acceleration, [base + self.d + c for c in range(len(port.angular_acceleration))])
            )
        self.outputs = fmus.signals(names, what)
        self._poses, self._twists, self._slopes = _joined(poses), _joined(twists), _joined(slopes)
        shown = all(port.acceleration and (port.angular_acceleration or not port.turns) for port in ports)
        inputs, self.inputs_at, rates = [], [], []
        for k, port in enumerate(ports):
            for what_in, what_rate, offset in (("force", "force_rate", 0), ("moment", "moment_rate", self.d)):
                for c, entry in enumerate(getattr(port, what_in)):
                    if isinstance(entry, str):
                        inputs.append(entry)
                        self.inputs_at.append(k * self.width + offset + c)
                        rates.extend(getattr(port, what_rate)[c : c + 1])
        if not inputs:
            raise ModelError(f"{what}: no port takes a force; name variables in force=[…].")
        self.inputs = fmus.signals(inputs, what)
        self.rates = fmus.signals(rates, what) if len(rates) == len(inputs) else None
        # what is held in a step is no force at its end, and what follows from it no acceleration there
        self.accelerates = shown and self.rates is not None

    def tell(self, start: Array, end: Array, h: float) -> None:
        """Wrenches over all ports at the two ends of a step, linear in between; without rates what they are on average is held."""
        rows = self.inputs_at
        if self.rates is None:
            self.fmus.tell(self.inputs, 0.5 * (start[rows] + end[rows]))
        else:
            self.fmus.tell(self.inputs, start[rows])
            self.fmus.tell(self.rates, (end[rows] - start[rows]) / h)

    def read(self) -> tuple[Array, Array, Array]:
        """Poses (ports, 3 or 7), twists and their rates (ports * (3 or 6))."""
        values = self.fmus.ask(self.outputs)
        pose, twist, slope = (
            self.rest.ravel().copy(),
            np.zeros(self.count * self.width),
            np.zeros(self.count * self.width),
        )
        for (places, rows), target in ((self._poses, pose), (self._twists, twist), (self._slopes, slope)):
            target[rows] = values[places]
        poses: Array = pose.reshape(self.count, -1)
        for k, (turned, entries) in self._matrices:
            if len(self.ports[k].orientation) == 3:
                angles = np.zeros(3)
                angles[entries] = values[turned]
                poses[k, 3:] = quaternion_of_angles(angles)
                continue
            matrix = np.eye(3).ravel()
            matrix[entries] = values[turned]
            axes = matrix.reshape(3, 3)
            if np.abs(axes @ axes.T - np.eye(3)).max() > FAR_FROM_ONE or np.linalg.det(axes) < 0.0:
                raise ModelError(
                    f"orientation {list(self.ports[k].orientation)} is no rotation: its rows are not three axes of length one, "
                    "perpendicular to each other and right-handed."
                )
            poses[k, 3:] = quaternion_of(axes)
        if self.d == 3:
            sizes = np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
            if not (np.abs(sizes - 1.0) <= FAR_FROM_ONE).all() and np.isfinite(sizes).all():
                k = int(np.argmax(np.abs(sizes - 1.0)))
                raise ModelError(
                    f"orientation {list(self.ports[k].orientation)} is no unit quaternion: its length is {sizes[k, 0]:.3g}. Name "
                    "the four numbers (w, x, y, z) of one."
                )
            poses[:, 3:] /= sizes
        return poses, twist, slope


def _joined(parts: list[Rows]) -> tuple[Indices, Indices]:
    places = [place for found, _ in parts for place in found]
    rows = [row for _, found in parts for row in found]
    return np.array(places, np.int64), np.array(rows, np.int64)


# --- turning -----------------------------------------------------------------------------------------------------------


def axes_of(pose: Array) -> Array:
    """Axes of a port as columns, from its pose."""
    if len(pose) == 3:
        c, s = np.cos(pose[2]), np.sin(pose[2])
        return np.array([[c, -s], [s, c]])
    w, x, y, z = pose[3:]
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_of(matrix: Array) -> Array:
    """The unit quaternion (w, x, y, z) of a rotation matrix."""
    from scipy.spatial.transform import Rotation  # a third of a second, for those who need it

    x, y, z, w = Rotation.from_matrix(matrix).as_quat()
    return np.array([w, x, y, z])


def quaternion_of_angles(angles: Array) -> Array:
    """The unit quaternion of roll, pitch and yaw, turned about x, y and z of the world one after the other."""
    found = np.array([1.0, 0.0, 0.0, 0.0])
    for axis, angle in enumerate(angles):
        turn = np.zeros(4)
        turn[0], turn[1 + axis] = np.cos(0.5 * angle), np.sin(0.5 * angle)
        found = product(turn, found)
    return found


def angles_of(quaternion: Array) -> Array:
    """Roll, pitch and yaw of a unit quaternion."""
    w, x, y, z = quaternion
    pitch = np.arcsin(np.clip(2.0 * (w * y - x * z), -1.0, 1.0))
    roll, yaw = (
        np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
        np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
    )
    return np.array([roll, pitch, yaw])


def moved(pose: Array, way: Array) -> Array:
    """A pose after a small way: d of translation, then an angle or a rotation vector in world axes."""
    d = 2 if len(pose) == 3 else 3
    found = pose.copy()
    found[:d] += way[:d]
    if d == 2:
        found[2] += way[2]
        return found
    angle = float(np.linalg.norm(way[3:]))
    half = 0.5 * np.sinc(0.5 * angle / np.pi) * way[3:]
    found[3:] = product(np.array([np.cos(0.5 * angle), *half]), pose[3:])
    return found


def way_between(start: Array, end: Array) -> Array:
    """What `moved` takes from one pose to another."""
    d = 2 if len(start) == 3 else 3
    if d == 2:
        way = end - start
        way[2] -= 2.0 * np.pi * np.round(way[2] / (2.0 * np.pi))  # of an angle that begins anew after a turn
        return way
    turn = product(end[3:], start[3:] * np.array([1.0, -1.0, -1.0, -1.0]))
    if turn[0] < 0.0:
        turn = -turn
    size = float(np.linalg.norm(turn[1:]))
    scale = 2.0 if size < 1e-9 else 2.0 * np.arctan2(size, turn[0]) / size
    return np.concatenate([end[:3] - start[:3], scale * turn[1:]])


def cross(spin: Array, arm: Array) -> Array:
    """spin x arm, in the plane too."""
    return spin[0] * np.array([-arm[1], arm[0]]) if len(arm) == 2 else crossed(spin, arm)


def moment(arm: Array, force: Array) -> Array:
    """arm x force, one number in the plane."""
    return np.array([arm[0] * force[1] - arm[1] * force[0]]) if len(arm) == 2 else crossed(arm, force)
