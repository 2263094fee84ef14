"""Nested data with arrays in them, as data that JSON knows and arrays by name; and numbers that JSON does not know.

An array becomes {"array": its name}, a number that is not finite {"number": "nan"}; so neither key may be used otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

from modular.errors import ModelError


class Notes:
    """Arrays that were put aside, by name."""

    def __init__(self, arrays: dict[str, Any] | None = None, prefix: str = "note") -> None:
        self.arrays: dict[str, Any] = {} if arrays is None else arrays
        self._prefix = prefix

    def put(self, value: Any) -> Any:
        """Data that JSON knows."""
        kind = type(value)  # most are plain: margins of every joint, at every event
        if kind is str or kind is int or value is None or (kind is float and isfinite(value)):
            return value
        if isinstance(value, np.ndarray):
            name = f"{self._prefix}.{len(self.arrays)}"
            self.arrays[name] = value.astype(np.uint8) if value.dtype == bool else value
            return {"array": name, "kind": value.dtype.name}
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float) and not isfinite(value):
            return {"number": repr(value)}
        if isinstance(value, Mapping):
            return value if _is_plain(value) else {str(key): self.put(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return value if _is_plain(value) else [self.put(item) for item in value]
        if value is None or isinstance(value, str | int | float):
            return value
        raise ModelError(f"{value!r} ({type(value).__name__}) is not plain data, so it cannot be kept in a file.")

    def get(self, value: Any) -> Any:
        """What was put."""
        if isinstance(value, dict):
            if set(value) == {"array", "kind"}:
                return np.array(self.arrays[value["array"]]).astype(value["kind"])
            if set(value) == {"number"}:
                return float(value["number"])
            return {key: self.get(item) for key, item in value.items()}
        return [self.get(item) for item in value] if isinstance(value, list) else value


def _is_plain(value: Any) -> bool:
    """Whether JSON knows all of it, which is asked in one go: a model may have many bodies."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True
