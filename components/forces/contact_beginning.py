"""What rests on something from the start is carried from there on, as new joints carry their load.

A spring that has to be pressed first lets a body fall for some ticks, ring, and slide meanwhile as if nothing pressed it. A pair
knows nothing of others; where several hold a body, each takes its share of what it would have to press alone (`share_out`), and
all together press no more than holds it.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from components.forces.contact_friction import axes_across, new_rub, see_across, slide
from components.forces.contact_pair import Pair, Patch
from components.forces.contact_rest import hold, look_at_rest, new_rest
from components.forces.vectors import dot
from modular.kernel import kernel

TOUCH = 1e-9  # of the sizes of both shapes: gaps so small are none


@kernel
def touches(pair: Pair, patch: Patch) -> Any:
    """Whether any point does, at the first look."""
    near = 0.0
    for k in range(4):
        near += TOUCH * (pair.size_a[k] + pair.size_b[k])
    found = False
    for i in range(patch.count):
        found = found or patch.gaps[i] <= near
    return found


@kernel
def begin(pair: Pair, patch: Patch) -> None:
    """The forces along normals with which points that touch, and hardly move, do not begin to; those of other ticks are 0."""
    touching, begins = 0, pair.before.known == 1.0 and pair.before.rests > 0.0 and pair.law.stiffness < 0.0
    for i in range(patch.count):
        patch.pressing[i] = 0.0
        if begins and patch.gaps[i] < 0.0 and abs(patch.v[i]) <= pair.slow and patch.w[i, i] > 0.0:
            patch.pressing[i], touching = 1.0, touching + 1
    if touching > 0:
        press_at_rest(pair, patch, touching)


@kernel
def press_at_rest(pair: Pair, patch: Patch, touching: int) -> None:
    """Of points that are marked by 1; friction bears what it can across, or acts against what slides."""
    rub, rest = new_rub(), new_rest()
    for i in range(patch.count):
        rest.touching[i], patch.pressing[i] = patch.pressing[i], 0.0
        for c in range(3):
            patch.centre[c] += rest.touching[i] * patch.points[i, c] / touching
            patch.normal[c] += rest.touching[i] * patch.normals[i, c]
    length = sqrt(dot(patch.normal, patch.normal))
    if length > 0.0:
        for c in range(3):
            patch.normal[c] /= length
        axes_across(patch.normal, pair.flat, rub.t)
        slide(pair, patch, rub)
        see_across(pair, patch, rub)
        look_at_rest(pair, patch, rub, rest)
        speed = sqrt(rub.v[0] * rub.v[0] + rub.v[1] * rub.v[1])
        if speed > pair.slow:
            rest.way[0], rest.way[1] = -rub.v[0] / speed, -rub.v[1] / speed
        hold(patch, rest, pair.law.friction)
        for i in range(patch.count):
            patch.pressing[i] = rest.pressing[i] * pair.share
    for c in range(3):
        patch.centre[c] = patch.normal[c] = 0.0
