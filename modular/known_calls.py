"""Known calls: what comes of an operation on some types is asked of numba once, not in every kernel.

For every `a * b` numba goes through all that could multiply until something fits. Kernels ask six thousand times where there are
four hundred answers; keeping them saves an eighth of all compiling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from numba.core.types import Function

Answers = dict[Any, Any]  # by function and types of its arguments: the signature
_answers: WeakKeyDictionary[Any, Answers] = WeakKeyDictionary()  # by what was asked


class KnownCalls:
    """What numba knows of types, as one compilation asks it; answers about functions of numba's own are kept."""

    def __init__(self, asked: Any) -> None:
        self._asked, self._known = asked, _answers.setdefault(asked, {})

    def __getattr__(self, name: str) -> Any:
        return getattr(self._asked, name)

    def resolve_function_type(self, function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """The signature of a call; a function that learns more is another one to numba, and is asked again."""
        if not isinstance(function, Function):
            return self._asked.resolve_function_type(function, arguments, keywords)
        key = function, tuple(arguments), tuple(keywords.items())
        found = self._known.get(key)
        if found is None:
            found = self._asked.resolve_function_type(function, arguments, keywords)
            if found is not None:
                self._known[key] = found
        return found
