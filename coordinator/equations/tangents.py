"""Tangents of a motion as formulas: how accelerations, places and velocities change with whatever moves or numbers a model.

Accelerations and multipliers z = (a, lambda) solve K z = r. What they change by solves the same matrix, whose factors are there:

    K dz = dr - dK z,    K = [M G^T; G 0],    r = (Q, gamma)

The entries of K and r are differentiated name by name. At the end of a step tangents are put on those of the constraints, in the
metric of M as places and velocities are (corrections.py): G dq = -d(phi) by numbers, G dv = d(flow) - dG v.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy

from coordinator.equations.solved import Solved
from coordinator.equations.source import python_source
from coordinator.equations.written import Written

NOTHING = sympy.Integer(0)


class Tangents:
    """Source code of what moves tangents of a model; functions (t, q, v, p, f, dq, dv, dp, out)."""

    def __init__(self, written: Written, good: float) -> None:
        self.written, self.good = written, good
        self.dq, self.dv, self.dp = (
            [sympy.Symbol(f"d({one.name})", real=True) for one in symbols]
            for symbols in (written.coordinates, written.rates, written.parameters)
        )

    def within(self) -> str:
        """Accelerations and what they change by."""
        solved = self._solved()
        a, da = self._accelerate(solved, self.dq, self.dv)
        return self._source(solved, [*a, *da])

    def at_the_end(self) -> str:
        """Tangents of places and velocities on those of the constraints; accelerations, and what these change by."""
        solved, w = self._solved(), self.written
        n, right = len(w.coordinates), [NOTHING] * solved.elimination.count
        still = _Differential(solved, self._known(self.dq, []))
        for r, gap in enumerate(w.constraints):
            right[n + r] = solved.name(-still.of(gap))
        dq = self._moved(solved, self.dq, right)
        right = [NOTHING] * solved.elimination.count
        there = _Differential(solved, self._known(dq, []))
        for r, flow in w.flow.items():
            right[n + r] += there.of(flow)
        for (r, c), slope in solved.elimination.jacobian.items():
            right[n + r] -= there.of(slope) * w.rates[c] + slope * self.dv[c]
        dv = self._moved(solved, self.dv, [solved.name(value) for value in right])
        a, da = self._accelerate(solved, dq, dv)
        return self._source(solved, [*dq, *dv, *a, *da])

    def _solved(self) -> Solved:
        found = Solved(self.written, (self.written.start[0], self.written.start[1]), self.good)
        found.know([*self.dq, *self.dv, *self.dp])
        return found

    def _source(self, solved: Solved, values: Sequence[Any]) -> str:
        return python_source(solved, values, {"dq": self.dq, "dv": self.dv, "dp": self.dp})

    def _known(self, dq: Sequence[Any], dv: Sequence[Any]) -> dict[Any, Any]:
        """By what each symbol changes."""
        w = self.written
        found = dict(zip(w.coordinates, dq, strict=True)) | dict(zip(w.parameters, self.dp, strict=True))
        return found | dict(zip(w.rates, dv, strict=False))

    @staticmethod
    def _moved(solved: Solved, tangent: Sequence[Any], right: list[Any]) -> list[Any]:
        change = solved.elimination.again(right)
        return [solved.name(one + more) for one, more in zip(tangent, change, strict=False)]

    def _accelerate(self, solved: Solved, dq: Sequence[Any], dv: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """a, and da from dr - dK z."""
        w, elimination, n = self.written, solved.elimination, len(self.written.coordinates)
        a, multipliers = solved.accelerations, solved.multipliers
        differential = _Differential(solved, self._known(dq, dv))
        right = [differential.of(value) for value in elimination.asked]
        for (i, j), value in w.mass.items():
            right[i] -= differential.of(value) * a[j]
        for (r, c), slope in elimination.jacobian.items():
            change = differential.of(slope)
            right[c] -= change * multipliers[r]
            right[n + r] -= change * a[c]
        return a, elimination.again([solved.name(value) for value in right])[:n]


class _Differential:
    """By what formulas change where their symbols do: forward, step by step."""

    def __init__(self, solved: Solved, known: Mapping[Any, Any]) -> None:
        self.solved, self.known = solved, dict(known)
        for one, step in solved.steps[: solved.entries]:
            self.known[one] = self.of(step)

    def of(self, value: Any) -> Any:
        """The differential of a formula, named."""
        total = NOTHING
        for one in sorted(value.free_symbols & self.known.keys(), key=str):
            if self.known[one] != 0:
                total += value.diff(one) * self.known[one]
        return self.solved.name(total)
