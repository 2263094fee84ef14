"""Parts that are plain Python, called by the loops of the interface as if they were loops.

So there is one form of the step, and one result, whether all that takes part is compiled or not.
"""

from __future__ import annotations

import ctypes
from typing import Any

from coordinator.engine.program import ARGUMENTS
from modular.elements import Elements

AS_LOOP = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p,
    ctypes.c_void_p,
)  # how loops are called (modular/loop.py)  # fmt: skip


class InPython:
    """Functions that may be called by their addresses, and the first error that one of them has met."""

    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._functions: list[Any] = []  # they must live as long as their addresses are known
        self._error: BaseException | None = None

    def address(self, stack: Any, verb: str) -> int:
        """Of a function that lets a stack do something; after an error none does anything any more."""

        def act(result: Any, *_: Any) -> int:
            result[0] = 0
            if self._error is None:
                try:
                    result[0] = self._act(stack, verb)
                except BaseException as error:  # loops know nothing of errors: it is told when they have returned
                    self._error = error
            return 0

        self._functions.append(AS_LOOP(act))
        return int(ctypes.cast(self._functions[-1], ctypes.c_void_p).value or 0)

    def _act(self, stack: Any, verb: str) -> int:
        arguments: list[Any] = [float(self._elements.clock[ARGUMENTS[verb]])] if verb in ARGUMENTS else []
        if verb == "reevaluate":
            arguments.append(stack.names)
        answer = getattr(stack, verb)(self._elements, *arguments)
        return int(stack.row[answer]) if isinstance(answer, str) else -1

    def tell(self) -> None:
        """Raise the error that one of them has met."""
        if self._error is not None:
            error, self._error = self._error, None
            raise error
