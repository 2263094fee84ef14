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

from coordinator.couplings.energies import energy_about
from coordinator.system import System
from modular.elements import Array
from modular.ledger import LEAKED

MAX_HALVINGS = 7  # halvings of a tick
COARSEN_BELOW = 0.1  # of what is allowed: below, the next tick is tried with half as many steps
HALVINGS, REFUSED, BEYOND, DEEPEST, TAKEN, ABOUT = range(6)  # places in what is remembered
Step = Callable[[float, float], str | None]  # takes a step that ends at a time


def state_of(system: System) -> Array:
    """What ticks remember: how often they are halved; how many were refused; how many leaked too much all the same.

    The most halvings, the steps that were taken; and the energy that was about when the topology last changed.
    """
    state = system.memory.get("adaptive")
    if state is None or state.shape != (6,) or not 0.0 <= state[HALVINGS] <= MAX_HALVINGS:  # none, or none of ours
        state = system.memory["adaptive"] = np.zeros(6)
    return state


def look_about(system: System) -> None:
    """After an event: the energy by which leaks are measured from here on."""
    state_of(system)[ABOUT] = energy_about(system)


def advance_adaptively(system: System, span: float, end: float, share: float, step: Step) -> str | None:
    """A tick or a part of it, `span` long; who went wrong with the shortest steps too, if anybody.

    `share`: what joints may leak in a second, of the energy that is about. The same as halving.py where something is Python.
    """
    refused, taken = 0.0, 0.0
    while True:
        kept, books, state = system.save(), _leaks(system), state_of(system)
        allowed, count, wrong = share * state[ABOUT] * span, 1 << int(state[HALVINGS]), None
        for k in range(count):
            if wrong is None:
                taken += 1.0
                wrong = step(span / count, end - (1.0 - (k + 1.0) / count) * span)
        leaked = 0.0
        for now, before in zip(_leaks(system), books, strict=True):
            leaked += abs(now - before)
        good = wrong is None and leaked <= allowed
        if good or state[HALVINGS] >= MAX_HALVINGS:
            state[[REFUSED, TAKEN]] += refused, taken
            state[BEYOND] += not good
            state[DEEPEST] = max(state[DEEPEST], state[HALVINGS])
            if good and leaked <= COARSEN_BELOW * allowed and state[HALVINGS] > 0:
                state[HALVINGS] -= 1
            return wrong
        system.restore(kept)
        refused += 1.0
        state_of(system)[HALVINGS] += 1


def _leaks(system: System) -> list[float]:
    return [float(leak) for joints in system.joints for leak in joints.ledger[: joints.count, LEAKED]]
