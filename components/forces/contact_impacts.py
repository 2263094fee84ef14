"""Impacts: points that meet fast part with Newton's restitution, all of a pair together (Séguy 2003, I.3.6).

Points that will meet on the way at the time theta dt get their impulse in two parts, 1 - theta now and theta a tick later, and
go on as if it had been then.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from components.forces.contact_pair import Pair, Patch, push
from modular.elements import Array
from modular.kernel import kernel

MAX_SWEEPS = 60  # of the impulses of one pair
MOST_GIVEN = 1.5  # times as large a second part may become: what would need more has met something else meanwhile
LEAST_GIVEN = 0.25  # of the velocity that a second part brings: what parts more slowly says little of it


@kernel
def impacts(pair: Pair, patch: Patch) -> None:
    """Impulses of points that meet fast, or have met a tick ago and are owed the second part."""
    meeting, paying = False, False
    for i in range(patch.count):
        choose(pair, patch, i)
        meeting, paying = meeting or patch.candidates[i] > 0.0, paying or pair.before.later[i] > 0.0
    if paying:
        pair.struck = 1
        strike(pair, patch, pair.before.later, pair.before.rubbed)
    elif meeting:
        pair.struck = 1
        solve_impulses(patch)
        limit_restitution(pair, patch)
    for i in range(patch.count):
        patch.paid[i] = patch.impulse[i] if pair.before.owed[i] > 0.0 else 0.0
        for c in range(3):
            patch.rubbed[i, c] = pair.before.rubbed[i, c]


@kernel
def note_paid(patch: Patch, paid: Array, rubbed: Array) -> None:
    """What the tick before has owed."""
    for i in range(8):
        paid[i] = patch.paid[i] if i < patch.count else 0.0
        for c in range(3):
            rubbed[i, c] = patch.rubbed[i, c] if i < patch.count else 0.0


@kernel
def strike(pair: Pair, patch: Patch, impulses: Array, rubs: Array) -> None:
    """Impulses that are known, those of friction too."""
    pair.given = 1
    for i in range(patch.count):
        patch.impulse[i] = impulses[i]
        push(pair, patch.points[i], rubs[i], 1.0 / pair.span, pair.wrench)
        push(pair, patch.points[i], rubs[i], 1.0 / pair.span, pair.now.spent)
        if impulses[i] > 0.0:
            pair.struck, patch.candidates[i] = 1, 1.0
            pair.sunk[1] = max(pair.sunk[1], pair.dt * patch.w[i, i] * impulses[i])


@kernel
def strike_together(pair: Pair, patch: Patch) -> None:
    """Impulses that were found together with those of others, and what of them comes a tick later."""
    for i in range(patch.count):
        patch.candidates[i] = patch.paid[i] = 0.0
        pair.now.later[i] = pair.meeting.later[i]
        for c in range(3):
            pair.now.rubbed[i, c] = pair.meeting.rubs_later[i, c]
        if pair.meeting.later[i] > 0.0:
            pair.struck, pair.now.owed[i], patch.candidates[i] = 1, 1.0, 1.0
    pair.now.spared = pair.meeting.spared
    strike(pair, patch, pair.meeting.now, pair.meeting.rubs)


@kernel
def meets_after(gap: float, coming: float, hurry: float, span: float) -> Any:
    """After which share of a tick a point meets, on its parabola; below 0 where it does not."""
    if not coming < 0.0:
        return -1.0
    if gap <= 0.0:
        return 0.0
    square = coming * coming - 2.0 * hurry * gap
    if square >= 0.0 and 2.0 * gap <= span * (sqrt(square) - coming):
        return 2.0 * gap / (span * (sqrt(square) - coming))
    return -1.0


@kernel
def choose(pair: Pair, patch: Patch, i: int) -> None:
    """Whether a point has an impact now, when in the tick, how fast it comes and how fast it is to part."""
    now, before, law, span, hurry = pair.now, pair.before, pair.law, pair.span, patch.hurry[i]
    patch.candidates[i], patch.theta[i], patch.impulse[i], patch.goal[i] = 0.0, 0.0, 0.0, 0.0
    coming, kept = patch.v[i] + 0.5 * span * hurry, before.goal[i]
    patch.coming[i] = coming
    if law.restitution < 0.0 <= law.stiffness or not patch.w[i, i] > 0.0:
        return
    theta = meets_after(patch.gaps[i], coming, hurry, span)
    if before.owed[i] > 0.0:  # the second part of an impact: what is still missing
        patch.candidates[i], patch.goal[i] = 1.0, kept
        now.owed[i] = before.owed[i] - 1.0
    elif theta >= 0.0 and -coming - span * theta * hurry > pair.slow:
        patch.candidates[i], patch.theta[i] = 1.0, theta
        patch.coming[i] = coming + span * theta * hurry
        patch.goal[i] = -max(law.restitution, 0.0) * patch.coming[i]
        now.owed[i] = 1.0 if theta > 0.0 else 0.0
    now.goal[i] = patch.goal[i]
    if patch.theta[i] > 0.0:
        now.goal[i] = patch.goal[i] + span * (1.0 - patch.theta[i]) * hurry


@kernel
def solve_impulses(patch: Patch) -> None:
    """Impulses of one pair: none pulls, and where one pushes the point parts as it should (projected Gauss-Seidel)."""
    impulse, w = patch.impulse, patch.w
    for i in range(patch.count):
        impulse[i] = 0.0
    for _ in range(MAX_SWEEPS):
        change = 0.0
        for i in range(patch.count):
            if patch.candidates[i] == 0.0:
                continue
            left = patch.coming[i] - patch.goal[i]
            for j in range(patch.count):
                left += w[i, j] * impulse[j]
            new = max(impulse[i] - left / w[i, i], 0.0) if w[i, i] > 0.0 else 0.0
            change = max(change, abs(new - impulse[i]) * w[i, i])
            impulse[i] = new
        if change == 0.0:
            break


@kernel
def limit_restitution(pair: Pair, patch: Patch) -> None:
    """The part of the impulses that acts now; second parts as large as all of an impact takes the energy that it should.

    Bodies have turned since, and might give more, or less. Where next to nothing is given back that does not say how large they
    are, and what friction takes meanwhile is not known: then they give no more than has been taken.
    """
    impulse, span = patch.impulse, pair.span
    given, square, whole, new, old = 0.0, 0.0, 0.0, False, False
    for i in range(patch.count):
        if patch.candidates[i] > 0.0:
            owed = pair.before.owed[i] > 0.0
            new, old = new or not owed, old or owed
        for j in range(patch.count):
            whole += 0.5 * impulse[i] * patch.w[i, j] * impulse[j]
        whole += impulse[i] * patch.coming[i]
    for i in range(patch.count):
        impulse[i] *= 1.0 - patch.theta[i]
    for i in range(patch.count):
        given += impulse[i] * (patch.v[i] + 0.5 * span * patch.hurry[i])
        for j in range(patch.count):
            square += 0.5 * impulse[i] * patch.w[i, j] * impulse[j]
    spared = pair.before.spared if pair.before.struck > 0.0 else 0.0
    share, root = 1.0, 0.0
    if square > 0.0:
        root = sqrt(max(given * given + 4.0 * square * spared, 0.0)) / (2.0 * square)
    smooth = pair.law.friction == 0.0
    if smooth and old and not new and root >= LEAST_GIVEN:
        share = min(root - 0.5 * given / square, MOST_GIVEN)
    elif given + square > max(spared, 0.0):
        share = 0.5 * (sqrt(given * given + 4.0 * square * max(spared, 0.0)) - given) / square
    for i in range(patch.count):
        impulse[i] *= share
        pair.sunk[1] = max(pair.sunk[1], pair.dt * patch.w[i, i] * impulse[i])
    taken = share * (given + share * square)
    pair.now.spared = whole - taken if smooth and new and not old else max(spared - taken, 0.0)
