"""How segments are played, and what all workers have to agree on where each moves a part."""

from __future__ import annotations

from typing import Any

from coordinator.couplings.interface.verbs import ADDRESS, AGREE, FROM, TO, WHO, WHOSE
from modular.kernel import kernel
from modular.loop import call
from modular.views import View


@kernel(written_out=False)
def play(face: View, which: int) -> int:
    """Play one segment; where the names of what went wrong last begin, or -1."""
    wrong = -1
    face.wrong = -1.0
    for k in range(face.segments[which, 0], face.segments[which, 1]):
        found = call(
            face.program[k, ADDRESS],
            face.program[k, FROM],
            face.program[k, TO],
            face.program[k, WHOSE],
            face.elements_sheet,
        )
        if found >= 0:
            wrong = face.program[k, WHO] + found
            face.wrong = wrong
    return wrong


@kernel
def largest_of_all(face: View, one: float, other: float) -> tuple[Any, Any]:
    """The largest of two numbers that every worker has, and of the spread beside; in one process, these."""
    face.most[0], face.most[1], face.most[2] = one, other, face.spread
    play(face, AGREE)
    return face.most[0], face.most[1]


@kernel
def of_all(face: View, one: float) -> Any:
    """The largest of a number, where joints of all others are not at hand."""
    if face.in_parts == 1:
        one, _ = largest_of_all(face, one, 0.0)
    return one
