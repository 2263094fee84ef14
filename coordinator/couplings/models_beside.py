"""New joints of several models that stand side by side: which are whose, and in which order their rows are taken."""

from __future__ import annotations

import numpy as np

from coordinator.system import System
from modular.elements import Indices
from modular.joints import Joints
from modular.tiles import Tiles

New = list[tuple[Joints, Indices]]  # joints just made: their stack and rows


def any_alone(system: System, new: New) -> bool:
    """Whether one of several models that stand side by side has a single new joint."""
    if system.parted is None:
        return False
    models = np.concatenate([_placed(system, joints)[1][rows] for joints, rows in new])
    counts = np.unique(models, return_counts=True)[1]
    return len(counts) > 1 and bool((counts == 1).any())


def models_in(system: System, new: New) -> dict[int, New]:
    """New joints by the models that they belong to, where several stand side by side; else all of them."""
    parted = system.parted
    if parted is None:
        return {0: new}
    found: dict[int, New] = {}
    for joints, rows in new:
        mine: dict[int, list[int]] = {}
        for row in rows.tolist():
            mine.setdefault(parted(joints.names[row])[1], []).append(row)
        for model, own in mine.items():
            found.setdefault(model, []).append((joints, np.array(own, np.int64)))
    return found


def by_name(system: System, new: New) -> tuple[Indices, Indices]:
    """The order of rows by the names of their joints, model after model, and where the rows of each model end."""
    if system.parted is None:
        every_name = [np.repeat([joints.names[row] for row in rows.tolist()], joints.form.rows) for joints, rows in new]
        alone: Indices = np.argsort(np.concatenate(every_name), kind="stable")
        return alone, np.array([len(alone)])
    placed = [_placed(system, joints) for joints, _ in new]
    rank = {name: k for k, name in enumerate(sorted({name for names, _ in placed for name in names}))}
    own, models = [], []
    for (joints, rows), (names, every) in zip(new, placed, strict=True):
        ranks = np.array([rank[name] for name in names], np.int64)
        own.append(np.repeat(np.resize(ranks, len(every))[rows], joints.form.rows))
        models.append(np.repeat(every[rows], joints.form.rows))
    order = np.lexsort((np.concatenate(own), np.concatenate(models)))
    return order, np.cumsum(np.unique(np.concatenate(models), return_counts=True)[1])


def _placed(system: System, joints: Joints) -> tuple[list[str], Indices]:
    """Of joints of models that stand side by side, row by row, their names in these and the models; names of one may stand for all.

    Where copies stand variant after variant nobody reads their names.
    """
    described, parted = system.described, system.parted
    assert parted is not None
    laid = described.which.laid_out(joints.names) if isinstance(described, Tiles) else None
    if laid is None or not isinstance(described, Tiles):
        names, models = zip(*map(parted, joints.names), strict=True)
        return list(names), np.array(models, np.int64)
    return list(laid), np.repeat(np.fromiter(described.which, np.int64), len(laid))
