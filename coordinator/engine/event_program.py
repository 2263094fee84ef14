"""Programs of events: operations made ready to be played over any region.

What an event plays is the same from event to event, only the rows differ. So loops and sheets are looked up once for the
stacks that take part, and every region brings its own rows. Whatever is compiled is played by one call; what is Python has its
turn in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.engine.program import ARGUMENTS
from modular.elements import ASKING, Indices
from modular.kernel import kernel
from modular.loop import call
from modular.table import Table

if TYPE_CHECKING:
    from coordinator.engine.region import Region

ADDRESS, SHEET, START, STOP = range(4)  # columns of a batch: a loop, its stack, and where a region says on which rows
EventOperation = (
    tuple[Any, ...] | Callable[["Region"], None]
)  # a stack and a verb, perhaps for whom; or what is done in Python
Batch = Indices | Callable[["Region"], None]


class EventProgram:
    """Batches of compiled operations, and between them what is Python."""

    def __init__(self, region: Region, operations: Sequence[EventOperation]) -> None:
        self._folding: dict[int, Table] = {}  # tables with columns that are there only while stiffness is being chosen
        self.batches: list[Batch] = []
        waiting: list[tuple[int, int, int, int]] = []

        def flush() -> None:
            if waiting:
                self.batches.append(np.array(waiting, np.int64))
                waiting.clear()

        for operation in operations:
            if not callable(operation):
                stack, verb = operation[:2]
                if verb in ASKING:
                    self._folding |= {
                        id(table): table for table in (region.elements, stack) if isinstance(table, Table)
                    }
                if region.compiles(stack, verb):
                    address = stack.loops[verb].address(stack, region.elements)
                    waiting.append((address, stack.sheet, *region.group(*operation)))
                    continue
            flush()
            if callable(operation):
                self.batches.append(operation)
            elif getattr(operation[0], "by_rows", False) and (
                operation[1] != "reevaluate" or region.restricted or region.everything
            ):
                self.batches.append(_by_rows(operation[0], operation[1], region.group(*operation)))
            else:
                self.batches.append(_by_method(*operation[:2]))
        flush()

    def play(self, region: Region) -> None:
        """Play it on the rows of a region."""
        elements = region.elements
        for table in self._folding.values():
            table.prepare("request_load")
        for batch in self.batches:
            if isinstance(batch, np.ndarray):
                play_over(batch, region.layout, elements.sheet)
            else:
                batch(region)


def _by_method(stack: Any, verb: str) -> Callable[[Region], None]:
    """An operation for which a stack has no loop: its method knows no rows, or the names of bodies."""

    def act(region: Region) -> None:
        elements = region.elements
        if verb == "reevaluate":
            stack.reevaluate(elements, region.names)
        else:
            getattr(stack, verb)(elements, *([float(elements.clock[ARGUMENTS[verb]])] if verb in ARGUMENTS else []))

    return act


def _by_rows(stack: Any, verb: str, group: tuple[int, int]) -> Callable[[Region], None]:
    """An operation of a stack that is compiled elsewhere: `play_rows` takes ranges of rows."""

    def act(region: Region) -> None:
        first, last = (region.layout[place] for place in group)
        rows = region.layout[first:last].reshape(-1, 2)
        if len(rows):
            stack.play_rows(verb, region.elements, rows)

    return act


@kernel
def play_over(batch: Indices, layout: Indices, elements: int) -> None:
    """Play loops over the rows of a region (`Region.layout`)."""
    for k in range(batch.shape[0]):
        for at in range(layout[batch[k, START]], layout[batch[k, STOP]], 2):
            call(batch[k, ADDRESS], layout[at], layout[at + 1], batch[k, SHEET], elements)
