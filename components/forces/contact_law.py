"""The law of contact: springs that push and stick where shapes rest on each other, impulses where they meet fast.

Friction is that of Coulomb with a spring that sticks and slips: P. A. Cundall, O. D. L. Strack, "A discrete numerical model for
granular assemblies", Géotechnique 29 (1979) 47-65. Impacts obey Newton's restitution (Séguy 2003, I.3.6), of all points of a pair
together. The equations are in docs/method.md.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from components.forces.shapes import BOX
from components.forces.touching import touch
from modular.blocks import room, shaped
from modular.demands import growth
from modular.elements import GAIN_STEP, STEP, TIME, Array
from modular.kernel import kernel
from modular.lanes import types
from modular.ledger import STORED
from modular.loop import FINE, loop
from modular.views import View

# what a row remembers of a tick
AT, KNOWN = 0, 1  # when that was [s]; 0 unless it was looked at
POSE = 2  # middle and axes of both shapes, 24 numbers
RATES = 26  # how they move: velocity and turning of the first, of the second
SLIP, TWIST = 38, 41  # of the spring that sticks: across the normal [m], about it
OWED, GOAL = (
    42,
    50,
)  # per point: 1 where the next tick owes the second part of an impact; with which velocity it is to part [m/s]
STRUCK, PULL = 58, 59  # 1 where there was an impulse; the largest acceleration towards each other in free flight
WRENCH = 60  # force on the second shape, moments on the first and on the second
HELD, TAKEN = 69, 70  # energy in its springs [J]; what it takes [W]
PACE = 71  # accelerations that go with the rates, as last known where there was no impulse
BENT = 83  # of that energy what is in the spring that sticks [J]
SPARED = 84  # what an impact has taken so far, and no more it may give back in its second part [J]
SPENT, GUESS = 85, 94  # the part of the wrench that gives nothing back, and what it was thought to take [W]
CARRIED = 95  # 1 where its springs have carried something, and there was no impact
MEMORY = 96
# of the step: dt^2 k W and dt c W of the contact alone
SPRING, DAMPER = 0.3, 0.35
STICK, RUB = 0.2, 0.2
MOST = 3.0  # of the four of the stable rule: what contacts of one body may ask together
SLOW = 2.0  # times the velocity that the pull of free flight brings in a tick: slower impacts do not bounce, slower pairs may stick
BAND = (
    20.0  # times the way of that velocity in a tick: points that are so near count as touching when springs are chosen
)
LASTING = 3.0  # ticks with impulses one after the other, from which on they are no impact but the way things are
SWEEPS = 60  # of the impulses of one pair
EDGE = (
    1e-6  # of what friction can bear: so much more counts as rounding where it is asked whether a pair at rest sticks
)
SETTLED = 1e-9  # of the largest force: sweeps that change less have found what holds a pair
RATIO = 0.3  # of the critical damping, where a stiffness is given and no damping


# --- how bodies stand, move and answer --------------------------------------------------------------------------------


@kernel
def lines_of(elements: View, row: int, carry: Array, side: int) -> None:
    """The share with which forces on the directions of a side make a moment: 1/2 on three, 1/3 on a rod's one, none on a point.

    A point mass shows its point in place of directions, and so answers forces on them as on the point.
    """
    dimension = elements.position.shape[0]
    point, moves = True, False
    for c in range(dimension):
        for mode in range(elements.load.shape[0]):
            point = point and elements.response[row, c, mode] == elements.response[row + 1, c, mode]
            moves = moves or elements.response[row, c, mode] != 0.0
    if dimension == 2:
        carry[side] = 0.0 if point and moves else 1.0
        return
    same = True
    for c in range(dimension):
        same = same and elements.position[row + 1, c] == elements.position[row + 2, c]
    carry[side] = 0.0 if point and moves else 1.0 / 3.0 if same else 0.5


@kernel
def stand(elements: View, row: int, carry: float, pose: Array) -> None:
    """Middle and axes of a shape: pose[0] and pose[1:4]."""
    dimension = elements.position.shape[0]
    for k in range(4):
        for c in range(3):
            pose[k, c] = 1.0 if c == k - 1 else 0.0
    for c in range(dimension):
        pose[0, c] = elements.position[row, c]
    if carry == 0.0:
        return
    lines = 1 if dimension == 2 else 3
    for k in range(lines):
        square = 0.0
        for c in range(dimension):
            square += elements.position[row + 1 + k, c] ** 2
        for c in range(dimension):
            pose[1 + k, c] = elements.position[row + 1 + k, c] / sqrt(square)
    if dimension == 2:
        pose[2, 0], pose[2, 1] = -pose[1, 1], pose[1, 0]


@kernel
def cross(a: Array, b: Array, out: Array) -> None:
    """out = a x b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@kernel
def motion(
    elements: View, row: int, carry: float, pose: Array, was: Array, span: float, fresh: bool, rates: Array
) -> None:
    """Velocity and turning of a side, from where it was; where nobody knows, from what it shows."""
    dimension = elements.position.shape[0]
    lines = 1 if dimension == 2 else 3
    old, new, turn = room((3,)), room((3,)), room((3,))
    for c in range(3):
        rates[c] = (pose[0, c] - was[0, c]) / span
        rates[3 + c] = 0.0
    for k in range(lines):
        for c in range(3):
            new[c] = pose[1 + k, c]
            old[c] = was[1 + k, c]
        if fresh:
            for c in range(dimension):
                old[c] = new[c] - span * elements.current_velocity[row + 1 + k, c]
        cross(old, new, turn)
        for c in range(3):
            rates[3 + c] += carry * turn[c] / span
    if fresh:
        for c in range(dimension):
            rates[c] = elements.current_velocity[row, c]


@kernel
def relative(rates: Array, a: Array, b: Array, x: Array, out: Array) -> None:
    """Velocity at a point of the second shape against the first."""
    out[0] = rates[6] - rates[0] + rates[10] * (x[2] - b[2]) - rates[11] * (x[1] - b[1])
    out[1] = rates[7] - rates[1] + rates[11] * (x[0] - b[0]) - rates[9] * (x[2] - b[2])
    out[2] = rates[8] - rates[2] + rates[9] * (x[1] - b[1]) - rates[10] * (x[0] - b[0])
    out[0] -= rates[4] * (x[2] - a[2]) - rates[5] * (x[1] - a[1])
    out[1] -= rates[5] * (x[0] - a[0]) - rates[3] * (x[2] - a[2])
    out[2] -= rates[3] * (x[1] - a[1]) - rates[4] * (x[0] - a[0])


@kernel
def answer_to(mobility: Array, first: int, second: int, f: Array, m_a: Array, m_b: Array, rates: Array) -> None:
    """Rates per force f on the middle of the second shape, -f on that of the first, and a moment on each."""
    for which in range(2):
        side = first if which == 0 else second
        for i in range(3):
            slide, turn = 0.0, 0.0
            for j in range(3):
                force = -f[j] if which == 0 else f[j]
                moment = m_a[j] if which == 0 else m_b[j]
                slide += mobility[side, 0, i, j] * force + mobility[side, 1, i, j] * moment
                turn += mobility[side, 1, j, i] * force + mobility[side, 2, i, j] * moment
            rates[6 * which + i] = slide
            rates[6 * which + 3 + i] = turn


@kernel
def respond_to(
    mobility: Array, first: int, second: int, a: Array, b: Array, x: Array, f: Array, m: Array, rates: Array
) -> None:
    """The same per impulse f at x and angular impulse m on the second shape, with their opposites on the first."""
    m_a, m_b = room((3,)), room((3,))
    for c in range(3):
        p, q = (c + 1) % 3, (c + 2) % 3
        m_a[c] = -(x[p] - a[p]) * f[q] + (x[q] - a[q]) * f[p] - m[c]
        m_b[c] = (x[p] - b[p]) * f[q] - (x[q] - b[q]) * f[p] + m[c]
    answer_to(mobility, first, second, f, m_a, m_b, rates)


@kernel
def seen_by(elements: View, row: int, carry: float, pose: Array, seen: Array) -> None:
    """How velocity and turning of a side answer the motions of its body: B of its point, and w sum e x B of its directions."""
    dimension = elements.position.shape[0]
    lines = 1 if dimension == 2 else 3
    for mode in range(seen.shape[1]):
        for c in range(3):
            seen[c, mode] = elements.response[row, c, mode] if c < dimension else 0.0
            seen[3 + c, mode] = 0.0
        for k in range(lines):
            e, at = pose[1 + k], row + 1 + k
            x, y = elements.response[at, 0, mode], elements.response[at, 1, mode]
            z = 0.0
            if dimension == 3:
                z = elements.response[at, dimension - 1, mode]
            seen[3, mode] += carry * (e[1] * z - e[2] * y)
            seen[4, mode] += carry * (e[2] * x - e[0] * z)
            seen[5, mode] += carry * (e[0] * y - e[1] * x)


@kernel
def weigh_one(contacts: View, elements: View, n: int, side: int, pose: Array, seen: Array) -> None:
    """Mobility of one side."""
    row = contacts.first[n] if side == 0 else contacts.second[n]
    carry = contacts.carry[n]
    if carry[side] < 0.0:
        lines_of(elements, row, carry, side)
    stand(elements, row, carry[side], pose)
    seen_by(elements, row, carry[side], pose, seen)
    for part in range(3):
        up, left = 0 if part < 2 else 3, 0 if part == 0 else 3
        for i in range(3):
            for j in range(3):
                value = 0.0
                for mode in range(seen.shape[1]):
                    value += seen[up + i, mode] * seen[left + j, mode]
                contacts.mobility[n, side, part, i, j] = value


desk_of = shaped(types.float64, lambda load: [(6, load[0]), (2, 6, load[0])])


@loop
def weigh_loop(start: int, stop: int, contacts: View, elements: View) -> int:
    """How the bodies answer forces now."""
    pose = room((4, 3))
    seen, _ = desk_of(elements.load)
    for n in range(start, stop):
        for side in range(2):
            weigh_one(contacts, elements, n, side, pose, seen)
    return FINE


@loop
def ask_loop(start: int, stop: int, contacts: View, elements: View) -> int:
    """The blocks of the last tick, shared between the two bodies in the proportions of their answers."""
    pose = room((4, 3))
    seen, answer = desk_of(elements.load)
    shares, arm = room((2,)), room((3,))
    for n in range(start, stop):
        for side in range(2):
            weigh_one(contacts, elements, n, side, pose, seen)
            for c in range(3):
                arm[c] = contacts.centre[n, c] - pose[0, c]
            shares[side] = 0.0
            for mode in range(seen.shape[1]):
                for c in range(3):
                    p, q = (c + 1) % 3, (c + 2) % 3
                    answer[side, c, mode] = seen[c, mode] + seen[3 + p, mode] * arm[q] - seen[3 + q, mode] * arm[p]
                    answer[side, 3 + c, mode] = seen[3 + c, mode]
                for i in range(6):
                    for j in range(6):
                        shares[side] += answer[side, i, mode] * contacts.stiff[n, i, j] * answer[side, j, mode]
        whole = shares[0] + shares[1]
        for side in range(2):
            load = elements.load[contacts.first[n] if side == 0 else contacts.second[n]]
            factor = whole / shares[side] if shares[side] > 0.0 else 0.0
            for p in range(load.shape[0]):
                for q in range(load.shape[1]):
                    value = 0.0
                    for i in range(6):
                        for j in range(6):
                            value += answer[side, i, p] * contacts.stiff[n, i, j] * answer[side, j, q]
                    load[p, q] = factor * value
    return FINE


@loop
def grow_loop(start: int, stop: int, contacts: View, elements: View) -> int:
    """The factor by which the step could grow before the bodies' answers reach their limit; none where nothing touches."""
    for n in range(start, stop):
        bound = max(elements.bound[contacts.first[n]], elements.bound[contacts.second[n]])
        contacts.margin[n] = growth(contacts.asked[n, 0], contacts.asked[n, 1], bound)
    return FINE


# --- the law ----------------------------------------------------------------------------------------------------------


@kernel
def act(elements: View, row: int, carry: float, pose: Array, f: Array, m: Array, sign: float) -> None:
    """A force on the middle of a shape and a moment on its directions."""
    dimension = elements.position.shape[0]
    lines = 1 if dimension == 2 else 3
    turn, e = room((3,)), room((3,))
    for c in range(dimension):
        elements.force[row, c] = sign * f[c]
    for k in range(lines):
        for c in range(3):
            e[c] = pose[1 + k, c]
        cross(m, e, turn)
        for c in range(dimension):
            elements.force[row + 1 + k, c] = carry * turn[c]


@kernel
def dot(a: Array, b: Array) -> Any:
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def excess(f1: float, f2: float, moment: float, grip: float, radius: float) -> Any:
    """How many times more than friction can bear a force and a moment are together; at least 1.

    The limit is taken as an ellipsoid (R. D. Howe, M. R. Cutkosky, Int. J. Robotics Research 15 (1996) 557-572).
    """
    square = (f1 * f1 + f2 * f2) / (grip * grip)
    if moment != 0.0:
        square += (moment / (grip * radius)) ** 2
    return max(sqrt(square), 1.0)


@kernel
def push_moment(x: Array, n: Array, size: float, a: Array, b: Array, f: Array, m_a: Array, m_b: Array) -> None:
    """Add a force at a point to that on the second shape and to the moments on both."""
    for c in range(3):
        p, q = (c + 1) % 3, (c + 2) % 3
        f[c] += size * n[c]
        m_a[c] -= size * ((x[p] - a[p]) * n[q] - (x[q] - a[q]) * n[p])
        m_b[c] += size * ((x[p] - b[p]) * n[q] - (x[q] - b[q]) * n[p])


@kernel
def power_of(memory: Array, rates: Array) -> Any:
    """Power of what gives nothing back [W]."""
    power = 0.0
    for c in range(3):
        power += memory[SPENT + c] * (rates[6 + c] - rates[c])
        power += memory[SPENT + 3 + c] * rates[3 + c] + memory[SPENT + 6 + c] * rates[9 + c]
    return power


@kernel
def strike(count: int, candidates: Array, coming: Array, goal: Array, w: Array, impulse: Array) -> None:
    """Impulses of one pair: none pulls, and where one pushes the point parts as it should (projected Gauss-Seidel)."""
    for i in range(count):
        impulse[i] = 0.0
    for _ in range(SWEEPS):
        change = 0.0
        for i in range(count):
            if candidates[i] == 0.0:
                continue
            left = coming[i] - goal[i]
            for j in range(count):
                left += w[i, j] * impulse[j]
            new = max(impulse[i] - left / w[i, i], 0.0) if w[i, i] > 0.0 else 0.0
            change = max(change, abs(new - impulse[i]) * w[i, i])
            impulse[i] = new
        if change == 0.0:
            break


@kernel
def hold(
    count: int,
    candidates: Array,
    hurry: Array,
    pull: Array,
    w: Array,
    along: Array,
    across: Array,
    load: Array,
    bear: Array,
) -> Any:
    """Forces that keep the points of a pair from moving: none pulls, and across the normals friction bears what it must.

    `hurry` and `pull`: accelerations along normals and across them without these forces. What the normals press with together.
    """
    pressed = 0.0
    for i in range(count):
        load[i] = 0.0
    bear[0] = bear[1] = 0.0
    for _ in range(SWEEPS):
        pressed, change, most = 0.0, 0.0, 0.0
        for i in range(count):
            if candidates[i] == 0.0 or not w[i, i] > 0.0:
                continue
            left = hurry[i] + along[0, i] * bear[0] + along[1, i] * bear[1]
            for j in range(count):
                left += w[i, j] * load[j]
            new = max(load[i] - left / w[i, i], 0.0)
            change, most, load[i] = max(change, abs(new - load[i])), max(most, new), new
            pressed += new
        for k in range(2):
            left = pull[k] + across[k, 0] * bear[0] + across[k, 1] * bear[1]
            for i in range(count):
                left += along[k, i] * load[i]
            bear[k] -= left / across[k, k]
            change = max(change, abs(left / across[k, k]))
        if change <= SETTLED * most:
            break
    return pressed


@loop
def contact_loop(start: int, stop: int, contacts: View, elements: View) -> int:
    """Where shapes touch, springs that push and stick; where they meet fast, impulses.

    Predicted places follow the central difference, x'' - 2 x' + x = dt^2 F'/m. So with v the velocity of the last tick, from where
    shapes were, a force F changes that of the next one by W F dt, under every coupling. Points that will meet on the way at the
    time theta dt get their impulse in two parts, 1 - theta now and theta a tick later, and go on as if it had been then.
    """
    flat = elements.position.shape[0] == 2
    pose_a, pose_b, was_a, was_b = room((4, 3)), room((4, 3)), room((4, 3)), room((4, 3))
    points, normals, gaps, w = room((8, 3)), room((8, 3)), room((8,)), room((8, 8))
    answers, rates, pace, speed = room((8, 12)), room((12,)), room((12,)), room((12,))
    v, hurry, coming, goal, theta = room((8,)), room((8,)), room((8,)), room((8,)), room((8,))
    candidates, impulse, load, along = room((8,)), room((8,)), room((8,)), room((2, 8))
    pull, bear, across = room((2,)), room((2,)), room((2, 2))
    out, x, f, none = room((3,)), room((3,)), room((3,)), room((3,))
    t1, t2, slip, normal, rub, wind, m_a, m_b = (
        room((3,)), room((3,)), room((3,)), room((3,)), room((3,)), room((3,)), room((3,)), room((3,))
    )  # fmt: skip
    for n in range(start, stop):
        now, before, law = contacts.now[n], contacts.before[n], contacts.law[n]
        time, dt = elements.clock[TIME], elements.clock[GAIN_STEP]
        first = contacts.swapped[n]
        second = 1 - first
        a = contacts.first[n] if first == 0 else contacts.second[n]
        b = contacts.second[n] if first == 0 else contacts.first[n]
        carry, mobility = contacts.carry[n], contacts.mobility[n]
        stand(elements, a, carry[first], pose_a)
        stand(elements, b, carry[second], pose_b)
        again = now[KNOWN] > 0.0 and time == now[AT]
        stay = now[KNOWN] > 0.0 and elements.clock[STEP] == 0.0
        back = before[KNOWN] > 0.0 and time == before[AT]
        if stay or (back and not again):  # an event, or a step that is taken back: as it was
            for c in range(3):
                f[c] = now[WRENCH + c] if stay else before[WRENCH + c]
                m_a[c] = now[WRENCH + 3 + c] if stay else before[WRENCH + 3 + c]
                m_b[c] = now[WRENCH + 6 + c] if stay else before[WRENCH + 6 + c]
            act(elements, a, carry[first], pose_a, f, m_a, -1.0)
            act(elements, b, carry[second], pose_b, f, m_b, 1.0)
            contacts.ledger[n, STORED] = now[HELD] if stay else before[HELD]
            contacts.power[n] = now[TAKEN] if stay else before[TAKEN]
            continue
        if not again:
            for k in range(MEMORY):
                before[k] = now[k]
        span = time - before[AT]
        fresh = before[KNOWN] == 0.0 or not 0.0 < span <= 4.0 * dt
        if fresh:
            span = dt
            for k in range(MEMORY):
                before[k] = 0.0
        for k in range(4):
            for c in range(3):
                was_a[k, c] = before[POSE + 3 * k + c]
                was_b[k, c] = before[POSE + 12 + 3 * k + c]
        motion(elements, a, carry[first], pose_a, was_a, span, fresh, pace)
        for k in range(6):
            rates[k] = pace[k]
        motion(elements, b, carry[second], pose_b, was_b, span, fresh, pace)
        for k in range(6):
            rates[6 + k] = pace[k]
        for k in range(MEMORY):
            now[k] = 0.0
        now[AT], now[KNOWN], now[PULL] = time, 1.0 if fresh else 2.0, before[PULL]
        for k in range(4):
            for c in range(3):
                now[POSE + 3 * k + c], now[POSE + 12 + 3 * k + c] = pose_a[k, c], pose_b[k, c]
        # what others do to them: what came about since, less what the contact itself did
        steady = not fresh and (before[STRUCK] == 0.0 or before[STRUCK] > LASTING)
        for k in range(12):
            now[RATES + k], pace[k] = rates[k], before[PACE + k]
        if steady:
            for c in range(3):
                f[c], m_a[c], m_b[c] = before[WRENCH + c], before[WRENCH + 3 + c], before[WRENCH + 6 + c]
            answer_to(mobility, first, second, f, m_a, m_b, speed)
            for k in range(12):
                pace[k] = (2.0 if before[KNOWN] == 1.0 else 1.0) * (rates[k] - before[RATES + k]) / span - speed[k]
        for k in range(12):
            now[PACE + k] = pace[k]
        for c in range(3):
            f[c], m_a[c], m_b[c], none[c], normal[c], x[c] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(6):
            for j in range(6):
                contacts.stiff[n, i, j] = 0.0
        contacts.asked[n, 0] = contacts.asked[n, 1] = 0.0
        held, taken, whole, struck = 0.0, 0.0, 0.0, False
        count = touch(
            contacts.kinds[n, first], contacts.shape[n, first], pose_a, contacts.kinds[n, second],
            contacts.shape[n, second], pose_b, flat, points, normals, gaps,
        )  # fmt: skip
        # how points move against each other, and whether any will meet soon
        near, lowest, band = False, 1e300, BAND * before[PULL] * dt * dt
        for i in range(count):
            relative(rates, pose_a[0], pose_b[0], points[i], out)
            v[i] = dot(out, normals[i])
            relative(pace, pose_a[0], pose_b[0], points[i], out)
            hurry[i] = dot(out, normals[i])
            near = near or gaps[i] <= band + 2.0 * span * abs(v[i]) or before[OWED + i] > 0.0
            if gaps[i] < lowest:
                lowest = gaps[i]
                if steady:
                    now[PULL] = max(-hurry[i], 0.0)
        if near:
            for i in range(count):
                respond_to(mobility, first, second, pose_a[0], pose_b[0], points[i], normals[i], none, speed)
                for k in range(12):
                    answers[i, k] = speed[k]
                for j in range(count):
                    relative(speed, pose_a[0], pose_b[0], points[j], out)
                    w[j, i] = dot(out, normals[j])
            # impacts
            slow, meeting = SLOW * span * now[PULL], False
            for i in range(count):
                candidates[i], theta[i], impulse[i], goal[i] = 0.0, 0.0, 0.0, 0.0
                coming[i], kept = v[i] + 0.5 * span * hurry[i], before[GOAL + i]
                if law[1] < 0.0 <= law[2] or not w[i, i] > 0.0:
                    continue
                meets, part = gaps[i] <= 0.0 and coming[i] < 0.0, 0.0
                if gaps[i] > 0.0 and coming[i] < 0.0:
                    square = coming[i] * coming[i] - 2.0 * hurry[i] * gaps[i]
                    if square >= 0.0 and 2.0 * gaps[i] <= span * (sqrt(square) - coming[i]):
                        meets = True
                        part = 2.0 * gaps[i] / (span * (sqrt(square) - coming[i]))
                if before[OWED + i] > 0.0:  # the second part of an impact: what is still missing
                    candidates[i], goal[i] = 1.0, kept
                    now[OWED + i] = before[OWED + i] - 1.0
                elif meets and -coming[i] - span * part * hurry[i] > slow:
                    candidates[i], theta[i] = 1.0, part
                    coming[i] += span * part * hurry[i]
                    goal[i] = -max(law[1], 0.0) * coming[i]
                    now[OWED + i] = 1.0 if part > 0.0 else 0.0
                now[GOAL + i] = goal[i] + span * (1.0 - theta[i]) * hurry[i] if theta[i] > 0.0 else goal[i]
                meeting = meeting or candidates[i] > 0.0
            ample = min(1.0, MOST / max(max(elements.taken[a], elements.taken[b]), MOST))
            if meeting:
                struck = True
                strike(count, candidates, coming, goal, w, impulse)
                # an impact gives no more than it has taken
                given, square = 0.0, 0.0
                for i in range(count):
                    impulse[i] *= ample * (1.0 - theta[i])
                for i in range(count):
                    given += impulse[i] * (v[i] + 0.5 * span * hurry[i])
                    for j in range(count):
                        square += 0.5 * impulse[i] * w[i, j] * impulse[j]
                spared = before[SPARED] if before[STRUCK] > 0.0 else 0.0
                share = 1.0
                if given + square > spared:
                    share = 0.5 * (sqrt(given * given + 4.0 * square * spared) - given) / square
                for i in range(count):
                    impulse[i] *= share
                    contacts.sunk[n, 1] = max(contacts.sunk[n, 1], dt * w[i, i] * impulse[i])
                now[SPARED] = max(spared - share * (given + share * square), 0.0)
            # springs
            row = 0.0
            for i in range(count):
                if gaps[i] <= band:
                    total = 0.0
                    for j in range(count):
                        if gaps[j] <= band:
                            total += abs(w[i, j])
                    row = max(row, total)
            k_n = ample * SPRING / (dt * dt * row) if row > 0.0 else 0.0
            c_n = ample * DAMPER / (dt * row) if row > 0.0 else 0.0
            if law[2] >= 0.0:
                k_n = law[2]
                c_n = law[3] if law[3] >= 0.0 else 2.0 * RATIO * sqrt(k_n / row) if row > 0.0 else 0.0
            for i in range(count):
                spring = 0.0
                if candidates[i] > 0.0:
                    if gaps[i] < 0.0:
                        spring = -span * k_n * gaps[i]
                        impulse[i] += spring
                        held += 0.5 * k_n * gaps[i] * gaps[i]
                elif gaps[i] < 0.0:
                    spring = -k_n * gaps[i]
                    impulse[i] = span * max(spring - c_n * v[i], 0.0)
                    spring = min(spring * span, impulse[i])
                    held += 0.5 * k_n * gaps[i] * gaps[i]
                    if law[2] < 0.0:
                        contacts.sunk[n, 0] = max(contacts.sunk[n, 0], -gaps[i])
                whole += impulse[i]
                theta[i] = impulse[i] - spring  # what is not given back
        if whole > 0.0:
            for i in range(count):
                for c in range(3):
                    x[c] += impulse[i] * points[i, c] / whole
                    normal[c] += impulse[i] * normals[i, c]
            length = sqrt(dot(normal, normal))
            radius, extent = 0.0, 0.0
            for k in range(4):
                extent += contacts.shape[n, 0, k] + contacts.shape[n, 1, k]
            for c in range(3):
                normal[c] = normal[c] / length if length > 0.0 else normals[0, c]
            for i in range(count):
                push_moment(points[i], normals[i], impulse[i] / span, pose_a[0], pose_b[0], f, m_a, m_b)
                square = 0.0
                for c in range(3):
                    square += (points[i, c] - x[c]) ** 2
                radius += impulse[i] * sqrt(square) / whole
            # what the springs ask of the step
            for c in range(3):
                contacts.centre[n, c] = x[c]
            for i in range(count):
                if gaps[i] < 0.0:
                    for c in range(3):
                        out[c] = points[i, c] - x[c]
                        t1[c] = normals[i, c]
                    cross(out, t1, t2)
                    block = dt * dt * k_n + 2.0 * dt * c_n
                    contacts.asked[n, 0] += dt * dt * k_n
                    contacts.asked[n, 1] += 2.0 * dt * c_n
                    for p in range(6):
                        for q in range(6):
                            one = t1[p] if p < 3 else t2[p - 3]
                            two = t1[q] if q < 3 else t2[q - 3]
                            contacts.stiff[n, p, q] += block * one * two
            if law[0] > 0.0:
                # axes across the normal
                least = 0
                for c in range(1, 3):
                    if abs(normal[c]) < abs(normal[least]) and not flat:
                        least = c
                for c in range(3):
                    t1[c] = 1.0 if c == (2 if flat else least) else 0.0
                cross(t1, normal, t2)
                square = sqrt(dot(t2, t2))
                for c in range(3):
                    t2[c] /= square
                cross(normal, t2, t1)  # in the plane t1 looks out of it
                # how they move, with what the normal impulses of an impact have changed
                relative(rates, pose_a[0], pose_b[0], x, out)
                turning = 0.0
                for c in range(3):
                    turning += (rates[9 + c] - rates[3 + c]) * normal[c]
                if struck:
                    for i in range(count):
                        for k in range(12):
                            speed[k] = answers[i, k]
                        relative(speed, pose_a[0], pose_b[0], x, slip)
                        for c in range(3):
                            out[c] += impulse[i] * slip[c]
                            turning += impulse[i] * (speed[9 + c] - speed[3 + c]) * normal[c]
                v1, v2 = dot(out, t1), dot(out, t2)
                respond_to(mobility, first, second, pose_a[0], pose_b[0], x, t1, none, speed)
                relative(speed, pose_a[0], pose_b[0], x, slip)
                w11 = dot(slip, t1)
                respond_to(mobility, first, second, pose_a[0], pose_b[0], x, t2, none, speed)
                relative(speed, pose_a[0], pose_b[0], x, slip)
                w12, w22 = dot(slip, t1), dot(slip, t2)
                if flat:
                    v1, w11, w12 = 0.0, 0.0, 0.0
                respond_to(mobility, first, second, pose_a[0], pose_b[0], x, none, normal, speed)
                twisting = 0.0
                for c in range(3):
                    twisting += (speed[9 + c] - speed[3 + c]) * normal[c]
                most = 0.5 * (w11 + w22) + sqrt(0.25 * (w11 - w22) ** 2 + w12 * w12)
                k_t, c_t = ample * STICK / (dt * dt * most), ample * RUB / (dt * most)
                grip = law[0] * whole / span
                winding = radius > 1e-9 * extent and twisting > 0.0 and not flat
                k_r = ample * STICK / (dt * dt * twisting) if winding else 0.0
                c_r = ample * RUB / (dt * twisting) if winding else 0.0
                # the spring that sticks goes along with the first shape
                for c in range(3):
                    slip[c] = before[SLIP + c]
                    rub[c] = rates[3 + c]
                if contacts.kinds[n, first] <= BOX:
                    cross(rub, slip, out)
                    for c in range(3):
                        slip[c] += span * out[c]
                s1, s2, twist = dot(slip, t1), dot(slip, t2), before[TWIST] if winding else 0.0
                if flat:
                    s1 = 0.0
                if struck:
                    s1, s2, twist = 0.0, 0.0, 0.0
                    if flat:
                        f1, f2 = 0.0, -v2 / (w22 * span)
                    else:
                        determinant = max(w11 * w22 - w12 * w12, 1e-12 * most * most)
                        f1 = -(w22 * v1 - w12 * v2) / (determinant * span)
                        f2 = -(w11 * v2 - w12 * v1) / (determinant * span)
                    moment = -turning / (twisting * span) if winding else 0.0
                else:
                    s1, s2, twist = s1 + span * v1, s2 + span * v2, twist + span * turning
                    f1, f2 = k_t * s1 + c_t * v1, k_t * s2 + c_t * v2
                    over = max(excess(f1, f2, 0.0, grip, radius), excess(k_t * s1, k_t * s2, k_r * twist, grip, radius))
                    swift = sqrt(v1 * v1 + v2 * v2)
                    for c in range(3):
                        swift = max(swift, extent * abs(rates[9 + c] - rates[3 + c]))
                    new = before[CARRIED] == 0.0
                    if swift <= slow and (new or over > 1.0):
                        # whether a pair at rest sticks what pulls decides, and not how its springs ring
                        relative(pace, pose_a[0], pose_b[0], x, out)
                        pull[0], pull[1] = 0.0 if flat else dot(out, t1), dot(out, t2)
                        across[0, 0], across[1, 1] = 1.0 if flat else w11, w22
                        across[0, 1] = across[1, 0] = w12
                        for k in range(2):
                            respond_to(
                                mobility, first, second, pose_a[0], pose_b[0], x, t1 if k == 0 else t2, none, speed
                            )
                            for i in range(count):
                                candidates[i] = 1.0 if gaps[i] <= band else 0.0
                                relative(speed, pose_a[0], pose_b[0], points[i], slip)
                                along[k, i] = 0.0 if flat and k == 0 else dot(slip, normals[i])
                        pressed = hold(count, candidates, hurry, pull, w, along, across, load, bear)
                        borne = sqrt(bear[0] * bear[0] + bear[1] * bear[1])
                        if borne <= law[0] * pressed * (1.0 + EDGE):
                            grip = 1e300
                            if new:
                                s1, s2, twist = -bear[0] / k_t, -bear[1] / k_t, 0.0
                    over = excess(k_t * s1, k_t * s2, k_r * twist, grip, radius)
                    s1, s2, twist = s1 / over, s2 / over, twist / over
                    f1, f2 = -k_t * s1 - c_t * v1, -k_t * s2 - c_t * v2
                    moment = -k_r * twist - c_r * turning
                over = excess(f1, f2, moment, grip, radius)
                f1, f2, moment = f1 / over, f2 / over, moment / over
                bent = 0.5 * (k_t * (s1 * s1 + s2 * s2) + k_r * twist * twist)
                held += bent
                now[TWIST], now[BENT] = twist if winding else 0.0, bent
                for c in range(3):
                    now[SLIP + c] = s1 * t1[c] + s2 * t2[c]
                    rub[c] = f1 * t1[c] + f2 * t2[c]
                push_moment(x, rub, 1.0, pose_a[0], pose_b[0], f, m_a, m_b)
                for c in range(3):
                    m_a[c] -= moment * normal[c]
                    m_b[c] += moment * normal[c]
                    wind[c] = moment * normal[c]
                if not struck:
                    contacts.asked[n, 0] += dt * dt * k_t
                    contacts.asked[n, 1] += 2.0 * dt * c_t
                    for p in range(3):
                        for q in range(3):
                            flank = (1.0 if p == q else 0.0) - normal[p] * normal[q]
                            contacts.stiff[n, p, q] += dt * (dt * k_t + 2.0 * c_t) * flank
                            contacts.stiff[n, 3 + p, 3 + q] += dt * (dt * k_r + 2.0 * c_r) * normal[p] * normal[q]
            # what dampers, friction and impacts take, at the velocity of this very instant
            for c in range(3):
                slip[c], t1[c], t2[c] = 0.0, 0.0, 0.0
            for i in range(count):
                push_moment(points[i], normals[i], theta[i] / span, pose_a[0], pose_b[0], slip, t1, t2)
            if law[0] > 0.0:
                push_moment(x, rub, 1.0, pose_a[0], pose_b[0], slip, t1, t2)
                for c in range(3):
                    t1[c] -= wind[c]
                    t2[c] += wind[c]
            answer_to(mobility, first, second, f, m_a, m_b, speed)
            for k in range(12):
                speed[k] = rates[k] + 0.5 * span * (pace[k] + speed[k])
            for c in range(3):
                now[SPENT + c], now[SPENT + 3 + c], now[SPENT + 6 + c] = slip[c], t1[c], t2[c]
            taken = -power_of(now, speed)
            now[GUESS] = taken
        elif law[2] >= 0.0:  # a given stiffness tells beforehand what it will ask, straight on the second shape
            contacts.asked[n, 0], contacts.asked[n, 1] = dt * dt * law[2], 2.0 * dt * max(law[3], 0.0)
            for c in range(3):
                contacts.centre[n, c] = pose_b[0, c]
                contacts.stiff[n, c, c] = contacts.asked[n, 0] + contacts.asked[n, 1]
        if before[KNOWN] == 2.0 and not fresh:  # what others did at that instant shows a tick later
            for k in range(12):
                speed[k] = 0.5 * (before[RATES + k] + rates[k])
            taken -= power_of(before, speed) + before[GUESS]
        taken += (before[BENT] - now[BENT]) / span
        now[CARRIED] = 1.0 if whole > 0.0 and not struck else 0.0
        now[STRUCK], now[HELD], now[TAKEN] = before[STRUCK] + 1.0 if struck else 0.0, held, taken
        for c in range(3):
            now[WRENCH + c], now[WRENCH + 3 + c], now[WRENCH + 6 + c] = f[c], m_a[c], m_b[c]
        contacts.ledger[n, STORED], contacts.power[n] = held, taken
        act(elements, a, carry[first], pose_a, f, m_a, -1.0)
        act(elements, b, carry[second], pose_b, f, m_b, 1.0)
    return FINE
