"""Rows of small blocks: what they are multiplied with, and taken from each other; of six and of three numbers it is written out."""

from __future__ import annotations

from typing import Any

from modular.elements import Array
from modular.kernel import kernel


@kernel
def row_with_row(one: Array, i: int, other: Array, j: int, count: int) -> Any:
    """Sum of products of so many numbers from places on; of joints in space the compiler knows how many there are."""
    value = 0.0
    if count == 6:
        for c in range(6):
            value += one[i + c] * other[j + c]
    elif count == 3:
        for c in range(3):
            value += one[i + c] * other[j + c]
    else:
        for c in range(count):
            value += one[i + c] * other[j + c]
    return value


@kernel
def row_with_column(one: Array, i: int, other: Array, j: int, count: int, apart: int) -> Any:
    """The same, where the numbers of the second lie so far `apart`."""
    value = 0.0
    if count == 6:
        for c in range(6):
            value += one[i + c] * other[j + apart * c]
    elif count == 3:
        for c in range(3):
            value += one[i + c] * other[j + apart * c]
    else:
        for c in range(count):
            value += one[i + c] * other[j + apart * c]
    return value


@kernel
def take_from_row(row: Array, at: int, factor: float, other: Array, there: int, count: int) -> None:
    """Take so many times one row from another."""
    if count == 6:
        for j in range(6):
            row[at + j] -= factor * other[there + j]
    elif count == 3:
        for j in range(3):
            row[at + j] -= factor * other[there + j]
    else:
        for j in range(count):
            row[at + j] -= factor * other[there + j]
