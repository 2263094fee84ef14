"""What a contact takes: the power of dampers, friction and impacts, at the velocity of this very instant."""

from __future__ import annotations

from components.forces.contact_pair import Pair, Patch, answer_to, push
from modular.blocks import room
from modular.elements import Array
from modular.kernel import kernel


@kernel
def power_of(wrench: Array, rates: Array) -> float:
    """Power of a force on the second shape, its opposite on the first, and a moment on each [W]."""
    power = 0.0
    for c in range(3):
        power += wrench[0, c] * (rates[2, c] - rates[0, c])
        power += wrench[1, c] * rates[1, c] + wrench[2, c] * rates[3, c]
    return power


@kernel
def take(pair: Pair, patch: Patch) -> None:
    """What it takes, as far as it is known what others do at this instant, and with what it will carry what rests."""
    rates, whole = room((4, 3)), room((3, 3))
    for k in range(3):
        for c in range(3):
            whole[k, c] = pair.wrench[k, c]
    if pair.carries and not pair.struck:
        for i in range(patch.count):
            push(pair, patch.points[i], patch.normals[i], patch.impulse[i] / pair.span, whole)
    answer_to(pair, whole, rates)
    for k in range(4):
        for c in range(3):
            rates[k, c] = pair.rates[k, c] + 0.5 * pair.span * (pair.pace[k, c] + rates[k, c])
    pair.takes = -power_of(pair.now.spent, rates)
    pair.now.guess = pair.takes


@kernel
def close_tick(pair: Pair, pressed: bool) -> None:
    """Correct what the tick before was thought to take: what others did at that instant shows now. Then note all."""
    now, before, rates = pair.now, pair.before, room((4, 3))
    if before.known >= 2.0:
        for k in range(4):
            for c in range(3):
                rates[k, c] = 0.5 * (before.rates[k, c] + pair.rates[k, c])
        pair.takes -= power_of(before.spent, rates) + before.guess
    bent = 0.0 if before.known == 1.0 else now.bent  # what rests from the start on came drawn
    pair.takes += (before.bent - bent + pair.softened) / pair.span
    now.carried = 1.0 if pressed and not (pair.struck or pair.fresh) else 0.0  # at the first look that is rounding
    now.struck = before.struck + 1.0 if pair.struck else 0.0
    now.held, now.taken = pair.stored, pair.takes
    for k in range(3):
        for c in range(3):
            now.wrench[k, c] = pair.wrench[k, c]
