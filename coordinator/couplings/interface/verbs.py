"""How segments are played, and what all workers have to agree on where each moves a part.

Parts that are plain Python, called by the loops of the interface as if they were loops.

So there is one form of the step, and one result, whether all that takes part is compiled or not.

What is played together in a glued step (segments.py), by number, and how the program of it is written.
"""

from __future__ import annotations

import ctypes
from typing import Any

from coordinator.engine.program import ARGUMENTS
from modular.elements import Elements
from modular.kernel import kernel
from modular.loop import call
from modular.views import View

# what is played together
(
    BEGIN,
    APPLY_MULTIPLIERS,
    DRIFT,
    ACCOUNT,
    ACCEPT_STEP,
    EXERT,
    KICK,
    MEASURE,
    REEVALUATE,
    SHOW,
    APPLY_IMPULSE,
    HOLD_REACTIONS,
) = range(12)
(
    UPDATE_OPERATOR,
    SOLVE,
    SOLVE_AHEAD,
    FACTORISE,
    CLOSE_PLACES,
    STOP_RATES,
    COMPUTE_BIAS,
    COMPUTE_REACTIONS,
    PREDICT_REACTIONS,
    UPDATE_OPERATOR_AHEAD,
    SAVE_START,
    RESTORE_START,
    MOVE_ALONG,
    INVALIDATE,
    EXTRAPOLATE_OTHER_SIDES,
    SHARE_LARGEST,
    SHARE_SUMMANDS,
    SHARE_SUMS,
    USE_LAST_REACTIONS,
    PREDICT_EFFORTS,
    COMPUTE_GAINS,
    EVALUATE_LAWS,
    SEE_THROUGH,
    LOOK_AHEAD,
    RESPOND,
    FIND_END_RATES,
    ITERATE_STEP,
    DECIDE,
    RENEW_FRICTION,
    TELL,
    LINEARISE_LAWS,
) = range(12, 43)
WIDTH = 5  # of the program
ADDRESS, COMPONENT, FROM, TO, WHO = range(WIDTH)


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


@kernel(written_out=False)
def play(interface: View, which: int) -> int:
    """Play one segment; where the names of what went wrong last begin, or -1."""
    wrong = -1
    interface.wrong = -1.0
    for k in range(interface.segments[which, 0], interface.segments[which, 1]):
        found = call(
            interface.program[k, ADDRESS],
            interface.program[k, FROM],
            interface.program[k, TO],
            interface.program[k, COMPONENT],
            interface.elements_sheet,
        )
        if found >= 0:
            wrong = interface.program[k, WHO] + found
            interface.wrong = wrong
    return wrong


@kernel
def largest_of_all(interface: View, one: float, other: float) -> tuple[Any, Any]:
    """The largest of two numbers that every worker has, and of the spread beside; in one process, these."""
    interface.most[0], interface.most[1], interface.most[2] = one, other, interface.spread
    play(interface, SHARE_LARGEST)
    return interface.most[0], interface.most[1]


@kernel
def of_all(interface: View, one: float) -> Any:
    """The largest of a number, where joints of all others are not at hand."""
    if interface.in_parts == 1:
        one, _ = largest_of_all(interface, one, 0.0)
    return one
