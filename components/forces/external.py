"""What forces from outside share: a value over time per row, and a ledger that says where the energy came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from components.forces.values import Law, Table, Value
from modular.allowed import function_named, name_of
from modular.elements import TIME, Array, Elements, Indices
from modular.errors import ModelError
from modular.forces import ForceStack
from modular.kernel import kernel
from modular.ledger import supply_loop
from modular.loop import Loop
from modular.tables_as_data import found, named


class External(ForceStack):
    """Forces from outside on one port each; a subclass says by its loop how a value acts on the elements.

    Constants and tables are followed by the loop itself. Laws are Python: a stack with a law in it offers its `exert` as a
    method alone, and so the tick comes back for it.
    """

    requests_demand: ClassVar[bool] = False
    value: Array  # [N] or [N m]
    knots: Array  # of tables: times and values, (n, knots, 1 + width)
    number: Indices  # how many knots; none for constants and laws

    def __init__(self, width: int, elements: int, dimension: int, exert: Loop) -> None:
        super().__init__(elements, 0, dimension)
        self.column("value", width)
        self.column("knots", 1, 1 + width, listed=True)
        self.column("number", dtype=np.int64)
        self.laws: dict[str, Callable[[float, Array, Array], Any]] = {}
        self._exert = exert
        self.loops = {"account": supply_loop, "exert": exert}

    def limits(self, elements: int) -> Iterator[tuple[str, Any]]:
        """There are no more knots than there is room for."""
        yield from super().limits(elements)
        yield "number", self.knots.shape[1]

    def take(self, name: str, value: Value, first: Sequence[int]) -> None:
        """Take a value in."""
        row = self.add_row(name)
        self.first[row] = self.second[row] = first[0]
        if isinstance(value, Table):
            knots = np.column_stack([np.asarray(value.times, float), np.asarray(value.values, float)])
            if len(knots) > self.knots.shape[1]:
                self.widen("knots", len(knots))
            self.knots[row, : len(knots)] = knots
            self.number[row] = len(knots)
        elif isinstance(value, Law):
            self.laws[name] = value.resolved()
            self.loops.pop("exert", None)
        else:
            self.value[row] = value

    def chosen(self, rows: Any) -> Self:
        """A stack of its own, with copies of some rows in the order asked for."""
        made = super().chosen(rows)
        made.laws = {name: law for name, law in self.laws.items() if name in made.row}
        if not made.laws:
            made.loops["exert"] = self._exert
        return made

    def details(self) -> dict[str, Any]:
        """Names, how a value acts, and the laws by their names."""
        laws = {name: name_of(law) for name, law in self.laws.items()}
        return {**super().details(), "exert": named(self._exert), "laws": laws}

    def recall(self, details: Mapping[str, Any]) -> None:
        """Keep them again."""
        super().recall(details)
        self._exert = found(details["exert"], "external forces")
        self.laws = {name: function_named(law, name) for name, law in details["laws"].items()}

    @property
    def read_velocity(self) -> list[str]:
        """Laws may; what is given over time does not."""
        return list(self.laws)

    def remove(self, name: str) -> None:
        """Let it go."""
        self.laws.pop(name, None)
        if not self.laws:
            self.loops["exert"] = self._exert
        self.remove_row(name)

    def exert(self, elements: Elements, time: float) -> None:
        """Write the forces on the elements."""
        elements.clock[TIME] = time
        for name, law in self.laws.items():
            row = self.row[name]
            point = self.first[row]
            self.value[row] = _asked(
                name, law, time, elements.position[point], elements.current_velocity[point], self.value
            )
        self._exert(self, elements, 0, self.count)

    def corners(self, start: float, end: float) -> Array:
        """Times between two others at which a table bends [s]: a step that goes over one is of no higher order than two."""
        times = np.concatenate([self.knots[row, : self.number[row], 0] for row in range(self.count)] or [np.empty(0)])
        return np.unique(times[(times > start) & (times < end)])

    @property
    def turns(self) -> bool:
        """It asks nothing."""
        return False

    def request_demand(self, elements: Elements, dt: float) -> None:
        """A force from outside is no spring: it asks nothing of the step."""


def _asked(name: str, law: Callable[..., Any], time: float, x: Array, v: Array, values: Array) -> Array:
    """What a law answers, refused by name where it is no value."""
    try:
        given = law(time, x.copy(), v.copy())
        result = np.asarray(given, float)
    except Exception as error:
        raise ModelError(
            f"force '{name}': its law raised {type(error).__name__}: {error} (at {time:g} s); it is called as law(t, x, v)."
        ) from error
    if result.size != values.shape[1] or not np.all(np.isfinite(result)):
        raise ModelError(
            f"force '{name}': its law returned {given!r} at {time:g} s; return {values.shape[1]} finite numbers."
        )
    return result


@kernel
def follow(knots: Array, number: int, time: float, value: Array) -> None:
    """The value of a table at a time: linear between knots, held before the first and after the last."""
    low, high = 0, number - 1
    if time <= knots[low, 0]:
        high = low
    elif time >= knots[high, 0]:
        low = high
    while high - low > 1:
        middle = (low + high) // 2
        if knots[middle, 0] <= time:
            low = middle
        else:
            high = middle
    part = 0.0 if low == high else (time - knots[low, 0]) / (knots[high, 0] - knots[low, 0])
    for c in range(value.shape[0]):
        value[c] = knots[low, 1 + c] + part * (knots[high, 1 + c] - knots[low, 1 + c])
