"""A run for other tools: an xarray Dataset, a pandas DataFrame, NetCDF and CSV; what else is arrays with names takes the same ways.

Only this file knows xarray and pandas, and only where it is asked for them; they come with the extra `data`. CSV needs
neither.
"""

from __future__ import annotations

import csv
import importlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coordinator.record.archive import finite
from coordinator.record.turning import Column, along_axes
from modular.elements import Array
from modular.errors import ModelError
from modular.ledger import LEDGER
from modular.version import __version__

if TYPE_CHECKING:
    import pandas
    import xarray

    from coordinator.record.run import Run

AXES = "xyz"
MOTIONS = (("position", "", "m"), ("velocity", "v", "m/s"), ("acceleration", "a", "m/s^2"))
ENERGIES = ("kinetic_energy", "potential_energy")
ERRORS = (("violation", "gap", "m", "turn", "1"), ("violation_rate", "gap_rate", "m/s", "turn_rate", "1/s"))


# --- xarray and NetCDF -------------------------------------------------------------------------------------------------


def to_xarray(run: Run) -> xarray.Dataset:
    """One Dataset over time: motion of all ports, energies, joint violations, reactions, ledgers; units in `attrs`.

    NaN stands where a component was not there, and in columns that a joint does not have. The model, the settings and the
    events are in it too, as JSON text.
    """
    library = needed("xarray", "to_xarray")
    d = len(run.model["gravity"])
    ports, bodies, joints = _ports(run), list(run.bodies), list(run.joints)
    members = _members(run)
    data: dict[str, Any] = {}
    # body by body, not series by series: what a body works out for one of its series is kept for a while only
    motions = [[getattr(run, name)(port) for name, *_ in MOTIONS] for port in ports]
    for k, (name, _, unit) in enumerate(MOTIONS):
        values = _stacked([of_port[k] for of_port in motions], (len(run), d))
        data[name] = (("time", "port", "axis"), values, {"units": unit, "long_name": f"{name} of a port"})
    energies = [[getattr(run, name)(body) for name in ENERGIES] for body in bodies]
    for k, name in enumerate(ENERGIES):
        values = _stacked([of_body[k] for of_body in energies], (len(run),))
        words = f"{name.replace('_', ' ')} of a body"
        data[name] = (("time", "body"), values, {"units": "J", "long_name": words})
    data["energy"] = ("time", run.energy, {"units": "J", "long_name": "kinetic and potential energy of all bodies"})
    for series, gap, gap_unit, turn, turn_unit in ERRORS:
        rows = {joint: getattr(run, series)(joint) for joint in joints}
        parts = {joint: np.split(rows[joint], [run.translations(joint)], axis=1) for joint in joints}
        for k, name, unit, row in ((0, gap, gap_unit, "gap_row"), (1, turn, turn_unit, "turn_row")):
            width = max((parts[joint][k].shape[1] for joint in joints), default=0)
            if not width:
                continue
            values = _stacked([parts[joint][k] for joint in joints], (len(run), width))
            words = f"{series.replace('_', ' ')} of a joint, {'translations' if k == 0 else 'directions'}"
            data[name] = (("time", "joint", row), values, {"units": unit, "long_name": words})
    reactions = {joint: run.reaction(joint) for joint in joints}
    data["force"] = (
        ("time", "joint", "axis"),
        _stacked([reactions[joint][:, :d] for joint in joints], (len(run), d)),
        {"units": "N", "long_name": "force of a joint on its second side"},
    )
    turns = list(AXES) if d == 3 else ["z"]
    data["moment"] = (
        ("time", "joint", "turning_axis"),
        _stacked([reactions[joint][:, d:] for joint in joints], (len(run), len(turns))),
        {"units": "N m", "long_name": "moment of a joint on its second side, at its point"},
    )
    for column in along_axes(run):
        name = f"{column.of} {column.what}"
        data[name] = ("time", column.values, {"units": column.unit, "long_name": _along(column)})
    ledgers = _stacked([np.stack(list(run.ledger(name).values()), axis=1) for name in members], (len(run), len(LEDGER)))
    data["ledger"] = (
        ("time", "member", "line"),
        ledgers,
        {"units": "J", "long_name": "energy ledger of a joint or force"},
    )
    for name in ("model", "settings", "events"):
        text = json.dumps(finite(getattr(run, name)), allow_nan=False)
        data[name] = ((), text, {"long_name": f"{name} of the run, JSON"})
    coordinates = {
        "time": ("time", run.time, {"units": "s", "long_name": "time"}),
        "tick": ("time", run.ticks, {"long_name": "ticks since the start"}),
        "port": _labels("port", ports),
        "axis": _labels("axis", list(AXES[:d])),
        "turning_axis": _labels("turning_axis", turns),
        "body": _labels("body", bodies),
        "joint": _labels("joint", joints),
        "member": _labels("member", members),
        "line": _labels("line", list(LEDGER)),
    }
    about = {
        "title": run.model.get("title", ""),
        "source": f"modular {run.versions.get('modular', __version__)}",
        "dt": run.dt,
        "digest": run.digest,
        **{f"version_{_word(name)}": text for name, text in run.versions.items()},
        **{f"machine_{_word(name)}": text for name, text in run.machine.items()},
    }
    return library.Dataset(data, coordinates, about)


def write_netcdf(run: Run, file: Path) -> Path:
    """Write the Dataset of a run as NetCDF 4, compressed without loss."""
    for library in ("h5netcdf", "h5py"):
        needed(library, "NetCDF")
    return write_dataset(to_xarray(run), file)


def write_dataset(dataset: xarray.Dataset, file: Path) -> Path:
    """A Dataset as NetCDF 4, compressed without loss; complex numbers, which it does not know, as two variables."""
    for library in ("h5netcdf", "h5py"):
        needed(library, "NetCDF")
    for name in [name for name, variable in dataset.data_vars.items() if variable.dtype.kind == "c"]:
        whole = dataset[name]
        parts = {f"{name}_real": whole.real, f"{name}_imaginary": whole.imag}
        dataset = dataset.drop_vars(name).assign({key: part.assign_attrs(whole.attrs) for key, part in parts.items()})
    packed = {
        name: {"zlib": True, "complevel": 1, "shuffle": True}
        for name, variable in dataset.data_vars.items()
        if variable.ndim and variable.size
    }
    with _beside(file) as beside:
        dataset.to_netcdf(beside, engine="h5netcdf", format="NETCDF4", encoding=packed)
    return file


# --- arrays with names -------------------------------------------------------------------------------------------------


class Series(NamedTuple):
    """An array by the names of its axes, its unit, and what it is in words."""

    axes: tuple[str, ...]
    values: Any
    unit: str = ""
    words: str = ""


def dataset_of(
    series: Mapping[str, Series], labels: Mapping[str, Sequence[Any]], about: Mapping[str, str]
) -> xarray.Dataset:
    """One Dataset of arrays; `labels`: of their axes, texts or numbers."""
    library = needed("xarray", "to_xarray")
    data = {name: (one.axes, one.values, {"units": one.unit, "long_name": one.words}) for name, one in series.items()}
    coordinates = {
        axis: _labels(axis, list(marks)) if not len(marks) or isinstance(marks[0], str) else (axis, np.asarray(marks))
        for axis, marks in labels.items()
    }
    return library.Dataset(data, coordinates, dict(about))


def columns_of(
    series: Mapping[str, Series], labels: Mapping[str, Sequence[Any]], rows: Sequence[str]
) -> dict[str, Sequence[Any]]:
    """A table: one line for each label of some axes, in all their combinations; a column for each number that there is at it."""
    lines = list(itertools.product(*(labels[axis] for axis in rows)))
    found: dict[str, Sequence[Any]] = {axis: [line[k] for line in lines] for k, axis in enumerate(rows)}
    for name, one in series.items():
        if one.axes[: len(rows)] != tuple(rows):
            continue
        values = np.asarray(one.values)
        values = values.astype(int) if values.dtype == bool else values
        parts = {" real": values.real, " imaginary": values.imag} if values.dtype.kind == "c" else {"": values}
        unit = f" [{one.unit}]" if one.unit not in ("", "1") else ""
        for marks in itertools.product(*(enumerate(labels[axis]) for axis in one.axes[len(rows) :])):
            words = " ".join([name, *(str(mark) for _, mark in marks)])
            at: tuple[Any, ...] = (*[slice(None)] * len(rows), *(k for k, _ in marks))
            for part, numbers in parts.items():
                found[f"{words}{part}{unit}"] = numbers[at].ravel().tolist()
    return found


def write_table(columns: Mapping[str, Sequence[Any]], file: Path) -> Path:
    """Columns of numbers or texts under their names, numbers to the last digit."""
    with _beside(file) as beside, beside.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True))
    return file


# --- tables ------------------------------------------------------------------------------------------------------------


def to_pandas(run: Run) -> pandas.DataFrame:
    """A wide table, one row per sample, indexed by time; columns such as "lower.end vx [m/s]", "elbow leaked [J]"."""
    library = needed("pandas", "to_pandas")
    return library.DataFrame(dict(columns(run)), index=library.Index(run.time, name="time [s]"))


def write_columns(columns: Mapping[str, Array], file: Path) -> Path:
    """Columns of numbers under their names, to the last digit."""
    head = ",".join(f'"{name}"' for name in columns)
    np.savetxt(file, np.array(list(columns.values())).T, delimiter=",", header=head, comments="", fmt="%.17g")
    return file


def write_csv(run: Run, file: Path) -> Path:
    """Write the same table as CSV; numbers with all their digits, empty where a component was not there."""
    named = dict(columns(run))
    with _beside(file) as beside, beside.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["time [s]", *named])
        table = [run.time, *named.values()]
        for k in range(len(run)):
            numbers = (float(column[k]) for column in table)
            writer.writerow(["" if np.isnan(number) else repr(number) for number in numbers])
    return file


def columns(run: Run) -> Iterator[tuple[str, Array]]:
    """All series of a run as columns, with names that people can read and units in brackets."""
    d = len(run.model["gravity"])
    for port in _ports(run):
        for name, letter, unit in MOTIONS:
            for axis, column in zip(AXES, getattr(run, name)(port).T, strict=False):
                yield f"{port} {letter}{axis} [{unit}]", column
    for name in ENERGIES:
        for body in run.bodies:
            yield f"{body} {name.replace('_', ' ')} [J]", getattr(run, name)(body)
    yield "energy [J]", run.energy
    for joint in run.joints:
        split = run.translations(joint)
        for series, gap, gap_unit, turn, turn_unit in ERRORS:
            for k, column in enumerate(getattr(run, series)(joint).T):
                name, row, unit = (gap, k, gap_unit) if k < split else (turn, k - split, turn_unit)
                yield f"{joint} {name.replace('_', ' ')} {row + 1} [{unit}]", column
        for k, column in enumerate(run.reaction(joint).T):
            turning = "z" if d == 2 else AXES[k - d]
            yield (f"{joint} force {AXES[k]} [N]" if k < d else f"{joint} moment {turning} [N m]"), column
    for along in along_axes(run):
        yield f"{along.of} {along.what} [{along.unit}]", along.values
    for name in _members(run):
        for line, column in run.ledger(name).items():
            yield f"{name} {line.replace('_', ' ')} [J]", column


# --- shared ------------------------------------------------------------------------------------------------------------


def needed(library: str, what: str) -> Any:
    """An optional library, or what to install."""
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise ModelError(
            f"{what} needs {library}, which is not installed; get it with: python -m pip install 'modular-multibody[data]'"
            " (CSV needs nothing: modular export DIR --format csv)."
        ) from error


@contextmanager
def _beside(file: Path) -> Iterator[Path]:
    """A file to write beside the place of another, which it takes once it is whole."""
    beside = file.with_name(f".{file.name}.part")
    try:
        yield beside
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


def _word(name: str) -> str:
    """A name as an attribute of a file may have it."""
    return name.replace(" ", "_")


def _along(column: Column) -> str:
    """What it is, for those who read the file."""
    if column.what == "distance":
        return f"distance of the points of {column.of}"
    if column.what in ("angle", "way"):
        return f"{column.what} of {column.of} since it was made, along its axis"
    return f"{column.what} of {column.of} along its coordinate, positive where it makes that larger"


def _ports(run: Run) -> list[str]:
    return [f"{name}.{port}" for name, body in run.bodies.items() for port in body.port_names]


def _members(run: Run) -> list[str]:
    """Everything that keeps a ledger, also what came and went between two samples."""
    closed = (name for segment in run.segments for name in segment.closed)
    return list(dict.fromkeys((*run.joints, *run.forces, *closed)))


def _stacked(series: list[Array], shape: tuple[int, ...]) -> Array:
    """Series of equal or smaller shape side by side, (n, series, ...), NaN where one is narrower."""
    table = np.full((shape[0], len(series), *shape[1:]), np.nan)
    for k, values in enumerate(series):
        place: tuple[slice | int, ...] = (slice(None), k, *(slice(n) for n in values.shape[1:]))
        table[place] = values
    return table


def _labels(name: str, labels: list[str]) -> tuple[str, Array]:
    return name, np.array(labels, dtype=object if not labels else None)
