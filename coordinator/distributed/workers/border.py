"""What passes between two workers: the states of the elements that a joint across reads, and at times a little more.

A border lists those elements, and holds one frame for each thing that is said of them, so that loops fill frames and take them
in, and nothing is put together in Python. Per element and tick a frame has its place and its rate: 48 bytes in space.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modular.elements import MODES, Array, Indices
from modular.loop import FINE, loop
from modular.table import Table
from modular.views import View

STATE, RATE, ANSWER, FREE, BOUND, NOTHING = "state", "rate", "answer", "free", "bound", ""
SAID_BY = {
    "predict": STATE, "foresee": STATE, "go_on": STATE, "show": STATE, "respond": ANSWER,
    "respond_predicted": ANSWER, "respond_freely": FREE,
    "tighten": BOUND,
}  # fmt: skip  # what has to be said to neighbours once all bodies have done so


class Border(Table):
    """Elements at one side of the border to one neighbour, one row each; the neighbour has the same rows in the same order."""

    element: Indices
    foreseen: Indices  # 1 where forces read v + dt a as its rate, 0 where joints read the predicted one
    state: Array  # place and rate, (n, 2, d)
    rate: Array  # corrected rate, for alarms that watch ledgers at every tick, (n, d)
    answer: Array  # how its body answers forces, B, (n, d, motions)
    free: Array  # the same without internal constraints, (n, d, 12)
    bound: Array  # what its body answers to what is asked of it

    pointing = ("element",)

    def __init__(self, elements: Any, foreseen: Any, dimension: int, motions: int) -> None:
        super().__init__(len(elements))
        for name in ("element", "foreseen"):
            self.column(name, dtype="int64")
        self.column("state", 2, dimension)
        self.column("rate", dimension)
        self.column("answer", dimension, motions)
        self.column("free", dimension, max(MODES, motions))
        self.column("bound")
        self.element[:], self.foreseen[:] = elements, foreseen
        self.more: dict[
            str, Array
        ] = {}  # frames of which others know what they hold (coordinator/couplings/interface/talking.py)
        self.loops = {
            "tell state": tell_state_loop, "hear state": hear_state_loop, "tell rate": tell_rate_loop,
            "hear rate": hear_rate_loop, "tell answer": tell_answer_loop, "hear answer": hear_answer_loop,
            "tell free": tell_free_loop, "hear free": hear_free_loop, "tell bound": tell_bound_loop,
            "hear bound": hear_bound_loop,
        }  # fmt: skip

    def recall(self, details: Mapping[str, Any]) -> None:
        """One that was told of has no other frames yet."""
        self.more = {}

    def frame(self, kind: str) -> Array:
        """What is said, or heard."""
        frame: Array = self.more[kind] if kind in self.more else getattr(self, kind)
        return frame


@loop
def tell_state_loop(start: int, stop: int, border: View, elements: View) -> int:
    """Place and rate of every element."""
    for n in range(start, stop):
        k = border.element[n]
        for c in range(border.state.shape[1]):
            border.state[n, 0, c] = elements.position[k, c]
            rate = elements.current_velocity[k, c] if border.foreseen[n] == 1 else elements.velocity[k, c]
            border.state[n, 1, c] = rate
    return FINE


@loop
def hear_state_loop(start: int, stop: int, border: View, elements: View) -> int:
    """Place and rate of every element, where its joint looks for them."""
    for n in range(start, stop):
        k = border.element[n]
        for c in range(border.state.shape[1]):
            elements.position[k, c] = border.state[n, 0, c]
            if border.foreseen[n] == 1:
                elements.current_velocity[k, c] = border.state[n, 1, c]
            else:
                elements.velocity[k, c] = border.state[n, 1, c]
    return FINE


@loop
def tell_rate_loop(start: int, stop: int, border: View, elements: View) -> int:
    """Corrected rate of every element."""
    for n in range(start, stop):
        for c in range(border.rate.shape[0]):
            border.rate[n, c] = elements.velocity[border.element[n], c]
    return FINE


@loop
def hear_rate_loop(start: int, stop: int, border: View, elements: View) -> int:
    """Corrected rate of every element."""
    for n in range(start, stop):
        for c in range(border.rate.shape[0]):
            elements.velocity[border.element[n], c] = border.rate[n, c]
    return FINE


@loop
def tell_answer_loop(start: int, stop: int, border: View, elements: View) -> int:
    """B of every element."""
    for n in range(start, stop):
        for c in range(border.answer.shape[0]):
            for i in range(border.answer.shape[1]):
                border.answer[n, c, i] = elements.response[border.element[n], c, i]
    return FINE


@loop
def hear_answer_loop(start: int, stop: int, border: View, elements: View) -> int:
    """B of every element."""
    for n in range(start, stop):
        for c in range(border.answer.shape[0]):
            for i in range(border.answer.shape[1]):
                elements.response[border.element[n], c, i] = border.answer[n, c, i]
    return FINE


@loop
def tell_free_loop(start: int, stop: int, border: View, elements: View) -> int:
    """B of every element, as if its body had no internal constraints."""
    for n in range(start, stop):
        for c in range(border.free.shape[0]):
            for i in range(border.free.shape[1]):
                border.free[n, c, i] = elements.response[border.element[n], c, i]
    return FINE


@loop
def hear_free_loop(start: int, stop: int, border: View, elements: View) -> int:
    """B of every element, as if its body had no internal constraints."""
    for n in range(start, stop):
        for c in range(border.free.shape[0]):
            for i in range(border.free.shape[1]):
                elements.response[border.element[n], c, i] = border.free[n, c, i]
    return FINE


@loop
def tell_bound_loop(start: int, stop: int, border: View, elements: View) -> int:
    """The bound of the body behind every element."""
    for n in range(start, stop):
        border.bound[n] = elements.bound[border.element[n]]
    return FINE


@loop
def hear_bound_loop(start: int, stop: int, border: View, elements: View) -> int:
    """The bound of the body behind every element."""
    for n in range(start, stop):
        elements.bound[border.element[n]] = border.bound[n]
    return FINE
