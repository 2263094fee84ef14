"""Models with the same formulas: those of the first are written, and the others are held against what their own parts say.

Variants of a model differ in numbers. Those that have names in the formulas, as masses have, are parameters, a row for each model.
Whether all that differs has a name is not taken for granted: at a place and at rates by lot formulas have to give what the tables
of every model give, constraints, rates, and M a + G^T lambda - Q = 0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from coordinator.building import UnlikeModels
from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.slices import Slices
from coordinator.equations.common_code import GOOD as GOOD
from coordinator.equations.common_code import Code
from coordinator.equations.one_of_many import (
    Model,
    called,
    gravity_of,
    models_in,
    numbers_in_rows,
    numbers_of,
    numbers_of_bodies,
)
from coordinator.equations.parameters import KEPT, numbers_of_gravity
from coordinator.equations.parts import HASTY, MOST
from coordinator.equations.runge_kutta import Motions
from coordinator.equations.smallest import Smallest
from coordinator.equations.solved import LOOSE, LOST_PIVOT
from coordinator.system import System
from modular.elements import TIME, Array, Indices
from modular.errors import CouplingError, ModelError
from modular.tiles import Tiles

CODE = "formulas"  # of models that run one after the other, where they share it
AGREEING = 1e-8  # of the largest of its kind: what two ways to the same number may differ by
ROUGHLY = 2e-3  # the same of dG/dt v, which tables tell by differences along a line; its numbers are those of G
NOTHING = 1e-300
STATE = ("q", "v", "a")  # columns over coordinates; others are over rows
APART = 0.05  # of the extent, and of one [1/s]: how far the place by lot is from where the models stand


class OtherStructure(CouplingError):
    """A model whose formulas are not those of the first."""


class CommonFormulas:
    """Compiled formulas of models that stand side by side, and where each of them is in the coordinates and rows of all."""

    def __init__(
        self, system: System, equations: Equations, whole: frozenset[str] = frozenset(), shown: Sequence[int] = ()
    ) -> None:
        """`whole`: what has names also where it is nothing; `shown`: elements whose motion is written down too."""
        self.system, self.equations = system, equations
        self.smallest: Smallest | None = None
        self.whole = whole
        equations.go(*equations.read())
        # lengths and angles that forces take from where bodies stand
        equations.forces(float(system.elements.clock[TIME]))
        self.models = models_in(system)
        shared = {} if system.shared is None or shown else system.shared.setdefault(CODE, {})
        known: list[Code] = shared.setdefault(whole, [])
        for code in known:
            try:
                self._begin(code, inherited=True)
            except OtherStructure:
                continue
            return
        self._begin(Code.of(system, self.models[0], whole, shown))
        known.append(self.code)

    def _begin(self, code: Code, *, inherited: bool = False) -> None:
        """Take the code, lay out the numbers of all models, and hold it against their tables."""
        self.code, self._inherited = code, inherited
        self.written, self.solved, self.shared, self.powers = code.written, code.solved, code.shared, code.powers
        self.functions = code.functions
        if inherited:
            self._compare(self.models[0])
        self._lay(self.models)
        self._check()
        self.pivots = np.abs(self.motions.guards[:, : len(self.solved.pivots)])
        self.extents = np.maximum(1.0, np.abs(self.motions.q).max(axis=1))
        if self.solved.dependent:
            self.smallest = Smallest(self)

    def _compare(self, model: Model) -> None:
        """Refuse code of a model with other members, or with others of the same names."""
        written, equations = self.written, self.equations
        every = (
            (equations.columns, written.columns), (equations.closing, written.closing), (equations.rows_of, written.rows_of),
        )  # fmt: skip
        if {*written.columns, *written.rows_of, *written.pushes} != model.keys() or not all(
            model[name] in ours and _length(ours[model[name]]) == _length(one)
            for ours, theirs in every
            for name, one in theirs.items()
        ):
            raise OtherStructure("Formulas: this code is that of a model with other members.")

    def _lay(self, models: Sequence[Model]) -> None:
        """Where coordinates and rows of every model are, and its parameters."""
        written, equations = self.written, self.equations
        self.columns = _places(models, (equations.columns, written.columns))
        self.rows = _places(models, (equations.closing, written.closing), (equations.rows_of, written.rows_of))
        order = [one.name for one in written.parameters]
        sizes = (
            len(written.coordinates),
            len(written.constraints),
            len(order),
            len(self.solved.guards),
            len(self.shared),
            len(self.powers),
        )
        self.motions = Motions(len(models), sizes, self.code.formulas)
        self.turned = list(self._turned(models, order))
        self._fill(models, order)

    def _turned(self, models: Sequence[Model], order: list[str]) -> Iterator[tuple[int, int, Any, Indices, Indices]]:
        """Parameters that change as the run goes on: which, the column of what is kept, and by stack the models and their rows."""
        for label, (name, column, at) in self.written.taken.items():
            if column == KEPT:
                names = called(models, name)
                stacks: list[Any] = [self.system.force_home[each].stack for each in names]
                for stack in {id(one): one for one in stacks}.values():
                    those = np.array([k for k, one in enumerate(stacks) if one is stack])
                    rows = np.array([stack.row[names[k]] for k in those])
                    yield order.index(label), at[0], stack, those, rows

    def _fill(self, models: Sequence[Model], order: list[str]) -> None:
        """The parameters of all models: numbers in rows of bodies column by column, then all others."""
        table, places = self.motions.parameters[: len(models)], {name: k for k, name in enumerate(order)}
        missing = set(order)
        for name in self.written.columns:
            for one in numbers_in_rows(self.system, models, name):
                label, named = f"{name}.{one.label}", one.named
                others = np.flatnonzero(named != named[0])
                if self._inherited and (bool(named[0]) or label in self.whole) != (label in places):
                    raise self._other_structure([0], f"{label} has a name in one and none in the other")
                if label not in self.whole and len(others):
                    self._part(named)
                    told = (
                        f"{label} is {one.values[0]:.3g} in one and {one.values[others[0]]:.3g} in the other (M: masses, gram: "
                        "lengths, w: where ports are), and what is 0 or 1 in one has no name"
                    )
                    raise self._other_structure(others.tolist(), told)
                if label in missing:
                    table[:, places[label]] = one.values
                    missing.remove(label)
            for label, values in numbers_of_bodies(self.system, models, name).items():
                if label in missing:
                    table[:, places[label]] = values
                    missing.remove(label)
        for k, model in enumerate(models if self.system.gravities else models[:1]):
            for name, value in numbers_of_gravity(gravity_of(self.system, model)).items():
                if name in places:
                    table[k if self.system.gravities else slice(None), places[name]] = value
                    missing.discard(name)
        several = [numbers_of(self.system, model, self.written.taken, self.whole) for model in self._asked(missing)]
        self._part([frozenset(known) for known in several])
        for k, known in enumerate(several if missing else ()):
            lacking = sorted(missing - known.keys())
            if lacking:
                raise self._other_structure([k], f"there is no '{lacking[0]}'")
            for name in missing:
                table[k, places[name]] = known[name]

    def _asked(self, missing: set[str]) -> Sequence[Model]:
        """Models that are asked for their numbers one by one: for those that are missing, or that are nothing in one of them."""
        acting = self.system.acting
        alike = not acting or (isinstance(acting, Tiles) and acting.alike)
        return self.models if missing or not alike else ()

    def _part(self, kinds: Iterable[Any]) -> None:
        """Of several models those in which the same is something stand side by side; what is nothing in one has no name there."""
        groups: dict[Any, list[int]] = {}
        for k, kind in enumerate(kinds):
            groups.setdefault(kind, []).append(k)
        parted = self.system.parted
        if len(groups) > 1 and parted is not None and self.system.observer is None:
            numbers = [parted(next(iter(model.values())))[1] for model in self.models]
            raise UnlikeModels([[numbers[k] for k in group] for group in groups.values()])

    def _other_structure(self, which: list[int], reason: str) -> OtherStructure:
        first, other = (next(iter(self.models[k].values())) for k in (0, which[0]))
        return OtherStructure(
            f"Formulas: what moves '{other}' is not what moves '{first}' with other numbers: {reason}; take Glued(order=6)."
        )

    def _check(self) -> None:
        """Hold the formulas against the tables of every model, away from where they stand; both are left as they were."""
        equations, size = self.equations, len(self.written.coordinates)
        q, v = equations.read()
        lot = np.random.default_rng(size)
        there_q, there_v = q.copy(), v.copy()
        there_q[self.columns] += APART * equations.extent * lot.uniform(-1.0, 1.0, size)
        there_v[self.columns] += lot.uniform(-1.0, 1.0, size)
        time = float(self.system.elements.clock[TIME])
        self.read(there_q, there_v, np.zeros(equations.size))
        self.rest(time)
        off = self._off(there_q, there_v, time)
        equations.at(time)
        equations.go(q, v)
        self.read(q, v, np.zeros(equations.size))
        self.rest(time)
        wrong = np.flatnonzero(~(off <= AGREEING))
        if len(wrong):
            raise self._other_structure(
                wrong.tolist(), "some of these have no name in the formulas, such as places of ports and directions"
            )

    def _off(self, q: Array, v: Array, time: float) -> Array:
        """By how much each model's formulas miss what its tables say at a place, of the largest that is there."""
        equations = self.equations
        a, multipliers, gaps = np.zeros(equations.size), np.zeros(equations.rows), np.zeros(equations.rows)
        self.tell(a=a, multipliers=multipliers, errors=gaps)
        equations.at(time)
        bias = equations.bias(q, v)
        errors, jacobian, loads = equations.errors(), equations.jacobian(), self.loads(time)
        pull, inertia, turn = jacobian.T @ multipliers, equations.mass @ a, jacobian @ a
        follow = self.rows[:, self.solved.dependent]  # from others only where constraints are obeyed
        turn[follow] = bias[follow] = 0.0
        off = np.zeros(len(self.models))
        for left, parts, places, well in (
            (inertia + pull - loads, (inertia, pull, loads), self.columns, 1.0),
            (turn + bias, (turn, bias), self.rows, AGREEING / ROUGHLY),
            (gaps - errors, (errors, np.full(equations.rows, equations.extent)), self.rows, 1.0),
        ):
            if places.size:
                largest = np.max([np.abs(part[places]).max(axis=1) for part in parts], axis=0)
                off = np.maximum(off, well * np.abs(left[places]).max(axis=1) / np.maximum(largest, NOTHING))
        return off

    def loads(self, time: float) -> Array:
        """What tables say that pulls at all models, at each with its own gravity, in which it is linear."""
        equations, system = self.equations, self.system
        first = equations.forces(time)
        loads = first.copy()
        if not system.gravities:
            return loads
        more = np.array([gravity_of(system, model) for model in self.models]) - system.gravity
        try:
            for axis, one in enumerate(np.eye(len(system.gravity))):
                for stack in system.bodies:
                    stack.gravity = system.gravity + one
                slope = (equations.forces(time) - first)[self.columns]
                loads[self.columns] += more[:, axis, None] * slope
        finally:
            for stack in system.bodies:
                stack.gravity = system.gravity
        return loads

    # --- from all to each, and back --------------------------------------------------------------------------------------

    def read(self, q: Array, v: Array, a: Array) -> None:
        """States of all."""
        for column, values in zip(STATE, (q, v, a), strict=True):
            getattr(self.motions, column)[:] = values[self.columns]

    def read_turns(self) -> None:
        """Where angles were when the tick before ended: forces about hinges go on from the nearest turn."""
        for which, column, stack, those, rows in self.turned:
            self.motions.parameters[those, which] = stack.kept[rows, column]

    def tell(self, **into: Array) -> None:
        """Write columns of all models into arrays over all coordinates, or over all rows."""
        for column, values in into.items():
            places, told = self.columns if column in STATE else self.rows, getattr(self.motions, column)
            values[places] = told if column != "multipliers" or self.smallest is None else self.smallest.of(told)

    def step(self, time: float, h: float) -> None:
        """All models by one step."""
        self.motions.run(self.system.elements, time, h)

    def step_of(self, k: int, time: float, h: float) -> None:
        """One model by a step of its own, or no more than what holds where it stands."""
        self.motions.run(self.system.elements, time, h, k)

    def rest(self, time: float) -> None:
        """What holds where all stand."""
        self.motions.run(self.system.elements, time, 0.0)

    def scales(self) -> dict[str, Array]:
        """What was taken from where models stood when their formulas were written, for checkpoints."""
        own = {"pivots": self.pivots, "extents": self.extents}
        return own if self.smallest is None else own | {"rows": self.smallest.scale}

    def take_scales(self, scales: Mapping[str, Array]) -> None:
        """Take them from a checkpoint; those that were taken where rows lose their grip have other formulas."""
        if scales.keys() != self.scales().keys() or np.shape(scales["pivots"]) != self.pivots.shape:
            raise ModelError(
                "Formulas: this checkpoint was taken in a singular configuration, where formulas cannot be written; resume from "
                "an earlier one, or run from the start."
            )
        self.pivots, self.extents = np.asarray(scales["pivots"]), np.asarray(scales["extents"])
        if self.smallest is not None:
            self.smallest.scale = np.asarray(scales["rows"])

    def wrong(self, share: float, held: Collection[int] = ()) -> tuple[int, str] | None:
        """The first model that a step lost, and why; `share` of its extent that constraints may be open by.

        `held`: models that go over a place where rows lose their grip (passages.py).
        """
        motions = self.motions
        count = len(self.solved.pivots)
        with np.errstate(invalid="ignore"):
            lost: Any = ~(np.isfinite(motions.q) & np.isfinite(motions.v) & np.isfinite(motions.a))
            open_rows = np.abs(motions.errors) > share * self.extents[:, None]
            weak = ~(np.abs(motions.guards[:, :count]) > LOST_PIVOT * self.pivots)
            weak[list(held)] = False
            parting = motions.guards[:, count:] != 0.0
            if parting.any():
                largest = np.maximum(1.0, np.abs(motions.a).max(axis=1, initial=0.0))
                parting = ~(np.abs(motions.guards[:, count:]) <= LOOSE * largest[:, None])
            hasty = motions.h_lambda > HASTY
            hasty[list(held)] = False
            if self.system.observer is not None:
                hasty[:] = False  # tangents go by whole ticks
        every = (lost, open_rows, weak, parting, hasty)
        if not any(each.any() for each in every):  # of many that are right all numbers are looked at as one
            return None
        bad = np.flatnonzero(np.any(np.concatenate(every, axis=1), axis=1))
        lost = lost.any(axis=1)
        k = int(bad[0])
        if lost[k]:
            return k, "its numbers are not finite"
        owners = [pivot.owner for pivot in self.solved.pivots] + [self.written.owners[r] for r in self.solved.dependent]
        for owner, changed in zip(owners, [*weak[k], *parting[k]], strict=True):
            if changed:
                return k, f"rows of '{self.models[k].get(owner, owner)}' depend on others in another way than before"
        if not open_rows[k].any():
            return k, f"forces are stiffer than a part of {MOST} of the step"
        r = int(np.flatnonzero(open_rows[k])[0])
        return (
            k,
            f"'{self.models[k][self.written.owners[r]]}' is open by {abs(motions.errors[k, r]):.2g} after the step",
        )


def _length(one: slice) -> int:
    return int(one.stop - one.start)


def _places(models: Sequence[Model], *parts: tuple[Mapping[str, slice], Iterable[str]]) -> Indices:
    """Numbers of each model as places among those of all, (models, numbers)."""
    own = [
        places.several(called(models, name))
        if isinstance(places, Slices)
        else np.array([np.arange(one.start, one.stop) for one in (places[each] for each in called(models, name))])
        for places, names in parts
        for name in names
    ]
    return np.concatenate(own, axis=1).astype(np.int64) if own else np.empty((len(models), 0), np.int64)
