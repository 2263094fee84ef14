"""Where bodies stand while a glued step is tried: loops of all kinds whose coordinates are rows of columns.

A drift leaves where it has led in `ahead`, with the velocities half-way in `half`; `origin` and `pace` keep where the step began.
"""

from __future__ import annotations

from modular.flat_rows import flat, width_of
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.memory import copy_bytes
from modular.views import View, span_of


@kernel
def copy_rows(source: View, target: View, start: int, stop: int) -> None:
    """Rows of one column become those of another that is as wide."""
    there, size = span_of(source, start, stop)
    here, _ = span_of(target, start, stop)
    copy_bytes(here, there, size)


@kernel
def copy_row(source: View, target: View, n: int) -> None:
    """The same of one row, by its numbers."""
    there, here = flat(source)[n], flat(target)[n]
    for i in range(width_of(source)):
        here[i] = there[i]


@loop
def accept_step_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Accept the step: stand where the drift has led."""
    copy_rows(bodies.ahead, bodies.q, start, stop)
    copy_rows(bodies.half, bodies.v, start, stop)
    return NO_FAILED_ROW


@loop
def save_start_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Save where a step begins."""
    copy_rows(bodies.q, bodies.origin, start, stop)
    copy_rows(bodies.v, bodies.pace, start, stop)
    return NO_FAILED_ROW


@loop
def restore_start_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Restore where the step began."""
    copy_rows(bodies.origin, bodies.q, start, stop)
    copy_rows(bodies.pace, bodies.v, start, stop)
    return NO_FAILED_ROW


@loop
def invalidate_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """There is nothing that a drift begins with but the state."""
    return NO_FAILED_ROW


TRIAL_STEP = {
    "accept_step": accept_step_loop,
    "save_start": save_start_loop,
    "restore_start": restore_start_loop,
    "invalidate": invalidate_loop,
}
