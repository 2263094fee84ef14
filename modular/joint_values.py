"""Joints of a model by their names, and the values at which those with one coordinate begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np

from modular.along_joint import axis_of
from modular.edges import JointEdge
from modular.elements import Array
from modular.errors import ModelError
from modular.joint import Joint
from modular.port import GROUND, PortName

if TYPE_CHECKING:
    from modular.assembly import Assembly


class JointNames(tuple[str, ...]):
    """The names of all joints, in order; with a name, that joint: `model.joints["elbow"].angle`."""

    model: Assembly

    @classmethod
    def of(cls, model: Assembly) -> JointNames:
        """Those of a model."""
        found = cls(model.joint_edges)
        found.model = model
        return found

    @overload  # type: ignore[override]
    def __getitem__(self, key: str) -> JointValue: ...
    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[str, ...]: ...

    def __getitem__(self, key: str | int | slice) -> JointValue | str | tuple[str, ...]:
        if isinstance(key, str):
            self.model.known(key, self.model.joint_edges, "joint")
            return JointValue(self.model, key)
        return super().__getitem__(key)


class Counted(Protocol):
    """A joint that has one coordinate."""

    @property
    def name(self) -> str:
        """By which it is known in its model."""

    @property
    def kind(self) -> str:
        """ "angle" or "way"."""

    @property
    def begins(self) -> float:
        """The value at which it begins [rad], [m]."""


class OneCoordinate:
    """What can be asked of such a joint, whoever knows where it begins."""

    @property
    def angle(self: Counted) -> float:
        """At which it begins [rad], within half a turn of where it was made."""
        return _begins(self, "angle")

    @property
    def way(self: Counted) -> float:
        """At which it begins [m]."""
        return _begins(self, "way")

    def over(self: Counted, run: Any) -> Array:
        """Its values at the samples of a run of its model, (n,)."""
        gone = run.angle(self.name) if self.kind == "angle" else run.way(self.name)
        return np.asarray(self.begins + gone)


def _begins(joint: Counted, kind: str) -> float:
    if kind != joint.kind:
        has = "a way" if joint.kind == "way" else "an angle"
        raise ModelError(f"joint '{joint.name}' has {has}, no {kind}; take .{joint.kind}.")
    return joint.begins


@dataclass(frozen=True)
class JointValue(OneCoordinate):
    """A joint by its name. Its angle or way is counted as whoever wrote the model does, or from where the joint was made.

    What other programs wrote counts from a zero of its own, and such a model keeps by how much (`Assembly.counted`).
    """

    model: Assembly
    name: str

    @property
    def edge(self) -> JointEdge:
        """What it is between, and where."""
        return self.model.joint_edges[self.name]

    @property
    def joint(self) -> Joint:
        """What it is."""
        return self.edge.joint

    @property
    def kind(self) -> str:
        """ "angle" or "way": its one coordinate."""
        kinds = self.joint.coordinates
        if len(kinds) != 1 or kinds[0] not in ("angle", "way"):
            raise ModelError(
                f"joint '{self.name}' ({type(self.joint).__name__}) has no single angle or way; take those of its ports."
            )
        return kinds[0]

    @property
    def unit(self) -> str:
        """Of its coordinate."""
        return "rad" if self.kind == "angle" else "m"

    @property
    def begins(self) -> float:
        """The value at which it begins [rad], [m]; an angle within half a turn of where it was made."""
        return self.model.counted.get(self.name, 0.0) + self._gone()

    @property
    def low(self) -> float | None:
        """Where its stop is, if it has one [rad], [m]."""
        return self._stop("low")

    @property
    def high(self) -> float | None:
        """Where its upper stop is, if it has one."""
        return self._stop("high")

    @property
    def effort(self) -> float | None:
        """The most that its motor gives, if it has one with an end of its strength [N m], [N]."""
        return next((most for force in self._forces() if (most := getattr(force, "most", None)) is not None), None)

    # --- how they are told -----------------------------------------------------------------------------------------------

    def _gone(self) -> float:
        """Since it was made, where its bodies begin elsewhere than they are described."""
        edge, kind = self.edge, self.kind
        if not {edge.first_body, edge.second_body}.intersection(self.model.begin):
            return 0.0
        (place_a, axes_a), (place_b, axes_b) = (_poses(self.model, port) for port in (edge.first, edge.second))
        since_a, since_b = (axes[1].T @ axes[0] for axes in (axes_a, axes_b))  # turned, in the world
        if kind == "way":
            axis = np.asarray(axis_of(self.model, edge), float)
            axis /= np.linalg.norm(axis)
            points = [place[0] if edge.at is None else np.asarray(edge.at) for place in (place_a, place_b)]
            moved = [
                place[1] + since @ (point - place[0])
                for point, place, since in zip(points, (place_a, place_b), (since_a, since_b), strict=True)
            ]
            return float((since_a @ axis) @ (moved[1] - moved[0]) - axis @ (points[1] - points[0]))
        turned = since_b @ since_a.T
        if self.model.dimension == 2:
            return float(np.arctan2(turned[1, 0], turned[0, 0]))
        axis = np.asarray(axis_of(self.model, edge), float)
        axis = since_a @ axis / np.linalg.norm(axis)
        sine = 0.5 * float(axis @ _vector(turned - turned.T))
        return float(np.arctan2(sine, 0.5 * (np.trace(turned) - 1.0)))

    def _stop(self, end: str) -> float | None:
        for force in self._forces():
            if (value := getattr(force, end, None)) is not None:
                return float(self.model.counted.get(self.name, 0.0) + value)
        return None

    def _forces(self) -> list[Any]:
        """Those along its coordinate, counted as it is."""
        edge, kind = self.edge, self.kind
        return [
            one.force
            for one in self.model.force_edges.values()
            if one.ports[:2] == (edge.first, edge.second) and one.force.coordinate == kind
        ]


def _poses(model: Assembly, port: PortName) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Place of a port and its axes as rows: as its body is described, and as it begins."""
    if port.body == GROUND:
        d = model.dimension
        return (np.zeros(d), np.zeros(d)), (np.eye(d), np.eye(d))
    body = model.bodies[port.body]
    stack: Any = body.new_stack()
    stack.add(port.body, body)
    told = [stack.state()["q"][0].copy()]
    told.append(np.asarray(model.begin[port.body][0]) if port.body in model.begin else told[0])
    places = [body.port_motion(port.port, q, 0.0 * q, 0.0 * q)[0] for q in told]
    return (places[0], places[1]), (body.port_axes(port.port, told[0]), body.port_axes(port.port, told[1]))


def _vector(A: Array) -> Array:
    """The axial vector of a skew matrix, for which A x = vector cross x."""
    return np.array([A[2, 1], A[0, 2], A[1, 0]])
