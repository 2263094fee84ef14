"""Samples that workers took become samples of the simulation, as if it had taken them itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coordinator.distributed.workers.subsystem import Subsystem, TableSlice, leave_open
from coordinator.record.recorder import Recorder, Segment
from coordinator.system import System
from modular.ledger import WORK_SECOND


def merge_samples(
    recorder: Recorder, system: System, subsystems: Sequence[Subsystem], taken: Sequence[list[Segment]]
) -> None:
    """Put the samples of all workers together; they took them at the same ticks."""
    for pieces in zip(*taken, strict=True):
        done = 0
        while done < pieces[0].used:
            segment = recorder.prepare(system)
            count = min(segment.capacity - segment.used, pieces[0].used - done)
            rows = slice(segment.used, segment.used + count)
            segment.ticks[rows] = pieces[0].ticks[done : done + count]
            _copy_rest(system, segment, subsystems, rows)
            for subsystem, piece in zip(subsystems, pieces, strict=True):
                _each(subsystem, system, segment, piece, rows, slice(done, done + count), _copy)
            for subsystem, piece in zip(subsystems, pieces, strict=True):
                _each(subsystem, system, segment, piece, rows, slice(done, done + count), _complete)
            segment.used += count
            recorder.took(count)
            done += count


def _copy_rest(system: System, segment: Segment, subsystems: Sequence[Subsystem], to: slice) -> None:
    """Forces that are on the ground alone belong to nobody: they are what they were."""
    for stack, (names, series) in zip(system.forces, segment.forces, strict=True):
        rest = np.ones(len(names), np.bool_)
        for subsystem in subsystems:
            table_slice = subsystem.slices.get(id(stack))
            if table_slice is not None:
                rest[table_slice.rows[np.flatnonzero(table_slice.owned)]] = False
        if rest.any():
            for key, array in series.items():
                array[to, rest] = getattr(stack, key)[: len(names)][rest]


def _each(
    subsystem: Subsystem, system: System, segment: Segment, piece: Segment, to: slice, of: slice, do: Any
) -> None:
    """Every stack of a part with its series, in the whole and in the part."""
    stacks = [*system.bodies, *system.joints, *system.forces]
    whole = [*segment.bodies, *segment.joints, *segment.forces]
    mine = iter([*piece.bodies, *piece.joints, *piece.forces])
    for stack, (_, series) in zip(stacks, whole, strict=True):
        table_slice = subsystem.slices.get(id(stack))
        if table_slice is not None:
            _, own = next(mine)
            for key, array in series.items():
                do(table_slice, key, array[to], own[key][of])


def _copy(table_slice: TableSlice, key: str, target: Any, source: Any) -> None:
    """What a worker is at home with."""
    home = np.flatnonzero(table_slice.owned)
    target[:, table_slice.rows[home]] = source[:, home]


def _complete(table_slice: TableSlice, key: str, target: Any, source: Any) -> None:
    """The work on second sides, and what ledgers leave open."""
    second = np.flatnonzero(table_slice.second)
    if key == "ledger" and len(second):
        rows = table_slice.rows[second]
        target[:, rows, WORK_SECOND] = source[:, second, WORK_SECOND]
        leave_open(target, rows)
