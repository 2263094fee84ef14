"""Joints of a robot as its file counts them: where they begin, their ends, and their values over a run."""

from __future__ import annotations

from dataclasses import dataclass

from coordinator.record.run import Run
from modular.elements import Array
from modular.errors import ModelError


@dataclass(frozen=True)
class JointValue:
    """A joint with one coordinate, an angle [rad] or a way [m], counted as the file does."""

    name: str  # in the model
    kind: str  # "angle" or "way"
    begins: float
    low: float | None
    high: float | None
    effort: float | None  # the most that its motor gives [N m], [N]

    @property
    def angle(self) -> float:
        """At which it begins [rad]."""
        return self._one("angle")

    @property
    def way(self) -> float:
        """At which it begins [m]."""
        return self._one("way")

    def _one(self, kind: str) -> float:
        if kind != self.kind:
            raise ModelError(
                f"joint '{self.name}' has {'a way' if self.kind == 'way' else 'an angle'}, no {kind}; take .{self.kind}."
            )
        return self.begins

    def over(self, run: Run) -> Array:
        """Its values at the samples of a run, (n,)."""
        return self.begins + (run.angle(self.name) if self.kind == "angle" else run.way(self.name))
