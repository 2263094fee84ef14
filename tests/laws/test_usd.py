"""Models in and out of USD: units, stretched shapes and joints that do not begin at zero; what is written is read back."""

import random
from pathlib import Path

import numpy as np
import pytest

from budget import within

pytest.importorskip("pxr", reason="usd-core is not installed; pip install -e '.[usd]'")

import scenarios
from campaign import more, shortened
from components import Coupler, RigidBody, Stop, TableSpring, TorsionSpring
from coordinator import Glued, Simulation
from damage import damaged
from modular import ModelError
from round_trips import compare, machine
from scenarios.models import export_model, read_model
from scenarios.models.import_report import APPROXIMATED, DROPPED

# centimetres and grams, y upwards; a bar of shapes on a hinge that stands at 30 degrees, and a slide with a spring
STAGE = """#usda 1.0
(
    metersPerUnit = 0.01
    kilogramsPerUnit = 0.001
    upAxis = "Y"
    defaultPrim = "rig"
)
def PhysicsScene "scene" {}
def Xform "rig" {
    double3 xformOp:translate = (100, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Xform "bar" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
        double3 xformOp:translate = (0, 0, 20)
        float xformOp:rotateZ = 30
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ"]
        def Cube "box" ( prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMassAPI"] ) {
            double size = 2
            float physics:density = 2.7
            double3 xformOp:translate = (25, 0, 0)
            float3 xformOp:scale = (25, 2, 3)
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
        }
    }
    def Xform "sled" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
        float physics:mass = 400
        float3 physics:diagonalInertia = (3000, 4000, 5000)
        double3 xformOp:translate = (0, 0, 50)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def PhysicsRevoluteJoint "hinge" {
        rel physics:body1 = </rig/bar>
        uniform token physics:axis = "Z"
        point3f physics:localPos0 = (100, 0, 20)
        float physics:lowerLimit = -120
        float physics:upperLimit = 90
    }
    def PhysicsPrismaticJoint "slide" ( prepend apiSchemas = ["PhysicsDriveAPI:linear"] ) {
        rel physics:body0 = </rig/sled>
        uniform token physics:axis = "X"
        point3f physics:localPos1 = (95, 0, 50)
        float physics:lowerLimit = -40
        float physics:upperLimit = 10
        float drive:linear:physics:stiffness = 40000
        float drive:linear:physics:targetPosition = -15
    }
}
"""


@pytest.fixture
def written(tmp_path: Path):
    def write(text: str, name: str = "stage.usda") -> Path:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def test_units_shapes_and_joints_stand_where_the_stage_puts_them(written):
    model = read_model(written(STAGE)).assembly
    assert np.allclose(model.gravity, (0.0, -9.81, 0.0))
    bar, sled = model.bodies["bar"], model.bodies["sled"]
    a, b, c, mass = (
        0.5,
        0.04,
        0.06,
        2700 * 0.5 * 0.04 * 0.06,
    )  # an edge of 2 stretched by 25 in centimetres is half a metre
    c30, s30 = np.cos(np.pi / 6), np.sin(np.pi / 6)
    assert bar.mass == pytest.approx(mass, rel=1e-6) and sled.mass == pytest.approx(0.4)
    assert np.allclose(bar.centre, (1.0 + 0.25 * c30, 0.25 * s30, 0.2), atol=1e-7)
    turn = np.array([[c30, -s30, 0], [s30, c30, 0], [0, 0, 1]])
    inertia = mass / 12 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    assert np.allclose(bar.inertia, turn @ inertia @ turn.T, rtol=1e-6, atol=1e-9)
    assert np.allclose(np.diag(np.asarray(sled.inertia, float)), np.array([3000, 4000, 5000]) * 1e-7)
    stop, slide, spring = (model.force_edges[name].force for name in ("hinge-stop", "slide-stop", "slide-spring"))
    assert isinstance(stop, Stop) and isinstance(spring, TableSpring)
    assert (stop.low, stop.high) == pytest.approx(np.radians([-150.0, 60.0]))  # it stands at 30 degrees
    # the second side, the world, stands 5 cm before the sled
    assert (slide.low, slide.high) == pytest.approx((-0.35, 0.15))


@pytest.mark.campaign
def test_it_swings_as_its_closed_form_says(written):
    """The bar as a physical pendulum, by its energy; the sled about the place where its spring rests, omega^2 = k / m."""
    model = read_model(written(STAGE), stops=False).assembly
    with Simulation(model, 1e-3, Glued(order=4)) as simulation:
        run = simulation.run(0.2)
    angle, pace = run.angle("hinge"), np.gradient(run.angle("hinge"), run.time)
    mass, about = 2700 * 0.5 * 0.04 * 0.06, 2700 * 0.5 * 0.04 * 0.06 * ((0.5**2 + 0.04**2) / 12 + 0.25**2)
    fallen = 0.25 * (np.sin(np.pi / 6) - np.sin(np.pi / 6 + angle))
    assert angle[-1] < -0.3
    np.testing.assert_allclose(0.5 * about * pace[1:-1] ** 2, mass * 9.81 * fallen[1:-1], atol=2e-4)
    # the drive pulls the second side to -15 cm along the axis of the first, which is the sled, and begins at -5 cm
    way = run.position("sled.sled")[:, 0] - run.position("sled.sled")[0, 0]
    np.testing.assert_allclose(way, 0.1 * (1.0 - np.cos(np.sqrt(40.0 / 0.4) * run.time)), atol=1e-6)


@pytest.mark.parametrize(
    "name", shortened(["four-bar"], ["four-bar", "double-pendulum-3d", "chain", "bricard", "spring-pendulum"])
)
def test_a_ready_system_that_is_read_back_moves_the_same(name, tmp_path: Path):
    """Within what numbers of seven digits leave."""
    model = scenarios.load(name)
    model.schedule.clear()
    for force in [name for name, edge in model.force_edges.items() if not isinstance(edge.force, TorsionSpring)]:
        model.remove(force)
    compare(model, tmp_path, ".usda", 2e-6)


def test_every_joint_and_force_that_has_a_form_is_read_back(tmp_path: Path):
    model = machine()
    for name in ("cross", "follows"):
        with pytest.raises(ModelError, match=f"joint '{name}'"):
            export_model(model, tmp_path / "machine.usda")
        model.cut(name)
    model.remove("c")
    model.add(
        "c", RigidBody(mass=0.5, inertia=(0.02, 0.02, 0.03), centre=(5.0, 0.0, 0.0), ports={"p0": (5.0, 0.1, 0.0)})
    )
    found = export_model(model, tmp_path / "machine.usda", strict=True)
    assert not found.approximated and not any(isinstance(edge.joint, Coupler) for edge in model.joint_edges.values())
    back = read_model(tmp_path / "machine.usda", strict=True)
    assert not back.report.of(APPROXIMATED)
    assert {"hinge-spring", "yaw-stop", "finger-motor"} <= set(back.assembly.forces)
    compare(model, tmp_path, ".usda", 2e-6)


def test_what_cannot_be_read_is_told_or_refused_by_name(written):
    body = 'def Xform "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {{ {} }}'
    for text, said in (
        ("#usda 1.0\n" + body.format(""), '<Xform name="/a">: it has no mass'),
        ("#usda 1.0\n" + body.format("\nbool physics:kinematicEnabled = 1\n"), "a body that is moved from outside"),
        (
            "#usda 1.0\n"
            + body.format('\nfloat3 xformOp:scale = (0, 1, 1)\nuniform token[] xformOpOrder = ["xformOp:scale"]\n'),
            "its scale is zero",
        ),
        ('#usda 1.0\ndef "x" ( references = @other.usda@ ) {}', "it refers to 'other.usda'"),
        ("#usda 1.0\n", "no prim of it has PhysicsRigidBodyAPI"),
        ("#usda 1.0\ndef {", "usd-core cannot open it"),
        ("<sdf/>", "usd-core cannot open it"),
    ):
        with pytest.raises(ModelError, match=said):
            read_model(written(text))
    told = read_model(written(STAGE.replace("def PhysicsRevoluteJoint", "def PhysicsDistanceJoint"))).report.of(DROPPED)
    assert any("not known here" in entry.what for entry in told)
    with pytest.raises(ModelError, match="cannot be read"):
        read_model("nowhere.usda")


def test_armatures_are_rotors_and_words_of_solvers_are_told(written):
    """Of a hinge in g cm^2, of a slide in g; what is written for one solver and bears on the motion is dropped by name."""
    text = STAGE.replace(
        "float physics:lowerLimit = -120", "float physics:lowerLimit = -120\n float physxJoint:armature = 20000"
    )
    text = text.replace(
        "float physics:lowerLimit = -40", "float physics:lowerLimit = -40\n float newton:armature = 300"
    )
    text = text.replace("float physics:upperLimit = 90", "float physics:upperLimit = 90\n float mjc:frictionloss = 0.5")
    found = read_model(written(text))
    assert {name.rpartition("_")[2]: joint.armature for name, joint in found.robot.joints.items() if joint.armature} == {
        "hinge": pytest.approx(0.002), "slide": pytest.approx(0.3)
    }  # fmt: skip
    assert sum("rotor" in name for name in found.assembly.bodies) == 4
    assert [entry.element for entry in found.report.of(DROPPED) if "mjc:frictionloss" in entry.what] == [
        'PhysicsRevoluteJoint name="/rig/hinge"'
    ]


@pytest.mark.parametrize("seeds", [range(150), *more([range(150, 3000)])], ids=len)
def test_damaged_stages_are_read_or_refused_in_a_sentence(seeds, written, capfd):
    """Whatever is wrong in them, and within a second each; what the library says itself is swallowed."""
    for seed in seeds:
        path = written(damaged(STAGE, random.Random(seed)).encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
        with within(1.0, seed):
            try:
                read_model(path, contacts=bool(seed % 2), repair=bool(seed % 3))
            except ModelError as error:
                assert "stage" in str(error)
