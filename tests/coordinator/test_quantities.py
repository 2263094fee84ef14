"""What a run tells by name: the same as its methods, and words for what there is not."""

import numpy as np
import pytest
from typer.testing import CliRunner

import scenarios
from components import Revolute, Rod, SpringDamper
from coordinator import Simulation
from coordinator.record.quantities import LINES, quantity
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


def test_power_adds_up_to_work(run):
    power = quantity(run, "spring.power").values
    work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(run.time))])
    assert work == pytest.approx(run.work("spring") - run.work("spring")[0], abs=1e-4)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rodd.end", "did you mean 'rod'"), ("rod.ende", "did you mean 'rod.end'"), ("pin.forces", "did you mean 'pin.force'"),
        ("rod.end.z", "has 2 components, and no z"), ("energy.x", "is one number"), ("speed", "Of the whole run ask energy"),
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
