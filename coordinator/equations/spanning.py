"""Bodies along a spanning tree of joints: where each stands, as expressions of coordinates of the joints that lead to it.

Joints of the tree move their bodies by the motions that they leave free (`joint_torsors`), one after the other, from where the
model stands: translations first, then turns, in an order in which the joint's own rows stay closed, which is looked at with
numbers. A joint that has none is not in the tree: its rows are kept, as those of loops are.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from coordinator.equations.names import symbol
from coordinator.equations.terms import exact, tidy
from coordinator.equations.torsors_of_joints import IN_PLANE, reduced_rows
from coordinator.equations.written import Written
from modular.elements import Array
from modular.errors import ModelError
from modular.port import GROUND

CLOSED = 1e-9  # of rows, at places that are drawn
SPREAD = 0.4  # [m], [rad], of places that are drawn


@dataclass(frozen=True)
class Pose:
    """x = R x_0 + t of what stood at x_0; in the plane R is that of an angle, so that angles add up."""

    turn: Any  # a matrix, or an angle
    offset: Any
    turns: tuple[tuple[Any, Any], ...] = ()  # in space: about which axes, by how much, the last one first

    @property
    def matrix(self) -> Any:
        """R."""
        if isinstance(self.turn, sympy.MatrixBase):
            return self.turn
        c, s = sympy.cos(self.turn), sympy.sin(self.turn)
        return sympy.Matrix([[c, -s], [s, c]])

    def then(self, inner: Pose) -> Pose:
        """This after another."""
        flat = not isinstance(self.turn, sympy.MatrixBase)
        turn = self.turn + inner.turn if flat else self.turn * inner.turn
        return Pose(turn, self.matrix * inner.offset + self.offset, self.turns + inner.turns)

    def turned(self, orientation: Sequence[Any]) -> list[Any]:
        """What becomes of an angle, or of a quaternion."""
        if len(orientation) == 1:
            return [orientation[0] + self.turn]
        found = list(orientation)
        for axis, amount in reversed(self.turns):
            c, s = sympy.cos(amount / 2), sympy.sin(amount / 2)
            found = _product((c, s * axis[0], s * axis[1], s * axis[2]), found)
        return found


@dataclass
class Placed:
    """A body in the tree."""

    shape: list[Any]  # its points and directions where the model stands, as vectors of expressions
    points: list[bool]
    base: Array  # numbers: its first point
    start: Any  # and where that stands, as expressions
    scale: Any  # its length over that number
    pose: Pose
    orientation: Sequence[Any] = ()  # of a body by place and turning: its angle or quaternion where the model stands

    def places(self) -> list[Any]:
        """Its coordinates."""
        matrix, found = self.pose.matrix, list[Any]()
        for vector, point in zip(self.shape, self.points, strict=True):
            found += list(matrix * vector + self.pose.offset if point else matrix * vector)
        return found + (self.pose.turned(self.orientation) if self.orientation else [])

    def reference(self, place: Array) -> Any:
        """One of its points, which stands at a place, as expressions."""
        return self.start + self.scale * _vector(place - self.base)


class Tree:
    """Coordinates, and all coordinates of bodies in these; `joints` of the tree, and rows that are kept."""

    def __init__(self, written: Written, chosen: Mapping[str, Any]) -> None:
        self.written, self.chosen = written, dict(chosen)
        self.dimension = written.model.dimension
        self.names: dict[str, Any] = {}  # coordinates of the tree: what stands for them
        self.joints: list[str] = []
        self.placed: dict[str, Placed] = {}
        self.notes: list[str] = []
        self.numbers = dict(zip(written.coordinates, map(float, written.start[0]), strict=True)) | dict(
            written.parameters
        )
        self._draw = np.random.default_rng(7)
        self._grow()
        unknown = [name for name in self.chosen if name not in self.names]
        if unknown:
            raise ModelError(
                f"lagrange: q names '{unknown[0]}', which is no coordinate of the tree; these are: {', '.join(self.names)}."
            )
        free = {one for value in self.names.values() for one in value.free_symbols}
        self.coordinates = sorted(free, key=lambda one: self._first_use(one))
        self.rows = [
            r for joint, rows in written.rows_of.items()
            for r in range(rows.start + (self._tied(joint) if joint in self.joints else 0), rows.stop)
        ]  # fmt: skip

    @property
    def places(self) -> list[Any]:
        """All coordinates of bodies, in order."""
        return [place for name in self.written.columns for place in self.placed[name].places()]

    # --- the tree --------------------------------------------------------------------------------------------------------

    def _grow(self) -> None:
        w = self.written
        for name in w.columns:
            self._check_kind(name)
        tried: set[str] = set()
        while len(self.placed) < len(w.columns):
            joint = self._next(tried)
            if joint is None:
                self._let_free(next(name for name in w.columns if name not in self.placed))
                continue
            tried.add(joint)
            if self._hang(joint):
                self.joints.append(joint)

    def _check_kind(self, name: str) -> None:
        body = self.written.model.bodies[name]
        own = self.written.columns[name]
        if self._by_place(name) and not body.led:
            return
        flags = self._points(name)
        if body.led or flags is None or len(flags) * self.dimension != own.stop - own.start:
            raise ModelError(
                f"body '{name}' ({type(body).__name__}) is not a rigid body that moves under forces; lagrange() takes "
                "rigid bodies such as RigidBody, Rod and NewtonEulerBody."
            )

    def _by_place(self, name: str) -> bool:
        """Whether a body has a place, and an angle or a quaternion."""
        labels = [one.name.removeprefix(f"{name}.") for one in self.written.coordinates[self.written.columns[name]]]
        return labels in (["x", "y", "theta"], ["x", "y", "z", "p_0", "p_1", "p_2", "p_3"])

    def _elements(self, name: str) -> tuple[Array, list[bool], Array]:
        """Points and directions of a body where the model stands, which of them are points; its angle or quaternion."""
        d, start = self.dimension, np.asarray(self.written.start[0][self.written.columns[name]], float)
        if self._by_place(name):
            return start[None, :d], [True], start[d:]
        points = self._points(name)
        assert points is not None
        return start.reshape(-1, d), points, np.empty(0)

    def _points(self, name: str) -> list[bool] | None:
        body, own, d = self.written.model.bodies[name], self.written.columns[name], self.dimension
        if (own.stop - own.start) % d or body.freedoms > (3 if d == 2 else 6):
            return None
        nowhere = np.zeros(((own.stop - own.start) // d, d))
        try:
            moved, turned = body.moved(nowhere, np.ones(d)), body.turned(nowhere + 1.0, nowhere, -np.eye(d))[0]
        except (ModelError, ValueError, IndexError):
            return None
        plain = np.shape(moved) == nowhere.shape and bool((np.isin(moved, (0.0, 1.0))).all())
        return [bool(x) for x in moved[:, 0]] if plain and np.allclose(turned, -nowhere - 1.0) else None

    def _next(self, tried: set[str]) -> str | None:
        """The joint that locks most, of those that lead from the tree to a new body."""
        found, most = None, -1
        for joint, edge in self.written.model.joint_edges.items():
            ends = [name == GROUND or name in self.placed for name in (edge.first_body, edge.second_body)]
            if joint in tried or sum(ends) != 1 or not edge.joint.together:
                continue
            locks = self._tied(joint)
            if locks > most and all(
                self.written.holonomic[r] for r in range(*self.written.rows_of[joint].indices(10**9))
            ):
                found, most = joint, locks
        return found

    def _tied(self, joint: str) -> int:
        """Rows of a joint that no drive moves."""
        rows = self.written.rows_of[joint]
        return int(rows.stop - rows.start - self.written.drives[joint])

    def _hang(self, joint: str) -> bool:
        """Hang a body on a joint, if there is an order of its motions in which its rows stay closed."""
        w, edge = self.written, self.written.model.joint_edges[joint]
        outward = edge.first_body == GROUND or edge.first_body in self.placed
        child, parent = (edge.second_body, edge.first_body) if outward else (edge.first_body, edge.second_body)
        held = w.held[joint]
        at = {True: self._numbers(held.places[0]), False: self._numbers(held.first[0])}
        here, there = at[outward], at[not outward]
        anchor = _vector(there) if parent == GROUND else self.placed[parent].reference(there)
        above = self._home() if parent == GROUND else self.placed[parent].pose
        placed = self._describe(child, here, anchor + _vector(here - there))
        pivot = anchor + _vector(at[True] - there)
        for order in self._orders(joint):
            names = [self._coordinate(joint, order, k) for k in range(len(order))]
            motion = self._home()
            for name, twist in zip(names, order, strict=True):
                motion = motion.then(self._exponential(twist, self.chosen.get(name, symbol(name)), pivot, outward))
            if not outward:
                motion = self._home()
                for name, twist in reversed(list(zip(names, order, strict=True))):
                    motion = motion.then(self._exponential(twist, self.chosen.get(name, symbol(name)), pivot, outward))
            placed.pose = above.then(motion)
            self.placed[child] = placed
            if self._stays_closed(joint):
                self.names |= {name: self.chosen.get(name, symbol(name)) for name in names}
                return True
            del self.placed[child]
        return False

    def _let_free(self, name: str) -> None:
        """Nothing leads to a body: it moves on its own, about its mass centre."""
        d = self.dimension
        shape, _, orientation = self._elements(name)
        centre = shape[0] if len(orientation) else np.asarray(self.written.model.bodies[name].mass_centre(shape), float)
        placed = self._describe(name, centre, _vector(centre))
        eye = np.eye(6)
        turns = [eye[5]] if d == 2 else list(eye[3:])
        if self.written.model.bodies[name].freedoms < (3 if d == 2 else 6):
            turns = self._across(shape) if d == 3 else turns[: self.written.model.bodies[name].freedoms - d]
        labels = ["x", "y", "z"][:d] + (["theta"] if len(turns) == 1 else [f"theta_{k + 1}" for k in range(len(turns))])
        motion = self._home()
        for label, twist in zip(labels, [*eye[:d], *turns], strict=True):
            coordinate = f"{name}.{label}"
            self.names[coordinate] = self.chosen.get(coordinate, symbol(coordinate))
            motion = motion.then(self._exponential(twist, self.names[coordinate], _vector(centre), True))
        placed.pose = motion
        self.placed[name] = placed

    def _across(self, shape: Array) -> list[Array]:
        """Turns of a line in space: about what is across it."""
        along = shape[-1] - shape[0]
        _, _, axes = np.linalg.svd(along[None])
        return [np.concatenate([np.zeros(3), axis]) for axis in axes[1:]] if np.abs(along).max() > 0.0 else []

    def _describe(self, name: str, here: Array, anchor: Any) -> Placed:
        """A body whose point stands here, where that is to be an anchor."""
        elements, points, orientation = self._elements(name)
        length = [one for one in self.written.parameters if one.name == f"{name}.length"]
        scale = length[0] / exact(self.written.parameters[length[0]]) if length else sympy.Integer(1)
        base = elements[points.index(True)]
        start = anchor - scale * _vector(here - base)
        shape = [start + scale * _vector(x - base) if p else _vector(x) for x, p in zip(elements, points, strict=True)]
        turned = [exact(tidy(float(x))) for x in orientation]
        return Placed(shape, points, base, start, scale, self._home(), turned)

    # --- motions ---------------------------------------------------------------------------------------------------------

    def _home(self) -> Pose:
        d = self.dimension
        return Pose(sympy.Integer(0) if d == 2 else sympy.eye(3), sympy.zeros(d, 1))

    def _orders(self, joint: str) -> Iterator[list[Array]]:
        """The motions that a joint leaves free, where the model stands, one after the other."""
        w = self.written
        rows, held, d = w.rows_of[joint], w.held[joint], self.dimension
        forms = np.zeros((self._tied(joint), 6))
        for (m, k, c), slope in held.slopes.items():
            if m < len(forms):
                gradient = np.zeros(3)
                gradient[c] = float(slope.evalf(18, subs=self.numbers))
                forms[m, :3] += gradient if k == 0 else 0.0
                if k:
                    arm = np.zeros(3)
                    arm[:d] = self._numbers(held.places[k])
                    forms[m, 3:] += np.cross(arm, gradient)
        assert rows.stop > rows.start
        known = list(range(6)) if d == 3 else list(IN_PLANE)
        reduced, pivots = reduced_rows(forms, known)
        shifts: list[Array] = []
        turns: list[Array] = []
        for k in known:
            if k in pivots:
                continue
            twist = np.zeros(6)
            twist[k] = 1.0
            for row, pivot in zip(reduced, pivots, strict=True):
                twist[pivot] = -row[k]
            size = float(np.linalg.norm(twist[3:])) or float(np.linalg.norm(twist[:3]))
            (turns if np.abs(twist[3:]).max() > 0.0 else shifts).append(twist / size)
        for order in itertools.permutations(turns):
            yield [*shifts, *order]

    def _coordinate(self, joint: str, order: list[Array], k: int) -> str:
        """theta of a turn, s of a shift; numbered where there are several."""
        kinds = ["theta" if np.abs(twist[3:]).max() > 0.0 else "s" for twist in order]
        alike = [place for place, kind in enumerate(kinds) if kind == kinds[k]]
        return f"{joint}.{kinds[k]}" + (f"_{alike.index(k) + 1}" if len(alike) > 1 else "")

    def _exponential(self, twist: Array, amount: Any, pivot: Any, outward: bool) -> Pose:
        """The motion by a twist at a point, for so much of its coordinate; the other way round for the first side of a joint."""
        amount = amount if outward else -amount
        velocity, axis, d = twist[:3], twist[3:], self.dimension
        if np.abs(axis).max() == 0.0:
            return Pose(self._home().turn, amount * _vector(velocity[:d]))
        point = pivot + _vector(np.cross(axis, velocity)[:d])
        if d == 2:
            return Pose(amount, point - Pose(amount, point).matrix * point)
        n = _vector(axis)
        cross = sympy.Matrix([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
        turn = sympy.eye(3) + sympy.sin(amount) * cross + (1 - sympy.cos(amount)) * (n * n.T - sympy.eye(3))
        pitch = exact(tidy(float(velocity @ axis)))
        return Pose(turn, point - turn * point + amount * pitch * n, ((n, amount),))

    def _stays_closed(self, joint: str) -> bool:
        """At two places that are drawn."""
        rows = self.written.rows_of[joint]
        for _ in range(2):
            where = dict(self.numbers)
            symbols = {
                s
                for one in self.placed.values()
                for part in (one.pose.matrix, one.pose.offset)
                for s in part.free_symbols
            }
            known = dict(self.written.parameters)
            for one in sorted(symbols - known.keys(), key=str):
                known[one] = float(self._draw.uniform(-SPREAD, SPREAD))
            for name, one in self.placed.items():
                columns = self.written.coordinates[self.written.columns[name]]
                if one.orientation:
                    where |= {c: float(x.evalf(18, subs=known)) for c, x in zip(columns, one.places(), strict=True)}
                    continue
                matrix, offset = (x.evalf(18, subs=known) for x in (one.pose.matrix, one.pose.offset))
                values = [
                    x for v, p in zip(one.shape, one.points, strict=True)
                    for x in matrix * v.evalf(18, subs=known) + (offset if p else offset * 0)
                ]  # fmt: skip
                where |= dict(zip(columns, map(float, values), strict=True))
            for r in range(rows.start, rows.start + self._tied(joint)):
                if abs(float(self.written.constraints[r].evalf(18, subs=where))) > CLOSED:
                    return False
        return True

    def _numbers(self, place: list[Any]) -> Array:
        return np.array([float(sympy.sympify(x).evalf(18, subs=self.numbers)) for x in place])

    def _first_use(self, one: Any) -> tuple[int, str]:
        for k, value in enumerate(self.names.values()):
            if one in value.free_symbols:
                return k, one.name
        return len(self.names), one.name


def _product(one: Sequence[Any], other: Sequence[Any]) -> list[Any]:
    """Of two quaternions."""
    a, b, c, d = one
    e, f, g, h = other
    return [
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    ]


def _vector(numbers: Array) -> Any:
    return sympy.Matrix([exact(tidy(float(x))) for x in numbers])
