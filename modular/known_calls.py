"""Known calls: which form of an operation fits some types is looked up once, not again in every kernel.

For every `a * b` numba tries all forms of a product until one fits. Kernels ask six thousand times where there are four hundred
answers; keeping these saves a tenth of all compiling. A function that `overload` or `intrinsic` makes is compiled with the
settings of its caller (whether a division by zero is an error, say), and numba calls the version that was looked up last. So
answers are kept for each set of settings, and a kept answer names its version to numba again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from numba.core.targetconfig import ConfigStack
from numba.core.types import Function
from numba.np.ufunc.dufunc import DUFunc

# by what was asked, by settings, and by function and types of its arguments: the signature, and what is called
_answers: WeakKeyDictionary[Any, dict[Any, dict[Any, Any]]] = WeakKeyDictionary()


class KnownCalls:
    """What numba knows of types, as one compilation asks it; answers about functions of numba's own are kept."""

    def __init__(self, asked: Any) -> None:
        self._asked = asked

    def __getattr__(self, name: str) -> Any:
        return getattr(self._asked, name)

    @cached_property
    def _known(self) -> dict[Any, Any]:
        """Answers for the settings of this compilation."""
        return _answers.setdefault(self._asked, {}).setdefault(ConfigStack.top_or_none(), {})

    def resolve_function_type(self, function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """The signature of a call; a function that learns more is another one to numba, and is asked again."""
        if not isinstance(function, Function) or isinstance(function.typing_key, DUFunc):  # which learns more by itself
            return self._asked.resolve_function_type(function, arguments, keywords)
        key = function, tuple(arguments), tuple(keywords.items())
        called: dict[Any, Any] = vars(function)["_impl_keys"]  # by types of arguments, what lowering takes
        if (known := self._known.get(key)) is not None:
            found, called[found.args] = known
            return found
        found = self._asked.resolve_function_type(function, arguments, keywords)
        if found is not None and found.args in called:
            self._known[key] = found, called[found.args]
        return found
