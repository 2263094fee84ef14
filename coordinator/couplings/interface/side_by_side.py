"""Interfaces of models that stand side by side in one system: each closes its joints by itself, as if it stood alone.

So a step of one does not know how many rounds another takes, and its bits are those of its single run. What all rows do alike is
played for many models at once (advance_together.py).

Interfaces of models that are alike, from that of the first: the same lists and numbers, with the rows and addresses of each.

Nothing is an object for every model: numbers of all interfaces lie in blocks, a row for each, and a sheet says where.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from coordinator.couplings.interface.advance_together import (
    ADVANCE,
    ALIKE,
    DRIFTS,
    IMPULSES,
    OWN,
    REACT,
    SETTLE,
    UPDATE,
    VERBS,
    advance_together_loop,
)
from coordinator.couplings.interface.interface import MAX_ITERATIONS, Interface
from coordinator.couplings.interface.members import Members, ranges_of
from coordinator.couplings.interface.projection import REST_SPEED_TOLERANCE, book_impacts, largest_of
from coordinator.couplings.interface.tiled_members import TiledMembers, tiled_members
from coordinator.couplings.interface.verbs import COMPONENT, DRIFT, FROM, TO, WIDTH
from coordinator.engine.program import perform
from coordinator.system import System
from modular.elements import GAIN_STEP, TIME, Array, Indices
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, call, loop
from modular.table import SPARE_NUMBERS, Number, Table
from modular.views import View

BODIES_NEAR = 512  # that go through the stages of a step together: what is known of them stays near the processor
WITHOUT_ADDRESSES = ("program", "segments", "spans")
Rows = dict[int, Indices]  # by the identity of a stack, where the rows of each model begin


class Copies:
    """Numbers and lists of the interfaces of all models."""

    def __init__(self, first: Interface, members: Sequence[Members], begins: Rows) -> None:
        count = len(members)
        self.first = first
        self.sheets: Indices = np.zeros(count, np.int64)
        self._blocks: dict[str, Any] = {}
        self._sheets = np.tile(first._sheet, (count, 1))
        self.sheets[:] = self._sheets.ctypes.data + self._sheets.strides[0] * np.arange(count)
        self.program = self._programs(members, begins)
        of_each = {"program": self.program, "spans": spans_of(members)}
        known = _columns(members[0])
        for name, place in first._place_of.items():
            array: Any = first.__dict__[name]
            whole = of_each.get(name)
            if whole is None:
                whole = np.broadcast_to(array, (count, *array.shape))
                if array.dtype == np.int64 and name not in WITHOUT_ADDRESSES and array.size:
                    whole = _moved(whole, known, begins)
            block = np.zeros((count, array.size + SPARE_NUMBERS), array.dtype)
            block[:, : array.size] = whole.reshape(count, -1)
            self._blocks[name] = block
            self._sheets[:, 2 * place] = block.ctypes.data + block.strides[0] * np.arange(count)

    @classmethod
    def of(cls, first: Interface, members: Sequence[Members]) -> Copies | None:
        """Those of models that are alike; None where they are not, or hold what has to be laid out for each."""
        if first.implicit or first.glides or first.damped or first.anything_watched or first.touching_count:
            return None
        if not first.compiled or first.loaded_count:
            return None
        if isinstance(members, TiledMembers):
            return cls(first, members, members.begins)
        begins: Rows = {}
        for part in ("stacks", "bodies", "forces"):
            lists = [getattr(each, part) for each in members]
            if any(len(each) != len(lists[0]) for each in lists):
                return None
            for places in zip(*lists, strict=True):
                stack, size = places[0][0], places[0][1][0][1] - places[0][1][0][0]
                if any(each is not stack or len(rows) != 1 or rows[0][1] - rows[0][0] != size for each, rows in places):
                    return None
                begins[id(stack)] = np.array([rows[0][0] for _, rows in places])
        shapes = [[last - start for start, last in each.elements] for each in members]
        return cls(first, members, begins) if all(shape == shapes[0] for shape in shapes) else None

    def _programs(self, members: Sequence[Members], begins: Rows) -> Indices:
        """The operations of each, (models, operations, columns)."""
        first, count = self.first, len(members)
        found = np.tile(first.program, (count, 1, 1))
        own = first.program[:, COMPONENT] == first.sheet
        found[:, own, COMPONENT] = self.sheets[:, None]
        for part in ("stacks", "bodies", "forces"):
            for stack, _ in getattr(members[0], part):
                if isinstance(stack, Table):
                    these = first.program[:, COMPONENT] == stack.sheet
                    shift = begins[id(stack)] - begins[id(stack)][0]
                    found[:, these, FROM] += shift[:, None]
                    found[:, these, TO] += shift[:, None]
        of_elements = np.flatnonzero(first.program[:, COMPONENT] == first.system.elements.sheet)
        places = {tuple(span): k for k, span in enumerate(map(tuple, members[0].elements))}
        spans = spans_of(members)
        for op in of_elements:
            k = places[int(first.program[op, FROM]), int(first.program[op, TO])]
            found[:, op, FROM], found[:, op, TO] = spans[:, k, 0], spans[:, k, 1]
        return found

    def numbers(self, name: str) -> Array:
        """A number of each."""
        found: Array = self._blocks[name][:, 0]
        return found


def spans_of(members: Sequence[Members]) -> Indices:
    """Elements of each, (models, ranges, 2)."""
    return (
        members.spans if isinstance(members, TiledMembers) else np.array([each.elements for each in members], np.int64)
    )


def _columns(members: Members) -> list[tuple[int, int, int, int]]:
    """Where columns of joints lie: first address, beyond the last, bytes of a row, identity of the stack."""
    found = []
    for stack, _ in members.stacks:
        for name in stack._columns:
            array = getattr(stack, name)
            if array.nbytes:
                found.append(
                    (array.ctypes.data, array.ctypes.data + len(array) * array.strides[0], array.strides[0], id(stack))
                )
    return found


def _moved(whole: Any, known: Sequence[tuple[int, int, int, int]], begins: Rows) -> Indices:
    """Lists of all models: what is an address in a column of joints lies as many rows further on as those of the model do."""
    found = np.array(whole, np.int64)
    for begin, end, width, stack in known:
        inside = (found[0] >= begin) & (found[0] < end)
        if inside.any():
            shift = (begins[stack] - begins[stack][0]) * width
            found[:, inside] += shift[:, None]
    return found


class SideBySide(Table):
    """The interfaces of several models of one system: a sheet each, and one object, that of the first."""

    sheets: Indices  # of the interfaces, one after the other
    addresses: Indices  # of the loops that interfaces play as a whole
    states: Indices  # who takes part in what is played
    model_count: Number
    first_model: Number  # of those that are in their stages, and beyond the last
    last_model: Number
    neighbours: Number  # that go through their stages together
    elements_sheet: Number
    stage_count: Number
    most_turns: Number
    program: Indices
    segments: Indices

    def __init__(self, system: System, stages: Sequence[float], local: tuple[str, int] | None = None) -> None:
        super().__init__(1)
        self.system, self.stages, self.local = system, np.array(stages, float), local
        self.key = system.version, id(system), id(system.elements), system.elements.sheet
        for name in ("sheets", "addresses", "begins", "ends", "kinds", "flags", "states", "open"):
            self.stretch(name, dtype=np.int64)
        self.stretch("shares")
        self.common("program", WIDTH, dtype=np.int64)
        self.common("segments", 2, dtype=np.int64)
        for name in (
            "model_count", "first_model", "last_model", "neighbours", "elements_sheet", "stage_count", "most_turns",
        ):  # fmt: skip
            self.fixed(name, dtype=np.int64)
        self.members: Sequence[Members] = tiled_members(system) or members_of(system)
        self.first = Interface(system, stages, local, self.members[0])
        self.names = names_of(self.members)
        count = len(self.members)
        self.copies = Copies.of(self.first, self.members) if local is None else None
        self.parts = [self.first]
        if self.copies is None:
            self.parts += [Interface(system, stages, local, members) for members in self.members[1:]]
        found = [part.sheet for part in self.parts] if self.copies is None else self.copies.sheets
        self.lay("sheets", np.array(found, np.int64))
        self.lay("addresses", np.zeros(len(VERBS), np.int64))
        self.lay("shares", self.stages)
        for name in ("states", "open"):
            self.lay(name, np.ones(count, np.int64))
        self.model_count, self.elements_sheet = count, system.elements.sheet
        self.neighbours = max(1, BODIES_NEAR * count // max(len(system.body_home), 1))
        self.stage_count, self.most_turns = len(stages), MAX_ITERATIONS
        self.loops = dict(LOOPS)
        self.compiled = all(part.compiled for part in self.parts)
        self._met = -1
        if self.copies is not None and self.compiled:
            self._advance_together(self.copies)

    @classmethod
    def of(cls, system: System, stages: Sequence[float], local: tuple[str, int] | None = None) -> SideBySide:
        """Those of a system now."""
        key = system.version, id(system), id(system.elements), system.elements.sheet
        known = system.cache.get("interface")
        if known is None or known.key != key or known.stages.tolist() != list(stages):
            known = system.cache["interface"] = cls(system, stages, local)
        return cast(SideBySide, known)

    def prepare(self, verb: str) -> None:
        """Stacks are those of all: what one interface needs of them, all do. At first joints meet."""
        first = self.first
        first.prepare("")
        for k, played in enumerate(VERBS):
            self.addresses[k] = first.loops[played].address(first, self.system.elements)
        if verb == "advance" and self._met != self.system.returns:
            self._met = self.system.returns
            clock = self.system.elements.clock
            end, clock[TIME] = clock[TIME], self.system.time(float(clock[GAIN_STEP]))
            self.perform("update_operator")
            clock[TIME] = end

    def _advance_together(self, copies: Copies) -> None:
        """Rows of neighbours follow each other, so all advance together."""
        first = self.first
        self._place("program", first.program.copy())
        self._place("segments", first.segments.copy())
        own = first.program[:, COMPONENT] == first.sheet
        drifts, flags = np.zeros(len(own), bool), np.zeros(len(own), np.int64)
        sheets = {stack.sheet: stack for stack in self.system.bodies if isinstance(stack, Table)}
        for op in range(*first.segments[DRIFT]):
            stack: Any = sheets.get(int(first.program[op, COMPONENT]))
            if stack is None:
                continue
            stack.prepare("drift")
            if "ajar" in stack.together[0]:
                flags[op] = stack.ajar.ctypes.data
            else:
                drifts[op] = True
        self.lay("begins", np.ascontiguousarray(copies.program[:, :, FROM].T).ravel())  # (operations, models)
        self.lay("ends", np.ascontiguousarray(copies.program[:, :, TO].T).ravel())
        self.lay("kinds", np.where(own, OWN, np.where(drifts, DRIFTS, ALIKE)).astype(np.int64))
        self.lay("flags", flags)
        follow = copies.program[1:, :, FROM] == copies.program[:-1, :, TO]
        if (follow | own).all():
            self.loops["advance"] = advance_together_loop

    def perform(self, verb: str) -> str | None:
        """Play one of the verbs of all interfaces; who of the first went wrong, if any."""
        self.states[:] = 1
        return perform(self.system.elements, [(self, verb)])

    def project_velocities(self) -> None:
        """In each model that moves against its joints one impulse of all of them (projection.py)."""
        if isinstance(self.members, TiledMembers):
            moving, fastest = self.members.largest("stacks", "rate"), self.members.largest("bodies", "v")
        else:
            moving, fastest = np.zeros(len(self.members)), np.zeros(len(self.members))
            for k, members in enumerate(self.members):
                moving[k] = largest_of((joints.rate, rows) for joints, rows in members.stacks)
                fastest[k] = largest_of((bodies.state()["v"], rows) for bodies, rows in members.bodies)
        if not moving.any():
            return
        elements = self.system.elements
        elements.velocity_before[:] = elements.velocity
        elements.force[:] = 0.0
        self.states[:] = moving > 0.0
        perform(elements, [(self, "apply_joint_impulses")])
        elements.force_before[:] = elements.force
        for k in np.flatnonzero(moving > REST_SPEED_TOLERANCE * np.maximum(1.0, fastest)).tolist():
            book_impacts(elements, self.members[k].stacks)

    @property
    def counters(self) -> dict[str, float]:
        """Rounds of all."""
        found = {
            name: float(np.sum(self._each(counted))) for name, counted in (("rounds", "turns"), ("parts", "parts"))
        }
        return found if found["parts"] else {"rounds": found["rounds"]}

    def _each(self, name: str) -> Sequence[float]:
        """A number of each interface."""
        if self.copies is None:
            return [float(getattr(part, name)) for part in self.parts]
        found: list[float] = self.copies.numbers(name).tolist()
        return found

    def reason(self, name: str, coupling: str) -> str | None:
        """Each is looked at by itself (coordinator/ensemble)."""
        return None

    @property
    def spent(self) -> bool:
        """Nobody looks for more iterations of all."""
        return False

    @property
    def why(self) -> int:
        """Nobody looks for a shorter step of all."""
        return 0


def names_of(members: Sequence[Members]) -> list[str]:
    """A joint of each of several models, or a body where there is none."""
    if isinstance(members, TiledMembers):
        return members.named()
    return [each.joints[0] if each.joints else _a_body_of(each) for each in members]


def _a_body_of(members: Members) -> str:
    stack, rows = members.bodies[0]
    return str(stack.names[rows[0][0]])


def members_of(system: System) -> list[Members]:
    """Who takes part in each of the models that stand side by side, in the order of their numbers."""
    parted = system.parted
    assert parted is not None
    models = {name: parted(name)[1] for name in (*system.body_home, *system.joint_home, *system.force_home)}
    found = {
        model: Members(joints=[], stacks=[], bodies=[], forces=[], elements=[])
        for model in sorted(set(models.values()))
    }
    for part, stacks in (("bodies", system.bodies), ("stacks", system.joints), ("forces", system.forces)):
        for stack in stacks:
            rows: dict[int, list[int]] = {}
            for row, name in enumerate(cast(Any, stack).names):
                rows.setdefault(models[name], []).append(row)
            for model, own in rows.items():
                getattr(found[model], part).append((stack, ranges_of(own)))
    for name in system.joint_home:
        found[models[name]].joints.append(name)
    elements: dict[int, list[int]] = {model: [] for model in found}
    for use in (*system.joint_home, *system.force_home):
        home = system.home(use)
        for start, count in zip(home.starts, home.counts, strict=True):
            elements[models[use]].extend(range(start, start + count))
    for model, own in elements.items():
        found[model].elements.extend(ranges_of(sorted(own)))
    return list(found.values())


@kernel
def each(table: View, which: int) -> int:
    """Let every interface play a verb; the first model in which something went wrong, or -1."""
    wrong = NO_FAILED_ROW
    for k in range(table.model_count):
        if table.states[k] == 0:
            continue
        found = call(table.addresses[which], 0, 1, table.sheets[k], table.elements_sheet)
        if found >= 0 and wrong < 0:
            wrong = k
    return wrong


@loop
def advance_each(start: int, stop: int, table: View, elements: View) -> int:
    """One macro step of each."""
    return each(table, ADVANCE)


@loop
def react_each(start: int, stop: int, table: View, elements: View) -> int:
    """Reactions and accelerations of each, as they are at this instant."""
    return each(table, REACT)


@loop
def settle_each(start: int, stop: int, table: View, elements: View) -> int:
    """Forces, reactions and accelerations of each."""
    return each(table, SETTLE)


@loop
def update_each(start: int, stop: int, table: View, elements: View) -> int:
    """Where everything of each stands, and what moves against joints."""
    return each(table, UPDATE)


@loop
def push_each(start: int, stop: int, table: View, elements: View) -> int:
    """Impulses that stop what moves against joints, of those that take part."""
    return each(table, IMPULSES)


LOOPS = {
    "advance": advance_each, "compute_reactions": react_each, "settle": settle_each, "update_operator": update_each,
    "apply_joint_impulses": push_each,
}  # fmt: skip
