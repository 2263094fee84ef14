"""What all stacks of bodies share, whatever their coordinates: names and rows, elements, and the loops that move them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from importlib import import_module
from math import isfinite
from typing import Any, ClassVar, Self

import numpy as np

from modular.body import Body
from modular.component import Component, plain
from modular.elements import STEP, Array, Elements, Indices
from modular.errors import ModelError
from modular.internal_gains import InternalGains
from modular.kernel import kernel
from modular.newmark import Newmark
from modular.shared_constants import SharedConstantsStack
from modular.side import Mark
from modular.table import airy
from modular.tiles import TileRows

GLUE = (
    "ahead",
    "half",
    "origin",
    "pace",
)  # columns that are there only where joints are glued, or steps are several in a tick
WITHIN = (
    "held",
    "halfway",
    "foreseen",
)  # of elements, in several steps: forces, velocities half-way and at the end of a tick


class BodyStack(SharedConstantsStack):
    """Bodies of one kind; arrays have one row per body, or one per make (modular/shared_constants.py).

    A subclass declares what it knows of its bodies and names the loops that move them: predict, show_end_velocity, correct,
    correct_and_predict, show, reevaluate, respond, respond_freely, bound_demands; and to be glued drift, accept_step, kick,
    apply_impulse, respond_ahead, save_start, restore_start, invalidate.
    """

    pointing = ("attached",)
    constant = (*SharedConstantsStack.constant, "weights", "numbers")
    together: ClassVar[tuple[tuple[str, ...], ...]] = (GLUE,)
    in_steps: ClassVar[str] = ""  # the module with the loops for several steps in a tick (substeps.py)
    q: Array  # corrected coordinates, (n, ...)
    v: Array  # velocities
    a: Array  # accelerations: state with a memory, re-evaluated at every event
    _lists: tuple[str, ...] = ("attached", "weights")  # columns with a place for every element of a body
    attached: Indices  # rows of Elements that this body serves, in the order of attaching, (n, width)
    weights: Array  # how each of them is found on the body, (n, width, ...)
    numbers: Indices  # how many
    _settings: tuple[tuple[Newmark, InternalGains, float, Array], ...] = ()  # the last two, and gains by them
    ahead: Array  # where a step between glued joints leads, and the velocity in its middle
    half: Array
    origin: Array  # where it began, and how fast
    pace: Array
    gains: Array  # of the scheme (components/bodies/scheme.py)
    gravity: Array  # [m/s^2], (d,)

    def __init__(
        self, coordinates: Sequence[int], dimension: int, weights: int, capacity: int, width: int, *, long: bool = False
    ) -> None:
        """`long`: loops are to know no more than at run time how many coordinates there are in the first direction."""
        super().__init__(capacity)
        for name in ("q", "v", "a", *GLUE):
            self.column(name, *coordinates, listed=long)
        self.column("attached", width, dtype=np.int64, listed=True)
        self.column("weights", width, weights, listed=True)
        self.column("numbers", dtype=np.int64)
        self.bodies: MutableMapping[str, Any] = {}
        self.fixed("gains", 9)
        self.fixed("gravity", dimension)
        self.fixed("point", 1, dimension)  # its shape is that of an element
        self.newmark = Newmark()
        self.internal = InternalGains()
        self.steps = 1  # in a tick

    def take_steps(self, steps: int) -> None:
        """Take several steps in a tick, with what that needs beside the state; asked of an empty stack."""
        loops = import_module(self.in_steps)
        self.steps = steps
        self.loops |= {
            "predict": loops.predict_in_steps, "correct": loops.correct_in_steps,
            "correct_and_predict": loops.correct_and_predict_in_steps,
            "show_end_velocity": loops.show_end_velocity_in_steps, "respond_predicted": loops.respond_in_steps,
        }  # fmt: skip
        self.unfold(*self.together[0])
        listed = next(shape[0] == 0 for name, _, _, shape in self.fields() if name == "q")
        self.column("whole", *self.q.shape[1:], listed=listed)  # accelerations under all that acts
        for name in WITHIN:
            self.column(name, self.attached.shape[1], self.gravity.shape[0], listed=True)
        self._lists += WITHIN

    def prepare(self, verb: str) -> None:
        """Unfold what is about to be written."""
        if verb == "drift" and len(self.ahead) < self._capacity:
            self.unfold(*self.together[0])
            for name in GLUE:
                if getattr(self, name).shape != self.q.shape:  # it was long, and came from data without any
                    self._place(name, airy(self.q.shape, np.float64))

    def limits(self, elements: int) -> Iterator[tuple[str, Any]]:
        """No body shows more elements than there is room for."""
        yield from super().limits(elements)
        yield "numbers", min(getattr(self, name).shape[1] for name in self._lists)

    # --- coming and going ----------------------------------------------------------------------------------------

    def add(self, name: str, body: Body) -> None:
        """Take a body in, in its initial state."""
        self.add_many([name], [body])

    def add_many(self, names: Sequence[str], bodies: Sequence[Body]) -> None:
        """Take bodies in, in their initial state: a subclass fills their rows."""
        if isinstance(bodies, TileRows) and not self.bodies:
            self.bodies = bodies.tiles.part(bodies.members)
        else:
            self.bodies.update(zip(names, bodies, strict=True))

    def remove(self, name: str) -> None:
        """Let a body go; the others do not notice."""
        self.remove_row(name)
        del self.bodies[name]

    def chosen(self, rows: Any) -> Self:
        """A stack of its own, with copies of some rows in the order asked for; descriptions stay with the whole."""
        made = super().chosen(rows)
        made.bodies = {}
        return made

    def details(self) -> dict[str, Any]:
        """Names, the scheme, and the bodies as they were described."""
        bodies = {name: body.to_data() for name, body in self.bodies.items()}
        return {
            **super().details(), "newmark": plain(self.newmark), "internal": plain(self.internal), "steps": self.steps,
            "bodies": bodies,
        }  # fmt: skip

    def recall(self, details: Mapping[str, Any]) -> None:
        """Keep them again."""
        super().recall(details)
        self.newmark, self.internal = (Component.from_data(details[name]) for name in ("newmark", "internal"))
        self.steps = int(details["steps"])
        if self.steps > 1:
            self._lists += WITHIN
            if any(getattr(self, name).shape != self.q.shape for name in (*GLUE, "whole")):
                raise ModelError(
                    f"{type(self).__name__}: columns for several steps in a tick do not fit the coordinates."
                )
        self.bodies = {name: Component.from_data(body) for name, body in details["bodies"].items()}

    def one(self, name: str) -> Self:
        """The same stack narrowed to one row: its arrays are views, so both are one state."""
        row = self.row[name]
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__)
        view.look_at(self, row)
        view.names, view.row, view.bodies, view._capacity = [name], {name: 0}, {name: self.bodies[name]}, 1
        return view

    def attach(self, name: str, element: int, mark: Mark) -> None:
        """From now on show the marked point or direction in row `element` and take the force on it."""
        row = self.row[name]
        used = int(self.numbers[row])
        if used == self.attached.shape[1]:
            for column in self._lists:
                self.widen(column, 2 * used)
        self.attached[row, used] = element
        self.weights[row, used] = mark.weights
        self.numbers[row] = used + 1

    def attach_many(self, rows: Indices, elements: Indices, weights: Array) -> None:
        """The same for many elements of many bodies, in their order."""
        order = np.argsort(rows, kind="stable")
        sorted_rows = rows[order]
        starts = np.flatnonzero(np.diff(sorted_rows, prepend=-1))
        rank = np.empty_like(rows)  # how many of the same body come before
        rank[order] = np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows)))
        slots = self.numbers[rows] + rank
        if slots.max(initial=0) >= self.attached.shape[1]:
            for column in self._lists:
                self.widen(column, int(slots.max()) + 1)
        self.attached[rows, slots] = elements
        self.weights[rows, slots] = weights
        self.numbers[: self.count] += np.bincount(rows, minlength=self.count)

    def detach(self, name: str, element: int) -> None:
        """Stop doing so; the others keep their order."""
        found = leave_out(self.attached, self.weights, self.numbers, self.row[name], element)
        assert found, (name, element)

    # --- what it shows -------------------------------------------------------------------------------------------

    def state(self) -> Mapping[str, Array]:
        """Views of q, v, a, one row per body."""
        n = self.count
        return {"q": self.q[:n], "v": self.v[:n], "a": self.a[:n]}

    def show(self, elements: Elements) -> None:
        """Show the present (corrected) elements."""
        self.play("show", elements)

    # --- predict and correct (Séguy 2003, Figure IV-2) -------------------------------------------------------------

    def configure(self, newmark: Newmark, internal: InternalGains, dt: float) -> None:
        """Take the settings of the scheme; `dt`: the step of these bodies."""
        self.newmark, self.internal = newmark, internal
        for known in self._settings:  # every event asks for gains at rest, and then for those before
            if known[0] is newmark and known[1] is internal and known[2] == dt:
                self.gains[:] = known[3]
                return
        self.gains[:] = (
            newmark.beta, newmark.gamma, *internal.gains(dt), internal.iterations, internal.lead, internal.more,
            1.0 / self.steps if isfinite(dt) else 1.0, self.demand_weight,
        )  # fmt: skip
        self._settings = (*self._settings[-1:], (newmark, internal, dt, self.gains.copy()))

    @property
    def demand_weight(self) -> float:
        """How often what springs ask counts against the limit of the step: 2 gamma, or once where they act as impulses."""
        return 2.0 * self.newmark.gamma if self.steps == 1 else 1.0

    def predict(self, elements: Elements, dt: float) -> None:
        """Predict the state `dt` seconds on and show the predicted elements."""
        elements.clock[STEP] = dt
        self.play("predict", elements)
        self.play("show_end_velocity", elements)

    def correct(self, elements: Elements, dt: float) -> str | None:
        """Solve the local equations, correct the state and show it; the first body that went wrong, if any."""
        elements.clock[STEP] = dt
        wrong = self.play("correct", elements)
        self.play("show", elements)
        return self._name_of(wrong)

    def reevaluate(self, elements: Elements, names: Sequence[str]) -> None:
        """Accelerations of some bodies at their unchanged position and velocity, under the present forces."""
        rows = [self.row[name] for name in names if name in self.row]
        if len(rows) == self.count:
            self.play("reevaluate", elements)
            return
        for row in rows:
            self.play("reevaluate", elements, row, row + 1)

    # --- glued (RATTLE) ----------------------------------------------------------------------------------------------

    def drift(self, elements: Elements, step: float) -> str | None:
        """Half a kick and the way that it leads; the first body that did not keep its shape there, if any."""
        elements.clock[STEP] = step
        return self._name_of(self.play("drift", elements))

    def accept_step(self, elements: Elements) -> None:
        """Stand where the drift has led."""
        self.play("accept_step", elements)

    def kick(self, elements: Elements, step: float) -> str | None:
        """The other half of the kick; the first body that went wrong, if any."""
        elements.clock[STEP] = step
        return self._name_of(self.play("kick", elements))

    def respond_ahead(self, elements: Elements) -> None:
        """How elements at the end of the last drift answer forces at its beginning."""
        self.play("respond_ahead", elements)

    def apply_impulse(self, elements: Elements) -> None:
        """Velocities after impulses on the elements."""
        self.play("apply_impulse", elements)

    def show_end_velocity(self, elements: Elements) -> None:
        """Show the velocities to which the accelerations lead."""
        self.play("show_end_velocity", elements)

    def save_start(self, elements: Elements) -> None:
        """Save where a step begins."""
        self.play("save_start", elements)

    def restore_start(self, elements: Elements) -> None:
        """Stand there again."""
        self.play("restore_start", elements)

    def invalidate(self, elements: Elements) -> None:
        """What the next drift would begin with is invalid."""
        self.play("invalidate", elements)

    def _name_of(self, row: int) -> str | None:
        return None if row < 0 else self.names[row]

    # --- compliance --------------------------------------------------------------------------------------------------

    def respond(self, elements: Elements, *, constrained: bool = True) -> None:
        """Write B per element: accelerations per force are B B^T between the elements of one body."""
        self.play("respond" if constrained else "respond_freely", elements)

    def respond_predicted(self, elements: Elements) -> None:
        """The same where they are predicted to be at the end of the tick, and where forces act on them."""
        self.play("respond_predicted", elements)

    def bound_demands(self, elements: Elements) -> None:
        """Sum the loads that joints ask for and write an upper bound of the largest eigenvalue to each element."""
        self.play("bound_demands", elements)

    # --- memory ----------------------------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """A copy of all memory: positions, velocities and the stored accelerations."""
        state = {**self.state(), **self.memory()}
        return {"names": list(self.names), **{name: array.copy() for name, array in state.items()}}

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Go back to it; the same bodies must be there."""
        rows = [self.row[name] for name in memory["names"]]
        for name in ("q", "v", "a", *self.memory()):
            getattr(self, name)[rows] = memory[name]


@kernel
def leave_out(attached: Indices, weights: Array, numbers: Indices, row: int, element: int) -> bool:
    """A body serves an element no longer; whether it did."""
    last = numbers[row] - 1
    gap = 0
    while gap <= last and attached[row, gap] != element:
        gap += 1
    if gap > last:
        return False
    for k in range(gap, last):
        attached[row, k] = attached[row, k + 1]
        for i in range(weights.shape[2]):
            weights[row, k, i] = weights[row, k + 1, i]
    attached[row, last] = 0
    for i in range(weights.shape[2]):
        weights[row, last, i] = 0.0
    numbers[row] = last
    return True
