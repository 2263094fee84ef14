"""A step of a centralized solver as one operation of a program: the table of what its loops need, laid out once per topology."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from coordinator.couplings.centralized.compiled import fields
from coordinator.couplings.centralized.compiled.factors import Factors
from coordinator.couplings.centralized.compiled.parts import Parts, Row, address, can_be_compiled, is_bent
from coordinator.couplings.centralized.curvature import constant
from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.saddle import REGULARISATION
from coordinator.couplings.centralized.tangents import slopes_of_joints
from coordinator.engine.program import Operation, perform
from coordinator.system import System
from modular.elements import STEP, TIME, Elements
from modular.joint_loops import hold_loop
from modular.joints import Joints
from modular.loop import Loop
from modular.table import Number, Table


class CompiledStep(Table):
    """A step of a whole system, by loops of its parts; `names` of its only row: who is looked at where there is no next state."""

    most_fields = 96
    evaluations: Number
    factorisations: Number
    iterations: Number
    factored_now: Number
    alpha: Number
    names: tuple[str, ...] = ("the whole",)

    def __init__(
        self, equations: Equations, parts: Parts, factors: Factors, at_rest: Factors, advance: Loop, alpha: float
    ) -> None:
        super().__init__(1)
        self.equations, self.system = equations, equations.system
        self._parts, self._factors, self._at_rest = parts, factors, at_rest
        for name, columns in fields.LISTS.items():
            self.common(name, columns, dtype=np.int64)
        for name in fields.PLACES:
            self.common(name, dtype=np.int64)
        for name in fields.WHOLE_NUMBERS:
            self.fixed(name, dtype=np.int64)
        for name in fields.NUMBERS:
            self.fixed(name)
        self.loops = {"advance": advance}
        self._lay_vectors()
        self._lay_lists()
        self._lay_members()
        self._write_program()
        self._know_factors()
        self.alpha, self.extent = alpha, equations.extent
        for joints in equations.joints:  # nobody else writes there
            joints.stiffness[: joints.count] = joints.damping[: joints.count] = 0.0

    @classmethod
    def of(cls, equations: Equations, advance: Loop, alpha: float) -> CompiledStep | None:
        """That of a system now; None where a part of it has no loops for that."""
        if not can_be_compiled(equations):
            return None
        parts = Parts(equations)
        factors, at_rest = parts.factors(coupled=True), parts.factors(coupled=False)
        return None if factors is None or at_rest is None else cls(equations, parts, factors, at_rest, advance, alpha)

    # --- between ticks -------------------------------------------------------------------------------------------------

    def take_memory(self) -> None:
        """Work on what the system remembers, wherever that lies by now."""
        system, size, rows = self.system, self.equations.size, self.equations.rows
        numbers = fields.REFERENCE + 2 * size + rows
        if system.memory.get("factored", np.empty(0)).shape != (numbers,):
            system.memory["factored"] = np.zeros(numbers)
        for name, key in zip(fields.REMEMBERED, ("a", "multipliers", "factored"), strict=True):
            if self.__dict__.get(name) is not system.memory[key]:
                system.memory[key] = np.ascontiguousarray(system.memory[key], float)
                self.lay(name, system.memory[key])

    def tell(self) -> None:
        """Let the system count the evaluations since this was asked last."""
        self.system.evaluations += int(self.evaluations)
        self.evaluations = 0

    def advance(self, h: float, end: float) -> bool:
        """One step; whether there is a next state."""
        self.take_memory()
        clock = self.system.elements.clock
        clock[STEP], clock[TIME] = h, end
        found = perform(self.system.elements, [(self, "advance")]) is None
        self.tell()
        return found

    # --- laid out ------------------------------------------------------------------------------------------------------

    def _lay_vectors(self) -> None:
        equations, elements = self.equations, self.system.elements
        size, rows, unknowns = equations.size, equations.rows, self._factors.layout.rows
        sizes = dict.fromkeys(fields.VECTORS, size) | dict.fromkeys(fields.MULTIPLIERS, rows)
        sizes |= {"a0": size, "multipliers": rows, "right": unknowns}
        sizes |= dict.fromkeys(("factored", "at_hand"), fields.REFERENCE + 2 * size + rows)
        sizes |= {"stood": elements.count * elements.dimension}
        for name, count in sizes.items():
            self.stretch(name)
            self.lay(name, np.zeros(count))
        self.stretch("scale")
        self.lay("scale", equations.scale)
        self.size, self.rows, self.unknowns = size, rows, unknowns
        self.element_count = elements.count
        layouts = self._factors.layout, self._at_rest.layout
        found = [places for layout in layouts for places in self._parts.places(layout)]
        for name, places in zip(fields.PLACES, found, strict=True):
            self._place(name, places)

    def _lay_lists(self) -> None:
        equations = self.equations
        bodies, joints_lines = [], []
        stacks: list[Any] = equations.stacks
        tables: list[Any] = self._parts.tables
        for stack, table, part, rows in zip(stacks, tables, equations.parts, equations.body_rows, strict=True):
            columns = (
                stack.q,
                stack.v,
                stack.a,
                table.acceleration,
                table.effort,
                table.pull,
                table.inertia,
                table.openness,
                table.bend,
            )
            bodies.append(
                (*map(address, columns), part.start, part.stop - part.start, rows.start, rows.stop - rows.start)
            )
        for joints, rows in zip(equations.joints, equations.joint_rows, strict=True):
            form = joints.form
            distance = form.first == form.second == 1 and not form.coincident
            numbers = (joints.preload, joints.error, joints.rate)
            joints_lines.append(
                (*map(address, numbers), rows.start, rows.stop - rows.start, int(form.holonomic), int(is_bent(joints)),
                 int(distance), address(joints.ledger), joints.ledger.strides[0] // 8, joints.count, address(joints.first),
                 address(joints.second))
            )  # fmt: skip
        self._fill("bodies", bodies)
        self._fill("joints", joints_lines)
        self.stack_count, self.joint_stacks = len(bodies), len(joints_lines)
        straight = all(self._quadratic(joints) for joints in equations.joints if is_bent(joints))
        self.stencil = fields.EXACT if straight else fields.CURVED

    def _fill(self, name: str, rows: list[Row]) -> None:
        self._place(name, np.array(rows, np.int64).reshape(-1, fields.LISTS[name]))

    def _quadratic(self, joints: Joints) -> bool:
        """Whether rows of these joints are quadratic in their elements, and follow nothing over time."""
        if joints.form.drives:
            return False
        equations, n, form = self.equations, joints.count, joints.form
        position = equations.system.elements.position
        sides = ((joints.first[:n], form.first), (joints.second[:n], form.second))
        served = np.concatenate([start[:, None] + np.arange(number) for start, number in sides], axis=1)
        kept = position[served].copy()
        found = constant(partial(slopes_of_joints, equations, joints, served), kept.reshape(n, -1).shape)
        position[served] = kept
        joints.linearise(equations.system.elements)
        return found is not None

    def _lay_members(self) -> None:
        parts, layout, axes = self._parts, self._factors.layout, self.system.elements.dimension
        bent = [joint for joint in parts.joints if is_bent(joint[3])]
        given: list[tuple[list[int], tuple[int, ...]]] = [(elements, (0, 0, 0, 0, 0)) for elements in parts.forces]
        for elements, row, rows, joints, n in bent:
            places = address(joints.on_first, n), address(joints.on_second, n)
            given.append((elements, (row, rows, *places, joints.form.first)))
        members: list[Row] = []
        lines: list[Row] = []
        pairs: list[Row] = []
        numbers = 0
        for elements, rest in given:
            members.append((len(elements), len(lines), len(pairs), numbers, *rest))
            mine, blocks = parts.member(layout, elements)
            lines += mine
            pairs += blocks
            numbers += (len(elements) * axes) ** 2
        self._fill("members", members)
        self._fill("lines", lines)
        self._fill("pairs", pairs)
        self.stretch("tangents")
        self.lay("tangents", np.zeros(numbers + 1))
        self.tangent_numbers, self.force_members, self.member_count = numbers, len(parts.forces), len(members)
        self.most_force_elements = max(map(len, parts.forces), default=0)
        self.most_joint_elements = max((len(elements) for elements, *_ in bent), default=0)

    def _write_program(self) -> None:
        system, equations = self.system, self.equations
        elements: Elements = system.elements
        tables: list[Any] = self._parts.tables
        bent = [joints for joints in equations.joints if is_bent(joints)]
        measured = [joints for joints in equations.joints if not joints.form.holonomic]
        linear: list[Operation] = [(joints, "linearise") for joints in equations.joints]
        acting: list[Operation] = [(forces, "exert") for forces in system.forces]
        for joints in equations.joints:
            joints.loops["hold"] = hold_loop
        segments: dict[int, list[Operation]] = {
            fields.SHOW: [*((stack, "show") for stack in system.bodies), (elements, "use_present_velocity")],
            fields.EVALUATE: [
                *linear, *((joints, "measure_rates") for joints in measured), *acting,
                *((joints, "hold") for joints in equations.joints), *((table, "balance") for table in tables),
            ],
            fields.SHAPES: [(table, "linearise_shape") for table in tables],
            fields.LINEARISE: linear,
            fields.RATES: [*((joints, "linearise") for joints in bent), *((joints, "measure_rates") for joints in bent)],
            fields.EXERT: acting,
            fields.RECORD: [
                *((joints, "measure_rates") for joints in equations.joints), *acting,
                *((joints, "exert") for joints in equations.joints),
            ],
            fields.ACCOUNT: [(stack, "account") for stack in system.booked],
        }  # fmt: skip
        program: list[Row] = []
        places = np.zeros((len(segments), 2), np.int64)
        for which, operations in segments.items():
            places[which, 0] = len(program)
            for stack, verb in operations:
                stack.prepare(verb)
                program.append((stack.loops[verb].address(stack, elements), stack.sheet, stack.count))
            places[which, 1] = len(program)
        self._fill("program", program)
        self._place("segments", places)
        self.elements_sheet = elements.sheet

    def _know_factors(self) -> None:
        factors, at_rest, elements = self._factors, self._at_rest, self.system.elements
        assert factors.layout.rows == at_rest.layout.rows
        for verb, loop in factors.loops.items():
            setattr(self, verb, loop.address(factors, elements))
        factors.epsilon = at_rest.epsilon = REGULARISATION
        self.factors, self.at_rest_factors = factors.sheet, at_rest.sheet
        self.at_x, self.at_work = address(factors.x), address(factors.work)
        self.at_rest_x, self.at_rest_y, self.at_rest_rest = map(address, (at_rest.x, at_rest.y, at_rest.rest))
        self.at_epsilon = address(np.atleast_1d(factors.epsilon))
        self.at_redundant = address(np.atleast_1d(at_rest.redundant))


def step_of(system: System, equations: Equations, advance: Loop, alpha: float) -> CompiledStep | None:
    """That of a system whose topology has just changed, or the one that is known."""
    key = (system.version, id(system.elements), system.elements.sheet, id(equations), alpha)
    known = system.cache.get("whole step")
    if known is None or known[0] != key:
        known = system.cache["whole step"] = key, CompiledStep.of(equations, advance, alpha)
    found: CompiledStep | None = known[1]
    return found
