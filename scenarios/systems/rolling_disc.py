"""A disc that rolls in a circle, leaning inwards, as a coin does before it falls: it need not fall.

Of the steady motions of a disc that rolls without slipping (E. J. Routh, "Advanced rigid dynamics", Macmillan 1905, art. 244; O. M.
O'Reilly, "The dynamics of rolling disks and sliding disks", Nonlinear Dynamics 10 (1996) 287-305) the one with this lean and this
many turns about the vertical is the start, `push` disturbs it. With glued joints it keeps its energy and its lean for ever; with
springs what rolls is held by dampers (Séguy 2003, IV.27), which take some of it, the less the shorter the step.
"""

from __future__ import annotations

import numpy as np

from components import EllipsoidOnPlane, RigidBody, Rolling
from modular import Assembly, ModelError

GROUP = "Spinning and rolling"

GRAVITY = 9.81  # [m/s^2]
UP = (0.0, 0.0, 1.0)
DISC_THICKNESS = 0.02  # of its mass, which rolls on the edge of its middle plane [m]


def build(
    *, lean: float = 0.6, turns: float = 2.0, push: float = 0.0, radius: float = 0.3, mass: float = 1.7
) -> Assembly:
    """lean: of the disc from the vertical [rad]; turns: of its contact about the vertical [rad/s]; push: what its lean gains at the
    start [rad/s]; radius [m], mass [kg].
    """
    if not 0.0 < abs(lean) < 0.5 * np.pi or turns == 0.0:
        raise ModelError(
            f"rolling-disc: lean = {lean!r}, turns = {turns!r}; give a lean between 0 and pi/2, and turns that are not 0."
        )
    axial, across = 0.5 * mass * radius**2, mass * (radius**2 / 4 + DISC_THICKNESS**2 / 12)
    axis = np.array([np.cos(lean), 0.0, np.sin(lean)])  # of the disc
    up = np.array([-np.sin(lean), 0.0, np.cos(lean)])  # from the contact to its centre
    rest = across * turns**2 * axis[0] * axis[2] - mass * GRAVITY * radius * axis[2]
    spin = rest / ((axial + mass * radius**2) * turns * axis[0])  # about its axis, by L' = (contact - centre) x force
    turning = turns * np.array(UP) + (spin - turns * axis[2]) * axis + push * np.array([0.0, 1.0, 0.0])
    centre = radius * up
    ways = {"top": up, "bottom": -up, "left": np.array([0.0, 1.0, 0.0]), "right": np.array([0.0, -1.0, 0.0])}
    rim = {name: tuple(centre + radius * way) for name, way in ways.items()}
    model = Assembly(gravity=(0.0, 0.0, -GRAVITY), title="rolling-disc")
    inertia = across * np.eye(3) + (axial - across) * np.outer(axis, axis)
    model.add(
        "disc",
        RigidBody(
            mass=mass, inertia=tuple(map(tuple, inertia)), centre=tuple(centre), ports={"middle": tuple(centre), **rim},
            velocity=tuple(np.cross(turning, centre)), angular_velocity=tuple(turning),
        ),
    )  # fmt: skip
    half, axes = (radius, radius, 0.0), (tuple(up), (0.0, 1.0, 0.0))
    model.join("stands", EllipsoidOnPlane(half, normal=UP, axes=axes), "ground", "disc.middle")
    model.join("rolls", Rolling(half, normal=UP, axes=axes), "ground", "disc.middle")
    model.suggested = {"dt": 1e-3, "until": 5.0, "coupling": "glued"}  # springs let it slide, at first order
    return model
