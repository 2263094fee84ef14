"""Numbers that people give: refused with their name where they are none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from math import isfinite
from typing import Any

import numpy as np

from modular.errors import ModelError


def number(value: Any, what: str, unit: str) -> float:
    """`value` as a finite number."""
    try:
        result = float(value) if not isinstance(value, str | bytes | bool) else None
    except (TypeError, ValueError):
        result = None
    if result is None or not isfinite(result):
        raise ModelError(f"{what} = {value!r}; give a finite number [{unit}].")
    return result


def misfits(component: Any) -> Iterator[str]:
    """Which fields of a dataclass hold no number where one is due, or no numbers: a sentence each."""
    for field in fields(component):
        value, kind = getattr(component, field.name), str(field.type)
        if value is None and "None" in kind:
            continue
        if kind.startswith("float") and not _are_numbers(value, 0):
            yield f"{field.name} = {value!r}; give a number"
        elif kind.startswith("Sequence[float]") and not _are_numbers(value, 1):
            yield f"{field.name} = {value!r}; give numbers, such as (0.0, 1.0)"
        elif "str" not in kind and isinstance(value, str | bytes | complex):
            yield f"{field.name} = {value!r}; give numbers"


def _are_numbers(value: Any, dimensions: int) -> bool:
    try:
        found = np.asarray(value)
        return found.ndim == dimensions and found.dtype.kind in "fiu"
    except (TypeError, ValueError):
        return False
