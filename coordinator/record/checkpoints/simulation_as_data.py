"""A simulation as it stands, as data and arrays: model, system, schedule, and what it remembers; all but its samples.

Rows of a system stay in their places, so every sum is made in the same order again. Tables go column by column. A stack of bodies
in plain Python is built anew from the descriptions of its bodies, takes hold of the same elements in the same order, and is given
back what it saved; one of forces is given back its books.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from coordinator.building.homes import ForceHome
from coordinator.engine.program import STRAY, compiled
from coordinator.record.checkpoints.notes import Notes
from coordinator.record.context import RecordContext
from coordinator.record.fingerprint import bits
from coordinator.record.obstacles import homeless, parts_of
from coordinator.system import System
from modular.assembly import Assembly, JointEdge
from modular.body import SavesAndRestores
from modular.component import class_name, plain
from modular.errors import ModelError
from modular.joint import Attachment
from modular.port import GROUND
from modular.side import Mark
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


COUNTS = ("tick", "version", "turnover", "evaluations")  # of a system
BOOKS = ("ledger", "power", "power_before")


def system_as_data(system: System, assembly: Assembly) -> tuple[dict[str, Any], dict[str, Any]]:
    """A system that stands between two ticks."""
    arrays: dict[str, Any] = {}
    notes = Notes(arrays, "system")
    elements, columns = described(system.elements)
    arrays |= {f"elements.{name}": column for name, column in columns.items()}
    data: dict[str, Any] = {
        "elements": elements,
        "room": system.elements.capacity,  # sizes of matrices hang on it, and on these how some sums are made
        "bodies": [_stack(bodies, f"bodies.{k}", arrays) for k, bodies in enumerate(system.bodies)],
        "joints": [_stack(joints, f"joints.{k}", arrays) for k, joints in enumerate(system.joints)],
        "forces": [_stack(forces, f"forces.{k}", arrays) for k, forces in enumerate(system.forces)],
        "attachments": _attachments(system, assembly, notes),
        "forced": notes.put(
            {
                name: {
                    "owners": home.owners,
                    "starts": home.starts,
                    "counts": home.counts,
                    "marks": _held(home, system),
                }
                for name, home in system.force_home.items()
            }
        ),
        "uses": {name: list(uses) for name, uses in system.uses.items() if uses},
        "groups": [list(group) for group in system.groups],
        "closed": notes.put(system.closed),
        "memory": notes.put(system.memory),
        "just cut": [
            _just_cut(edge, attachment if isinstance(attachment, Attachment) else attachment(), preload, notes)
            for when, edge, attachment, preload in system.just_cut
            if when == system.tick + system.part
        ],
    }
    for name in COUNTS:
        data[name] = getattr(system, name)
    if system.part > 0.0:
        data["part"] = system.part
    return data, arrays


def _stack(stack: Any, prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """A table column by column, or what a stack in Python saves."""
    if isinstance(stack, Table):
        data, columns = described(stack)
        arrays |= {f"{prefix}.{name}": column for name, column in columns.items()}
        return {"table": data}
    notes = Notes(arrays, prefix)
    kept: dict[str, Any] = {"names": list(stack.names)}
    if isinstance(stack, SavesAndRestores):
        kept["saved"] = notes.put(stack.save())
    else:
        kept["books"] = notes.put({name: getattr(stack, name) for name in BOOKS})
    return kept


def _attachments(system: System, assembly: Assembly, notes: Notes) -> dict[str, Any]:
    """How joints were made, but for those of plain points (`System.attachment_of`)."""
    homes = system.joint_home
    made = ((name, homes.attachment(name)) for name in assembly.joint_edges)
    return {name: {**_made(how, notes), "again": homes.again(name)} for name, how in made if how is not None}


def _made(attachment: Attachment, notes: Notes) -> dict[str, Any]:
    return {
        "first": _marks(attachment.first, notes),
        "second": _marks(attachment.second, notes),
        "marker": list(map(float, attachment.marker)),
    }


def _marks(marks: Iterable[Mark], notes: Notes) -> Any:
    return notes.put([[mark.weights, mark.value] for mark in marks])


def _held(home: ForceHome, system: System) -> list[list[list[Any]] | None]:
    """Marks of a force on bodies in Python, and of surfaces, which others will take over."""
    return [
        None
        if not compiled((home.stack, STRAY)) and (owner == GROUND or isinstance(system.body_home[owner], Table))
        else [[mark.weights, mark.value] for mark in marks]
        for owner, marks in zip(home.owners, home.marks, strict=True)
    ]


def _just_cut(edge: JointEdge, attachment: Attachment, preload: Any, notes: Notes) -> dict[str, Any]:
    return {
        "joint": edge.joint.to_data(),
        "between": [str(edge.first), str(edge.second)],
        "at": None if edge.at is None else list(edge.at),
        "breaks_at": None if edge.breaks_at is None else edge.breaks_at.to_data(),
        "form": attachment.form.to_data(),
        "made": _made(attachment, notes),
        "preload": notes.put(preload),
    }
