"""What rests on something from the start is carried from there on, as new joints carry their load.

A spring that has to be pressed first lets a body fall for some ticks, ring, and slide meanwhile as if nothing pressed it. A pair
knows nothing of others, and what one presses with the next has to bear. So before the first tick all pairs look for their loads
together (`propose_load`; coordinator/couplings/resting.py): each in turn answers what the others leave, until nothing that touches
accelerates into what it touches. The first tick finds these loads again.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from components.forces.contact_friction import Rub, new_rub, respond_across, slide
from components.forces.contact_pair import Pair, Patch, along, answer_to, push
from components.forces.contact_points import TOUCH_TOLERANCE, compute_responses, find_points, gap_of_touch, watch
from components.forces.contact_rest import hold, new_rest, respond_at_rest
from components.forces.vectors import axes_across, dot
from modular.blocks import room
from modular.elements import Array
from modular.kernel import kernel
from modular.workspaces import Workspace

OVERLAP_TOLERANCE = 1e-6  # of the sizes of both shapes: who begins no deeper in the other is not told of


@kernel
def touches(pair: Pair, patch: Patch) -> Any:
    """Whether any point does, at the first look."""
    near, found = gap_of_touch(pair), False
    for i in range(patch.count):
        found = found or patch.gaps[i] <= near
    return found


@kernel
def note_overlap(pair: Pair, patch: Patch) -> None:
    """How deep shapes are in each other, which no stiffness of their own asks for, and which way out, at the deepest point."""
    for k in range(5):
        pair.inside[k] = 0.0
    least = OVERLAP_TOLERANCE / TOUCH_TOLERANCE * gap_of_touch(pair)
    for i in range(patch.count):
        if pair.law.stiffness < 0.0 and -patch.gaps[i] > max(pair.inside[0], least):
            pair.inside[0], pair.inside[4] = -patch.gaps[i], abs(patch.v[i])
            for c in range(3):
                pair.inside[1 + c] = patch.normals[i, c]


@kernel
def begin(pair: Pair, patch: Patch) -> None:
    """The forces along normals with which points that touch, and hardly move, do not begin to; those of other ticks are 0."""
    for i in range(patch.count):
        patch.pressing[i] = 0.0
    if pair.before.known == 1.0 and pair.before.rests > 0.0 and pair.law.stiffness < 0.0:
        rub, rest, about = new_rub(), new_rest(), pair.now.usual * pair.span * pair.span
        preload_at_rest(pair, patch, rub, rest, gap_of_touch(pair) + about, pair.rates, 1.0)
        for c in range(3):
            patch.centre[c] = patch.normal[c] = 0.0


@kernel
def preload_at_rest(
    pair: Pair, patch: Patch, rub: Rub, rest: Workspace, near: float, rates: Array, share: float
) -> None:
    """Of points so near, friction bears what it can across, or acts against what slides; at last where they press together.

    `share`: of what turning at these rates brings.
    """
    touching = 0
    for i in range(patch.count):
        rest.touching[i] = 0.0
        if patch.gaps[i] <= near and abs(patch.v[i]) <= pair.slow and patch.w[i, i] > 0.0:
            rest.touching[i], touching = 1.0, touching + 1
    for i in range(patch.count):
        patch.pressing[i] = rest.touching[i] / max(touching, 1)
    rest.bearing[0] = rest.bearing[1] = 0.0
    if touching > 0:
        for _ in range(2):  # where they press together shows when it is known with how much
            if gather(patch) == 0.0:
                break
            axes_across(patch.normal, pair.flat, rub.t)
            slide(pair, patch, rub)
            respond_across(pair, patch, rub)
            respond_at_rest(pair, patch, rub, rest, rates, share)
            speed = sqrt(rub.v[0] * rub.v[0] + rub.v[1] * rub.v[1])
            if speed > pair.slow:
                rest.way[0], rest.way[1] = -rub.v[0] / speed, -rub.v[1] / speed
            hold(patch, rest, pair.law.friction, True)
            for i in range(patch.count):
                patch.pressing[i] = rest.pressing[i]


@kernel
def gather(patch: Patch) -> float:
    """Where forces along normals act together, and which way; returned is their sum."""
    whole = 0.0
    for i in range(patch.count):
        whole += patch.pressing[i]
    if whole > 0.0:
        for c in range(3):
            patch.centre[c] = patch.normal[c] = 0.0
            for i in range(patch.count):
                patch.centre[c] += patch.pressing[i] * patch.points[i, c] / whole
                patch.normal[c] += patch.pressing[i] * patch.normals[i, c]
        length = sqrt(dot(patch.normal, patch.normal))
        for c in range(3):
            patch.normal[c] = patch.normal[c] / length if length > 0.0 else patch.normals[0, c]
    return whole


@kernel
def propose_load(pair: Pair, patch: Patch, starts: Array) -> None:
    """What it would press with, and bear across, where others do what they do now: a step towards what all do together.

    Where m contacts share a body, W of all is at most m times that of each alone. So with m W in its place no step goes too far
    (the proximal gradient, in blocks), and all may take theirs at once.
    """
    own, rub, rest = room((4, 3)), new_rub(), new_rest()
    for k in range(4):
        for c in range(3):
            pair.a[k, c], pair.b[k, c] = pair.before.pose[0, k, c], pair.before.pose[1, k, c]
    find_points(pair, patch, pair.before.let)
    for k in range(3):
        for c in range(3):
            starts[k, c] = 0.0
    watch(pair, patch)
    pair.before.pull = pair.now.pull
    answer_to(pair, pair.before.wrench, own)
    for k in range(4):
        for c in range(3):
            pair.pace[k, c] = (pair.pace[k, c] + own[k, c]) / pair.contacts_of_body - own[k, c]
    for i in range(patch.count):
        patch.hurry[i] = along(pair, pair.pace, patch.points[i], patch.normals[i])
        patch.v[i] = along(pair, pair.before.rates, patch.points[i], patch.normals[i])
    compute_responses(pair, patch)
    preload_at_rest(pair, patch, rub, rest, gap_of_touch(pair), pair.before.rates, 1.0 / pair.contacts_of_body)
    for i in range(patch.count):
        push(pair, patch.points[i], patch.normals[i], patch.pressing[i], starts)
    for k in range(2):
        if rest.bearing[k] != 0.0:
            push(pair, patch.centre, rub.t[k], rest.bearing[k], starts)
