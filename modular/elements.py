"""Elements: the points and directions that components show to each other, one row each.

An element is a point of a body or a direction fixed to it (Séguy 2003, III.2.3.3 and III.3.5: in natural
coordinates every element is a constant linear map of the coordinates). Joints and forces read the state of
elements and write a force on each; bodies write their state and collect the forces. Nobody reads anything else, so
only these rows would ever cross a process boundary.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

MODES = 12  # columns of a response: independent motions of a body whose coordinates are free of each other
RIGID = 6  # of them for a rigid body in space


class Elements:
    """State of every element in use and the force on it; rows are recycled when joints come and go."""

    def __init__(self, dimension: int, capacity: int = 16) -> None:
        self.dimension = dimension
        self.position: Array = np.zeros((capacity, dimension))  # [m] for points, [-] for directions
        self.velocity: Array = np.zeros((capacity, dimension))  # [m/s], [1/s]
        self.current_velocity: Array = np.zeros((capacity, dimension))  # v_n + dt a_n, for dampers [m/s]
        self.force: Array = np.zeros((capacity, dimension))  # [N], [N m]
        self.force_before: Array = np.zeros((capacity, dimension))  # force and velocity one tick ago: the ledger's
        self.velocity_before: Array = np.zeros((capacity, dimension))
        self.response: Array = np.zeros((capacity, dimension, MODES))  # B, with B B^T the compliance
        self.load: Array = np.zeros((capacity, RIGID, RIGID))  # what stiffness asks of the body behind it
        self.bound: Array = np.zeros(capacity)  # largest eigenvalue of that body's loads
        self._used = 0
        self._free: dict[int, list[int]] = {}

    def acquire(self, count: int) -> int:
        """First of `count` consecutive rows, all zero."""
        free = self._free.get(count)
        if free:
            return free.pop()
        first = self._used
        self._used += count
        while self._used > len(self.position):
            self._grow()
        return first

    def release(self, first: int, count: int) -> None:
        """Give rows back."""
        for array in self._arrays():
            array[first : first + count] = 0.0
        self._free.setdefault(count, []).append(first)

    def _arrays(self) -> list[Array]:
        return [value for value in vars(self).values() if isinstance(value, np.ndarray)]

    def _grow(self) -> None:
        for name, array in list(vars(self).items()):
            if isinstance(array, np.ndarray):
                setattr(self, name, np.concatenate([array, np.zeros_like(array)]))
