"""Freedoms and redundant locks of a model as it stands, quickly: from a spanning tree, and the loops that it leaves open.

Along a tree of joints that begins at the ground each body goes as the one before it, but for what its joint leaves free:

    L_b w_b + L_a w_a = 0   =>   w_b = -L_b^+ L_a w_a + N_b z_b

with w the motions of a body by itself and L the independent rows of a joint on both its sides. So all locks of a tree count, and
only joints that close loops can say what others say: of their rows C z = (L_a W_a + L_b W_b) z the rank counts. What C^T leaves
unanswered are states of self-stress; joints of the tree answer them from its ends to the ground, mu = -(L_b^T)^+ f_b. A thousand
bodies in an open chain ask for no matrix at all. The same numbers come from the whole (mobility.py), which names the motions too.

Groups of joints in which states of self-stress live hold each other in tension (`sharing_of`).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from coordinator.analysis.result import Kept
from coordinator.couplings.centralized.equations import Equations
from coordinator.simulation import Simulation
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.one_thread import on_one_thread

HOLDS = 1e-6  # of a state of size one: what is less does not take part


@dataclass(frozen=True)
class Sharing(Kept):
    """Joints that may hold each other in tension: how they share a load no equation tells."""

    joints: list[str]
    states: int  # independent ways of doing so


def sharing_of(left: Array, owners: list[tuple[str, int]]) -> list[Sharing]:
    """Groups of joints that hold each other, and in how many ways; `left`: orthonormal states by rows, over the rows of all joints.

    Rows of one joint follow each other.
    """
    from scipy.sparse.csgraph import connected_components

    if not len(left):
        return []
    support = np.abs(left.T @ left)  # whose entries do not depend on how the states are combined
    share = np.where(np.diagonal(support) > HOLDS, np.diagonal(support), 0.0)
    tied = (support > HOLDS) & (share[:, None] > 0.0) & (share[None, :] > 0.0)
    order = list(dict.fromkeys(owner for owner, _ in owners))
    starts = [k for k, (owner, _) in enumerate(owners) if not k or owners[k - 1][0] != owner]
    beside = np.logical_or.reduceat(np.logical_or.reduceat(tied, starts, axis=0), starts, axis=1)
    shares = np.add.reduceat(share, starts)
    _, group = connected_components(beside, directed=False)
    found: dict[int, list[int]] = {}
    for k in np.flatnonzero(shares > 0.0).tolist():
        found.setdefault(int(group[k]), []).append(k)
    return [Sharing([order[k] for k in joints], round(float(shares[joints].sum()))) for joints in found.values()]


RANK_TOLERANCE = 1e-8  # of the largest singular value: what is less is none
SURE = 1e-4  # of the largest singular value of the rows of a joint on a body: where one is less it does not lead the body alone
GROUND = -1


@dataclass(frozen=True)
class Count(Kept):
    """How many freedoms and redundant locks, and who shares loads."""

    free: int  # of all bodies, before joints
    locks: int  # directions that joints lock, one by one
    freedoms: int
    redundancies: int
    sharing: list[Sharing]

    def __str__(self) -> str:
        said = f"{self.freedoms} freedom{'s' * (self.freedoms != 1)}"
        if self.redundancies:
            said += f", {self.redundancies} redundant lock{'s' * (self.redundancies != 1)}"
        return said


def count_now(simulation: Simulation) -> Count:
    """Of a simulation as it stands, its joints as they are now: after a cut or a join the same again."""
    return count(Equations(simulation.system))


@on_one_thread
def count(equations: Equations) -> Count:
    """Of a system where it stands."""
    if not equations.columns:
        raise ModelError("mobility: the model has no bodies.")
    bodies = _Bodies.of(equations)
    joints = _Joints.of(equations, bodies)
    tree = _Tree.of(bodies, joints)
    closing, owners = tree.closing()
    values, left = np.zeros(0), np.zeros((0, len(closing)))
    if len(closing):
        size = np.abs(closing).max(initial=0.0)
        if size > 0.0:
            whole, values, _ = np.linalg.svd(closing)
            rank = int((values > RANK_TOLERANCE * values.max(initial=0.0)).sum())
            left = whole[:, rank:].T
        else:
            left = np.eye(len(closing))
    redundancies = len(left)
    locks, free = int(joints.ranks.sum()), int(bodies.freedoms.sum())
    sharing = sharing_of(*tree.stresses(left, owners)) if redundancies else []
    return Count(free, locks, free - locks + redundancies, redundancies, sharing)


@dataclass(frozen=True)
class _Bodies:
    """Motions of all bodies by themselves, by columns, filled up with nothing to equal width."""

    names: list[str]
    first: Indices  # coordinate of each
    own: Array  # (bodies, coordinates, motions)
    freedoms: Indices

    @classmethod
    def of(cls, equations: Equations) -> _Bodies:
        names, blocks = [], []
        for stack in equations.stacks:
            closure = equations.closure_of(stack)[2]
            n, m, k = closure.shape
            if m:
                _, values, right = np.linalg.svd(closure)
                ranks = (values > RANK_TOLERANCE * values.max(axis=1, initial=0.0)[:, None]).sum(axis=1)
            else:
                right, ranks = np.broadcast_to(np.eye(k), (n, k, k)), np.zeros(n, int)
            ordered = [name for name, _ in sorted(stack.row.items(), key=lambda item: item[1])]
            names += ordered
            blocks += [(right[row], int(ranks[row])) for row in range(n)]
        width = max(right.shape[1] for right, _ in blocks)
        most = max(len(right) - rank for right, rank in blocks)
        own = np.zeros((len(names), width, most))
        for b, (right, rank) in enumerate(blocks):
            own[b, : right.shape[1], : len(right) - rank] = right[rank:].T
        first = np.array([equations.columns[name].start for name in names])
        return cls(names, first, own, np.array([len(right) - rank for right, rank in blocks]))


@dataclass(frozen=True)
class _Joints:
    """Independent rows of all joints on the motions of the bodies of either side, (joints, 2, rows, motions)."""

    names: list[str]
    sides: Indices  # (joints, 2): bodies, or the ground
    locked: Array
    ranks: Indices

    @classmethod
    def of(cls, equations: Equations, bodies: _Bodies) -> _Joints:
        number = {name: b for b, name in enumerate(bodies.names)}
        names = list(equations.rows_of)
        homes = equations.system.joint_home
        sides = np.array([[number.get(owner, GROUND) for owner in homes[name].owners] for name in names]).reshape(-1, 2)
        coordinates = bodies.own.shape[1]
        most = max((rows.stop - rows.start for rows in equations.rows_of.values()), default=0)
        table = np.zeros((len(names), 2, most, coordinates))
        joint_of, row_of = np.full(equations.rows, -1), np.zeros(equations.rows, int)
        for j, rows in enumerate(equations.rows_of.values()):
            joint_of[rows], row_of[rows] = j, np.arange(rows.stop - rows.start)
        body_of = np.zeros(equations.size, int)
        for name, own in equations.columns.items():
            body_of[own] = number[name]
        row, column, value = _numbers(equations.jacobian())
        at = joint_of[row] >= 0
        row, column, value = row[at], column[at], value[at]
        joint, body = joint_of[row], body_of[column]
        side = np.where(sides[joint, 0] == body, 0, 1)
        np.add.at(table, (joint, side, row_of[row], column - bodies.first[body]), value)
        if not len(names):
            return cls(names, sides, np.zeros((0, 2, 0, bodies.own.shape[2])), np.zeros(0, int))
        whole = np.swapaxes(table, 1, 2).reshape(len(names), most, 2 * coordinates)
        _, values, right = np.linalg.svd(whole, full_matrices=False)
        counts = values > RANK_TOLERANCE * values.max(axis=1, initial=0.0)[:, None]
        rows = (right * counts[:, :, None]).reshape(len(names), -1, 2, coordinates)
        ends = bodies.own[sides] * (sides != GROUND)[:, :, None, None]
        return cls(names, sides, np.einsum("jrsk,jskf->jsrf", rows, ends), counts.sum(axis=1))


def _numbers(matrix: Any) -> tuple[Indices, Indices, Array]:
    """Rows, columns and values of what is not nothing."""
    if isinstance(matrix, np.ndarray):
        row, column = np.nonzero(matrix)
        return row, column, matrix[row, column]
    entries = matrix.tocoo()
    return entries.row, entries.col, entries.data


@dataclass(frozen=True)
class _Tree:
    """Which joint leads each body, from which other; and bodies in the order in which they are come to."""

    bodies: _Bodies
    joints: _Joints
    order: list[int]
    leader: Indices  # joint of each body, or -1: nothing leads it alone
    parent: Indices
    back: Array  # L_b^+ of bodies that are led, (bodies, motions, rows)
    left: Array  # N_b of bodies that are led, all motions of others: as projections, (bodies, motions, motions)
    width: Indices  # how many motions that are

    @classmethod
    def of(cls, bodies: _Bodies, joints: _Joints) -> _Tree:
        leader, parent, order = _come_to(len(bodies.names), joints.sides)
        side = np.where(joints.sides[leader, 1] == np.arange(len(leader)), 1, 0) if len(joints.names) else 0 * leader
        most = bodies.own.shape[2]
        back = np.zeros((len(leader), most, joints.locked.shape[2]))
        basis = np.zeros((len(leader), most, most))
        width = bodies.freedoms.copy()
        basis[:, np.arange(most), np.arange(most)] = np.arange(most) < bodies.freedoms[:, None]
        led = np.flatnonzero(leader >= 0)
        if len(led):
            rows = joints.locked[leader[led], side[led]]
            u, values, right = np.linalg.svd(rows)
            ranks = joints.ranks[leader[led]]
            counts = np.arange(values.shape[1]) < ranks[:, None]
            least = np.where(counts, values, np.inf).min(axis=1, initial=np.inf)
            alone = (ranks <= bodies.freedoms[led]) & (least > SURE * values.max(axis=1, initial=0.0))
            inverse = np.where(counts, 1.0 / np.where(counts, values, 1.0), 0.0)
            n = values.shape[1]
            backs = np.einsum("bif,bi,bri->bfr", right[:, :n], inverse, u[:, :, :n])
            for k, body in enumerate(led):
                if not alone[k]:
                    leader[body] = -1
                    continue
                back[body] = backs[k]
                own = right[k, ranks[k] :]
                own = (
                    own[: bodies.freedoms[body] - ranks[k]]
                    if bodies.freedoms[body] == most
                    else _inside(own, bodies.freedoms[body])
                )
                width[body] = bodies.freedoms[body] - ranks[k]
                basis[body] = 0.0
                basis[body][:, : width[body]] = own.T
        return cls(bodies, joints, order, leader, parent, back, basis, width)

    def closing(self) -> tuple[Array, list[tuple[str, int]]]:
        """C, by rows that are independent in their joint, and whose row of which joint each is."""
        led = set(self.leader[self.leader >= 0].tolist())
        chords = [j for j in range(len(self.joints.names)) if j not in led]
        owners = [(self.joints.names[j], k) for j in chords for k in range(int(self.joints.ranks[j]))]
        if not owners:
            return np.zeros((0, int(self.width.sum()))), owners
        starts = np.concatenate([[0], np.cumsum(self.width)])
        # the last is the ground
        ways = np.zeros((len(self.bodies.names) + 1, self.bodies.own.shape[2], int(starts[-1])))
        for body in self.order:
            if self.leader[body] >= 0:
                ways[body] = self._after(body) @ ways[self.parent[body]]
            ways[body][:, starts[body] : starts[body + 1]] = self.left[body][:, : self.width[body]]
        rows = []
        for j in chords:
            (one, other), locked = self.joints.sides[j], self.joints.locked[j]
            rows.append((locked[0] @ ways[one] + locked[1] @ ways[other])[: self.joints.ranks[j]])
        return np.concatenate(rows), owners

    def stresses(self, left: Array, owners: list[tuple[str, int]]) -> tuple[Array, list[tuple[str, int]]]:
        """States of self-stress by rows, over all joints, from those of what closes loops; owners in the order of the joints."""
        number = {name: j for j, name in enumerate(self.joints.names)}
        rows = self.joints.locked.shape[2]
        held = np.zeros((len(self.joints.names), rows, len(left)))
        for (name, k), state in zip(owners, left.T, strict=True):
            held[number[name], k] = state
        pull = np.zeros((len(self.bodies.names) + 1, self.bodies.own.shape[2], len(left)))
        chords = sorted({number[name] for name, _ in owners})
        for j in chords:
            for side in (0, 1):
                pull[self.joints.sides[j, side]] += self.joints.locked[j, side].T @ held[j]
        for body in reversed(self.order):
            j = self.leader[body]
            if j >= 0:
                held[j] = -self.back[body].T @ pull[body]
                side = 0 if self.joints.sides[j, 1] == body else 1
                pull[self.parent[body]] += self.joints.locked[j, side].T @ held[j]
        all_owners = [(name, k) for j, name in enumerate(self.joints.names) for k in range(int(self.joints.ranks[j]))]
        table = np.concatenate([held[j, : self.joints.ranks[j]] for j in range(len(self.joints.names))])
        return np.linalg.qr(table)[0].T, all_owners

    def _after(self, body: int) -> Array:
        """How a body goes as its parent goes."""
        j = self.leader[body]
        side = 0 if self.joints.sides[j, 1] == body else 1
        return np.asarray(-self.back[body] @ self.joints.locked[j, side])


def _inside(own: Array, freedoms: int) -> Array:
    """Of directions that are orthonormal those of a body with fewer motions than others: without those that it does not have."""
    own = own * (np.arange(own.shape[1]) < freedoms)
    _, values, right = np.linalg.svd(own)
    return np.asarray(right[: int((values > 0.5).sum())])


def _come_to(count: int, sides: Indices) -> tuple[Indices, Indices, list[int]]:
    """Breadth first from the ground, then from bodies that are not held to it: who is led by which joint from whom."""
    beside: list[list[tuple[int, int]]] = [[] for _ in range(count + 1)]
    for j, (one, other) in enumerate(sides.tolist()):
        if one != other:
            beside[one].append((j, other))
            beside[other].append((j, one))
    leader, parent = np.full(count, -1), np.full(count, GROUND)
    seen, order = [False] * count, list[int]()
    for root in (GROUND, *range(count)):
        if root != GROUND and seen[root]:
            continue
        if root != GROUND:
            seen[root] = True
            order.append(root)
        waiting = deque([root])
        while waiting:
            here = waiting.popleft()
            for j, other in beside[here]:
                if other != GROUND and not seen[other]:
                    seen[other] = True
                    leader[other], parent[other] = j, here
                    order.append(other)
                    waiting.append(other)
    return leader, parent, order
