"""What rests from the start on begins in equilibrium: contacts find the forces that carry it together, before the first tick.

Each contact knows its own two bodies alone. With loads on all of them the bodies accelerate; each then answers by what it would
rather do (`lean`), and all that is one step of the proximal gradient method towards the complementarity problem of all
contacts: nothing that touches accelerates into what it touches, nothing pulls, friction bears its share at most. What the last
steps have shown is put together so that least is left (D. G. Anderson, "Iterative procedures for nonlinear integral equations",
Journal of the ACM 12 (1965) 547-560): a stack of n bodies takes some n steps instead of n^2, whatever they weigh. Bodies are asked
through the coupling, so whatever else holds them has its say. The thesis knows no contact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from coordinator.couplings.coupling import Coupling
from coordinator.engine.program import Operation, perform
from coordinator.system import System
from modular.elements import STEP, TIME, Array
from modular.force import BEGUN, BeginsAtRest

MOST = 500  # steps; what is not quite found only leaves some ringing
ENOUGH = 1e-9  # of the forces of a contact: steps that change less have found all
ROUNDING = 1e-12  # of the largest force
MEMORY = 30  # steps that are put together
WORSE = 10.0  # times what was left by the step before


def begin_at_rest(system: System, coupling: Coupling, dt: float, *, everything: bool = False) -> None:
    """After everything has been settled: let new contacts that touch carry what rests on them.

    `everything`: all is new, so joints look for their loads anew as well, with those of contacts on the bodies.
    """
    meeting = list(_meeting(system))
    if not meeting:
        return
    count_company(meeting)
    new = [(stack, row, owners) for stack, row, owners in meeting if stack.begins[row] > 0.0]
    if not new:
        return
    new.sort(
        key=lambda each: each[0].names[each[1]]
    )  # sums go by names: in whatever stacks they live, the last bits stay
    stacks = list({id(stack): stack for stack, _, _ in new}.values())
    touched = list(dict.fromkeys(owner for _, _, owners in new for owner in owners))

    def carry(loads: Array) -> None:
        """Let contacts do this, and bodies answer it."""
        for (stack, row, _), load in zip(new, loads, strict=True):
            stack.loads[row], stack.begins[row] = load, BEGUN
        for joints in system.joints if everything else ():
            joints.fresh[: joints.count] = 1
        coupling.settle(system, dt, touched)

    def leaning() -> Array:
        """What each would rather do."""
        look_ahead(system, dt, stacks)
        return np.array([stack.starts[row] for stack, row, _ in new])

    carry(_together(carry, leaning))


def _together(carry: Callable[[Array], None], leaning: Callable[[], Array]) -> Array:
    """What all do when nobody would rather do anything else."""
    loads: Array = leaning()
    answers: list[Array] = []
    rests: list[Array] = []
    for _ in range(MOST):
        carry(loads)
        found = leaning()
        rest = (found - loads).ravel()
        if _is_nothing(rest.reshape(found.shape), found):
            return found
        if rests and np.abs(rest).max() > WORSE * np.abs(rests[-1]).max():  # what was learnt holds no more
            answers, rests = [], []
        answers, rests = [*answers, found.ravel()][-MEMORY:], [*rests, rest][-MEMORY:]
        loads = found
        if len(rests) > 1:
            steps = np.diff(rests, axis=0).T
            share = np.linalg.lstsq(steps, rest, rcond=1e-10)[0]
            loads = (answers[-1] - np.diff(answers, axis=0).T @ share).reshape(found.shape)
    return found


def _is_nothing(rest: Array, found: Array) -> bool:
    """Of each contact by its own measure."""
    sizes = np.abs(found).max(axis=(1, 2))
    return bool((np.abs(rest).max(axis=(1, 2)) <= ENOUGH * sizes + ROUNDING * sizes.max()).all())


def look_ahead(system: System, dt: float, stacks: list[Any]) -> None:
    """Let contacts look at the bodies as the first tick will show them, and bodies stand again where they stand."""
    clock = system.elements.clock
    step, now = float(clock[STEP]), float(clock[TIME])
    clock[STEP], clock[TIME] = dt, now + dt
    ahead: list[Operation] = [(bodies, "predict") for bodies in system.bodies]
    perform(system.elements, [*ahead, *((stack, "lean") for stack in stacks)])
    clock[STEP], clock[TIME] = step, now
    perform(system.elements, [(bodies, "show") for bodies in system.bodies])


def count_company(meeting: list[tuple[Any, int, list[str]]]) -> None:
    """Tell contacts how many carry one of their bodies; whoever carries nothing yet may come to, with all that these can meet."""
    carried = Counter(owner for stack, row, owners in meeting if stack.rests[row] > 0.0 for owner in owners)
    met = Counter(owner for _, _, owners in meeting for owner in owners)
    for stack, row, owners in meeting:
        count = carried if stack.rests[row] > 0.0 else met
        stack.company[row] = float(max([1, *(count[owner] for owner in owners)]))


def _meeting(system: System) -> Iterator[tuple[Any, int, list[str]]]:
    """Contacts, and their bodies; what is led, nobody carries."""
    told: list[Any] = [stack for stack in system.forces if isinstance(stack, BeginsAtRest)]
    for stack in told:
        for name in stack.names:
            owners = system.force_home[name].owners
            yield stack, stack.row[name], [owner for owner in owners if _is_moved(system, owner)]


def _is_moved(system: System, owner: str) -> bool:
    return owner in system.body_home and not system.described[owner].led
