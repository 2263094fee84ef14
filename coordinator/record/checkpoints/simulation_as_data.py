"""A simulation as it stands, as data and arrays: model, system, schedule, and what it remembers; all but its samples."""

from __future__ import annotations

from typing import Any

from coordinator.record.checkpoints.notes import Notes
from coordinator.record.checkpoints.system_as_data import system_as_data
from coordinator.record.context import RecordContext
from coordinator.record.fingerprint import bits
from coordinator.record.obstacles import homeless, parts_of
from modular.body import SavesAndRestores
from modular.component import class_name, plain
from modular.errors import ModelError
from modular.table import Table
from modular.tables_as_data import described

FORMAT = "modular-checkpoint-1"


def simulation_as_data(simulation: RecordContext) -> tuple[dict[str, Any], dict[str, Any]]:
    """A simulation between two ticks."""
    system, past = simulation.system, simulation.past
    data, arrays = system_as_data(system, simulation.assembly)
    notes = Notes(arrays, "simulation")
    watched, columns = described(simulation.breakage.watched)
    arrays |= {f"watched.{name}": column for name, column in columns.items()}
    return {
        "format": FORMAT,
        "bits": bits(),
        "dt": simulation.dt,
        "coupling": plain(simulation.coupling),
        "model": past.given.model_of(simulation.assembly),
        "system": data,
        "standing": notes.put(simulation.coupling.checkpoint_state(system)),
        "schedule": notes.put(simulation.schedule.checkpoint_state()),
        "watched": watched,
        "breakage": notes.put({"asked": simulation.breakage.asked, "gone": simulation.breakage.gone}),
        "alarm": {"limit": simulation.alarm.limit, "rung": sorted(simulation.alarm.rung)},
        "record every": simulation.recorder.every,
        "past": notes.put(
            {
                "project": past.project,
                "grouped": past.grouped,
                "events": past.events,
                "margins": past.margins,
                "acts": past.acts,
                "forms": past.forms,
                "seconds": past.seconds,
                "ever": None if past.ever is None else {name: body.to_data() for name, body in past.ever.items()},
                "given": past.given.to_data(),
            }
        ),
    }, arrays


def check_keepable(simulation: RecordContext) -> None:
    """Refuse what no other process could go on with."""
    problems = homeless(parts_of(simulation.assembly, simulation.coupling))
    for bodies in simulation.system.bodies:
        if not isinstance(bodies, Table | SavesAndRestores):
            problems.append(
                f"'{bodies.names[0]}' ({class_name(type(bodies))}) does not save its state; give its stack the "
                "methods save "
                "and restore (modular.body.SavesAndRestores)."
            )
    if problems:
        raise ModelError("this simulation cannot be kept in a checkpoint: " + " ".join(problems))
