"""How to take hold of a body: the mass that it shows to a force at one of its points, and a grip made to measure for that mass.

Nothing of this touches the system: the body is asked in a table of elements of its own.

Then the force is aimed elsewhere while everything moves: its target is state, and so nobody comes and nobody goes. The topology
stays, and with it the segment of the record, stiffness and margins. Only the accelerations of the touched body are re-evaluated:
they are state with a memory, and stale ones would lower the order to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, pi
from typing import Any

import numpy as np

from coordinator.events.context import EventContext
from coordinator.events.undoing import restoring
from coordinator.system import System
from modular.body import GivesCompliance
from modular.component import class_name
from modular.elements import Array, Elements
from modular.errors import ModelError
from modular.force import TakesAim
from modular.names import missing
from modular.numbers import number
from modular.port import PortName
from modular.side import Mark
from modular.table import Table

HELD_ROW = 1  # the row of the one element that a body shows; row 0 is nobody's
# w dt: dt^2 k + 4 dt c is then 0.4 of the mass, a tenth of the limit; joints keep the rest
MAX_FREQUENCY_STEP_PRODUCT = 0.05
MAX_PULL_ACCELERATION = 60.0  # m/s^2, six times the weight of what is held: the largest pull beyond that weight


def seen_mass_at(system: System, body: str, point: Sequence[float]) -> float:
    """The mass with which a body resists a force at one of its points, in the direction in which it gives way most [kg].

    `point` is a place in the world as the body stands now [m]. The body alone answers, as if no joint held it: with others on its
    joints it is heavier. One that does not say how it gives way answers with its total mass.
    """
    mark = _mark(system, body, point)
    if system.described[body].led:
        raise ModelError(f"body '{body}' follows a prescribed motion and cannot be pulled; take hold of another one.")
    stack: Any = system.body_home[body]
    total = system.described[body].total_mass
    if not isinstance(stack, GivesCompliance):
        return total
    # B B^T: the acceleration at the point per force there; its largest eigenvalue is 1/m where it gives way most
    response = (
        _answer_of_row(system, stack, body, mark) if isinstance(stack, Table) else _answer(system, stack, body, mark)
    )
    largest = float(np.linalg.eigvalsh(response @ response.T)[-1])
    return 1.0 / largest if largest > 0.0 else total


def grip(
    system: System, body: str, point: Sequence[float], dt: float, hertz: float = 2.0
) -> tuple[float, float, float]:
    """Stiffness [N/m], damping [N s/m] and largest pull [N] with which a body is drawn along without swinging.

    Critically damped on the mass that is seen at the point, x = exp(-w t) (1 + w t): the target is reached soonest. `hertz` is
    w / 2 pi [1/s]; where `dt` [s] is too long for it, w = 0.05 / dt.
    """
    dt, hertz = number(dt, "grip: dt", "s"), number(hertz, "grip: hertz", "1/s")
    if dt <= 0.0 or hertz <= 0.0:
        raise ModelError(f"grip: dt = {dt} s, hertz = {hertz} 1/s; both must be positive, such as 1e-3 and 2.0.")
    mass = seen_mass_at(system, body, point)
    w = min(2.0 * pi * hertz, MAX_FREQUENCY_STEP_PRODUCT / dt)
    # It must be able to carry the whole body, of which the point shows a part, and then to move what it sees. The more it may
    # pull, the faster the body flies past when the target jumps; with 60 m/s^2 jumps beyond 60 / w^2, 0.4 m at 2 Hz, are shortened.
    weight = system.described[body].total_mass * hypot(*system.gravity.tolist())
    return mass * w * w, 2.0 * mass * w, weight + MAX_PULL_ACCELERATION * mass


def _mark(system: System, body: str, point: Sequence[float]) -> Mark:
    """The material point of a body at a place."""
    if body not in system.body_home:
        raise ModelError(missing("body", body, list(system.body_home), "seen mass"))
    try:
        x = np.array(point, float)
    except (TypeError, ValueError):
        x = np.empty(0)
    if x.shape != system.gravity.shape or not np.isfinite(x).all():
        raise ModelError(f"seen mass of '{body}': point = {point!r}; give {len(system.gravity)} finite numbers [m].")
    stack = system.body_home[body]
    sides = [stack.side(body, PortName(body, port)) for port in system.described[body].port_names]
    for side in sorted(sides, key=lambda side: float(np.linalg.norm(side.position - x))):  # bodies need not be rigid
        mark = side.point(x)
        if mark is not None:
            return mark
    raise ModelError(
        f"seen mass: body '{body}' cannot follow the point {tuple(np.round(x, 9).tolist())}; give a point on its line, or one of "
        "its ports."
    )


def _answer_of_row(system: System, stack: Any, body: str, mark: Mark) -> Array:
    """B of a body in a table, (d, modes): asked of a copy of its row, all other elements of which are nobody's."""
    alone = stack.chosen([stack.row[body]])
    alone.renumber(np.zeros(system.elements.capacity, np.int64))
    elements = Elements(len(system.gravity), motions=system.elements.motions)
    elements.acquire(1)
    elements.prepare("respond")
    alone.attach(body, HELD_ROW, mark)
    alone.respond(elements)
    answer: Array = elements.response[HELD_ROW]
    return answer


def _answer(system: System, stack: Any, body: str, mark: Mark) -> Array:
    """B of a body in plain Python: its stack shows all that it shows, and this point, in other rows than those of the system."""
    elements = Elements(len(system.gravity), system.elements.capacity + 1, system.elements.motions)
    elements.prepare("respond")
    here = system.elements.capacity
    stack.attach(body, here, mark)
    try:
        stack.respond(elements)
    finally:
        stack.detach(body, here)
    answer: Array = elements.response[here]
    return answer


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
    place, go_back = _place(name, target, simulation.assembly.dimension), restoring(simulation)
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
