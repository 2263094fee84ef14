"""Variables of an FMU that are asked for or told together: one call, with arrays that are made once."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from components.fmi.archive import Variable
from modular.elements import Array
from modular.errors import ModelError

FLOAT, WHOLE, BOOLEAN = "Float64", "Int32", "Boolean"
TYPES: dict[str, Any] = {
    "Float64": ctypes.c_double, "Float32": ctypes.c_float, "Int8": ctypes.c_int8, "UInt8": ctypes.c_uint8,
    "Int16": ctypes.c_int16, "UInt16": ctypes.c_uint16, "Int32": ctypes.c_int32, "UInt32": ctypes.c_uint32,
    "Int64": ctypes.c_int64, "UInt64": ctypes.c_uint64, "Boolean": ctypes.c_bool,
}  # fmt: skip  # of FMI 3; those of FMI 2 are called so too
NAMES_TWO = {"Float64": "Real", "Int32": "Integer", "Boolean": "Boolean"}  # as FMI 2 calls them
FLOATS = frozenset({"Float64", "Float32"})


def is_discrete(kind: str) -> bool:
    """Whether such a variable changes in jumps alone: whole numbers and booleans."""
    return kind in TYPES and kind not in FLOATS


def discrete(kind: str, value: Any) -> Any:
    """A whole number or a boolean of such a type; raises ValueError where it is none."""
    number = float(value)
    low, high = (0, 1) if kind == BOOLEAN else limits(TYPES[kind])
    if not (number.is_integer() and low <= number <= high):
        raise ValueError(value)
    return bool(value) if kind == BOOLEAN else int(value)


def limits(kind: Any) -> tuple[int, int]:
    """Of whole numbers of a type."""
    info = np.iinfo(np.dtype(kind))
    return int(info.min), int(info.max)


class Numbers:
    """Some variables of one type, as numbers in SI units; booleans are 0 and 1.

    Arrays are asked for and told as a whole; `places` is where the elements that are wanted lie, None where there are only scalars.
    """

    def __init__(self, variables: Sequence[Variable], kind: str, *, three: bool) -> None:
        self.wholes: dict[int, slice] = {}  # by reference: where all of an array lies
        references: list[int] = []
        places: list[int] = []
        size = 0
        for variable in variables:
            if variable.place is None:
                references.append(variable.reference)
                places.append(size)
                size += 1
                continue
            if variable.reference not in self.wholes:
                references.append(variable.reference)
                self.wholes[variable.reference] = slice(size, size + len(variable.starts))
                size += len(variable.starts)
            places.append(self.wholes[variable.reference].start + variable.place)
        self.names = [variable.name for variable in variables]
        self.count, self.size = len(references), size
        self.references = (ctypes.c_uint * self.count)(*references)
        self.values = ((TYPES[kind] if three or kind != BOOLEAN else ctypes.c_int) * size)()
        self.array: Array = np.ctypeslib.as_array(self.values)
        self.places: Array | None = np.array(places, np.int64) if self.wholes else None
        scales, offsets = np.array([one.scale for one in variables]), np.array([one.offset for one in variables])
        plain = (scales == 1.0).all() and (offsets == 0.0).all()
        self.units: tuple[Array, Array] | None = None if plain else (scales, offsets)
        self.discrete = is_discrete(kind)
        self.kind = kind
        self.get, self.set = (
            f"fmi3{verb}{kind}" if three else f"fmi2{verb}{NAMES_TWO[kind]}" for verb in ("Get", "Set")
        )

    def check(self, values: Array) -> None:
        """Refuse what a whole number or a boolean cannot be."""
        dtype: Any = self.array.dtype
        low, high = (0, 1) if self.kind == BOOLEAN else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
        for name, value in zip(self.names, values, strict=True):
            if not (np.isfinite(value) and float(value).is_integer() and low <= value <= high):
                wanted = "true or false" if self.kind == BOOLEAN else f"a whole number from {low} to {high}"
                raise ModelError(f"variable '{name}' is of type {self.kind} and cannot be {value:g}; give {wanted}.")
