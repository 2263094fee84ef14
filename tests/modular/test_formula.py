"""Formulas that are written in LLVM's language at once do what Python does, operation by operation."""

import sys

import numpy as np
import pytest

from modular.blocks import like
from modular.contents import GENERATORS, contents
from modular.elements import Elements
from modular.formula import FUNCTIONS, Formula, as_python, evaluate
from modular.kernel import kernel
from modular.lane_rows import fetch, store
from modular.lanes import LANES
from modular.loop import NO_FAILED_ROW, Loop
from modular.table import Table

TIME = 0.7  # [s]
ROWS, RESULTS = 6, 9  # of which the last two are a part of four lanes
SAFE = {"sqrt": "(x*x + 0.5)", "exp": "tanh(x)"}  # what a function is given where it is not defined for all numbers


def by_lot(seed):
    """Lines of all that formulas are made of."""
    lot = np.random.default_rng(seed)
    names = ["t"] + [f"{letter}[{k}]" for letter in "qvp" for k in range(3)]

    def term(depth):
        if depth == 0:
            return str(lot.choice(names)) if lot.random() < 0.8 else repr(round(float(lot.uniform(-2.0, 2.0)), 3))
        kind = lot.integers(8)
        if kind == 0:
            return f"(-{term(depth - 1)})"
        if kind == 1:
            function = str(lot.choice(sorted(FUNCTIONS)))
            given = SAFE.get(function, "x").replace("x", term(depth - 1))
            return f"{function}({given}{', ' + term(depth - 1) if function == 'atan2' else ''})"
        if kind == 2:
            return f"({term(depth - 1)}/(1.5 + {(x := term(depth - 1))}*{x}))"
        return f"({term(depth - 1)} {lot.choice(['+', '-', '*'])} {term(depth - 1)})"

    lines = ["def evaluate(t, q, v, p, out):"]
    for k in range(8):
        lines.append(f"    c{k} = {term(3)}")
        names.append(f"c{k}")
    lines += [f"    out[{k}] = {term(2) if k else '0.25'}" for k in range(RESULTS)]
    return "\n".join([*lines, "    return 0"]) + "\n"


def loop_of(formula):
    def formula_loop(start, stop, models, elements):
        q, v, p, out = like(models.q), like(models.v), like(models.p), like(models.out)
        for n in range(start, stop, LANES):
            fetch(models.q, n, stop, q)
            fetch(models.v, n, stop, v)
            fetch(models.p, n, stop, p)
            evaluate(formula, models.time, q, v, p, out)
            store(out, models.out, n, stop)
        return NO_FAILED_ROW

    return Loop(formula_loop)


def kernel_of(formula):
    def worked_out(t, q, v, p, out):
        evaluate(formula, t, q, v, p, out)

    return kernel(worked_out)


@pytest.mark.parametrize("seed", range(3))
def test_numbers_and_lanes_have_the_bits_of_python(seed):
    source = by_lot(seed)
    lot = np.random.default_rng(seed)
    models = Table(ROWS)
    for name in ("q", "v", "p"):
        models.column(name, 3)
        getattr(models, name)[:ROWS] = lot.uniform(-3.0, 3.0, (ROWS, 3))
    models.column("out", RESULTS)
    models.fixed("time")
    models.time = TIME
    by_python = np.zeros((ROWS, RESULTS))
    by_kernel = np.zeros((ROWS, RESULTS))
    compiled = kernel_of(Formula(source))
    for row in range(ROWS):
        given = (TIME, models.q[row], models.v[row], models.p[row])
        as_python(source)(*given, by_python[row])
        compiled(*given, by_kernel[row])
    loop_of(Formula(source))(models, Elements(2, 1), 0, ROWS)
    assert np.isfinite(by_python).all()
    np.testing.assert_array_equal(by_kernel, by_python)
    np.testing.assert_array_equal(models.out[:ROWS], by_python)


def test_other_lines_are_other_code():
    sources = [by_lot(0), by_lot(1), by_lot(0).replace("c1 = ", "c1 = 1.0 + "), by_lot(0)]
    first, second, third, again = (contents(kernel_of(Formula(source)).py_func) for source in sources)
    assert first == again and len({first, second, third}) == 3


def test_whole_numbers_are_numbers_and_long_sums_compile():
    source = f"def evaluate(t, q, v, p, out):\n    out[0] = {' + '.join(['q[0]*t'] * 1500)}\n    return 0\n"
    out = np.zeros(1)
    kernel_of(Formula(source))(1, np.array([2]), np.zeros(1), np.zeros(1), out)
    assert out[0] == 3000.0


def test_what_makes_sines_of_lanes_is_in_the_key_of_formulas():
    imported = {name for name in sys.modules if name.startswith("modular.lane")}
    assert "modular.lane_functions" in imported <= set(GENERATORS)
