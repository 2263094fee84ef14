"""How often a kernel is compiled: once for every whole number that is written out in its calls, or once for all."""

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
