"""A step between joints that are glued: half a kick, a flight, half a kick; loops made from the kernels of a kind.

Forces and weight act in kicks, and the body flies by itself between them. A kind says how it shows its elements
(newmark_loops.py: `Showing`) and, for a body in row n of its stack,

    kick(bodies, elements, n, share, falling, v)   v += share M^-1 (forces + falling weight) where it stands
    fly(bodies, n, h)                              from `q` with the velocity `half` to `ahead`, and the velocity there as `half`;
                                                   whether no end was found
    unsound(bodies, n, q, v)                       whether that is no state of a body any more
"""

from __future__ import annotations

from collections.abc import Callable

from components.bodies.loops.newmark_loops import Kernel, Showing
from components.bodies.loops.trial_step import copy_row
from components.bodies.posed.kick_work import exclude_flight
from modular.elements import STEP
from modular.loop import NO_FAILED_ROW, Loop, loop
from modular.views import View


def leapfrog_loops(module: str, showing: Showing, kick: Kernel, fly: Kernel, unsound: Kernel) -> tuple[Loop, ...]:
    """Loops to drift, kick and apply_impulse, in this order; `module`: where they are found by name."""
    show_places, show_rates, _ = showing

    def drift_loop(start: int, stop: int, bodies: View, elements: View) -> int:
        """Half a kick and the way that it leads; the first body for which none was found, or -1.

        Forces work while they kick: what turns or is elastic gives and takes in the flight is none of theirs (kick_work.py).
        """
        h, wrong = elements.clock[STEP], NO_FAILED_ROW
        for n in range(start, stop):
            q, half = bodies.q[n], bodies.half[n]
            copy_row(bodies.v, bodies.half, n)
            show_rates(bodies, n, q, half, elements.velocity_before)
            kick(bodies, elements, n, 0.5 * h, 1.0, half)
            show_rates(bodies, n, q, half, elements.velocity)
            exclude_flight(bodies, elements, n, 1.0)
            if fly(bodies, n, h) and wrong < 0:
                wrong = n
            show_places(bodies, elements, n, bodies.ahead[n])
            show_rates(bodies, n, bodies.ahead[n], half, elements.velocity)
            exclude_flight(bodies, elements, n, -1.0)
        return wrong

    def kick_loop(start: int, stop: int, bodies: View, elements: View) -> int:
        """The other half of the kick; the first body that went wrong, or -1."""
        h, wrong = elements.clock[STEP], NO_FAILED_ROW
        for n in range(start, stop):
            q, v = bodies.q[n], bodies.v[n]
            copy_row(bodies.half, bodies.v, n)
            kick(bodies, elements, n, 0.5 * h, 1.0, v)
            show_rates(bodies, n, q, v, elements.velocity)
            if unsound(bodies, n, q, v) and wrong < 0:
                wrong = n
        return wrong

    def apply_impulse_loop(start: int, stop: int, bodies: View, elements: View) -> int:
        """Velocities after impulses on the elements."""
        for n in range(start, stop):
            kick(bodies, elements, n, 1.0, 0.0, bodies.v[n])
            show_rates(bodies, n, bodies.q[n], bodies.v[n], elements.velocity)
        return NO_FAILED_ROW

    made: list[Callable[..., int]] = [drift_loop, kick_loop, apply_impulse_loop]
    for function in made:
        function.__module__ = module
    return tuple(map(loop, made))
