"""Models out of MJCF: what they move is what MuJoCo moves, and what we wrote is read back as it was."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import scenarios
from components import Planar, Solid, Spherical, TableSpring, Universal
from coordinator import Glued, Simulation
from mjcf_model import MJCF
from modular import ModelError
from modular.errors import ImportedWarning
from scenarios import catalogue
from scenarios.models import export_model, read_model
from scenarios.models.import_report import DROPPED
from scenarios.models.mjcf_classes import Classes


@pytest.fixture
def written(tmp_path: Path):
    def write(text: str, name: str = "model.xml") -> Path:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def moved(model, places, end=0.2, dt=5e-4, order=4):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Simulation(model, dt, Glued(order=order)) as simulation:
            run = simulation.run(end)
    return np.array([run.position(place)[-1] for place in places])


def test_all_sorts_of_a_file_move_as_in_mujoco(written):
    """Degrees, classes, turns, shapes, springs, several joints of a body and a loop: within 1e-6 m, as MuJoCo closes the loop."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed; pip install -e '.[peers]'")
    path = written(MJCF)
    values = {"yaw": 0.3, "shoulder": -0.4, "slide": 0.02}
    found = read_model(path, stops=False, values=values)
    model = found.assembly
    model.remove("shoulder-motor")
    told = {entry.element for entry in found.report.of(DROPPED) if "is part of a" in entry.what}
    assert told == {'joint name="elbow"', 'joint name="twist"'}  # crosses know no forces along their turns
    there = mujoco.MjModel.from_xml_path(str(path))
    there.opt.timestep, there.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    there.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    there.eq_solref[:], there.eq_solimp[:] = (2e-4, 1.0), (0.9999, 0.9999, 0.001, 0.5, 1.0)
    for name in ("elbow", "twist"):
        joint = there.joint(name).id
        there.dof_damping[there.jnt_dofadr[joint]] = 0.0
        there.jnt_stiffness[joint] = 0.0
    data = mujoco.MjData(there)
    for name, value in values.items():
        data.qpos[there.jnt_qposadr[there.joint(name).id]] = value
    mujoco.mj_step(there, data, 2000)
    mujoco.mj_forward(there, data)
    held = {
        "base": "yaw",
        "arm": "shoulder",
        "fore": "elbow",
        "tip": "slide",
        "wheel": "ball",
        "link": "pin",
        "other": "turn",
        "raft": "ay",
    }
    anchors = {
        name: data.body(name).xpos + data.body(name).xmat.reshape(3, 3) @ there.joint(joint).pos
        for name, joint in held.items()
    }
    ours = moved(model, [f"{name}.{name}" for name in anchors])
    assert np.abs(ours - np.array(list(anchors.values()))).max() < 1e-6
    assert np.abs(moved(model, ["arm.elbow_place"]) - data.site("elbow place").xpos).max() < 1e-9
    masses = {name: body.total_mass for name, body in model.bodies.items()}
    assert masses == pytest.approx({name: there.body(name).mass[0] for name in masses}, rel=1e-12)
    assert sum(masses.values()) == pytest.approx(9.0)


def test_what_we_wrote_is_read_back_and_moves_the_same(tmp_path: Path):
    """Loops, classes of joints, springs; to rounding."""
    model = scenarios.load("four-bar")
    export_model(model, tmp_path / "bars.xml")
    back = read_model(tmp_path / "bars.xml").assembly
    assert tuple(back.gravity) == (0.0, -9.81, 0.0) and "top" in back.joints
    one = moved(model, ["rocker.end", "coupler.end"], end=0.3)
    other = moved(back, ["rocker.rocker_end", "coupler.coupler_end"], end=0.3)
    assert np.abs(one - other[:, :2]).max() < 1e-12


def test_joints_count_as_their_file_does(written):
    """MuJoCo counts from `ref` where a model is put down; the places of stops and springs are counted so too."""
    text = (
        '<mujoco><worldbody><body name="a"><joint name="turn" ref="30" range="-20 90" stiffness="3" springref="50"/>'
        '<geom type="box" size=".1 .2 .3" pos=".1 0 0"/></body></worldbody></mujoco>'
    )
    for values, begins in (({}, 30.0), ({"turn": np.radians(80.0)}, 80.0)):
        found = read_model(written(text), values=values)
        told, own = found.joints["turn"], found.assembly.joints["turn"]
        assert np.degrees([told.begins, told.low, told.high]) == pytest.approx([begins, -20.0, 90.0])
        assert np.degrees([own.angle, own.low, own.high]) == pytest.approx([begins, -20.0, 90.0])
        spring = found.assembly.force_edges["turn-spring"].force
        assert np.degrees(spring.places[0]) == pytest.approx(50.0 - begins)
    across = found.robot.joints["turn"].at(np.radians(80.0 - 30.0)).turn
    assert np.allclose(across, Rotation.from_euler("z", 50.0, degrees=True).as_matrix(), atol=1e-15)


def test_joints_of_one_body_are_one_of_ours(written):
    model = read_model(written(MJCF)).assembly
    kinds = {name: type(edge.joint) for name, edge in model.joint_edges.items()}
    assert kinds["elbow"] is Universal and kinds["sx"] is Planar and kinds["ball"] is kinds["tie"] is Spherical
    assert "loose" in model.bodies and not any(
        "loose" in (e.first_body, e.second_body) for n, e in model.joint_edges.items() if n != "pin"
    )
    spring = model.force_edges["slide-spring"].force
    assert isinstance(spring, TableSpring) and spring.places[0] == pytest.approx(0.05) and spring.forces[1] == 40.0
    assert model.force_edges["shoulder-motor"].force.most == 10.0
    stop = model.force_edges["shoulder-stop"].force
    assert np.degrees([stop.low, stop.high]) == pytest.approx([-60.0, 80.0])


def test_shapes_have_the_masses_of_their_volumes(written):
    text = '<mujoco><worldbody><body name="a"><freejoint/><geom type="{}" size="{}"/></body></worldbody></mujoco>'
    for kind, size, solid in (
        ("sphere", "0.2", Solid.ball(0.2, density=1000)),
        ("capsule", "0.1 0.3", Solid.capsule(0.1, 0.6, density=1000)),
        ("cylinder", "0.1 0.3", Solid.cylinder(0.1, 0.6, density=1000)),
        ("box", "0.1 0.2 0.3", Solid.box(0.2, 0.4, 0.6, density=1000)),
    ):
        body = read_model(written(text.format(kind, size))).assembly.bodies["a"]
        assert body.total_mass == pytest.approx(solid.mass) and np.allclose(body.inertia, solid.inertia)
    body = read_model(written(text.format("ellipsoid", "0.1 0.2 0.3"))).assembly.bodies["a"]
    mass = 1000 * 4 / 3 * np.pi * 0.006
    assert body.total_mass == pytest.approx(mass)
    assert np.allclose(np.diag(body.inertia), mass / 5 * np.array([0.13, 0.10, 0.05]))


@pytest.mark.parametrize("sequence", ["xyz", "XYZ", "zyx", "ZYX", "yxz"])
def test_euler_angles_turn_with_the_body_or_about_axes_that_stay(sequence, written):
    angles = np.array([0.3, -0.5, 0.7])
    classes = Classes(degrees=False, sequence=sequence)
    ours = classes._of_euler(angles)
    order = sequence.upper() if sequence.islower() else sequence.lower()  # there small letters stay
    assert np.allclose(ours, Rotation.from_euler(order, angles).as_matrix(), atol=1e-15)


BODY = '<mujoco><worldbody>\n<body name="a">\n<joint/>\n<geom size="0.1"/>\n</body></worldbody>\n</mujoco>'


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("<joint/>", '<joint type="hing"/>', r"model.xml:3: <joint>: type=\"hing\"; give one of hinge"),
        ("<joint/>", '<joint axis="0 0 0"/>', r"model.xml:3: .*points nowhere"),
        ("<joint/>", '<joint class="b"/>', r"model.xml:3: .*there is no class 'b'"),
        ("<joint/>", '<joint/><joint type="slide" axis="1 0 0"/>', r"model.xml:2: .*together none that is known"),
        ("<joint/>", '<joint range="1 -1"/>', r"model.xml:3: .*two numbers that rise"),
        ('<geom size="0.1"/>', '<geom type="mesh" mesh="m"/>', r"model.xml:4: .*there is no mesh"),
        ('<geom size="0.1"/>', '<geom size="-1"/>', r"model.xml:4: .*above 0"),
        ('<geom size="0.1"/>', '<geom size="1 x"/>', r"model.xml:4: .*finite numbers"),
        ('<geom size="0.1"/>', '<geom size="0.1"/><replicate/>', r"model.xml:4: <replicate>: it makes bodies"),
        ("</worldbody>", '</worldbody><equality><connect body1="z" anchor="0 0 0"/></equality>', r"no body 'z'"),
        ("<worldbody>", '<compiler angle="grad"/><worldbody>', r"model.xml:1: <compiler>: angle=\"grad\""),
        ('<body name="a">', '<body name="a" quat="1 0 0 0" euler="0 0 0">', r"model.xml:2: .*give one of them"),
        ('<body name="a">', '<body name="world">', r"a body of that name already"),
        ("<mujoco>", "<mujoco><!DOCTYPE a>", r"not valid XML"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(written, old, new, said):
    with pytest.raises(ModelError, match=said):
        read_model(written(BODY.replace(old, new)))


def test_a_base_is_free_where_the_file_says_so(written):
    with pytest.raises(ModelError, match="base = free is for URDF"):
        read_model(written(MJCF), base="free")


def test_what_is_left_out_is_told_and_strict_refuses_it(written):
    path = written(MJCF.replace("</mujoco>", '<tendon><fixed name="t"/></tendon><contact/></mujoco>'))
    with pytest.warns(ImportedWarning, match="dropped"):
        catalogue.build(str(path), {})
    dropped = [entry.element for entry in read_model(path).report.of(DROPPED)]
    assert 'fixed name="t"' in dropped and "contact" in dropped
    with pytest.raises(ModelError, match="--strict"):
        read_model(path, strict=True)


FOLLOWING = """<mujoco><compiler angle="radian"/><option gravity="0.3 0.2 -9.81"/><worldbody><body name="palm">
<joint name="wrist" axis="1 0 0.2"/><geom type="box" size="0.1 0.05 0.04" mass="0.8"/>
<body name="one" pos="0.1 0 0.1"><joint name="one" axis="0 1 0"/><geom type="box" size="0.02 0.03 0.1" pos="0.01 0 0.1" mass="0.3"/>
</body>
<body name="two" pos="-0.1 0 0.1"><joint name="two" axis="0 1 0.3"/>
<geom type="box" size="0.02 0.03 0.1" pos="0 0.02 0.1" mass="0.2"/>
</body>
</body></worldbody><equality><joint joint1="two" joint2="one" polycoef="0.1 -0.7 0 0 0"/>{}</equality></mujoco>"""


def test_a_joint_that_follows_moves_as_in_mujoco(written):
    """Along the line that it says; what MuJoCo lets a tie give is made as little as it can."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed; pip install -e '.[peers]'")
    path = written(FOLLOWING.format(""))
    found = read_model(path)
    assert found.values == {"wrist": 0.0, "one": 0.0, "two": 0.1}
    there = mujoco.MjModel.from_xml_path(str(path))
    there.opt.timestep, there.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    there.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    there.eq_solref[:], there.eq_solimp[:] = (2e-4, 1.0), (0.9999, 0.9999, 0.001, 0.5, 1.0)
    data = mujoco.MjData(there)
    data.qpos[there.jnt_qposadr[there.joint("two").id]] = 0.1
    mujoco.mj_step(there, data, 2000)
    with Simulation(found.assembly, 5e-4, Glued(order=4)) as simulation:
        run = simulation.run(0.2)
    ours = [run.angle(name)[-1] + found.values[name] for name in ("wrist", "one", "two")]
    assert min(map(abs, ours)) > 0.02
    np.testing.assert_allclose(ours, [data.joint(name).qpos[0] for name in ("wrist", "one", "two")], atol=2e-6)


def test_ties_of_joints_that_are_no_line_are_told(written):
    for more, said in (
        ('<joint joint1="one" joint2="wrist" polycoef="0 1 0.2 0 0"/>', "along a curve"),
        ('<joint joint1="two" joint2="wrist"/>', "follows another already"),
        ('<joint joint1="wrist"/>', "a tie of joints that is not read"),
    ):
        assert any(said in entry.what for entry in read_model(written(FOLLOWING.format(more))).report.of(DROPPED))
    with pytest.raises(ModelError, match="there is no joint 'twice'"):
        read_model(written(FOLLOWING.format('<joint joint1="twice" joint2="one"/>')))
