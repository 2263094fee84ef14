"""How a led body moves: its place and its turning are read off two courses, and every part of a step shows what they say.

The clock tells the time at the end of the step that is being taken. In the plane q = (x, y, theta), in space q = (r, p) with the
quaternion p = (cos, sin e) of half an angle about an axis, or that of a course of four numbers, brought to length one:
p = s u with s = |p|, u' = (p' - s' u) / s and u'' = (p'' - 2 s' u' - s'' u) / s.

A prediction is what bodies predict under forces: all but what the new acceleration adds, beta h^2 x'' to the place and gamma h x''
to the velocity (Séguy 2003, (II.44)). So joints find a led body and those that follow it equally far behind, and no gap between
them. While joints are glued, the velocity in the middle of a step is that of its way, and the work of a joint is that of what it
moves.
"""

from __future__ import annotations

from math import cos, sin, sqrt

from components.bodies.loops.newmark_loops import in_frame
from components.bodies.posed.kernels import (
    SPACE,
    put_together,
    rotation,
    rotation_bend,
    show_rates,
    show_rates_ahead,
    turns,
)
from components.bodies.scheme import BETA, GAMMA
from modular.courses import follow
from modular.elements import STEP, TIME, Array
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View


@kernel
def led(bodies: View, n: int, time: float, q: Array, v: Array, a: Array) -> None:
    """Where a body is at a time, how fast, and how that changes."""
    going, turning = bodies.going[n], bodies.turning[n]
    follow(bodies.way_head[n], bodies.way[n], time, 0.0, going)
    follow(bodies.turn_head[n], bodies.turn[n], time, 0.0, turning)
    for c in range(going.shape[0]):
        q[c], v[c], a[c] = going[c, 0], going[c, 1], going[c, 2]
    if q.shape[0] != SPACE:
        q[2], v[2], a[2] = turning[0, 0], turning[0, 1], turning[0, 2]
    elif turning.shape[0] == 1:
        half, rate, bend = 0.5 * turning[0, 0], 0.5 * turning[0, 1], 0.5 * turning[0, 2]
        x, y = cos(half), sin(half)
        q[3], v[3], a[3] = x, -rate * y, -bend * y - rate * rate * x
        for c in range(3):
            axis = bodies.axis[bodies.make[n], c]
            q[4 + c], v[4 + c], a[4 + c] = y * axis, rate * x * axis, (bend * x - rate * rate * y) * axis
    else:
        square, along, across = 0.0, 0.0, 0.0
        for c in range(turning.shape[0]):
            square += turning[c, 0] * turning[c, 0]
            along += turning[c, 0] * turning[c, 1]
            across += turning[c, 1] * turning[c, 1] + turning[c, 0] * turning[c, 2]
        s = sqrt(square)
        ds = along / s
        dds = (across - ds * ds) / s
        for c in range(turning.shape[0]):
            q[3 + c] = turning[c, 0] / s
            v[3 + c] = (turning[c, 1] - ds * q[3 + c]) / s
            a[3 + c] = (turning[c, 2] - 2.0 * ds * v[3 + c] - dds * q[3 + c]) / s


@kernel
def show_places_ahead(bodies: View, elements: View, n: int, q: Array, v: Array, a: Array, share: float) -> None:
    """Show x + share x''."""
    turn, rate, bend = turns(bodies.gravity)
    rotation_bend(q, v, a, rate, bend)
    rotation(q, turn)
    d = turn.shape[0]
    for k in range(bodies.numbers[n]):
        weights, shown = bodies.weights[n, k], elements.position[bodies.attached[n, k]]
        for c in range(d):
            value = weights[0] * (q[c] + share * a[c])
            for j in range(d):
                value += (turn[c, j] + share * bend[c, j]) * weights[1 + j]
            shown[c] = value


@loop
def predict_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Show what is predicted of the end of the step."""
    h, time = elements.clock[STEP], elements.clock[TIME]
    for n in range(start, stop):
        q, v, a = in_frame(bodies, n)
        led(bodies, n, time, q, v, a)
        show_places_ahead(bodies, elements, n, q, v, a, -bodies.gains[BETA] * h * h)
        show_rates_ahead(bodies, n, q, v, a, -bodies.gains[GAMMA] * h, elements.velocity)
    return NO_FAILED_ROW


@loop
def correct_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Be where the end of the step is; forces change nothing."""
    for n in range(start, stop):
        q, v = bodies.q[n], bodies.v[n]
        led(bodies, n, elements.clock[TIME], q, v, bodies.a[n])
        show_rates(bodies, n, q, v, elements.velocity)
    return NO_FAILED_ROW


@loop
def place_on_course_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Be where the clock stands."""
    for n in range(start, stop):
        led(bodies, n, elements.clock[TIME], bodies.q[n], bodies.v[n], bodies.a[n])
    return NO_FAILED_ROW


@loop
def read_off_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Where bodies should be, how fast, and how that changes, for solvers that see everything at once."""
    for n in range(start, stop):
        asked = bodies.asked[n]
        led(bodies, n, elements.clock[TIME], asked[0], asked[1], asked[2])
    return NO_FAILED_ROW


@loop
def reevaluate_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Its acceleration is not that of forces."""
    return NO_FAILED_ROW


# --- between glued joints ----------------------------------------------------------------------------------------------


@loop
def drift_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Where the step leads, and how fast every element goes there on the straight way."""
    turn, before, _ = turns(bodies.gravity)
    h, time = elements.clock[STEP], elements.clock[TIME]
    d = turn.shape[0]
    for n in range(start, stop):
        ahead, q = bodies.ahead[n], bodies.q[n]
        _, _, a = in_frame(bodies, n)
        led(bodies, n, time, ahead, bodies.half[n], a)
        rotation(ahead, turn)
        rotation(q, before)
        for k in range(bodies.numbers[n]):
            weights, row = bodies.weights[n, k], bodies.attached[n, k]
            put_together(weights, ahead, turn, elements.position[row])
            for c in range(d):
                was = weights[0] * q[c]
                for j in range(d):
                    was += before[c, j] * weights[1 + j]
                elements.velocity[row, c] = (elements.position[row, c] - was) / h
    return NO_FAILED_ROW


@loop
def kick_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """It moves as its courses say at the end of the step."""
    for n in range(start, stop):
        led(bodies, n, elements.clock[TIME], bodies.q[n], bodies.v[n], bodies.a[n])
        show_rates(bodies, n, bodies.q[n], bodies.v[n], elements.velocity)
    return NO_FAILED_ROW


@loop
def apply_impulse_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Impulses change nothing."""
    for n in range(start, stop):
        show_rates(bodies, n, bodies.q[n], bodies.v[n], elements.velocity)
    return NO_FAILED_ROW


# --- how it answers forces ---------------------------------------------------------------------------------------------


@loop
def respond_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """It does not."""
    for n in range(start, stop):
        for k in range(bodies.numbers[n]):
            response = elements.response[bodies.attached[n, k]]
            response[:, :] = 0.0
    return NO_FAILED_ROW


@loop
def bound_demands_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """No stiffness is too much for it."""
    for n in range(start, stop):
        for k in range(bodies.numbers[n]):
            elements.bound[bodies.attached[n, k]] = 0.0
    return NO_FAILED_ROW
