"""Models written for other programs: what they move is what we move, and what is read back of a robot is that robot."""

import math
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import scenarios
from campaign import shortened
from components import (
    Cylindrical,
    Distance,
    Fixed,
    Friction,
    Motor,
    NewtonEulerBody,
    Planar,
    Prismatic,
    Ramp,
    Revolute,
    RigidBody,
    Rod,
    Spherical,
    SpringDamper,
    Stop,
    TorsionSpring,
    Universal,
)
from coordinator import Glued, Simulation
from coordinator.analysis import assemble
from modular import Assembly, Limit, ModelError, Port
from scenarios.models import export_model, read_model
from scenarios.models.rigid import mechanism

STIFF = {"flyball-governor": (1e-4, 2), "spring-pendulum": (2e-5, 4), "bicycle-chain": (1e-4, 4)}  # our step and order
FINE = {"spring-pendulum": 2.5e-5, "bicycle-chain": 2.5e-5}  # steps of MuJoCo: at 1e-4 s it is itself 2e-6 m off
TREES = [
    "bicycle-chain",
    "chain",
    "cut-double-pendulum",
    "double-pendulum",
    "double-pendulum-3d",
    "flyball-governor",
    "free-fall",
    "simple-pendulum",
    "spinning-book",
    "spring-pendulum",
    "switching-pendulum",
    "two-rods",
]
LOOPS = ["bricard", "four-bar", "scissors"]


def ports_of(model: Assembly) -> list[str]:
    return [f"{name}.{port}" for name, body in model.bodies.items() for port in body.port_names]


def in_mujoco(model: Assembly, path: Path, dt: float, end: float) -> np.ndarray:
    """Where all ports are in the end."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed; pip install -e '.[peers]'")
    export_model(model, path)
    there = mujoco.MjModel.from_xml_path(str(path))
    there.opt.timestep = dt
    data = mujoco.MjData(there)
    if there.nkey:
        mujoco.mj_resetDataKeyframe(there, data, 0)
    mujoco.mj_step(there, data, round(end / dt))
    mujoco.mj_forward(there, data)
    return np.array([data.site(port).xpos for port in ports_of(model)])[:, : model.dimension]


def here(model: Assembly, dt: float, order: int, end: float) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Simulation(model, dt, Glued(order=order), project_velocities=True) as simulation:
            run = simulation.run(end)
    return np.array([run.position(port)[-1] for port in ports_of(model)])


@pytest.mark.parametrize("name", shortened(["double-pendulum-3d", "four-bar"], [*TREES, *LOOPS]))
def test_a_ready_system_moves_the_same_in_mujoco(name, tmp_path: Path):
    """Within 1e-6 m after a second; what happens on the way is left out."""
    model = scenarios.load(name)
    model.schedule.clear()
    end = 0.5 if name == "bicycle-chain" else 1.0
    there = in_mujoco(model, tmp_path / "model.xml", FINE.get(name, 1e-4), end)
    assert np.abs(there - here(model, *STIFF.get(name, (5e-4, 4)), end)).max() < 1e-6


def machine() -> Assembly:
    """Every kind of joint and force that has a form there, none along an axis of the world, all in motion."""
    model = Assembly(title="machine")
    tensor = ((0.03, 0.002, -0.001), (0.002, 0.04, 0.003), (-0.001, 0.003, 0.05))

    def body(name, centre, *ports, kind=RigidBody, mass=1.5):
        model.add(name, kind(mass=mass, inertia=tensor, centre=centre, ports={f"p{k}": p for k, p in enumerate(ports)}))

    tilted = Port((0.1, 0.0, 0.0), ((0.0, 1.0, 0.0), (-0.6, 0.0, 0.8), (0.8, 0.0, 0.6)))
    body("a", (0.2, 0.1, -0.1), tilted, (0.4, 0.0, 0.1))
    body("b", (0.6, 0.1, 0.0), (0.4, 0.0, 0.1), (0.8, 0.2, 0.0), kind=NewtonEulerBody)
    body("c", (0.9, 0.4, 0.1), (0.8, 0.2, 0.0), (1.0, 0.5, 0.2))
    body("d", (1.1, 0.6, 0.2), (1.0, 0.5, 0.2), (1.2, 0.7, 0.1))
    body("e", (-0.3, 0.2, 0.1), (-0.1, 0.1, 0.0), (-0.5, 0.2, 0.2))
    body("f", (-0.7, 0.1, 0.3), (-0.5, 0.2, 0.2))
    body("g", (0.0, -0.8, 0.0), (0.0, -0.7, 0.1))
    model.join("hinge", Revolute(), "ground", "a.p0")
    model.join("slide", Prismatic(axis=(1.0, 0.4, -0.3)), "b.p0", "a.p1")  # the other way round
    model.join("cross", Universal(axis=(0.2, 1.0, 0.3), cross=(1.0, -0.2, 0.0)), "b.p1", "c.p0")
    model.join("both", Cylindrical(axis=(0.3, -0.2, 1.0)), "c.p1", "d.p0")
    model.join("ball", Spherical(), "ground", "e.p0")
    model.join("weld", Fixed(), "e.p1", "f.p0")
    model.join("table", Planar(normal=(0.1, 0.2, 1.0)), "ground", "g.p0")
    model.apply("coil", TorsionSpring(3.0, damping=0.1, rest=0.3), "ground", "a.p0")
    model.apply("rub", Friction(0.0, 0.4, measure="way", axis=(1.0, 0.4, -0.3)), "b.p0", "a.p1")
    model.apply("push", Motor(4.0, most=6.0, measure="way", axis=(-1.0, -0.4, 0.3)), "b.p0", "a.p1")
    model.apply("spring", SpringDamper(30.0, damping=0.5), "d.p1", "ground", at=(1.4, 0.6, 0.5))
    model.apply("line", SpringDamper(20.0, length=0.5), "f.p0", "g.p0")
    return model


def test_every_joint_and_force_that_has_a_form_moves_the_same(tmp_path: Path):
    model = machine()
    there = in_mujoco(model, tmp_path / "machine.xml", 1e-4, 0.5)
    assert np.abs(there - here(model, 5e-4, 4, 0.5)).max() < 1e-7
    found = export_model(model, tmp_path / "machine.xml", strict=True)
    assert not found.dropped


def test_a_model_that_begins_elsewhere_than_it_is_written_begins_there(tmp_path: Path):
    """Axes go with the bodies that carry them, springs and stops count from where joints were made."""
    closed = scenarios.load("four-bar")
    assert {"coupler", "rocker"} <= set(closed.begin)
    closed.cut("top")
    closed.apply("coil", TorsionSpring(2.0, damping=0.01, rest=0.1), "rocker.start", "ground")
    closed.apply("rub", Friction(0.0, 0.003), "crank.end", "coupler.start")
    closed.apply("torque", Motor(0.1), "coupler.start", "crank.end")
    there = in_mujoco(closed, tmp_path / "bent.xml", 1e-4, 0.4)
    assert np.abs(there - here(closed, 5e-4, 4, 0.4)).max() < 1e-8


def test_axes_go_with_the_bodies_that_carry_them(tmp_path: Path):
    """In space, where a body begins turned: the axis of a hinge and of a slide, given and left out."""
    model = Assembly(title="turned")
    tensor = ((0.03, 0.002, -0.001), (0.002, 0.04, 0.003), (-0.001, 0.003, 0.05))
    tilted = Port((0.4, 0.0, 0.1), ((0.0, 1.0, 0.0), (-0.6, 0.0, 0.8), (0.8, 0.0, 0.6)))
    for name, centre, ports in (
        ("a", (0.2, 0.1, 0.0), {"s": (0.0, 0.0, 0.0), "e": tilted}),
        ("b", (0.6, 0.1, 0.2), {"s": (0.4, 0.0, 0.1), "e": (0.7, 0.2, 0.4)}),
        ("c", (0.8, 0.3, 0.5), {"s": (0.7, 0.2, 0.4), "e": (0.9, 0.4, 0.6)}),
    ):
        model.add(name, RigidBody(mass=1.0, inertia=tensor, centre=centre, ports=ports))
    model.join("ball", Spherical(), "ground", "a.s")
    model.join("hinge", Revolute(), "a.e", "b.s")
    model.join("rail", Prismatic(axis=(0.3, -0.2, 1.0)), "c.s", "b.e")
    model.join("rope", Distance(length=0.3), "ground", "c.e", at=(0.4, 0.7, 0.9))  # it is 0.66 m away
    closed = assemble(model)
    closed.cut("rope")
    turned = mechanism(closed).bodies["a"].turn
    assert np.abs(turned - np.eye(3)).max() > 0.1
    there = in_mujoco(closed, tmp_path / "turned.xml", 1e-4, 0.4)
    assert np.abs(there - here(closed, 5e-4, 4, 0.4)).max() < 1e-8


def robot() -> Assembly:
    """A tree of hinges and slides in space, with stops, friction and motors."""
    model = Assembly(title="robot")
    tensor = ((0.03, 0.002, -0.001), (0.002, 0.04, 0.003), (-0.001, 0.003, 0.05))
    turned = Port((0.4, 0.0, 0.1), ((0.6, 0.0, -0.8), (0.0, 1.0, 0.0), (0.8, 0.0, 0.6)))
    model.add(
        "upper", RigidBody(mass=2.0, inertia=tensor, centre=(0.2, 0.1, 0.0), ports={"base": (0, 0, 0), "out": turned})
    )
    model.add(
        "lower",
        RigidBody(
            mass=1.0, inertia=tensor, centre=(0.5, 0.1, 0.3), ports={"in": (0.4, 0.0, 0.1), "tip": (0.7, 0.2, 0.4)}
        ),
    )
    model.add("hand", RigidBody(mass=0.5, inertia=tensor, centre=(0.7, 0.2, 0.5), ports={"grip": (0.7, 0.2, 0.4)}))
    model.join("shoulder", Revolute(axis=(0.2, 1.0, 0.1)), "ground", "upper.base")
    model.join("rail", Prismatic(axis=(0.3, 0.1, 1.0)), "lower.in", "upper.out")
    model.join("wrist", Revolute(axis=(1.0, 0.0, 0.2)), "lower.tip", "hand.grip")
    model.apply("shoulder-stop", Stop(low=-0.4, high=1.1, axis=(0.2, 1.0, 0.1)), "ground", "upper.base")
    model.apply("rail-friction", Friction(0.2, 0.7, measure="way", axis=(0.3, 0.1, 1.0)), "lower.in", "upper.out")
    model.apply("shoulder-motor", Motor(most=12.0, axis=(0.2, 1.0, 0.1)), "ground", "upper.base")
    return model


def test_a_robot_that_was_written_as_urdf_is_read_back_as_that_robot(tmp_path: Path):
    model = robot()
    found = export_model(model, tmp_path / "robot.urdf", strict=True)
    assert not found.dropped
    back = read_model(tmp_path / "robot.urdf").assembly
    assert back.joints == ("shoulder", "rail", "wrist")
    for name, body in model.bodies.items():
        other = back.bodies[name]
        assert other.mass == body.mass and np.allclose(other.centre, body.centre, atol=1e-15)
        assert np.allclose(other.inertia, body.inertia, atol=1e-16)
        for port, place in body.places.items():
            twin = other.places[f"{name}_{port}"]
            assert np.allclose(twin.point, place.point, atol=1e-15)
            assert np.allclose(twin.axes, place.frame(""), atol=1e-14)
    stop, friction, motor = (
        back.force_edges[name].force for name in ("shoulder-stop", "rail-friction", "shoulder-motor")
    )
    assert (stop.low, stop.high, motor.most) == (-0.4, 1.1, 12.0) and (friction.dry, friction.viscous) == (0.2, 0.7)


@pytest.mark.parametrize("ending", ["xml", "urdf", "sdf"])
def test_what_friction_holds_beyond_what_it_slides_with_is_told_to_be_left_out(ending, tmp_path: Path):
    model = robot()
    model.remove("rail-friction")
    model.apply("rub", Friction(0.2, static=0.3, measure="way", axis=(0.3, 0.1, 1.0)), "lower.in", "upper.out")
    told = export_model(model, tmp_path / f"robot.{ending}").dropped
    assert "force 'rub': what it holds beyond what it slides with (static = 0.3)" in told


@pytest.mark.parametrize("ending", ["xml", "urdf", "sdf"])
def test_what_joints_and_forces_say_that_no_format_has_is_told(ending, tmp_path: Path):
    """Where a joint breaks, how walls give, what a second force says of a joint: which of two it is goes by their order."""
    model = robot()
    edge = model.joint_edges["wrist"]
    model.cut("wrist")
    model.join("wrist", edge.joint, str(edge.first), str(edge.second), at=edge.at, breaks_at=Limit(force=50.0))
    along = {"measure": "way", "axis": (0.3, 0.1, 1.0)}
    ports = [str(port) for port in model.force_edges["rail-friction"].ports]
    model.apply("again", Friction(0.9, 0.8, **along), *ports)
    model.apply("walls", Stop(-0.1, 0.1, restitution=0.5, **along), *ports)
    told = export_model(model, tmp_path / f"robot.{ending}").dropped
    assert "joint 'wrist': where it breaks" in told
    assert any(what.startswith("force 'walls': how its walls give") for what in told)
    assert any(what.startswith("force 'again' (Friction): joint 'rail' has damping already") for what in told)
    if ending == "urdf":
        friction = read_model(tmp_path / "robot.urdf").assembly.force_edges["rail-friction"].force
        assert (friction.dry, friction.viscous) == (0.2, 0.7)


def test_a_joint_with_two_coordinates_is_two_joints_of_urdf(tmp_path: Path):
    model = robot()
    model.cut("wrist")
    model.join("wrist", Universal(axis=(1.0, 0.0, 0.2), cross=(0.0, 1.0, 0.0)), "lower.tip", "hand.grip")
    export_model(model, tmp_path / "robot.urdf")
    root = ElementTree.parse(tmp_path / "robot.urdf").getroot()
    ends = {
        tag.get("name"): (tag.find("parent").get("link"), tag.find("child").get("link")) for tag in root.iter("joint")
    }
    assert ends["wrist-1"] == ("lower", "wrist_1") and ends["wrist-2"] == ("wrist_1", "hand")


def test_a_pendulum_of_urdf_moves_as_before(tmp_path: Path):
    model = Assembly(title="two")
    model.add("a", Rod((0.0, 0.0, 0.0), (0.4, 0.1, 0.0), 1.0, radius=0.02))
    model.add("b", Rod((0.4, 0.1, 0.0), (0.7, 0.3, 0.2), 0.6, radius=0.02))
    model.join("one", Revolute(axis=(0.1, 1.0, 0.2)), "ground", "a.start")
    model.join("two", Revolute(axis=(0.3, 1.0, -0.2)), "b.start", "a.end")
    export_model(model, tmp_path / "two.urdf")
    back = read_model(tmp_path / "two.urdf").assembly
    ends = []
    for one, port in ((model, "b.end"), (back, "b.b_end")):
        with Simulation(one, 1e-3, Glued(order=4)) as simulation:
            ends.append(simulation.run(0.5).position(port)[-1])
    assert np.abs(ends[0] - ends[1]).max() < 1e-10


def test_what_has_no_form_is_refused_or_told_by_name(tmp_path: Path):
    with pytest.raises(ModelError, match=r"joint 'slide': a PointOnLine has no form"):
        export_model(scenarios.load("slider-crank"), tmp_path / "a.xml")
    with pytest.raises(ModelError, match=r"body 'rod': a Beam is not a rigid body"):
        export_model(scenarios.load("flexible-slider-crank"), tmp_path / "a.xml")
    with pytest.raises(ModelError, match=r"joint 'top' closes a loop.*FILE.xml"):
        export_model(scenarios.load("four-bar"), tmp_path / "a.urdf")
    with pytest.raises(ModelError, match=r"is a ball"):
        export_model(scenarios.load("chain"), tmp_path / "a.urdf")
    with pytest.raises(ModelError, match=r"\.xml, \.urdf, \.sdf"):
        export_model(scenarios.load("chain"), tmp_path / "a.dae")
    model = machine()
    model.apply("ramp", Motor(Ramp(1.0)), "ground", "a.p0")
    model.apply("again", Friction(0.1, 0.1), "ground", "a.p0")
    model.join("rope", Distance(), "c.p0", "e.p0")
    with pytest.raises(ModelError, match=r"joint 'rope': a Distance"):
        export_model(model, tmp_path / "a.xml")
    model.cut("rope")
    told = export_model(model, tmp_path / "a.xml").lines()
    assert any("'ramp'" in line for line in told) and any("'again'" in line and "already" in line for line in told)
    with pytest.raises(ModelError, match="--strict"):
        export_model(model, tmp_path / "b.xml", strict=True)
    assert not (tmp_path / "b.xml").exists()


def test_a_slender_rod_gets_an_inertia_about_its_line_that_moves_nothing(tmp_path: Path):
    found = mechanism(scenarios.load("double-pendulum-3d"))
    assert found.approximated and all(np.linalg.eigvalsh(body.inertia)[0] > 0.0 for body in found.bodies.values())
    for body in found.bodies.values():
        values = np.linalg.eigvalsh(body.inertia)
        assert values[2] <= values[0] + values[1] and values[2] == pytest.approx(values[1], rel=1e-5)


def test_names_and_numbers_of_mjcf_are_those_of_the_model(tmp_path: Path):
    export_model(machine(), tmp_path / "a.xml")
    root = ElementTree.parse(tmp_path / "a.xml").getroot()
    masses = [float(tag.get("mass")) for tag in root.iter("inertial")]
    assert masses == [1.5] * 7 and math.isclose(float(root.find("option").get("gravity").split()[2]), -9.81)
    assert {tag.get("name") for tag in root.iter("joint")} == {
        "hinge",
        "slide",
        "cross-1",
        "cross-2",
        "both-1",
        "both-2",
        "ball",
        "table-1",
        "table-2",
        "table-3",
    }
    assert all(tag.get("contype") == "0" for tag in root.iter("geom"))
