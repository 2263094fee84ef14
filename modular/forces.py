"""The stack of forces of one kind: what all of them do alike, where loops move their numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np

from modular.compliant import CompliantRows
from modular.elements import GAIN_STEP, RIGID_BODY_MOTIONS, STEP, TIME, Array, Elements, Indices
from modular.force import Force
from modular.joint import JointForm
from modular.ledger import DISSIPATED, Booked
from modular.table import COLUMN


class ForceStack(Booked):
    """Forces of one kind, a row each.

    A subclass declares its columns and names its loops: exert, account, and request_demand with compute_margin. One whose forces
    may be rows of the interface (modular/compliant.py) has a column `implicit`, says by `row_form` how their gaps are measured, and
    fills rows in by `write_row`.
    """

    row_columns: ClassVar[tuple[str, ...]] = ()  # by which gaps are measured, or shapes that tell how
    row_taker: ClassVar[int] = DISSIPATED  # the line of the ledger of what rows with dampers lose
    row_class: ClassVar[type[CompliantRows]] = CompliantRows
    compliance: Array  # of those that may be rows: what both bodies answer through each
    implicit: Indices  # 1 where it is stiffer than steps, and so a row of the interface

    @property
    def row_form(self) -> JointForm | None:
        """How gaps of rows of the interface are measured; None where it has none."""
        return None

    def may_be_row(self, row: int, owners: Sequence[str]) -> bool:
        """Whether one of them, between such bodies, may be a row of the interface: its law is a straight line."""
        return self.row_form is not None

    @property
    def undecided(self) -> bool:
        """Whether the stiffness of one of them is to be derived from the step, and has not been."""
        return False

    def rubbing(self) -> list[int]:
        """Which of them are dry friction that is a row of the interface under every step (modular/friction_rows.py)."""
        return []

    def take_rubbing(self, rows: Sequence[int]) -> None:
        """From here on these are such rows."""
        self.implicit[rows] = 1

    def instead(self, row: int) -> str:
        """What does the same at any step, where one of them cannot be a row of the interface; empty if nothing is known."""
        return ""

    def most_turned(self, rows: Sequence[int], elements: Elements) -> Array:
        """How many times as much its ports answer along its line at most, as bodies may turn, of each of these rows."""
        return np.ones(len(rows))

    def implicit_rows(self, ranges: Iterable[tuple[int, int]] | None = None) -> list[int]:
        """Which of them, in these ranges, are rows of the interface."""
        if self.row_form is None:
            return []
        spans = [(0, self.count)] if ranges is None else ranges
        return [first + int(row) for first, last in spans for row in np.flatnonzero(self.implicit[first:last] == 1)]

    def as_rows(self, these: Sequence[int], motions: int = RIGID_BODY_MOTIONS) -> CompliantRows:
        """These, on the same elements."""
        assert self.row_form is not None
        made = self.row_class(self.row_form, self.first_side.shape[1], motions)
        copied: list[str] = []
        for name, kind, _, shape in self.fields():
            if name in self.row_columns:
                (made.column if kind == COLUMN else made.fixed)(name, *shape)
                copied += [name] if kind == COLUMN else []
        for row in these:
            at = made.add_row(self.names[row])
            made.first[at], made.second[at], made.home[at] = self.first[row], self.second[row], row
            for name in copied:
                getattr(made, name)[at] = getattr(self, name)[row]
            self.write_row(made, at, row)
        made.lay("booked", self.ledger)
        made.taker = self.row_taker
        self.place_rows(made)
        return made

    def write_row(self, rows: CompliantRows, at: int, row: int) -> None:
        """Law of one of them."""

    def is_nonlinear(self, rows: CompliantRows) -> bool:
        """Whether laws of these rows are straight lines for a step alone; then `linearise_laws` is asked before each."""
        return False

    def linearise_laws(self, rows: CompliantRows, begin: float, step: float) -> None:
        """Lines for such a step, from `gap` and `gap_rate`: `law`, and by how much more they pull when it has gone, `later`."""

    def place_rows(self, rows: CompliantRows) -> None:
        """Let them stand where their forces stand, where that has to be known to measure them."""

    @property
    def turns(self) -> bool:
        """Whether what it asks of the step changes as bodies move."""
        return True

    @property
    def read_velocity(self) -> list[str]:
        """Names of those that depend on velocities: all, unless a subclass knows better. Glued joints look again after these."""
        return list(self.names)

    def add_many(self, names: Sequence[str], forces: Sequence[Force], first: Sequence[Sequence[int]]) -> None:
        """Take several in, in their order."""
        for name, force, starts in zip(names, forces, first, strict=True):
            self.add(name, force, starts)

    @abstractmethod
    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take one in; `first` holds its first element row on each side."""

    def remove(self, name: str) -> None:
        """Let it go."""
        self.remove_row(name)

    def exert(self, elements: Elements, time: float) -> None:
        """Write the forces on the elements."""
        elements.clock[TIME] = time
        self.play("exert", elements)

    def request_demand(self, elements: Elements, dt: float) -> None:
        """Tell the bodies what its springs and dampers ask of a step; mere loads have no loop for that."""
        elements.clock[GAIN_STEP] = dt
        if "request_demand" in self.loops:
            self.play("request_demand", elements)

    def account(self, elements: Elements, dt: float) -> None:
        """Book the tick that has just passed."""
        elements.clock[STEP] = dt
        self.play("account", elements)


def turned_between(first: Indices, second: Indices, elements: Elements) -> Array:
    """How many times as much two points answer along the line between them, whatever way both bodies turn: at most, of each pair.

    A point far from the centre of a small inertia moves with all its mass along its arm and with next to none across it. So what
    the step bears as a spring stands may be far too stiff a quarter of a turn later.
    """
    lines = elements.position[second] - elements.position[first]
    most = now = np.zeros(len(first))
    for points in (first, second):
        answer = elements.response[points]
        compliance = answer @ answer.transpose(0, 2, 1)
        most = most + np.linalg.eigvalsh(compliance)[:, -1]
        now = now + np.einsum("ni,nij,nj->n", lines, compliance, lines)
    now /= np.maximum(np.einsum("ni,ni->n", lines, lines), 1e-300)
    return np.where(now > 0.0, np.maximum(most / np.maximum(now, 1e-300), 1.0), 1.0)
