"""What takes part in a compiled step: who shows which element, who is in one term with whom, and where their numbers lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coordinator.couplings.centralized.compiled.elimination import Layout, lay_out
from coordinator.couplings.centralized.compiled.factors import Factors
from coordinator.couplings.centralized.equations import Equations
from coordinator.engine.program import Operation, compiled
from modular.balance import BalancesInLoops
from modular.elements import Array, Indices
from modular.joints import Joints
from modular.table import Table

MAX_NUMBERS = 8_000_000  # in the blocks of a matrix: beyond, an order that looks further pays
VERBS_OF_JOINTS = ("linearise", "measure_rates", "exert", "account")
VERBS_OF_FORCES = ("exert", "account")
Row = tuple[int, ...]


def can_be_compiled(equations: Equations) -> bool:
    """Whether all parts of a system have loops for what a centralized solver asks of them."""
    system = equations.system
    if system.parted is not None or equations.varying or equations.led or not equations.size:
        return False
    if any(getattr(stack, "elastic", False) or not isinstance(stack, BalancesInLoops) for stack in equations.stacks):
        return False
    if any(getattr(forces, "undecided", False) for forces in system.forces):
        return False
    operations: list[Operation] = [(joints, verb) for joints in equations.joints for verb in VERBS_OF_JOINTS]
    operations += [(forces, verb) for forces in system.forces for verb in VERBS_OF_FORCES]
    operations += [(bodies, "show") for bodies in system.bodies]
    return all(map(compiled, operations))


def address(array: Array | Indices, *place: int) -> int:
    """Where a number of an array lies."""
    return int(array.ctypes.data + sum(step * at for step, at in zip(array.strides, place, strict=False)))


def is_bent(joints: Joints) -> bool:
    """Whether rows of these joints may be no straight lines of the elements: they say more than that points coincide."""
    return joints.form.coincident < joints.form.rows


@dataclass(frozen=True)
class Hold:
    """An element on a body: x = weights . q."""

    body: int
    weights: int  # address
    count: int


class Parts:
    """Of a system that can be compiled: bodies with their tables, in the order of the coordinates."""

    def __init__(self, equations: Equations) -> None:
        self.equations = equations
        self.tables: list[Table] = [stack.balance_table() for stack in equations.stacks]
        self.holds: dict[int, Hold] = {}  # by elements
        self.bodies: list[tuple[Any, int]] = []  # table and row
        self.sizes: list[int] = []
        self.coordinates: list[int] = []
        self.first_rows: list[int] = []  # of their internal constraints
        for table, rows in zip(self.tables, equations.body_rows, strict=True):
            any_table: Any = table
            _, e, d = any_table.pull.shape
            m = any_table.openness.shape[1]
            for row in range(table.count):
                number = len(self.bodies)
                self.bodies.append((table, row))
                self.sizes.append(e * d + m)
                self.coordinates.append(e * d)
                self.first_rows.append(rows.start + m * row)
                for slot in range(int(any_table.numbers[row])):
                    hold = Hold(number, address(any_table.weights, row, slot), e)
                    self.holds[int(any_table.attached[row, slot])] = hold
        self.dimension = equations.system.elements.dimension
        self.joints = self._joints()
        self.forces = self._forces()

    def _joints(self) -> list[tuple[list[int], int, int, Any, int]]:
        """Elements, first row and rows of each joint, its stack and its row there."""
        found: list[tuple[list[int], int, int, Any, int]] = []
        for joints, rows in zip(self.equations.joints, self.equations.joint_rows, strict=True):
            m = joints.form.rows
            for n in range(joints.count):
                sides = ((joints.first[n], joints.form.first), (joints.second[n], joints.form.second))
                elements = [int(start) + k for start, count in sides for k in range(count)]
                found.append((elements, rows.start + m * n, m, joints, n))
        return found

    def _forces(self) -> list[list[int]]:
        """Elements of each force that a body shows."""
        homes = self.equations.system.force_home.values()
        each = [[s + k for s, c in zip(h.starts, h.counts, strict=True) for k in range(c)] for h in homes]
        return [elements for elements in each if any(element in self.holds for element in elements)]

    def owners(self, elements: list[int]) -> set[int]:
        """Bodies that show some elements."""
        return {self.holds[element].body for element in elements if element in self.holds}

    def factors(self, *, coupled: bool) -> Factors | None:
        """The matrix of bodies and joints, and of forces between bodies where these are `coupled`; None where it would be huge."""
        count = len(self.bodies)
        sizes = self.sizes + [rows for _, _, rows, _, _ in self.joints]
        coordinates = self.coordinates + [0] * len(self.joints)
        meetings = [[*self.owners(elements), count + j] for j, (elements, *_) in enumerate(self.joints)]
        if coupled:
            meetings += [sorted(self.owners(elements)) for elements in self.forces]
            meetings += [sorted(self.owners(elements)) for elements, _, _, joints, _ in self.joints if is_bent(joints)]
        layout = lay_out(sizes, coordinates, meetings)
        if layout.numbers > MAX_NUMBERS:
            return None
        return Factors(layout, self._body_lines(layout), self._grips(layout), self.equations.scale)

    def _body_lines(self, layout: Layout) -> list[Row]:
        found: list[Row] = []
        for number, (table, row) in enumerate(self.bodies):
            _, e, d = table.pull.shape
            at, stride, _ = layout.blocks[number, number]
            places = address(table.matrix, row), address(table.slopes, row)
            found.append((at, stride, *places, e, d, table.openness.shape[1], self.first_rows[number]))
        return found

    def _grips(self, layout: Layout) -> list[Row]:
        found: list[Row] = []
        for j, (elements, row, m, joints, n) in enumerate(self.joints):
            node, first = len(self.bodies) + j, joints.form.first
            for k, element in enumerate(elements):
                hold = self.holds.get(element)
                if hold is None:
                    continue
                over, width, _ = layout.blocks[hold.body, node]
                under, _, _ = layout.blocks[node, hold.body]
                column, place = (joints.on_first, k) if k < first else (joints.on_second, k - first)
                pitch = column.strides[1] // 8
                found.append(
                    (
                        over,
                        under,
                        width,
                        address(column, n, 0, place),
                        pitch,
                        hold.weights,
                        hold.count,
                        self.dimension,
                        m,
                        row,
                    )
                )
        return found

    def member(self, layout: Layout, elements: list[int]) -> tuple[list[Row], list[Row]]:
        """Of what is in one term: its elements (row, weights, coordinates of the body), and the blocks of all pairs of them."""
        lines: list[Row] = []
        pairs: list[Row] = []
        for one in elements:
            mine = self.holds.get(one)
            lines.append((one, 0 if mine is None else mine.weights, 0 if mine is None else mine.count))
            for other in elements:
                theirs = self.holds.get(other)
                pairs.append((0, 0, 0) if mine is None or theirs is None else layout.blocks[mine.body, theirs.body])
        return lines, pairs

    def places(self, layout: Layout) -> tuple[Indices, Indices]:
        """Where every coordinate and every row stands in the vector of unknowns."""
        equations, count = self.equations, len(self.bodies)
        coordinates, rows, done = np.zeros(equations.size, np.int64), np.zeros(equations.rows, np.int64), 0
        for number, own in enumerate(self.coordinates):
            start, closures = layout.starts[number], self.sizes[number] - own
            coordinates[done : done + own] = start + np.arange(own)
            rows[self.first_rows[number] : self.first_rows[number] + closures] = start + own + np.arange(closures)
            done += own
        for j, (_, row, m, _, _) in enumerate(self.joints):
            rows[row : row + m] = layout.starts[count + j] + np.arange(m)
        return coordinates, rows
