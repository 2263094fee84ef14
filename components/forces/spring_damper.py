"""Spring and damper between two ports, along the line that joins them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from components.joints.rows import measure_apart
from components.joints.spherical import POINTS
from modular.compliant import CompliantRows, spare_implicit_rows
from modular.demand_sharing import growth, request_demand_rows
from modular.elements import GAIN_STEP, Array, Elements
from modular.errors import ModelError
from modular.force import Force
from modular.forces import ForceStack, turned_between
from modular.joint import JointForm, point_marks
from modular.joints import joint_loop
from modular.ledger import STORED, account_loop
from modular.loop import NO_FAILED_ROW, loop
from modular.seen_mass import compute_compliance_rows
from modular.side import Mark, Side
from modular.views import View

SHORTEST = 1e-4  # of where its ends are: the length from which on a spring has a line that lasts


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

    @property
    def coordinate(self) -> str:
        """It pulls along its line."""
        return "distance"

    def check(self, name: str, dimension: int) -> list[str]:
        """Negative or missing values."""
        problems = []
        for label, value in (("stiffness", self.stiffness), ("damping", self.damping), ("length", self.length)):
            if label == "length" and value is None:
                continue
            if not (isinstance(value, int | float | np.number) and np.isfinite(value) and value >= 0):
                problems.append(f"spring '{name}': {label} = {value!r}; give a finite number from 0 on.")
        return problems

    @property
    def draws_together(self) -> bool:
        """Whether it draws its ends together, as stiff in all directions, and no damper asks along which line."""
        return self.length == 0 and self.damping == 0

    def kind(self) -> Hashable:
        """Those that draw their ends together have a stack of their own."""
        return super().kind(), self.draws_together

    def new_stack(self, dimension: int) -> Springs:
        """An empty stack of springs."""
        return SpringsWithoutLength(dimension) if self.draws_together else Springs(dimension)

    def marks(self, name: str, sides: Sequence[Side]) -> list[list[Mark]]:
        """The points of its two ports."""
        a, b = sides
        if self.length and np.linalg.norm(b.position - a.position) <= 0:
            raise ModelError(
                f"spring '{name}': its ends '{a.name}' and '{b.name}' are at one place, so the direction of its "
                f"force with length = {self.length:g} is undefined; attach it to separate ports (the ground end "
                "with at=…), or leave the length out."
            )
        return [[mark] for mark in point_marks(name, a, b, a.position, b.position)]

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        return cls(stiffness=40.0, damping=0.8, length=0.5)


@joint_loop
def line_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """|P_a P_b| - l0."""
    error[0] = measure_apart(a, b, 0, on_first, on_second) - marker[0]


LINE = JointForm("line", line_rows, first=1, second=1, rows=1, translations=1, locks=1, rotations=0, marker=1)


class Springs(ForceStack):
    """Springs with dampers, one row each."""

    law: Array  # k, c, l0, (n, 3); a negative l0 is taken from the first look
    on_first: Array  # -1 and 1: the two ends, as Jacobian rows
    on_second: Array
    compliance: Array
    spring: Array  # dt^2 times its stiffness as a matrix: k along its line and, under tension, F / l across it
    damper: Array  # 4 dt c along its line
    block: Array  # both together

    def __init__(self, dimension: int) -> None:
        super().__init__(1, 1, dimension)
        self.column("law", 3)
        for name in ("on_first", "on_second"):
            self.column(name, dimension, 1, dimension)
        for name in ("compliance", "spring", "damper", "block"):
            self.column(name, dimension, dimension)
        self.fixed("translations", dimension)
        self.column("margin")
        self.column("implicit", dtype=np.int64)
        self.loops = {
            "exert": spring_loop,
            "account": account_loop,
            "request_demand": request_demand_loop,
            "compute_margin": compute_margin_loop,
        }

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a spring in."""
        assert isinstance(force, SpringDamper)
        row = self.add_row(name)
        self.first[row], self.second[row] = first
        self.on_second[row, :, 0, :] = np.eye(self.on_second.shape[1])
        self.on_first[row, :, 0, :] = -np.eye(self.on_first.shape[1])
        self.law[row] = force.stiffness, force.damping, -1.0 if force.length is None else force.length

    @property
    def row_form(self) -> JointForm:
        """The distance of its ends."""
        return LINE

    def may_be_row(self, row: int, owners: Sequence[str]) -> bool:
        """Those with a length: where one that draws its ends together passes through no length its line is none."""
        return bool(self.law[row, 2] != 0.0)

    def instead(self, row: int) -> str:
        """Between ends at one place there is no line along which it could be found."""
        return "" if self.may_be_row(row, ()) else "a Bushing, since its ends begin at one place"

    def most_turned(self, rows: Sequence[int], elements: Elements) -> Array:
        """Its line turns against both bodies; that of one with next to no length turns round at once, and is no row."""
        turned = turned_between(self.first[rows], self.second[rows], elements)
        size = np.abs(elements.position[self.first[rows]]).max(axis=1) + np.abs(
            elements.position[self.second[rows]]
        ).max(axis=1)
        return np.where(self.law[rows, 2] > SHORTEST * size, turned, 0.0)

    def write_row(self, rows: CompliantRows, at: int, row: int) -> None:
        """Its law, and the length at which it pulls nothing."""
        rows.law[at, 0, :2], rows.marker[at, 0] = self.law[row, :2], self.law[row, 2]

    @property
    def read_velocity(self) -> list[str]:
        """Those with a damper that are exerted."""
        damping = self.law[:, 1] * (1 - self.implicit)
        return [name for name, number in zip(self.names, damping, strict=False) if number != 0.0]

    def requested_demand(self) -> tuple[Array, Array]:
        """dt^2 K and 4 dt C per spring, as last asked, (n, d, d)."""
        return self.spring[: self.count], self.damper[: self.count]


class SpringsWithoutLength(Springs):
    """Springs that draw their ends together: those that the step does not resolve are ball joints with compliance."""

    @property
    def row_form(self) -> JointForm:
        """Both ends at one place."""
        return POINTS[self.first_side.shape[1]]

    def may_be_row(self, row: int, owners: Sequence[str]) -> bool:
        """All of them."""
        return True

    def most_turned(self, rows: Sequence[int], elements: Elements) -> Array:
        """What both bodies answer at most, each in the direction in which it answers most, against what they answer together."""
        answers = [elements.response[points[rows]] for points in (self.first, self.second)]
        apart = [np.linalg.eigvalsh(answer @ answer.transpose(0, 2, 1))[:, -1] for answer in answers]
        together = np.linalg.eigvalsh(self.compliance[rows])[:, -1]
        most: Array = np.maximum((apart[0] + apart[1]) / np.maximum(together, 1e-300), 1.0)
        return np.where(together > 0.0, most, 1.0)

    def write_row(self, rows: CompliantRows, at: int, row: int) -> None:
        """As stiff along all axes."""
        rows.law[at, :, 0] = self.law[row, 0]


@loop
def request_demand_loop(start: int, stop: int, springs: View, elements: View) -> int:
    """dt^2 (k n n^T + F/l (1 - n n^T)) and 4 dt c n n^T; a pushed spring gives way sideways and asks nothing there.

    Where its ends coincide it may be drawn out in any direction, and asks in all of them.
    """
    dt, x = elements.clock[GAIN_STEP], elements.position
    size = springs.block.shape[0]
    for n in range(start, stop):
        first, second = springs.first[n], springs.second[n]
        law, spring, damper, block = springs.law[n], springs.spring[n], springs.damper[n], springs.block[n]
        square = 0.0
        for c in range(size):
            square += (x[second, c] - x[first, c]) ** 2
        length = np.sqrt(square)
        if law[2] < 0.0:
            law[2] = length
        across = max(law[0] * (1.0 - law[2] / length), 0.0) if length > 0.0 else law[0]
        for i in range(size):
            for j in range(size):
                along = (x[second, i] - x[first, i]) * (x[second, j] - x[first, j]) / max(square, 1e-300)
                spring[i, j] = dt * dt * (law[0] - across) * along
                damper[i, j] = 4.0 * dt * law[1] * along
            spring[i, i] += dt * dt * across
            damper[i, i] += 0.0 if length > 0.0 else 4.0 * dt * law[1]
        for i in range(size):
            for j in range(size):
                block[i, j] = spring[i, j] + damper[i, j]
    compute_compliance_rows(start, stop, springs, elements, elements.demand.shape[0])
    spare_implicit_rows(start, stop, springs)
    request_demand_rows(start, stop, springs, elements)
    return NO_FAILED_ROW


@loop
def compute_margin_loop(start: int, stop: int, springs: View, elements: View) -> int:
    """The factor by which the step could grow before the bodies' answers reach their limit."""
    for n in range(start, stop):
        spring, damper = 0.0, 0.0
        for i in range(springs.block.shape[0]):
            spring += springs.spring[n, i, i]
            damper += springs.damper[n, i, i]
        springs.margin[n] = growth(
            spring, damper, max(elements.bound[springs.first[n]], elements.bound[springs.second[n]])
        )
    return NO_FAILED_ROW


@loop
def spring_loop(start: int, stop: int, springs: View, elements: View) -> int:
    """F = k (l - l0) + c l' along the line, pulling the ends together; from one place ends part the way they go."""
    x, v, force = elements.position, elements.current_velocity, elements.force
    size = springs.block.shape[0]
    for n in range(start, stop):
        first, second, law = springs.first[n], springs.second[n], springs.law[n]
        square = 0.0
        stretching = 0.0
        parting = 0.0
        for c in range(size):
            arm = x[second, c] - x[first, c]
            square += arm * arm
            stretching += arm * (v[second, c] - v[first, c])
            parting += (v[second, c] - v[first, c]) ** 2
        length = np.sqrt(square)
        if law[2] < 0.0:
            law[2] = length
        speed = np.sqrt(parting)
        rate = stretching / length if length > 0.0 else speed
        stretch = length - law[2]
        pull = law[0] * stretch + law[1] * rate
        springs.ledger[n, STORED] = 0.5 * law[0] * stretch * stretch
        springs.power[n] = law[1] * rate * rate
        for c in range(size):
            along = 0.0
            if length > 0.0:
                along = (x[second, c] - x[first, c]) / length
            elif speed > 0.0:
                along = (v[second, c] - v[first, c]) / speed
            force[first, c] = pull * along
            force[second, c] = -pull * along
    return NO_FAILED_ROW
