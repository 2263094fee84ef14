"""Keywords as people mistype them: who calls with one that is not there is told which one was meant."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, Self

from modular.errors import KeywordError
from modular.names import hint

Called = Callable[..., Any]


@functools.cache
def _keywords(function: Called) -> frozenset[str] | None:
    """The keywords that a function takes; None where it takes any."""
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return frozenset(parameter.name for parameter in parameters if parameter.kind in by_name)


def check_keywords(function: Called, given: Iterable[str], what: str) -> None:
    """Refuse keywords that a function does not have; `what` it is called."""
    known = _keywords(function)
    if known is None or known.issuperset(given):
        return
    unknown = next(keyword for keyword in given if keyword not in known)
    there = [name for name in inspect.signature(function).parameters if name in known and name != "self"]
    raise KeywordError(f"{what} has no setting '{unknown}'; {hint(unknown, there)}")


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
