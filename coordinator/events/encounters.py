"""Surfaces that come near each other meet: a force acts between them from then on, until they have parted.

Nothing changes by that at the instant at which it is made: it touches nothing yet. So it is no event of the model, and no act by
hand; it can be told by the names of both surfaces alone, and a simulation that goes on elsewhere finds it again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from coordinator.engine.program import encountering
from coordinator.events.context import EventContext
from coordinator.system import System
from modular.assembly import Assembly, ForceEdge
from modular.errors import ModelError
from modular.port import GROUND

SPARE = 8  # encounters that have ended, beside one in so many, are let go together
SHARE_OF_ENDED = 4
PARTED = 2.0  # times as far apart as those that are near


Pair = tuple[str, str]  # two surfaces, in the order of the model


class Change(NamedTuple):
    """Encounters that have begun and ended."""

    begun: list[str]
    ended: list[str]


def someone_strayed(system: System) -> bool:
    """Whether a surface has gone so far that it may be near others."""
    return any(bool(stack.strayed[: stack.count].any()) for stack in encountering(system))


def disturb(system: System) -> None:
    """Whoever was kept from meeting, by a joint say, may no longer be: all are looked at again."""
    for stack in encountering(system):
        stack.strayed[: stack.count] = 1


def first_look(simulation: EventContext) -> None:
    """Before the first tick, while all is put together."""
    if encountering(simulation.system):
        simulation.past.given.part()
        meet(simulation.system, simulation.assembly, simulation.dt)


def let_meet(simulation: EventContext) -> bool:
    """Where a surface has strayed: let those that are near meet; whether that has changed anything."""
    if not someone_strayed(simulation.system):
        return False
    system, coupling, dt = simulation.system, simulation.coupling, simulation.dt
    simulation.past.given.part()
    change = meet(system, simulation.assembly, dt)
    if not change.begun and not change.ended:
        return False
    coupling.configure(system, dt)
    coupling.settle(system, dt, _pressed(system, simulation.assembly, change.begun))
    return True


def _pressed(system: System, model: Assembly, begun: Sequence[str]) -> list[str]:
    """Bodies that may touch as they meet: a joint has let them go there, or one was put there."""
    touching = _near(system, 0.0) if begun else set()
    names = [name for name in begun if system.encounters[name] in touching]
    return list(
        dict.fromkeys(port.body for name in names for port in model.force_edges[name].ports if port.body != GROUND)
    )


def meet(system: System, model: Assembly, dt: float) -> Change:
    """Let those that are near meet, and those part that are not; from here on they are watched."""
    system.show()
    system.elements.clock[:] = 0.0, system.time(dt), dt
    for stack in encountering(system):
        stack.look(system.elements, dt)
    known = {pair: name for name, pair in known_encounters(system, model).items()}
    meetings = Meetings(system, model)
    near = _near(system)
    begun = [pair for pair in near - known.keys() if meetings.may_meet(*pair)]
    barred = {pair for pair in known if not meetings.may_meet(*pair)} if meetings.bars else set()
    gone = known.keys() - near
    if len(gone) > SPARE + len(known) // SHARE_OF_ENDED:
        gone -= _near(system, PARTED)
    elif not barred:
        gone = set()
    ended = [name for pair, name in known.items() if pair in gone or pair in barred]
    for name in ended:
        model.remove(name)
        system.remove_force(name)
        del system.encounters[name]
    names = [_begin(system, model, pair) for pair in sorted(begun, key=meetings.order)]
    system.show()
    return Change(names, ended)


def known_encounters(system: System, model: Assembly) -> dict[str, Pair]:
    """Those that last, and between which surfaces."""
    if not system.encounters:
        system.encounters = encounters(model)
    for name in [name for name in system.encounters if name not in model.force_edges]:
        del system.encounters[name]  # with a body
    return system.encounters


def encounter_of(one: str, other: str) -> str:
    """What the encounter of two surfaces is called."""
    return f"{one}+{other}"


def without_encounters(system: System, model: Assembly) -> Assembly:
    """A model as somebody would write it down: who meets whom is for the simulation to find."""
    if not (met := known_encounters(system, model)):
        return model
    written = model.copy()
    for name in met:
        written.remove(name)
    return written


def encounters(model: Assembly) -> dict[str, Pair]:
    """Forces of a model that are encounters, and between which surfaces."""
    found: dict[str, Pair] = {}
    for name, edge in model.force_edges.items():
        if len(edge.ports) == 2 and "+" in name:
            for k in (k for k, letter in enumerate(name) if letter == "+"):
                one, other = (model.force_edges.get(part) for part in (name[:k], name[k + 1 :]))
                if one is not None and other is not None and one.force.meeting(other.force) == edge.force:
                    found[name] = name[:k], name[k + 1 :]
    return found


def _near(system: System, times: float = 1.0) -> set[Pair]:
    stacks = encountering(system)
    surfaces = set().union(*(stack.names for stack in stacks))
    order = {name: k for k, name in enumerate(name for name in system.force_home if name in surfaces)}
    found: set[Pair] = set()
    for stack in stacks:
        names, place = stack.names, np.array([order[name] for name in stack.names], np.int64)
        pairs = stack.near(times)
        turned = place[pairs[:, 0]] > place[pairs[:, 1]]
        pairs[turned] = pairs[turned, ::-1]
        found.update((names[one], names[other]) for one, other in pairs.tolist())
    return found


class Meetings:
    """Who may meet whom: not surfaces of one body, of bodies that joints connect, of those that pass through each other, and
    those between whose ports what acts was declared."""

    def __init__(self, system: System, model: Assembly) -> None:
        self._bodies: dict[str, str] = {}
        self._ports: dict[str, str] = {}
        self._through: dict[str, Collection[str]] = {}
        for stack in encountering(system):
            for name in stack.names:
                edge = model.force_edges[name]
                self._bodies[name], self._ports[name] = edge.ports[0].body, str(edge.ports[0])
                self._through[name] = getattr(edge.force, "through", ())
        self._moved = {body for body in self._bodies.values() if body != GROUND and not model.bodies[body].led}
        self._barred = {frozenset((edge.first_body, edge.second_body)) for edge in model.joint_edges.values()}
        written = (name for name in model.force_edges if name not in system.encounters)
        self._numbers = {name: number for number, name in enumerate(written)}
        for name in self._numbers:
            edge = model.force_edges[name]
            if edge.force.together and len(edge.ports) == 2:
                self._barred.add(frozenset(map(str, edge.ports)))
        self.bars = bool(self._barred) or any(self._through.values())

    def may_meet(self, one: str, other: str) -> bool:
        """Whether what acts between two surfaces is for us to find."""
        body, second = self._bodies[one], self._bodies[other]
        if body == second or not (body in self._moved or second in self._moved):
            return False
        if self._barred and not self._barred.isdisjoint((frozenset((body, second)), self._of_ports(one, other))):
            return False
        return second not in self._through[one] and body not in self._through[other]

    def _of_ports(self, one: str, other: str) -> frozenset[str]:
        return frozenset((self._ports[one], self._ports[other]))

    def order(self, pair: Pair) -> tuple[int, int]:
        """As the model has them."""
        return self._numbers[pair[0]], self._numbers[pair[1]]


def _begin(system: System, model: Assembly, pair: Pair) -> str:
    """Let two meet; the marks of their surfaces are those of the force between them."""
    name = encounter_of(*pair)
    if name in model.force_edges or name in model.joint_edges or name in model.bodies:
        raise ModelError(
            f"the encounter of the surfaces '{pair[0]}' and '{pair[1]}' would be named '{name}', but that name is "
            "taken; rename that component, or one of the surfaces."
        )
    one, other = (model.force_edges[surface] for surface in pair)
    force = one.force.meeting(other.force)
    assert force is not None
    edge = ForceEdge(force, (one.ports[0], other.ports[0]))
    system.add_force(name, edge, [system.force_home[surface].marks[0] for surface in pair])
    model.force_edges[name], system.encounters[name] = edge, pair
    return name
