"""The stack of bodies in natural coordinates: their state and everything it offers a coupling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from components.bodies.body_stack import GLUE, BodyStack
from components.bodies.loops.trial_step import TRIAL_STEP
from components.bodies.natural import compliance, equations, gluing, kernels, showing
from components.bodies.natural.balance import NaturalBalance
from components.bodies.natural.many import (
    FEW,
    NaturalRows,
    found_groups,
    initial_velocity,
    lay_out,
    local_operators,
    rows_of_layout,
    spans_of,
)
from components.bodies.short_sums import combined, inverted
from modular.body import Body
from modular.elements import Array, Elements, Indices
from modular.internal_gains import InternalGains
from modular.loop import loops_of
from modular.naming import Naming, NumbersInRows
from modular.newmark import Newmark
from modular.port import PortName
from modular.shared_constants import group_equal
from modular.side import Mark, Side
from modular.tiles import TileRows, Tiles, makes_of, parted

if TYPE_CHECKING:
    from components.bodies.natural.description import NaturalBody

ROUNDING = 1e-14  # of masses, products and of how ports are put together: less is nothing


class NaturalBodies(BodyStack):
    """Bodies with e elements in d dimensions: coordinates (n, e, d), an element of theirs put together by weights (n, width, e)."""

    together = ((*GLUE, "closing", "ajar"),)
    remembered = ("closing",)
    in_steps = "components.bodies.natural.steps"
    closing: (
        Array  # S times the multipliers that keep its shape while it turns: where the next step begins to look for them
    )
    ajar: Indices  # 1 where the last drift has left its shape open
    # of each make
    mass_matrix: Array  # (n, e, e)
    inverse_mass: Array
    inverse_local: Array  # (S + 1/alpha)^-1 with S = H M^-1 H^T: its upper half, row by row, (n, m (m + 1) / 2)
    gram: Array  # constants of the internal constraints, (n, e - 1, e - 1)
    fall: Array  # 1 for points, 0 for directions, (n, e)
    slip: Array  # 1/sqrt(mass), (n,)
    spin: Array  # 1/sqrt(inertia) where it is the same about every axis that turns the body, else 0
    axes: Array  # principal axes over sqrt(inertia), put together from the elements, (n, 3, e)
    centre: Array  # mass centre, put together from the elements, (n, e)
    ports: Array  # how the points of the ports are put together, (n, ports, e)
    points: Array  # as many numbers as there are points among the elements: those in front

    def __init__(self, elements: int, dimension: int, points: int, capacity: int = 4, width: int = 2) -> None:
        super().__init__((elements, dimension), dimension, elements, capacity, width)
        vectors = elements - 1
        rows = vectors * (vectors + 1) // 2
        self.column("closing", rows)
        self.column("ajar", dtype=np.int64)
        for name in ("mass_matrix", "inverse_mass"):
            self.common(name, elements, elements)
        self.common("inverse_local", rows * (rows + 1) // 2)
        self.common("gram", vectors, vectors)
        for name in ("fall", "centre"):
            self.common(name, elements)
        for name in ("slip", "spin"):
            self.common(name)
        self.common("axes", 3, elements)
        self.common("ports", 2, elements, listed=True)
        self.fixed("points", points)  # its shape is all that it says
        self.loops = TRIAL_STEP | loops_of(kernels, compliance, gluing)
        flat = self.loops.pop("bound_demands_flat")
        if dimension == 2:
            self.loops["bound_demands"] = flat
        self.fold(*self.together[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Elements of a body, and their dimension."""
        return int(self.q.shape[1]), int(self.q.shape[2])

    def add_many(self, names: Sequence[str], bodies: Sequence[Body]) -> None:
        """Take bodies in, in their initial state."""
        members = cast("Sequence[NaturalBody]", bodies if isinstance(bodies, TileRows) else list(bodies))
        layout = lay_out(members)
        velocity = initial_velocity(members, layout)
        tiled = makes_of(bodies) if isinstance(bodies, TileRows) else None
        firsts, which = group_equal(layout.constants_keys) if tiled is None else tiled
        every = len(firsts) == len(members)
        found = rows_of_layout(layout, velocity) if every else rows_of_layout(layout.of(firsts), velocity[firsts])
        if every and len(members) <= FEW and tiled is None:
            found_groups.keep(members, (layout, found))
        super().add_many(names, bodies)
        rows = self.add_rows(names)
        self.q[rows], self.v[rows] = layout.elements, velocity
        makes = self.add_shared_rows(np.bincount(which))
        self.make[rows] = makes[which]
        self.mass_matrix[makes], self.inverse_mass[makes] = found.mass_matrix, found.inverse_mass
        self.gram[makes] = found.gram
        self.fall[makes], self.centre[makes] = found.fall, found.centre_weights
        self.slip[makes], self.spin[makes], self.axes[makes] = found.slip, found.spin, found.axes
        self._keep_ports(makes, found)
        self._factorise(makes, found.local)

    def _keep_ports(self, makes: Indices, found: NaturalRows) -> None:
        """How the points of the ports are put together, in the order of their names."""
        counts = np.diff(found.port_starts)
        if counts.max(initial=0) > self.ports.shape[1]:
            self.widen("ports", int(counts.max()))
        owner = np.repeat(np.arange(len(counts)), counts)
        self.ports[makes[owner], np.arange(len(owner)) - found.port_starts[owner]] = found.port_weights

    def port(self, name: PortName) -> Array:
        """How the point of a port is put together."""
        weights: Array = self.ports_of([name.body], [name.port])[1][0]
        return weights

    def ports_of(self, names: Sequence[str], ports: Sequence[str]) -> tuple[Indices, Array]:
        """Rows of many bodies, and how the point of a port of each is put together."""
        bodies = self.bodies
        rows = np.fromiter(map(self.row.__getitem__, names), np.int64, len(names))
        numbers = [bodies[name].port_names.index(port) for name, port in zip(names, ports, strict=True)]
        return rows, self.ports[self.make[rows], numbers]

    @staticmethod
    def combined(weights: Array, coordinates: Array) -> Array:
        """Elements put together from coordinates, (..., e) and (..., e, d) to (..., d)."""
        return combined(weights, coordinates)

    # --- what it shows -------------------------------------------------------------------------------------------

    def side(self, name: str, port: PortName) -> Side:
        """A port as a joint sees it now."""
        return NaturalSide(self, name, port)

    # --- predict and correct (Séguy 2003, Figure IV-2) -------------------------------------------------------------

    def configure(self, newmark: Newmark, internal: InternalGains, dt: float) -> None:
        """Take the settings of the scheme."""
        before = self.internal
        super().configure(newmark, internal, dt)
        if internal is not before and internal != before:
            self._factorise(np.unique(self.make[: self.count]))

    def _factorise(self, makes: Indices, local: Array | None = None) -> None:
        """The constant local operator, once per make."""
        softness = 1.0 / self.internal.artificial_mass if self.internal.artificial_mass else 0.0
        if local is None:
            local = local_operators(self.gram[makes], self.inverse_mass[makes], len(self.points))
        inverse = inverted(local + softness * np.eye(local.shape[1]))
        upper, lower = np.triu_indices(local.shape[1])
        self.inverse_local[makes] = 0.5 * (inverse[:, upper, lower] + inverse[:, lower, upper])

    # --- compliance --------------------------------------------------------------------------------------------------

    def push(self, name: str, impulses: Mapping[int, Array], elements: Elements) -> float:
        """Change the velocity of one body by impulses on elements; the change of kinetic energy [J]."""
        row, total = self.row[name], np.zeros(self.shape)
        make = self.make[row]
        for k, element in enumerate(self.attached[row, : int(self.numbers[row])].tolist()):
            impulse = impulses.get(element)
            if impulse is not None:
                total += self.weights[row, k][:, None] * impulse
        work = np.empty(self.shape)
        compliance.push_one(
            self.q[row], self.v[row], total, self.points, self.inverse_mass[make], self.inverse_local[make], work
        )
        return float(np.add.reduce(work, axis=None))

    def shift(self, name: str, velocity: Array) -> float:
        """Add a velocity to all points of one body, its turning kept; the change of kinetic energy [J]."""
        row, body = self.row[name], self.bodies[name]
        before = float(body.kinetic_energy(self.q[row], self.v[row]))
        self.v[row] += np.outer(self.fall[self.make[row]], velocity)
        return float(body.kinetic_energy(self.q[row], self.v[row])) - before

    # --- equations -------------------------------------------------------------------------------------------------

    def coordinate_names(self) -> list[str]:
        """A_x, A_y, … of one body: points by capital letters, directions by u, v, w."""
        elements, points = self.q.shape[1], len(self.points)
        letters = "ABCD"[:points] + "uvw"[: elements - points]
        return [f"{letter}_{axis}" for letter in letters for axis in "xyz"[: self.q.shape[2]]]

    def named_numbers(self, name: str, symbol: Naming) -> tuple[dict[str, Any], dict[str, Any]]:
        """Rows of columns, made of numbers that have names: its mass matrix, and the length between two points that are all."""
        body, columns = self.bodies[name], {}
        gram = self.gram[self.make[self.row[name]]].astype(object)
        if self.shape[0] == 2 == len(self.points):
            gram[0, 0] = symbol("length", float(np.sqrt(gram[0, 0]))) ** 2
        columns["gram"] = gram
        columns["mass_matrix"] = body.named_mass(symbol)
        return columns, {}

    def named_rows(self, rows: Indices) -> dict[str, Array]:
        """The same numbers of all variants of a body, by their labels; none where each has to be asked."""
        name, found = parted(self.names[rows[0]])[0], {}
        if not isinstance(self.bodies, Tiles) or not self.bodies.alike or len(rows) != len(self.bodies.which):
            return {}
        if self.shape[0] == 2 == len(self.points):
            found["length"] = np.sqrt(self.gram[self.make[rows], 0, 0])
        ask = getattr(self.bodies.originals[name], "named_columns", None)
        own = None if ask is None else ask(self.bodies.rows_of([name]))
        return {} if own is None else found | own

    def numbers_in_rows(self, rows: Indices) -> Iterator[NumbersInRows]:
        """Numbers of rows of bodies of one type: where their ports are, and, unless they enter in proportion, masses and lengths.

        What is put together from one element alone, as a port at an end, is so in all of them.
        """
        makes, vectors = self.make[rows], self.shape[0] - 1
        never = np.zeros(len(rows), bool)
        tables = (("mass_matrix", "M", vectors + 1), ("gram", "gram", vectors))
        for column, letter, size in tables if self.bodies[self.names[rows[0]]].by_rows else ():
            table = getattr(self, column)[makes]
            table[np.abs(table) < ROUNDING * np.abs(table).max(axis=(1, 2), initial=0.0)[:, None, None]] = 0.0
            for i in range(size):
                for j in range(i, size):
                    places = [(i, j), (j, i)] if i != j else [(i, j)]
                    yield NumbersInRows(f"{letter}_{i + 1}_{j + 1}", column, places, table[:, i, j], never)
        for slot in range(int(self.numbers[rows].max(initial=0))):
            weights = self.weights[rows, slot]
            weights = np.where(np.abs(weights) < ROUNDING, 0.0, weights)
            whole = np.rint(weights)
            fixed = (np.abs(weights - whole) < ROUNDING).all(axis=1) & (np.abs(whole).sum(axis=1) == 1.0)
            for k in range(weights.shape[1]):
                yield NumbersInRows(f"w_{slot + 1}_{k + 1}", "weights", [(slot, k)], weights[:, k], fixed)

    def mass(self) -> Array:
        """M kron 1, (n, k, k)."""
        return equations.mass_blocks(self.each("mass_matrix"), *self.shape)

    def drive(self) -> Array:
        """Weight on the elements: M times the acceleration with which all points fall, (n, k)."""
        fall = self.each("fall")[:, :, None] * self.gravity
        return np.asarray(np.einsum("nij,njc->nic", self.each("mass_matrix"), fall).reshape(self.count, -1))

    def closure(self) -> tuple[Array, Array, Array]:
        """w_a . w_b - const (halved where a = b), its rate and Jacobian."""
        n = self.count
        return equations.closure(self.q[:n], self.v[:n], self.gram, self.make[:n], len(self.points))

    def reach(self) -> tuple[Indices, Indices, Array]:
        """Every element is a constant linear map of the coordinates."""
        return equations.reach(self.attached, self.weights, self.numbers[: self.count], self.shape[1])

    def balance_table(self) -> NaturalBalance:
        """The same as compiled loops."""
        return NaturalBalance(self)


class NaturalSide(Side):
    """A port of a body in natural coordinates, as the body stands now."""

    def __init__(self, stack: NaturalBodies, name: str, port: PortName) -> None:
        row = stack.row[name]
        self._body, self._port = stack.bodies[name], port.port
        self._q = stack.q[row].copy()
        self._weights = stack.ports[stack.make[row], self._body.port_names.index(port.port)].copy()
        self.owner, self.name = name, str(port)
        motion = np.empty((3, stack.shape[1]))
        showing.motion_of(self._weights, self._q, stack.v[row], stack.a[row], motion)
        self.position, self.velocity, self.acceleration = motion

    @property
    def frame(self) -> Array:
        """Axes of the port as rows, turned with the body (rods: by the shortest turn)."""
        return turned(self._body.places[self._port].frame(self.name), self._body.spans, self._spans)

    @cached_property
    def _spans(self) -> Array:
        return spans_of(self._q, self._body.point_count)

    def point(self, x: Array) -> Mark | None:
        """The material point that stands at `x`; None where the body cannot follow that point."""
        if x is self.position or np.array_equal(x, self.position):
            return Mark(self._weights, np.array(x, float))  # the port itself, to the last bit
        return _found(self._q, self._body.point_count, x, point=True)

    def direction(self, u: Array) -> Mark | None:
        """The body-fixed direction along the unit vector `u`; None where the body has no such direction."""
        return _found(self._q, self._body.point_count, u, point=False)

    @cached_property
    def directions(self) -> Array:
        """Orthonormal basis (rows) of the directions that this body can follow."""
        w = self._spans
        if len(w) == 0:
            return np.zeros((0, self._q.shape[1]))
        if len(w) == 1:
            return np.asarray(w / np.linalg.norm(w))
        return np.asarray(np.linalg.svd(w)[2][: np.linalg.matrix_rank(w)])


def _found(q: Array, points: int, x: Array, *, point: bool) -> Mark | None:
    from components.bodies.natural.description import find_mark

    return find_mark(q, points, x, point=point)


def turned(frame: Array, start: Array, now: Array) -> Array:
    """Axes that moved with a body whose vectors went from `start` to `now` (rods: by the shortest turn), (…, k, d)."""
    d = frame.shape[1]
    if len(start) == 0:
        return frame
    if len(start) == 1 and d == 3:
        a, b = start[0] / np.linalg.norm(start[0]), now[0] / np.linalg.norm(now[0])
        axis, cosine = np.cross(a, b), float(a @ b)
        if cosine < -1 + 1e-12:  # half a turn, about any axis across
            n = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
            n /= np.linalg.norm(n)
            return np.asarray(frame @ (2.0 * np.outer(n, n) - np.eye(3)))
        cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
        rotation = np.eye(3) + cross + cross @ cross / (1 + cosine)
    elif len(start) == 1:
        a, b = start[0], now[0]
        c, s = (a @ b), a[0] * b[1] - a[1] * b[0]
        rotation = np.array([[c, -s], [s, c]]) / np.hypot(c, s)
    else:
        u, _, vt = np.linalg.svd(np.swapaxes(now, -1, -2) @ start)
        sign = np.ones((*now.shape[:-2], 1, d))
        sign[..., 0, -1] = np.sign(np.linalg.det(u @ vt))
        rotation = (u * sign) @ vt
    return np.asarray(frame @ np.swapaxes(rotation, -1, -2))
