"""What every answer of an analysis can do: tell itself in words, be kept in a folder and read back, go to other tools.

An answer is a frozen dataclass of numbers, arrays, names and, where it needs one, the model. `series` says which of it are arrays,
by which names; tables, Datasets and NetCDF follow from that. A folder holds all of it as plain data:
`result.json` says what was found, `arrays.npz` holds the arrays; nothing is executed.

Everything that is not plain text or a number of JSON is an object with one key, which says what it is: {"array": its name},
{"number": "nan"}, {"complex": [re, im]}, {"list": [...]}, {"tuple": [...]}, {"names": {...}}, {"slice": [a, b]}, {"model": {...}},
{"Motion": {its fields}}. Both files carry checksums: a result is read as it was written, or refused with a sentence.
"""

from __future__ import annotations

import dataclasses
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from coordinator.record.archive import ABOUT, ARRAYS, CHECKSUM, checksum, sum_of, text_of
from coordinator.record.export import Series, columns_of, dataset_of, write_dataset, write_table
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError
from modular.files import in_place
from modular.version import __version__

if TYPE_CHECKING:
    import xarray


FORMAT, FILE = "modular-result-1", "result.json"


class Kept:
    """A dataclass that results are made of; those that files name are these, and no others."""

    kinds: ClassVar[dict[str, type[Kept]]] = {}

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        Kept.kinds[cls.__name__] = cls


def write_result(found: Kept, folder: Path) -> Path:
    """Both files, wholly or not at all."""
    arrays: dict[str, Array] = {}
    data = _put(found, arrays)
    text = text_of({"format": FORMAT, "version": __version__, "result": data, "arrays": sum_of(arrays)})
    if (folder / ABOUT).exists():
        raise ModelError(f"'{folder}' holds a run, and a result would hide it; choose another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sizes = {folder / ARRAYS: sum(array.nbytes for array in arrays.values()), folder / FILE: len(text)}
        with in_place(sizes) as (numbers, said):
            np.savez(numbers, **arrays)  # type: ignore[arg-type]
            said.write(text)
    except OSError as error:
        raise ModelError(
            f"'{error.filename or folder}' cannot be written ({error.strerror}); make room, or choose another folder."
        ) from error
    return folder


def read_result(folder: Path) -> Kept:
    """What `write_result` wrote."""
    if not (folder / FILE).is_file():
        raise ModelError(f"'{folder}' holds no {FILE}; give a folder into which a result was saved.")
    try:
        data = json.loads((folder / FILE).read_bytes().decode("utf-8"))
        if data.get("format") != FORMAT:
            raise ModelError(
                f"'{folder}': format {data.get('format')!r} is not {FORMAT!r}; was it written by another version?"
            )
        stated = data.pop(CHECKSUM, None)
        with (folder / ARRAYS).open("rb") as file, np.load(file, allow_pickle=False) as kept:
            arrays = {name: kept[name] for name in kept.files}
        if stated != checksum(data) or data["arrays"] != sum_of(arrays):
            raise ModelError(
                f"'{folder}': {FILE} and {ARRAYS} are not those that were written together; one was changed or damaged. Save "
                "the result again."
            )
        found = _get(data["result"], arrays)
    except ModelError:
        raise
    except Exception as error:  # whatever a damaged file leads to
        raise ModelError(f"'{folder}' cannot be read as a result ({type(error).__name__}: {error}).") from error
    if not isinstance(found, Kept):
        raise ModelError(f"'{folder}' holds no result, but {type(found).__name__}.")
    return found


def _put(value: Any, arrays: dict[str, Array]) -> Any:
    """Data that JSON knows."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, np.ndarray):
        name = f"array.{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, float):
        return {"number": repr(value)}
    if isinstance(value, complex):
        return {"complex": [_put(value.real, arrays), _put(value.imag, arrays)]}
    if isinstance(value, Assembly):
        return {"model": value.given().to_data()}
    if isinstance(value, Kept):
        fields = dataclasses.fields(value)  # type: ignore[arg-type]
        return {type(value).__name__: {field.name: _put(getattr(value, field.name), arrays) for field in fields}}
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop]}
    if isinstance(value, Mapping):
        return {"names": {name: _put(item, arrays) for name, item in value.items()}}
    if isinstance(value, list | tuple):
        return {"tuple" if isinstance(value, tuple) else "list": [_put(item, arrays) for item in value]}
    raise ModelError(f"{value!r} ({type(value).__name__}) is not plain data, so it cannot be kept in a file.")


def _get(data: Any, arrays: Mapping[str, Array]) -> Any:
    """What was put."""
    if not isinstance(data, dict):
        return data
    ((kind, value),) = data.items()
    match kind:
        case "array":
            return arrays[value]
        case "number":
            return float(value)
        case "complex":
            return complex(*(_get(part, arrays) for part in value))
        case "model":
            return Assembly.from_data(value)
        case "slice":
            return slice(*value)
        case "names":
            return {name: _get(item, arrays) for name, item in value.items()}
        case "list":
            return [_get(item, arrays) for item in value]
        case "tuple":
            return tuple(_get(item, arrays) for item in value)
    if kind not in Kept.kinds:
        raise ModelError(f"no result is called '{kind}'; was it written by another version?")
    return Kept.kinds[kind](**{name: _get(item, arrays) for name, item in value.items()})


AXES = "xyz"


class Result(Kept, ABC):
    """An answer of an analysis."""

    rows: ClassVar[tuple[str, ...]]  # axes whose labels are the lines of its table

    @abstractmethod
    def summary(self) -> list[str]:
        """In words, a line each."""

    @abstractmethod
    def series(self) -> dict[str, Series]:
        """Its arrays, by name."""

    @abstractmethod
    def labels(self) -> dict[str, Sequence[Any]]:
        """What the places along each of their axes are called."""

    def columns(self) -> dict[str, Sequence[Any]]:
        """Its table: a line for each label of `rows`."""
        return columns_of(self.series(), self.labels(), self.rows)

    def to_xarray(self) -> xarray.Dataset:
        """Its arrays as one Dataset, units in `attrs`; needs the extra `data`."""
        return dataset_of(
            self.series(), self.labels(), {"title": type(self).__name__, "source": f"modular {__version__}"}
        )

    def save(self, path: str | Path) -> Path:
        """Into a folder, from which `load` reads it back; into a table where the name ends in .csv, into NetCDF where in .nc."""
        path = Path(path)
        if path.suffix == ".csv":
            return write_table(self.columns(), path)
        if path.suffix == ".nc":
            return write_dataset(self.to_xarray(), path)
        if path.suffix[1:].isalpha():
            raise ModelError(
                f"'{path}': results are written into a folder, which has no such ending, or into a file that ends in .csv or .nc."
            )
        return write_result(self, path)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """What `save` wrote into a folder, as it was."""
        found = load_result(folder)
        if not isinstance(found, cls):
            raise ModelError(f"'{folder}' holds a {type(found).__name__}, not a {cls.__name__}.")
        return found


def load_result(folder: str | Path) -> Result:
    """Whatever answer was saved into a folder."""
    found = read_result(Path(folder))
    if not isinstance(found, Result):
        raise ModelError(
            f"'{folder}' holds a {type(found).__name__}, which is a part of a result; take another folder."
        )
    return found
