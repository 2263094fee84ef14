"""The ready scenario `chain` as one compiled loop written by hand: what a step costs with no framework around it.

Rods of 12 coordinates, ball joints, two internal iterations, ledgers on: the arithmetic of coordinator/couplings/penalty.py,
and nothing of its stacks, views or lanes. All that is known of this one model is used: sizes are written out, of symmetric
matrices a half is kept, joint n sits between bodies n - 1 and n. Weights of the ports and matrices of the joints are general,
as ours are. Bodies go through a step in blocks of `WIDE`, which stay in fast memory meanwhile; in a block every number has a
row with one place per body, so that the compiler handles as many bodies with one instruction as the processor can.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coordinator import Simulation
from modular.elements import Array
from modular.errors import Diverged, ModelError
from scenarios.bench.by_hand import rows as r
from scenarios.bench.by_hand.step import steps
from scenarios.bench.models import chain as model_of


class ByHand:
    """The chain as it starts in a simulation; call it with a number of ticks."""

    def __init__(self, bodies: int, dt: float) -> None:
        with Simulation(model_of(bodies), dt) as simulation:
            (stack,), (joints,) = simulation.system.bodies, simulation.system.joints
            elements = simulation.system.elements
        self.bodies, self.dt = bodies, dt
        rods: Any = stack  # its columns are its own affair; here they are known
        names = [f"rod{k}" for k in range(bodies)]
        at = [rods.row[name] for name in names]
        by = [joints.row[name] for name in ["hook", *(f"ball{k}" for k in range(1, bodies))]]
        of = rods.make[at]
        if rods.gains[4] != 2:
            raise ModelError(f"by_hand: {rods.gains[4]:g} internal iterations; the loop is written for two.")
        beta, gamma, stiffness, damping, iterations, lead = map(float, rods.gains[:6])
        self._gains = (beta, gamma, stiffness, damping, iterations, lead)
        x, y, z = map(float, rods.gravity)
        self._gravity = (x, y, z)
        self._blocks = np.zeros((-(-bodies // r.WIDE), r.ROWS * r.PITCH))
        for row, values in (
            (r.Q, rods.q[at]), (r.V, rods.v[at]), (r.A, rods.a[at]), (r.FALL, rods.fall[of]),
            (r.INVERSE_MASS, half(rods.inverse_mass[of])), (r.INVERSE_S, rods.inverse_local[of]),
            (r.GRAM, half(rods.gram[of])),
            (r.START_WEIGHTS, [rods.bodies[name].port_weights["start"] for name in names]),
            (r.END_WEIGHTS, [rods.bodies[name].port_weights["end"] for name in names]),
            (r.K, joints.stiffness[by]), (r.C, joints.damping[by]), (r.PRELOAD, joints.preload[by]),
            (r.POWER_BEFORE, joints.power_before[by]), (r.BOOK, joints.ledger[by]),
            (r.EFFORT_BEFORE, elements.force_before[joints.first[by]]),
            (r.END_V_BEFORE, elements.velocity_before[joints.first[by]]),
            (r.START_V_BEFORE, elements.velocity_before[joints.second[by]]),
        ):  # fmt: skip
            self.write(row, np.asarray(values, float).reshape(bodies, -1))
        self._blocks.reshape(-1, r.ROWS, r.PITCH)[0, r.END : r.END + 3, 0] = elements.position[joints.first[by[0]]]

    def __call__(self, ticks: int) -> None:
        """Go on."""
        tick = steps(self._blocks, self.bodies, ticks, self.dt, self._gains, self._gravity)
        if tick >= 0:
            message = f"by_hand: a rod has lost its shape {tick + 1} ticks on; take a smaller step."
            raise Diverged(message, component="chain", tick=tick + 1, holding_step=None)

    def write(self, row: int, values: Array) -> None:
        """Fill some rows, (bodies, size)."""
        rows = self._blocks.reshape(-1, r.ROWS, r.PITCH)
        for c, some in enumerate(np.array_split(values, range(r.WIDE, self.bodies, r.WIDE))):
            rows[c, row : row + values.shape[1], : len(some)] = some.T

    def read(self, row: int, size: int) -> Array:
        """Some rows, (bodies, size)."""
        rows = self._blocks.reshape(-1, r.ROWS, r.PITCH)[:, row : row + size, : r.WIDE]
        return np.asarray(rows.transpose(0, 2, 1).reshape(-1, size)[: self.bodies])


def half(matrices: Array) -> Array:
    """Upper halves of symmetric matrices, row by row."""
    rows, columns = np.triu_indices(matrices.shape[1])
    return np.asarray(matrices[:, rows, columns])


def chain(bodies: int, dt: float) -> ByHand:
    """The ready scenario `chain`, to be called with a number of ticks."""
    return ByHand(bodies, dt)
