"""How the bodies of a contact answer it, and what its springs ask of the step in return."""

from __future__ import annotations

from components.forces.contact_pair import QUIET, tick_of
from components.forces.contact_sides import lines_of, pose_of
from modular.blocks import room, shaped
from modular.demand_sharing import growth
from modular.elements import Array
from modular.kernel import kernel
from modular.lanes import types
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

UNASKED = -1.0  # in place of velocity per force along one direction, which is never below 0
scratch_of = shaped(types.float64, lambda demand: [(6, demand[0]), (2, 6, demand[0])])


@kernel
def side_response(elements: View, row: int, carry: float, pose: Array, seen: Array) -> None:
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
def mobility_of(seen: Array, mobility: Array) -> None:
    """Velocity per force, velocity per moment and turning per moment, of a side whose motions answer like this."""
    for part in range(3):
        up, left = 0 if part < 2 else 3, 0 if part == 0 else 3
        for i in range(3):
            for j in range(3):
                value = 0.0
                for mode in range(seen.shape[1]):
                    value += seen[up + i, mode] * seen[left + j, mode]
                mobility[part, i, j] = value


@kernel
def side_mobility(contacts: View, elements: View, n: int, side: int, pose: Array, seen: Array) -> None:
    """Mobility of one side."""
    row = contacts.first[n] if side == 0 else contacts.second[n]
    carry = contacts.carry[n]
    if carry[side] < 0.0:
        lines_of(elements, row, carry, side)
    pose_of(elements, row, carry[side], pose)
    side_response(elements, row, carry[side], pose, seen)
    mobility_of(seen, contacts.mobility[n, side])


@kernel
def find_mobility(contacts: View, elements: View, n: int) -> None:
    """That of both sides."""
    pose = room((4, 3))
    seen, _ = scratch_of(elements.demand)
    for side in range(2):
        side_mobility(contacts, elements, n, side, pose, seen)


@kernel(written_out=False)
def ask_mobility(contacts: View, elements: View, n: int) -> None:
    """The same, where it was left open whether anybody would ask."""
    if contacts.mobility[n, 0, 0, 0, 0] == UNASKED:
        find_mobility(contacts, elements, n)


@loop
def compute_mobility_loop(start: int, stop: int, contacts: View, elements: View) -> int:
    """How the bodies answer forces now; of contacts that were not near in the tick before when they are (`ask_mobility`)."""
    for n in range(start, stop):
        if tick_of(contacts.now[n]).known == QUIET:
            contacts.mobility[n, 0, 0, 0, 0] = UNASKED
        else:
            find_mobility(contacts, elements, n)
    return NO_FAILED_ROW


@kernel
def response_at(centre: Array, pose: Array, seen: Array, answer: Array) -> None:
    """How velocity and turning at a point answer the motions of the body of a side."""
    arm = room((3,))
    for c in range(3):
        arm[c] = centre[c] - pose[0, c]
    for mode in range(seen.shape[1]):
        for c in range(3):
            p, q = (c + 1) % 3, (c + 2) % 3
            answer[c, mode] = seen[c, mode] + seen[3 + p, mode] * arm[q] - seen[3 + q, mode] * arm[p]
            answer[3 + c, mode] = seen[3 + c, mode]


@kernel
def is_nothing(block: Array) -> bool:
    """Whether all of its numbers are 0."""
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            if block[i, j] != 0.0:
                return False
    return True


@kernel
def demand_between(stiff: Array, answer: Array, p: int, q: int) -> float:
    """What a block asks of two motions."""
    value = 0.0
    for i in range(6):
        for j in range(6):
            value += answer[i, p] * stiff[i, j] * answer[j, q]
    return value


@kernel
def trace_of(stiff: Array, answer: Array) -> float:
    """What a block asks of all motions together."""
    value = 0.0
    for mode in range(answer.shape[1]):
        for i in range(6):
            for j in range(6):
                value += answer[i, mode] * stiff[i, j] * answer[j, mode]
    return value


@kernel
def demand_of(stiff: Array, answer: Array, factor: float, demand: Array) -> None:
    """What a block asks of all motions of a body, times a factor."""
    for p in range(demand.shape[0]):
        for q in range(demand.shape[1]):
            demand[p, q] = factor * demand_between(stiff, answer, p, q)


@loop
def request_demand_loop(start: int, stop: int, contacts: View, elements: View) -> int:
    """The blocks of the last tick, shared between the two bodies in the proportions of their answers."""
    pose, shares = room((4, 3)), room((2,))
    seen, answer = scratch_of(elements.demand)
    for n in range(start, stop):
        asks_nothing = is_nothing(contacts.stiff[n])
        for side in range(2):
            side_mobility(contacts, elements, n, side, pose, seen)
            if asks_nothing:  # nearly all of them, where many are near each other: their blocks need not be turned
                shares[side] = 0.0
                continue
            response_at(contacts.centre[n], pose, seen, answer[side])
            shares[side] = trace_of(contacts.stiff[n], answer[side])
        whole = shares[0] + shares[1]
        for side in range(2):
            row = contacts.first[n] if side == 0 else contacts.second[n]
            demand = elements.demand[row]
            if asks_nothing:
                for p in range(demand.shape[0]):
                    for q in range(demand.shape[1]):
                        demand[p, q] = 0.0
                continue
            factor = whole / shares[side] if shares[side] > 0.0 else 0.0
            demand_of(contacts.stiff[n], answer[side], factor, demand)
    return NO_FAILED_ROW


@loop
def compute_margin_loop(start: int, stop: int, contacts: View, elements: View) -> int:
    """The factor by which the step could grow before the bodies' answers reach their limit; none where nothing touches."""
    for n in range(start, stop):
        bound = max(elements.bound[contacts.first[n]], elements.bound[contacts.second[n]])
        contacts.margin[n] = growth(contacts.asked[n, 0], contacts.asked[n, 1], bound)
    return NO_FAILED_ROW
