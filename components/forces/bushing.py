"""An elastic bushing: springs and dampers between the frames of two ports, in all directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from components.joints.marks import line_mark, must, oriented
from components.joints.rows import go_along, go_along_in_plane
from modular.blocks import shaped
from modular.compliant import CompliantRows, spare_implicit_rows, write_geometry
from modular.demand_sharing import growth, request_demand_rows
from modular.elements import GAIN_STEP, Array
from modular.errors import ModelError
from modular.force import Force
from modular.forces import ForceStack
from modular.joint import JointForm, point_marks, unit
from modular.kernel import kernel
from modular.lanes import types
from modular.ledger import STORED, account_loop
from modular.loop import NO_FAILED_ROW, loop
from modular.seen_mass import compute_compliance_rows
from modular.side import Mark, Side
from modular.views import View

# how it stood when it was made, in the plane; in space the way alone
MADE, COSINE, SINE, WAY, ACROSS, LEAN, ROTATED = range(7)
Stiffness = float | Sequence[float]


@dataclass(frozen=True)
class Bushing(Force):
    """Pulls its second port back to where it was against the first when it was made, and turns it back.

    stiffness [N/m] and damping [N s/m] along the axes of the first port, one number or one per axis; turning [N m/rad] and
    turning_damping [N m s/rad] about them (in the plane one number). Its two ports may lie apart: it stands at the first. Turns are
    told by their sines about each axis, so it is meant for small ones. In the plane `axis` is the first of its axes.
    """

    stiffness: Stiffness
    damping: Stiffness = 0.0
    turning: Stiffness = 0.0
    turning_damping: Stiffness = 0.0
    axis: Sequence[float] | None = None

    @property
    def sides(self) -> int:
        """Two ports."""
        return 2

    def gains(self, dimension: int) -> Array:
        """Stiffness and damping per row, (rows, 2)."""
        found = []
        for lines, size in (
            ((self.stiffness, self.damping), dimension),
            ((self.turning, self.turning_damping), 2 * dimension - 3),
        ):
            found.append(np.stack([np.broadcast_to(np.asarray(line, float), (size,)) for line in lines], -1))
        return np.concatenate(found)

    def check(self, name: str, dimension: int) -> list[str]:
        """Negative numbers, and more or fewer of them than there are axes."""
        try:
            gains = self.gains(dimension)
        except (TypeError, ValueError):
            gains = np.array(np.nan)
        problems = []
        if not (np.isfinite(gains).all() and (gains >= 0.0).all()):
            problems.append(
                f"bushing '{name}': stiffness = {self.stiffness}, damping = {self.damping}, turning = {self.turning}, "
                f"turning_damping = {self.turning_damping}; give finite numbers from 0 on, one for all axes or {dimension} "
                f"(turns: {2 * dimension - 3})."
            )
        if self.axis is not None:
            try:
                unit(name, self.axis, dimension)
            except ModelError as error:
                problems.append(str(error).replace("joint", "bushing", 1))
            if dimension == 3:
                problems.append(f"bushing '{name}': axis = {self.axis}; in space its axes are those of its first port.")
        return problems

    def new_stack(self, dimension: int) -> Bushings:
        """An empty stack of bushings."""
        return Bushings(dimension)

    def marks(self, name: str, sides: Sequence[Side]) -> list[list[Mark]]:
        """The points, and directions on both sides."""
        first, second = sides
        try:
            mark_a, mark_b = point_marks(name, first, second, first.position, second.position)
            oriented(name, first, second)
            if len(first.position) == 2:
                return [
                    [mark_a, must(first.direction(first.directions[0]))],
                    [mark_b, must(second.direction(second.directions[0]))],
                ]
            return [
                [mark, *(line_mark(name, side, axis) for axis in first.frame)]
                for mark, side in ((mark_a, first), (mark_b, second))
            ]
        except ModelError as error:
            raise ModelError(str(error).replace("joint '", "bushing '", 1)) from error

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        if dimension == 2:
            return cls((40.0, 60.0), 0.4, 3.0, 0.02, axis=(0.8, 0.6))
        return cls((40.0, 60.0, 50.0), 0.4, (3.0, 2.0, 4.0), 0.02)


def _scratch(forces: Any) -> list[tuple[int, ...]]:
    first, second, rows = forces.shape_of("first_side"), forces.shape_of("second_side"), forces.shape_of("gains")[0]
    return [first, second, (rows, *first), (rows, *second), (rows,)]


scratch_of = shaped(types.float64, _scratch)


@kernel
def measure_displacement(forces: View, elements: View, n: int, scratch: Any) -> None:
    """By how much it is shifted along its axes and turned about them, with derivatives."""
    a, b, on_a, on_b, error = scratch
    made, size = forces.made[n], a.shape[1]
    for k in range(a.shape[0]):
        for c in range(size):
            a[k, c] = elements.position[forces.first[n] + k, c]
            b[k, c] = elements.position[forces.second[n] + k, c]
    for i in range(error.shape[0]):
        error[i] = 0.0
        for k in range(a.shape[0]):
            for c in range(size):
                on_a[i, k, c] = 0.0
                on_b[i, k, c] = 0.0
    if size == 3:
        for i in range(3):
            go_along(a, b, i, 1 + i, error, on_a, on_b)
            # a_j = x_i x a_k and so on: a small turn t takes b_j to a_j + t x a_j, so t_i = (a_k . b_j - a_j . b_k) / 2
            j, k = 1 + (i + 1) % 3, 1 + (i + 2) % 3
            for c in range(3):
                error[3 + i] += 0.5 * (a[k, c] * b[j, c] - a[j, c] * b[k, c])
                on_a[3 + i, k, c] += 0.5 * b[j, c]
                on_a[3 + i, j, c] -= 0.5 * b[k, c]
                on_b[3 + i, j, c] += 0.5 * a[k, c]
                on_b[3 + i, k, c] -= 0.5 * a[j, c]
    else:
        sine, cosine = a[1, 0] * b[1, 1] - a[1, 1] * b[1, 0], a[1, 0] * b[1, 0] + a[1, 1] * b[1, 1]
        if made[MADE] == 0.0:
            axis = forces.axis[n]
            made[COSINE] = a[1, 0] * axis[0] + a[1, 1] * axis[1]
            made[SINE] = a[1, 0] * axis[1] - a[1, 1] * axis[0]
            length = np.sqrt(sine * sine + cosine * cosine)
            made[LEAN], made[ROTATED] = cosine / length, sine / length
        go_along_in_plane(a, b, 0, 1, made[COSINE], made[SINE], error, on_a, on_b)
        go_along_in_plane(a, b, 1, 1, -made[SINE], made[COSINE], error, on_a, on_b)
        c, s = made[LEAN], made[ROTATED]
        error[2] = c * sine - s * cosine
        on_a[2, 1, 0] = c * b[1, 1] - s * b[1, 0]
        on_a[2, 1, 1] = -c * b[1, 0] - s * b[1, 1]
        on_b[2, 1, 0] = -c * a[1, 1] - s * a[1, 0]
        on_b[2, 1, 1] = c * a[1, 0] - s * a[1, 1]
    first_way = 1 if size == 3 else WAY
    for i in range(size):
        if made[MADE] == 0.0:
            made[first_way + i] = error[i]
        error[i] -= made[first_way + i]
    made[MADE] = 1.0


@loop
def bushing_rows_loop(start: int, stop: int, bushings: View, elements: View) -> int:
    """Shifts and turns of bushings that are rows of the interface."""
    scratch = scratch_of(bushings)
    for n in range(start, stop):
        measure_displacement(bushings, elements, n, scratch)
        _, _, on_a, on_b, error = scratch
        write_geometry(bushings, n, error, on_a, on_b)
    return NO_FAILED_ROW


IN_PLANE = JointForm("bushing-2d", bushing_rows_loop, first=2, second=2, rows=3, translations=2, locks=3, rotations=1)
IN_SPACE = JointForm("bushing", bushing_rows_loop, first=4, second=4, rows=6, translations=3, locks=6, rotations=3)


class Bushings(ForceStack):
    """Bushings, one row each."""

    row_columns = ("gains", "axis", "made")
    gains: Array  # stiffness and damping, (n, rows, 2)
    axis: Array
    made: Array  # how it stood when it was first looked at
    on_first: Array
    on_second: Array
    compliance: Array
    spring: Array  # dt^2 K, 4 dt C, and both together
    damper: Array
    block: Array
    margin: Array

    def __init__(self, dimension: int) -> None:
        sides, rows = (2, 3) if dimension == 2 else (4, 6)
        super().__init__(sides, sides, dimension)
        self.column("gains", rows, 2)
        self.column("axis", dimension)
        self.column("made", 7)
        for name in ("on_first", "on_second"):
            self.column(name, rows, sides, dimension)
        for name in ("compliance", "spring", "damper", "block"):
            self.column(name, rows, rows)
        self.column("margin")
        self.column("implicit", dtype=np.int64)
        self.fixed("translations", dimension)
        self.loops = {
            "exert": bushing_loop,
            "account": account_loop,
            "request_demand": request_demand_loop,
            "compute_margin": compute_margin_loop,
        }

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a bushing in."""
        assert isinstance(force, Bushing)
        row, size = self.add_row(name), self.axis.shape[1]
        self.first[row], self.second[row] = first
        self.gains[row] = force.gains(size)
        self.axis[row] = np.eye(size)[0] if force.axis is None else unit(name, force.axis, size)

    @property
    def row_form(self) -> JointForm:
        """Shifts and turns."""
        return IN_PLANE if self.first_side.shape[1] == 2 else IN_SPACE

    def write_row(self, rows: CompliantRows, at: int, row: int) -> None:
        """Its laws, one for each axis."""
        rows.law[at, :, :2] = self.gains[row]

    @property
    def read_velocity(self) -> list[str]:
        """Those that damp and are exerted."""
        return [name for name, row in self.row.items() if self.gains[row, :, 1].any() and not self.implicit[row]]

    def requested_demand(self) -> tuple[Array, Array]:
        """dt^2 K and 4 dt C per bushing as last asked, (n, rows, rows)."""
        return self.spring[: self.count], self.damper[: self.count]


@loop
def bushing_loop(start: int, stop: int, bushings: View, elements: View) -> int:
    """-J^T (K e + C e')."""
    scratch = scratch_of(bushings)
    x, v = elements.force, elements.current_velocity
    for n in range(start, stop):
        measure_displacement(bushings, elements, n, scratch)
        a, _, on_a, on_b, error = scratch
        first, second, gains = bushings.first[n], bushings.second[n], bushings.gains[n]
        stored, power = 0.0, 0.0
        for i in range(error.shape[0]):
            rate = 0.0
            for k in range(a.shape[0]):
                for c in range(a.shape[1]):
                    rate += on_a[i, k, c] * v[first + k, c] + on_b[i, k, c] * v[second + k, c]
            stored += 0.5 * gains[i, 0] * error[i] * error[i]
            power += gains[i, 1] * rate * rate
            error[i] = gains[i, 0] * error[i] + gains[i, 1] * rate
        for k in range(a.shape[0]):
            for c in range(a.shape[1]):
                on_one, on_other = 0.0, 0.0
                for i in range(error.shape[0]):
                    on_one -= on_a[i, k, c] * error[i]
                    on_other -= on_b[i, k, c] * error[i]
                x[first + k, c] = on_one
                x[second + k, c] = on_other
        bushings.ledger[n, STORED] = stored
        bushings.power[n] = power
    return NO_FAILED_ROW


@loop
def request_demand_loop(start: int, stop: int, bushings: View, elements: View) -> int:
    """dt^2 K + 4 dt C along its axes as they stand."""
    dt, scratch = elements.clock[GAIN_STEP], scratch_of(bushings)
    for n in range(start, stop):
        measure_displacement(bushings, elements, n, scratch)
        a, _, on_a, on_b, error = scratch
        for i in range(error.shape[0]):
            for k in range(a.shape[0]):
                for c in range(a.shape[1]):
                    bushings.on_first[n, i, k, c] = on_a[i, k, c]
                    bushings.on_second[n, i, k, c] = on_b[i, k, c]
            for j in range(error.shape[0]):
                bushings.spring[n, i, j] = dt * dt * bushings.gains[n, i, 0] if i == j else 0.0
                bushings.damper[n, i, j] = 4.0 * dt * bushings.gains[n, i, 1] if i == j else 0.0
                bushings.block[n, i, j] = bushings.spring[n, i, j] + bushings.damper[n, i, j]
    compute_compliance_rows(start, stop, bushings, elements, elements.demand.shape[0])
    spare_implicit_rows(start, stop, bushings)
    request_demand_rows(start, stop, bushings, elements)
    return NO_FAILED_ROW


@loop
def compute_margin_loop(start: int, stop: int, bushings: View, elements: View) -> int:
    """The factor by which the step could grow before the bodies' answers reach their limit."""
    for n in range(start, stop):
        spring, damper = 0.0, 0.0
        for i in range(bushings.block.shape[0]):
            spring += bushings.spring[n, i, i]
            damper += bushings.damper[n, i, i]
        bound = max(elements.bound[bushings.first[n]], elements.bound[bushings.second[n]])
        bushings.margin[n] = growth(spring, damper, bound)
    return NO_FAILED_ROW
