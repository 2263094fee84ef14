"""Models that are written for other programs and read back: they move the same."""

import warnings

import numpy as np

from components import (
    Coupler,
    Fixed,
    Friction,
    Motor,
    Prismatic,
    Revolute,
    RigidBody,
    Spherical,
    Stop,
    TorsionSpring,
    Universal,
)
from coordinator import Glued, Simulation
from modular import Assembly, Port
from scenarios.models import export_model, read_model

TENSOR = ((0.03, 0.002, -0.001), (0.002, 0.04, 0.003), (-0.001, 0.003, 0.05))


def ends(model, names, dt=5e-4, until=0.4, order=4):
    """Where ports are in the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Simulation(model, dt, Glued(order=order)) as simulation:
            run = simulation.run(until)
    return np.array([np.append(run.position(name)[-1], 0.0)[:3] for name in names])


def compare(model, path, suffix=".sdf", most=1e-9):
    """What is read back is held against what was written, port by port."""
    file = path / f"model{suffix}"
    export_model(model, file)
    back = read_model(file).assembly
    owner = {port: name for name, body in back.bodies.items() for port in body.port_names}  # welded bodies are one
    there = [
        f"{owner[f'{name}_{port}']}.{name}_{port}" for name, body in model.bodies.items() for port in body.port_names
    ]
    here = [f"{name}.{port}" for name, body in model.bodies.items() for port in body.port_names]
    np.testing.assert_allclose(ends(back, there), ends(model, here), atol=most)


def machine() -> Assembly:
    """Every kind of joint and force that has a form there, none along an axis of the world; a loop, and a joint that follows."""
    model = Assembly(title="machine", gravity=(0.4, -0.3, -9.0))

    def body(name, centre, *ports, mass=1.5):
        model.add(
            name, RigidBody(mass=mass, inertia=TENSOR, centre=centre, ports={f"p{k}": p for k, p in enumerate(ports)})
        )

    tilted = Port((0.1, 0.0, 0.0), ((0.0, 1.0, 0.0), (-0.6, 0.0, 0.8), (0.8, 0.0, 0.6)))
    body("a", (0.2, 0.1, -0.1), tilted, (0.4, 0.0, 0.1))
    body("b", (0.6, 0.1, 0.0), (0.4, 0.0, 0.1), (0.8, 0.2, 0.0), (1.0, 0.5, 0.2))
    body("c", (0.9, 0.4, 0.1), (0.8, 0.2, 0.0), (1.0, 0.5, 0.2))
    body("d", (0.3, 0.5, 0.1), (0.1, 0.0, 0.2), (1.0, 0.5, 0.2))
    body("e", (-0.3, 0.2, 0.1), (-0.1, 0.1, 0.0), (-0.5, 0.2, 0.2), (0.0, 0.3, 0.3))
    body("f", (-0.7, 0.1, 0.3), (-0.5, 0.2, 0.2))
    body("g", (0.1, 0.4, 0.4), (0.0, 0.3, 0.3))
    model.join("hinge", Revolute(), "ground", "a.p0")
    model.join("slide", Prismatic(axis=(1.0, 0.4, -0.3)), "b.p0", "a.p1")  # the other way round
    model.join("cross", Universal(axis=(0.2, 1.0, 0.3), cross=(1.0, -0.2, 0.0)), "b.p1", "c.p0")
    model.join("stand", Spherical(), "ground", "d.p0")
    model.join("loop", Spherical(), "d.p1", "b.p2")
    model.join("yaw", Revolute(axis=(0.1, 0.2, 1.0)), "e.p0", "ground", at=(-0.1, 0.1, 0.0))
    model.join("weld", Fixed(), "e.p1", "f.p0")
    model.join("finger", Revolute(axis=(1.0, 0.3, 0.2)), "g.p0", "e.p2")
    model.join(
        "follows",
        Coupler(-0.6, axis=(0.1, 0.2, 1.0), second_axis=(1.0, 0.3, 0.2)),
        "ground",
        "g.p0",
        at=(-0.1, 0.1, 0.0),
    )
    model.apply("coil", TorsionSpring(3.0, damping=0.1, rest=0.3), "ground", "a.p0")
    model.apply("rub", Friction(0.0, 0.4, measure="way", axis=(1.0, 0.4, -0.3)), "b.p0", "a.p1")
    model.apply(
        "wall", Stop(-0.5, 0.25, measure="angle", axis=(-0.1, -0.2, -1.0)), "ground", "e.p0", at=(-0.1, 0.1, 0.0)
    )
    model.apply("engine", Motor(most=6.0, measure="angle", axis=(1.0, 0.3, 0.2)), "e.p2", "g.p0")
    return model
