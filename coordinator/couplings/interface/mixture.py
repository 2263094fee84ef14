"""A mixture: components that step on their own, glued inside, among others that predict and correct, with springs between them.

Séguy 2003, second perspective of his conclusion and Figure I-9: neighbours become one component that is solved inside, and that
shows its outer ports as before. A tick is that of Figure IV-2 with such components in it:

    approach     components that step on their own go up to their last kick (stepping.py); the others predict
    exchange     springs between them, at the places that all show now
    conclude     the last kick; the others correct

A spring acts on a component as one impulse at either end of the tick, however many steps that takes in between: with
the bound of the whole tick that is stable where held or extrapolated forces are not (impulse method: H. Grubmueller et al.,
Molecular Simulation 6 (1991) 121-142; M. Tuckerman, B. Berne, G. Martyna, J. Chem. Phys. 97 (1992) 1990-2001).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from coordinator.couplings.interface.interface import Interface
from coordinator.couplings.interface.members import Members, Rows, ranges_of, rows_of, without
from coordinator.couplings.interface.plan import Plan
from coordinator.couplings.interface.verbs import WIDTH, InPython, play
from coordinator.couplings.rules.rule import in_a_tick
from coordinator.engine.program import Operation, RangedOperation, TickProgram, compiled, exerting_some, perform
from coordinator.system import System
from modular.elements import GAIN_STEP, STEP, Elements, Indices
from modular.errors import CouplingError
from modular.guarding import guard_loop
from modular.ledger import settle_up_loop
from modular.loop import NO_FAILED_ROW, loop
from modular.port import GROUND
from modular.table import Table
from modular.views import View

ADVANCE, COMPUTE_REACTIONS = range(2)  # what is played together


class Mixture(Table):
    """A tick of a system under a plan as one operation of a program."""

    facts: Indices  # the sheet of the elements, at the same place as in an interface
    loaded_elements: Indices  # elements of those that predict and correct, on which something from outside acts

    def __init__(
        self,
        system: System,
        plan: Plan,
        refresh: Sequence[Operation],
        *,
        guard: bool = False,
        extrapolate: bool = False,
    ) -> None:
        """`refresh`: operations that choose the stiffness of the springs at every tick; `guard`: they settle their accounts."""
        super().__init__(1)
        self.system, self.plan = system, plan
        self.common("program", WIDTH, dtype=np.int64)
        self.common("segments", 2, dtype=np.int64)
        self.common("loaded_elements", dtype=np.int64)
        for name in ("elements_sheet", "loaded_count"):
            self.fixed(name, dtype=np.int64)
        self.fixed("wrong")  # as an interface, for what plays segments notes there who has gone wrong
        self.loops = {
            "advance": advance_loop,
            "compute_reactions": compute_reactions_loop,
            "book_others": book_others_loop,
        }
        self._python = InPython(system.elements)
        self._sort()
        self.extrapolate = extrapolate
        self.levels = [Interface(system, [1.0], members=self._level(steps)) for steps in plan.rates]
        self._place("loaded_elements", np.array(sorted(self._loaded_elements(0)), np.int64))
        self.elements_sheet, self.loaded_count = system.elements.sheet, len(self.loaded_elements)
        self.refresh, self.guard = refresh, guard
        self.steps = max(plan.rates, default=1)
        self._rounds = 0.0
        self._write()

    # --- who is where ------------------------------------------------------------------------------------------------

    def _sort(self) -> None:
        """Joints and forces by who moves the bodies on which they act."""
        system, plan = self.system, self.plan
        self.springs = rows_of(system.joints, plan.springs)
        self.others = self._whole(rows_of(system.bodies, plan.others), "step in the same way")
        crossing, outside = [], []
        self._inside: dict[int, list[str]] = {steps: [] for steps in plan.rates}
        for name in (*plan.springs, *system.force_home):
            owners = system.home(name).owners
            rates = plan.rates_of(owners)
            if plan.crosses(name, owners):
                crossing.append(name)
            elif max(rates, default=0) > 0:
                self._inside[max(rates)].append(name)
            else:
                outside.append(name)
        booked = system.booked
        self.crossing = rows_of(booked, crossing)
        self.outside = rows_of(booked, outside)
        slow = [name for name in (*crossing, *outside) if name in system.force_home]
        self.forces = self._whole(rows_of(system.forces, slow), "act on components that step in the same way")
        self._names_crossing = crossing
        self.asking = {  # forces, by how often in a tick they act
            steps: rows_of(
                system.forces, [*(slow if steps == 1 else []), *inside_of(self._inside.get(steps, []), system)]
            )
            for steps in {1, *plan.rates}
        }
        for stack, _ in self.crossing:
            if not isinstance(stack, Table):
                raise CouplingError(
                    f"force '{stack.names[0]}' cannot be divided into rows (it is plain Python) and acts between "
                    "components that step differently; derive its stack from modular.stack.Stack, or treat all "
                    "joints alike."
                )
            stack.loops.setdefault("settle_up", settle_up_loop)

    def _whole(self, members: list[Rows], what: str) -> list[Rows]:
        """Refuse stacks in Python of which only some rows are meant."""
        for stack, rows in members:
            if not isinstance(stack, Table) and rows != [(0, len(stack.names))]:
                raise CouplingError(
                    f"'{stack.names[0]}' shares a plain Python stack with others, which cannot be divided; they "
                    f"must all {what}."
                )
        return members

    def _level(self, steps: int) -> Members:
        """Those that take so many steps in a tick."""
        system, plan = self.system, self.plan
        glued = [name for name in plan.glued if plan.rates_of(system.joint_home[name].owners) == {steps}]
        within = self._inside[steps]
        elements = [row for name in (*glued, *within) for row in self._elements(name)]
        return Members(
            joints=glued,
            stacks=rows_of(system.joints, glued),
            bodies=self._whole(rows_of(system.bodies, plan.rates[steps]), "step in the same way"),
            forces=self._whole(rows_of(system.forces, within), "act on components that step in the same way"),
            elements=ranges_of(sorted(elements)),
            loaded_elements=sorted(self._loaded_elements(steps)),
            steps=steps,
            **(self._reaching(steps) if self.extrapolate and steps > 1 else {}),
        )

    def _reaching(self, steps: int) -> dict[str, Any]:
        """Springs and forces from outside, and the elements of the others."""
        system, own = self.system, set(self._loaded_elements(steps))
        names = [name for name in self._names_crossing if steps in self.plan.rates_of(system.home(name).owners)]
        others = [
            row
            for name in names
            for owner, start, count in zip(*_sides_of(system, name), strict=True)
            for row in range(start, start + count)
            if owner != GROUND and row not in own
        ]
        return {"reaching": rows_of(system.booked, names), "others": others}

    def _elements(self, name: str) -> Iterable[int]:
        home = self.system.home(name)
        for start, count in zip(home.starts, home.counts, strict=True):
            yield from range(start, start + count)

    def _loaded_elements(self, steps: int) -> list[int]:
        """Elements of bodies that take so many steps in a tick, on which something from outside acts."""
        found: list[int] = []
        for name in self._names_crossing:
            home = self.system.home(name)
            for owner, start, count in zip(home.owners, home.starts, home.counts, strict=True):
                if self.plan.rates_of([owner]) == {steps}:
                    found += range(start, start + count)
        return found

    @property
    def within(self) -> set[str]:
        """Forces that act between bodies which step on their own alike."""
        return {name for names in self._inside.values() for name in inside_of(names, self.system)}

    @property
    def inside(self) -> set[str]:
        """Springs and forces that act between bodies of one component."""
        return {name for names in self._inside.values() for name in names}

    # --- what is played ----------------------------------------------------------------------------------------------

    def approach(self) -> list[RangedOperation]:
        """Up to the exchange."""
        others: list[RangedOperation] = [(stack, "predict", rows) for stack, rows in self.others]
        others += [
            (stack, "show_end_velocity", rows) for stack, rows in self.others if compiled((stack, "show_end_velocity"))
        ]
        noting = [level for level in self.levels if level.members.others]
        return [
            *((level, "save_other_sides", ONE) for level in noting),
            *((level, "approach", ONE) for level in self.levels),
            *others,
        ]

    def exchange(self) -> list[RangedOperation]:
        """Springs and forces, where all stand."""
        operations: list[RangedOperation] = [(stack, "linearise", rows) for stack, rows in self.springs]
        operations += self._in_a_tick(self.stiffening(self.refresh))
        operations += self.exerting()
        if self.guard:
            for stack, _ in self.springs:
                stack.loops["guard"] = guard_loop
            operations += [(stack, "guard", rows) for stack, rows in self.springs]
        return operations

    def exerting(self) -> list[RangedOperation]:
        """Springs and forces that act between components."""
        return exerting_some((*self.springs, *self.forces))

    def refreshing(self, operations: Sequence[Operation], *, ticks: bool) -> list[Operation | RangedOperation]:
        """Parts of a rule that is called and not played: in the middle of a tick, or at an event."""
        asked = self.stiffening(operations)
        asked = self._in_a_tick(asked) if ticks else asked
        return [one if compiled((one[0], one[1])) else (one[0], one[1]) for one in asked]

    def stiffening(self, operations: Sequence[Operation]) -> list[RangedOperation]:
        """Parts of a rule, for the joints that are springs, beside forces that act with the same step."""
        rows = {id(stack): ranges for stack, ranges in self.springs}
        rows |= {id(stack): ranges for stack, ranges in self.asking[1]}
        silent = {id(stack) for stack in self.system.booked} - rows.keys()
        counts = {id(stack): [(0, getattr(stack, "count", 1))] for stack, _ in operations}
        asked: list[RangedOperation] = (
            [(self.system.elements, "clear_demands", [(0, self.system.elements.count)])] if operations else []
        )
        for stack, verb in operations:
            if id(stack) not in silent:
                asked.append((stack, verb, rows.get(id(stack), counts[id(stack)])))
        return asked

    def _in_a_tick(self, operations: Sequence[RangedOperation]) -> list[RangedOperation]:
        """Components that step on their own stand where springs act already; the others answer where they are predicted."""
        found: list[RangedOperation] = []
        predicting = {id(stack): rows for stack, rows in self.others}
        for stack, verb, rows in operations:
            for _, there in in_a_tick([(stack, verb)]):
                if there != verb and hasattr(stack, "predict"):
                    theirs = predicting.get(id(stack), [])
                    found += [(stack, verb, without(rows, theirs)), (stack, there, theirs)]
                else:
                    found.append((stack, there, rows))
        return [(stack, verb, rows) for stack, verb, rows in found if rows]

    def conclude(self) -> list[RangedOperation]:
        """After it."""
        operations: list[RangedOperation] = [(level, "conclude", ONE) for level in self.levels]
        operations += [(stack, "correct", rows) for stack, rows in self.others]
        operations += [(self, "book_others", ONE)] if len(self.loaded_elements) else []
        operations += [(stack, "settle_up", rows) for stack, rows in self.crossing]
        operations += [(stack, "account", rows) for stack, rows in self.outside]
        return operations + [(stack, "show", rows) for stack, rows in self.others]

    def _write(self) -> None:
        """All by the addresses of loops; with every one where the names of its rows begin."""
        elements = self.system.elements
        segments = {
            ADVANCE: [*self.approach(), *self.exchange(), *self.conclude()],
            COMPUTE_REACTIONS: [(level, "compute_reactions", ONE) for level in self.levels],
        }
        self._operations = [operation for operations in segments.values() for operation in operations]
        self.compiled = all(compiled((stack, verb)) for stack, verb, _ in self._operations) and all(
            level.compiled for level in self.levels
        )
        self.names: list[str] = []
        begin: dict[int, int] = {}
        named: list[Any] = [*self.levels, *self.system.bodies]
        for stack in named:
            begin[id(stack)] = len(self.names)
            self.names += stack.names
        self.prepare("")
        program: list[tuple[int, ...]] = []
        places = np.zeros((len(segments), 2), np.int64)
        for which, operations in segments.items():
            places[which, 0] = len(program)
            for stack, verb, rows in operations:
                name = begin.get(id(stack), 0)
                if compiled((stack, verb)):
                    address = stack.loops[verb].address(stack, elements)
                    program += [(address, stack.sheet, *stretch, name) for stretch in rows]
                else:
                    program.append((self._python.address(stack, verb), 0, 0, 1, name))
            places[which, 1] = len(program)
        self._place("program", np.array(program, np.int64).reshape(-1, WIDTH))
        self._place("segments", places)

    def prepare(self, verb: str) -> None:
        """Everything that takes part unfolds what it needs."""
        for stack, operation, _ in self._operations:
            self.system.elements.prepare(operation)
            if compiled((stack, operation)) and stack not in (self, *self.levels):
                stack.prepare(operation)
        for level in self.levels:
            level.prepare("approach" if verb == "advance" else verb)

    def perform(self, verb: str) -> str | None:
        """Play one of the verbs; the name of who went wrong, if any."""
        wrong = perform(self.system.elements, [(self, verb)])
        for python in (self._python, *(level.python for level in self.levels)):
            python.tell()
        return wrong

    def advance(self) -> str | None:
        """One tick, or the part of it that the clock says; the name of who went wrong, if any."""
        self.system.evaluations += self.steps
        wrong = self.perform("advance")
        if wrong is None:
            self.perform("compute_reactions")
        return wrong

    def tick_program(self) -> TickProgram | None:
        """The same for the engine; reactions are worked out where somebody looks, or where a glued joint may break."""
        if not self.compiled:
            return None
        step: list[Operation] = [(self, "advance")]
        react: list[Operation] = [(self, "compute_reactions")]
        if any(self.system.joint_home.edge(name).breaks_at is not None for name in self.plan.glued):
            step, react = step + react, []
        return TickProgram(first_tick=step, next_ticks=step, epilogue=react, evaluations=self.steps)

    def reason(self, name: str, coupling: str) -> str | None:
        """Why a tick found no end."""
        found = (level.reason(name, coupling) for level in self.levels)
        return next((reason for reason in found if reason is not None), None)

    def inherit_counters(self, before: Mixture) -> None:
        """From what another one has counted."""
        self._rounds = before.counters["rounds"]

    @property
    def counters(self) -> dict[str, float]:
        """What all interfaces counted together."""
        return {"rounds": self._rounds + sum(level.counters["rounds"] for level in self.levels)}


def inside_of(names: Iterable[str], system: System) -> list[str]:
    """The forces among them."""
    return [name for name in names if name in system.force_home]


class RuleInPython:
    """A stiffness rule that is no loop, as one who takes part."""

    names = ("rule",)

    def __init__(self, rule: Any, system: System) -> None:
        self._rule, self._system = rule, system

    def refresh(self, elements: Elements) -> None:
        """Choose the stiffness of all joints."""
        self._rule.refresh(self._system, float(elements.clock[GAIN_STEP]))


ONE = [(0, 1)]


def _sides_of(system: System, name: str) -> tuple[Sequence[str], Sequence[int], Sequence[int]]:
    home = system.home(name)
    return home.owners, home.starts, home.counts


@loop
def advance_loop(start: int, stop: int, mixture: View, elements: View) -> int:
    """One tick."""
    return int(play(mixture, ADVANCE))


@loop
def compute_reactions_loop(start: int, stop: int, mixture: View, elements: View) -> int:
    """Reactions and accelerations as they are at this instant."""
    return int(play(mixture, COMPUTE_REACTIONS))


@loop
def book_others_loop(start: int, stop: int, mixture: View, elements: View) -> int:
    """Work of others on bodies that predict and correct, from tick to tick."""
    for k in range(mixture.loaded_count):
        n = mixture.loaded_elements[k]
        for c in range(elements.force.shape[0]):
            force = elements.force[n, c] + elements.force_before[n, c]
            velocity = elements.velocity[n, c] + elements.velocity_before[n, c]
            elements.work[n] += 0.25 * elements.clock[STEP] * force * velocity
            elements.force_before[n, c], elements.velocity_before[n, c] = elements.force[n, c], elements.velocity[n, c]
    return NO_FAILED_ROW
