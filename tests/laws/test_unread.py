"""What files of robots say is read, or told by name where it is not: nothing is left out without a word."""

from pathlib import Path

import numpy as np
import pytest

from components import Friction, Stop
from modular import ModelError
from scenarios.models import read_model
from scenarios.models.import_report import DROPPED
from scenarios.models.robot import Frame

MASS = "<inertial><mass>2</mass><inertia><ixx>.1</ixx><iyy>.2</iyy><izz>.15</izz></inertia></inertial>"
HINGE = '<axis xyz="0 1 0"/>'
TURN = "<axis><xyz>0 1 0</xyz>{}</axis>"
PLAIN = TURN.format("")
ALONG = "<dynamics><damping>3</damping></dynamics>"


def mjcf(joint="<joint/>", body="", before=""):
    return (
        f'<mujoco>{before}<worldbody><body name="a" {body}>{joint}<geom type="box" size=".1 .2 .3" pos=".1 .2 .3" contype="0" '
        'conaffinity="0"/></body></worldbody></mujoco>'
    )


def urdf(joint=HINGE, kind="continuous", inertia='ixx=".1" iyy=".2" izz=".15"'):
    return (
        f'<robot name="r"><link name="base"/><link name="a"><inertial><origin xyz="0 0 -.2"/><mass value="1"/><inertia {inertia}/>'
        f'</inertial></link><joint name="j" type="{kind}"><parent link="base"/><child link="a"/>{joint}</joint></robot>'
    )


def sdf(inside="", axis=PLAIN, kind="revolute", mass=MASS, model="", world=("", "")):
    return (
        f'<sdf version="1.10">{world[0]}<model name="m" {model}>{inside}<link name="a"><pose>0 0 1 0 0 0</pose>{mass}</link>'
        f'<joint name="j" type="{kind}"><parent>world</parent><child>a</child>{axis}</joint></model>{world[1]}</sdf>'
    )


@pytest.fixture
def read(tmp_path: Path):
    def read(text: str, **settings):
        ending = {"<m": ".xml", "<r": ".urdf", "<s": ".sdf"}[text[:2]]
        (tmp_path / f"model{ending}").write_text(text, encoding="utf-8")
        return read_model(tmp_path / f"model{ending}", **settings)

    return read


UNREAD = [
    (mjcf('<joint dampnig="1"/>'), "dampnig=\"1\" is not read; did you mean 'damping'?"),
    (mjcf('<joint springdamper=".1 1"/>'), 'springdamper=".1 1" is not read'),
    (mjcf('<joint actuatorfrcrange="-1 1"/>'), 'actuatorfrcrange="-1 1" is not read'),
    (mjcf('<joint type="free" damping="1"/>'), "damping of a joint that is part of a floating one"),
    (mjcf(body='gravcomp="1"'), 'gravcomp="1" is not read'),
    (mjcf(before='<option><flag spring="disable"/></option>'), 'spring="disable" is not read'),
    (mjcf(before='<default><joint springdamper=".1 1"/></default>'), 'springdamper=".1 1" is not read'),
    (urdf('<origin xzy="1 0 0"/>' + HINGE), "xzy=\"1 0 0\" is not read; did you mean 'xyz'?"),
    (urdf(HINGE + '<dynamics spring_stiffness="4"/>'), 'spring_stiffness="4" is not read'),
    (urdf(HINGE + '<limit effort="3" low="-1"/>'), "low=\"-1\" is not read; did you mean 'lower'?"),
    (urdf(HINGE + '<dynamics damping="2"/>', "planar"), "of a planar joint"),
    (urdf('<limit lower="-1" upper="1"/>', "floating"), "of a floating joint"),
    (urdf(inertia='ixx=".1" iyy=".2" izz=".15" i_xy=".01"'), "i_xy=\".01\" is not read; did you mean 'ixy'?"),
    (sdf(axis=TURN.format("<initial_position>1</initial_position>")), "not read in <axis>"),
    (sdf(axis=TURN.format("<dynamic><damping>3</damping></dynamic>")), "did you mean 'dynamics'?"),
    (sdf(axis=TURN.format("<limit><low>-1</low></limit>")), "did you mean 'lower'?"),
    (sdf(axis=TURN.format(ALONG), kind="ball"), "of a ball joint"),
    (sdf(axis=TURN.format("") + f"<axis2><xyz>1 0 0</xyz>{ALONG}</axis2>", kind="universal"), "of a universal joint"),
    (sdf(mass=MASS.replace("</inertial>", "<fluid_added_mass><xx>3</xx></fluid_added_mass></inertial>")), "in <inertial>"),
    (sdf().replace("<pose>0", '<pose relativeto="b">0'), "did you mean 'relative_to'?"),
]  # fmt: skip


@pytest.mark.parametrize("text, said", UNREAD)
def test_what_nobody_reads_is_told_by_name(read, text, said):
    assert said in "\n".join(str(entry) for entry in read(text).report.of(DROPPED))
    with pytest.raises(ModelError, match="--strict"):
        read(text, strict=True)


USUAL = [
    mjcf('<freejoint group="1"/>', before='<default><joint damping="1"/></default>'),
    mjcf('<joint solimplimit=".9 .9 .01" margin="0" actuatorgravcomp="false"/>', 'gravcomp="0" user="1 2"'),
    mjcf(before='<option timestep="1e-3" integrator="RK4"><flag warmstart="disable" spring="enable"/></option>'),
    urdf(HINGE + '<limit effort="0" velocity="3"/><dynamics damping="0"/>'),
    urdf('<limit effort="3" velocity="3"/>', "fixed"),
    sdf("<static>false</static>", TURN.format("<limit><velocity>2</velocity><stiffness>1e8</stiffness></limit>")),
    sdf(axis=TURN.format("<limit><lower>-1e16</lower><upper>1e16</upper></limit>"), kind="ball"),
]


@pytest.mark.parametrize("text", USUAL)
def test_words_that_bear_on_no_motion_are_not_told(read, text):
    assert read(text, strict=True).report.of(DROPPED) == []


def test_a_file_may_switch_weight_off(read):
    assert not np.any(
        read(mjcf(before='<option gravity="0 0 -5"/><option><flag gravity="disable"/></option>')).assembly.gravity
    )
    assert read(mjcf(before='<option gravity="0 0 -5"><flag gravity="enable"/></option>')).assembly.gravity[2] == -5.0


def test_the_topmost_class_counts_whatever_its_name_and_a_second_compiler_takes_nothing_back(read):
    model = read(mjcf(before='<default class="robot"><joint damping="3"/></default>')).assembly
    assert [force.force.viscous for force in model.force_edges.values()] == [3.0]
    two = '<body name="b"><freejoint/><geom size=".1"/></body></worldbody><equality><weld body1="a" body2="b"/></equality>'
    text = mjcf(before='<default><equality active="{}"/></default>').replace("</worldbody>", two)
    joints = [read(text.replace("{}", active)).assembly.joints for active in ("true", "false")]
    assert [len(names) for names in joints] == [2, 1]
    twice = '<compiler autolimits="false"/><compiler angle="radian"/>'
    assert not list(read(mjcf('<joint range="-1 1"/>', before=twice)).assembly.forces)


def test_what_meshes_weigh_as_shells_or_hulls_is_refused(read, tmp_path: Path):
    corners, faces = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)), ((1, 3, 2), (1, 2, 4), (1, 4, 3), (2, 3, 4))
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a} {b} {c}" for a, b, c in faces]
    (tmp_path / "it.obj").write_text("\n".join(lines))
    text = (
        '<mujoco><asset><mesh name="it" file="it.obj"/></asset><worldbody><body name="a"><freejoint/><geom type="mesh" mesh="it"/>'
        "</body></worldbody></mujoco>"
    )
    assert read(text).assembly.bodies["a"].total_mass == pytest.approx(1000.0 / 6.0)
    with pytest.raises(ModelError, match=r'inertia="shell" is not read'):
        read(text.replace('file="it.obj"', 'file="it.obj" inertia="shell"'))


def test_a_quaternion_turns_as_the_same_angles_do(read):
    told = '<origin xyz="1 2 3" {}/>' + HINGE
    half = 0.35
    frames = [
        read(urdf(told.format(turn))).robot.joints["j"].frame
        for turn in (f'quat_xyzw="{np.sin(half)} 0 0 {np.cos(half)}"', f'rpy="{2.0 * half} 0 0"')
    ]
    assert np.allclose(frames[0].turn, frames[1].turn, atol=1e-15) and np.array_equal(frames[0].place, [1.0, 2.0, 3.0])
    with pytest.raises(ModelError, match="rpy and quat_xyzw say its rotation"):
        read(urdf(told.format('rpy="1 0 0" quat_xyzw="0 0 0 1"')))


def test_a_static_model_stands_whatever_joints_it_has(read):
    free = '<link name="b"/><joint name="k" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz></axis></joint>'
    found = read(sdf(f"<static>true</static>{free}", mass=""))
    assert not found.assembly.bodies and not list(found.assembly.joints)
    assert set(read(sdf(free)).assembly.bodies) == {"a", "b"}


def test_poses_in_links_may_be_relative_to_other_frames(read):
    ball = "<geometry><sphere><radius>.1</radius></sphere></geometry>"
    shape = f'<collision name="c"><pose relative_to="a">0 0 .5 0 0 0</pose>{ball}</collision>'
    inertial = '<inertial><pose relative_to="m2">0 0 .2 0 0 0</pose></inertial>'
    link = f'<link name="b"><pose>3 0 0 0 0 0</pose>{inertial}{shape}</link>'
    inner = '<model name="m2"><pose>5 0 0 0 0 0</pose><link name="c"/></model>'
    robot = read(sdf(link + inner)).robot
    assert np.allclose(robot.links["b"].shapes[0].frame.place, [-3.0, 0.0, 1.5])
    assert np.allclose(robot.links["b"].centre, [2.0, 0.0, 0.2])
    assert isinstance(robot.links["b"].shapes[0].frame, Frame)


def test_a_world_has_the_weight_and_a_limit_the_ends_that_the_format_has_where_nothing_is_said(read):
    world = ('<world name="w">', "</world>")
    assert read(sdf(world=world)).assembly.gravity[2] == -9.8
    assert read(sdf(world=(world[0] + "<gravity>0 0 -5</gravity>", world[1]))).assembly.gravity[2] == -5.0
    limit = "<limit><lower>{}</lower><upper>{}</upper><effort>inf</effort></limit>"
    assert not list(read(sdf(axis=TURN.format(limit.format("-inf", "inf")))).assembly.forces)
    stop = read(sdf(axis=TURN.format(limit.format("-inf", 0.5) + ALONG))).assembly.force_edges
    kinds = {type(edge.force): edge.force for edge in stop.values()}
    assert set(kinds) == {Stop, Friction} and kinds[Stop].high == 0.5 and kinds[Stop].low < -1e5


@pytest.mark.parametrize(
    "text, said",
    [
        (sdf(mass='<inertial auto="true"/>'), "write <mass> and <inertia>"),
        (sdf(model='placement_frame="a"'), "write its own pose"),
    ],
)
def test_what_cannot_be_left_out_is_refused(read, text, said):
    with pytest.raises(ModelError, match=said):
        read(text)


STAGE = """#usda 1.0
( metersPerUnit = 1 )
def Xform "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
 float physics:mass = 2
 float3 physics:diagonalInertia = (0.1, 0.2, 0.25)
 #BODY
 def Cube "c" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {
  double size = 0.2
  bool physics:collisionEnabled = 0
 }
}
def PhysicsRevoluteJoint "j" {
 rel physics:body1 = </a>
 #JOINT
}
"""


@pytest.mark.parametrize(
    "mark, words, said",
    [
        ("#JOINT", "float physics:breakForce = 10", "physics:breakForce"),
        ("#JOINT", "float state:angular:physics:velocity = 90", "velocities at the start"),
        ("#JOINT", "float mjc:damping = 0.5", "mjc:damping"),
        ("#BODY", "bool physxRigidBody:disableGravity = 1", "disableGravity"),
        ("#BODY", "float physxRigidBody:linearDamping = 0.5", "linearDamping"),
        ("#JOINT", "float physics:coneAngle0Limit = 30", "limits of a ball joint"),
        ("#JOINT", "float physics:breakForce = inf", ""),
        ("#JOINT", "float physics:coneAngle0Limit = -1", ""),
        ("#BODY", "float physxRigidBody:linearDamping = 0", ""),
    ],
)
def test_what_stages_say_and_nobody_reads_is_told_by_name(mark, words, said, tmp_path: Path):
    pytest.importorskip("pxr", reason="usd-core is not installed")
    text = STAGE.replace(mark, words)
    text = text.replace("PhysicsRevoluteJoint", "PhysicsSphericalJoint") if "cone" in words else text
    (tmp_path / "model.usda").write_text(text)
    found = read_model(tmp_path / "model.usda", contacts=True)
    assert not found.assembly.forces  # a shape that is switched off touches nothing
    told = [entry.what for entry in found.report.of(DROPPED)]
    assert len(told) == bool(said) and all(said in what for what in told)
