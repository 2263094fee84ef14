"""Ledgers of forces and joints of a motion by formulas: what they do is integrated with the motion, to the order of its step.

Ends of ticks alone tell works to second order, which is far less than such a motion is right to: what lacked would look like energy
that came or went. So the power of each line is one more formula, and its integral comes out of the stages of the step
(runge_kutta.py). What the lines of a ledger leave open then is what the motion itself gained or lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.couplings.centralized.whole import INTEGRATED, enter
from coordinator.equations.one_of_many import called
from coordinator.equations.solved import Solved
from coordinator.system import System
from modular.elements import Array, Indices
from modular.kernel import kernel
from modular.ledger import SUPPLIED, WORK_FIRST, WORK_SECOND, close, supply_loop

if TYPE_CHECKING:
    from coordinator.equations.common_formulas import CommonFormulas

NOTHING = 0


def powers_of(solved: Solved) -> dict[tuple[str, int], Any]:
    """The power of each line of a ledger that has one, by owner and line [W]."""
    written, found = solved.written, dict[tuple[str, int], Any]()
    for name, powers in written.powers.items():
        found |= {(name, line): power for line, power in powers.items()}
    for name, paces in written.paces.items():
        for line, pace in zip((WORK_FIRST, WORK_SECOND), paces, strict=True):
            found[name, line] = -sum(solved.multipliers[r] * value for r, value in pace.items())
        last = written.rows_of[name].stop
        driven = range(last - written.drives[name], last)
        found[name, SUPPLIED] = sum(solved.multipliers[r] * written.flow.get(r, NOTHING) for r in driven)
    return {key: power for key, power in found.items() if power != NOTHING}


class LedgerMap:
    """Where each of these works goes, in the ledgers of all models."""

    def __init__(self, common: CommonFormulas) -> None:
        self.common, system, models = common, common.system, common.models
        self.entries: list[
            tuple[Any, list[tuple[Indices, int, int]]]
        ] = []  # by stack: rows, line, and which of the works
        for stack in system.booked:
            own = [
                (np.array([stack.row[each] for each in called(models, name)]), line, k)
                for k, (name, line) in enumerate(common.powers)
                if models[0][name] in stack.row
            ]
            self.entries.append((stack, own))
        self.shared = {id(stack) for stack in system.joints} if common.solved.dependent else set()

    def account(self, system: System, h: float) -> None:
        """Book the tick that has just passed."""
        works = self.common.motions.works
        for stack, own in self.entries:
            n = stack.count
            before = stack.ledger[:n].copy()
            stack.account(system.elements, h)
            supplied = 1 if stack.loops.get("account") is supply_loop else 0
            done = np.zeros((n, len(INTEGRATED)))
            for rows, line, k in own:
                done[rows, INTEGRATED.index(line)] = works[:, k]
            (_share if id(stack) in self.shared else enter)(before, done, supplied, stack.ledger[:n])


@kernel
def _share(before: Array, done: Array, supplied: int, ledger: Array) -> None:
    """Where rows follow from others, formulas leave open who carries what: ends of ticks tell shares, and works their sum."""
    for n in range(ledger.shape[0]):
        more = 0.0
        for i, line in enumerate(INTEGRATED):
            more += done[n, i] - (ledger[n, line] - before[n, line])
        ledger[n, SUPPLIED if done[n, 3] != 0.0 else WORK_SECOND] += more
        close(ledger[n])
