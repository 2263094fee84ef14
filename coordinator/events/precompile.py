"""Ahead: what a run will play is compiled before its first tick, while the state of the simulation is whole.

So compiling is not part of the time of the run, and Ctrl-C while it lasts leaves a simulation that can go on.

Events of the model are carried out on a small one of the same kinds (a dry run). What an event needs hangs on the kinds that take
part: stacks that only it brings, loops that only an event plays. So a model with one component of each kind, and with those that
events name, goes through all of them in order; whatever has to be compiled for that is compiled there, on all cores and with a bar,
and not in the middle of the run. Points of joints need not meet, and a new joint stops its sides whether they move or not: where
things will stand when the time has come nobody knows. Nothing of the simulation itself is touched, and nothing in plain Python is
called: laws and black boxes may have a memory.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.engine.driver import DONE, STATUS, YIELD, drive
from coordinator.engine.engine import shown
from coordinator.engine.guards import Guards
from coordinator.engine.program import Operation, compiled, watching
from coordinator.events.context import EventContext
from coordinator.events.impact import stop_by_impulse, stop_by_shift
from coordinator.events.undoing import fallible
from modular.assembly import Assembly
from modular.compile_pool import Job, jobs_of, pool
from modular.errors import CouplingError, ModelError
from modular.events import Add, Apply, Cut, Event, Join, Merge, Unmerge
from modular.first_use import expect
from modular.joints import Joints
from modular.kernel import own_store
from modular.port import GROUND, PortName
from modular.table import Table

if TYPE_CHECKING:
    from coordinator.couplings.coupling import Coupling
    from coordinator.system import System

    Ringing = Callable[[System], list[Operation]]  # what stops a run of many ticks where an alarm has to ring


def expect_loops(system: System, coupling: Coupling, coming: Sequence[Table] = ()) -> None:
    """Should a loop have to be compiled, the others of this system are known, and other processes begin with the last of them.

    `coming`: empty stacks of what events will bring.
    """
    seen = partial(_to_come, weakref.ref(system), coupling.verbs, coming)
    pool.foreseen = seen if own_store() is not None else None


def _to_come(known: weakref.ref[System], verbs: tuple[str, ...], coming: Sequence[Table]) -> list[Job]:
    system = known()
    if system is None:
        return []
    tables: list[Any] = [system.elements, *system.bodies, *system.joints, *system.forces, *coming]
    # not those in plain Python
    tables = [table for table in [*tables, *system.cache.values()] if isinstance(table, Table)]
    loops = [
        (table.loops[verb], table.view, system.elements.view)
        for verb in verbs
        for table in tables
        if verb in table.loops
    ]
    return [*jobs_of(loops), *([Job.calling(_compile_driver)] if verbs and not compiled_driver.ready else [])]


def precompile(simulation: EventContext) -> bool:
    """Compile what a tick needs, and what the events of the model will need; whether a tick is all loops."""
    all_loops = _compile_tick(simulation, simulation.alarm.program)
    if not simulation.schedule.dry_run_done:
        simulation.schedule.dry_run_done = True
        dry_run(simulation, partial(_look_at, alarm=simulation.alarm.program))
        expect_loops(simulation.system, simulation.coupling)
        if simulation.schedule.watches:
            Guards().loops["guard"].address(Guards(), simulation.system.elements)
    return all_loops


def _look_at(small: EventContext, coming: list[Table], *, alarm: Ringing) -> None:
    """Compile a tick as things stand after an event: as the engine plays it, and on its own as around an instant in it."""
    expect_loops(small.system, small.coupling, coming)
    _compile_tick(small, alarm)
    small.coupling.advance(small.system, small.dt)


def _compile_tick(simulation: EventContext, alarm: Ringing) -> bool:
    """Compile the loops of a tick, and the driver where it can play them; whether a tick is all loops."""
    system = simulation.system
    program = simulation.coupling.program(system)
    kept = [
        *(program.operations if program is not None else []),
        *simulation.recorder.program(system),
        *shown(system),
        *simulation.breakage.program(),
        *watching(system),
        *alarm(system),
    ]
    all_loops = program is not None and all(map(compiled, kept))
    if all_loops:
        expect([drive])
    for stack, verb in kept:
        if compiled((stack, verb)):
            stack.loops[verb].address(stack, system.elements)
    if all_loops and not compiled_driver.ready:
        pool.claim(Job.calling(_compile_driver))
        _compile_driver()
    return all_loops


compiled_driver: Any = drive


def _compile_driver() -> None:
    """Let the driver see that it is done."""
    nothing, state = np.zeros((0, 5), np.int64), np.zeros(9, np.int64)
    state[STATUS] = DONE
    barrier, faults = np.zeros(YIELD + 8, np.int64), np.full((1, 2), -1, np.int64)
    copies = np.zeros((0, 4), np.int64)
    programs, tables = [nothing] * 6, [copies, nothing, nothing, copies]
    everything: list[Any] = [*programs, *tables, 0, np.zeros(3), 0.0, state, barrier, faults, 0]
    drive(*everything)


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
    return model.bodies[body].stack_kind if body in model.bodies else body


def _reduced(model: Assembly, events: Sequence[Event]) -> Assembly:
    """The model with no more than one component of each kind, what that holds to, and what events name."""
    bodies: dict[Hashable, str] = {}
    for name, body in model.bodies.items():
        bodies.setdefault(body.stack_kind, name)
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
