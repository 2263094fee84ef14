"""The independent motions of a system, found along a spanning tree of its joints.

Each body is reached from the ground, or from a first free body, through one joint. What the joint leaves it of its own
rigid motions is new; what it takes, the body gets from those before it. Joints that are left close loops: a
singular value decomposition of their rows over the motions found so far says which combinations remain (Séguy 2003, II.4.1).
Redundant rows are told from the others on the way, row by row of one joint, so no large matrix is ever decomposed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from coordinator.couplings.centralized.equations import Equations
from modular.elements import Array
from modular.port import GROUND

RANK_TOLERANCE = 1e-7  # of the largest singular value: what is smaller is no constraint


@dataclass(frozen=True)
class Freedoms:
    """v = basis s for any independent velocities s; `kept` combines the rows of phi to as many as are independent."""

    basis: Array  # (coordinates, freedoms), orthonormal
    kept: Array  # (independent rows, rows)
    tree: dict[str, int]  # joint or free body -> independent motions that come with it
    loops: list[str]  # joints that close loops

    @property
    def number(self) -> int:
        """Degrees of freedom."""
        return int(self.basis.shape[1])


def spanning_tree(equations: Equations) -> list[tuple[str, str | None]]:
    """Bodies in the order in which they are reached, each with the joint that leads to it; None for a free one.

    Their joints are those of these equations for good, so it is found once.
    """
    if equations.tree is None:
        equations.tree = _found_tree(equations)
    return equations.tree


def _found_tree(equations: Equations) -> list[tuple[str, str | None]]:
    import networkx as nx  # takes long

    graph = nx.MultiGraph()
    graph.add_node(GROUND)
    graph.add_nodes_from(equations.columns)
    for name, home in equations.system.joint_home.items():
        graph.add_edge(*home.owners, key=name)
    order: list[tuple[str, str | None]] = []
    seen = {GROUND}
    for start in (GROUND, *equations.columns):
        if start not in seen:
            seen.add(start)
            order.append((start, None))
        queue = [start]
        while queue:
            here = queue.pop(0)
            for _, there, joint in graph.edges(here, keys=True):
                if there not in seen:
                    seen.add(there)
                    order.append((there, joint))
                    queue.append(there)
    return order


def find_freedoms(equations: Equations, number: int | None = None) -> Freedoms:
    """The independent motions where the system stands; `number` of them, if that is known from before."""
    jacobian = equations.jacobian()
    whole = jacobian.toarray() if sparse.issparse(jacobian) else np.asarray(jacobian)
    whole = equations.scale[:, None] * whole
    basis = np.zeros((equations.size, 0))
    kept: list[Array] = []
    left: list[Array] = []  # combinations of rows that the tree does not settle
    tree: dict[str, int] = {}
    order = spanning_tree(equations)
    for body, joint in order:
        own = equations.columns[body]
        closing = equations.closing[body]
        rigid = np.eye(own.stop - own.start)
        if closing.stop > closing.start:
            kept.append(_rows(np.eye(closing.stop - closing.start), closing, equations.rows))
            _, values, right = np.linalg.svd(whole[closing, own])
            rigid = right[len(values) :].T
        new = rigid
        if joint is not None:
            rows = equations.rows_of[joint]
            left_vectors, values, right = np.linalg.svd(whole[rows, own] @ rigid)
            rank = int(np.sum(values > RANK_TOLERANCE * values[0])) if len(values) and values[0] > 0.0 else 0
            taken = left_vectors[:, :rank].T
            carried = -(taken @ whole[rows] @ basis) / values[:rank, None]
            basis[own] += rigid @ (right[:rank].T @ carried)
            new = rigid @ right[rank:].T
            kept.append(_rows(taken, rows, equations.rows))
            left.append(_rows(left_vectors[:, rank:].T, rows, equations.rows))
        columns = np.zeros((equations.size, new.shape[1]))
        columns[own] = new
        tree[joint or body] = new.shape[1]
        basis = np.concatenate([basis, columns], axis=1)
    loops = [name for name in equations.rows_of if name not in {joint for _, joint in order}]
    left += [_rows(np.eye(r.stop - r.start), r, equations.rows) for r in (equations.rows_of[name] for name in loops)]
    rest = np.concatenate(left) if left else np.zeros((0, equations.rows))
    if len(rest):
        closed = rest @ whole @ basis
        left_vectors, values, right = np.linalg.svd(closed)
        scale = float(np.linalg.norm(whole @ basis, axis=1).max(initial=0.0))
        rank = int(np.sum(values > RANK_TOLERANCE * max(scale, 1.0)))
        if number is not None:
            rank = basis.shape[1] - number
        kept.append(left_vectors[:, :rank].T @ rest)
        basis = basis @ right[rank:].T
    basis = np.linalg.qr(basis)[0]
    return Freedoms(
        basis, np.concatenate(kept) * equations.scale if kept else np.zeros((0, equations.rows)), tree, loops
    )


def _rows(block: Array, into: slice, rows: int) -> Array:
    """Combinations of some rows as combinations of all."""
    wide = np.zeros((len(block), rows))
    wide[:, into] = block
    return wide
