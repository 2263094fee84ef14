"""The driver: plays the loops of a tick by their addresses, tick after tick, without coming back to Python.

It knows no component. A program is a table of operations (address of a loop, sheet of its stack, first and last row); those of one
phase may be played at once by several threads, each on rows of its own, and phases are divided by barriers. Every row is
worked out by itself and every sum is taken in one order, so the bits do not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.extending import intrinsic

from modular.elements import TIME, Array, Indices
from modular.kernel import kernel
from modular.lanes import WHOLE, types
from modular.loop import call
from modular.memory import copy_bytes

ADDRESS, SHEET, START, STOP, PHASE = range(5)  # columns of a program; PHASE 1: a barrier comes first
SOURCE, BYTES, TARGET, STRIDE = range(4)  # columns of a table of copies: sample i goes to TARGET + i STRIDE
# places in `state`; NEXT: tick of the next sample
TICK, LAST, NEXT, EVERY, USED, ROOM, STATUS, OPERATION, ROW = range(9)
RUNNING, DONE, FULL, BROKEN, WRONG, ALARMED, TRUE = range(7)  # status
WAITING, ROUND, YIELD = 0, 8, 16  # places in `meeting`, each in a cache line of its own; YIELD: address of a function
SPINS_BEFORE_YIELD = 2000  # looks before a thread that waits lets others run


@intrinsic
def _add(context: Any, numbers: types.Type, place: types.Type, amount: types.Type) -> Any:
    """Add to a number that others add to at the same time; the number before."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        array = inner.make_array(kinds.args[0])(inner, builder, values[0])
        return builder.atomic_rmw("add", builder.gep(array.data, [values[1]]), values[2], "seq_cst")

    return types.int64(numbers, types.int64, types.int64), generate


@intrinsic
def _read(context: Any, numbers: types.Type, place: types.Type) -> Any:
    """A number that others write at the same time."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        array = inner.make_array(kinds.args[0])(inner, builder, values[0])
        return builder.load_atomic(builder.gep(array.data, [values[1]]), "acquire", 8)

    return types.int64(numbers, types.int64), generate


@intrinsic
def _yield_thread(context: Any, address: types.Type) -> Any:
    """Let the machine run somebody else."""

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        function = builder.inttoptr(values[0], ir.FunctionType(ir.IntType(32), []).as_pointer())
        return builder.sext(builder.call(function, []), WHOLE)

    return types.int64(types.int64), generate


@kernel
def wait_at_barrier(barrier: Indices, thread_count: int) -> None:
    """Wait until all threads are here."""
    if thread_count == 1:
        return
    now = _read(barrier, ROUND)
    if _add(barrier, WAITING, 1) == thread_count - 1:
        _add(barrier, WAITING, -thread_count)
        _add(barrier, ROUND, 1)
        return
    turns = 0
    while _read(barrier, ROUND) == now:
        turns += 1
        if turns > SPINS_BEFORE_YIELD and barrier[YIELD] != 0:
            _yield_thread(barrier[YIELD])


@kernel
def play(program: Indices, elements: int, barrier: Indices, thread_count: int) -> tuple[int, int]:
    """Play operations in order; the last that went wrong and its first such row, or -1."""
    operation, row = -1, -1
    for k in range(program.shape[0]):
        if program[k, PHASE] == 1:
            wait_at_barrier(barrier, thread_count)
        if program[k, START] < program[k, STOP]:
            found = call(program[k, ADDRESS], program[k, START], program[k, STOP], program[k, SHEET], elements)
            if found >= 0:
                operation, row = k, found
    return operation, row


@kernel
def ready(before: Indices, elements: int, clock: Array, dt: float, state: Indices, barrier: Indices) -> int:
    """Between two ticks: whether to go on, and the time to come."""
    tick = state[TICK]
    if tick >= state[LAST]:
        return DONE
    if tick + 1 == state[NEXT] and state[USED] >= state[ROOM]:
        return FULL
    if play(before, elements, barrier, 1)[0] >= 0:
        return BROKEN
    clock[TIME] = (tick + 1.0) * dt
    return RUNNING


@kernel
def find_fault(state: Indices, faults: Indices) -> int:
    """Whether a body went wrong in the tick that has just been played, in whatever thread."""
    for thread in range(faults.shape[0]):
        operation, row = faults[thread]
        if operation > state[OPERATION] or (operation == state[OPERATION] and row < state[ROW]):
            state[OPERATION], state[ROW] = operation, row
    return WRONG if state[OPERATION] >= 0 else RUNNING


@kernel
def take_sample(sample: Indices, copies: Indices, elements: int, state: Indices, barrier: Indices) -> None:
    """Copy the state of this tick into the record."""
    play(sample, elements, barrier, 1)
    for k in range(copies.shape[0]):
        copy_bytes(copies[k, TARGET] + state[USED] * copies[k, STRIDE], copies[k, SOURCE], copies[k, BYTES])
    state[USED] += 1
    state[NEXT] += state[EVERY]


@kernel
def drive(
    prologue: Indices,
    first_tick: Indices,
    next_ticks: Indices,
    epilogue: Indices,
    before: Indices,
    sample: Indices,
    copies: Indices,
    after: Indices,
    guard: Indices,
    kept: Indices,
    elements: int,
    clock: Array,
    dt: float,
    state: Indices,
    barrier: Indices,
    faults: Indices,
    thread: int,
) -> None:
    """Ticks from state[TICK] to state[LAST], unless a joint breaks, a body goes wrong, an alarm rings or the record is full.

    `prologue`, `first_tick` and then `next_ticks`, over and over, play the loops of one tick after the other; `epilogue` ends
    the last so that everything can be looked at, here before a sample and before returning. All threads run this; between ticks
    the first one looks around (`before`: breakage, `after`: alarms, `guard`: conditions) and decides. A tick in which a condition
    came true is taken back from the copies `kept` of what it changes; then there is one thread.
    """
    thread_count = faults.shape[0]
    open_ = False
    tick, due, every = state[TICK], state[NEXT], state[EVERY]
    while True:
        if thread == 0 and state[STATUS] == RUNNING:
            state[STATUS] = ready(before, elements, clock, dt, state, barrier)
        wait_at_barrier(barrier, thread_count)
        if state[STATUS] != RUNNING:
            if open_:
                play(epilogue, elements, barrier, thread_count)
                wait_at_barrier(barrier, thread_count)
            return
        for k in range(kept.shape[0]):
            copy_bytes(kept[k, TARGET], kept[k, SOURCE], kept[k, BYTES])
        if not open_:
            play(prologue, elements, barrier, thread_count)
            wait_at_barrier(barrier, thread_count)
        operation, row = play(next_ticks if open_ else first_tick, elements, barrier, thread_count)
        faults[thread, 0], faults[thread, 1] = operation, row
        open_ = True
        tick += 1
        wait_at_barrier(barrier, thread_count)
        if thread == 0:
            state[STATUS] = find_fault(state, faults)
            if state[STATUS] == RUNNING:
                state[TICK] = tick
        if tick == due or after.shape[0] > 0 or guard.shape[0] > 0:
            play(epilogue, elements, barrier, thread_count)
            open_ = False
            wait_at_barrier(barrier, thread_count)
            if state[STATUS] == RUNNING and play(guard, elements, barrier, 1)[0] >= 0:
                for k in range(kept.shape[0]):
                    copy_bytes(kept[k, SOURCE], kept[k, TARGET], kept[k, BYTES])
                state[TICK], state[STATUS] = tick - 1, TRUE
            if thread == 0 and state[STATUS] == RUNNING:
                if tick == due:
                    take_sample(sample, copies, elements, state, barrier)
                if play(after, elements, barrier, 1)[0] >= 0:
                    state[STATUS] = ALARMED
        if tick == due:
            due += every
