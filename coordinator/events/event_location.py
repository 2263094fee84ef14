"""Event location: one tick, gone through in parts where a condition of the model comes true on the way.

The tick is taken as a whole; if a condition has come true, all components go back and repeat it as theta dt, the events,
and (1 - theta) dt, with the gains of the whole tick.
"""

from __future__ import annotations

from coordinator.couplings.coupling import require
from coordinator.events.context import EventContext
from coordinator.events.schedule import first_zero
from modular.body import SavesAndRestores
from modular.errors import ModelError
from modular.events import Condition

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
