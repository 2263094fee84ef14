"""The score of a tick: who does what, in order.

A coupling writes it down as pairs of a stack and the name of what the stack does. Stacks that are compiled have a loop of
that name; others have a method. `perform` plays a score once; the engine (coordinator/engine) plays one that is all loops
for thousands of ticks without coming back. Both call the same machine code.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from modular.elements import GAIN_STEP, STEP, TIME, Elements
from modular.table import Table

Part = tuple[Any, str]
ARGUMENTS = {
    "predict": STEP,
    "correct": STEP,
    "account": STEP,
    "exert": TIME,
    "ask": GAIN_STEP,
}  # what methods are told


def compiled(part: Part) -> bool:
    """Whether a part is a loop."""
    stack, verb = part
    return isinstance(stack, Table) and verb in stack.loops


def perform(elements: Elements, parts: Iterable[Part]) -> str | None:
    """Play parts one after the other; the name of a body that went wrong, if any."""
    wrong = None
    for stack, verb in parts:
        if compiled((stack, verb)):
            row = stack.play(verb, elements)
            if row >= 0:
                wrong = stack.names[row]
            continue
        told = [float(elements.clock[ARGUMENTS[verb]])] if verb in ARGUMENTS else []
        answer = getattr(stack, verb)(elements, *told)
        wrong = answer if isinstance(answer, str) else wrong
    return wrong
