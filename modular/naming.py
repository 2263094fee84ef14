"""How components say which of their numbers have names, where formulas are written instead of numbers (coordinator/equations).

A stack of bodies may say how the coordinates of a body are called, `coordinate_names()`, and how its numbers are made of those that
have names: `named_numbers(name, symbol)` gives rows of its columns, and attributes of the description.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# of a number, by what it is called and what it is: something to calculate with, which has a name
Naming = Callable[[str, float], Any]
