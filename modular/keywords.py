"""Keywords as people mistype them: who calls with one that is not there is told which one was meant."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, Self, TypeVar

from modular.errors import KeywordError
from modular.names import hint

Called = Callable[..., Any]
P = ParamSpec("P")
R = TypeVar("R")


@functools.cache
def _keywords(function: Called, hands_on_to: Called | None = None) -> dict[str, None] | None:
    """The keywords that a function takes, in order; None where it takes any. `hands_on_to`: who gets what it does not name."""
    parameters = inspect.signature(function).parameters.values()
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    named = dict.fromkeys(parameter.name for parameter in parameters if parameter.kind in by_name)
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return named
    more = _keywords(hands_on_to) if hands_on_to is not None else None
    return None if more is None else named | more


def check_keywords(function: Called, given: Iterable[str], what: str, hands_on_to: Called | None = None) -> None:
    """Refuse keywords that a function does not have; `what` it is called."""
    known = _keywords(function, hands_on_to)
    if known is None or known.keys() >= set(given):
        return
    unknown = next(keyword for keyword in given if keyword not in known)
    there = [name for name in known if name not in ("self", "cls")]
    raise KeywordError(f"{what} has no setting '{unknown}'; {hint(unknown, there)}")


def spelt(function: Callable[P, R]) -> Callable[P, R]:
    """A method that names the keyword that was meant, where one was mistyped; of a class, it hands on what it does not name."""

    @functools.wraps(function)
    def called(*arguments: P.args, **given: P.kwargs) -> R:
        if given:
            kind = arguments[0] if arguments and isinstance(arguments[0], type) else None
            check_keywords(function, given, function.__qualname__, kind.__init__ if kind is not None else None)  # type: ignore[misc]
        return function(*arguments, **given)

    return called


class _Signature:
    """What the constructor of a class takes, for those who ask: `help`, editors, documentation."""

    def __get__(self, instance: object, kind: type) -> inspect.Signature:
        return _signature(kind)


@functools.cache
def _signature(kind: type) -> inspect.Signature:
    signature = inspect.signature(kind.__init__)  # type: ignore[misc]
    return signature.replace(parameters=list(signature.parameters.values())[1:])


class Spelt:
    """Something whose constructor names the keyword that was meant, where one was mistyped."""

    __slots__ = ()
    __signature__ = _Signature()

    def __new__(cls, *arguments: Any, **given: Any) -> Self:
        """An empty one; who comes with keywords has them looked at."""
        if given:
            check_keywords(cls.__init__, given, cls.__name__)
        return object.__new__(cls)
