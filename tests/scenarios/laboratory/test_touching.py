"""Shapes that touch, as the page draws them, without a browser."""

import numpy as np
import pytest

from components import Box, Capsule, Contact, HalfSpace, RigidBody, Sphere
from coordinator import Simulation
from coordinator.laboratory.session import Session
from lazily import Lazily
from modular import Assembly
from scenarios.laboratory.shapes import COARSE_DETAIL, mesh
from scenarios.laboratory.touching import outlines_of, poses

transform = Lazily("scipy.spatial.transform")


def corners_of(outline, place, turn):
    """Corners of its mesh in space."""
    corners, _ = mesh(outline.mesh, COARSE_DETAIL)
    return place + transform.Rotation.from_quat(turn[[1, 2, 3, 0]]).apply(corners * outline.sizes)


@pytest.mark.parametrize("dimension", [2, 3])
def test_what_is_drawn_stands_where_contact_finds_it(dimension):
    """What has come to rest on the ground is drawn on it: the lowest corner of every shape is at the height of the floor."""
    model = Assembly(gravity=(0.0, 0.0, -9.81)[-dimension:])
    floor = HalfSpace(centre=(0.0, 0.0, 0.25)[-dimension:])
    shapes = {"box": Box((0.3, 0.2, 0.14)[:dimension]), "ball": Sphere(0.1), "stick": Capsule(0.05, 0.4)}
    for k, (name, shape) in enumerate(shapes.items()):
        at = (0.6 * k, 0.0, 0.42)[-dimension:] if dimension == 3 else (0.6 * k, 0.42)
        spin = (0.4, 0.3, 0.2) if dimension == 3 else 0.4
        body = RigidBody(
            mass=1.0,
            inertia=0.01 if dimension == 2 else (0.01,) * 3,
            centre=at,
            ports={"G": at},
            angular_velocity=spin,
        )
        model.add(name, body)
        model.apply(f"{name}-floor", Contact(floor, shape, friction=0.6), "ground", f"{name}.G")
    with Session(Simulation(model, 1e-3), None) as session:
        session.simulation.run(2.5)
        session.turn()
        snapshot = session.snapshot
    outlines = outlines_of(snapshot.plan, 1.0)
    places, turns = poses(outlines, snapshot)
    lowest = {}
    for outline, place, turn in zip(outlines, places, turns, strict=True):
        height = corners_of(outline, place, turn)[:, dimension - 1]
        if outline.body == "ground":
            assert height.max() == pytest.approx(0.25, abs=1e-9)
        else:
            lowest[outline.body] = min(lowest.get(outline.body, np.inf), height.min())
    assert len(lowest) == 3
    for name, height in lowest.items():
        assert height == pytest.approx(0.25, abs=1e-3 if name == "box" else 6e-3)  # balls are drawn with corners
