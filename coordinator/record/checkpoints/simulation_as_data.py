"""A simulation as it stands, as data and arrays: model, system, schedule, and what it remembers; all but its samples.

Rows of a system stay in their places, so every sum is made in the same order again. Tables go column by column. A stack of bodies
in plain Python is built anew from the descriptions of its bodies, takes hold of the same elements in the same order, and is given
back what it saved; one of forces is given back its ledgers.

And a running system from such data and arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from coordinator.building import ForceHome, JointHome
from coordinator.engine.program import STRAY, compiled
from coordinator.record.checkpoints.notes import Notes
from coordinator.record.context import RecordContext
from coordinator.record.fingerprint import bits
from coordinator.record.obstacles import homeless, parts_of
from coordinator.system import System
from modular.assembly import Assembly, JointEdge
from modular.body import SavesAndRestores
from modular.component import Component, class_name, plain
from modular.elements import RIGID_BODY_MOTIONS, Elements
from modular.errors import ModelError
from modular.joint import Attachment, JointForm
from modular.joints import Joints
from modular.numbers import number
from modular.port import GROUND
from modular.side import Mark
from modular.table import Table
from modular.tables_as_data import check_places, described, revived

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
LEDGER_COLUMNS = ("ledger", "power", "power_before")


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
        kept["books"] = notes.put({name: getattr(stack, name) for name in LEDGER_COLUMNS})
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


MAX_ELEMENTS = 1 << 32  # elements
MAX_MOTIONS = 6000


def system_from_data(data: Mapping[str, Any], arrays: dict[str, Any], assembly: Assembly, *, grouped: bool) -> System:
    """The system that was described; its model is there already."""
    notes = Notes(arrays)
    columns = _by_table(arrays)
    system = System(assembly.gravity.copy(), assembly.bodies, grouped=grouped, acting=assembly.force_edges)
    like = Elements(len(assembly.gravity), motions=_motions(data["elements"]))
    system.elements = revived(data["elements"], columns["elements"], "checkpoint, elements", like)
    if not system.elements.capacity <= data["room"] <= MAX_ELEMENTS:
        used = system.elements.capacity
        raise ModelError(
            f"checkpoint: room for {data['room']} elements, of which {used} are in use; the file is damaged."
        )
    if data["room"] > system.elements.capacity:
        system.elements.grow(data["room"])
    for name in COUNTS:
        setattr(system, name, data[name])
    system.part = number(data.get("part", 0.0), "checkpoint: part of a tick", "-")
    if not 0.0 <= system.part < 1.0:
        raise ModelError(f"checkpoint: part of a tick = {system.part}; it must lie between 0 and 1.")
    _take_bodies(system, data["bodies"], columns, notes, assembly)
    _take_joints(system, data, columns, notes, assembly)
    _take_forces(system, data, columns, notes, assembly)
    for table in (*system.bodies, *system.joints, *system.forces):
        if isinstance(table, Table):
            check_places(table, system.elements, "checkpoint, " + ", ".join(table.details().get("names", ())[:3]))
    system.uses = {name: tuple(data["uses"].get(name, ())) for name in assembly.bodies}
    _take_hold(system, assembly)
    system.groups = [_group(names, assembly) for names in data["groups"]]
    system.closed, system.memory = notes.get(data["closed"]), notes.get(data["memory"])
    if not (isinstance(system.closed, dict) and all(isinstance(row, np.ndarray) for row in system.closed.values())):
        raise ModelError("checkpoint: the ledgers of removed components must be rows of numbers by name.")
    for cut in data["just cut"]:
        other = Assembly(assembly.gravity.tolist())
        other.bodies = assembly.bodies
        limit = None if cut["breaks_at"] is None else Component.from_data(cut["breaks_at"])
        other.join("cut", Component.from_data(cut["joint"]), *cut["between"], at=cut["at"], breaks_at=limit)
        edge, form = other.joint_edges["cut"], _form(cut["form"], system, other.joint_edges["cut"])
        system.just_cut.append(
            (system.tick + system.part, edge, _attachment(cut["made"], form, notes), notes.get(cut["preload"]))
        )
    return system


def _motions(table: Mapping[str, Any]) -> int:
    """In how many ways bodies could answer forces."""
    found = [shape[0] for name, *_, shape in table["fields"] if name == "demand"]
    if not found:
        raise ModelError(
            "checkpoint, elements: there is no column 'demand': another version of modular wrote this. Resume it with that "
            "version, or run the model anew."
        )
    if len(found) != 1 or found[0] not in range(RIGID_BODY_MOTIONS, MAX_MOTIONS + 1, RIGID_BODY_MOTIONS):
        raise ModelError("checkpoint, elements: the modes of a response must be a multiple of six.")
    return int(found[0])


def _group(names: Any, assembly: Assembly) -> tuple[str, ...]:
    """Bodies that were merged."""
    known = {GROUND, *assembly.bodies}
    if not (isinstance(names, list) and all(isinstance(name, str) and name in known for name in names)):
        raise ModelError("checkpoint: merged bodies must be given by name.")
    return tuple(names)


def _by_table(arrays: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Columns, by the table whose they are."""
    found: dict[str, dict[str, Any]] = {"elements": {}}
    for name, array in arrays.items():
        table, _, column = name.rpartition(".")
        found.setdefault(table, {})[column] = array
    return found


def _take_bodies(
    system: System, listed: list[Any], columns: Mapping[str, Any], notes: Notes, assembly: Assembly
) -> None:
    for k, data in enumerate(listed):
        names = _names(data)
        body = assembly.bodies[names[0]]
        stack: Any = body.empty_stack()
        if "table" in data:
            stack = revived(data["table"], columns.get(f"bodies.{k}", {}), f"checkpoint, stack of '{names[0]}'", stack)
        else:
            stack.gravity = system.gravity
            for name in names:
                stack.add(name, assembly.bodies[name])
            stack.restore(notes.get(data["saved"]))
        system.body_stacks[system.key_of(names[0], body)] = stack
        system.body_home.update(dict.fromkeys(names, stack))
    _check_names(listed, assembly.bodies)
    system.body_home = {name: system.body_home[name] for name in assembly.bodies}


def _take_joints(
    system: System, data: Mapping[str, Any], columns: Mapping[str, Any], notes: Notes, assembly: Assembly
) -> None:
    homes: dict[str, Joints] = {}
    for k, kept in enumerate(data["joints"]):
        details = kept["table"]["details"]
        names = details["names"]
        form = _form(details["form"], system, assembly.joint_edges[names[0]])
        table = {**kept["table"], "details": {**details, "form": form}}
        stack: Joints = revived(
            table,
            columns[f"joints.{k}"],
            f"checkpoint, joints like '{names[0]}'",
            Joints(form, len(system.gravity), system.elements.motions),
        )
        system.joint_stacks[stack.form if system.grouped else (stack.form, names[0])] = stack
        homes.update(dict.fromkeys(names, stack))
    _check_names(data["joints"], assembly.joint_edges)
    made: Mapping[str, Any] = data["attachments"]
    for name, edge in assembly.joint_edges.items():
        kept = made.get(name)
        if kept is None:
            system.joint_home.enter_plain([(name, edge)])
        else:
            attachment = _attachment(kept, homes[name].form, notes)
            system.joint_home.enter(JointHome(name, homes[name], edge, attachment, kept["again"]))


def _names(kept: Mapping[str, Any]) -> list[Any]:
    """Who stands in a table, or in a stack that is none."""
    found: list[Any] = kept["table"]["details"]["names"] if "table" in kept else kept["names"]
    return found


def _check_names(stacks: list[Any], known: Mapping[str, Any]) -> None:
    """The parts of the model stand in stacks, each once, and nobody else."""
    names = [name for kept in stacks for name in _names(kept)]
    if len(names) != len(known) or not all(isinstance(name, str) and name in known for name in names):
        raise ModelError("checkpoint: its tables do not hold the parts of its model, each once.")


def _form(data: Mapping[str, Any], system: System, edge: JointEdge) -> JointForm:
    """The form of a joint: by its name, or where its class writes equations in a way that has none, by asking it again."""
    try:
        return JointForm.from_data(data)
    except ModelError:
        first, second = system.sides((edge.first, edge.second), edge.at)
        form = edge.joint.attach("joint", first, second, first.position, second.position).form
        if form.to_data() != data:
            raise
        return form


def _attachment(data: Mapping[str, Any], form: JointForm, notes: Notes) -> Attachment:
    first, second = ([Mark(*pair) for pair in notes.get(data[side])] for side in ("first", "second"))
    return Attachment(form, first, second, data["marker"])


def _take_forces(
    system: System, data: Mapping[str, Any], columns: Mapping[str, Any], notes: Notes, assembly: Assembly
) -> None:
    homes: dict[str, Any] = {}
    forced = notes.get(data["forced"])
    for k, kept in enumerate(data["forces"]):
        names = _names(kept)
        force = assembly.force_edges[names[0]].force
        stack: Any = force.new_stack(len(system.gravity))
        if "table" in kept:
            stack = revived(
                kept["table"], columns.get(f"forces.{k}", {}), f"checkpoint, forces like '{names[0]}'", stack
            )
        else:
            for name in names:
                stack.add(name, assembly.force_edges[name].force, forced[name]["starts"])
            for name, array in notes.get(kept["books"]).items():
                getattr(stack, name)[...] = array
        together = system.grouped or force.together
        system.force_stacks[force.kind() if together else (force.kind(), names[0])] = stack
        homes.update(dict.fromkeys(names, stack))
    _check_names(data["forces"], assembly.force_edges)
    for name in assembly.force_edges:
        kept = forced[name]
        marks = [[Mark(*pair) for pair in side or ()] for side in kept["marks"]]
        system.force_home[name] = ForceHome(homes[name], kept["owners"], kept["starts"], kept["counts"], marks)


def _take_hold(system: System, assembly: Assembly) -> None:
    """Bodies in Python show what they showed, in the order in which joints and forces took hold of them."""
    for name, stack in system.body_home.items():
        if isinstance(stack, Table):
            continue
        for use in system.uses[name]:
            for owner, start, marks in _sides_of(use, system, assembly):
                if owner == name:
                    for k, mark in enumerate(marks):
                        stack.attach(name, start + k, mark)


def _sides_of(use: str, system: System, assembly: Assembly) -> Iterable[tuple[str, int, Iterable[Mark]]]:
    if use in system.force_home:
        force = system.force_home[use]
        return zip(force.owners, force.starts, force.marks, strict=True)
    joint, attachment = system.joint_home[use], system.attachment_of(use, assembly.joint_edges[use])
    return zip(joint.owners, joint.starts, (attachment.first, attachment.second), strict=True)
