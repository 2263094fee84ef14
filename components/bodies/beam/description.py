"""A flexible beam: it stretches, shears, bends and twists, as far as you like."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import pi
from typing import Any, Self

import numpy as np

from components.bodies.beam.pieces import lengths, stiffness_of_pieces, turned_with
from components.bodies.beam.shape import pulled_back, stored
from components.bodies.beam.stack import Beams
from components.bodies.identity_cache import cached_by_identity
from components.bodies.natural.straight import check_straight
from components.bodies.posed import turning
from components.bodies.posed.quaternions import mixed, spinning
from components.bodies.posed.whole import PlacedAndTurned, given_motion
from components.bodies.short_sums import dot
from modular.body import Body
from modular.elements import RIGID_BODY_MOTIONS, Array
from modular.errors import ModelError
from modular.integrator import GAINS, SCHEME, Integrator
from modular.keywords import spelt

DEFAULT_E_OVER_G = 2.6  # E / G where nothing else is said: 2 (1 + 0.3)
SHEAR_CORRECTION_FACTOR = 5.0 / 6.0  # of the area that takes shear, for rectangles
ENDS = {"start": 0.0, "end": 1.0}


@dataclass(frozen=True, slots=True)
class Beam(PlacedAndTurned):
    """A beam, straight from `start` to `end` [m] when nothing bends it, with ports `start`, `end` and those named in `ports`.

    mass [kg]; axial: EA [N]; bending: EI [N m^2], in space one number or those about its own y and z; shear: GA [N] and
    torsion: GJ [N m^2], left out as steel has them; across: where its own y axis points, in space, else y, z or x of the world;
    elements: how many pieces it is computed by; damping: eta [s], stresses are those of strain + eta d(strain)/dt; ports: name
    -> where along the beam, 0 to 1, at an end of a piece; velocity of its middle [m/s] and angular_velocity [rad/s] with which
    it sets out as a whole.

    `Beam.of_rectangle` and `Beam.of_circle` work the numbers out from a cross section.
    """

    start: Sequence[float]
    end: Sequence[float]
    mass: float = field(kw_only=True)
    axial: float = field(kw_only=True)
    bending: float | Sequence[float] = field(kw_only=True)
    shear: float | None = field(kw_only=True, default=None)
    torsion: float | None = field(kw_only=True, default=None)
    across: Sequence[float] | None = field(kw_only=True, default=None)
    elements: int = field(kw_only=True, default=16)
    damping: float = field(kw_only=True, default=0.0)
    ports: Mapping[str, float] = field(kw_only=True, default_factory=dict)
    velocity: Sequence[float] | None = field(kw_only=True, default=None)
    angular_velocity: Sequence[float] | float | None = field(kw_only=True, default=None)
    integrator: Integrator | None = field(kw_only=True, default=None)

    @classmethod
    @spelt
    def of_rectangle(
        cls, start: Sequence[float], end: Sequence[float], *, width: float, height: float, young: float, density: float,
        poisson: float = 0.3, **more: Any,
    ) -> Self:  # fmt: skip
        """Of a rectangular section: `height` along its own y axis, across it in the plane; `width` the other way [m]."""
        area, rigid = width * height, young / (2.0 * (1.0 + poisson))
        long, short = max(width, height), min(width, height)
        # W. C. Young, R. G. Budynas, "Roark's formulas for stress and strain", McGraw-Hill 2002, table 10.1
        twist = long * short**3 * (1.0 / 3.0 - 0.21 * short / long * (1.0 - short**4 / (12.0 * long**4)))
        bending = (young * height * width**3 / 12.0, young * width * height**3 / 12.0)
        return cls(
            start, end, mass=density * area * float(np.linalg.norm(np.subtract(end, start))), axial=young * area,
            bending=bending[1] if len(start) == 2 else bending, shear=SHEAR_CORRECTION_FACTOR * rigid * area,
            torsion=None if len(start) == 2 else rigid * twist, **more,
        )  # fmt: skip

    @classmethod
    @spelt
    def of_circle(
        cls, start: Sequence[float], end: Sequence[float], *, radius: float, young: float, density: float,
        poisson: float = 0.3, **more: Any,
    ) -> Self:  # fmt: skip
        """Of a circular section of a `radius` [m]; Pa, kg/m^3."""
        area, rigid, second = pi * radius**2, young / (2.0 * (1.0 + poisson)), pi * radius**4 / 4.0
        # G. R. Cowper, "The shear coefficient in Timoshenko's beam theory", J. Appl. Mech. 33 (1966) 335-340
        taken = 6.0 * (1.0 + poisson) / (7.0 + 6.0 * poisson)
        return cls(
            start, end, mass=density * area * float(np.linalg.norm(np.subtract(end, start))), axial=young * area,
            bending=young * second, shear=taken * rigid * area, torsion=None if len(start) == 2 else 2.0 * rigid * second,
            **more,
        )  # fmt: skip

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return len(self.start)

    @property
    def places(self) -> dict[str, float]:
        """Where along the beam its ports are, 0 to 1."""
        return {**ENDS, **self.ports}

    @property
    def port_names(self) -> tuple[str, ...]:
        """`start`, `end`, and those that were named."""
        return tuple(self.places)

    @property
    def skeleton(self) -> list[tuple[str, str]]:
        """From node to node."""
        named = {self.node_of(port): port for port in self.port_names}
        return list(pairwise(named.get(node, f"#{node}") for node in range(self.elements + 1)))

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return self.mass

    @property
    def damped(self) -> bool:
        """Whether its strain is."""
        return self.damping > 0.0

    @property
    def freedoms(self) -> int:
        """Those of its nodes: 6 each in space, 3 in the plane."""
        return (6 if self.dimension == 3 else 3) * (self.elements + 1)

    @property
    def motions(self) -> int:
        """Those of the slices that its ports sit on."""
        held = len({self.node_of(port) for port in self.port_names})
        return RIGID_BODY_MOTIONS * (held if self.dimension == 3 else (held + 1) // 2)

    def check(self, name: str) -> list[str]:
        """Ends at one place, stiffness that is none, ports between two nodes."""
        problems = check_straight(name, self.start, self.end, self.velocity, self.angular_velocity)
        if problems:
            return problems
        count = 2 if self.dimension == 3 else 1
        positive = {"mass": self.mass, "axial": self.axial, "shear": self.shear, "torsion": self.torsion}
        for label, value in positive.items():
            if value is not None and not 0.0 < value < np.inf:
                problems.append(f"beam '{name}': {label} = {value!r}; give a positive number.")
        bending = np.ravel(np.asarray(self.bending, float))
        if len(bending) not in (1, count) or not np.all((bending > 0.0) & (bending < np.inf)):
            problems.append(
                f"beam '{name}': bending = {self.bending!r}; give EI [N m^2], one positive number"
                + (" or two, about its own y and z axes." if count == 2 else ".")
            )
        if not isinstance(self.elements, int) or not 1 <= self.elements <= 1000:
            problems.append(f"beam '{name}': elements = {self.elements!r}; give a whole number from 1 to 1000.")
        if not 0.0 <= self.damping < np.inf:
            problems.append(f"beam '{name}': damping = {self.damping!r} s; it cannot be negative.")
        if self.across is not None and not self._lies_across():
            problems.append(
                f"beam '{name}': across = {self.across!r}; give three numbers that do not point along the beam, and nothing in "
                "the plane."
            )
        return problems + ([] if problems else self._check_ports(name))

    def _lies_across(self) -> bool:
        given = np.asarray(self.across, float)
        if self.dimension == 2 or given.shape != (3,) or not np.all(np.isfinite(given)):
            return False
        along = np.subtract(self.end, self.start)
        return float(np.linalg.norm(np.cross(along, given))) > 1e-6 * float(
            np.linalg.norm(along) * np.linalg.norm(given)
        )

    def _check_ports(self, name: str) -> list[str]:
        problems = []
        for port, place in self.ports.items():
            at = place * self.elements
            if port in ENDS:
                problems.append(f"beam '{name}': port '{port}' is one of its ends; name another.")
            elif not 0.0 <= place <= 1.0:
                problems.append(f"port '{name}.{port}' lies at {place!r} of the beam; give a number from 0 to 1.")
            elif abs(at - round(at)) > 1e-9 * self.elements:
                lower = np.floor(at)
                problems.append(
                    f"port '{name}.{port}' lies at {place:g} of the beam, between the nodes at {lower / self.elements:g} and "
                    f"{(lower + 1) / self.elements:g}; put it at one of these, or choose other `elements`."
                )
        return problems

    @property
    def integrates(self) -> frozenset[str]:
        """The gains hold lengths of quaternions; one step in a tick: substeps.py says why."""
        return SCHEME if self.dimension == 2 else SCHEME | GAINS

    def kind(self) -> Hashable:
        """All of one dimension and number of nodes share a stack."""
        return (Beams, self.dimension, self.elements)

    def new_stack(self) -> Beams:
        """An empty stack for such beams."""
        return Beams(self.dimension, self.elements + 1)

    # --- its pieces --------------------------------------------------------------------------------------------------

    @property
    def spacing(self) -> float:
        """Between two nodes [m]."""
        return float(np.linalg.norm(np.subtract(self.end, self.start))) / self.elements

    @property
    def stiffness(self) -> Array:
        """EA, GA, EI in the plane; EA, GA, GA, GJ, EI, EI in space."""
        shear = SHEAR_CORRECTION_FACTOR / DEFAULT_E_OVER_G * self.axial if self.shear is None else self.shear
        bending = np.broadcast_to(np.asarray(self.bending, float), (2 if self.dimension == 3 else 1,))
        if self.dimension == 2:
            return np.array([self.axial, shear, *bending])
        torsion = bending.sum() / DEFAULT_E_OVER_G if self.torsion is None else self.torsion
        return np.array([self.axial, shear, shear, torsion, *bending])

    @property
    def stiffness_of_pieces(self) -> Array:
        """The same between two nodes, where shear bends too (pieces.py)."""
        return stiffness_of_pieces(self.stiffness, self.spacing)

    @property
    def node_masses(self) -> Array:
        """Of the slices [kg]."""
        return self.mass / self.elements * lengths(self.elements)

    @property
    def node_inertia(self) -> Array:
        """Of the slices about their own axes, the section's radii of gyration squared being EI / EA [kg m^2], (nodes, 1 or 3)."""
        squares = self.stiffness[-1 if self.dimension == 2 else -2 :] / self.axial
        values = squares if self.dimension == 2 else np.array([squares.sum(), *squares])
        own = self.node_masses[:, None] * values
        own[:, 0 if self.dimension == 2 else 1 :] += (
            self.mass / self.elements * self.spacing**2 * turned_with(self.elements)[:, None]
        )
        return np.asarray(own)

    # --- where it stands at the start --------------------------------------------------------------------------------

    @property
    def own_axes(self) -> Array:
        """x along the beam, y and z across, as columns."""
        return _axes(self)

    @property
    def start_of_nodes(self) -> Array:
        """Coordinates at the start, (nodes, 3 or 7)."""
        share = np.linspace(0.0, 1.0, self.elements + 1)[:, None]
        places = (1.0 - share) * np.asarray(self.start, float) + share * np.asarray(self.end, float)
        if self.dimension == 2:
            turn = np.array([np.arctan2(self.own_axes[1, 0], self.own_axes[0, 0])])
        else:
            from scipy.spatial.transform import Rotation  # a third of a second, for those who need it

            x, y, z, s = Rotation.from_matrix(self.own_axes).as_quat()
            turn = np.array([s, x, y, z]) / np.linalg.norm([s, x, y, z])
        return np.concatenate([places, np.broadcast_to(turn, (len(places), len(turn)))], axis=1)

    @property
    def initial_velocity(self) -> Array:
        """Their rates at the start."""
        d, q = self.dimension, self.start_of_nodes
        linear, spin = given_motion(self)
        arms = q[:, :d] - 0.5 * (np.asarray(self.start, float) + np.asarray(self.end, float))
        if d == 2:
            places = linear + spin[0] * np.stack([-arms[:, 1], arms[:, 0]], -1)
            return np.concatenate([places, np.broadcast_to(spin, (len(q), 1))], axis=1)
        turning = 0.5 * (spin @ self.own_axes) @ spinning(q[0, 3:])
        return np.concatenate([linear + np.cross(spin, arms), np.broadcast_to(turning, (len(q), 4))], axis=1)

    # --- the map from coordinates to points --------------------------------------------------------------------------

    def node_of(self, port: str) -> int:
        """The node at which a port sits; "#3" is the fourth node itself, for those who draw."""
        return int(port[1:]) if port.startswith("#") else round(self.places[port] * self.elements)

    def rotation(self, q: Array) -> Array:
        """R of nodes, whose columns are the axes of their slices, (..., d, d)."""
        return turning.rotation(q)

    def reach(self, weights: Array, q: Array) -> Array:
        """How an element follows the coordinates of its node, (d, 3 or 7)."""
        node, rho, d = q[int(weights[-1])], weights[1:-1], self.dimension
        if d == 2:
            turn = self.rotation(node)
            return np.concatenate([weights[0] * np.eye(2), (turn @ (-rho[1], rho[0]))[:, None]], axis=1)
        slopes = (2.0 * mixed(node[3:], np.eye(4)) @ rho).T
        return np.concatenate([weights[0] * np.eye(3), slopes], axis=1)

    def port_motion(self, port: str, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of a port, shape (..., dimension)."""
        node, d = self.node_of(port), self.dimension
        return q[..., node, :d], v[..., node, :d], a[..., node, :d]

    def port_axes(self, port: str, q: Array) -> Array:
        """Axes of a port in the world as rows, those of the world at the start, (..., d, d)."""
        return np.asarray(self.own_axes @ np.swapaxes(self.rotation(q[..., self.node_of(port), :]), -1, -2))

    def marked_motion(self, mark: Any, q: Array, v: Array) -> tuple[Array, Array]:
        """Where a marked point stands and how fast it is."""
        node, point = int(mark.weights[-1]), mark.weights[0]
        place, pace = q[..., node, :], v[..., node, :]
        turn = self.rotation(place) @ mark.weights[1:-1]
        arm = self.reach(mark.weights, q)
        return point * place[..., : self.dimension] + turn, np.asarray(arm @ pace)

    # --- what a record of states says ----------------------------------------------------------------------------------

    def motion(self, q: Array, v: Array) -> Array:
        """Velocity of nodes in the world and spin in their axes, (..., nodes, 3 or 6)."""
        if self.dimension == 2:
            return np.asarray(v)
        return np.concatenate([v[..., :3], self.spin(q, v)], axis=-1)

    @property
    def masses(self) -> Array:
        """Mass and inertia for each motion of each node, (nodes, 3 or 6)."""
        repeated = np.repeat(self.node_masses[:, None], self.dimension, axis=1)
        return np.concatenate([repeated, self.node_inertia], axis=1)

    def kinetic_energy(self, q: Array, v: Array) -> Array:
        """Of all slices [J], shape (...)."""
        return np.asarray(0.5 * np.sum(self.masses * self.motion(q, v) ** 2, axis=(-2, -1)))

    def potential_energy(self, q: Array, gravity: Array) -> Array:
        """In uniform gravity, zero at the origin of the world, and by its strains [J], shape (...)."""
        weight = -dot(np.sum(self.node_masses[:, None] * q[..., : self.dimension], axis=-2), gravity)
        return np.asarray(weight + stored(q, self.stiffness_of_pieces, self.spacing))

    def momentum(self, q: Array, v: Array) -> Array:
        """Linear momentum [kg m/s], shape (..., dimension)."""
        return np.asarray(np.sum(self.node_masses[:, None] * v[..., : self.dimension], axis=-2))

    def mass_centre(self, q: Array) -> Array:
        """Position of the mass centre [m], shape (..., dimension)."""
        return self.momentum(q, q) / self.mass

    @property
    def quaternions(self) -> list[slice]:
        """Of all its nodes."""
        return [slice(7 * k + 3, 7 * k + 7) for k in range(self.elements + 1)] if self.dimension == 3 else []

    def in_a_row(self, q: Array) -> Array:
        """Node after node."""
        return q.reshape(*q.shape[:-2], -1)

    # --- equations of Lagrange -------------------------------------------------------------------------------------------

    def mass_matrix(self, q: Array) -> Array:
        """Blocks diag(m, m, J), or m and 4 G^T J G with an inertia along p, where nothing can move."""
        count, k = q.shape
        matrix, values, nodes = np.zeros((count, k, count, k)), self.masses, np.arange(count)
        for c in range(3):
            matrix[nodes, c, nodes, c] = values[:, c]
        if self.dimension == 3:
            p, rows, inertia = q[:, 3:], spinning(q[:, 3:]), values[:, 3:]
            along = inertia.mean(axis=1)[:, None, None] * p[:, :, None] * p[:, None, :]
            matrix[nodes, 3:, nodes, 3:] = 4.0 * (np.swapaxes(rows, 1, 2) * inertia[:, None, :] @ rows + along)
        return matrix.reshape(count * k, count * k)

    def drive(self, q: Array, v: Array, gravity: Array) -> Array:
        """Weight, what is elastic and damped, and, of quaternions, -8 G'^T J G p'; (nodes, 3 or 7)."""
        motion, d = self.motion(q, v), self.dimension
        pull = pulled_back(q, motion, self.stiffness_of_pieces, self.spacing, self.damping)
        force = pull[:, :d] + self.node_masses[:, None] * gravity
        if d == 2:
            return np.concatenate([force, pull[:, 2:]], axis=1)
        spun = np.einsum("nic,ni->nc", spinning(v[:, 3:]), self.node_inertia * motion[:, 3:])
        return np.concatenate(
            [force, 2.0 * np.einsum("nic,ni->nc", spinning(q[:, 3:]), pull[:, 3:]) - 4.0 * spun], axis=1
        )

    def answer(self, q: Array, push: Array) -> Array:
        """Jump of the rates under impulses on the coordinates, (nodes, 3 or 7)."""
        if self.dimension == 2:
            return np.asarray(push / self.masses)
        rows = spinning(q[:, 3:])
        spin = 0.5 * np.einsum("nic,nc->ni", rows, push[:, 3:]) / self.node_inertia
        turned = 0.5 * np.einsum("nic,ni->nc", rows, spin) / np.sum(q[:, 3:] ** 2, axis=1)[:, None]
        return np.concatenate([push[:, :3] / self.node_masses[:, None], turned], axis=1)

    # --- changed while it moves ----------------------------------------------------------------------------------------

    def adjustable(self) -> dict[str, float]:
        """Its numbers, but for that of its pieces and the motion that it began with."""
        values = Body.adjustable(self)
        return {name: value for name, value in values.items() if name not in ("elements", "angular_velocity")}

    def carried(self, before: Body, q: Array, v: Array) -> tuple[Array, Array]:
        """It stands as the beam before, if that had as many pieces of the same length."""
        if (
            isinstance(before, Beam)
            and before.kind() == self.kind()
            and abs(before.spacing / self.spacing - 1.0) > 1e-9
        ):
            raise ModelError("Beam: a beam cannot become longer while it moves; remove it and add another.")
        return Body.carried(self, before, q, v)

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A beam without zeros or symmetry, for the contract tests."""
        if dimension == 2:
            return cls(
                (0.1, 0.2), (0.9, -0.7), mass=1.3, axial=9e3, bending=21.0, elements=3, ports={"third": 1.0 / 3.0},
                velocity=(0.3, -0.2), angular_velocity=0.7,
            )  # fmt: skip
        return cls(
            (0.1, 0.2, -0.1), (0.9, -0.7, 0.5), mass=1.3, axial=9e3, bending=(21.0, 34.0), across=(0.3, 0.9, 0.2),
            elements=3, ports={"third": 1.0 / 3.0}, velocity=(0.3, -0.2, 0.1), angular_velocity=(0.7, -0.4, 0.9),
        )  # fmt: skip


@cached_by_identity
def _axes(beam: Beam) -> Array:
    along = np.subtract(beam.end, beam.start).astype(float)
    along /= np.linalg.norm(along)
    if beam.dimension == 2:
        return np.stack([along, (-along[1], along[0])], axis=1)
    if beam.across is None:  # y of the world where the beam lies across it, or z, or x: the one that it follows least
        y = np.eye(3)[[1, 2, 0][int(np.argmin(np.abs(along[[1, 2, 0]]) > 0.5))]]
    else:
        y = np.asarray(beam.across, float)
    y = y - (y @ along) * along
    y /= np.linalg.norm(y)
    return np.stack([along, y, np.cross(along, y)], axis=1)
