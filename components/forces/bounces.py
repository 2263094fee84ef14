"""Bounces at walls that are as stiff as the step allows: what leaves one leaves as fast as the restitution has it.

Such a wall gives way for some ticks, whatever these are. What it gives back by itself depends on how the ticks fall, and, where
joints are springs, on how these answer meanwhile: of order zero. So it is told twice what is to come of a bounce: while that goes
on, by places of two ticks, and once more by the mean of ten ticks behind against that of ten before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from components.forces.coordinate import EFFORT, REACHED, SPENT, STIFFNESS, TICK, unit_of
from modular.elements import GAIN_STEP, TIME, Array
from modular.kernel import kernel
from modular.ledger import STORED
from modular.views import View

# of a law: what of its energy a spring gives back, what is slow, whether its stiffness was chosen
KEPT, SLOW, YIELDS = range(2, 5)
# of what is kept: ways and speeds [m, rad, /s], ticks, and when that was [s]
LATE, DEEP, ASTRAY, RATE, CAME, TOUCHED, TURNED, AWAY, WHEN = range(3, 12)
# and the speed to the last place; of a bounce its side, the speed with which it may leave, momentum and change of speed until it
# turns, and the momentum that it has lacked
SPEED, SIDE, LEAVES, GIVEN, CHANGED, OWED, KEEPS = range(12, 19)
FULL_RESTITUTION_SPEED_RATIO = 5.0  # times `slow`: what comes faster leaves with the restitution that was given
SPEED_AVERAGING_TICKS = 10.0  # ticks before and after a touch, of which speeds are means
CORRECTION_TICKS = 3.0  # ticks after a touch in which what it lacks is made up for at once
# times the ticks of a bounce with this restitution at least: what stays longer is pressed
PRESSED_DURATION_RATIO, MIN_RESTITUTION = 1.5, 0.2
MAX_MISSING_SPEED_SHARE = 0.5  # of the speed that came: what lacks more has met something else
SAME_POSITION_TOLERANCE = 1e-9  # places that are worked out again from what was recorded
MIN_ANSWER_SHARE = 1e-3  # of what two bodies alone would answer: all that hangs on them answers more


@kernel
def answer(tried: Array, most: float) -> Any:
    """What is met answers w = dv / F dt, as the bounce itself has told; never more than two bodies alone, nor nothing."""
    return min(max(tried[CHANGED] / tried[GIVEN], MIN_ANSWER_SHARE * most), most) if tried[GIVEN] > 0.0 else most


@kernel
def ended(tried: Array, law: Array, most: float, dt: float) -> None:
    """What has touched is gone: how late, how fast against how fast it should be, and the momentum that it lacks."""
    back, left = np.sqrt(law[KEPT]), abs(tried[RATE])
    tried[ASTRAY] *= back
    if tried[CAME] > law[SLOW]:
        tried[LATE] += dt * tried[TOUCHED] * left
    if tried[CAME] > FULL_RESTITUTION_SPEED_RATIO * law[SLOW]:
        lacks = back * tried[CAME] - left
        if 0.0 < lacks < MAX_MISSING_SPEED_SHARE * tried[CAME]:
            tried[OWED] = lacks / answer(tried, most)
        else:
            tried[ASTRAY] -= lacks
    tried[TOUCHED] = 0.0


@kernel
def count(tried: Array, law: Array, beyond: float, rate: float, push: float, most: float, dt: float) -> None:
    """Ticks of free flight and of a touch: by how much a motion is behind that between rigid walls.

    A wall turns what comes with the speed v in a quarter of its period, 2.5 ticks where no joint makes it heavier, and lets it go
    with u, in all after a time T in which it would have gone u T by itself. What goes faster than e v is astray by as much in each
    second, and by e times that after the next bounce. Speeds are means over some ticks, for joints ring, and what they bring back
    to the wall within these has not left it. What stays for longer than a bounce, or comes slowly, is at rest against the wall.
    And nothing should ever have been beyond it.
    """
    if push == 0.0:
        tried[AWAY] += 1.0
        ticks = tried[AWAY] - (CORRECTION_TICKS if tried[TOUCHED] > 0.0 else 0.0)
        if ticks > 0.0:
            tried[RATE] += (rate - tried[RATE]) / min(ticks, SPEED_AVERAGING_TICKS)
        if ticks == SPEED_AVERAGING_TICKS and tried[TOUCHED] > 0.0:
            ended(tried, law, most, dt)
    else:
        if tried[TOUCHED] == 0.0:
            tried[CAME], tried[TURNED], tried[GIVEN], tried[CHANGED] = abs(tried[RATE]), 0.0, 0.0, 0.0
            tried[LEAVES] = (
                np.sqrt(law[KEPT]) * tried[CAME] if tried[CAME] > FULL_RESTITUTION_SPEED_RATIO * law[SLOW] else -1.0
            )
        tried[TOUCHED] += 1.0 + (tried[AWAY] if tried[TOUCHED] > 0.0 else 0.0)
        tried[AWAY] = 0.0
        tried[DEEP] = max(tried[DEEP], beyond)
        if tried[TURNED] == 0.0 and rate * tried[SIDE] <= 0.0:
            tried[TURNED] = tried[TOUCHED]
        whole = tried[TURNED] * (1.0 + 1.0 / max(np.sqrt(law[KEPT]), MIN_RESTITUTION))
        if whole > 0.0 and tried[TOUCHED] > PRESSED_DURATION_RATIO * whole:
            tried[ASTRAY] = tried[CAME] = 0.0
            tried[LEAVES] = min(tried[LEAVES], 0.0)
    tried[LATE] += dt * abs(tried[ASTRAY])


@kernel
def leave(kept: Array, tried: Array, beyond: float, push: float, most: float, dt: float) -> Any:
    """The push with which what came fast leaves as fast as it should.

    The speed between two places, and by how much it changed beside the last push, foretell to what this one leads: no more than e
    times what came; and what is lacking when the wall is left is made up for at once, as far as two bodies alone would take it.
    """
    inward, before = tried[SIDE] * tried[SPEED], tried[SIDE] * kept[SPEED]
    asked, load = max(inward + tried[LEAVES], 0.0) / (most * dt), 0.0
    if beyond <= 0.0 and inward <= 0.0:
        return asked
    if tried[GIVEN] > 0.0:
        load = max(abs(kept[EFFORT]) + (inward - before) / (answer(tried, most) * dt), 0.0)
    return min(push, asked + load)


@kernel
def bounce(stops: View, elements: View, n: int, s: float, rate: float, beyond: float, sign: float, push: float) -> Any:
    """The push of a wall on what bounces from it, from that of its spring; and what is told of it."""
    kept, tried, law = stops.kept[n], stops.tried[n], stops.law[n]
    time, dt, most = elements.clock[TIME], stops.stage[TICK] * elements.clock[GAIN_STEP], stops.compliance[n, 0, 0]
    for k in range(LATE, KEEPS):
        tried[k] = kept[k]
    span = time - kept[WHEN]
    tried[WHEN] = time
    if abs(span - dt) > 1e-6 * dt:  # in a tick that is cut; or again at this time, also where a run is read
        seen = kept[SIDE] != 0.0 and span == 0.0 and abs(s - kept[REACHED]) <= SAME_POSITION_TOLERANCE * (1.0 + abs(s))
        tried[SIDE] = kept[SIDE] if kept[SIDE] != 0.0 else sign
        return abs(kept[EFFORT]) if seen else push
    tried[SPEED] = (s - kept[REACHED]) / dt
    if push > 0.0 and (kept[TOUCHED] == 0.0 or sign != kept[SIDE]):
        tried[SIDE], tried[TOUCHED] = sign, 0.0
    elif kept[TOUCHED] > 0.0 and kept[TURNED] == 0.0:
        tried[GIVEN] += dt * abs(kept[EFFORT])
        tried[CHANGED] += tried[SIDE] * (kept[SPEED] - tried[SPEED])
    count(tried, law, beyond, rate, push, most, dt)
    if tried[SIDE] == sign and tried[LEAVES] >= 0.0 and tried[TOUCHED] > 0.0 and tried[AWAY] <= CORRECTION_TICKS:
        push = leave(kept, tried, beyond, push, most, dt)
    elif kept[OWED] > 0.0:
        if push == 0.0 and tried[SIDE] == sign:
            push = kept[OWED] / dt
        tried[OWED] = 0.0
    stops.late[n, unit_of(stops)] = tried[LATE] + tried[DEEP]
    return push


@kernel
def book(stops: View, n: int, s: float, sign: float, push: float) -> None:
    """What the wall holds, as a spring that is pressed so far; the rest of what it took since the last time is dissipated.

    So what it does not give back is gone at once, and what it is made to give besides is as if it had been kept for that.
    """
    kept, tried, stiffness = stops.kept[n], stops.tried[n], stops.gains[n, STIFFNESS]
    held, before = 0.5 * push * push / stiffness, kept[EFFORT]
    tried[SPENT] = 0.5 * (before + sign * push) * (s - kept[REACHED]) - held + 0.5 * before * before / stiffness
    if stops.fresh[n] == 1:
        tried[SPENT] = 0.0
    stops.ledger[n, STORED] = held
