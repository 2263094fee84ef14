"""Many components at once: how a large model becomes a running system in microseconds per body.

Bodies of one kind are worked out together. Joints that hold two ports together as they stand, and need nothing but their
points (`Joint.points`), are made together where all bodies can say how their ports are put together (`ports`); everything
else, and whatever does not fit, is made one by one (`System.add_joint`), with the same result.

Bodies that begin elsewhere than they are described: joints hold them as described, and must be closed where they begin.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

from coordinator.building import JOINING_GAP_TOLERANCE, ForceHome
from coordinator.events.tiled_add import Side, add_tiled_bodies, fill_in, note_uses, runs_of, sides_of
from coordinator.system import System
from modular.assembly import Assembly, Beginning, ForceEdge, JointEdge
from modular.body import Bodies, Body
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.forces import ForceStack
from modular.joint import JointForm
from modular.names import missing
from modular.port import GROUND
from modular.side import Mark
from modular.tiles import Tiles

MIN_GATHERED_JOINTS = 8  # joints for which it is not worth while
Make = Callable[[str, JointEdge], None]


def put_together(
    system: System, model: Assembly, check: Callable[[str, JointEdge], None] = lambda name, edge: None
) -> None:
    """Bodies as they are described, and the joints and forces that take hold of them there; all joints that cannot are told."""
    problems: list[str] = []
    system.rough = system.rough or bool(model.begin)
    if isinstance(model.bodies, Tiles) and model.bodies.alike and system.grouped:
        add_tiled_bodies(system, model.bodies)
    else:
        add_bodies(system, model.bodies)

    def make(name: str, joint: JointEdge) -> None:
        try:
            check(name, joint)
            system.add_joint(name, joint)
        except ModelError as error:
            problems.append(str(error))

    if not _add_tiled(system, model, make):
        add_joints(system, model.joint_edges, make)
    if problems:
        raise ModelError("\n".join(problems))
    for name, force in model.force_edges.items():
        system.add_force(name, force)


def add_bodies(system: System, bodies: Mapping[str, Body]) -> None:
    """Put bodies into the stacks of their kinds."""
    kinds: dict[Any, list[str]] = {}
    for name, body in bodies.items():
        kinds.setdefault(system.key_of(name, body), []).append(name)
    homes: dict[str, Bodies] = {}
    for names in kinds.values():
        members = [bodies[name] for name in names]
        homes.update(dict.fromkeys(names, fill_in(system, names, members, members[0])))
    system.settle_in([*bodies], homes)


def add_joints(system: System, edges: Mapping[str, JointEdge], make: Make) -> None:
    """Make joints in their order; `make` makes one that is not plain."""
    forms: dict[int, JointForm | None] = {}
    for joint in {id(edge.joint): edge.joint for edge in edges.values()}.values():
        forms[id(joint)] = joint.points(len(system.gravity))
    homes = system.body_home
    portable = {id(stack) for stack in system.bodies if hasattr(stack, "ports")}
    all_portable = len(portable) == len(list(system.bodies))

    def form_of(item: tuple[str, JointEdge]) -> JointForm | None:
        """The form of a joint that needs two ports as they are, on bodies that say how those are put together."""
        edge = item[1]
        if edge.at is not None or not system.grouped:
            return None
        form = forms[id(edge.joint)]
        if form is None or all_portable:
            return form
        bodies = [body for body in (edge.first_body, edge.second_body) if body != GROUND]
        return form if all(id(homes[body]) in portable for body in bodies) else None

    run: list[tuple[str, JointEdge]] = []
    last: JointForm | None = None
    for item in (*edges.items(), None):
        form = form_of(item) if item is not None else None
        if run and (form is not last or item is None):
            assert last is not None
            if len(run) < MIN_GATHERED_JOINTS or not _hold_points(system, last, run):
                for name, edge in run:
                    make(name, edge)
            run = []
        if form is not None and item is not None:
            run.append(item)
        elif item is not None:
            make(*item)
        last = form


def add_held_forces(
    system: System, edges: Mapping[str, ForceEdge], owners: Sequence[list[str]], marks: Sequence[list[list[Mark]]]
) -> None:
    """Let forces act of which it is known whom they take hold of, and where; nobody is asked how ports stand."""
    stacks = [system.force_stack(name, edge.force) for name, edge in edges.items()]
    starts = _hold_marks(system, owners, marks)
    names, forces = list(edges), [edge.force for edge in edges.values()]
    for stack in {id(stack): stack for stack in stacks}.values():
        own = [k for k, each in enumerate(stacks) if each is stack]
        if isinstance(stack, ForceStack):
            stack.add_many([names[k] for k in own], [forces[k] for k in own], [starts[k] for k in own])
        else:
            for k in own:
                stack.add(names[k], forces[k], starts[k])
    for name, stack, owned, begin, held in zip(names, stacks, owners, starts, marks, strict=True):
        system.settle_force_in(name, ForceHome(stack, owned, begin, [len(each) for each in held], held))


def _hold_marks(system: System, owners: Sequence[list[str]], marks: Sequence[list[list[Mark]]]) -> list[list[int]]:
    """Rows of elements for the marks of many forces; the first row on each side."""
    elements = system.elements
    taken: dict[int, tuple[Any, list[int], list[int], list[Array]]] = {}  # by stacks that take many at once
    starts: list[list[int]] = []
    for sides, held in zip(owners, marks, strict=True):
        starts.append([elements.acquire(len(each)) for each in held])
        for owner, start, each in zip(sides, starts[-1], held, strict=True):
            stack: Any = system.body_home.get(owner)  # None: the ground
            for element, mark in enumerate(each, start):
                if stack is None:
                    elements.position[element] = mark.value
                elif not hasattr(stack, "attach_many"):
                    stack.attach(owner, element, mark)
                else:
                    _, rows, shown, weights = taken.setdefault(id(stack), (stack, [], [], []))
                    rows.append(stack.row[owner])
                    shown.append(element)
                    weights.append(mark.weights)
    for stack, rows, shown, weights in taken.values():
        stack.attach_many(np.array(rows), np.array(shown), np.array(weights))
    return starts


def _add_tiled(system: System, model: Assembly, make: Make) -> bool:
    """All variants of a model at once; False where its joints have to be made in their order."""
    edges, bodies = model.joint_edges, model.bodies
    if not isinstance(edges, Tiles) or not isinstance(bodies, Tiles) or not bodies.alike or not system.grouped:
        return False
    runs = runs_of(system, edges)
    if runs is None:
        return False
    for form, joints in runs:
        names = edges.names_of(joints)
        sides = [Ports(*sides_of(system, edges, joints, second), system) for second in (False, True)]
        if _meet(system, form, sides, names):
            system.joint_home.enter_tiles(names, edges)
            note_uses(system, edges, joints)
        else:
            for name in names:
                make(name, edges[name])
    return True


def _hold_points(system: System, form: JointForm, members: list[tuple[str, JointEdge]]) -> bool:
    """Make joints of one form together; False where their ports do not fit."""
    edges = [edge for _, edge in members]
    sides = [
        Ports(*_sides(system, [edge.first_body for edge in edges], [edge.first_port for edge in edges]), system),
        Ports(*_sides(system, [edge.second_body for edge in edges], [edge.second_port for edge in edges]), system),
    ]
    if not _meet(system, form, sides, [name for name, _ in members]):
        return False
    _settle_in(system, members)
    return True


def _meet(system: System, form: JointForm, sides: list[Ports], names: list[str]) -> bool:
    """Rows of joints that hold these ports together; False where they do not fit."""
    for side, other in (sides, sides[::-1]):
        side.places[side.grounded] = other.places[side.grounded]
    size = np.maximum(1.0, np.abs(np.stack([side.places for side in sides])).max(axis=(0, 2)))
    if np.any(np.linalg.norm(sides[1].places - sides[0].places, axis=1) > JOINING_GAP_TOLERANCE * size):
        return False
    n, elements = len(names), system.elements
    base = elements.acquire(2 * n)
    rows = [base + 2 * np.arange(n), base + 2 * np.arange(n) + 1]
    for side, row in zip(sides, rows, strict=True):
        elements.position[row[side.grounded]] = side.places[side.grounded]
    _take_hold(sides, rows)
    stack = system.joint_stack(form, "")
    taken = stack.add_rows(names)
    stack.first[taken], stack.second[taken] = rows
    system.version += 1
    return True


class Ports:
    """One side of many joints: the stacks and rows of the bodies, how each port is put together, and where it is."""

    def __init__(self, held: list[Side], grounded: Indices, system: System) -> None:
        self.grounded, self.held = grounded, held
        self.places: Array = np.zeros((len(grounded), len(system.gravity)))
        for stack, members, rows, weights in held:
            self.places[members] = stack.combined(weights, stack.q[rows])


def _sides(system: System, bodies: list[str], ports: list[str]) -> tuple[list[Side], Indices]:
    """One side of many joints: the stacks of the bodies, joints, rows and how each port is put together; who is on the ground."""
    homes: list[Any] = list(map(system.body_home.get, bodies))  # None: the ground
    held: list[Side] = []
    for stack in {id(home): home for home in homes if home is not None}.values():
        own = [k for k, home in enumerate(homes) if home is stack]
        rows, weights = stack.ports_of([bodies[k] for k in own], [ports[k] for k in own])
        held.append((stack, np.array(own, np.int64), rows, weights))
    return held, np.array([home is None for home in homes])


def _take_hold(sides: list[Ports], elements: list[Indices]) -> None:
    """Let bodies show the points and take the forces on them, in the order of the joints, first sides first."""
    stacks = {id(stack): stack for side in sides for stack, *_ in side.held}
    for stack in stacks.values():
        parts = [
            (2 * joints + k, rows, elements[k][joints], weights)
            for k, side in enumerate(sides)
            for home, joints, rows, weights in side.held
            if home is stack
        ]
        order = np.argsort(np.concatenate([part[0] for part in parts]), kind="stable")
        rows, shown, weights = (np.concatenate([part[i] for part in parts])[order] for i in (1, 2, 3))
        stack.attach_many(rows, shown, weights)


def _settle_in(system: System, members: list[tuple[str, JointEdge]]) -> None:
    system.joint_home.enter_plain(members)
    uses = system.uses
    for name, edge in members:
        if edge.first_body != GROUND:
            uses[edge.first_body] += (name,)
        if edge.second_body != GROUND:
            uses[edge.second_body] += (name,)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Build many things that stay without the collector of garbage looking through them again and again."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def begin(system: System, states: Mapping[str, Beginning]) -> None:
    """Let bodies stand and move as they are to begin; their joints have taken hold."""
    for name, state in states.items():
        place(system, name, state)
    system.rough = False
    system.show()
    _begin_drives(system)
    size = max(1.0, float(np.abs(system.elements.position[: system.elements.count]).max(initial=0.0)))
    for name, gap in open_joints(system).items():
        if gap > JOINING_GAP_TOLERANCE * size:
            raise ModelError(
                f"joint '{name}' is open by {gap:.3g} where its bodies begin; assemble the model as it is now "
                "(coordinator.analysis.assemble), or let it begin as it is described: model.begin.clear()."
            )


def _begin_drives(system: System) -> None:
    """What follows courses begins where bodies begin: these are followed from there (modular/courses.py)."""
    for joints in system.joints:
        drives = joints.form.drives
        if drives:
            joints.linearise(system.elements)
            joints.marker[: joints.count, 1 : 1 + drives] -= joints.error[: joints.count, -drives:]


def place(system: System, name: str, state: Beginning) -> None:
    """Let a body stand and move so."""
    if name not in system.body_home:
        raise ModelError(missing("body", name, system.described, "begin"))
    body, home = system.described[name], system.body_home[name]
    if body.led or body.hosted:
        raise ModelError(f"begin: body '{name}' ({type(body).__name__}) follows a prescribed motion; leave it out.")
    now, row = cast(Any, home).state(), home.row[name]
    for key, value in zip(("q", "v"), state, strict=True):
        if value.shape != now[key][row].shape or not np.all(np.isfinite(value)):
            raise ModelError(
                f"begin: body '{name}' has coordinates of shape {now[key][row].shape}, and begins with {key} of shape "
                f"{value.shape}; give finite numbers as its kind has them."
            )
        now[key][row] = value
    now["a"][row] = 0.0
    size = max(1.0, float(np.abs(state.q).max(initial=0.0)))
    bent = float(np.abs(body.internal_violation(state.q)).max(initial=0.0))
    if bent > JOINING_GAP_TOLERANCE * size**2:
        raise ModelError(
            f"begin: body '{name}' ({type(body).__name__}) would begin in another shape than it is described (its internal "
            f"constraints are off by {bent:.3g}); give coordinates of this body, or leave it out: model.begin.pop('{name}')."
        )


def open_joints(system: System) -> dict[str, float]:
    """By how much every joint that has gaps is open, as bodies are shown: the largest of its rows [m], [rad]."""
    gaps: dict[str, float] = {}
    for joints in system.joints:
        joints.linearise(system.elements)
        if joints.form.holonomic:
            largest = np.abs(joints.error[: joints.count]).max(axis=1, initial=0.0)
            gaps.update(zip(joints.names, largest.tolist(), strict=True))
    return gaps
