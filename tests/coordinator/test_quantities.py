"""What a run tells by name: the same as its methods, and words for what there is not."""

import numpy as np
import pytest
from typer.testing import CliRunner

import scenarios
from components import NewtonEulerBody, Revolute, RigidBody, Rod, SpringDamper
from coordinator import Simulation
from coordinator.record.quantities import LINES, quantity
from coordinator.record.sensors import joint_force
from modular import Assembly, ModelError
from scenarios.cli import app


@pytest.fixture(scope="module")
def run():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0.0, 0.0), (1.0, 0.0), 2.0))
    model.join("pin", Revolute(), "ground", "rod.start")
    model.apply("spring", SpringDamper(40.0, 0.5, 0.8), "ground", "rod.end", at=(1.0, 1.0))
    with Simulation(model, 1e-3) as simulation:
        return simulation.run(0.2)


def test_a_name_gives_what_the_run_gives(run):
    assert (quantity(run, "rod.end.y").values == run.position("rod.end")[:, 1]).all()
    assert (quantity(run, "rod.end.velocity.x").values == run.velocity("rod.end")[:, 0]).all()
    assert (quantity(run, "rod.angular_velocity").values == run.angular_velocity("rod").ravel()).all()
    assert (quantity(run, "pin.force.y").values == run.reaction("pin")[:, 1]).all()
    assert (quantity(run, "pin.angle").values == run.angle("pin")).all()
    assert (quantity(run, "spring.effort").values == run.effort("spring")).all()
    assert quantity(run, "spring.effort").unit == "N"
    assert (quantity(run, "energy").values == run.energy).all() and quantity(run, "energy").unit == "J"
    for line in LINES:
        assert (quantity(run, f"spring.{line}").values == run.ledger("spring")[line]).all()


def test_a_vector_without_a_component_gives_its_size(run):
    assert quantity(run, "rod.end").values == pytest.approx(np.linalg.norm(run.position("rod.end"), axis=1))
    assert quantity(run, "pin.force").values == pytest.approx(np.linalg.norm(run.reaction("pin")[:, :2], axis=1))


def test_momentum_is_mass_times_the_speed_of_the_centre(run):
    speed = np.gradient(run.mass_centre("rod"), run.time, axis=0)
    assert run.momentum("rod")[1:-1] == pytest.approx(2.0 * speed[1:-1], abs=1e-3)
    assert (run.momentum() == run.momentum("rod")).all()


def test_angular_momentum_of_a_rod_is_its_inertia_times_its_rate(run):
    """About its pivot; about another place by what its centre carries."""
    about_pivot = 2.0 / 3.0 * run.angular_velocity("rod").ravel()
    assert run.angular_momentum("rod") == pytest.approx(about_pivot, abs=1e-3 * np.abs(about_pivot).max())
    p, place = run.momentum("rod"), (0.3, -0.7)
    moved = run.angular_momentum("rod") - (place[0] * p[:, 1] - place[1] * p[:, 0])
    assert run.angular_momentum(about=place) == pytest.approx(moved, abs=1e-12)
    assert (quantity(run, "rod.angular_momentum").values == run.angular_momentum("rod")).all()
    assert (quantity(run, "angular_momentum").values == run.angular_momentum()).all()
    with pytest.raises(ModelError, match="give a place of 2 finite numbers"):
        run.angular_momentum(about=(1.0, 2.0, 3.0))


@pytest.mark.parametrize("kind", ["canonical", "points", "newton-euler"])
def test_a_free_body_keeps_the_angular_momentum_that_its_inertia_tells(kind):
    """r x m v + I w, of a body that tumbles."""
    centre, v, w = np.array([0.4, -0.2, 0.3]), np.array([0.5, 0.2, -0.6]), np.array([2.0, -1.0, 3.0])
    inertia = np.array([[0.3, 0.02, -0.01], [0.02, 0.25, 0.03], [-0.01, 0.03, 0.2]])
    given = {
        "mass": 1.7, "inertia": tuple(map(tuple, inertia.tolist())), "centre": tuple(centre), "ports": {"a": (0.5, 0.1, 0.2)},
        "velocity": tuple(v), "angular_velocity": tuple(w),
    }  # fmt: skip
    body = NewtonEulerBody(**given) if kind == "newton-euler" else RigidBody(**given, basis=kind)
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    model.add("book", body)
    with Simulation(model, 1e-3) as simulation:
        found = simulation.run(0.3).angular_momentum("book")
    right = np.cross(centre, 1.7 * v) + inertia @ w
    assert found[0] == pytest.approx(right, rel=1e-12)
    assert np.abs(found - right).max() < 1e-5


def test_forces_are_told_in_the_axes_of_a_body(run):
    """Along the rod and across it, as a strain gauge on it would."""
    turn, force = run.angle("pin"), run.reaction("pin")[:, :2]
    along = force[:, 0] * np.cos(turn) + force[:, 1] * np.sin(turn)
    assert quantity(run, "pin.force.x in rod.end").values == pytest.approx(along, abs=1e-3 * np.abs(force).max())
    assert (quantity(run, "pin.force.y in rod.end").values == joint_force(run, "pin", "rod.end")[:, 1]).all()
    assert quantity(run, "pin.force in rod.end").values == pytest.approx(quantity(run, "pin.force").values)


def test_power_adds_up_to_work(run):
    power = quantity(run, "spring.power").values
    work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(run.time))])
    assert work == pytest.approx(run.work("spring") - run.work("spring")[0], abs=1e-4)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rodd.end", "did you mean 'rod'"), ("rod.ende", "did you mean 'rod.end'"), ("pin.forces", "did you mean 'pin.force'"),
        ("rod.end.z", "has 2 components, and no z"), ("energy.x", "is one number"), ("speed", "Of the whole run ask energy"),
        ("energy in rod.end", "not a vector"), ("pin.force in rod.ende", "did you mean 'end'"),
        ("spring.gap", "'spring' has force"),
    ],
)  # fmt: skip
def test_what_there_is_not_is_answered_with_what_there_is(run, name, words):
    with pytest.raises(ModelError, match=words):
        quantity(run, name)


def test_curves_are_drawn_and_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Simulation(scenarios.load("double-pendulum"), 1e-3) as simulation:
        simulation.run(0.1).save("run")
    words = ["show", "run", "--curves", "lower.end.y, upper.end.y, pivot.force, lower.end.y over lower.end.x"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0 and "curves.png" in result.output
    head, *lines = (tmp_path / "run" / "curves.csv").read_text().splitlines()
    assert head.count(",") == 4 and len(lines) == 101 and (tmp_path / "run" / "curves.png").stat().st_size > 10_000
    assert CliRunner().invoke(app, ["show", "run", "--curves", "lower.edn"]).exit_code == 2
