"""How work is shared among threads: every part of a program in as many stretches of rows as there are threads."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Sequence

import numpy as np

from coordinator.engine.driver import ADDRESS, PHASE, SHEET, START, STOP
from coordinator.engine.score import Part
from modular.elements import Elements, Indices
from modular.errors import ModelError
from modular.lanes import LANES

WORTH = 2000  # bodies per thread from which on another thread pays


def crew_for(bodies: int, threads: int | None) -> int:
    """Number of threads: as asked for, or as many as there are cores and enough bodies for."""
    if threads is not None:
        return max(1, min(threads, 1 + bodies // LANES))
    return max(1, min(cores(), bodies // WORTH))


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def giving_way() -> int:
    """Address of the function of this system by which a thread lets others run; 0 where there is none."""
    try:
        if sys.platform == "win32":
            function = ctypes.windll.kernel32.SwitchToThread
        else:
            function = ctypes.CDLL(None).sched_yield
    except (AttributeError, OSError):
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def check_threads(threads: int | None) -> int | None:
    """Refuse what is no number of threads."""
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int | np.integer) or threads < 1):
        raise ModelError(
            f"Simulation: threads = {threads!r}; give a whole number from 1 on, or None for as many as pay. The results are the "
            "same bits for any number."
        )
    return None if threads is None else int(threads)


def share_out(parts: Sequence[Part], elements: Elements, crew: int) -> list[Indices]:
    """The program of each thread; parts with the same verb belong to one phase and may run at the same time."""
    programs = [np.zeros((len(parts), 5), np.int64) for _ in range(crew)]
    for k, (stack, verb) in enumerate(parts):
        elements.prepare(verb)
        stack.prepare(verb)
        address = stack.loops[verb].address(stack, elements)
        blocks = -(-stack.count // LANES)
        for me, program in enumerate(programs):
            first, last = (LANES * (blocks * step // crew) for step in (me, me + 1))
            row = program[k]
            row[[ADDRESS, SHEET, START, STOP]] = address, stack.sheet, first, min(last, stack.count)
            row[PHASE] = int(crew > 1 and k > 0 and parts[k - 1][1] != verb)
    return programs
