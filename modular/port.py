"""Ports: what a component shows to its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from sys import intern
from typing import NamedTuple

import numpy as np

from modular.component import Component
from modular.elements import Array
from modular.errors import ModelError

GROUND = "ground"


@dataclass(frozen=True, slots=True)
class Port(Component):
    """A named place of a body: a point and, where the body has an orientation, axes fixed to it.

    `point` [m] and `axes` (rows: the unit vectors x, y, z; default: those of the world) are given in the world, as
    the body stands at the start. In the plane `axes` has two rows.
    """

    point: Sequence[float]
    axes: Sequence[Sequence[float]] | None = None

    def frame(self, owner: str) -> Array:
        """The axes as an orthonormal right-handed matrix, one axis per row."""
        dimension = len(self.point)
        if self.axes is None:
            return np.eye(dimension)
        axes = np.asarray(self.axes, float)
        if axes.shape != (dimension, dimension):
            raise ModelError(f"{owner}: axes have shape {axes.shape}; give {dimension} unit vectors as rows.")
        if not np.allclose(axes @ axes.T, np.eye(dimension), atol=1e-9) or np.linalg.det(axes) < 0:
            raise ModelError(
                f"{owner}: axes {axes.tolist()} are not orthonormal and right-handed; normalise them and order them "
                "so that x cross y = z."
            )
        return axes


class PortName(NamedTuple):
    """`"crank.tip"` taken apart; the ground has no port of its own."""

    body: str
    port: str

    @classmethod
    def parse(cls, text: str, owner: str) -> PortName:
        """Read "body.port" or "ground"."""
        if not isinstance(text, str):
            raise ModelError(f"{owner}: {text!r} is not a port; write 'body.port', such as 'upper.end', or 'ground'.")
        if text == GROUND:
            return cls(GROUND, "")
        body, dot, port = text.partition(".")
        if len(body) == len(GROUND) and body.lower() == GROUND:
            raise ModelError(
                f"{owner}: {text!r} is not a port; the ground has none of its own, write 'ground' (and at=… for a "
                "place)."
            )
        if not (body and dot and port):
            raise ModelError(f"{owner}: {text!r} is not a port; write 'body.port', such as 'upper.end', or 'ground'.")
        return cls(intern(body), intern(port))  # one text for all who name it

    def __str__(self) -> str:
        return GROUND if self.body == GROUND else f"{self.body}.{self.port}"
