"""What a subassembly does under forces: composite inertia, its factors, and the recursion of Newton and Euler (kernels.py)."""

from __future__ import annotations

from math import sqrt

from components.bodies.scheme import DAMPING, EXTRA_GYROSCOPIC_ROUNDS, GAMMA, STIFFNESS, inward
from components.bodies.subassembly.kinematics import (
    COORDINATES,
    LINEAR,
    LINKS,
    NEXT,
    OWN,
    SPEED,
    SPEEDS,
    WANTED,
    WHOLE,
    aim,
    arm_of,
    link_of,
    middle_of,
    place_links,
    read_speeds,
    times_quaternion,
    travel,
)
from modular.blocks import room
from modular.elements import Array
from modular.kernel import kernel
from modular.views import View

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


@kernel(apart=True)
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
