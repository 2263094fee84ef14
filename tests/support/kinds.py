"""Mechanisms with one body that may be of any kind: a four-bar in the plane and a double pendulum in space."""

import numpy as np

from components import Fixed, ModalBody, NewtonEulerBody, Revolute, RigidBody, Rod, Spherical, Subassembly
from modular import Assembly

COUPLER = {
    "mass": 1.1,
    "inertia": 0.05,
    "centre": (0.75, 0.55),
    "ports": {"left": (0.2, 0.4), "right": (1.2, 0.6), "top": (0.7, 0.9)},
}
LOWER = {
    "mass": 1.3,
    "inertia": ((0.031, 0.002, -0.003), (0.002, 0.027, 0.001), (-0.003, 0.001, 0.018)),
    "centre": (0.75, 0.15, -0.1),
    "ports": {"left": (0.5, 0.0, 0.0), "right": (1.0, 0.4, -0.2)},
}


HINGE = {2: Revolute(), 3: Spherical()}


def four_bar(make=RigidBody):
    """It falls from rest; its coupler is made from mass, inertia, mass centre and ports."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("crank", Rod((0.0, 0.0), (0.2, 0.4), 0.6, 0.0))
    model.add("coupler", make(**COUPLER))
    model.add("rocker", Rod((1.0, 0.0), (1.2, 0.6), 0.9, 0.0))
    for name, sides in (
        ("a", ("ground", "crank.start")),
        ("b", ("crank.end", "coupler.left")),
        ("c", ("coupler.right", "rocker.end")),
        ("d", ("rocker.start", "ground")),
    ):
        model.join(name, Revolute(), *sides)
    return model


def double_pendulum(make=RigidBody):
    """It falls from rest; its lower body is made from mass, inertia, mass centre and ports."""
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    model.add("upper", Rod((0.0, 0.0, 0.0), LOWER["ports"]["left"], 0.8, 0.03))
    model.add("lower", make(**LOWER))
    model.join("shoulder", Spherical(), "ground", "upper.start")
    model.join("elbow", Spherical(), "upper.end", "lower.left")
    return model


FREE = {
    2: ("coupler", four_bar),
    3: ("lower", double_pendulum),
}  # the body in question, and the mechanism, by dimension


def paths(run, dimension):
    """Where the ports of the body go, one after the other."""
    name = FREE[dimension][0]
    ports = {2: COUPLER, 3: LOWER}[dimension]["ports"]
    return np.concatenate([run.position(f"{name}.{port}") for port in ports])


def halves(*, mass, inertia, centre, ports):
    """Two bodies welded together inside a component, which weigh as much together."""
    centre, tensor = np.asarray(centre, float), np.asarray(inertia, float)
    way = 0.1 * np.ones(len(centre))  # from one to the other
    parts = {"left": (centre - 0.6 * way, 0.4 * mass), "right": (centre + 0.4 * way, 0.6 * mass)}
    between = 0.24 * mass * (way @ way if tensor.ndim == 0 else way @ way * np.eye(3) - np.outer(way, way))
    bodies = {
        name: NewtonEulerBody(
            mass=m, inertia=0.5 * (tensor - between), centre=c, ports={"seam": centre}
            | {port: at for port, at in ports.items() if (port == "right") == (name == "right")},
        )
        for name, (c, m) in parts.items()
    }  # fmt: skip
    outer = {port: f"{'right' if port == 'right' else 'left'}.{port}" for port in ports}
    return Subassembly(bodies, [(Fixed(), "left.seam", "right.seam")], outer)


def by_modes(*, mass, inertia, centre, ports, stiff=None):
    """Without modes it is rigid; or with one that hardly gives way."""
    d, tensor = len(centre), np.asarray(inertia, float)
    count = 0 if stiff is None else 1
    moments = np.zeros((1 + count, 1 + count, d, d))
    moments[0, 0] = 0.5 * tensor * np.eye(2) if d == 2 else 0.5 * np.trace(tensor) * np.eye(3) - tensor
    shape = 0.3 * np.ones((count, 3 * d - 3))
    shapes = {port: shape * (-1.0) ** k for k, port in enumerate(ports)}
    frequencies = () if stiff is None else (stiff,)
    return ModalBody(mass=mass, moments=moments, centre=centre, ports=ports, shapes=shapes, frequencies=frequencies)


KINDS = {
    "canonical": lambda **data: RigidBody(**data, basis="canonical"),
    "points": lambda **data: RigidBody(**data, basis="points"),
    "masses": lambda **data: RigidBody(**data, basis="masses"),
    "newton-euler": NewtonEulerBody,
    "subassembly": halves,
    "no mode": by_modes,
    "a stiff mode": lambda **data: by_modes(**data, stiff=5e4),
}
