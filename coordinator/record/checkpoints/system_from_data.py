"""A running system from data and arrays (simulation_as_data.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from coordinator.building.homes import ForceHome, JointHome
from coordinator.record.checkpoints.notes import Notes
from coordinator.record.checkpoints.simulation_as_data import COUNTS
from coordinator.system import System
from modular.assembly import Assembly, JointEdge
from modular.component import Component
from modular.elements import RIGID_BODY_MOTIONS, Elements
from modular.errors import ModelError
from modular.joint import Attachment, JointForm
from modular.joints import Joints
from modular.numbers import number
from modular.port import GROUND
from modular.side import Mark
from modular.table import Table
from modular.tables_as_data import check_places, revived

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
        raise ModelError(f"checkpoint: {used} elements are in use, and there cannot be room for {data['room']}.")
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
    found = [shape[0] for name, *_, shape in table["fields"] if name == "load"]
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
