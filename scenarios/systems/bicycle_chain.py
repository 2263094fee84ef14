"""A chain of 1 m with any number of links, of which all that is known is what each of them weighs.

Renaud and Dion 2024, "Programmer un logiciel multicorps en 2D", 10.3 (exercise 13), Figure 7: links of 0.01 kg and 1e-9 kg m^2
each, however many, G half way from P1 to P2, P2 of one hinged to P1 of the next, A = (2, 5) fixed; for 1.5 s. Coordinates are
(x, z), z upwards.

The text leaves three things to its Figure 7, which our copy of it does not show: that P1 of the first link is hinged to A, how
the chain lies at the start, and that it is at rest. Here it is straight and level; `angle` turns it up. The inertia is far below
that of a rod (3.3e-7 kg m^2 for a link of 2 cm): the mass sits in the middle of each link, within 0.3 mm, and a pull across a link
at its end meets 1e-5 kg. Under tension links then shake at a kilohertz and more: the motion is stiff without any spring.
"""

from __future__ import annotations

from math import cos, sin

from components import Revolute, RigidBody
from modular import Assembly, ModelError
from modular.numbers import number

GROUP = "Mechanisms"

GRAVITY = 9.81  # [m/s^2]


def build(links: int = 20, angle: float = 0.0) -> Assembly:
    """links: how many; angle: of the straight chain above the x axis at the start [rad]."""
    if links < 1 or int(links) != links:
        raise ModelError(f"bicycle-chain: links = {links}; give a whole number from 1 on.")
    angle = number(angle, "bicycle-chain: angle", "rad")
    pitch = 1.0 / links  # [m]
    x, z = 2.0, 5.0  # of A [m]
    along = (cos(angle), sin(angle))

    chain = Assembly(gravity=(0.0, -GRAVITY), title="bicycle-chain")
    for k in range(int(links)):
        along_it = (k * pitch, (k + 0.5) * pitch, (k + 1) * pitch)  # from A [m]
        start, centre, end = ((x + s * along[0], z + s * along[1]) for s in along_it)
        ports = {"G": centre, "P1": start, "P2": end}
        # natural coordinates at the ends: left to the inertia they stand 0.3 mm apart, and ends carry 30 times their rounding
        link = RigidBody(mass=0.01, inertia=1e-9, centre=centre, ports=ports, points=(start, end))
        chain.add(f"solid{k + 1}", link)
    chain.join("A", Revolute(), "ground", "solid1.P1")
    for k in range(1, int(links)):
        chain.join(f"pivot{k}", Revolute(), f"solid{k}.P2", f"solid{k + 1}.P1")
    chain.suggested = {"dt": 2e-5, "until": 1.5, "record_every": 50, "coupling": "glued"}
    return chain
