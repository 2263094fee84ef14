"""Rounds in which bodies seek an end of a step that follows from itself."""

from __future__ import annotations

from modular.kernel import kernel

MOST_ITERATIONS = 40  # most that are tried
STALL_RATIO = 0.5  # of the round before: a motion that has not fallen below this share falls no more
STALLED_TOLERANCE = 1e5  # times nothing: what is accepted then


@kernel
def still_converges(moved: float, before: float) -> bool:
    """Whether another round is of use: what is stiff makes of rounding in places a motion that no round takes away."""
    return moved > 1.0 and not STALL_RATIO * before < moved <= STALLED_TOLERANCE
