"""What is compared: the model, the methods, their steps, and the times at which all of them are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from modular.elements import Array
from modular.errors import ModelError
from scenarios.comparison.methods import DEFAULT, Method, read_method, read_methods
from scenarios.steps import DEFAULT_DURATION, divides, read_steps

if TYPE_CHECKING:
    from modular.assembly import Assembly

COARSER_FACTORS = (10.0, 5.0)  # of the suggested step, where no steps are given
MAX_SAMPLES = 500  # at most, without the start


@dataclass(frozen=True)
class Plan:
    """A comparison before it is carried out."""

    assembly: Assembly
    scenario: str
    settings: dict[str, Any]
    methods: tuple[Method, ...]
    steps: tuple[float, ...]  # [s], coarsest first
    interval: float  # from one common time to the next [s], a multiple of the coarsest step
    samples: int  # common times without the start
    reference: Method | None = None  # None: the best there is

    @property
    def until(self) -> float:
        """End of every run [s]."""
        return self.samples * self.interval

    @property
    def times(self) -> Array:
        """The common times [s], from 0 on."""
        return np.asarray(self.interval * np.arange(self.samples + 1))


def read_plan(
    assembly: Assembly,
    scenario: str,
    settings: Mapping[str, Any],
    *,
    methods: str = DEFAULT,
    steps: str | None = None,
    until: float | None = None,
    reference: str | None = None,
) -> Plan:
    """The comparison that a command line describes, checked."""
    chosen = read_methods(methods, scenario)
    dts = read_steps(assembly, steps, coarser=COARSER_FACTORS, example="1e-3,1e-4", what="the methods are compared")
    end = assembly.suggested.get("until", DEFAULT_DURATION) if until is None else until
    if not (isfinite(end) and end > 0):
        raise ModelError(f"--until {end:g}: give a positive number of seconds, such as --until 0.5.")
    ticks = int(end / dts[0] * (1 + 1e-9))  # of the coarsest step
    if ticks < 1:
        raise ModelError(
            f"--until {end:g} s is less than the coarsest step of {dts[0]:g} s; give a later time or finer steps."
        )
    every = ceil(ticks / MAX_SAMPLES)
    held = None if reference is None else read_method(reference, scenario, "--reference")
    if held is not None and held.text is None:
        raise ModelError(f"--reference {reference}: solvers by hand are first order; choose another, such as dop853.")
    return Plan(assembly, scenario, dict(settings), chosen, dts, every * dts[0], ticks // every, held)


def pace(assembly: Assembly, interval: float, steps: tuple[float, ...]) -> float:
    """The step at which an exact solution is sampled [s]: as coarse as the events of the model allow.

    Events at times must fall on its ticks. Conditions and breaking joints are watched as closely as the coarsest run does.
    """
    watched = any(s.condition is not None for s in assembly.schedule)
    watched = watched or any(edge.breaks_at is not None for edge in assembly.joint_edges.values())
    timed = [s.time for s in assembly.schedule if s.time is not None and s.time > 0.0]
    candidates = [] if watched else [interval]
    for dt in (*candidates, *steps):
        if all(divides(dt, time) for time in timed):
            return dt
    return steps[-1]
