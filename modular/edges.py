"""Joints and forces of a model, between the ports that they take hold of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from modular.force import Force
from modular.joint import Joint
from modular.limit import Limit
from modular.port import PortName


class JointEdge(NamedTuple):
    """A joint of the model, between two ports."""

    joint: Joint
    first_body: str
    first_port: str
    second_body: str
    second_port: str
    at: tuple[float, ...] | None = None
    breaks_at: Limit | None = None

    @property
    def first(self) -> PortName:
        """The port on its first side."""
        return PortName(self.first_body, self.first_port)

    @property
    def second(self) -> PortName:
        """The port on its second side."""
        return PortName(self.second_body, self.second_port)


@dataclass(frozen=True, slots=True)
class ForceEdge:
    """A force of the model, on one or two ports."""

    force: Force
    ports: tuple[PortName, ...]
    at: tuple[float, ...] | None = None  # where its end on the ground is


def edge_data(
    part: Joint | Force, key: str, ports: Sequence[PortName], at: Sequence[float] | None, breaks_at: Limit | None = None
) -> dict[str, Any]:
    """A joint or a force and where it is."""
    data = part.to_data()
    data[key] = [str(port) for port in ports]
    if at is not None:
        data["at"] = list(at)
    if breaks_at is not None:
        data["breaks_at"] = breaks_at.to_data()
    return data
