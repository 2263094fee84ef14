"""Numbers that people give: refused with their name where they are none."""

from __future__ import annotations

from math import isfinite
from typing import Any

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
