"""The picture of a model that was not run, and where pictures of runs say that something is held to the ground."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image
from typer.testing import CliRunner

import scenarios
from components import Load, Prismatic, Revolute, RigidBody, SpringDamper
from coordinator import Simulation
from coordinator.analysis import modes
from modular import Assembly
from scenarios.cli import app
from scenarios.report import trajectories
from scenarios.report.poses import draw_modes
from scenarios.report.still import AXES, HINGE, LOAD, LONG, draw_model

EXTENT = 2.0


def crane():
    """A turned frame, a hinge and a slide that lean, a spring to the ground, a load."""
    model = Assembly(gravity=(0.0, 0.0, -9.81), title="crane")
    inertia = (0.1, 0.2, 0.15)
    model.add(
        "mast",
        RigidBody(
            mass=3.0, inertia=inertia, centre=(0.0, 0.1, 0.5), ports={"foot": (0.0, 0.0, 0.0), "top": (0.1, 0.2, 1.5)}
        ),
    )
    model.add(
        "boom",
        RigidBody(
            mass=1.0, inertia=inertia, centre=(1.0, 0.2, 1.5), ports={"root": (0.1, 0.2, 1.5), "tip": (2.0, 0.3, 1.6)}
        ),
    )
    model.join("swivel", Revolute((0.0, 0.6, 0.8)), "ground", "mast.foot")
    model.join("slide", Prismatic((1.0, 0.0, 0.0)), "mast.top", "boom.root")
    model.apply("rope", SpringDamper(100.0, 1.0, 1.0), "ground", "boom.tip", at=(2.0, 0.4, 0.2))
    model.apply("weight", Load(force=(0.0, 3.0, -4.0)), "boom.tip")
    return model  # fmt: skip


def lines_of(figure, colour):
    """Points of all lines of a colour, in space."""
    found = [line for line in figure.axes[0].lines if to_hex(line.get_color()) == colour]
    return [np.array(line.get_data_3d()).T for line in found]


def has(lines, *points):
    return any(line.shape == (len(points), 3) and np.allclose(line, points, atol=1e-12) for line in lines)


def test_a_model_is_drawn_as_it_stands_with_joints_forces_and_frames():
    figure = draw_model(crane())
    tip, top = np.array([2.0, 0.3, 1.6]), np.array([0.1, 0.2, 1.5])
    for colour, axis in zip(AXES, np.eye(3), strict=True):
        lines = lines_of(figure, colour)
        assert has(lines, tip, tip + LONG * EXTENT * axis) and has(lines, top, top + LONG * EXTENT * axis)
        assert len(lines) == 5  # of four ports, and of the world
    dark = lines_of(figure, "#222222")
    swivel, slide = HINGE * EXTENT * np.array([0.0, 0.6, 0.8]), HINGE * EXTENT * np.array([1.0, 0.0, 0.0])
    assert has(dark, -swivel, swivel) and has(dark, top - slide, top + slide)
    assert has(lines_of(figure, "#8a8a8a"), (2.0, 0.4, 0.2), tip)
    words = {text.get_text().strip() for text in figure.axes[0].texts}
    assert {"mast", "boom", "swivel (Revolute)", "slide (Prismatic)", "rope", "weight", "world"} <= words
    arrow = np.array(figure.axes[0].collections[0]._segments3d)[0][::-1]  # as it is kept
    np.testing.assert_allclose(arrow, [tip, tip + LOAD * EXTENT * np.array([0.0, 0.6, -0.8])], atol=1e-12)
    bare = draw_model(crane(), names=False, frames=False)
    assert not bare.axes[0].texts and not lines_of(bare, AXES[2])


def test_the_command_draws_it(tmp_path):
    place = tmp_path / "drawn.png"
    told = CliRunner().invoke(app, ["draw", "double-pendulum", "--picture", str(place)])
    assert told.exit_code == 0 and "drawn in" in told.output
    with Image.open(place) as image:
        assert np.ptp(np.asarray(image)) > 100
    wrong = CliRunner().invoke(app, ["draw", "double-pendulum", "--picture", str(tmp_path / "x.pdf")])
    assert wrong.exit_code == 2 and "PNG" in wrong.output


@pytest.mark.parametrize("name, held", [("slider-crank", 1), ("four-bar", 2)])
def test_squares_say_what_stays_with_the_ground_and_not_where_a_slide_goes(name, held):
    with Simulation(scenarios.load(name), 1e-3) as simulation:
        run = simulation.run(0.4)
    squares = [line for line in trajectories.draw(run).axes[0].lines if line.get_marker() == "s"]
    assert len(squares) == held
    for line in squares:
        assert np.ptp(line.get_xydata(), axis=0).max() < 0.01


def test_names_of_axes_in_space_are_whole_and_under_no_title():
    """In two rows they were cut at the foot of the picture, and lay on the titles of the row below."""
    figure = draw_modes(modes(scenarios.load("chain", bodies=3), seek=True), "chain")
    figure.draw_without_rendering()
    whole, renderer = figure.bbox, figure.canvas.get_renderer()
    names = [
        axis.label.get_window_extent(renderer)
        for panel in figure.axes
        for axis in (panel.xaxis, panel.yaxis, panel.zaxis)
    ]
    titles = [panel._left_title.get_window_extent(renderer) for panel in figure.axes]
    assert len(titles) == 6 and all(whole.y0 <= name.y0 and name.x1 <= whole.x1 for name in names)
    assert not any(name.overlaps(title) for name in names for title in titles)
