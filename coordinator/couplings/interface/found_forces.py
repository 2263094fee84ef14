"""Forces that an interface finds together with reactions: rows of it, like joints (modular/compliant.py, modular/friction_rows.py).

Where workers move a part each, every part has all of them, and works them out from the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from coordinator.couplings.interface.members import InterfaceJoint, Members, in_stack
from coordinator.system import System
from modular.compliant import DAMPING, CompliantRows
from modular.elements import STEP, TIME, Array, Elements
from modular.forces import ForceStack
from modular.friction_rows import KEPT, FrictionRows
from modular.port import GROUND

STATE = ("gap", "gap_rate", "base_first", "base_second", "seen_first", "seen_second")  # from step to step


class FoundForces:
    """Of a system, those that take part; `stacks`: their rows, by kinds."""

    def __init__(self, system: System, members: Members) -> None:
        found = [
            (forces, forces.implicit_rows(ranges))
            for forces, ranges in members.forces
            if isinstance(forces, ForceStack)
        ]
        self._forces = [forces for forces, rows in found if rows]
        self.stacks = [forces.as_rows(rows, system.elements.motions) for forces, rows in found if rows]
        pairs = zip(self._forces, self.stacks, strict=True)
        self.nonlinear = [NonlinearRows(forces, rows) for forces, rows in pairs if forces.is_nonlinear(rows)]
        self.rubbing = sum(rows.count for rows in self.stacks if isinstance(rows, FrictionRows))
        self.implicit = sum(rows.count for rows in self.stacks) - self.rubbing

    @property
    def damped(self) -> bool:
        """Whether any of them damps, or may."""
        return bool(self.nonlinear) or any(rows.law[: rows.count, :, DAMPING].any() for rows in self.stacks)

    @property
    def names(self) -> list[str]:
        """By their places."""
        return [name for rows in self.stacks for name in rows.names]

    def as_made(self, system: System) -> list[int]:
        """Their places in the order in which they were made, whatever stacks they share: sums are the same to the last digit."""
        places = {name: place for place, name in enumerate(self.names)}
        return [places[name] for name in system.force_home if name in places] if places else []

    def joint(self, place: int, owners: Sequence[Any], index: int) -> InterfaceJoint:
        """One of them as a joint; `index`: its place among all joints of the whole."""
        stack, row = self.at(place)
        state = stack.address_of_state(row) if isinstance(stack, FrictionRows) else 0
        return InterfaceJoint(
            stack.names[row], owners, stack.form.rows, stack.form.translations, glides=False, at=_columns_of(stack, row),
            repeated=0, index=index, compliant=True, friction=state,
        )  # fmt: skip

    def joints(self, system: System, index: int) -> list[InterfaceJoint]:
        """All as joints; `index`: the place of the first among all joints."""
        names = self.names
        found: list[InterfaceJoint] = []
        for place in self.as_made(system):
            owners = [None if owner == GROUND else owner for owner in system.force_home[names[place]].owners[:2]]
            found.append(self.joint(place, owners, index + len(found)))
        return found

    def at(self, place: int) -> tuple[CompliantRows, int]:
        """The stack of one of them, and its row there."""
        for stack in self.stacks:
            if place < stack.count:
                return stack, place
            place -= stack.count
        raise IndexError(place)

    def put(self) -> None:
        """Let them stand where their forces stand."""
        for rows, forces in zip(self.stacks, self._forces, strict=True):
            forces.place_rows(rows)

    @property
    def state(self) -> list[Array]:
        """What they know from step to step, beside what is kept with their forces."""
        return [getattr(rows, name)[: rows.count] for rows in self.stacks for name in STATE]

    def kept_at_end_of(self, numbers: Array) -> Iterator[tuple[Array, Array]]:
        """The same, and where it is kept among numbers that end with it."""
        end = len(numbers)
        for array in reversed(self.state):
            yield array, numbers[end - array.size : end].reshape(array.shape)
            end -= array.size


def _columns_of(stack: CompliantRows, row: int) -> Callable[[str], int]:
    within = in_stack(stack, row)
    if not isinstance(stack, FrictionRows):
        return within
    return lambda column: stack.address_of_state(row, column) if column in KEPT else within(column)


class NonlinearRows:
    """Rows whose laws are asked before each step, since they are no straight lines."""

    def __init__(self, forces: ForceStack, rows: CompliantRows) -> None:
        self._forces, self._rows = forces, rows

    @property
    def count(self) -> int:
        """So many rows."""
        return int(self._rows.count)

    def linearise_laws(self, elements: Elements) -> None:
        """The lines that touch them where a step begins."""
        step, end = float(elements.clock[STEP]), float(elements.clock[TIME])
        self._forces.linearise_laws(self._rows, end - step, step)

    def linearise_now(self, elements: Elements) -> None:
        """The same at an instant."""
        self._forces.linearise_laws(self._rows, float(elements.clock[TIME]), 0.0)
