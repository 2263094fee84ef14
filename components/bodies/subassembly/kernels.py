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

from math import cos, isfinite, sin, sqrt

from components.bodies.scheme import BETA, DAMPING, EXTRA_GYROSCOPIC_ROUNDS, GAMMA, STIFFNESS, inward, step_of
from modular.blocks import room
from modular.elements import STEP, Array
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
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


@kernel
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


# --- inertia -----------------------------------------------------------------------------------------------------------


@kernel
def compose(bodies: View, n: int) -> None:
    """Inertias of links and of what hangs on them, and I S."""
    make, frames, inertia, columns = bodies.make[n], bodies.frames[n], bodies.inertias[n], bodies.columns[n]
    links = int(bodies.sizes[LINKS])
    middle, turned = room((3,)), room((3, 3))
    for k in range(links):
        mass, own = bodies.masses[make, k], bodies.inertia[make, k]
        middle_of(bodies, make, frames, k, middle)
        for i in range(3):
            for j in range(3):
                value = 0.0
                for m in range(3):
                    value += frames[k, 3 * i + m] * own[m, j]
                turned[i, j] = value
        square = middle[0] * middle[0] + middle[1] * middle[1] + middle[2] * middle[2]
        inertia[k, 0] = mass
        at = 4
        for i in range(3):
            inertia[k, 1 + i] = mass * middle[i]
            for j in range(i, 3):
                value = 0.0
                for m in range(3):
                    value += turned[i, m] * frames[k, 3 * j + m]
                value -= mass * middle[i] * middle[j]
                if i == j:
                    value += mass * square
                inertia[k, at] = value
                at += 1
        for i in range(10):
            inertia[k, WHOLE + i] = inertia[k, i]
    for back in range(links - 1):
        k = links - 1 - back
        for i in range(10):
            inertia[bodies.parent[make, k], WHOLE + i] += inertia[k, WHOLE + i]
    for k in range(links):
        first = bodies.speed[make, k]
        for i in range(first, first + (3 if bodies.ball[make, k] == 1 else 1)):
            momentum_of(inertia, k, WHOLE, columns, i, 0, columns, i, 6)


@kernel
def put_together(bodies: View, n: int) -> None:
    """M, its lower half."""
    make, columns, root = bodies.make[n], bodies.columns[n], bodies.root[n]
    speeds = int(bodies.sizes[SPEEDS])
    for i in range(speeds):
        for j in range(i + 1):
            value = 0.0
            for c in range(3):
                value -= columns[i, 9 + c] * columns[j, 9 + c] / bodies.kilograms[make]
            root[i * speeds + j] = value
    for k in range(int(bodies.sizes[LINKS])):
        first = bodies.speed[make, k]
        for i in range(first, first + (3 if bodies.ball[make, k] == 1 else 1)):
            link = k
            while link >= 0:
                low = bodies.speed[make, link]
                for j in range(low, low + (3 if bodies.ball[make, link] == 1 else 1)):
                    if j <= i:
                        value = 0.0
                        for c in range(6):
                            value += columns[j, c] * columns[i, 6 + c]
                        root[i * speeds + j] += value
                link = bodies.parent[make, link]


@kernel
def factorise(bodies: View, n: int) -> None:
    """Its lower factor of Cholesky, in its place."""
    root, speeds = bodies.root[n], int(bodies.sizes[SPEEDS])
    for i in range(speeds):
        for j in range(i + 1):
            value = root[i * speeds + j]
            for m in range(j):
                value -= root[i * speeds + m] * root[j * speeds + m]
            root[i * speeds + j] = sqrt(value) if i == j else value / root[j * speeds + j]


@kernel
def factorise_mass(bodies: View, n: int) -> None:
    """S, I S, and the factor of M, where the links stand."""
    aim(bodies, n)
    compose(bodies, n)
    put_together(bodies, n)
    factorise(bodies, n)


@kernel
def momentum_of(
    inertia: Array, k: int, of: int, motion: Array, i: int, at: int, momentum: Array, j: int, to: int
) -> None:
    """I V: angular momentum about O, and linear momentum, of a motion in a row to a row."""
    mass = inertia[k, of]
    w0, w1, w2 = motion[i, at], motion[i, at + 1], motion[i, at + 2]
    v0, v1, v2 = motion[i, at + 3], motion[i, at + 4], motion[i, at + 5]
    h0, h1, h2 = inertia[k, of + 1], inertia[k, of + 2], inertia[k, of + 3]
    xx, xy, xz = inertia[k, of + 4], inertia[k, of + 5], inertia[k, of + 6]
    yy, yz, zz = inertia[k, of + 7], inertia[k, of + 8], inertia[k, of + 9]
    momentum[j, to] = xx * w0 + xy * w1 + xz * w2 + h1 * v2 - h2 * v1
    momentum[j, to + 1] = xy * w0 + yy * w1 + yz * w2 + h2 * v0 - h0 * v2
    momentum[j, to + 2] = xz * w0 + yz * w1 + zz * w2 + h0 * v1 - h1 * v0
    momentum[j, to + 3] = mass * v0 + w1 * h2 - w2 * h1
    momentum[j, to + 4] = mass * v1 + w2 * h0 - w0 * h2
    momentum[j, to + 5] = mass * v2 + w0 * h1 - w1 * h0


@kernel
def solve(bodies: View, n: int, column: int, to: int) -> None:
    """M x = b, from one column of the speeds to another, with the factor that there is."""
    root, speeds, count = bodies.root[n], bodies.speeds[n], int(bodies.sizes[SPEEDS])
    for i in range(count):
        value = speeds[i, column]
        for j in range(i):
            value -= root[i * count + j] * speeds[j, to]
        speeds[i, to] = value / root[i * count + i]
    for back in range(count):
        i = count - 1 - back
        value = speeds[i, to]
        for j in range(i + 1, count):
            value -= root[j * count + i] * speeds[j, to]
        speeds[i, to] = value / root[i * count + i]


# --- forces ------------------------------------------------------------------------------------------------------------


@kernel
def collect(bodies: View, elements: View, n: int, push: Array) -> None:
    """Forces on the elements become pairs on their links, and a force on the whole, in the order of attaching."""
    arm, wrench, d = room((3,)), bodies.wrench[n], push.shape[0]
    force = room((3,))
    for k in range(int(bodies.sizes[LINKS])):
        for c in range(6):
            wrench[k, c] = 0.0
    for c in range(d):
        push[c] = 0.0
    force[2] = 0.0
    for e in range(bodies.numbers[n]):
        weights, given = bodies.weights[n, e], elements.force[bodies.attached[n, e]]
        k = link_of(bodies, weights)
        arm_of(weights, bodies.frames[n], k, arm)
        for c in range(d):
            force[c] = given[c]
            push[c] += weights[0] * given[c]
        for c in range(3):
            s, t = (c + 1) % 3, (c + 2) % 3
            wrench[k, c] += arm[s] * force[t] - arm[t] * force[s]
            wrench[k, LINEAR + c] += weights[0] * force[c]


@kernel
def resist(bodies: View, n: int, column: int) -> None:
    """Take from the pairs on links what they need to go on with the speeds that they have: I A + V x I V."""
    make, motion, wrench, columns = bodies.make[n], bodies.motion[n], bodies.wrench[n], bodies.columns[n]
    own = room((1, 6))
    for k in range(int(bodies.sizes[LINKS])):
        parent, at = bodies.parent[make, k], bodies.speed[make, k]
        for c in range(6):
            value = 0.0
            for j in range(3 if bodies.ball[make, k] == 1 else 1):
                value += columns[at + j, c] * bodies.speeds[n, at + j, column]
            own[0, c] = value
            motion[k, 6 + c] = motion[parent, 6 + c] if parent >= 0 else 0.0
        for c in range(3):  # A = A' + V' x S u = A' + V x S u
            s, t = (c + 1) % 3, (c + 2) % 3
            motion[k, 6 + c] += motion[k, s] * own[0, t] - motion[k, t] * own[0, s]
            motion[k, 9 + c] += motion[k, s] * own[0, LINEAR + t] - motion[k, t] * own[0, LINEAR + s]
            motion[k, 9 + c] += motion[k, LINEAR + s] * own[0, t] - motion[k, LINEAR + t] * own[0, s]
    for k in range(int(bodies.sizes[LINKS])):
        momentum_of(bodies.inertias[n], k, OWN, motion, k, 6, own, 0, 0)
        for c in range(6):
            wrench[k, c] -= own[0, c]
        momentum_of(bodies.inertias[n], k, OWN, motion, k, 0, own, 0, 0)
        for c in range(3):
            s, t = (c + 1) % 3, (c + 2) % 3
            wrench[k, c] -= motion[k, s] * own[0, t] - motion[k, t] * own[0, s]
            wrench[k, c] -= motion[k, LINEAR + s] * own[0, LINEAR + t] - motion[k, LINEAR + t] * own[0, LINEAR + s]
            wrench[k, LINEAR + c] -= motion[k, s] * own[0, LINEAR + t] - motion[k, t] * own[0, LINEAR + s]


@kernel
def pass_down(bodies: View, n: int, column: int) -> None:
    """S^T of the pairs on links: what they do to each speed, the whole held by its mass centre."""
    make, wrench, columns, speeds = bodies.make[n], bodies.wrench[n], bodies.columns[n], bodies.speeds[n]
    links = int(bodies.sizes[LINKS])
    for back in range(links - 1):
        k = links - 1 - back
        for c in range(6):
            wrench[bodies.parent[make, k], c] += wrench[k, c]
    for k in range(links):
        at = bodies.speed[make, k]
        for i in range(at, at + (3 if bodies.ball[make, k] == 1 else 1)):
            value = 0.0
            for c in range(6):
                value += columns[i, c] * wrench[k, c]
            for c in range(3):
                value -= columns[i, 9 + c] * wrench[0, LINEAR + c] / bodies.kilograms[make]
            speeds[i, column] = value


@kernel
def accelerate(bodies: View, elements: View, n: int, dt: float, q: Array, v: Array, now: Array, a: Array) -> None:
    """Accelerations at q under the forces on the elements; v is the predicted velocity, `now` the newer one, v + dt a.

    What whirls is asked again with the velocities that the answer leads to, which are left in `now` (scheme.py).
    """
    place_links(bodies, n, q)
    factorise_mass(bodies, n)
    answer(bodies, elements, n, dt, q, v, now, a)
    if dt > 0.0:
        for _ in range(EXTRA_GYROSCOPIC_ROUNDS):
            for i in range(int(bodies.sizes[COORDINATES])):
                now[i] = v[i] + bodies.gains[GAMMA] * dt * a[i]
            answer(bodies, elements, n, dt, q, v, now, a)


@kernel
def answer(bodies: View, elements: View, n: int, dt: float, q: Array, v: Array, now: Array, a: Array) -> None:
    """The same with the velocities `now`, where links stand and their mass matrix is factorised."""
    make, d, gains = bodies.make[n], bodies.gravity.shape[0], bodies.gains
    inwards = inward(gains, dt)
    read_speeds(bodies, n, q, now, SPEED)
    travel(bodies, n, SPEED)
    push = bodies.pull[n]
    collect(bodies, elements, n, push)
    resist(bodies, n, SPEED)
    pass_down(bodies, n, WANTED)
    solve(bodies, n, WANTED, NEXT)
    for c in range(d):
        a[c] = push[c] / bodies.kilograms[make] + bodies.gravity[c]
    for k in range(int(bodies.sizes[LINKS])):
        at, of = bodies.coordinate[make, k], bodies.speed[make, k]
        u = bodies.speeds[n]
        if bodies.ball[make, k] == 1:
            size, along, rate, square = 0.0, 0.0, 0.0, 0.0
            for c in range(at, at + 4):
                size += q[c] * q[c]
                along += q[c] * now[c]
                rate += q[c] * v[c]
                square += now[c] * now[c]
            along /= size
            bend = -(inwards * square + gains[DAMPING] * rate + gains[STIFFNESS] * 0.5 * (size - 1.0)) / size
            times_quaternion(
                q, at, bend, 0.5 * u[of, NEXT] + along * u[of, SPEED], 0.5 * u[of + 1, NEXT] + along * u[of + 1, SPEED],
                0.5 * u[of + 2, NEXT] + along * u[of + 2, SPEED], a,
            )  # fmt: skip
        else:
            a[at] = u[of, NEXT]


# --- predict and correct -----------------------------------------------------------------------------------------------


@kernel
def predict(bodies: View, n: int, dt: float) -> None:
    """Predict (II.44 with the unknown acceleration left out), and v + dt a."""
    q, v, a, gains = bodies.q[n], bodies.v[n], bodies.a[n], bodies.gains
    for i in range(int(bodies.sizes[COORDINATES])):
        bodies.next_q[n, i] = q[i] + dt * v[i] + (0.5 - gains[BETA]) * dt * dt * a[i]
        bodies.next_v[n, i] = v[i] + (1.0 - gains[GAMMA]) * dt * a[i]
        bodies.now[n, i] = v[i] + dt * a[i]


@kernel
def read_state(bodies: View, n: int, q: Array, v: Array) -> None:
    """Links as they are placed, and how they move."""
    place_links(bodies, n, q)
    aim(bodies, n)
    read_speeds(bodies, n, q, v, SPEED)
    travel(bodies, n, SPEED)


@kernel
def show_state(bodies: View, elements: View, n: int, q: Array, v: Array) -> None:
    """Show places and rates."""
    read_state(bodies, n, q, v)
    show_places(bodies, elements, n, q)
    show_rates(bodies, n, v, elements.velocity)


@loop
def predict_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Predict and show the predicted elements."""
    dt = step_of(bodies, elements)
    for n in range(start, stop):
        predict(bodies, n, dt)
        place_links(bodies, n, bodies.next_q[n])
        show_places(bodies, elements, n, bodies.next_q[n])
        for i in range(int(bodies.sizes[COORDINATES])):  # into `now` for a while: posed/kernels.py says why
            bodies.now[n, i] = bodies.next_q[n, i] - bodies.gains[GAMMA] * dt * bodies.next_v[n, i]
        read_state(bodies, n, bodies.now[n], bodies.next_v[n])
        show_rates(bodies, n, bodies.next_v[n], elements.velocity)
    return NO_FAILED_ROW


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


@loop
def show_end_velocity_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Show the velocities to which the accelerations lead, x' + dt x'' of the elements where they are."""
    arm, dt = room((3,)), elements.clock[STEP]
    for n in range(start, stop):
        q, v, a = bodies.q[n], bodies.v[n], bodies.a[n]
        place_links(bodies, n, q)
        aim(bodies, n)
        read_speeds(bodies, n, q, v, SPEED)
        read_bends(bodies, n, q, v, a)
        travel(bodies, n, SPEED)
        swing(bodies, n)
        show_rates(bodies, n, v, elements.current_velocity)
        for e in range(bodies.numbers[n]):
            weights, rate = bodies.weights[n, e], elements.current_velocity[bodies.attached[n, e]]
            k = link_of(bodies, weights)
            arm_of(weights, bodies.frames[n], k, arm)
            for c in range(rate.shape[0]):
                rate[c] += dt * (weights[0] * a[c] + bend_of(bodies.motion[n], k, arm, weights[0], c))
    return NO_FAILED_ROW


@loop
def correct_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Local solve, correction (II.44), corrected velocities of the elements; the first row that went wrong, or -1."""
    wrong, dt, gains = NO_FAILED_ROW, step_of(bodies, elements), bodies.gains
    for n in range(start, stop):
        q, v, a = bodies.q[n], bodies.v[n], bodies.a[n]
        predict(bodies, n, dt)
        accelerate(bodies, elements, n, dt, bodies.next_q[n], bodies.next_v[n], bodies.now[n], a)
        for i in range(int(bodies.sizes[COORDINATES])):
            v[i] = bodies.next_v[n, i] + gains[GAMMA] * dt * a[i]
            q[i] = bodies.next_q[n, i] + gains[BETA] * dt * dt * a[i]
        if unsound(bodies, n, q, v) and wrong < 0:
            wrong = n
        read_state(bodies, n, q, v)
        show_rates(bodies, n, v, elements.velocity)
    return wrong


@kernel
def unsound(bodies: View, n: int, q: Array, v: Array) -> bool:
    """Whether a number is none any more, or a quaternion far from 1."""
    make, total, far = bodies.make[n], 0.0, 0.0
    for i in range(int(bodies.sizes[COORDINATES])):
        total += 0.0 * q[i] + 0.0 * v[i]
    for k in range(int(bodies.sizes[LINKS])):
        if bodies.ball[make, k] == 1:
            at = bodies.coordinate[make, k]
            size = q[at] * q[at] + q[at + 1] * q[at + 1] + q[at + 2] * q[at + 2] + q[at + 3] * q[at + 3]
            far = max(far, abs(size - 1.0))
    return not isfinite(total) or far > 0.5


@loop
def show_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Show the present elements."""
    for n in range(start, stop):
        show_state(bodies, elements, n, bodies.q[n], bodies.v[n])
    return NO_FAILED_ROW


@loop
def reevaluate_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Accelerations at the unchanged state."""
    for n in range(start, stop):
        v = bodies.v[n]
        accelerate(bodies, elements, n, 0.0, bodies.q[n], v, v, bodies.a[n])
    return NO_FAILED_ROW


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
