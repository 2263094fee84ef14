"""Forces that are put on joints by name act as those that name ports and axes; joints of robots tell values as files count them."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import scenarios
from components import (
    Cylindrical,
    Friction,
    Load,
    Motor,
    Prismatic,
    Regulator,
    Revolute,
    RigidBody,
    Spherical,
    Stop,
    TorsionSpring,
)
from coordinator import Glued, Simulation, StartWarning
from modular import Assembly, Limit, ModelError, Port
from scenarios.models import read_model
from urdf_arm import ARM

TENSOR = ((0.03, 0.002, -0.001), (0.002, 0.04, 0.003), (-0.001, 0.003, 0.05))
AXES = ((0.0, 1.0, 0.0), (-0.6, 0.0, 0.8), (0.8, 0.0, 0.6))
# the forces, and how they are written with ports; the z axis of the ports above is that of the joints
FORCES = {
    "hinge": [
        Motor(1.5),
        Regulator(9.0, derivative=0.5, target=0.4),
        TorsionSpring(2.0),
        Friction(0.0, 0.1),
        Stop(-0.2, 0.3),
    ],
    "slide": [
        Motor(1.5, measure="way"),
        Regulator(90.0, derivative=1.0, target=0.04, along=AXES[2], axis=AXES[2], reads="way"),
    ],
}


def arm(dimension=3):
    """A hinge on the ground and a slide, their axes left out."""
    model = Assembly(gravity=(0.3, 0.2, -9.81)[-dimension:])

    def port(*x):
        return Port(x[:dimension], AXES if dimension == 3 else ((0.6, 0.8), (-0.8, 0.6)))

    def body(name, centre, ports):
        inertia = TENSOR if dimension == 3 else 0.04
        model.add(name, RigidBody(mass=1.2, inertia=inertia, centre=centre[:dimension], ports=ports))

    body("upper", (0.2, 0.1, -0.1), {"root": port(0.1, 0.0, 0.0), "end": port(0.4, 0.2, 0.1)})
    body("lower", (0.6, 0.1, 0.1), {"root": port(0.4, 0.2, 0.1)})
    model.join("hinge", Revolute(), "ground", "upper.root")
    model.join("slide", Prismatic(), "upper.end", "lower.root")
    return model


def ports(force, joint):
    first, second = {"hinge": ("ground", "upper.root"), "slide": ("upper.end", "lower.root")}[joint]
    return (first, second, second)[: force.sides]


def in_plane(force):
    """The same where the plane has two numbers for an axis: along the x axis of the port."""
    if isinstance(force, Regulator) and force.along is not None:
        return Regulator(90.0, derivative=1.0, target=0.04, along=(0.6, 0.8), axis=(0.6, 0.8), reads="way")
    return force


@pytest.mark.short(1)
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_force_on_a_joint_acts_as_that_on_its_ports(dimension):
    """On the axis that the joint takes from its port where none is given; measures and axes are those of the joint."""
    named, written = arm(dimension), arm(dimension)
    for joint, forces in FORCES.items():
        for force in forces:
            name = f"{joint}-{type(force).__name__}"
            plain = Motor(1.5) if isinstance(force, Motor) else force
            plain = Regulator(90.0, derivative=1.0, target=0.04) if name == "slide-Regulator" else plain
            named.apply(name, plain, joint=joint)
            written.apply(name, force if dimension == 3 else in_plane(force), *ports(force, joint))
    runs = []
    for model in (named, written):
        with Simulation(model, 1e-3, Glued()) as simulation:
            runs.append(simulation.run(0.3))
    assert np.ptp(runs[0].angle("hinge")) > 0.05 and np.ptp(runs[0].way("slide")) > 0.01
    for place in ("upper.end", "lower.root"):
        np.testing.assert_allclose(runs[0].position(place), runs[1].position(place), atol=1e-12)


def test_what_does_not_act_along_a_joint_is_refused_by_name():
    model = arm()
    model.add("c", RigidBody(mass=1.0, inertia=TENSOR, centre=(1.0, 0.0, 0.0), ports={"p": (1.0, 0.0, 0.0)}))
    model.join("both", Cylindrical(), "ground", "c.p")
    for joint, force, said in (
        ("both", Motor(1.0), r"joint 'both' \(Cylindrical\) has no single angle or way"),
        ("hinge", Load((1.0, 0.0, 0.0)), "a Load does not act along the angle"),
        ("slide", TorsionSpring(1.0), "a TorsionSpring does not act along the way"),
        ("hing", Motor(1.0), "there is no joint 'hing'; did you mean 'hinge'"),
    ):
        with pytest.raises(ModelError, match=f"force 'push'.*{said}"):
            model.apply("push", force, joint=joint)
    with pytest.raises(ModelError, match="leave ports and at out"):
        model.apply("push", Motor(1.0), "upper.end", joint="hinge")


def test_a_model_file_names_the_joint(tmp_path: Path):
    text = (
        'gravity = [0, -9.81]\n[bodies.rod]\nkind = "Rod"\nstart = [0, 0]\nend = [0.5, 0]\nmass = 1\n'
        '[joints.pin]\nkind = "Revolute"\nbetween = ["ground", "rod.start"]\n'
        '[forces.servo]\nkind = "Regulator"\n{}\nproportional = 50\nderivative = 5\ntarget = 0.3\n'
    )
    files = [tmp_path / "joint.toml", tmp_path / "ports.toml"]
    for file, where in zip(files, ('joint = "pin"', 'on = ["ground", "rod.start", "rod.start"]'), strict=True):
        file.write_text(text.format(where))
    one, other = (scenarios.load(str(file)).force_edges["servo"] for file in files)
    assert one == other
    files[0].write_text(text.format(""))
    with pytest.raises(ModelError, match=r'joint\.toml:10: forces\.servo: it has no on.*or joint = "elbow"'):
        scenarios.load(str(files[0]))


@pytest.mark.campaign
def test_joints_of_a_robot_tell_their_values_as_the_file_counts_them(tmp_path: Path):
    file = tmp_path / "arm.urdf"
    file.write_text(ARM)
    found = read_model(file, values={"shoulder": 0.7, "slide": 0.1}, stops=False)
    shoulder, slide = found.joints["shoulder"], found.joints["slide"]
    assert (shoulder.angle, slide.way) == (0.7, 0.1) and shoulder.effort == 30.0
    with pytest.raises(ModelError, match=r"joint 'slide' has a way, no angle; take \.way"):
        _ = slide.angle
    found.assembly.apply("servo", Regulator(300.0, derivative=40.0, target=0.9 - shoulder.angle), joint=shoulder.name)
    with Simulation(found.assembly, 1e-3, Glued()) as simulation:
        run = simulation.run(0.4)
    assert shoulder.over(run)[0] == 0.7 and np.ptp(slide.over(run)) > 0.0
    np.testing.assert_allclose(shoulder.over(run), 0.7 + run.angle("shoulder"), atol=1e-15)


def bound(joint, force, dimension=3, at="b.p", **how):
    """A body on a joint at an edge of it, and a force between the same two; what it was told of, and how far it has gone."""
    model = Assembly(gravity=(0.0,) * dimension)
    inertia = (0.1, 0.2, 0.25) if dimension == 3 else 0.2
    ports = {"p": (0.1, 0.0, 0.0)[:dimension], "q": (0.4, 0.3, 0.0)[:dimension]}
    model.add("b", RigidBody(mass=2.0, inertia=inertia, centre=(0.0,) * dimension, ports=ports))
    model.join("joint", joint, "b.p", "ground", **how)
    model.apply("force", force, "ground", at)
    with warnings.catch_warnings(record=True) as told, Simulation(model, 1e-3, Glued()) as simulation:
        warnings.simplefilter("always")
        run = simulation.run(0.2)
    said = [str(one.message) for one in told if one.category is StartWarning]
    return said, float(np.abs(run.position("b.q")[-1] - run.position("b.q")[0]).max())


HINGE, SLIDE = Revolute(axis=(0.6, 0.0, 0.8)), Prismatic(axis=(0.6, 0.0, 0.8))


@pytest.mark.parametrize(
    ("joint", "force", "idle"),
    [
        (HINGE, Motor(1.5), False),  # about z, which is not across it
        (HINGE, Motor(1.5, axis=(0.8, 0.0, -0.6)), True),
        (HINGE, Motor(1.5, axis=(0.0, 2.0, 0.0)), True),
        (HINGE, Motor(1.5, axis=(-0.6, 0.0, -0.8)), False),
        (SLIDE, Motor(1.5, measure="way", axis=(0.0, 1.0, 0.0)), True),
        (SLIDE, Motor(1.5, measure="way"), False),
        (SLIDE, Motor(1.5), True),  # nothing turns there
        (Spherical(), Motor(1.5), False),
    ],
)
def test_a_force_that_a_joint_does_not_let_act_moves_nothing_and_is_told(joint, force, idle):
    said, gone = bound(joint, force)
    assert (gone < 1e-12) == idle == bool(said)
    assert not said or (
        "force 'force' acts" in said[0] and "joint 'joint' between the same bodies leaves nothing but" in said[0]
    )


def test_beside_a_hinge_a_way_is_gone_and_a_joint_that_may_break_is_not_spoken_of():
    assert bound(Revolute(axis=(0.0, 0.0, 1.0)), Motor(1.5, measure="way", axis=(1.0, 0.0, 0.0)), at="b.q")[0] == []
    assert bound(HINGE, Motor(1.5, axis=(0.0, 1.0, 0.0)), breaks_at=Limit(force=1e3))[0] == []
    assert bound(Revolute(), Motor(1.5), 2)[0] == []
    assert "it moves nothing" in bound(Prismatic(axis=(1.0, 0.0)), Motor(1.5), 2)[0][0]


def test_what_is_told_once_is_not_told_again_until_there_is_something_new():
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    model.add("b", RigidBody(mass=2.0, inertia=(0.1, 0.2, 0.25), centre=(0.0, 0.0, 0.0), ports={"p": (0.1, 0.0, 0.0)}))
    model.join("joint", HINGE, "b.p", "ground")
    model.apply("force", Motor(1.5, axis=(0.0, 1.0, 0.0)), "ground", "b.p")
    with Simulation(model, 1e-3) as simulation:
        with pytest.warns(StartWarning, match="it moves nothing"):
            simulation.run(0.01)
        simulation.run(0.02)
        simulation.apply("other", Motor(1.5, axis=(0.0, 2.0, 0.0)), "ground", "b.p")
        with pytest.warns(StartWarning, match="force 'other'"):
            simulation.run(0.03)
