"""Newton's cradle: balls that hang in a row and touch each other; who lets some of them go sees as many fly off at the other end.

All blows of an instant are found together, ball after ball along the row (docs/method.md, section 10).
"""

from __future__ import annotations

from math import cos, sin

from components import Contact, Revolute, RigidBody, Sphere
from modular import Assembly

GROUP = "Contact"


def build(
    count: int = 5, released: int = 1, angle: float = 0.5, length: float = 0.4, radius: float = 0.03, mass: float = 0.2,
    restitution: float = 1.0, gap: float = 0.0,
) -> Assembly:  # fmt: skip
    """How many balls, how many are let go and at which angle [rad]; length of the rods, radius [m], mass [kg], gaps between [m]."""
    model = Assembly(gravity=(0.0, -9.81), title="newtons-cradle")
    for k in range(count):
        hook, turned = (k * (2.0 * radius + gap), 0.0), -angle if k < released else 0.0
        centre = (hook[0] + length * sin(turned), -length * cos(turned))
        ports = {"hook": hook, "centre": centre}
        ball = RigidBody(mass=mass, inertia=0.4 * mass * radius**2, centre=centre, ports=ports)
        model.add(f"ball{k + 1}", ball)
        model.join(f"hook{k + 1}", Revolute(), "ground", f"ball{k + 1}.hook")
    for k in range(1, count):
        bump = Contact(Sphere(radius), Sphere(radius), restitution=restitution)
        model.apply(f"bump{k}", bump, f"ball{k}.centre", f"ball{k + 1}.centre")
    model.suggested = {"dt": 1e-3, "until": 3.0, "coupling": "glued"}
    return model
