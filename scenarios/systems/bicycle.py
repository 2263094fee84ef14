"""The benchmark bicycle, upright and straight ahead: nobody rides it, and between 4.3 and 6.0 m/s it stays up by itself.

J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab, "Linearized dynamics equations for the balance and steer of a bicycle:
a benchmark and review", Proc. R. Soc. A 463 (2007) 1955-1982, table 1: two frames and two wheels, which roll without slipping; the
inertia of the front frame is that of the exact benchmark. `modular modes bicycle --steady` finds how it weaves, capsizes and
casters at a speed; with a `nudge` it sets out from the side and shows it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from components import EllipsoidOnPlane, Revolute, RigidBody, Rolling
from modular import Assembly, ModelError

GROUP = "Spinning and rolling"

WHEELBASE, TRAIL, TILT = 1.02, 0.08, np.pi / 10.0  # [m], [m], of the steering axis from the vertical [rad]
REAR_RADIUS, FRONT_RADIUS, HEAD_HEIGHT = 0.3, 0.35, 0.9  # [m]
UP = (0.0, 0.0, 1.0)


def build(speed: float = 5.0, nudge: float = 0.0) -> Assembly:
    """`speed` [m/s]; `nudge`: how fast it leans over at the start [rad/s], turning about the line on which it stands."""
    if not (np.isfinite(speed) and np.isfinite(nudge)):
        raise ModelError(f"bicycle: speed = {speed!r}, nudge = {nudge!r}; give finite numbers.")
    model = Assembly(gravity=(0.0, 0.0, -9.81), title="bicycle")
    rear, front = np.array((0.0, 0.0, REAR_RADIUS)), np.array((WHEELBASE, 0.0, FRONT_RADIUS))
    steering = np.array((-np.sin(TILT), 0.0, np.cos(TILT)))
    head = np.array((WHEELBASE + TRAIL, 0.0, 0.0)) + HEAD_HEIGHT * steering
    lean = np.array((nudge, 0.0, 0.0))

    def add(name: str, mass: float, centre: Any, inertia: Any, spin: float = 0.0, **ports: Any) -> None:
        model.add(
            name,
            RigidBody(
                mass=mass, centre=tuple(centre), inertia=inertia, ports={port: tuple(at) for port, at in ports.items()},
                velocity=tuple(np.array((speed, 0.0, 0.0)) + np.cross(lean, centre)),
                angular_velocity=(nudge, spin, 0.0),
            ),
        )  # fmt: skip

    add("rear-wheel", 2.0, rear, (0.0603, 0.12, 0.0603), speed / REAR_RADIUS, hub=rear)
    add(
        "frame", 85.0, (0.3, 0.0, 0.9), ((9.2, 0.0, -2.4), (0.0, 11.0, 0.0), (-2.4, 0.0, 2.8)), axle=rear, head=head,
        saddle=(0.25, 0.0, 1.0),
    )  # fmt: skip
    fork = ((0.05892, 0.0, 0.00756), (0.0, 0.06, 0.0), (0.00756, 0.0, 0.00708))
    add("fork", 4.0, (0.9, 0.0, 0.7), fork, axle=front, head=head)
    add("front-wheel", 3.0, front, (0.1405, 0.28, 0.1405), speed / FRONT_RADIUS, hub=front)
    model.join("rear-axle", Revolute(axis=(0, 1, 0)), "frame.axle", "rear-wheel.hub")
    model.join("front-axle", Revolute(axis=(0, 1, 0)), "fork.axle", "front-wheel.hub")
    model.join("steering", Revolute(axis=tuple(steering)), "frame.head", "fork.head")
    for which, radius in (("rear", REAR_RADIUS), ("front", FRONT_RADIUS)):
        half = (radius, 0.0, radius)
        model.join(
            f"{which}-stands", EllipsoidOnPlane(half, normal=UP), "ground", f"{which}-wheel.hub", at=(0.0, 0.0, 0.0)
        )
        model.join(f"{which}-rolls", Rolling(half, normal=UP), "ground", f"{which}-wheel.hub", at=(0.0, 0.0, 0.0))
    model.suggested = {"dt": 1e-3, "until": 5.0, "coupling": "glued"}  # springs let it slide, at first order
    return model
