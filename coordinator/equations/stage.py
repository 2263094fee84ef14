"""A stage: a model put together, on which its own loops are played over terms.

Bodies show their elements, joints write down their rows, forces what they exert: as in a step, but with symbols for coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from coordinator.equations.courses import ASKED, Led
from coordinator.equations.tables import TableTwin
from coordinator.equations.terms import NOTES, Term, Undecided, tidy
from coordinator.events.bulk_add import put_together
from coordinator.events.initial_states import begin
from coordinator.system import System
from modular.assembly import Assembly
from modular.elements import TIME
from modular.errors import ModelError


def assembled(model: Assembly) -> System:
    """The components of a model around one table of elements, where they begin; nothing is compiled for what is as described."""
    system = System(model.gravity, model.bodies)
    system.dry_run = True
    put_together(system, model)
    if model.begin:
        begin(system, model.begin)
    return system


class Stage:
    """Twins of the tables of a system; each of its parts is told by name where it has no formula."""

    def __init__(self, system: System) -> None:
        self.system, self.led = system, Led()
        self.bodies = [TableTwin(stack) for stack in system.bodies]  # type: ignore[arg-type]
        self.elements = TableTwin(system.elements)
        self.joints = [TableTwin(stack) for stack in system.joints]
        self.forces = [TableTwin(stack) for stack in system.forces]  # type: ignore[arg-type]
        self.notes: dict[str, list[Any]] = {}  # what is not to be zero, by component

    def at(self, time: Any) -> None:
        """The time, in seconds or as a symbol."""
        self.elements.clock[TIME] = time

    def show(self) -> None:
        """Let all bodies show their elements."""
        for stack in self.bodies:
            with self.told("body", ", ".join(stack.names[:3])):
                stack.play("show", self.elements)
        self.elements.current_velocity[...] = self.elements.velocity

    def as_terms(self) -> None:
        """Numbers of elements that no body moves become terms: those of the ground."""
        for name in ("position", "velocity", "current_velocity"):
            array = getattr(self.elements, name)
            for place, value in np.ndenumerate(array):
                if not isinstance(value, Term):
                    array[place] = tidy(float(value))

    @contextmanager
    def told(self, kind: str, name: str) -> Iterator[None]:
        """What goes wrong inside is told with the name of a component; what is taken for granted is kept under it."""
        ASKED.led, self.led.owner, NOTES.nonzero = self.led, name, []
        try:
            yield
        except Undecided as undecided:
            raise NoFormula(
                f"{kind} '{name}' has no single formula: it distinguishes cases, here whether {undecided.condition}. "
                "Leave it out, or replace it by a component without cases."
            ) from undecided
        finally:
            if NOTES.nonzero:
                self.notes[name] = NOTES.nonzero


class NoFormula(ModelError):
    """A component does something that is written by no formula; the message names it."""
