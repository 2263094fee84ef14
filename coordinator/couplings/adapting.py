"""A tick in as many steps as the accounts of the joints ask for; a tick that leaks too much is refused, and taken again in halves.

After S. Sadjina, L. T. Kyllingstad, S. Skjong, E. Pedersen, "Energy conservation and power bonds in co-simulations: non-iterative
adaptive step size control and error estimation", Engineering with Computers 33 (2017) 607-620 (ECCO): what a coupling makes or
loses, its residual energy, is the measure of its error, and needs no second solution. Theirs never goes back; here components can.

Stiffness and gains stay those of the whole tick. Tied to the shorter step they would grow by four with every halving, and springs
and bodies that stand as the softer ones left them would swing: tried, that swinging asked for more halvings, and never ended.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coordinator.energies import energy_about
from coordinator.system import System
from modular.elements import Array
from modular.ledger import LEAKED

MOST = 7  # halvings of a tick
EASY = 0.1  # of what is allowed: below, the next tick is tried with half as many steps
HALVINGS, REFUSED, BEYOND, DEEPEST = range(4)  # places in what is remembered
Step = Callable[[float, float], str | None]  # takes a part of a tick


def state_of(system: System) -> Array:
    """How often the tick is halved; how many ticks were refused; how many leaked too much all the same; the most halvings."""
    state = system.memory.get("adaptive")
    if state is None or state.shape != (4,) or not 0.0 <= state[HALVINGS] <= MOST:  # none, or none of ours
        state = system.memory["adaptive"] = np.zeros(4)
    return state


def advance_adaptively(system: System, dt: float, start: float, stop: float, share: float, step: Step) -> str | None:
    """One tick, or a part of it; who went wrong with the shortest steps too, if anybody.

    `share`: what joints may leak in a second, of the energy that is about.
    """
    allowed = share * energy_about(system) * (stop - start) * dt
    refused = 0
    while True:
        kept, books, state = system.save(), _leaks(system), state_of(system)
        wrong = _take(start, stop, 2 ** int(state[HALVINGS]), step)
        leaked = float(np.abs(_leaks(system) - books).sum())
        good = wrong is None and leaked <= allowed
        if good or state[HALVINGS] >= MOST:
            state[REFUSED] += refused
            state[BEYOND] += not good
            state[DEEPEST] = max(state[DEEPEST], state[HALVINGS])
            if good and leaked <= EASY * allowed and state[HALVINGS] > 0:
                state[HALVINGS] -= 1
            return wrong
        system.restore(kept)
        refused += 1
        state_of(system)[HALVINGS] += 1


def _take(start: float, stop: float, count: int, step: Step) -> str | None:
    for k in range(count):
        first, last = (start + (stop - start) * part / count for part in (k, k + 1))
        wrong = step(first, last)
        if wrong is not None:
            return wrong
    return None


def _leaks(system: System) -> Array:
    return np.concatenate([joints.ledger[: joints.count, LEAKED] for joints in system.joints] or [np.zeros(0)])
