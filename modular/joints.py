"""The stack of joints of one form: their rows, their springs and their energy ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from modular import load_sharing, seen_mass
from modular.blocks import like, shaped
from modular.courses import NUMBERS_PER_ROW
from modular.elements import ASKING, GAIN_STEP, RIGID_BODY_MOTIONS, STEP, Array, Elements
from modular.joint import JointForm
from modular.kernel import kernel
from modular.lanes import LANES, lanes
from modular.ledger import STORED, Booked, account_loop, book_rows
from modular.loop import NO_FAILED_ROW, Loop, inside, loop, made
from modular.views import View, fetch, gather, indices, scatter, store, store_item, store_one

ANSWERS = ("compliance", "block")  # columns that are there only while stiffness is being chosen
GLUE = (
    "base_first", "base_second", "seen_first", "seen_second", "ahead_first", "ahead_second", "effort", "closed",
    "kicked", "carried",
)  # columns that are there only where joints are glued  # fmt: skip
GLUING = frozenset({"compute_joint_response", "apply_multipliers"})  # what they do then (modular/gluing.py)


class Joints(Booked):
    """Joints of one form; every array has one row per joint."""

    together = (ANSWERS, GLUE)
    remembered = ("drawn", "kicked", "carried")
    marker: Array  # numbers fixed when the joint was made
    error: Array  # phi, (n, m) [m], [-]
    rate: Array  # its time derivative
    pieces: Array  # of courses that driven rows follow (modular/courses.py)
    course: Array  # way, rate, acceleration of what driven rows follow; the rate where the step began, (n, drives, 4)
    preload: Array  # the part of its effort that a joint carries from its start, its spring unstretched [N], [N m]
    parting: (
        Array  # how its sides would accelerate apart without it, as far as stiffness sees their masses [m/s^2], [1/s^2]
    )
    on_first: Array  # Jacobian with respect to the elements of the first side, (n, m, elements, d)
    on_second: Array
    stiffness: Array  # K, (n, m, m)
    damping: Array  # C
    compliance: Array  # W = J M^-1 J^T over both bodies, (n, m, m)
    wrench: Array  # force [N] and moment [N m] on the second side, as last worked out
    base_first: Array  # Jacobians where the step began, for joints that are glued (modular/gluing.py)
    base_second: Array
    seen_first: Array  # G = J B, what the body of either side answers through the joint, (n, m, motions)
    seen_second: Array
    ahead_first: Array  # the same of what forces there do where the step leads
    ahead_second: Array
    effort: Array  # reaction that a glued joint exerts now [N], [N m]
    closed: Array  # by how much the reaction that closed it differed from that at the end of the step before
    kicked: Array  # reaction at the end of the last step
    carried: Array  # reaction that is expected to close it in the next
    margin: Array  # by how much the step could grow
    uneven: Array  # 1 where points coincide between bodies that answer much more one way than another, else 0
    rule: Array  # settings of the rule that chooses the stiffness
    block: Array  # what the joint asks of its bodies: its seen mass, or dt^2 K + 2 dt C

    def __init__(self, form: JointForm, dimension: int, motions: int = RIGID_BODY_MOTIONS) -> None:
        super().__init__(form.first, form.second, dimension, driven=form.drives > 0)
        self.form = form
        self.column("marker", form.marker)
        self.column("course", form.drives, 4)
        if form.drives:
            self.column("pieces", 1 + NUMBERS_PER_ROW * form.drives, listed=True)
        for name in ("error", "rate", "preload", "parting"):
            self.column(name, form.rows)
        for name, elements, sign in (("on_first", form.first, -1.0), ("on_second", form.second, 1.0)):
            for each in (name, name.replace("on_", "base_")):
                if form.coincident < form.rows:
                    self.column(each, form.rows, elements, dimension)
                else:
                    self.alike(
                        each, sign * np.eye(form.rows, elements * dimension).reshape(form.rows, elements, dimension)
                    )
        for name in ("stiffness", "damping", "compliance", "block"):
            self.column(name, form.rows, form.rows)
        for name in ("seen_first", "seen_second", "ahead_first", "ahead_second"):
            self.column(name, form.rows, motions)
        for name in ("effort", "closed", "kicked", "carried"):
            self.column(name, form.rows)
        self.column("margin")
        self.column("uneven")
        self.column("wrench", dimension + (2 * dimension - 3 if form.second > 1 else 0))
        self.fixed("coincident", form.coincident)
        self.fixed("translations", form.translations)  # their shapes tell loops how many there are
        self.fixed("rotations", form.rotations)
        self.fixed("holonomic", int(form.holonomic))
        held = form.locks - form.rotations
        square = 1 < form.translations == held < 4
        self.fixed("square", int(square))  # 1 where their matrix can be inverted
        self.fixed("steady", 0 if form.turns else 1)  # its seen mass stays, where bodies answer about evenly
        self.fixed("rule", 4)  # settings of the rule that chooses the stiffness
        self.loops = {
            "measure_rates": measure_loop, "exert": exert_loop, "account_and_exert": account_and_exert_loop,
            "account": account_loop, "compute_compliance": seen_mass.compute_compliance_loop,
            "compute_free_compliance": seen_mass.compute_free_compliance_loop,
            "compute_seen_mass": seen_mass.compute_seen_mass_loop, "request_load": load_sharing.request_load_loop,
            "compute_parting": seen_mass.compute_parting_loop, "update_preload": seen_mass.update_preload_loop,
            "wrenches": wrench_loop, "compute_load": compute_load_loop, "compute_margin": compute_margin_loop,
        }  # fmt: skip
        if isinstance(form.linearise, Loop):
            self.loops["linearise"] = form.linearise
        if square and not form.turns:  # elsewhere there is nothing to find, and so nothing to compile
            self.loops["find_uneven"] = seen_mass.find_uneven_loop
        self.fold(*ANSWERS, *GLUE)

    def prepare(self, verb: str) -> None:
        """Unfold what is about to be written: answers of the bodies are there only while stiffness is being chosen."""
        if verb in ASKING and len(self.block) < self._capacity:
            self.unfold(*ANSWERS)
        if verb in GLUING and len(self.effort) < self._capacity:
            self.unfold(*GLUE)

    @property
    def turns(self) -> bool:
        """Whether what they see changes as the bodies turn."""
        return self.form.turns or bool(self.uneven[: self.count].any())

    def give_room(self, motions: int) -> None:
        """Let bodies answer in more ways through them."""
        for name in ("seen_first", "seen_second", "ahead_first", "ahead_second"):
            self.reshape(name, self.form.rows, motions)

    def details(self) -> dict[str, Any]:
        """Names, and how the equations are written."""
        return {**super().details(), "form": self.form.to_data()}

    def recall(self, details: Mapping[str, Any]) -> None:
        """Keep them again."""
        super().recall(details)
        form = details["form"]
        self.form = form if isinstance(form, JointForm) else JointForm.from_data(form)

    def linearise(self, elements: Elements) -> None:
        """Errors and Jacobians at the elements as they are shown."""
        if isinstance(self.form.linearise, Loop):
            self.play("linearise", elements)
            return
        function: Callable[..., None] = self.form.linearise
        function(
            self.count, self.first, self.second, self.marker, elements.position, self.error, self.on_first,
            self.on_second,
        )  # fmt: skip

    def measure(self, elements: Elements) -> None:
        """Errors and their rates at the elements as they are shown."""
        self.linearise(elements)
        self.play("measure_rates", elements)

    def exert(self, elements: Elements) -> None:
        """Spring, damper and preload: sigma = K phi + C phi' + sigma_0, and -J^T sigma on the elements of both sides."""
        self.play("exert", elements)

    def account(self, elements: Elements, dt: float) -> None:
        """Book the tick that has just passed."""
        elements.clock[STEP] = dt
        self.play("account", elements)

    def limits(self, elements: int) -> Iterator[tuple[str, Any]]:
        """The pieces of courses are no more than there is room for."""
        yield from super().limits(elements)
        if self.form.drives:
            yield "number", self.pieces.shape[1] // (1 + NUMBERS_PER_ROW * self.form.drives)

    @property
    def number(self) -> Array:
        """How many pieces the course of each joint has."""
        return self.marker[:, 0]

    # --- seen masses ---------------------------------------------------------------------------------------------

    def compute_compliance(self, elements: Elements) -> None:
        """Compliance W of every joint, from what the bodies reported."""
        self.play("compute_compliance", elements)

    def compute_seen_mass(self, elements: Elements) -> None:
        """Seen mass of every joint as a matrix, into `block`."""
        self.play("compute_seen_mass", elements)

    def request_load(self, elements: Elements) -> None:
        """Tell the bodies what the blocks of the joints ask of them."""
        self.play("request_load", elements)

    def wrenches(self, elements: Elements) -> Array:
        """Force and, where the joint reads directions, moment on the second side at its point, (n, ...)."""
        self.play("wrenches", elements)
        return self.wrench[: self.count]


# --- for the loops of joint forms ------------------------------------------------------------------------------------


SCRATCH_COLUMNS = ("first_side", "second_side", "marker", "error", "on_first", "on_second")
scratch_of = shaped(lanes, lambda joints: [joints.shape_of(name) for name in SCRATCH_COLUMNS])


@kernel
def load_joints(joints: View, elements: View, n: int, stop: int, scratch: tuple[Array, ...]) -> tuple[Array, ...]:
    """Elements of both sides of four joints, the numbers fixed when they were made, and empty rows to be filled in."""
    a, b, marker, error, on_first, on_second = scratch
    gather(elements.position, indices(joints.first, n, stop), a)
    gather(elements.position, indices(joints.second, n, stop), b)
    fetch(joints.marker, n, stop, marker)
    error[:] = 0.0
    on_first[:, :, :] = 0.0
    on_second[:, :, :] = 0.0
    return scratch


@kernel
def store_joints(joints: View, n: int, stop: int, error: Array, on_first: Array, on_second: Array) -> None:
    """What was filled in becomes the rows of four joints."""
    store(error, joints.error, n, stop)
    store(on_first, joints.on_first, n, stop)
    store(on_second, joints.on_second, n, stop)


def joint_loop(rows: Callable[..., None]) -> Loop:
    """The loop that linearises joints, around what fills in the rows of four of them: see components/joints."""
    fill_in = inside(rows)

    def linearise(start: int, stop: int, joints: View, elements: View) -> int:
        scratch = scratch_of(joints)
        for n in range(start, stop, LANES):
            a, b, marker, error, on_first, on_second = load_joints(joints, elements, n, stop, scratch)
            fill_in(a, b, marker, error, on_first, on_second)
            store_joints(joints, n, stop, error, on_first, on_second)
        return NO_FAILED_ROW

    return made(linearise, rows)


# --- loops of all joints ---------------------------------------------------------------------------------------------


@kernel
def rates(leading: int, on_first: Array, on_second: Array, a: Array, b: Array, rate: Array) -> None:
    """phi' = J v over both sides; the `leading` rows say P_a = P_b."""
    for i in range(rate.shape[0]):
        if i < leading:
            rate[i] = b[0, i] - a[0, i]
            continue
        value = 0.0
        for k in range(a.shape[0]):
            for c in range(a.shape[1]):
                value += on_first[i, k, c] * a[k, c]
        for k in range(b.shape[0]):
            for c in range(b.shape[1]):
                value += on_second[i, k, c] * b[k, c]
        rate[i] = value


@kernel
def follow_on(course: Array, lag: float, rate: Array) -> None:
    """phi' = J v - f' of driven rows, the last ones, with f' as it was `lag` before.

    Predicted velocities v + a dt / 2 are half a step old. A course that were not would be seen to run ahead of bodies that follow
    it, and dampers would take energy from that, to first order.
    """
    for i in range(course.shape[0]):
        rate[rate.shape[0] - course.shape[0] + i] -= course[i, 1] - lag * course[i, 2]


@kernel
def drawn_by(course: Array, effort: Array, which: int) -> Any:
    """sigma f': minus what a drive brings, with the rate of its course now (1) or where the step began (3)."""
    value = 0.0
    for i in range(course.shape[0]):
        value += effort[effort.shape[0] - course.shape[0] + i] * course[i, which]
    return value


@kernel
def pull_back(leading: int, jacobian: Array, sign: float, effort: Array, force: Array) -> None:
    """-J^T sigma on the elements of one side; `sign` is that of its own point in the `leading` rows."""
    for k in range(force.shape[0]):
        for c in range(force.shape[1]):
            value = 0.0
            if k == 0 and c < leading:
                value -= sign * effort[c]
            for i in range(leading, effort.shape[0]):
                value -= jacobian[i, k, c] * effort[i]
            force[k, c] = value


@loop
def measure_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """Rates of the errors of joints that are linearised."""
    on_first, on_second, rate = like(joints.on_first), like(joints.on_second), like(joints.rate)
    a, b, course = like(joints.first_side), like(joints.second_side), like(joints.course)
    for n in range(start, stop, LANES):
        fetch(joints.on_first, n, stop, on_first)
        fetch(joints.on_second, n, stop, on_second)
        gather(elements.velocity, indices(joints.first, n, stop), a)
        gather(elements.velocity, indices(joints.second, n, stop), b)
        rates(joints.coincident.shape[0], on_first, on_second, a, b, rate)
        if course.shape[0] > 0:
            fetch(joints.course, n, stop, course)
            follow_on(course, 0.0, rate)
        store(rate, joints.rate, n, stop)
    return NO_FAILED_ROW


def _springs(joints: Any) -> list[tuple[int, ...]]:
    names = (
        "on_first",
        "on_second",
        "error",
        "error",
        "error",
        "error",
        "stiffness",
        "stiffness",
        "first_side",
        "second_side",
        "course",
        "drawn",
    )
    return [joints.shape_of(name) for name in names]


springs_of = shaped(lanes, _springs)


@kernel
def exert_rows(joints: View, elements: View, n: int, stop: int, room: tuple[Array, ...]) -> tuple[Any, Any]:
    """Explicit penalty of four joints, Séguy 2003, (IV.2) and (IV.3), with a matrix per joint in place of its scalars.

    The preload is what marks set off by K^-1 sigma_0 would give (couplings/equilibrium.py); its energy is sigma_0 . phi.
    Returns what they store and what their dampers take.
    """
    leading = joints.coincident.shape[0]
    on_first, on_second, error, rate, effort, preload, stiffness, damping, a, b, course, drawn = room
    rows = error.shape[0]
    first, second = indices(joints.first, n, stop), indices(joints.second, n, stop)
    if leading < rows:
        fetch(joints.error, n, stop, error)
        fetch(joints.on_first, n, stop, on_first)
        fetch(joints.on_second, n, stop, on_second)
    if leading > 0:  # P_b - P_a: as stored, but read where it was shown
        gather(elements.position, first, a)
        gather(elements.position, second, b)
        for i in range(leading):
            error[i] = b[0, i] - a[0, i]
    gather(elements.velocity, first, a)
    gather(elements.velocity, second, b)
    rates(leading, on_first, on_second, a, b, rate)
    if course.shape[0] > 0:
        fetch(joints.course, n, stop, course)
        follow_on(course, 0.5 * elements.clock[STEP], rate)
    fetch(joints.stiffness, n, stop, stiffness)
    fetch(joints.damping, n, stop, damping)
    fetch(joints.preload, n, stop, preload)
    stored = 0.0
    taken = 0.0
    for i in range(rows):
        spring = 0.0
        damper = 0.0
        for j in range(rows):
            spring += stiffness[i, j] * error[j]
            damper += damping[i, j] * rate[j]
        effort[i] = spring + damper + preload[i]
        stored += (0.5 * spring + preload[i]) * error[i]
        taken += damper * rate[i]
    store_one(taken, joints.power, n, stop)
    if course.shape[0] > 0:
        fetch(joints.drawn, n, stop, drawn)
        drawn[0] = drawn_by(course, effort, 1)
        store(drawn, joints.drawn, n, stop)
    pull_back(leading, on_first, -1.0, effort, a)
    pull_back(leading, on_second, 1.0, effort, b)
    scatter(a, elements.force, first)
    scatter(b, elements.force, second)
    return stored, taken


@loop
def exert_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """Springs, dampers and preloads."""
    room = springs_of(joints)
    for n in range(start, stop, LANES):
        stored, _ = exert_rows(joints, elements, n, stop, room)
        store_item(stored, joints.ledger, STORED, n, stop)
    return NO_FAILED_ROW


@loop
def account_and_exert_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """Book the tick that has passed, then exert for the next: the same as both, with the rows at hand once."""
    room, book = springs_of(joints), like(joints.ledger)
    for n in range(start, stop, LANES):
        book_rows(joints, elements, elements.current_velocity, n, stop, book)
        book[STORED], _ = exert_rows(joints, elements, n, stop, room)
        store(book, joints.ledger, n, stop)
    return NO_FAILED_ROW


@loop
def wrench_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """Force on the second side and moment about its point: the sum of e x f over its directions e."""
    size, sides = joints.first_side.shape[1], joints.second_side.shape[0]
    x, force = elements.position, elements.force
    for n in range(start, stop):
        element, wrench = joints.second[n], joints.wrench[n]
        wrench[:] = 0.0
        for c in range(size):
            wrench[c] = force[element, c]
        for k in range(element + 1, element + sides):
            if size == 2:
                wrench[2] += x[k, 0] * force[k, 1] - x[k, 1] * force[k, 0]
            else:
                for c in range(3):
                    s, t = (c + 1) % 3, (c + 2) % 3
                    wrench[3 + c] += x[k, s] * force[k, t] - x[k, t] * force[k, s]
    return NO_FAILED_ROW


@loop
def compute_load_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """dt^2 K + 2 dt C becomes what the joint asks of its bodies."""
    stiffness, damping = like(joints.block), like(joints.block)
    dt = elements.clock[GAIN_STEP]
    for n in range(start, stop, LANES):
        fetch(joints.stiffness, n, stop, stiffness)
        fetch(joints.damping, n, stop, damping)
        for i in range(stiffness.shape[0]):
            for j in range(stiffness.shape[1]):
                stiffness[i, j] = dt * dt * stiffness[i, j] + 2.0 * dt * damping[i, j]
        store(stiffness, joints.block, n, stop)
    return NO_FAILED_ROW


@loop
def compute_margin_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """The factor by which the step could grow before the bodies' answers reach their limit."""
    dt = elements.clock[GAIN_STEP]
    for n in range(start, stop):
        spring, damper = 0.0, 0.0
        for i in range(joints.block.shape[0]):
            spring += dt * dt * joints.stiffness[n, i, i]
            damper += 2.0 * dt * joints.damping[n, i, i]
        bound = max(elements.bound[joints.first[n]], elements.bound[joints.second[n]])
        joints.margin[n] = load_sharing.growth(spring, damper, bound)
    return NO_FAILED_ROW
