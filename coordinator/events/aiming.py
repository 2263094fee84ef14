"""A force is aimed elsewhere while everything moves: its target is state, and so nobody comes and nobody goes.

The topology stays, and with it the segment of the record, stiffness and margins. Only the accelerations of the touched body are
re-evaluated: they are state with a memory, and stale ones would lower the order to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coordinator.events.context import EventContext
from coordinator.events.undoing import way_back
from modular.component import class_name
from modular.elements import Array
from modular.errors import ModelError
from modular.force import TakesAim
from modular.names import missing


def aim(simulation: EventContext, name: str, target: Sequence[float], *, by_hand: bool) -> None:
    """Move the target of a force and let its body settle; a target that is refused leaves everything as it was.

    A mouse aims many times a second, so the log of events tells only once that a force was aimed `by_hand`, and not at all of
    one that was applied by hand: either way the run says that it cannot be repeated.
    """
    system, coupling, dt = simulation.system, simulation.coupling, simulation.dt
    if name not in system.force_home:
        raise ModelError(missing("force", name, list(system.force_home), "aim"))
    home = system.force_home[name]
    if not isinstance(home.stack, TakesAim):
        kind = class_name(type(simulation.assembly.force_edges[name].force))
        raise ModelError(f"aim: force '{name}' ({kind}) has no target; remove it, and apply one that has.")
    place, go_back = _place(name, target, simulation.assembly.dimension), way_back(simulation)
    try:
        home.stack.aim(name, place)
        coupling.settle(system, dt, home.owners)
    except Exception:  # a law had no answer
        if go_back is not None:
            go_back()
        raise
    between = system.part > 0.0
    if by_hand and not _known(name, simulation.events):
        tick = system.tick + int(between)
        simulation.events.append(
            {"tick": tick, "time": system.time(dt), "kind": "aim", "name": name, **simulation.past.by_hand(None, 0.0)}
        )
    if not between:
        simulation.record()


def _place(name: str, target: Any, dimension: int) -> Array:
    try:
        place = np.array(target, float)
    except (TypeError, ValueError):
        place = np.empty(0)
    if place.shape != (dimension,) or not np.isfinite(place).all():
        raise ModelError(f"aim: force '{name}': target = {target!r}; give {dimension} finite numbers [m].")
    return place


def _known(name: str, events: Sequence[dict[str, Any]]) -> bool:
    """Whether the log tells already that a force is in somebody's hand."""
    return any(e["name"] == name and e["kind"] in ("apply", "aim") and e.get("by") == "hand" for e in reversed(events))
