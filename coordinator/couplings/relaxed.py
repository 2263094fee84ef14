"""Relaxed joints: reactions found by local iterations between neighbours, step by step.

Séguy 2003, the first perspective of his conclusion: local iterations in place of one exchange. The step is that of `Glued`, but
nobody sees the whole. Joints and bodies tell each other, over and over, what they have come to, and begin where the step
before suggests. With iterations enough the motion is that of `Glued`; with fewer joints stay open by what is left, and that
is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coordinator.couplings.glued import Glued
from coordinator.couplings.interface.relaxing import METHODS
from coordinator.system import System
from modular.errors import ModelError

FASTEST_METHOD = "conjugate-gradients"
DEFAULT_ITERATIONS = {"conjugate-gradients": 200, "gauss-seidel": 2000, "jacobi": 4000}  # iterations; sweeps need more


@dataclass(frozen=True)
class Relaxed(Glued):
    """Joints that agree with their neighbours: at most so many iterations to close them in a stage, and as many to stop them.

    Left out, 200 by conjugate gradients, 2 000 there and back by Gauss-Seidel, 4 000 by Jacobi.
    `method`: "conjugate-gradients", "gauss-seidel" or "jacobi". Sweeps carry news from joint to joint: a chain of n joints takes
    of the order of n^2 of them, and of n conjugate gradients, which sum two numbers over all joints beside. A run says in
    its timings how many it took, and the most that was left open.
    """

    tolerance: float = 1e-10
    iterations: int | None = None
    method: str = "conjugate-gradients"

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.iterations
        if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
            raise ModelError(f"Relaxed: iterations = {self.iterations!r}; give a whole number from 1 on.")
        if self.method not in METHODS:
            raise ModelError(f"Relaxed: method = {self.method!r}; give one of {', '.join(METHODS)}.")

    def remedy(self, margin: float, dt: float) -> tuple[str, float | None]:
        """A smaller step, more iterations, or the method that needs the fewest."""
        return f"take dt = {dt / 4:.2g} s, or {self._more}", dt / 4

    def shorter(self, system: System, step: float) -> tuple[str, float | None]:
        """More iterations only where there were too few."""
        other = self._more if self._interface(system).spent else "Glued(), which solves for all joints at once"
        return f"take dt = {step:.2g} s, or {other}", step

    def _locked(self, system: System, dt: float) -> tuple[str, None]:
        """What to do where no step helps, down to one of dt."""
        locked, _ = super()._locked(system, dt)
        return (f"{self._more}; {locked}" if self._interface(system).spent else locked), None

    @property
    def _more(self) -> str:
        more = 10 * max(self.most, DEFAULT_ITERATIONS[self.method])
        return f"allow more iterations ({self.most} now), as in Relaxed(iterations={more})" + (
            f", or take method='{FASTEST_METHOD}'" if self.method != FASTEST_METHOD else ""
        )

    def unseen_by_blows(self, system: System, force: str) -> Iterable[str]:
        """All: nobody solves for what they do to each other."""
        return system.joint_home

    @property
    def most(self) -> int:
        """Iterations of a stage, at most."""
        return DEFAULT_ITERATIONS[self.method] if self.iterations is None else self.iterations

    @property
    def _local(self) -> tuple[str, int] | None:
        return self.method, self.most
