"""Steps of glued components: drift, close the joints, kick, stop them (`stage`), segment by segment (segments.py).

One part of a score, (interface, "advance"), is a whole macro step, so the engine samples, watches and stops around it as it does
around any other.
"""

from __future__ import annotations

from typing import Any

from coordinator.couplings.interface.face import SHAPE
from coordinator.couplings.interface.kicking import kick, meet
from coordinator.couplings.interface.playing import play
from coordinator.couplings.interface.rehearsing import rehearse
from coordinator.couplings.interface.verbs import ARRIVE, BEGIN, BOOK, CLOSE_PLACES, EXPECT, FORETELL
from modular.elements import STEP, TIME
from modular.kernel import kernel
from modular.loop import FINE, loop
from modular.views import View


@kernel
def stage(face: View, elements: View, h: float, time: float) -> int:
    """One RATTLE step of all components together; who went wrong, or -1."""
    if face.glides == 1:
        open_ = rehearse(face, elements, h, time)
        if open_ >= 0:
            return open_
    open_ = lead(face, elements, h, time)
    return open_ if open_ >= 0 else follow(face, elements, h)


@kernel
def lead(face: View, elements: View, h: float, time: float) -> int:
    """Half a kick and the way that it leads, all joints closed there; who stays open, or -1."""
    elements.clock[STEP], elements.clock[TIME] = h, time
    play(face, BEGIN)
    open_ = play(face, CLOSE_PLACES)
    if open_ >= 0:
        return open_
    elements.clock[STEP] = 0.5 * h
    play(face, BOOK)
    elements.clock[STEP] = h
    play(face, ARRIVE)
    meet(face)
    return FINE


@kernel
def follow(face: View, elements: View, h: float) -> int:
    """The other half of the kick, all joints stopped; who went wrong, or -1."""
    elements.clock[STEP] = h
    wrong = kick(face, elements)
    play(face, EXPECT)
    elements.clock[STEP] = 0.5 * h
    play(face, BOOK)
    return wrong


@kernel
def trend(face: View, k: int) -> Any:
    """(h' + h'') / (h + h') of a stage h', the one before and the one after; none where that would be far."""
    count = face.stage_count
    h, before, after = face.stages[k], face.stages[(k + count - 1) % count], face.stages[(k + 1) % count]
    return (h + after) / (before + h) if abs(h + after) < 4.0 * abs(before + h) else 0.0


@loop
def advance_loop(start: int, stop: int, face: View, elements: View) -> int:
    """One macro step: stage after stage of the composition; who went wrong, or -1."""
    step, end = elements.clock[STEP], elements.clock[TIME]
    face.trouble = SHAPE
    wrong = FINE
    passed = 0.0
    for k in range(face.stage_count):
        passed += face.stages[k]
        face.trend = trend(face, k)
        wrong = stage(face, elements, face.stages[k] * step, end - (1.0 - passed) * step)
        if wrong >= 0:
            break
    elements.clock[STEP], elements.clock[TIME] = step, end
    return wrong


@kernel
def strengthen(face: View, elements: View, factor: float) -> None:
    """Multiply what others exert on these components."""
    for k in range(face.toll_count):
        for c in range(elements.force.shape[0]):
            elements.force[face.tolls[k], c] *= factor


@loop
def approach_loop(start: int, stop: int, face: View, elements: View) -> int:
    """The way of components that step on their own through a tick, up to its last kick; who went wrong, or -1.

    Where they take several steps, what others exert acts as two impulses, at the first kick and at the last; or, as an
    experiment, at every step from where the others would be if they went on as they did.
    """
    step, end = elements.clock[STEP], elements.clock[TIME]
    count = face.steps
    h = step / count
    face.trouble, face.trend = SHAPE, 1.0
    wrong = FINE
    if face.glides == 1:
        wrong = rehearse(face, elements, h, end - (count - 1) * h)
    foretold = face.other_count > 0
    if count > 1 and not foretold:
        strengthen(face, elements, float(count))
    for k in range(count):
        if wrong < 0:
            wrong = lead(face, elements, h, end - (count - 1 - k) * h)
        if k < count - 1 and wrong < 0:
            if foretold:
                elements.clock[STEP] = (k + 1) * h
                play(face, FORETELL)
            elif k == 0:
                strengthen(face, elements, 0.0)
            wrong = follow(face, elements, h)
            if face.glides == 1 and wrong < 0:
                wrong = rehearse(face, elements, h, end - (count - 2 - k) * h)
    elements.clock[STEP], elements.clock[TIME] = step, end
    if foretold:
        for k in range(face.other_count):
            n = face.others[k]
            for c in range(elements.force.shape[0]):
                elements.position[n, c], elements.velocity[n, c] = face.noted[k, 0, c], face.noted[k, 1, c]
                elements.force[n, c] = face.noted[k, 2, c]
    return wrong


@loop
def note_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Where the other sides of springs stand, how they move, and what is exerted on them."""
    for k in range(face.other_count):
        n = face.others[k]
        for c in range(elements.force.shape[0]):
            face.noted[k, 0, c], face.noted[k, 1, c] = elements.position[n, c], elements.velocity[n, c]
            face.noted[k, 2, c] = elements.force[n, c]
    return FINE


@loop
def foretell_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Show the other sides where they would be if they went on as they did."""
    for k in range(face.other_count):
        for c in range(elements.force.shape[0]):
            velocity = face.noted[k, 1, c]
            elements.position[face.others[k], c] = face.noted[k, 0, c] + elements.clock[STEP] * velocity
            elements.velocity[face.others[k], c] = velocity
    return FINE


@loop
def conclude_loop(start: int, stop: int, face: View, elements: View) -> int:
    """The last kick of the tick; who went wrong, or -1."""
    step, count = elements.clock[STEP], face.steps
    impulses = count > 1 and face.other_count == 0
    if impulses:
        strengthen(face, elements, float(count))
    wrong = follow(face, elements, step / count)
    if impulses:
        strengthen(face, elements, 1.0 / count)
    elements.clock[STEP] = step
    return wrong


@loop
def toll_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Work of others on these components in half a kick, from what was to what is; and the velocity to which a whole one leads."""
    for k in range(face.toll_count):
        n = face.tolls[k]
        for c in range(elements.force.shape[0]):
            before, now = elements.velocity_before[n, c], elements.velocity[n, c]
            elements.work[n] += 0.5 * elements.clock[STEP] * elements.force[n, c] * (before + now)
            elements.current_velocity[n, c] = 2.0 * now - before
            elements.velocity_before[n, c] = now
    return FINE


LOOPS = {
    "advance": advance_loop,
    "approach": approach_loop,
    "note": note_loop,
    "foretell": foretell_loop,
    "conclude": conclude_loop,
    "toll": toll_loop,
}
