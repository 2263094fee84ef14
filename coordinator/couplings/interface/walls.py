"""Even stages where a wall is near: what begins within a stage needs it to go forwards, and all stages to be equally long.

A composition of higher order goes back in time in some of its stages, and a wall that is touched there is touched in an order that
never was. So a macro step in which a wall may be touched, or was a little earlier, is taken in as many stages of equal length:
of order two, with the step dt / stages, and the wall counts them as its ticks (components/forces/bounces.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from coordinator.couplings.compositions import LIMITS, order_of
from coordinator.couplings.interface.members import Rows
from coordinator.couplings.interface.playing import of_all, play
from coordinator.couplings.interface.verbs import LOOK_AHEAD
from modular.kernel import kernel
from modular.views import View


def tell_stages(forces: Iterable[Rows], stages: Sequence[float]) -> bool:
    """Tell walls into how many stages a step goes, and how much of it they may ask; whether there are several, and any walls."""
    walls: list[Any] = [stack for stack, _ in forces if hasattr(stack, "set_stages")]
    for stack in walls:
        # margins of such steps are asked for 2 / LIMITS of them (`Glued.margins`); a wall demands of its stages alone
        stack.set_stages(1.0 / len(stages), 0.5 * LIMITS[order_of(stages)] / len(stages))
    return len(stages) > 1 and bool(walls)


@kernel
def walls_are_near(interface: View) -> bool:
    """Whether a wall may be touched in this step, or what one of them did lately goes on."""
    if interface.watches_walls == 0:
        return False
    return of_all(interface, 1.0 if play(interface, LOOK_AHEAD) >= 0 else 0.0) > 0.0  # type: ignore[no-any-return]
