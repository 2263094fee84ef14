"""What links of robots look like: shapes and meshes, where the file puts them, and where bodies carry them."""

from pathlib import Path

import numpy as np
import pytest

from coordinator import Glued, Simulation
from coordinator.laboratory.acts import Rename
from coordinator.laboratory.session import Session
from modular import ModelError
from scenarios.laboratory.looks import Looks
from scenarios.laboratory.touching import poses
from scenarios.models import read_model
from scenarios.models.meshes import read_triangles

DAE = """<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="centimeter" meter="0.01"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">0 0 0  1 0 0  1 2 0  0 2 3</float_array></source>
<source id="n"><float_array id="na" count="3">0 0 1</float_array></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<polylist count="2"><input semantic="VERTEX" source="#v" offset="1"/><input semantic="NORMAL" source="#n" offset="0"/>
<vcount>4 3</vcount><p>0 0 0 1 0 2 0 3  0 3 0 1 0 0</p></polylist>
<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>1 2 3</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><translate>10 0 0</translate><node><rotate>0 0 1 90</rotate>
<scale>1 2 1</scale><instance_geometry url="#g"/></node></node></visual_scene></library_visual_scenes></COLLADA>"""
OBJ = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0.5\nf 1/1 2/2 3/3 4/4\n"
ROBOT = """<robot name="arm"><material name="blue"><color rgba="0 0.2 1 1"/></material>
<link name="base"><visual><origin xyz="0 0 0.1"/><geometry><box size="0.4 0.2 0.1"/></geometry>
 <material name="blue"/></visual></link>
<link name="arm"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
 <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
 <visual><origin xyz="0.1 0.2 0.3" rpy="0 0 1.5707963267948966"/><geometry><mesh filename="package://robots/arm.obj" scale="2 1 1"/>
 </geometry><material><color rgba="1 0 0 1"/></material></visual>
 <visual><geometry><capsule radius="0.05" length="0.4"/></geometry></visual>
 <visual><geometry><mesh filename="package://robots/none.obj"/></geometry></visual>
 <visual><geometry><sphere radius="wide"/></geometry></visual>
 <visual><geometry><mesh filename="package://robots/../../../secret.obj"/></geometry></visual></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/>
 <origin xyz="0 0 0.5"/><axis xyz="0 1 0"/></joint></robot>
"""


@pytest.fixture
def robot(tmp_path: Path):
    home = tmp_path / "robots" / "deep"
    home.mkdir(parents=True)
    (tmp_path / "robots" / "arm.obj").write_text(OBJ)
    (tmp_path / "secret.obj").write_text(OBJ)
    (home / "arm.urdf").write_text(ROBOT)
    return read_model(home / "arm.urdf")


def test_triangles_of_collada_stand_where_its_scene_puts_them(tmp_path: Path):
    """Scaled, turned and moved in this order, in its unit; a polygon is a fan, and what is up stays where it was."""
    (tmp_path / "m.dae").write_text(DAE)
    corners, triangles = read_triangles(tmp_path / "m.dae")
    written = np.array([[0, 0, 0], [1, 0, 0], [1, 2, 0], [0, 2, 3]], float)
    here = 0.01 * np.column_stack([10.0 - 2.0 * written[:, 1], written[:, 0], written[:, 2]])
    found = corners[triangles]
    np.testing.assert_allclose(found, here[[[0, 1, 2], [0, 2, 3], [3, 1, 0], [1, 2, 3]]], atol=1e-15)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("<p>1 2 3</p>", "<p>1 2 9</p>", "a corner that does not exist"),
        ("<p>1 2 3</p>", "<p>1 2 x</p>", "no number"),
        ("<vcount>4 3</vcount>", "<vcount>4 9</vcount>", "more corners than the mesh has"),
        ('source="#p"', 'source="#q"', "source is not there"),
        ("<COLLADA", "<!DOCTYPE a [<!ENTITY b 'c'>]><COLLADA", "refused"),
        ("</COLLADA>", "", "not valid XML"),
    ],
)
def test_a_damaged_mesh_is_refused_in_a_sentence(tmp_path: Path, old, new, said):
    (tmp_path / "m.dae").write_text(DAE.replace(old, new))
    with pytest.raises(ModelError, match=said):
        read_triangles(tmp_path / "m.dae")


def test_a_polygon_of_obj_is_a_fan_of_triangles(tmp_path: Path):
    (tmp_path / "m.obj").write_text(OBJ)
    assert read_triangles(tmp_path / "m.obj")[1].tolist() == [[0, 1, 2], [0, 2, 3]]


def test_pictures_are_those_of_the_file_and_wrong_ones_stop_nothing(robot, tmp_path: Path):
    base, mesh, middle, *ends = robot.assembly.pictures
    assert (base.body, base.kind, base.place, base.sizes) == ("ground", "box", (0.0, 0.0, 0.1), (0.2, 0.1, 0.05))
    assert base.colour == (0, 51, 255) and mesh.colour == (255, 0, 0) and middle.colour is None
    assert (mesh.body, mesh.port, mesh.file, mesh.sizes) == ("arm", "arm", tmp_path / "robots/arm.obj", (2.0, 1.0, 1.0))
    assert (middle.kind, middle.sizes) == ("cylinder", (0.05, 0.05, 0.4))
    assert [(one.kind, one.place[2]) for one in ends] == [("ball", -0.2), ("ball", 0.2)]
    told = [entry.what for entry in robot.report.entries if "not drawn" in entry.what]
    assert len(told) == 2 and "'package://robots/none.obj' is not found" in told[0] and "secret" in told[1]
    assert robot.report.of("dropped") == []


def test_pictures_go_along_with_their_bodies_under_any_name(robot):
    """A corner of the mesh is where the body carries it after a swing, also once somebody has called the body otherwise."""
    with Session(Simulation(robot.assembly, 1e-3, Glued()), None) as session:
        session.simulation.run(0.45)
        session.do(Rename("arm", "limb"))
        session.turn()
        snapshot = session.snapshot
        looks = Looks()
        looks.show(snapshot.plan)
        ((outline, picture),) = next(ones for key, ones in looks.meshes.items() if key.endswith("arm.obj"))
        corners, _ = looks.mesh(picture.file)
        (place,), (turn,) = poses([outline], snapshot)
        w, x, y, z = turn
        turned = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        drawn = place + (corners * outline.sizes) @ turned.T
        body, (q, v) = session.simulation.assembly.bodies["limb"], snapshot.state("limb")
        origin, axes = body.port_motion("arm", q, v, v)[0], body.port_axes("arm", q)
        assert abs(axes[0, 2]) > 0.3  # it has swung
        there = np.array([[0.1, 0.2, 0.3], [0.1, 2.2, 0.3], [-0.9, 2.2, 0.3], [-0.9, 0.2, 0.8]])
        np.testing.assert_allclose(drawn, origin + there @ axes, atol=1e-6)
        assert looks.bodies == {"limb"}
