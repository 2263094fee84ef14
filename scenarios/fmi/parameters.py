"""Settings of ready systems, as parameters of an FMU: numbers, whole numbers and booleans."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from scenarios import catalogue


def numbers_of(name: str, given: Mapping[str, object]) -> dict[str, float]:
    """By name, as they are or as they were given: of the type of what stands there, so that 2 metres are no whole number."""
    _, settings = catalogue.describe(name)
    found: dict[str, float] = {}
    for setting, text in settings.items():
        try:
            usual = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            continue
        value = given.get(setting, usual)
        if not isinstance(value, int | float) or not isinstance(usual, int | float):
            continue
        kind = type(usual)
        if kind is float or float(value) == kind(value):
            found[setting] = kind(value)
    return found
