"""Who holds whom in tension: groups of joints in which states of self-stress live."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coordinator.analysis.result_files import Kept
from modular.elements import Array

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
