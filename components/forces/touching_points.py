"""What all pairs of shapes need to say where they touch."""

from __future__ import annotations

from typing import Any

from components.forces.contact_pair import Patch
from modular.elements import Array
from modular.kernel import kernel


@kernel
def clamp(value: float, most: float) -> Any:
    """Between -most and most."""
    return min(max(value, -most), most)


@kernel
def put(patch: Patch, k: int, x: Array, normal: Array, gap: float) -> None:
    """Note a point."""
    for c in range(3):
        patch.points[k, c], patch.normals[k, c] = x[c], normal[c]
    patch.gaps[k] = gap
