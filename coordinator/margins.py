"""How far every joint and spring is from the stability limit, whatever rule chose its stiffness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from coordinator.region import Region
from coordinator.score import compiled
from coordinator.system import System
from modular.elements import GAIN_STEP, Array
from modular.seen_mass import growth


class Margins(Mapping[str, float]):
    """Margins by name, as lists: a system may have many."""

    def __init__(self, names: list[str], values: Array) -> None:
        self._names, self._values = names, values
        self._place: dict[str, int] | None = None

    def __getitem__(self, name: str) -> float:
        if self._place is None:
            self._place = {known: k for k, known in enumerate(self._names)}
        return float(self._values[self._place[name]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(dict(self))


def stability_margins(system: System, dt: float, touched: list[str] | None = None) -> Margins:
    """Per joint and spring, the factor by which the step could grow at this stiffness before the local bound is reached.

    With E(mu) = mu^2 dt^2 K + 2 mu dt C the bound reads lambda(E(mu)) = 4; K and C of a joint are taken as proportional, as
    both rules make them. The local bound is safe: a margin below one need not diverge, one above does not. Of `touched`
    bodies alone, if there are any given: their neighbours answer for all that is asked of them.
    """
    region = Region.of(system, system.body_home if touched is None else touched)
    wide = region.widened() if region.local else region
    elements = system.elements
    elements.clock[GAIN_STEP] = dt
    kept = elements.bound[wide.all_rows].copy()  # what joints asked of the bodies when their stiffness was chosen
    bodies, joints, forces = list(wide.bodies), list(wide.joints), list(wide.forces)
    parts = [(stack, "respond") for stack in bodies]
    parts += [(stack, verb) for stack in joints for verb in ("load", "ask")]
    parts += [(stack, "ask") for stack in forces]
    parts += [(stack, "tighten") for stack in bodies]
    wide.perform(parts + [(stack, "grow") for stack in [*joints, *forces] if compiled((stack, "grow"))])
    names: list[str] = []
    values: list[Array] = []
    for stack in [*region.joints, *region.forces]:
        rows = region.rows(stack)
        if compiled((stack, "grow")):
            room = stack.margin[rows]
        elif compiled((stack, "exert")) or not hasattr(stack, "demands"):
            continue  # asks nothing
        else:
            spring, damper = (np.einsum("nii->n", block) for block in stack.demands())
            asked = zip(spring, damper, stack.bounds(elements), strict=True)
            room = np.array([growth(*one) for one in asked], float)[rows]
        known = stack.names if isinstance(rows, slice) else [stack.names[row] for row in rows.tolist()]
        finite = np.isfinite(room)
        names += known if finite.all() else [name for name, there in zip(known, finite, strict=True) if there]
        values.append(room[finite])
    elements.bound[wide.all_rows] = kept
    return Margins(names, np.concatenate(values) if values else np.empty(0))


def tightest(margins: Mapping[str, float]) -> tuple[str, float] | None:
    """The joint or spring with the smallest margin."""
    return min(margins.items(), key=lambda item: item[1]) if margins else None
