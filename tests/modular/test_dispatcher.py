"""How often a kernel is compiled: once for every whole number that is written out in its calls, or once for all."""

import numpy as np

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
