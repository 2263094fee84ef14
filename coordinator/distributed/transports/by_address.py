"""ZeroMQ called by address from compiled code: frames go out and come in without Python between two ticks.

The sockets are those of a mailbox (transports/zeromq.py), the functions those of the very library that pyzmq has
loaded. Where they cannot be found there is no wire, and whoever wants one takes the mailbox itself.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np
import zmq
from llvmlite import ir
from numba.extending import intrinsic

from modular.elements import Indices
from modular.kernel import kernel
from modular.lanes import SMALL, WHOLE, types

# places in the numbers of a wire: the socket of the mailbox, a message, functions of ZeroMQ, where the last bytes lie
INBOX, MESSAGE, WATCH, DATA, SEND, RECEIVE, MESSAGE_DATA, MESSAGE_SIZE, MORE, ELAPSED, YIELD, LOOKS, SLEEPS = range(13)
FUNCTIONS = {
    SEND: "zmq_send", RECEIVE: "zmq_msg_recv", MESSAGE_DATA: "zmq_msg_data", MESSAGE_SIZE: "zmq_msg_size", MORE: "zmq_msg_more",
    ELAPSED: "zmq_stopwatch_intermediate",
}  # fmt: skip
OTHERS = ("zmq_msg_init", "zmq_msg_close", "zmq_stopwatch_start", "zmq_stopwatch_stop")
NO_FRAME, INVALID_FRAME = -1, -2  # what `receive` finds where there is no frame
DONTWAIT = 1  # ZMQ_DONTWAIT
CONTENDED_POLL_MICROSECONDS = 300  # looks that take longer than this have let others run who need the processor [us]
CONTENDED_SLEEPS = 500  # times that a wire then sleeps without looking first


class Wire:
    """The sockets of a mailbox as compiled code knows them; one thread may use it, and no longer than the mailbox lives."""

    def __init__(self, library: Any, inbox: int, give_way: int = 0, looks: int = 0) -> None:
        """`inbox`: the socket that is bound; `looks`: how often to look before sleeping, letting others run in between."""
        self.numbers: Indices = np.zeros(13, np.int64)
        self._library, self._message = library, np.zeros(8, np.int64)  # a zmq_msg_t has 64 bytes
        self.numbers[[INBOX, MESSAGE, YIELD, LOOKS]] = inbox, self._message.ctypes.data, give_way, looks
        for place, name in FUNCTIONS.items():
            self.numbers[place] = ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
        library.zmq_stopwatch_start.restype = ctypes.c_void_p
        self.numbers[WATCH] = library.zmq_stopwatch_start()
        library.zmq_msg_init(ctypes.c_void_p(self._message.ctypes.data))

    def last(self, size: int) -> bytes:
        """The bytes that `receive` has found."""
        return ctypes.string_at(int(self.numbers[DATA]), size)

    def close(self) -> None:
        """Let go of what it holds."""
        self._library.zmq_msg_close(ctypes.c_void_p(self._message.ctypes.data))
        self._library.zmq_stopwatch_stop(ctypes.c_void_p(int(self.numbers[WATCH])))
        self.numbers[:] = 0


def library() -> Any:
    """The library that pyzmq has loaded, or None where its functions cannot be reached."""
    if sys.platform == "win32" or sys.byteorder != "little":
        return None
    try:
        from zmq.backend.cython import _zmq

        found = ctypes.CDLL(_zmq.__file__)  # and all that it was linked with
        for name in (*FUNCTIONS.values(), *OTHERS):
            getattr(found, name)
        version = (ctypes.c_int * 3)()
        found.zmq_version(*(ctypes.byref(version, 4 * k) for k in range(3)))
    except (ImportError, AttributeError, OSError):
        return None
    return found if tuple(version) == zmq.zmq_version_info() else None


# --- inside kernels --------------------------------------------------------------------------------------------------


@intrinsic
def _ask(context: Any, address: types.Type, one: types.Type) -> Any:
    """f(pointer) -> pointer or size."""

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        kind = ir.FunctionType(WHOLE, [WHOLE])
        return builder.call(builder.inttoptr(values[0], kind.as_pointer()), [values[1]])

    return types.int64(types.int64, types.int64), generate


@intrinsic
def _ask_small(context: Any, address: types.Type, one: types.Type) -> Any:
    """f(pointer) -> int."""

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        kind = ir.FunctionType(SMALL, [WHOLE])
        return builder.sext(builder.call(builder.inttoptr(values[0], kind.as_pointer()), [values[1]]), WHOLE)

    return types.int64(types.int64, types.int64), generate


@intrinsic
def _receive(context: Any, address: types.Type, one: types.Type, two: types.Type, flags: types.Type) -> Any:
    """f(pointer, pointer, int) -> int."""

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        kind = ir.FunctionType(SMALL, [WHOLE, WHOLE, SMALL])
        function = builder.inttoptr(values[0], kind.as_pointer())
        return builder.sext(builder.call(function, [*values[1:3], builder.trunc(values[3], SMALL)]), WHOLE)

    return types.int64(types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def _send(
    context: Any, address: types.Type, one: types.Type, two: types.Type, size: types.Type, flags: types.Type
) -> Any:
    """f(pointer, pointer, size, int) -> int."""

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        kind = ir.FunctionType(SMALL, [WHOLE, WHOLE, WHOLE, SMALL])
        function = builder.inttoptr(values[0], kind.as_pointer())
        return builder.sext(builder.call(function, [*values[1:4], builder.trunc(values[4], SMALL)]), WHOLE)

    return types.int64(types.int64, types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def _give_way(context: Any, address: types.Type) -> Any:
    """Let the machine run somebody else."""

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        function = builder.inttoptr(values[0], ir.FunctionType(SMALL, []).as_pointer())
        return builder.sext(builder.call(function, []), WHOLE)

    return types.int64(types.int64), generate


@kernel
def now(wire: Indices) -> int:
    """Microseconds since the wire was made."""
    elapsed: int = _ask(wire[ELAPSED], wire[WATCH])
    return elapsed


@kernel
def send(wire: Indices, socket: int, address: int, size: int) -> bool:
    """To a socket, without waiting; whether it could be. The bytes may change afterwards."""
    return socket != 0 and _send(wire[SEND], socket, address, size, DONTWAIT) >= 0


@kernel
def look(wire: Indices) -> int:
    """Whether something is in the mailbox, asked again and again; not for a while where others turn out to need the processor."""
    began = now(wire)
    found = -1
    for _ in range(wire[LOOKS]):
        found = _receive(wire[RECEIVE], wire[MESSAGE], wire[INBOX], DONTWAIT)  # who sends, as ZeroMQ calls him
        if found >= 0:
            break
        if wire[YIELD] != 0:
            _give_way(wire[YIELD])
    if now(wire) - began > CONTENDED_POLL_MICROSECONDS:
        wire[SLEEPS] = CONTENDED_SLEEPS
    return found


@kernel
def receive(wire: Indices) -> int:
    """The size of the next frame in the mailbox; DATA says where it lies until the next one. Waits as long as the mailbox does."""
    found = -1
    if wire[SLEEPS] > 0:
        wire[SLEEPS] -= 1
    elif wire[LOOKS] > 0:
        found = look(wire)
    if found < 0:
        found = _receive(wire[RECEIVE], wire[MESSAGE], wire[INBOX], 0)
        if found < 0:
            return NO_FRAME
    if _receive(wire[RECEIVE], wire[MESSAGE], wire[INBOX], DONTWAIT) < 0:
        return INVALID_FRAME
    if _ask_small(wire[MORE], wire[MESSAGE]) != 0:  # a frame has one part
        while _ask_small(wire[MORE], wire[MESSAGE]) != 0:
            if _receive(wire[RECEIVE], wire[MESSAGE], wire[INBOX], DONTWAIT) < 0:
                break
        return INVALID_FRAME
    wire[DATA] = _ask(wire[MESSAGE_DATA], wire[MESSAGE])
    size: int = _ask(wire[MESSAGE_SIZE], wire[MESSAGE])
    return size
