"""The loops that all forms of joints share: rates, springs with their ledger, wrenches, loads and margins."""

from __future__ import annotations

from typing import Any

from modular import demand_sharing
from modular.blocks import like, shaped
from modular.elements import GAIN_STEP, STEP, Array
from modular.kernel import kernel
from modular.lane_rows import fetch, gather, indices, scatter, store, store_item, store_one
from modular.lanes import LANES, lanes
from modular.ledger import STORED, book_rows
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View


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


@kernel
def pull(
    elements: View,
    first: Any,
    second: Any,
    leading: int,
    on_first: Array,
    on_second: Array,
    effort: Array,
    a: Array,
    b: Array,
) -> None:
    """-J^T sigma of four joints on the elements of both sides, which begin at `first` and `second`."""
    pull_back(leading, on_first, -1.0, effort, a)
    pull_back(leading, on_second, 1.0, effort, b)
    scatter(a, elements.force, first)
    scatter(b, elements.force, second)


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
    pull(elements, first, second, leading, on_first, on_second, effort, a, b)
    return stored, taken


@loop
def exert_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """Springs, dampers and preloads."""
    room = springs_of(joints)
    for n in range(start, stop, LANES):
        stored, _ = exert_rows(joints, elements, n, stop, room)
        store_item(stored, joints.ledger, STORED, n, stop)
    return NO_FAILED_ROW


def _held(joints: Any) -> list[tuple[int, ...]]:
    names = ("on_first", "on_second", "preload", "first_side", "second_side")
    return [joints.shape_of(name) for name in names]


held_of = shaped(lanes, _held)


@loop
def hold_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """-J^T sigma_0 on the elements of both sides, of joints without springs that are linearised; nothing is booked."""
    leading = joints.coincident.shape[0]
    on_first, on_second, preload, a, b = held_of(joints)
    for n in range(start, stop, LANES):
        first, second = indices(joints.first, n, stop), indices(joints.second, n, stop)
        if leading < preload.shape[0]:
            fetch(joints.on_first, n, stop, on_first)
            fetch(joints.on_second, n, stop, on_second)
        fetch(joints.preload, n, stop, preload)
        pull(elements, first, second, leading, on_first, on_second, preload, a, b)
    return NO_FAILED_ROW


@loop
def account_and_exert_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """Book the tick that has passed, then exert for the next: the same as both, with the rows at hand once."""
    room, ledger = springs_of(joints), like(joints.ledger)
    for n in range(start, stop, LANES):
        book_rows(joints, elements, elements.current_velocity, n, stop, ledger)
        ledger[STORED], _ = exert_rows(joints, elements, n, stop, room)
        store(ledger, joints.ledger, n, stop)
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
def compute_demand_loop(start: int, stop: int, joints: View, elements: View) -> int:
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
        joints.margin[n] = demand_sharing.growth(spring, damper, bound)
    return NO_FAILED_ROW
