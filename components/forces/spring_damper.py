"""Spring and damper between two ports, along the line that joins them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from modular import seen_mass
from modular.elements import RIGID, Array, Elements, Indices
from modular.errors import ModelError
from modular.force import Force
from modular.joint import point_marks
from modular.kernel import kernel
from modular.ledger import STORED, Booked, account_loop
from modular.side import Mark, Side


@dataclass(frozen=True)
class SpringDamper(Force):
    """Pulls with k (l - l0) + c l' along its line; `length` l0 [m] is the distance at which it was made if left out.

    stiffness k [N/m], damping c [N s/m]. The damper reads the velocity of the new tick, v + dt a: with the predicted one,
    half a step old, it would be first order.
    """

    stiffness: float
    damping: float = 0.0
    length: float | None = None

    @property
    def sides(self) -> int:
        """Two ports."""
        return 2

    def check(self, name: str, dimension: int) -> list[str]:
        """Negative or missing values."""
        problems = []
        for label, value in (("stiffness", self.stiffness), ("damping", self.damping), ("length", self.length)):
            if value is not None and not (np.isfinite(value) and value >= 0):
                problems.append(f"spring '{name}': {label} = {value}; give a finite number from 0 on.")
        return problems

    def kind(self) -> Hashable:
        """All springs share a stack."""
        return Springs

    def new_stack(self, dimension: int) -> Springs:
        """An empty stack of springs."""
        return Springs(dimension)

    def marks(self, name: str, sides: Sequence[Side]) -> list[list[Mark]]:
        """The points of its two ports."""
        a, b = sides
        if np.linalg.norm(b.position - a.position) <= 0:
            raise ModelError(
                f"spring '{name}': its ends '{a.name}' and '{b.name}' are at one place, so it has no direction; attach it to ports "
                "apart from each other (the ground end with at=…)."
            )
        return [[mark] for mark in point_marks(name, a, b, a.position, b.position)]

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        return cls(stiffness=40.0, damping=0.8, length=0.5)


class Springs(Booked):
    """Springs with dampers, one row each."""

    law: Array  # k, c, l0, (n, 3); a negative l0 is taken from the first look
    on_first: Array  # -1 and 1: the two ends, as Jacobian rows
    on_second: Array
    seen_first: Array
    seen_second: Array
    compliance: Array
    spring: Array  # dt^2 times its stiffness as a matrix: k along its line and, under tension, F / l across it
    damper: Array  # 4 dt c along its line

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.column("law", 3)
        for name in ("on_first", "on_second"):
            self.column(name, dimension, 1, dimension)
        for name in ("seen_first", "seen_second"):
            self.column(name, dimension, RIGID)
        for name in ("compliance", "spring", "damper"):
            self.column(name, dimension, dimension)

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a spring in."""
        assert isinstance(force, SpringDamper)
        row = self.add_row(name)
        self.first[row], self.second[row] = first
        self.on_second[row, :, 0, :] = np.eye(self.on_second.shape[1])
        self.on_first[row, :, 0, :] = -np.eye(self.on_first.shape[1])
        self.law[row] = force.stiffness, force.damping, -1.0 if force.length is None else force.length

    def remove(self, name: str) -> None:
        """Let it go."""
        self.remove_row(name)

    def exert(self, elements: Elements, time: float) -> None:
        """Write the forces on the elements."""
        spring_loop(
            self.count, self.first, self.second, self.law, elements.position, elements.current_velocity, elements.force,
            self.ledger, self.power,
        )  # fmt: skip

    @property
    def turns(self) -> bool:
        """Its line turns against the bodies."""
        return True

    def ask(self, elements: Elements, dt: float) -> None:
        """E = dt^2 K + 4 dt C; the damper counts twice that of a joint, for it reads a newer velocity."""
        n = self.count
        demand_loop(n, self.first, self.second, self.law, dt, elements.position, self.spring, self.damper)
        seen_mass.see_loop(
            n, self.first, self.second, self.on_first, self.on_second, elements.response, RIGID,
            self.seen_first, self.seen_second, self.compliance,
        )  # fmt: skip
        seen_mass.load_loop(
            n, self.on_first.shape[1], self.first, self.second, self.seen_first, self.seen_second,
            self.spring + self.damper, elements.load,
        )  # fmt: skip

    def demands(self) -> tuple[Array, Array]:
        """dt^2 K and 4 dt C per spring, as last asked, (n, d, d)."""
        return self.spring[: self.count], self.damper[: self.count]

    def account(self, elements: Elements, dt: float) -> None:
        """Book the tick that has just passed."""
        account_loop(
            self.count, self.first, self.second, 1, 1, dt, elements.force, elements.force_before, elements.velocity,
            elements.velocity_before, self.power, self.power_before, self.ledger,
        )  # fmt: skip


@kernel
def demand_loop(
    count: int, first: Indices, second: Indices, law: Array, dt: float, x: Array, spring: Array, damper: Array
) -> None:
    """dt^2 (k n n^T + F/l (1 - n n^T)) and 4 dt c n n^T; a pushed spring gives way sideways and asks nothing there."""
    for n in range(count):
        square = 0.0
        for c in range(x.shape[1]):
            square += (x[second[n], c] - x[first[n], c]) ** 2
        length = np.sqrt(square)
        rest = law[n, 2] if law[n, 2] >= 0.0 else length
        across = max(law[n, 0] * (1.0 - rest / length), 0.0) if length > 0.0 else 0.0
        for i in range(x.shape[1]):
            for j in range(x.shape[1]):
                along = (x[second[n], i] - x[first[n], i]) * (x[second[n], j] - x[first[n], j]) / max(square, 1e-300)
                spring[n, i, j] = dt * dt * (law[n, 0] - across) * along
                damper[n, i, j] = 4.0 * dt * law[n, 1] * along
            spring[n, i, i] += dt * dt * across


@kernel
def spring_loop(
    count: int,
    first: Indices,
    second: Indices,
    law: Array,
    x: Array,
    v: Array,
    force: Array,
    ledger: Array,
    power: Array,
) -> None:
    """F = k (l - l0) + c l' along the line, pulling the ends together."""
    for n in range(count):
        square = 0.0
        stretching = 0.0
        for c in range(x.shape[1]):
            arm = x[second[n], c] - x[first[n], c]
            square += arm * arm
            stretching += arm * (v[second[n], c] - v[first[n], c])
        length = np.sqrt(square)
        if law[n, 2] < 0.0:
            law[n, 2] = length
        rate = stretching / length if length > 0.0 else 0.0
        stretch = length - law[n, 2]
        pull = law[n, 0] * stretch + law[n, 1] * rate
        ledger[n, STORED] = 0.5 * law[n, 0] * stretch * stretch
        power[n] = law[n, 1] * rate * rate
        for c in range(x.shape[1]):
            along = (x[second[n], c] - x[first[n], c]) / length if length > 0.0 else 0.0
            force[first[n], c] = pull * along
            force[second[n], c] = -pull * along
