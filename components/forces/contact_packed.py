"""What sweeps over points that carry together read, close by: a row of numbers for each point, one behind the other.

A contact is some thousands of bytes, of which a sweep reads a few at as many places as there are contacts; that is what sweeps
over thousands of them would wait for. So are the motions of their bodies, which lie at as many places of another column. The
numbers, and the order in which they are added up, are those of the contacts themselves (contact_carrying.py), so the bits are.
Bodies in joints feel more than two contacts of their own: there it is not done.
"""

from __future__ import annotations

from typing import Any

from components.forces.contact_load import carrying_of
from modular.elements import Array
from modular.force import NOBODY
from modular.kernel import kernel
from modular.views import View

LINE, REPLY = 0, 12  # six numbers on either side
# the last two: at which places of `swept` bodies are told, NOBODY where there is none
ANSWER, GOES, BEFORE, LOAD, WAS, CONJUGATE, ONE, OTHER = range(24, 32)
PACKED, POINTS = 32, 8  # numbers of a point, and how many points there is room for in a row of contacts


@kernel
def packed_of(contacts: View, p: int) -> Any:
    """The numbers of a point."""
    return contacts.packed[p // POINTS, p % POINTS]


@kernel(written_out=False)
def pack(contacts: View, many: int) -> int:
    """All points of a group, and how its bodies move; how many points there are, or -1 where bodies hang in joints."""
    count = bodies = 0
    for k in range(many):
        n = contacts.order[k]
        if contacts.seats[n, 0] > 0 or contacts.seats[n, 1] > 0:
            return -1
        for side in range(2):
            if contacts.home[n, side] != NOBODY:
                contacts.first_on[contacts.home[n, side] // 2, contacts.home[n, side] % 2] = NOBODY
    for k in range(many):
        n = contacts.order[k]
        carrying = carrying_of(contacts.carrying[n])
        for i in range(int(carrying.count)):
            point = packed_of(contacts, count)
            for side in range(2):
                for c in range(6):
                    point[LINE + 6 * side + c] = carrying.line[i, side, c]
                    point[REPLY + 6 * side + c] = carrying.reply[i, side, c]
                bodies = take_place(contacts, contacts.home[n, side], bodies)
                home = contacts.home[n, side]
                place = contacts.first_on[home // 2, home % 2] if home != NOBODY else NOBODY
                point[ONE + side] = float(place)
            point[ANSWER], point[GOES], point[BEFORE] = carrying.answer[i], carrying.goes[i], carrying.before[i]
            point[LOAD], point[WAS], point[CONJUGATE] = carrying.load[i], carrying.was[i], carrying.conjugate[i]
            count += 1
    return count


@kernel
def take_place(contacts: View, home: int, bodies: int) -> int:
    """A place in `swept` for a body that has none yet; how many there are."""
    if home == NOBODY or contacts.first_on[home // 2, home % 2] != NOBODY:
        return bodies
    contacts.first_on[home // 2, home % 2] = bodies
    motion, moved = contacts.swept[bodies // 2, bodies % 2], contacts.moved[home // 2, home % 2]
    for c in range(6):
        motion[c] = moved[c]
    return bodies + 1


@kernel(written_out=False)
def pass_on_sweeps(contacts: View, many: int, count: int, back: bool) -> None:
    """Loads and motions as sweeps have found them to the contacts, or `back` from these."""
    p = 0
    for k in range(many if count >= 0 else 0):
        n = contacts.order[k]
        carrying = carrying_of(contacts.carrying[n])
        for i in range(int(carrying.count)):
            point = packed_of(contacts, p)
            if back:
                point[LOAD] = carrying.load[i]
            else:
                carrying.load[i] = point[LOAD]
            for side in range(2):
                place, home = int(point[ONE + side]), contacts.home[n, side]
                if place != NOBODY:
                    motion, moved = contacts.swept[place // 2, place % 2], contacts.moved[home // 2, home % 2]
                    for c in range(6):
                        if back:
                            motion[c] = moved[c]
                        else:
                            moved[c] = motion[c]
            p += 1


@kernel
def load_packed(contacts: View, point: Array, more: float) -> None:
    """An impulse at a point moves both bodies."""
    for side in range(2):
        place = int(point[ONE + side])
        if place != NOBODY:
            motion, at = contacts.swept[place // 2, place % 2], REPLY + 6 * side
            a, b, c = motion[0] + more * point[at], motion[1] + more * point[at + 1], motion[2] + more * point[at + 2]
            d, e, f = (
                motion[3] + more * point[at + 3],
                motion[4] + more * point[at + 4],
                motion[5] + more * point[at + 5],
            )
            motion[0], motion[1], motion[2], motion[3], motion[4], motion[5] = a, b, c, d, e, f


@kernel
def parts_packed(contacts: View, point: Array) -> float:
    """How fast a point parts, beyond what is to be."""
    found: float = point[GOES]
    for side in range(2):
        place = int(point[ONE + side])
        if place != NOBODY:
            motion = contacts.swept[place // 2, place % 2]
            for c in range(6):
                found += point[LINE + 6 * side + c] * motion[c]
    return found


@kernel(written_out=False)
def sweep_packed(contacts: View, count: int, compliance: float) -> float:
    """To and fro, each point in turn; by how much that has changed how fast one parts."""
    change = 0.0
    for j in range(2 * count):
        point = packed_of(contacts, j if j < count else 2 * count - 1 - j)
        answer = point[ANSWER]
        if not answer > 0.0:
            continue
        left = parts_packed(contacts, point) + compliance * answer * (point[LOAD] - point[BEFORE])
        more = max(point[LOAD] - left / ((1.0 + compliance) * answer), 0.0) - point[LOAD]
        if more != 0.0:
            point[LOAD] += more
            change = max(change, abs(more) * answer)
            load_packed(contacts, point, more)
    return change


@kernel(written_out=False)
def size_packed(contacts: View, count: int) -> float:
    """How much the last sweeps have changed, as an energy."""
    size = 0.0
    for p in range(count):
        point = packed_of(contacts, p)
        more = point[LOAD] - point[WAS]
        size += point[ANSWER] * more * more
    return size


@kernel(written_out=False)
def go_on_packed(contacts: View, count: int, share: float) -> None:
    """On along what the sweeps before have changed, by a share; and note what these have."""
    for p in range(count):
        point = packed_of(contacts, p)
        step = point[LOAD] - point[WAS]
        more = share * point[CONJUGATE]
        point[CONJUGATE] = step + more
        point[LOAD] += more
        point[WAS] = point[LOAD]
        if more != 0.0:
            load_packed(contacts, point, more)
