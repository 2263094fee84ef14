"""How segments are played, and what all workers have to agree on where each moves a part."""

from __future__ import annotations

from typing import Any

from coordinator.couplings.interface.verbs import ADDRESS, COMPONENT, FROM, SHARE_LARGEST, TO, WHO
from modular.kernel import kernel
from modular.loop import call
from modular.views import View


@kernel(written_out=False)
def play(interface: View, which: int) -> int:
    """Play one segment; where the names of what went wrong last begin, or -1."""
    wrong = -1
    interface.wrong = -1.0
    for k in range(interface.segments[which, 0], interface.segments[which, 1]):
        found = call(
            interface.program[k, ADDRESS],
            interface.program[k, FROM],
            interface.program[k, TO],
            interface.program[k, COMPONENT],
            interface.elements_sheet,
        )
        if found >= 0:
            wrong = interface.program[k, WHO] + found
            interface.wrong = wrong
    return wrong


@kernel
def largest_of_all(interface: View, one: float, other: float) -> tuple[Any, Any]:
    """The largest of two numbers that every worker has, and of the spread beside; in one process, these."""
    interface.most[0], interface.most[1], interface.most[2] = one, other, interface.spread
    play(interface, SHARE_LARGEST)
    return interface.most[0], interface.most[1]


@kernel
def of_all(interface: View, one: float) -> Any:
    """The largest of a number, where joints of all others are not at hand."""
    if interface.in_parts == 1:
        one, _ = largest_of_all(interface, one, 0.0)
    return one
