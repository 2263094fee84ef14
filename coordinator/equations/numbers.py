"""Equations at numbers: functions of coordinates, rates and time, with the parameters of the model or others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from coordinator.equations.courses import TIME
from coordinator.equations.written import Written
from modular.elements import Array
from modular.errors import ModelError

MODULES = [{"nearest_whole": np.rint}, "numpy"]


def function_of(arguments: Sequence[Any], expressions: Sequence[Any]) -> Callable[..., Any]:
    """A function of numbers; what several expressions have in common is worked out once."""
    renamed = {one: sympy.Symbol(f"x{k}", real=True) for k, one in enumerate(arguments)}
    plain = [one.xreplace(renamed) for one in expressions]
    made: Callable[..., Any] = sympy.lambdify(list(renamed.values()), plain, modules=MODULES, cse=True)
    return made


class Evaluated:
    """M, Q, phi, G and gamma at numbers."""

    def __init__(self, written: Written) -> None:
        self.written = written
        n, m = len(written.coordinates), len(written.constraints)
        self.parts: list[tuple[str, tuple[int, ...], list[Any]]] = [
            ("mass", (n, n), list(written.mass)), ("loads", (n,), list(written.loads)),
            ("constraints", (m,), list(range(m))), ("jacobian", (m, n), list(written.jacobian)),
            ("gamma", (m,), list(written.gamma)),
        ]  # fmt: skip
        entries = [*written.mass.values(), *written.loads.values(), *written.constraints]
        entries += [*written.jacobian.values(), *written.gamma.values()]
        arguments = [TIME, *written.coordinates, *written.rates, *written.parameters, *written.led.named]
        self.function = function_of(arguments, entries)

    def at(self, time: float, q: Any, v: Any, parameters: Mapping[Any, float]) -> dict[str, Array]:
        """All of them, as dense arrays."""
        w, count = self.written, len(self.written.coordinates)
        q, v = np.ravel(np.asarray(q, float)), np.ravel(np.asarray(v, float))
        if len(q) != count or len(v) != count:
            raise ModelError(f"equations: {len(q)} coordinates and {len(v)} rates; this model has {count} of each.")
        led = [w.led.value(one, time) for one in w.led.named]
        values = iter(self.function(time, *q, *v, *(parameters[one] for one in w.parameters), *led))
        found = {}
        for name, shape, places in self.parts:
            found[name] = np.zeros(shape)
            for place in places:
                found[name][place] = next(values)
        return found
