"""A run for other tools keeps every number and says what it is."""

import csv
import json
import sys
from functools import cache

import numpy as np
import pytest

import scenarios
from components import Load, Revolute, Rod, Spherical
from coordinator import Simulation
from coordinator.record.export import columns, write_csv, write_netcdf
from lazily import Lazily
from modular import Add, Apply, Assembly, Cut, Join, ModelError, Remove
from modular.ledger import LEDGER

xarray = Lazily("xarray")


@cache
def planar():
    """Joints and bodies that come and go, a force."""
    model = scenarios.load("double-pendulum")
    model.at(0.01, Cut("elbow"), Apply("wind", Load(force=(1.0, 0.5)), ["lower.end"]))
    model.at(0.02, Join("hook", Revolute(), "ground", "lower.end"), Remove("wind"))
    model.at(0.03, Remove("upper"))
    with Simulation(model, 1e-3) as simulation:
        return simulation.run(0.04)


@cache
def spatial():
    """A joint with moments beside one without, and a body that comes late."""
    model = Assembly(gravity=(0.1, 0.2, -9.81), title="two rods; Größe, 'quoted'")
    model.add("arm", Rod(start=(0, 0, 0), end=(1, 0.2, 0.1), mass=1.3, radius=0.02))
    model.add("leg", Rod(start=(1, 0.2, 0.1), end=(1.3, 0.9, 0.4), mass=0.7, radius=0.02))
    model.join("hinge", Revolute(axis=(0.1, 1, 0.3)), "ground", "arm.start")
    model.join("ball", Spherical(), "arm.end", "leg.start")
    model.at(0.01, Add("late", Rod(start=(3, 0, 0), end=(4, 0, 0.3), mass=0.3, radius=0.01)))
    with Simulation(model, 1e-3) as simulation:
        return simulation.run(0.02)


@cache
def alone():
    """No joint, no force."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod(start=(0, 0), end=(1, 0.3), mass=1.0, radius=0.0))
    with Simulation(model, 1e-3) as simulation:
        return simulation.run(0.01)


RUNS = [planar, spatial, alone]


# --- Dataset and NetCDF ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", RUNS)
def test_the_dataset_holds_what_the_run_says(make):
    run = make()
    data = run.to_xarray()
    d = len(run.model["gravity"])

    def same(found, expected):
        np.testing.assert_array_equal(found.values, expected)

    same(data["time"], run.time)
    same(data["tick"], run.ticks)
    same(data["energy"], run.energy)
    assert list(data["axis"].values) == list("xyz"[:d])
    for body in run.bodies:
        same(data["kinetic_energy"].sel(body=body), run.kinetic_energy(body))
        same(data["potential_energy"].sel(body=body), run.potential_energy(body))
        for port in run.bodies[body].port_names:
            for series in ("position", "velocity", "acceleration"):
                same(data[series].sel(port=f"{body}.{port}"), getattr(run, series)(f"{body}.{port}"))
    for joint in run.joints:
        split, error, rate = run.translations(joint), run.violation(joint), run.violation_rate(joint)
        same(data["gap"].sel(joint=joint)[:, :split], error[:, :split])
        same(data["gap_rate"].sel(joint=joint)[:, :split], rate[:, :split])
        turns = error.shape[1] - split
        if turns:
            same(data["turn"].sel(joint=joint)[:, :turns], error[:, split:])
            same(data["turn_rate"].sel(joint=joint)[:, :turns], rate[:, split:])
        reaction = run.reaction(joint)
        same(data["force"].sel(joint=joint), reaction[:, :d])
        moment = data["moment"].sel(joint=joint)
        same(moment, reaction[:, d:] if reaction.shape[1] > d else np.full(moment.shape, np.nan))
    for name in (*run.joints, *run.forces):
        for line in LEDGER:
            same(data["ledger"].sel(member=name, line=line), run.ledger(name)[line])


@pytest.mark.short(1)
@pytest.mark.parametrize("make", RUNS)
def test_netcdf_keeps_every_number_bit_for_bit_and_every_name(make, tmp_path):
    run = make()
    data = run.to_xarray()
    file = write_netcdf(run, tmp_path / "run.nc")
    again = xarray.load_dataset(file)
    assert again.identical(data)
    for name, variable in data.variables.items():
        if variable.dtype.kind == "f":
            found = again[name].values
            np.testing.assert_array_equal(np.signbit(found), np.signbit(variable.values))
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


def test_every_variable_over_time_has_a_unit_and_every_dimension_a_name():
    for make in RUNS:
        data = make().to_xarray()
        for name, variable in data.data_vars.items():
            assert variable.attrs["long_name"], name
            if "time" in variable.dims:
                assert variable.attrs["units"], name
        assert set(data.dims) <= {
            "time", "port", "axis", "turning_axis", "body", "joint", "member", "line", "gap_row", "turn_row",
        }  # fmt: skip


def test_the_file_says_where_it_comes_from_and_holds_the_model(tmp_path):
    run = planar()
    again = xarray.load_dataset(write_netcdf(run, tmp_path / "run.nc"))
    assert (again.attrs["digest"], again.attrs["dt"], again.attrs["title"]) == (run.digest, run.dt, run.model["title"])
    assert again.attrs["version_numpy"] == np.__version__
    assert Assembly.from_data(json.loads(again["model"].item())).to_data() == run.model
    assert json.loads(again["events"].item()) == run.events
    assert json.loads(again["settings"].item()) == run.settings


@pytest.mark.campaign
def test_a_model_larger_than_an_attribute_may_be_fits_too(tmp_path):
    with Simulation(scenarios.load("chain", bodies=310), 1e-4) as simulation:
        run = simulation.run(2e-4)
    again = xarray.load_dataset(write_netcdf(run, tmp_path / "run.nc"))
    assert len(again["model"].item()) > 65536
    assert again.identical(run.to_xarray())


# --- tables ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", RUNS)
def test_csv_and_table_are_the_same_and_keep_every_digit(make, tmp_path):
    run = make()
    table = run.to_pandas()
    with write_csv(run, tmp_path / "run.csv").open(newline="", encoding="utf-8") as stream:
        head, *rows = csv.reader(stream)
    assert head == ["time [s]", *table.columns] == [table.index.name, *table.columns]
    numbers = np.array([[float(cell) if cell else np.nan for cell in row] for row in rows])
    np.testing.assert_array_equal(numbers[:, 0], run.time)
    np.testing.assert_array_equal(numbers[:, 1:], table.to_numpy())
    np.testing.assert_array_equal(np.signbit(numbers[:, 1:]), np.signbit(np.nan_to_num(table.to_numpy(), nan=1.0)))


@pytest.mark.parametrize("make", RUNS)
def test_columns_have_one_name_each_and_a_unit(make):
    names = [name for name, _ in columns(make())]
    assert len(set(names)) == len(names)
    assert all(name.endswith("]") and " [" in name for name in names)


def test_columns_say_what_they_are():
    run = planar()
    table = run.to_pandas()
    np.testing.assert_array_equal(table["lower.end vx [m/s]"], run.velocity("lower.end")[:, 0])
    np.testing.assert_array_equal(table["hook force y [N]"], run.reaction("hook")[:, 1])
    np.testing.assert_array_equal(table["elbow released [J]"], run.ledger("elbow")["released"])
    turning = spatial()
    np.testing.assert_array_equal(turning.to_pandas()["hinge moment z [N m]"], turning.reaction("hinge")[:, 5])
    np.testing.assert_array_equal(turning.to_pandas()["hinge turn 1 [1]"], turning.violation("hinge")[:, 3])


# --- without the extra -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["xarray", "h5netcdf", "h5py", "pandas"])
def test_without_the_extra_the_line_to_type_is_told_and_csv_still_works(library, tmp_path, monkeypatch):
    run = alone()
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ModelError, match=rf"needs {library}.*pip install 'modular-multibody\[data\]'"):
        run.to_pandas() if library == "pandas" else write_netcdf(run, tmp_path / "run.nc")
    assert write_csv(run, tmp_path / "run.csv").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["run.csv"]


def test_a_file_that_cannot_be_finished_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(stream):
        stream.write("time")
        raise OSError("no space left on device")

    monkeypatch.setattr("coordinator.record.export.csv.writer", full)
    (tmp_path / "run.csv").write_text("before", encoding="utf-8")
    with pytest.raises(OSError, match="no space"):
        write_csv(alone(), tmp_path / "run.csv")
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["before"]
