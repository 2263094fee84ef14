"""How far every joint and spring is from the stability limit, whatever rule chose its stiffness."""

from __future__ import annotations

from array import array
from collections.abc import ItemsView, Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from coordinator.engine.program import compiled
from coordinator.engine.region import WIDER, EventOperation, Region
from coordinator.system import System
from modular.demand_sharing import growth
from modular.elements import GAIN_STEP
from modular.force import requests_demand


class Margins(Mapping[str, float]):
    """Margins by name, as lists: a system may have many."""

    def __init__(self, names: list[str], values: Sequence[float]) -> None:
        self._names, self._values = names, values
        self._place: dict[str, int] | None = None

    def __getitem__(self, name: str) -> float:
        if self._place is None:
            self._place = {known: k for k, known in enumerate(self._names)}
        return self._values[self._place[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def items(self) -> ItemsView[str, float]:
        """All, and nothing is kept of having been asked."""
        return self.as_dict().items()

    def as_dict(self) -> dict[str, float]:
        """For who asks for many."""
        return dict(zip(self._names, self._values, strict=True))

    def of_just(self, names: list[str]) -> bool:
        """Whether they are of these, in this order."""
        return self._names == names

    def tightest(self) -> tuple[str, float]:
        """The first of the smallest."""
        k = int(np.argmin(self._values))
        return self._names[k], self._values[k]

    def __repr__(self) -> str:
        return repr(dict(self))


def stability_margins(system: System, dt: float, touched: list[str] | None = None, *, glued: bool = False) -> Margins:
    """Per joint and spring, the factor by which the step could grow at this stiffness before the local bound is reached.

    With E(mu) = mu^2 dt^2 K + 2 mu dt C the bound reads lambda(E(mu)) = 4; K and C of a joint are taken as proportional, as
    both rules make them. The local bound is safe: a margin below one need not diverge, one above does not. Of `touched`
    bodies alone, if there are any given: their neighbours answer for all that is asked of them. `glued`: joints ask nothing; they
    only take motions away in which bodies could answer, so what bodies answer without them is a bound.
    """
    region = Region.of(system, system.body_home if touched is None else touched)
    system.elements.clock[GAIN_STEP] = dt
    region.play(("margins", glued), partial(_asking, glued=glued))
    names: list[str] = []
    values = array("d")
    for stack in (*([] if glued else region.joints), *region.forces):
        rows = region.rows(stack)
        rooms = _rooms(stack, rows) if compiled((stack, "compute_margin")) else region.remarks.pop(id(stack), [])
        known = stack.names
        if len(rooms) == len(known) == len(rows) and np.isfinite(rooms).all():  # of all, and none is without a limit
            names += known
            values.extend(rooms)
            continue
        for row, room in zip(rows, rooms, strict=False):
            if isfinite(room):
                names.append(known[row])
                values.append(room)
    return Margins(names, values)


def _asking(region: Region, *, glued: bool) -> list[EventOperation]:
    """What stiffness asks of the bodies, and what room they leave."""
    elements = region.elements
    bodies, forces = list(region.bodies), region.forces_within(1)
    joints = [] if glued else list(region.joints)
    operations: list[EventOperation] = [(elements, "save_bounds", WIDER)]  # of when the stiffness was chosen
    operations += [(elements, "clear_demands", WIDER)] if glued else []
    operations += [(stack, "respond", WIDER) for stack in bodies]
    operations += [(stack, verb, WIDER) for stack in joints for verb in ("compute_demand", "request_demand")]
    operations += [(stack, "request_demand", WIDER) for stack in forces if requests_demand(stack)]
    operations += [(stack, "bound_demands", WIDER) for stack in bodies]
    operations += [
        (stack, "compute_margin") if compiled((stack, "compute_margin")) else partial(_compute_margin, stack)
        for stack in (*joints, *forces)
    ]
    return [*operations, (elements, "restore_bounds", WIDER)]


def _rooms(stack: Any, rows: list[int]) -> list[float]:
    """How far rows of a stack could grow."""
    margin = stack.margin
    return margin[: stack.count].tolist() if len(rows) == stack.count else [float(margin[row]) for row in rows]


def _compute_margin(stack: Any, region: Region) -> None:
    """The same for a stack that only says what it demands; nothing of one that asks nothing."""
    if compiled((stack, "exert")) or not hasattr(stack, "requested_demand"):
        return
    spring, damper = (np.einsum("nii->n", block) for block in stack.requested_demand())
    bounds = stack.bounds(region.elements)
    region.remarks[id(stack)] = [float(growth(spring[row], damper[row], bounds[row])) for row in region.rows(stack)]


def tightest(margins: Mapping[str, float]) -> tuple[str, float] | None:
    """The joint or spring with the smallest margin."""
    if not margins:
        return None
    if isinstance(margins, Margins):
        return margins.tightest()
    name = min(margins, key=margins.__getitem__)
    return name, margins[name]


def as_dict(margins: Mapping[str, float]) -> dict[str, float]:
    """Margins to ask much of, for reading only."""
    if isinstance(margins, dict):
        return margins
    return margins.as_dict() if isinstance(margins, Margins) else dict(margins)
