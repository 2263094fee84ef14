"""Forces and moments of joints, as the multipliers of the whole system tell them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coordinator.couplings.centralized.equations import Equations
from coordinator.record.export import Series
from modular.elements import Array


def reactions_of(equations: Equations, multipliers: Array) -> dict[str, Array]:
    """Of every joint: the force on its second side [N], and where it reads directions the moment about its point [N m]."""
    equations.exert_joints(multipliers)
    found: dict[str, Array] = {}
    for joints in equations.joints:
        wrenches = joints.wrenches(equations.system.elements).copy()
        found |= {name: wrenches[row] for name, row in joints.row.items()}
    return {name: found[name] for name in equations.rows_of}


def wrench_series(reactions: Mapping[str, Array], dimension: int, axes: tuple[str, ...]) -> dict[str, Series]:
    """Forces and moments of all joints as arrays whose last of `axes` are the joints; NaN where a joint reads points alone."""
    turns = 3 if dimension == 3 else 1
    shape = next((one.shape[:-1] for one in reactions.values()), ())
    table = np.full((*shape, len(reactions), dimension + turns), np.nan)
    for k, wrench in enumerate(reactions.values()):
        table[..., k, : wrench.shape[-1]] = wrench
    force, moment = np.split(table, [dimension], axis=-1)
    return {
        "force": Series((*axes, "axis"), force, "N", "force of a joint on its second side"),
        "moment": Series((*axes, "turning_axis"), moment, "N m", "moment of a joint on its second side, at its point"),
    }


def efforts_of(equations: Equations, multipliers: Array) -> dict[str, Array]:
    """Of every drive: what it exerts along what it drives, on its second side against the first [N], [N m]."""
    found: dict[str, Array] = {}
    for joints, rows in zip(equations.joints, equations.joint_rows, strict=True):
        drives = joints.form.drives
        if drives:
            exerted = multipliers[rows].reshape(joints.count, -1)[:, -drives:]
            found |= {name: -exerted[row] for name, row in joints.row.items()}
    return found


def courses_of(equations: Equations) -> dict[str, Array]:
    """Of every drive: what it follows now and the rate of that, (drives, 2)."""
    found: dict[str, Array] = {}
    for joints in equations.joints:
        if joints.form.drives:
            found |= {name: np.array(joints.course[row, :, :2]) for name, row in joints.row.items()}
    return found
