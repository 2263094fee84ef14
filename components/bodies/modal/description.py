"""A flexible body by its modes: it bends a little about a frame of its own, which moves as far as you like."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from components.bodies.identity_cache import cached_by_identity
from components.bodies.modal.stack import ModalBodies
from components.bodies.posed import turning
from components.bodies.posed.quaternions import mixed, spinning
from components.bodies.posed.whole import PlacedAndTurned, given_motion
from components.bodies.short_sums import dot
from modular.elements import RIGID_BODY_MOTIONS, Array
from modular.integrator import GAINS, SCHEME, Integrator
from modular.keywords import spelt
from modular.side import Mark

if TYPE_CHECKING:
    from components.bodies.beam.description import Beam
    from components.bodies.modal.reduction import Reduced

DRAWN = "#"  # how names of places begin that are drawn and are no ports
SYMMETRY_TOLERANCE = 1e-9  # what may be left of things that are to be symmetric, or zero


@dataclass(frozen=True, slots=True)
class ModalBody(PlacedAndTurned):
    """A flexible body whose points are at r + R (s + sum of eta_i phi_i): a place, a turning and amplitudes of modes.

    mass [kg]; centre: its mass centre at the start [m]; moments: integrals of e_a e_b dm with e_0 = s, from the mass centre, and
    e_i = phi_i, (1 + modes, 1 + modes, d, d); frequencies: omega_i [rad/s], where modes have a mass of 1; ports: name -> place at
    the start, not bent [m]; shapes: name -> how each mode moves the port, and turns it, (modes, 3) in the plane, (modes, 6) in
    space; damping: share of the critical one, for all modes or for each; lines: pairs of ports between which it is drawn;
    velocity [m/s] and angular_velocity [rad/s] at the start.

    Modes are those of the free body, so that none of them moves its mass centre or turns it. Nobody writes such numbers by hand:
    `ModalBody.of_beam` and `ModalBody.reduced` work them out (Craig and Bampton, modal/reduction.py).
    """

    mass: float = field(kw_only=True)
    centre: Sequence[float] = field(kw_only=True)
    moments: Sequence[Any] = field(kw_only=True)
    frequencies: Sequence[float] = field(kw_only=True)
    ports: Mapping[str, Sequence[float]] = field(kw_only=True)
    shapes: Mapping[str, Sequence[Sequence[float]]] = field(kw_only=True)
    damping: float | Sequence[float] = field(kw_only=True, default=0.0)
    lines: Sequence[Sequence[str]] = field(kw_only=True, default=())
    velocity: Sequence[float] | None = field(kw_only=True, default=None)
    angular_velocity: Sequence[float] | float | None = field(kw_only=True, default=None)
    integrator: Integrator | None = field(kw_only=True, default=None)

    @classmethod
    @spelt
    def of_beam(cls, beam: Beam, modes: int = 6, **more: Any) -> Self:
        """A beam that bends a little: with `modes` of it held at its ports beside the motions of these."""
        from components.bodies.modal.reduction import of_beam  # a quarter of a second, for those who need it

        found = of_beam(beam, modes)
        motion = {"velocity": beam.velocity, "angular_velocity": beam.angular_velocity, "integrator": beam.integrator}
        return cls(**_as_fields(found), **(motion | more))

    @classmethod
    def reduced(
        cls, places: Any, mass: Any, stiffness: Any, ports: Mapping[str, int | Sequence[int]], modes: int = 6,
        lines: Sequence[tuple[int, int]] = (), **more: Any,
    ) -> Self:  # fmt: skip
        """Of finite elements (Craig and Bampton): matrices of nodes that move, or move and turn.

        All in axes of the world. places: of the nodes at the start, (n, d); mass, stiffness: dense or sparse, node by node, of a
        body that nothing holds, (n d, n d), or where nodes turn too (n 3, n 3) in the plane and (n 6, n 6) in space; ports: name
        -> a node, or several nodes that move as one rigid piece; modes: how many of the body held at its ports; lines: pairs of
        nodes between which it is drawn.
        """
        from components.bodies.modal.reduction import reduced  # a quarter of a second, for those who need it

        return cls(**_as_fields(reduced(places, mass, stiffness, ports, modes, lines)), **more)

    # --- what it is ------------------------------------------------------------------------------------------------------

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return len(self.centre)

    @property
    def modes(self) -> int:
        """How many."""
        return len(self.frequencies)

    @property
    def port_names(self) -> tuple[str, ...]:
        """Names of the ports, in order; places that are only drawn are none."""
        return tuple(name for name in self.ports if not name.startswith(DRAWN))

    @property
    def skeleton(self) -> list[tuple[str, str]]:
        """Pairs of places between which it is drawn."""
        return [(one, other) for one, other in self.lines]

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return self.mass

    @property
    def freedoms(self) -> int:
        """Those of a rigid body, and a mode each."""
        return (3 if self.dimension == 2 else 6) + self.modes

    @property
    def motions(self) -> int:
        """As many, up to a multiple of six."""
        return RIGID_BODY_MOTIONS * -(-self.freedoms // RIGID_BODY_MOTIONS)

    @property
    def numbers(self) -> Numbers:
        """Arrays of what was given."""
        return _numbers(self)

    @property
    def ratios(self) -> Array:
        """Share of critical damping of each mode."""
        return np.broadcast_to(np.asarray(self.damping, float), (self.modes,))

    @property
    def damped(self) -> bool:
        """Whether any of its modes is."""
        return bool(np.any(self.ratios > 0.0))

    def check(self, name: str) -> list[str]:
        """Arrays that do not fit each other, a mass or an inertia that is none."""
        owner, d, k = f"modal body '{name}'", self.dimension, self.modes
        t = 1 if d == 2 else 3
        if d not in (2, 3):
            return [f"{owner}: centre = {self.centre!r}; give two numbers or three."]
        problems = []
        wanted: dict[str, tuple[Any, tuple[int, ...]]] = {
            "moments": (self.moments, (1 + k, 1 + k, d, d)), "frequencies": (self.frequencies, (k,)),
            "velocity": (self.velocity, (d,)), "angular_velocity": (self.angular_velocity, () if d == 2 else (3,)),
            **{f"port '{port}'": (place, (d,)) for port, place in self.ports.items()},
            **{f"shapes of port '{port}'": (self.shapes.get(port), (k, d + t)) for port in self.ports},
        }  # fmt: skip
        for what, (value, shape) in wanted.items():
            if value is None and "velocity" in what:
                continue
            try:
                array = np.asarray(value, float)
            except (TypeError, ValueError):
                array = np.full((), np.nan)
            if array.shape != shape and array.size + np.prod(shape) and not (array.size == 1 == np.prod(shape)):
                problems.append(f"{owner}: {what} has the shape {array.shape}; give {shape}.")
            elif not np.all(np.isfinite(array)):
                problems.append(f"{owner}: {what} contains a value that is not a number.")
        if not 0.0 < self.mass < np.inf:
            problems.append(f"{owner}: mass = {self.mass!r} kg; give a positive number.")
        if np.shape(self.damping) not in ((), (k,)) or not np.all(np.asarray(self.damping, float) >= 0.0):
            problems.append(f"{owner}: damping = {self.damping!r}; give a damping ratio, or one for each mode.")
        drawn = [port for line in self.lines for port in line if port not in self.ports]
        if drawn:
            problems.append(f"{owner}: lines lead to {drawn[0]!r}, which is not a port.")
        if problems:
            return problems
        numbers = self.numbers
        if not np.all(numbers.squares > 0.0):
            problems.append(
                f"{owner}: frequencies = {self.frequencies!r} rad/s; give positive numbers: a mode of frequency 0 "
                "is a rigid motion."
            )
        if np.linalg.eigvalsh(numbers.inertia[0, 0].reshape(t, t)).min() <= 0.0:
            problems.append(
                f"{owner}: moments[0][0] give no rotational inertia; a body that rotates needs some extent."
            )
        first = numbers.moments[0, 0]
        if np.abs(first - first.T).max() > SYMMETRY_TOLERANCE * np.abs(first).max():
            problems.append(f"{owner}: moments[0][0] is not symmetric.")
        return problems

    @property
    def integrates(self) -> frozenset[str]:
        """The gains hold lengths of quaternions; one step in a tick: substeps.py says why."""
        return SCHEME if self.dimension == 2 else SCHEME | GAINS

    def kind(self) -> Hashable:
        """As many modes and places in as many dimensions share a stack."""
        return (ModalBodies, self.dimension, self.modes, len(self.ports))

    def new_stack(self) -> ModalBodies:
        """An empty stack for such bodies."""
        return ModalBodies(self.dimension, self.modes, len(self.ports))

    @property
    def start(self) -> Array:
        """Coordinates at the start: not bent."""
        turn = np.zeros(1) if self.dimension == 2 else np.eye(4)[0]
        return np.concatenate([self.centre, turn, np.zeros(self.modes)])

    @property
    def pace(self) -> Array:
        """Their rates."""
        linear, spin = given_motion(self)
        turning = spin if self.dimension == 2 else np.array([0.0, *(0.5 * spin)])
        return np.concatenate([linear, turning, np.zeros(self.modes)])

    # --- the map from coordinates to points --------------------------------------------------------------------------

    @property
    def _first(self) -> int:
        """Where the amplitudes begin."""
        return 3 if self.dimension == 2 else 7

    def rotation(self, q: Array) -> Array:
        """R, whose columns are the axes of the body, (..., d, d)."""
        return turning.rotation(q[..., : self._first])

    def port_weights(self, port: str) -> Array:
        """w0 = 1, the place by its number, and nothing beside it."""
        return np.array([1.0, list(self.ports).index(port), *np.zeros(self.dimension)])

    def local(self, weights: Array) -> tuple[Array, Array]:
        """An element in the axes of the body: where it is, not bent, and how each mode moves it, (d,) and (modes, d)."""
        point, arm, d = weights[0], weights[2:], self.dimension
        place, shape = self.numbers.places[int(weights[1])], self.numbers.shapes[int(weights[1])]
        turned = shape[:, 2:] * (-arm[1], arm[0]) if d == 2 else np.cross(shape[:, 3:], arm)
        return point * place + arm, point * shape[:, :d] + turned

    def reach(self, weights: Array, q: Array) -> Array:
        """How an element follows all coordinates, (d, k)."""
        place, modes = self.local(weights)
        bent = place + q[self._first :] @ modes
        turned = np.einsum("cjk,j->ck", turning.slopes(q[: self._first]), bent)
        return np.concatenate([weights[0] * np.eye(self.dimension), turned, self.rotation(q) @ modes.T], axis=1)

    def port_motion(self, port: str, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of a port, shape (..., dimension)."""
        return self._motion(self.port_weights(port), q, v, a)

    def _motion(self, weights: Array, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        d, k, (place, modes) = self.dimension, self._first, self.local(weights)
        turn, rate, bend = turning.rotations(q[..., :k], v[..., :k], a[..., :k])
        here, pace, growth = place + q[..., k:] @ modes, v[..., k:] @ modes, a[..., k:] @ modes

        def turned(matrix: Array, vector: Array) -> Array:
            return np.asarray(np.einsum("...cj,...j->...c", matrix, vector))

        return (
            weights[0] * q[..., :d] + turned(turn, here),
            weights[0] * v[..., :d] + turned(rate, here) + turned(turn, pace),
            weights[0] * a[..., :d] + turned(bend, here) + 2.0 * turned(rate, pace) + turned(turn, growth),
        )

    def port_axes(self, port: str, q: Array) -> Array:
        """Axes of a port in the world as rows, those of the world at the start, (..., d, d)."""
        d, place = self.dimension, list(self.ports).index(port)
        tilt = q[..., self._first :] @ self.numbers.shapes[place, :, d:]
        turn = self.rotation(q)
        if d == 2:
            c, s = np.cos(tilt[..., 0]), np.sin(tilt[..., 0])
            bent = np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)
        else:
            half = np.concatenate([np.ones((*tilt.shape[:-1], 1)), 0.5 * tilt], -1)
            bent = mixed(half, half) / np.sum(half**2, -1)[..., None, None]
        return np.asarray(np.swapaxes(turn @ bent, -1, -2))

    def marked_motion(self, mark: Mark, q: Array, v: Array) -> tuple[Array, Array]:
        """Where a marked point stands and how fast it is."""
        return self._motion(mark.weights, q, v, np.zeros_like(v))[:2]

    # --- what a record of states says ----------------------------------------------------------------------------------

    def inertia(self, q: Array) -> tuple[Array, Array]:
        """J and N where it is bent as it is, (..., t, t) and (..., t, modes)."""
        eta, numbers = q[..., self._first :], self.numbers
        ones = np.concatenate([np.ones((*eta.shape[:-1], 1)), eta], axis=-1)
        t = 2 * self.dimension - 3
        j = np.einsum("...a,...b,abx->...x", ones, ones, numbers.inertia).reshape(*eta.shape[:-1], t, t)
        return j, np.einsum("...i,ijt->...tj", eta, numbers.gyroscopic)

    def kinetic_energy(self, q: Array, v: Array) -> Array:
        """m v^2 / 2 + Omega (J Omega / 2 + N eta') + eta'^2 / 2 [J], shape (...)."""
        d, pace, spin = self.dimension, v[..., self._first :], self.spin(q, v)
        j, n = self.inertia(q)
        momentum = 0.5 * np.einsum("...ij,...j->...i", j, spin) + np.einsum("...ij,...j->...i", n, pace)
        inside = np.sum(spin * momentum, -1) + 0.5 * np.sum(pace**2, -1)
        return np.asarray(0.5 * self.mass * np.sum(v[..., :d] ** 2, axis=-1) + inside)

    def potential_energy(self, q: Array, gravity: Array) -> Array:
        """In uniform gravity, and by its modes [J], shape (...)."""
        weight = PlacedAndTurned.potential_energy(self, q, gravity)
        return np.asarray(weight + 0.5 * dot(q[..., self._first :] ** 2, self.numbers.squares))

    # --- equations of Lagrange -------------------------------------------------------------------------------------------

    def turning(self, q: Array) -> Array:
        """How the spin follows the rates of the coordinates that turn, (t, 1 or 4)."""
        return np.ones((1, 1)) if self.dimension == 2 else 2.0 * spinning(q[3:7])

    def mass_matrix(self, q: Array) -> Array:
        """m, J with N beside it, and 1; in space with an inertia along p, where nothing can move."""
        d, first, g = self.dimension, self._first, self.turning(q)
        j, n = self.inertia(q)
        matrix = np.eye(len(q))
        matrix[:d, :d] *= self.mass
        matrix[d:first, d:first] = g.T @ j @ g
        matrix[d:first, first:] = g.T @ n
        matrix[first:, d:first] = n.T @ g
        if d == 3:
            matrix[3:7, 3:7] += 4.0 * np.trace(j) / 3.0 * np.outer(q[3:7], q[3:7])
        return matrix

    def drive(self, q: Array, v: Array, gravity: Array) -> Array:
        """Weight, springs and dampers of the modes, and what the spin asks of a body that changes its shape, (k,)."""
        d, first, numbers = self.dimension, self._first, self.numbers
        eta, pace, spin = q[first:], v[first:], self.spin(q, v)
        j, n = self.inertia(q)
        t = len(spin)
        inertia = numbers.inertia.reshape(1 + self.modes, 1 + self.modes, t, t)
        ones, rates = np.array([1.0, *eta]), np.array([0.0, *pace])
        growth = 2.0 * np.einsum("a,b,abij,j->i", ones, rates, inertia, spin)
        force = np.zeros(len(q))
        force[:d] = self.mass * gravity
        force[d:first] = -self.turning(q).T @ growth
        if d == 3:
            force[3:7] -= 4.0 * spinning(v[3:7]).T @ (j @ spin + n @ pace)
        force[first:] = np.einsum("a,kaij,i,j->k", ones, inertia[1:], spin, spin) - numbers.squares * eta
        force[first:] += 2.0 * np.einsum("j,kjt,t->k", pace, numbers.gyroscopic, spin) - numbers.losses * pace
        return force

    def answer(self, q: Array, push: Array) -> Array:
        """Jump of the rates under impulses on the coordinates, (k,): a quaternion keeps its length."""
        d, first, t = self.dimension, self._first, 2 * self.dimension - 3
        j, n = self.inertia(q)
        back = self.turning(q).T  # rates of the coordinates that turn, of a spin: 1, or G^T / 2
        back = back if d == 2 else 0.25 * back / (q[3:7] @ q[3:7])
        matrix = np.block([[j, n], [n.T, np.eye(self.modes)]])
        found = np.linalg.solve(matrix, np.concatenate([back.T @ push[d:first], push[first:]]))
        return np.concatenate([push[:d] / self.mass, back @ found[:t], found[t:]])

    # --- changed while it moves ----------------------------------------------------------------------------------------

    def adjustable(self) -> dict[str, float]:
        """Its damping, where all modes have the same: all else hangs together."""
        return {"damping": float(self.damping)} if isinstance(self.damping, int | float) else {}

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A body of this type without zeros or symmetry, for the contract tests."""
        rng = np.random.default_rng(5)
        d, t, points, k = dimension, 2 * dimension - 3, 7, 2
        masses = rng.uniform(0.1, 0.3, points)
        places = rng.uniform(-0.6, 0.6, (points, d))
        centre = masses @ places / masses.sum()
        arms = places - centre
        root = np.sqrt(np.repeat(masses, d))
        swung = np.einsum("tij,nj->tni", _QUARTERS[d], arms).reshape(t, -1)
        held = np.concatenate([np.tile(np.eye(d), points), swung]) * root
        found = np.linalg.qr(np.concatenate([held, rng.normal(size=(k, points * d))]).T)[0][:, d + t :].T / root
        shapes = found.reshape(k, points, d)
        fields = np.concatenate([arms[None], shapes])
        turns = rng.normal(size=(k, 2, t))
        data: dict[str, Any] = {
            "mass": float(masses.sum()), "centre": centre, "frequencies": (9.0, 17.0), "lines": (("left", "right"),),
            "moments": np.einsum("n,ani,bnj->abij", masses, fields, fields),
            "ports": {"left": places[0], "right": places[1]},
            "shapes": {
                name: np.concatenate([shapes[:, n], turns[:, n]], 1) for n, name in enumerate(("left", "right"))
            },
        }  # fmt: skip
        return cls(**data, velocity=(0.3, -0.2, 0.1)[:d], angular_velocity=0.7 if d == 2 else (0.7, -0.4, 0.9))


_QUARTERS = {
    2: np.array([[[0.0, -1.0], [1.0, 0.0]]]),
    3: np.array([-np.cross(np.eye(3), axis).T for axis in np.eye(3)]),
}  # axis x, as matrices


class Numbers:
    """What loops and equations ask of a description."""

    def __init__(self, body: ModalBody) -> None:
        d, k = body.dimension, body.modes
        given = np.asarray(body.moments, float).reshape(1 + k, 1 + k, d, d)
        self.moments = 0.5 * (given + given.transpose(1, 0, 3, 2))  # e_a e_b dm is e_b e_a dm transposed
        traces = np.trace(self.moments, axis1=2, axis2=3)
        if d == 2:
            self.inertia = traces[:, :, None]
            self.gyroscopic = (self.moments[1:, 1:, 0, 1] - self.moments[1:, 1:, 1, 0])[..., None]
        else:
            even = 0.5 * (self.moments + self.moments.transpose(0, 1, 3, 2))
            self.inertia = (traces[..., None, None] * np.eye(3) - even).reshape(1 + k, 1 + k, 9)
            rows = [(1, 2), (2, 0), (0, 1)]
            self.gyroscopic = np.stack([self.moments[1:, 1:, s, t] - self.moments[1:, 1:, t, s] for s, t in rows], -1)
        frequencies = np.asarray(body.frequencies, float)
        self.squares, self.losses = frequencies**2, 2.0 * body.ratios * frequencies
        many, width = len(body.ports), 3 if d == 2 else 6
        self.places = np.array([np.subtract(place, body.centre) for place in body.ports.values()]).reshape(many, d)
        self.shapes = np.array([body.shapes[name] for name in body.ports], float).reshape(many, k, width)


@cached_by_identity
def _numbers(body: ModalBody) -> Numbers:
    return Numbers(body)


def _as_fields(found: Reduced) -> dict[str, Any]:
    return found._asdict()
