"""Simulations that are stepped for their time, as many ticks at a time as fill a sample."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from coordinator import Coupling, Simulation
from modular.assembly import Assembly
from scenarios.bench.harness import Subject, take_turns
from scenarios.bench.suite import MeasuringEffort

DT = 1e-4  # [s], of every step that is timed
RECORD_EVERY = 1000  # ticks between two samples where recording shall cost next to nothing
MIN_TICKS_PER_SAMPLE, MAX_TICKS_PER_SAMPLE = 4, 200_000  # ticks of a sample


@dataclass
class Stepper:
    """A simulation that goes on by `ticks` whenever it is called; how many, `calibrate` finds out."""

    simulation: Simulation
    bodies: int
    ticks: int = field(default=MIN_TICKS_PER_SAMPLE, init=False)

    @classmethod
    def of(
        cls, assembly: Assembly, record_every: int = RECORD_EVERY, dt: float = DT, coupling: Coupling | None = None
    ) -> Stepper:
        """A simulation of a model, not yet warm."""
        return cls(Simulation(assembly, dt, coupling, record_every=record_every, threads=1), len(assembly.bodies))

    def calibrate(self, seconds: float) -> Stepper:
        """Compile, warm up, and choose the ticks that take about so long."""
        self()
        self()
        started = time.perf_counter()
        self()
        each = (time.perf_counter() - started) / self.ticks
        self.ticks = int(min(max(seconds / max(each, 1e-9), MIN_TICKS_PER_SAMPLE), MAX_TICKS_PER_SAMPLE))
        # a short try counts what a run costs beside its steps; look once more
        if self.ticks > 10 * MIN_TICKS_PER_SAMPLE:
            started = time.perf_counter()
            self()
            each = (time.perf_counter() - started) / self.ticks
            self.ticks = int(min(max(seconds / each, MIN_TICKS_PER_SAMPLE), MAX_TICKS_PER_SAMPLE))
        return self

    def __call__(self) -> None:
        """Go on."""
        self.simulation.run((self.simulation.tick + self.ticks) * self.simulation.dt)

    @property
    def subject(self) -> Subject:
        """For the harness."""
        return Subject(lambda made: self())

    def per_body(self, seconds: list[float]) -> list[float]:
        """Microseconds per body and step."""
        return [1e6 * value / self.ticks / self.bodies for value in seconds]


def step_together(steppers: Mapping[str, Stepper], effort: MeasuringEffort) -> dict[str, list[float]]:
    """Seconds of each in turns, all of them calibrated first."""
    for stepper in steppers.values():
        stepper.calibrate(effort.seconds)
    return take_turns({name: stepper.subject for name, stepper in steppers.items()}, effort.rounds)
