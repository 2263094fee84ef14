"""Surfaces that come near each other meet: a force acts between them from then on, until they have parted.

Nothing changes by that at the instant at which it is made: it touches nothing yet. So it is no event of the model, and no act by
hand; it can be told by the names of both surfaces alone, and a simulation that goes on elsewhere finds it again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from coordinator.engine.program import encountering
from coordinator.events.bulk_add import add_held_forces
from coordinator.events.context import EventContext
from coordinator.system import System
from modular.assembly import Assembly, ForceEdge
from modular.elements import Indices
from modular.errors import ModelError
from modular.port import GROUND

SPARE = 8  # encounters that have ended, beside one in so many, are let go together
SHARE_OF_ENDED = 4
PARTED = 2.0  # times as far apart as those that are near


MEETINGS = "meetings"  # where a system keeps who may meet whom
Pair = tuple[str, str]  # two surfaces, in the order of the model


class Change(NamedTuple):
    """Encounters that have begun and ended."""

    begun: list[str]
    ended: list[str]


def surface_strayed(system: System) -> bool:
    """Whether a surface has gone so far that it may be near others."""
    return any(bool(stack.strayed[: stack.count].any()) for stack in encountering(system))


def disturb(system: System) -> None:
    """Whoever was kept from meeting, by a joint say, may no longer be: all are looked at again, and who they are."""
    system.cache.pop(MEETINGS, None)
    for stack in encountering(system):
        stack.strayed[: stack.count] = 1


def first_look(simulation: EventContext) -> None:
    """Before the first tick, while all is put together."""
    if encountering(simulation.system):
        simulation.past.given.part()
        meet(simulation.system, simulation.assembly, simulation.dt)


def let_meet(simulation: EventContext) -> bool:
    """Where a surface has strayed: let those that are near meet; whether that has changed anything."""
    if not surface_strayed(simulation.system):
        return False
    system, coupling, dt = simulation.system, simulation.coupling, simulation.dt
    simulation.past.given.part()
    change = meet(system, simulation.assembly, dt)
    if not change.begun and not change.ended:
        return False
    coupling.configure(system, dt)
    coupling.settle_begun(system, dt, change.begun, _pressed(system, simulation.assembly, change.begun))
    return True


def _pressed(system: System, model: Assembly, begun: Sequence[str]) -> list[str]:
    """Bodies that may touch as they meet: a joint has let them go there, or one was put there."""
    if not begun:
        return []
    meetings = meetings_of(system, model)
    codes = {meetings.code_of(system.encounters[name]): name for name in begun}
    touching = set(meetings.near(system, 0.0, np.array(list(codes), np.int64)).tolist())
    names = [name for code, name in codes.items() if code in touching]
    return list(
        dict.fromkeys(port.body for name in names for port in model.force_edges[name].ports if port.body != GROUND)
    )


def meet(system: System, model: Assembly, dt: float) -> Change:
    """Let those that are near meet, and those part that are not; from here on they are watched."""
    system.show()
    system.elements.clock[:] = 0.0, system.time(dt), dt
    for stack in encountering(system):
        stack.look(system.elements, dt)
    meetings = meetings_of(system, model)
    known = np.fromiter(meetings.known, np.int64, len(meetings.known))
    near = meetings.near(system)
    begun = meetings.allowed(near[~np.isin(near, known)])
    barred = known[~np.isin(known, meetings.allowed(known))] if meetings.bars else known[:0]
    gone = known[~np.isin(known, near)]
    if len(gone) > SPARE + len(known) // SHARE_OF_ENDED:
        gone = gone[~np.isin(gone, meetings.near(system, PARTED, gone))]
    elif not len(barred):
        gone = known[:0]
    ended = [meetings.known.pop(code) for code in known[np.isin(known, [*gone, *barred])].tolist()]
    for name in ended:
        model.remove(name)
        system.remove_force(name)
        del system.encounters[name]
    names = _begin(system, model, meetings, meetings.in_order(begun))
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


def meetings_of(system: System, model: Assembly) -> Meetings:
    """Who may meet whom as the model is now; every change of it is told (`disturb`)."""
    found = system.cache.get(MEETINGS)
    if not (isinstance(found, Meetings) and found.size == size_of(system, model)):
        found = system.cache[MEETINGS] = Meetings(system, model)
        found.size = size_of(system, model)
    return found


def size_of(system: System, model: Assembly) -> tuple[int, ...]:
    """How many there are of all on which it hangs who may meet whom."""
    return len(model.bodies), len(model.joint_edges), len(model.force_edges) - len(system.encounters)


class Meetings:
    """Who may meet whom: not surfaces of one body, of bodies that joints connect, of those that pass through each other, and
    those between whose ports what acts was declared.

    Surfaces have numbers, in the order in which they act, and a pair of them a code, first * count + second.
    """

    known: dict[int, str]  # encounters that last, by their codes
    size: tuple[int, ...] = ()  # of the model for which all this holds

    def __init__(self, system: System, model: Assembly) -> None:
        stacks = encountering(system)
        surfaces = set().union(*(stack.names for stack in stacks))
        self.names = [name for name in system.force_home if name in surfaces]
        self._number = {name: number for number, name in enumerate(self.names)}
        self._places = [np.array([self._number[name] for name in stack.names], np.int64) for stack in stacks]
        edges = [model.force_edges[name] for name in self.names]
        self._bodies = [edge.ports[0].body for edge in edges]
        self._ports = [str(edge.ports[0]) for edge in edges]
        self._through: list[Collection[str]] = [getattr(edge.force, "through", ()) for edge in edges]
        numbers = {body: number for number, body in enumerate(dict.fromkeys(self._bodies))}
        self._body = np.array([numbers[body] for body in self._bodies], np.int64)
        self._moved = np.array([body != GROUND and not model.bodies[body].led for body in self._bodies], bool)
        self._barred = {frozenset((edge.first_body, edge.second_body)) for edge in model.joint_edges.values()}
        met = known_encounters(system, model)
        written = {name: number for number, name in enumerate(name for name in model.force_edges if name not in met)}
        self._rank = np.array([written[name] for name in self.names], np.int64)
        for name in written:
            edge = model.force_edges[name]
            if edge.force.together and len(edge.ports) == 2:
                self._barred.add(frozenset(map(str, edge.ports)))
        self.bars = bool(self._barred) or any(self._through)
        self.known = {self.code_of(pair): name for name, pair in met.items()}

    def code_of(self, pair: Pair) -> int:
        """Of a pair of surfaces, in the order in which they act."""
        return self._number[pair[0]] * len(self.names) + self._number[pair[1]]

    def pair_of(self, code: int) -> tuple[int, int]:
        """The numbers of both."""
        return divmod(code, len(self.names))

    def near(self, system: System, times: float = 1.0, among: Indices | None = None) -> Indices:
        """Codes of pairs that come so many times as near as those that may touch before they are looked at again.

        `among`: of these alone.
        """
        found = [np.zeros(0, np.int64)]
        for stack, place in zip(encountering(system), self._places, strict=True):
            asked = None if among is None else self._rows_in(place, among)
            pairs = np.sort(place[stack.near(times, asked)], axis=1)
            found.append(pairs[:, 0] * len(self.names) + pairs[:, 1])
        return np.unique(np.concatenate(found))

    def _rows_in(self, place: Indices, codes: Indices) -> Indices:
        """Rows of the pairs of which both are in a stack, whose rows have these numbers."""
        row = np.full(len(self.names), -1)
        row[place] = np.arange(len(place))
        pairs = row[np.stack(np.divmod(codes, max(len(self.names), 1)), axis=1)]
        return np.asarray(pairs[(pairs >= 0).all(axis=1)])

    def allowed(self, codes: Indices) -> Indices:
        """Those between which it is for us to find what acts."""
        one, other = np.divmod(codes, max(len(self.names), 1))
        fit = (self._body[one] != self._body[other]) & (self._moved[one] | self._moved[other])
        codes = codes[fit]
        if not self.bars:
            return codes
        return np.array([code for code in codes.tolist() if self._may_meet(*self.pair_of(code))], np.int64)

    def _may_meet(self, one: int, other: int) -> bool:
        body, second = self._bodies[one], self._bodies[other]
        ports = frozenset((self._ports[one], self._ports[other]))
        if self._barred and not self._barred.isdisjoint((frozenset((body, second)), ports)):
            return False
        return second not in self._through[one] and body not in self._through[other]

    def in_order(self, codes: Indices) -> list[int]:
        """As the model has them."""
        one, other = np.divmod(codes, max(len(self.names), 1))
        found: list[int] = codes[np.lexsort((self._rank[other], self._rank[one]))].tolist()
        return found


def _begin(system: System, model: Assembly, meetings: Meetings, codes: Sequence[int]) -> list[str]:
    """Let pairs meet; the marks of their surfaces are those of the forces between them."""
    edges: dict[str, ForceEdge] = {}
    homes = [system.force_home[surface] for surface in meetings.names] if codes else []
    held, pairs = [], []
    for code in codes:
        numbers = meetings.pair_of(code)
        pair = meetings.names[numbers[0]], meetings.names[numbers[1]]
        name = encounter_of(*pair)
        if name in edges or name in model.force_edges or name in model.joint_edges or name in model.bodies:
            raise ModelError(
                f"the encounter of the surfaces '{pair[0]}' and '{pair[1]}' would be named '{name}', but that name is "
                "taken; rename that component, or one of the surfaces."
            )
        one, other = (model.force_edges[surface] for surface in pair)
        force = one.force.meeting(other.force)
        assert force is not None
        edges[name] = ForceEdge(force, (one.ports[0], other.ports[0]))
        held.append([homes[number] for number in numbers])
        pairs.append(pair)
        meetings.known[code] = name
    if edges:
        add_held_forces(
            system,
            edges,
            [[home.owners[0] for home in both] for both in held],
            [[home.marks[0] for home in both] for both in held],
        )
    for (name, edge), pair in zip(edges.items(), pairs, strict=True):
        model.force_edges[name], system.encounters[name] = edge, pair
    return list(edges)
