"""The running system: stacks of bodies, joints and forces around one table of elements.

The graph is walked only here, when the topology changes; the result is index arrays
that are edited in place, so components that are not touched by the change are not affected.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, TypeVar, cast

import numpy as np

from coordinator.building import ForceHome, JointHome, JointHomes, attach, check_alike, of_ports, tolerance_for
from modular.assembly import ForceEdge, JointEdge, Parted
from modular.body import Bodies, Body, GivesCompliance, PredictsAndCorrects, SavesAndRestores
from modular.courses import begun
from modular.elements import ASKED, TIME, Array, Elements
from modular.errors import ModelError
from modular.force import Force, Forces
from modular.forces import ForceStack
from modular.joint import Attachment, JointForm
from modular.joints import ANSWERS, Joints
from modular.ledger import RELEASED, STORED, close
from modular.port import GROUND, PortName
from modular.side import GroundSide, Mark, Side
from modular.table import Table

Capability = TypeVar("Capability")


class System:
    """The running components."""

    def __init__(
        self, gravity: Array, described: Mapping[str, Body] | None = None, acting: Mapping[str, ForceEdge] | None = None, *,
        grouped: bool = True,
    ) -> None:  # fmt: skip
        self.gravity = gravity
        self.dry_run = False  # True: points of joints need not meet, and all is played that may be (precompile.py)
        self.rough = False  # True: points of joints need not meet, for bodies do not stand yet (bulk_add.py)
        self.grouped = grouped  # False: every component in a stack of its own (same bits, slower)
        self.parted: Parted | None = None  # whose a name is, where several models stand here (coordinator/ensemble)
        self.gravities: dict[int, Array] = {}  # of these, where they differ; stacks have that of the first
        self.shared: dict[str, Any] | None = None  # what they have in common with others that run after them
        self.elements = Elements(len(gravity))
        self.body_stacks: dict[Hashable, Bodies] = {}
        self.joint_stacks: dict[Hashable, Joints] = {}
        self.force_stacks: dict[Hashable, Forces] = {}
        self.body_home: dict[str, Bodies] = {}
        self.described: Mapping[str, Body] = {} if described is None else described  # the bodies that are here
        self.acting: Mapping[str, ForceEdge] = {} if acting is None else acting  # the forces
        self.joint_home = JointHomes(self)
        self.force_home: dict[str, ForceHome] = {}
        self.uses: dict[str, tuple[str, ...]] = {}  # joints and forces on each body
        self.encounters: dict[str, tuple[str, str]] = {}  # forces between surfaces that are near each other, and whose
        self.closed: dict[str, Array] = {}  # ledgers of joints and forces that have gone
        self.just_cut: list[tuple[float, JointEdge, Attachment | Callable[[], Attachment], Array]] = []
        self.groups: list[tuple[str, ...]] = []  # bodies that were merged into one component
        self.tick = 0
        self.part = 0.0  # how far into the next tick a located event stands, or a change of the step
        self.version = 0  # counts changes of topology
        self.turnover = 0  # counts changes of who is there: stacks that came or went
        self.returns = 0  # counts how often it went back to an earlier state
        self.evaluations = 0  # how often forces were worked out, for comparisons of cost
        self.memory: dict[str, Array] = {}  # what a coupling remembers from tick to tick
        self.cache: dict[str, Any] = {}  # what was built for the present topology
        self.observer: Any = None  # what goes along with the motion (coordinator/equations/formulas.py)

    def __getstate__(self) -> dict[str, Any]:
        """A copy has stacks of its own, and leaves behind what knows the old ones by their identity."""
        left = {"configured", "regions", "stack registry", "interface", "mixture", "halving", "whole step", "meetings"}
        cache = {name: made for name, made in self.cache.items() if name not in left}
        return {**self.__dict__, "cache": cache}

    # --- the stacks ------------------------------------------------------------------------------------------------

    @property
    def bodies(self) -> Iterator[Bodies]:
        """All stacks of bodies."""
        return iter(self.body_stacks.values())

    @property
    def joints(self) -> Iterator[Joints]:
        """All stacks of joints."""
        return iter(self.joint_stacks.values())

    @property
    def forces(self) -> Iterator[Forces]:
        """All stacks of forces."""
        return iter(self.force_stacks.values())

    def bodies_as(self, capability: type[Capability]) -> list[Capability]:
        """All stacks of bodies, seen through a capability that the coupling has made sure of."""
        return cast("list[Capability]", list(self.bodies))

    def _dismiss(self, stacks: dict[Hashable, Any]) -> None:
        """Let stacks go in which nobody is left."""
        for key in [key for key, stack in stacks.items() if not stack.names]:
            del stacks[key]
            self.turnover += 1

    # --- bodies ----------------------------------------------------------------------------------------------------

    def add_body(self, name: str, body: Body) -> None:
        """Put a body into the stack of its kind."""
        stack = self.stack_for(name, body)
        stack.add(name, body)
        if body.led:  # it stands where it is to be by now
            cast(Any, stack).place_on_course(name, self.elements)
        self.settle_in([name], {name: stack})

    def key_of(self, name: str, body: Body) -> Hashable:
        """What bodies that share a stack have in common."""
        return body.stack_kind if self.grouped else (body.stack_kind, name)

    def stack_for(self, name: str, body: Body) -> Bodies:
        """The stack that takes a body in, made if there is none."""
        key = self.key_of(name, body)
        if body.motions > self.elements.motions:
            self._resize_response(body.motions)
        if key not in self.body_stacks:
            self.body_stacks[key] = body.empty_stack()
            self.body_stacks[key].gravity = self.gravity
            self.turnover += 1
        return self.body_stacks[key]

    def _resize_response(self, motions: int) -> None:
        """A body comes that answers forces in more ways than all others: loops are compiled anew for that."""
        self.elements.resize_response(motions)
        for joints in self.joints:
            joints.resize_response(motions)
        self.turnover += 1

    def settle_in(self, bodies: Sequence[str], homes: Mapping[str, Bodies]) -> None:
        """Remember where bodies that were taken in live, in the order of the model."""
        self.body_home.update(homes if [*homes] == bodies else {name: homes[name] for name in bodies})
        self.uses.update(dict.fromkeys(bodies, ()))
        self.version += 1

    def remove_body(self, name: str) -> None:
        """Take a body out; its joints and forces must have gone before."""
        self.body_home.pop(name).remove(name)
        self.groups = [left for group in self.groups if len(left := tuple(b for b in group if b != name)) > 1]
        del self.uses[name]
        self.just_cut = [entry for entry in self.just_cut if name not in (entry[1].first.body, entry[1].second.body)]
        self._dismiss(self.body_stacks)
        self.version += 1

    def sides(self, ports: Sequence[PortName], at: Sequence[float] | None) -> list[Side]:
        """The ports as they stand; the ground port is taken where the other port is, or at `at`."""
        homes = self.body_home
        found = [None if port.body == GROUND else homes[port.body].side(port.body, port) for port in ports]
        sides = [side for side in found if side is not None]
        if not sides and len(ports) > 1:
            raise ModelError("a joint between the ground and the ground connects nothing.")
        if not sides:
            return [GroundSide(np.zeros(len(self.gravity)), np.eye(len(self.gravity)))]
        if len(sides) == len(ports):
            return sides
        other = sides[0]
        place = other.position if at is None else np.array(at, float)
        return [GroundSide(place, other.frame) if side is None else side for side in found]

    def merge(self, bodies: Sequence[str]) -> None:
        """Let bodies be one component from here on, with those that they are merged with already."""
        group = set(bodies).union(*(known for known in self.groups if not set(known).isdisjoint(bodies)))
        self.groups = [known for known in self.groups if group.isdisjoint(known)]
        self.groups.append(tuple(body for body in (GROUND, *self.body_home) if body in group))
        self.version += 1

    def merged(self, first: str, second: str) -> bool:
        """Whether two bodies are in one component."""
        return any(first in group and second in group for group in self.groups)

    def unmerge(self, bodies: Sequence[str]) -> list[str]:
        """Let the components fall apart to which bodies belong; all their bodies."""
        parted = [group for group in self.groups if not set(group).isdisjoint(bodies)]
        self.groups = [group for group in self.groups if group not in parted]
        self.version += 1
        return [body for group in parted for body in group]

    # --- joints ----------------------------------------------------------------------------------------------------

    def add_joint(self, name: str, edge: JointEdge, law: str = "momentum", *, moving: float | None = None) -> JointHome:
        """Make a joint between two ports as they stand; refused where they do not fit, unless told where (`at`).

        `moving`: the step [s] with which bodies move; then joints that were there before have left gaps.

        One cut at this very instant and made again is the same joint, with the same marks: its gap is that of its spring.
        """
        first, second = self.sides((edge.first, edge.second), edge.at)
        old = self.remade(edge)
        within = inf if self.dry_run or self.rough else tolerance_for((first, second), self.gravity, moving)
        attachment = old[0] if old is not None else attach(name, edge, first, second, within)
        form = attachment.form
        if form.drives and old is None:
            marker = begun(attachment.marker, form.marker, form.drives, float(self.elements.clock[TIME]))
            attachment = replace(attachment, marker=marker)
        if law == "kinematic" and (form.rotations or form.locks != len(self.gravity)):
            raise ModelError(
                f"joint '{name}': law='kinematic' is for joints that hold two points together and turn freely; use law='momentum'."
            )
        stack = self.joint_stack(form, name)
        starts = (self._hold(first.owner, attachment.first), self._hold(second.owner, attachment.second))
        row = stack.add_row(name)
        stack.first[row], stack.second[row] = starts
        stack.marker[row] = attachment.marker[: form.marker]
        if form.drives:
            pieces = attachment.marker[form.marker :]
            if len(pieces) > stack.pieces.shape[1]:
                stack.widen("pieces", len(pieces))
            stack.pieces[row, : len(pieces)] = pieces
        if old is not None:
            stack.preload[row] = old[1]
        home = JointHome(name, stack, edge, attachment, old is not None)
        self.joint_home.enter(home)
        self._use(name, home.owners)
        if name in self.closed:
            stack.ledger[row] = self.closed.pop(name)
        self.version += 1
        return home

    def joint_stack(self, form: JointForm, name: str) -> Joints:
        """The stack of the joints of a form, made if there is none."""
        key = form if self.grouped else (form, name)
        stack = self.joint_stacks.get(key)
        if stack is None:
            stack = self.joint_stacks[key] = Joints(form, len(self.gravity), self.elements.motions)
            self.turnover += 1
        return stack

    def attachment_of(self, name: str, edge: JointEdge) -> Attachment:
        """How a joint was made; one of plain points has kept no more than where it stands on the ground."""
        home = self.joint_home[name]
        if home.attachment is not None:
            return home.attachment
        return of_ports(home.stack.form, edge, self.elements.position[list(home.starts)], self.body_home)

    def remade(self, edge: JointEdge) -> tuple[Attachment, Array] | None:
        """The marks and the preload of an equal joint in the same place that was cut at this very instant, if there was one."""
        if not self.just_cut:
            return None
        self.just_cut = [entry for entry in self.just_cut if entry[0] == self.tick + self.part]
        for k, (_, cut, attachment, preload) in enumerate(self.just_cut):
            if cut == edge:
                del self.just_cut[k]  # it is there again
                return attachment if isinstance(attachment, Attachment) else attachment(), preload
        return None

    def limit(self, name: str, edge: JointEdge) -> None:
        """A joint of the same ports that can take something else."""
        attachment = self.attachment_of(name, self.joint_home[name].edge)
        home = self.joint_home[name]
        self.joint_home.enter(JointHome(name, home.stack, edge, attachment, home.again))
        self.version += 1

    def remove_joint(self, name: str, edge: JointEdge) -> float:
        """Cut a joint; the elastic energy that goes with it [J]."""
        home = self.joint_home.leave(name)
        stack, form = home.stack, home.stack.form
        row = stack.row[name]
        released = self._close_ledger(name, stack.ledger[row])
        preload = stack.preload[row].copy()
        made: Attachment | Callable[[], Attachment] | None = home.attachment
        if made is None:  # of its ports, and so again; what it held on the ground is kept
            made = functools.partial(of_ports, form, edge, self.elements.position[list(home.starts)], self.body_home)
        self.just_cut.append((self.tick + self.part, edge, made, preload))
        for owner, start, count in zip(home.owners, home.starts, (form.first, form.second), strict=True):
            self._let_go(name, owner, start, count)
        stack.remove_row(name)
        if not stack.names:
            self._dismiss(self.joint_stacks)
        self.version += 1
        return released

    # --- forces ----------------------------------------------------------------------------------------------------

    def add_force(self, name: str, edge: ForceEdge) -> None:
        """Let a force act."""
        sides = self.sides(edge.ports, edge.at)
        marks, owners = edge.force.marks(name, sides), [side.owner for side in sides]
        stack, starts = self.force_stack(name, edge.force), list(map(self._hold, owners, marks))
        stack.add(name, edge.force, starts)
        self.settle_force_in(name, ForceHome(stack, owners, starts, list(map(len, marks)), marks))

    def force_stack(self, name: str, force: Force) -> Forces:
        """The stack of the forces of a kind, made if there is none."""
        key = force.kind() if self.grouped or force.together else (force.kind(), name)
        if key not in self.force_stacks:
            self.force_stacks[key], self.turnover = force.new_stack(len(self.gravity)), self.turnover + 1
        return self.force_stacks[key]

    def settle_force_in(self, name: str, home: ForceHome) -> None:
        """Remember where a force lives that was taken in."""
        if name in self.closed:
            home.stack.ledger[home.stack.row[name]] = self.closed.pop(name)
        self.force_home[name] = home
        self._use(name, home.owners)
        self.version += 1

    def remove_force(self, name: str) -> float:
        """Let a force go; the elastic energy that goes with it [J]."""
        home = self.force_home.pop(name)
        released = self._close_ledger(name, home.stack.ledger[home.stack.row[name]])
        for side in zip(home.owners, home.starts, home.counts, strict=True):
            self._let_go(name, *side)
        home.stack.remove(name)
        self._dismiss(self.force_stacks)
        if not self.force_stacks:
            self.elements.taken[:] = 0.0
        self.version += 1
        return released

    def take_back_force(self, name: str) -> None:
        """Remove a force that has not acted yet, with the ledger that it found."""
        home = self.force_home[name]
        ledger = home.stack.ledger[home.stack.row[name]].copy()
        self.remove_force(name)
        del self.closed[name]
        if ledger.any():
            self.closed[name] = ledger

    # --- together --------------------------------------------------------------------------------------------------

    def show(self) -> None:
        """Show all elements as the bodies stand now."""
        for bodies in self.bodies_as(PredictsAndCorrects):
            bodies.show(self.elements)

    def respond(self, *, constrained: bool = True) -> None:
        """Let all bodies report how they answer forces."""
        self.elements.prepare("respond")
        for bodies in self.bodies_as(GivesCompliance):
            bodies.respond(self.elements, constrained=constrained)

    def forget_answers(self) -> None:
        """Let the memory go of what bodies answered and joints asked."""
        self.elements.fold(*ASKED)
        for joints in self.joints:
            joints.fold(*ANSWERS)

    def bound_demands(self) -> None:
        """Let all bodies answer what the joints ask of them."""
        self.elements.prepare("bound_demands")
        for bodies in self.bodies_as(GivesCompliance):
            bodies.bound_demands(self.elements)

    def facts(self) -> Mapping[str, dict[str, Any]]:
        """What those who read a run need to know of every joint."""
        return self.joint_home.facts()

    def facts_of(self, joint: str) -> dict[str, Any]:
        """The same of one: how its equations are written, and whom it joins."""
        return self.joint_home.facts([joint])[joint]

    def time(self, dt: float) -> float:
        """Where the components stand [s]."""
        return (self.tick + self.part) * dt

    @property
    def booked(self) -> list[Joints | Forces]:
        """All stacks that keep a ledger."""
        return [*self.joints, *self.forces]

    @property
    def implicit_forces(self) -> list[str]:
        """Forces that change faster than the step, and are found together with the reactions of joints (modular/compliant.py)."""
        return [
            forces.names[row]
            for forces in self.forces
            if isinstance(forces, ForceStack) and not forces.rubbing()
            for row in forces.implicit_rows()
        ]

    @property
    def _remembering(self) -> list[Table]:
        """Joints and forces that leave something for the next tick."""
        return [stack for stack in self.booked if isinstance(stack, Table)]

    def save(self) -> dict[str, Any]:
        """A copy of all memory, for repeating a tick in parts; the topology must be the same at `restore`."""
        elements = self.elements
        return {
            "bodies": [bodies.save() for bodies in self.bodies_as(SavesAndRestores)],
            "books": [(stack.ledger.copy(), stack.power.copy(), stack.power_before.copy()) for stack in self.booked],
            "booked": [{name: array.copy() for name, array in stack.memory().items()} for stack in self._remembering],
            "memory": {name: array.copy() for name, array in self.memory.items()},
            "before": (elements.force.copy(), elements.force_before.copy(), elements.velocity_before.copy()),
        }

    def restore(self, memory: dict[str, Any]) -> None:
        """Go back to it."""
        for bodies, state in zip(self.bodies_as(SavesAndRestores), memory["bodies"], strict=True):
            bodies.restore(state)
        for stack, (ledger, power, power_before) in zip(self.booked, memory["books"], strict=True):
            stack.ledger[:], stack.power[:], stack.power_before[:] = ledger, power, power_before
        for table, kept in zip(self._remembering, memory["booked"], strict=True):
            for name, array in kept.items():
                table.memory()[name][:] = array
        self.returns += 1
        self.memory = {name: array.copy() for name, array in memory["memory"].items()}
        elements = self.elements
        elements.force[:], elements.force_before[:], elements.velocity_before[:] = memory["before"]

    @property
    def turns(self) -> bool:
        """Whether seen masses, or what springs ask, change as the bodies turn."""
        found = any(stack.turns for stack in self.booked)
        if found and self.parted is not None:
            check_alike(self.parted, self.body_home, self.joints, self.forces)
        return found

    def _hold(self, owner: str, marks: Sequence[Mark]) -> int:
        start = self.elements.acquire(len(marks))
        for k, mark in enumerate(marks):
            if owner == GROUND:
                self.elements.position[start + k] = mark.value
            else:
                self.body_home[owner].attach(owner, start + k, mark)
        return start

    def _close_ledger(self, name: str, row: Array) -> float:
        """Keep the ledger of a leaving joint or force; what it stored goes with it."""
        ledger = row.copy()
        released = float(ledger[STORED])
        ledger[RELEASED] += released
        ledger[STORED] = 0.0
        close(ledger)
        self.closed[name] = ledger
        return released

    def home(self, use: str) -> JointHome | ForceHome:
        """Where a joint or force lives."""
        return self.joint_home[use] if use in self.joint_home else self.force_home[use]

    def _use(self, name: str, owners: Sequence[str]) -> None:
        for owner in owners:
            if owner != GROUND:
                self.uses[owner] += (name,)

    def _let_go(self, name: str, owner: str, start: int, count: int) -> None:
        if owner != GROUND:
            self.uses[owner] = tuple(use for use in self.uses[owner] if use != name)
            for k in range(count):
                self.body_home[owner].detach(owner, start + k)
        self.elements.release(start, count)
