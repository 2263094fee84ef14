"""How a body closes its internal constraints: the gains of Bayo's augmented Lagrangian.

Séguy 2003, IV.3 and (IV.5)-(IV.9); E. Bayo, R. Ledesma, "Augmented Lagrangian and mass-orthogonal projection
methods for constrained multibody dynamics", Nonlinear Dynamics 9 (1996) 113-130.

At the predicted state the acceleration solves

    (M + alpha H^T H) a' = M a - alpha H^T (dH/dt v + 2 xi omega dphi/dt + omega^2 phi),   from a = M^-1 Q.

The gains decide the order of the whole scheme. Fixed ones (the thesis) leave a first-order
drift of the lengths; gains tied to the step (omega dt = 0.8) make it second order. Stable as long as
omega dt < 2 (sqrt(1 + xi^2) - xi).

The operator S = H M^-1 H^T is factorised once, on the undeformed body, so an iteration leaves over the share by which the
body is deformed. One is enough for moderate loads; a light body between heavy ones, whose elements its joints
would move by a good part of their length per tick, loses its shape with one and keeps it with two (a
rod of 3 g between two of 1 kg; at 1 g no number of iterations helps, a smaller step does).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from modular.component import Component
from modular.errors import ModelError


@dataclass(frozen=True)
class InternalGains(Component):
    """Gains of the internal constraints of a body; the frequency is tied to the step unless `frequency` is given."""

    frequency_per_step: float = 0.8  # omega dt [-]
    damping: float = 0.5  # xi [-]
    frequency: float | None = None  # omega [rad/s]; given: fixed, whatever the step
    artificial_mass: float | None = None  # alpha; left out: infinite, the constrained acceleration at once
    iterations: int = 2  # at least; without an artificial mass light bodies take more where they need them

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.iterations < 1:
            raise ModelError(f"InternalGains: iterations = {self.iterations}; at least one is needed.")
        if self.damping < 0 or (self.artificial_mass is not None and self.artificial_mass <= 0):
            raise ModelError(
                f"InternalGains: damping = {self.damping} and artificial_mass = {self.artificial_mass} "
                "must be positive."
            )
        limit = self.limit
        if self.frequency is None and not 0 <= self.frequency_per_step < limit:
            raise ModelError(
                f"InternalGains: frequency_per_step = {self.frequency_per_step} is unstable; with damping "
                f"{self.damping} it must stay below {limit:.3f}."
            )

    @classmethod
    def thesis(cls) -> InternalGains:
        """The settings of the thesis: alpha = 1e7, three iterations (IV.3.1), and fixed gains.

        Its text does not name omega and xi; with these its Figures VI-4 and VI-10 come out as printed (docs/gallery.md).
        """
        return cls(frequency=1.0, damping=0.05, artificial_mass=1e7, iterations=3)

    @property
    def limit(self) -> float:
        """Largest stable omega dt for this damping."""
        return 2.0 * (sqrt(1.0 + self.damping**2) - self.damping)

    @property
    def more(self) -> int:
        """Iterations at most, beyond those that are asked for. With an artificial mass their number is part of the method: none."""
        return 6 if self.artificial_mass is None else 0

    @property
    def lead(self) -> float:
        """1 where gains are tied to the step: what they do by themselves to a body that turns is not done twice. 0: as printed."""
        return 1.0 if self.frequency is None else 0.0

    def gains(self, dt: float) -> tuple[float, float]:
        """(omega^2 [1/s^2], 2 xi omega [1/s]) for a step of `dt` seconds."""
        omega = self.frequency_per_step / dt if self.frequency is None else self.frequency
        return omega**2, 2.0 * self.damping * omega
