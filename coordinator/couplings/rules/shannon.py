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

from coordinator.couplings.rules.rule import StiffnessRule
from coordinator.engine.program import Operation, Stacks
from modular.elements import GAIN_STEP, Array
from modular.errors import ModelError
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View


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

    def program(self, system: Stacks) -> list[Operation]:
        """One seen mass per row."""
        for stack in system.joints:
            stack.rule[:3] = self.delta, self.damping, stack.form.locks - stack.form.rotations
            stack.loops["stiffen"] = stiffen_loop
        operations: list[Operation] = [(stack, "respond_freely") for stack in system.bodies]
        return operations + [
            (stack, verb) for stack in system.joints for verb in ("compute_free_compliance", "stiffen")
        ]

    def remedy(self, margin: float, dt: float) -> tuple[str, float | None]:
        """A smaller delta; a smaller step would only stiffen the joints in proportion."""
        lower = max(self.delta * margin * 0.9, 0.01)
        return (
            "with this rule the stiffness grows as the step decreases, so no step is stable: use Stable(), or "
            f"Shannon(delta={lower:.2g})",
            None,
        )


@kernel
def largest_of(compliance: Array, start: int, stop: int) -> float:
    """The largest entry on a part of the diagonal."""
    largest = 0.0
    for i in range(start, stop):
        largest = max(largest, compliance[i, i])
    return largest


@loop
def stiffen_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """K and C of every joint, row by row."""
    dt, delta, damping, locked = elements.clock[GAIN_STEP], joints.rule[0], joints.rule[1], int(joints.rule[2])
    omega = 2.0 * pi * delta / dt  # (IV.18)
    rows, split = joints.block.shape[0], joints.translations.shape[0]
    for n in range(start, stop):
        compliance, stiffness, damper = joints.compliance[n], joints.stiffness[n], joints.damping[n]
        stiffness[:, :] = 0.0
        damper[:, :] = 0.0
        for i in range(rows):
            first, last = (0, split) if i < split else (split, rows)
            rank = locked if i < split else joints.rotations.shape[0]
            seen = compliance[i, i]
            if last - first > rank:  # a cross product: one of its rows may see nothing
                seen = largest_of(compliance, first, last)
            mass = 1.0 / seen  # (IV.14)
            if joints.holonomic.shape[0] == 1:
                stiffness[i, i] = omega * omega * mass  # (IV.19)
                damper[i, i] = 2.0 * damping * omega * mass  # (IV.20)
            else:
                damper[i, i] = delta / dt * mass  # (IV.27)
    return NO_FAILED_ROW
