"""What is recorded, and that nothing of it is lost on the way to disk and back."""

import json
import shutil

import numpy as np
import psutil
import pytest

import scenarios
from budget import within
from components import Load, Revolute, Rod, Spherical
from coordinator import Penalty, Run, Shannon, Simulation
from coordinator.record import across
from modular import Assembly, InternalGains, MemoryShortage, ModelError
from scenarios.report.summary import summary


def eventful(**settings):
    """A run with everything in it: cuts, a joint made, a load, a body that comes and goes."""
    with Simulation(scenarios.load("double-pendulum"), 1e-3, **settings) as simulation:
        simulation.run(0.2)
        simulation.cut("elbow")
        simulation.apply("wind", Load(force=(1.0, 0.5)), "lower.end")
        simulation.run(0.25)
        simulation.join("hook", Revolute(), "ground", "lower.end")
        simulation.remove("wind")
        simulation.run(0.3)
        return simulation.recorded


def test_a_run_folder_loads_back_equal(tmp_path):
    run = eventful()
    run.save(tmp_path / "swing")
    again = Run.load(tmp_path / "swing")
    assert again == run
    for name in ("pivot", "elbow", "hook"):
        assert np.array_equal(again.reaction(name), run.reaction(name), equal_nan=True)
        assert np.array_equal(again.ledger(name)["leaked"], run.ledger(name)["leaked"], equal_nan=True)
    assert np.array_equal(again.energy, run.energy)
    assert np.array_equal(again.internal_violation("upper"), run.internal_violation("upper"))
    assert np.array_equal(again.work("wind"), run.work("wind"), equal_nan=True)


def test_equality_sees_a_single_changed_bit(tmp_path):
    run = eventful()
    run.save(tmp_path)
    again = Run.load(tmp_path)
    q = again.segments[-1].bodies[0][1]["q"]
    q.flat[7] = np.nextafter(q.flat[7], 2.0)
    assert again != run


def test_run_json_is_strict_json_and_holds_model_settings_versions_timings_and_margins(tmp_path):
    coupling = Penalty(rule=Shannon(delta=0.2, damping=0.1), internal=InternalGains.thesis())
    eventful(coupling=coupling).save(tmp_path)

    def refuse(value):
        raise AssertionError(f"{value} is not JSON")

    data = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"), parse_constant=refuse)
    assert data["settings"]["coupling"]["rule"] == {
        "class": "coordinator:Shannon",
        "delta": 0.2,
        "damping": 0.1,
    }
    assert data["settings"]["coupling"]["internal"]["frequency"] == 1.0
    assert data["model"]["bodies"]["upper"]["class"] == "components:PointMassRod"
    assert {"modular", "numpy", "numba", "python"} <= set(data["versions"])
    assert data["timings"]["seconds"] > 0
    assert set(data["margins"][0]["margins"]) == {"pivot", "elbow"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arrays.npz", "run.json"]


def test_a_run_can_be_repeated_from_its_folder_to_the_same_bits(tmp_path):
    with Simulation(scenarios.load("cut-double-pendulum"), 1e-3) as simulation:
        simulation.run(0.9).save(tmp_path)
    first = Run.load(tmp_path)
    with Simulation(first.assembly(), first.dt) as simulation:
        second = simulation.run(0.9)
    assert np.array_equal(first.position("lower.end"), second.position("lower.end"))
    assert np.array_equal(first.reaction("pivot"), second.reaction("pivot"), equal_nan=True)


def test_samples_are_taken_at_multiples_of_record_every_and_are_those_of_the_full_run():
    runs = []
    for every in (1, 7):
        with Simulation(
            scenarios.load("cut-double-pendulum", elbow=0.035, pivot=0.05), 1e-3, record_every=every
        ) as simulation:
            runs.append(simulation.run(0.1))
    full, sparse = runs
    assert sparse.ticks.tolist() == [*range(0, 101, 7), 100]
    chosen = np.isin(full.ticks, sparse.ticks)
    assert np.array_equal(full.position("lower.end")[chosen], sparse.position("lower.end"))
    assert np.array_equal(full.ledger("elbow")["released"][chosen], sparse.ledger("elbow")["released"], equal_nan=True)


def test_shapes_are_as_promised():
    run = eventful()
    n = len(run)
    assert n == 301 and run.time[-1] == pytest.approx(0.3)
    for name in ("position", "velocity", "acceleration"):
        assert getattr(run, name)("lower.end").shape == (n, 2)
    assert run.energy.shape == (n,)
    assert run.violation("pivot").shape == run.violation_rate("pivot").shape == run.reaction("pivot").shape == (n, 2)
    assert run.internal_violation("upper").shape == run.internal_violation_rate("upper").shape == (n, 1)
    assert all(column.shape == (n,) for column in run.ledger("elbow").values())
    assert run.energy == pytest.approx(run.energy_of("upper") + run.energy_of("lower"))


def test_a_series_is_nan_where_its_joint_was_not_there():
    run = eventful()
    assert (
        np.isnan(run.reaction("hook")[run.ticks < 250]).all()
        and np.isfinite(run.reaction("hook")[run.ticks >= 250]).all()
    )
    assert np.isnan(run.reaction("elbow")[run.ticks >= 200]).all()
    assert np.isnan(run.work("wind")[run.ticks < 200]).all() and np.ptp(run.work("wind")[run.ticks >= 250]) == 0.0


def test_velocity_and_acceleration_are_derivatives_of_the_position():
    with Simulation(scenarios.load("double-pendulum"), 1e-4) as simulation:
        run = simulation.run(0.5)
    x, v, a = (getattr(run, name)("lower.end") for name in ("position", "velocity", "acceleration"))
    late = slice(3000, -1)  # the start shakes the joints
    centred = (x[2:] - x[:-2]) / 2e-4
    assert np.abs(centred[late] - v[1:-1][late]).max() < 1e-5
    assert np.abs(((v[2:] - v[:-2]) / 2e-4)[late] - a[1:-1][late]).max() < 2e-2


def test_unknown_names_are_refused_with_the_nearest_known_one():
    run = eventful()
    with pytest.raises(ModelError, match="did you mean 'elbow'"):
        run.violation("elbw")
    with pytest.raises(ModelError, match="did you mean 'upper'"):
        run.position("uper.end")
    with pytest.raises(ModelError, match=r"'upper' has no port 'tip'.*known: start, end"):
        run.position("upper.tip")
    with pytest.raises(ModelError, match="no joint or force 'storm'"):
        run.work("storm")


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(ModelError, match=r"holds no run\.json"):
        Run.load(tmp_path)


def test_a_run_that_would_fit_neither_in_memory_nor_on_disk_is_refused_before_it_starts(monkeypatch):
    class Little:
        available = free = 50_000_000

    monkeypatch.setattr(psutil, "virtual_memory", Little)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: Little)
    with Simulation(scenarios.load("chain", bodies=100), 1e-4) as simulation:
        with pytest.raises(MemoryShortage, match="record_every=") as refused:
            simulation.run(10.0)
        assert simulation.tick == 0
    every = int(str(refused.value).partition("record_every=")[2].partition(" ")[0])
    with Simulation(scenarios.load("chain", bodies=100), 1e-4, record_every=every) as simulation:
        simulation.recorder.expect(simulation.system, 100_000)  # the advice holds


def test_a_run_shows_itself_in_a_notebook():
    run = eventful()
    page = run._repr_html_()
    assert page.startswith("<table>") and "stability margin" in page and "pivot" in page
    assert "301" in repr(run)


def test_summary_of_a_model_without_joints():
    assembly = Assembly()
    assembly.add("rod", Rod((0, 0, 0), (1, 0, 0), 1.0))
    with Simulation(assembly, 1e-3) as simulation:
        run = simulation.run(0.01)
    assert run.worst_violation() is None and run.joints == ()
    assert "stability margin" not in run.summary()


def test_a_spatial_hinge_reports_force_and_moment():
    assembly = Assembly(gravity=(0.0, 0.0, -9.81))
    assembly.add("door", Rod((0, 0, 0), (1, 0, 0), 2.0, 0.05))
    assembly.join("hinge", Revolute(axis=(0, 0, 1)), "ground", "door.start")
    assembly.join("stop", Spherical(), "ground", "door.end")
    with Simulation(assembly, 1e-3, Penalty()) as simulation:
        run = simulation.run(3.0)
    assert run.reaction("hinge").shape[1] == 6
    force = run.reaction("hinge")[-1, :3] + run.reaction("stop")[-1]
    assert force == pytest.approx([0, 0, 2 * 9.81], abs=1e-2)
    # about the hinge: its moment, the weight at half a metre, the stop at one metre
    moment = (
        run.reaction("hinge")[-1, 3:]
        + np.cross([1, 0, 0], run.reaction("stop")[-1])
        + np.cross([0.5, 0, 0], [0, 0, -19.62])
    )
    assert moment == pytest.approx([0, 0, 0], abs=1e-2)


def test_tables_of_all_joints_and_forces_say_what_each_says_alone():
    run = eventful()
    d = len(run.model["gravity"])
    tables = (
        (across.joint_gaps(run), lambda joint: run.violation(joint)[:, : run.translations(joint)]),
        (
            across.joint_gaps(run, "violation_rate"),
            lambda joint: run.violation_rate(joint)[:, : run.translations(joint)],
        ),
        (across.joint_forces(run), lambda joint: run.reaction(joint)[:, :d]),
    )
    for table, alone in tables:
        assert set(table) == set(run.joints)
        for joint, sizes in table.items():
            assert np.allclose(sizes, np.linalg.norm(alone(joint), axis=1), rtol=1e-14, atol=0.0, equal_nan=True)
    ledgers = across.ledgers(run)
    assert list(ledgers) == [*run.joints, *run.forces]
    for name, ledger in ledgers.items():
        for line, series in across.ledger_of(ledger).items():
            assert np.array_equal(series, run.ledger(name)[line], equal_nan=True)
    at = np.array([0, 150, 210, 299])
    for port, place in across.port_places(run, at).items():
        assert np.allclose(place, run.position(port)[at], rtol=1e-14, atol=1e-15, equal_nan=True)


def test_what_is_told_of_many_bodies_takes_no_longer_than_they_do():
    """A thousand bodies took eight seconds, one after the other."""
    with Simulation(scenarios.load("chain", bodies=1000), 1e-3, record_every=10) as simulation:
        simulation.run(0.02)
        run = simulation.recorded
    with within(1.0):
        summary(run)


def test_runs_of_one_model_are_equal_however_long_they_took_and_wherever_they_were_kept(tmp_path):
    model = scenarios.load("double-pendulum")
    one, two = (Simulation(model, 1e-3).run(0.1) for _ in range(2))
    one.timings["seconds"] = 1e3
    grown = Simulation(model, 1e-3).run(0.1, record_to=tmp_path / "grown")
    assert one == two == grown == Run.load(tmp_path / "grown")
    assert one != Simulation(model, 1e-3).run(0.101)


def test_who_asks_for_the_wrong_thing_is_shown_the_right_one():
    model = scenarios.load("double-pendulum")
    model.apply("wind", Load((1.0, 0.0)), "lower.end")
    run = Simulation(model, 1e-3).run(0.01)
    for ask, said in (
        (lambda: run.reaction("wind"), r"'wind' is a force, not a joint; use run.effort\('wind'\) and run.work"),
        (lambda: run.position("lower"), "'lower' is a body; give one of its ports, such as 'lower.start'"),
    ):
        with pytest.raises(ModelError, match=said):
            ask()
