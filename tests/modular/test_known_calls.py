"""Operations are looked up once for all kernels; what failed, or has learned more since, is asked about again."""

import operator
from math import inf

import pytest
from numba import njit
from numba.core.compiler import Flags
from numba.core.errors import TypingError
from numba.core.targetconfig import ConfigStack
from numba.core.typing.templates import signature
from numba.extending import overload

from modular.dispatcher import dispatch
from modular.known_calls import KnownCalls
from modular.lanes import types
from modular.registrations import foreign


class Asked:
    """Stands for what numba knows; counts how often it is asked."""

    def __init__(self):
        self.times, self.fails, self.name = 0, False, "numba"

    def resolve_function_type(self, function, arguments, keywords):
        self.times += 1
        if self.fails:
            raise TypingError("nothing fits")
        found = signature(types.float64, *arguments, *keywords.values())
        if hasattr(function, "_impl_keys"):
            function._impl_keys[found.args] = found
        return found


def of_numba(function):
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    return cpu_target.typing_context.resolve_value_type(function)


def test_a_function_of_numba_is_asked_about_once_for_every_types_and_whatever_else_each_time():
    asked, product = Asked(), of_numba(operator.mul)
    first, second = KnownCalls(asked), KnownCalls(asked)  # of two kernels
    number = (types.float64, types.float64)
    found = first.resolve_function_type(product, number, {})
    assert second.resolve_function_type(product, list(number), {}) is found and asked.times == 1
    others = [(types.float64, types.int64), (types.literal(2), types.float64), (types.literal(3), types.float64)]
    assert all(second.resolve_function_type(product, other, {}) != found for other in others) and asked.times == 4
    assert second.resolve_function_type(product, number, {"x": types.int64}) != found and asked.times == 5
    assert second.resolve_function_type(of_numba(operator.add), number, {}) is not found and asked.times == 6
    with ConfigStack().enter(Flags()):  # other settings
        assert KnownCalls(asked).resolve_function_type(product, number, {}) is not found and asked.times == 7
    for _ in range(2):
        first.resolve_function_type(operator.mul, number, {})
    assert asked.times == 9 and first.name == "numba"
    assert KnownCalls(Asked()).resolve_function_type(product, number, {}) is not found


def test_what_does_not_fit_is_asked_about_again():
    asked, product = Asked(), of_numba(operator.mul)
    asked.fails = True
    for _ in range(2):
        with pytest.raises(TypingError):
            KnownCalls(asked).resolve_function_type(product, (types.float64,), {})
    asked.fails = False
    assert KnownCalls(asked).resolve_function_type(product, (types.float64,), {}) and asked.times == 3


def test_what_is_compiled_for_others_is_not_what_kernels_call(monkeypatch):
    """Functions that `overload` makes have the settings of whoever calls them; without them a division by zero ended a kernel."""
    monkeypatch.setattr("modular.registrations._foreign", [])

    def inverse(x):
        raise AssertionError("numba has another one")

    @overload(inverse)
    def of_numbers(x):
        return lambda x: 1.0 / x

    def kernel(more):
        return dispatch(lambda x: inverse(x) + more)

    assert kernel(0.0)(0.0) == inf
    with pytest.raises(ZeroDivisionError):
        njit(lambda x: inverse(x))(0.0)
    assert kernel(1.0)(0.0) == inf


def test_a_function_that_learns_other_types_on_the_way_is_called_with_them(monkeypatch):
    forgotten = []  # afterwards: all code would have another key from here on
    monkeypatch.setattr("modular.registrations._foreign", forgotten)

    def sign(x):
        raise AssertionError("numba has another one")

    def caller():
        def kernel(x):
            return sign(x)

        return dispatch(kernel)

    @overload(sign)
    def of_whole(x):
        return (lambda x: 1) if isinstance(x, types.Integer) else None

    assert caller()(3) == 1
    with pytest.raises(TypingError):
        caller()(3.0)

    @overload(sign)
    def of_floating(x):
        return (lambda x: 2) if isinstance(x, types.Float) else None

    assert caller()(3.0) == 2 and caller()(3) == 1 and foreign() is forgotten
