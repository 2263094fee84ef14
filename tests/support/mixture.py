"""A model with something of every kind in it."""

import numpy as np

from components import Fixed, Law, Load, Moment, Revolute, RigidBody, Rod, Spherical, SpringDamper, Table
from modular import Assembly


def sway(t, x, v):
    return 0.1 - 0.2 * v[0], 0.3 * np.sin(9 * t), 0.0


def mixture(*, law=True):
    """Hinges, balls and a weld, a spring between two bodies, a load over time, a law, a moment, a joint that locks velocities."""
    model = Assembly()
    ports = {"a": (0, 0, 0), "b": (0.6, 0, 0)}
    model.add("post", RigidBody(mass=2.0, inertia=(0.02, 0.03, 0.04), centre=(0.3, 0, 0), ports=ports))
    model.add("rod", Rod((0.6, 0, 0), (1.0, 0, 0), 0.4))
    model.add("tail", Rod((1.0, 0, 0), (1.3, 0.1, 0), 0.3, 0.02))
    model.add("flag", Rod((1.3, 0.1, 0), (1.3, 0.4, 0), 0.2, 0.02))
    model.join("hinge", Revolute(axis=(0, 1, 0)), "ground", "post.a")
    model.join("ball", Spherical(), "post.b", "rod.start")
    model.join("knee", Spherical(), "rod.end", "tail.start")
    model.join("weld", Fixed(), "tail.end", "flag.start")
    model.apply("spring", SpringDamper(30.0, 0.4), "post.a", "tail.end")
    model.apply("gust", Load(Table((0.0, 0.05, 0.1), ((0, 0, 0), (0, 3, 1), (0, 0, 2)))), "flag.end")
    if law:
        model.apply("sway", Load(Law(sway)), "rod.end")
    model.apply("twist", Moment((0.1, 0.0, 0.2)), "tail.start")
    return model
