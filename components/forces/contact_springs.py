"""Springs and dampers along the normals of a contact: how stiff they are, what they push with, and what they ask of the step."""

from __future__ import annotations

from math import sqrt

from components.forces.contact_pair import Pair, Patch, push
from components.forces.vectors import cross, dot
from modular.blocks import room
from modular.elements import Array
from modular.kernel import kernel

# of the step: dt^2 k W and dt c W of the contact alone
SPRING_SHARE, DAMPER_SHARE = 0.3, 0.35
DEFAULT_DAMPING_RATIO = 0.3  # of the critical damping, where a stiffness is given and no damping


@kernel
def answer_together(patch: Patch) -> float:
    """The largest sum over a row of W, of points that touch or nearly do."""
    row = 0.0
    for i in range(patch.count):
        if patch.gaps[i] <= patch.band:
            total = 0.0
            for j in range(patch.count):
                if patch.gaps[j] <= patch.band:
                    total += abs(patch.w[i, j])
            row = max(row, total)
    return row


@kernel
def stiffen(pair: Pair, patch: Patch) -> None:
    """As stiff as the step allows, or as given."""
    law, dt, row = pair.law, pair.dt, answer_together(patch)
    patch.k_n = pair.ample * SPRING_SHARE / (dt * dt * row) if row > 0.0 else 0.0
    patch.c_n = pair.ample * DAMPER_SHARE / (dt * row) if row > 0.0 else 0.0
    if law.stiffness >= 0.0:
        patch.k_n = law.stiffness
        patch.c_n = 0.0
        if law.damping >= 0.0:
            patch.c_n = law.damping
        elif row > 0.0:
            patch.c_n = 2.0 * DEFAULT_DAMPING_RATIO * sqrt(law.stiffness / row)


@kernel
def reach(pair: Pair, patch: Patch) -> None:
    """How far springs are pressed, and what they lose where more points share what the step bears.

    What rests from the start on is carried from where it is, as new joints carry their load; that stays as springs grow softer.
    """
    now, before, k_n, taken = pair.now, pair.before, patch.k_n, 0.0
    for i in range(patch.count):
        raised, gap, drawn, more = before.raised[i], patch.gaps[i], before.drawn[i], 0.0
        if raised > 0.0 and before.stiff > 0.0 and k_n > 0.0:
            more = raised * (before.stiff / k_n - 1.0)
            raised += more
        if patch.pressing[i] > 0.0:
            raised = max(patch.pressing[i] / k_n + gap, 0.0)
            pair.came += 0.5 * k_n * (raised - gap) * (raised - gap)
        now.raised[i] = raised if gap < raised else 0.0  # what has come off begins anew
        patch.drawn[i] = now.raised[i] - gap
        now.drawn[i] = max(patch.drawn[i], 0.0)
        if more != 0.0:  # beside what its forces do on the way
            pair.came += 0.5 * (k_n * now.drawn[i] * (drawn + more) - before.stiff * (now.drawn[i] - more) * drawn)
        else:
            taken += 0.5 * (before.stiff - k_n) * now.drawn[i] * drawn
    now.stiff = patch.k_n
    if before.stiff > 0.0:
        pair.softened = taken


@kernel
def foresee(pair: Pair, patch: Patch) -> None:
    """What carries what rests is found when all others act: until then what it was, or at the start is to be.

    Friction counts on what it grows to as it has grown lately: it would err by first order where what slides turns.
    """
    for i in range(patch.count):
        patch.load[i] = patch.pressing[i] if patch.pressing[i] > 0.0 else pair.before.load[i]
        patch.drawn[i], patch.lost[i] = 0.0, patch.impulse[i]
        if not pair.struck:
            steady, grown = pair.before.steady[i], pair.before.grown[i]
            lasting = patch.pressing[i] if patch.pressing[i] > 0.0 else steady + max(-steady, min(grown, steady))
            patch.impulse[i] = pair.span * lasting
        patch.whole += patch.impulse[i]
        if pair.before.load[i] > 0.0:
            pair.sunk[0] = max(pair.sunk[0], -patch.gaps[i])
    if pair.before.stiff > 0.0:  # of springs that have been there
        pair.softened = pair.before.held - pair.before.bent


@kernel
def springs(pair: Pair, patch: Patch) -> None:
    """Impulses of points that overlap; none pulls. In the instant of an impact dampers are still."""
    if pair.carries:
        foresee(pair, patch)
        return
    stiffen(pair, patch)
    reach(pair, patch)
    k_n, span, impulse = patch.k_n, pair.span, patch.impulse
    for i in range(patch.count):
        spring, drawn = 0.0, patch.drawn[i]
        if drawn > 0.0:
            spring = k_n * drawn
            if patch.candidates[i] > 0.0:
                spring = span * k_n * drawn
                impulse[i] += spring
            else:
                impulse[i] = span * max(spring - patch.c_n * patch.v[i], 0.0)
                spring = spring * span
                if pair.law.stiffness < 0.0:
                    pair.sunk[0] = max(pair.sunk[0], abs(patch.gaps[i]))
            pair.stored += 0.5 * k_n * drawn * drawn
        patch.whole += impulse[i]
        patch.lost[i] = impulse[i] - spring


@kernel
def apply_impulses(pair: Pair, patch: Patch) -> None:
    """What all impulses do to both shapes, and where they act together."""
    centre, normal = patch.centre, patch.normal
    for i in range(patch.count):
        for c in range(3):
            centre[c] += patch.impulse[i] * patch.points[i, c] / patch.whole
            normal[c] += patch.impulse[i] * patch.normals[i, c]
    length = sqrt(dot(normal, normal))
    for c in range(3):
        normal[c] = normal[c] / length if length > 0.0 else patch.normals[0, c]
    for i in range(patch.count):
        acting = patch.lost[i] if pair.carries else patch.impulse[i]
        push(pair, patch.points[i], patch.normals[i], acting / pair.span, pair.wrench)


@kernel
def spend(pair: Pair, patch: Patch) -> None:
    """What of it gives nothing back; also dampers that hold springs back which come off, and then nothing acts."""
    for i in range(patch.count):
        push(pair, patch.points[i], patch.normals[i], patch.lost[i] / pair.span, pair.now.spent)


@kernel
def spread(pair: Pair, patch: Patch) -> None:
    """How far from their centre impulses act on average, and how large both shapes are together."""
    patch.radius, patch.extent = 0.0, 0.0
    for k in range(4):
        patch.extent += pair.size_a[k] + pair.size_b[k]
    for i in range(patch.count):
        square = 0.0
        for c in range(3):
            square += (patch.points[i, c] - patch.centre[c]) ** 2
        patch.radius += patch.impulse[i] * sqrt(square) / patch.whole


@kernel
def request_along(pair: Pair, patch: Patch) -> None:
    """What springs and dampers along normals ask of the step."""
    dt, k_n, c_n = pair.dt, patch.k_n, patch.c_n
    for c in range(3):
        pair.centre[c] = patch.centre[c]
    for i in range(patch.count):
        if patch.drawn[i] > 0.0:
            pair.asked[0] += dt * dt * k_n
            pair.asked[1] += 2.0 * dt * c_n
            add_line(pair.stiff, patch.points[i], patch.centre, patch.normals[i], dt * dt * k_n + 2.0 * dt * c_n)


@kernel
def add_line(stiff: Array, x: Array, centre: Array, normal: Array, size: float) -> None:
    """Add a spring along a line through x to a block over velocity and turning at a centre."""
    arm, moment, line = room((3,)), room((3,)), room((6,))
    for c in range(3):
        arm[c] = x[c] - centre[c]
    cross(arm, normal, moment)
    for c in range(3):
        line[c], line[3 + c] = normal[c], moment[c]
    for p in range(6):
        for q in range(6):
            stiff[p, q] += size * line[p] * line[q]


@kernel
def request_ahead(pair: Pair) -> None:
    """A given stiffness tells before anything touches what it will ask, straight on the second shape."""
    dt, law = pair.dt, pair.law
    pair.asked[0], pair.asked[1] = dt * dt * law.stiffness, 2.0 * dt * max(law.damping, 0.0)
    for c in range(3):
        pair.centre[c] = pair.b[0, c]
        pair.stiff[c, c] = pair.asked[0] + pair.asked[1]
