"""Whether a pair at rest sticks: what pulls decides that, and not how its springs ring."""

from __future__ import annotations

from math import sqrt
from typing import Any

from components.forces.contact_pair import Pair, Patch, along, turn_about
from components.forces.vectors import dot
from modular.blocks import room
from modular.elements import Array
from modular.kernel import kernel
from modular.workspaces import Workspace, workspace

FRICTION_LIMIT_TOLERANCE = 1e-6  # of what friction can bear: so much more counts as rounding
CONVERGENCE_TOLERANCE = 1e-9  # of the largest force: sweeps that change less have found what holds a pair
MAX_SWEEPS = 60  # of the forces of one pair
FIRST_TOLERANCE = 1e-14
MAX_FIRST_SWEEPS = 3000  # at the start, where what is left would decide who carries how much
UNBOUNDED = 1e300  # more than any force [N], or any coefficient of friction

new_rest = workspace(
    touching=(8,),  # 1 where a point does, or nearly
    turning=(8,),  # accelerations along normals that the turning of both shapes brings, beside patch.hurry
    pull=(2,),  # accelerations across the normal without these forces
    across=(2, 2), along=(2, 8),  # how those across and those along normals answer forces across
    way=(2,),  # where it slides: which way friction acts
    pressing=(8,), bearing=(2,),  # forces along normals, and across
)  # fmt: skip


@kernel
def hold_still(pair: Pair, patch: Patch, rub: Workspace, new: bool) -> Any:
    """Whether friction bears what keeps all points where they are; then nothing slips. A spring that is new starts with that."""
    rest = new_rest()
    respond_at_rest(pair, patch, rub, rest, pair.rates, 1.0)
    for i in range(patch.count):
        rest.touching[i] = 1.0 if patch.gaps[i] <= patch.band else 0.0
    pressed, bearing = hold(patch, rest, UNBOUNDED, new), rest.bearing
    rub.bearing[0], rub.bearing[1] = bearing[0], bearing[1]
    borne = sqrt(bearing[0] * bearing[0] + bearing[1] * bearing[1])
    if new:
        rub.s[0], rub.s[1], rub.twist = -bearing[0] / rub.k_t, -bearing[1] / rub.k_t, 0.0
    if borne > pair.law.friction * pressed * (1.0 + FRICTION_LIMIT_TOLERANCE):
        return False
    rub.grip = UNBOUNDED
    return True


@kernel(apart=True)
def respond_at_rest(pair: Pair, patch: Patch, rub: Workspace, rest: Workspace, rates: Array, share: float) -> None:
    """What pulls at points, across the normal and by turning, and how they answer what holds against it.

    `share`: of what turning at these rates brings.
    """
    steady, slip, passing = room((3,)), room((3,)), room((3,))
    turn_about(pair, rates, patch.centre, patch.normal, steady, slip, passing)
    for k in range(2):
        out = pair.flat == 1 and k == 0  # of the plane
        rest.pull[k] = 0.0
        if not out:
            rest.pull[k] = along(pair, pair.pace, patch.centre, rub.t[k])
            rest.pull[k] += share * (dot(steady, rub.t[k]) - dot(passing, rub.t[k]))
        rest.across[k, k] = 1.0 if out else rub.w[k, k]
        rest.across[k, 1 - k] = rub.w[0, 1]
        rest.way[k] = 0.0
        for i in range(patch.count):
            rest.along[k, i] = 0.0 if out else along(pair, rub.answers[k], patch.points[i], patch.normals[i])
    for i in range(patch.count):
        rest.turning[i] = share * parting(pair, rates, patch.points[i], patch.normals[i])


@kernel(apart=True)
def parting(pair: Pair, rates: Array, x: Array, normal: Array) -> float:
    """How shapes that turn accelerate from each other along the normal at a point, velocities of middles and turning being steady.

    The normal turns with a flat side, so that what passes over it counts twice; of two round ones it turns as they pass each other,
    which takes their middles apart.
    """
    steady, slip, passing = room((3,)), room((3,)), room((3,))
    turn_about(pair, rates, x, normal, steady, slip, passing)
    found: float = dot(steady, normal) - 2.0 * dot(passing, normal)
    if pair.size_a[3] > 0.0 and pair.size_b[3] > 0.0:
        coming = dot(slip, normal)
        found += (dot(slip, slip) - coming * coming) / (pair.size_a[3] + pair.size_b[3])
    return found


@kernel
def hold(patch: Patch, rest: Workspace, friction: float, exactly: bool) -> Any:
    """Forces that keep the points of a pair from moving: none pulls, and across the normals friction bears so much at most.

    Where it slides, friction bears all that, its own way. Returned is what the normals press with together.
    """
    pressed, pressing, bearing, way = 0.0, rest.pressing, rest.bearing, rest.way
    for i in range(patch.count):
        pressing[i] = 0.0
    bearing[0] = bearing[1] = 0.0
    for _ in range(MAX_FIRST_SWEEPS if exactly else MAX_SWEEPS):
        pressed, change, most = 0.0, 0.0, 0.0
        for i in range(patch.count):
            if rest.touching[i] == 0.0 or not patch.w[i, i] > 0.0:
                continue
            left = patch.hurry[i] + rest.turning[i] + rest.along[0, i] * bearing[0] + rest.along[1, i] * bearing[1]
            for j in range(patch.count):
                left += patch.w[i, j] * pressing[j]
            new = max(pressing[i] - left / patch.w[i, i], 0.0)
            change, most, pressing[i] = max(change, abs(new - pressing[i])), max(most, new), new
            pressed += new
        first, second = bearing[0], bearing[1]
        if way[0] != 0.0 or way[1] != 0.0:
            bearing[0], bearing[1] = friction * pressed * way[0], friction * pressed * way[1]
        else:
            hold_across(patch, rest, friction * pressed)
        change = max(change, abs(bearing[0] - first), abs(bearing[1] - second))
        if change <= (FIRST_TOLERANCE if exactly else CONVERGENCE_TOLERANCE) * most:
            break
    return pressed


@kernel
def hold_across(patch: Patch, rest: Workspace, grip: float) -> None:
    """Forces across the normal, no larger than a grip, with which nothing pulls there."""
    bearing, across = rest.bearing, rest.across
    for k in range(2):
        left = rest.pull[k] + across[k, 0] * bearing[0] + across[k, 1] * bearing[1]
        for i in range(patch.count):
            left += rest.along[k, i] * rest.pressing[i]
        bearing[k] -= left / across[k, k]
    borne = sqrt(bearing[0] * bearing[0] + bearing[1] * bearing[1])
    if borne > grip:
        bearing[0], bearing[1] = bearing[0] * grip / borne, bearing[1] * grip / borne
