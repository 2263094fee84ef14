"""How long everybody waits for everything [s]."""

from __future__ import annotations

from dataclasses import dataclass, fields

from modular.errors import ModelError


@dataclass(frozen=True)
class Deadlines:
    """Times [s]. None of them decides bits: they only decide when somebody asks, or gives up and says so."""

    patience: float = 0.2  # for a frame, before it is asked for again; doubles
    patience_most: float = 2.0
    report: float = 0.5  # between two reports of a worker
    silence: float = (
        600.0  # of a worker whose process may still be there, until it counts as dead: a lid may be closed over it
    )
    start: float = 300.0  # of a new incarnation, until its hello
    stuck: float = 3600.0  # without any worker getting on, until the run is stopped with the cause
    orphan: float = 86400.0  # without a word from the coordinator, until a worker gives up

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0.0:
                raise ModelError(f"deadline '{field.name}' is {getattr(self, field.name)!r} s; give a time above zero.")
        if self.silence < 3.0 * self.report:
            raise ModelError(
                f"deadline 'silence' is {self.silence:g} s with a report every {self.report:g} s: one lost report "
                f"would count as a death; give at least {3.0 * self.report:g} s."
            )
