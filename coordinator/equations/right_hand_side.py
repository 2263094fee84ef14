"""What moves a model as a function: compiled here, or as source code in C or Python that depends on nothing.

Both are made of the same lines (source.py), so they do the same operations in the same order. Arguments: time t, coordinates q and
their rates v, parameters p, and values of courses f that are no formulas; results: accelerations a and multipliers lambda.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from coordinator.equations.solved import Solved
from coordinator.equations.source import Lines, python_source
from coordinator.equations.tables import NoFormula
from coordinator.equations.writing import write
from coordinator.equations.written import Written
from modular.assembly import Assembly
from modular.elements import Array
from modular.formula import Formula, evaluate
from modular.kernel import kernel
from modular.version import __version__

WIDTH = 100  # of lists of numbers in source code


def without_stops(written: Written) -> Written:
    """What is to move a model, or why it would pass through its stops."""
    if written.open:
        raise NoFormula(
            f"force '{next(iter(written.open))}' has no formula, because it acts only while its stop is "
            "reached: generated code would pass through it. Leave it out "
            "(of a robot's file: --set stops=false)."
        )
    return written


class RightHandSide:
    """a and lambda of M a + G^T lambda = Q, G a = gamma, as a function of numbers and as source code."""

    def __init__(self, written: Written) -> None:
        self.written = written
        self.solved = Solved(written, (written.start[0], written.start[1]))

    @classmethod
    def of(cls, model: Assembly, *, numbers: bool = False) -> RightHandSide:
        """Of a model."""
        return cls(without_stops(write(model, numbers=numbers)))

    @property
    def values(self) -> list[Any]:
        """Accelerations, multipliers, and what tells whether they hold (`Solved.guards`)."""
        return [*self.solved.accelerations, *self.solved.multipliers, *self.solved.guards]

    @cached_property
    def function(self) -> Any:
        """function(t, q, v, p, f, out), compiled; `out` takes all `values`."""
        return _kernel_of(Formula(python_source(self.solved, self.values)))

    def parameters(self, changed: Mapping[str, float] | None = None) -> Array:
        """p, in order, with some of them changed by name."""
        known = self.written.values(changed)
        return np.array([known[one] for one in self.written.parameters], float)

    def courses(self, time: float) -> Array:
        """f at a time."""
        led = self.written.led
        return np.array([led.value(one, time) for one in led.named], float)

    def at(
        self, q: Sequence[float] | Array, v: Sequence[float] | Array, time: float = 0.0,
        parameters: Mapping[str, float] | None = None,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Accelerations and multipliers, compiled."""
        n, m = len(self.written.coordinates), len(self.written.constraints)
        q, v = (np.ascontiguousarray(x, float).reshape(n) for x in (q, v))
        out = np.empty(len(self.values))
        self.function(float(time), q, v, self.parameters(parameters), self.courses(time), out)
        self.solved.check(out[n + m :], float(np.abs(out[:n]).max(initial=0.0)))
        return out[:n], out[n : n + m]

    def c_source(self) -> str:
        """A function `accelerate` in C99, with what is in its arrays and where the model stands."""
        w = self.written
        n, m = len(w.coordinates), len(w.constraints)
        lines = Lines(self.solved, self.values)  # the very lines that are compiled here
        title = (w.model.title or "a model").replace("*/", "* /")
        head = [
            f"/* Equations of motion of {title}: accelerations and multipliers, written by modular {__version__}.",
            "   M a + G^T lambda = Q, G a = gamma. Needs the C library alone: cc -std=c99 -O2 -ffp-contract=off ... -lm",
            "",
            *_listed("q, their rates in v, a", [one.name for one in w.coordinates]),
            *_listed("lambda", [one.name for one in w.multipliers]),
            *_listed("p", [one.name for one in w.parameters]),
            *_listed("f, values of courses at time t", [one.name for one in w.led.named]),
            *_listed(
                "lambda of 0, for rows that follow from others where the model stands; they must do so elsewhere",
                [w.multipliers[r].name for r in self.solved.dependent],
            ),
            "*/",
            "#include <math.h>",
            "",
            f"enum {{ COORDINATES = {n}, ROWS = {m}, PARAMETERS = {len(w.parameters)}, COURSES = {len(w.led.named)} }};",
            *_numbers("parameters", list(w.parameters.values())),
            *_numbers("start_q", w.start[0].tolist()),
            *_numbers("start_v", w.start[1].tolist()),
            "",
            "void accelerate(double t, const double *q, const double *v, const double *p, const double *f,",
            "                double *a, double *lambda)",
            "{",
            "    (void)t; (void)q; (void)v; (void)p; (void)f; (void)lambda;",
            *lines.body(";", "const double ", lines.results[: n + m]),
        ]
        head += [f"    a[{k}] = {code};" for k, code in enumerate(lines.results[:n])]
        head += [f"    lambda[{k}] = {code};" for k, code in enumerate(lines.results[n : n + m])]
        return "\n".join([*head, "}"]) + "\n"


def _kernel_of(formula: Formula) -> Any:
    """A formula for Python to call."""

    def accelerate(t: float, q: Array, v: Array, p: Array, f: Array, out: Array) -> None:
        evaluate(formula, t, q, v, p, f, out)

    compiled = kernel(accelerate)
    return formula if compiled is accelerate else compiled  # where numba was told not to compile


def _listed(what: str, names: Sequence[str]) -> list[str]:
    """Names and places, for a comment."""
    if not names:
        return []
    found, line = [], f"   {what}:"
    for k, name in enumerate(names):
        part = f" {k} {name.replace('*/', '* /')}" + ("," if k < len(names) - 1 else "")
        if len(line) + len(part) > WIDTH:
            found.append(line)
            line = "     "
        line += part
    return [*found, line]


def _numbers(name: str, values: Sequence[float]) -> list[str]:
    """A constant array; C knows none without elements."""
    parts = [repr(float(value)) for value in values] or ["0.0"]
    found, line = [f"const double {name}[{len(parts)}] = {{"], "   "
    for part in parts:
        if len(line) + len(part) > WIDTH:
            found.append(line)
            line = "   "
        line += f" {part},"
    return [*found, line, "};"]
