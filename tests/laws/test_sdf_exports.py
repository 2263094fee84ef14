"""Models written as SDFormat: what is read back moves as what was written, loops and joints that follow others too."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import scenarios
from campaign import shortened
from components import (
    Coupler,
    Fixed,
    Friction,
    Motor,
    Planar,
    Prismatic,
    Revolute,
    RigidBody,
    Spherical,
    Stop,
    TorsionSpring,
    Universal,
)
from coordinator import Glued, Simulation
from modular import Assembly, ModelError, Port
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


@pytest.mark.parametrize(
    "name",
    shortened(["four-bar"], ["four-bar", "double-pendulum-3d", "chain", "bricard", "scissors", "spring-pendulum"]),
)
def test_a_ready_system_that_is_read_back_moves_the_same(name, tmp_path: Path):
    model = scenarios.load(name)
    model.schedule.clear()
    for force in [
        name for name, edge in model.force_edges.items() if not isinstance(edge.force, TorsionSpring | Friction)
    ]:
        model.remove(force)
    for body in model.bodies.values():
        assert body.velocity is None or not np.any(body.velocity)
    compare(model, tmp_path)


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


def test_every_joint_and_force_that_has_a_form_is_read_back(tmp_path: Path):
    model = machine()
    found = export_model(model, tmp_path / "machine.sdf", strict=True)
    assert not found.approximated
    back = read_model(tmp_path / "machine.sdf", strict=True).assembly
    assert np.allclose(back.gravity, model.gravity)
    assert {"hinge-spring", "slide-friction", "yaw-stop", "finger-motor", "finger-follows"} <= {
        *back.forces,
        *back.joints,
    }
    stop, motor = (back.force_edges[name].force for name in ("yaw-stop", "finger-motor"))
    assert {stop.low, stop.high} in ({-0.25, 0.5}, {-0.5, 0.25}) and motor.most == 6.0
    compare(model, tmp_path, most=1e-8)


def test_followers_have_a_form_everywhere(tmp_path: Path):
    """A tree with a joint that follows, in all formats; each says it, and moves as it."""
    model = machine()
    for name in ("a", "b", "c", "d", "f"):
        model.remove(name)
    model.gravity[:] = 0.0, 0.0, -9.81
    for suffix, word in ((".urdf", "mimic"), (".xml", "polycoef"), (".sdf", "mimic")):
        file = tmp_path / f"model{suffix}"
        assert word in export_model(model, file).text
        back = read_model(file, stops=True).assembly
        (follows,) = [edge.joint for edge in back.joint_edges.values() if isinstance(edge.joint, Coupler)]
        assert abs(follows.ratio) == pytest.approx(0.6)
        np.testing.assert_allclose(ends(back, ["e.e_p1"]), ends(model, ["e.p1"]), atol=1e-9)


def test_what_has_no_form_is_refused_by_name(tmp_path: Path):
    with pytest.raises(ModelError, match=r"joint '.*': SDFormat has hinges"):
        export_model(_table(), tmp_path / "table.sdf")
    model = machine()
    model.cut("yaw")
    with pytest.raises(ModelError, match=r"joint 'follows' \(Coupler\)"):
        export_model(model, tmp_path / "loose.sdf")


def _table() -> Assembly:
    model = Assembly()
    model.add("g", RigidBody(mass=1.0, inertia=TENSOR, centre=(0.0, 0.0, 0.1), ports={"p": (0.0, 0.0, 0.0)}))
    model.join("table", Planar(normal=(0.0, 0.0, 1.0)), "ground", "g.p")
    return model
