"""Boxes stacked on the ground, and a ball that may be thrown at them.

Each box stands a little beside the one below. At rest they stay at rest: springs hold what they carry, and friction sticks. With a
speed the ball comes from the left and knocks them over.
"""

from __future__ import annotations

from components import Box, Contact, HalfSpace, RigidBody, Sphere
from modular import Assembly

GROUP = "Contact"


def build(count: int = 5, side: float = 0.2, mass: float = 1.0, friction: float = 0.5, speed: float = 0.0) -> Assembly:
    """How many boxes, their side [m] and mass [kg], friction, and the speed of the ball [m/s]; at rest there is none."""
    model = Assembly(gravity=(0.0, 0.0, -9.81), title="stacked-boxes")
    box, inertia = Box((side, side, side)), (mass * side**2 / 6,) * 3
    names = [f"box{k + 1}" for k in range(count)]
    for k, name in enumerate(names):
        centre = (0.05 * side * (k % 2), 0.0, (k + 0.5) * side)
        model.add(name, RigidBody(mass=mass, inertia=inertia, centre=centre, ports={"centre": centre}))
        model.apply(f"{name}-ground", Contact(HalfSpace(), box, friction), "ground", f"{name}.centre")
    for k, name in enumerate(names):
        for other in names[k + 1 :]:  # whoever may come to lie on whom
            model.apply(f"{name}-{other}", Contact(box, box, friction), f"{name}.centre", f"{other}.centre")
    if speed != 0.0:
        radius = 0.5 * side
        centre = (-5.0 * side, 0.0, (count - 0.7) * side)
        ball = RigidBody(
            mass=mass,
            inertia=(0.4 * mass * radius**2,) * 3,
            centre=centre,
            ports={"centre": centre},
            velocity=(speed, 0.0, 0.0),
        )
        model.add("ball", ball)
        model.apply("ball-ground", Contact(HalfSpace(), Sphere(radius), friction, 0.3), "ground", "ball.centre")
        for name in names:
            model.apply(f"{name}-ball", Contact(box, Sphere(radius), friction, 0.3), f"{name}.centre", "ball.centre")
    model.suggested = {"dt": 1e-3, "until": 5.0 if speed == 0.0 else 3.0}
    return model
