"""Equations of a model as expressions: what `equations` gives.

Equations at numbers: functions of coordinates, rates and time, with the parameters of the model or others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from coordinator.equations.courses import TIME, Led
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError
from modular.names import missing

Sparse = dict[Any, Any]
NOTHING = sympy.Integer(0)


@dataclass(frozen=True)
class Held:
    """What a joint holds on its second side: where its point and its directions are, and how its rows follow them."""

    first: list[list[Any]]  # where its elements on the first side are
    places: list[list[Any]]
    slopes: Sparse  # by (row, element, direction)


@dataclass(frozen=True)
class Motion:
    """Of an element: its place, its velocity, and how its acceleration follows those of coordinates."""

    place: list[Any]
    pace: list[Any]
    follows: list[tuple[int, list[Any]]]  # column, and a number for each direction
    bend: list[Any]  # acceleration where coordinates do not accelerate; nothing where there is none

    def acceleration(self, accelerations: Sequence[Any]) -> list[Any]:
        """With those of all coordinates."""
        total = list(self.bend) or [NOTHING] * len(self.place)
        for column, along in self.follows:
            total = [sum_ + share * accelerations[column] for sum_, share in zip(total, along, strict=True)]
        return total


class Written:
    """M a + G^T lambda = Q, phi = 0, G v = flow, G a = gamma; with symbols for coordinates, their rates and parameters.

    Coordinates and rows come in the order of the centralized solvers: bodies stack by stack with their internal constraints, then
    joints. `parameters` holds what symbols stand for; `notes` which expressions are taken not to be zero, by component.
    """

    def __init__(
        self, model: Assembly, coordinates: list[Any], rates: list[Any], columns: dict[str, slice],
        parameters: dict[Any, float], led: Led, notes: dict[str, list[Any]],
    ) -> None:  # fmt: skip
        self.model = model
        self.coordinates, self.rates, self.columns = coordinates, rates, columns
        self.parameters, self.led, self.notes = parameters, led, notes
        self.mass: Sparse = {}
        self.loads: Sparse = {}
        self.pushes: dict[str, dict[int, Any]] = {}  # of these what each force adds
        self.stored: dict[str, Any] = {}  # the energy that each says it holds [J]
        self.jacobian: Sparse = {}
        self.constraints: list[Any] = []
        self.owners: list[str] = []  # of each row
        self.holonomic: list[bool] = []
        self.rows_of: dict[str, slice] = {}  # of each joint
        self.closing: dict[str, slice] = {}  # of the internal constraints of each body
        self.flow: Sparse = {}  # first derivatives of courses, by row
        self.gamma: Sparse = {}
        self.open: dict[str, str] = {}  # forces that are left out, as they do not act where the model stands, in words
        self.held: dict[str, Held] = {}  # by joint
        self.drives: dict[str, int] = {}  # how many of its rows a joint is driven along, the last ones
        self.powers: dict[
            str, dict[int, Any]
        ] = {}  # of each force, by line of its ledger [W]; where they were asked for
        self.paces: dict[
            str, tuple[dict[int, Any], dict[int, Any]]
        ] = {}  # of each joint: what either side adds to G v, by row
        self.axes: dict[str, Any] = {}  # of ports that were asked for, as rows
        self.motions: dict[int, Motion] = {}  # of elements that were asked for
        self.start: tuple[Array, ...] = ()  # coordinates and rates where the model stands
        self.taken: dict[
            str, tuple[str, str, tuple[int, ...]]
        ] = {}  # parameters that forces took from where bodies stood
        self.turned: dict[
            str, Any
        ] = {}  # by parameter that says where an angle was a tick ago: where it is, over turns

    # --- put together by who writes ------------------------------------------------------------------------------------

    def add_row(self, owner: str, error: Any, *, holonomic: bool = True) -> int:
        """One more constraint; its number."""
        self.constraints.append(error if holonomic else NOTHING)
        self.owners.append(owner)
        self.holonomic.append(holonomic)
        return len(self.constraints) - 1

    def add(self, which: str, place: Any, value: Any) -> None:
        """Add to an entry."""
        entries = getattr(self, which)
        total = entries.get(place, NOTHING) + value
        if total == 0:
            entries.pop(place, None)
        else:
            entries[place] = total

    # --- as matrices ---------------------------------------------------------------------------------------------------

    @cached_property
    def M(self) -> Any:  # noqa: N802 - as the formulas have it
        """The mass matrix."""
        n = len(self.coordinates)
        return sympy.SparseMatrix(n, n, self.mass)

    @cached_property
    def Q(self) -> Any:  # noqa: N802
        """Forces on the coordinates: weight, springs, dampers, loads, and what velocities ask for."""
        return sympy.SparseMatrix(len(self.coordinates), 1, {(i, 0): value for i, value in self.loads.items()})

    @cached_property
    def phi(self) -> Any:
        """All constraints; nothing in rows that lock velocities alone."""
        return sympy.Matrix(len(self.constraints), 1, self.constraints)

    @cached_property
    def G(self) -> Any:  # noqa: N802
        """The Jacobian of the constraints."""
        return sympy.SparseMatrix(len(self.constraints), len(self.coordinates), self.jacobian)

    @cached_property
    def gammas(self) -> Any:
        """What G a has to be: minus dG/dt v, and what courses ask for."""
        return sympy.SparseMatrix(len(self.constraints), 1, {(i, 0): value for i, value in self.gamma.items()})

    @cached_property
    def multipliers(self) -> list[Any]:
        """One for each row, named after what it belongs to."""
        counts: dict[str, int] = {}
        found = []
        for owner in self.owners:
            counts[owner] = counts.get(owner, 0) + 1
            found.append(sympy.Symbol(f"{owner}.lambda_{counts[owner]}", real=True))
        return found

    def joint(self, name: str) -> Any:
        """phi of one joint."""
        if name not in self.rows_of:
            raise ModelError(missing("joint", name, self.rows_of, "equations"))
        return self.phi[self.rows_of[name], :]

    def body(self, name: str) -> Any:
        """The internal constraints of one body."""
        if name not in self.closing:
            raise ModelError(missing("body", name, self.closing, "equations"))
        return self.phi[self.closing[name], :]

    def parameter(self, name: str) -> Any:
        """The symbol of a parameter, such as "upper.mass"."""
        known = {one.name: one for one in self.parameters}
        if name not in known:
            raise ModelError(missing("parameter", name, known, "equations"))
        return known[name]

    # --- at numbers ----------------------------------------------------------------------------------------------------

    def values(self, parameters: Mapping[str, float] | None = None) -> dict[Any, float]:
        """What parameters stand for, with some of them changed by name."""
        return self.parameters | {self.parameter(name): float(value) for name, value in (parameters or {}).items()}

    def at(
        self, q: Sequence[float] | Array, v: Sequence[float] | Array, time: float = 0.0,
        parameters: Mapping[str, float] | None = None,
    ) -> dict[str, Array]:  # fmt: skip
        """M, Q, phi, G and gamma as arrays of numbers ("mass", "loads", "constraints", "jacobian", "gamma")."""
        return self.evaluated.at(time, q, v, self.values(parameters))

    @cached_property
    def evaluated(self) -> Evaluated:
        """Functions of numbers, made once."""
        from coordinator.equations.written import Evaluated

        return Evaluated(self)

    def operations(self) -> int:
        """Additions, multiplications and functions of all of it, what is common worked out once."""
        every = [*self.mass.values(), *self.loads.values(), *self.jacobian.values(), *self.gamma.values()]
        common, left = sympy.cse([*every, *self.constraints], order="none")
        return int(sum(one.count_ops() for _, one in common) + sum(one.count_ops() for one in left))

    # --- to be read ----------------------------------------------------------------------------------------------------

    def latex(self, more: Sequence[tuple[str, str, list[str]]] = ()) -> str:
        """A page of LaTeX; `more` sections: heading, words, formulas."""
        from coordinator.equations.page import latex

        return latex(self, more)

    def markdown(self, more: Sequence[tuple[str, str, list[str]]] = ()) -> str:
        """The same for Markdown with formulas between dollars."""
        from coordinator.equations.page import markdown

        return markdown(self, more)


MODULES = [{"nearest_whole": np.rint}, "numpy"]


def function_of(arguments: Sequence[Any], expressions: Sequence[Any]) -> Callable[..., Any]:
    """A function of numbers; what several expressions have in common is worked out once."""
    renamed = {one: sympy.Symbol(f"x{k}", real=True) for k, one in enumerate(arguments)}
    plain = [one.xreplace(renamed) for one in expressions]
    made: Callable[..., Any] = sympy.lambdify(list(renamed.values()), plain, modules=MODULES, cse=True)
    return made


class Evaluated:
    """M, Q, phi, G and gamma at numbers."""

    def __init__(self, written: Written) -> None:
        self.written = written
        n, m = len(written.coordinates), len(written.constraints)
        self.parts: list[tuple[str, tuple[int, ...], list[Any]]] = [
            ("mass", (n, n), list(written.mass)), ("loads", (n,), list(written.loads)),
            ("constraints", (m,), list(range(m))), ("jacobian", (m, n), list(written.jacobian)),
            ("gamma", (m,), list(written.gamma)),
        ]  # fmt: skip
        entries = [*written.mass.values(), *written.loads.values(), *written.constraints]
        entries += [*written.jacobian.values(), *written.gamma.values()]
        arguments = [TIME, *written.coordinates, *written.rates, *written.parameters, *written.led.named]
        self.function = function_of(arguments, entries)

    def at(self, time: float, q: Any, v: Any, parameters: Mapping[Any, float]) -> dict[str, Array]:
        """All of them, as dense arrays."""
        w, count = self.written, len(self.written.coordinates)
        q, v = np.ravel(np.asarray(q, float)), np.ravel(np.asarray(v, float))
        if len(q) != count or len(v) != count:
            raise ModelError(f"equations: {len(q)} coordinates and {len(v)} rates; this model has {count} of each.")
        led = [w.led.value(one, time) for one in w.led.named]
        values = iter(self.function(time, *q, *v, *(parameters[one] for one in w.parameters), *led))
        found = {}
        for name, shape, places in self.parts:
            found[name] = np.zeros(shape)
            for place in places:
                found[name][place] = next(values)
        return found
