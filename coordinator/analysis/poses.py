"""Bodies that are moved as wholes: where they stand, what that opens between them, and how gaps follow their motions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from scipy import sparse

from coordinator.analysis.senses import Sense, senses_of
from coordinator.events.bulk_add import place, put_together, undisturbed
from coordinator.events.impact import agree_velocities
from coordinator.system import System
from modular.assembly import Assembly, Beginning
from modular.body import Body
from modular.elements import TIME, Array, Indices
from modular.errors import ModelError
from modular.names import first_few, missing
from modular.port import GROUND

FIXED = -1  # in place of the number of a body: the ground, and what does not move
SMALLEST = 1e-3  # of the extent: the size of a point mass
RANK = 1e-9  # of rows of length one
SHIFT = 1.0  # [m]: by which points are told from directions


@contextmanager
def put_down(model: Assembly, hold: Iterable[str] = (), targets: Mapping[str, Array] | None = None) -> Iterator[Poses]:
    """A model as it is written, whose joints need not be closed; `targets`: where ports are to be [m]."""
    if isinstance(hold, str) or not all(isinstance(name, str) for name in hold or ()):
        raise ModelError(f"hold = {hold!r}; give a list of bodies and ports, such as ['crank', 'rod.end'].")
    hosted = [name for name, body in model.bodies.items() if body.hosted]
    if hosted:
        raise ModelError(
            f"assemble: {first_few(hosted)} live at a worker and cannot be moved by assemble; place the other bodies "
            "around them."
        )
    with undisturbed():
        system = System(model.gravity, model.bodies)
        rough = model.copy()
        rough.force_edges = {}
        system.rough = True
        put_together(system, rough)
        system.show()
        described = system.elements.position.copy()
        for name, state in model.begin.items():
            place(system, name, state)
        poses = Poses(system, model, list(hold or ()), targets or {})
        poses.senses = senses_of(poses, described)
        yield poses


@dataclass(frozen=True)
class BodyPoses:
    """Centres and rotations of all bodies."""

    centres: Array  # (n, d)
    rotations: Array  # (n, d, d)


class Poses:
    """Poses of the bodies of a system; unknowns are the ways of their centres and turns times their sizes, body by body."""

    def __init__(self, system: System, model: Assembly, hold: list[str], targets: Mapping[str, Array]) -> None:
        self.system, self.model = system, model
        self.dimension = model.dimension
        self.turns = 1 if self.dimension == 2 else 3
        self.held = hold
        held = self._held(hold)
        self.names = [
            name
            for name, body in model.bodies.items()
            if not (body.led or body.hosted or name in held) and _states(system, name)
        ]
        self.number = {name: k for k, name in enumerate(self.names)}
        self._mark(targets)
        self.weights: dict[str, float] = {}  # of joints, where not all count alike
        self.senses: list[Sense] = []  # which way round joints are to be

    def _held(self, hold: list[str]) -> set[str]:
        """Bodies that stay; ports are refused that nobody has."""
        for name in hold:
            body = name.partition(".")[0]
            if body not in self.model.bodies:
                raise ModelError(missing("body", body, self.model.bodies, "hold"))
            if "." in name:
                self.model.port(name, "hold")
        return {name for name in hold if "." not in name}

    def _mark(self, targets: Mapping[str, Array]) -> None:
        """What joints and those who hold read: points and directions, and whose they are."""
        system, d = self.system, self.dimension
        system.elements.clock[TIME] = 0.0
        self.ports_as_written: dict[str, Array] = {}
        for name, body in self.model.bodies.items():
            if _states(system, name) and not body.hosted:
                self.ports_as_written |= ports_of(body, name, self._state(name)[0])
        self.first_states = {name: self._state(name) for name in self.model.bodies if _states(system, name)}
        system.show()
        count = system.elements.count
        self.first_positions = system.elements.position[:count].copy()
        self.owner: Indices = np.full(count, FIXED)
        for home in system.joint_home.values():
            for owner, start, rows in zip(home.owners, home.starts, home.counts, strict=True):
                self.owner[start : start + rows] = self.number.get(owner, FIXED)
        wanted = {name: self._port(name) for name in self.held if "." in name} | dict(targets)
        self.ports = [
            (self.number[owner], self._port(name), target)
            for name, target in wanted.items()
            if (owner := name.partition(".")[0]) in self.number
        ]
        self.point = self._points()
        places: list[list[Array]] = [[] for _ in self.names]
        for k, name in enumerate(self.names):
            body, (q, v) = self.model.bodies[name], self._state(name)
            places[k] = [body.mass_centre(q), *(body.port_motion(port, q, v, v)[0] for port in body.port_names)]
        for k, x in zip(self.owner[self.point], self.first_positions[self.point], strict=True):
            if k >= 0:
                places[k].append(x)
        everything = np.concatenate(
            [*map(np.array, places), self.first_positions[self.point].reshape(-1, d), np.zeros((1, d))]
        )
        self.extent = max(float(np.ptp(everything, axis=0).max()), 1e-300)
        centres = np.array([np.mean(own, axis=0) for own in places]).reshape(-1, d)
        self.sizes = np.array(
            [
                max(float(np.linalg.norm(np.array(own) - c, axis=1).max()), SMALLEST * self.extent)
                for own, c in zip(places, centres, strict=True)
            ]
        )
        self.start = BodyPoses(centres, np.broadcast_to(np.eye(d), (len(centres), d, d)).copy())
        self.take(self.start)

    def _points(self) -> Array:
        """Which elements are points: those that go along where all bodies are shifted."""
        system, found = self.system, np.zeros(len(self.owner), bool)
        offset = np.full(self.dimension, SHIFT)
        saved = {name: self._state(name) for name in self.names}
        for name, (q, v) in saved.items():
            place(system, name, Beginning(self.model.bodies[name].moved(q, offset), v))
        system.show()
        shifted = system.elements.position[: len(self.owner)] - self.first_positions
        found[:] = np.abs(shifted).max(axis=1, initial=0.0) > 0.5 * SHIFT
        for name, (q, v) in saved.items():
            place(system, name, Beginning(q, v))
        system.show()
        return found

    def _state(self, name: str) -> tuple[Array, Array]:
        home = self.system.body_home[name]
        state, row = cast(Any, home).state(), home.row[name]
        return state["q"][row].copy(), state["v"][row].copy()

    def _port(self, name: str) -> Array:
        body, _, port = name.partition(".")
        q, v = self._state(body)
        return np.asarray(self.model.bodies[body].port_motion(port, q, v, v)[0])

    # --- where bodies stand ------------------------------------------------------------------------------------------

    def copy(self) -> BodyPoses:
        """As they stand."""
        return BodyPoses(self.centres.copy(), self.rotations.copy())

    def take(self, standing: BodyPoses) -> None:
        """Let them stand so."""
        self.centres, self.rotations = standing.centres.copy(), standing.rotations.copy()

    def go(self, standing: BodyPoses, turns: Array | None = None) -> None:
        """The same, each turned about its centre (n, turns)."""
        self.take(standing)
        if turns is not None and len(turns):
            self.rotations = rotations_of(turns) @ self.rotations

    def advance(self, step: Array) -> None:
        """Move and turn all."""
        ways, turns = self._apart(step)
        self.centres = self.centres + ways
        if len(turns):
            self.rotations = rotations_of(turns / self.sizes[:, None]) @ self.rotations

    def clipped(self, step: Array, most: float) -> Array:
        """A step in which no body goes farther than a share of the extent, or turns by more than so many rad."""
        ways, turns = self._apart(step)
        far = np.linalg.norm(ways, axis=1, keepdims=True) / self.extent
        round_ = np.linalg.norm(turns / self.sizes[:, None], axis=1, keepdims=True)
        parts = [
            part * np.minimum(1.0, most / np.maximum(size, 1e-300)) for part, size in ((ways, far), (turns, round_))
        ]
        return np.concatenate(parts, axis=1).ravel()

    def displacement(self) -> Array:
        """From the start, as a step."""
        turns = turns_of(self.rotations) * self.sizes[:, None]
        return np.concatenate([self.centres - self.start.centres, turns], axis=1).ravel()

    def _apart(self, step: Array) -> tuple[Array, Array]:
        both = step.reshape(-1, self.dimension + self.turns)
        return both[:, : self.dimension], both[:, self.dimension :]

    def moved(self, name: str) -> tuple[float, float]:
        """How far the centre of a body has gone [m], and by how much it has turned [rad]."""
        k = self.number[name]
        way = float(np.linalg.norm(self.centres[k] - self.start.centres[k]))
        return way, float(np.linalg.norm(turns_of(self.rotations[k : k + 1])))

    def state(self, name: str) -> tuple[Array, Array]:
        """Its coordinates and velocities there."""
        k, body = self.number[name], self.model.bodies[name]
        q, v = body.turned(*self.first_states[name], self.rotations[k])
        return body.moved(q, self.centres[k] - self.rotations[k] @ self.start.centres[k]), v

    def states(self) -> dict[str, tuple[Array, Array, bool]]:
        """Coordinates and velocities of all bodies where they stand, and whether joints had to stop something of those."""
        before = {name: self.state(name) for name in self.names}
        for name in self.first_states:
            if not self.model.bodies[name].led:
                place(self.system, name, Beginning(*before.get(name, self.first_states[name])))
        self.system.show()
        agree_velocities(self.system, project=True)
        found = {}
        for name, body in self.model.bodies.items():
            if not body.hosted and _states(self.system, name):
                q, v = self._state(name)
                was = before.get(name, self.first_states[name])[1]
                found[name] = q, v, not body.led and bool(np.any(v != was))
        return found

    def turn(self, owner: int, rotation: Array) -> None:
        """Turn one body about its centre."""
        self.rotations[owner] = rotation @ self.rotations[owner]

    # --- what that opens ---------------------------------------------------------------------------------------------

    def show(self) -> None:
        """Let joints see where bodies stand."""
        mine = self.owner >= 0
        k, point = self.owner[mine], self.point[mine, None]
        arms = self.first_positions[mine] - point * self.start.centres[k]
        self.system.elements.position[: len(mine)][mine] = (
            np.einsum("nij,nj->ni", self.rotations[k], arms) + point * self.centres[k]
        )
        for joints in self.system.joints:
            joints.linearise(self.system.elements)

    def errors(self) -> Array:
        """All gaps [m], turns times the extent."""
        self.show()
        errors = []
        for joints in self.system.joints:
            if joints.form.holonomic and joints.count:
                errors.append((self._weights(joints) * joints.error[: joints.count]).ravel())
        for k, x, target in self.ports:
            errors.append(self.centres[k] + self.rotations[k] @ (x - self.start.centres[k]) - target)
        return np.concatenate(errors) if errors else np.empty(0)

    def constraints(self) -> tuple[Array, sparse.csr_matrix]:
        """All gaps, and how they follow a step."""
        return self.errors(), self.slopes()

    def slopes(self) -> sparse.csr_matrix:
        """How gaps follow a step from where they were told last."""
        values, (rows, columns), shape = self._slope_values(), self._pattern, self._shape
        return sparse.csr_matrix((values, (rows, columns)), shape=shape)

    def table(self) -> Array:
        """The same, dense."""
        found = np.zeros(self._shape)
        rows, columns = self._pattern
        found[rows, columns] = self._slope_values()  # no place is told twice: the sides of a joint are two bodies
        return found

    @property
    def _shape(self) -> tuple[int, int]:
        rows = sum(joints.count * joints.form.rows for joints in self.system.joints if joints.form.holonomic)
        return rows + self.dimension * len(self.ports), (self.dimension + self.turns) * len(self.names)

    def _slope_values(self) -> Array:
        """All of them, in the order of `_pattern`."""
        values = [np.empty(0)]
        for joints in self.system.joints:
            n = joints.count
            if not joints.form.holonomic or not n:
                continue
            weights = self._weights(joints)
            for start, block in ((joints.first[:n], joints.on_first[:n]), (joints.second[:n], joints.on_second[:n])):
                slopes = weights[:, :, None] * self._slopes(start, block)
                values.append(slopes[self.owner[start] >= 0].ravel())
        for k, x, _ in self.ports:
            arm = self.rotations[k] @ (x - self.start.centres[k])
            slopes = np.concatenate([np.eye(self.dimension), _turning(arm[None])[0].T / self.sizes[k]], axis=1)
            values.append(slopes.ravel())
        return np.concatenate(values)

    @cached_property
    def _pattern(self) -> tuple[Indices, Indices]:
        """Rows and columns of all slopes."""
        rows, columns, at = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
        per = self.dimension + self.turns
        for joints in self.system.joints:
            n, m = joints.count, joints.form.rows
            if not joints.form.holonomic or not n:
                continue
            row = at + m * np.arange(n)[:, None, None] + np.arange(m)[None, :, None]
            for start in (joints.first[:n], joints.second[:n]):
                owner = self.owner[start]
                mine = owner >= 0
                rows.append(np.broadcast_to(row, (n, m, per))[mine].ravel())
                column = per * owner[:, None, None] + np.arange(per)
                columns.append(np.broadcast_to(column, (n, m, per))[mine].ravel())
            at += n * m
        for k, _, _ in self.ports:
            rows.append(np.repeat(at + np.arange(self.dimension), per))
            columns.append(np.tile(per * k + np.arange(per), self.dimension))
            at += self.dimension
        return np.concatenate(rows), np.concatenate(columns)

    def scales(self, jacobian: sparse.csr_matrix) -> Array:
        """One over how far rows follow a step: one number for the translations of a joint, one for its turns, however axes lie."""
        squares = np.asarray(jacobian.multiply(jacobian).sum(axis=1)).ravel()
        at = 0
        for joints in self.system.joints:
            n, form = joints.count, joints.form
            if not form.holonomic or not n:
                continue
            own = squares[at : at + n * form.rows].reshape(n, form.rows)
            split = form.translations
            own[:, :split] = own[:, :split].mean(axis=1, keepdims=True) if split else 0.0
            own[:, split:] = own[:, split:].sum(axis=1, keepdims=True) / max(form.rotations, 1)
            at += n * form.rows
        return np.where(squares > 0.0, 1.0 / np.sqrt(np.maximum(squares, 1e-300)), 0.0)

    def freedoms(self) -> int:
        """In how many ways bodies can still move, where all is closed; turns that no joint and no port shows do not count."""
        _, jacobian = self.constraints()
        table = self.scales(jacobian)[:, None] * jacobian.toarray()
        rank = int(np.linalg.matrix_rank(table, tol=RANK)) if table.size else 0
        return int(table.shape[1] - rank)

    def places(self) -> Array:
        """Where all elements are that joints read, (n, d)."""
        self.show()
        return self.system.elements.position[: len(self.owner)].copy()

    def _weights(self, joints: Any) -> Array:
        """Of rows: turns count with the extent."""
        n, form = joints.count, joints.form
        kinds = np.where(np.arange(form.rows) < form.translations, 1.0, self.extent)
        return np.array([self.weights.get(name, 1.0) for name in joints.names])[:n, None] * kinds

    def _slopes(self, start: Indices, block: Array) -> Array:
        """How rows follow the motion of one side, (n, m, d + turns): block (n, m, k, d)."""
        rows = start[:, None] + np.arange(block.shape[2])
        owner, point = self.owner[start], self.point[rows]
        centres = (
            np.where(owner[:, None] >= 0, self.centres[owner], 0.0)
            if len(self.centres)
            else np.zeros((len(start), self.dimension))
        )
        arms = self.system.elements.position[rows] - point[:, :, None] * centres[:, None]
        sizes = np.where(owner >= 0, self.sizes[owner], 1.0) if len(self.sizes) else np.ones(len(start))
        ways = np.einsum("nmkc,nk->nmc", block, point.astype(float))
        turns = np.einsum("nmkc,nktc->nmt", block, _turning(arms)) / sizes[:, None, None]
        return np.concatenate([ways, turns], axis=2)

    def gaps(self) -> dict[str, float]:
        """By how much each joint is open, all its rows together [m]."""
        return {name: float(np.hypot(way, turn * self.extent)) for name, (way, turn) in self._open().items()}

    def gap(self, joint: str) -> tuple[float, float]:
        """By how much a joint is open [m], [rad]."""
        return self._open()[joint]

    def _open(self) -> dict[str, tuple[float, float]]:
        self.show()
        found: dict[str, tuple[float, float]] = {}
        for joints in self.system.joints:
            if joints.form.holonomic:
                split = joints.form.translations
                ways = np.linalg.norm(joints.error[: joints.count, :split], axis=1)
                turns = np.linalg.norm(joints.error[: joints.count, split:], axis=1)
                found |= dict(zip(joints.names, zip(ways.tolist(), turns.tolist(), strict=True), strict=True))
        return found

    def loop(self, joint: str) -> list[str]:
        """The bodies of the shortest loop through a joint; what does not move is the ground."""
        import networkx as nx

        graph = nx.Graph()
        sides = {
            name: [owner if owner in self.number else GROUND for owner in home.owners]
            for name, home in self.system.joint_home.items()
        }
        first, second = sides.pop(joint)
        graph.add_nodes_from((first, second))
        graph.add_edges_from(ends for ends in sides.values() if ends[0] != ends[1])
        if first == second or not nx.has_path(graph, first, second):
            return [self.system.joint_home[joint].owners[0], self.system.joint_home[joint].owners[1]]
        return list(nx.shortest_path(graph, first, second))


def ports_of(body: Body, name: str, q: Array) -> dict[str, Array]:
    """Where the ports of a body are [m]."""
    still = np.zeros_like(q)
    return {f"{name}.{port}": np.asarray(body.port_motion(port, q, still, still)[0]) for port in body.port_names}


def _states(system: System, name: str) -> bool:
    return hasattr(system.body_home[name], "state")


def _turning(arms: Array) -> Array:
    """How points follow turns about the origin of their arms, (..., turns, d): arms (..., d)."""
    if arms.shape[-1] == 2:
        return np.stack([-arms[..., 1], arms[..., 0]], -1)[..., None, :]
    x, y, z = np.moveaxis(arms, -1, 0)
    found = np.zeros((*arms.shape[:-1], 3, 3))  # rows: e_k x arm
    found[..., 0, 1], found[..., 0, 2] = -z, y
    found[..., 1, 0], found[..., 1, 2] = z, -x
    found[..., 2, 0], found[..., 2, 1] = -y, x
    return found


def rotations_of(turns: Array) -> Array:
    """Of angles (n, 1), or of rotation vectors (n, 3)."""
    if turns.shape[1] == 1:
        c, s = np.cos(turns[:, 0]), np.sin(turns[:, 0])
        return np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)
    from scipy.spatial.transform import Rotation  # a third of a second, for those who need it

    return np.asarray(Rotation.from_rotvec(turns).as_matrix())


def turns_of(rotations: Array) -> Array:
    """The angles or rotation vectors of rotations, (n, turns)."""
    if not len(rotations):
        return np.zeros((0, 1 if rotations.shape[-1] == 2 else 3))
    if rotations.shape[-1] == 2:
        return np.asarray(np.arctan2(rotations[:, 1, 0], rotations[:, 0, 0])[:, None])
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(rotations).as_rotvec())
