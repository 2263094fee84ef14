"""The pendulum of the thesis that changes its pivot whenever its free end reaches the x axis.

Séguy 2003, VI.3.2, Figures VI-17 and VI-18: a massless rod of 1 m with 1 kg at each end, end 1 pinned at the origin, end 2
above it at (0, 1). That is an unstable equilibrium, so it starts with -1 rad/s. The instants are located between ticks.

At the new pivot `law="momentum"` keeps the angular momentum about it, as an impulse there must: the rod stops.
`law="kinematic"` keeps the angular velocity, as Figure VI-18 shows; no force at the pivot does that.
"""

from __future__ import annotations

from components import PointMassRod, Revolute
from modular import Assembly, Crossing, Cut, Join

GROUP = "The thesis"


def build(law: str = "momentum", spin: float = -1.0) -> Assembly:
    """law: "momentum" or "kinematic"; spin: angular velocity at the start [rad/s]."""
    length, mass = 1.0, 1.0  # [m], [kg]
    pendulum = Assembly(gravity=(0.0, -9.81), title="switching-pendulum")
    rod = PointMassRod(
        start=(0.0, 0.0),
        end=(0.0, length),
        masses=(mass, mass),
        velocity=(-spin * length / 2, 0.0),  # of the mass centre, half way up
        angular_velocity=spin,
    )
    pendulum.add("rod", rod)
    pendulum.join("pin1", Revolute(), "ground", "rod.start")
    for old, new, port in (("pin1", "pin2", "rod.end"), ("pin2", "pin1", "rod.start")):
        pendulum.when(
            Crossing(port, "y", unless=new, band=1e-3),
            Cut(old),
            Join(new, Revolute(), "ground", port, law=law),
            repeats=True,
        )
    pendulum.suggested = {"dt": 1e-4, "until": 3.0}
    return pendulum
