"""Bodies that hang in joints, as contacts see them that carry what rests: a push on one moves all that hang together with it.

Glued joints answer a push in the tick in which it comes, and who solves for them tells how (modular/force.py, `HeldTogether`): of
bodies i and j of one island a block T_ij, the share of the motions of j that is left for i by what holds both,

    q_i = T_ij S_j^T f,    rates_i = S_i q_i

with f a force and a moment where the motion of body j is told (`home`), and S_i how velocity and turning there answer motions of i.
Between bodies that nothing holds T is 1 for each and 0 between two. Contacts reckon with such bodies in their motions q.
Where both bodies of a contact hang together, what pushes one moves the other too (`cross`).
"""

from __future__ import annotations

from components.forces.contact_answers import scratch_of, side_response
from components.forces.contact_sides import lines_of, pose_of
from modular.blocks import room
from modular.elements import Array
from modular.force import NOBODY
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

NEAR_STEPS = 3.0  # what comes so near in so many ticks is asked for
MOTIONS = 6  # of a rigid body
LOCKED_SHARE = 1e-9  # of how a point would answer if nothing held its bodies: what is left less is rounding


@kernel
def is_told(contacts: View, n: int) -> bool:
    """Whether it is known in this tick how the bodies of a contact answer through their joints, as far as they have any."""
    told = True
    for side in range(2):
        if contacts.seats[n, side] > 0:
            told = told and contacts.told[contacts.first_seat[n, side] + contacts.seat[n, side]] == 1
    return told


@kernel
def note_close(contacts: View, n: int, dt: float, lasting: bool) -> None:
    """Whether it may carry something soon, or does: then it will be asked how its bodies answer through their joints."""
    coming, gap = contacts.coming[n, 0], contacts.coming[n, 1]
    contacts.close[n] = 1.0 if lasting or gap <= NEAR_STEPS * dt * max(coming, contacts.slow[n]) else 0.0


@kernel
def demand_of_island(contacts: View, elements: View, n: int, side: int) -> float:
    """What contacts ask of the bodies that hang together with that of a side; for each of these they may ask the sum."""
    asked, first = 0.0, contacts.first_seat[n, side]
    for j in range(contacts.seats[n, side]):
        asked += elements.taken[contacts.shown_at[first + j]]
    return asked


@kernel
def motions_of(contacts: View, home: int, wrench: Array, q: Array) -> None:
    """Motions that a force and a moment, where the motion of a body is told, bring to it if nothing holds it."""
    seen = contacts.freely[home // 2, home % 2]
    for a in range(MOTIONS):
        q[a] = 0.0
        for c in range(6):
            q[a] += seen[c, a] * wrench[c]


@kernel
def rates_of(contacts: View, home: int, q: Array, rates: Array) -> None:
    """Velocity and turning there of motions."""
    seen = contacts.freely[home // 2, home % 2]
    for c in range(6):
        rates[c] = 0.0
        for a in range(MOTIONS):
            rates[c] += seen[c, a] * q[a]


@kernel
def add_answer(contacts: View, n: int, side: int, other: int, q: Array, answer: Array) -> None:
    """Add how the body of a side moves as motions are brought to that of another side of the same contact, on the same island."""
    block = contacts.first_block[n, side] + contacts.seats[n, side] * contacts.seat[n, side] + contacts.seat[n, other]
    for a in range(MOTIONS):
        for b in range(MOTIONS):
            answer[a] += contacts.through[block, a, b] * q[b]


@kernel(written_out=False)
def move_together(contacts: View, n: int, side: int, q: Array, size: float) -> None:
    """Let all that hangs together with the body of a side feel motions that are brought to that, times a size."""
    first, seats = contacts.first_seat[n, side], contacts.seats[n, side]
    block = contacts.first_block[n, side] + contacts.seat[n, side]
    if contacts.told[first + contacts.seat[n, side]] == 0:
        return
    for j in range(seats):
        home = contacts.sitting[first + j]
        if home != NOBODY and contacts.told[first + j] == 1:
            moved, share = contacts.moved[home // 2, home % 2], contacts.through[block + seats * j]
            for a in range(MOTIONS):
                for b in range(MOTIONS):
                    moved[a] += size * share[a, b] * q[b]


@kernel(written_out=False)
def answer_there(contacts: View, n: int, side: int, wrench: Array, other: int, there: int, rates: Array) -> bool:
    """How a side of another contact moves by a force and a moment where the body of a side is shown; whether they hang together."""
    q, moved, out = room((6,)), room((6,)), room((6,))
    first = contacts.first_seat[n, side]
    if contacts.seats[other, there] == 0 or contacts.first_seat[other, there] != first:
        return False
    if contacts.told[first + contacts.seat[n, side]] == 0 or contacts.told[first + contacts.seat[other, there]] == 0:
        return False
    motions_of(contacts, 2 * n + side, wrench, q)
    block = (
        contacts.first_block[n, side] + contacts.seats[n, side] * contacts.seat[other, there] + contacts.seat[n, side]
    )
    for a in range(MOTIONS):
        moved[a] = 0.0
        for b in range(MOTIONS):
            moved[a] += contacts.through[block, a, b] * q[b]
    rates_of(contacts, 2 * other + there, moved, out)
    for c in range(3):
        rates[0, c], rates[1, c] = out[c], out[3 + c]
    return True


@kernel
def jolted_rates(contacts: View, home: int, own: Array, rates: Array) -> None:
    """How a body in joints moves by all jolts, less what its own contact does to it."""
    left = room((6,))
    for a in range(MOTIONS):
        left[a] = contacts.moved[home // 2, home % 2, a] - own[a]
    rates_of(contacts, home, left, rates)


@kernel(written_out=False)
def shared_by(contacts: View, n: int) -> int:
    """How the body of the first side moves by a push on that of the second, where both hang together in joints.

    Returned is 1 where they do, -1 if kernels take the second side first, and 0 elsewhere.
    """
    first, shared = contacts.first_seat[n, 0], False
    if contacts.seats[n, 0] > 0 and contacts.seats[n, 1] > 0 and contacts.first_seat[n, 1] == first:
        shared = contacts.told[first + contacts.seat[n, 0]] == 1 and contacts.told[first + contacts.seat[n, 1]] == 1
    if not shared:
        return 0
    block = contacts.first_block[n, 0] + contacts.seats[n, 0] * contacts.seat[n, 0] + contacts.seat[n, 1]
    one, other, share = contacts.freely[n, 0], contacts.freely[n, 1], contacts.through[block]
    for i in range(6):
        for j in range(6):
            contacts.cross[n, i, j] = 0.0
            for a in range(MOTIONS):
                for b in range(MOTIONS):
                    contacts.cross[n, i, j] += one[i, a] * share[a, b] * other[j, b]
    return 1 if contacts.swapped[n] == 0 else -1


@loop
def note_free_loop(start: int, stop: int, contacts: View, elements: View) -> int:
    """How bodies in joints would answer if nothing held them."""
    pose = room((4, 3))
    seen, _ = scratch_of(elements.demand)
    for n in range(start, stop):
        for side in range(2):
            if contacts.seats[n, side] == 0:
                continue
            row, carry = contacts.first[n] if side == 0 else contacts.second[n], contacts.carry[n]
            if carry[side] < 0.0:
                lines_of(elements, row, carry, side)
            pose_of(elements, row, carry[side], pose)
            side_response(elements, row, carry[side], pose, seen)
            for c in range(6):
                for a in range(MOTIONS):
                    contacts.freely[n, side, c, a] = seen[c, a]
    return NO_FAILED_ROW
