"""The stack of joints of one form: their rows, their springs and their energy ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from modular import demand_sharing, seen_mass
from modular.blocks import shaped
from modular.courses import NUMBERS_PER_ROW
from modular.elements import ASKING, RIGID_BODY_MOTIONS, STEP, Array, Elements
from modular.errors import ModelError
from modular.joint import JointForm
from modular.joint_loops import (
    account_and_exert_loop,
    compute_demand_loop,
    compute_margin_loop,
    exert_loop,
    measure_loop,
    wrench_loop,
)
from modular.kernel import kernel
from modular.lane_rows import fetch, gather, indices, store
from modular.lanes import LANES, lanes
from modular.ledger import Booked, account_loop
from modular.loop import NO_FAILED_ROW, Loop, inside, made
from modular.views import View

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
            "compute_seen_mass": seen_mass.compute_seen_mass_loop, "request_demand": demand_sharing.request_demand_loop,
            "compute_parting": seen_mass.compute_parting_loop, "update_preload": seen_mass.update_preload_loop,
            "wrenches": wrench_loop, "compute_demand": compute_demand_loop, "compute_margin": compute_margin_loop,
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

    def resize_response(self, motions: int) -> None:
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

    def check_points(self) -> None:
        """That rows which the form calls coincident points are P_b - P_a: most loops read them so, and do not ask the form."""
        leading = self.form.coincident
        if not 0 < leading < self.form.rows or not self.count:
            return
        for blocks, sign in ((self.on_first, -1.0), (self.on_second, 1.0)):
            if not np.array_equal(blocks[0, :leading, 0], sign * np.eye(leading, blocks.shape[-1])):
                raise ModelError(
                    f"joint '{self.names[0]}': JointForm('{self.form.name}') says coincident={leading}, but its first {leading} "
                    "rows are not b[0] - a[0] with Jacobians -1 and 1; fill them in so, or leave `coincident` out."
                )

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

    def request_demand(self, elements: Elements) -> None:
        """Tell the bodies what the blocks of the joints ask of them."""
        self.play("request_demand", elements)

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
