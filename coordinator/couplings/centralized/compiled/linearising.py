"""The matrix of a step where the system stands: as `tangents.py` has it, differences of what is exerted anyway."""

from __future__ import annotations

from typing import Any

from coordinator.couplings.centralized.compiled.evaluating import hand_out, play
from coordinator.couplings.centralized.compiled.fields import (
    ELEMENT,
    ELEMENTS,
    EXERT,
    FIRST_ROW,
    LINE_AT,
    LINEARISE,
    NUMBER_AT,
    ON_FIRST,
    ON_FIRST_COUNT,
    ON_SECOND,
    PAIR_AT,
    ROW_COUNT,
    SHAPES,
    SHOW,
    WEIGHT_COUNT,
    WEIGHTS,
)
from coordinator.couplings.interface.fields import numbers_at
from modular.elements import Array
from modular.kernel import kernel
from modular.loop import call
from modular.views import View

DIFFERENCE = 1e-5  # of the largest place or velocity
STRIDE = 1e-3  # of the extent, for Jacobians, most of which are straight lines


@kernel(written_out=False)
def shift(step: View, elements: View, first: int, last: int, slot: int, c: int, by: float, moved: int) -> None:
    """Move one number of the same element of all members; `moved`: places, or velocities."""
    for m in range(first, last):
        if slot < step.members[m, ELEMENTS]:
            line = step.members[m, LINE_AT] + slot
            if step.lines[line, WEIGHTS] != 0:
                n = step.lines[line, ELEMENT]
                if moved == 0:
                    elements.position[n, c] += by
                else:
                    elements.velocity[n, c] += by
                    elements.current_velocity[n, c] += by


@kernel(written_out=False)
def note_forces(step: View, elements: View, slot: int, c: int, factor: float) -> None:
    """What all forces exert, times a factor, to the column of what was moved."""
    axes = elements.force.shape[0]
    for m in range(step.force_members):
        count = step.members[m, ELEMENTS]
        if slot < count:
            at = step.members[m, NUMBER_AT] + slot * axes + c
            for k in range(count):
                n = step.lines[step.members[m, LINE_AT] + k, ELEMENT]
                for i in range(axes):
                    step.tangents[at + (k * axes + i) * count * axes] += factor * elements.force[n, i]


@kernel(written_out=False)
def largest(elements: View, moved: int, count: int) -> Any:
    """Of places or of velocities, and one at least."""
    most = 1.0
    for n in range(count):
        for c in range(elements.force.shape[0]):
            value = elements.position[n, c] if moved == 0 else elements.velocity[n, c]
            most = max(most, abs(value))
    return most


@kernel(written_out=False, apart=True)
def difference_forces(step: View, elements: View, moved: int, factor: float, count: int) -> None:
    """-factor dQ/dx of all forces, by their places or their velocities."""
    h = DIFFERENCE * largest(elements, moved, count)
    for slot in range(step.most_force_elements):
        for c in range(elements.force.shape[0]):
            for sign in (1.0, -1.0):
                shift(step, elements, 0, step.force_members, slot, c, sign * h, moved)
                play(step, EXERT)
                note_forces(step, elements, slot, c, -factor * sign / (2.0 * h))
                shift(step, elements, 0, step.force_members, slot, c, -sign * h, moved)


@kernel(written_out=False)
def note_reactions(step: View, axes: int, multipliers: Array, slot: int, c: int, factor: float) -> None:
    """J^T lambda of all joints, times a factor, to the column of what was moved."""
    for m in range(step.force_members, step.member_count):
        count = step.members[m, ELEMENTS]
        if slot < count:
            at, first = step.members[m, NUMBER_AT] + slot * axes + c, step.members[m, ON_FIRST_COUNT]
            for k in range(count):
                side = step.members[m, ON_FIRST] if k < first else step.members[m, ON_SECOND]
                jacobian, width = numbers_at(side), axes * (first if k < first else count - first)
                start = (k if k < first else k - first) * axes
                for i in range(axes):
                    value = 0.0
                    for r in range(step.members[m, ROW_COUNT]):
                        value += multipliers[step.members[m, FIRST_ROW] + r] * jacobian[r * width + start + i]
                    step.tangents[at + (k * axes + i) * count * axes] += factor * value


@kernel(written_out=False, apart=True)
def difference_joints(step: View, elements: View, multipliers: Array, factor: float) -> None:
    """factor d(J^T lambda)/dx of all joints that are no straight lines."""
    h = STRIDE * step.extent
    axes = elements.force.shape[0]
    for slot in range(step.most_joint_elements):
        for c in range(axes):
            for sign in (1.0, -1.0):
                shift(step, elements, step.force_members, step.member_count, slot, c, sign * h, 0)
                play(step, LINEARISE)
                note_reactions(step, axes, multipliers, slot, c, factor * sign / (2.0 * h))
                shift(step, elements, step.force_members, step.member_count, slot, c, -sign * h, 0)


@kernel(written_out=False)
def add_member(step: View, m: int, axes: int, work: Array) -> None:
    """R^T K R of one member, with x = R q of its elements, to the blocks of its bodies."""
    count = step.members[m, ELEMENTS]
    for k in range(count):
        one = step.members[m, LINE_AT] + k
        if step.lines[one, WEIGHTS] == 0:
            continue
        for j in range(count):
            other = step.members[m, LINE_AT] + j
            if step.lines[other, WEIGHTS] == 0:
                continue
            pair = step.members[m, PAIR_AT] + k * count + j
            at, down, right = step.pairs[pair, 0], step.pairs[pair, 1], step.pairs[pair, 2]
            number = step.members[m, NUMBER_AT] + k * axes * count * axes + j * axes
            mine, theirs = numbers_at(step.lines[one, WEIGHTS]), numbers_at(step.lines[other, WEIGHTS])
            for a in range(step.lines[one, WEIGHT_COUNT]):
                for b in range(step.lines[other, WEIGHT_COUNT]):
                    factor = mine[a] * theirs[b]
                    if factor != 0.0:
                        for i in range(axes):
                            for c in range(axes):
                                place = at + (a * axes + i) * down + (b * axes + c) * right
                                work[place] += factor * step.tangents[number + i * count * axes + c]


@kernel(written_out=False, apart=True)
def linearise(step: View, elements: View, weight: float, pace: float, multipliers: Array, count: int) -> bool:
    """M + (1 - alpha) beta h^2 (K + d(G^T lambda)/dq) + (1 - alpha) gamma h D, bordered and factorised; whether it could be.

    `weight`: beta h^2; `pace`: dq/dv. The system stands where it did afterwards, but what is exerted has to be found anew.
    """
    for i in range(step.tangent_numbers):
        step.tangents[i] = 0.0
    axes, scaled = elements.force.shape[0], (1.0 - step.alpha) * weight
    if step.force_members > 0:
        difference_forces(step, elements, 0, scaled, count)
        difference_forces(step, elements, 1, scaled / pace, count)
    if step.member_count > step.force_members:
        difference_joints(step, elements, multipliers, scaled)
    play(step, SHOW)  # to the last bit where it was
    hand_out(step, multipliers, scaled)
    play(step, SHAPES)
    play(step, LINEARISE)
    call(step.assemble, 0, 1, step.factors, step.elements_sheet)
    work = numbers_at(step.at_work)
    for m in range(step.member_count):
        add_member(step, m, axes, work)
    step.factorisations += 1
    singular = call(step.factorise, 0, 1, step.factors, step.elements_sheet) >= 0
    return not singular
