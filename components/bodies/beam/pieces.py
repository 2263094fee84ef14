"""How mass and stiffness of a beam are shared among its nodes and the pieces between them: of fourth order in bending.

A piece between two nodes is to give way as the beam does between them. One point of integration sees the turning that its ends
have in the mean; what a shear force Q bends it beyond that, l^2 / 12 E I times Q, is added to what shears it (residual bending
flexibility: R. H. MacNeal, "A simple quadrilateral shell element", Comput. Struct. 8 (1978) 175-183). Loads at nodes then bend a
beam exactly. That a piece which bends to an arc is shorter is told in strain.py.

Nodes have masses of their own, so a sum over nodes is to be what an integral is along the beam: Gregory's rule, 1 within and 3/8,
7/6, 23/24 from each end on, of fourth order; of few pieces, where both ends overlap, it is Simpson's (B. Fornberg, "Improving the
accuracy of the trapezoidal rule", SIAM Rev. 63 (2021) 167-180).

A node within turns with its section alone; at an end, where joints hold on to it, with rho A l^3 / 48 more. As

    y'^2 = (y^2)'' / 2 - y y'',

that is taken out of the masses of the last three nodes again, exactly where the end is free, hinged or clamped, and of the beam
as a whole. Where an end hands on moments while it moves, y'' is not 0, and an error of third order is left.
"""

from __future__ import annotations

import numpy as np

from modular.elements import Array

GREGORY = np.array([-5.0, 4.0 / 3.0, -1.0 / 3.0]) / 8.0  # added to 1, from an end on
END_INERTIA = 1.0 / 48.0  # of rho A l^3, about axes across


def lengths(elements: int) -> Array:
    """How many pieces long the slices are of which nodes have the mass."""
    found = np.ones(elements + 1)
    if elements == 1:
        return 0.5 * found
    end = GREGORY - 0.5 * END_INERTIA * np.array([1.0, -2.0, 1.0])
    found[:3] += end
    found[-3:] += end[::-1]
    return found


def turned_with(elements: int) -> Array:
    """The inertia beyond that of their sections with which nodes turn about axes across, in rho A l^3."""
    found = np.zeros(elements + 1)
    found[[0, -1]] = END_INERTIA
    return found


def stiffness_of_pieces(stiffness: Array, spacing: float) -> Array:
    """EA, GA, EI or EA, GA, GA, GJ, EI, EI, with what shear bends in what it shears."""
    found = stiffness.copy()
    for shear, bending in ((1, 2),) if len(stiffness) == 3 else ((1, 5), (2, 4)):
        found[shear] = 1.0 / (1.0 / stiffness[shear] + spacing**2 / (12.0 * stiffness[bending]))
    return found
