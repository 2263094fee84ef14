"""The law of contact: springs that push and stick where shapes rest on each other, impulses where they meet fast.

Each of its lines has a file: contact_pair.py (what is remembered, and how both shapes move), contact_points.py, contact_impacts.py,
contact_beginning.py, contact_springs.py, contact_friction.py with contact_rest.py, contact_energy.py; blows that reach several
contacts are found together (contact_together.py, contact_meetings.py), and so are the forces that carry what rests
(contact_carrying.py). The equations are in docs/method.md.
"""

from __future__ import annotations

from typing import Any

from components.forces.contact_answers import ask_mobility
from components.forces.contact_beginning import begin, note_overlap, touches
from components.forces.contact_carrying import carry_together
from components.forces.contact_energy import close_tick, take
from components.forces.contact_friction import new_rub, rub_across
from components.forces.contact_held import demand_of_island, is_told, note_close, shared_by
from components.forces.contact_impacts import impacts, note_paid, strike_together
from components.forces.contact_load import carrying_of, lay_down, note_changes, stand_in
from components.forces.contact_meetings import (
    UNKNOWN,
    comes_near,
    label_groups,
    link,
    meeting_of,
    note_coming,
    note_stirs,
    pass_on,
    shares_bodies,
    spread_nearing,
    take_in,
    whole_of,
)
from components.forces.contact_pair import (
    QUIET,
    Pair,
    Patch,
    along,
    answer_to,
    fall_quiet,
    law_of,
    new_pair,
    new_patch,
    push,
    record_tick,
    reset,
    shift_history,
    stands_still,
    tick_of,
)
from components.forces.contact_points import (
    compute_across,
    compute_responses,
    find_now,
    find_points,
    gap_of_touch,
    watch,
)
from components.forces.contact_sides import act, motion, pose_of
from components.forces.contact_springs import apply_impulses, request_ahead, request_along, spend, spread, springs
from components.forces.contact_together import (
    book,
    choose_payers,
    choose_together,
    first_to_meet,
    first_to_pay,
    limit_together,
    part_together,
    pay_together,
)
from modular.blocks import room
from modular.elements import GAIN_STEP, STEP, TIME
from modular.force import BEGUN
from modular.kernel import kernel
from modular.ledger import RELEASED, STORED
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

FROM_AFAR = 2.0  # of `taken`: its points were not looked at
LINKED = 2  # of `again`: it is known who has bodies in common
FOUND_TOGETHER = 2  # of `struck`: its blows were found with those of others
MAX_CONTACT_DEMAND = 3.0  # of the four of the stable rule: what contacts of one body may ask together
SAME_INSTANT = 1e-6  # of the step: times that are as near are one, however they were added up


@kernel
def sides_of(contacts: View, n: int) -> Any:
    """Which side kernels take first, and the first element of it and of the other."""
    if contacts.swapped[n] == 0:
        return 0, contacts.first[n], contacts.second[n]
    return 1, contacts.second[n], contacts.first[n]


@kernel(apart=True)
def exert_one(contacts: View, elements: View, n: int, patch: Patch, given: bool) -> None:
    """A tick of one contact; `given`: once more, with blows that were found together with those of others.

    Predicted places follow the central difference, x'' - 2 x' + x = dt^2 F'/m. So with v the velocity of the last tick, from where
    shapes were, a force F changes that of the next one by W F dt, under every coupling.
    """
    first, a, b = sides_of(contacts, n)
    second = 1 - first
    carry, mobility, shape = contacts.carry[n], contacts.mobility, contacts.shape
    pair = new_pair(
        tick_of(contacts.now[n]), tick_of(contacts.before[n]), law_of(contacts.law[n]),
        shape[n, first], shape[n, second], mobility[n, first], mobility[n, second], contacts.cross[n],
        meeting_of(contacts.meeting[n]), carrying_of(contacts.carrying[n]),
        contacts.asked[n], contacts.stiff[n], contacts.centre[n], contacts.sunk[n], contacts.inside[n],
    )  # fmt: skip
    pair.time, pair.dt, pair.flat = elements.clock[TIME], elements.clock[GAIN_STEP], elements.position.shape[0] == 2
    pair.kind_a, pair.kind_b, pair.given = contacts.kinds[n, first], contacts.kinds[n, second], int(given)
    pair.held = 1 if contacts.seats[n, 0] > 0 or contacts.seats[n, 1] > 0 else 0
    pair.carries = 1 if contacts.free[n] == 1 and contacts.law[n, 2] < 0.0 and is_told(contacts, n) else 0
    pair.shared = shared_by(contacts, n)
    pose_of(elements, a, carry[first], pair.a)
    pose_of(elements, b, carry[second], pair.b)
    now, before, rates = pair.now, pair.before, pair.rates
    same = SAME_INSTANT * pair.dt
    again = now.known > 0.0 and abs(pair.time - now.time) <= same
    event = now.known > 0.0 and (elements.clock[STEP] == 0.0 or (again and contacts.begins[n] == BEGUN))
    # a kick is tried again for dampers: nothing has moved, and a first tick would take other velocities for its own
    event = event or (again and before.known < 2.0 and stands_still(pair))
    back = before.known > 0.0 and abs(pair.time - before.time) <= same and not again  # a step is taken back
    contacts.struck[n], pair.carrying.count, pair.carrying.active = 0, 0.0, 0.0
    if pair.held:
        stand_in(pair.carrying, pair)
    if event or back:
        repeat(pair, event)
    else:
        shift_history(contacts.now[n], contacts.before[n], again, pair)
        now.within = 1.0 if pair.fresh and elements.clock[STEP] != 0.0 else 0.0
        motion(elements, a, carry[first], pair.a, before.pose[0], pair, rates[0], rates[1])
        motion(elements, b, carry[second], pair.b, before.pose[1], pair, rates[2], rates[3])
        pair.demand = max(elements.taken[a], elements.taken[b])
        pair.contacts_of_body = contacts.contacts_of_body[n]
        if pair.held:
            pair.demand = max(
                pair.demand, demand_of_island(contacts, elements, n, 0), demand_of_island(contacts, elements, n, 1)
            )
        play_tick(contacts, elements, n, pair, patch)
        contacts.struck[n], contacts.slow[n] = pair.struck, pair.slow
        if given:
            note_stirs(now, pair.meeting)
        note_coming(patch, contacts.coming[n])
        if pair.held:
            note_close(contacts, n, pair.dt, patch.whole > 0.0)
        if pair.struck and not given:
            note_paid(patch, contacts.paid[n], contacts.rubbed[n])
        if not again:
            contacts.ledger[n, RELEASED] -= pair.came
    act(elements, a, carry[first], pair.a, pair.wrench[0], pair.wrench[1], -1.0)
    act(elements, b, carry[second], pair.b, pair.wrench[0], pair.wrench[2], 1.0)
    contacts.ledger[n, STORED], contacts.power[n] = pair.stored, pair.takes
    contacts.rests[n] = max(now.rests, now.carried)
    if now.known != 1.0 or contacts.begins[n] != BEGUN:
        contacts.begins[n] = now.rests if now.known == 1.0 and pair.law.stiffness < 0.0 else 0.0
    if not (pair.quiet and now.known == QUIET):
        for k in range(3):
            for c in range(3):
                contacts.did[n, k, c] = pair.wrench[k, c]


@loop
def contact_loop(start: int, stop: int, contacts: View, elements: View) -> int:
    """Where shapes touch, springs that push and stick; where they meet fast, impulses.

    Once more for those whose blows were found together, until `end_strikes` says that this is over.
    """
    patch, again = new_patch(), contacts.again[0] > 0
    for n in range(start, stop):
        if not again or contacts.struck[n] == FOUND_TOGETHER:
            exert_one(contacts, elements, n, patch, again)
    return NO_FAILED_ROW


@loop
def strike_together_loop(start: int, stop: int, contacts: View, elements: View) -> int:
    """Blows at bodies that others touch, which all those feel: found together, to act instead of what each has found alone.

    To be played for all rows at once, when all of them have exerted.
    """
    contacts.again[0] = 1
    struck, nearing, dt = False, False, elements.clock[GAIN_STEP]
    for n in range(start, stop):
        struck = struck or contacts.struck[n] > 0
        if elements.clock[STEP] != 0.0:  # whoever looks at an instant changes nothing
            contacts.nearing[n] = 0.0
        nearing = nearing or comes_near(contacts, n, dt)
    if not struck and not nearing:
        return NO_FAILED_ROW
    link(contacts, start, stop)
    contacts.again[0] = LINKED
    for n in range(start, stop):
        if comes_near(contacts, n, dt):
            spread_nearing(contacts, n, dt)
    if not struck:
        return NO_FAILED_ROW
    label_groups(contacts, start, stop)
    patch, many = new_patch(), 0
    for n in range(start, stop):
        meeting_of(contacts.meeting[n]).taken = 0.0
    for n in range(start, stop):
        if contacts.struck[n] > 0 and shares_bodies(contacts, n):
            many = look_again(contacts, elements, n, patch, many)
    k = 0
    while k < many:
        if contacts.group[contacts.order[k]] >= 0:
            many = strike_group(contacts, elements, contacts.group[contacts.order[k]], patch, many)
        k += 1
    for k in range(many):
        n = contacts.order[k]
        meeting = meeting_of(contacts.meeting[n])
        if meeting.reached > 0.0:
            if contacts.struck[n] > 0 or meeting.blows > 0.0:
                contacts.struck[n] = FOUND_TOGETHER
            note_stirs(tick_of(contacts.now[n]), meeting)
    for n in range(start, stop):
        meeting = meeting_of(contacts.meeting[n])
        if meeting.taken == FROM_AFAR and meeting.reached > 0.0:
            note_stirs(tick_of(contacts.now[n]), meeting)
    return NO_FAILED_ROW


@kernel(written_out=False, apart=True)
def strike_group(contacts: View, elements: View, group: int, patch: Patch, many: int) -> int:
    """All blows of contacts that hang together, one after the other; with others they have nothing to do, not even in time.

    So whoever works out some of the groups finds the same bits. Those that are done have a group below 0.
    """
    time, which = 0.0, first_to_pay(contacts, group, many)
    while which >= 0:
        striking = choose_payers(contacts, which, many)
        pay_together(contacts, striking)
        many = tell_others(contacts, elements, striking, patch, time, many, True)
        which = first_to_pay(contacts, group, many)
    while many > 0:
        time, which = first_to_meet(contacts, group, many, time)
        if which < 0:
            break
        striking = choose_together(contacts, which, time)
        part_together(contacts, striking, time)
        limit_together(contacts, striking, time)
        many = tell_others(contacts, elements, striking, patch, time, many, False)
    for k in range(many):
        if contacts.group[contacts.order[k]] == group:
            contacts.group[contacts.order[k]] = -2 - group
    return many


@loop
def end_strikes_loop(start: int, stop: int, contacts: View, elements: View) -> int:
    """From here on contacts find their impulses alone."""
    linked, contacts.again[0] = contacts.again[0] == LINKED, 0
    carry_together(contacts, start, stop, elements, linked)
    return NO_FAILED_ROW


@kernel(written_out=False, apart=True)
def look_again(contacts: View, elements: View, n: int, patch: Patch, many: int) -> int:
    """One more contact whose bodies are struck: where its points are, and how they move without that."""
    ask_mobility(contacts, elements, n)
    first = contacts.swapped[n]
    second, now = 1 - first, tick_of(contacts.now[n])
    pair = new_pair(
        now, tick_of(contacts.before[n]), law_of(contacts.law[n]),
        contacts.shape[n, first], contacts.shape[n, second], contacts.mobility[n, first], contacts.mobility[n, second],
        contacts.cross[n], meeting_of(contacts.meeting[n]), carrying_of(contacts.carrying[n]),
        contacts.asked[n], contacts.stiff[n], contacts.centre[n], contacts.sunk[n], contacts.inside[n],
    )  # fmt: skip
    pair.time, pair.dt, pair.flat = now.time, elements.clock[GAIN_STEP], elements.position.shape[0] == 2
    pair.kind_a, pair.kind_b, pair.carries, pair.held = contacts.kinds[n, first], contacts.kinds[n, second], 0, 0
    pair.shared = shared_by(contacts, n)
    for c in range(3):
        pair.none[c] = 0.0
        for k in range(4):
            pair.a[k, c], pair.b[k, c] = now.pose[0, k, c], now.pose[1, k, c]
    find_points(pair, patch, now.let)
    for k in range(3):
        for c in range(3):
            pair.wrench[k, c] = 0.0
    for i in range(patch.count):  # what its springs do as well
        carried = now.stiff * now.drawn[i] + pair.before.steady[i]
        push(pair, patch.points[i], patch.normals[i], carried, pair.wrench)
    answer_to(pair, pair.wrench, pair.meeting.pace)
    for k in range(4):
        for c in range(3):
            pair.meeting.pace[k, c] += now.pace[k, c]
    for i in range(patch.count):
        patch.v[i] = along(pair, now.rates, patch.points[i], patch.normals[i])
        patch.hurry[i] = along(pair, pair.meeting.pace, patch.points[i], patch.normals[i])
    compute_responses(pair, patch)
    compute_across(pair, patch)
    middles = room((2, 3))
    for c in range(3):
        middles[0, c], middles[1, c] = pair.a[0, c], pair.b[0, c]
    pair.meeting.owes = 1.0 if contacts.struck[n] > 0 else 0.0
    take_in(pair.meeting, patch, middles, elements.clock[GAIN_STEP], contacts.slow[n], gap_of_touch(pair))
    if contacts.law[n, 1] < 0.0 <= contacts.law[n, 2]:  # springs alone
        for i in range(8):
            pair.meeting.answer[i] = 0.0
    contacts.when[n], contacts.order[many] = UNKNOWN, n
    return many + 1


@kernel(written_out=False)
def look_from_afar(contacts: View, elements: View, n: int) -> None:
    """A contact that no blow of this tick closes: what blows do to its bodies is not taken for what goes on acting on them."""
    meeting, now = meeting_of(contacts.meeting[n]), tick_of(contacts.now[n])
    patch, middles = new_patch(), room((2, 3))
    patch.count = 0
    for c in range(3):
        middles[0, c], middles[1, c] = now.pose[0, 0, c], now.pose[1, 0, c]
    meeting.owes = 0.0
    take_in(meeting, patch, middles, elements.clock[GAIN_STEP], contacts.slow[n], 0.0)
    meeting.taken = FROM_AFAR


@kernel(written_out=False, apart=True)
def tell_others(
    contacts: View, elements: View, striking: int, patch: Patch, time: float, many: int, paying: bool
) -> int:
    """Let all others feel the blows of those that strike together, and book them."""
    for k in range(striking):
        many = tell(contacts, elements, contacts.cluster[k], patch, time, many)
    book(contacts, striking, time, paying)
    return many


@kernel(written_out=False, apart=True)
def tell(contacts: View, elements: View, n: int, patch: Patch, time: float, many: int) -> int:
    """Let contacts of its bodies feel its blows that have not been chosen to strike with it; all know that they were reached."""
    impulse, meeting = room((3,)), meeting_of(contacts.meeting[n])
    for side in range(2):
        at = contacts.ring[n, side]
        while at != 2 * n + side:
            other = at // 2
            its = meeting_of(contacts.meeting[other])
            if its.taken == 0.0 and contacts.nearing[other] > 0.0:
                many = look_again(contacts, elements, other, patch, many)
            elif its.taken == 0.0:
                look_from_afar(contacts, elements, other)
            for i in range(int(meeting.count)):
                if whole_of(meeting, i, impulse):
                    its.reached = 1.0
                    if its.chosen == 0.0:
                        pass_on(contacts, n, side, i, impulse, at, time)
            at = contacts.ring[other, at % 2]
    return many


@kernel
def repeat(pair: Pair, event: bool) -> None:
    """As it was: at an event what this tick has found, and where a step is taken back what the one before has."""
    for k in range(3):
        for c in range(3):
            pair.wrench[k, c] = pair.now.wrench[k, c] if event else pair.before.wrench[k, c]
    pair.quiet, pair.stored = 0, pair.now.held if event else pair.before.held
    pair.takes = pair.now.taken if event else pair.before.taken


@kernel(apart=True)
def play_tick(contacts: View, elements: View, n: int, pair: Pair, patch: Patch) -> None:
    """One tick of one pair, from where both shapes are and how they move."""
    before = pair.before
    record_tick(pair)
    reset(pair, patch)
    find_now(pair, patch)
    if pair.fresh and touches(pair, patch):
        pair.now.rests = 1.0
    near = watch(pair, patch)
    if pair.fresh:
        note_overlap(pair, patch)
    if near or pair.given:
        ask_mobility(contacts, elements, n)
        asked = pair.demand / before.ample if before.ample > 0.0 else pair.demand  # as if none had given way
        if before.carried == 0.0 or pair.demand == 0.0:  # what they ask together is not known yet, or by nobody
            asked = max(asked, pair.contacts_of_body)
        pair.ample = min(1.0, MAX_CONTACT_DEMAND / max(asked, MAX_CONTACT_DEMAND))
        pair.now.ample = pair.ample
        compute_responses(pair, patch)
        if pair.given:
            strike_together(pair, patch)
        else:
            impacts(pair, patch)
        begin(pair, patch)
        springs(pair, patch)
        spend(pair, patch)
    if patch.whole > 0.0:
        apply_impulses(pair, patch)
        spread(pair, patch)
        request_along(pair, patch)
        if pair.law.friction > 0.0 and not pair.given:
            rub_across(pair, patch, new_rub())
        take(pair, patch)
    elif pair.law.stiffness >= 0.0:
        request_ahead(pair)
    if not pair.fresh:
        if near or pair.given or not pair.quiet:
            note_changes(pair.carrying, pair)
        stand_in(pair.carrying, pair)
        if pair.carries and (near or pair.given):
            lay_down(pair.carrying, pair, patch)
    close_tick(pair, patch.whole > 0.0)
    if not (near or pair.given or pair.fresh):
        fall_quiet(contacts.now[n], pair)
