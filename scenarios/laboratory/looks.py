"""Pictures of bodies, of models that other programs wrote: shapes and meshes that go along with them. Knows no viewer."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from coordinator.laboratory.snapshot import Plan
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.picture import Picture
from modular.port import GROUND
from scenarios.laboratory.touching import Outline

MOST_TRIANGLES = 1_500_000  # in all: what a browser turns without a graphics card; what comes later is not drawn
_log = logging.getLogger("modular")


class Looks:
    """Meshes that were read, and who is drawn by them."""

    def __init__(self) -> None:
        self._read: dict[Path, tuple[Array, Indices] | None] = {}
        self._triangles = 0
        self.bodies: frozenset[str] = frozenset()  # that have pictures
        self.meshes: dict[str, list[tuple[Outline, Picture]]] = {}  # by the name of the mesh, or its file

    def show(self, plan: Plan) -> None:
        """Those of the bodies that are there."""
        self.meshes = {}
        for picture in plan.pictures:
            if picture.body != GROUND and not _is_there(picture, plan):
                continue
            if picture.file is not None and self.mesh(picture.file) is None:
                continue
            key = picture.kind if picture.file is None else str(picture.file)
            outline = Outline(picture.body, picture.port, key, picture.place, picture.axes, picture.sizes)
            self.meshes.setdefault(key, []).append((outline, picture))
        drawn = {picture.body for _, picture in self.all()}
        self.bodies = frozenset(drawn - {GROUND})

    def all(self) -> Iterator[tuple[Outline, Picture]]:
        """Every picture."""
        return (one for ones in self.meshes.values() for one in ones)

    def mesh(self, file: Path) -> tuple[Array, Indices] | None:
        """Corners and triangles; none where the file cannot be read, or is more than can be drawn."""
        if file not in self._read:
            self._read[file] = self._taken(file)
        return self._read[file]

    def _taken(self, file: Path) -> tuple[Array, Indices] | None:
        from scenarios.models.meshes import read_triangles

        try:
            corners, triangles = read_triangles(file)
        except ModelError as error:
            _log.warning("a picture is not drawn: %s", error)
            return None
        self._triangles += len(triangles)
        if not len(triangles) or self._triangles > MOST_TRIANGLES:
            _log.warning("%s is not drawn: %d triangles are the most", file.name, MOST_TRIANGLES)
            return None
        return corners.astype(np.float32), triangles.astype(np.uint32)


def _is_there(picture: Picture, plan: Plan) -> bool:
    body = plan.bodies.get(picture.body)
    return body is not None and picture.port in body.port_names


def colours_of(pictures: Iterable[Picture], usual: Array) -> Array:
    """What pictures are given, else the usual ones of their bodies."""
    found = np.array(usual)
    for row, picture in enumerate(pictures):
        if picture.colour is not None:
            found[row] = picture.colour
    return found
