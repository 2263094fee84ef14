"""Who takes part in the interfaces of many copies of a model: those of the first, and how many rows further on all others are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coordinator.couplings.interface.members import Members
from coordinator.system import System
from modular.elements import Array, Indices
from modular.tiles import Tiles, Which

PARTS = ("bodies", "stacks", "forces")


class TiledMembers(Sequence[Members]):
    """Members of each model, made when somebody asks."""

    def __init__(
        self, first: Members, which: Which, joints: list[str], begins: dict[int, Indices], spans: Indices
    ) -> None:
        """`joints`: names in the model; `begins`: by the identity of a stack the first row of each; `spans`: their elements."""
        self.first, self.which, self.begins, self.spans = first, which, begins, spans
        self._joints = joints

    def __len__(self) -> int:
        return len(self.which)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[each] for each in range(*k.indices(len(self)))]
        if not 0 <= k < len(self):
            raise IndexError(k)
        parts: dict[str, Any] = {
            part: [(stack, [(int(self.begins[id(stack)][k]), int(self.begins[id(stack)][k]) + rows[0][1])])
                   for stack, rows in getattr(self.first, part)]
            for part in PARTS
        }  # fmt: skip
        joints = [self.which.called(name)[k] for name in self._joints]
        return Members(joints=joints, **parts, elements=[(int(a), int(b)) for a, b in self.spans[k]])

    def named(self) -> list[str]:
        """A joint of each, or a body where there is none."""
        if self._joints:
            return self.which.called(self._joints[0])
        stack, _ = self.first.bodies[0]
        return [str(stack.names[row]) for row in self.begins[id(stack)]]

    def largest(self, part: str, column: str) -> Array:
        """The largest magnitude that each has in a column of some of its stacks; none: 0."""
        found = np.zeros(len(self))
        for stack, rows in getattr(self.first, part):
            array = stack.state()["v"] if column == "v" else getattr(stack, column)[: stack.count]
            each = np.abs(array).reshape(len(self), rows[0][1] * int(np.prod(array.shape[1:])))
            found = np.maximum(found, each.max(axis=1, initial=0.0))
        return found


def tiled_members(system: System) -> TiledMembers | None:
    """Those of copies that stand as they were laid out; None where they do not."""
    described = system.described
    if not isinstance(described, Tiles) or not described.there or list(described.which) != sorted(described.which):
        return None
    which, begins, first = described.which, {}, Members(joints=[], stacks=[], bodies=[], forces=[], elements=[])
    order = {name: k for k, name in enumerate(system.joint_home)}
    joints: list[str] = []
    for part, stacks in zip(PARTS, (system.bodies, system.joints, system.forces), strict=True):
        for any_stack in stacks:
            stack: Any = any_stack
            own = which.laid_out(stack.names)
            if own is None:
                return None
            size = len(own)
            begins[id(stack)] = size * np.arange(len(which))
            getattr(first, part).append((stack, [(0, size)]))
            joints += own if part == "stacks" else []
    joints.sort(key=lambda name: order[which.called(name)[0]])
    spans = _spans(_elements(system, len(which)))
    if spans is None:
        return None
    first.joints.extend(which.called(name)[0] for name in joints)
    first.elements.extend((int(start), int(stop)) for start, stop in spans[0])
    return TiledMembers(first, which, joints, begins, spans)


def _spans(elements: Indices) -> Indices | None:
    """Rising elements of each as ranges, (models, ranges, 2); None where they do not fall into equal ones."""
    ends = np.diff(elements, axis=1, append=-1) != 1
    if (ends != ends[0]).any():
        return None
    begins = np.roll(ends[0], 1)
    return np.stack([elements[:, begins], elements[:, ends[0]] + 1], axis=-1)


def _elements(system: System, models: int) -> Indices:
    """Elements of the joints and forces of each model, rising, (models, elements)."""
    found = [np.zeros((models, 0), np.int64)]
    for stack in system.joints:
        for starts, count in ((stack.first, stack.form.first), (stack.second, stack.form.second)):
            own = starts[: stack.count].reshape(models, -1, 1) + np.arange(count)
            found.append(own.reshape(models, -1))
    for forces in system.forces:
        homes = [system.force_home[name] for name in forces.names]
        rows = [[s + k for s, c in zip(home.starts, home.counts, strict=True) for k in range(c)] for home in homes]
        found.append(np.array(rows, np.int64).reshape(models, -1))
    return np.sort(np.concatenate(found, axis=1), axis=1)
