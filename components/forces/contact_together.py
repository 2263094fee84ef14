"""Impacts that happen together: what blows do to all contacts of the bodies that they strike, within a tick and in their order.

A contact knows its own two bodies, and finds its impulse as if nothing else touched them (contact_impacts.py). Where a blow reaches
bodies that touch others, or are about to, that is wrong: of five balls in a row the last one is to fly off, and not each to pass
its half on from tick to tick. So contacts whose bodies were struck are looked at once more, all together: their points move on
parabolas, g + v t + a t^2 / 2, until the first of them meet; those that meet then, and come towards each other, part as
Newton's restitution says, as one complementarity problem,

    0 <= P,   v + W P + e v >= 0,   one of both 0 at each point,

while all others feel what that does to their bodies (contact_meetings.py); and so on to the end of the tick (B. Smith,
D. M. Kaufman, E. Vouga, R. Tamstorf, E. Grinspun, "Reflections on simultaneous impact", ACM Transactions on Graphics 31 (2012)
106). As only points take part that come towards each other, energy never grows: it changes by P (v - e v) / 2, where v < 0 <= P.
What has struck and is plastic (e = 0) stays closed meanwhile; friction then stops what slides. A blow at the time tau acts in two
parts as that of a contact alone does, 1 - tau / dt now and tau / dt a tick later.

How a body answers elsewhere than where it is struck follows from how it turns: between ports of a flexible one that leaves out
how it gives between them. Joints have as much say as the coupling gives them (coordinator/couplings/interface/impact_responses.py).
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from components.forces.contact_impacts import LEAST_GIVEN, MAX_SWEEPS, MOST_GIVEN
from components.forces.contact_meetings import (
    UNKNOWN,
    gap_at,
    let_chosen_feel,
    mean_of,
    meeting_of,
    meets_at,
    moves_at,
    parts_at,
    put_in,
    slide_of,
    whole_of,
)
from components.forces.contact_pair import tick_of
from components.forces.vectors import dot
from modular.blocks import room
from modular.elements import Array
from modular.kernel import kernel
from modular.views import View
from modular.workspaces import Workspace

MAX_BLOWS = 60.0  # of one contact in one tick: from then on it is plastic
MAX_PLASTIC_BLOWS = 60.0  # and after so many more the tick is left as it is
ENERGY_TOLERANCE = 1e-9  # of what a blow moves: energy that is rounding
MAX_MORE_SWEEPS = 1000  # of many contacts: what is left then meets again
SAME_TIME = 1e-9  # of a tick: what meets within it meets at once
SWEEPS_TOLERANCE = 1e-13  # of the fastest approach: changes so small are none


@kernel
def is_plastic(contacts: View, n: int) -> Any:
    """Whether it does not bounce, or has done so too often."""
    return contacts.law[n, 1] <= 0.0 or meeting_of(contacts.meeting[n]).blows >= MAX_BLOWS


@kernel
def choose_points(contacts: View, n: int, time: float) -> Any:
    """Its points that strike now, and how they are to part; whether there are any. Plastic ones that have struck stay closed."""
    meeting, found, plastic = meeting_of(contacts.meeting[n]), False, is_plastic(contacts, n)
    spent = meeting.blows >= MAX_BLOWS + MAX_PLASTIC_BLOWS
    for i in range(8):
        meeting.striking[i] = meeting.part[i] = 0.0
        for c in range(3):
            meeting.rub[i, c] = 0.0
        if i >= meeting.count or spent or not meeting.answer[i] > 0.0:
            continue
        parting, gap = parts_at(meeting, i, time), gap_at(meeting, i, time)
        comes = meets_at(meeting, i, time) <= time + SAME_TIME * meeting.span
        if comes or (plastic and meeting.blows > 0.0 and gap <= meeting.closed):
            meeting.striking[i], found = 1.0, True
            meeting.goal[i] = 0.0 if plastic else -contacts.law[n, 1] * parting
            if not comes:
                meeting.goal[i] = min(parting, 0.0)  # nor does it begin to
    return found


@kernel(written_out=False)
def add_chosen(contacts: View, n: int, many: int) -> int:
    """One more of those that strike together."""
    meeting = meeting_of(contacts.meeting[n])
    meeting.chosen = 1.0
    mean_of(meeting, 0.0)
    found: int = put_in(contacts, contacts.cluster, n, many)
    return found


@kernel
def choose_paid(contacts: View, n: int) -> Any:
    """What it owes from the tick before, once; whether it does."""
    meeting, owes = meeting_of(contacts.meeting[n]), False
    for i in range(8):
        meeting.part[i] = contacts.paid[n, i] if meeting.owes > 0.0 else 0.0
        owes = owes or meeting.part[i] > 0.0
        for c in range(3):
            meeting.rub[i, c] = contacts.rubbed[n, i, c] if meeting.part[i] > 0.0 else 0.0
    meeting.owes, meeting.spared = 0.0, tick_of(contacts.before[n]).spared if owes else 0.0
    return owes


@kernel(written_out=False)
def choose_payers(contacts: View, which: int, many: int) -> int:
    """All that owe impulses and hang together with one that does: what blows have taken is known of all of them only."""
    chosen = 0
    for k in range(many):
        n = contacts.order[k]
        if contacts.group[n] == contacts.group[which] and choose_paid(contacts, n):
            chosen = add_chosen(contacts, n, chosen)
    return chosen


@kernel(written_out=False, apart=True)
def choose_together(contacts: View, n: int, time: float) -> int:
    """Contacts that strike at this time with this one, over bodies that they share; so many stand in `cluster`."""
    choose_points(contacts, n, time)
    many, grows = add_chosen(contacts, n, 0), True
    while grows:
        grows = False
        k = 0
        while k < many:
            here = contacts.cluster[k]
            for side in range(2):
                at = contacts.ring[here, side]
                while at != 2 * here + side:
                    other = at // 2
                    meeting = meeting_of(contacts.meeting[other])
                    if meeting.taken > 0.0 and meeting.chosen == 0.0 and choose_points(contacts, other, time):
                        many, grows = add_chosen(contacts, other, many), True
                    at = contacts.ring[other, at % 2]
            k += 1
    return many


@kernel(apart=True)
def part_together(contacts: View, many: int, time: float) -> None:
    """Impulses with which all chosen points part as they should, none pulls (projected Gauss-Seidel); then those of friction.

    Meanwhile `jump` and `way` hold what they do.
    """
    line, fastest, rubbing = room((3,)), 0.0, False
    for k in range(many):
        meeting = meeting_of(contacts.meeting[contacts.cluster[k]])
        for i in range(int(meeting.count)):
            if meeting.striking[i] > 0.0:
                fastest = max(fastest, -parts_at(meeting, i, time))
                rubbing = rubbing or contacts.law[contacts.cluster[k], 0] > 0.0
    for _ in range(MAX_SWEEPS + min(many * many, MAX_MORE_SWEEPS)):
        change = 0.0
        for k in range(many):
            n = contacts.cluster[k]
            meeting = meeting_of(contacts.meeting[n])
            for i in range(int(meeting.count)):
                if meeting.striking[i] == 0.0:
                    continue
                left = parts_at(meeting, i, time) - meeting.goal[i]
                more = max(meeting.part[i] - left / meeting.answer[i], 0.0) - meeting.part[i]
                if more == 0.0:
                    continue
                meeting.part[i] += more
                change = max(change, abs(more) * meeting.answer[i])
                for c in range(3):
                    line[c] = more * meeting.normals[i, c]
                let_chosen_feel(contacts, n, i, line, time)
        if change <= SWEEPS_TOLERANCE * fastest:
            break
    if rubbing:
        rub_together(contacts, many, time, fastest)


@kernel
def rub_together(contacts: View, many: int, time: float, fastest: float) -> None:
    """Friction stops what slides at chosen points, up to its coefficient times what presses them; that takes energy.

    What presses is not asked again: energy falls with each step, as it does not where both are found in turn (T. R. Kane's
    double pendulum gains energy by Newton's restitution with friction).
    """
    slide, old = room((3,)), room((3,))
    for _ in range(MAX_SWEEPS + min(many * many, MAX_MORE_SWEEPS)):
        change = 0.0
        for k in range(many):
            n = contacts.cluster[k]
            meeting, friction = meeting_of(contacts.meeting[n]), contacts.law[n, 0]
            for i in range(int(meeting.count)):
                grip = friction * meeting.part[i]
                if meeting.striking[i] == 0.0 or not grip > 0.0 or not meeting.across[i] > 0.0:
                    continue
                slides_at(contacts, n, i, time, slide)
                for c in range(3):
                    old[c] = meeting.rub[i, c]
                    meeting.rub[i, c] -= slide[c] / meeting.across[i]
                size = sqrt(dot(meeting.rub[i], meeting.rub[i]))
                for c in range(3):
                    if size > grip:
                        meeting.rub[i, c] *= grip / size
                    old[c] = meeting.rub[i, c] - old[c]
                    change = max(change, abs(old[c]) * meeting.across[i])
                let_chosen_feel(contacts, n, i, old, time)
        if change <= SWEEPS_TOLERANCE * fastest:
            break


@kernel
def first_to_pay(contacts: View, group: int, many: int) -> int:
    """The contact with the least number that owes impulses, of those that hang together; -1 where there is none."""
    found = -1
    for k in range(many):
        n = contacts.order[k]
        if contacts.group[n] != group:
            continue
        if meeting_of(contacts.meeting[n]).owes > 0.0 and (found < 0 or contacts.number[n] < contacts.number[found]):
            owes = False
            for i in range(8):
                owes = owes or contacts.paid[n, i] > 0.0
            found = n if owes else found
    return found


@kernel
def pay_together(contacts: View, many: int) -> None:
    """Second parts act at the beginning of a tick, as large as all of a blow takes the energy that it should.

    Bodies have turned since, and what gives back all of it might give more, or less. Where next to nothing is given back that does
    not say how large they are: then they are as they were found. What one has taken alone and solves for anew answers for itself.
    """
    whole, base, own, given, square, spared, known = room((3,)), room((3,)), room((3,)), 0.0, 0.0, 0.0, True
    for k in range(many):
        n = contacts.cluster[k]
        meeting, before = meeting_of(contacts.meeting[n]), tick_of(contacts.before[n])
        spared += before.spared
        for i in range(int(meeting.count)):
            if whole_of(meeting, i, whole):
                known = known and before.later[i] > 0.0
                let_chosen_feel(contacts, n, i, whole, 0.0)
    for k in range(many):
        n = contacts.cluster[k]
        meeting, tick = meeting_of(contacts.meeting[n]), tick_of(contacts.now[n])
        for i in range(int(meeting.count)):
            if whole_of(meeting, i, whole):
                moves_at(meeting, tick, i, 0.0, base)
                slide_of(meeting, meeting.jump, i, own)
                given, square = given + dot(whole, base), square + 0.5 * dot(whole, own)
    if not known or not square > 0.0:
        return
    root = sqrt(max(given * given + 4.0 * square * spared, 0.0)) / (2.0 * square)
    if root < LEAST_GIVEN:
        return
    resize(contacts, many, min(root - 0.5 * given / square, MOST_GIVEN), 0.0)


@kernel
def slides_at(contacts: View, n: int, i: int, time: float, slide: Array) -> None:
    """How fast shapes slide across the normal of a point."""
    blown, meeting = room((3,)), meeting_of(contacts.meeting[n])
    moves_at(meeting, tick_of(contacts.now[n]), i, time, slide)
    slide_of(meeting, meeting.jump, i, blown)
    for c in range(3):
        slide[c] += blown[c]
    along = dot(slide, meeting.normals[i])
    for c in range(3):
        slide[c] -= along * meeting.normals[i, c]


@kernel
def first_to_meet(contacts: View, group: int, many: int, time: float) -> Any:
    """When the next point meets, and of which contact, of those that hang together, -1 where none does.

    At one time that with the least number.
    """
    first, found = 1e300, -1
    for k in range(many):
        n = contacts.order[k]
        if contacts.group[n] != group:
            continue
        if contacts.when[n] == UNKNOWN:
            contacts.when[n] = next_time(meeting_of(contacts.meeting[n]), time)
        when = max(contacts.when[n], time)
        if when < first or (when == first and found >= 0 and contacts.number[n] < contacts.number[found]):
            first, found = when, n
    return first, found


@kernel(written_out=False)
def next_time(meeting: Workspace, time: float) -> float:
    """When the next point of a contact meets; never where none does in this tick, or it has struck too often."""
    first = 1e300
    if meeting.blows >= MAX_BLOWS + MAX_PLASTIC_BLOWS:
        return first
    for i in range(int(meeting.count)):
        if meeting.answer[i] > 0.0:
            when = meets_at(meeting, i, time)
            first = when if when <= meeting.span and when < first else first
    return first


@kernel(apart=True)
def limit_together(contacts: View, many: int, time: float) -> None:
    """No more of the blows of an instant than takes energy, as a whole and in the part that acts now.

    What was not found to the end, or foretold from loads that change, might give some.
    """
    whole, base, was, then = room((3,)), room((3,)), room((3,)), room((3,))
    taken, square, first, first_square, least = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(many):
        n = contacts.cluster[k]
        meeting, tick = meeting_of(contacts.meeting[n]), tick_of(contacts.now[n])
        share = 1.0 - time / meeting.span
        for i in range(int(meeting.count)):
            if whole_of(meeting, i, whole):
                moves_at(meeting, tick, i, time, base)
                slide_of(meeting, meeting.through, i, was)
                slide_of(meeting, meeting.jump, i, then)
                taken += dot(whole, base) + dot(whole, was)
                square += 0.5 * (dot(whole, then) - dot(whole, was))
                least += ENERGY_TOLERANCE * abs(dot(whole, then) - dot(whole, was))
                moves_at(meeting, tick, i, 0.0, base)
                slide_of(meeting, meeting.mean, i, was)
                first += share * (dot(whole, base) + dot(whole, was))
                first_square += 0.5 * share * (dot(whole, then) - dot(whole, was))
                slide_of(meeting, meeting.way, i, then)
                first_square += 0.5 * share * dot(whole, then) / meeting.span
    share = 1.0
    if taken + square > least and square > 0.0:
        share = max(-taken / square, 0.0)
    if first + first_square > least and first_square > 0.0:
        share = min(share, max(-first / first_square, 0.0))
    if share < 1.0:
        resize(contacts, many, share, time)


@kernel
def resize(contacts: View, many: int, share: float, time: float) -> None:
    """Let all chosen impulses be so many times as large."""
    more = room((3,))
    for k in range(many):
        n = contacts.cluster[k]
        meeting = meeting_of(contacts.meeting[n])
        for i in range(int(meeting.count)):
            if whole_of(meeting, i, more):
                for c in range(3):
                    meeting.rub[i, c] *= share
                    more[c] *= share - 1.0
                meeting.part[i] *= share
                let_chosen_feel(contacts, n, i, more, time)


@kernel(written_out=False)
def book(contacts: View, many: int, time: float, paying: bool) -> None:
    """Which part of the impulses of those that struck acts now, and which a tick later; they have struck once more.

    Second parts are to give what the whole takes less than the first; what is paid gives it.
    """
    base, blown, whole = room((3,)), room((3,)), room((3,))
    for k in range(many):
        n = contacts.cluster[k]
        meeting, share = meeting_of(contacts.meeting[n]), time / meeting_of(contacts.meeting[n]).span
        meeting.blows, meeting.chosen, contacts.when[n] = meeting.blows + 1.0, 0.0, UNKNOWN
        mean_of(meeting, 0.5)
        for i in range(int(meeting.count)):
            if whole_of(meeting, i, whole):
                moves_at(meeting, tick_of(contacts.now[n]), i, 0.0, base)
                slide_of(meeting, meeting.mean, i, blown)
                meeting.spared -= (1.0 - share) * (dot(whole, base) + dot(whole, blown))
                if not paying:
                    moves_at(meeting, tick_of(contacts.now[n]), i, time, base)
                    slide_of(meeting, meeting.through, i, blown)
                    meeting.spared += dot(whole, base) + dot(whole, blown)
                meeting.now[i] += (1.0 - share) * meeting.part[i]
                meeting.later[i] += share * meeting.part[i]
                for c in range(3):
                    meeting.rubs[i, c] += (1.0 - share) * meeting.rub[i, c]
                    meeting.rubs_later[i, c] += share * meeting.rub[i, c]
