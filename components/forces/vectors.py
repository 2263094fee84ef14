"""Vectors of three numbers inside kernels."""

from __future__ import annotations

from typing import Any

from modular.elements import Array
from modular.kernel import kernel


@kernel
def cross(a: Array, b: Array, out: Array) -> None:
    """out = a x b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@kernel
def dot(a: Array, b: Array) -> Any:
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
