"""Samples that workers took become samples of the simulation, as if it had taken them itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coordinator.distributed.workers.part import Part, Share, leave_open
from coordinator.record.recorder import Recorder, Segment
from coordinator.system import System
from modular.ledger import WORK_SECOND


def absorb(recorder: Recorder, system: System, parts: Sequence[Part], taken: Sequence[list[Segment]]) -> None:
    """Put the samples of all workers together; they took them at the same ticks."""
    for pieces in zip(*taken, strict=True):
        done = 0
        while done < pieces[0].used:
            segment = recorder.prepare(system)
            count = min(segment.capacity - segment.used, pieces[0].used - done)
            rows = slice(segment.used, segment.used + count)
            segment.ticks[rows] = pieces[0].ticks[done : done + count]
            for part, piece in zip(parts, pieces, strict=True):
                _each(part, system, segment, piece, rows, slice(done, done + count), _copy)
            for part, piece in zip(parts, pieces, strict=True):
                _each(part, system, segment, piece, rows, slice(done, done + count), _complete)
            segment.used += count
            recorder.took(count)
            done += count


def _each(part: Part, system: System, segment: Segment, piece: Segment, to: slice, of: slice, do: Any) -> None:
    """Every stack of a part with its series, in the whole and in the part."""
    stacks = [*system.bodies, *system.joints, *system.forces]
    whole = [*segment.bodies, *segment.joints, *segment.forces]
    mine = iter([*piece.bodies, *piece.joints, *piece.forces])
    for stack, (_, series) in zip(stacks, whole, strict=True):
        share = part.shares.get(id(stack))
        if share is not None:
            _, own = next(mine)
            for key, array in series.items():
                do(share, key, array[to], own[key][of])


def _copy(share: Share, key: str, target: Any, source: Any) -> None:
    """What a worker is at home with."""
    home = np.flatnonzero(share.home)
    target[:, share.rows[home]] = source[:, home]


def _complete(share: Share, key: str, target: Any, source: Any) -> None:
    """The work on second sides, and what ledgers leave open."""
    second = np.flatnonzero(share.second)
    if key == "ledger" and len(second):
        rows = share.rows[second]
        target[:, rows, WORK_SECOND] = source[:, second, WORK_SECOND]
        leave_open(target, rows)
