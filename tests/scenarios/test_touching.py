"""Pictures of runs show what touches where it touches."""

import numpy as np
import pytest

import scenarios
from components import Box, Capsule, Sphere
from coordinator import Simulation
from scenarios.report.mechanism import outline
from scenarios.report.touching import edges_of


def drawn(points):
    return points[np.isfinite(points).all(axis=-1)]


@pytest.mark.parametrize("dimension", [2, 3])
def test_edges_of_a_box_end_at_its_corners(dimension):
    size, centre = np.array((0.2, 0.3, 0.5))[:dimension], np.array((1.0, -2.0, 0.5))[:dimension]
    points = drawn(edges_of(Box(tuple(size), centre=tuple(centre)), dimension))
    assert len(points) == 2 * dimension * 2 ** (dimension - 1)  # both ends of each edge
    assert np.allclose(np.abs(points - centre), 0.5 * size)
    assert len(np.unique(points.round(9), axis=0)) == 2**dimension


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("length", [0.0, 0.7])
def test_outlines_of_what_is_round_are_as_far_from_its_line_as_its_radius(dimension, length):
    axis = np.array((0.6, 0.8, 0.0))[:dimension]
    shape = Capsule(0.1, length, axis=tuple(axis)) if length else Sphere(0.1)
    points = drawn(edges_of(shape, dimension))
    along = np.clip(points @ axis, -0.5 * length, 0.5 * length)[:, None] * axis
    assert np.allclose(np.linalg.norm(points - along, axis=1), 0.1)
    assert np.ptp(points @ axis) == pytest.approx(length + 0.2, rel=1e-2)


def test_a_stack_of_boxes_is_drawn_as_one_upon_the_other():
    with Simulation(scenarios.load("stacked-boxes"), 1e-3) as simulation:
        run = simulation.run(0.01)
    heights = [drawn(outline(run, f"box{k + 1}", np.array([0, 10]))[1])[:, 2] for k in range(5)]
    for k, height in enumerate(heights):
        assert height.min() == pytest.approx(0.2 * k, abs=1e-3) and height.max() == pytest.approx(
            0.2 * (k + 1), abs=1e-3
        )
