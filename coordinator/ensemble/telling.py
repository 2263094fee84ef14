"""What is told of each of many variants that ran side by side, worked out of what was told of all when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from coordinator.ensemble.copies import Names
from coordinator.ensemble.pieces import VariantNotices
from coordinator.record.run import Run
from modular.elements import Array
from modular.tiles import name_in

CHANGES = ("cut", "break", "join", "add", "remove", "apply")  # kinds of events that change a model
Entry = Mapping[str, Any]


class SharedNotices(Mapping[int, VariantNotices]):
    """Of each variant what it would have told alone; all of them came to their end."""

    def __init__(self, run: Run, which: Sequence[int], names: Names, missed: Array | None) -> None:
        """`missed`: what steps left out of each [m], where the method tells."""
        self._missed = {} if missed is None else dict(zip(which, missed.tolist(), strict=True))
        self._which, self._names = tuple(which), names
        self._numbers = frozenset(which)
        self._tick = int(run.settings["ticks"])
        self._forms = run.forms
        self._events: dict[int, list[dict[str, Any]]] = {}
        changes: list[tuple[int, int]] = []  # the ticks of changes of the model, and whose
        for event in run.events:
            if (owner := names.variant(event["name"])) is not None:
                self._events.setdefault(owner, []).append(names.in_model(event, owner))
                changes += [(event["tick"], owner)] if event["kind"] in CHANGES else []
        self._margins = [(entry, self._owners(entry, changes)) for entry in run.margins]

    def _owners(self, entry: Entry, changes: list[tuple[int, int]]) -> frozenset[int]:
        """Of which variants an entry of the log tells."""
        if entry["tick"] == 0 and not changes:
            return self._numbers
        owners = {owner for name in entry["margins"] if (owner := self._names.variant(name)) is not None}
        if entry["tick"] == 0 and changes[:1] != [(0, *owners)]:
            return self._numbers
        if changes and changes[0][0] == entry["tick"] and owners in (set(), {changes[0][1]}):
            owners = {changes.pop(0)[1]}  # a change logs the margins around it, if there are any
        return frozenset(owners)

    def __len__(self) -> int:
        return len(self._which)

    def __iter__(self) -> Iterator[int]:
        return iter(self._which)

    def __contains__(self, variant: object) -> bool:
        return variant in self._numbers

    def __getitem__(self, variant: int) -> VariantNotices:
        if variant not in self._numbers:
            raise KeyError(variant)
        names = self._names
        margins = [
            self._entry(entry, table, variant)
            for (entry, owners), table in zip(self._margins, self._tables, strict=True)
            if variant in owners
        ]
        forms = {name: names.in_model(self._forms[name_in(name, variant)], variant) for name in self._formed[variant]}
        missed = self._missed.get(variant)
        return VariantNotices(list(self._events.get(variant, [])), margins, forms, missed=missed, tick=self._tick)

    def _entry(self, entry: Entry, tables: dict[str, dict[int | None, list[str]]], variant: int) -> dict[str, Any]:
        """An entry as this variant would have it."""
        in_model = self._names.in_model
        found: dict[str, Any] = {}
        for key, value in entry.items():
            if key not in tables:
                found[key] = in_model(value, variant)
                continue
            own = (*tables[key].get(None, ()), *tables[key].get(variant, ()))
            found[key] = {in_model(name, variant): in_model(value[name], variant) for name in own}
        return found

    @cached_property
    def _tables(self) -> list[dict[str, dict[int | None, list[str]]]]:
        """Of each entry of the log its tables: which names tell of which variant."""
        return [
            {key: self._sorted(value) for key, value in entry.items() if isinstance(value, Mapping)}
            for entry, _ in self._margins
        ]

    def _sorted(self, table: Mapping[str, Any]) -> dict[int | None, list[str]]:
        found: dict[int | None, list[str]] = {}
        for name in table:
            found.setdefault(self._names.variant(name), []).append(name)
        return found

    @cached_property
    def _formed(self) -> dict[int, list[str]]:
        """Joints of each variant, by their names in the model."""
        found: dict[int, list[str]] = {k: [] for k in self._which}
        for called in self._forms:
            if (owner := self._names.variant(called)) is not None:
                found[owner].append(self._names.in_model(called, owner))
        return found
