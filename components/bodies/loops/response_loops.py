"""The two loops by which bodies answer a force on each of their elements, made from one kernel per kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from modular.loop import NO_FAILED_ROW, Loop, loop
from modular.views import View


def response_loops(module: str, respond_rows: Callable[..., Any]) -> tuple[Loop, Loop]:
    """Loops of `respond`, where bodies stand, and of `respond_predicted`, where forces act in a tick (`ahead`).

    Around `respond_rows(start, stop, bodies, elements, ahead)`; `module`: where they are found by name.
    """

    def respond_loop(start: int, stop: int, bodies: View, elements: View) -> int:
        respond_rows(start, stop, bodies, elements, False)
        return NO_FAILED_ROW

    def respond_predicted_loop(start: int, stop: int, bodies: View, elements: View) -> int:
        respond_rows(start, stop, bodies, elements, True)
        return NO_FAILED_ROW

    respond_loop.__module__ = respond_predicted_loop.__module__ = module
    return loop(respond_loop), loop(respond_predicted_loop)
