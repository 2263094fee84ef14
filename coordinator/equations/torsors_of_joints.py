"""What a joint leaves free and what it carries, as torsors in symbols: read off its own rows, as they are where it is made.

A row of a joint is a linear form of how its second side moves against its first: W t = f', with t = (v, w) at its point. The
twist is all that solves this, the wrench all that W^T lambda can be: so their comoment is nothing, but for what drives do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from coordinator.equations.forms import rows_of
from coordinator.equations.names import in_latex, symbol
from coordinator.equations.terms import exact, tidy
from modular.elements import Array
from modular.errors import ModelError
from modular.joint import Joint
from modular.side import GroundSide, Mark
from modular.torsor import Torsor

SMALL = 1e-9  # what is smaller in rows of joints is nothing
VELOCITIES = ("v_x", "v_y", "v_z", "w_x", "w_y", "w_z")
EFFORTS = ("F_x", "F_y", "F_z", "M_x", "M_y", "M_z")
IN_PLANE = (0, 1, 5)  # of them


@dataclass(frozen=True)
class JointTorsors:
    """Of the second side against the first, at the point of the second, along the axes of the world."""

    twist: Torsor  # all that it leaves free; what drives prescribe is f'
    wrench: Torsor  # all that it can exert on the second side
    rows: Array  # W, reduced: one row for each motion that it locks, columns v_x, v_y, v_z, w_x, w_y, w_z

    @property
    def locks(self) -> int:
        """How many independent motions it locks."""
        return len(self.rows)

    def latex(self) -> str:
        """Both, resultants beside moments."""
        shown = [
            r"\begin{Bmatrix}" + r" \\ ".join(f"{_latex(a)} & {_latex(b)}" for a, b in zip(t.resultant, t.moment, strict=True))
            + r"\end{Bmatrix}"
            for t in (self.twist, self.wrench)
        ]  # fmt: skip
        return rf"\mathcal{{V}} = {shown[0]},\quad \mathcal{{F}} = {shown[1]}"


def torsors_of(joint: Joint, dimension: int) -> JointTorsors:
    """Of a joint by itself, whose point is the origin; the other one of a joint that spans is at one metre along x."""
    if not isinstance(joint, Joint):
        raise ModelError(f"joint_torsors({joint!r}): give a joint, such as Revolute().")
    kind = type(joint).__name__
    if dimension not in joint.dimensions:
        raise ModelError(f"{kind} means nothing in {dimension} dimensions; it is made for {joint.dimensions}.")
    first, second = _Free(np.zeros(dimension)), _Free(np.zeros(dimension))
    first.position[0] = -1.0 if joint.apart else 0.0
    made = joint.attach("joint", first, second, first.position, second.position)
    rows = rows_of(made.form, made.marker[: made.form.marker], dimension)
    values = [float(tidy(x)) for mark in (*made.first, *made.second) for x in mark.value]
    here = dict(zip(rows.positions, map(exact, values), strict=True))
    here |= dict.fromkeys(rows.courses, sympy.Integer(0))
    points = [any(np.shares_memory(mark.value, point) for point in second.points) for mark in made.second]
    count = len(rows.errors)
    forms, right = np.zeros((count, 6)), np.zeros((count, made.form.drives))
    for (m, side, k, c), slope in rows.slopes.items():
        if side == 1:
            gradient = np.zeros(3)
            gradient[c] = float(slope.xreplace(here))
            arm = np.zeros(3)
            arm[:dimension] = made.second[k].value
            forms[m, :3] += gradient if points[k] else 0.0
            forms[m, 3:] += np.cross(arm, gradient)  # g . (w x r) = w . (r x g)
    for drive in range(made.form.drives):
        right[count - made.form.drives + drive, drive] = 1.0
    return _solved(forms, right, dimension)


class _Free(GroundSide):
    """A side that can hold on to everything, and knows which of its marks are points."""

    def __init__(self, position: Array) -> None:
        super().__init__(position, np.eye(len(position)))
        self.owner = self.name = "body"
        self.points: list[Array] = []

    def point(self, x: Array) -> Mark:
        """Any point."""
        mark = super().point(x)
        self.points.append(mark.value)
        return mark


def _solved(forms: Array, right: Array, dimension: int) -> JointTorsors:
    known = range(6) if dimension == 3 else IN_PLANE
    reduced, pivots = reduced_rows(np.concatenate([forms, right], axis=1), list(known))
    twist = {k: symbol(VELOCITIES[k]) if k in known else sympy.Integer(0) for k in range(6)}
    drives = [symbol("f'" if right.shape[1] == 1 else f"f{k + 1}'") for k in range(right.shape[1])]
    wrench = [sympy.Integer(0)] * 6
    for row, pivot in zip(reduced, pivots, strict=True):
        free = [-exact(row[k]) * twist[k] for k in known if k != pivot and row[k] != 0.0]
        driven = [exact(share) * one for share, one in zip(row[6:], drives, strict=True) if share != 0.0]
        twist[pivot] = sum([*free, *driven], sympy.Integer(0))
        for k in known:
            wrench[k] += exact(row[k]) * symbol(EFFORTS[pivot])
    moving = [twist[k] for k in range(6)]
    return JointTorsors(
        Torsor.twist(np.array(moving[3:], object), np.array(moving[:3], object), np.zeros(3, int).astype(object)),
        Torsor.wrench(np.array(wrench[:3], object), np.array(wrench[3:], object), np.zeros(3, int).astype(object)),
        reduced[:, :6],
    )


def reduced_rows(matrix: Array, columns: list[int]) -> tuple[Array, list[int]]:
    """Row echelon form by the largest numbers, and where each row begins."""
    left, done, pivots = matrix.copy(), 0, []
    for column in columns:
        if done == len(left):
            break
        best = done + int(np.argmax(np.abs(left[done:, column])))
        if abs(left[best, column]) <= SMALL:
            continue
        left[[done, best]] = left[[best, done]]
        left[done] /= left[done, column]
        for other in range(len(left)):
            if other != done:
                left[other] -= left[other, column] * left[done]
        pivots.append(column)
        done += 1
    found = left[:done]
    found[np.abs(found) <= SMALL] = 0.0
    return found, pivots


def _latex(expression: Any) -> str:
    names = {one: in_latex(one.name) for one in expression.free_symbols}
    return str(sympy.latex(expression, symbol_names=names))
