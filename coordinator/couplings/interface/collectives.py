"""Collective exchanges of workers in the middle of a glued step, where each of them moves a part.

Everybody sends all others the same (an all-gather): how the elements at its borders stand, or answer, and what its own joints
show to the interface. Joints that go across a border are worked out by all. So all have the same numbers of all joints, take
the same decisions, and come to the same bits.

A frame begins with a flag. Where a part has gone wrong all others know, as they would in one process; where its numbers are none
(NOT_HERE) nobody can go on, and the tick is left to those who have the whole.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from coordinator.couplings.interface.fields import ASKED, numbers_at
from coordinator.couplings.interface.members import (
    MATRICES,
    InterfaceJoint,
    InterfaceJoints,
    span,
)
from coordinator.couplings.interface.verbs import AS_LOOP
from coordinator.system import System
from modular.elements import Array, Elements, Indices
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.memory import copy_bytes
from modular.table import Table
from modular.views import View

# kinds of exchanges: where all stand after a drift and what is open there, velocities and what moves against joints, …
PLACES, RATES, ANSWERS, AHEAD, LOOKED, RECKONED, LARGEST, SUMMANDS, SUMS = (
    "places", "rates", "answers", "answers ahead", "looked at", "reckoned", "most", "summands", "sums",
)  # fmt: skip
SENT_COLUMNS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    PLACES: (("position", "velocity", "velocity_before"), ("error",)),
    RATES: (("position", "velocity"), ("rate",)),
    ANSWERS: (("response",), MATRICES[:2]),
    AHEAD: (("response",), MATRICES[2:]),
    LOOKED: ((), ("rate",)),
    RECKONED: (("velocity",), ("rate",)),
    LARGEST: ((), ()),
    SUMMANDS: ((), ()),
    SUMS: ((), ()),
}  # of elements at a border, and of joints where everybody knows all of them
ADDED_UP = (SUMMANDS, SUMS)  # where nobody knows the joints of all others
IN_ORDER, ASTRAY, NOT_HERE = range(3)  # flags
MAX_EXCHANGES_PER_TICK = 60_000  # exchanges in one tick, at most: frames count them in sixteen bits
BYTES_PER_NUMBER = 8  # of a number
COUNTS = (
    "size",
    "sent_count",
    "received_count",
    "shown_count",
    "other_count",
)  # of the frame, of what is copied, of frames received
NOTES = ("wrong", "lost", "most")  # shared with the interface
FROM, TO, LENGTH = range(3)  # columns of what is copied: addresses, and bytes


class Exchange(Table):
    """All exchanges of one kind: which numbers go out, and where those belong that come in."""

    sent: Indices
    received: Indices
    others: Indices  # where the frames of the others lie

    def __init__(self, kind: str, frame: Array, others: Sequence[Array], interface: Any) -> None:
        """`frame`: what is sent, with the flag first; `others`: what they have sent; `interface`: of the joints."""
        super().__init__(1)
        self.kind, self.frames = kind, list(others)
        for name, width in (("sent", 3), ("received", 3), ("others", 0)):
            self.common(name, *([width] if width else []), dtype=np.int64)
        for name in COUNTS:
            self.fixed(name, dtype=np.int64)
        self.stretch("frame")
        self.lay("frame", frame)
        for name in NOTES:
            shared = getattr(interface, name)
            self.fixed(name, *shared.shape)
            self.lay(name, shared)
        self._place("others", np.array([other.ctypes.data for other in others], np.int64))
        self.size, self.other_count = len(frame), len(others)
        receive = receive_largest_loop if kind == LARGEST else receive_loop
        self.loops = {"send": send_loop, "receive": receive, "show": show_loop}

    def take(self, sent: Sequence[tuple[int, int, int]], received: Sequence[tuple[int, int, int]], shown: int) -> None:
        """What is copied; `shown`: how much of what is received are elements."""
        for name, rows in (("sent", sent), ("received", received)):
            self._place(name, np.array(rows, np.int64).reshape(-1, 3))
        self.sent_count, self.received_count, self.shown_count = len(sent), len(received), shown


class Collectives:
    """One worker's side of all exchanges. `pause` is called where frames of others have to come; it says whether they did."""

    def __init__(
        self, system: System, interface_joints: InterfaceJoints, resolved: Sequence[InterfaceJoint], outgoing: Mapping[int, Any],
        incoming: Mapping[int, Any], interface: Any, bodies: Mapping[Any, int],
    ) -> None:  # fmt: skip
        """`resolved`: the joints where they lie here; `interface`: of them; `bodies`: in which order."""
        self.pause: Callable[[str], bool] = lambda kind: False
        self._interface = interface
        self.exchanged = self._before = 0  # exchanges, in all and before this tick
        self._functions: list[Any] = []  # they must live as long as their addresses are known
        me = interface_joints.settings["me"]
        everybody = [me, *incoming]
        elements = {who: halo.element[: halo.count].tolist() for who, halo in incoming.items()}
        elements[me] = next((halo.element[: halo.count].tolist() for halo in outgoing.values()), [])
        joints: dict[int, list[InterfaceJoint]] = {who: [] for who in everybody}
        for joint in [] if interface_joints.apart else resolved:
            joints.get(int(interface_joints.sender[joint.index]), []).append(joint)
        self.exchanges: dict[str, Exchange] = {}
        motions = system.elements.motions
        for kind, (of_elements, of_joints) in SENT_COLUMNS.items():
            first = {who: _joined(_of_elements(system.elements, elements[who], of_elements)) for who in everybody}
            then = {who: _of_joints(joints[who], of_joints, motions) for who in everybody}
            if kind == LARGEST:
                then = {who: [(interface.most.ctypes.data, ASKED)] for who in everybody}
            elif kind in ADDED_UP and interface_joints.apart:
                summands, sums = interface.summands.ctypes.data, interface.body_sums.ctypes.data
                then = {
                    who: [(summands + BYTES_PER_NUMBER * k, 1) for k in interface_joints.indices(who)]
                    for who in everybody
                }
                if kind == SUMS:
                    for who in everybody:
                        places = [
                            sums + BYTES_PER_NUMBER * motions * bodies[body]
                            for body in interface_joints.at_borders(who)
                        ]
                        then[who] += [(place, motions) for place in places]
            then = {who: _joined(pieces) for who, pieces in then.items()}
            sizes = {who: 1 + sum(count for _, count in first[who] + then[who]) for who in everybody}
            frames = {who: np.zeros(sizes[who]) for who in everybody}
            for who, halo in incoming.items():
                halo.extra_frames[kind] = frames[who]
            for halo in outgoing.values():
                halo.extra_frames[kind] = frames[me]
            exchange = self.exchanges[kind] = Exchange(kind, frames[me], [frames[who] for who in incoming], interface)
            copies = {who: _copies(first[who] + then[who], frames[who]) for who in everybody}
            shown = [(b, a, size) for who in incoming for a, b, size in copies[who][: len(first[who])]]
            rest = [(b, a, size) for who in incoming for a, b, size in copies[who][len(first[who]) :]]
            exchange.take(copies[me], [*shown, *rest], len(shown))

    def begin(self) -> None:
        """Before a tick, or another part of it."""
        self._interface.wrong, self._interface.lost = -1.0, 0.0
        self._before = self.exchanged

    @property
    def lost(self) -> bool:
        """Whether the tick has to be left to others."""
        return bool(self._interface.lost)

    def address(self, kind: str) -> int:
        """Of a function that lets our frame be sent, and waits until those of the others have come."""

        def act(result: Any, *_: Any) -> int:
            result[0] = NO_FAILED_ROW
            self.exchanged += 1
            if not self.lost and (self.exchanged - self._before > MAX_EXCHANGES_PER_TICK or not self.pause(kind)):
                self._interface.lost = 1.0
            return 0

        self._functions.append(AS_LOOP(act))
        return int(ctypes.cast(self._functions[-1], ctypes.c_void_p).value or 0)


def _of_elements(elements: Elements, rows: Sequence[int], columns: Sequence[str]) -> list[tuple[int, int]]:
    """Where the numbers of elements lie, and how many they are; of what they answer the motions that count."""
    found = []
    for row in rows:
        for name in columns:
            array = getattr(elements, name)
            if array.ndim == 2:
                found.append((_at(array, row), array.shape[1]))
            else:
                found += [(_at(array[row], c), elements.motions) for c in range(array.shape[1])]
    return found


def _of_joints(joints: Sequence[InterfaceJoint], columns: Sequence[str], motions: int) -> list[tuple[int, int]]:
    """Where the numbers of joints lie, and how many they are."""
    return [(joint.at(name), span(name, joint.rows, motions)[1]) for joint in joints for name in columns]


def _at(array: Any, row: int) -> int:
    return int(array.ctypes.data + row * array.strides[0])


def _copies(pieces: Sequence[tuple[int, int]], frame: Array) -> list[tuple[int, int, int]]:
    """Pieces into a frame, one after the other, behind its flag."""
    found: list[tuple[int, int, int]] = []
    place = frame.ctypes.data + BYTES_PER_NUMBER
    for address, count in pieces:
        found.append((address, place, BYTES_PER_NUMBER * count))
        place += BYTES_PER_NUMBER * count
    return found


def _joined(pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pieces that lie side by side are one."""
    found: list[tuple[int, int]] = []
    for address, count in pieces:
        if found and found[-1][0] + BYTES_PER_NUMBER * found[-1][1] == address:
            address, count = found[-1][0], found.pop()[1] + count
        found.append((address, count))
    return found


@loop
def send_loop(start: int, stop: int, exchange: View, elements: View) -> int:
    """Fill the frame, and say whether what is in it can be used."""
    frame = exchange.frame
    if exchange.lost > 0.0:
        return NO_FAILED_ROW
    for k in range(exchange.sent_count):
        copy_bytes(exchange.sent[k, TO], exchange.sent[k, FROM], exchange.sent[k, LENGTH])
    frame[0] = 0.0
    sound = 0.0
    for i in range(exchange.size):
        sound += 0.0 * frame[i]
    if sound != 0.0:
        for i in range(exchange.size):
            frame[i] = 0.0
        frame[0] = NOT_HERE
    elif exchange.wrong >= 0.0:
        frame[0] = ASTRAY
    return NO_FAILED_ROW


@kernel
def worst_of(exchange: View) -> int:
    """0 where somebody has gone wrong, or nothing can be sent any more; or -1."""
    worst = exchange.frame[0]
    for j in range(exchange.other_count):
        worst = max(worst, numbers_at(exchange.others[j])[0])
    if worst >= NOT_HERE:
        exchange.lost = 1.0
    return 0 if worst > 0.0 else NO_FAILED_ROW


@loop
def receive_loop(start: int, stop: int, exchange: View, elements: View) -> int:
    """Put what the others have sent where it belongs; 0 where one of them has gone wrong, or -1."""
    if exchange.lost > 0.0:
        return 0
    for k in range(exchange.received_count):
        copy_bytes(exchange.received[k, TO], exchange.received[k, FROM], exchange.received[k, LENGTH])
    return worst_of(exchange)


@loop
def receive_largest_loop(start: int, stop: int, exchange: View, elements: View) -> int:
    """The largest that anybody has; 0 where one of them has gone wrong, or -1."""
    if exchange.lost > 0.0:
        return 0
    for j in range(exchange.other_count):
        said = numbers_at(exchange.others[j])
        for i in range(ASKED):
            exchange.most[i] = max(exchange.most[i], said[1 + i])
    return worst_of(exchange)


@loop
def show_loop(start: int, stop: int, exchange: View, elements: View) -> int:
    """Elements of the others stand again as they did by what was received last."""
    for k in range(exchange.shown_count):
        copy_bytes(exchange.received[k, TO], exchange.received[k, FROM], exchange.received[k, LENGTH])
    return NO_FAILED_ROW
