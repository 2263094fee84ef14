"""Symmetric compositions: steps of order two, one after the other with weights that make the whole one of higher order.

E. Hairer, C. Lubich, G. Wanner, "Geometric Numerical Integration", 2nd ed., Springer 2006, V.3. Order 4: five stages of M. Suzuki,
Phys. Lett. A 146 (1990) 319-323. Orders 6 and 8: nine and seventeen stages of W. Kahan, R.-C. Li, Math. Comp. 66 (1997)
1089-1099. The three stages of H. Yoshida, Phys. Lett. A 150 (1990) 262-268, are fewer and far less accurate: its middle stage goes
back 1.7 steps.
"""

from __future__ import annotations

from collections.abc import Sequence

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


def order_of(weights: Sequence[float]) -> int:
    """That of a composition with so many stages."""
    return next(order for order in ORDERS if len(stages(order)) == len(weights))


def stages(order: int) -> tuple[float, ...]:
    """The weights of a composition of this order."""
    half = _HALVES[order]
    return (*half, 1.0 - 2.0 * sum(half), *reversed(half))
