"""An FMU as a body: forces go in at its ports and motion comes out, or motion goes in and forces come out."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from components.courses import Course
from components.fmi.archive import give
from components.fmi.port import PowerPort, axes_of
from modular.body import Body
from modular.elements import RIGID_BODY_MOTIONS, Array

if TYPE_CHECKING:
    from components.fmi.stack import Fmus

KINETIC, POTENTIAL, WORK = range(3)  # behind the poses of its ports, in its coordinates
TAIL = 3
MAPPINGS = {  # what is given by names, and how
    "ports": "'tip': PowerPort(…)", "parameters": "'mass': 1.2", "signals": "'throttle': Sine(0.4, 0.5)",
    "connections": "'one.u': 'two.y'",
}  # fmt: skip
KINDS = ("co-simulation", "model exchange")


@dataclass(frozen=True)
class Fmu(Body):
    """A body that an FMU moves.

    file: an FMU of FMI 2 or 3, or {"member": file} of several, whose `connections` {"one.input": "other.output"} hand outputs on.
    ports: a `PowerPort` by the name of each port, or the name that its variables begin with ("tip" for tip.position.x, …, as
    `modular export-fmu` names them). parameters: of any type, by name. kind: "co-simulation" or "model exchange"; the first that is
    offered unless said otherwise. signals: inputs that follow courses over time, by name (`Sine`, `Ramp`, `Smooth`), in SI units.
    mass [kg]: what its neighbours may know of it; nothing moves by it. kinetic, potential: variables
    that tell its energies [J], with which the ledger says what it leaks. outputs: variables that are recorded with its coordinates.
    refresh: ticks between two measurements of how it answers forces. time_limit [s]: for its beginning and for each step; one that
    takes longer is given up (its calls are made in a thread of their own, so that nobody waits for ever).
    """

    names_functions: ClassVar[tuple[str, ...]] = ("file",)

    file: str | PathLike[str] | Mapping[str, str]
    ports: Mapping[str, PowerPort | str] = field(kw_only=True)
    dimension: int = field(kw_only=True, default=3)
    parameters: Mapping[str, Any] = field(kw_only=True, default_factory=dict)
    signals: Mapping[str, Course] = field(kw_only=True, default_factory=dict)
    connections: Mapping[str, str] = field(kw_only=True, default_factory=dict)
    interface: str | None = field(kw_only=True, default=None)
    mass: float = field(kw_only=True, default=0.0)
    kinetic: str | None = field(kw_only=True, default=None)
    potential: str | None = field(kw_only=True, default=None)
    outputs: Sequence[str] = field(kw_only=True, default=())
    refresh: int = field(kw_only=True, default=1)
    time_limit: float | None = field(kw_only=True, default=None)

    def __post_init__(self) -> None:
        if isinstance(self.file, PathLike):
            object.__setattr__(self, "file", str(self.file))
        super().__post_init__()
        give(self.files.values())

    @property
    def files(self) -> dict[str, str]:
        """By member; the one FMU has no name."""
        given: Any = self.file
        return {"": given} if isinstance(given, str) else dict(given) if isinstance(given, Mapping) else {}

    @property
    def called(self) -> str:
        """As errors name it."""
        return " + ".join(self.files.values())

    # --- a body ------------------------------------------------------------------------------------------------------

    @property
    def port_names(self) -> tuple[str, ...]:
        """Names of the ports, in order."""
        return tuple(self.ports)

    @property
    def total_mass(self) -> float:
        """As far as it is known [kg]."""
        return self.mass

    @property
    def freedoms(self) -> int:
        """As many as its ports show."""
        return (3 if self.dimension == 2 else 6) * len(self.ports)

    @property
    def motions(self) -> int:
        """Six per port in space, three in the plane, in multiples of six."""
        width = 3 if self.dimension == 2 else 6
        return RIGID_BODY_MOTIONS * max(1, -(-width * len(self.ports) // RIGID_BODY_MOTIONS))

    def check(self, name: str) -> list[str]:
        """What can be seen without opening the file."""
        found = [
            f"body '{name}': {what} = {getattr(self, what)!r}; give it by names, as in {what}={{{example}}}."
            for what, example in MAPPINGS.items()
            if not isinstance(getattr(self, what), Mapping)
        ]
        if found:
            return found
        if self.dimension not in (2, 3):
            found.append(f"body '{name}': dimension = {self.dimension!r}; give 2 or 3.")
        if not self.files:
            found.append(f"body '{name}': no file; give the path of an FMU.")
        if not self.ports:
            found.append(f"body '{name}': an FMU without ports cannot be joined; give ports={{'tip': PowerPort(…)}}.")
        if self.interface not in (None, *KINDS):
            found.append(f"body '{name}': interface = {self.interface!r}; give {KINDS[0]!r} or {KINDS[1]!r}.")
        if not (isinstance(self.refresh, int) and self.refresh >= 1):
            found.append(f"body '{name}': refresh = {self.refresh!r}; give a number of ticks from 1 on.")
        if self.time_limit is not None and not (isinstance(self.time_limit, int | float) and self.time_limit > 0.0):
            found.append(f"body '{name}': time_limit = {self.time_limit!r}; give a time in seconds, or leave it out.")
        signals: Mapping[str, Any] = self.signals
        for variable, course in signals.items():
            if not isinstance(course, Course) or course.width != 1:
                found.append(
                    f"body '{name}': signals['{variable}'] = {course!r}; give a course of one number, such as Sine(0.2, 3.0)."
                )
        ports: Mapping[str, Any] = self.ports
        for port, given in ports.items():
            if isinstance(given, PowerPort):
                owner = f"port '{name}.{port}'"
                found += given.problems(owner)
                if given.dimension in (2, 3) and given.dimension != self.dimension:
                    found.append(
                        f"{owner}: {given.dimension} variables of place in a body of dimension {self.dimension}."
                    )
            elif not isinstance(given, str):
                found.append(
                    f"port '{name}.{port}' = {given!r}; give a PowerPort or the name its variables begin with."
                )
        return found

    def kind(self) -> Hashable:
        """FMUs that can do the same, with equally many ports and outputs, share a stack."""
        return ("fmu", self.dimension, len(self.ports), len(self.outputs), *self._memory)

    def new_stack(self) -> Fmus:
        """An empty stack of FMUs."""
        from components.fmi.stack import Fmus

        return Fmus(self.dimension, len(self.ports), len(self.outputs), *self._memory)

    @property
    def _memory(self) -> tuple[bool, bool]:
        """Whether it can take a step again, and write its state down, by what its files say."""
        from components.fmi.archive import opened

        archives = [opened(path) for path in self.files.values()]
        return all(a.saves(self.interface) for a in archives), all(a.serialises(self.interface) for a in archives)

    # --- what its coordinates say --------------------------------------------------------------------------------------

    @property
    def _pose_width(self) -> int:
        return 3 if self.dimension == 2 else 7

    def _pose(self, port: str, q: Array) -> Array:
        start = self.port_names.index(port) * self._pose_width
        return q[..., start : start + self._pose_width]

    def _tail(self, q: Array, which: int) -> Array:
        return np.asarray(q[..., len(self.ports) * self._pose_width + which])

    def port_motion(self, port: str, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of a port, shape (..., dimension)."""
        found = [self._pose(port, values)[..., : self.dimension] for values in (q, v, a)]
        return found[0], found[1], found[2]

    def port_axes(self, port: str, q: Array) -> Array:
        """Axes of a port as rows, (..., d, d)."""
        poses = self._pose(port, q)
        flat = poses.reshape(-1, poses.shape[-1])
        return np.array([axes_of(pose).T for pose in flat]).reshape(*poses.shape[:-1], self.dimension, self.dimension)

    def angular_velocity_of(self, port: str, q: Array, v: Array) -> Array:
        """How fast a port turns, in the world [rad/s]."""
        turning = self._pose(port, v)[..., self.dimension :]
        return np.asarray(turning[..., 0] if self.dimension == 2 else turning[..., :3])

    def kinetic_energy(self, q: Array, v: Array) -> Array:
        """As the FMU tells it; of one that tells none, what was given to it [J]."""
        return self._tail(q, KINETIC) if self.kinetic or self.potential else self._tail(q, WORK)

    def potential_energy(self, q: Array, gravity: Array) -> Array:
        """As the FMU tells it [J]."""
        return self._tail(q, POTENTIAL)

    def leaked(self, q: Array) -> Array | None:
        """Energy that it lost beside what it was given through its ports since the start [J], (n,); None where it tells no energy.

        What it takes or gives within, as dampers and motors do, is in it.
        """
        if not (self.kinetic or self.potential):
            return None
        energy = self._tail(q, KINETIC) + self._tail(q, POTENTIAL)
        lost = self._tail(q, WORK) - energy
        return np.asarray(lost - lost[int(np.argmax(np.isfinite(lost)))])

    def output(self, name: str, q: Array) -> Array:
        """A recorded output over time, (n,)."""
        return self._tail(q, TAIL + list(self.outputs).index(name))

    def momentum(self, q: Array, v: Array) -> Array:
        """Of its mass at its first port [kg m/s]."""
        return self.mass * v[..., : self.dimension]

    def mass_centre(self, q: Array) -> Array:
        """Nobody knows; its first port [m]."""
        return q[..., : self.dimension]

    def internal_violation(self, q: Array) -> Array:
        """It has no constraints that show."""
        return np.zeros((*q.shape[:-1], 0))

    def internal_violation_rate(self, q: Array, v: Array) -> Array:
        """The same."""
        return np.zeros((*q.shape[:-1], 0))

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A description; what it describes is in a file."""
        return cls("arm.fmu", ports={"tip": "tip"}, dimension=dimension)
