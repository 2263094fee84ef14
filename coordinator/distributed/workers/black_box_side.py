"""A port of a black box, as a joint sees it when it takes its marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from modular.elements import Array
from modular.port import PortName
from modular.side import Mark, Side

if TYPE_CHECKING:
    from coordinator.distributed.workers.black_boxes import BlackBoxes


class BlackBoxSide(Side):
    """A port of a black box as it stood when it was asked for."""

    def __init__(self, stack: BlackBoxes, name: str, port: PortName) -> None:
        self._stack, self._port = stack, port.port
        self.owner, self.name = name, str(port)
        found = stack.call("side", name=name, port=port.port)
        self.position, self.velocity, self.acceleration = (
            np.array(found[key], float) for key in ("position", "velocity", "acceleration")
        )
        self._frame, self._directions = np.array(found["frame"], float), np.array(found["directions"], float)

    @property
    def frame(self) -> Array:
        """Axes of the port as rows."""
        return self._frame

    @property
    def directions(self) -> Array:
        """Those that it can follow."""
        return self._directions

    def point(self, x: Array) -> Mark | None:
        """The material point that stands at `x`."""
        return self._mark("point", x)

    def direction(self, u: Array) -> Mark | None:
        """The body-fixed direction along `u`."""
        return self._mark("direction", u)

    def _mark(self, what: str, value: Array) -> Mark | None:
        found = self._stack.call("mark", name=self.owner, port=self._port, what=what, value=np.array(value, float))
        return None if found is None else Mark(np.array(found[0], float), np.array(found[1], float))
