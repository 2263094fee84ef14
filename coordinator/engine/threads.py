"""How work is shared among threads: every operation of a program in as many ranges of rows as there are threads."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Sequence

import numpy as np

from coordinator.engine.driver import ADDRESS, PHASE, SHEET, START, STOP
from coordinator.engine.program import ON_ONE_THREAD, Operation
from modular.elements import Elements, Indices
from modular.errors import ModelError
from modular.lanes import LANES

MIN_BODIES_PER_THREAD = 2000  # bodies per thread from which on another thread pays


def thread_count_for(bodies: int, threads: int | None) -> int:
    """Number of threads: as asked for, or as many as there are cores and enough bodies for."""
    if threads is not None:
        return max(1, min(threads, 1 + bodies // LANES))
    return max(1, min(cores(), bodies // MIN_BODIES_PER_THREAD))


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def yield_address() -> int:
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
            f"Simulation: threads = {threads!r}; give a whole number from 1 on, or None for the fastest number. "
            "The results are bitwise identical for any number."
        )
    return None if threads is None else int(threads)


def divide_among_threads(operations: Sequence[Operation], elements: Elements, thread_count: int) -> list[Indices]:
    """The program of each thread; operations with the same verb belong to one phase and may run at the same time."""
    programs = [np.zeros((len(operations), 5), np.int64) for _ in range(thread_count)]
    for k, (stack, verb) in enumerate(operations):
        elements.prepare(verb)
        stack.prepare(verb)
        address = stack.loops[verb].address(stack, elements)
        blocks = -(-stack.count // LANES)
        for thread, program in enumerate(programs):
            first, last = (LANES * (blocks * step // thread_count) for step in (thread, thread + 1))
            if verb in ON_ONE_THREAD:
                first, last = (0, stack.count) if thread == 0 else (0, 0)
            row = program[k]
            row[[ADDRESS, SHEET, START, STOP]] = address, stack.sheet, first, min(last, stack.count)
            row[PHASE] = int(thread_count > 1 and k > 0 and operations[k - 1][1] != verb)
    return programs
