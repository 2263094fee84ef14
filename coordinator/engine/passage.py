"""A passage: parts of a score made ready to be played over any region.

What an event plays is the same from event to event, only the rows differ. So loops and sheets are looked up once for the
stacks that take part, and every region brings its own rows. Whatever is compiled is played by one call; what is Python has its
turn in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.engine.score import ARGUMENTS
from modular.elements import ASKING, Indices
from modular.kernel import kernel
from modular.loop import call
from modular.table import Table

if TYPE_CHECKING:
    from coordinator.engine.region import Region

ADDRESS, SHEET, START, STOP = range(4)  # columns of a piece: a loop, its stack, and where a region says on which rows
Step = tuple[Any, ...] | Callable[["Region"], None]  # a stack and a verb, perhaps for whom; or what is done in Python
Piece = Indices | Callable[["Region"], None]


class Passage:
    """Compiled pieces, and between them what is Python."""

    def __init__(self, region: Region, steps: Sequence[Step]) -> None:
        self._asked: dict[int, Table] = {}  # tables with columns that are there only while stiffness is being chosen
        self.pieces: list[Piece] = []
        waiting: list[tuple[int, int, int, int]] = []

        def gather() -> None:
            if waiting:
                self.pieces.append(np.array(waiting, np.int64))
                waiting.clear()

        for step in steps:
            if not callable(step):
                stack, verb = step[:2]
                if verb in ASKING:
                    self._asked |= {id(table): table for table in (region.elements, stack) if isinstance(table, Table)}
                if region.compiles(stack, verb):
                    address = stack.loops[verb].address(stack, region.elements)
                    waiting.append((address, stack.sheet, *region.group(*step)))
                    continue
            gather()
            if callable(step):
                self.pieces.append(step)
            elif getattr(step[0], "by_rows", False) and (step[1] != "reevaluate" or region.local or region.everything):
                self.pieces.append(_by_rows(step[0], step[1], region.group(*step)))
            else:
                self.pieces.append(_by_method(*step[:2]))
        gather()

    def play(self, region: Region) -> None:
        """Play it on the rows of a region."""
        elements = region.elements
        for table in self._asked.values():
            table.prepare("ask")
        for piece in self.pieces:
            if isinstance(piece, np.ndarray):
                play_over(piece, region.layout, elements.sheet)
            else:
                piece(region)


def _by_method(stack: Any, verb: str) -> Callable[[Region], None]:
    """A part of a stack that has no loop for it: its method knows no rows, or the names of bodies."""

    def act(region: Region) -> None:
        elements = region.elements
        if verb == "reevaluate":
            stack.reevaluate(elements, region.names)
        else:
            getattr(stack, verb)(elements, *([float(elements.clock[ARGUMENTS[verb]])] if verb in ARGUMENTS else []))

    return act


def _by_rows(stack: Any, verb: str, group: tuple[int, int]) -> Callable[[Region], None]:
    """A part of a stack that is compiled elsewhere: `play_rows` takes stretches of rows."""

    def act(region: Region) -> None:
        first, last = (region.layout[place] for place in group)
        rows = region.layout[first:last].reshape(-1, 2)
        if len(rows):
            stack.play_rows(verb, region.elements, rows)

    return act


@kernel
def play_over(piece: Indices, layout: Indices, elements: int) -> None:
    """Play loops over the rows of a region (`Region.layout`)."""
    for k in range(piece.shape[0]):
        for at in range(layout[piece[k, START]], layout[piece[k, STOP]], 2):
            call(piece[k, ADDRESS], layout[at], layout[at + 1], piece[k, SHEET], elements)
