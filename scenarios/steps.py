"""Several steps as typed, `--dt 4e-4,2e-4,1e-4`: for commands that hold runs of one model against each other."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from modular.errors import ModelError

if TYPE_CHECKING:
    from modular.assembly import Assembly

DEFAULT_STEP, DEFAULT_DURATION = 1e-4, 1.0  # where a model suggests none [s]
WHOLE_RATIO_TOLERANCE = 1e-6  # how near to a whole number a ratio of two times must be


def divides(dt: float, interval: float) -> bool:
    """Whether an interval is a whole number of steps."""
    ratio = interval / dt
    return round(ratio) >= 1 and abs(ratio - round(ratio)) <= WHOLE_RATIO_TOLERANCE * ratio


def read_steps(
    assembly: Assembly, text: str | None, *, coarser: Sequence[float], example: str, what: str
) -> tuple[float, ...]:
    """Steps in seconds, the coarsest first; all divide it. `coarser`: multiples of the suggested step where none are given.

    `what` happens at the multiples of the coarsest one.
    """
    if text is None:
        finest = assembly.suggested.get("dt", DEFAULT_STEP)
        return tuple(factor * finest for factor in coarser)
    try:
        steps = [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        steps = []
    if not steps or not all(isfinite(dt) and dt > 0 for dt in steps):
        raise ModelError(f"--dt {text}: write positive numbers of seconds, such as --dt {example}.")
    steps = sorted(set(steps), reverse=True)
    odd = [f"{dt:g}" for dt in steps if not divides(dt, steps[0])]
    if odd:
        raise ModelError(
            f"--dt {text}: {', '.join(odd)} s {'do' if len(odd) > 1 else 'does'} not divide the coarsest step, {steps[0]:g} s, at "
            f"whose multiples {what}; take {steps[0]:g},{steps[0] / 2:g},{steps[0] / 4:g}."
        )
    return tuple(steps)
