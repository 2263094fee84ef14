"""The work of forces on a body that turns or bends as it flies between two kicks.

Ledgers take the mean of the velocities before and now (modular/ledger.py). A force works while it kicks; what the flight changes
after it, as what turns or is elastic gives and takes, is none of its work. So before a flight stands what makes the mean that
of the kick: (before + kicked - flown + flown) / 2. Booked from before to flown, a weld at the end of a beam of light
pieces leaked h R^2 / 4 m in a second, m the mass of the last piece: first order, and the more the finer the beam.
"""

from __future__ import annotations

from modular.kernel import kernel
from modular.views import View


@kernel
def exclude_flight(bodies: View, elements: View, n: int, share: float) -> None:
    """Velocities of elements before, and a share of those now: 1 after the kick, -1 after the flight."""
    for k in range(bodies.numbers[n]):
        element = bodies.attached[n, k]
        for c in range(elements.velocity.shape[0]):
            elements.velocity_before[element, c] += share * elements.velocity[element, c]
