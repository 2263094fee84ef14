"""Ensembles as people meet them: names, shapes and values that are refused, what is kept, what is read, and folders."""

from __future__ import annotations

import os

import numpy as np
import psutil
import pytest
from scipy.stats import norm

import scenarios
from components.forces import Law, Load, SpringDamper
from coordinator import Ensemble, Glued, Penalty, Simulation
from coordinator.ensemble import on_cluster, samples
from modular.errors import ModelError, VerdictWarning
from modular.events import Cut
from modular.version import __version__


def swing(**settings) -> Ensemble:
    masses = np.linspace(0.5, 2.0, 5)
    settings = {"vary": {"upper.masses.0": masses}, "record_every": 10, **settings}
    return Ensemble(scenarios.load("double-pendulum"), 1e-3, **settings)


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ({"uper.masses": [1.0]}, "there is no body, joint or force 'uper'; did you mean 'upper'?"),
        ({"upper.mass": [1.0]}, "a PointMassRod has no 'mass'; did you mean 'masses'?"),
        ({"upper": [1.0]}, "which number of it? it has: start, end, masses"),
        ({"upper.masses": [1.0, 2.0]}, "has shape (2,); the model has (1.0, 0.5) there"),
        ({"upper.masses.2": [1.0]}, "there are 2 there, from 0 to 1"),
        ({"upper.masses.0": [1.0, 2.0], "lower.masses.0": [1.0]}, "'upper.masses.0' has 2, 'lower.masses.0' has 1"),
        ({"upper.masses.0": [1.0, 2.0, -3.0]}, "variant 2: upper.masses.0 = -3.0: body 'upper'"),
        ({"upper.masses.0": [1.0, np.nan]}, "variant 1: upper.masses.0 = nan; give finite numbers"),
        ({"upper.masses.0": 1.0}, "give a value for every variant"),
        ({"events.0.time": [1.0]}, "vary 'events.0.time': there is none"),
        ({}, "give values by name"),
    ],
)
def test_what_cannot_be_is_refused_with_variant_name_value_and_remedy(vary, words):
    with pytest.raises(ModelError) as refused:
        swing(vary=vary)
    assert words in str(refused.value)


def test_joints_that_no_longer_meet_are_told_of_the_variant():
    ends = np.c_[[1.0, 1.0, 1.0, 1.1], np.zeros(4)]
    with pytest.raises(ModelError, match=r"variant 3: joint 'elbow': ports 'upper.end' .* apart"):
        swing(vary={"upper.end": ends}).run(until=0.1)


def test_every_number_of_a_model_may_differ():
    model = scenarios.load("cut-double-pendulum")
    model.apply("spring", SpringDamper(stiffness=20.0, length=0.5), "ground", "lower.end")
    time = model.schedule[0].time
    vary = {
        "spring.stiffness": [10.0, 20.0, 30.0], "spring.at": np.tile([0.1, 0.0], (3, 1)), "gravity.1": [-9.0, -9.5, -10.0],
        "upper.angular_velocity": [0.1, 0.2, 0.3], "events.0.time": [0.1, 0.2, 0.3], "upper.masses.1": [7.0, 7.0, 7.0],
        "upper.masses": [[1.0, 1.0], [2.0, 3.0], [4.0, 4.0]], "upper.masses.0": [5.0, 6.0, 7.0], "elbow.at": [[1.0, 0.0]] * 3,
    }  # fmt: skip
    found = Ensemble(model, 1e-3, vary=vary).variants.model_of(1)
    assert found.force_edges["spring"].force.stiffness == 20.0 and found.force_edges["spring"].at == (0.1, 0.0)
    assert found.bodies["upper"].masses == (6.0, 3.0)  # in the order in which they are given
    assert found.gravity[1] == -9.5 and found.bodies["upper"].angular_velocity == 0.2
    assert found.schedule[0].time == 0.2 and model.schedule[0].time == time
    assert isinstance(found.schedule[0].events[0], Cut)


def test_reading_is_that_of_the_runs():
    found = swing().run(until=0.2)
    runs = [found.run_of(k) for k in range(5)]
    assert found.time.tolist() == runs[0].time.tolist()
    for quantity in ("position", "velocity"):
        of_runs = np.stack([getattr(run, quantity)("lower.end") for run in runs])
        assert np.array_equal(getattr(found, quantity)("lower.end"), of_runs)
    assert np.array_equal(found.reaction("elbow"), np.stack([run.reaction("elbow") for run in runs]))
    assert np.array_equal(found.ledger("elbow")["leaked"], np.stack([run.ledger("elbow")["leaked"] for run in runs]))
    assert np.array_equal(found.over(lambda run: run.energy), np.stack([run.energy for run in runs]))
    with pytest.raises(ModelError, match="no variant 5"):
        found.run_of(5)
    with pytest.raises(ModelError, match="did you mean 'elbow'"):
        found.reaction("elbo")


@pytest.mark.parametrize("keep", ["final", 3, "places", "extremes"])
def test_what_is_kept_is_what_all_samples_come_to_and_runs_are_had_again(keep):
    whole, found = swing().run(until=0.2), swing(keep=keep).run(until=0.2)
    places = whole.position("lower.end")
    if keep == "extremes":
        assert np.array_equal(found.extremes("lower.end"), np.stack([places.min(axis=1), places.max(axis=1)], axis=1))
    else:
        which = {"final": slice(-1, None), 3: slice(None, None, 3), "places": slice(None)}[keep]
        assert np.array_equal(found.position("lower.end"), places[:, which])
        assert np.array_equal(found.time, whole.time[which])
    assert np.array_equal(found.extremes("upper.end")[:, 0].shape, (5, 2))
    assert found.run_of(3).digest == whole.run_of(3).digest


def test_a_folder_is_gone_on_from_and_another_ensemble_is_refused(tmp_path, monkeypatch):
    settings = {"record_to": tmp_path / "swing", "keep": "all"}
    monkeypatch.setattr("coordinator.ensemble.ensemble.BODIES_PER_BLOCK", 4)

    def stop(ensemble):
        if ensemble.done == 2:
            raise KeyboardInterrupt

    first = swing(**settings)
    with pytest.raises(KeyboardInterrupt):
        first.run(until=0.1, progress=stop)
    assert first.done == 2
    blocks = []
    again = swing(**settings).run(until=0.1, progress=lambda ensemble: blocks.append(ensemble.done))
    fresh = swing().run(until=0.1)
    assert again.done == 5 and [again.run_of(k).digest for k in range(5)] == [fresh.run_of(k).digest for k in range(5)]
    first.run(until=0.1)  # the same one goes on too
    assert first.run_of(4).digest == fresh.run_of(4).digest
    with pytest.raises(
        ModelError, match=r"another ensemble.*: vary\.upper\.masses\.0 was 5 values, 0\.5 to 2\.0 and is 3 values"
    ):
        swing(**settings, vary={"upper.masses.0": [1.0, 2.0, 3.0]}).run(until=0.1)
    damaged = next((tmp_path / "swing").glob("block-000000*.npz"))
    damaged.write_bytes(damaged.read_bytes()[:-7] + b"damaged")
    assert swing(**settings).run(until=0.1).run_of(0).digest == fresh.run_of(0).digest


def push(t, x, v):
    return (0.3, -0.2)


def test_a_folder_that_was_begun_with_anything_else_is_refused_with_what_that_is(tmp_path, monkeypatch):
    """Model, settings, versions, and a function that stands elsewhere: results of two of them never mix."""
    monkeypatch.syspath_prepend(tmp_path)
    pushing = tmp_path / "pushing_the_swing.py"
    pushing.write_text("def push(t, x, v):\n    return (0.3, -0.2)\n", encoding="utf-8")

    def begin(until=0.1, keep="all", dt=1e-3, coupling="penalty", law="pushing_the_swing:push"):
        model = scenarios.load("double-pendulum")
        model.apply("push", Load(Law(law)), "lower.end")
        one = Ensemble(model, dt, coupling, vary={"upper.masses.0": [1.0, 2.0]}, record_to=tmp_path / "kept")
        one.folder.begin(one.variants, one.coupling, one.settings, until, keep)

    begin()
    begin()
    with pytest.raises(ModelError, match="a function that cannot be imported under its name"):
        begin(law=lambda t, x, v: (0.3, -0.2))
    for change, words in (
        ({"until": 0.2}, r"until was 0\.1 and is 0\.2"),
        ({"keep": "final"}, 'keep was "all" and is "final"'),
        ({"dt": 2e-3}, r"settings\.dt was 0\.001 and is 0\.002"),
        ({"coupling": "glued"}, r"coupling\.class was "),
        ({"law": push}, r"model\.forces\.push\.force\.function was "),
    ):
        with pytest.raises(ModelError, match=words):
            begin(**change)
    pushing.write_text("def push(t, x, v):\n    return (0.3, -0.1)\n", encoding="utf-8")
    with pytest.raises(
        ModelError, match=r"holds another ensemble than this one: sources\.source of pushing_the_swing was "
    ):
        begin()
    pushing.write_text("def push(t, x, v):\n    return (0.3, -0.2)\n", encoding="utf-8")
    begin()
    monkeypatch.setattr("coordinator.ensemble.folder.versions", lambda: {"modular": "0.0.1"})
    with pytest.raises(ModelError, match=r'versions\.modular was ".*" and is "0\.0\.1".*delete this one, or set back'):
        begin()


def test_samples_fill_their_spreads():
    spreads = {"upper.masses.0": (0.5, 2.0), "lower.masses.1": norm(1.0, 0.1)}
    lattice = samples.grid({"upper.masses.0": [0.5, 1.0], "lower.masses.1": [1.0, 2.0, 3.0]})
    assert (
        lattice["upper.masses.0"].tolist() == [0.5] * 3 + [1.0] * 3
        and lattice["lower.masses.1"].tolist() == [1.0, 2.0, 3.0] * 2
    )
    latin = samples.latin_hypercube(spreads, 10, seed=4)
    assert sorted(np.floor((latin["upper.masses.0"] - 0.5) / 1.5 * 10).astype(int)) == list(range(10))
    points = samples.sobol(spreads, 16, seed=4)
    assert sorted(np.floor(norm(1.0, 0.1).cdf(points["lower.masses.1"]) * 16).astype(int)) == list(range(16))
    drawn = samples.drawn(spreads, 4000, seed=1)
    assert abs(drawn["lower.masses.1"].mean() - 1.0) < 5 * 0.1 / np.sqrt(4000)
    for wrong in (
        lambda: samples.sobol(spreads, 10),
        lambda: samples.drawn({"a": (2.0, 1.0)}, 3),
        lambda: samples.grid({}),
    ):
        with pytest.raises(ModelError):
            wrong()
    assert len(swing(vary=points)) == 16


@pytest.mark.campaign
def test_a_dataset_holds_all_variants_with_what_was_varied():
    data = swing().run(until=0.1).to_xarray()
    assert data.position.dims == ("variant", "time", "port", "axis")
    assert data["upper.masses.0"].values.tolist() == np.linspace(0.5, 2.0, 5).tolist()
    assert not data.retired.any()
    assert data.force.sel(joint="elbow").shape == (5, 11, 2)


def test_a_verdict_names_the_variant_that_is_off():
    masses = np.full(5, 1.0)
    with pytest.warns(VerdictWarning, match=r"Ensemble of 5: variant \d: the run is off by"):
        Ensemble(scenarios.load("double-pendulum"), 8e-3, vary={"upper.masses.0": masses}).run(until=2.0)


def test_gravity_of_each_is_its_own():
    found = Ensemble(scenarios.load("free-fall"), 1e-3, vary={"gravity.1": [-1.0, -5.0, -1.0, -1.0, -5.0]}).run(
        until=0.1
    )
    for k in range(5):
        assert found.run_of(k).digest == Simulation(found.variants.model_of(k), 1e-3).run(0.1).digest, k


def test_a_block_elsewhere_gives_what_it_gives_here():
    """Text there, text and bytes back: what another machine is asked, and what it answers."""
    asked, here, heard = swing(keep="places"), swing(keep="places").run(until=0.1), []
    text, data = on_cluster.run_block(on_cluster.text_of(asked, 0.1), [1, 2, 3])
    pieces = on_cluster.received(text, data, heard)
    assert [piece.variants for piece in pieces] == [(1, 2, 3)]
    assert np.array_equal(pieces[0].places["lower.end"], np.swapaxes(here.position("lower.end"), 0, 1)[:, 1:4])
    other = on_cluster.text_of(asked, 0.1).replace(__version__, "0.0.0")
    with pytest.raises(ModelError, match="other versions"):
        on_cluster.run_block(other, [1])


@pytest.mark.parametrize(("coupling", "most"), [(Penalty(), 4096), (Glued(), 1024)], ids=["penalty", "glued"])
def test_as_many_run_side_by_side_as_stay_near_the_processor(coupling, most):
    """Stages of glued steps come back to what they know of each: 4096 at a time took two and a half times as long as 1024."""
    blocks = swing(vary={"upper.masses.0": np.linspace(0.5, 2.0, 5000)}, coupling=coupling)._blocks(None)
    assert max(map(len, blocks)) == most and [k for block in blocks for k in block] == list(range(5000))


@pytest.mark.campaign
def test_a_dask_worker_that_is_killed_costs_its_block_only(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("coordinator.ensemble.ensemble.BODIES_PER_BLOCK", 6)
    masses = np.linspace(0.5, 2.0, 60)
    settings = {"vary": {"lower.masses.1": masses}, "record_every": 50}
    here = swing(**settings).run(until=1.0)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        pids = list(client.run(os.getpid).values())

        def kill_one(ensemble):
            if ensemble.done <= 3:
                psutil.Process(pids[0]).kill()

        found = swing(**settings).run(until=1.0, cluster=client, progress=kill_one)
        assert pids[0] not in client.run(os.getpid).values()
    assert [found.run_of(k).digest for k in range(0, 60, 7)] == [here.run_of(k).digest for k in range(0, 60, 7)]
    assert np.array_equal(found.position("lower.end"), here.position("lower.end"))
