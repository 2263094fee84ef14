"""What the model has scheduled: events at times, at the nearest tick, and on conditions, at the instant they come true.

Event location: where a condition comes true on the way through a tick, that tick is gone through in parts. It is taken as a whole;
if a condition has come true, all components go back and repeat it as theta dt, the events, and (1 - theta) dt, with the gains of
the whole tick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from math import copysign, isfinite, nan
from typing import TYPE_CHECKING, Any

from coordinator.couplings.coupling import require
from modular.assembly import Assembly
from modular.body import SavesAndRestores
from modular.errors import ModelError
from modular.events import Add, Condition, Cut, Event, Join, Merge, Readable, Scheduled, Unmerge
from modular.port import GROUND, PortName

if TYPE_CHECKING:
    from coordinator.events.context import EventContext

INSTANT_TOLERANCE_TICKS = 1e-10  # how well an instant is located, in ticks
MAX_REPEATS = 60  # of the part of a tick before the instant


class Schedule:
    """Waiting events; remembers for every condition on which side of its value things stand."""

    def __init__(self, scheduled: Sequence[Scheduled], dt: float) -> None:
        self._all = list(scheduled)
        timed = [(round(s.time / dt), s) for s in scheduled if s.time is not None]
        self._timed = sorted(timed, key=lambda item: (item[0], item[1].time))
        self.armed = [Watch(s, s.condition) for s in scheduled if s.condition is not None]
        self.dry_run_done = False  # whether what its events need has been compiled (coordinator/events/precompile.py)
        self._came: set[int] = set()  # conditions that have come true, each as what it is (`id`)

    def due(self, tick: int) -> Iterator[Event]:
        """Events of this tick, in the order of their times."""
        while self._timed and self._timed[0][0] <= tick:
            yield from self._timed.pop(0)[1].events

    def pending(self) -> list[Scheduled]:
        """What is still to come: events at times, then conditions."""
        return [*(scheduled for _, scheduled in self._timed), *(watch.scheduled for watch in self.armed)]

    def never(self) -> list[str]:
        """What has not happened so far, a sentence each."""
        return [
            f"{', '.join(map(_describe, scheduled.events))} {_when(scheduled)}"
            for scheduled in self.pending()
            if id(scheduled) not in self._came
        ]

    def next_tick(self, last: int) -> int:
        """The tick of the next event at a time, or `last` if there is none before."""
        return min(last, self._timed[0][0]) if self._timed else last

    def checkpoint_state(self) -> dict[str, list[Any]]:
        """What is still to come: how many events at times, and which conditions, with the sides on which things stand."""
        numbers = {id(scheduled): k for k, scheduled in enumerate(self._all)}
        return {
            "to come": [len(self._timed)],
            "armed": [numbers[id(watch.scheduled)] for watch in self.armed],
            "sides": [watch.side for watch in self.armed],
            "came": [k for k, scheduled in enumerate(self._all) if id(scheduled) in self._came],
        }

    def restore_state(self, state: Mapping[str, list[Any]]) -> None:
        """Stand so."""
        self._timed = self._timed[len(self._timed) - state["to come"][0] :]
        self._came = {id(self._all[k]) for k in state["came"]}
        armed = {id(watch.scheduled): watch for watch in self.armed}
        self.armed = [armed[id(self._all[k])] for k in state["armed"]]
        for watch, side in zip(self.armed, state["sides"], strict=True):
            watch.side = side

    @property
    def watches(self) -> bool:
        """Whether there is a condition to ask."""
        return bool(self.armed)

    def look(self, state: Readable) -> None:
        """Remember on which side of their values things stand, once they are beyond the band."""
        for watch in self.armed:
            watch.look(state)

    def true_now(self, state: Readable) -> list[Watch]:
        """Conditions that have come true since they were last looked at, in the order of the model."""
        return [watch for watch in self.armed if watch.is_true(state)]

    def fire(self, watch: Watch, state: Readable) -> tuple[Event, ...]:
        """Events of a condition that has come true; one that does not repeat is forgotten."""
        watch.side = nan
        watch.look(state)
        self._came.add(id(watch.scheduled))
        if not watch.scheduled.repeats:
            self.armed.remove(watch)
        return watch.scheduled.events


class Watch:
    """A condition that is asked at every tick, and the side of its value on which things stood last."""

    def __init__(self, scheduled: Scheduled, condition: Condition) -> None:
        self.scheduled, self.condition = scheduled, condition
        self.side = nan

    def look(self, state: Readable) -> None:
        """Remember the side, once things are beyond the band."""
        margin = self.condition.margin(state)
        if not isfinite(margin):
            self.side = nan
        elif abs(margin) > self.condition.band:
            self.side = copysign(1.0, margin)

    def is_true(self, state: Readable) -> bool:
        """Whether the condition has come true since the last look."""
        return isfinite(self.side) and self.condition.fires(self.side, self.condition.margin(state))


def _describe(event: Event) -> str:
    """An event by what it acts on."""
    return f"{type(event).__name__}({getattr(event, fields(event)[0].name)!r})"


def _when(scheduled: Scheduled) -> str:
    if scheduled.time is not None:
        return f"at {scheduled.time:g} s"
    crossing = scheduled.condition.crossing if scheduled.condition is not None else None
    if crossing is None:
        return f"when {scheduled.condition!r}"
    way = {1: " from below", -1: " from above", 0: ""}[crossing.direction]
    unless = f" while '{crossing.unless}' does not hold" if crossing.unless else ""
    return f"when {crossing.coordinate} of {crossing.port} passes {crossing.value:g} m{way}{unless}"


def first_zero(margin: Callable[[float], float], start: float, stop: float, before: float, after: float) -> float:
    """The instant in (start, stop] at which a margin has just changed its sign: Illinois' false position.

    Returns the end of the last bracket, so that the condition is true there.
    """
    left, right, f_left, f_right = start, stop, before, after
    for _ in range(MAX_REPEATS):
        if right - left <= INSTANT_TOLERANCE_TICKS or f_right == 0.0:
            break
        middle = right - f_right * (right - left) / (f_right - f_left)
        middle = min(max(middle, left + 0.25 * INSTANT_TOLERANCE_TICKS), right - 0.25 * INSTANT_TOLERANCE_TICKS)
        f_middle = margin(middle)
        if not isfinite(f_middle):
            raise ModelError("a condition has no value on the way to the instant at which it came true.")
        if f_middle * f_right > 0.0:
            right, f_right = middle, f_middle
            f_left *= 0.5
        else:
            left, f_left = middle, f_middle
            f_right *= 0.5
    return right


def check_schedule(assembly: Assembly) -> None:
    """Ports that conditions read, and joints that events cut, must be there or be made by an event."""
    events = [event for scheduled in assembly.schedule for event in scheduled.events]
    made = {event.name for event in events if isinstance(event, Join)}
    for event in events:
        if isinstance(event, Cut) and event.joint not in made:
            assembly.known(event.joint, assembly.joints, "joint", f"event Cut('{event.joint}')")
    later = {event.name for event in events if isinstance(event, Add)}
    for event in events:
        if isinstance(event, Join):
            for port in (event.first, event.second):
                if PortName.parse(port, f"event {_describe(event)}").body not in later:
                    assembly.port(port, f"event {_describe(event)}")
        for body in event.bodies if isinstance(event, Merge | Unmerge) else ():
            if body not in later and body != GROUND:
                assembly.known(body, assembly.bodies, "body", f"event {type(event).__name__}")
    for scheduled in assembly.schedule:
        for port in scheduled.condition.ports if scheduled.condition is not None else ():
            if PortName.parse(port, "condition").body not in later:
                assembly.port(port, f"condition on '{port}'")


MAX_EVENTS_PER_TICK = 20  # located events in one tick


def advance_through_events(simulation: EventContext) -> str | None:
    """Advance by one tick; the name of a body that went wrong, if any."""
    system, coupling, schedule, dt = simulation.system, simulation.coupling, simulation.schedule, simulation.dt
    start = system.part  # not 0 where the step was changed between two ticks
    if not schedule.watches:
        system.part = 0.0
        return coupling.advance(system, dt, start, 1.0)
    require(system, SavesAndRestores, "an event on a condition", "can repeat a tick")
    schedule.look(simulation)
    try:
        for _ in range(MAX_EVENTS_PER_TICK):
            memory = system.save()
            wrong = coupling.advance(system, dt, start, 1.0)
            fired = [] if wrong is not None else schedule.true_now(simulation)
            if not fired:
                return wrong
            system.part = min(_locate(simulation, memory, watch.condition, start) for watch in fired)
            system.restore(memory)
            wrong = coupling.advance(system, dt, start, system.part)
            if wrong is not None:
                return wrong
            start = system.part
            for watch in schedule.true_now(simulation):  # all that are true at this very instant
                for event in schedule.fire(watch, simulation):
                    simulation.carry_out(event)
            if start >= 1.0:
                return None
    finally:
        system.part = 0.0
    raise ModelError(
        f"conditions came true more than {MAX_EVENTS_PER_TICK} times between ticks {simulation.tick} and {simulation.tick + 1}; "
        "give them a band, as in Crossing(…, band=1e-4), so that one does not trigger the other at once."
    )


def _locate(simulation: EventContext, memory: dict[str, object], condition: Condition, start: float) -> float:
    """How far into the tick a condition comes true."""
    system = simulation.system

    def margin(stop: float) -> float:
        system.restore(memory)
        simulation.coupling.advance(system, simulation.dt, start, stop)
        return condition.margin(simulation)

    after = margin(1.0)
    system.restore(memory)
    return first_zero(margin, start, 1.0, condition.margin(simulation), after)
