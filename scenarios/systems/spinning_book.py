"""A book thrown up with a spin about its axis of middle inertia: it turns over and over, as Euler's equations say.

The floating body of the course text "Systèmes multi-corps et paramétrage cartésien", whose equations by Lagrange and by Newton and
Euler are the same. `kind` tells by which coordinates it is described: "natural" or "newton-euler".
"""

from __future__ import annotations

from components import NewtonEulerBody, RigidBody
from modular import Assembly, ModelError

GROUP = "Spinning and rolling"

KINDS = {"natural": RigidBody, "newton-euler": NewtonEulerBody}


def build(spin: float = 12.0, wobble: float = 0.02, kind: str = "natural") -> Assembly:
    """spin: about the middle axis [rad/s]; wobble: share of it about the other two; kind: "natural" or "newton-euler"."""
    if kind not in KINDS:
        raise ModelError(f"spinning-book: kind = {kind!r}; give one of {', '.join(KINDS)}.")
    mass, sides = 0.6, (0.16, 0.24, 0.03)  # [kg], width, height and thickness [m]
    x, y, z = (side**2 for side in sides)
    inertia = (mass * (y + z) / 12, mass * (x + z) / 12, mass * (x + y) / 12)  # the first is the middle one
    ports = {
        "corner": (sides[0] / 2, sides[1] / 2, 0.0),
        "spine": (-sides[0] / 2, 0.0, 0.0),
        "top": (0.0, sides[1] / 2, 0.0),
    }

    thrown = Assembly(gravity=(0.0, 0.0, -9.81), title="spinning book")
    thrown.add(
        "book",
        KINDS[kind](
            mass=mass, inertia=inertia, centre=(0.0, 0.0, 0.0), ports=ports, velocity=(0.0, 0.0, 15.0),
            angular_velocity=(spin, wobble * spin, wobble * spin),
        ),
    )  # fmt: skip
    thrown.suggested = {"dt": 1e-3, "until": 3.0}
    return thrown
