"""How often a kernel is compiled: once for every whole number that is written out in its calls, or once for all."""

import os
import subprocess
import sys

import numpy as np
import pytest

from modular.dispatcher import dispatch


def plus_one(k):
    return k + 1


@dispatch
def of_each(k):
    return k + 1


of_all = dispatch(plus_one, written_out=False)


@dispatch
def both():
    return of_each(1) + of_each(2) + of_all(1) + of_all(2)


def test_numbers_that_are_written_out_make_forms_of_their_own_but_not_where_a_kernel_says_so():
    assert both() == 10
    assert (len(of_each.bare.overloads), len(of_all.bare.overloads)) == (2, 1)


def eighth_power(x):
    for _ in range(3):
        x = x * x
    return x


stands_apart, built_in = dispatch(eighth_power, apart=True), dispatch(eighth_power)


@dispatch
def jumps(x):
    return stands_apart(x) + stands_apart(x + 1.0)


@dispatch
def has_it_inside(x):
    return built_in(x) + built_in(x + 1.0)


def test_a_kernel_that_stands_apart_is_in_a_caller_once_and_answers_the_same():
    """Else a long kernel is compiled anew at each place that calls it."""
    assert jumps(1.7) == has_it_inside(1.7)
    times = {each: code.count("fmul") for each in (jumps, has_it_inside) for code in each.inspect_llvm().values()}
    assert (times[jumps], times[has_it_inside]) == (3, 6)
    calls = [line for code in jumps.inspect_llvm().values() for line in code.splitlines() if "call" in line]
    assert sum("eighth_power" in line for line in calls) == 2


@dispatch
def with_a_function_inside(x):
    def twice(y):
        return 2.0 * y

    return sum([twice(k) for k in range(3)]) + x


@dispatch
def of_arrays(x):
    return (2.0 * x + x * x).sum()


def test_a_kernel_may_have_functions_inside_and_expressions_of_arrays():
    """Passes of the compiler are left out only where they would find nothing, or change nothing."""
    assert with_a_function_inside(1.0) == 7.0
    assert of_arrays(np.arange(4.0)) == 26.0


APART = """
import sys
import numba
import numpy as np
from modular.kernel import kernel

LARGE = np.arange(200_000.0)  # numba keeps the address of an array of this size

@kernel(apart=True)
def far(x):
    return 3.0 * x + LARGE[3]

def made(factor):
    @kernel(apart=True)
    def away(x):
        return factor * x
    @kernel
    def near(x):
        return away(x) + 1.0
    return near

@kernel
def beside(x):
    return far(x) + 1.0

@kernel
def other(x):
    return beside(x)

nears = [made(float(factor)) for factor in sys.argv[1:]]

@numba.njit
def foreign(x):
    return first(x) * 2.0

first = nears[0]
last = nears[-1]

@kernel
def whole(x):
    return foreign(x) + 100.0 * last(x)

print(foreign(2.0), whole(2.0), other(1.0))
"""


@pytest.mark.campaign
def test_what_stands_apart_is_brought_to_whoever_jumps_there_whichever_process_compiled_it(tmp_path):
    """Through functions of numba's own, with addresses of one process, and of two that differ in what they were made around."""
    script = tmp_path / "apart.py"
    script.write_text(APART)

    def told(*factors):
        call = [sys.executable, str(script), *map(str, factors)]
        setting = {**os.environ, "MODULAR_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run(call, env=setting, capture_output=True, text=True, check=True).stdout.split()

    def wanted(first, last):
        return [
            str(x) for x in (2.0 * (2.0 * first + 1.0), 2.0 * (2.0 * first + 1.0) + 100.0 * (2.0 * last + 1.0), 7.0)
        ]

    for factors in ((3.0,), (5.0,), (3.0, 5.0)):
        assert told(*factors) == wanted(factors[0], factors[-1])
