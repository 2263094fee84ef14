"""What all joints, forces and bodies of a run say at once, as tables of time by name; NaN while one was not there.

A run of twenty thousand joints is told in a moment so, where one joint after the other takes minutes. A summary and five
pictures ask for much the same: who reads a run from several sides says so (`reading`), and nothing is worked out twice.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from coordinator.record.run import Run
from coordinator.record.series import parts_of
from modular.elements import Array, Indices
from modular.ledger import LEDGER, brought

Found = TypeVar("Found")
MAX_CACHED_NUMBERS = 2**25  # numbers of a table at most that is kept while a run is read


class Table(Mapping[str, Array]):
    """A column by name, (n, ...) each, which are the rows of `whole`, (names, n, ...)."""

    def __init__(self, names: Sequence[str], whole: Array) -> None:
        self.rows = {name: row for row, name in enumerate(names)}
        self.whole = whole

    def __getitem__(self, name: str) -> Array:
        column: Array = self.whole[self.rows[name]]
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def peaks(self) -> dict[str, float]:
        """The largest absolute value of each that is a number; 0 where there is none."""
        sizes, rest = np.abs(self.whole), tuple(range(1, self.whole.ndim))
        return dict(zip(self, np.max(sizes, axis=rest, initial=0.0, where=np.isfinite(sizes)).tolist(), strict=True))

    def without(self, names: Sequence[str]) -> Array:
        """Those of all others, (others, n, ...)."""
        left = np.ones(len(self), bool)
        left[[self.rows[name] for name in names if name in self.rows]] = False
        return self.whole[left]


@contextmanager
def reading(run: Run) -> Iterator[None]:
    """While this lasts, what is worked out of a run is kept for those who ask again, but for the largest tables."""
    if "_read" in run.__dict__:
        yield
        return
    run.__dict__["_read"] = {}
    try:
        yield
    finally:
        del run.__dict__["_read"]


def once(question: Callable[..., Found]) -> Callable[..., Found]:
    """Let a question about a run, and samples of it, be answered once while it is read."""

    @functools.wraps(question)
    def answer(run: Run, *more: Any) -> Found:
        known = run.__dict__.get("_read")
        if known is None:
            return question(run, *more)
        key = (question.__name__, *(one.tobytes() if isinstance(one, np.ndarray) else one for one in more))
        if key not in known:
            found = question(run, *more)
            if sum(table.whole.size for table in _tables_in(found)) > MAX_CACHED_NUMBERS:
                return found
            known[key] = found
        kept: Found = known[key]
        return kept

    return answer


def _tables_in(found: Any) -> list[Table]:
    return [one for one in (found if isinstance(found, tuple) else (found,)) if isinstance(one, Table)]


@once
def joint_gaps(run: Run, key: str = "violation") -> Table:
    """How far joints are open [m], or how fast they open (`key="violation_rate"`) [m/s]; without those that lock no place."""
    return _table(run, "joints", lambda name, series: _first(series[key], run.translations(name)))


@once
def joint_turns(run: Run, key: str = "violation") -> Table:
    """How far joints are off in their directions [-], or how fast [1/s]; without those that lock none."""
    return _table(run, "joints", lambda name, series: _rest(series[key], run.translations(name)))


@once
def joint_forces(run: Run) -> Table:
    """How large the forces of joints are [N]."""
    d = len(run.model["gravity"])
    return _table(run, "joints", lambda _, series: _first(series["reaction"], d))


@once
def joint_moments(run: Run) -> Table:
    """How large the moments of joints are [N m]; without those that lock no turning."""
    d = len(run.model["gravity"])
    return _table(run, "joints", lambda _, series: _rest(series["reaction"], d))


@once
def internal_errors(run: Run) -> tuple[Table, Table]:
    """How large the errors of the internal constraints of bodies are, and their rates; without bodies that have none."""
    tables: list[list[tuple[slice, Sequence[str], Array]]] = [[], []]
    for part, names, series in parts_of(run.segments, "bodies"):
        bodies = run.members(names)
        if bodies and bodies[0].constrained(series["q"][:1, 0]):
            found = type(bodies[0]).internal_errors(bodies, series["q"], series["v"])
            for table, values in zip(tables, found, strict=True):
                table.append((part, names, values))
    errors, rates = (_put_together(table, len(run)) for table in tables)
    return errors, rates


@once
def port_places(run: Run, at: Indices) -> Table:
    """Where all ports are at some samples [m], (samples, d) by "body.port"; NaN while the body was not there."""
    pieces: list[tuple[Any, Sequence[str], Array]] = []
    for part, names, series in parts_of(run.segments, "bodies"):
        rows = np.flatnonzero((at >= part.start) & (at < part.stop))
        bodies = run.members(names)
        if bodies:
            ports = [f"{name}.{port}" for name, body in zip(names, bodies, strict=True) for port in body.port_names]
            places = type(bodies[0]).port_places(bodies, series["q"][at[rows] - part.start])
            pieces.append((rows, ports, places))
    return _put_together(pieces, len(at))


@once
def joints_there(run: Run) -> Table:
    """When joints are there, 1 or NaN, (n,) each."""
    return _table(run, "joints", lambda _, series: np.where(np.isnan(series["violation"][..., 0]), np.nan, 1.0))


@once
def ledgers(run: Run) -> Table:
    """The energy ledgers of joints and forces, (n, lines) each; see `Run.ledger`."""
    pieces = [
        (part, names, series["ledger"])
        for kind in ("joints", "forces")
        for part, names, series in parts_of(run.segments, kind)
    ]
    start = 0
    for segment in run.segments:
        if segment.closed:
            final = np.stack(list(segment.closed.values()))
            part = slice(start, start + segment.used)
            pieces.append((part, list(segment.closed), np.broadcast_to(final, (segment.used, *final.shape))))
        start += segment.used
    found = _put_together(pieces, len(run))
    order = (*run.joints, *run.forces)
    whole = found.whole
    if order != tuple(found):
        whole = whole[[found.rows[name] for name in order]]
    whole = whole.reshape(len(order), len(run), len(LEDGER))  # also where there is none
    for row, name in enumerate(order):
        if any(led := run.led_sides(name)):
            whole[row] = brought(whole[row], led)
    return Table(order, whole)


def together(ledgers: Array, n: int) -> Mapping[str, Array]:
    """Several ledgers, (ledgers, n, lines), as one, (n,) a line; who was not there had nothing."""
    ledgers = ledgers if np.isfinite(ledgers).all() else np.nan_to_num(ledgers)
    whole = np.zeros((n, len(LEDGER)))
    return ledger_of(np.add.reduce(ledgers, axis=0) + whole if len(ledgers) else whole)


def ledger_of(ledger: Array) -> Mapping[str, Array]:
    """The lines of a ledger by name."""
    return {line: ledger[:, k] for k, line in enumerate(LEDGER)}


def _table(run: Run, part: str, of: Callable[[str, dict[str, Array]], Array | None]) -> Table:
    """`of`: of joints of one form, of which one is named, (n, joints, rows) as (n, joints)."""
    pieces: list[tuple[slice, Sequence[str], Array]] = []
    for samples, names, series in parts_of(run.segments, part):
        values = of(names[0], series) if names else None
        if values is not None:
            pieces.append((samples, names, values))
    return _put_together(pieces, len(run))


def _put_together(pieces: Sequence[tuple[Any, Sequence[str], Array]], n: int) -> Table:
    every = list(pieces[0][1]) if pieces else []
    if any(list(names) != every for _, names, _ in pieces):  # somebody came or went
        every = list(dict.fromkeys(name for _, names, _ in pieces for name in names))
    numbers = {name: row for row, name in enumerate(every)}
    more: tuple[Any, ...] = pieces[0][2].shape[2:] if pieces else ()
    whole = np.full((len(every), n, *more), np.nan)
    for part, names, values in pieces:
        turned = np.swapaxes(values, 0, 1)
        if list(names) == every:
            whole[:, part] = turned
            continue
        rows = np.array([numbers[name] for name in names], np.int64)
        whole[rows[:, None], np.arange(n)[part]] = turned
    return Table(every, whole)


def _first(series: Array, split: int) -> Array | None:
    return np.linalg.norm(series[..., :split], axis=-1) if split else None


def _rest(series: Array, split: int) -> Array | None:
    return np.linalg.norm(series[..., split:], axis=-1) if series.shape[-1] > split else None
