"""The variants of a model: which numbers differ, and the model of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from coordinator.ensemble.parameters import (
    BODY,
    EVENTS,
    FORCE,
    GRAVITY,
    JOINT,
    Parameter,
    changed,
    check_member,
    parameter,
    values_of,
)
from modular.assembly import Assembly, ForceEdge, JointEdge
from modular.body import Body
from modular.elements import Array
from modular.errors import ModelError
from modular.tiles import Tiles, Which

KEPT_LATELY = 512  # members of variants, of those that are made again as fast
Members = dict[tuple[str, str], Any]  # by kind and name, what a variant has instead of what the model has


class Variants:
    """A model, and what is other in each of its variants."""

    def __init__(self, model: Assembly, vary: Mapping[str, Any]) -> None:
        if not isinstance(vary, Mapping) or not vary:
            raise ModelError(
                f"Ensemble: vary = {vary!r}; give values by name, such as {{'upper.masses.0': np.linspace(0.5, 2.0, 100)}}."
            )
        self.model = model
        self.parameters = [parameter(model, str(name)) for name in vary]
        self.values: dict[str, Array] = {
            found.name: values_of(found, model, vary[found.name]) for found in self.parameters
        }
        counts = {name: len(array) for name, array in self.values.items()}
        if len(set(counts.values())) > 1:
            told = ", ".join(f"'{name}' has {count}" for name, count in counts.items())
            raise ModelError(f"Ensemble: vary: {told}; give every name a value for each variant.")
        self.count = next(iter(counts.values()))
        if not self.count:
            raise ModelError("Ensemble: vary gives no values; give at least one variant.")
        self._made: dict[tuple[str, str, int], Any] = {}  # members of variants, made once
        self._firsts: dict[
            tuple[str, str], list[int]
        ] = {}  # of each variant the first with the same numbers of a member
        self._sound: dict[str, Array] = {}  # by body, of every variant whether it is sound for certain
        self._lately: dict[tuple[str, str, int], Any] = {}  # the same of those that columns say, for a while
        self.shared: dict[bytes, dict[str, Any]] = {}  # what those have in common that run one after the other
        self._listed: dict[str, list[Any]] = {}  # values of parameters, as lists
        self._by_member: dict[tuple[str, str], list[Parameter]] = {}
        for found in self.parameters:
            self._by_member.setdefault((found.kind, found.owner), []).append(found)
        self.columns: dict[str, dict[str, Array]] = {}  # bodies that differ in plain fields alone, and these
        for (kind, owner), those in self._by_member.items():
            columns = columns_of(model.bodies[owner], those, self.values) if kind == BODY else None
            if columns is not None:
                self.columns[owner] = columns

    def __len__(self) -> int:
        return self.count

    def __contains__(self, kind: object) -> bool:
        """Whether something of a kind differs."""
        return any(found.kind == kind for found in self.parameters)

    def value(self, name: str, k: int) -> Any:
        """The number or numbers of a variant."""
        row = self.values[name][k]
        return float(row) if row.ndim == 0 else tuple(map(tuple, row.tolist())) if row.ndim > 1 else tuple(row.tolist())

    def members(self, k: int) -> Members:
        """What a variant has instead of what the model has; refused where that is no such thing."""
        return {(kind, owner): self.member(kind, owner, k) for kind, owner in self._by_member}

    def member(self, kind: str, owner: str, k: int) -> Any:
        """One of them; variants with the same numbers of it have one in common."""
        home = self._made
        if kind == BODY and owner in self.columns:  # its values stay where they are
            home = self._lately
            if len(home) > KEPT_LATELY:
                home.clear()
        else:
            k = self._first_alike(kind, owner, k)
        made = home.get((kind, owner, k))
        if made is None:
            made = home[kind, owner, k] = self._make(kind, owner, k)
        return made

    def _first_alike(self, kind: str, owner: str, k: int) -> int:
        """The first variant in which a member has the same numbers as in this one, to the last bit."""
        known = self._firsts.get((kind, owner))
        if known is None:
            columns = [self.values[found.name].reshape(self.count, -1) for found in self._by_member[kind, owner]]
            numbers = np.ascontiguousarray(np.concatenate(columns, axis=1))
            rows = numbers.view(np.dtype((np.void, numbers.itemsize * numbers.shape[1]))).ravel()
            _, first, which = np.unique(rows, return_index=True, return_inverse=True)
            known = self._firsts[kind, owner] = first[which].tolist()
        return int(known[k])

    def bodies(self, which: Which) -> Tiles[Body]:
        """Bodies of some variants side by side, by names of their own."""
        rows = np.asarray(which, np.int64)
        columns = {
            owner: {field: values[rows] for field, values in fields.items()} for owner, fields in self.columns.items()
        }
        return Tiles(self.model.bodies, which, self._body, columns, self._loose(BODY) - columns.keys())

    def joints(self, which: Which, renamed: Callable[[JointEdge, int], JointEdge]) -> Tiles[JointEdge]:
        """The same of joints; `renamed`: with the names of a variant."""
        loose, edges = self._loose(JOINT), self.model.joint_edges
        return Tiles(
            edges, which, lambda name, k: renamed(self.member(JOINT, name, k) if name in loose else edges[name], k), {}, loose
        )  # fmt: skip

    def forces(self, which: Which, renamed: Callable[[ForceEdge, int], ForceEdge]) -> Tiles[ForceEdge]:
        """The same of forces."""
        loose, edges = self._loose(FORCE), self.model.force_edges
        return Tiles(
            edges, which, lambda name, k: renamed(self.member(FORCE, name, k) if name in loose else edges[name], k), {}, loose
        )  # fmt: skip

    def _loose(self, kind: str) -> set[str]:
        return {owner for what, owner in self._by_member if what == kind}

    def _body(self, name: str, k: int) -> Body:
        varied = (BODY, name) in self._by_member
        found: Body = self.member(BODY, name, k) if varied else self.model.bodies[name]
        return found

    def _make(self, kind: str, owner: str, k: int) -> Any:
        parameters = self._by_member[kind, owner]
        member = parameters[0].member(self.model)
        try:
            if kind == BODY and owner in self.columns:
                member = replace(member, **{field: _plain(rows[k]) for field, rows in self.columns[owner].items()})
                if self._surely_sound(owner)[k]:
                    return member
            else:
                member = self._quickly(parameters, member, k) if kind == BODY else self._changed(parameters, member, k)
            problems = check_member(kind, owner, member, self.model.dimension)
        except (ModelError, TypeError, ValueError) as error:
            problems = [str(error)]
        if problems:
            told = ", ".join(f"{found.name} = {self.value(found.name, k)}" for found in parameters)
            raise ModelError(f"Ensemble: variant {k}: {told}: {problems[0]}")
        return member

    def _changed(self, parameters: list[Parameter], member: Any, k: int) -> Any:
        return changed(member, [(found.path, self.value(found.name, k)) for found in parameters])

    def _quickly(self, parameters: list[Parameter], member: Any, k: int) -> Any:
        """The same of a description whose fields differ, or single numbers in them, with little to do for each variant."""
        fields: dict[str, Any] = {}
        for found in parameters:
            path, values = found.path, self._listed.setdefault(found.name, [])
            if not values:
                values += self.values[found.name].tolist()
            if len(path) == 1 and path[0] not in fields and not isinstance(values[k], list):
                fields[path[0]] = values[k]
            elif len(path) == 1 and path[0] not in fields and not isinstance(values[k][0], list):
                fields[path[0]] = tuple(values[k])
            elif (
                len(path) == 2
                and not isinstance(values[k], list)
                and type(now := fields.get(path[0], getattr(member, path[0]))) is tuple
            ):
                place = int(path[1])
                fields[path[0]] = (*now[:place], values[k], *now[place + 1 :])
            else:
                return self._changed(parameters, member, k)
        return replace(member, **fields)

    def check(self, which: Iterable[int] | None = None) -> None:
        """Refuse the first variant whose numbers cannot be; bodies that differ in plain fields are looked at as columns first."""
        every = np.arange(self.count) if which is None else np.array(list(which), np.int64)
        sound = {(BODY, owner): self._surely_sound(owner)[every] for owner in self.columns}
        others = [key for key in self._by_member if key not in sound]
        asked = range(len(every)) if others else np.flatnonzero(~np.all(list(sound.values()), axis=0)).tolist()
        for place in asked:
            for kind, owner in self._by_member:
                if (kind, owner) not in sound or not sound[kind, owner][place]:
                    self.member(kind, owner, int(every[place]))

    def _surely_sound(self, owner: str) -> Array:
        """Of every variant of a body whether it is sound for certain, found out once."""
        if owner not in self._sound:
            body: Any = self.model.bodies[owner]
            self._sound[owner] = np.asarray(
                type(body).sound_rows(self.bodies(Which(range(self.count))).rows_of([owner]))
            )
        return self._sound[owner]

    def model_of(self, k: int) -> Assembly:
        """The model of one variant."""
        if not 0 <= k < self.count:
            raise ModelError(f"Ensemble: there is no variant {k}; they are numbered from 0 to {self.count - 1}.")
        found = self.model.copy()
        homes: dict[str, Any] = {BODY: found.bodies, JOINT: found.joint_edges, FORCE: found.force_edges}
        for (kind, owner), member in self.members(k).items():
            if kind == GRAVITY:
                found.gravity = np.array(member, float)
            elif kind == EVENTS:
                found.schedule = list(member)
            else:
                homes[kind][owner] = member
        return found


def _plain(row: Array) -> Any:
    """One row of a column, as descriptions hold it."""
    return tuple(row.tolist()) if row.ndim else float(row)


def columns_of(body: Body, parameters: Sequence[Parameter], values: Mapping[str, Array]) -> dict[str, Array] | None:
    """Fields of a body that differ, one row for each variant; None where more differs than numbers of plain fields."""
    found: dict[str, Array] = {}
    for one in parameters:
        field, *place = one.path
        given = values[one.name]
        if field not in getattr(body, "plain_fields", ()) or len(place) > 1:
            return None
        if not place:
            if field in found or given.ndim > 2:
                return None
            found[field] = given
            continue
        now = getattr(body, field)
        if type(now) is not tuple or given.ndim != 1:
            return None
        rows = found.get(field)
        rows = np.tile(np.array(now, float), (len(given), 1)) if rows is None else rows.copy()
        rows[:, int(place[0])] = given
        found[field] = rows
    return found
