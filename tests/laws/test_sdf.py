"""Models out of SDFormat: poses, axes and loops are where the format puts them, and move as what Python builds."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from components import Friction, Revolute, RigidBody, Spherical, TableSpring, Universal
from coordinator import Glued, Simulation
from modular import Assembly, ModelError
from scenarios.models import read_model
from scenarios.models.import_report import DROPPED
from sdf_model import SDF


@pytest.fixture
def written(tmp_path: Path):
    def write(text: str, name: str = "model.sdf") -> Path:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def by_hand() -> Assembly:
    """The bars of that file, worked out by hand; its model pose is in radians."""
    M = Rotation.from_euler("z", 90.0).as_matrix()
    p_M = np.array([0.1, 0.0, 0.5])

    def put(place):
        return p_M + M @ place

    R_crank = M @ Rotation.from_euler("y", 90, degrees=True).as_matrix()
    pin = put(np.zeros(3)) + R_crank @ (0.1, 0, 0)
    R_coupler = R_crank @ Rotation.from_euler("xyz", (0.2, 0, 0.4)).as_matrix()
    coupler = pin + R_crank @ (0.15, 0, 0.2)
    inner = Rotation.from_euler("z", 0.3).as_matrix()
    tensor = np.array([[0.002, 0.0001, 0], [0.0001, 0.003, 0], [0, 0, 0.0025]])
    turn = R_crank @ inner
    model = Assembly(gravity=(0.0, 0.5, -9.81))
    foot, top, rocker = put((0.3, 0, 0)), put((0.3, 0, 0.25)), put((0.3, 0, 0.1))
    crank = put(np.zeros(3)) + R_crank @ (0.05, 0, 0)

    def add(name, mass, inertia, centre, **ports):
        model.add(name, RigidBody(mass=mass, inertia=inertia, centre=centre, ports=ports))

    add("crank", 0.5, turn @ tensor @ turn.T, crank, start=put(np.zeros(3)), end=pin)
    add("coupler", 0.8, R_coupler @ np.diag([0.004, 0.005, 0.006]) @ R_coupler.T, coupler, start=pin, end=top)
    add("rocker", 0.4, M @ np.diag([0.001, 0.001, 0.0015]) @ M.T, rocker, start=foot, end=top)
    across = M @ (0, 1, 0)
    model.join("pivot", Revolute(axis=across), "ground", "crank.start")
    model.join("pin", Universal(axis=across, cross=M @ (1, 0, 0.2)), "coupler.start", "crank.end")
    model.join("top", Spherical(), "coupler.end", "rocker.end")
    model.join("foot", Revolute(axis=-across), "ground", "rocker.start")
    model.apply("friction", Friction(0.0, 0.01, axis=across), "ground", "crank.start")
    model.apply("spring", TableSpring((0.2, 1.2), (0.0, 0.7), measure="angle", axis=across), "ground", "crank.start")
    held = TableSpring((0.4, 1.4), (0.0, 0.5), measure="angle", axis=-across)  # the ground is the child there
    model.apply("other-spring", held, "ground", "rocker.start")
    return model


def test_a_loop_of_relative_poses_moves_as_it_does_by_hand(written):
    found = read_model(written(SDF), stops=False)
    model = found.assembly
    model.remove("bars::pivot-motor")
    assert model.joints == ("bars::pivot", "bars::foot", "bars::pin", "bars::top") or len(model.joints) == 4
    ends = []
    for one, ports in (
        (by_hand(), ("crank.end", "coupler.end", "rocker.end")),
        (model, ("bars::coupler.bars::coupler", "bars::coupler.bars::top_1", None)),
    ):
        with Simulation(one, 5e-4, Glued(order=4), project_velocities=True) as simulation:
            run = simulation.run(0.3)
        ends.append([run.position(port)[-1] for port in ports if port][:2])
    assert np.abs(np.array(ends[0]) - np.array(ends[1])).max() < 1e-11


def test_what_nothing_holds_is_free_and_what_is_static_stands(written):
    found = read_model(written(SDF))
    model = found.assembly
    assert tuple(model.gravity) == (0.0, 0.5, -9.81)
    assert "block::stone" not in model.bodies and "stray::stone" in model.bodies
    assert not any("stray::stone" in (edge.first_body, edge.second_body) for edge in model.joint_edges.values())
    assert np.allclose(model.bodies["stray::stone"].centre, (2, 0, 0)) and model.bodies["stray::stone"].mass == 1.0
    stop = model.force_edges["bars::pivot-stop"].force
    assert (stop.low, stop.high) == (-2.0, 2.5) and model.force_edges["bars::pivot-motor"].force.most == 6.0
    assert [entry.element for entry in found.report.of(DROPPED)] == ['collision name="c"']


ONE = """<sdf version="1.7"><model name="m">
<link name="a">
<pose>0 0 1 0 0 0</pose>
</link>
<joint name="j" type="revolute">
<parent>world</parent><child>a</child><axis><xyz>0 1 0</xyz></axis>
</joint></model></sdf>"""


@pytest.mark.parametrize(
    "old, new, said",
    [
        ('version="1.7"', 'version="new"', r"model.sdf:1: .*version=\"new\""),
        ("<child>a</child>", "<child>b</child>", r"model.sdf:5: .*no (link|frame) 'b'"),
        ("<child>a</child>", "<child>world</child>", r"with itself"),
        ("<pose>0 0 1 0 0 0</pose>", "<pose>0 0 1</pose>", r"model.sdf:3: <pose>: .*give 6 finite numbers"),
        ("<pose>0 0 1 0 0 0</pose>", '<pose relative_to="a"/>', r"model.sdf:2: .*relative to itself"),
        ("<pose>0 0 1 0 0 0</pose>", '<pose relative_to="q"/>', r"no frame 'q'"),
        ("<pose>0 0 1 0 0 0</pose>", "<inertial><mass>-1</mass></inertial>", r"model.sdf:2: .*above 0"),
        ("revolute", "hinge", r"model.sdf:5: .*type=\"hinge\""),
        ("<xyz>0 1 0</xyz>", "<xyz>0 0 0</xyz>", r"points nowhere"),
        ("<axis><xyz>0 1 0</xyz></axis>", "", r"a revolute joint has an <axis>"),
        ("</model>", "<include/></model>", r"<include>: it includes another file"),
        ("</model>", '<link name="a"/></model>', r"something of that name already"),
        ('<link name="a">', "<link>", r"model.sdf:2: <link>: it has no name"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(written, old, new, said):
    assert read_model(written(ONE)).assembly.joints == ("j",)
    with pytest.raises(ModelError, match=said):
        read_model(written(ONE.replace(old, new)))


@pytest.mark.parametrize(("place", "flipped"), [("0.3 0 0", 1.0), ("0.2 0 0", 1.0), ("0.3 0 0", -1.0)])
def test_a_gearbox_turns_its_child_the_other_way_by_its_ratio(written, place, flipped):
    """theta_2 = -ratio theta_1 about axis and axis2, whichever way the hinges count; beside each other, and on one line."""
    link = (
        '<link name="{}"><pose>{}</pose><inertial><pose>0 0.1 0 0 0 0</pose><mass>1</mass><inertia><ixx>0.02</ixx>'
        "<iyy>0.02</iyy><izz>0.02</izz></inertia></inertial></link>"
    )
    hinge = '<joint name="{0}-hinge" type="revolute"><parent>{1}</parent><child>{0}</child><axis><xyz>{2} 0 0</xyz></axis></joint>'
    side = "0 0.2 0 0 0 0" if place == "0.3 0 0" else "0.2 0 0 0 0 0"
    gear = (
        '<joint name="g" type="gearbox"><parent>fast</parent><child>slow</child><gearbox_reference_body>base'
        "</gearbox_reference_body><gearbox_ratio>0.25</gearbox_ratio><axis><xyz>1 0 0</xyz></axis>"
        "<axis2><xyz>1 0 0</xyz></axis2></joint>"
    )
    text = (
        '<sdf version="1.7"><model name="m">'
        + "".join(link.format(*one) for one in (("base", "0 0 0 0 0 0"), ("fast", "0.2 0 0 0 0 0"), ("slow", side)))
        + hinge.format("base", "world", 1) + hinge.format("fast", "base", 1) + hinge.format("slow", "base", flipped)
        + gear + "</model></sdf>"
    )  # fmt: skip
    found = read_model(written(text))
    assert found.report.of(DROPPED) == []
    with Simulation(found.assembly, 1e-3, Glued()) as simulation:
        run = simulation.run(0.3)
    assert np.ptp(run.angle("fast-hinge")) > 1e-3 and np.ptp(run.angle("base-hinge")) > 0.2
    np.testing.assert_allclose(flipped * run.angle("slow-hinge"), -0.25 * run.angle("fast-hinge"), atol=1e-11)
    elsewhere = text.replace(hinge.format("slow", "base", flipped), hinge.format("slow", "world", flipped))
    (lost,) = read_model(written(elsewhere)).report.of(DROPPED)
    assert "no hinge holds 'slow' on 'base'" in lost.what


def test_axes_of_old_files_are_those_of_the_model(written):
    turned = ONE.replace("0 0 1 0 0 0", "0 0 1 0 0 1.5707963267948966")
    new, old = (
        read_model(written(turned.replace("1.7", version))).assembly.joint_edges["j"].joint.axis
        for version in ("1.7", "1.4")
    )
    assert np.allclose(new, (-1, 0, 0), atol=1e-15) and np.allclose(old, (0, 1, 0), atol=1e-15)
