"""What contacts do where no tick is taken: what those that begin at rest would begin with, and what a recorded tick did."""

from __future__ import annotations

from components.forces.contact_beginning import propose_load
from components.forces.contact_held import shared_by
from components.forces.contact_law import sides_of
from components.forces.contact_load import carrying_of
from components.forces.contact_meetings import meeting_of
from components.forces.contact_pair import MEMORY, law_of, new_pair, new_patch, record_tick, tick_of
from components.forces.contact_sides import act, motion, pose_of
from modular.blocks import room
from modular.elements import GAIN_STEP, TIME
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View


@loop
def propose_load_loop(start: int, stop: int, contacts: View, elements: View) -> int:
    """With what those that begin at rest would begin, as bodies are about to move; before the first tick."""
    patch, ahead = new_patch(), room((MEMORY,))
    for n in range(start, stop):
        if contacts.begins[n] > 0.0:
            first, a, b = sides_of(contacts, n)
            second = 1 - first
            carry, mobility, shape = contacts.carry[n], contacts.mobility, contacts.shape
            for k in range(MEMORY):
                ahead[k] = 0.0
            pair = new_pair(
                tick_of(ahead), tick_of(contacts.now[n]), law_of(contacts.law[n]),
                shape[n, first], shape[n, second], mobility[n, first], mobility[n, second], contacts.cross[n],
                meeting_of(contacts.meeting[n]), carrying_of(contacts.carrying[n]),
                contacts.asked[n], contacts.stiff[n], contacts.centre[n], contacts.sunk[n], contacts.inside[n],
            )  # fmt: skip
            pair.time, pair.dt, pair.flat = (
                elements.clock[TIME],
                elements.clock[GAIN_STEP],
                elements.position.shape[0] == 2,
            )
            pair.kind_a, pair.kind_b, pair.contacts_of_body = (
                contacts.kinds[n, first],
                contacts.kinds[n, second],
                contacts.contacts_of_body[n],
            )
            pair.span, pair.fresh, pair.shown, pair.carries, pair.held = pair.dt, 0, 1, 0, 0
            pair.shared = shared_by(contacts, n)
            pose_of(elements, a, carry[first], pair.a)
            pose_of(elements, b, carry[second], pair.b)
            motion(elements, a, carry[first], pair.a, pair.before.pose[0], pair, pair.rates[0], pair.rates[1])
            motion(elements, b, carry[second], pair.b, pair.before.pose[1], pair, pair.rates[2], pair.rates[3])
            record_tick(pair)
            for c in range(3):
                pair.none[c] = patch.centre[c] = patch.normal[c] = 0.0
            propose_load(pair, patch, contacts.starts[n])
    return NO_FAILED_ROW


@loop
def apply_recorded_loop(start: int, stop: int, contacts: View, elements: View) -> int:
    """What a recorded tick did, where its bodies stand again."""
    pose = room((4, 3))
    for n in range(start, stop):
        first, a, b = sides_of(contacts, n)
        carry, did = contacts.carry[n], contacts.did[n]
        pose_of(elements, a, carry[first], pose)
        act(elements, a, carry[first], pose, did[0], did[1], -1.0)
        pose_of(elements, b, carry[1 - first], pose)
        act(elements, b, carry[1 - first], pose, did[0], did[2], 1.0)
    return NO_FAILED_ROW
