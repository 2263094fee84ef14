"""What a study is held against where nothing else is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from modular.component import Component

ADAPTIVE = "centralized(solver=minimalcoordinates(method=DOP853, rtol=1e-12, atol=1e-12))"
PLAIN = "penalty"
FINER = 4  # the reference of a fixed step takes this part of the smallest step


@dataclass(frozen=True)
class Reference:
    """A coupling as it is typed, and its step [s]."""

    coupling: str
    dt: float


def default_reference() -> str:
    """An adaptive centralized solution to twelve digits where there is one, else the penalty coupling."""
    import coordinator.couplings.centralized  # noqa: F401  (registers its solvers)

    known = {name.partition(":")[2] for name in Component.registered if name.startswith("coordinator:")}
    return ADAPTIVE if {"Centralized", "MinimalCoordinates"} <= known else PLAIN
