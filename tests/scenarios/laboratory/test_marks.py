"""Marks of joints, without a browser: they can be seen and clicked, whatever is drawn around them."""

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest

import scenarios
from coordinator import Simulation
from coordinator.laboratory.session import Session
from scenarios.laboratory.figure import Figure
from scenarios.laboratory.handling import Handling
from scenarios.laboratory.selection import Selection
from scenarios.laboratory.shapes import COARSE_DETAIL, SHAPES, mesh, sizes_of_marks


@pytest.mark.parametrize("shape", SHAPES)
def test_a_mark_stands_out_of_what_is_around_it(shape):
    around = np.array([0.0, 0.01, 0.045, 0.2])
    corners, _ = mesh(shape, COARSE_DETAIL)
    for radius, sizes in zip(around, sizes_of_marks(shape, 1.3, around), strict=True):
        assert np.linalg.norm(corners * sizes, axis=1).max() > 1.1 * radius
        if shape == "cylinder":  # seen along its axis, it hides nothing but its own disc
            assert np.abs(corners * sizes)[:, :2].max() == pytest.approx(0.026 * 1.3)


def test_the_thickest_part_at_a_port_is_what_a_mark_has_to_stand_out_of():
    with Session(Simulation(scenarios.load("double-pendulum"), 1e-3), None) as session:
        figure = Figure(session.snapshot.plan, session.snapshot)
        balls = {(part.body, part.first): part.radius for part in figure.balls}
        assert len(balls) == 4
        assert {port: figure.thickness(*port) for port in balls} == balls
        assert figure.thickness("ground", "") == 0.0


class Node:
    """What the viewer gives back, as far as clicks go."""

    def on_click(self, answer):
        self.clicked = answer

    def on_drag(self, button, modifier=None):
        return lambda answer: answer


def test_a_click_near_the_end_of_a_rod_is_one_on_its_port_and_elsewhere_on_the_rod_alone():
    with Session(Simulation(scenarios.load("double-pendulum"), 1e-3), None) as session:
        snapshot = session.snapshot
        figure, selection, node = Figure(snapshot.plan, snapshot), Selection(), Node()
        handling = Handling(lambda act: None, selection)
        handling.see(snapshot, figure, figure.places(snapshot))
    handling.attend(node, "/bodies/sticks", ["upper", "lower"])

    def click(number, place):
        origin = np.array([2.0, 1.0, 7.0])
        ray = 3.0 * (np.array([*place, 0.0]) - origin)
        asyncio.run(node.clicked(SimpleNamespace(instance_index=number, ray_origin=origin, ray_direction=ray)))
        return selection.name, list(selection.ports)

    assert click(0, (0.5, 0.0)) == ("upper", [])
    assert click(0, (0.015, 0.01)) == ("upper", ["upper.start"])
    assert click(1, (1.01, -0.99)) == ("lower", ["upper.start", "lower.end"])
    assert click(1, (1.0, -0.85)) == ("lower", ["upper.start", "lower.end"])
