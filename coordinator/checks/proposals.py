"""Steps that messages propose: such as the model can take, which is what whoever reads them will type."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from coordinator.checks.context import CheckContext
from modular.numbers import even_part, exactly


def fitting(simulation: CheckContext, step: float) -> float:
    """The longest step up to this one [s] of which the periods of all controllers are multiples; of two digits if one is."""
    whole = _period(simulation)
    return step if whole is None or not step > 0.0 else even_part(whole, step)


def in_words(simulation: CheckContext, step: float) -> str:
    """Such a step as a number to type."""
    return f"{step:.2g}" if _period(simulation) is None else exactly(fitting(simulation, step))


def proposed(simulation: CheckContext, sentence: str, step: float | None) -> tuple[str, float | None]:
    """A remedy whose sentence names its step, with one that the model can take."""
    if step is None:
        return sentence, None
    words = in_words(simulation, step)
    return sentence.replace(f"dt = {step:.2g} s", f"dt = {words} s"), fitting(simulation, step)


def _period(simulation: CheckContext) -> float | None:
    """The longest time of which the periods of all controllers are multiples [s]; None where there are none."""
    periods = [getattr(edge.force, "period", None) for edge in simulation.assembly.force_edges.values()]
    exact = [Fraction(str(float(period))) for period in periods if period is not None]
    if not exact:
        return None
    below = max(one.denominator for one in exact)
    for one in exact:
        below = below * one.denominator // gcd(below, one.denominator)
    return float(Fraction(gcd(*(int(one * below) for one in exact)), below))
