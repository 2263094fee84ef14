"""What passes between two workers: the states of the elements that a joint across reads, and at times a little more.

A halo lists those elements, and holds one frame for each thing that is said of them, so that loops fill frames and take them
in, and nothing is put together in Python. Per element and tick a frame has its place and its rate: 48 bytes in space.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modular.elements import MODES, Array, Indices
from modular.loop import NO_FAILED_ROW, loop
from modular.table import Table
from modular.views import View

STATE, RATE, ANSWER, FREE, BOUND, NO_CONTENT = "state", "rate", "answer", "free", "bound", ""
SENT_AFTER = {
    "predict": STATE, "show_end_velocity": STATE, "correct_and_predict": STATE, "show": STATE, "respond": ANSWER,
    "respond_predicted": ANSWER, "respond_freely": FREE,
    "bound_demands": BOUND,
}  # fmt: skip  # what has to be said to neighbours once all bodies have done so


class Halo(Table):
    """Elements at one side of the boundary to one neighbour, one row each; the neighbour has the same rows in the same order."""

    element: Indices
    reads_end_velocity: Indices  # 1 where forces read v + dt a as its rate, 0 where joints read the predicted one
    state: Array  # place and rate, (n, 2, d)
    rate: Array  # corrected rate, for alarms that watch ledgers at every tick, (n, d)
    answer: Array  # how its body answers forces, B, (n, d, motions)
    free: Array  # the same without internal constraints, (n, d, 12)
    bound: Array  # what its body answers to what is asked of it

    pointing = ("element",)

    def __init__(self, elements: Any, reads_end_velocity: Any, dimension: int, motions: int) -> None:
        super().__init__(len(elements))
        for name in ("element", "reads_end_velocity"):
            self.column(name, dtype="int64")
        self.column("state", 2, dimension)
        self.column("rate", dimension)
        self.column("answer", dimension, motions)
        self.column("free", dimension, max(MODES, motions))
        self.column("bound")
        self.element[:], self.reads_end_velocity[:] = elements, reads_end_velocity
        self.extra_frames: dict[
            str, Array
        ] = {}  # frames of which others know what they hold (coordinator/couplings/interface/collectives.py)
        self.loops = {
            "pack state": pack_state_loop, "unpack state": unpack_state_loop, "pack rate": pack_rate_loop,
            "unpack rate": unpack_rate_loop, "pack answer": pack_answer_loop, "unpack answer": unpack_answer_loop,
            "pack free": pack_free_loop, "unpack free": unpack_free_loop, "pack bound": pack_bound_loop,
            "unpack bound": unpack_bound_loop,
        }  # fmt: skip

    def recall(self, details: Mapping[str, Any]) -> None:
        """One that was told of has no other frames yet."""
        self.extra_frames = {}

    def frame(self, kind: str) -> Array:
        """What is said, or heard."""
        frame: Array = self.extra_frames[kind] if kind in self.extra_frames else getattr(self, kind)
        return frame


@loop
def pack_state_loop(start: int, stop: int, halo: View, elements: View) -> int:
    """Place and rate of every element."""
    for n in range(start, stop):
        k = halo.element[n]
        for c in range(halo.state.shape[1]):
            halo.state[n, 0, c] = elements.position[k, c]
            rate = elements.current_velocity[k, c] if halo.reads_end_velocity[n] == 1 else elements.velocity[k, c]
            halo.state[n, 1, c] = rate
    return NO_FAILED_ROW


@loop
def unpack_state_loop(start: int, stop: int, halo: View, elements: View) -> int:
    """Place and rate of every element, where its joint looks for them."""
    for n in range(start, stop):
        k = halo.element[n]
        for c in range(halo.state.shape[1]):
            elements.position[k, c] = halo.state[n, 0, c]
            if halo.reads_end_velocity[n] == 1:
                elements.current_velocity[k, c] = halo.state[n, 1, c]
            else:
                elements.velocity[k, c] = halo.state[n, 1, c]
    return NO_FAILED_ROW


@loop
def pack_rate_loop(start: int, stop: int, halo: View, elements: View) -> int:
    """Corrected rate of every element."""
    for n in range(start, stop):
        for c in range(halo.rate.shape[0]):
            halo.rate[n, c] = elements.velocity[halo.element[n], c]
    return NO_FAILED_ROW


@loop
def unpack_rate_loop(start: int, stop: int, halo: View, elements: View) -> int:
    """Corrected rate of every element."""
    for n in range(start, stop):
        for c in range(halo.rate.shape[0]):
            elements.velocity[halo.element[n], c] = halo.rate[n, c]
    return NO_FAILED_ROW


@loop
def pack_answer_loop(start: int, stop: int, halo: View, elements: View) -> int:
    """B of every element."""
    for n in range(start, stop):
        for c in range(halo.answer.shape[0]):
            for i in range(halo.answer.shape[1]):
                halo.answer[n, c, i] = elements.response[halo.element[n], c, i]
    return NO_FAILED_ROW


@loop
def unpack_answer_loop(start: int, stop: int, halo: View, elements: View) -> int:
    """B of every element."""
    for n in range(start, stop):
        for c in range(halo.answer.shape[0]):
            for i in range(halo.answer.shape[1]):
                elements.response[halo.element[n], c, i] = halo.answer[n, c, i]
    return NO_FAILED_ROW


@loop
def pack_free_loop(start: int, stop: int, halo: View, elements: View) -> int:
    """B of every element, as if its body had no internal constraints."""
    for n in range(start, stop):
        for c in range(halo.free.shape[0]):
            for i in range(halo.free.shape[1]):
                halo.free[n, c, i] = elements.response[halo.element[n], c, i]
    return NO_FAILED_ROW


@loop
def unpack_free_loop(start: int, stop: int, halo: View, elements: View) -> int:
    """B of every element, as if its body had no internal constraints."""
    for n in range(start, stop):
        for c in range(halo.free.shape[0]):
            for i in range(halo.free.shape[1]):
                elements.response[halo.element[n], c, i] = halo.free[n, c, i]
    return NO_FAILED_ROW


@loop
def pack_bound_loop(start: int, stop: int, halo: View, elements: View) -> int:
    """The bound of the body behind every element."""
    for n in range(start, stop):
        halo.bound[n] = elements.bound[halo.element[n]]
    return NO_FAILED_ROW


@loop
def unpack_bound_loop(start: int, stop: int, halo: View, elements: View) -> int:
    """The bound of the body behind every element."""
    for n in range(start, stop):
        elements.bound[halo.element[n]] = halo.bound[n]
    return NO_FAILED_ROW
