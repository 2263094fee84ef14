"""The interface as a table: what its kernels and its step need, laid out once per topology."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, cast

import numpy as np

from coordinator.couplings.compositions import tell_stages
from coordinator.couplings.interface import (
    damped,
    deciding,
    fields,
    impact_responses,
    instantaneous,
    islands,
    macro_step,
    matrices,
    nonholonomic,
    position_stage,
    reactions,
    relaxing,
    stepping,
    velocity_stage,
    verbs,
)
from coordinator.couplings.interface.collectives import Collectives, Exchange
from coordinator.couplings.interface.found_forces import FoundForces
from coordinator.couplings.interface.impact_responses import touching, write_touching
from coordinator.couplings.interface.islands import lists_of_islands, take_seats
from coordinator.couplings.interface.layout import lay_out
from coordinator.couplings.interface.members import (
    InterfaceJoint,
    InterfaceJoints,
    Members,
    RemoteJoints,
    all_rows,
    interface_joints_of,
    watched,
)
from coordinator.couplings.interface.segments import PAUSE, segments_of
from coordinator.couplings.interface.switches import KEPT_REACTIONS
from coordinator.couplings.interface.verbs import InPython
from coordinator.engine.program import Operation, compiled, perform
from coordinator.system import System
from modular import gluing
from modular.elements import GAIN_STEP, STEP, TIME, Array, Indices
from modular.table import Number, Table

MAX_ITERATIONS = 40  # iterations of a step
LOOPS = (
    matrices.LOOPS
    | reactions.LOOPS
    | position_stage.LOOPS
    | velocity_stage.LOOPS
    | nonholonomic.LOOPS
    | damped.LOOPS
    | stepping.LOOPS
    | instantaneous.LOOPS
    | impact_responses.LOOPS
    | islands.LOOPS
)


class Interface(Table):
    """All joints of a system as one sparse system of blocks, and a step of glued components as one operation of a program."""

    most_fields = 120
    stages: Array  # shares of a step that make it one of higher order (coordinator/couplings/compositions.py)
    watched: Indices  # elements of forces that read velocities
    spans: Indices  # ranges of the elements that take part
    program: Indices  # operations (verbs.py), and which of them are played together
    segments: Indices
    # numbers (fields.py)
    glides: Number
    implicit: Number
    rubbing: Number
    damped: Number
    joint_count: Number
    trouble: Number
    gap: Number
    turns: Number
    iterations: Number
    left_open: Number
    parts: Number
    budget: Number
    _remote: RemoteJoints
    found_forces: FoundForces  # those that are rows
    collectives: Collectives | None = None  # with other workers, where each moves a part

    def __init__(
        self,
        system: System,
        stages: Sequence[float],
        local: tuple[str, int] | None = None,
        members: Members | None = None,
    ) -> None:
        self.members = Members.everyone(system) if members is None else members
        interface_joints = interface_joints_of(system, self.members.joints)
        self.found_forces = FoundForces(system, self.members)
        interface_joints += self.found_forces.joints(system, len(interface_joints))
        self._begin(
            system,
            stages,
            local,
            interface_joints,
            of_all=len(interface_joints),
            glides=any(joint.glides for joint in interface_joints),
        )
        self._watch(watched(system, self.members))
        self._write_program(None, {})

    @classmethod
    def of_part(
        cls, system: System, interface_joints: InterfaceJoints, remote: RemoteJoints, outgoing: Mapping[int, Any],
        incoming: Mapping[int, Any], boundary_rows: Mapping[int, int],
    ) -> Self:  # fmt: skip
        """That of a part of a system, whose worker exchanges with all others in the middle of every step."""
        interface, settings = cls.__new__(cls), interface_joints.settings
        system.elements.prepare("respond")
        interface.members = Members(
            joints=[], stacks=[all_rows(stack) for stack in system.joints], bodies=[all_rows(stack) for stack in system.bodies],
            forces=[all_rows(stack) for stack in system.forces], elements=[(0, system.elements.count)],
        )  # fmt: skip
        local = None if settings["local"] is None else (str(settings["local"][0]), int(settings["local"][1]))
        interface.found_forces = FoundForces(system, interface.members)
        resolved = interface_joints.resolve(system, remote, interface.found_forces)
        interface._begin(
            system, settings["stages"], local, resolved,
            of_all=interface_joints.count, glides=bool(interface_joints.glides.any()),
        )  # fmt: skip
        interface._remote = remote
        interface._watch(settings["watched"])
        interface.anything_watched, interface.in_parts = settings["anywhere"], interface_joints.apart
        interface.watches_walls = settings["walls"]  # of all workers: they take the same stages
        interface.undivided = settings["undivided"]
        interface.collectives = Collectives(
            system, interface_joints, resolved, outgoing, incoming, interface, interface.bodies
        )
        interface._write_program(interface.collectives, boundary_rows)
        return interface

    def _begin(
        self, system: System, stages: Sequence[float], local: tuple[str, int] | None, interface_joints: Sequence[InterfaceJoint],
        *, of_all: int, glides: bool,
    ) -> None:  # fmt: skip
        """`of_all`: how many joints the whole has; `glides`: whether one of them locks velocities alone."""
        super().__init__(1)
        self.system, self.key, self.local = system, _key(system), local
        for name, columns in (fields.LISTS | {"program": verbs.WIDTH, "segments": 2}).items():
            self.common(name, columns, dtype=np.int64)
        for name in ("watched", "loaded_elements", "others"):
            self.common(name, dtype=np.int64)
        self.common("spans", 2, dtype=np.int64)
        self.common("noted", 3, system.elements.dimension)
        self.common("stages")
        for name in fields.WHOLE_NUMBERS:
            self.fixed(name, dtype=np.int64)
        for name in fields.NUMBERS:
            self.fixed(name)
        for name in fields.STRETCHES:
            self.stretch(name)
        self.fixed("most", fields.ASKED)
        self.loops = LOOPS | (relaxing.LOOPS if local else {})
        self.python = InPython(system.elements)
        self._met = -1  # how often all had gone back to an earlier state when joints met last
        for joints, _ in self.members.stacks:
            gluing.equip(joints)
        self._place("stages", np.array(stages, float))
        self._place("loaded_elements", np.array(self.members.loaded_elements, np.int64))
        self.stage_count, self.most_turns = len(stages), MAX_ITERATIONS
        self._place("others", np.array(self.members.others, np.int64))
        self._place("noted", np.zeros((len(self.members.others), 3, system.elements.dimension)))
        self.other_count, self.loaded_count = len(self.members.others), len(self.members.loaded_elements)
        self.steps, self.slack = self.members.steps, 1.0
        if local is not None:
            self.method, self.local_rounds = relaxing.METHODS[local[0]], local[1]
        self.glides = glides
        self.watches_walls = tell_stages(self.members.forces, stages)
        found = self.found_forces
        self.rubbing, self.implicit = found.rubbing, found.implicit
        self.nonlinear, self.damped = bool(found.nonlinear), found.damped
        self.undivided = any(
            getattr(forces, mark, False)
            for forces, _ in self.members.forces
            for mark in ("forward_only", "begins_and_ends")
        )
        self.loops |= macro_step.LOOPS | deciding.LOOPS if self.rubbing else {}
        self._lay_out(interface_joints, of_all)

    @classmethod
    def of(cls, system: System, stages: Sequence[float], local: tuple[str, int] | None = None) -> Interface:
        """That of a system now; `local`: a method of local iterations, and how many a stage may take."""
        known = system.cache.get("interface")
        if known is None or known.key != _key(system) or (known.stages.tolist(), known.local) != (list(stages), local):
            made = cls(system, stages, local)
            if known is not None:
                made.inherit_counters(known)
            known = system.cache["interface"] = made
        return cast(Interface, known)

    @staticmethod
    def shows_now(system: System) -> bool:
        """Whether a system has an interface without joints, which has let bodies show where they are and how they answer."""
        known = system.cache.get("interface")
        return isinstance(known, Interface) and known.joint_count_of_all == 0 and known._met == system.returns

    def inherit_counters(self, before: Interface) -> None:
        """From what another one has counted."""
        self.restore_counters(before.counter_values)
        if self.joint_count_of_all == before.joint_count_of_all == 0:
            self._met = before._met  # there are no joints to meet

    def restore_counters(self, counter_values: Any) -> None:
        """Go on from these numbers of rounds, of iterations, of what was left open, and of parts of ticks."""
        self.turns, self.iterations, self.left_open, self.parts = counter_values

    def _lay_out(self, interface_joints: Sequence[InterfaceJoint], of_all: int) -> None:
        layout, whole = lay_out(interface_joints, local=self.local is not None), bool(self.system.force_home)
        islands = take_seats(self.system, self.members, whole=whole) if self.local is None else []
        own = lists_of_islands(islands, layout.grips_of, layout.owners, layout.of_contacts)
        write_touching(touching(self.system, self.members, whole=whole), layout.grips_of, own, layout.of_contacts)
        self.touching_count, self.island_count = len(layout.of_contacts["touching"]), len(islands)
        for name, array in layout.lists().items():
            self._place(name, array)
        numbers, rows = layout.numbers, layout.rows
        local = rows if self.local is not None else 0
        motions = self.system.elements.motions
        sizes = {
            "work": numbers, "again": numbers, "work_of_rates": numbers if self.two_matrices else 0,
            "right_side": rows, "bias": rows,
            "scales": rows, "blurs": rows, "reaches": rows, "mismatch": rows if self.glides else 0,
            **dict.fromkeys(("lacked", "awaited", "asked", "moved", "opened"), rows if self.damped else 0), "summands": of_all,
            "body_sums": motions * len(layout.bodies), "found": local, "direction": local, "pushed": local,
            "reactions_before": KEPT_REACTIONS * rows if self.rubbing else 0,
            "whole": layout.largest**2, "held_motions": motions * motions, "held_row": motions,
        }  # fmt: skip
        for name in fields.STRETCHES:
            self.lay(name, np.zeros(sizes.get(name, layout.largest)))
        self.names = Chained([layout.names, *(bodies.names for bodies in self.system.bodies)])
        self.numbers, self.row_count, self.motions = numbers, rows, motions
        self.joint_count, self.joint_count_of_all, self.body_count = len(layout.names), of_all, len(layout.bodies)
        self.product_count, self.ahead_count, self.own_count = len(layout.products), len(layout.ahead), len(layout.own)
        self.bodies = layout.bodies
        self.repeated = sum(joint.repeated for joint in interface_joints)
        self.matrix_of_all = fields.RATES if self.two_matrices else fields.WORK

    def _write_program(self, collectives: Collectives | None, boundary_rows: Mapping[int, int]) -> None:
        """The segments, by the addresses of their loops; of bodies it says where their names begin."""
        elements = self.system.elements
        segments = segments_of(elements, self.members, self, collectives, boundary_rows)
        rows = {
            id(stack): ranges
            for members in (self.members.stacks, self.members.bodies, self.members.forces)
            for stack, ranges in members
        }
        rows |= {id(self): [(0, 1)], id(elements): self.members.elements}
        reaching = rows | {id(stack): ranges for stack, ranges in self.members.reaching}
        self._operations = [
            (operation[0], operation[1])
            for operations in segments.values()
            for operation in operations
            if operation[0] is not self and not isinstance(operation[0], Exchange)
        ]
        self.compiled = all(map(compiled, self._operations))
        self.prepare("")
        who: dict[int, int] = {}
        begin = first = int(self.joint_count)
        for bodies in self.system.bodies:
            who[id(bodies)] = begin
            begin += len(bodies.names)
        program: list[tuple[int, ...]] = []
        places = np.zeros((len(segments), 2), np.int64)
        for which, operations in segments.items():
            places[which, 0] = len(program)
            of = reaching if which == verbs.EXTRAPOLATE_OTHER_SIDES else rows
            for stack, verb, *ranges in operations:
                name = who.get(id(stack), 0 if stack is self else first)
                if verb == PAUSE:
                    assert collectives is not None
                    program.append((collectives.address(stack.kind), 0, 0, 1, name))
                elif compiled((stack, verb)):
                    address = stack.loops[verb].address(stack, elements)
                    meant = ranges[0] if ranges else of.get(id(stack), [(0, stack.count)])
                    program += [(address, stack.sheet, *stretch, name) for stretch in meant]
                else:
                    program.append((self.python.address(stack, verb), 0, 0, 1, name))
            places[which, 1] = len(program)
        self._place("program", np.array(program, np.int64).reshape(-1, verbs.WIDTH))
        self._place("segments", places)
        self.elements_sheet = elements.sheet
        spans = [(0, elements.count)] if self.system.parted is None else self.members.elements
        self._place("spans", np.array(spans, np.int64).reshape(-1, 2))
        self.span_count = len(self.spans)

    def _watch(self, watched: Sequence[int]) -> None:
        """Elements of forces that read velocities."""
        self._place("watched", np.array(watched, np.int64))
        self.anything_watched = self.watched_count = len(watched)

    def prepare(self, verb: str) -> None:
        """Everything that takes part unfolds what it needs; where all went back to an earlier state, joints meet anew."""
        self.system.elements.prepare("respond")
        for stack, operation in self._operations:
            if compiled((stack, operation)):
                stack.prepare(operation)
        if verb in ("advance", "approach") and self.collectives is None and self._met != self.system.returns:
            self._met = self.system.returns
            self.found_forces.put()
            clock = self.system.elements.clock
            end, clock[TIME] = clock[TIME], self.system.time(float(clock[GAIN_STEP]))
            self.perform("update_operator")
            clock[TIME] = end

    def perform(self, verb: str) -> str | None:
        """Play one of the verbs of the interface; the name of who went wrong, if any."""
        wrong = perform(self.system.elements, [(self, verb)])
        self.python.tell()
        return wrong

    def open_by(self) -> float:
        """The largest error of its joints as they were last looked at, as a multiple of what may stay open."""
        length, turn = self.system.elements.tolerance
        largest = [0.0]
        for joints, rows in self.members.stacks:
            errors = np.concatenate([np.abs(joints.error[first:last]) for first, last in rows])
            lengths = joints.form.translations
            largest += [
                float((part / limit).max(initial=0.0))
                for part, limit in ((errors[:, :lengths], length), (errors[:, lengths:], turn))
            ]
        return max(largest)

    @property
    def why(self) -> int:
        """Why the last step found no end."""
        return int(self.trouble)

    def reason(self, name: str, coupling: str) -> str | None:
        """The same in words, where `name` is who went wrong."""
        if self.why == fields.OPEN and (name in self.system.joint_home or name in self.system.force_home):
            gap = float(self.gap)
            left = f"stays open by {gap:.2g}" if np.isfinite(gap) else "opens further with each one that was tried"
            return f"{coupling} found no reactions that close all joints; '{name}' {left}"
        found = name in self.system.force_home
        return {
            fields.UNSETTLED: "velocities and the forces that depend on them did not agree; dampers are too strong for this step",
            fields.UNEQUAL: f"the {'efforts of' if found else 'reactions of'} '{name}', which "
            f"{'damps faster than the step' if found else 'locks velocities alone'}, did not converge",
        }.get(self.why)

    @property
    def counters(self) -> dict[str, float]:
        """What it counted: rounds of steps, local iterations, and the most that was left open, as a share of the extent."""
        found = {"rounds": float(self.turns)} | ({"parts": float(self.parts)} if self.parts else {})
        if self.local is not None:
            found |= {"iterations": float(self.iterations), "left open": float(self.left_open)}
        return found

    @property
    def spent(self) -> bool:
        """Whether a stage has ended for want of iterations: open by more than where no iteration helps."""
        return bool(
            self.budget == 0
            or self.left_open > position_stage.STALLED_TOLERANCE_FACTOR * self.system.elements.tolerance[1]
        )

    @property
    def two_matrices(self) -> bool:
        """Whether joints answer otherwise to rates than to places: some lock velocities alone, or give."""
        return bool(self.glides or self.implicit)

    @property
    def apart(self) -> bool:
        """Whether those who move a part each need to know nothing of the joints of others but what all add up to."""
        return self.local is not None and self.local[0] in relaxing.TOGETHER

    # --- in parts ----------------------------------------------------------------------------------------------------

    def begin_part(self) -> None:
        """Stand where a part begins, or has gone back to: factors from what joints have shown, and what was counted."""
        self.restore_counters(self._remote.counter_values)
        self.found_forces.put()
        for array, kept in self.found_forces.kept_at_end_of(self._remote.row_numbers):
            array[...] = kept
        clock = self.system.elements.clock
        clock[STEP] = clock[GAIN_STEP]
        for rows in self.found_forces.stacks:
            rows.play("compute_gains", self.system.elements)
        self.gains_step = 0.0
        for place in (fields.WORK, fields.RATES) if self.two_matrices else (fields.WORK,):
            self.matrix = place
            self.perform("factorise")
        if self.island_count:
            self.perform("answer_through_joints")

    def end_part(self) -> None:
        """What was counted goes on with the state of a part; what something in plain Python has raised is raised."""
        self._remote.counter_values[:] = self.counter_values
        for array, kept in self.found_forces.kept_at_end_of(self._remote.row_numbers):
            kept[...] = array
        self.python.tell()

    @property
    def counter_values(self) -> tuple[float, float, float, float]:
        """Rounds, local iterations, the most that was left open, and parts of ticks in which bodies turned too far."""
        return int(self.turns), int(self.iterations), float(self.left_open), int(self.parts)

    def take_back(self, counter_values: Any, ending: Sequence[Operation]) -> None:
        """All parts are here again, where others have brought them; what ends a tick in which somebody looks was left to us."""
        self.system.returns += 1
        self.prepare("advance")
        perform(self.system.elements, ending)
        self.python.tell()
        self.restore_counters(counter_values)


class Chained(Sequence[str]):
    """Names of several lists, one after the other; nothing is copied."""

    def __init__(self, lists: Sequence[Sequence[str]]) -> None:
        self._lists = lists

    def __len__(self) -> int:
        return sum(map(len, self._lists))

    def __getitem__(self, place: Any) -> Any:
        for names in self._lists:
            if place < len(names):
                return names[place]
            place -= len(names)
        raise IndexError(place)


def _key(system: System) -> tuple[Any, ...]:
    return system.version, id(system), id(system.elements), system.elements.sheet
