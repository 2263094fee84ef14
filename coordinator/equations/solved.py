"""Accelerations and multipliers as formulas: the bordered system of the equations of motion, eliminated symbol by symbol.

    [M  G^T] [a     ]   [Q    ]
    [G  0  ] [lambda] = [gamma]                                                              Séguy 2003, (II.29)

Each number that comes up on the way gets a name, so that formulas stay as short as the work: a chain of N rods takes operations in
proportion to N. Coordinates go first, body by body, then rows, those with few neighbours before others. A coordinate of which
next to nothing is left once others of its body have gone, as where all mass sits between two ends, waits and goes among the rows
that hold it: divided by so little, rows would be rounding. Which rows depend on others
is found out with numbers, where the model stands; what is divided by is kept (`pivots`), for it must not become nothing elsewhere.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import sympy

from coordinator.equations.courses import TIME
from coordinator.equations.source import FUNCTIONS as NAMES
from coordinator.equations.written import Written
from modular.elements import Array
from modular.errors import ModelError
from modular.formula import FUNCTIONS, as_python

GOOD_PIVOT = 0.1  # of what stood there before other rows went: rows with less wait
WEAK = 2e-3  # of what stood there before other coordinates went: coordinates with less wait
NO_PIVOT = 1e-9  # of that: rows with less depend on others
LOST_PIVOT = 1e-9  # of what it is where the model stands: rows depend on others that did not there
LOOSE = (
    1e-6  # of accelerations: by how much rows that were left out may be off, for rounding and for steps within a tick
)
SHORT = 12  # operations up to which a formula of parameters alone is written out


@dataclass(frozen=True)
class Pivot:
    """What a row is divided by: its name, its value where the model stands, and whose it is."""

    symbol: Any
    value: float
    owner: str


class Solved:
    """`steps` in order, each a name and its formula; accelerations and multipliers in these names."""

    def __init__(self, written: Written, state: tuple[Array, Array], good: float = GOOD_PIVOT) -> None:
        self.written, self.good = written, good
        self.steps: list[tuple[Any, Any]] = []
        self.pivots: list[Pivot] = []
        self.dependent: list[int] = []  # rows that follow from others; their multipliers are nothing
        q, v = state
        self._numbers: dict[Any, float] = dict(zip(written.coordinates, map(float, q), strict=True))
        self._numbers |= dict(zip(written.rates, map(float, v), strict=True)) | dict(written.parameters)
        self._numbers |= {one: written.led.value(one, 0.0) for one in written.led.named} | {TIME: 0.0}
        self._constant = set(written.parameters)
        self.seen: list[Any] = []  # -G M^-1 G^T of each row by itself
        self.elimination = elimination = Elimination(self, written)
        self.entries = len(self.steps)  # steps that write the entries down, before rows are eliminated
        values = elimination.run()
        n = len(written.coordinates)
        self.accelerations, self.multipliers = values[:n], values[n:]
        self.left_out = [self._left_out(r) for r in self.dependent]
        # multipliers that move nothing, one of a row that was left out
        self.idle = [elimination.idle(r) for r in self.dependent]

    def _left_out(self, r: int) -> Any:
        """G a - gamma of a row that followed from others where the model stands: it has to do so everywhere."""
        w, total = self.written, -self.written.gamma.get(r, sympy.Integer(0))
        for (row, c), slope in w.jacobian.items():
            if row == r:
                total += slope * self.accelerations[c]
        return self.name(total)

    @property
    def guards(self) -> list[Any]:
        """What tells whether all this holds at a place: pivots, then what rows that were left out are off by."""
        return [*(pivot.symbol for pivot in self.pivots), *self.left_out]

    def trouble(self, guards: Array, largest: float) -> str | None:
        """Whose rows hold in another way than where the model stands; `largest` acceleration."""
        for pivot, value in zip(self.pivots, guards, strict=False):
            if not abs(value) > LOST_PIVOT * abs(pivot.value):
                return pivot.owner
        for r, value in zip(self.dependent, guards[len(self.pivots) :], strict=True):
            if not abs(value) <= LOOSE * max(1.0, largest):
                return self.written.owners[r]
        return None

    def check(self, guards: Array, largest: float) -> None:
        """Refuse places where the formulas do not hold."""
        if not (np.isfinite(guards).all() and np.isfinite(largest)):
            raise ModelError(
                "equations: numbers are not finite at this place; give finite coordinates and rates, and none that `notes` exclude."
            )
        owner = self.trouble(guards, largest)
        if owner is not None:
            raise ModelError(
                f"equations: rows of '{owner}' depend on others in another way here than where the model stands, or this place "
                "does not obey them; let the model begin in a pose that is not singular (model.begin), or project the state."
            )

    def name(self, value: Any) -> Any:
        """A symbol for a formula that is used again; numbers, symbols and short formulas of parameters stay as they are."""
        if value.is_Atom:
            return value
        constant = value.free_symbols <= self._constant
        if constant:
            value = sympy.cancel(value)
            if value.count_ops() <= SHORT:
                return value
        one = sympy.Symbol(f"x{len(self.steps)}", real=True)
        self.steps.append((one, value))
        if constant:
            self._constant.add(one)
        self._numbers[one] = self.number(value)
        return one

    def branch(self) -> Self:
        """The same, to go on from here without this one."""
        other = copy.copy(self)
        other.steps, other._numbers, other._constant = list(self.steps), dict(self._numbers), set(self._constant)
        other.elimination = copy.copy(self.elimination)
        other.elimination.solved = other
        return other

    def know(self, symbols: Sequence[Any]) -> None:
        """Formulas may be made of these as well."""
        self._numbers |= dict.fromkeys(symbols, 1.0)

    def number(self, value: Any) -> float:
        """A formula where the model stands; what it is made of is worked out once."""
        if value in self._numbers:
            return self._numbers[value]
        if value.is_number or not value.args:
            found = float(value)
        else:
            parts = [self.number(part) for part in value.args]
            try:
                found = _worked_out(value, parts)
            except ZeroDivisionError as error:
                raise ModelError(self._by_nothing()) from error
        self._numbers[value] = found
        return found

    def _by_nothing(self) -> str:
        """Who divides by 0 where the model stands."""
        who = "a formula"
        for name, expressions in self.written.notes.items():
            with suppress(ModelError, ArithmeticError):
                if any(self.number(one) == 0.0 for one in expressions):
                    who = f"'{name}'"
                    break
        return (
            f"{who} divides by a length or an angle that is 0 where the model stands, as between ends at one place: no formula "
            "holds there. Let it stand otherwise, or take Glued(order=6)."
        )

    def expanded(self, value: Any) -> Any:
        """A formula without names in between: for small systems."""
        known: dict[Any, Any] = {}
        needed = self.needed([value])
        for one, step in self.steps:
            if one in needed:
                known[one] = step.xreplace(known)
        return value.xreplace(known)

    def needed(self, values: Sequence[Any]) -> set[Any]:
        """The names that formulas are made of, and those that these are made of."""
        found = {one for value in values for one in value.free_symbols}
        for one, step in reversed(self.steps):
            if one in found:
                found |= step.free_symbols
        return found

    def operations(self) -> int:
        """How many it takes."""
        formulas = [step for _, step in self.steps] + self.accelerations + self.multipliers
        return int(sum(value.count_ops() for value in formulas))

    @cached_property
    def _function(self) -> Any:
        return self.function_of([*self.accelerations, *self.multipliers])

    def at(
        self, q: Sequence[float] | Array, v: Sequence[float] | Array, time: float = 0.0,
        parameters: Mapping[str, float] | None = None,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Accelerations and multipliers at numbers."""
        found = np.array(self._function(q, v, time, parameters))
        n = len(self.written.coordinates)
        return found[:n], found[n:]

    def function_of(self, values: Sequence[Any]) -> Any:
        """A function of numbers (q, v, time, parameters) for formulas in these names."""
        from coordinator.equations.source import python_source

        w, guards = self.written, self.guards
        n, count = len(w.coordinates), len(values)
        function = as_python(python_source(self, [*values, *guards, *(self.accelerations if self.left_out else [])]))

        def at(q: Any, v: Any, time: float = 0.0, parameters: Mapping[str, float] | None = None) -> Array:
            q, v = np.ravel(np.asarray(q, float)), np.ravel(np.asarray(v, float))
            if len(q) != len(w.coordinates) or len(v) != len(w.coordinates):
                raise ModelError(
                    f"equations: {len(q)} coordinates and {len(v)} rates; this model has {len(w.coordinates)} of each."
                )
            known = w.values(parameters)
            courses = np.array([w.led.value(one, time) for one in w.led.named])
            numbers = np.array([known[one] for one in w.parameters])
            found = np.zeros(count + len(guards) + (n if self.left_out else 0))
            function(time, q, v, numbers, courses, found)
            largest = float(np.abs(found[count + len(guards) :]).max(initial=0.0))
            self.check(found[count : count + len(guards)], largest)
            return found[:count]

        return at


def _worked_out(value: Any, parts: list[float]) -> float:
    """One operation on numbers."""
    if value.is_Add:
        return math.fsum(parts)
    if value.is_Mul:
        return math.prod(parts)
    if value.is_Pow:
        return float(parts[0] ** parts[1])
    if value.func not in NAMES:
        raise ModelError(f"equations: '{value.func}' has no source code; this term remains: {value}.")
    return float(FUNCTIONS[NAMES[value.func]](*parts))


class Elimination:
    """The matrix row by row, as it shrinks."""

    def __init__(self, solved: Solved, written: Written) -> None:
        self.solved, self.written, self.n = solved, written, len(written.coordinates)
        self.count = self.n + len(written.constraints)
        self.owners = [
            name for name, own in written.columns.items() for _ in range(own.stop - own.start)
        ] + written.owners
        self.rows: list[dict[int, Any]] = [{} for _ in range(self.count)]
        self.right: list[Any] = [sympy.Integer(0)] * self.count
        for (i, j), value in written.mass.items():
            self.rows[i][j] = value
        entries = [*written.jacobian.values(), *written.loads.values(), *written.gamma.values()]
        values = iter(self._without_repetition(entries))
        self.jacobian = {place: next(values) for place in written.jacobian}  # by their names
        for (r, c), slope in self.jacobian.items():
            self.rows[self.n + r][c] = self.rows[c][self.n + r] = slope
        for i in written.loads:
            self.right[i] = next(values)
        for r in written.gamma:
            self.right[self.n + r] = next(values)
        self.asked = list(self.right)
        self.done: list[tuple[int, Any, list[tuple[int, Any]]]] = []  # row, right side over pivot, and (row, share)
        self.inverses: dict[int, Any] = {}  # of pivots, by row

    def _without_repetition(self, entries: list[Any]) -> list[Any]:
        """Names for formulas; what several have in common has a name before."""
        common, reduced = sympy.cse(entries, symbols=sympy.numbered_symbols("common"), order="none")
        named: dict[Any, Any] = {}
        for one, value in common:
            named[one] = self.solved.name(value.xreplace(named))
        return [self.solved.name(value.xreplace(named)) for value in reduced]

    def run(self) -> list[Any]:
        """Accelerations and multipliers."""
        stood = {k: abs(self._value(k)) for k in range(self.n)}
        weak = {k for k in range(self.n) if not self._goes(k, WEAK * stood[k])}
        left = weak | set(range(self.n, self.count))
        before = {k: stood[k] if k in weak else abs(self._value(k)) for k in left}
        self.solved.seen = [self.rows[k].get(k, sympy.Integer(0)) for k in range(self.n, self.count)]
        while left:
            if weak:  # what is held by these alone stands there once they have gone
                before |= {k: max(before[k], abs(self._value(k))) for k in left if k >= self.n}
            k, share = self._next(left, before)
            left.remove(k)
            if share <= NO_PIVOT and k >= self.n:
                self._leave_out(k)
            else:
                self.solved.pivots.append(Pivot(self.rows[k][k], self._value(k), self.owners[k]))
                self._eliminate(k)
        if weak and self.solved.dependent:
            self.solved.seen = self._seen()
        return self._back([own for _, own, _ in self.done])

    def _goes(self, k: int, least: float) -> bool:
        """Eliminate a coordinate, unless less than that is left of it."""
        if abs(self._value(k)) < least:
            return False
        self._eliminate(k)
        return True

    def _seen(self) -> list[Any]:
        """-G M^-1 G^T of each row by itself, where coordinates have waited for rows."""
        other = Elimination(self.solved, self.written)
        for k in range(self.n):
            other._eliminate(k)
        return [other.rows[k].get(k, sympy.Integer(0)) for k in range(self.n, self.count)]

    def again(self, right: list[Any]) -> list[Any]:
        """The solution for another right-hand side, by the same factors."""
        right, owns = list(right), []
        for k, _, shares in self.done:
            if right[k] != 0:
                for i, share in shares:
                    right[i] = self.solved.name(right[i] - share * right[k])
            owns.append(self.solved.name(right[k] * self.inverses[k]))
        return self._back(owns)

    def _back(self, owns: list[Any]) -> list[Any]:
        found = [sympy.Integer(0)] * self.count
        for (k, _, shares), own in zip(reversed(self.done), reversed(owns), strict=True):
            value = own - sum((share * found[i] for i, share in shares), sympy.Integer(0))
            found[k] = self.solved.name(value)
        return found

    def idle(self, r: int) -> list[Any]:
        """Multipliers of all rows that exert nothing together, with that of a row that was left out as one."""
        found = [sympy.Integer(0)] * self.count
        found[self.n + r] = sympy.Integer(1)
        for k, _, shares in reversed(self.done):
            if k >= self.n:
                value = -sum((share * found[i] for i, share in shares), sympy.Integer(0))
                found[k] = self.solved.name(value)
        return found[self.n :]

    def _value(self, k: int) -> float:
        return self.solved.number(self.rows[k].get(k, sympy.Integer(0)))

    def _next(self, left: set[int], before: Mapping[int, float]) -> tuple[int, float]:
        """The row with the fewest neighbours among those with good pivots, else the one with the best."""
        shares = {k: abs(self._value(k)) / before[k] if before[k] > 0.0 else 0.0 for k in sorted(left)}
        good = [k for k, share in shares.items() if share >= self.solved.good]
        if good:
            best = min(good, key=lambda k: (len(self.rows[k]), k))
            return best, shares[best]
        best = max(shares, key=lambda k: (shares[k], -k))
        return best, shares[best]

    def _leave_out(self, k: int) -> None:
        self.solved.dependent.append(k - self.n)
        for i in list(self.rows[k]):
            self.rows[i].pop(k, None)
        self.rows[k] = {}

    def _eliminate(self, k: int) -> None:
        name = self.solved.name
        row = self.rows[k]
        pivot = row.pop(k)
        inverse = self.inverses[k] = name(1 / pivot)
        others = sorted(row)
        shares = [(i, name(row[i] * inverse)) for i in others]
        for place, (i, share) in enumerate(shares):
            self.rows[i].pop(k, None)
            for j in others[place:]:
                value = self.rows[i].get(j, sympy.Integer(0)) - share * row[j]
                value = sympy.Integer(0) if value == 0 else name(value)
                if value == 0:
                    self.rows[i].pop(j, None)
                    self.rows[j].pop(i, None)
                else:
                    self.rows[i][j] = self.rows[j][i] = value
            if self.right[k] != 0:
                self.right[i] = name(self.right[i] - share * self.right[k])
        own = name(self.right[k] * inverse)
        self.done.append((k, own, shares))
