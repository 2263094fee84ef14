"""Solids of flat faces: against boxes and sums of them, whatever way round, in Python, in model files, from STL and OBJ."""

import struct
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import scenarios
from components import Solid
from modular import ModelError
from scenarios.models import read_model
from scenarios.models.meshes import read_mesh

SIZE = np.array([0.3, 0.5, 0.2])
CORNERS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * SIZE
FACES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]  # from outside
BOX = Solid.box(*SIZE, density=800.0).moved(SIZE / 2)


def same(one, other, rtol=1e-12):
    assert one.mass == pytest.approx(other.mass, rel=rtol)
    np.testing.assert_allclose(one.centre, other.centre, rtol=rtol, atol=1e-13)
    np.testing.assert_allclose(one.inertia, other.inertia, rtol=rtol, atol=1e-13 * other.mass)


def test_a_box_of_faces_is_a_box_wherever_it_stands_and_whichever_way_its_faces_look():
    R = Rotation.from_rotvec((0.3, -0.7, 1.1)).as_matrix()
    far = np.array([3.0, -2.0, 5.0])
    for faces in (FACES, [face[::-1] for face in FACES]):
        same(Solid.mesh(CORNERS @ R.T + far, faces, density=800.0), BOX.turned(R).moved(far), 1e-11)
    same(Solid.mesh(CORNERS, FACES, mass=BOX.mass), BOX)


def test_what_is_not_convex_is_the_sum_of_its_parts():
    """An angle iron, drawn in the plane of x and y, less than its hull."""
    line = np.array([(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)], float)
    points = np.array([(*xy, z) for z in (0.0, 0.5) for xy in line])
    sides = [[k, (k + 1) % 6, 6 + (k + 1) % 6, 6 + k] for k in range(6)]
    floor = [[0, 3, 2, 1], [0, 5, 4, 3]]
    faces = [*sides, *floor, *([6 + k for k in face[::-1]] for face in floor)]
    whole = Solid.box(3, 1, 0.5, density=2.0).moved((1.5, 0.5, 0.25)) + Solid.box(1, 1, 0.5, density=2.0).moved(
        (0.5, 1.5, 0.25)
    )
    same(Solid.mesh(points, faces, density=2.0), whole)


def test_a_ball_of_many_faces_comes_near_to_a_ball():
    """Quadratically in the width of its faces: between the balls inside and outside of it."""
    golden = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(4000)
    z = 1.0 - (2.0 * np.arange(4000) + 1.0) / 4000
    points = np.stack([np.sqrt(1 - z * z) * np.cos(golden), np.sqrt(1 - z * z) * np.sin(golden), z], 1)
    hull = ConvexHull(points)
    inside = points.mean(axis=0)
    a, b, c = (points[hull.simplices[:, k]] - inside for k in range(3))
    outward = np.einsum("ni,ni->n", a, np.cross(b, c)) > 0
    faces = np.where(outward[:, None], hull.simplices, hull.simplices[:, ::-1])
    ball = Solid.mesh(points, faces.tolist(), density=1.0)
    assert ball.mass == pytest.approx(4.0 / 3.0 * np.pi, rel=3e-3) and np.abs(ball.centre).max() < 1e-4
    np.testing.assert_allclose(ball.inertia, Solid.ball(1.0, density=1.0).inertia, rtol=5e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("points", "faces", "said"),
    [
        (CORNERS, FACES[:-1], "belongs to one face only"),
        (CORNERS, [*FACES[:-1], FACES[-1][::-1]], "opposite orientation"),
        (CORNERS, [[0, 1, 8]], "from 0 to 7"),
        (CORNERS, [[0, 1]], "three whole numbers or more"),
        (CORNERS * [1, 1, 0], FACES, "give a mesh that encloses a volume"),
        (CORNERS[:, :2], FACES, "three finite numbers"),
        (CORNERS, [], "no faces"),
    ],
)
def test_what_closes_in_nothing_is_refused(points, faces, said):
    with pytest.raises(ModelError, match=rf"Solid\.mesh: .*{said}"):
        Solid.mesh(points, faces, density=1.0)


def triangles():
    return [[CORNERS[face[k]] for k in (0, j, j + 1)] for face in FACES for j in (1, 2)]


def written(folder: Path) -> dict[str, Path]:
    """The box as STL, text and bytes, and as OBJ, with corners that are counted from the end."""
    text = "solid box\n" + "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join("vertex {!r} {!r} {!r}\n".format(*map(float, p)) for p in each)
        + "endloop\nendfacet\n"
        for each in triangles()
    )
    data = b"solid is no sign of text".ljust(80) + struct.pack("<I", 12)
    data += b"".join(struct.pack("<12fH", 0, 0, 0, *np.ravel(each), 0) for each in triangles())
    obj = "".join("v {!r} {!r} {!r}\n".format(*map(float, p)) for p in CORNERS)
    obj += "".join("f " + " ".join(f"{k - 8}/1/2" for k in face) + "\n" for face in FACES)
    files = {"text": folder / "text.stl", "bytes": folder / "bytes.STL", "obj": folder / "box.obj"}
    for file, content in zip(files.values(), (text.encode(), data, obj.encode()), strict=True):
        file.write_bytes(content)
    return files


def test_meshes_are_read_from_stl_and_obj(tmp_path: Path):
    for name, file in written(tmp_path).items():
        points, faces = read_mesh(file)
        assert len(points) == 8
        same(Solid.mesh(points, faces, density=800.0), BOX, 1e-6 if name == "bytes" else 1e-12)
    for content, said in (
        (b"solid\nvertex 1 2", "is not a mesh"),
        (b"\x00" * 90, "is not a mesh"),
        (b"v 0 0 0\nf 1 2 3", "is not a mesh"),
    ):
        (tmp_path / "bad.obj" if content[:1] == b"v" else tmp_path / "bad.stl").write_bytes(content)
        with pytest.raises(ModelError, match=said):
            read_mesh(tmp_path / ("bad.obj" if content[:1] == b"v" else "bad.stl"))
    with pytest.raises(ModelError, match=r"read from \.stl and \.obj"):
        read_mesh(tmp_path / "box.ply")


def test_a_model_file_names_a_mesh_beside_it(tmp_path: Path):
    written(tmp_path)
    text = "[bodies.part]\nports = {{ a = [0, 0, 0] }}\n"
    text += 'solid = [{{ shape = "mesh", file = "{}", scale = 0.001, density = 7850 }}]\n'
    (tmp_path / "part.toml").write_text(text.format("box.obj"))
    body = scenarios.load(str(tmp_path / "part.toml")).bodies["part"]
    assert body.mass == pytest.approx(7850 * np.prod(SIZE) * 1e-9)
    np.testing.assert_allclose(body.centre, SIZE / 2 * 1e-3)
    for name, said in (
        ("../box.obj", "does not lie in the folder"),
        ("none.stl", "cannot be read"),
        ("part.toml", "meshes are read from"),
    ):
        (tmp_path / "part.toml").write_text(text.format(name))
        with pytest.raises(ModelError, match=rf"part\.toml:3: bodies\.part\.solid\[0\]\.file: .*{said}"):
            scenarios.load(str(tmp_path / "part.toml"))


MJCF = """<mujoco><compiler meshdir="parts" angle="radian"/><default><mesh scale="2 1 0.5"/></default><asset>
<mesh file="bytes.STL"/>
<mesh name="plain" file="box.obj" scale="1 1 1"/></asset><worldbody><body name="a" pos="1 2 3"><freejoint/>
<geom type="mesh" mesh="bytes" pos="0.1 0 0.2" euler="0.3 0.2 0.1" density="700"/>
<geom type="mesh" mesh="plain" mass="2"/></body></worldbody></mujoco>"""


def test_meshes_of_mjcf_weigh_what_they_enclose(tmp_path: Path):
    """Scaled and turned; the same as MuJoCo finds of them, where it is installed."""
    (tmp_path / "parts").mkdir()
    written(tmp_path / "parts")
    file = tmp_path / "model.xml"
    file.write_text(MJCF)
    body = read_model(file).assembly.bodies["a"]
    size = SIZE * (2, 1, 0.5)
    turn = Rotation.from_euler("XYZ", (0.3, 0.2, 0.1)).as_matrix()
    one = Solid.box(*size, density=700.0).moved(size / 2).turned(turn).moved((0.1, 0.0, 0.2))
    whole = one + Solid.box(*SIZE, mass=2.0).moved(SIZE / 2)
    assert body.mass == pytest.approx(whole.mass, rel=1e-6)
    np.testing.assert_allclose(body.centre, whole.centre + np.array([1, 2, 3]), rtol=1e-6)
    np.testing.assert_allclose(body.inertia, whole.inertia, rtol=1e-6, atol=1e-8)
    for change, said in (
        (('mesh="plain"', 'mesh="plan"'), "there is no mesh 'plan'; did you mean 'plain'"),
        (('file="box.obj"', 'file="../../box.obj"'), "does not lie in the folder"),
        (('file="box.obj"', 'file="gone.obj"'), r"cannot be read .* Or give its body an <inertial>"),
        (('file="box.obj"', 'file="box.obj" refpos="0 0 1"'), "refpos and refquat of meshes are not read"),
        (('type="mesh" mesh="plain"', 'type="box" mesh="plain"'), "is fitted to a mesh"),
    ):
        file.write_text(MJCF.replace(*change))
        with pytest.raises(ModelError, match=rf"model\.xml:\d: .*{said}"):
            read_model(file)
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed; pip install -e '.[peers]'")
    file.write_text(MJCF.replace('<mesh scale="', '<mesh inertia="exact" scale="'))
    there = mujoco.MjModel.from_xml_path(str(file))
    assert there.body_mass[1] == pytest.approx(body.mass, rel=1e-6)
    np.testing.assert_allclose(np.sort(there.body_inertia[1]), np.linalg.eigvalsh(body.inertia), rtol=1e-6)
