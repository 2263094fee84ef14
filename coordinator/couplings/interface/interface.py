"""The interface as a table: what its kernels and its step need, laid out once per topology."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, cast

import numpy as np

from coordinator.couplings.interface import closing, instants, kicking, matrices, reactions, relaxing, stepping, verbs
from coordinator.couplings.interface import face as fields
from coordinator.couplings.interface.in_python import InPython
from coordinator.couplings.interface.layout import lay_out
from coordinator.couplings.interface.members import Members, whole
from coordinator.couplings.interface.seats import Elsewhere, Seat, Seats, seats_of
from coordinator.couplings.interface.segments import PAUSE, segments_of
from coordinator.couplings.interface.talking import Exchange, Talk
from coordinator.engine.score import Part, compiled, perform
from coordinator.system import System
from modular import gluing
from modular.elements import GAIN_STEP, TIME, Array, Indices
from modular.table import Number, Table

MOST = 40  # iterations of a step
LOOPS = matrices.LOOPS | reactions.LOOPS | closing.LOOPS | kicking.LOOPS | stepping.LOOPS | instants.LOOPS


class Interface(Table):
    """All joints of a system as one sparse system of blocks, and a step of glued components as one part of a score."""

    most_fields = 80
    stages: Array  # shares of a step that make it one of higher order (coordinator/couplings/compositions.py)
    watched: Indices  # elements of forces that read velocities
    # numbers (face.py)
    glides: Number
    joint_count: Number
    trouble: Number
    gap: Number
    turns: Number
    iterations: Number
    left_open: Number
    budget: Number
    _elsewhere: Elsewhere
    talk: Talk | None = None  # with other workers, where each moves a part

    def __init__(
        self,
        system: System,
        stages: Sequence[float],
        local: tuple[str, int] | None = None,
        members: Members | None = None,
    ) -> None:
        self.members = Members.everyone(system) if members is None else members
        seats = seats_of(system, self.members.joints)
        self._begin(system, stages, local, seats, of_all=len(seats), glides=any(seat.glides for seat in seats))
        self._watch(_watched(system, self.members))
        self._write_program(None, {})

    @classmethod
    def of_part(
        cls, system: System, seats: Seats, elsewhere: Elsewhere, telling: Mapping[int, Any], hearing: Mapping[int, Any],
        at_border: Mapping[int, int],
    ) -> Self:  # fmt: skip
        """That of a part of a system, whose worker talks with all others in the middle of every step."""
        face, told = cls.__new__(cls), seats.told
        system.elements.prepare("respond")
        face.members = Members(
            joints=[], stacks=[whole(stack) for stack in system.joints], bodies=[whole(stack) for stack in system.bodies],
            forces=[whole(stack) for stack in system.forces], elements=[(0, system.elements.count)],
        )  # fmt: skip
        local = None if told["local"] is None else (str(told["local"][0]), int(told["local"][1]))
        face._begin(
            system, told["stages"], local, seats.taken(system, elsewhere), of_all=seats.count,
            glides=bool(seats.glides.any()),
        )  # fmt: skip
        face._elsewhere = elsewhere
        face._watch(told["watched"])
        face.anything_watched, face.in_parts = told["anywhere"], seats.apart
        face.talk = Talk(system, seats, elsewhere, telling, hearing, face, face.bodies)
        face._write_program(face.talk, at_border)
        return face

    def _begin(
        self, system: System, stages: Sequence[float], local: tuple[str, int] | None, seats: Sequence[Seat],
        *, of_all: int, glides: bool,
    ) -> None:  # fmt: skip
        """`of_all`: how many joints the whole has; `glides`: whether one of them locks velocities alone."""
        super().__init__(1)
        self.system, self.key, self.local = system, _key(system), local
        for name, columns in (fields.LISTS | {"program": verbs.WIDTH, "segments": 2}).items():
            self.common(name, columns, dtype=np.int64)
        for name in ("watched", "tolls", "others"):
            self.common(name, dtype=np.int64)
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
        self._place("tolls", np.array(self.members.tolls, np.int64))
        self.stage_count, self.most_turns = len(stages), MOST
        self._place("others", np.array(self.members.others, np.int64))
        self._place("noted", np.zeros((len(self.members.others), 3, system.elements.dimension)))
        self.other_count, self.toll_count = len(self.members.others), len(self.members.tolls)
        self.steps = self.members.steps
        if local is not None:
            self.method, self.local_rounds = relaxing.METHODS[local[0]], local[1]
        self.glides = glides
        self._lay_out(seats, of_all)

    @classmethod
    def of(cls, system: System, stages: Sequence[float], local: tuple[str, int] | None = None) -> Interface:
        """That of a system now; `local`: a method of local iterations, and how many a stage may take."""
        known = system.workshop.get("interface")
        if known is None or known.key != _key(system) or (known.stages.tolist(), known.local) != (list(stages), local):
            made = cls(system, stages, local)
            if known is not None:
                made.go_on_counting(known)
            known = system.workshop["interface"] = made
        return cast(Interface, known)

    def go_on_counting(self, before: Interface) -> None:
        """From what another one has counted."""
        self.count_from(before.counted)

    def count_from(self, counted: Any) -> None:
        """Go on from these numbers of rounds, of iterations, and of what was left open."""
        self.turns, self.iterations, self.left_open = counted

    def _lay_out(self, seats: Sequence[Seat], of_all: int) -> None:
        layout = lay_out(seats, local=self.local is not None)
        for name, array in layout.lists().items():
            self._place(name, array)
        numbers, rows = layout.numbers, layout.rows
        local = rows if self.local is not None else 0
        motions = self.system.elements.motions
        sizes = {
            "work": numbers, "again": numbers, "work_of_rates": numbers if self.glides else 0, "right_side": rows, "bias": rows,
            "scales": rows, "blurs": rows, "reaches": rows, "unlike": rows if self.glides else 0, "summands": of_all,
            "body_sums": motions * len(layout.bodies), "found": local, "direction": local, "pushed": local,
            "whole": layout.largest**2,
        }  # fmt: skip
        for name in fields.STRETCHES:
            self.lay(name, np.zeros(sizes.get(name, layout.largest)))
        self.names = [*layout.names, *(name for bodies in self.system.bodies for name in bodies.names)]
        self.numbers, self.row_count, self.motions = numbers, rows, motions
        self.joint_count, self.joint_count_of_all, self.body_count = len(layout.names), of_all, len(layout.bodies)
        self.product_count, self.ahead_count, self.own_count = len(layout.products), len(layout.ahead), len(layout.own)
        self.bodies = layout.bodies
        self.repeated = sum(seat.repeated for seat in seats)
        self.matrix_of_all = fields.RATES if self.glides else fields.WORK

    def _write_program(self, talk: Talk | None, at_border: Mapping[int, int]) -> None:
        """The segments, by the addresses of their loops; of bodies it says where their names begin."""
        elements = self.system.elements
        segments = segments_of(elements, self.members, self, talk, at_border)
        rows = {
            id(stack): ranges
            for members in (self.members.stacks, self.members.bodies, self.members.forces)
            for stack, ranges in members
        }
        rows |= {id(self): [(0, 1)], id(elements): self.members.elements}
        reaching = rows | {id(stack): ranges for stack, ranges in self.members.reaching}
        self._parts = [
            (part[0], part[1])
            for parts in segments.values()
            for part in parts
            if part[0] is not self and not isinstance(part[0], Exchange)
        ]
        self.compiled = all(map(compiled, self._parts))
        self.prepare("")
        who: dict[int, int] = {}
        begin = first = int(self.joint_count)
        for bodies in self.system.bodies:
            who[id(bodies)] = begin
            begin += len(bodies.names)
        program: list[tuple[int, ...]] = []
        places = np.zeros((len(segments), 2), np.int64)
        for which, parts in segments.items():
            places[which, 0] = len(program)
            of = reaching if which == verbs.FORETELL else rows
            for stack, verb, *stretches in parts:
                name = who.get(id(stack), 0 if stack is self else first)
                if verb == PAUSE:
                    assert talk is not None
                    program.append((talk.address(stack.kind), 0, 0, 1, name))
                elif compiled((stack, verb)):
                    address = stack.loops[verb].address(stack, elements)
                    meant = stretches[0] if stretches else of.get(id(stack), [(0, stack.count)])
                    program += [(address, stack.sheet, *stretch, name) for stretch in meant]
                else:
                    program.append((self.python.address(stack, verb), 0, 0, 1, name))
            places[which, 1] = len(program)
        self._place("program", np.array(program, np.int64).reshape(-1, verbs.WIDTH))
        self._place("segments", places)
        self.elements_sheet, self.element_count = elements.sheet, elements.count

    def _watch(self, watched: Sequence[int]) -> None:
        """Elements of forces that read velocities."""
        self._place("watched", np.array(watched, np.int64))
        self.anything_watched = self.watched_count = len(watched)

    def prepare(self, verb: str) -> None:
        """Everything that takes part unfolds what it needs; where all went back to an earlier state, joints meet anew."""
        self.system.elements.prepare("respond")
        for stack, part in self._parts:
            if compiled((stack, part)):
                stack.prepare(part)
        if verb in ("advance", "approach") and self.talk is None and self._met != self.system.returns:
            self._met = self.system.returns
            clock = self.system.elements.clock
            end, clock[TIME] = clock[TIME], self.system.time(float(clock[GAIN_STEP]))
            self.perform("meet")
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
        if self.why == fields.OPEN and name in self.system.joint_home:
            gap = float(self.gap)
            left = f"stays open by {gap:.2g}" if np.isfinite(gap) else "is flung apart by all that were tried"
            return f"{coupling} found no reactions that close all joints; '{name}' {left}"
        return {
            fields.UNSETTLED: "velocities and the forces that depend on them did not agree; dampers are too strong for this step",
            fields.UNEQUAL: "the reactions of joints that lock velocities alone did not settle",
        }.get(self.why)

    @property
    def told(self) -> dict[str, float]:
        """What it counted: rounds of steps, local iterations, and the most that was left open, as a share of the extent."""
        found = {"rounds": float(self.turns)}
        if self.local is not None:
            found |= {"iterations": float(self.iterations), "left open": float(self.left_open)}
        return found

    @property
    def spent(self) -> bool:
        """Whether a stage has ended for want of iterations: open by more than where no iteration helps."""
        return bool(self.budget == 0 or self.left_open > closing.CLOSE * self.system.elements.tolerance[1])

    @property
    def apart(self) -> bool:
        """Whether those who move a part each need to know nothing of the joints of others but what all add up to."""
        return self.local is not None and self.local[0] in relaxing.TOGETHER

    # --- in parts ----------------------------------------------------------------------------------------------------

    def begin_part(self) -> None:
        """Stand where a part begins, or has gone back to: factors from what joints have shown, and what was counted."""
        self.count_from(self._elsewhere.counted)
        for place in (fields.WORK, fields.RATES) if self.glides else (fields.WORK,):
            self.matrix = place
            self.perform("weigh")

    def end_part(self) -> None:
        """What was counted goes on with the state of a part; what something in plain Python has raised is raised."""
        self._elsewhere.counted[:] = self.counted
        self.python.tell()

    @property
    def counted(self) -> tuple[float, float, float]:
        """Rounds, local iterations, and the most that was left open."""
        return int(self.turns), int(self.iterations), float(self.left_open)

    def take_back(self, counted: Any, ending: Sequence[Part]) -> None:
        """All parts are here again, where others have brought them; what ends a tick in which somebody looks was left to us."""
        self.system.returns += 1
        self.prepare("advance")
        perform(self.system.elements, ending)
        self.python.tell()
        self.count_from(counted)


def tolerate(system: System, share: float) -> None:
    """What may stay open: a share of the extent of the system, and of a right angle."""
    extent = max([float(np.abs(bodies.state()["q"]).max(initial=0.0)) for bodies in system.bodies] or [0.0])
    system.elements.tolerance[:] = share * (extent or 1.0), share


def _watched(system: System, members: Members) -> list[int]:
    """Elements of forces that read velocities."""
    reading = {
        name
        for forces, rows in members.forces
        for name in forces.read_velocity
        if any(first <= forces.row[name] < last for first, last in rows)
    }
    homes = [home for name, home in system.force_home.items() if name in reading]
    pairs = [pair for home in homes for pair in zip(home.starts, home.counts, strict=True)]
    return [start + k for start, count in pairs for k in range(count)]


def _key(system: System) -> tuple[Any, ...]:
    return system.version, id(system), id(system.elements), system.elements.sheet
