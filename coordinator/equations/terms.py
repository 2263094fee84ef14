"""Terms: what kernels compute with where they write formulas instead of numbers.

A term is an expression that behaves as a number does in a kernel: it is added, multiplied, compared. Numbers that are meant to be
exact become so (0.5 is a half, 0.8660254037844386 the root of three quarters), so that formulas read as one would write them.

Kernels decide by comparing. What is decided for good is (an expression that no state makes negative); where a root may be zero at
single places the way beside them is taken, and that is noted; everything else has no one formula, and says so.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

LARGEST_DENOMINATOR = 1000  # of numbers that are taken for exact
NOTHING = 1e-15  # [m], [-]: geometry below that is rounding
ROUNDING = 2e-15  # of a number, by which it may differ from the exact one that it stands for


class Undecided(ArithmeticError):
    """A kernel takes one way or the other, and which depends on the state."""

    def __init__(self, condition: Any) -> None:
        self.condition = condition
        super().__init__(str(condition))


class Assumptions:
    """What terms took for granted while one component wrote its formulas: expressions that are not to be zero."""

    def __init__(self) -> None:
        self.nonzero: list[Any] = []

    def expect(self, expression: Any) -> None:
        """It is not zero."""
        if expression not in self.nonzero:
            self.nonzero.append(expression)


NOTES = Assumptions()


@functools.lru_cache(maxsize=100_000)
def exact(value: float) -> Any:
    """A number as the expression that it was meant to be, or to all its digits."""
    if value == 0.0:
        return sympy.Integer(0)
    if not math.isfinite(value):
        return sympy.Float(value)
    for share, unit in ((value, None), (value / math.pi, sympy.pi), (value * math.pi, 1 / sympy.pi)):
        found = _fraction(share)
        if found is not None:
            rational = sympy.Rational(found.numerator, found.denominator)
            return rational if unit is None else rational * unit
    found = _fraction(value * value)
    if found is not None:
        return (1 if value > 0.0 else -1) * sympy.sqrt(sympy.Rational(found.numerator, found.denominator))
    return sympy.Float(value, 17)


def _fraction(value: float) -> Fraction | None:
    near = Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
    if near.numerator and abs(float(near) - value) <= ROUNDING * abs(value):
        return near
    whole = Fraction(value)
    return whole if whole.denominator <= 2**20 and abs(whole.numerator) < 10**6 else None


def tidy(value: float) -> float:
    """A number of geometry, without what rounding made of nothing."""
    return 0.0 if abs(value) < NOTHING else value


def expression(value: Any) -> Any:
    """What a term, or a number, stands for."""
    if isinstance(value, Term):
        return value.expression
    if isinstance(value, sympy.Basic):
        return value
    return exact(float(value)) if not isinstance(value, int) else sympy.Integer(value)


class Term:
    """An expression where kernels expect a number."""

    __slots__ = ("expression",)

    def __init__(self, value: Any) -> None:
        self.expression = value

    def __repr__(self) -> str:
        return f"Term({self.expression})"

    def __hash__(self) -> int:
        return hash(self.expression)

    def __add__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else Term(self.expression + expression(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else Term(self.expression - expression(other))

    def __rsub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else Term(expression(other) - self.expression)

    def __mul__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else Term(self.expression * expression(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else Term(self.expression / expression(other))

    def __rtruediv__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else Term(expression(other) / self.expression)

    def __pow__(self, other: Any) -> Term:
        return Term(self.expression ** expression(other))

    def __neg__(self) -> Term:
        return Term(-self.expression)

    def __pos__(self) -> Term:
        return self

    def __abs__(self) -> Term:
        return self if _is_positive(self.expression, strictly=False) else -self

    def __float__(self) -> float:
        if not self.expression.is_number:
            raise Undecided(self.expression)
        return float(self.expression)

    def __int__(self) -> int:
        return int(float(self))

    __index__ = None  # a term is no place in an array

    def _above(self, other: Any) -> Any:
        """How much it is more; whatever it is, it is finite."""
        least = expression(other)
        return -least if least.is_infinite else self.expression - least

    def __gt__(self, other: Any) -> bool:
        return _is_positive(self._above(other), strictly=True)

    def __ge__(self, other: Any) -> bool:
        return _is_positive(self._above(other), strictly=False)

    def __lt__(self, other: Any) -> bool:
        return not self >= other

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __eq__(self, other: Any) -> bool:
        difference = self.expression - expression(other)
        if difference.is_number:
            return bool(difference == 0)
        NOTES.expect(difference)
        return False

    def __ne__(self, other: Any) -> bool:
        return not self == other

    @property
    def real(self) -> Term:
        """All are real."""
        return self

    def conjugate(self) -> Term:
        """Itself."""
        return self

    # the names by which numpy asks for functions of things that are no numbers

    def sqrt(self) -> Term:
        """The root."""
        return Term(sympy.sqrt(self.expression))

    def sin(self) -> Term:
        """The sine."""
        return Term(sympy.sin(self.expression))

    def cos(self) -> Term:
        """The cosine."""
        return Term(sympy.cos(self.expression))

    def exp(self) -> Term:
        """The exponential."""
        return Term(sympy.exp(self.expression))

    def tanh(self) -> Term:
        """The hyperbolic tangent."""
        return Term(sympy.tanh(self.expression))

    def rint(self) -> Term:
        """The nearest whole number."""
        return Term(nearest_whole(self.expression))


class nearest_whole(sympy.Function):  # type: ignore[misc]  # noqa: N801 - as sympy names functions
    """The whole number that is nearest; it changes nowhere but where it jumps."""

    nargs = 1

    @classmethod
    def eval(cls, argument: Any) -> Any:
        """Of a number it is one."""
        if argument.is_number:
            return sympy.Integer(round(float(argument)))
        return None

    def fdiff(self, argindex: int = 1) -> Any:
        """Nothing."""
        return sympy.Integer(0)

    def _latex(self, printer: Any) -> str:
        return rf"\left\lfloor {printer._print(self.args[0])} \right\rceil"


def _is_positive(value: Any, *, strictly: bool) -> bool:
    """Whether an expression is larger than zero, wherever the mechanism stands; or `Undecided`."""
    if value.is_number:
        return bool(float(value) > 0.0 if strictly else float(value) >= 0.0)
    root = value.is_Pow and value.exp == sympy.Rational(1, 2)
    if root or value.is_nonnegative or (value.is_Add and all(part.is_nonnegative for part in value.args)):
        if strictly and not value.is_positive:
            NOTES.expect(value)
        return True
    if value.is_negative:
        return False
    if value.is_nonpositive:
        if not strictly:
            NOTES.expect(value)
        return False
    raise Undecided(value > 0 if strictly else value >= 0)


def either(number: Callable[[float], float], name: str) -> Callable[[Any], Any]:
    """A function of a number or of a term."""

    def function(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            found = np.empty(value.shape, object)
            for place, one in np.ndenumerate(value):
                found[place] = function(one)
            return found
        return getattr(value, name)() if isinstance(value, Term) else number(float(value))

    return function


def arctangent(sine: Any, cosine: Any) -> Any:
    """The angle of sine and cosine."""
    if isinstance(sine, np.ndarray) or isinstance(cosine, np.ndarray):
        return np.frompyfunc(arctangent, 2, 1)(sine, cosine)
    if isinstance(sine, Term) or isinstance(cosine, Term):
        return Term(sympy.atan2(expression(sine), expression(cosine)))
    return math.atan2(sine, cosine)
