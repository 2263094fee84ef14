"""Numeric settings of ready systems, as parameters of an FMU."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from scenarios import catalogue


def numbers_of(name: str, given: Mapping[str, object]) -> dict[str, float]:
    """By name, as they are or as they were given; whole numbers stay whole."""
    _, settings = catalogue.describe(name)
    found: dict[str, float] = {}
    for setting, text in settings.items():
        try:
            value = given[setting] if setting in given else ast.literal_eval(text)
        except (ValueError, SyntaxError):
            continue
        if isinstance(value, int | float) and not isinstance(value, bool):
            found[setting] = value
    return found
