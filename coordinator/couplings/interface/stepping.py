"""Steps of glued components: drift, close the joints, kick, stop them (`stage`), segment by segment (segments.py).

One operation of a program, (interface, "advance"), is a whole macro step, so the engine samples, watches and stops around it
as it does around any other.
"""

from __future__ import annotations

from typing import Any

from coordinator.couplings.compositions import walls_are_near
from coordinator.couplings.interface.fields import SHAPE
from coordinator.couplings.interface.nonholonomic import go_back
from coordinator.couplings.interface.velocity_stage import factorise_both, kick, update_operator, weigh
from coordinator.couplings.interface.verbs import (
    ACCEPT_STEP,
    ACCOUNT,
    BEGIN,
    CLOSE_PLACES,
    COMPUTE_GAINS,
    EXTRAPOLATE_OTHER_SIDES,
    FIND_END_RATES,
    INVALIDATE,
    ITERATE_STEP,
    LINEARISE_LAWS,
    MEASURE,
    PREDICT_EFFORTS,
    PREDICT_REACTIONS,
    SAVE_START,
    SHOW,
    play,
)
from modular.elements import STEP, TIME
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

LEAST_PART = 1.0 / 500.0  # of a step
TURNED_PART = 1.0 / 16.0  # of one in which a body turns by a radian: by less than a tenth of it, which a part resolves


@kernel
def stage(interface: View, elements: View, h: float, time: float) -> int:
    """One RATTLE step of all components together; who went wrong, or -1."""
    wrong = prepare_step(interface, elements, h, time)
    if wrong >= 0:
        return wrong
    open_ = lead(interface, elements, h, time)
    return open_ if open_ >= 0 else follow(interface, elements, h)


@kernel
def prepare_step(interface: View, elements: View, h: float, time: float) -> int:
    """What a step must know of its end, and how stiff forces are in one as long as this; who goes wrong, or -1."""
    if interface.implicit > 0:
        elements.clock[STEP], elements.clock[TIME] = h, time
        if interface.nonlinear == 1:
            play(interface, LINEARISE_LAWS)
            interface.gains_step = 0.0
        if interface.gains_step != h:
            play(interface, COMPUTE_GAINS)
            factorise_both(interface)
            interface.gains_step = h
        play(interface, PREDICT_EFFORTS)
    elements.clock[STEP], elements.clock[TIME] = h, time
    if interface.glides == 1:
        return play(interface, ITERATE_STEP)
    return play(interface, FIND_END_RATES) if interface.damped == 1 else NO_FAILED_ROW


@kernel
def lead(interface: View, elements: View, h: float, time: float) -> int:
    """Half a kick and the way that it leads, all joints closed there; who stays open, or -1."""
    elements.clock[STEP], elements.clock[TIME] = h, time
    weigh(interface, elements, interface.start_weight)
    play(interface, BEGIN)
    open_ = play(interface, CLOSE_PLACES)
    if open_ >= 0:
        return open_
    elements.clock[STEP] = 0.5 * h
    play(interface, ACCOUNT)
    elements.clock[STEP] = h
    play(interface, ACCEPT_STEP)
    update_operator(interface)
    interface.tried = 0
    return NO_FAILED_ROW


@kernel
def follow(interface: View, elements: View, h: float) -> int:
    """The other half of the kick, all joints stopped; who went wrong, or -1."""
    elements.clock[STEP] = h
    weigh(interface, elements, interface.end_weight)
    wrong = kick(interface, elements)
    play(interface, PREDICT_REACTIONS)
    elements.clock[STEP] = 0.5 * h
    play(interface, ACCOUNT)
    return wrong


@kernel
def in_parts(interface: View, elements: View, h: float, time: float) -> int:
    """The same in shorter steps where that finds no end: where geometry turns far beside stiff forces, in halves that grow again;
    where a body turns so far by itself that nothing keeps its shape (`too_far`), in parts that resolve its turning.
    """
    wrong, part, done = NO_FAILED_ROW, h, 0.0
    shorter, longer = (0.5, 2.0) if interface.implicit > 0 else (TURNED_PART, 1.0)
    while abs(done) < abs(h):
        end = time if part == h else time - h + done + part
        if interface.implicit > 0:
            play(interface, SAVE_START)
        wrong = stage(interface, elements, part, end)
        if wrong < 0:
            if interface.implicit == 0 and part != h:
                interface.parts += 1
            done += part
            part = min(longer * part, h - done)
            continue
        turned = interface.too_far == 1 and interface.stage_count == 1
        if (interface.implicit == 0 and not turned) or 2.0 * shorter * part <= LEAST_PART * h:
            break
        if interface.implicit > 0:
            go_back(interface, elements, part, end)
        else:  # bodies still stand where the step began
            play(interface, SHOW)
        play(interface, MEASURE)
        play(interface, INVALIDATE)
        part *= shorter
    return wrong


@kernel
def trend(interface: View, k: int) -> Any:
    """(h' + h'') / (h + h') of a stage h', the one before and the one after; none where that would be far."""
    count = interface.stage_count
    h, before, after = interface.stages[k], interface.stages[(k + count - 1) % count], interface.stages[(k + 1) % count]
    return (h + after) / (before + h) if abs(h + after) < 4.0 * abs(before + h) else 0.0


@loop
def begin_stage_loop(k: int, stop: int, interface: View, elements: View) -> int:
    """How reactions change towards a stage (advance_together.py), which is told in place of a row."""
    interface.trouble, interface.trend = SHAPE, trend(interface, k)
    return NO_FAILED_ROW


@kernel
def share_of_stage(interface: View, k: int, even: bool) -> Any:
    """Its length as a share of the step: `even` where a wall is near."""
    return 1.0 / interface.stage_count if even else interface.stages[k]


@kernel
def play_stages(interface: View, elements: View, step: float, end: float, even: bool) -> int:
    """Stage after stage of the composition; who went wrong, or -1."""
    passed, wrong = 0.0, NO_FAILED_ROW
    for k in range(interface.stage_count):
        share = share_of_stage(interface, k, even)
        passed += share
        interface.trend = 1.0 if even else trend(interface, k)
        h, time = share * step, end - (1.0 - passed) * step
        wrong = in_parts(interface, elements, h, time)
        if wrong >= 0:
            break
    return wrong


@loop
def advance_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """One macro step; who went wrong, or -1. With dry friction it goes in parts (macro_step.py)."""
    step, end = elements.clock[STEP], elements.clock[TIME]
    interface.trouble = SHAPE
    wrong = play_stages(interface, elements, step, end, walls_are_near(interface))
    elements.clock[STEP], elements.clock[TIME] = step, end
    return wrong


@kernel
def strengthen(interface: View, elements: View, factor: float) -> None:
    """Multiply what others exert on these components."""
    for k in range(interface.loaded_count):
        for c in range(elements.force.shape[0]):
            elements.force[interface.loaded_elements[k], c] *= factor


@kernel
def save_outside_forces(interface: View, elements: View) -> None:
    """What others exert on these components, where a tick in parts finds it."""
    for k in range(interface.loaded_count):
        for c in range(elements.force.shape[0]):
            elements.force_before[interface.loaded_elements[k], c] = elements.force[interface.loaded_elements[k], c]


@kernel
def approach_in_parts(interface: View, elements: View, step: float, h: float, end: float) -> int:
    """The way through a tick where forces are found, in steps h or shorter ones, up to the last kick; who went wrong, or -1.

    What others exert acts as two impulses: all that it does in half the tick at the first kick, and at the last.
    """
    save_outside_forces(interface, elements)
    part, done = h, 0.0
    while True:
        if step - done - part <= LEAST_PART * LEAST_PART * step:
            part = step - done
        last = part == step - done
        interface.part, interface.parted = part, 0 if part == step else 1
        interface.start_weight = step / part if done == 0.0 else 0.0
        interface.end_weight = step / part if last else 0.0
        time = end if last else end - step + done + part
        play(interface, SAVE_START)
        wrong = prepare_step(interface, elements, part, time)
        if wrong < 0:
            wrong = lead(interface, elements, part, time)
        if wrong < 0 and last:
            return NO_FAILED_ROW
        if wrong < 0:
            wrong = follow(interface, elements, part)
        if wrong < 0:
            done += part
            part = min(2.0 * part, h)
        elif part <= LEAST_PART * step:
            return wrong
        else:
            go_back(interface, elements, part, time)
            play(interface, MEASURE)
            play(interface, INVALIDATE)
            part *= 0.5


@loop
def approach_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """The way of components that step on their own through a tick, up to its last kick; who went wrong, or -1.

    Where they take several steps, what others exert acts as two impulses, at the first kick and at the last; or, as an
    experiment, at every step from where the others would be if they went on as they did.
    """
    step, end = elements.clock[STEP], elements.clock[TIME]
    count = interface.steps
    h = step / count
    interface.trouble, interface.trend = SHAPE, 1.0
    if interface.implicit > 0 and interface.other_count == 0:
        wrong = approach_in_parts(interface, elements, step, h, end)
        elements.clock[STEP], elements.clock[TIME] = step, end
        return wrong
    wrong = prepare_step(interface, elements, h, end - (count - 1) * h)
    foretold = interface.other_count > 0
    if count > 1 and not foretold:
        strengthen(interface, elements, float(count))
    for k in range(count):
        if wrong < 0:
            wrong = lead(interface, elements, h, end - (count - 1 - k) * h)
        if k < count - 1 and wrong < 0:
            if foretold:
                elements.clock[STEP] = (k + 1) * h
                play(interface, EXTRAPOLATE_OTHER_SIDES)
            elif k == 0:
                strengthen(interface, elements, 0.0)
            wrong = follow(interface, elements, h)
            if wrong < 0:
                wrong = prepare_step(interface, elements, h, end - (count - 2 - k) * h)
    elements.clock[STEP], elements.clock[TIME] = step, end
    if foretold:
        for k in range(interface.other_count):
            n = interface.others[k]
            for c in range(elements.force.shape[0]):
                elements.position[n, c], elements.velocity[n, c] = interface.noted[k, 0, c], interface.noted[k, 1, c]
                elements.force[n, c] = interface.noted[k, 2, c]
    return wrong


@loop
def save_other_sides_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Where the other sides of springs stand, how they move, and what is exerted on them."""
    for k in range(interface.other_count):
        n = interface.others[k]
        for c in range(elements.force.shape[0]):
            interface.noted[k, 0, c], interface.noted[k, 1, c] = elements.position[n, c], elements.velocity[n, c]
            interface.noted[k, 2, c] = elements.force[n, c]
    return NO_FAILED_ROW


@loop
def extrapolate_other_sides_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Show the other sides where they would be if they went on as they did."""
    for k in range(interface.other_count):
        for c in range(elements.force.shape[0]):
            velocity = interface.noted[k, 1, c]
            elements.position[interface.others[k], c] = interface.noted[k, 0, c] + elements.clock[STEP] * velocity
            elements.velocity[interface.others[k], c] = velocity
    return NO_FAILED_ROW


@loop
def conclude_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """The last kick of the tick; who went wrong, or -1."""
    step, count = elements.clock[STEP], interface.steps
    if interface.implicit > 0 and interface.other_count == 0:
        save_outside_forces(interface, elements)
        wrong = follow(interface, elements, interface.part)
        if interface.parted == 1:
            weigh(interface, elements, 1.0)
        elements.clock[STEP], interface.parted = step, 0
        return wrong
    impulses = count > 1 and interface.other_count == 0
    if impulses:
        strengthen(interface, elements, float(count))
    wrong = follow(interface, elements, step / count)
    if impulses:
        strengthen(interface, elements, 1.0 / count)
    elements.clock[STEP] = step
    return wrong


@loop
def book_others_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Work of others on these components in half a kick, from what was to what is; and the velocity to which a whole one leads."""
    for k in range(interface.loaded_count):
        n = interface.loaded_elements[k]
        for c in range(elements.force.shape[0]):
            before, now = elements.velocity_before[n, c], elements.velocity[n, c]
            elements.work[n] += 0.5 * elements.clock[STEP] * elements.force[n, c] * (before + now)
            elements.current_velocity[n, c] = 2.0 * now - before
            elements.velocity_before[n, c] = now
    return NO_FAILED_ROW


LOOPS = {
    "advance": advance_loop,
    "begin_stage": begin_stage_loop,
    "approach": approach_loop,
    "save_other_sides": save_other_sides_loop,
    "extrapolate_other_sides": extrapolate_other_sides_loop,
    "conclude": conclude_loop,
    "book_others": book_others_loop,
}
