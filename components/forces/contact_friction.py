"""Coulomb's friction at the centre of what presses: a spring and a damper across the normal and about it that stick, and slip.

After P. A. Cundall, O. D. L. Strack, "A discrete numerical model for granular assemblies", Géotechnique 29 (1979) 47-65. The spring
remembers, so nothing creeps; in an impact friction stops what slides.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from components.forces.contact_pair import Pair, Patch, push, relative, respond_to, turn_about, turning, wind
from components.forces.contact_rest import hold_still
from components.forces.shapes import BOX
from components.forces.vectors import axes_across, cross, dot
from modular.blocks import room
from modular.elements import Array
from modular.kernel import kernel
from modular.workspaces import Workspace, workspace

Rub = Workspace
# of the step: dt^2 k W and dt c W of the contact alone
STICK_STIFFNESS_SHARE, SLIP_DAMPING_SHARE = 0.2, 0.2
# of the extent of both shapes: what presses on less does not hold against turning about the normal
POINT_CONTACT_TOLERANCE = 1e-9
DETERMINANT_TOLERANCE = 1e-12  # of the largest answer across the normal squared: less counts as none

new_rub = workspace(
    t=(2, 3),  # axes across the normal; in the plane the first looks out of it
    v=(2,), turn=float,  # how fast it slides along them, and turns about the normal
    w=(2, 2), twisting=float,  # how that answers forces and moments
    answers=(2, 4, 3),  # and how rates do
    most=float,  # the larger answer of two
    k_t=float, c_t=float, k_r=float, c_r=float,  # of spring and damper across, and about
    grip=float, winding=int,  # what friction bears [N]; 1 where it holds against turning about the normal
    s=(2,), twist=float,  # how far the spring is drawn
    bearing=(2,),  # what would hold all points where they are [N]
    f=(2,), moment=float,  # what it pulls with
)  # fmt: skip


@kernel(apart=True)
def rub_across(pair: Pair, patch: Patch, rub: Rub) -> None:
    """What friction does to both shapes, and what it asks of the step."""
    axes_across(patch.normal, pair.flat, rub.t)
    slide(pair, patch, rub)
    respond_across(pair, patch, rub)
    stiffen_across(pair, patch, rub)
    carry_along(pair, rub)
    if pair.struck:
        stop(pair, rub)
    else:
        stick(pair, patch, rub)
    bear(pair, patch, rub)
    if not pair.struck:
        request_across(pair, patch, rub)


@kernel(apart=True)
def slide(pair: Pair, patch: Patch, rub: Rub) -> None:
    """How shapes slide and turn, with what the normal impulses of an impact have changed.

    Rates are ways by times, so they belong to the middle of the tick; what turns was not yet where it is now.
    """
    out, more, normal = room((3,)), room((3,)), patch.normal
    slip_of(pair, pair.rates, patch, 0.0 if pair.shown else 0.5, out)
    rub.turn = turning(pair.rates, normal)
    if pair.struck:
        for i in range(patch.count):
            answer = patch.answers[i]
            relative(pair, answer, patch.centre, more)
            for c in range(3):
                out[c] += patch.impulse[i] * more[c]
                rub.turn += patch.impulse[i] * (answer[3, c] - answer[1, c]) * normal[c]
    for k in range(2):
        rub.v[k] = dot(out, rub.t[k])
    if pair.flat:
        rub.v[0] = 0.0


@kernel
def slip_of(pair: Pair, rates: Array, patch: Patch, since: float, out: Array) -> None:
    """Velocity where they touch at rates of so many ticks ago: what turns was not yet where it is now."""
    steady, slip, passing = room((3,)), room((3,)), room((3,))
    relative(pair, rates, patch.centre, out)
    turn_about(pair, rates, patch.centre, patch.normal, steady, slip, passing)
    for c in range(3):
        out[c] -= since * pair.span * (steady[c] - passing[c])


@kernel(apart=True)
def respond_across(pair: Pair, patch: Patch, rub: Rub) -> None:
    """How sliding and turning answer forces across the normal and a moment about it."""
    out, answer = room((3,)), room((4, 3))
    for k in range(2):
        respond_to(pair, patch.centre, rub.t[k], pair.none, rub.answers[k])
        relative(pair, rub.answers[k], patch.centre, out)
        for i in range(2):
            rub.w[i, k] = dot(out, rub.t[i])
    rub.w[1, 0] = rub.w[0, 1]
    if pair.flat:
        rub.w[0, 0] = rub.w[0, 1] = rub.w[1, 0] = 0.0
    respond_to(pair, patch.centre, pair.none, patch.normal, answer)
    rub.twisting = turning(answer, patch.normal)


@kernel
def stiffen_across(pair: Pair, patch: Patch, rub: Rub) -> None:
    """As stiff as the step allows, and what friction bears."""
    w, dt, ample = rub.w, pair.dt, pair.ample
    rub.most = 0.5 * (w[0, 0] + w[1, 1]) + sqrt(0.25 * (w[0, 0] - w[1, 1]) ** 2 + w[0, 1] * w[0, 1])
    rub.k_t, rub.c_t = (
        ample * STICK_STIFFNESS_SHARE / (dt * dt * rub.most),
        ample * SLIP_DAMPING_SHARE / (dt * rub.most),
    )
    rub.k_r, rub.c_r = 0.0, 0.0
    rub.grip = pair.law.friction * patch.whole / pair.span
    wide = patch.count > 1 and patch.radius > POINT_CONTACT_TOLERANCE * patch.extent  # one point's radius is rounding
    rub.winding = 1 if wide and rub.twisting > 0.0 and not pair.flat else 0
    if rub.winding:
        rub.k_r, rub.c_r = (
            ample * STICK_STIFFNESS_SHARE / (dt * dt * rub.twisting),
            ample * SLIP_DAMPING_SHARE / (dt * rub.twisting),
        )


@kernel
def carry_along(pair: Pair, rub: Rub) -> None:
    """How far the spring was drawn a tick ago; it has gone along with the first shape.

    What it bears from the start on stays as it grows softer, like what those along the normals carry. Of bodies in joints, which
    answer otherwise from tick to tick, all that it bears does.
    """
    slip, turned, before, longer = room((3,)), room((3,)), pair.before, 1.0
    for i in range(8):
        if (before.raised[i] > 0.0 or before.load[i] > 0.0) and before.ample > 0.0:
            longer = before.ample / pair.ample
    more, about = before.bent * (longer - 1.0), longer
    if pair.held and before.grasp > 0.0:
        longer = before.grasp / rub.k_t
        about = before.winds / rub.k_r if rub.winding else longer
        more = 0.5 * before.grasp * (longer - 1.0) * dot(before.slip, before.slip)
        more += 0.5 * before.winds * (about - 1.0) * before.twist * before.twist
    pair.came += more
    pair.softened += more
    for c in range(3):
        slip[c] = longer * before.slip[c]
    if pair.kind_a <= BOX:
        cross(pair.rates[1], slip, turned)
        for c in range(3):
            slip[c] += pair.span * turned[c]
    for k in range(2):
        rub.s[k] = dot(slip, rub.t[k])
    if pair.flat:
        rub.s[0] = 0.0
    rub.twist = about * before.twist if rub.winding else 0.0


@kernel
def stop(pair: Pair, rub: Rub) -> None:
    """In an impact: the force and the moment that stop what slides and turns."""
    w, v, span = rub.w, rub.v, pair.span
    rub.s[0], rub.s[1], rub.twist = 0.0, 0.0, 0.0
    if pair.flat:
        rub.f[0], rub.f[1] = 0.0, -v[1] / (w[1, 1] * span)
    else:
        determinant = max(w[0, 0] * w[1, 1] - w[0, 1] * w[0, 1], DETERMINANT_TOLERANCE * rub.most * rub.most)
        rub.f[0] = -(w[1, 1] * v[0] - w[0, 1] * v[1]) / (determinant * span)
        rub.f[1] = -(w[0, 0] * v[1] - w[0, 1] * v[0]) / (determinant * span)
    rub.moment = -rub.turn / (rub.twisting * span) if rub.winding else 0.0


@kernel
def stick(pair: Pair, patch: Patch, rub: Rub) -> None:
    """Else: what the spring pulls with, drawn no further than friction bears; and as far where it slides."""
    s, v, k_t, c_t = rub.s, rub.v, rub.k_t, rub.c_t
    s[0], s[1], rub.twist = s[0] + pair.span * v[0], s[1] + pair.span * v[1], rub.twist + pair.span * rub.turn
    new, swift, full = pair.before.carried == 0.0, sliding_speed(pair, patch, rub) > pair.slow, 1.0
    if pair.before.turned > 0.0:  # then it sways as well
        swift = v[0] * v[0] + v[1] * v[1] > pair.slow * pair.slow
    slides = new or pair.before.slid > 0.0
    if not swift and (slides or strain(patch, rub) > 1.0):
        slides = not hold_still(pair, patch, rub, new) and slides
        if slides and not new:
            full = turn_round(pair, patch, rub)
    drawn = share_of(k_t * s[0], k_t * s[1], rub.k_r * rub.twist, rub.grip, patch.radius)
    along = s[0] * v[0] + s[1] * v[1] >= 0.0 or pair.now.turned > 0.0
    if drawn > 1.0 or (slides and drawn > 0.0 and along):
        s[0], s[1], rub.twist = full * s[0] / drawn, full * s[1] / drawn, full * rub.twist / drawn
    if slides and pair.now.turned > 0.0:
        c_t = 0.0
    elif drawn > 1.0 and swift and pair.steady and not pair.flat:
        turn_on(pair, patch, rub)
    rub.f[0], rub.f[1] = -k_t * s[0] - c_t * v[0], -k_t * s[1] - c_t * v[1]
    rub.moment = -rub.k_r * rub.twist - rub.c_r * rub.turn


@kernel
def turn_on(pair: Pair, patch: Patch, rub: Rub) -> None:
    """What slides has its way from the middle of the tick, and friction acts at its end: the way turns on as it has turned lately.

    By half of the angle between the last two ways, and the spring goes along.
    """
    s, v, was, out = rub.s, rub.v, room((2,)), room((3,))
    slip_of(pair, pair.before.rates, patch, 1.5, out)
    for k in range(2):
        was[k] = dot(out, rub.t[k])
    speed, before = sqrt(v[0] * v[0] + v[1] * v[1]), sqrt(was[0] * was[0] + was[1] * was[1])
    if was[0] * v[0] + was[1] * v[1] <= 0.0:
        return
    first, second = 1.5 * v[0] / speed - 0.5 * was[0] / before, 1.5 * v[1] / speed - 0.5 * was[1] / before
    length, drawn = sqrt(first * first + second * second), sqrt(s[0] * s[0] + s[1] * s[1])
    v[0], v[1] = speed * first / length, speed * second / length
    s[0], s[1] = drawn * first / length, drawn * second / length


@kernel
def turn_round(pair: Pair, patch: Patch, rub: Rub) -> Any:
    """What slides, and is not held where it stops, turns with its friction; in the tick in which it does, the mean of both.

    Forces act from half a tick before to half a tick behind: slower by a than u, it stops after u / a of that. Returned is the
    share of what friction bears that acts on the mean, against how it slides now. From the next tick on, while it is slow, friction
    acts as what would hold it, and not against a velocity that the springs along the normals make swing.
    """
    s, v, was, out = rub.s, rub.v, room((2,)), room((3,))
    if pair.before.turned > 0.0 or s[0] * v[0] + s[1] * v[1] < 0.0:
        pair.now.turned = 1.0
        s[0], s[1], rub.twist = -rub.bearing[0] / rub.k_t, -rub.bearing[1] / rub.k_t, 0.0
        return 1.0
    speed = sqrt(v[0] * v[0] + v[1] * v[1])
    relative(pair, pair.before.rates, patch.centre, out)
    for k in range(2):
        was[k] = dot(out, rub.t[k])
    slower = sqrt(was[0] * was[0] + was[1] * was[1]) - speed
    if was[0] * v[0] + was[1] * v[1] <= 0.0 or not slower > speed > 0.0:
        return 1.0
    pair.now.turned = 1.0
    return 2.0 * speed / slower - 1.0


@kernel
def sliding_speed(pair: Pair, patch: Patch, rub: Rub) -> float:
    """How fast shapes slide, or how fast their ends turn against each other."""
    swift = sqrt(rub.v[0] * rub.v[0] + rub.v[1] * rub.v[1])
    for c in range(3):
        swift = max(swift, patch.extent * abs(pair.rates[3, c] - pair.rates[1, c]))
    return swift


@kernel
def strain(patch: Patch, rub: Rub) -> Any:
    """How many times more than friction can bear spring and damper are together, or the spring alone."""
    s, v, k_t, c_t, grip, radius = rub.s, rub.v, rub.k_t, rub.c_t, rub.grip, patch.radius
    both = excess(k_t * s[0] + c_t * v[0], k_t * s[1] + c_t * v[1], 0.0, grip, radius)
    return max(both, excess(k_t * s[0], k_t * s[1], rub.k_r * rub.twist, grip, radius))


@kernel
def share_of(f1: float, f2: float, moment: float, grip: float, radius: float) -> Any:
    """Which share of what friction can bear a force and a moment are together.

    The limit is taken as an ellipsoid (R. D. Howe, M. R. Cutkosky, Int. J. Robotics Research 15 (1996) 557-572).
    """
    square = (f1 * f1 + f2 * f2) / (grip * grip)
    if moment != 0.0:
        square += (moment / (grip * radius)) ** 2
    return sqrt(square)


@kernel
def excess(f1: float, f2: float, moment: float, grip: float, radius: float) -> Any:
    """How many times more than friction can bear they are; at least 1."""
    return max(share_of(f1, f2, moment, grip, radius), 1.0)


@kernel
def bear(pair: Pair, patch: Patch, rub: Rub) -> None:
    """What friction bears acts on both shapes, gives nothing back, and is remembered."""
    s, f, t, force, now = rub.s, rub.f, rub.t, room((3,)), pair.now
    over = excess(f[0], f[1], rub.moment, rub.grip, patch.radius)
    f[0], f[1], rub.moment = f[0] / over, f[1] / over, rub.moment / over
    now.slid = 1.0 if (over > 1.0 or now.turned > 0.0) and not pair.struck else 0.0
    bent = 0.5 * (rub.k_t * (s[0] * s[0] + s[1] * s[1]) + rub.k_r * rub.twist * rub.twist)
    pair.stored += bent
    if pair.before.known == 1.0:
        pair.came += bent
    now.twist, now.bent = rub.twist if rub.winding else 0.0, bent
    now.grasp, now.winds = rub.k_t, rub.k_r
    for c in range(3):
        now.slip[c] = s[0] * t[0, c] + s[1] * t[1, c]
        force[c] = f[0] * t[0, c] + f[1] * t[1, c]
    push(pair, patch.centre, force, 1.0, pair.wrench)
    wind(patch.normal, rub.moment, pair.wrench)
    push(pair, patch.centre, force, 1.0, now.spent)
    wind(patch.normal, rub.moment, now.spent)


@kernel
def request_across(pair: Pair, patch: Patch, rub: Rub) -> None:
    """What springs and dampers across the normal and about it ask of the step."""
    dt, normal, stiff = pair.dt, patch.normal, pair.stiff
    pair.asked[0] += dt * dt * rub.k_t
    pair.asked[1] += 2.0 * dt * rub.c_t
    for p in range(3):
        for q in range(3):
            flank = (1.0 if p == q else 0.0) - normal[p] * normal[q]
            stiff[p, q] += dt * (dt * rub.k_t + 2.0 * rub.c_t) * flank
            stiff[3 + p, 3 + q] += dt * (dt * rub.k_r + 2.0 * rub.c_r) * normal[p] * normal[q]
