"""Symmetric compositions: steps of order two, one after the other with weights that make the whole one of higher order.

E. Hairer, C. Lubich, G. Wanner, "Geometric Numerical Integration", 2nd ed., Springer 2006, V.3. Order 4: five stages of M. Suzuki,
Phys. Lett. A 146 (1990) 319-323. Orders 6 and 8: nine and seventeen stages of W. Kahan, R.-C. Li, Math. Comp. 66 (1997)
1089-1099. The three stages of H. Yoshida, Phys. Lett. A 150 (1990) 262-268, are fewer and far less accurate: its middle stage goes
back 1.7 steps.

Even stages where a wall is near: what begins within a stage needs it to go forwards, and all stages to be equally long.

A composition of higher order goes back in time in some of its stages, and a wall that is touched there is touched in an order that
never was. So a macro step in which a wall may be touched, or was a little earlier, is taken in as many stages of equal length:
of order two, with the step dt / stages, and the wall counts them as its ticks (components/forces/bounces.py).

Of which order in the step a run can be: that of its coupling, or less, where forces begin, end or bend within ticks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from coordinator.couplings.coupling import Coupling
from coordinator.couplings.interface.members import Rows
from coordinator.couplings.interface.verbs import LOOK_AHEAD, largest_of_all, play
from modular.assembly import Assembly
from modular.events import Apply
from modular.force import Force, TakesEvenStages
from modular.kernel import kernel
from modular.tiles import kinds_of
from modular.views import View

_SUZUKI = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
_HALVES: dict[int, tuple[float, ...]] = {  # the weights up to the middle one, which makes their sum one
    2: (),
    4: (_SUZUKI, _SUZUKI),
    6: (0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981, 0.08221359629355080023),
    8: (
        0.13020248308889008088, 0.56116298177510838456, -0.38947496264484728641, 0.15884190655515560090,
        -0.39590389413323757734, 0.18453964097831570709, 0.25837438768632204729, 0.29501172360931029887,
    ),
}  # fmt: skip
ORDERS = tuple(_HALVES)
# omega dt below which an oscillator stays bounded, by the trace of all stages
LIMITS = {2: 2.0, 4: 2.7209, 6: 2.5326, 8: 3.0964}


def order_of_weights(weights: Sequence[float]) -> int:
    """That of a composition with so many stages."""
    return next(order for order in ORDERS if len(stages(order)) == len(weights))


def stages(order: int) -> tuple[float, ...]:
    """The weights of a composition of this order."""
    half = _HALVES[order]
    return (*half, 1.0 - 2.0 * sum(half), *reversed(half))


def tell_stages(forces: Iterable[Rows], stages: Sequence[float]) -> bool:
    """Tell walls into how many stages a step goes, and how much of it they may ask; whether there are several, and any walls."""
    walls = [stack for stack, _ in forces if isinstance(stack, TakesEvenStages)]
    for stack in walls:
        # margins of such steps are asked for 2 / LIMITS of them (`Glued.margins`); a wall demands of its stages alone
        stack.set_stages(1.0 / len(stages), 0.5 * LIMITS[order_of_weights(stages)] / len(stages))
    return len(stages) > 1 and bool(walls)


@kernel
def walls_are_near(interface: View) -> bool:
    """Whether a wall may be touched in this step, or what one of them did lately goes on; of any worker."""
    near = 0.0
    if interface.watches_walls == 1:
        near, _ = largest_of_all(interface, 1.0 if play(interface, LOOK_AHEAD) >= 0 else 0.0, 0.0)
    return near > 0.0


def order_of(coupling: Coupling, *models: Assembly) -> int | None:
    """The least of all; None where the coupling chooses steps of its own, which follow what happens within a tick."""
    declared = coupling.declared_order
    if declared is None:
        return None
    orders = (coupling.order_beside(force) for model in models for force in forces_of(model))
    return min([declared, *(order for order in orders if order is not None)])


def forces_of(model: Assembly) -> Iterator[Force]:
    """Those that act, and those that are to come."""
    yield from (edge.force for edge in kinds_of(model.force_edges))
    for scheduled in model.schedule:
        yield from (event.force for event in scheduled.events if isinstance(event, Apply))
