"""How the points of a contact move against each other, and how they answer forces along their normals."""

from __future__ import annotations

from math import sqrt
from typing import Any

from components.forces.contact_pair import Pair, Patch, along, relative, respond_to
from components.forces.touching import touch
from components.forces.vectors import axes_across, dot
from modular.blocks import room
from modular.elements import Array
from modular.kernel import kernel

# times the velocity that the pull of free flight brings in a tick: slower impacts do not bounce, slower pairs may stick
SLOW_IMPACT_FACTOR = 2.0
PULL_DECAY_PER_TICK = 0.995  # of the pull that is known, from tick to tick
# times the way of that velocity in a tick: points so near count as touching when springs are chosen
TOUCHING_BAND_FACTOR = 20.0
TOUCH_TOLERANCE = 1e-9  # of the sizes of both shapes: gaps so small are none


@kernel
def gap_of_touch(pair: Pair) -> float:
    """Gaps up to which points touch at the first look [m]."""
    near = 0.0
    for k in range(4):
        near += TOUCH_TOLERANCE * (pair.size_a[k] + pair.size_b[k])
    return near


@kernel
def find_points(pair: Pair, patch: Patch, let: float) -> float:
    """Where shapes touch or may; gaps count from `let`, how deep they may be in each other; how deep they are."""
    patch.count, deepest = touch(pair, patch), 0.0
    for i in range(patch.count):
        deepest = max(deepest, -patch.gaps[i])
        patch.gaps[i] += let
    return deepest


@kernel
def find_now(pair: Pair, patch: Patch) -> None:
    """The same; shapes that began in each other, and are to be let out, may be so deep, and less as they come out."""
    if pair.law.let_out == 0.0:
        find_points(pair, patch, 0.0)
        return
    deepest = find_points(pair, patch, 0.0)
    pair.now.let = deepest if pair.fresh else min(pair.before.let, deepest)
    for i in range(patch.count):
        patch.gaps[i] += pair.now.let


@kernel
def watch(pair: Pair, patch: Patch) -> Any:
    """Velocities and accelerations along normals; whether any point touches or will soon."""
    now, before = pair.now, pair.before
    near, nearest, lowest = False, 0, 1e300
    patch.band = TOUCHING_BAND_FACTOR * before.pull * pair.dt * pair.dt
    for i in range(patch.count):
        x, normal, gap = patch.points[i], patch.normals[i], patch.gaps[i]
        patch.v[i] = along(pair, pair.rates, x, normal)
        patch.hurry[i] = along(pair, pair.pace, x, normal)
        near = near or gap <= patch.band + 2.0 * pair.span * abs(patch.v[i]) or before.owed[i] > 0.0
        if gap < lowest:
            nearest, lowest = i, gap
    # what lies askew, or is loaded beside its middle, is pulled differently at each point
    if pair.steady and patch.count > 0:
        now.pull = 0.0
        for i in range(patch.count):
            if i == nearest or patch.gaps[i] <= patch.band:
                now.pull = max(now.pull, -patch.hurry[i])
    sure = min(now.pull, before.pull)  # a blow by others lasts one tick
    if before.known == 1.0 and patch.count > 0:  # what falls with what it lies on will be stopped with it
        sure = max(now.pull, fall_of(pair, patch, nearest, 0), fall_of(pair, patch, nearest, 2))
    now.usual = max(sure, PULL_DECAY_PER_TICK * before.usual)  # who holds it now may let go
    pair.slow = SLOW_IMPACT_FACTOR * pair.span * max(now.pull, now.usual)
    if pair.fresh:  # what moves less in a tick than what counts as touching does not meet
        pair.slow = max(pair.slow, gap_of_touch(pair) / pair.span)
    return near


@kernel
def fall_of(pair: Pair, patch: Patch, i: int, first: int) -> float:
    """How fast one side alone accelerates along the normal of a point, whichever way."""
    alone = room((4, 3))
    for k in range(4):
        for c in range(3):
            alone[k, c] = pair.pace[k, c] if first <= k < first + 2 else 0.0
    fall: float = abs(along(pair, alone, patch.points[i], patch.normals[i]))
    return fall


@kernel
def compute_responses(pair: Pair, patch: Patch) -> None:
    """How rates, and velocities of all points along their normals, answer a force along each."""
    for i in range(patch.count):
        respond_to(pair, patch.points[i], patch.normals[i], pair.none, patch.answers[i])
        for j in range(patch.count):
            patch.w[j, i] = along(pair, patch.answers[i], patch.points[j], patch.normals[j])


@kernel
def compute_across(pair: Pair, patch: Patch) -> None:
    """How velocities across the normal answer an impulse there, in the direction in which they do so most."""
    out, answer, line, w = room((3,)), room((4, 3)), room((2, 3)), room((2, 2))
    for i in range(patch.count):
        axes_across(patch.normals[i], pair.flat, line)
        for k in range(2):
            respond_to(pair, patch.points[i], line[k], pair.none, answer)
            relative(pair, answer, patch.points[i], out)
            for j in range(2):
                w[j, k] = dot(out, line[j])
        if pair.flat:
            w[0, 0] = w[0, 1] = w[1, 0] = 0.0
        patch.across[i] = largest_of(w)


@kernel
def largest_of(w: Array) -> float:
    """The larger of the two answers of a symmetric block."""
    found: float = 0.5 * (w[0, 0] + w[1, 1]) + sqrt(0.25 * (w[0, 0] - w[1, 1]) ** 2 + w[0, 1] * w[1, 0])
    return found
