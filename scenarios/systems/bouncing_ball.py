"""A ball that falls on the ground and bounces: its closed form is known bounce by bounce.

Let go at a height h, it meets the ground with sqrt(2 g h) and leaves it with e times that (Newton's restitution; Séguy 2003,
I.3.6). Between two bounces it flies freely, so the k-th one leaves with e^k sqrt(2 g h); all of them end at
sqrt(2 h / g) (1 + e) / (1 - e).
"""

from __future__ import annotations

from components import Contact, HalfSpace, RigidBody, Sphere
from modular import Assembly

GROUP = "Contact"


def build(
    height: float = 1.0,
    restitution: float = 0.8,
    friction: float = 0.0,
    radius: float = 0.1,
    mass: float = 1.0,
    spin: float = 0.0,
) -> Assembly:
    """height of its lowest point [m]; restitution and friction of the ground; radius [m], mass [kg], spin of the ball [rad/s]."""
    model = Assembly(gravity=(0.0, 0.0, -9.81), title="bouncing-ball")
    centre = (0.0, 0.0, height + radius)
    ball = RigidBody(
        mass=mass,
        inertia=(0.4 * mass * radius**2,) * 3,
        centre=centre,
        ports={"centre": centre},
        angular_velocity=(0.0, spin, 0.0),
    )
    model.add("ball", ball)
    model.apply("floor", Contact(HalfSpace(), Sphere(radius), friction, restitution), "ground", "ball.centre")
    model.suggested = {"dt": 1e-3, "until": 4.0}
    return model
