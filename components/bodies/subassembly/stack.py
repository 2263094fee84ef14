"""The stack of subassemblies: the state of all that moves inside, and what they offer a coupling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from components.bodies.body_stack import GLUE, BodyStack
from components.bodies.posed.by_body import ImpulseByBody
from components.bodies.posed.quaternions import spinning
from components.bodies.posed.stack import TurnedSide
from components.bodies.subassembly import gluing, kernels, kinematics
from modular.elements import Array, Elements, Indices
from modular.errors import ModelError
from modular.port import PortName
from modular.side import Side

if TYPE_CHECKING:
    from components.bodies.subassembly.description import Subassembly

TREE = ("parent", "ball", "axis", "base", "rates", "masses", "middle", "inertia", "coordinate", "speed")
WORK_COLUMNS = (
    "next_q",
    "next_v",
    "now",
    "frames",
    "columns",
    "motion",
    "inertias",
    "wrench",
    "speeds",
    "root",
    "pull",
    "line",
    "basis",
)


class Subassemblies(ImpulseByBody):
    """Trees with equally many links, speeds and coordinates; weights of an element are w0, its link and rho."""

    varying = True  # mass matrices and Jacobians follow the coordinates (modular/body.py: GivesEquations)
    in_steps = "components.bodies.subassembly.steps"
    constant = (*BodyStack.constant, *WORK_COLUMNS)  # room to work in: nothing of it is kept
    sizes: Array  # links, speeds beside those of the mass centre, coordinates
    frames: Array  # axes of links, and where they begin, from the mass centre of the whole
    columns: Array  # S and I S of each speed
    root: Array  # M or its factor
    speeds: Array  # speeds, right-hand sides, momenta
    # of each make (subassembly/tree.py)
    parent: Indices
    ball: Indices
    axis: Array
    base: Array
    rates: Array
    masses: Array
    middle: Array
    inertia: Array
    coordinate: Indices
    speed: Indices
    kilograms: Array  # of the whole

    def __init__(
        self, dimension: int, links: int, speeds: int, coordinates: int, capacity: int = 4, width: int = 2
    ) -> None:
        super().__init__((coordinates,), dimension, 2 + dimension, capacity, width, long=True)
        self.fixed("sizes", 3)
        self.sizes[:] = links, speeds, coordinates
        for name in ("parent", "ball", "coordinate", "speed"):
            self.common(name, links, dtype=np.int64, listed=True)
        sizes: dict[str, tuple[int, ...]] = {
            "axis": (3,),
            "base": (3,),
            "rates": (2,),
            "masses": (),
            "middle": (3,),
            "inertia": (3, 3),
        }
        for name, shape in sizes.items():
            self.common(name, links, *shape, listed=True)
        self.common("kilograms")
        for name in ("next_q", "next_v", "now"):
            self.column(name, coordinates, listed=True)
        for name, size in (("frames", 12), ("motion", 12), ("inertias", 20), ("wrench", 6)):
            self.column(name, links, size, listed=True)
        for name, size in (("columns", 12), ("speeds", 7)):
            self.column(name, speeds, size, listed=True)
        self.column("root", speeds * speeds, listed=True)
        self.column("line", dimension + speeds, listed=True)
        self.column("basis", (dimension + speeds) ** 2, listed=True)
        self.column("pull", dimension)
        self.take_loops(kernels, gluing)
        self.fold(*self.together[0])

    def start_of(self, body: Subassembly) -> tuple[Array, Array]:
        """Coordinates and rates of all that moves inside at the start."""
        return body.tree.start, body.tree.pace

    def constants_of(self, body: Subassembly) -> Mapping[str, Any]:
        """The numbers of its tree."""
        return {name: getattr(body.tree, name) for name in (*TREE, "kilograms")}

    def side(self, name: str, port: PortName) -> Side:
        """A port as a joint sees it now."""
        return InnerSide(self, name, port)

    def recall(self, details: Mapping[str, Any]) -> None:
        """Keep them again; refused where numbers do not make up trees, for loops trust them."""
        super().recall(details)
        links, speeds, coordinates = (int(size) for size in self.sizes)
        d, before = len(self.gravity), np.arange(links)
        rows, makes = self.capacity, len(self.speed)
        sizes = dict.fromkeys(TREE, (makes, links))
        sizes |= dict.fromkeys(("q", "v", "a", "next_q", "next_v", "now"), (rows, coordinates))
        sizes |= dict.fromkeys(("frames", "motion", "inertias", "wrench"), (rows, links))
        sizes |= dict.fromkeys(("columns", "speeds"), (rows, speeds))
        sizes |= {"root": (rows, speeds**2), "line": (rows, d + speeds), "basis": (rows, (d + speeds) ** 2)}
        fits = links > 0 and all(getattr(self, name).shape[:2] == size for name, size in sizes.items())
        fits = fits and all(self.folds(name) or getattr(self, name).shape == self.q.shape for name in GLUE)
        if fits:
            used = np.unique(self.make[: self.count])  # other rows are spare
            parent, ball = self.parent[used], self.ball[used]
            wide, fast = np.where(ball == 1, 4, 1), np.where(ball == 1, 3, 1)
            fits = bool(
                np.all((parent < before) & (parent >= np.where(before == 0, -1, 0)))
                and np.array_equal(self.coordinate[used], d + np.cumsum(wide, axis=1) - wide)
                and np.array_equal(self.speed[used], np.cumsum(fast, axis=1) - fast)
                and np.all(np.sum(wide, axis=1) == coordinates - d)
                and np.all(np.sum(fast, axis=1) == speeds)
            )
        if not fits:
            raise ModelError(f"{type(self).__name__}: the numbers of its trees do not fit each other.")

    # --- events ----------------------------------------------------------------------------------------------------

    def element_slopes(self, body: Any, q: Array) -> Callable[[Array], Array]:
        """How elements follow all coordinates where a body stands."""
        return partial(body.reach, slopes=body.tree.slopes(q))

    def answer(self, body: Any, q: Array, push: Array) -> Array:
        """Jump of the rates under impulses on the coordinates."""
        return np.asarray(np.linalg.solve(body.tree.mass_matrix(q), push))

    # --- equations -------------------------------------------------------------------------------------------------

    def _write_down(self) -> None:
        """S, M and what velocities ask for, by the loops that move it."""
        self.play("write_down", _nobody(len(self.gravity)))

    def _turning(self, row: int) -> Array:
        """G: how speeds follow the rates of coordinates, (speeds, coordinates)."""
        make, d = self.make[row], len(self.gravity)
        found = np.zeros((self.columns.shape[1], self.q.shape[1]))
        for ball, at, of in zip(self.ball[make], self.coordinate[make], self.speed[make], strict=True):
            if ball:
                p = self.q[row, at : at + 4]
                found[of : of + 3, at : at + 4] = 2.0 * spinning(p) / (p @ p)
            else:
                found[of, at] = 1.0
        return found[:, d:]

    def mass(self) -> Array:
        """Mass matrices, (n, k, k); along quaternions, where nothing can move, an inertia that leaves them regular."""
        self._write_down()
        d, k = len(self.gravity), self.q.shape[1]
        found = np.zeros((self.count, k, k))
        for row, name in enumerate(self.names):
            tree, turning, count = self.bodies[name].tree, self._turning(row), self.columns.shape[1]
            lower = np.tril(self.root[row].reshape(count, count))
            found[row, :d, :d] = tree.kilograms * np.eye(d)
            found[row, d:, d:] = turning.T @ (lower + np.tril(lower, -1).T) @ turning
            for place in tree.quaternions:
                p = self.q[row, place]
                found[row, place, place] += 4.0 * tree.typical_inertia * np.outer(p, p)
        return found

    def drive(self) -> Array:
        """Weight, and what velocities ask for, (n, k)."""
        self._write_down()
        d, count = len(self.gravity), self.columns.shape[1]
        found = np.zeros((self.count, self.q.shape[1]))
        for row, name in enumerate(self.names):
            tree, force = self.bodies[name].tree, self.speeds[row, :, kinematics.WANTED].copy()
            found[row, :d] = tree.kilograms * self.gravity
            shrink = np.zeros(count)  # spins fall where quaternions grow
            for place, at in zip(tree.quaternions, tree.speed[tree.ball == 1], strict=True):
                p, rate = self.q[row, place], self.v[row, place]
                shrink[at : at + 3] = -2.0 * (p @ rate) / (p @ p) * self.speeds[row, at : at + 3, kinematics.SPEED]
            if shrink.any():
                lower = np.tril(self.root[row].reshape(count, count))
                force -= (lower + np.tril(lower, -1).T) @ shrink
            found[row, d:] = force @ self._turning(row)
        return found

    def reach(self) -> tuple[Indices, Indices, Array]:
        """Elements served, the rows of their bodies, and their slopes as the bodies stand, (s, d, k)."""
        self._write_down()
        d, k = len(self.gravity), self.q.shape[1]
        served, owners, blocks = [], [], []
        for row, name in enumerate(self.names):
            tree, turning, columns = self.bodies[name].tree, self._turning(row), self.columns[row]
            for e in range(int(self.numbers[row])):
                weights = self.weights[row, e]
                frame, share = self.frames[row, int(weights[1])], weights[0]
                arm = share * frame[9:] + frame[:9].reshape(3, 3)[:, :d] @ weights[2:]
                moved = share * columns[:, 3:6] + np.cross(columns[:, :3], arm)
                moved *= tree.carried_by[int(weights[1])][:, None]
                moved -= share / tree.kilograms * columns[:, 9:]
                block = np.zeros((d, k))
                block[:, :d] = share * np.eye(d)
                block[:, d:] = moved[:, :d].T @ turning
                served.append(int(self.attached[row, e]))
                owners.append(row)
                blocks.append(block)
        return np.array(served, np.int64), np.array(owners, np.int64), np.array(blocks).reshape(-1, d, k)


@cache
def _nobody(dimension: int) -> Elements:
    """A table of elements for loops that look at none."""
    return Elements(dimension)


class InnerSide(TurnedSide):
    """A port of such a body, as it stands now."""

    def __init__(self, stack: Subassemblies, name: str, port: PortName) -> None:
        body: Subassembly = stack.bodies[name]
        super().__init__(stack, name, port, body.port_weights(port.port))
        q, d = self._q, len(self.position)
        self.part = (self._weights[1],)
        pose = body.tree.motion(q, np.zeros_like(q), np.zeros_like(q))[0][int(self._weights[1])]
        self._place, self._turn = pose[:d, 0], pose[:d, 1 : 1 + d]
