"""What a run at half and at twice the step says of a run: its error as it truly is, and the order in which it falls."""

import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import scenarios
from campaign import later
from components import Controller, Fixed, Revolute, RigidBody, Rod, SpringDamper
from coordinator import Centralized, Glued, MinimalCoordinates, Penalty, Run, Simulation, Verification, verify
from modular import Assembly, Cut, Limit, ModelError
from modular.errors import RunWarning
from random_assemblies import random_assembly
from scenarios.cli import app
from truth import SAMPLES, off, paths, truth


@pytest.mark.parametrize(
    "name, dt, coupling, order",
    [
        ("double-pendulum", 1e-3, Penalty(), 2),
        ("double-pendulum-3d", 2e-3, Glued(), 2),
        ("slider-crank", 1e-2, Glued(4), 4),
        *later([("rolling-disc", 2e-4, Penalty(), 1)]),  # a dashpot holds what locks velocities
    ],
)
def test_it_finds_the_true_error_and_its_order(name, dt, coupling, order):
    model = scenarios.load(name)
    simulation = Simulation(model, dt, coupling)
    run = simulation.run(0.5)
    found = simulation.verify()
    error = off(truth(model, 0.5), paths(model, run)[:, :: (len(run) - 1) // SAMPLES])
    assert error / 1.5 < found.error < 1.5 * error
    assert abs(found.order - order) < 0.2
    assert found.as_declared == (order == found.declared)
    assert simulation.recorded.verified["error"] == found.error  # it is kept beside the run
    simulation.run(0.5 + 4 * dt)
    assert simulation.recorded.verified == {}  # and speaks of the run as far as it had come then


def test_a_run_from_its_folder_is_measured_alike(tmp_path):
    simulation = Simulation(scenarios.load("slider-crank"), 1e-3)
    simulation.run(0.1).save(tmp_path / "run")
    assert verify(Run.load(tmp_path / "run")) == simulation.verify()
    assert isinstance(simulation.verify(), Verification)


def steering(time, readings, memory):
    memory[0] += 1.0
    return float(np.sin(memory[0]))


@pytest.mark.parametrize("pace", [{"every": 20}, {"period": 0.02}], ids=["ticks", "seconds"])
def test_who_is_asked_every_so_many_ticks_is_asked_at_the_same_times(pace):
    """Or the same model would be another one at every step."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0, 0), (1, 0), 1.0))
    model.join("pin", Revolute(), "ground", "rod.start")
    model.apply("hand", Controller(steering, **pace, memory=(0.0,)), "ground", "rod.start")
    simulation = Simulation(model, 1e-3)
    simulation.run(0.4)
    found = simulation.verify()
    assert abs(found.order - 2.0) < 0.1 and found.share < 1e-3


def test_without_twice_the_step_there_is_no_order():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0, 0), (1, 0), 1.0))
    model.join("pin", Revolute(), "ground", "rod.start")
    model.at(0.001, Cut("pin"))  # one tick: between two of those that are twice as long
    simulation = Simulation(model, 1e-3)
    simulation.run(0.02)
    assert simulation.verify().order is None


@pytest.mark.campaign
def test_methods_that_choose_their_own_steps_are_off_by_what_they_were_allowed():
    simulation = Simulation(scenarios.load("double-pendulum"), 1e-2, Centralized(MinimalCoordinates()))
    simulation.run(0.2)
    found = simulation.verify()
    assert found.declared is None and found.share < 1e-6


def test_what_cannot_be_repeated_is_refused_with_a_reason():
    simulation = Simulation(scenarios.load("double-pendulum"), 1e-3)
    with pytest.raises(ModelError, match="fewer than two samples; run it first"):
        simulation.verify()
    simulation.run(0.01)
    simulation.limit("elbow", Limit(force=1e6))
    simulation.run(0.02)
    with pytest.raises(ModelError, match="changed by hand during the run"):
        simulation.verify()


def test_it_speaks_of_the_order_where_that_is_not_the_declared_one():
    model = Assembly(gravity=(0.0, -9.81))
    body = RigidBody(mass=1.0, inertia=0.1, centre=(0.5, 0.0), ports={"grip": (0, 0)})
    model.add("plate", body)
    model.join("weld", Fixed(), "ground", "plate.grip")
    held = Simulation(model, 1e-3, Glued())
    held.run(0.05)
    assert held.verify().order is None  # nothing is off
    rolling = Simulation(scenarios.load("rolling-disc"), 1e-3)
    rolling.run(0.2)
    assert "but order 2 is expected: confirm the result with a smaller step" in str(rolling.verify())


@pytest.mark.campaign
def test_until_when_a_sensitive_motion_was_followed_is_told():
    """A double pendulum that turns over makes errors grow a hundredfold in some seconds: no step follows it for long."""
    model = scenarios.load("double-pendulum")
    simulation = Simulation(model, 2e-3)
    run = simulation.run(40.0)
    found = simulation.verify()
    sentence = found.sentence(simulation.past.estimate(simulation))
    assert found.too_much and not found.as_declared and "too sensitive" in sentence
    assert f"until {found.followed:.6g} s" in sentence and f"until {found.followed:.6g} s" in str(found)
    true = Simulation(model, 1e-3, Glued(6), record_every=2).run(12.0).position("lower.end")
    off_by = np.linalg.norm(run.position("lower.end")[: len(true)] - true, axis=1) / found.extent
    assert found.followed == pytest.approx(run.time[np.argmax(off_by > 1e-2)], rel=0.02)


def test_what_was_measured_has_the_last_word(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["run", "double-pendulum", "--dt", "2e-3", "--no-plot", "--verify", "--until"]
    last = [CliRunner().invoke(app, [*words, until]).output.strip().splitlines()[-1] for until in ("1", "20")]
    assert "off by" not in last[0]
    assert last[1].startswith("measured, the run is off by") and "until 8.9" in last[1]


# --- held against twice the step -------------------------------------------------------------------------------------------


@pytest.mark.short(1)
@pytest.mark.parametrize(
    ("name", "dt", "coupling", "samples"),
    [
        ("cardan-shaft", 1e-3, Penalty, 30.0),  # its errors cancel in a turn
        (7, 1e-3, Glued, 1.0 / 30.0),  # sensitive; twice the step stops
        (41, 1e-2, Glued, 0.1),  # sensitive; both have parted
    ],
)
def test_held_against_another_step_it_tells_the_error_that_samples_cannot_tell(name, dt, coupling, samples):
    """Within two, of what samples tell so many times too much or too little."""
    model = random_assembly(name, most=6, forces=True) if isinstance(name, int) else scenarios.load(name)
    true = truth(model, 0.5)
    simulation = Simulation(model, dt, coupling(), record_every=round(0.5 / SAMPLES / dt))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)
        simulation.run(0.5)
        simulation.control()
    run = simulation.recorded
    error = off(true, paths(model, run)) / run.estimate["extent"]
    assert error / 2.0 < run.estimate["share"] < 2.0 * error
    grows = "because small differences grow" in simulation.past.estimate(simulation).sentence(dt)
    assert grows == (samples < 1.0)
    assert run.estimate["samples"] > samples * error if samples > 1.0 else run.estimate["samples"] < samples * error


def test_what_was_held_against_a_part_says_or_more():
    """And never less than samples; what goes on from there is not held any more."""
    simulation = Simulation(scenarios.load("double-pendulum"), 2e-3)
    before = simulation.run(20.0).estimate["samples"]
    found = simulation.control(part=0.2)
    run = simulation.recorded
    assert found.part == 0.2 and run.estimate["or_more"] and run.estimate["share"] == max(before, found.share)
    assert "in its first 20%" in simulation.past.estimate(simulation).sentence(2e-3)
    whole = simulation.control()
    assert whole.share > found.share and not simulation.recorded.estimate["or_more"]
    simulation.run(20.1)
    assert simulation.recorded.estimate["control"] is None


def test_what_both_steps_damp_away_is_not_called_right():
    """A stiff spring, stretched by 0.4 m, that neither step resolves: both come to rest at once, and samples know better."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0.0, 0.0), (1.0, 0.0), mass=1.0))
    model.join("hinge", Revolute(), "ground", "rod.start")
    model.apply("spring", SpringDamper(1e7, length=0.6), "ground", "rod.end", at=(1.0, -1.0))
    simulation = Simulation(model, 1e-2, Glued())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)
        simulation.run(0.5)
    found = simulation.control()
    assert simulation.implicit_forces and found.distance < 1e-3
    assert simulation.recorded.estimate["share"] == simulation.recorded.estimate["samples"] > 0.1


def test_what_no_other_step_can_tell_is_left_to_samples():
    """Methods that choose their own steps, and events between two ticks of twice the step."""
    adaptive = Simulation(scenarios.load("double-pendulum"), 1e-2, Centralized(MinimalCoordinates()))
    adaptive.run(0.1)
    assert adaptive.control() is None
    model = scenarios.load("double-pendulum")
    model.at(0.011, Cut("elbow"))
    odd = Simulation(model, 1e-3)
    odd.run(0.02)
    assert odd.control() is None and odd.recorded.estimate["control"] is None


def test_a_short_run_is_held_against_one_at_twice_the_step_without_being_asked(tmp_path, monkeypatch):
    """Where the motion is sensitive no sample tells how errors grow: here to a twentieth of the extent."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("scenarios.commands.running.MAX_SECONDS", 60.0)  # however busy this machine is
    random_assembly(78, most=6, forces=True).save("sensitive.json")
    words = ["run", "sensitive.json", "--coupling", "glued", "--dt", "1e-4", "--until", "0.5", "--no-plot"]
    last = [CliRunner().invoke(app, [*words, *more]).output.strip().splitlines()[-1] for more in ([], ["--no-verify"])]
    assert last[0].startswith("measured, the run is off by 0.026 m") and "until 0.418" in last[0]
    assert "off by" not in last[1]


def test_the_command_tells_the_figure_of_both_runs(tmp_path, monkeypatch):
    """It is kept in the folder; what took long is held against a part, a tenth of its ticks."""
    monkeypatch.chdir(tmp_path)
    words = ["run", "cardan-shaft", "--dt", "1e-3", "--until", "0.5", "--no-plot"]
    said = CliRunner().invoke(app, [*words, "--out", "whole"]).output
    kept = Run.load("whole").estimate
    assert "held against another step" in " ".join(said.split())
    assert kept["share"] < 0.1 * kept["samples"] and kept["held"] == 1.0
    monkeypatch.setattr("scenarios.commands.running.MAX_SECONDS", 0.0)
    assert "at least" in CliRunner().invoke(app, [*words, "--out", "part"]).output
    assert Run.load("part").estimate["held"] == 0.2
    CliRunner().invoke(app, [*words, "--no-verify", "--out", "none"])
    assert Run.load("none").estimate["control"] is None
