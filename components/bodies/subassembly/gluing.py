"""A step of several bodies solved as one between joints that are glued: the generalised leapfrog.

In relative coordinates the mass matrix follows the coordinates, and T(q, m) = m . M(q)^-1 m / 2 does not fall apart into one part
of places and one of momenta. For it (E. Hairer, C. Lubich, G. Wanner, "Geometric numerical integration", Springer 2006, VI.3 and,
with what joints add, VII.1.4)

    m'' = m + h/2 (Q - dT/dq (q, m''))                                            implicit: a fixed point at one place
    q'  = q + h/2 (dT/dm (q, m'') + dT/dm (q', m''))                              implicit: a fixed point in places
    m'  = m'' + h/2 (Q' - dT/dq (q', m''))

is symplectic, symmetric, of order two, and keeps what is bilinear in places and momenta: the momentum and the angular momentum.
The slope is -dT/dq_i = (V' x S_i) . H, with V' the motion of the link that carries the one that q_i moves, and H the momentum of
all that hangs on it. Quaternions p have momenta p (s + 2 m), m the angular momentum that their link passes on, in its axes. Nothing
feels their length, so that the step, taken in them and set back to length 1, stays symplectic: with d = p^-1 p'

    m''_b = m_b + h/2 (... + m'' x w / 2 + s'' w / 4),    s'' = -h/2 m'' . w,     d = (1 + h/4 w) (1 - h/4 w')^-1,

and the momentum at p' is half the vector of d^-1 (s'' + 2 m''). At the end s is zero, so it is h/2 m'' . w before the last kick.
"""

from __future__ import annotations

from math import sqrt

from components.bodies.loops.response_loops import response_loops
from components.bodies.posed.kick_work import exclude_flight
from components.bodies.subassembly.dynamics import collect, compose, factorise_mass, momentum_of, pass_down, solve
from components.bodies.subassembly.kernels import unsound
from components.bodies.subassembly.kinematics import (
    LINEAR,
    LINKS,
    NEXT,
    OWN,
    PUSHED,
    SPEED,
    SPEEDS,
    WANTED,
    aim,
    arm_of,
    link_of,
    place_links,
    read_speeds,
    show_places,
    show_rates,
    times_quaternion,
    travel,
    write_rates,
)
from modular.blocks import room
from modular.elements import STEP, Array
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

MOMENTUM, FREE, BEGAN = (
    4,
    5,
    6,
)  # columns of `speeds`: M u, momenta after what does not depend on speeds, speeds at the beginning
MAX_ITERATIONS = 100  # times that a fixed point is tried
CONVERGENCE_TOLERANCE = 1e-15  # of the speeds: a change that is none
STALLED_TOLERANCE = 1e-9  # of them: a change that may be rounding, where it falls no more
STALL_RATIO = 0.7  # of the change before
DEPENDENT_DIRECTION_TOLERANCE = 1e-10  # of what an element answers: a direction that others have already


@kernel
def gather_momenta(bodies: View, n: int, column: int) -> None:
    """M u of the speeds with which links travel, and, in another column, -dT/dq without forces."""
    make, motion, columns, momenta = bodies.make[n], bodies.motion[n], bodies.columns[n], bodies.wrench[n]
    links, speeds = int(bodies.sizes[LINKS]), bodies.speeds[n]
    for k in range(links):
        momentum_of(bodies.inertias[n], k, OWN, motion, k, 0, momenta, k, 0)
    for back in range(links - 1):
        k = links - 1 - back
        for c in range(6):
            momenta[bodies.parent[make, k], c] += momenta[k, c]
    for k in range(links):
        at, parent = bodies.speed[make, k], bodies.parent[make, k]
        for i in range(at, at + (3 if bodies.ball[make, k] == 1 else 1)):
            value, slope = 0.0, 0.0
            for c in range(6):
                value += columns[i, c] * momenta[k, c]
            if parent >= 0:  # nothing hangs on what carries the first, and the momentum of all is zero
                for c in range(3):
                    s, t = (c + 1) % 3, (c + 2) % 3
                    slope += momenta[k, c] * (motion[parent, s] * columns[i, t] - motion[parent, t] * columns[i, s])
                    bend = motion[parent, s] * columns[i, LINEAR + t] - motion[parent, t] * columns[i, LINEAR + s]
                    bend += motion[parent, LINEAR + s] * columns[i, t] - motion[parent, LINEAR + t] * columns[i, s]
                    slope += momenta[k, LINEAR + c] * bend
            speeds[i, MOMENTUM] = value
            speeds[i, column] = slope


@kernel
def add_turning(bodies: View, n: int, h: float, sign: float, speed: int, column: int) -> None:
    """m x w / 2 + s w / 4 of links with quaternions to the slopes; the sign tells the end of a step from its beginning."""
    make, u = bodies.make[n], bodies.speeds[n]
    for k in range(int(bodies.sizes[LINKS])):
        if bodies.ball[make, k] == 1:
            at = bodies.speed[make, k]
            scalar = scalar_of(u, at, sign * h, speed)
            for c in range(3):
                s, t = (c + 1) % 3, (c + 2) % 3
                cross = u[at + s, MOMENTUM] * u[at + t, speed] - u[at + t, MOMENTUM] * u[at + s, speed]
                u[at + c, column] += 0.5 * cross + 0.25 * scalar * u[at + c, speed]


@kernel
def scalar_of(u: Array, at: int, h: float, speed: int) -> float:
    """s of a quaternion in the middle of a step that ends here; of one that begins here with -h."""
    value = 0.0
    for c in range(3):
        value += u[at + c, MOMENTUM] * u[at + c, speed]
    return 0.5 * h * value


@kernel
def changed(u: Array, count: int, column: int, before: int) -> tuple[float, float]:
    """The largest change of the speeds, and the largest of them; a new one becomes an old one."""
    change, largest = 0.0, 0.0
    for i in range(count):
        change = max(change, abs(u[i, column] - u[i, before]))
        largest = max(largest, abs(u[i, column]))
        change += 0.0 * u[i, column]
        u[i, before] = u[i, column]
    return change, largest


@kernel
def settled(turns: int, change: float, before: float, largest: float) -> bool:
    """Whether the next change of a fixed point is none, or this one falls no more for rounding."""
    enough = CONVERGENCE_TOLERANCE * largest
    if turns > 0 and change * change <= enough * before:
        return True
    return change <= enough or (turns > 1 and change > STALL_RATIO * before and change <= STALLED_TOLERANCE * largest)


@kernel
def kick_in_place(bodies: View, n: int, h: float) -> bool:
    """The first half of the kick: speeds that go with the momenta in the middle of the step; whether there are any."""
    u, count = bodies.speeds[n], int(bodies.sizes[SPEEDS])
    before = 0.0
    for turns in range(MAX_ITERATIONS):
        travel(bodies, n, SPEED)
        gather_momenta(bodies, n, WANTED)
        if turns == 0:
            for i in range(count):
                u[i, FREE] = u[i, MOMENTUM] + 0.5 * h * u[i, PUSHED]
        add_turning(bodies, n, h, -1.0, SPEED, WANTED)
        for i in range(count):
            u[i, WANTED] = u[i, FREE] + 0.5 * h * u[i, WANTED]
        solve(bodies, n, WANTED, NEXT)
        change, largest = changed(u, count, NEXT, SPEED)
        if settled(turns, change, before, largest):
            return True
        before = change
    return False


@kernel
def step_places(bodies: View, n: int, h: float, q: Array, ahead: Array) -> None:
    """q' from the speeds at both ends, quaternions of length 1; the momenta that go with them at q'."""
    make, u = bodies.make[n], bodies.speeds[n]
    turn = room((4,))
    for k in range(int(bodies.sizes[LINKS])):
        at, of = bodies.coordinate[make, k], bodies.speed[make, k]
        if bodies.ball[make, k] == 1:
            f = 0.25 * h
            x, y, z = f * u[of, BEGAN], f * u[of + 1, BEGAN], f * u[of + 2, BEGAN]
            a, b, c = f * u[of, SPEED], f * u[of + 1, SPEED], f * u[of + 2, SPEED]
            size = 1.0 / (1.0 + a * a + b * b + c * c)
            # (1 + (x, y, z)) (1 + (a, b, c)) / |1 - (a, b, c)|^2
            turn[0] = size * (1.0 - x * a - y * b - z * c)
            turn[1] = size * (x + a + y * c - z * b)
            turn[2] = size * (y + b + z * a - x * c)
            turn[3] = size * (z + c + x * b - y * a)
            length = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3])
            times_quaternion(q, at, turn[0] / length, turn[1] / length, turn[2] / length, turn[3] / length, ahead)
            length = 0.0
            for i in range(4):
                length += ahead[at + i] * ahead[at + i]
            length = sqrt(length)
            for i in range(4):
                ahead[at + i] /= length
            scalar = 0.0
            for i in range(3):
                scalar -= 0.5 * h * u[of + i, MOMENTUM] * u[of + i, BEGAN]
            # the vector of d^-1 (s + 2 m) / 2
            for i in range(3):
                j, m = (i + 1) % 3, (i + 2) % 3
                across = turn[1 + j] * u[of + m, MOMENTUM] - turn[1 + m] * u[of + j, MOMENTUM]
                u[of + i, WANTED] = turn[0] * u[of + i, MOMENTUM] - across - 0.5 * scalar * turn[1 + i]
        else:
            ahead[at] = q[at] + 0.5 * h * (u[of, BEGAN] + u[of, SPEED])
            u[of, WANTED] = u[of, MOMENTUM]


@kernel
def find_places(bodies: View, n: int, h: float, q: Array, ahead: Array) -> bool:
    """Where the momenta in the middle of the step lead, and the speeds there; whether there is such a place."""
    u, count = bodies.speeds[n], int(bodies.sizes[SPEEDS])
    for i in range(count):
        u[i, BEGAN] = u[i, SPEED]
        u[i, MOMENTUM] = u[i, WANTED]
    before = 0.0
    for turns in range(MAX_ITERATIONS):
        step_places(bodies, n, h, q, ahead)
        place_links(bodies, n, ahead)
        factorise_mass(bodies, n)
        solve(bodies, n, WANTED, NEXT)
        change, largest = changed(u, count, NEXT, SPEED)
        if settled(turns, change, before, largest):
            return True
        before = change
    return False


@kernel(apart=True)
def stand(bodies: View, elements: View, n: int, q: Array, v: Array) -> None:
    """Links are placed and move, the mass matrix is factorised, and forces stand as what they are to the speeds."""
    place_links(bodies, n, q)
    factorise_mass(bodies, n)
    collect(bodies, elements, n, bodies.pull[n])
    pass_down(bodies, n, PUSHED)
    read_speeds(bodies, n, q, v, SPEED)
    travel(bodies, n, SPEED)


@kernel
def add_pull(bodies: View, n: int, share: float, falling: float, before: Array, after: Array) -> None:
    """The mass centre under forces and `falling` weight, for a while; after an impulse for 1."""
    for c in range(bodies.gravity.shape[0]):
        pull = bodies.pull[n, c] / bodies.kilograms[bodies.make[n]]
        after[c] = before[c] + share * (pull + falling * bodies.gravity[c])


@kernel(apart=True)
def show_speeds(bodies: View, n: int, q: Array, v: Array, column: View) -> None:
    """Rates of the coordinates from the speeds, and what elements show of them."""
    write_rates(bodies, n, q, SPEED, v)
    read_speeds(bodies, n, q, v, SPEED)  # as whoever shows this state will
    travel(bodies, n, SPEED)
    show_rates(bodies, n, v, column)


@loop
def drift_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Half a kick and the way that it leads; the first body that found no way, or -1."""
    h, lost = elements.clock[STEP], NO_FAILED_ROW
    for n in range(start, stop):
        q, v, ahead, half = bodies.q[n], bodies.v[n], bodies.ahead[n], bodies.half[n]
        stand(bodies, elements, n, q, v)
        show_rates(bodies, n, v, elements.velocity_before)
        led = kick_in_place(bodies, n, h)
        add_pull(bodies, n, 0.5 * h, 1.0, v, half)
        travel(bodies, n, SPEED)
        show_rates(bodies, n, half, elements.velocity)
        exclude_flight(bodies, elements, n, 1.0)
        led = find_places(bodies, n, h, q, ahead) and led
        for c in range(bodies.gravity.shape[0]):
            ahead[c] = q[c] + h * half[c]
        show_places(bodies, elements, n, ahead)
        show_speeds(bodies, n, ahead, half, elements.velocity)
        exclude_flight(bodies, elements, n, -1.0)
        if not led and lost < 0:
            lost = n
    return lost


@loop
def kick_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """The other half of the kick; the first body that went wrong, or -1."""
    h, wrong = elements.clock[STEP], NO_FAILED_ROW
    for n in range(start, stop):
        q, v, half, u = bodies.q[n], bodies.v[n], bodies.half[n], bodies.speeds[n]
        stand(bodies, elements, n, q, half)
        gather_momenta(bodies, n, WANTED)
        add_turning(bodies, n, h, 1.0, SPEED, WANTED)
        for i in range(int(bodies.sizes[SPEEDS])):
            u[i, WANTED] = u[i, MOMENTUM] + 0.5 * h * (u[i, WANTED] + u[i, PUSHED])
        solve(bodies, n, WANTED, SPEED)
        add_pull(bodies, n, 0.5 * h, 1.0, half, v)
        show_speeds(bodies, n, q, v, elements.velocity)
        if unsound(bodies, n, q, v) and wrong < 0:
            wrong = n
    return wrong


@loop
def apply_impulse_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Velocities after impulses on the elements."""
    for n in range(start, stop):
        q, v, u = bodies.q[n], bodies.v[n], bodies.speeds[n]
        stand(bodies, elements, n, q, v)
        solve(bodies, n, PUSHED, NEXT)
        for i in range(int(bodies.sizes[SPEEDS])):
            u[i, SPEED] += u[i, NEXT]
        add_pull(bodies, n, 1.0, 0.0, v, v)
        show_speeds(bodies, n, q, v, elements.velocity)
    return NO_FAILED_ROW


# --- how it answers forces ---------------------------------------------------------------------------------------------


@kernel
def answer(bodies: View, n: int, weights: Array, c: int, arm: Array, row: Array) -> None:
    """L^-1 J^T of one number of an element, L the factor of the mass matrix; that of the mass centre in front."""
    make, d, count = bodies.make[n], bodies.gravity.shape[0], int(bodies.sizes[SPEEDS])
    columns, root = bodies.columns[n], bodies.root[n]
    k, mass = link_of(bodies, weights), bodies.kilograms[make]
    arm_of(weights, bodies.frames[n], k, arm)
    s, t = (c + 1) % 3, (c + 2) % 3
    for i in range(d + count):
        row[i] = 0.0
    row[c] = weights[0] / sqrt(mass)
    for i in range(count):
        row[d + i] = -weights[0] * columns[i, 9 + c] / mass
    link = k
    while link >= 0:
        low = bodies.speed[make, link]
        for i in range(low, low + (3 if bodies.ball[make, link] == 1 else 1)):
            row[d + i] += weights[0] * columns[i, LINEAR + c] + columns[i, s] * arm[t] - columns[i, t] * arm[s]
        link = bodies.parent[make, link]
    for i in range(count):
        value = row[d + i]
        for j in range(i):
            value -= root[i * count + j] * row[d + j]
        row[d + i] = value / root[i * count + i]


@kernel
def along(row: Array, basis: Array, first: int, count: int) -> float:
    """A row times one direction of the basis."""
    value = 0.0
    for i in range(count):
        value += row[i] * basis[first + i]
    return value


@kernel
def span(bodies: View, elements: View, n: int) -> int:
    """Directions in which the elements of a body answer, orthonormal, as many as there is room for (Gram and Schmidt, twice)."""
    basis, row, d = bodies.basis[n], bodies.line[n], bodies.gravity.shape[0]
    count = d + int(bodies.sizes[SPEEDS])
    arm = room((3,))
    found = 0
    for e in range(bodies.numbers[n]):
        for c in range(d):
            answer(bodies, n, bodies.weights[n, e], c, arm, row)
            size = sqrt(along(row, row, 0, count))
            for _ in range(2):
                for j in range(found):
                    share = along(row, basis, j * count, count)
                    for i in range(count):
                        row[i] -= share * basis[j * count + i]
            left = sqrt(along(row, row, 0, count))
            if left > DEPENDENT_DIRECTION_TOLERANCE * size and found < min(count, elements.demand.shape[1]):
                for i in range(count):
                    basis[found * count + i] = row[i] / left
                found += 1
    return found


@kernel(apart=True)
def tell(bodies: View, elements: View, n: int, found: int) -> None:
    """The answers of the elements in these directions."""
    basis, row, d = bodies.basis[n], bodies.line[n], bodies.gravity.shape[0]
    count = d + int(bodies.sizes[SPEEDS])
    arm = room((3,))
    for e in range(bodies.numbers[n]):
        response = elements.response[bodies.attached[n, e]]
        for c in range(d):
            answer(bodies, n, bodies.weights[n, e], c, arm, row)
            for j in range(response.shape[1]):
                response[c, j] = along(row, basis, j * count, count) if j < found else 0.0


@kernel
def respond_rows(start: int, stop: int, bodies: View, elements: View, ahead: bool) -> None:
    """B of every attached element: B B^T = J M^-1 J^T in as many columns as the elements move in independent ways."""
    q = bodies.next_q if ahead else bodies.q
    for n in range(start, stop):
        place_links(bodies, n, q[n])
        factorise_mass(bodies, n)
        count = span(bodies, elements, n)
        tell(bodies, elements, n, count)


respond_loop, respond_predicted_loop = response_loops(__name__, respond_rows)


@loop
def respond_ahead_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """How elements at the end of a drift answer forces at its beginning: J' M^-1 J^T, as near as the step is short."""
    for n in range(start, stop):
        place_links(bodies, n, bodies.q[n])
        factorise_mass(bodies, n)
        count = span(bodies, elements, n)
        place_links(bodies, n, bodies.ahead[n])
        aim(bodies, n)
        compose(bodies, n)
        tell(bodies, elements, n, count)
    return NO_FAILED_ROW
