"""What rests is carried at the level of places: all that touches finds together the forces with which nothing goes into anything.

With g the gap of a point, v how fast it opened in the last tick, a what everything but these forces does and N what they are,

    0 <= N  perp  g + dt (v + dt (a + W N)) >= 0

over the points of all contacts that hang together over bodies which they share (J. J. Moreau, "Unilateral contact and dry friction
in finite freedom dynamics", 1988; D. E. Stewart, J. C. Trinkle, Int. J. Numerical Methods in Engineering 39 (1996) 2673-2691), by
projected Gauss-Seidel from the forces of the tick before. What is sunk in comes out by a share of it a tick, and is not thrown.

W and a are exact only of bodies that nothing else holds: of others a contact has springs (contact_springs.py). Which is which the
coordinator tells (`free`). Friction is found by each contact alone before, with what it has carried so far.
"""

from __future__ import annotations

from components.forces.contact_meetings import link, place_of, put_in
from components.forces.contact_pair import Pair, Patch, along, answer_of, tick_of
from components.forces.contact_rest import parting
from components.forces.contact_sides import act
from components.forces.vectors import cross
from modular.blocks import room
from modular.elements import Array
from modular.force import NOBODY
from modular.kernel import kernel
from modular.views import View
from modular.workspaces import Workspace, layout, size_of

MAX_SWEEPS = 400
SWEEPS_TOLERANCE = 1e-8  # of the fastest approach: changes so small are none
COMPLIANCE = 1e-4  # of how a point answers, against changes of what it carries: what statics leaves open stays as it is
LIFTED_PER_TICK, CLOSED_PER_TICK = 0.05, 0.5  # of how deep a point is in, and of how far off one is that is carried
# of a contact while what rests is carried
CARRYING = {
    "active": float,  # 1 where it carries something, or does something else than in the tick before
    "count": float,  # of its points that may carry
    "points": (8, 3), "normals": (8, 3),
    "middle": (2, 3),  # of both shapes, as kernels take them
    "span": float,  # the tick [s]
    "begins": float,  # 1 where what it carries at the start was found beforehand
    "goes": (8,),  # how fast points would part beyond what is to be, without these forces [m/s]
    "changes": (4, 3),  # how rates answer what it does otherwise, less what it did in the tick before [m/s], [rad/s]
    "line": (8, 2, 6),  # of a point on either side: how fast it parts as its body moves, velocity and turning where that is told
    "reply": (8, 2, 6),  # and how the body moves by an impulse of 1 there
    "answer": (8,),  # both together: how fast a point parts by an impulse of 1 at it
    "before": (8,), "load": (8,),  # what it has carried in the tick before, and carries now [N s]
    "jolt": (8,),  # and of that what has not lasted
    "was": (8,), "conjugate": (8,),  # before a sweep, and what the sweeps so far would go on with
}  # fmt: skip
CARRYING_SIZE = size_of(CARRYING)
carrying_of = layout(**CARRYING)


# --- of one contact ---------------------------------------------------------------------------------------------------


@kernel
def note_changes(carrying: Workspace, pair: Pair) -> None:
    """What a contact does otherwise than in the tick before, as its bodies answer it; but for what is to be found yet."""
    change = room((3, 3))
    for k in range(3):
        for c in range(3):
            change[k, c] = pair.span * (pair.wrench[k, c] - pair.before.wrench[k, c])
            if change[k, c] != 0.0:
                carrying.active = 1.0
    answer_of(pair.mobility_a, change[0], change[1], -1.0, carrying.changes[0], carrying.changes[1])
    answer_of(pair.mobility_b, change[0], change[2], 1.0, carrying.changes[2], carrying.changes[3])
    for c in range(3):
        carrying.middle[0, c], carrying.middle[1, c] = pair.a[0, c], pair.b[0, c]


@kernel
def lay_down(carrying: Workspace, pair: Pair, patch: Patch) -> None:
    """A contact that may carry something: where its points are, and how they would move as all goes on."""
    span, before, ahead = pair.span, pair.before, room((4, 3))
    factor = 2.0 if before.known == 1.0 and before.within == 0.0 else 1.0
    carrying.active, carrying.count, carrying.span = 1.0, float(patch.count), span
    carrying.begins = 1.0 if before.known == 1.0 and before.rests > 0.0 else 0.0
    for k in range(4):
        for c in range(3):
            ahead[k, c] = pair.rates[k, c] + factor * (pair.rates[k, c] - before.rates[k, c])
    for i in range(patch.count):
        gap = patch.gaps[i]
        carrying.goes[i] = along(pair, ahead, patch.points[i], patch.normals[i])
        carrying.goes[i] += (
            (LIFTED_PER_TICK if gap < 0.0 else CLOSED_PER_TICK if patch.load[i] > 0.0 else 1.0) * gap / span
        )
        carrying.goes[i] += 0.5 * span * parting(pair, pair.rates, patch.points[i], patch.normals[i])
        carrying.before[i] = carrying.load[i] = span * patch.load[i]
        for c in range(3):
            carrying.points[i, c], carrying.normals[i, c] = patch.points[i, c], patch.normals[i, c]


@kernel(written_out=False)
def bear_load(contacts: View, n: int, elements: View) -> None:
    """What was found acts, gives nothing back, and is remembered."""
    carrying, now, before = carrying_of(contacts.carrying[n]), tick_of(contacts.now[n]), tick_of(contacts.before[n])
    force, arm, moment, whole = room((3,)), room((3,)), room((3,)), 0.0
    for i in range(int(carrying.count)):
        now.load[i] = carrying.load[i] / carrying.span
        now.steady[i] = (carrying.load[i] - carrying.jolt[i]) / carrying.span
        now.grown[i] = now.steady[i] - before.steady[i] if before.steady[i] > 0.0 and carrying.jolt[i] == 0.0 else 0.0
        whole += now.load[i]
        for c in range(3):
            force[c] = now.load[i] * carrying.normals[i, c]
            now.wrench[0, c] += force[c]
            now.spent[0, c] += force[c]
        for side in range(2):
            for c in range(3):
                arm[c] = carrying.points[i, c] - carrying.middle[side, c]
            cross(arm, force, moment)
            for c in range(3):
                now.wrench[1 + side, c] += (2 * side - 1) * moment[c]
                now.spent[1 + side, c] += (2 * side - 1) * moment[c]
    if not whole > 0.0:
        return
    for k in range(3):
        for c in range(3):
            contacts.did[n, k, c] = now.wrench[k, c]
    first = contacts.swapped[n]
    a = contacts.first[n] if first == 0 else contacts.second[n]
    b = contacts.second[n] if first == 0 else contacts.first[n]
    act(elements, a, contacts.carry[n, first], now.pose[0], now.wrench[0], now.wrench[1], -1.0)
    act(elements, b, contacts.carry[n, 1 - first], now.pose[1], now.wrench[0], now.wrench[2], 1.0)


# --- of many ----------------------------------------------------------------------------------------------------------


@kernel
def carry_together(contacts: View, start: int, stop: int, elements: View) -> None:
    """All that touches, group by group."""
    touching = False
    for n in range(start, stop):
        touching = touching or carrying_of(contacts.carrying[n]).count > 0.0
    if not touching:
        return
    link(contacts, start, stop)
    for n in range(start, stop):
        contacts.home[n, 0] = contacts.home[n, 1] = NOBODY
        contacts.group[n] = NOBODY
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
    if contacts.body[n, side] == NOBODY:
        return
    home, at = 2 * n + side, contacts.ring[n, side]
    while at != 2 * n + side:
        if contacts.number[at // 2] < contacts.number[home // 2]:
            home = at
        at = contacts.ring[at // 2, at % 2]
    contacts.home[n, side] = home
    at = contacts.ring[n, side]
    while at != 2 * n + side:
        contacts.home[at // 2, at % 2] = home
        at = contacts.ring[at // 2, at % 2]


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
            slide, spin = carrying.changes[2 * place], carrying.changes[2 * place + 1]
            cross(arm, spin, turn)
            for c in range(3):
                contacts.moved[home // 2, home % 2, c] += slide[c] + turn[c]
                contacts.moved[home // 2, home % 2, 3 + c] += spin[c]
        for i in range(int(carrying.count)):
            reply_to(contacts, n, i)


@kernel
def reply_to(contacts: View, n: int, i: int) -> None:
    """How a point parts as its bodies move, and how these move by an impulse at it."""
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
        arm_of(contacts, n, side, carrying.middle[place], arm)
        cross(arm, spin, turn)
        for c in range(3):
            there[c], there[3 + c] = line[c], moment[c]
            reply[c], reply[3 + c] = slide[c] + turn[c], spin[c]
        for c in range(6):
            carrying.answer[i] += there[c] * reply[c]


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
        if home != NOBODY:
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
    while times < MAX_SWEEPS:
        change = 0.0
        for k in range(2 * many):
            n = contacts.order[k if k < many else 2 * many - 1 - k]
            change = max(change, sweep_one(contacts, n, k < many))
        times += 1
        if change <= SWEEPS_TOLERANCE * fastest:
            break
        before, size = size, 0.0
        for k in range(many):
            carrying = carrying_of(contacts.carrying[contacts.order[k]])
            for i in range(int(carrying.count)):
                more = carrying.load[i] - carrying.was[i]
                size += carrying.answer[i] * more * more
        go_on(contacts, many, size / before if before > size else 0.0)


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


@kernel(written_out=False)
def note_jolts(contacts: View, many: int) -> None:
    """What has begun in this tick, and brings more than what is slow, is over in the next, as a blow is: nobody counts on it.

    What it does to others at the same bodies is noted as that of blows is.
    """
    jolted, arm, turn = False, room((3,)), room((3,))
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
            for c in range(3):
                others[0, c], others[1, c] = body[c], body[3 + c]
                for i in range(int(carrying.count)):
                    others[0, c] -= carrying.jolt[i] * carrying.reply[i, side, c]
                    others[1, c] -= carrying.jolt[i] * carrying.reply[i, side, 3 + c]
            arm_of(contacts, n, side, carrying.middle[place], arm)
            cross(others[1], arm, turn)
            for c in range(3):
                now.stirs[2 * place, c] += others[0, c] + turn[c]
                now.stirs[2 * place + 1, c] += others[1, c]


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
