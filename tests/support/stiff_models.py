"""Small mechanisms whose forces are stiffer than steps."""

import numpy as np

from components import Bushing, Revolute, RigidBody, Rod, Spherical, SpringDamper, TorsionSpring
from modular import Assembly


def servo(dimension, stiffness, damping):
    """A rod on a hinge that is turned back by 0.3 rad."""
    model = Assembly(gravity=(0.0, -9.81, 0.0)[:dimension])
    if dimension == 2:
        model.add("rod", Rod((0.0, 0.0), (1.0, 0.0), mass=1.0))
    else:
        ports = {"start": (0.0, 0.0, 0.0), "end": (1.0, 0.0, 0.0)}
        model.add("rod", RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.1), centre=(0.5, 0.0, 0.0), ports=ports))
    model.join("hinge", Revolute(), "ground", "rod.start")
    model.apply("servo", TorsionSpring(stiffness, damping, 0.3), "ground", "rod.start")
    return model


def bushed(dimension, stiffness, damping, link=None):
    """Two bodies, the first on a hinge, with a bushing between them, or a joint."""
    model = Assembly(gravity=(0.0, -9.81, 0.0)[:dimension])
    for name, x in (("one", 0.0), ("two", 1.0)):
        ports = {"a": (x, 0.0, 0.0)[:dimension], "b": (x + 1.0, 0.0, 0.0)[:dimension]}
        inertia = 0.1 if dimension == 2 else (0.1, 0.12, 0.15)
        model.add(name, RigidBody(mass=1.0, inertia=inertia, centre=(x + 0.5, 0.0, 0.0)[:dimension], ports=ports))
    model.join("hinge", Revolute(), "ground", "one.a")
    if link is not None:
        model.join("link", link, "one.b", "two.a")
    else:
        model.apply("bush", Bushing(stiffness, damping, 0.05 * stiffness, 0.05 * damping), "one.b", "two.a")
    return model


def net(seed):
    """Bodies side by side, some joined, with springs, torsion springs and bushings of any strength between them, at rest."""
    draw = np.random.default_rng(seed)
    dimension = 2 if seed % 2 else 3
    model, x, points = Assembly(gravity=(0.0,) * dimension), 0.0, {}
    count = int(draw.integers(2, 6))
    for i in range(count):
        length, mass = draw.uniform(0.3, 1.0), 10.0 ** draw.uniform(-2.0, 1.0)
        middle = np.zeros(dimension)
        middle[0] = x + 0.5 * length
        side, up = 0.5 * length * np.eye(dimension)[0], 0.2 * np.eye(dimension)[1]
        ports = {"a": tuple(middle - side), "b": tuple(middle + side), "t": tuple(middle + up)}
        inertia = mass * length**2 / 12.0
        model.add(
            f"b{i}",
            RigidBody(
                mass=mass, inertia=inertia if dimension == 2 else (inertia,) * 3, centre=tuple(middle), ports=ports,
                velocity=tuple(0.5 * draw.normal(size=dimension)),
            ),
        )  # fmt: skip
        points |= {f"b{i}.{port}": np.array(place) for port, place in ports.items()}
        if draw.uniform() < 0.6:
            model.join(
                f"j{i}", Revolute() if dimension == 2 else Spherical(), "ground" if i == 0 else f"b{i - 1}.b", f"b{i}.a"
            )
        x += length

    def strength(low, high):
        return float(10.0 ** draw.uniform(low, high))

    for i in range(int(draw.integers(1, 2 * count + 1))):
        first, second = (f"b{b}.{draw.choice(['a', 'b', 't'])}" for b in draw.choice(count, 2, replace=False))
        kind = draw.integers(3)
        if kind == 0 and np.linalg.norm(points[first] - points[second]) > 1e-9:
            model.apply(f"s{i}", SpringDamper(strength(0, 9), strength(-3, 7)), first, second)
        elif kind == 1:
            model.apply(f"s{i}", TorsionSpring(strength(0, 9), strength(-3, 7)), first, second)
        elif kind == 2:
            model.apply(
                f"s{i}", Bushing(strength(0, 9), strength(-3, 7), strength(0, 8), strength(-3, 6)), first, second
            )
    return model
