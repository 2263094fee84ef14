"""Numbers of a model by name: `upper.mass`, `spring.stiffness`, `gravity`.

Bodies say themselves how their mass matrices are made of named numbers (modular/naming.py). Of forces it is found out: a force is
made anew with each of its numbers changed, and what changes along in its row, in proportion, is that number; what follows from it
in another way stays a number.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from coordinator.equations.names import symbol
from coordinator.equations.tables import TableTwin
from coordinator.equations.terms import Term, exact
from modular.table import COMMON

Naming = Callable[[str, float], Term]
GRAVITY, TURNED = "gravity", "turned"
KEPT = "kept"  # the column of forces in which what a tick leaves for the next one stands
SAME = 1e-12  # of slopes: what a number enters in proportion
# that may be negative
SIGNED = frozenset(
    {"rest", "force", "moment", "torque", "effort", "no_load", "wind", "target", "M", "gram", "w", "course"}
)


class Parameters:
    """Symbols and what they stand for; or the numbers themselves."""

    def __init__(
        self, *, numbers: bool, running: bool = False, whole: frozenset[str] = frozenset(), turning: bool = False
    ) -> None:
        self.numbers, self.running = numbers, running
        self.turning = turning  # whether angles go on from where they were a tick ago
        self.whole = whole  # owners, or single numbers, that have names also where they are nothing
        self.values: dict[Any, float] = {}
        self.taken: dict[str, tuple[str, str, tuple[int, ...]]] = {}  # by name: force, column, and where in its row

    def named(self, owner: str) -> Naming:
        """Numbers of one component."""

        def make(label: str, value: float) -> Term:
            value = float(value)
            if self.numbers or (value == 0.0 and not {owner, f"{owner}.{label}"} & self.whole):
                return Term(exact(value))
            positive = value > 0.0 and label.partition("_")[0] not in SIGNED
            one = symbol(f"{owner}.{label}" if owner else label, positive=positive)
            self.values[one] = value
            return Term(one)

        return make


def name_gravity(parameters: Parameters, gravity: Any) -> Any:
    """g along one axis, or a component for each."""
    acting = np.flatnonzero(gravity)
    name = parameters.named("")
    found = np.zeros(len(gravity), object)
    if GRAVITY in parameters.whole:
        for axis, value in enumerate(gravity):
            one = symbol(f"{GRAVITY}_{'xyz'[axis]}")
            parameters.values[one], found[axis] = float(value), Term(one)
        return found
    if len(acting) == 1:
        value = float(gravity[acting[0]])
        found[acting[0]] = name("gravity", abs(value)) * (1 if value > 0.0 else -1)
        return found
    for k in acting:
        found[k] = Term(exact(float(gravity[k]))) if parameters.numbers else name(f"gravity_{'xyz'[k]}", gravity[k])
    return found


def numbers_of_gravity(gravity: Any) -> dict[str, float]:
    """The same numbers by name."""
    found = {f"{GRAVITY}_{'xyz'[k]}": float(value) for k, value in enumerate(gravity)}
    acting = np.flatnonzero(gravity)
    return found | ({GRAVITY: abs(float(gravity[acting[0]]))} if len(acting) == 1 else {})


def name_bodies(twin: TableTwin, stack: Any, parameters: Parameters) -> None:
    """Every body gets rows of its own of what several have in common, with names for what it says has one."""
    make, count = stack.make, stack.count
    for name, kind, _, _ in stack.fields():
        if kind == COMMON and name in twin.__dict__:
            twin.__dict__[name] = twin.__dict__[name][make[:count]].copy()
    twin.__dict__["make"] = np.arange(len(make))
    if parameters.running and hasattr(stack, "numbers_in_rows"):
        _name_rows(twin, stack, parameters)
    if not hasattr(stack, "named_numbers"):
        return
    for name, row in stack.row.items():
        if parameters.running and getattr(stack.bodies[name], "by_rows", False):
            continue
        columns, own = stack.named_numbers(name, parameters.named(name))
        for column, values in columns.items():
            twin.__dict__[column][row] = values
        twin.__dict__["bodies"][name].__dict__.update(own)


def _name_rows(twin: TableTwin, stack: Any, parameters: Parameters) -> None:
    """Names for whatever numbers in the rows of running bodies may differ between models."""
    for name, row in stack.row.items():
        naming = parameters.named(name)
        for one in stack.numbers_in_rows(np.array([row])):
            has = one.named[0] or f"{name}.{one.label}" in parameters.whole
            number = float(one.values[0])
            value = naming(one.label, number) if has else float(np.rint(number))  # one, or nothing
            for place in one.places:
                twin.__dict__[one.column][(row, *place)] = value


def name_force(twin: TableTwin, stack: Any, name: str, force: Any, parameters: Parameters, dimension: int) -> None:
    """Put symbols for the numbers of a force into its row."""
    if parameters.numbers or not is_dataclass(force):
        return
    row, naming = stack.row[name], parameters.named(name)
    starts = [int(getattr(stack, side)[row]) for side in ("first", "second", "third") if hasattr(stack, side)]
    base = _row_of(force, starts, name, dimension)
    found: dict[tuple[str, Any], list[tuple[str, float, float]]] = {}
    for label, value, step, more in _changed(force, zeros=name in parameters.whole):
        try:
            rows = _row_of(more(1), starts, name, dimension), _row_of(more(2), starts, name, dimension)
        except (ValueError, AssertionError, TypeError, ArithmeticError):
            continue
        for column in base:
            if not base[column].shape == rows[0][column].shape == rows[1][column].shape:
                continue
            for place in np.argwhere((rows[0][column] != base[column]) | (rows[1][column] != base[column])):
                at = tuple(place.tolist())
                before = base[column][at]
                rise, again = rows[0][column][at] - before, rows[1][column][at] - rows[0][column][at]
                straight = abs(again - rise) <= SAME * abs(rise)
                found.setdefault((column, at), []).append((label, value, rise / step if straight else np.nan))
    for (column, at), asked in found.items():
        label, value, slope = asked[0]
        if len(asked) > 1 or not np.isfinite(slope):
            continue
        before = base[column][at]
        if twin.__dict__[column][(row, *at)] != before:  # it has been looked at since, and says something else now
            continue
        offset = before - slope * value
        offset = 0.0 if abs(offset) <= SAME * abs(before) else offset
        twin.__dict__[column][(row, *at)] = naming(label, value) * exact(slope) + exact(offset)
    if parameters.turning:
        _name_turned(twin, stack, row, name, parameters)
    if parameters.running:
        _name_taken(twin, row, name, {column for column, _ in found}, base, parameters)


def _name_turned(twin: TableTwin, stack: Any, row: int, name: str, parameters: Parameters) -> None:
    """Angles go on over turns from where they were a tick ago: numbers that change as the run goes on."""
    for column in getattr(stack, "turning", ()):
        one = symbol(f"{name}.{TURNED}_{column}")
        parameters.values[one] = float(twin.kept[row, column])
        parameters.taken[one.name] = name, KEPT, (column,)
        twin.kept[row, column] = Term(one)


def _name_taken(twin: TableTwin, row: int, name: str, columns: set[str], base: Any, parameters: Parameters) -> None:
    """Numbers that a force of a running system has taken from where bodies stood, as lengths: beside those of its description."""
    for column in sorted(columns):
        for at in (tuple(place.tolist()) for place in np.argwhere(np.ones(base[column].shape, bool))):
            now = twin.__dict__[column][(row, *at)]
            if isinstance(now, Term) or now == base[column][at] or not np.isfinite(float(now)):
                continue
            label = "_".join((column, *(str(k + 1) for k in at)))
            twin.__dict__[column][(row, *at)] = parameters.named(name)(label, float(now))
            parameters.taken[f"{name}.{label}"] = name, column, at


def numbers_of_force(force: Any, *, zeros: bool) -> list[tuple[str, float]]:
    """Numbers of a force that may have names, by these names; `zeros`: what is 0 as well."""
    return [(label, value) for label, value, _, _ in _changed(force, zeros=zeros)] if is_dataclass(force) else []


def _row_of(force: Any, starts: list[int], name: str, dimension: int) -> dict[str, Any]:
    stack = force.new_stack(dimension)
    stack.add(name, force, starts[: max(force.sides, 1)])
    return {
        column: np.array(getattr(stack, column)[0], float)
        for column, kind, item, _ in stack.fields()
        if kind == "column" and item == "float64"
    }


def _changed(force: Any, *, zeros: bool) -> Iterator[tuple[str, float, float, Callable[[int], Any]]]:
    """Each of its numbers: the name, the value, a step, and the force with so many steps more of it; `zeros`: what is 0 as well."""
    for field in fields(force):
        value = getattr(force, field.name)
        if isinstance(value, bool | str) or value is None or field.name in ("axis", "normal"):
            continue
        try:
            numbers = np.asarray(value, float)
        except (TypeError, ValueError):
            continue
        if numbers.ndim > 1:
            continue
        for k, one in enumerate(numbers.reshape(-1)):
            label = field.name
            if numbers.ndim:
                label += f"_{'xyz'[k] if len(numbers) <= 3 else k + 1}"
            if one != 0.0 or zeros:
                step = float(one) or 1.0
                yield label, float(one), step, functools.partial(_with_more, force, field.name, numbers, k, step)


def _with_more(force: Any, field: str, numbers: Any, k: int, step: float, times: int) -> Any:
    changed = numbers.copy()
    changed.reshape(-1)[k] += step * times
    return replace(force, **{field: tuple(changed.tolist()) if changed.ndim else float(changed)})
