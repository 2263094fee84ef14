"""Forces along one coordinate between two ports: the angle about an axis, the way along it, or the distance.

What they share: how the coordinate is read, with its rate and its derivatives, and how a force, or a torque, acts along it:
-J^T F, alike on both sides. Angles go on over turns: the turn is the one that is nearest to where it was a tick ago. That,
and what else a force keeps for the next tick, is committed where the tick is booked; forces may be asked many times before.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from components.forces.vectors import measure_line
from components.joints.marks import across, line_mark, line_of, must, oriented
from components.joints.rows import go_along, go_along_in_plane, rate_along
from components.joints.turns import turn, turn_in_plane, unwound
from modular.blocks import like, shaped
from modular.compliant import CompliantRows, spare_implicit_rows, write_geometry
from modular.demand_sharing import growth, request_demand_rows
from modular.elements import GAIN_STEP, Array, Elements, Indices
from modular.errors import ModelError
from modular.flat_rows import width_of
from modular.force import Force
from modular.forces import ForceStack, turned_between
from modular.joint import JointForm, point_marks, unit
from modular.kernel import kernel
from modular.lane_rows import store
from modular.lanes import LANES, types
from modular.ledger import DISSIPATED, book_rows, close, settle_rows
from modular.loop import NO_FAILED_ROW, Loop, loop
from modular.numbers import number
from modular.seen_mass import compute_compliance_rows
from modular.side import Mark, Side
from modular.views import View

MEASURES = ("angle", "way", "distance")
ANGLE, WAY, DISTANCE = 1, 2, 3
STABLE_STIFFNESS_SHARE = 0.2  # of the 4 that a step can bear: what a stiffness asks that is chosen by it
MADE, ORIGIN, COSINE, SINE = range(4)  # of the frame in which a coordinate is told
TICK, DEMANDED = range(2)  # of `stage`
STIFFNESS, DAMPING, RATIO = range(3)  # gains; a stiffness below zero is to be chosen: minus so many shares
# what is kept from tick to tick: the coordinate, what a tick took while friction slipped, the force
REACHED, SPENT, EFFORT = range(3)


@dataclass(frozen=True)
class AlongCoordinate(Force):
    """A force along the coordinate `measure` from its first port to its second.

    "angle": the turn of the second about `axis` of the first [rad], over any number of turns, and a torque about it;
    "way": that of the second point along `axis` of the first [m]; both are counted from where they were when it was made.
    "distance": that of the two points [m]. `axis` is given in the world, as the bodies stand when it is made, and moves with
    the first side; left out, it is the z axis of the first port (in the plane the x axis for a way; angles are about z).
    """

    what: ClassVar[str] = "force"  # in messages

    @property
    def sides(self) -> int:
        """Two ports."""
        return 2

    @property
    def coordinate(self) -> str:
        """Along which it acts."""
        return str(getattr(self, "measure", "angle"))

    @property
    def line(self) -> Sequence[float] | None:
        """The axis or line of that."""
        return getattr(self, "axis", None)

    def on_joint(self, coordinate: str, axis: Sequence[float] | None) -> Force | None:
        """The same along a coordinate."""
        told, settings = self.__dataclass_fields__, {"measure": coordinate, "axis": axis}
        if "measure" not in told and (coordinate != self.coordinate or "axis" not in told):
            return None
        return replace(self, **{name: value for name, value in settings.items() if name in told})

    def check(self, name: str, dimension: int) -> list[str]:
        """Measures nobody knows, axes that point nowhere, and numbers that are none."""
        problems = []
        if self.coordinate not in MEASURES:
            problems.append(f"{self.what} '{name}': measure = {self.coordinate!r}; give one of {', '.join(MEASURES)}.")
        axis = getattr(self, "axis", None)
        if axis is not None and self.coordinate == "angle" and dimension == 2:
            problems.append(
                f"{self.what} '{name}': axis = {axis}; in the plane everything turns about z; leave axis out."
            )
        elif axis is not None:
            try:
                unit(name, axis, dimension)
            except ModelError as error:
                problems.append(str(error).replace("joint", self.what, 1))
        return problems

    def numbers(self, name: str, **least: float) -> list[str]:
        """Fields that are to be finite numbers from some value on; None where that is their default."""
        problems = []
        for field, low in least.items():
            value = getattr(self, field)
            if value is None and type(self).__dataclass_fields__[field].default is None:
                continue
            try:
                good = number(value, "", "") >= low
            except ModelError:
                good = False
            if not good:
                bound = "" if low == -np.inf else f" from {low:g} on"
                problems.append(f"{self.what} '{name}': {field} = {value!r}; give a finite number{bound}.")
        return problems

    def kind(self) -> Hashable:
        """Those along the same coordinate share a stack."""
        return type(self), self.coordinate

    def marks(self, name: str, sides: Sequence[Side]) -> list[list[Mark]]:
        """The points; the axis, and directions by which a turn is told."""
        first, second = sides[:2]
        try:
            mark_a, mark_b = point_marks(name, first, second, first.position, second.position)
            if self.coordinate == "distance":
                return [[mark_a], [mark_b]]
            oriented(name, first, *([second] if self.coordinate == "angle" else []))
            plane = len(first.position) == 2
            axis = line_of(name, getattr(self, "axis", None), first)
            if plane:
                line = must(first.direction(first.directions[0]))
                if self.coordinate == "way":
                    return [[mark_a, line if self.line is not None else line_mark(name, first, axis)], [mark_b]]
                return [[mark_a, line], [mark_b, must(second.direction(second.directions[0]))]]
            along = line_mark(name, first, axis)
            if self.coordinate == "way":
                return [[mark_a, along], [mark_b]]
            return [[mark_a, along, across(name, first, axis)], [mark_b, across(name, second, axis)]]
        except ModelError as error:
            raise ModelError(str(error).replace("joint '", f"{self.what} '", 1)) from error


class AlongCoordinates(ForceStack):
    """Such forces, one row each; a subclass says by its loop what they exert."""

    remembered: ClassVar[tuple[str, ...]] = ("drawn", "kept", "tried")
    untold: ClassVar[tuple[str, ...]] = ("kept", "tried")
    recorded: ClassVar[tuple[str, ...]] = ("kept",)
    axis: Array  # in the plane, along which a way is measured, (n, d)
    frame: Array  # whether it has been looked at, where it stood then, and in the plane the angle from a line of its first side
    gains: Array  # stiffness, damping at most, and a damping ratio; a negative stiffness is chosen by the step
    kept: Array  # what a tick leaves for the next one
    tried: Array  # what the force that was worked out last would leave
    on_first: Array
    on_second: Array
    compliance: Array
    spring: Array  # dt^2 k, 4 dt c, and both together
    damper: Array
    block: Array
    row_columns = ("axis", "frame", "kept", "tried", "measure")
    margin: Array
    measure: Array  # its length tells which it is
    stage: Array  # shares of the step: what it counts as its tick, and for which it is asked what it demands

    def __init__(self, measure: str, dimension: int, exert: Loop, *, driven: bool = False, keeps: int = 3) -> None:
        first, second = self.sizes(measure, dimension)
        super().__init__(first, second, dimension, driven=driven)
        self.column("axis", dimension)
        self.column("frame", 4)
        self.column("gains", 3)
        for name in ("kept", "tried"):
            self.column(name, keeps)
        self.column("on_first", 1, first, dimension)
        self.column("on_second", 1, second, dimension)
        for name in ("compliance", "spring", "damper", "block"):
            self.column(name, 1, 1)
        self.column("margin")
        self.column("implicit", dtype=np.int64)
        self.fixed("stage", 2)
        self.stage[:] = 1.0
        self.fixed("translations", int(measure != "angle"))
        self.fixed("measure", 1 + MEASURES.index(measure))  # its length tells loops which it is
        self.loops = {
            "exert": exert, "account": account_loop, "settle_up": settle_up_too_loop, "request_demand": request_demand_loop,
            "compute_margin": compute_margin_loop,
        }  # fmt: skip

    def sizes(self, measure: str, dimension: int) -> tuple[int, int]:
        """Elements that it reads on either side."""
        if measure == "distance":
            return 1, 1
        if measure == "way":
            return 2, 1
        return (3, 2) if dimension == 3 else (2, 2)

    def take(self, name: str, force: Any, first: Sequence[int]) -> int:
        """A row for a force; nothing is known of its coordinate before it is first looked at."""
        row = self.add_row(name)
        self.first[row], self.second[row] = first[:2]
        axis = getattr(force, "axis", None)
        size = self.first_side.shape[1]
        self.axis[row] = np.zeros(size) if axis is None else unit(name, axis, size)  # none: the line of its first side
        return row

    def exert(self, elements: Elements, time: float) -> None:
        """Write the forces on the elements."""
        if len(undecided := np.flatnonzero(self.gains[: self.count, 0] < 0.0)):
            self.refuse_undecided(undecided, elements)
        self.play("exert", elements)

    @property
    def turning(self) -> tuple[int, ...]:
        """Columns of what is kept that are angles, which go on from there by the nearest turn."""
        return (REACHED,) if self.measure.shape[0] == ANGLE else ()

    @property
    def undecided(self) -> bool:
        """Stiffnesses below zero are still to be derived."""
        return bool((self.gains[: self.count, 0] < 0.0).any())

    def refuse_undecided(self, rows: Indices, elements: Elements) -> None:
        """No step limits a stiffness here that one should choose; what exerts nothing yet may let that pass."""
        raise ModelError(
            f"force '{self.names[int(rows[0])]}': its stiffness is derived from the step, which this coupling does not limit; "
            "give stiffness=…."
        )

    @property
    def read_velocity(self) -> list[str]:
        """All that are exerted may."""
        return [name for name, row in self.row.items() if not self.implicit[row]]

    def most_turned(self, rows: Sequence[int], elements: Elements) -> Array:
        """The line of a distance turns against both bodies; axes go with theirs."""
        if len(self.measure) != DISTANCE:
            return super().most_turned(rows, elements)
        return turned_between(self.first[rows], self.second[rows], elements)

    def place_rows(self, rows: CompliantRows) -> None:
        """Angles are told from those of the last tick."""
        rows.start_gap[: rows.count, 0] = self.kept[rows.home[: rows.count], REACHED]

    def requested_demand(self) -> tuple[Array, Array]:
        """dt^2 K and 4 dt C per row as last asked, (n, 1, 1)."""
        return self.spring[: self.count], self.damper[: self.count]


def _scratch(forces: Any) -> list[tuple[int, ...]]:
    first, second = forces.shape_of("first_side"), forces.shape_of("second_side")
    return [first, second, (1, *first), (1, *second), (1,)]


scratch_of = shaped(types.float64, _scratch)


@kernel
def unit_of(forces: View) -> int:
    """In which of two columns what is measured along the coordinate stands: ways [m] in the first, angles [rad] in the second."""
    return 1 if forces.measure.shape[0] == ANGLE else 0


@kernel(apart=True)
def measure_coordinate(forces: View, elements: View, n: int, scratch: Any) -> tuple[Any, Any]:
    """The coordinate and its rate; its derivatives on both sides stay in the scratch blocks."""
    a, b, on_a, on_b, way = scratch
    first, second, frame = forces.first[n], forces.second[n], forces.frame[n]
    size = a.shape[1]
    for k in range(a.shape[0]):
        for c in range(size):
            a[k, c] = elements.position[first + k, c]
            on_a[0, k, c] = 0.0
    for k in range(b.shape[0]):
        for c in range(size):
            b[k, c] = elements.position[second + k, c]
            on_b[0, k, c] = 0.0
    new = frame[MADE] == 0.0
    s = 0.0
    if forces.measure.shape[0] == ANGLE:
        # `turn` reads a third direction, which there is in space alone
        s = (
            turn(a, 1, a, 2, b, 1, 0, 1.0, on_a, on_a, on_b)
            if size == 3
            else turn_in_plane(a, 1, b, 1, 0, 1.0, on_a, on_b)
        )
        if new:
            frame[ORIGIN] = s
        s -= frame[ORIGIN]
        s = unwound(s, forces.kept[n, REACHED])
    elif forces.measure.shape[0] == WAY:
        way[0] = 0.0
        if size == 3:
            go_along(a, b, 0, 1, way, on_a, on_b)
        else:
            if new:
                x, y = forces.axis[n, 0], forces.axis[n, 1]
                if x == 0.0 and y == 0.0:
                    x, y = a[1, 0], a[1, 1]
                frame[COSINE] = a[1, 0] * x + a[1, 1] * y
                frame[SINE] = a[1, 0] * y - a[1, 1] * x
            go_along_in_plane(a, b, 0, 1, frame[COSINE], frame[SINE], way, on_a, on_b)
        if new:
            frame[ORIGIN] = way[0]
        s = way[0] - frame[ORIGIN]
    else:
        s = measure_line(a, b, elements.current_velocity, first, second, on_a, on_b)
        if new:
            frame[ORIGIN] = s
    frame[MADE] = 1.0
    forces.tried[n, REACHED] = s
    return s, rate_along(on_a, on_b, elements.current_velocity, first, second)


@kernel
def pull(forces: View, elements: View, n: int, effort: float, scratch: Any) -> None:
    """-J^T F on both sides."""
    a, b, on_a, on_b, _ = scratch
    forces.tried[n, EFFORT] = effort
    for k in range(a.shape[0]):
        for c in range(a.shape[1]):
            elements.force[forces.first[n] + k, c] = -effort * on_a[0, k, c]
    for k in range(b.shape[0]):
        for c in range(b.shape[1]):
            elements.force[forces.second[n] + k, c] = -effort * on_b[0, k, c]


@kernel
def compute_total_compliance(forces: View, elements: View, n: int) -> None:
    """Where two points coincide, their distance may grow any way, and no way is seen more than all of them together."""
    seen = 0.0
    for c in range(forces.on_first.shape[2]):
        for k in range(forces.on_first.shape[1]):
            for e in range(forces.on_first.shape[2]):
                forces.on_first[n, 0, k, e] = -1.0 if k == 0 and e == c else 0.0
        for k in range(forces.on_second.shape[1]):
            for e in range(forces.on_second.shape[2]):
                forces.on_second[n, 0, k, e] = 1.0 if k == 0 and e == c else 0.0
        compute_compliance_rows(n, n + 1, forces, elements, elements.demand.shape[0])
        seen += forces.compliance[n, 0, 0]
    forces.compliance[n, 0, 0] = seen


@kernel
def demand_rows(start: int, stop: int, forces: View, elements: View) -> None:
    """dt^2 k + 4 dt c along the coordinate; a stiffness that is not given is chosen so that the step can bear it with ease."""
    dt, scratch = forces.stage[DEMANDED] * elements.clock[GAIN_STEP], scratch_of(forces)
    for n in range(start, stop):
        measure_coordinate(forces, elements, n, scratch)
        _, _, on_a, on_b, _ = scratch
        for k in range(on_a.shape[1]):
            for c in range(on_a.shape[2]):
                forces.on_first[n, 0, k, c] = on_a[0, k, c]
        for k in range(on_b.shape[1]):
            for c in range(on_b.shape[2]):
                forces.on_second[n, 0, k, c] = on_b[0, k, c]
    compute_compliance_rows(start, stop, forces, elements, elements.demand.shape[0])
    if forces.measure.shape[0] == DISTANCE:
        for n in range(start, stop):
            if forces.tried[n, REACHED] == 0.0:
                compute_total_compliance(forces, elements, n)
    for n in range(start, stop):
        seen, gains = forces.compliance[n, 0, 0], forces.gains[n]
        if gains[STIFFNESS] < 0.0 and seen > 0.0:
            gains[STIFFNESS] *= -STABLE_STIFFNESS_SHARE / (dt * dt * seen)
        if gains[RATIO] > 0.0 and seen > 0.0:
            gains[DAMPING] += 2.0 * gains[RATIO] * np.sqrt(gains[STIFFNESS] / seen)
            gains[RATIO] = 0.0
        forces.spring[n, 0, 0] = dt * dt * max(gains[STIFFNESS], 0.0)
        forces.damper[n, 0, 0] = 4.0 * dt * gains[DAMPING]
        forces.block[n, 0, 0] = forces.spring[n, 0, 0] + forces.damper[n, 0, 0]
    spare_implicit_rows(start, stop, forces)


@loop
def request_demand_loop(start: int, stop: int, forces: View, elements: View) -> int:
    """Tell the bodies what forces along coordinates ask of a step."""
    demand_rows(start, stop, forces, elements)
    request_demand_rows(start, stop, forces, elements)
    return NO_FAILED_ROW


@loop
def coordinate_rows_loop(start: int, stop: int, forces: View, elements: View) -> int:
    """The coordinates of forces that are rows of the interface; angles are the nearest to those where the step began."""
    scratch = scratch_of(forces)
    for n in range(start, stop):
        forces.kept[n, REACHED] = forces.start_gap[n, 0]
        way, _ = measure_coordinate(forces, elements, n, scratch)
        _, _, on_a, on_b, error = scratch
        error[0] = way
        write_geometry(forces, n, error, on_a, on_b)
    return NO_FAILED_ROW


def row_form_of(stack: AlongCoordinates) -> JointForm:
    """Of forces along a coordinate that are rows of the interface."""
    measure, (first, dimension) = MEASURES[stack.measure.shape[0] - 1], stack.first_side.shape
    sizes, turns = (first, stack.second_side.shape[0]), int(measure == "angle")
    return JointForm(
        f"along-{measure}-{dimension}d",
        coordinate_rows_loop,
        *sizes,
        rows=1,
        translations=1 - turns,
        locks=1,
        rotations=turns,
    )


@loop
def compute_margin_loop(start: int, stop: int, forces: View, elements: View) -> int:
    """The factor by which the step could grow before the bodies' answers reach their limit."""
    for n in range(start, stop):
        bound = max(elements.bound[forces.first[n]], elements.bound[forces.second[n]])
        forces.margin[n] = growth(forces.spring[n, 0, 0], forces.damper[n, 0, 0], bound)
    return NO_FAILED_ROW


@kernel
def commit(start: int, stop: int, forces: View) -> None:
    """What was tried last stands; friction has taken what its force did while its hold slipped."""
    for n in range(start, stop):
        kept, tried = forces.kept[n], forces.tried[n]
        forces.ledger[n, DISSIPATED] += tried[SPENT]
        tried[SPENT] = 0.0  # a tick may be booked in parts
        close(forces.ledger[n])
        for k in range(width_of(forces.kept)):
            kept[k] = tried[k]


@loop
def account_loop(start: int, stop: int, forces: View, elements: View) -> int:
    """Book the tick that has just passed, and keep what is to be kept."""
    ledger = like(forces.ledger)
    for n in range(start, stop, LANES):
        book_rows(forces, elements, elements.velocity, n, stop, ledger)
        store(ledger, forces.ledger, n, stop)
    commit(start, stop, forces)
    return NO_FAILED_ROW


@loop
def settle_up_too_loop(start: int, stop: int, forces: View, elements: View) -> int:
    """The same from the works that the elements have gathered."""
    settle_rows(start, stop, forces, elements)
    commit(start, stop, forces)
    return NO_FAILED_ROW
