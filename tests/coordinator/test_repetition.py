"""A run is repeated from its folder to the same bits, and where it is not, the first difference is found."""

import json
import sys

import numpy as np
import pytest

import scenarios
from components import Hand, Law, Load, PointMassRod, Revolute
from coordinator import (
    Difference,
    LeakWarning,
    Penalty,
    Run,
    Shannon,
    Simulation,
    first_difference,
    rerun,
    why_different,
)
from coordinator.record.fingerprint import machine, versions
from coordinator.record.series import series_of
from modular import Add, Apply, Assembly, Crossing, Cut, Diverged, Join, Limit, ModelError, Remove
from modular.errors import RunWarning


def changing():
    """A model that changes by itself in every way there is."""
    model = scenarios.load("double-pendulum")
    model.at(0.02, Cut("elbow"))
    model.at(0.021, Apply("wind", Load(force=(1.0, 0.5)), ["lower.end"]))
    model.at(0.03, Join("hook", Revolute(), "ground", "lower.end"), Remove("wind"))
    model.at(0.04, Add("bird", PointMassRod(start=(2, 2), end=(2.5, 2), masses=(0.1, 0.2))))
    return model


def recorded(until=0.05, **settings):
    with Simulation(changing(), 1e-3, **settings) as simulation:
        return simulation.run(until)


def kept(run, folder):
    return Run.load(run.save(folder))


# --- repeating ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"record_every": 7}, {"coupling": Penalty(rule=Shannon(0.2, 0.1))}])
def test_a_run_is_repeated_from_its_folder_to_the_same_bits(settings, tmp_path):
    run = kept(recorded(**settings), tmp_path)
    again = rerun(run)
    assert first_difference(run, again) is None
    assert (again.digest, again.events, again.settings, again.model) == (
        run.digest,
        run.events,
        run.settings,
        run.model,
    )


def test_what_a_run_was_recorded_in_leaves_no_trace_in_its_series(tmp_path):
    whole = recorded(0.2)
    with Simulation(changing(), 1e-3) as simulation:
        simulation.run(0.013)
        for _ in range(110):
            simulation.step()
        parts = kept(simulation.run(0.2), tmp_path)
    assert len(parts.segments) > len(whole.segments)
    assert parts.digest == whole.digest
    assert first_difference(parts, whole) is None
    assert first_difference(parts, rerun(parts)) is None


def test_every_series_has_one_value_per_tick_even_where_a_name_is_used_again(tmp_path):
    model = scenarios.load("double-pendulum")
    model.at(0.01, Cut("elbow"))
    model.at(0.02, Apply("elbow", Load(force=(1.0, 0.5)), ["lower.end"]))  # another thing of the same name
    model.at(0.03, Remove("elbow"))
    with Simulation(model, 1e-3) as simulation:
        run = kept(simulation.run(0.04), tmp_path)
    for pieces in series_of(run.segments).values():
        assert (np.diff(np.concatenate([ticks for ticks, _ in pieces])) > 0).all()
    ledgers = series_of(run.segments)["elbow", "ledger"]
    np.testing.assert_array_equal(
        np.concatenate([values for _, values in ledgers]), np.stack(list(run.ledger("elbow").values()), axis=1)
    )
    assert first_difference(run, rerun(run)) is None


def test_joints_that_break_and_events_between_ticks_are_the_models_own_and_are_repeated():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("upper", PointMassRod(start=(0, 0), end=(1, 0), masses=(1.0, 0.5)))
    model.add("lower", PointMassRod(start=(1, 0), end=(1, -1), masses=(0.5, 1.0)))
    model.join("pivot", Revolute(), "ground", "upper.start")
    model.join("elbow", Revolute(), "upper.end", "lower.start", breaks_at=Limit(force=20.0, window=0.02))
    model.when(Crossing("upper.end", "y", -0.1, direction=-1), Join("hook", Revolute(), "ground", "upper.end"))
    with Simulation(model, 1e-3) as simulation:
        run = simulation.run(0.5)
    assert [(event["kind"], event["name"]) for event in run.happenings] == [("join", "hook"), ("break", "elbow")]
    assert run.happenings[0]["time"] % 1e-3 > 1e-6
    assert not run.obstacles
    assert first_difference(run, rerun(run)) is None


def test_a_run_that_diverged_is_repeated_up_to_its_last_sample_and_the_event_in_it():
    model = scenarios.load("double-pendulum")
    model.at(0.011, Apply("blast", Load(force=(1e59, 0.0)), ["lower.end"]))  # goes wrong in the same step
    with Simulation(model, 1e-3) as simulation:
        with pytest.raises(Diverged):
            simulation.run(1.0)
        run = simulation.recorded
    assert run.happenings[-1]["tick"] == run.ticks[-1] == 11
    assert first_difference(run, rerun(run)) is None


def test_all_settings_of_a_simulation_come_along():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("bar", PointMassRod(start=(0, 0), end=(1, 0), masses=(1.0, 0.5), velocity=(0.3, 0.2)))
    model.join("pin", Revolute(), "ground", "bar.start")
    with (
        pytest.warns(LeakWarning),
        Simulation(model, 1e-2, project_velocities=True, leak_limit=1e-9, record_every=2) as simulation,
    ):
        run = simulation.run(0.3)
    again = rerun(run)  # warned already: silent now
    assert {event["kind"] for event in run.happenings} == {"projection", "alarm"}
    assert again.settings == run.settings
    assert run.settings["ticks"] == 30 and run.settings["until"] == pytest.approx(0.3)
    assert first_difference(run, again) is None


def test_a_folder_of_an_older_version_without_these_fields_is_repeated_too(tmp_path):
    recorded().save(tmp_path)
    data = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    for name in ("machine", "obstacles", "digest", "arrays", "checksum"):
        del data[name]
    data["format"] = "modular-run-1"
    data["settings"] = {name: data["settings"][name] for name in ("coupling", "record_every")}
    (tmp_path / "run.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.warns(RunWarning, match="without a checksum"):
        old = Run.load(tmp_path)
    assert first_difference(old, rerun(old)) is None


# --- what cannot be repeated -------------------------------------------------------------------------------------------


def test_changes_by_hand_are_marked_in_the_log_and_those_of_the_model_are_not():
    with Simulation(changing(), 1e-3) as simulation:
        simulation.run(0.035)
        simulation.cut("pivot")
        run = simulation.run(0.05)
    assert {event["name"]: event.get("by") for event in run.happenings} == {
        "elbow": None, "wind": None, "hook": None, "pivot": "hand", "bird": None,
    }  # fmt: skip


@pytest.mark.parametrize("change", ["cut", "join", "add", "apply", "remove"])
def test_what_was_done_by_hand_is_done_again(change, tmp_path):
    """From the folder, by the model of the simulation in a file, and by the model itself."""
    with Simulation(scenarios.load("double-pendulum"), 1e-3) as simulation:
        simulation.run(0.01)
        {
            "cut": lambda: simulation.cut("elbow"),
            "join": lambda: simulation.join("hook", Revolute(), "ground", "lower.end"),
            "add": lambda: simulation.add("bird", PointMassRod(start=(2, 2), end=(2.5, 2), masses=(0.1, 0.2))),
            "apply": lambda: simulation.apply("wind", Load(force=(1.0, 0.5)), "lower.end"),
            "remove": lambda: simulation.remove("lower"),
        }[change]()
        run = kept(simulation.run(0.02), tmp_path)
        simulation.assembly.save(tmp_path / "model.json")
        again = [rerun(run)]
        for model in (Assembly.load(tmp_path / "model.json"), simulation.assembly):
            with Simulation(model, 1e-3) as other:
                again.append(other.run(0.02))
    for other in again:
        assert first_difference(run, other) is None and other.digest == run.digest
    assert [event["name"] for event in again[0].events] == [event["name"] for event in run.events]


@pytest.mark.parametrize("change", ["limit", "aim", "apply"])
def test_what_no_event_says_is_refused_with_a_sentence_from_its_folder_too(change, tmp_path):
    def inner(t, x, v):
        return -0.4 * v

    with Simulation(scenarios.load("double-pendulum"), 1e-3) as simulation:
        simulation.run(0.01)
        if change == "limit":
            simulation.limit("elbow", Limit(force=1e6))
        elif change == "aim":
            simulation.apply("grip", Hand(stiffness=50.0, damping=1.0, most=5.0), "lower.end")
            simulation.aim("grip", (1.0, -1.0))
        else:
            simulation.apply("grip", Load(Law(inner)), "lower.end")
        run = kept(simulation.run(0.02), tmp_path)
        with pytest.raises(ModelError, match=r"cannot be the start of another.*(limit|apply) '\w+' at 0\.01 s"):
            simulation.assembly.save(tmp_path / "model.json")
    with pytest.raises(
        ModelError, match=r"by hand .*(limit|apply) '\w+' at 0\.01 s.*in a way that no event of a model can describe"
    ):
        rerun(run)
    assert "by hand" in run.summary()["cannot be repeated from its folder"]


def test_a_coupling_exchanged_on_the_way_is_refused():
    with Simulation(scenarios.load("double-pendulum"), 1e-3) as simulation:
        simulation.run(0.01)
        simulation.coupling = Penalty(preload=False)
        run = simulation.run(0.02)
    with pytest.raises(ModelError, match="coupling was changed by hand"):
        rerun(run)


def test_a_law_without_a_name_is_refused_and_one_with_a_name_is_repeated(tmp_path, monkeypatch):
    (tmp_path / "laws_of_mine.py").write_text("def drag(t, x, v):\n    return -0.4 * v\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    import laws_of_mine

    def inner(t, x, v):
        return -0.4 * v

    runs = {}
    for name, law in (("named", laws_of_mine.drag), ("text", "laws_of_mine:drag"), ("inner", inner)):
        model = scenarios.load("double-pendulum")
        model.apply("drag", Load(Law(law)), "lower.end")
        with Simulation(model, 1e-3) as simulation:
            runs[name] = simulation.run(0.05)
    assert runs["named"].digest == runs["inner"].digest
    assert "source of laws_of_mine" in runs["named"].versions
    for name in ("named", "text"):
        assert first_difference(runs[name], rerun(kept(runs[name], tmp_path / name))) is None
    with pytest.raises(ModelError, match=r"force 'drag' follows .*inner, a function that cannot be imported"):
        rerun(runs["inner"])
    monkeypatch.delitem(sys.modules, "laws_of_mine")
    (tmp_path / "laws_of_mine.py").unlink()
    with pytest.raises(ModelError, match="cannot find 'laws_of_mine:drag'"):
        rerun(Run.load(tmp_path / "text"))


def test_a_law_in_a_scheduled_event_needs_a_name_too():
    model = scenarios.load("double-pendulum")
    model.at(0.01, Apply("drag", Load(Law(lambda t, x, v: -v)), ["lower.end"]))
    with Simulation(model, 1e-3) as simulation:
        assert "lambda" in simulation.run(0.02).obstacles[0]


def test_a_coupling_of_another_version_is_refused_by_name():
    run = recorded(0.01)
    run.settings["coupling"] = {"class": "coordinator:Tomorrow"}
    run.versions["modular"] = "9.1.0"
    with pytest.raises(ModelError, match=r"coordinator:Tomorrow is not known.*modular 9\.1\.0.*install that version"):
        rerun(run)


# --- the first difference ----------------------------------------------------------------------------------------------

PLACES = [  # component, series, index, how it is said
    ("lower", "q", (1, 0), "element 1, x"),
    ("upper", "v", (0, 1), "element 0, y"),
    ("lower", "a", (1, 1), "element 1, y"),
    ("pivot", "violation", (1,), "row 1"),
    ("pivot", "violation_rate", (0,), "row 0"),
    ("hook", "reaction", (1,), "force y"),
    ("elbow", "ledger", (5,), "released"),
    ("wind", "ledger", (0,), "work_first"),
]


@pytest.mark.parametrize(("component", "series", "index", "words"), PLACES)
def test_one_flipped_bit_is_found_at_its_place(component, series, index, words, tmp_path):
    run = recorded()
    other = kept(run, tmp_path)
    for ticks, values in reversed(series_of(other.segments)[component, series]):
        if not values.flags.writeable:  # the final book of what has gone
            continue
        k = len(ticks) // 2
        before = values[(k, *index)]
        values[(k, *index)] = np.nextafter(before, np.inf)
        break
    found = first_difference(run, other)
    assert isinstance(found, Difference)
    assert (found.tick, found.component, found.series, found.index, found.where) == (
        ticks[k], component, series, index, words,
    )  # fmt: skip
    assert (found.first, found.second) == (before, np.nextafter(before, np.inf))
    assert found.time == pytest.approx(ticks[k] * 1e-3)
    assert (found.others, found.differing) == (0, 1)
    assert component in str(found) and words in str(found)
    assert run.digest != other.digest and run != other


def test_the_earliest_of_many_differences_is_named_and_the_others_counted():
    runs = []
    for masses in ((1.0, 0.5), (1.0, np.nextafter(0.5, 1.0))):
        model = Assembly(gravity=(0.0, -9.81))
        model.add("still", PointMassRod(start=(5, 0), end=(6, 0), masses=(1.0, 1.0)))
        model.add("bar", PointMassRod(start=(0, 0), end=(1, 0), masses=masses))
        model.join("pin", Revolute(), "ground", "bar.start")
        with Simulation(model, 1e-3) as simulation:
            runs.append(simulation.run(0.3))
    found = first_difference(*runs)
    series = [series_of(run.segments) for run in runs]
    first = {}
    for name in series[0]:
        a, b = (np.concatenate([values for _, values in one[name]]) for one in series)
        ticks = np.flatnonzero((a != b).reshape(len(a), -1).any(axis=1))
        if ticks.size:
            first[name] = int(ticks[0])
    assert found.tick == min(first.values()) == first[found.component, found.series]
    assert found.differing == len(first)
    assert found.others == sum(tick == found.tick for tick in first.values()) - 1
    assert found.component in ("bar", "pin")
    assert any("models differ in bodies" in reason for reason in why_different(*runs))


def test_a_missing_sample_and_a_missing_component_are_differences():
    short, long = recorded(0.045), recorded(0.05)
    found = first_difference(short, long)
    assert (found.tick, found.series, found.first, found.second) == (46, "sample", None, 46)
    assert "only the second run" in str(found)
    fewer = recorded(0.05)
    for segment in fewer.segments:
        for names, series in segment.bodies:
            if "bird" in names:
                series.update({key: array[:, : names.index("bird")] for key, array in series.items()})
                names.remove("bird")
    found = first_difference(long, fewer)
    assert (found.tick, found.component, found.series, found.second) == (40, "bird", "q", None)


def test_events_are_compared_with_all_they_say_but_not_with_who_made_them(tmp_path):
    run = recorded()
    other = kept(run, tmp_path)
    other.events[1]["by"] = "hand"
    assert first_difference(run, other) is None
    other.events[0]["released"] += 1e-18
    found = first_difference(run, other)
    assert (found.tick, found.component, found.series) == (20, "elbow", "event")
    assert "released" in str(found)
    del other.events[0]
    assert "elbow" in str(first_difference(run, other))


def test_a_nan_is_a_nan_but_minus_zero_is_not_zero(tmp_path):
    run = recorded()
    one, two = kept(run, tmp_path), kept(run, tmp_path)
    for k, (a, b) in enumerate([(np.nan, -np.nan), (0.0, -0.0)]):
        one.segments[0].bodies[0][1]["q"].flat[3] = a
        two.segments[0].bodies[0][1]["q"].flat[3] = b
        assert (first_difference(one, two) is None) == (k == 0) == (one.digest == two.digest)


def test_runs_of_different_steps_are_not_compared():
    with Simulation(changing(), 5e-4) as simulation, pytest.raises(ModelError, match=r"0\.001 and 0\.0005 s"):
        first_difference(recorded(), simulation.run(0.01))


# --- why ---------------------------------------------------------------------------------------------------------------


def test_what_decides_the_bits_is_in_the_folder_and_told_apart(tmp_path):
    run = kept(recorded(), tmp_path)
    assert run.versions == versions() and run.machine == machine()
    assert {"python", "numpy", "numba", "scipy", "sources"} <= set(run.versions)
    assert {"system", "architecture", "processor", "kernels compiled for", "linear algebra"} <= set(run.machine)
    assert why_different(run, rerun(run)) == []
    other = kept(run, tmp_path)
    other.versions["numpy"] = "1.0"
    other.machine["processor"] = "abacus"
    other.settings["record_every"] = 3
    told = why_different(other, run)
    assert [line.partition(":")[0] for line in told] == ["record_every", "numpy", "processor"]
    assert "abacus" in told[2]


def test_arrays_that_were_changed_after_they_were_read_are_named(tmp_path):
    run = kept(recorded(), tmp_path)
    run.segments[0].bodies[0][1]["v"].flat[-1] += 1.0
    assert any("not those that were written" in line for line in why_different(run, rerun(run)))
