"""What all joints, forces and bodies of a run say at once, as tables of time by name; NaN while one was not there.

A run of twenty thousand joints is told in a moment so, where one joint after the other takes minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from coordinator.record.run import Run
from coordinator.record.series import parts_of
from modular.elements import Array, Indices
from modular.ledger import LEDGER, brought

Table = dict[str, Array]  # a column by name, (n,) each


def joint_gaps(run: Run, key: str = "violation") -> Table:
    """How far joints are open [m], or how fast they open (`key="violation_rate"`) [m/s]; without those that lock no place."""
    return _table(run, "joints", lambda name, series: _first(series[key], run.translations(name)))


def joint_turns(run: Run, key: str = "violation") -> Table:
    """How far joints are off in their directions [-], or how fast [1/s]; without those that lock none."""
    return _table(run, "joints", lambda name, series: _rest(series[key], run.translations(name)))


def joint_forces(run: Run) -> Table:
    """How large the forces of joints are [N]."""
    d = len(run.model["gravity"])
    return _table(run, "joints", lambda _, series: _first(series["reaction"], d))


def joint_moments(run: Run) -> Table:
    """How large the moments of joints are [N m]; without those that lock no turning."""
    d = len(run.model["gravity"])
    return _table(run, "joints", lambda _, series: _rest(series["reaction"], d))


def internal_errors(run: Run) -> tuple[Table, Table]:
    """How large the errors of the internal constraints of bodies are, and their rates; without bodies that have none."""
    tables: list[list[tuple[slice, Sequence[str], Array]]] = [[], []]
    for part, names, series in parts_of(run.segments, "bodies"):
        bodies = [run.bodies[name] for name in names]
        if bodies and bodies[0].internal_violation(series["q"][:1, 0]).size:
            found = type(bodies[0]).internal_errors(bodies, series["q"], series["v"])
            for table, values in zip(tables, found, strict=True):
                table.append((part, names, values))
    errors, rates = (_put_together(table, len(run)) for table in tables)
    return errors, rates


def port_places(run: Run, at: Indices) -> dict[str, Array]:
    """Where all ports are at some samples [m], (samples, d) by "body.port"; NaN while the body was not there."""
    pieces: list[tuple[Any, Sequence[str], Array]] = []
    for part, names, series in parts_of(run.segments, "bodies"):
        rows = np.flatnonzero((at >= part.start) & (at < part.stop))
        bodies = [run.bodies[name] for name in names]
        if bodies:
            ports = [f"{name}.{port}" for name, body in zip(names, bodies, strict=True) for port in body.port_names]
            places = type(bodies[0]).port_places(bodies, series["q"][at[rows] - part.start])
            pieces.append((rows, ports, places))
    return _put_together(pieces, len(at))


def ledgers(run: Run) -> dict[str, Array]:
    """The energy books of joints and forces, (n, lines) each; see `Run.ledger`."""
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
    return {name: brought(found[name], run.led_sides(name)) for name in order}


def together(books: Iterable[Array], n: int) -> dict[str, Array]:
    """Several books as one, (n,) a line; who was not there had nothing."""
    whole = np.zeros((n, len(LEDGER)))
    for book in books:
        whole += book if np.isfinite(book).all() else np.nan_to_num(book)
    return book_of(whole)


def book_of(book: Array) -> dict[str, Array]:
    """The lines of a book by name."""
    return {line: book[:, k] for k, line in enumerate(LEDGER)}


def _table(run: Run, part: str, of: Callable[[str, dict[str, Array]], Array | None]) -> Table:
    """`of`: of joints of one form, of which one is named, (n, joints, rows) as (n, joints)."""
    pieces: list[tuple[slice, Sequence[str], Array]] = []
    for samples, names, series in parts_of(run.segments, part):
        values = of(names[0], series) if names else None
        if values is not None:
            pieces.append((samples, names, values))
    return _put_together(pieces, len(run))


def _put_together(pieces: Sequence[tuple[Any, Sequence[str], Array]], n: int) -> dict[str, Array]:
    numbers: dict[str, int] = {}
    for _, names, _ in pieces:
        for name in names:
            numbers.setdefault(name, len(numbers))
    more: tuple[Any, ...] = pieces[0][2].shape[2:] if pieces else ()
    whole = np.full((len(numbers), n, *more), np.nan)
    for part, names, values in pieces:
        rows = np.array([numbers[name] for name in names], np.int64)
        at = np.arange(n)[part]
        whole[rows[:, None], at] = np.swapaxes(values, 0, 1)
    return dict(zip(numbers, whole, strict=True))


def _first(series: Array, split: int) -> Array | None:
    return np.linalg.norm(series[..., :split], axis=-1) if split else None


def _rest(series: Array, split: int) -> Array | None:
    return np.linalg.norm(series[..., split:], axis=-1) if series.shape[-1] > split else None
