"""How components say which of their numbers have names, where formulas are written instead of numbers (coordinator/equations).

A stack of bodies may say how the coordinates of a body are called, `coordinate_names()`, and how its numbers are made of those that
have names: `named_numbers(name, symbol)` gives rows of its columns, and attributes of the description. Where many bodies are moved
by the same formulas it may say which numbers in their rows differ between them, `numbers_in_rows(rows)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from modular.elements import Array

# of a number, by what it is called and what it is: something to calculate with, which has a name
Naming = Callable[[str, float], Any]


@dataclass(frozen=True)
class NumbersInRows:
    """One number in the rows of several bodies: what it is called, in which column, and at which places of a row."""

    label: str
    column: str
    places: Sequence[tuple[int, ...]]
    values: Array  # (rows,)
    fixed: Any  # whether it is so in every body alike, (rows,)

    @property
    def named(self) -> Any:
        """Whether it has a name, (rows,); what is nothing has none."""
        return ~self.fixed & (self.values != 0.0)
