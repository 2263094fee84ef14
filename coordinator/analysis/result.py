"""What every answer of an analysis can do: tell itself in words, be kept in a folder and read back, go to other tools.

An answer is a frozen dataclass of numbers, arrays, names and, where it needs one, the model. `series` says which of it are arrays,
by which names; tables, Datasets and NetCDF follow from that. A folder holds all of it as plain data (result_files.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from coordinator.analysis.result_files import Kept, read_result, write_result
from coordinator.record.export import Series, columns_of, dataset_of, write_dataset, write_table
from modular.errors import ModelError
from modular.version import __version__

if TYPE_CHECKING:
    import xarray

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
