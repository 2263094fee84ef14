"""Interfaces of models that are alike, from that of the first: the same lists and numbers, with the rows and addresses of each.

Nothing is an object for every model: numbers of all interfaces lie in blocks, a row for each, and a sheet says where.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coordinator.couplings.interface.interface import Interface
from coordinator.couplings.interface.members import Members
from coordinator.couplings.interface.tiled_members import TiledMembers
from coordinator.couplings.interface.verbs import COMPONENT, FROM, TO
from modular.elements import Array, Indices
from modular.table import SPARE_NUMBERS, Table

WITHOUT_ADDRESSES = ("program", "segments", "spans")
Rows = dict[int, Indices]  # by the identity of a stack, where the rows of each model begin


class Copies:
    """Numbers and lists of the interfaces of all models."""

    def __init__(self, first: Interface, members: Sequence[Members], begins: Rows) -> None:
        count = len(members)
        self.first = first
        self.sheets: Indices = np.zeros(count, np.int64)
        self._blocks: dict[str, Any] = {}
        self._sheets = np.tile(first._sheet, (count, 1))
        self.sheets[:] = self._sheets.ctypes.data + self._sheets.strides[0] * np.arange(count)
        self.program = self._programs(members, begins)
        of_each = {"program": self.program, "spans": spans_of(members)}
        known = _columns(members[0])
        for name, place in first._place_of.items():
            array: Any = first.__dict__[name]
            whole = of_each.get(name)
            if whole is None:
                whole = np.broadcast_to(array, (count, *array.shape))
                if array.dtype == np.int64 and name not in WITHOUT_ADDRESSES and array.size:
                    whole = _moved(whole, known, begins)
            block = np.zeros((count, array.size + SPARE_NUMBERS), array.dtype)
            block[:, : array.size] = whole.reshape(count, -1)
            self._blocks[name] = block
            self._sheets[:, 2 * place] = block.ctypes.data + block.strides[0] * np.arange(count)

    @classmethod
    def of(cls, first: Interface, members: Sequence[Members]) -> Copies | None:
        """Those of models that are alike; None where they are not, or hold what has to be laid out for each."""
        if first.implicit or first.glides or first.damped or first.anything_watched or first.touching_count:
            return None
        if not first.compiled or first.toll_count:
            return None
        if isinstance(members, TiledMembers):
            return cls(first, members, members.begins)
        begins: Rows = {}
        for part in ("stacks", "bodies", "forces"):
            lists = [getattr(each, part) for each in members]
            if any(len(each) != len(lists[0]) for each in lists):
                return None
            for places in zip(*lists, strict=True):
                stack, size = places[0][0], places[0][1][0][1] - places[0][1][0][0]
                if any(each is not stack or len(rows) != 1 or rows[0][1] - rows[0][0] != size for each, rows in places):
                    return None
                begins[id(stack)] = np.array([rows[0][0] for _, rows in places])
        shapes = [[last - start for start, last in each.elements] for each in members]
        return cls(first, members, begins) if all(shape == shapes[0] for shape in shapes) else None

    def _programs(self, members: Sequence[Members], begins: Rows) -> Indices:
        """The operations of each, (models, operations, columns)."""
        first, count = self.first, len(members)
        found = np.tile(first.program, (count, 1, 1))
        own = first.program[:, COMPONENT] == first.sheet
        found[:, own, COMPONENT] = self.sheets[:, None]
        for part in ("stacks", "bodies", "forces"):
            for stack, _ in getattr(members[0], part):
                if isinstance(stack, Table):
                    these = first.program[:, COMPONENT] == stack.sheet
                    shift = begins[id(stack)] - begins[id(stack)][0]
                    found[:, these, FROM] += shift[:, None]
                    found[:, these, TO] += shift[:, None]
        of_elements = np.flatnonzero(first.program[:, COMPONENT] == first.system.elements.sheet)
        places = {tuple(span): k for k, span in enumerate(map(tuple, members[0].elements))}
        spans = spans_of(members)
        for op in of_elements:
            k = places[int(first.program[op, FROM]), int(first.program[op, TO])]
            found[:, op, FROM], found[:, op, TO] = spans[:, k, 0], spans[:, k, 1]
        return found

    def numbers(self, name: str) -> Array:
        """A number of each."""
        found: Array = self._blocks[name][:, 0]
        return found


def spans_of(members: Sequence[Members]) -> Indices:
    """Elements of each, (models, ranges, 2)."""
    return (
        members.spans if isinstance(members, TiledMembers) else np.array([each.elements for each in members], np.int64)
    )


def _columns(members: Members) -> list[tuple[int, int, int, int]]:
    """Where columns of joints lie: first address, beyond the last, bytes of a row, identity of the stack."""
    found = []
    for stack, _ in members.stacks:
        for name in stack._columns:
            array = getattr(stack, name)
            if array.nbytes:
                found.append(
                    (array.ctypes.data, array.ctypes.data + len(array) * array.strides[0], array.strides[0], id(stack))
                )
    return found


def _moved(whole: Any, known: Sequence[tuple[int, int, int, int]], begins: Rows) -> Indices:
    """Lists of all models: what is an address in a column of joints lies as many rows further on as those of the model do."""
    found = np.array(whole, np.int64)
    for begin, end, width, stack in known:
        inside = (found[0] >= begin) & (found[0] < end)
        if inside.any():
            shift = (begins[stack] - begins[stack][0]) * width
            found[:, inside] += shift[:, None]
    return found
