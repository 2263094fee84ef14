"""What a contact brings to those that carry what rests together, and what it takes from there (contact_carrying.py)."""

from __future__ import annotations

from components.forces.contact_pair import Pair, Patch, along, answer_of, tick_of
from components.forces.contact_rest import parting
from components.forces.contact_sides import act
from components.forces.vectors import cross
from modular.blocks import room
from modular.kernel import kernel
from modular.views import View
from modular.workspaces import Workspace, layout, size_of

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
    "pushes": (2, 6),  # what that is, on either shape [N s], [N m s]
    "line": (8, 2, 6),  # of a point on either side: how fast it parts as its body moves, velocity and turning where that is told,
    # or, of bodies in joints, motions
    "reply": (8, 2, 6),  # and how the body moves by an impulse of 1 there
    "answer": (8,),  # both together: how fast a point parts by an impulse of 1 at it
    "before": (8,), "load": (8,),  # what it has carried in the tick before, and carries now [N s]
    "jolt": (8,),  # and of that what has not lasted
    "was": (8,), "conjugate": (8,),  # before a sweep, and what the sweeps so far would go on with
}  # fmt: skip
CARRYING_SIZE = size_of(CARRYING)
carrying_of = layout(**CARRYING)


@kernel
def stand_in(carrying: Workspace, pair: Pair) -> None:
    """Where both shapes are."""
    for c in range(3):
        carrying.middle[0, c], carrying.middle[1, c] = pair.a[0, c], pair.b[0, c]


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
        carrying.pushes[0, c], carrying.pushes[0, 3 + c] = -change[0, c], change[1, c]
        carrying.pushes[1, c], carrying.pushes[1, 3 + c] = change[0, c], change[2, c]


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
