"""Robots out of URDF against Pinocchio, on all files of a collection: places, mass matrix and inverse dynamics.

Ours come from the model alone: bodies by their mass matrices in natural coordinates, joints by their axes and ports.
    python -m pip install pin example-robot-data
"""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from components import NewtonEulerBody
from modular import ModelError
from scenarios.models import read_model
from scenarios.models.robot import LED

PLACE, DYNAMICS = 1e-12, 1e-9  # [m] and of the largest entry: Pinocchio's own rounding, and ours, over some ten joints


FOLLOWING = re.compile(rb"<mimic\b[^>]*?/>|<mimic\b[^>]*>.*?</mimic>", re.DOTALL)


class Tree:
    """A model whose joints form a tree on the ground, moved by its joints."""

    def __init__(self, model):
        self.model, self.order, reached, left = model, [], {"ground"}, dict(model.joint_edges)
        while left:
            name = next(name for name, edge in left.items() if edge.first_body in reached)
            reached.add(left.pop(name).second_body)
            self.order.append(name)

    def moved(self, q, v, a):
        """Of each body how it stands (x = R X + t), its motion (omega, v_0, and their rates, at the origin) and that per joint."""
        bodies = {"ground": (np.eye(3), np.zeros(3), np.zeros((2, 3)), np.zeros((2, 3)), {})}
        for name in self.order:
            edge = self.model.joint_edges[name]
            R, t, twist, rate, own = bodies[edge.first_body]
            axis = R @ edge.joint.axis
            if type(edge.joint).__name__ == "Revolute":
                pin = R @ self.model.bodies[edge.second_body].places[edge.second_port].point + t
                turn = Rotation.from_rotvec(q[name] * axis).as_matrix()
                stands, unit = (turn @ R, pin + turn @ (t - pin)), np.array([axis, np.cross(pin, axis)])
            else:
                stands, unit = (R, t + q[name] * axis), np.array([np.zeros(3), axis])
            omega, v0 = twist
            carried = np.array([np.cross(omega, unit[0]), np.cross(omega, unit[1]) + np.cross(v0, unit[0])])
            motion = twist + v[name] * unit, rate + a[name] * unit + v[name] * carried
            bodies[edge.second_body] = (*stands, *motion, {**own, name: unit})
        return bodies

    def dynamics(self, q, v, a):
        """How bodies stand, the mass matrix, and what joints must exert."""
        bodies, count = self.moved(q, v, a), len(self.order)
        M, efforts = np.zeros((count, count)), np.zeros(count)
        for name, body in self.model.bodies.items():
            R, t, (omega, v0), (alpha, a0), own = bodies[name]
            assert not isinstance(body, NewtonEulerBody), "natural coordinates alone are looked at here"
            is_point = np.arange(len(body.elements)) < body.point_count
            x = body.elements @ R.T + np.outer(is_point, t)
            pace = np.cross(omega, x) + np.outer(is_point, v0)
            rise = np.cross(alpha, x) + np.cross(omega, pace) + np.outer(is_point, a0)
            J = np.zeros((*x.shape, count))
            for joint, (w, u) in own.items():
                J[..., self.order.index(joint)] = np.cross(w, x) + np.outer(is_point, u)
            M += np.einsum("aci,ab,bcj->ij", J, body.mass_matrix, J)
            weight = np.outer(body.centre_weights, body.total_mass * self.model.gravity)
            efforts += np.einsum("aci,ac->i", J, body.mass_matrix @ rise - weight)
        return bodies, M, efforts


def robots():
    try:
        import cmeel_pth
    except ImportError:
        return []
    folder = Path(cmeel_pth.__file__).parent / "cmeel.prefix/share/example-robot-data/robots"
    return sorted(folder.rglob("*.urdf"))


@pytest.mark.campaign("whole")
def test_every_robot_moves_as_in_pinocchio(tmp_path: Path):
    pin = pytest.importorskip("pinocchio")
    files = robots()
    if not files:
        pytest.skip("needs example-robot-data")
    alike = [path.name for path in files if compared(pin, path, tmp_path / path.name)]
    assert len(alike) > 40


def compared(pin, path, free):
    """Whether both read a file and its joints carry something; then both say the same. What follows others is free in both."""
    free.write_bytes(FOLLOWING.sub(b"", path.read_bytes()))
    try:
        read_model(path)
        found = read_model(free)
    except ModelError as error:
        assert path.name in str(error)
        return False
    model, draw = found.assembly, np.random.default_rng(3)
    other = pin.buildModelFromUrdf(str(path))
    data, tree = other.createData(), Tree(model)
    if not tree.order or any(isinstance(body, NewtonEulerBody) for body in model.bodies.values()):
        return False
    joints = {name: other.joints[other.getJointId(name)] for name, j in found.robot.joints.items() if j.kind in LED}
    here = [joints[name].idx_v for name in tree.order]
    for _ in range(100):
        q = {name: draw.uniform(-1.0, 1.0) if name in tree.order else found.values[name] for name in joints}
        v, a = ({name: draw.normal() if name in tree.order else 0.0 for name in joints} for _ in range(2))
        Q, V, A = np.zeros(other.nq), np.zeros(other.nv), np.zeros(other.nv)
        for name, joint in joints.items():
            Q[joint.idx_q : joint.idx_q + joint.nq] = q[name] if joint.nq == 1 else (np.cos(q[name]), np.sin(q[name]))
            V[joint.idx_v], A[joint.idx_v] = v[name], a[name]
        bodies, M, efforts = tree.dynamics({name: q[name] - found.values[name] for name in q}, v, a)
        pin.framesForwardKinematics(other, data, Q)
        for name, body in model.bodies.items():
            for port, place in body.places.items():
                if other.existFrame(port, pin.FrameType.BODY):
                    frame = data.oMf[other.getFrameId(port, pin.FrameType.BODY)]
                    R, t = bodies[name][:2]
                    assert np.allclose(R @ place.point + t, frame.translation, rtol=0.0, atol=PLACE), (path, port)
                    assert np.allclose(R @ np.array(place.axes).T, frame.rotation, rtol=0.0, atol=PLACE), (path, port)
        wanted = pin.crba(other, data, Q)
        wanted = (np.triu(wanted) + np.triu(wanted, 1).T)[np.ix_(here, here)]
        assert np.abs(M - wanted).max() <= DYNAMICS * np.abs(wanted).max(), path
        wanted = pin.rnea(other, data, Q, V, A)[here]
        assert np.abs(efforts - wanted).max() <= DYNAMICS * np.abs(wanted).max(), path
    return True
