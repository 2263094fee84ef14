"""The equations of a whole system, put together from what its components write down.

    M(q) a + G(q)^T lambda = Q(t, q, v),    phi(q) = 0,    G = d phi / dq                      Séguy 2003, (II.14), (II.15)

Rows of phi: the internal constraints of all bodies, then the rows of all joints. Rows of non-holonomic joints have no
position: for them G v = 0 is all there is. Redundant rows are welcome; multipliers are the smallest that do (saddle.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from coordinator.couplings.centralized.curvature import JacobianCurvature
from coordinator.couplings.centralized.saddle import Pattern, Saddle
from coordinator.couplings.centralized.slices import Slices
from coordinator.system import System
from modular.body import GivesEquations
from modular.elements import TIME, Array, Indices
from modular.joints import Joints
from modular.ledger import STORED

Matrix = Any  # a dense array, or a sparse one where the system is large
Places = Callable[[], Any]  # rows and columns of the numbers of each array
FOLLOWING = ("mass", "inverse_mass", "reach")  # what follows the place where bodies say so
MAX_DENSE_COORDINATES = 200  # coordinates up to which dense matrices are faster
REST = 1e-100  # [m/s]: the time in which what is slower goes anywhere would be no number
STENCIL = ((-2.0, 1.0 / 12.0), (-1.0, -8.0 / 12.0), (1.0, 8.0 / 12.0), (2.0, -1.0 / 12.0))  # fourth-order derivative
CURVED_STENCIL = tuple(  # eighth-order derivative
    (sign * k, sign * weight)
    for k, weight in ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
    for sign in (-1, 1)
)
PART = 1e-2  # rad, or of the extent: how far things go from one place of a stencil to the next
UNIT = 1e-6  # by how much the square of the length of a direction may differ from one


class Equations:
    """Everything a centralized solver asks of a system, at any state; the system is moved there and back."""

    def __init__(self, system: System, *, scaled: bool = True) -> None:
        """`scaled`: rows are scaled at once; else when somebody asks, for the state that there is now."""
        self.system = system
        self.stacks: list[Any] = system.bodies_as(GivesEquations)
        self.joints: list[Joints] = list(system.joints)
        self.evaluations = 0
        self.bends = JacobianCurvature()
        self.tree: list[tuple[str, str | None]] | None = None  # bodies and joints that lead to them (freedoms.py)
        self._places: dict[str, Any] = {}  # in a dense matrix, one after the other; or a `Pattern`
        self._place_bodies()
        self._place_rows()
        self.dense = self.size <= MAX_DENSE_COORDINATES
        self.led = [name for stack in self.stacks if _led(stack) for name in stack.names]  # bodies that follow courses
        self.driven = bool(self.led) or any(joints.form.drives for joints in self.joints)
        self.varying = any(getattr(stack, "varying", False) for stack in self.stacks)
        self.force_rows = np.array(
            [s + k for home in system.force_home.values()
             for s, c in zip(home.starts, home.counts, strict=True) for k in range(c)], np.int64,
        )  # fmt: skip
        q, v = self.read()
        self.extent = max(1.0, float(np.abs(q).max(initial=0.0)))  # [m], for tolerances
        self._begun = q, v, float(system.elements.clock[TIME])
        if scaled:
            self.scale = self._scales()

    # --- layout --------------------------------------------------------------------------------------------------------

    def _place_bodies(self) -> None:
        self.parts: list[slice] = []  # coordinates of each stack
        columns = Slices()
        self.size = 0
        for stack in self.stacks:
            q = stack.state()["q"]
            k = int(np.prod(q.shape[1:]))
            self.parts.append(slice(self.size, self.size + q.shape[0] * k))
            columns.add(stack.row, self.size, k)
            self.size += q.shape[0] * k
        self.columns = columns.kept(self.system)  # coordinates of each body

    def _place_rows(self) -> None:
        self.body_rows: list[slice] = []
        self.joint_rows: list[slice] = []
        rows_of, closing = Slices(), Slices()
        self.rows = 0
        for stack in self.stacks:
            n, m = self.closure_of(stack)[0].shape
            self.body_rows.append(slice(self.rows, self.rows + n * m))
            closing.add(stack.row, self.rows, m)
            self.rows += n * m
        holonomic = [np.ones(self.rows, bool)]
        for joints in self.joints:
            n, m = joints.count, joints.form.rows
            self.joint_rows.append(slice(self.rows, self.rows + n * m))
            rows_of.add(joints.row, self.rows, m)
            holonomic.append(np.full(n * m, joints.form.holonomic))
            self.rows += n * m
        self.holonomic = np.concatenate(holonomic)
        self.rows_of = rows_of.kept(self.system)  # rows of each joint
        self.closing = closing.kept(self.system)  # rows of each body's internal constraints

    def _blocks(self, blocks: list[Array]) -> Matrix:
        """A block-diagonal matrix over all coordinates."""

        def places() -> Any:
            for part, block in zip(self.parts, blocks, strict=True):
                n, k = block.shape[:2]
                first = part.start + k * np.arange(n)[:, None, None]
                yield first + np.arange(k)[:, None], first + np.arange(k)

        return self.matrix("blocks", places, blocks, (self.size, self.size))

    def matrix(self, key: str, places: Places, values: list[Array], shape: tuple[int, int]) -> Matrix:
        """Numbers at places, summed where they meet; dense where the system is small. Places are asked for once per key."""
        if key not in self._places:
            found = [
                [np.broadcast_to(x, v.shape).ravel() for x in pair] for pair, v in zip(places(), values, strict=True)
            ]
            i, j = (np.concatenate([pair[k] for pair in found] or [np.empty(0, np.int64)]) for k in (0, 1))
            self._places[key] = i * shape[1] + j if self.dense else Pattern(i, j, shape)
        known = self._places[key]
        x = np.concatenate([value.ravel() for value in values]) if values else np.empty(0)
        if self.dense:
            summed = np.bincount(known, x, shape[0] * shape[1])
            return summed.astype(float, copy=False).reshape(shape)  # of nothing it counts in whole numbers
        return known.filled(x)

    # constant, but for bodies that say otherwise: then they are those of the place that was shown last

    @cached_property
    def mass(self) -> Matrix:
        """M."""
        return self._blocks([stack.mass() for stack in self.stacks])

    @cached_property
    def inverse_mass(self) -> Matrix:
        """Body by body."""
        return self._blocks([np.linalg.inv(stack.mass()) for stack in self.stacks])

    @cached_property
    def reach(self) -> Matrix:
        """How the elements follow the coordinates: dx = B dq, one row of B per number of an element."""
        d, elements = self.system.elements.dimension, len(self.system.elements.position)
        served = [stack.reach() for stack in self.stacks]

        def places() -> Any:
            for part, (rows, owners, blocks) in zip(self.parts, served, strict=True):
                k = blocks.shape[2]
                yield (
                    (d * rows)[:, None, None] + np.arange(d)[:, None],
                    (part.start + k * owners)[:, None, None] + np.arange(k),
                )

        return self.matrix("reach", places, [blocks for _, _, blocks in served], (d * elements, self.size))

    @cached_property
    def scale(self) -> Array:
        """What `_scales` says of the state in which these equations were written, where nobody has asked before."""
        q, v = self.read()
        begun_q, begun_v, begun = self._begun
        now = float(self.system.elements.clock[TIME])
        self.at(begun)
        self.go(begun_q, begun_v)
        found = self._scales()
        self.at(now)
        self.go(q, v)
        return found

    def _scales(self) -> Array:
        """One over the root of the seen compliance per row; one number for the translations of a joint, one for its
        rotations, so that it does not matter how their axes lie."""
        jacobian = self.jacobian()
        moved = jacobian @ self.inverse_mass
        seen = np.asarray((moved * jacobian).sum(axis=1)).ravel()
        for joints, rows in zip(self.joints, self.joint_rows, strict=True):
            form = joints.form
            part = seen[rows].reshape(-1, form.rows)
            if form.translations:
                part[:, : form.translations] = part[:, : form.translations].mean(axis=1, keepdims=True)
            if form.rows > form.translations:
                rotations = part[:, form.translations :]
                rotations[:] = rotations.sum(axis=1, keepdims=True) / max(form.rotations, 1)
        return np.asarray(1.0 / np.sqrt(np.maximum(seen, 1e-12 * max(float(seen.max(initial=0.0)), 1e-300))))

    # --- state ---------------------------------------------------------------------------------------------------------

    def read(self) -> tuple[Array, Array]:
        """Coordinates and velocities as the bodies stand."""
        return self.collect("q"), self.collect("v")

    def collect(self, key: str) -> Array:
        """One of q, v, a over all bodies."""
        parts = [np.asarray(stack.state()[key]).ravel() for stack in self.stacks]
        return np.concatenate(parts) if parts else np.empty(0)

    def write(self, **values: Array) -> None:
        """Set q, v or a of all bodies."""
        for stack, part in zip(self.stacks, self.parts, strict=True):
            state = stack.state()
            for key, value in values.items():
                place = state[key]
                place[:] = value[part].reshape(place.shape)

    def at(self, time: float) -> None:
        """From here on constraints that follow something over time are those of this time [s]."""
        self.system.elements.clock[TIME] = time

    def go(self, q: Array, v: Array) -> None:
        """Move the system to a state and show it."""
        self.write(q=q, v=v)
        self._shown()

    def _shown(self) -> None:
        elements = self.system.elements
        self.system.show()
        elements.current_velocity[:] = elements.velocity
        if self.varying:
            for name in FOLLOWING:
                # found anew by whoever asks; many places are only looked at for their rates
                self.__dict__.pop(name, None)

    # --- constraints, where the system stands -------------------------------------------------------------------------

    def closure_of(self, stack: Any) -> tuple[Array, Array, Array]:
        """Internal constraints of a stack of bodies; those that are led read theirs off the clock."""
        if _led(stack):
            stack.read_off(self.system.elements)
        closure: tuple[Array, Array, Array] = stack.closure()
        return closure

    def errors(self) -> Array:
        """phi; zero in the rows of non-holonomic joints."""
        for joints in self.joints:
            joints.linearise(self.system.elements)
        parts = [self.closure_of(stack)[0].ravel() for stack in self.stacks]
        parts += [joints.error[: joints.count].ravel() for joints in self.joints]
        return np.where(self.holonomic, np.concatenate(parts), 0.0) if self.rows else np.empty(0)

    def violations(self, pace: float) -> Array:
        """phi, and for non-holonomic joints their velocity times dq/dv, so that G dq = -violations corrects all rows."""
        errors = self.errors()
        return errors if self.holonomic.all() else np.where(self.holonomic, errors, pace * self.rates())

    def rates(self) -> Array:
        """G v."""
        for joints in self.joints:
            joints.measure(self.system.elements)
        parts = [self.closure_of(stack)[1].ravel() for stack in self.stacks]
        parts += [joints.rate[: joints.count].ravel() for joints in self.joints]
        return np.concatenate(parts) if parts else np.empty(0)

    def jacobian(self) -> Matrix:
        """G: internal constraints directly, joints through the elements that they read."""
        blocks = [self.closure_of(stack)[2] for stack in self.stacks]

        def places() -> Any:
            for block, part, into in zip(blocks, self.parts, self.body_rows, strict=True):
                n, m, k = block.shape
                yield (
                    (into.start + m * np.arange(n))[:, None, None] + np.arange(m)[:, None],
                    (part.start + k * np.arange(n))[:, None, None] + np.arange(k),
                )

        found = self.matrix("closing", places, blocks, (self.rows, self.size))
        if not self.joints:
            return found
        for joints in self.joints:
            joints.linearise(self.system.elements)
        if not self.dense:
            return found + self._joint_jacobian() @ self.reach
        reach = self.reach.reshape(-1, self.system.elements.dimension, self.size)
        for joints, into in zip(self.joints, self.joint_rows, strict=True):  # few elements each: not those of all
            for start, number, slopes in _sides(joints):
                n, m = slopes.shape[:2]
                along = reach[start[:, None] + np.arange(number)].reshape(n, -1, self.size)
                found[into] += (slopes.reshape(n, m, -1) @ along).reshape(n * m, -1)
        return found

    def _joint_jacobian(self) -> Matrix:
        """How joints, as they were linearised last, follow the elements."""
        d = self.system.elements.dimension

        def places() -> Any:
            for joints, into in zip(self.joints, self.joint_rows, strict=True):
                n, m = joints.count, joints.form.rows
                row = (into.start + m * np.arange(n))[:, None, None, None] + np.arange(m)[:, None, None]
                for start, number, _ in _sides(joints):
                    yield row, d * (start[:, None, None, None] + np.arange(number)[:, None]) + np.arange(d)

        values = [slopes for joints in self.joints for _, _, slopes in _sides(joints)]
        return self.matrix("joints", places, values, (self.rows, self.reach.shape[0]))

    def jacobian_at(self, q: Array) -> Matrix:
        """G at a place; leaves the system there."""
        self.go(q, self.read()[1])
        return self.jacobian()

    def pace(self, v: Array) -> float:
        """How fast things turn, or go through the extent, where all has been shown [1/s].

        Coordinates may be places of points alone, whose bodies turn fast with small velocities: so it is asked of directions, which
        have the length one, and of two points that a joint holds against each other.
        """
        elements = self.system.elements
        speeds = np.sqrt(np.einsum("ij,ij->i", elements.velocity, elements.velocity))
        unit = np.abs(np.einsum("ij,ij->i", elements.position, elements.position) - 1.0) <= UNIT
        fastest = [float(np.abs(v).max(initial=0.0)) / self.extent, float(speeds[unit].max(initial=0.0))]
        for joints in self.joints:
            form, n = joints.form, joints.count
            if form.first == form.second == 1 and not form.coincident:
                ends = [
                    (table[joints.second[:n]] - table[joints.first[:n]])
                    for table in (elements.position, elements.velocity)
                ]
                far, fast = (np.linalg.norm(end, axis=-1) for end in ends)
                fastest.append(float((fast / np.maximum(far, 1e-6 * self.extent)).max(initial=0.0)))
        return max(fastest)

    def bias(self, q: Array, v: Array) -> Array:
        """dG/dt v, from the rates at neighbouring places; exact where the constraints are quadratic. Leaves the system at q."""
        self.go(q, v)
        total = np.zeros(self.rows)
        if np.any(v) or self.driven:
            pace = self.pace(v)
            h = PART / pace if pace > REST else 1.0
            total = self._bias_along(q, v, h) if self.varying else self._bias_of_lines(q, v, h)
            self.system.elements.beyond[0] = 0.0
        self.go(q, v)
        return total

    def _bias_along(self, q: Array, v: Array, h: float) -> Array:
        """The same where elements turn with what they are on: all is shown at every place."""
        total = np.zeros(self.rows)
        self.write(v=v)
        for place, weight in CURVED_STENCIL:
            self.write(q=q + place * h * v)
            self._shown()
            self.system.elements.beyond[0] = place * h
            total += weight / h * self.rates()
        return total

    def _bias_of_lines(self, q: Array, v: Array, h: float) -> Array:
        """The same where elements follow the coordinates as they are: along lines, and joints that say P_a = P_b have none."""
        elements, total = self.system.elements, np.zeros(self.rows)
        start = elements.position.copy()
        bent = [
            (joints, rows)
            for joints, rows in zip(self.joints, self.joint_rows, strict=True)
            if joints.form.coincident < joints.form.rows
        ]
        for place, weight in STENCIL:
            elements.beyond[0] = place * h
            self.write(q=q + place * h * v)
            for stack, rows in zip(self.stacks, self.body_rows, strict=True):
                total[rows] += weight / h * self.closure_of(stack)[1].ravel()
        for place, weight in CURVED_STENCIL if bent else ():
            elements.beyond[0] = place * h
            elements.position[:] = start + place * h * elements.velocity
            for joints, rows in bent:
                joints.measure(elements)
                total[rows] += weight / h * joints.rate[: joints.count].ravel()
        return total

    # --- forces --------------------------------------------------------------------------------------------------------

    def corners(self, start: float, end: float) -> list[float]:
        """Times between two others at which what acts from outside bends [s]."""
        bending = [forces.corners(start, end) for forces in self.system.forces if hasattr(forces, "corners")]
        return sorted({float(time) for times in bending for time in times})

    def forces(self, time: float) -> Array:
        """Q where the system stands: weight and gyroscopic terms, springs, dampers and loads."""
        self.at(time)
        parts = [stack.drive().ravel() for stack in self.stacks]
        total = np.concatenate(parts) if parts else np.empty(0)
        if len(self.force_rows):
            for forces in self.system.forces:
                forces.exert(self.system.elements, time)
            given = np.zeros_like(self.system.elements.force)
            given[self.force_rows] = self.system.elements.force[self.force_rows]
            total = total + self.reach.T @ given.ravel()
        self.evaluations += 1
        return np.asarray(total)

    # --- together ------------------------------------------------------------------------------------------------------

    def saddle(self, matrix: Matrix, jacobian: Matrix) -> Saddle:
        """The factorised system of a matrix over the coordinates bordered by a Jacobian."""
        return Saddle(matrix, jacobian, self.scale)

    def accelerate(
        self, time: float, q: Array, v: Array, pull: Callable[[Array, Array], Array] | None = None
    ) -> tuple[Array, Array]:
        """Acceleration and multipliers from M a + G^T lambda = Q, G a = -dG/dt v - pull(phi, G v)  (II.29), (II.30)."""
        self.at(time)
        bias = self.bias(q, v)
        if pull is not None:
            bias = bias + pull(self.errors(), self.rates())
        jacobian = self.jacobian()
        return self.saddle(self.mass, jacobian).solve(self.forces(time), -bias)

    def project_velocity(self, q: Array, v: Array) -> Array:
        """The velocity nearest in kinetic energy that obeys all constraints; leaves the system at q with it."""
        self.go(q, v)
        change, _ = self.saddle(self.mass, self.jacobian()).solve(np.zeros(self.size), -self.rates())
        self.go(q, v + change)
        return np.asarray(v + change)

    def project_position(self, q: Array, v: Array, tolerance: float = 1e-13, most: int = 20) -> Array:
        """The place nearest in the metric of M that obeys all constraints; leaves the system there."""
        for _ in range(most):
            self.go(q, v)
            error = self.errors()
            if float(np.abs(error).max(initial=0.0)) <= tolerance * self.extent:
                break
            change, _ = self.saddle(self.mass, self.jacobian()).solve(np.zeros(self.size), -error)
            q = q + change
        self.go(q, v)
        return q

    def exert_joints(self, multipliers: Array) -> None:
        """Let the joints exert their multipliers, as efforts, on their elements: -G^T lambda."""
        for joints, into in zip(self.joints, self.joint_rows, strict=True):
            n = joints.count
            joints.stiffness[:n] = joints.damping[:n] = 0.0
            joints.preload[:n] = multipliers[into].reshape(n, -1)
            joints.exert(self.system.elements)
            joints.ledger[:n, STORED] = 0.0  # a rigid joint stores nothing


def _led(stack: Any) -> bool:
    """Whether bodies have constraints that follow something over time (`GivesEquations`)."""
    return hasattr(stack, "read_off")


def _sides(joints: Joints) -> tuple[tuple[Indices, int, Array], ...]:
    """Both sides of joints of a form: the first element of each, how many there are, how rows follow them, (n, m, elements, d)."""
    form, n = joints.form, joints.count
    return (
        (joints.first[:n], form.first, joints.on_first[:n]),
        (joints.second[:n], form.second, joints.on_second[:n]),
    )
