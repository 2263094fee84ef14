"""Shapes for contact of other programs' files: asked for, they touch as surfaces do; else they are told to be left out."""

from pathlib import Path

import numpy as np
import pytest

from components import Surface
from components.forces.shapes import Box, Capsule, HalfSpace, Sphere
from coordinator import Glued, Simulation
from modular import ModelError
from scenarios.models import read_model
from scenarios.models.import_report import APPROXIMATED, DROPPED

MJCF = """<mujoco><worldbody><geom type="plane" size="0 0 1" friction="0.6"/>
<body name="ball" pos="0 0 0.5"><freejoint/><geom size="0.1" mass="1"/></body>
<body name="rod" pos="1 0 0.4" euler="90 0 0"><freejoint/><geom type="capsule" size="0.05 0.2" mass="1" friction="0.5"/></body>
<body name="pole" pos="2 0 0.3"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.04" mass="1"/></body>
<body name="egg" pos="3 0 1"><freejoint/><geom type="ellipsoid" size="0.1 0.1 0.2" mass="1"/></body>
</worldbody></mujoco>"""
URDF = """<robot name="crate"><link name="base"><collision>
<origin xyz="0 0 -0.1" rpy="0 0 0.4"/><geometry><box size="4 4 0.2"/></geometry></collision></link>
<link name="arm"><inertial><origin xyz="0.3 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="crate"><inertial><mass value="2"/><inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.2 0.3 0.1"/></geometry></collision>
<collision><origin xyz="0 0 0.1"/><geometry><cylinder radius="0.05" length="0.2"/></geometry></collision>
<collision><geometry><mesh filename="crate.stl"/></geometry></collision></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><origin xyz="0 0 0.5"/><axis xyz="0 1 0"/></joint>
<joint name="lift" type="prismatic"><parent link="arm"/><child link="crate"/><origin xyz="0.6 0 0"/><axis xyz="0 0 1"/>
<limit lower="-9" upper="9"/></joint></robot>"""
SDF = """<sdf version="1.10"><world name="w"><gravity>0 0 -9.81</gravity>
<model name="floor"><static>true</static><link name="slab"><collision name="c">
<geometry><plane><normal>0 0 2</normal></plane></geometry>
<surface><friction><ode><mu>0.3</mu></ode></friction></surface></collision></link></model>
<model name="ball"><pose>0 0 0.4 0 0 0</pose><link name="ball"><inertial><mass>1</mass></inertial><collision name="c">
<pose>0 0 -0.1 0 0 0</pose><geometry><sphere><radius>0.15</radius></sphere></geometry></collision></link></model></world></sdf>"""


def surfaces(model):
    return {name: edge.force for name, edge in model.force_edges.items() if isinstance(edge.force, Surface)}


def read(text, tmp_path: Path, ending, **settings):
    file = tmp_path / f"model{ending}"
    file.write_text(text)
    return read_model(file, **settings)


def test_what_is_not_asked_for_is_told_to_be_left_out(tmp_path: Path):
    for text, ending, count in ((MJCF, ".xml", 5), (URDF, ".urdf", 4), (SDF, ".sdf", 2)):
        found = read(text, tmp_path, ending)
        assert not surfaces(found.assembly)
        assert sum("contacts = true lets it touch" in entry.what for entry in found.report.of(DROPPED)) == count


def test_shapes_of_mjcf_fall_on_a_plane(tmp_path: Path):
    found = read(MJCF, tmp_path, ".xml", contacts=True)
    kinds = {name: type(force.shape) for name, force in surfaces(found.assembly).items()}
    assert kinds == {
        "ground-surface": HalfSpace,
        "ball-surface": Sphere,
        "rod-surface": Capsule,
        "pole-surface": Capsule,
    }
    assert [entry.what for entry in found.report.of(DROPPED)][-1].startswith("a shape for contact (ellipsoid)")
    assert surfaces(found.assembly)["rod-surface"].friction == 0.5
    with Simulation(found.assembly, 1e-3, Glued()) as simulation:
        run = simulation.run(1.5)
    rest = {name: run.position(f"{name}.{name}")[-1, 2] for name in ("ball", "rod")}
    assert rest == pytest.approx({"ball": 0.1, "rod": 0.05}, abs=1e-4)  # the rod lies along y
    told = [entry.what for entry in found.report.of(APPROXIMATED)]
    assert told == ["pole: held on the ground by a joint, and so does not touch its shapes"]


def test_a_crate_of_a_urdf_falls_on_the_box_of_its_base(tmp_path: Path):
    found = read(URDF, tmp_path, ".urdf", contacts=True, values={"hinge": 0.0})
    made = surfaces(found.assembly)
    slab, crate, can = made["ground-surface"].shape, made["crate-surface"].shape, made["crate-surface-2"].shape
    assert isinstance(slab, Box) and isinstance(crate, Box) and isinstance(can, Capsule)
    assert np.allclose(slab.turned, [[np.cos(0.4), np.sin(0.4), 0], [-np.sin(0.4), np.cos(0.4), 0], [0, 0, 1]])
    assert np.allclose(slab.centre, (0, 0, -0.1)) and (can.radius, can.length) == pytest.approx((0.05, 0.1))
    assert any("mesh" in entry.what for entry in found.report.of(DROPPED))
    assert any("the capsule of radius 0.05 m in it" in entry.what for entry in found.report.of(APPROXIMATED))
    with Simulation(found.assembly, 1e-3, Glued()) as simulation:
        run = simulation.run(1.5)
    height = run.position("crate.crate")[:, 2]
    assert height[0] == pytest.approx(0.5) and 0.04 < height[-1] < 0.2 and np.ptp(height[-200:]) < 1e-3


def test_a_ball_of_sdformat_comes_to_rest_on_its_plane(tmp_path: Path):
    found = read(SDF, tmp_path, ".sdf", contacts=True)
    assert {force.friction for force in surfaces(found.assembly).values()} == {0.3, 1.0}
    with Simulation(found.assembly, 1e-3, Glued()) as simulation:
        run = simulation.run(1.0)
    (name,) = found.assembly.bodies
    port = next(port for port in found.assembly.bodies[name].port_names if "ball" in port)
    assert run.position(f"{name}.{port}")[-1, 2] == pytest.approx(0.25, abs=1e-4)


def test_shapes_that_are_none_are_refused_with_their_line(tmp_path: Path):
    with pytest.raises(ModelError, match=r"model\.urdf:6: <collision>: a box for contact: size"):
        read(URDF.replace('size="0.2 0.3 0.1"', 'size="0.2 0 0.1"'), tmp_path, ".urdf", contacts=True)
    with pytest.raises(ModelError, match="friction = -1"):
        read(MJCF.replace('friction="0.5"', 'friction="-1"'), tmp_path, ".xml", contacts=True)
    with pytest.raises(ModelError, match="normal points nowhere"):
        read(SDF.replace("<normal>0 0 2", "<normal>0 0 0"), tmp_path, ".sdf", contacts=True)
    with pytest.raises(ModelError, match="contacts = 3; give true or false"):
        read(SDF, tmp_path, ".sdf", contacts=3)


def test_a_mesh_touches_with_its_outermost_corners(tmp_path: Path):
    """A brick of faces, of which one more lies inside, slides down a plane as a brick, at g (sin - mu cos), and does not turn."""
    corners = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.15, 0.15) for z in (-0.05, 0.05)]
    (tmp_path / "brick.obj").write_text(
        "".join(f"v {x} {y} {z}\n" for x, y, z in [*corners, (0, 0, 0.01)]) + "f 1 2 3 9\n"
    )
    text = """<mujoco><option gravity="3 0 -9"/><asset><mesh name="brick" file="brick.obj" scale="1 1 2"/></asset>
    <worldbody><geom type="plane" size="0 0 1" friction="0.2"/>
    <body name="brick" pos="0 0 0.09"><freejoint/><inertial mass="2" pos="0 0 0" diaginertia="0.02 0.01 0.02"/>
    <geom type="mesh" mesh="brick" pos="0 0 0.01" friction="0.2"/></body></worldbody></mujoco>"""
    found = read(text, tmp_path, ".xml", contacts=True)
    made = [force.shape for name, force in surfaces(found.assembly).items() if "brick" in name]
    assert sorted(tuple(shape.centre) for shape in made) == [(x, y, 2.0 * z + 0.01) for x, y, z in sorted(corners)]
    assert any("a mesh as its 8 outermost corners" in entry.what for entry in found.report.of(APPROXIMATED))
    with Simulation(found.assembly, 1e-3, Glued()) as simulation:
        run = simulation.run(0.6)
    place = run.position("brick.brick")
    np.testing.assert_allclose(place[:, 0], 0.5 * (3.0 - 0.2 * 9.0) * run.time**2, atol=6e-4)
    assert np.ptp(place[:, 2]) < 1e-5
    again = read(text.replace("brick.obj", "none.obj"), tmp_path, ".xml", contacts=True)
    assert "a mesh for contact: 'none.obj' is not found" in again.report.of(DROPPED)[-1].what
