"""The stiffness rule of the thesis, as published.

Séguy 2003, IV.5.1: one scalar seen mass per equation from the plain M^-1 (IV.14), omega_0 = 2 pi delta / dt (IV.18),
p = m_v omega_0^2 (IV.19), v = 2 epsilon m_v omega_0 (IV.20), delta = 0.3.

The thesis asks for delta < 0.5. That is not a bound: for one isolated equation the scheme is stable
iff 2 pi delta <= 2 (sqrt(1 + epsilon^2) - epsilon), that is delta <= 0.318 without damping and 0.303 at epsilon = 0.05;
neighbours lower it further. The margin shown before a run says so. Where a cross product has three rows of rank
two (the thesis picks two of them), all its rows take the smallest seen mass among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np

from coordinator.rules.rule import StiffnessRule
from coordinator.system import System
from modular.elements import MODES
from modular.errors import ModelError


@dataclass(frozen=True)
class Shannon(StiffnessRule):
    """delta is the share of the sampling frequency, damping the ratio epsilon."""

    delta: float = 0.3
    damping: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.delta < 0.5:
            raise ModelError(
                f"Shannon: delta = {self.delta}; give a share between 0 and 0.5 (IV.18); the thesis uses 0.3."
            )
        if not 0.0 <= self.damping <= 1.0:
            raise ModelError(f"Shannon: damping = {self.damping}; give a ratio from 0 to 1.")

    def refresh(self, system: System, dt: float) -> None:
        """One seen mass per row."""
        system.respond(constrained=False)
        omega = 2.0 * pi * self.delta / dt  # (IV.18)
        for joints in system.joints:
            joints.see(system.elements, modes=MODES)
            n, rows, split = joints.count, joints.form.rows, joints.form.translations
            compliance = np.einsum("nii->ni", joints.compliance[:n]).copy()
            form = joints.form
            for part, rank in ((slice(split), form.locks - form.rotations), (slice(split, rows), form.rotations)):
                if compliance[:, part].shape[1] > rank:  # a cross product: one of its rows may see nothing
                    compliance[:, part] = compliance[:, part].max(axis=1, keepdims=True)
            mass = np.zeros((n, rows, rows))
            mass[:, np.arange(rows), np.arange(rows)] = 1.0 / compliance  # (IV.14)
            if not joints.form.holonomic:
                joints.damping[:n] = self.delta / dt * mass  # (IV.27)
                continue
            joints.stiffness[:n] = omega**2 * mass  # (IV.19)
            joints.damping[:n] = 2.0 * self.damping * omega * mass  # (IV.20)

    def remedy(self, margin: float, dt: float) -> tuple[str, float | None]:
        """A smaller delta; a smaller step would only stiffen the joints in proportion."""
        lower = max(self.delta * margin * 0.9, 0.01)
        return (
            f"with this rule the stiffness grows as the step falls, so no step holds: use Stable(), or Shannon(delta={lower:.2g})",
            None,
        )
