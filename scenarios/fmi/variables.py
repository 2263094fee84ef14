"""The variables of an FMU that we export, in the order of their value references: one list for its file and for what runs in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

AXES = {2: ("x", "y"), 3: ("x", "y", "z")}
UNITS = {  # exponents of kg, m, s, rad
    "s": (0, 0, 1, 0), "m": (0, 1, 0, 0), "rad": (0, 0, 0, 1), "m/s": (0, 1, -1, 0), "rad/s": (0, 0, -1, 1), "m/s2": (0, 1, -2, 0),
    "rad/s2": (0, 0, -2, 1), "N": (1, 1, -2, 0), "N.m": (1, 2, -2, 0), "N/s": (1, 1, -3, 0), "N.m/s": (1, 2, -3, 0),
    "J": (1, 2, -2, 0),
}  # fmt: skip
SETTLE = "settle"
ENERGIES = ("kinetic", "potential", "stored")


REAL, WHOLE, BOOLEAN = "Float64", "Int32", "Boolean"  # kinds of variables, as FMI 3 calls them
KINDS_TWO = {REAL: "Real", WHOLE: "Integer", BOOLEAN: "Boolean"}  # and FMI 2
IN_WORDS = {REAL: "a number (Float64)", WHOLE: "a whole number (Int32)", BOOLEAN: "a boolean"}
EVENTS, HOLDS = "events", "holds"


def kind_of(value: Any) -> str:
    """Of a variable that begins with a value."""
    return BOOLEAN if isinstance(value, bool) else WHOLE if isinstance(value, int) else REAL


@dataclass(frozen=True)
class Scalar:
    """One variable."""

    name: str
    causality: str  # independent, input, output or parameter
    unit: str | None = None
    start: float | None = None
    about: str = ""
    tunable: bool = False  # a parameter that may change while the model moves
    kind: str = REAL

    @property
    def start_text(self) -> str:
        """The start value as files have it."""
        assert self.start is not None
        if self.kind == BOOLEAN:
            return str(bool(self.start)).lower()
        return repr(self.start) if self.kind == REAL else str(int(self.start))


@dataclass(frozen=True)
class Port:
    """A port that shows its motion, and takes forces where it is held; one that is moved takes its motion, and shows forces."""

    name: str  # body.port
    called: str  # as its variables begin
    turns: bool
    held: bool
    moved: bool = False
    start: tuple[float, ...] = ()  # of one that is moved: its place, orientation and velocities at the start

    def outputs(self, dimension: int) -> list[Scalar]:
        """Motion: place, orientation, their rates and the rates of these; of one that is moved, force and moment on it."""
        axes = AXES[dimension]
        if self.moved:
            turned = [""] if dimension == 2 else [f".{axis}" for axis in axes]
            found = [Scalar(f"{self.called}.force.{axis}", "output", "N") for axis in axes]
            return found + [Scalar(f"{self.called}.moment{axis}", "output", "N.m") for axis in turned if self.turns]
        found = [Scalar(f"{self.called}.position.{axis}", "output", "m") for axis in axes]
        turning = [""] if dimension == 2 else [f".{axis}" for axis in axes]
        if self.turns and dimension == 2:
            found.append(Scalar(f"{self.called}.angle", "output", "rad"))
        elif self.turns:
            found += [Scalar(f"{self.called}.orientation.{axis}", "output") for axis in "wxyz"]
        found += [Scalar(f"{self.called}.velocity.{axis}", "output", "m/s") for axis in axes]
        if self.turns:
            found += [Scalar(f"{self.called}.angular_velocity{axis}", "output", "rad/s") for axis in turning]
        found += [Scalar(f"{self.called}.acceleration.{axis}", "output", "m/s2") for axis in axes]
        if self.turns:
            found += [Scalar(f"{self.called}.angular_acceleration{axis}", "output", "rad/s2") for axis in turning]
        return found

    def inputs(self, dimension: int) -> list[Scalar]:
        """Force and moment, and how they change in a step; of one that is moved, its motion at the end of the step."""
        if self.moved:
            motion = Port(self.name, self.called, self.turns, False).outputs(dimension)
            start = [*self.start, *([0.0] * len(motion))]
            return [Scalar(one.name, "input", one.unit, value) for one, value in zip(motion, start, strict=False)]
        if not self.held:
            return []
        axes = AXES[dimension]
        turning = [""] if dimension == 2 else [f".{axis}" for axis in axes]
        found = [Scalar(f"{self.called}.force.{axis}", "input", "N", 0.0) for axis in axes]
        if self.turns:
            found += [Scalar(f"{self.called}.moment{axis}", "input", "N.m", 0.0) for axis in turning]
        found += [Scalar(f"{self.called}.force_rate.{axis}", "input", "N/s", 0.0) for axis in axes]
        if self.turns:
            found += [Scalar(f"{self.called}.moment_rate{axis}", "input", "N.m/s", 0.0) for axis in turning]
        return found


@dataclass(frozen=True)
class Layout:
    """All variables, and where which are."""

    scalars: tuple[Scalar, ...]
    inputs: tuple[slice, ...]  # of each port
    outputs: tuple[slice, ...]
    settle: int
    energies: slice
    happened: slice  # how many events, and which joints are there
    parameters: slice

    @classmethod
    def of(
        cls, ports: Sequence[Port], dimension: int, parameters: Mapping[str, float], energies: Sequence[str] = ENERGIES,
        *, tunable: bool = False, leaving: Sequence[str] | None = None,
    ) -> Layout:  # fmt: skip
        """Time, inputs, outputs, energies, parameters, which may be changed on the way where they are `tunable`.

        `leaving`: joints that may come and go, where there are events.
        """
        scalars = [Scalar("time", "independent", "s", about="simulated time")]

        def put(more: Sequence[Scalar]) -> slice:
            start = len(scalars)
            scalars.extend(more)
            return slice(start, len(scalars))

        inputs = tuple(put(port.inputs(dimension)) for port in ports)
        about = "not 0: forces have jumped, accelerations are found anew at once"
        settle = put([Scalar(SETTLE, "input", None, 0.0, about)]).start
        outputs = tuple(put(port.outputs(dimension)) for port in ports)
        shown = put([Scalar(f"energy.{name}", "output", "J") for name in energies])
        counted = [] if leaving is None else [Scalar(EVENTS, "output", about="events that have happened", kind=WHOLE)]
        joints = [
            Scalar(f"{name}.{HOLDS}", "output", about="whether this joint is there", kind=BOOLEAN)
            for name in leaving or ()
        ]
        happened = put([*counted, *joints])
        given = put(
            [
                Scalar(name, "parameter", None, float(value), tunable=tunable, kind=kind_of(value))
                for name, value in parameters.items()
            ]
        )
        return cls(tuple(scalars), inputs, outputs, settle, shown, happened, given)


def ports_of(about: Mapping[str, Any]) -> list[Port]:
    """As they were written down."""
    return [Port(**{**entry, "start": tuple(entry.get("start", ()))}) for entry in about["ports"]]
