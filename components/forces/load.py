"""A load: a constant force on a port, in world axes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from modular.elements import Array, Elements, Indices
from modular.errors import ModelError
from modular.force import Force
from modular.joints import work_of
from modular.kernel import kernel
from modular.side import Mark, Side
from modular.stack import Stack


@dataclass(frozen=True)
class Load(Force):
    """A constant force [N] on a port; it keeps its direction in the world."""

    force: Sequence[float]

    @property
    def sides(self) -> int:
        """One port."""
        return 1

    def check(self, name: str, dimension: int) -> list[str]:
        """A force of the wrong dimension or without a value."""
        if np.shape(self.force) != (dimension,) or not np.all(np.isfinite(self.force)):
            return [f"load '{name}': force = {self.force}; give {dimension} finite numbers [N]."]
        return []

    def kind(self) -> Hashable:
        """All loads share a stack."""
        return Loads

    def new_stack(self, dimension: int) -> Loads:
        """An empty stack of loads."""
        return Loads(dimension)

    def marks(self, name: str, sides: Sequence[Side]) -> list[list[Mark]]:
        """The point of its port."""
        mark = sides[0].point(sides[0].position)
        if mark is None:
            raise ModelError(f"load '{name}': port '{sides[0].name}' cannot take a force.")
        return [[mark]]

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        return cls((1.3, -0.7, 0.4)[:dimension])


class Loads(Stack):
    """Constant forces, one row each."""

    first: Indices
    force: Array  # [N]
    done: Array  # work so far [J]

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.column("first", dtype=np.int64)
        self.column("force", dimension)
        self.column("done")

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a load in."""
        assert isinstance(force, Load)
        row = self.add_row(name)
        self.first[row] = first[0]
        self.force[row] = force.force

    def remove(self, name: str) -> None:
        """Let it go."""
        self.remove_row(name)

    def exert(self, elements: Elements, time: float) -> None:
        """Write the forces on the elements."""
        load_loop(self.count, self.first, self.force, elements.force)

    def account(self, elements: Elements, dt: float) -> None:
        """Book the work of the tick that has just passed."""
        work_loop(
            self.count, self.first, dt, elements.force, elements.force_before, elements.velocity,
            elements.velocity_before, self.done,
        )  # fmt: skip

    def work(self) -> Array:
        """Work done by each so far [J]."""
        return self.done[: self.count].copy()


@kernel
def load_loop(count: int, first: Indices, value: Array, force: Array) -> None:
    """Each load on its element."""
    for n in range(count):
        for c in range(force.shape[1]):
            force[first[n], c] = value[n, c]


@kernel
def work_loop(
    count: int,
    first: Indices,
    dt: float,
    force: Array,
    force_before: Array,
    velocity: Array,
    velocity_before: Array,
    done: Array,
) -> None:
    """Work of each load during a tick."""
    for n in range(count):
        done[n] += work_of(first[n], 1, dt, force, force_before, velocity, velocity_before)
