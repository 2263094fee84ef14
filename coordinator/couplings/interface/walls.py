"""Even stages where a wall is near: what begins within a stage needs it to go forwards, and all stages to be equally long.

A composition of higher order goes back in time in some of its stages, and a wall that is touched there is touched in an order that
never was. So a macro step in which a wall may be touched, or was a little earlier, is taken in as many stages of equal length:
of order two, with the step dt / stages, and the wall counts them as its ticks (components/forces/bounces.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coordinator.couplings.compositions import LIMITS, order_of
from coordinator.couplings.interface.members import Rows
from coordinator.couplings.interface.playing import largest_of_all, play
from coordinator.couplings.interface.verbs import LOOK_AHEAD
from modular.force import TakesEvenStages
from modular.kernel import kernel
from modular.views import View


def tell_stages(forces: Iterable[Rows], stages: Sequence[float]) -> bool:
    """Tell walls into how many stages a step goes, and how much of it they may ask; whether there are several, and any walls."""
    walls = [stack for stack, _ in forces if isinstance(stack, TakesEvenStages)]
    for stack in walls:
        # margins of such steps are asked for 2 / LIMITS of them (`Glued.margins`); a wall demands of its stages alone
        stack.set_stages(1.0 / len(stages), 0.5 * LIMITS[order_of(stages)] / len(stages))
    return len(stages) > 1 and bool(walls)


@kernel
def walls_are_near(interface: View) -> bool:
    """Whether a wall may be touched in this step, or what one of them did lately goes on; of any worker."""
    near = 0.0
    if interface.watches_walls == 1:
        near, _ = largest_of_all(interface, 1.0 if play(interface, LOOK_AHEAD) >= 0 else 0.0, 0.0)
    return near > 0.0
