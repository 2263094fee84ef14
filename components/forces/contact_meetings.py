"""A contact while blows that happen together are found: its points, how they move, and what blows do to them.

Points go on parabolas, g + v t + a t^2 / 2; a blow at the time tau adds a velocity, and takes its way until then back: jump t +
way.
"""

from __future__ import annotations

from typing import Any

from components.forces.contact_held import NEAR_STEPS, answer_there
from components.forces.contact_impacts import meets_after
from components.forces.contact_pair import Patch
from components.forces.vectors import cross, dot
from modular.blocks import room
from modular.elements import Array
from modular.force import NOBODY
from modular.kernel import kernel
from modular.views import View
from modular.workspaces import Workspace, layout, size_of

FAR, SMALL_SPEED = 1e300, 1e-300  # [m], [m/s]
UNKNOWN = -1.0  # of a time
# of a contact while the blows of a tick are found
MEETING = {
    "taken": float, "owes": float,  # 1 where it takes part, and where it may owe impulses
    "points": (8, 3), "normals": (8, 3), "gaps": (8,), "count": float,
    "middle": (2, 3),  # of both shapes, as kernels take them
    "coming": (8,), "hurry": (8,), "pace": (4, 3),  # velocities and accelerations along normals, and of rates, without blows
    "answer": (8,), "across": (8,),  # how velocities along normals answer an impulse along them, W, and most across
    "span": float, "slow": float, "closed": float,  # the tick [s], what does not bounce [m/s], gaps that are none [m]
    "jump": (4, 3), "way": (4, 3),  # what blows have done: they move shapes by jump t + way
    "stirs": (4, 3),  # the same in the ways until the next tick, by blows at others
    "mean": (4, 3), "through": (4, 3),  # of before and after a blow, as the tick shows it, and as it is
    "spared": float,  # energy that its second parts are to give, so that all of a blow takes what it should [J]
    "blows": float, "reached": float,  # of its own; 1 where its bodies were struck elsewhere
    "now": (8,), "later": (8,), "rubs": (8, 3), "rubs_later": (8, 3),  # impulses of this tick and of the next, across normals too
    "goal": (8,), "part": (8,), "rub": (8, 3),  # of blows at one time: how fast points are to part, impulses as yet
    "chosen": float, "striking": (8,),  # and who takes part
}  # fmt: skip
MEETING_SIZE = size_of(MEETING)
meeting_of = layout(**MEETING)


# --- who has bodies in common -----------------------------------------------------------------------------------------


@kernel
def link(contacts: View, start: int, stop: int) -> None:
    """Sides on the same body in rings: `ring` of a side is the next one, numbered 2 n + side; `first_on` finds one by its body.

    Bodies that hang together in joints are one here.
    """
    places = 2 * (stop - start)
    for k in range(2 * start, 2 * stop):
        contacts.first_on[k // 2, k % 2] = -1
    for k in range(2 * start, 2 * stop):
        n, side = k // 2, k % 2
        contacts.ring[n, side] = k
        body = contacts.island[n, side]
        if body == NOBODY:
            continue
        place = 2 * start + body % places
        other = contacts.first_on[place // 2, place % 2]
        while other >= 0 and contacts.island[other // 2, other % 2] != body:
            place = 2 * start + (place + 1) % places
            other = contacts.first_on[place // 2, place % 2]
        if other < 0:
            contacts.first_on[place // 2, place % 2] = k
        else:
            contacts.ring[n, side] = contacts.ring[other // 2, other % 2]
            contacts.ring[other // 2, other % 2] = k


@kernel
def label_groups(contacts: View, start: int, stop: int) -> None:
    """All contacts by what hangs together with them."""
    for n in range(start, stop):
        contacts.group[n] = -1
    for n in range(start, stop):
        if contacts.group[n] < 0:
            label(contacts, n)


@kernel
def label(contacts: View, first: int) -> None:
    """All that hang together with a contact, over bodies that they share, are of its group."""
    many, k = 1, 0
    contacts.cluster[0], contacts.group[first] = first, first
    while k < many:
        here = contacts.cluster[k]
        for side in range(2):
            at = contacts.ring[here, side]
            while at != 2 * here + side:
                other = at // 2
                if contacts.group[other] < 0:
                    contacts.group[other], contacts.cluster[many] = first, other
                    many += 1
                at = contacts.ring[other, at % 2]
        k += 1


@kernel
def shares_bodies(contacts: View, n: int) -> Any:
    """Whether a body of it touches others."""
    return contacts.ring[n, 0] // 2 != n or contacts.ring[n, 1] // 2 != n


@kernel
def note_coming(patch: Patch, coming: Array) -> None:
    """How fast shapes come together, and how near they are, at most."""
    coming[0], coming[1] = 0.0, FAR
    for i in range(patch.count):
        coming[0], coming[1] = max(coming[0], -patch.v[i]), min(coming[1], patch.gaps[i])


@kernel
def comes_near(contacts: View, n: int, dt: float) -> Any:
    """Whether there may soon be a blow, or just was one."""
    coming = contacts.coming[n]
    fast = coming[0] > contacts.slow[n] and coming[1] <= NEAR_STEPS * dt * coming[0]
    return fast or contacts.struck[n] > 0


@kernel
def spread_nearing(contacts: View, n: int, dt: float) -> None:
    """Contacts to which a blow at this one may reach: those so near that it carries them there, over bodies that they share."""
    speed, many, k = max(contacts.coming[n, 0], contacts.slow[n], SMALL_SPEED), 1, 0
    contacts.cluster[0], contacts.nearing[n] = n, max(contacts.nearing[n], speed)
    while k < many:
        here = contacts.cluster[k]
        for side in range(2):
            at = contacts.ring[here, side]
            while at != 2 * here + side:
                other = at // 2
                if contacts.nearing[other] < speed and contacts.coming[other, 1] <= NEAR_STEPS * dt * speed:
                    contacts.nearing[other], contacts.cluster[many] = speed, other
                    many += 1
                at = contacts.ring[other, at % 2]
        k += 1


@kernel(written_out=False)
def put_in(contacts: View, rows: Array, n: int, many: int) -> int:
    """One more of some contacts, sorted by their numbers: whatever rows they have, they are asked in the same order."""
    place = many
    while place > 0 and contacts.number[rows[place - 1]] > contacts.number[n]:
        rows[place] = rows[place - 1]
        place -= 1
    rows[place] = n
    return many + 1


# --- points and blows -------------------------------------------------------------------------------------------------


@kernel
def take_in(meeting: Workspace, patch: Patch, middles: Array, span: float, slow: float, closed: float) -> None:
    """A contact whose bodies are struck, from where its points are and how they move."""
    meeting.taken, meeting.count, meeting.span, meeting.slow, meeting.closed = 1.0, patch.count, span, slow, closed
    meeting.blows = meeting.reached = meeting.chosen = meeting.spared = 0.0
    for c in range(3):
        meeting.middle[0, c], meeting.middle[1, c] = middles[0, c], middles[1, c]
        for k in range(4):
            meeting.jump[k, c] = meeting.way[k, c] = meeting.stirs[k, c] = 0.0
    for i in range(8):
        meeting.now[i] = meeting.later[i] = meeting.part[i] = 0.0
        meeting.gaps[i] = meeting.coming[i] = meeting.hurry[i] = meeting.answer[i] = meeting.across[i] = 0.0
        for c in range(3):
            meeting.rubs[i, c] = meeting.rubs_later[i, c] = meeting.rub[i, c] = 0.0
    for i in range(patch.count):
        meeting.across[i] = patch.across[i]
        for c in range(3):
            meeting.points[i, c], meeting.normals[i, c] = patch.points[i, c], patch.normals[i, c]
        meeting.gaps[i], meeting.hurry[i], meeting.answer[i] = patch.gaps[i], patch.hurry[i], patch.w[i, i]
        meeting.coming[i] = patch.v[i] + 0.5 * span * patch.hurry[i]


@kernel
def note_stirs(tick: Workspace, meeting: Workspace) -> None:
    """What blows at others have done is remembered: it is not what goes on acting."""
    tick.known = min(tick.known, 2.0)  # no longer quiet
    for k in range(4):
        for c in range(3):
            tick.stirs[k, c] = meeting.stirs[k, c]


@kernel
def slide_of(meeting: Workspace, rates: Array, i: int, slide: Array) -> None:
    """Velocity of the second shape against the first at a point, where they move like this."""
    arm, turn = room((3,)), room((3,))
    for c in range(3):
        slide[c] = 0.0
    for side in range(2):
        for c in range(3):
            arm[c] = meeting.points[i, c] - meeting.middle[side, c]
        cross(rates[2 * side + 1], arm, turn)
        for c in range(3):
            share = rates[2 * side, c] + turn[c]
            slide[c] += share if side == 1 else -share


@kernel
def part_of(meeting: Workspace, rates: Array, i: int) -> float:
    """How shapes that move like this part at a point."""
    slide = room((3,))
    slide_of(meeting, rates, i, slide)
    found: float = dot(slide, meeting.normals[i])
    return found


@kernel
def parts_at(meeting: Workspace, i: int, time: float) -> float:
    """How fast points part at a time of the tick."""
    found: float = meeting.coming[i] + meeting.hurry[i] * time + part_of(meeting, meeting.jump, i)
    return found


@kernel
def gap_at(meeting: Workspace, i: int, time: float) -> float:
    """How far apart points are at a time of the tick."""
    found: float = meeting.gaps[i] + time * (meeting.coming[i] + 0.5 * time * meeting.hurry[i])
    return found + time * part_of(meeting, meeting.jump, i) + part_of(meeting, meeting.way, i)


@kernel
def meets_at(meeting: Workspace, i: int, time: float) -> float:
    """When a point meets, from a time of the tick on; beyond its end where it does not, or not fast."""
    never: float = 2.0 * meeting.span
    parting, gap = parts_at(meeting, i, time), gap_at(meeting, i, time)
    if gap <= meeting.closed and -parting > meeting.slow:
        return time
    if gap <= meeting.closed:
        return never
    left: float = meeting.span - time
    share = meets_after(gap, parting, meeting.hurry[i], left) if left > 0.0 else -1.0
    if share < 0.0 or not -parting - meeting.hurry[i] * share * left > meeting.slow:
        return never
    found: float = time + share * left
    return found


@kernel
def place_of(contacts: View, n: int, side: int) -> int:
    """0 where kernels take a side as the first."""
    return 1 if side != contacts.swapped[n] else 0


@kernel
def whole_of(meeting: Workspace, i: int, whole: Array) -> Any:
    """The impulse of a blow at a point, along its normal and across; whether there is one."""
    for c in range(3):
        whole[c] = meeting.part[i] * meeting.normals[i, c] + meeting.rub[i, c]
    return meeting.part[i] > 0.0


@kernel
def answer_from(contacts: View, n: int, side: int, i: int, impulse: Array, rates: Array) -> None:
    """How the body of a side answers an impulse at a point, velocity and turning at the middle of its shape."""
    mobility, wrench = contacts.mobility[n, side], room((6,))
    wrench_from(contacts, n, side, i, impulse, wrench)
    for p in range(3):
        slid, spun = 0.0, 0.0
        for q in range(3):
            slid += mobility[0, p, q] * wrench[q] + mobility[1, p, q] * wrench[3 + q]
            spun += mobility[1, q, p] * wrench[q] + mobility[2, p, q] * wrench[3 + q]
        rates[0, p], rates[1, p] = slid, spun


@kernel
def wrench_from(contacts: View, n: int, side: int, i: int, impulse: Array, wrench: Array) -> None:
    """An impulse at a point as one at the middle of the shape of a side, and its moment there."""
    second, meeting = place_of(contacts, n, side), meeting_of(contacts.meeting[n])
    arm, moment, force = room((3,)), room((3,)), room((3,))
    for c in range(3):
        arm[c] = meeting.points[i, c] - meeting.middle[second, c]
        force[c] = impulse[c] if second == 1 else -impulse[c]
    cross(arm, force, moment)
    for c in range(3):
        wrench[c], wrench[3 + c] = force[c], moment[c]


@kernel(written_out=False, apart=True)
def pass_on(contacts: View, n: int, side: int, i: int, impulse: Array, at: int, time: float) -> None:
    """What an impulse at a point does to another side, on the same body or on one that hangs together with it in joints."""
    other, there, rates = at // 2, at % 2, room((2, 3))
    middle = meeting_of(contacts.meeting[n]).middle[place_of(contacts, n, side)]
    if contacts.seats[n, side] > 0:
        wrench = room((6,))
        wrench_from(contacts, n, side, i, impulse, wrench)
        if answer_there(contacts, n, side, wrench, other, there, rates):
            middle = meeting_of(contacts.meeting[other]).middle[place_of(contacts, other, there)]
            feel(contacts, other, there, rates, middle, time, other != n)
            return
        if contacts.body[n, side] != contacts.body[other, there]:
            return
    answer_from(contacts, n, side, i, impulse, rates)
    feel(contacts, other, there, rates, middle, time, True)


@kernel
def feel(contacts: View, n: int, side: int, rates: Array, middle: Array, time: float, others: bool) -> None:
    """What a blow on its body does to a side: that turns about another middle."""
    meeting, arm, turn = meeting_of(contacts.meeting[n]), room((3,)), room((3,))
    place, contacts.when[n] = place_of(contacts, n, side), UNKNOWN
    for c in range(3):
        arm[c] = meeting.middle[place, c] - middle[c]
    cross(rates[1], arm, turn)
    for c in range(3):
        slide, spin = rates[0, c] + turn[c], rates[1, c]
        meeting.jump[2 * place, c] += slide
        meeting.jump[2 * place + 1, c] += spin
        meeting.way[2 * place, c] -= time * slide
        meeting.way[2 * place + 1, c] -= time * spin
        if others:
            meeting.stirs[2 * place, c] += (1.0 - time / meeting.span) * slide
            meeting.stirs[2 * place + 1, c] += (1.0 - time / meeting.span) * spin


@kernel
def moves_at(meeting: Workspace, tick: Workspace, i: int, time: float, slide: Array) -> None:
    """Velocity of the second shape against the first at a point and a time of the tick, without blows."""
    pace = room((3,))
    slide_of(meeting, tick.rates, i, slide)
    slide_of(meeting, meeting.pace, i, pace)
    for c in range(3):
        slide[c] += (0.5 * meeting.span + time) * pace[c]


@kernel
def mean_of(meeting: Workspace, was: float) -> None:
    """Into `mean`: how fast blows so far move shapes until the next tick, jump + way / dt, and before: the mean of both.

    The same of what they do at once, the jump, into `through`.
    """
    for k in range(4):
        for c in range(3):
            moves = meeting.jump[k, c] + meeting.way[k, c] / meeting.span
            meeting.mean[k, c] = was * meeting.mean[k, c] + (1.0 - was) * moves
            meeting.through[k, c] = was * meeting.through[k, c] + (1.0 - was) * meeting.jump[k, c]


@kernel(apart=True)
def let_chosen_feel(contacts: View, n: int, i: int, impulse: Array, time: float) -> None:
    """What an impulse at a point does to all that are chosen."""
    rates = room((2, 3))
    for side in range(2):
        if contacts.body[n, side] == NOBODY:
            continue
        middle = meeting_of(contacts.meeting[n]).middle[place_of(contacts, n, side)]
        answer_from(contacts, n, side, i, impulse, rates)
        feel(contacts, n, side, rates, middle, time, False)
        at = contacts.ring[n, side]
        while at != 2 * n + side:
            other = at // 2
            if meeting_of(contacts.meeting[other]).chosen > 0.0:
                pass_on(contacts, n, side, i, impulse, at, time)
            at = contacts.ring[other, at % 2]
