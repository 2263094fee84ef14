"""What bodies look like, for pages and films; nothing moves by it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Picture:
    """A shape, or a mesh in a file, in the axes of a port of a body, or in those of the world on the ground."""

    body: str
    port: str
    kind: str  # box: half edges; ball: radius three times; cylinder: radius twice and length, along z; mesh: scales
    place: tuple[float, ...]  # [m]
    axes: tuple[tuple[float, ...], ...]  # rows
    sizes: tuple[float, float, float]
    file: Path | None = None
    colour: tuple[int, int, int] | None = None  # red, green and blue, from 0 to 255
