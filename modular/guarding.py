"""An energy guard: removes the energy that the scheme has created at a joint, by its ledger, and returns what it has lost.

Explicit joints read states that are a part of a step apart from those on which their forces act, so what they do on their two
sides, hold and take does not sum to zero: the `leaked` line of the ledger (modular/ledger.py). Nearly energy-preserving coupling:
S. Sadjina, E. Pedersen, "Energy conservation and coupling error reduction in non-iterative co-simulations", Engineering with
Computers 36 (2020) 1579-1587. Here the correction is a force along the motion of the joint against itself,

    sigma += s dt K phi',   s = made / (SETTLING_TICKS phi' dt^2 K phi'),   |s| limited,

a damper, or the contrary of one, as strong as the account asks; 2 s is its share of what the spring asks of the step.
"""

from __future__ import annotations

from typing import Any

from modular.blocks import like, shaped
from modular.elements import GAIN_STEP, STEP
from modular.joint_loops import follow_on, pull_back, rates
from modular.lane_rows import fetch, gather, indices, scatter
from modular.lanes import LANES, given, lanes, larger
from modular.ledger import LEAKED, STORED
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

SETTLING_TICKS = 20.0  # ticks in which the account is to be settled
IGNORED_SHARE_OF_STORED = 0.05  # of what the spring holds: that comes and goes with it, and is left alone
MAX_DAMPING_SHARE = 0.2  # s, at most: the rules leave that much
MAX_NEGATIVE_DAMPING_SHARE = 0.1  # s of the contrary of a damper, at most


def _room(joints: Any) -> list[tuple[int, ...]]:
    names = (
        "on_first",
        "on_second",
        "error",
        "error",
        "stiffness",
        "first_side",
        "second_side",
        "first_side",
        "second_side",
        "course",
    )
    return [joints.shape_of(name) for name in names]


room_of = shaped(lanes, _room)


@loop
def guard_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """Add the correction to what joints exert."""
    leading, dt = joints.coincident.shape[0], elements.clock[GAIN_STEP]
    on_first, on_second, rate, effort, stiffness, a, b, force_a, force_b, course = room_of(joints)
    rows, ledger = rate.shape[0], like(joints.ledger)
    for n in range(start, stop, LANES):
        first, second = indices(joints.first, n, stop), indices(joints.second, n, stop)
        if leading < rows:
            fetch(joints.on_first, n, stop, on_first)
            fetch(joints.on_second, n, stop, on_second)
        gather(elements.velocity, first, a)
        gather(elements.velocity, second, b)
        rates(leading, on_first, on_second, a, b, rate)
        if course.shape[0] > 0:
            fetch(joints.course, n, stop, course)
            follow_on(course, 0.5 * elements.clock[STEP], rate)
        fetch(joints.stiffness, n, stop, stiffness)
        power = 0.0
        for i in range(rows):
            value = 0.0
            for j in range(rows):
                value += stiffness[i, j] * rate[j]
            effort[i] = dt * value
            power += dt * effort[i] * rate[i]
        fetch(joints.ledger, n, stop, ledger)
        made, leave = -ledger[LEAKED], IGNORED_SHARE_OF_STORED * abs(ledger[STORED])
        made = larger(made - leave, 0.0 * made) - larger(-made - leave, 0.0 * made)
        share = given(power, made / (SETTLING_TICKS * power))
        share = -larger(-larger(share, -MAX_NEGATIVE_DAMPING_SHARE), -MAX_DAMPING_SHARE)
        for i in range(rows):
            effort[i] = share * effort[i]
        pull_back(leading, on_first, -1.0, effort, a)
        pull_back(leading, on_second, 1.0, effort, b)
        gather(elements.force, first, force_a)
        gather(elements.force, second, force_b)
        for k in range(a.shape[0]):
            for c in range(a.shape[1]):
                force_a[k, c] += a[k, c]
        for k in range(b.shape[0]):
            for c in range(b.shape[1]):
                force_b[k, c] += b[k, c]
        scatter(force_a, elements.force, first)
        scatter(force_b, elements.force, second)
    return NO_FAILED_ROW
