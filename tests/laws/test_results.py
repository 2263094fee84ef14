"""What analyses find is told, kept, read back as it was, taken elsewhere and drawn: each kind of result, by one mechanism."""

import csv
import json
from functools import cache

import numpy as np
import pytest
from typer.testing import CliRunner

import scenarios
from components import Revolute, RigidBody, Rod, Spherical, SpringDamper, TorsionSpring
from coordinator.analysis import (
    Result,
    equilibrium,
    inverse_dynamics,
    kinematics,
    linearise,
    load_result,
    mobility,
    mobility_along,
    modes,
    root_locus,
    statics,
    workspace,
)
from coordinator.analysis.result import FILE, Kept, _put
from lazily import Lazily
from modular import Assembly, ModelError
from scenarios.cli import app
from scenarios.report.results import draw_result

xarray = Lazily("xarray")
TIMES = np.linspace(0.0, 1.0, 5)


def hanging(stiffness=3.0):
    """Two rods that hang, the upper one held by a spring with a damper; names as files may have to bear."""
    model = Assembly(gravity=(0.0, -9.81), title="Größe, 'quoted'")
    model.add("array", Rod((0.0, 0.0), (0.0, -1.0), 2.0))
    model.add("model", Rod((0.0, -1.0), (0.0, -1.7), 1.1))
    model.join("pin", Revolute(), "ground", "array.start")
    model.join("pin2", Revolute(), "array.end", "model.start")
    model.apply("spring", TorsionSpring(stiffness, 0.3), "ground", "array.start")
    return model


def door():
    """On two balls, which share what they carry along their line."""
    model = Assembly(gravity=(0.0, 0.0, -9.81), title="door")
    ports = {"low": (0.0, 0.0, 0.0), "high": (0.0, 0.0, 2.0), "edge": (0.0, 0.9, 1.0)}
    model.add("leaf", RigidBody(mass=10.0, inertia=(1.0, 1.1, 1.2), centre=(0.0, 0.3, 1.0), ports=ports))
    model.join("low", Spherical(), "ground", "leaf.low")
    model.join("high", Spherical(), "ground", "leaf.high")
    model.apply("catch", SpringDamper(50.0, 1.0, 0.4), "ground", "leaf.edge", at=(0.4, 0.9, 1.0))
    return model


@cache
def found():
    arm = hanging()
    motions = {"pin": 0.3 * TIMES**2, "pin2": -0.1 * TIMES}
    return {
        "Modes": modes(hanging()), "Linear": linearise(scenarios.load("bicycle", speed=5.0), steady=True),
        "Locus": root_locus(hanging, "stiffness", [1.0, 2.0, 4.0]), "Mobility": mobility(door()),
        "Statics": statics(door(), seek=True), "Equilibrium": equilibrium(hanging()),
        "Efforts": inverse_dynamics(arm, motions, TIMES),
        "Along": mobility_along(kinematics(arm, motions, TIMES)),
        "Workspace": workspace(arm, "model.end", {"pin": [0.0, 0.4], "pin2": [-0.5, 0.0, 0.5]}),
    }  # fmt: skip


KINDS = ["Along", "Modes", "Linear", "Locus", "Mobility", "Statics", "Equilibrium", "Efforts", "Workspace"]


def content(result):
    arrays = {}
    return json.dumps(_put(result, arrays)), arrays


def test_every_kind_of_result_is_looked_at_here():
    kinds = {name for name, kind in Kept.kinds.items() if issubclass(kind, Result) and kind is not Result}
    assert kinds == set(KINDS) == set(found())


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_read_back_as_it_was(kind, tmp_path):
    result = found()[kind]
    result.save(tmp_path / "kept")
    again = load_result(tmp_path / "kept")
    text, arrays = content(result)
    text_again, arrays_again = content(again)
    assert type(again) is type(result) and text_again == text
    for name, array in arrays.items():
        assert arrays_again[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays_again[name], array)
    assert again.summary() == result.summary() and len(result.summary()) > 0
    assert type(result).load(tmp_path / "kept").summary() == result.summary()


@pytest.mark.short(3)
@pytest.mark.parametrize("kind", KINDS)
def test_its_arrays_are_a_dataset_and_a_table(kind, tmp_path):
    result = found()[kind]
    data, series, labels = result.to_xarray(), result.series(), result.labels()
    for name, one in series.items():
        np.testing.assert_array_equal(data[name].values, one.values)
        assert data[name].dims == one.axes and data[name].attrs["units"] == one.unit
        assert all(len(labels[axis]) == np.shape(one.values)[k] for k, axis in enumerate(one.axes))
    with xarray.open_dataset(result.save(tmp_path / "all.nc"), engine="h5netcdf") as kept:
        for name, one in series.items():
            whole = kept[name] if name in kept else kept[f"{name}_real"] + 1j * kept[f"{name}_imaginary"]
            np.testing.assert_array_equal(whole.values, one.values)
    with result.save(tmp_path / "table.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    head, rows = lines[0], lines[1:]
    assert len(rows) == np.prod([len(labels[axis]) for axis in result.rows]) and len(head) > len(result.rows)
    columns = result.columns()
    assert head == list(columns)
    for k, values in enumerate(columns.values()):
        read = [row[k] if isinstance(values[0], str) else float(row[k]) for row in rows]
        assert not isinstance(values[0], bool)
        np.testing.assert_array_equal(read, values)


def test_tables_put_numbers_where_their_names_say():
    reach, loads = found()["Workspace"], found()["Statics"]
    table = reach.columns()
    k = table["pin"].index(0.4) + table["pin2"][:3].index(-0.5)
    assert (table["pin"][k], table["pin2"][k]) == (0.4, -0.5)
    assert table["place y [m]"][k] == reach.places[1, 0, 1]
    table = loads.columns()
    assert table["force z [N]"][table["joint"].index("high")] == loads.force("high")[2]
    swings = found()["Modes"]
    assert swings.columns()["shape model.end x real"][1] == swings.shapes["model.end"][1, 0].real


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_picture(kind):
    figure = draw_result(found()[kind], "model")
    assert figure.get_axes() and any(
        axes.lines or axes.collections or axes.texts or axes.patches for axes in figure.get_axes()
    )


def test_damaged_and_foreign_folders_are_refused_in_a_sentence(tmp_path):
    place = found()["Mobility"].save(tmp_path / "kept")
    with pytest.raises(ModelError, match="holds a Mobility, not a Statics"):
        type(found()["Statics"]).load(place)
    text = (place / FILE).read_text()
    (place / FILE).write_text(text.replace('"freedoms": 1', '"freedoms": 2'))
    with pytest.raises(ModelError, match="are not those that were written together"):
        load_result(place)
    (place / FILE).write_text(text[: len(text) // 2])
    with pytest.raises(ModelError, match="cannot be read as a result"):
        load_result(place)
    with pytest.raises(ModelError, match=r"holds no result\.json"):
        load_result(tmp_path)
    with pytest.raises(ModelError, match="a folder, which has no such ending"):
        found()["Mobility"].save(tmp_path / "kept.json")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    with pytest.raises(ModelError, match="holds a run"):
        found()["Mobility"].save(tmp_path / "run")


def test_a_mode_is_a_run_of_one_period_with_closed_joints():
    swings = found()["Modes"]
    run = swings.swing(1)
    assert run.time[-1] == pytest.approx(1.0 / swings.frequencies[1], rel=1e-12)
    assert max(np.abs(run.violation(joint)).max() for joint in run.joints) < 1e-12
    ends = run.position("model.end")
    assert ends[0] == pytest.approx(ends[-1], abs=1e-12)
    way, shape = ends - ends[8], swings.shapes["model.end"][1].real  # a quarter of a period on it passes the middle
    assert np.abs(way[0]).max() > 0.05 and np.abs(way[:, 0]).max() == pytest.approx(abs(way[0, 0]), rel=0.1)
    others = run.position("array.end")[0] - run.position("array.end")[8]
    ratio = swings.shapes["array.end"][1].real[0] / shape[0]
    assert others[0] / way[0, 0] == pytest.approx(ratio, rel=0.15)  # as far as it goes straight
    with pytest.raises(ModelError, match="there are 2, counted from 0 on"):
        swings.swing(2)


def test_the_commands_keep_draw_and_tell_again(tmp_path):
    kept, picture = tmp_path / "kept", tmp_path / "shapes.png"
    told = CliRunner().invoke(
        app, ["modes", "double-pendulum", "--out", str(kept), "--picture", str(picture)], catch_exceptions=False
    )
    assert told.exit_code == 0 and picture.read_bytes()[:4] == b"\x89PNG"
    again = CliRunner().invoke(app, ["show", str(kept)])
    assert again.exit_code == 0 and "mode 1: 0.921086 Hz" in again.output and (kept / "result.png").exists()
    twice = CliRunner().invoke(app, ["modes", "double-pendulum", "--out", str(kept)])
    assert twice.exit_code != 0 and "holds a result already" in " ".join(twice.output.split())
    swing = CliRunner().invoke(app, ["modes", "double-pendulum", "--swing", "0", "--out", str(tmp_path / "run")])
    assert swing.exit_code == 0 and (tmp_path / "run" / "run.json").exists()
    rests = CliRunner().invoke(app, ["equilibrium", "double-pendulum", "--out", str(tmp_path / "loads.csv")])
    assert rests.exit_code == 0 and "comes back to it" in rests.output
    lines = CliRunner().invoke(app, ["linearise", "double-pendulum", "--out", str(tmp_path / "m.nc")])
    assert lines.exit_code == 0 and "2 places and 2 velocities" in lines.output
    wrong = CliRunner().invoke(app, ["statics", "double-pendulum", "--picture", str(tmp_path / "x.pdf")])
    assert wrong.exit_code != 0 and "ends in .png" in " ".join(wrong.output.split())
