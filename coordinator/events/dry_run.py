"""Dry run: the events of a model are carried out on a small one of the same kinds, before the first tick.

What an event needs hangs on the kinds that take part: stacks that only it brings, loops that only an event plays. So a model
with one component of each kind, and with those that events name, goes through all of them in order; whatever has to be
compiled for that is compiled there, on all cores and with a bar, and not in the middle of the run. Points of joints need not
meet, and a new joint stops its sides whether they move or not: where things will stand when the time has come nobody knows.

Nothing of the simulation itself is touched, and nothing in plain Python is called: laws and black boxes may have a memory.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import islice
from typing import Any

import numpy as np

from coordinator.engine.program import compiled
from coordinator.events.context import EventContext
from coordinator.events.impact import stop_by_impulse, stop_by_shift
from coordinator.events.undoing import fallible
from modular.assembly import Assembly
from modular.errors import CouplingError, ModelError
from modular.events import Add, Apply, Cut, Event, Join, Merge, Unmerge
from modular.joints import Joints
from modular.port import GROUND, PortName
from modular.table import Table

MAX_REHEARSED_EVENTS = 64  # events that are tried: more of them are hardly of more kinds
# the run itself will tell them, should they come again
REFUSALS = (ModelError, CouplingError, ArithmeticError, LookupError, np.linalg.LinAlgError)


def dry_run(simulation: EventContext, look: Callable[[EventContext, list[Table]], None]) -> None:
    """Go through the events of a model on a small one; `look` sees it as it begins and after each event, with stacks for
    what is still to come. Nobody looks where there are no events."""
    if fallible(simulation.system) or any(body.hosted for body in simulation.assembly.bodies.values()):
        return
    if not simulation.schedule.pending() and not simulation.breakage.watched.count:
        return
    with warnings.catch_warnings(), suppress(*REFUSALS):
        warnings.simplefilter("ignore")
        given = simulation.past.given.assembly()
        events = list(islice(_of_each_kind(given), MAX_REHEARSED_EVENTS))
        with _small(simulation, _reduced(given, events)) as small:
            small.system.dry_run = True
            small.system.elements.move(0, 0)  # as where the last takes the place of one that leaves
            brought = [_brings(small, event) for event in events]
            look(small, [stack for stack in brought if isinstance(stack, Table)])
            for event in events:
                if _is_compiled(event, _brings(small, event)):  # its body may have come by now
                    with suppress(*REFUSALS):
                        _carry_out(small, event)
                    look(small, [])


def _small(simulation: EventContext, model: Assembly) -> AbstractContextManager[EventContext]:
    make: Any = type(simulation)
    past = simulation.past
    found: AbstractContextManager[EventContext] = make(
        model, simulation.dt, simulation.coupling, record_every=simulation.recorder.every, project_velocities=past.project,
        grouped=past.grouped, threads=1,
    )  # fmt: skip
    return found


def _brings(small: EventContext, event: Event) -> Any:
    """A stack for what an event brings; None where it brings nothing, or nobody can tell before it comes."""
    system, dimension = small.system, len(small.system.gravity)
    with suppress(*REFUSALS):
        if isinstance(event, Apply):
            forces: Any = event.force.new_stack(dimension)
            forces.add(event.name, event.force, [0] * event.force.sides)  # a law among them makes it Python
            return forces
        if isinstance(event, Add):
            return event.body.empty_stack()
        if isinstance(event, Join):
            ports = [PortName.parse(text, f"joint '{event.name}'") for text in (event.first, event.second)]
            one, other = system.sides(ports, event.at)
            form = event.joint.attach(event.name, one, other, one.position, other.position).form
            return Joints(form, dimension, system.elements.motions)
    return None


def _is_compiled(event: Event, stack: Any) -> bool:
    """Whether what an event brings calls no plain Python."""
    if isinstance(event, Apply | Join):
        return compiled((stack, "exert" if isinstance(event, Apply) else "linearise"))
    return not isinstance(event, Add) or isinstance(stack, Table)


def _carry_out(small: EventContext, event: Event) -> None:
    """An event; a joint stops its sides even where they happen to stand still."""
    small.carry_out(event)
    if isinstance(event, Join) and "impact" not in small.events[-1]:
        stop = stop_by_impulse if event.law == "momentum" else stop_by_shift
        stop(small.system, event.name)


# --- the small model -------------------------------------------------------------------------------------------------


def _of_each_kind(model: Assembly) -> Iterator[Event]:
    """Events in the order of their times, those of conditions, joints that may break; of alike cuts and forces the first."""
    scheduled = sorted(model.schedule, key=lambda item: np.inf if item.time is None else item.time)
    breaking = [Cut(name) for name, edge in model.joint_edges.items() if edge.breaks_at is not None]
    made = {event.name: event for item in scheduled for event in item.events if isinstance(event, Join)}
    seen: set[Hashable] = set()
    for event in (*(event for item in scheduled for event in item.events), *breaking):
        kind = _kind(model, event, made)
        if kind not in seen:
            seen.add(kind)
            yield event


def _kind(model: Assembly, event: Event, made: dict[str, Join]) -> Hashable:
    """What alike events have in common; all others are of a kind of their own."""
    if isinstance(event, Cut) and event.joint in model.joint_edges and event.joint not in made:
        edge = model.joint_edges[event.joint]
        return (
            Cut,
            type(edge.joint).__qualname__,
            *(_body_kind(model, body) for body in (edge.first_body, edge.second_body)),
        )
    if isinstance(event, Apply):
        return Apply, event.force.kind(), *(_body_kind(model, text.partition(".")[0]) for text in event.ports)
    return id(event)


def _body_kind(model: Assembly, body: str) -> Hashable:
    return model.bodies[body].company if body in model.bodies else body


def _reduced(model: Assembly, events: Sequence[Event]) -> Assembly:
    """The model with no more than one component of each kind, what that holds to, and what events name."""
    bodies: dict[Hashable, str] = {}
    for name, body in model.bodies.items():
        bodies.setdefault(body.company, name)
    wanted = set(bodies.values())
    kinds: set[Hashable] = set()
    for edge in model.joint_edges.values():
        kind = type(edge.joint), _body_kind(model, edge.first_body), _body_kind(model, edge.second_body)
        if kind not in kinds:
            kinds.add(kind)
            wanted |= {edge.first_body, edge.second_body}
    for force in model.force_edges.values():
        if force.force.kind() not in kinds:
            kinds.add(force.force.kind())
            wanted |= {port.body for port in force.ports}
    for event in events:
        wanted |= set(_named(model, event))
    small = model.copy()
    wanted.add(GROUND)
    small.bodies = {name: body for name, body in model.bodies.items() if name in wanted}
    small.joint_edges = {
        name: edge for name, edge in model.joint_edges.items() if {edge.first_body, edge.second_body} <= wanted
    }
    small.force_edges = {
        name: edge for name, edge in model.force_edges.items() if {port.body for port in edge.ports} <= wanted
    }
    small.schedule = []
    return small


def _named(model: Assembly, event: Event) -> list[str]:
    """Bodies that an event names."""
    if isinstance(event, Cut) and event.joint in model.joint_edges:
        edge = model.joint_edges[event.joint]
        return [edge.first_body, edge.second_body]
    if isinstance(event, Join):
        return [text.partition(".")[0] for text in (event.first, event.second)]
    if isinstance(event, Apply):
        return [text.partition(".")[0] for text in event.ports]
    if isinstance(event, Merge | Unmerge):
        return list(event.bodies)
    return [str(name)] if (name := getattr(event, "name", None)) in model.bodies else []
