"""A command: what a function in Python decides, once in so many ticks, goes into an input of a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from components.forces.deciding import EFFORT, DecidingForces, problems_of
from components.forces.external import External
from components.forces.load import load_loop
from components.sensors import Sensor
from modular.allowed import given, name_of
from modular.elements import Array
from modular.errors import ModelError
from modular.force import Force
from modular.side import Mark, Side


@dataclass(frozen=True)
class Command(Force):
    """Sets an input of the `Fmu` whose port it is put on, and holds it until it is decided about again; it exerts nothing.

    function(time, readings, memory) -> value, in SI units, is asked as that of a `Controller`: at every `period` [s], or else
    before every tick whose number is a multiple of `every`. `readings` are what the sensors of `inputs` show, by name; `memory` is
    an array of its own that begins as it is given here. variable: the input, a number or a boolean (0 and 1).
    """

    function: Callable[[float, dict[str, Any], Array], float] | str
    variable: str
    inputs: Mapping[str, Sensor] = field(default_factory=dict)
    every: int = 1
    memory: Sequence[float] = ()
    period: float | None = field(kw_only=True, default=None)  # [s]

    names_functions: ClassVar[tuple[str, ...]] = ("function",)

    def __post_init__(self) -> None:
        super().__post_init__()
        given(self.function)

    @property
    def sides(self) -> int:
        """One port, of the body that it commands."""
        return 1

    def check(self, name: str, dimension: int) -> list[str]:
        """What no function can be asked for."""
        problems = problems_of(self, "command", name)
        variable: Any = self.variable
        if not (isinstance(variable, str) and variable):
            problems.append(
                f"command '{name}': variable = {variable!r}; give the name of an input, such as 'throttle'."
            )
        return problems

    def to_data(self) -> dict[str, Any]:
        """As data; the function by its name."""
        named = object.__new__(type(self))
        named.__dict__.update(self.__dict__)
        object.__setattr__(named, "function", name_of(self.function))
        return super(Command, named).to_data()

    def new_stack(self, dimension: int) -> Commands:
        """An empty stack of commands."""
        return Commands(dimension)

    def marks(self, name: str, sides: Sequence[Side]) -> list[list[Mark]]:
        """The point of its port."""
        mark = sides[0].point(sides[0].position)
        if mark is None:
            raise ModelError(f"command '{name}': port '{sides[0].name}' is no point of a body.")
        return [[mark]]

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A command to an engine."""
        return cls("components.forces.controller:steady", "throttle", memory=(0.3, 0.0))


class Commands(DecidingForces, External):
    """Commands, one row each: loads of nothing."""

    what = "command"
    recorded = ("law",)

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension, 1, dimension, load_loop)
        self.prepare_to_decide()

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a command in; it has not been decided about yet."""
        assert isinstance(force, Command)
        self.take(name, [0.0] * self.value.shape[1], first)
        self.take_decider(self.row[name], name, force)

    def commanded(self, name: str) -> tuple[str, float]:
        """The input that one of them sets, and what was decided about it."""
        return self.forces[name].variable, float(self.law[self.row[name], EFFORT])
