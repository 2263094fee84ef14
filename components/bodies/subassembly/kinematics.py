"""How the links of a subassembly lie and move: frames, axes of speeds, velocities, rates of coordinates, what elements show."""

from __future__ import annotations

from math import cos, sin

from modular.blocks import room
from modular.elements import Array
from modular.kernel import kernel
from modular.views import View

LINKS, SPEEDS, COORDINATES = range(3)  # places in `sizes`
SPEED, NEXT, WANTED, PUSHED = range(4)  # columns of `speeds`: what bodies have, what is tried, right-hand sides, forces
PLACE = 9  # of a link's frame: where it begins, behind its axes
OWN, WHOLE = 0, 10  # of a link's inertia: its own, and that of all that hangs on it
LINEAR = 3  # of pairs: behind the turning


# --- places ------------------------------------------------------------------------------------------------------------


@kernel
def turn_of(bodies: View, make: int, k: int, q: Array, at: int, own: Array) -> None:
    """The axes of a link in the frame of the one that carries it, as columns."""
    if bodies.ball[make, k] == 1:
        s, x, y, z = q[at], q[at + 1], q[at + 2], q[at + 3]
        size = 1.0 / (s * s + x * x + y * y + z * z)
        own[0, 0] = size * (s * s + x * x - y * y - z * z)
        own[1, 1] = size * (s * s - x * x + y * y - z * z)
        own[2, 2] = size * (s * s - x * x - y * y + z * z)
        own[0, 1] = size * 2.0 * (x * y - s * z)
        own[1, 0] = size * 2.0 * (x * y + s * z)
        own[0, 2] = size * 2.0 * (x * z + s * y)
        own[2, 0] = size * 2.0 * (x * z - s * y)
        own[1, 2] = size * 2.0 * (y * z - s * x)
        own[2, 1] = size * 2.0 * (y * z + s * x)
    else:
        angle = bodies.rates[make, k, 0] * q[at]
        c, s = cos(angle), sin(angle)
        for i in range(3):
            for j in range(3):
                own[i, j] = (1.0 - c) * bodies.axis[make, k, i] * bodies.axis[make, k, j]
            own[i, i] += c
        for i in range(3):
            j, m = (i + 1) % 3, (i + 2) % 3
            own[m, j] += s * bodies.axis[make, k, i]
            own[j, m] -= s * bodies.axis[make, k, i]


@kernel(apart=True)
def place_links(bodies: View, n: int, q: Array) -> None:
    """The frames of all links, from the mass centre of the whole."""
    make, frames = bodies.make[n], bodies.frames[n]
    own, middle = room((3, 3)), room((3,))
    links = int(bodies.sizes[LINKS])
    for c in range(3):
        middle[c] = 0.0
    for k in range(links):
        at, parent = bodies.coordinate[make, k], bodies.parent[make, k]
        turn_of(bodies, make, k, q, at, own)
        if parent < 0:
            for i in range(3):
                for j in range(3):
                    frames[k, 3 * i + j] = own[i, j]
                frames[k, PLACE + i] = 0.0
        else:
            way = 0.0 if bodies.ball[make, k] == 1 else bodies.rates[make, k, 1] * q[at]
            for i in range(3):
                place = frames[parent, PLACE + i]
                for j in range(3):
                    value = 0.0
                    for m in range(3):
                        value += frames[parent, 3 * i + m] * own[m, j]
                    frames[k, 3 * i + j] = value
                    place += frames[parent, 3 * i + j] * (bodies.base[make, k, j] + way * bodies.axis[make, k, j])
                frames[k, PLACE + i] = place
        for i in range(3):
            value = frames[k, PLACE + i]
            for j in range(3):
                value += frames[k, 3 * i + j] * bodies.middle[make, k, j]
            middle[i] += bodies.masses[make, k] * value
    for i in range(3):
        middle[i] /= bodies.kilograms[make]
    for k in range(links):
        for i in range(3):
            frames[k, PLACE + i] -= middle[i]


@kernel
def aim(bodies: View, n: int) -> None:
    """S: how each speed moves what hangs on its link."""
    make, frames, columns = bodies.make[n], bodies.frames[n], bodies.columns[n]
    for k in range(int(bodies.sizes[LINKS])):
        at = bodies.speed[make, k]
        if bodies.ball[make, k] == 1:
            for j in range(3):
                for i in range(3):
                    columns[at + j, i] = frames[k, 3 * i + j]
                lever(frames, k, columns, at + j)
        else:
            turn, way = bodies.rates[make, k, 0], bodies.rates[make, k, 1]
            for i in range(3):
                value = 0.0
                for j in range(3):
                    value += frames[k, 3 * i + j] * bodies.axis[make, k, j]
                columns[at, i] = value
            for i in range(3):
                columns[at, 6 + i] = way * columns[at, i]
                columns[at, i] *= turn
            lever(frames, k, columns, at)
            for i in range(3):
                columns[at, LINEAR + i] += columns[at, 6 + i]


@kernel
def lever(frames: Array, k: int, columns: Array, i: int) -> None:
    """The velocity at O of what turns about an axis through the beginning of a link."""
    for c in range(3):
        s, t = (c + 1) % 3, (c + 2) % 3
        columns[i, LINEAR + c] = frames[k, PLACE + s] * columns[i, t] - frames[k, PLACE + t] * columns[i, s]


# --- velocities --------------------------------------------------------------------------------------------------------


@kernel
def spin_of(q: Array, v: Array, at: int, turn: Array) -> None:
    """2 Im(p^-1 p'): the angular velocity in the axes of the link."""
    s, x, y, z = q[at], q[at + 1], q[at + 2], q[at + 3]
    ds, dx, dy, dz = v[at], v[at + 1], v[at + 2], v[at + 3]
    size = 2.0 / (s * s + x * x + y * y + z * z)
    turn[0] = size * (-x * ds + s * dx + z * dy - y * dz)
    turn[1] = size * (-y * ds - z * dx + s * dy + x * dz)
    turn[2] = size * (-z * ds + y * dx - x * dy + s * dz)


@kernel
def read_speeds(bodies: View, n: int, q: Array, v: Array, column: int) -> None:
    """Speeds from rates of the coordinates."""
    make = bodies.make[n]
    turn = room((3,))
    for k in range(int(bodies.sizes[LINKS])):
        at, to = bodies.coordinate[make, k], bodies.speed[make, k]
        if bodies.ball[make, k] == 1:
            spin_of(q, v, at, turn)
            for c in range(3):
                bodies.speeds[n, to + c, column] = turn[c]
        else:
            bodies.speeds[n, to, column] = v[at]


@kernel
def times_quaternion(p: Array, at: int, along: float, x: float, y: float, z: float, out: Array) -> None:
    """p (along + (x, y, z)) into the same places of another row."""
    s, a, b, c = p[at], p[at + 1], p[at + 2], p[at + 3]
    out[at] = along * s - a * x - b * y - c * z
    out[at + 1] = along * a + s * x + b * z - c * y
    out[at + 2] = along * b + s * y + c * x - a * z
    out[at + 3] = along * c + s * z + a * y - b * x


@kernel
def write_rates(bodies: View, n: int, q: Array, column: int, v: Array) -> None:
    """Rates of the coordinates from speeds; quaternions keep their length."""
    make = bodies.make[n]
    for k in range(int(bodies.sizes[LINKS])):
        at, of = bodies.coordinate[make, k], bodies.speed[make, k]
        u = bodies.speeds[n]
        if bodies.ball[make, k] == 1:
            times_quaternion(q, at, 0.0, 0.5 * u[of, column], 0.5 * u[of + 1, column], 0.5 * u[of + 2, column], v)
        else:
            v[at] = u[of, column]


@kernel
def travel(bodies: View, n: int, column: int) -> None:
    """V of all links."""
    make, frames, columns, motion = bodies.make[n], bodies.frames[n], bodies.columns[n], bodies.motion[n]
    middle, slip = room((3,)), room((3,))
    links = int(bodies.sizes[LINKS])
    for c in range(3):
        slip[c] = 0.0
    for k in range(links):
        parent, at = bodies.parent[make, k], bodies.speed[make, k]
        for c in range(6):
            value = 0.0
            if parent >= 0:
                value = motion[parent, c]
            for j in range(3 if bodies.ball[make, k] == 1 else 1):
                value += columns[at + j, c] * bodies.speeds[n, at + j, column]
            motion[k, c] = value
        middle_of(bodies, make, frames, k, middle)
        for c in range(3):
            s, t = (c + 1) % 3, (c + 2) % 3
            pace = motion[k, LINEAR + c] + motion[k, s] * middle[t] - motion[k, t] * middle[s]
            slip[c] -= bodies.masses[make, k] / bodies.kilograms[make] * pace
    for k in range(links):
        for c in range(3):
            motion[k, LINEAR + c] += slip[c]


@kernel
def middle_of(bodies: View, make: int, frames: Array, k: int, middle: Array) -> None:
    """The mass centre of a link, from that of the whole."""
    for i in range(3):
        value = frames[k, PLACE + i]
        for j in range(3):
            value += frames[k, 3 * i + j] * bodies.middle[make, k, j]
        middle[i] = value


@kernel
def arm_of(weights: Array, frames: Array, k: int, arm: Array) -> None:
    """A point of a link from the mass centre of the whole, or a direction."""
    d = weights.shape[0] - 2
    for i in range(3):
        value = weights[0] * frames[k, PLACE + i]
        for j in range(d):
            value += frames[k, 3 * i + j] * weights[2 + j]
        arm[i] = value


@kernel
def link_of(bodies: View, weights: Array) -> int:
    """The link that an element moves with; never one that there is not."""
    found = int(weights[1])
    return min(max(found, 0), int(bodies.sizes[LINKS]) - 1)


@kernel
def show_places(bodies: View, elements: View, n: int, q: Array) -> None:
    """Show where the elements of a body are."""
    arm = room((3,))
    for e in range(bodies.numbers[n]):
        weights, position = bodies.weights[n, e], elements.position[bodies.attached[n, e]]
        arm_of(weights, bodies.frames[n], link_of(bodies, weights), arm)
        for c in range(position.shape[0]):
            position[c] = weights[0] * q[c] + arm[c]


@kernel
def show_rates(bodies: View, n: int, v: Array, column: View) -> None:
    """Show how fast they are."""
    arm, motion = room((3,)), bodies.motion[n]
    for e in range(bodies.numbers[n]):
        weights, rate = bodies.weights[n, e], column[bodies.attached[n, e]]
        k = link_of(bodies, weights)
        arm_of(weights, bodies.frames[n], k, arm)
        for c in range(rate.shape[0]):
            s, t = (c + 1) % 3, (c + 2) % 3
            turning = motion[k, s] * arm[t] - motion[k, t] * arm[s]
            rate[c] = weights[0] * (v[c] + motion[k, LINEAR + c]) + turning
