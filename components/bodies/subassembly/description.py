"""Several bodies and the joints between them as one component, solved inside in relative coordinates."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from components.bodies.identity_cache import cached_by_identity
from components.bodies.natural.rod import Rod
from components.bodies.posed.newton_euler import NewtonEulerBody
from components.bodies.posed.whole import PlacedAndTurned
from components.bodies.subassembly.reading import InnerJoint, Parts, is_rigid, ports_of, tree_of
from components.bodies.subassembly.stack import Subassemblies
from components.bodies.subassembly.tree import InnerBody, Tree
from components.joints.revolute import Revolute
from modular.body import Body
from modular.component import Component
from modular.elements import RIGID_BODY_MOTIONS, Array
from modular.errors import ModelError
from modular.integrator import GAINS, SCHEME, STEPS, Integrator
from modular.joint import Joint
from modular.side import Mark


@dataclass(frozen=True, slots=True)
class Subassembly(PlacedAndTurned):
    """Several rigid bodies that inner joints hold together without loops, as one component with outer ports alone.

    Séguy 2003, III.5 and Figures III-9, III-10: what is encapsulated may have other coordinates than all around it, here relative
    ones in minimal number (II.3.1.2.1). Inner joints are exact, and cannot be cut. What holds it to others is joined outside, as
    everywhere.

    bodies: name -> RigidBody, Rod, PointMassRod, NewtonEulerBody or another Subassembly, in the world as they stand at the start;
    the first one carries the others. joints: (joint, "body.port", "body.port"), with Revolute, Prismatic, Cylindrical, Universal,
    Spherical, Screw and Fixed. ports: name -> "body.port" inside; what a Subassembly inside shows is named "inner.port".
    """

    bodies: Mapping[str, Any]
    joints: Sequence[tuple[Joint, str, str]]
    ports: Mapping[str, str] = field(default_factory=dict)
    integrator: Integrator | None = field(kw_only=True, default=None)

    def __post_init__(self) -> None:
        for name, kind in (("bodies", Mapping), ("ports", Mapping), ("joints", list | tuple)):
            if not isinstance(getattr(self, name), kind):
                wanted = (
                    "names and bodies" if name == "bodies" else "names and 'body.port'" if name == "ports" else "joints"
                )
                raise ModelError(f"Subassembly: {name} = {getattr(self, name)!r}; give {wanted}.")
        Component.__post_init__(self)

    # --- what it is made of ----------------------------------------------------------------------------------------------

    @property
    def parts(self) -> Parts:
        """Rigid bodies, inner joints and ports, whatever was nested."""
        return _parts(self)

    @property
    def tree(self) -> Tree:
        """Its links and coordinates."""
        return _tree(self)

    @property
    def inner_bodies(self) -> Mapping[str, InnerBody]:
        """The rigid bodies inside by their names, those of what is nested behind its own: "hand.thumb"."""
        return self.tree.inner_bodies

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return self.tree.dimension

    @property
    def port_names(self) -> tuple[str, ...]:
        """Names of the outer ports, in order."""
        return tuple(self.ports)

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return self.tree.kilograms

    @property
    def freedoms(self) -> int:
        """Those of a rigid body, and what the inner joints leave."""
        return self.dimension + self.tree.speeds

    @property
    def motions(self) -> int:
        """In how many ways its ports can move, a multiple of six."""
        held = len({self.inner_bodies[body].link for body, _ in self.parts.ports.values()})
        ways = min(self.freedoms, (6 if self.dimension == 3 else 3) * held)
        return RIGID_BODY_MOTIONS * max(1, -(-ways // RIGID_BODY_MOTIONS))

    def check(self, name: str) -> list[str]:
        """What is wrong with its bodies, its inner joints and its ports."""
        owner = f"body '{name}'"
        try:
            parts = taken_apart(self, owner)
            problems = [said for inner, body in parts.bodies.items() for said in body.check(f"{name}.{inner}")]
            if not problems:
                tree_of(parts, owner)
        except ModelError as error:
            return [str(error)]
        return problems

    @property
    def integrates(self) -> frozenset[str]:
        """The gains hold the lengths of its quaternions."""
        return SCHEME | GAINS | STEPS if self.tree.quaternions else SCHEME | STEPS

    def kind(self) -> Hashable:
        """As many links, speeds and coordinates in as many dimensions share a stack."""
        tree = self.tree
        return (Subassemblies, tree.dimension, tree.links, tree.speeds, tree.coordinates)

    def new_stack(self) -> Subassemblies:
        """An empty stack for such bodies."""
        tree = self.tree
        return Subassemblies(tree.dimension, tree.links, tree.speeds, tree.coordinates)

    # --- the map from coordinates to points --------------------------------------------------------------------------

    def place_of(self, port: str) -> tuple[str, str]:
        """The body inside and its port: of an outer port, or of "body.port" inside."""
        if port in self.ports:
            return self.parts.ports[port]
        body, _, own = port.rpartition(".")
        return body, own

    def port_weights(self, port: str) -> Array:
        """w0 = 1, the link, and the place of a port in its frame; "" behind a body stands for its mass centre."""
        body, own = self.place_of(port)
        tree, inner_body = self.tree, self.inner_bodies[body]
        point = np.asarray(inner_body.ports[own].point if own else inner_body.centre, float)
        return np.array([1.0, inner_body.link, *(point - tree.origin[inner_body.link, : tree.dimension])])

    def reach(self, weights: Array, slopes: Array) -> Array:
        """How an element follows all coordinates, (d, k)."""
        d, link = self.dimension, int(weights[1])
        found = np.einsum("kcj,j->ck", slopes[:, link, :d, 1 : 1 + d], weights[2:])
        return np.asarray(found + weights[0] * slopes[:, link, :d, 0].T)

    def port_motion(self, port: str, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of a port, shape (..., dimension)."""
        return self._motion(self.port_weights(port), q, v, a)

    def _motion(self, weights: Array, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        d, link = self.dimension, int(weights[1])
        found = [x[..., link, :d, : 1 + d] @ weights[[0, *range(2, 2 + d)]] for x in self.tree.motion(q, v, a)]
        return found[0], found[1], found[2]

    def port_axes(self, port: str, q: Array) -> Array:
        """Axes of a port in the world as rows, (..., d, d)."""
        body, own = self.place_of(port)
        inner_body, d, still = self.inner_bodies[body], self.dimension, np.zeros_like(q)
        frame = inner_body.ports[own].frame(f"port '{port}'")
        turn = self.tree.motion(q, still, still)[0][..., inner_body.link, :d, 1 : 1 + d]
        return np.asarray(frame @ np.swapaxes(turn, -1, -2))

    # --- what a record of states says ----------------------------------------------------------------------------------

    def kinetic_energy(self, q: Array, v: Array) -> Array:
        """Of all links [J], shape (...)."""
        tree = self.tree
        rate = tree.motion(q, v, np.zeros_like(v))[1]
        d = tree.dimension
        rate[..., :d, 0] -= v[..., None, :d]
        inside = np.einsum("...kca,kab,...kcb->...", rate, tree.moments, rate, optimize=True)
        return np.asarray(0.5 * (tree.kilograms * np.sum(v[..., :d] ** 2, axis=-1) + inside))

    @property
    def quaternions(self) -> list[slice]:
        """Of the whole in space, and of balls inside."""
        return self.tree.quaternions

    # --- changed while it moves ----------------------------------------------------------------------------------------

    def adjustable(self) -> dict[str, float]:
        """None: its numbers are those of the bodies inside."""
        return {}

    def carried(self, before: Body, q: Array, v: Array) -> tuple[Array, Array]:
        """The same links keep their coordinates, but for the place of a mass centre that may be another."""
        if not isinstance(before, Subassembly) or not _alike(self.tree, before.tree):
            return Body.carried(self, before, q, v)
        d, mine, theirs = self.dimension, self.tree, before.tree
        still = np.zeros_like(q)
        here, pace, _ = mine.motion(q, v, still)
        there, before_pace, _ = theirs.motion(q, v, still)
        return (
            np.concatenate([q[:d] + (there - here)[0, :d, 0], q[d:]]),
            np.concatenate([v[:d] + (before_pace - pace)[0, :d, 0], v[d:]]),
        )

    def marked_motion(self, mark: Mark, q: Array, v: Array) -> tuple[Array, Array]:
        """Where a marked point stands and how fast it is."""
        return self._motion(mark.weights, q, v, np.zeros_like(v))[:2]

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A body of this type without zeros or symmetry, for the contract tests."""
        if dimension == 2:
            plate = NewtonEulerBody(
                mass=1.3, inertia=0.21, centre=(0.4, -0.3), ports={"left": (0.1, 0.2), "right": (0.9, -0.7)},
                velocity=(0.3, -0.2), angular_velocity=0.7,
            )  # fmt: skip
            pace = np.array([0.3, -0.2]) + 0.7 * np.array([0.4, 0.5]) - 0.8 * np.array([-0.15, 0.15])
            rod = Rod((0.9, -0.7), (1.2, -0.4), 0.4, velocity=tuple(pace), angular_velocity=-0.8)
            joints = [(Revolute(), "palm.right", "finger.start")]
            return cls({"palm": plate, "finger": rod}, joints, {"left": "palm.left", "right": "finger.end"})
        spin = np.array([0.7, -0.4, 0.9])
        palm = NewtonEulerBody(
            mass=1.3, inertia=((0.31, 0.02, -0.03), (0.02, 0.27, 0.01), (-0.03, 0.01, 0.18)), centre=(0.4, -0.3, 0.2),
            ports={"left": (0.1, 0.2, -0.1), "right": (0.9, -0.7, 0.5)}, velocity=(0.3, -0.2, 0.1), angular_velocity=tuple(spin),
        )  # fmt: skip
        axis = np.array([0.6, 0.0, 0.8])
        turning = spin + 1.1 * axis
        hinge, tip = np.array([0.9, -0.7, 0.5]), np.array([1.2, -0.4, 0.8])
        pace = np.array([0.3, -0.2, 0.1]) + np.cross(spin, hinge - np.array([0.4, -0.3, 0.2]))
        pace = pace + np.cross(turning, 0.5 * (tip - hinge))
        finger = Rod(tuple(hinge), tuple(tip), 0.4, 0.05, velocity=tuple(pace), angular_velocity=tuple(turning))
        inner = [(Revolute(axis=tuple(axis)), "palm.right", "finger.start")]
        return cls({"palm": palm, "finger": finger}, inner, {"left": "palm.left", "right": "finger.end"})


def taken_apart(body: Subassembly, owner: str) -> Parts:
    """Rigid bodies and inner joints; what is nested comes in where it stands, its names behind its own."""
    found: dict[str, Body] = {}
    inner: list[InnerJoint] = []
    shown: dict[str, dict[str, tuple[str, str]]] = {}
    for name, one in body.bodies.items():
        if not isinstance(name, str) or not name or "." in name:
            raise ModelError(f"{owner}: {name!r} is not a name of an inner body; give a text without a dot.")
        if isinstance(one, Body) and one.integrator is not None:
            raise ModelError(
                f"{owner}: '{name}' has an integrator of its own, but all inner bodies step together; give it to "
                "the Subassembly."
            )
        if isinstance(one, Subassembly):
            nested = taken_apart(one, f"{owner}: '{name}'")
            found |= {f"{name}.{key}": inner_body for key, inner_body in nested.bodies.items()}
            inner += [
                joint._replace(
                    name=f"{name}: {joint.name}", first=f"{name}.{joint.first}", second=f"{name}.{joint.second}"
                )
                for joint in nested.joints
            ]
            shown[name] = {port: (f"{name}.{path}", own) for port, (path, own) in nested.ports.items()}
        elif is_rigid(one):
            found[name] = one
            shown[name] = {port: (name, port) for port in ports_of(one)}
        else:
            raise ModelError(
                f"{owner}: '{name}' is a {type(one).__name__}, which is not rigid; inner bodies can be RigidBody, "
                "Rod, PointMassRod, NewtonEulerBody and Subassembly."
            )

    def place(text: object, of: str) -> tuple[str, str]:
        name, _, port = text.partition(".") if isinstance(text, str) else ("", "", "")
        if port not in shown.get(name, ()):
            there = ", ".join(f"'{key}.{each}'" for key, names in shown.items() for each in names)
            raise ModelError(f"{owner}: {of} names {text!r}, which is not a port of an inner body; there are {there}.")
        return shown[name][port]

    for number, entry in enumerate(body.joints):
        joint, first, second = entry if isinstance(entry, list | tuple) and len(entry) == 3 else (None, "", "")
        if not isinstance(joint, Joint):
            raise ModelError(f"{owner}: joint {number} is {entry!r}; give (joint, 'body.port', 'body.port').")
        sides = place(first, f"joint {number}"), place(second, f"joint {number}")
        inner.append(InnerJoint(f"{first} - {second}", joint, *sides[0], *sides[1]))
    return Parts(found, inner, {port: place(text, f"port '{port}'") for port, text in body.ports.items()})


def _alike(one: Tree, other: Tree) -> bool:
    names = ("parent", "ball", "axis", "base", "rates")
    return one.dimension == other.dimension and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in names
    )


@cached_by_identity
def _parts(body: Subassembly) -> Parts:
    return taken_apart(body, "Subassembly")


@cached_by_identity
def _tree(body: Subassembly) -> Tree:
    return tree_of(_parts(body), "Subassembly")
