"""Elements: the points and directions that components show to each other, one row each.

An element is a point of a body or a direction fixed to it (Séguy 2003, III.2.3.3 and III.3.5: in natural
coordinates every element is a constant linear map of the coordinates). Joints and forces read the state of
elements and write a force on each; bodies write their state and collect the forces. Nothing else is read, so
only these rows ever cross a process boundary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modular.errors import ModelError
from modular.loop import NO_FAILED_ROW, loop
from modular.table import Table
from modular.views import View

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

MODES = 12  # columns of a response: independent motions of a body whose coordinates are free of each other
RIGID_BODY_MOTIONS = 6  # of them for a rigid body in space; where bodies bend there are more (`Elements.motions`)
ASKING = frozenset(
    {
        "respond", "respond_predicted", "respond_freely", "compute_compliance", "compute_free_compliance", "compute_seen_mass",
        "request_demand", "compute_demand", "bound_demands", "clear_demands", "save_force_bounds",
        "save_forces", "save_bounds",
    }
)  # fmt: skip
# columns that are there only while stiffness is being chosen
ASKED = ("response", "demand", "kept_force", "kept_bound")
# parts of an event for all its elements
EITHER_SIDE = frozenset({"use_present_velocity", "use_end_velocity", "save_bounds", "restore_bounds"})
OTHER_SIDE = frozenset({"save_forces", "restore_forces"})  # for those on bodies that it does not touch
STEP, TIME, GAIN_STEP = range(3)  # places in `clock`


class Elements(Table):
    """State of every element in use and the force on it; rows are recycled when joints come and go.

    Row 0 is nobody's: it stays zero, and what points at nothing points there.
    """

    together = (ASKED,)
    position: Array  # [m] for points, [-] for directions
    velocity: Array  # [m/s], [1/s]
    current_velocity: (
        Array  # v_n + dt a_n, for dampers [m/s]; without forces the engine keeps the corrected velocity here
    )
    force: Array  # [N], [N m]
    force_before: Array  # force and velocity one tick ago: the ledger's
    velocity_before: Array
    response: Array  # B, with B B^T the compliance
    demand: Array  # what stiffness asks of the body behind it
    bound: Array  # largest eigenvalue of that body's loads
    kept_force: Array  # force and bound as they were before an event
    kept_bound: Array
    work: Array  # what has been done on it in this tick and not been booked yet [J]
    taken: Array  # of them, what springs and dampers of forces ask alone
    alarm: Array  # leak of a ledger from which on the coordinator wants to know [J]
    tolerance: Array  # where things are glued: what may stay open of lengths [m], and of directions [-]
    ahead: Array  # 1 while glued bodies answer where a drift has led
    beyond: Array  # how much further in time one looks along the motion [s]; nothing elsewhere
    clock: Array  # the step that is being taken [s], the time at its end [s], the step that gains belong to [s]

    def __init__(self, dimension: int, capacity: int = 16, motions: int = RIGID_BODY_MOTIONS) -> None:
        """`motions`: in how many ways the body with the most of them answers forces (`Body.motions`)."""
        super().__init__(capacity)
        self.dimension = dimension
        for name in ("position", "velocity", "current_velocity", "force", "force_before", "velocity_before"):
            self.column(name, dimension)
        self.column("response", dimension, max(MODES, motions))
        self.column("demand", motions, motions)
        self.column("bound")
        self.column("taken")
        self.column("kept_force", dimension)
        self.column("kept_bound")
        self.column("work")
        self.fixed("clock", 3)
        self.fixed("alarm", 1)
        self.fixed("tolerance", 2)
        self.fixed("ahead", 1)
        self.fixed("beyond", 1)
        self.loops = {
            "clear_demands": clear_demands_loop, "save_force_bounds": save_force_bounds_loop,
            "save_forces": save_forces_loop, "restore_forces": restore_forces_loop, "save_bounds": save_bounds_loop,
            "restore_bounds": restore_bounds_loop, "use_present_velocity": use_present_velocity_loop,
            "use_end_velocity": use_end_velocity_loop, "save_previous": save_previous_loop,
        }  # fmt: skip
        self.fold(*ASKED)
        self._used = 1
        self._free: dict[int, list[int]] = {}

    @property
    def motions(self) -> int:
        """Columns of a response that count where internal constraints hold."""
        return int(self.demand.shape[-1])

    def resize_response(self, motions: int) -> None:
        """Let bodies answer in more ways; what had been answered is forgotten."""
        self.reshape("response", self.dimension, max(MODES, motions))
        self.reshape("demand", motions, motions)
        self.fold(*ASKED)

    def prepare(self, verb: str) -> None:
        """Unfold what is about to be written: bodies and joints ask and answer only while stiffness is being chosen."""
        if verb in ASKING and len(self.demand) < self._capacity:
            self.unfold(*ASKED)

    def chosen(self, rows: Any) -> Self:
        """A table of its own with copies of some rows; row 0 must be the first of them."""
        made = super().chosen(rows)
        made._used, made._free = len(rows), {}
        return made

    def details(self) -> dict[str, Any]:
        """Rows in use, and those that are free again."""
        return {"dimension": self.dimension, "used": self._used, "free": list(self._free.items())}

    def recall(self, details: Mapping[str, Any]) -> None:
        """Keep them again."""
        self.dimension, self._used = details["dimension"], details["used"]
        self._free = {count: list(firsts) for count, firsts in details["free"]}
        if not all(0 < row <= self._used - count for count, rows in self._free.items() for row in rows):
            raise ModelError("elements: rows that are free lie beyond those that are or were in use.")

    @property
    def count(self) -> int:
        """Rows that are or were in use."""
        return self._used

    def acquire(self, count: int) -> int:
        """First of `count` consecutive rows, all zero."""
        free = self._free.get(count)
        if free:
            return free.pop()
        first = self._used
        self._used += count
        if self._used > self._capacity:
            self.grow(max(2 * self._capacity, self._used))
        return first

    def release(self, first: int, count: int) -> None:
        """Give rows back."""
        self.clear(first, first + count)
        self._free.setdefault(count, []).append(first)


@loop
def clear_demands_loop(start: int, stop: int, table: View, elements: View) -> int:
    """Nobody asks anything of the bodies yet."""
    for n in range(start, stop):
        for i in range(table.demand.shape[0]):
            for j in range(table.demand.shape[1]):
                table.demand[n, i, j] = 0.0
    return NO_FAILED_ROW


@loop
def save_force_bounds_loop(start: int, stop: int, table: View, elements: View) -> int:
    """What has been asked so far is what springs and dampers of forces ask; joints ask anew."""
    for n in range(start, stop):
        table.taken[n] = table.bound[n]
        for i in range(table.demand.shape[0]):
            for j in range(table.demand.shape[1]):
                table.demand[n, i, j] = 0.0
    return NO_FAILED_ROW


# --- around an event -------------------------------------------------------------------------------------------------


@loop
def save_forces_loop(start: int, stop: int, table: View, elements: View) -> int:
    """Forces that an event leaves alone."""
    for n in range(start, stop):
        for c in range(table.force.shape[0]):
            table.kept_force[n, c] = table.force[n, c]
    return NO_FAILED_ROW


@loop
def restore_forces_loop(start: int, stop: int, table: View, elements: View) -> int:
    """They are what they were."""
    for n in range(start, stop):
        for c in range(table.force.shape[0]):
            table.force[n, c] = table.kept_force[n, c]
    return NO_FAILED_ROW


@loop
def save_bounds_loop(start: int, stop: int, table: View, elements: View) -> int:
    """What joints asked of the bodies when their stiffness was chosen."""
    for n in range(start, stop):
        table.kept_bound[n] = table.bound[n]
    return NO_FAILED_ROW


@loop
def restore_bounds_loop(start: int, stop: int, table: View, elements: View) -> int:
    """It is what it was."""
    for n in range(start, stop):
        table.bound[n] = table.kept_bound[n]
    return NO_FAILED_ROW


@loop
def use_present_velocity_loop(start: int, stop: int, table: View, elements: View) -> int:
    """At the present state forces read the present velocities."""
    for n in range(start, stop):
        for c in range(table.velocity.shape[0]):
            table.current_velocity[n, c] = table.velocity[n, c]
    return NO_FAILED_ROW


@loop
def use_end_velocity_loop(start: int, stop: int, table: View, elements: View) -> int:
    """Joints read the velocities v + dt a, as forces do."""
    for n in range(start, stop):
        for c in range(table.velocity.shape[0]):
            table.velocity[n, c] = table.current_velocity[n, c]
    return NO_FAILED_ROW


@loop
def save_previous_loop(start: int, stop: int, table: View, elements: View) -> int:
    """The work of the next tick starts from the forces and velocities of now."""
    for n in range(start, stop):
        for c in range(table.velocity.shape[0]):
            table.force_before[n, c] = table.force[n, c]
            table.velocity_before[n, c] = table.velocity[n, c]
    return NO_FAILED_ROW
