"""The equations of several bodies solved as one, in the coordinates of a tree of links (subassembly/tree.py).

With O the mass centre of the whole, at rest among bodies that move about it, every motion is a pair (w, v) of an angular velocity
and the velocity at O, and every force a pair (moment about O, force), in world axes. A link moves as the one that carries it and
by its own speeds, V = V' + S u; with the momentum p of the whole at O taken away, all of them slip by -p / m. So

    M_ij = S_i . I_j S_j - l_i . l_j / m        l_i: linear momentum of what hangs on the link that u_i moves
    M u' = S^T (forces - I A - V x I V),        A: accelerations where u' = 0

are the composite rigid body algorithm and the recursion of Newton and Euler (R. Featherstone, "Rigid body dynamics algorithms",
Springer 2008, tables 5.1 and 6.2; W. Khalil, J.-F. Kleinfinger, IEEE J. Robotics Automation 3 (1987) 517-526), with the place of
the mass centre in front. M is factorised as it stands, by Cholesky. Speeds beside those of coordinates are the angular velocities
of links with quaternions, in their own axes; whatever its length, a quaternion turns by p / |p|, and its length follows from an
internal constraint, (p . p - 1) / 2 = 0, with the gains of all bodies (Séguy 2003, (IV.6)).

How many links there are is told by the stack, not by the layout: one machine code serves all trees of the plane, one all of space.
"""

from __future__ import annotations

from components.bodies.loops.newmark_loops import Showing, finite, in_columns, newmark_loops, newmark_step
from components.bodies.subassembly.dynamics import accelerate, compose, pass_down, put_together, resist
from components.bodies.subassembly.kinematics import (
    LINEAR,
    LINKS,
    NEXT,
    SPEED,
    WANTED,
    aim,
    arm_of,
    link_of,
    middle_of,
    place_links,
    read_speeds,
    show_places,
    show_rates,
    spin_of,
    travel,
)
from modular.blocks import room
from modular.elements import Array
from modular.flat_rows import width_of
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

# --- what it shows -----------------------------------------------------------------------------------------------------


@kernel
def read_state(bodies: View, n: int, q: Array, v: Array) -> None:
    """Links as they are placed, and how they move."""
    place_links(bodies, n, q)
    aim(bodies, n)
    read_speeds(bodies, n, q, v, SPEED)
    travel(bodies, n, SPEED)


@kernel
def place_and_show(bodies: View, elements: View, n: int, q: Array) -> None:
    """Show where the elements of a body are."""
    place_links(bodies, n, q)
    show_places(bodies, elements, n, q)


@kernel
def read_and_show(bodies: View, n: int, q: Array, v: Array, column: View) -> None:
    """Show how fast they are."""
    read_state(bodies, n, q, v)
    show_rates(bodies, n, v, column)


@kernel
def read_bends(bodies: View, n: int, q: Array, v: Array, a: Array) -> None:
    """Rates of the speeds from second rates of the coordinates, beside the speeds themselves."""
    make, u = bodies.make[n], bodies.speeds[n]
    turn = room((3,))
    for k in range(int(bodies.sizes[LINKS])):
        at, of = bodies.coordinate[make, k], bodies.speed[make, k]
        if bodies.ball[make, k] == 1:
            size, along = 0.0, 0.0
            for c in range(at, at + 4):
                size += q[c] * q[c]
                along += q[c] * v[c]
            spin_of(q, a, at, turn)
            for c in range(3):
                u[of + c, NEXT] = turn[c] - 2.0 * along / size * u[of + c, SPEED]
        else:
            u[of, NEXT] = a[at]


@kernel
def swing(bodies: View, n: int) -> None:
    """A of all links, the mass centre of the whole at rest, from speeds and their rates."""
    make, frames, motion, columns, u = (
        bodies.make[n],
        bodies.frames[n],
        bodies.motion[n],
        bodies.columns[n],
        bodies.speeds[n],
    )
    own, middle, slip = room((6,)), room((3,)), room((3,))
    for c in range(3):
        slip[c] = 0.0
    for k in range(int(bodies.sizes[LINKS])):
        parent, at = bodies.parent[make, k], bodies.speed[make, k]
        for c in range(6):
            value, bend = 0.0, 0.0
            if parent >= 0:
                bend = motion[parent, 6 + c]
            for j in range(3 if bodies.ball[make, k] == 1 else 1):
                value += columns[at + j, c] * u[at + j, SPEED]
                bend += columns[at + j, c] * u[at + j, NEXT]
            own[c] = value
            motion[k, 6 + c] = bend
        for c in range(3):
            s, t = (c + 1) % 3, (c + 2) % 3
            motion[k, 6 + c] += motion[k, s] * own[t] - motion[k, t] * own[s]
            motion[k, 9 + c] += motion[k, s] * own[LINEAR + t] - motion[k, t] * own[LINEAR + s]
            motion[k, 9 + c] += motion[k, LINEAR + s] * own[t] - motion[k, LINEAR + t] * own[s]
        middle_of(bodies, make, frames, k, middle)
        for c in range(3):
            slip[c] -= bodies.masses[make, k] / bodies.kilograms[make] * bend_of(motion, k, middle, 1.0, c)
    for k in range(int(bodies.sizes[LINKS])):
        for c in range(3):
            motion[k, 9 + c] += slip[c]


@kernel
def bend_of(motion: Array, k: int, arm: Array, share: float, c: int) -> float:
    """Acceleration of a point of a link, or second rate of a direction, along one axis: A + A x r + w x (v + w x r)."""
    s, t = (c + 1) % 3, (c + 2) % 3
    rate_s = share * motion[k, LINEAR + s] + motion[k, t] * arm[c] - motion[k, c] * arm[t]
    rate_t = share * motion[k, LINEAR + t] + motion[k, c] * arm[s] - motion[k, s] * arm[c]
    value: float = share * motion[k, 9 + c] + motion[k, 6 + s] * arm[t] - motion[k, 6 + t] * arm[s]
    value += motion[k, s] * rate_t - motion[k, t] * rate_s
    return value


@kernel
def show_rates_ahead(bodies: View, n: int, q: Array, v: Array, a: Array, h: float, column: View) -> None:
    """Show how fast they would be if each went on for h with its present acceleration: x' + h x''."""
    arm = room((3,))
    place_links(bodies, n, q)
    aim(bodies, n)
    read_speeds(bodies, n, q, v, SPEED)
    read_bends(bodies, n, q, v, a)
    travel(bodies, n, SPEED)
    swing(bodies, n)
    show_rates(bodies, n, v, column)
    for e in range(bodies.numbers[n]):
        weights, rate = bodies.weights[n, e], column[bodies.attached[n, e]]
        k = link_of(bodies, weights)
        arm_of(weights, bodies.frames[n], k, arm)
        for c in range(rate.shape[0]):
            rate[c] += h * (weights[0] * a[c] + bend_of(bodies.motion[n], k, arm, weights[0], c))


# --- predict and correct -----------------------------------------------------------------------------------------------


@kernel
def unsound(bodies: View, n: int, q: Array, v: Array) -> bool:
    """Whether a number is none any more, or a quaternion far from 1."""
    make, far = bodies.make[n], 0.0
    for k in range(int(bodies.sizes[LINKS])):
        if bodies.ball[make, k] == 1:
            at = bodies.coordinate[make, k]
            size = q[at] * q[at] + q[at + 1] * q[at + 1] + q[at + 2] * q[at + 2] + q[at + 3] * q[at + 3]
            far = max(far, abs(size - 1.0))
    return not finite(width_of(bodies.q), q, v) or far > 0.5


SHOWING = Showing(place_and_show, read_and_show, show_rates_ahead)

# no loop that corrects and predicts: it is long, and nothing of a tree that is placed anew is at hand for longer
predict_loop, show_end_velocity_loop, correct_loop, _, show_loop, reevaluate_loop = newmark_loops(
    __name__, SHOWING, *newmark_step(SHOWING, accelerate, unsound, in_columns)
)


@loop
def write_down_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """S, M, and what the speeds at the present state ask for, for solvers that see everything at once."""
    for n in range(start, stop):
        place_links(bodies, n, bodies.q[n])
        aim(bodies, n)
        compose(bodies, n)
        put_together(bodies, n)
        read_speeds(bodies, n, bodies.q[n], bodies.v[n], SPEED)
        travel(bodies, n, SPEED)
        for k in range(int(bodies.sizes[LINKS])):
            for c in range(6):
                bodies.wrench[n, k, c] = 0.0
        resist(bodies, n, SPEED)
        pass_down(bodies, n, WANTED)
    return NO_FAILED_ROW
