"""Which forces the step does not resolve, as things stand or as bodies may turn: these are found (modular/compliant.py)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from coordinator.system import System
from modular.demand_sharing import growth
from modular.elements import Array
from modular.forces import ForceStack

IMPLICIT_MARGIN = 1.5  # of a force: below it is found
SOFT = 2.0 * IMPLICIT_MARGIN  # of a force alone: what has more is not found for its neighbours
ALIKE = 1.2  # times the margin of the stiffest, alone: those below it are found with it where only all together are too stiff


def may_be_implicit(system: System) -> list[ForceStack]:
    """Stacks of forces whose rows may be."""
    found = [forces for forces in system.forces if isinstance(forces, ForceStack) and forces.row_form is not None]
    return [forces for forces in found if forces.count]


def names_of(system: System, touched: Iterable[str] | None = None) -> set[str]:
    """Forces that may be; `touched`: on these bodies alone."""
    stacks = may_be_implicit(system)
    if not stacks:
        return set()
    kinds = {id(forces): forces for forces in stacks}
    wanted = system.force_home if touched is None else {use for body in touched for use in system.uses.get(body, ())}
    found = set()
    for name in wanted:
        home = system.force_home.get(name)
        forces = None if home is None else kinds.get(id(home.stack))
        if forces is not None and forces.may_be_row(forces.row[name], system.home(name).owners):
            found.add(name)
    return found


def take_implicit(system: System, margins: Mapping[str, float], among: Collection[str] | None = None) -> bool:
    """Forces with too small a margin are found from here on, and stay so; whether there are new ones. `among`: of these alone.

    The stiffest first: whoever asks again sees what the others then leave, and what is soft is not blamed for its neighbours.
    """
    found = [name for name, margin in least_margins(system, margins, among).items() if margin < IMPLICIT_MARGIN]
    if not found:
        return False
    alone = {name: own for forces in may_be_implicit(system) for name, own in _alone(system, forces, found).items()}
    limit = max(SOFT, ALIKE * min(alone.values()))
    for forces in may_be_implicit(system):
        rows = [forces.row[name] for name in found if name in forces.row and alone[name] < limit]
        forces.implicit[rows] = 1
    return True


def stiffest(system: System, margins: Mapping[str, float], tightest: str) -> tuple[str, float]:
    """Of some forces the one that would leave itself the least room alone, and the room that all leave together.

    A margin takes all that acts beside a force to be stiff and damped as that is itself; so a weak damper beside a stiff spring has
    a smaller one than the spring, and to soften it would help nobody. What force i asks at mu times the step, mu^2 x_i + mu y_i,
    grows at least as fast as mu, and is all that may be asked at its own mu_i: so all of them leave 1 / sum(1 / mu_i) at least.
    """
    alone = {name: own for forces in may_be_implicit(system) for name, own in _alone(system, forces, margins).items()}
    if tightest not in alone:  # of others nothing is known alone
        return tightest, margins[tightest]
    together = 1.0 / sum(1.0 / own for own in alone.values())
    return min(alone, key=alone.__getitem__), max(margins[tightest], together)


def take_rubbing(system: System) -> bool:
    """Dry friction that holds by no spring of its own is found from here on; whether there is any that was not."""
    new = False
    for forces in may_be_implicit(system):
        rows = [row for row in forces.rubbing() if forces.implicit[row] == 0]
        forces.take_rubbing(rows)
        new = new or bool(rows)
    return new


def located_friction(system: System) -> list[str]:
    """Dry friction that is a joint while it sticks, and whose switches are located within steps (modular/friction_rows.py)."""
    stacks = [forces for forces in may_be_implicit(system) if forces.rubbing()]
    return [forces.names[row] for forces in stacks for row in forces.implicit_rows()]


def found_forces(system: System) -> list[str]:
    """All that are found together with reactions, and not exerted as they stand."""
    return [*system.implicit_forces, *located_friction(system)] if system.force_stacks else []


def is_located(forces: Any) -> bool:
    """Whether all friction of a stack that slips is."""
    return isinstance(forces, ForceStack) and len(forces.rubbing()) == len(forces.implicit_rows()) == forces.count


def _alone(system: System, forces: ForceStack, names: Collection[str]) -> dict[str, float]:
    """The margins that some of a stack would have if no other force acted on their bodies."""
    mine = [name for name in names if name in forces.row]
    if not mine:
        return {}
    rows = [forces.row[name] for name in mine]
    x, y = (load[rows] for load in forces.requested_demand())
    asked = forces.compliance[rows] @ (x + y)
    if not np.isfinite(asked).all():  # of bodies that were flung about nothing is known
        return {}
    answers = np.abs(np.linalg.eigvals(asked)).max(axis=1)
    totals = np.einsum("nii->n", x), np.einsum("nii->n", y)
    margins = np.array(
        [growth(one, other, max(answer, 1e-300)) for one, other, answer in zip(*totals, answers, strict=True)]
    )
    turned = forces.most_turned(rows, system.elements)
    return dict(zip(mine, _margins_turned(forces, rows, margins, turned).tolist(), strict=True))


def least_margins(
    system: System, margins: Mapping[str, float], among: Collection[str] | None = None
) -> dict[str, float]:
    """What is left of margins as bodies may turn, of forces that may be rows of the interface."""
    least: dict[str, float] = {}
    stacks = {id(forces): forces for forces in may_be_implicit(system)}
    asked: dict[int, dict[str, int]] = {}
    for name in margins if among is None else among:
        home = system.force_home.get(name)
        forces = None if home is None else stacks.get(id(home.stack))
        if forces is not None and margins.get(name, inf) < inf:
            row = forces.row[name]
            if forces.may_be_row(row, system.home(name).owners):
                asked.setdefault(id(forces), {})[name] = row
    for key, rows in asked.items():
        own = list(rows.values())
        turned = stacks[key].most_turned(own, system.elements)
        left = _margins_turned(stacks[key], own, np.array([margins[name] for name in rows]), turned)
        least.update(zip(rows, left.tolist(), strict=True))
    return least


def _margins_turned(forces: ForceStack, rows: Sequence[int], margins: Array, turned: Array) -> Array:
    """The margins that are left where bodies answer so many times as much: mu with mu^2 x + mu y = room (demand_sharing.py)."""
    x, y = (np.einsum("nii->n", load[rows]) for load in forces.requested_demand())
    room = (margins * margins * x + margins * y) / np.maximum(turned, 1e-300)
    left: Array = 2.0 * room / (y + np.sqrt(y * y + 4.0 * x * room))
    return left
