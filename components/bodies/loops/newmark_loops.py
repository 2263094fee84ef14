"""Newmark's rule over a stack, predicted and corrected (Séguy 2003, Figure IV-2): loops made from the kernels of a kind.

A kind says how it shows its elements (`Showing`) and, for a body in row n of its stack,

    accelerate(bodies, elements, n, dt, q, v, now, a)   accelerations at (q, v) under the forces on its elements
    unsound(bodies, n, q, v)                            whether that is no state of a body any more

`newmark_step` makes of these a step that is explicit in the coordinates; who solves for the end of a step, as beams do, hands in
kernels of its own in their place. `newmark_loops` makes the loops that couplings play.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any, NamedTuple

from components.bodies.scheme import BETA, GAMMA, step_of
from modular.blocks import shaped
from modular.elements import STEP, Array
from modular.flat_rows import width_of
from modular.kernel import kernel
from modular.lanes import types
from modular.loop import NO_FAILED_ROW, Loop, loop
from modular.views import View

Kernel = Callable[..., Any]


class Showing(NamedTuple):
    """Kernels by which a body shows its elements."""

    places: Kernel  # (bodies, elements, n, q): where they are
    rates: Kernel  # (bodies, n, q, v, column): how fast they are, into a column of the elements
    rates_ahead: Kernel  # (bodies, n, q, v, a, h, column): x' + h x''


def _as_known(bodies: Any, n: Any) -> list[tuple[int, ...]]:
    shape = bodies.shape_of("q")
    if not all(shape):
        raise TypeError("the compiler does not know how many coordinates these bodies have; predict in_columns")
    return [shape] * 3


in_frame = shaped(types.float64, _as_known)  # room for what is predicted of a body: q, v, and v + dt a


@kernel
def in_columns(bodies: View, n: int) -> tuple[Array, Array, Array]:
    """The same beside the state, for bodies of which the compiler does not know how many coordinates they have."""
    return bodies.next_q[n], bodies.next_v[n], bodies.now[n]


@kernel
def predict(
    count: int, q: Array, v: Array, a: Array, dt: float, gains: Array, q_new: Array, v_new: Array, now: Array
) -> None:
    """Predict so many coordinates (II.44 with the unknown acceleration left out), and v + dt a."""
    for i in range(count):
        q_new[i] = q[i] + dt * v[i] + (0.5 - gains[BETA]) * dt * dt * a[i]
        v_new[i] = v[i] + (1.0 - gains[GAMMA]) * dt * a[i]
        now[i] = v[i] + dt * a[i]


@kernel
def step_back(count: int, q_new: Array, v_new: Array, dt: float, gains: Array, q: Array) -> None:
    """From the predicted place to where the predicted velocity was reached, half a step before.

    So elements are as fast as where the body was then. Further on arms have turned, and sides of a joint that move alike would
    seem to part, to first order: a damper would take what nobody loses.
    """
    for i in range(count):
        q[i] = q_new[i] - gains[GAMMA] * dt * v_new[i]


@kernel
def finite(count: int, q: Array, v: Array) -> bool:
    """Whether all of them are numbers."""
    total = 0.0
    for i in range(count):
        total += 0.0 * q[i] + 0.0 * v[i]
    return isfinite(total)


def newmark_step(
    showing: Showing, accelerate: Kernel, unsound: Kernel, workspace: Kernel = in_frame
) -> tuple[Kernel, Kernel, Kernel]:
    """Kernels (bodies, elements, n) that show what is predicted, that correct, and that accelerate where a body stands.

    `workspace`: where predictions lie, `in_frame` or `in_columns`.
    """
    show_places, show_rates, _ = showing

    @kernel
    def show_predicted(bodies: View, elements: View, n: int) -> None:
        q_new, v_new, now = workspace(bodies, n)
        dt, count = step_of(bodies, elements), width_of(bodies.q)
        predict(count, bodies.q[n], bodies.v[n], bodies.a[n], dt, bodies.gains, q_new, v_new, now)
        show_places(bodies, elements, n, q_new)
        step_back(count, q_new, v_new, dt, bodies.gains, now)
        show_rates(bodies, n, now, v_new, elements.velocity)

    @kernel
    def correct(bodies: View, elements: View, n: int) -> Any:
        q, v, a = bodies.q[n], bodies.v[n], bodies.a[n]
        q_new, v_new, now = workspace(bodies, n)
        dt, gains, count = step_of(bodies, elements), bodies.gains, width_of(bodies.q)
        predict(count, q, v, a, dt, gains, q_new, v_new, now)
        accelerate(bodies, elements, n, dt, q_new, v_new, now, a)
        for i in range(count):
            v[i] = v_new[i] + gains[GAMMA] * dt * a[i]
            q[i] = q_new[i] + gains[BETA] * dt * dt * a[i]
        return unsound(bodies, n, q, v)

    @kernel
    def reevaluate(bodies: View, elements: View, n: int) -> None:
        v = bodies.v[n]
        accelerate(bodies, elements, n, 0.0, bodies.q[n], v, v, bodies.a[n])

    return show_predicted, correct, reevaluate


def newmark_loops(
    module: str, showing: Showing, show_predicted: Kernel, correct: Kernel, reevaluate: Kernel
) -> tuple[Loop, ...]:
    """Loops to predict, show_end_velocity, correct, correct_and_predict, show and reevaluate, in this order.

    `module`: where they are found by name; `correct` says of each body whether it went wrong.
    """
    show_places, show_rates, show_rates_ahead = showing

    def predict_loop(start: int, stop: int, bodies: View, elements: View) -> int:
        """Predict and show the predicted elements."""
        for n in range(start, stop):
            show_predicted(bodies, elements, n)
        return NO_FAILED_ROW

    def show_end_velocity_loop(start: int, stop: int, bodies: View, elements: View) -> int:
        """Show x' + dt x'' of the elements: for forces that depend on velocity, and for reactions of glued joints."""
        dt = elements.clock[STEP]
        for n in range(start, stop):
            show_rates_ahead(bodies, n, bodies.q[n], bodies.v[n], bodies.a[n], dt, elements.current_velocity)
        return NO_FAILED_ROW

    def correct_loop(start: int, stop: int, bodies: View, elements: View) -> int:
        """Local solve, correction, corrected velocities of the elements; the first row that went wrong, or -1."""
        wrong = NO_FAILED_ROW
        for n in range(start, stop):
            if correct(bodies, elements, n) and wrong < 0:
                wrong = n
            show_rates(bodies, n, bodies.q[n], bodies.v[n], elements.velocity)
        return wrong

    def correct_and_predict_loop(start: int, stop: int, bodies: View, elements: View) -> int:
        """Correct, then predict for the next tick: the same as both, with the rows at hand once."""
        wrong = NO_FAILED_ROW
        for n in range(start, stop):
            if correct(bodies, elements, n) and wrong < 0:
                wrong = n
            show_rates(bodies, n, bodies.q[n], bodies.v[n], elements.current_velocity)
            show_predicted(bodies, elements, n)
        return wrong

    def show_loop(start: int, stop: int, bodies: View, elements: View) -> int:
        """Show the present elements."""
        for n in range(start, stop):
            show_places(bodies, elements, n, bodies.q[n])
            show_rates(bodies, n, bodies.q[n], bodies.v[n], elements.velocity)
        return NO_FAILED_ROW

    def reevaluate_loop(start: int, stop: int, bodies: View, elements: View) -> int:
        """Accelerations at the unchanged state."""
        for n in range(start, stop):
            reevaluate(bodies, elements, n)
        return NO_FAILED_ROW

    made: list[Callable[..., int]] = [
        predict_loop, show_end_velocity_loop, correct_loop, correct_and_predict_loop, show_loop, reevaluate_loop,
    ]  # fmt: skip
    for function in made:
        function.__module__ = module
    return tuple(map(loop, made))
