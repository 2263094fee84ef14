"""Robots out of URDF: closed forms, other ways to write the same, what no body can have, and what strangers' files may hold."""

import random
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from coordinator import Glued, Simulation
from modular import Assembly, ModelError
from modular.errors import ImportedWarning
from scenarios import catalogue
from scenarios.models import read_model
from scenarios.models.import_report import APPROXIMATED, DROPPED
from scenarios.models.inertias import is_possible, nearest_possible
from urdf_arm import ARM


@pytest.fixture
def written(tmp_path: Path):
    def write(text: str | bytes, name: str = "robot.urdf") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def fixed_axes(*rpy):
    return Rotation.from_euler("xyz", rpy).as_matrix()


def test_links_joints_and_forces_stand_where_the_file_puts_them(written):
    found = read_model(written(ARM), values={"slide": 0.15})
    model = found.assembly
    assert list(model.bodies) == ["upper", "tool"] and model.joints == ("shoulder", "slide")
    assert found.values == {"shoulder": 0.2, "slide": 0.15}  # the stop nearest to 0
    R = fixed_axes(0.1, 0.2, 0.3)
    axis, R_upper = R @ (0, 1, 0), R @ Rotation.from_rotvec((0, 0.2, 0)).as_matrix()
    R_flange = R_upper @ fixed_axes(0, 0, 1.2)
    p_flange = np.array([0, 0, 0.5]) + R_upper @ (0.4, 0, 0)
    p_tool = p_flange + R_flange @ (0, 0, 0.15)
    tool, upper = model.bodies["tool"], model.bodies["upper"]
    assert np.allclose(tool.places["tip"].point, p_tool + R_flange @ (0.1, 0, 0.05), atol=1e-15)
    assert np.allclose(np.array(tool.places["tip"].axes).T, R_flange, atol=1e-15)
    assert np.allclose(model.joint_edges["shoulder"].joint.axis, axis, atol=1e-15)
    centre = (1.3 * (np.array([0, 0, 0.5]) + R_upper @ (0.2, 0, 0)) + 0.4 * (p_flange + R_flange @ (0, 0.1, 0))) / 1.7
    assert upper.mass == pytest.approx(1.7) and np.allclose(upper.centre, centre, atol=1e-15)
    stop, friction, motor = (model.force_edges[f"shoulder-{what}"].force for what in ("stop", "friction", "motor"))
    assert (stop.low, stop.high) == pytest.approx((0.0, 1.3)) and motor.most == 30.0
    assert (friction.dry, friction.viscous) == (0.05, 0.1)
    assert model.force_edges["slide-stop"].force.low == pytest.approx(-0.25) and "slide-motor" not in model.forces


def test_a_bar_out_of_a_file_swings_as_its_closed_form_says(written):
    """A physical pendulum: omega^2 = m g l / (I + m l^2), with the period of small swings."""
    bar = (
        '<robot name="bar"><link name="wall"/><link name="bar"><inertial><origin xyz="0 0 -0.3"/><mass value="2"/>'
        '<inertia ixx="0.07" ixy="0" ixz="0" iyy="0.06" iyz="0" izz="0.03"/></inertial></link>'
        '<joint name="pin" type="continuous"><parent link="wall"/><child link="bar"/><axis xyz="0 1 0"/></joint></robot>'
    )
    small = 1e-3
    model = read_model(written(bar), values={"pin": small}).assembly
    pace = np.sqrt(2.0 * 9.81 * 0.3 / (0.06 + 2.0 * 0.3**2))
    with Simulation(model, 1e-3, Glued(order=4)) as simulation:
        run = simulation.run(1.0)
    swing = run.angle("pin")  # from where it began
    assert np.abs(swing - small * (np.cos(pace * run.time) - 1.0)).max() < 1e-6 * small


def test_the_same_robot_written_otherwise_is_the_same(written):
    """Elements in another order, and an axis of another length, change nothing."""
    root = ElementTree.fromstring(ARM.replace('xyz="0 2 0"', 'xyz="0 1e-3 0"'))
    root[:] = reversed(root)
    shuffled = ElementTree.tostring(root)
    one, other = (read_model(written(text)).assembly for text in (ARM, shuffled))
    assert set(one.bodies) == set(other.bodies)
    for name, body in one.bodies.items():
        assert np.allclose(body.inertia, other.bodies[name].inertia, atol=1e-15)
        assert np.allclose(body.centre, other.bodies[name].centre, atol=1e-15)


def test_what_was_read_goes_through_our_own_file_to_the_byte(written, tmp_path: Path):
    model = read_model(written(ARM), values={"slide": 0.1}).assembly
    model.save(tmp_path / "a.json")
    Assembly.load(tmp_path / "a.json").save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_a_loop_closes(written):
    loop = ARM.replace(
        "</robot>",
        '<loop_joint name="tie" type="ball"><link1 link="tip"/><link2 link="base" xyz="{} {} {}"/></loop_joint></robot>',
    )
    place = read_model(written(ARM)).assembly.bodies["tool"].places["tip"].point
    model = read_model(written(loop.format(*map(repr, place)))).assembly
    assert type(model.joint_edges["tie"].joint).__name__ == "Spherical"
    assert model.joint_edges["tie"].second_body == "ground"
    assert np.allclose(model.joint_edges["tie"].at, place, atol=1e-15)


@pytest.mark.campaign
def test_the_nearest_possible_inertia_is_the_nearest(written):
    draw = np.random.default_rng(7)
    for _ in range(20):
        values, turn = draw.uniform(-1.0, 2.0, 3), Rotation.random(rng=draw).as_matrix()
        given = turn @ np.diag(values) @ turn.T
        if is_possible(given, 1.0):
            assert np.allclose(nearest_possible(given, 1e-9), given, atol=3e-6)
            continue
        mended = nearest_possible(given, 1e-9)
        assert is_possible(mended, 1.0)

        def off(roots, given=given, turn=turn):
            P = turn @ np.diag(roots**2) @ turn.T
            return np.sum((np.trace(P) * np.eye(3) - P - given) ** 2)

        best = min(minimize(off, start, tol=1e-12).fun for start in draw.uniform(0.1, 1.5, (8, 3)))
        assert np.sum((mended - given) ** 2) <= best + 1e-5


def test_impossible_inertias_are_named_all_at_once_and_mended_when_asked(written):
    wrong = ARM.replace('iyy="0.012"', 'iyy="0.03"').replace('izz="0.005"', 'izz="0.009"')
    with pytest.raises(ModelError) as refused:
        read_model(written(wrong))
    lines = str(refused.value).splitlines()
    assert len(lines) == 2 and "'flange'" in lines[0] and "0.003, 0.004, 0.009" in lines[0]
    assert "robot.urdf:11: link 'tool'" in lines[1] and "nearest possible" in lines[1]
    found = read_model(written(wrong), repair=True)
    assert sum("mended" in entry.what for entry in found.report.of(APPROXIMATED)) == 2


def test_stops_are_left_out_when_asked(written):
    found = read_model(written(ARM), stops=False)
    assert not any(name.endswith("stop") for name in found.assembly.forces)
    assert found.values["shoulder"] == 0.0 and len(found.report.of(APPROXIMATED)) == 2


BETWEEN = """<robot name="r"><link name="base"/>
<link name="a"><inertial><origin xyz="0 0 -.2"/><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"/></inertial></link>
<link name="b"><inertial><origin xyz="0 0 -.2"/><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="k" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 -.4"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="j" multiplier="2"/></joint></robot>"""


def test_nothing_begins_behind_its_stops_which_would_throw_it_out(written):
    """A kilogram that was put a radian behind its stop had 16 kJ half a second later."""
    file = written(BETWEEN)
    with pytest.raises(ModelError, match=r"'j' is to begin at 2, beyond its stops, -1 and 1; give a value between"):
        read_model(file, values={"j": 2.0})
    assert "j-stop" not in read_model(file, values={"j": 2.0}, stops=False).assembly.forces
    there = read_model(file, values={"j": 0.4})
    assert {"j-stop", "k-stop"} <= set(there.assembly.forces) and not there.report.of(APPROXIMATED)
    beyond = read_model(file, values={"j": 0.7})  # which leads the other one to 1.4
    assert "j-stop" in beyond.assembly.forces and "k-stop" not in beyond.assembly.forces
    assert ["begins at 1.4, beyond its stops" in entry.what for entry in beyond.report.of(APPROXIMATED)] == [True]


def test_a_mass_in_a_point_or_on_a_line_is_named_and_given_an_inertia_when_asked(written):
    for rest in ('iyy="0.012" iyz="0" izz="0.012"', 'iyy="0" iyz="0" izz="0"', 'iyy="1e-20" iyz="0" izz="1e-20"'):
        thin = ARM.replace(
            'ixx="0.01" ixy="0" ixz="0" iyy="0.012" iyz="0" izz="0.009"', f'ixx="0" ixy="0" ixz="0" {rest}'
        )
        with pytest.raises(ModelError, match=r"'tool': 0.7 kg with principal inertias .* in a point"):
            read_model(written(thin))
        tool = read_model(written(thin), repair=True).assembly.bodies["tool"]
        assert np.linalg.eigvalsh(tool.inertia_tensor)[0] >= 0.7e-6


def test_a_plate_without_thickness_is_a_body_of_the_other_kind(written):
    plate = ARM.replace('iyy="0.012" iyz="0" izz="0.009"', 'iyy="0.012" iyz="0" izz="0.022"')
    assert type(read_model(written(plate)).assembly.bodies["tool"]).__name__ == "NewtonEulerBody"


def test_what_is_dropped_is_told_and_strict_refuses_it(written):
    more = ARM.replace("<visual>", "<collision/><nonsense/><visual>")
    assert [entry.element for entry in read_model(written(more)).report.of(DROPPED)] == ["nonsense", "collision"]
    assert read_model(written(ARM), strict=True).report.of(DROPPED) == []
    with pytest.raises(ModelError, match="2 elements are dropped"):
        read_model(written(more), strict=True)
    with pytest.warns(ImportedWarning, match="2 elements dropped"):
        catalogue.build(str(written(more)), {})


def test_frames_without_mass_are_held_on_what_they_hang_on(written):
    free = ARM.replace('name="slide" type="prismatic"', 'name="slide" type="fixed"').replace(
        'name="end" type="fixed"', 'name="end" type="revolute"'
    )
    found = read_model(written(free))
    assert list(found.assembly.bodies) == ["upper"] and {"flange", "tool", "tip"} <= set(
        found.assembly.bodies["upper"].port_names
    )
    assert any("has no mass" in entry.what for entry in found.report.of(APPROXIMATED))


BOMB = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><robot name="&b;"/>'
FOLLOWS = ARM.replace('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/><mimic joint="LEADER"/>')
WRONG = [
    (BOMB, r"robot.urdf:1: <!DOCTYPE r> is refused"),
    ("", "not valid XML"),
    ("<robot><link name='a'></robot>", "robot.urdf:1: not valid XML"),
    ("<usd/>", "begins with <robot>"),
    ("<robot/>", "no <link>"),
    ("<robot>" * 200 + "</robot>" * 200, "more than 100 nested elements"),
    ("<robot><link/></robot>", 'it has no name="…"'),
    (
        ARM.replace('parent link="upper"', 'parent link="uper"'),
        "robot.urdf:17: <joint name=\"weld\">.*did you mean 'upper'",
    ),
    (ARM.replace('value="0.7"', 'value="heavy"'), 'value="heavy"; give one finite number'),
    (ARM.replace('value="0.7"', 'value="nan"'), 'value="nan"'),
    (ARM.replace('value="0.7"', 'value="1e300"'), 'value="1e300"; give one finite number up to'),
    (ARM.replace('value="0.7"', 'value="1e-300"'), "1e-300 kg"),
    (ARM.replace('value="0.7"', 'value="-0.7"'), "a mass cannot be negative"),
    (ARM.replace('xyz="0 2 0"', 'xyz="0 0 0"'), "the axis points nowhere"),
    (ARM.replace('type="revolute"', 'type="hinge"'), 'type="hinge"; give one of'),
    (ARM.replace('lower="0.2"', 'lower="2.2"'), "lies above upper"),
    (ARM.replace('<child link="tip"/>', '<child link="upper"/>'), "close a loop with"),
    (FOLLOWS.replace("LEADER", "sholder"), "did you mean 'shoulder'"),
    (FOLLOWS.replace("LEADER", "weld"), "no joint that has a value 'weld'"),
    (FOLLOWS.replace("LEADER", "slide"), "which follows it"),
    (ARM.replace('name="tip"', 'name="tool"'), "there is a link of that name already"),
    (ARM.replace('<parent link="base"/>', '<parent link="tip"/>'), "ring|no joint holds it"),
]


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_a_file_that_is_no_robot_is_refused_with_its_line(written, text: str, said: str):
    with pytest.raises(ModelError, match=said):
        read_model(written(text))


def test_wrong_options_are_refused(written):
    path = written(ARM)
    for options, said in (
        ({"base": "flying"}, "give one of fixed, free"),
        ({"base": "free"}, "has no mass"),
        ({"repair": "yes"}, "true or false"),
        ({"values": {"sholder": 1.0}}, "did you mean 'shoulder'"),
        ({"values": {"shoulder": "up"}}, "give a finite number"),
    ):
        with pytest.raises(ModelError, match=said):
            read_model(path, **options)
    with pytest.raises(ModelError, match="cannot be read"):
        read_model(path.with_name("other.urdf"))


def test_files_by_lot_end_in_a_model_or_in_a_sentence(written):
    """Bytes and words exchanged, lines lost or twice: whatever it is, no traceback."""
    draw, read, refused = random.Random(11), 0, 0
    words = [
        b"nan",
        b"1e999",
        b"-1",
        b"0",
        b"",
        b"base",
        b"upper",
        b"floating",
        b"planar",
        b"<",
        b"&",
        b"ground",
        b"a.b/c d",
        b"\xff",
    ]
    for _ in range(300):
        data = bytearray(ARM.encode())
        for _ in range(draw.randint(1, 4)):
            kind = draw.randrange(4)
            start = draw.randrange(len(data))
            if kind == 0:
                data[start] = draw.randrange(256)
            elif kind == 1:
                del data[start : start + draw.randint(1, 40)]
            else:
                quotes = [k for k, letter in enumerate(data) if letter == 34]
                k = draw.randrange(0, len(quotes) - 1)
                data[quotes[k] + 1 : quotes[k + 1]] = draw.choice(words)
        try:
            read_model(written(bytes(data)), base=draw.choice(["fixed", "free"]), repair=draw.random() < 0.5)
            read += 1
        except ModelError as error:
            assert str(error) and all(line.strip() for line in str(error).splitlines())
            refused += 1
    assert read > 0 and refused > 0


def gripper(tip="-0.5"):
    """Two fingers on a palm, and a tip on the second that follows the first: four bodies."""
    tensor = '<inertia ixx="1e-3" iyy="1.2e-3" izz="5e-4" ixy="0" ixz="0" iyz="0"/>'
    inertial = f'<inertial><origin xyz="0.02 0.01 0.1"/><mass value="0.3"/>{tensor}</inertial>'
    joints = [
        ("wrist", "continuous", "base", "palm", "0 0 0", "1 0 0", ""),
        ("lead", "continuous", "palm", "left", "0.1 0 0.1", "0 1 0", ""),
        ("other", "continuous", "palm", "right", "-0.1 0 0.1", "0 1 0", '<mimic joint="lead" multiplier="-1"/>'),
        ("tip", "continuous", "right", "nail", "0 0 0.2", "0 0.6 0.8", f'<mimic joint="lead" multiplier="{tip}" offset="0.3"/>'),
    ]  # fmt: skip
    links = "".join(f'<link name="{name}">{inertial}</link>' for name in ("palm", "left", "right", "nail"))
    told = "".join(
        f'<joint name="{name}" type="{kind}"><parent link="{above}"/><child link="{below}"/><origin xyz="{at}"/>'
        f'<axis xyz="{axis}"/>{more}</joint>'
        for name, kind, above, below, at, axis, more in joints
    )
    return f'<robot name="gripper"><link name="base"/>{links}{told}</robot>'


def test_joints_follow_others_whoever_carries_them(written):
    """The tip shares no body with the joint that it follows; it is held to the finger that follows it too."""
    found = read_model(written(gripper()), values={"lead": 0.2, "wrist": 0.3})
    assert found.values == pytest.approx({"wrist": 0.3, "lead": 0.2, "other": -0.2, "tip": 0.2})
    assert not found.report.of(DROPPED) and {"other-follows", "tip-follows"} <= set(found.assembly.joints)
    with Simulation(found.assembly, 1e-3, Glued()) as simulation:
        run = simulation.run(0.5)
    assert np.ptp(run.angle("lead")) > 0.3 and np.ptp(run.angle("wrist")) > 0.5
    np.testing.assert_allclose(run.angle("other"), -run.angle("lead"), atol=1e-12)
    np.testing.assert_allclose(run.angle("tip"), -0.5 * run.angle("lead"), atol=1e-12)
    assert np.ptp(run.energy) < 1e-4


def test_what_cannot_follow_is_told_with_the_reason(written):
    alone = gripper().replace('<mimic joint="lead" multiplier="-1"/>', "")
    (dropped,) = read_model(written(alone)).report.of(DROPPED)
    assert "no body carries it and one that follows the same" in dropped.what
    assert read_model(written(gripper()), values={"lead": 0.4, "other": -0.4}).values["tip"] == pytest.approx(0.1)
    with pytest.raises(
        ModelError, match=r"joint 'other' is to begin at 0\.3, and follows 'lead', which puts it at -0\.4"
    ):
        read_model(written(gripper()), values={"lead": 0.4, "other": 0.3})
    with pytest.raises(ModelError, match="there is no joint that has a value 'lend'; did you mean 'lead'"):
        read_model(written(gripper().replace('joint="lead" multiplier="-1"', 'joint="lend"')))
