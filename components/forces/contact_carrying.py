"""What rests is carried at the level of places: all that touches finds together the forces with which nothing goes into anything.

With g the gap of a point, v how fast it opened in the last tick, a what everything but these forces does and N what they are,

    0 <= N  perp  g + dt (v + dt (a + W N)) >= 0

over the points of all contacts that hang together over bodies which they share (J. J. Moreau, "Unilateral contact and dry friction
in finite freedom dynamics", 1988; D. E. Stewart, J. C. Trinkle, Int. J. Numerical Methods in Engineering 39 (1996) 2673-2691), by
projected Gauss-Seidel from the forces of the tick before. What is sunk in comes out by a share of it a tick, and is not thrown.

W and a are exact of bodies that nothing else holds, and of those in glued joints, as these are solved for (contact_held.py): of
others a contact has springs (contact_springs.py). Which is which the coordinator tells (`free`). Friction is found by each contact
alone before, with what it has carried so far.
"""

from __future__ import annotations

from components.forces.contact_held import (
    LOCKED_SHARE,
    add_answer,
    jolted_rates,
    motions_of,
    move_together,
)
from components.forces.contact_load import bear_load, carrying_of
from components.forces.contact_meetings import link, place_of, put_in
from components.forces.contact_packed import go_on_packed, pack, pass_on_sweeps, size_packed, sweep_packed
from components.forces.contact_pair import answer_of, stir, tick_of
from components.forces.contact_pivoting import MOST_POINTS, pivot
from components.forces.vectors import cross
from modular.blocks import room
from modular.elements import Array
from modular.force import NOBODY
from modular.kernel import kernel
from modular.views import View

MAX_SWEEPS, SWEEPS_BEFORE_PIVOTING = 400, 24
SWEEPS_TOLERANCE = 1e-8  # of the fastest approach: changes so small are none
COMPLIANCE = 1e-4  # of how a point answers, against changes of what it carries: what statics leaves open stays as it is


@kernel(apart=True)
def carry_together(contacts: View, start: int, stop: int, elements: View, linked: bool) -> None:
    """All that touches, group by group; `linked`: it is known who has bodies in common."""
    touching = False
    for n in range(start, stop):
        touching = touching or carrying_of(contacts.carrying[n]).count > 0.0
    if not touching:
        return
    if not linked:
        link(contacts, start, stop)
    for n in range(start, stop):
        contacts.home[n, 0] = contacts.home[n, 1] = contacts.group[n] = NOBODY
    for n in range(start, stop):
        for side in range(2):
            if contacts.home[n, side] == NOBODY:
                settle_in(contacts, n, side)
    for n in range(start, stop):
        if contacts.group[n] == NOBODY and carrying_of(contacts.carrying[n]).count > 0.0:
            many = gather_group(contacts, n)
            prepare(contacts, many)
            sweep(contacts, many)
            note_jolts(contacts, many)
            for k in range(many):
                bear_load(contacts, contacts.order[k], elements)


@kernel
def settle_in(contacts: View, n: int, side: int) -> None:
    """How a body moves is told at one of its contacts: that with the least number, whatever rows they have."""
    body = contacts.body[n, side]
    if body == NOBODY:
        return
    home, at = 2 * n + side, contacts.ring[n, side]
    while at != 2 * n + side:
        if contacts.body[at // 2, at % 2] == body and contacts.number[at // 2] < contacts.number[home // 2]:
            home = at
        at = contacts.ring[at // 2, at % 2]
    contacts.home[n, side] = home
    at = contacts.ring[n, side]
    while at != 2 * n + side:
        if contacts.body[at // 2, at % 2] == body:
            contacts.home[at // 2, at % 2] = home
        at = contacts.ring[at // 2, at % 2]
    if contacts.seats[n, side] > 0:
        contacts.sitting[contacts.first_seat[n, side] + contacts.seat[n, side]] = home


@kernel(written_out=False)
def gather_group(contacts: View, first: int) -> int:
    """Contacts that hang together with one over bodies that they share, and do something; sorted by their numbers."""
    many, k = 1, 0
    contacts.cluster[0], contacts.group[first] = first, first
    while k < many:
        here = contacts.cluster[k]
        for side in range(2):
            at = contacts.ring[here, side]
            while at != 2 * here + side:
                other = at // 2
                if contacts.group[other] == NOBODY and carrying_of(contacts.carrying[other]).active > 0.0:
                    contacts.group[other], contacts.cluster[many] = first, other
                    many += 1
                at = contacts.ring[other, at % 2]
        k += 1
    for k in range(many):
        put_in(contacts, contacts.order, contacts.cluster[k], k)
    return many


@kernel
def arm_of(contacts: View, n: int, side: int, x: Array, arm: Array) -> None:
    """From where the motion of the body of a side is told to a place."""
    home = contacts.home[n, side]
    place = place_of(contacts, home // 2, home % 2)
    middle = carrying_of(contacts.carrying[home // 2]).middle[place]
    for c in range(3):
        arm[c] = x[c] - middle[c]


@kernel
def clear_bodies(contacts: View, many: int) -> None:
    """Bodies of a group do not move yet."""
    for k in range(many):
        for side in range(2):
            home = contacts.home[contacts.order[k], side]
            if home != NOBODY:
                for c in range(6):
                    contacts.moved[home // 2, home % 2, c] = 0.0


@kernel(written_out=False)
def prepare(contacts: View, many: int) -> None:
    """How bodies of a group move by what contacts do otherwise, and how points and bodies answer each other."""
    bring_all_changes(contacts, many)
    for k in range(many):
        n = contacts.order[k]
        for i in range(int(carrying_of(contacts.carrying[n]).count)):
            reply_to(contacts, n, i)


@kernel(written_out=False)
def bring_all_changes(contacts: View, many: int) -> None:
    """Bodies of a group move by what contacts do otherwise, and by nothing else yet."""
    arm, turn = room((3,)), room((3,))
    clear_bodies(contacts, many)
    for k in range(many):
        n = contacts.order[k]
        carrying = carrying_of(contacts.carrying[n])
        for side in range(2):
            home = contacts.home[n, side]
            if home == NOBODY:
                continue
            place = place_of(contacts, n, side)
            arm_of(contacts, n, side, carrying.middle[place], arm)
            if contacts.seats[n, side] > 0:
                bring_changes(contacts, n, side, arm)
                continue
            slide, spin = carrying.changes[2 * place], carrying.changes[2 * place + 1]
            cross(arm, spin, turn)
            for c in range(3):
                contacts.moved[home // 2, home % 2, c] += slide[c] + turn[c]
                contacts.moved[home // 2, home % 2, 3 + c] += spin[c]


@kernel(written_out=False)
def bring_changes(contacts: View, n: int, side: int, arm: Array) -> None:
    """What a contact does otherwise moves all that hangs together with the body of a side in joints."""
    pushes = carrying_of(contacts.carrying[n]).pushes[place_of(contacts, n, side)]
    force, turn, wrench, q = room((3,)), room((3,)), room((6,)), room((6,))
    for c in range(3):
        force[c] = pushes[c]
    cross(arm, force, turn)
    for c in range(3):
        wrench[c], wrench[3 + c] = force[c], pushes[3 + c] + turn[c]
    motions_of(contacts, contacts.home[n, side], wrench, q)
    move_together(contacts, n, side, q, 1.0)


@kernel(written_out=False)
def reply_through_joints(contacts: View, n: int, i: int, side: int, wrench: Array) -> float:
    """The same as `reply_to` of a side in joints, in motions; returned is how the point would answer if nothing held its body."""
    carrying, free = carrying_of(contacts.carrying[n]), 0.0
    there = carrying.line[i, side]
    motions_of(contacts, contacts.home[n, side], wrench, there)
    for a in range(6):
        free += there[a] * there[a]
    add_answer(contacts, n, side, side, there, carrying.reply[i, side])
    if side == 1 and contacts.seats[n, 0] > 0 and contacts.island[n, 0] == contacts.island[n, 1]:
        add_answer(contacts, n, 0, 1, there, carrying.reply[i, 0])
        add_answer(contacts, n, 1, 0, carrying.line[i, 0], carrying.reply[i, 1])
    return free


@kernel
def reply_to(contacts: View, n: int, i: int) -> None:
    """How a point parts as its bodies move, and how these move by an impulse at it."""
    free, wrench = 0.0, room((6,))
    carrying, arm, moment, line = carrying_of(contacts.carrying[n]), room((3,)), room((3,)), room((3,))
    slide, spin, turn = room((3,)), room((3,)), room((3,))
    carrying.answer[i] = 0.0
    for side in range(2):
        there, reply = carrying.line[i, side], carrying.reply[i, side]
        for c in range(6):
            there[c] = reply[c] = 0.0
        if contacts.home[n, side] == NOBODY:
            continue
        place = place_of(contacts, n, side)
        for c in range(3):
            arm[c] = carrying.points[i, c] - carrying.middle[place, c]
            line[c] = (2 * place - 1) * carrying.normals[i, c]
        cross(arm, line, moment)
        answer_of(contacts.mobility[n, side], line, moment, 1.0, slide, spin)
        arm_of(contacts, n, side, carrying.points[i], arm)
        cross(arm, line, moment)
        if contacts.seats[n, side] > 0:
            for c in range(3):
                wrench[c], wrench[3 + c] = line[c], moment[c]
            free += reply_through_joints(contacts, n, i, side, wrench)
            continue
        arm_of(contacts, n, side, carrying.middle[place], arm)
        cross(arm, spin, turn)
        for c in range(3):
            there[c], there[3 + c] = line[c], moment[c]
            reply[c], reply[3 + c] = slide[c] + turn[c], spin[c]
    for side in range(2):
        for c in range(6):
            carrying.answer[i] += carrying.line[i, side, c] * carrying.reply[i, side, c]
    if carrying.answer[i] <= LOCKED_SHARE * free:
        carrying.answer[i] = 0.0


@kernel
def parts(contacts: View, n: int, i: int) -> float:
    """How fast a point parts, beyond what is to be."""
    carrying = carrying_of(contacts.carrying[n])
    found: float = carrying.goes[i]
    for side in range(2):
        home = contacts.home[n, side]
        if home != NOBODY:
            body, line = contacts.moved[home // 2, home % 2], carrying.line[i, side]
            for c in range(6):
                found += line[c] * body[c]
    return found


@kernel
def load_point(contacts: View, n: int, i: int, more: float) -> None:
    """An impulse at a point moves both bodies."""
    carrying = carrying_of(contacts.carrying[n])
    for side in range(2):
        home = contacts.home[n, side]
        if contacts.seats[n, side] > 0:
            move_together(contacts, n, side, carrying.line[i, side], more)
        elif home != NOBODY:
            body, reply = contacts.moved[home // 2, home % 2], carrying.reply[i, side]
            for c in range(6):
                body[c] += more * reply[c]


@kernel(written_out=False)
def sweep(contacts: View, many: int) -> None:
    """Impulses of a group: none pulls, and no point goes into anything.

    Projected Gauss-Seidel to and fro, and between two of these on along what the last have changed (M. Silcowitz-Hansen, S. Niebe,
    K. Erleben, "A nonsmooth nonlinear conjugate gradient method for interactive contact force problems", 2010).
    """
    fastest, size, times = start_from_before(contacts, many), 0.0, 0
    count = pack(contacts, many)
    while times < MAX_SWEEPS:
        change = sweep_packed(contacts, count, COMPLIANCE) if count >= 0 else to_and_fro(contacts, many)
        times += 1
        if change <= SWEEPS_TOLERANCE * fastest:
            break
        before = size
        size = size_packed(contacts, count) if count >= 0 else size_of_change(contacts, many)
        share = size / before if before > size else 0.0
        if count >= 0:
            go_on_packed(contacts, count, share)
        else:
            go_on(contacts, many, share)
        if times == SWEEPS_BEFORE_PIVOTING:
            pass_on_sweeps(contacts, many, count, False)
            if eliminate(contacts, many, fastest):
                return
            pass_on_sweeps(contacts, many, count, True)
    pass_on_sweeps(contacts, many, count, False)


@kernel
def to_and_fro(contacts: View, many: int) -> float:
    """All points in turn, and back; by how much that has changed how fast one parts."""
    change = 0.0
    for k in range(2 * many):
        n = contacts.order[k if k < many else 2 * many - 1 - k]
        change = max(change, sweep_one(contacts, n, k < many))
    return change


@kernel
def size_of_change(contacts: View, many: int) -> float:
    """How much the last sweeps have changed, as an energy."""
    size = 0.0
    for k in range(many):
        carrying = carrying_of(contacts.carrying[contacts.order[k]])
        for i in range(int(carrying.count)):
            more = carrying.load[i] - carrying.was[i]
            size += carrying.answer[i] * more * more
    return size


@kernel(written_out=False)
def eliminate(contacts: View, many: int, fastest: float) -> bool:
    """The same at once, where there are few points; whether that was done."""
    count = 0
    for k in range(many):
        n = contacts.order[k]
        for i in range(int(carrying_of(contacts.carrying[n]).count)):
            count += 1 if carrying_of(contacts.carrying[n]).answer[i] > 0.0 else 0
    if count > MOST_POINTS:
        return False
    a, q, load, which = room((96, 96)), room((96,)), room((96,)), room((96, 2))
    at = 0
    for k in range(many):
        n = contacts.order[k]
        carrying = carrying_of(contacts.carrying[n])
        for i in range(int(carrying.count)):
            if carrying.answer[i] > 0.0:
                which[at, 0], which[at, 1], load[at] = float(n), float(i), carrying.load[i]
                q[at] = parts(contacts, n, i) - COMPLIANCE * carrying.answer[i] * carrying.before[i]
                at += 1
    for j in range(count):
        clear_bodies(contacts, many)
        load_point(contacts, int(which[j, 0]), int(which[j, 1]), 1.0)
        for i in range(count):
            n, point = int(which[i, 0]), int(which[i, 1])
            a[i, j] = parts(contacts, n, point) - carrying_of(contacts.carrying[n]).goes[point]
            q[i] -= a[i, j] * load[j]
        a[j, j] *= 1.0 + COMPLIANCE
    found: bool = pivot(a, q, count, fastest, load)
    bring_all_changes(contacts, many)
    for j in range(count):
        n, i = int(which[j, 0]), int(which[j, 1])
        carrying_of(contacts.carrying[n]).load[i] = load[j]
        load_point(contacts, n, i, load[j])
    return found


@kernel
def start_from_before(contacts: View, many: int) -> float:
    """Let bodies have the impulses of the tick before; returned is how fast anything would come into anything without them."""
    fastest = 0.0
    for k in range(many):
        carrying = carrying_of(contacts.carrying[contacts.order[k]])
        for i in range(int(carrying.count)):
            fastest = max(fastest, -parts(contacts, contacts.order[k], i))
            carrying.was[i] = carrying.load[i]
            carrying.conjugate[i] = 0.0
    for k in range(many):
        carrying = carrying_of(contacts.carrying[contacts.order[k]])
        for i in range(int(carrying.count)):
            if carrying.load[i] > 0.0:
                load_point(contacts, contacts.order[k], i, carrying.load[i])
    return fastest


@kernel(written_out=False, apart=True)
def note_jolts(contacts: View, many: int) -> None:
    """What has begun in this tick, and brings more than what is slow, is over in the next, as a blow is: nobody counts on it.

    What it does to others at the same bodies is noted as that of blows is.
    """
    jolted, arm, turn, own, rates = False, room((3,)), room((3,)), room((6,)), room((6,))
    clear_bodies(contacts, many)
    for k in range(many):
        n = contacts.order[k]
        carrying, before = carrying_of(contacts.carrying[n]), tick_of(contacts.before[n])
        for i in range(int(carrying.count)):
            lasting = 0.0
            if carrying.answer[i] > 0.0:
                lasting = max(carrying.span * before.load[i], carrying.begins * carrying.before[i])
                lasting = max(lasting, contacts.slow[n] / carrying.answer[i])
            carrying.jolt[i] = max(carrying.load[i] - lasting, 0.0)
            if carrying.jolt[i] > 0.0:
                jolted = True
                load_point(contacts, n, i, carrying.jolt[i])
    if not jolted:
        return
    for k in range(many):
        n = contacts.order[k]
        carrying, now = carrying_of(contacts.carrying[n]), tick_of(contacts.now[n])
        for side in range(2):
            home = contacts.home[n, side]
            if home == NOBODY:
                continue
            place, others = place_of(contacts, n, side), room((2, 3))
            body = contacts.moved[home // 2, home % 2]
            for c in range(6):
                own[c] = 0.0
            for c in range(3):
                others[0, c], others[1, c] = body[c], body[3 + c]
                for i in range(int(carrying.count)):
                    others[0, c] -= carrying.jolt[i] * carrying.reply[i, side, c]
                    others[1, c] -= carrying.jolt[i] * carrying.reply[i, side, 3 + c]
                    own[c] += carrying.jolt[i] * carrying.reply[i, side, c]
                    own[3 + c] += carrying.jolt[i] * carrying.reply[i, side, 3 + c]
            if contacts.seats[n, side] > 0:
                jolted_rates(contacts, home, own, rates)
                for c in range(3):
                    others[0, c], others[1, c] = rates[c], rates[3 + c]
            arm_of(contacts, n, side, carrying.middle[place], arm)
            cross(others[1], arm, turn)
            for c in range(3):
                stir(now, 2 * place, c, others[0, c] + turn[c])
                stir(now, 2 * place + 1, c, others[1, c])


@kernel
def sweep_one(contacts: View, n: int, forth: bool) -> float:
    """Each point of a contact in turn; by how much that has changed how fast one parts."""
    carrying, change = carrying_of(contacts.carrying[n]), 0.0
    count = int(carrying.count)
    for j in range(count):
        i = j if forth else count - 1 - j
        answer = carrying.answer[i]
        if not answer > 0.0:
            continue
        left = parts(contacts, n, i) + COMPLIANCE * answer * (carrying.load[i] - carrying.before[i])
        more = max(carrying.load[i] - left / ((1.0 + COMPLIANCE) * answer), 0.0) - carrying.load[i]
        if more != 0.0:
            carrying.load[i] += more
            change = max(change, abs(more) * answer)
            load_point(contacts, n, i, more)
    return change


@kernel
def go_on(contacts: View, many: int, share: float) -> None:
    """On along what the sweeps before have changed, by a share; and note what these have."""
    for k in range(many):
        n = contacts.order[k]
        carrying = carrying_of(contacts.carrying[n])
        for i in range(int(carrying.count)):
            step = carrying.load[i] - carrying.was[i]
            more = share * carrying.conjugate[i]
            carrying.conjugate[i] = step + more
            carrying.load[i] += more
            carrying.was[i] = carrying.load[i]
            if more != 0.0:
                load_point(contacts, n, i, more)
