"""Numbers that people give: refused with their name where they are none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from math import ceil, inf, isfinite
from typing import Any

import numpy as np

from modular.errors import ModelError

MAX_EXTRA_PARTS = 10  # parts that one may have to go down until two digits say it exactly
RELATIVE_ROUNDING = 1e-9
SMALLEST_MAGNITUDE, LARGEST_MAGNITUDE = 1e-60, 1e60  # fourth powers, and products of such, are still numbers


def number(value: Any, what: str, unit: str) -> float:
    """`value` as a finite number."""
    try:
        result = float(value) if not isinstance(value, str | bytes | bool) else None
    except (TypeError, ValueError):
        result = None
    if result is None or not isfinite(result):
        raise ModelError(f"{what} = {value!r}; give a finite number [{unit}].")
    return result


def even_part(whole: float, most: float) -> float:
    """The largest part of `whole` up to `most` that goes into it evenly; of two digits if one is."""
    first = max(1, ceil(whole / most * (1.0 - RELATIVE_ROUNDING)))
    for parts in range(first, MAX_EXTRA_PARTS * first + MAX_EXTRA_PARTS):
        if abs(float(f"{whole / parts:.2g}") * parts / whole - 1.0) < RELATIVE_ROUNDING:
            return float(f"{whole / parts:.2g}")
    return whole / first


def exactly(part: float) -> str:
    """Such a part as a number to type: two digits where they say it."""
    short = f"{part:.2g}"
    return short if abs(float(short) / part - 1.0) < RELATIVE_ROUNDING else f"{part:.12g}"


def beyond_reach(component: Any, *, within: str = "", least: float = 0.0) -> Iterator[str]:
    """Which fields of a dataclass hold numbers whose powers and products would be none any more: a sentence each.

    `least`: what is smaller, and not 0, is refused as well, as of bodies, which are divided by.
    """
    for name in getattr(component, "__dataclass_fields__", ()):
        value, where = getattr(component, name), f"{within}{name}"
        if value.__class__ is float or value.__class__ is int:
            if value and isfinite(value) and not least <= abs(value) <= LARGEST_MAGNITUDE:
                what = "large" if abs(value) > LARGEST_MAGNITUDE else "small"
                yield (
                    f"{where} = {value!r} is too {what} for the calculation; "
                    f"give one between {SMALLEST_MAGNITUDE:g} and {LARGEST_MAGNITUDE:g}"
                )
        elif value.__class__ is tuple:
            if any(LARGEST_MAGNITUDE < abs(one) < inf for one in _leaves(value)):
                yield f"{where} = {value!r} is too large for the calculation; give numbers below {LARGEST_MAGNITUDE:g}"
        elif hasattr(value, "__dataclass_fields__"):
            yield from beyond_reach(value, within=f"{where}.")


def _leaves(values: tuple[Any, ...]) -> Iterator[float]:
    for value in values:
        if value.__class__ is tuple:
            yield from _leaves(value)
        elif value.__class__ is float or value.__class__ is int:
            yield value


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
