"""Several steps of a body in one tick: an impulse, its own flight, an impulse.

Séguy 2003, III.1: a component has its own scheme and its own step. What acts on a body is known once a tick, where all have
exchanged places; between, it goes on alone. With h = dt / steps

    v+ = v + dt/2 (a(q, v, F) - a(q, v, 0))          what acts on its elements, as one impulse
    q', v' = Newmark's rule, `steps` times h, from q and v+ without forces on its elements
    v  = v' + dt/2 (a(q', v', F') - a(q', v', 0))     the same at the end, with the forces of the places shown there

which is symmetric and of second order, and which neighbours cannot tell from a single step: between two exchanges their springs see
a body that flies freely, as they do under the leapfrog of one step, and so the bound is that of the tick, whatever the number of
steps. A force that is held over the tick, or extrapolated, would pump up a spring without damping at every useful stiffness (DESIGN
2.1, 11; impulse method: H. Grubmueller et al., Molecular Simulation 6 (1991) 121-142).

What is elastic inside takes one step: wherever its frequency is near pi / dt, impulses of any size swing it up, and with several
steps there is always such a step (with one, by the trapezoidal rule, there is none).

Places are shown where the flight ends, velocities in its middle: those of one step lag by as much.
"""

from __future__ import annotations

from collections.abc import Callable

from components.bodies.loops.trial_step import copy_rows
from components.bodies.scheme import SHARE
from modular.elements import STEP
from modular.flat_rows import flat, width_of
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, Loop, inside, loop
from modular.views import View


@kernel
def push_rows(start: int, stop: int, bodies: View, span: float) -> None:
    """What the difference of two accelerations, under all that acts and without it, does in a span of time."""
    for n in range(start, stop):
        v, whole, alone = flat(bodies.v)[n], flat(bodies.whole)[n], flat(bodies.a)[n]
        for i in range(width_of(bodies.v)):
            v[i] += span * (whole[i] - alone[i])


# --- rows of elements, kept beside the body ----------------------------------------------------------------------------


@kernel
def save_elements(start: int, stop: int, bodies: View, column: View, kept: View, share: float) -> None:
    """kept <- share kept + what the elements of the bodies show."""
    for n in range(start, stop):
        for k in range(bodies.numbers[n]):
            shown = column[bodies.attached[n, k]]
            for c in range(shown.shape[0]):
                before = 0.0 if share == 0.0 else share * kept[n, k, c]
                kept[n, k, c] = before + shown[c]


@kernel
def restore_elements(start: int, stop: int, bodies: View, kept: View, column: View) -> None:
    """Let the elements of the bodies show what was kept."""
    for n in range(start, stop):
        for k in range(bodies.numbers[n]):
            shown = column[bodies.attached[n, k]]
            for c in range(shown.shape[0]):
                shown[c] = kept[n, k, c]


@kernel
def clear_forces(start: int, stop: int, bodies: View, elements: View) -> None:
    """Nothing acts on the elements of the bodies."""
    for n in range(start, stop):
        for k in range(bodies.numbers[n]):
            force = elements.force[bodies.attached[n, k]]
            for c in range(force.shape[0]):
                force[c] = 0.0


# --- the loops ---------------------------------------------------------------------------------------------------------


def in_steps(
    module: str, *, predict: Loop, correct: Loop, show_end_velocity: Loop, show: Loop, reevaluate: Loop, respond: Loop,
) -> tuple[Loop, ...]:  # fmt: skip
    """Loops of a kind of bodies for several steps in a tick, one for each verb.

    In order: predict, correct, correct_and_predict, show_end_velocity and respond_predicted.

    From those for one step; `module`: where they are found by name.
    """
    predict_once, correct_once, show_end_velocity_once, show_now, reevaluate_now, respond_now = (
        inside(each.dispatcher.py_func, apart=True)
        for each in (predict, correct, show_end_velocity, show, reevaluate, respond)
    )

    @kernel
    def fly(start: int, stop: int, bodies: View, elements: View) -> int:
        """From the first impulse to the place before the second; velocities of the elements in the middle are kept."""
        wrong, steps = NO_FAILED_ROW, int(1.0 / bodies.gains[SHARE] + 0.5)
        for k in range(steps):
            if 2 * k + 1 == steps:  # predicted velocities are those half a step before
                predict_once(start, stop, bodies, elements)
                save_elements(start, stop, bodies, elements.velocity, bodies.halfway, 0.0)
            found = correct_once(start, stop, bodies, elements)
            wrong = found if wrong < 0 else wrong
            if 2 * k + 2 == steps:
                save_elements(start, stop, bodies, elements.velocity, bodies.halfway, 0.0)
        return wrong

    @kernel
    def approach(start: int, stop: int, bodies: View, elements: View) -> int:
        """Up to the second impulse, and what is shown there; the body stands where it stood."""
        half = 0.5 * elements.clock[STEP]
        copy_rows(bodies.q, bodies.origin, start, stop)
        copy_rows(bodies.v, bodies.pace, start, stop)
        copy_rows(bodies.a, bodies.whole, start, stop)
        show_now(start, stop, bodies, elements)
        save_elements(start, stop, bodies, elements.velocity, bodies.foreseen, 0.0)
        save_elements(start, stop, bodies, elements.force, bodies.held, 0.0)
        clear_forces(start, stop, bodies, elements)
        reevaluate_now(start, stop, bodies, elements)
        push_rows(start, stop, bodies, half)
        show_now(start, stop, bodies, elements)
        save_elements(start, stop, bodies, elements.velocity, bodies.foreseen, -1.0)  # what the impulse has changed
        reevaluate_now(start, stop, bodies, elements)
        wrong = fly(start, stop, bodies, elements)
        show_now(start, stop, bodies, elements)
        save_elements(start, stop, bodies, elements.velocity, bodies.foreseen, 1.0)  # and will change again
        restore_elements(start, stop, bodies, bodies.held, elements.force)
        restore_elements(start, stop, bodies, bodies.halfway, elements.velocity)
        copy_rows(bodies.q, bodies.ahead, start, stop)
        copy_rows(bodies.v, bodies.half, start, stop)
        copy_rows(bodies.origin, bodies.q, start, stop)
        copy_rows(bodies.pace, bodies.v, start, stop)
        copy_rows(bodies.whole, bodies.a, start, stop)
        return wrong

    @kernel
    def conclude(start: int, stop: int, bodies: View, elements: View) -> None:
        """The second impulse, and accelerations under the forces there."""
        half = 0.5 * elements.clock[STEP]
        copy_rows(bodies.ahead, bodies.q, start, stop)
        copy_rows(bodies.half, bodies.v, start, stop)
        reevaluate_now(start, stop, bodies, elements)
        copy_rows(bodies.a, bodies.whole, start, stop)
        save_elements(start, stop, bodies, elements.force, bodies.held, 0.0)
        clear_forces(start, stop, bodies, elements)
        reevaluate_now(start, stop, bodies, elements)
        push_rows(start, stop, bodies, half)
        restore_elements(start, stop, bodies, bodies.held, elements.force)
        reevaluate_now(start, stop, bodies, elements)
        show_now(start, stop, bodies, elements)

    def predict_in_steps(start: int, stop: int, bodies: View, elements: View) -> int:
        """Show the elements where the flight ends; the first row that went wrong on the way, or -1."""
        if bodies.gains[SHARE] == 1.0:  # at rest, where loads of new joints are tried
            wrong: int = predict_once(start, stop, bodies, elements)
        else:
            wrong = approach(start, stop, bodies, elements)
        return wrong

    def correct_in_steps(start: int, stop: int, bodies: View, elements: View) -> int:
        """The impulse at the end, corrected velocities of the elements."""
        conclude(start, stop, bodies, elements)
        return NO_FAILED_ROW

    def correct_and_predict_in_steps(start: int, stop: int, bodies: View, elements: View) -> int:
        """Correct, then predict for the next tick."""
        conclude(start, stop, bodies, elements)
        save_elements(start, stop, bodies, elements.velocity, bodies.foreseen, 0.0)
        restore_elements(start, stop, bodies, bodies.foreseen, elements.current_velocity)
        wrong: int = approach(start, stop, bodies, elements)
        return wrong

    def show_end_velocity_in_steps(start: int, stop: int, bodies: View, elements: View) -> int:
        """Velocities at the end of the tick, if forces stay as they are."""
        if bodies.gains[SHARE] == 1.0:  # between glued joints, which know no steps of it
            show_end_velocity_once(start, stop, bodies, elements)
        else:
            restore_elements(start, stop, bodies, bodies.foreseen, elements.current_velocity)
        return NO_FAILED_ROW

    def respond_in_steps(start: int, stop: int, bodies: View, elements: View) -> int:
        """How bodies answer where forces act in a tick."""
        copy_rows(bodies.q, bodies.origin, start, stop)
        copy_rows(bodies.ahead, bodies.q, start, stop)
        respond_now(start, stop, bodies, elements)
        copy_rows(bodies.origin, bodies.q, start, stop)
        return NO_FAILED_ROW

    made: list[Callable[..., int]] = [
        predict_in_steps, correct_in_steps, correct_and_predict_in_steps, show_end_velocity_in_steps, respond_in_steps,
    ]  # fmt: skip
    for function in made:
        function.__module__ = module
    return tuple(map(loop, made))
