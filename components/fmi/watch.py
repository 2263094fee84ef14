"""Whether what an FMU shows belongs together: the velocities of its ports are those with which their places change.

Nobody can see in which frame or in which number of radians somebody else's variables are told; along a way it shows.
"""

from __future__ import annotations

import numpy as np

from modular.elements import Array
from modular.errors import ModelError

LEAST_TICKS = 20  # before that steps of low order tell little
APART = 0.25  # of both ways together: what they may be apart by
LEAST_WAY = 1e-6  # m, rad: rounding tells nothing
AT_REST, LEAST_AT_REST = (
    1e-3,
    1e-3,
)  # of its way by velocities; m, rad: joints put right what a held port has drifted in a step
AT_ENDS = 2.0  # steps at the largest velocity, for methods of first order and for jumps


class Pace:
    """Ways of all ports so far, as their places tell them and as their velocities do."""

    def __init__(self, count: int, dimension: int) -> None:
        """Of so many ports."""
        turning = 1 if dimension == 2 else 3
        self._parts = [slice(0, dimension), slice(dimension, dimension + turning)]
        self.way, self.told = np.zeros((count, dimension + turning)), np.zeros((count, dimension + turning))
        self.gone, self.paced, self.fastest = np.zeros((count, 2)), np.zeros((count, 2)), np.zeros((count, 2))
        self.ticks = 0

    def add(self, way: Array, before: Array, after: Array, h: float) -> None:
        """A step: its way, and velocities at both ends."""
        step, told = way.reshape(self.way.shape), (0.5 * h * (before + after)).reshape(self.way.shape)
        self.way += step
        self.told += told
        for k, part in enumerate(self._parts):
            self.gone[:, k] += np.linalg.norm(step[:, part], axis=1)
            self.paced[:, k] += np.linalg.norm(told[:, part], axis=1)
            self.fastest[:, k] = np.maximum(
                self.fastest[:, k], h * np.linalg.norm(after.reshape(told.shape)[:, part], axis=1)
            )
        self.ticks += 1

    def check(self, owner: str, ports: list[str]) -> None:
        """Refuse velocities that are not the rates of places."""
        if self.ticks < LEAST_TICKS:
            return
        for k, (part, place, pace) in enumerate(
            zip(self._parts, ("place", "orientation"), ("velocity", "angular velocity"), strict=True)
        ):
            apart, gone, paced = (
                np.linalg.norm((self.way - self.told)[:, part], axis=1),
                self.gone[:, k],
                self.paced[:, k],
            )
            least = np.where(paced < AT_REST * gone, LEAST_AT_REST, LEAST_WAY)
            wrong = apart > APART * (gone + paced) + AT_ENDS * self.fastest[:, k] + least
            if wrong.any():
                n = int(np.argmax(wrong))
                way, told = (np.array2string(x[n, part], precision=3) for x in (self.way, self.told))
                raise ModelError(
                    f"body '{owner}': the {pace} that its FMU shows at port '{ports[n]}' is not the rate of its {place}: after "
                    f"{self.ticks} steps the {place} has changed by {way}, and the {pace} tells {told}. Both must be in axes of "
                    "the world and in units that the file declares; orientations as (w, x, y, z), a matrix by rows or angles."
                )
