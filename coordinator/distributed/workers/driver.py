"""Plays tick after tick of a part, frames to and from its neighbours included, without coming back to Python.

The tape of a tick says what to do in which order; the readable form of the same is workers/worker.py: `ticks`.
Frames that are not the ones that are wanted next are laid aside for the protocol, and this returns; so it does wherever a
neighbour is late, a sample is due, or something has to be decided. It can go on from any such place.

Frames that go as expected, in compiled code: written and recognised without Python.

Nothing is decided here. `recognised` knows one frame only, the one that is wanted next, and says yes where the protocol
(coordinator/distributed/protocol) would take it in; everything else is handed to the protocol, byte by byte as it came.
"""

from __future__ import annotations

import numpy as np

from coordinator.distributed.transports.by_address import DATA, NO_FRAME, now, receive, send
from coordinator.engine.driver import play
from coordinator.engine.program import NO_BARRIER
from modular.elements import TIME, Array, Indices
from modular.kernel import kernel
from modular.memory import copy_bytes

HEAD = 10  # words of the header, the last of which is the checksum
PART = 32  # bits of a word
LOW = 0xFFFFFFFF


def _tables() -> Indices:
    """What eight bytes do to a checksum, each in its place (slicing by eight)."""
    tables = np.zeros((8, 256), np.int64)
    value = np.arange(256)
    for _ in range(8):
        value = np.where(value & 1, 0xEDB88320 ^ (value >> 1), value >> 1)
    tables[0] = value
    for k in range(1, 8):
        tables[k] = tables[0][tables[k - 1] & 255] ^ (tables[k - 1] >> 8)
    return tables


_T = _tables()


@kernel
def checksum(words: Indices, start: int, stop: int, before: int) -> int:
    """CRC-32 of words, going on from that of what comes before; the same as zlib's."""
    found = before ^ LOW
    k = start
    while k + 1 < stop:
        one, two = found ^ np.int64(words[k]), np.int64(words[k + 1])
        found = (
            _T[7, one & 255] ^ _T[6, (one >> 8) & 255] ^ _T[5, (one >> 16) & 255] ^ _T[4, (one >> 24) & 255]
            ^ _T[3, two & 255] ^ _T[2, (two >> 8) & 255] ^ _T[1, (two >> 16) & 255] ^ _T[0, (two >> 24) & 255]
        )  # fmt: skip
        k += 2
    if k < stop:
        one = found ^ np.int64(words[k])
        found = _T[3, one & 255] ^ _T[2, (one >> 8) & 255] ^ _T[1, (one >> 16) & 255] ^ _T[0, (one >> 24) & 255]
    return found ^ LOW


@kernel
def write(words: Indices, start: int, count: int, head: Indices, step: int, stage: int) -> None:
    """A frame whose numbers are in place already: `count` words of header and numbers. `head`: its header at step 0, stage 0."""
    for k in range(HEAD - 1):
        words[start + k] = head[k]
    words[start + 5] = step & LOW
    words[start + 6] = step >> PART
    words[start + 7] = head[7] | stage
    check = checksum(words, start + HEAD, start + count, 0)
    words[start + HEAD - 1] = checksum(words, start, start + HEAD - 1, check)


@kernel
def recognised(words: Indices, count: int, head: Indices, step: int, stage: int, numbers: Array) -> int:
    """The checksum of its numbers where `count` words are the frame with this header, step and stage, undamaged; or -1.

    `numbers`: the same memory as float64, which must all be finite.
    """
    for k in range(HEAD - 1):
        wanted: int = head[k]
        if k == 5:
            wanted = step & LOW
        elif k == 6:
            wanted = step >> PART
        elif k == 7:
            wanted |= stage
        if np.int64(words[k]) != wanted:
            return -1
    check = checksum(words, HEAD, count, 0)
    if checksum(words, 0, HEAD - 1, check) != np.int64(words[HEAD - 1]):
        return -1
    for k in range(HEAD // 2, count // 2):
        if not np.isfinite(numbers[k]):
            return -1
    return check


# what is on the tape: an operation with two numbers
BEGIN, PLAY, SAY, HEAR, MOVED, ENDED, SHOWN, NEXT = range(8)
# places in `state`
POSITION, TICK, STEP, LIMIT, STAGE, OPEN, EVERY, MUST_LOOK = range(8)
OPENING, CONTINUING, END, SHOW, REST = range(8, 13)  # where on the tape they start
LATEST, WORKING, WAITING = range(13, 16)  # longest that it may go on, and time so far [us]
POSTED, TAKEN, WORDS, MAIL_SIZE, WRONG, ROW, ASKED, BEGAN = range(16, 24)
STATES = 24
# why it returns
DONE, WAITS, FULL, MAIL, HELD, FAILED, BREAKS, TRUE, LEAK, SAMPLE, LATE = range(11)
# columns of what is known of each neighbour
SOCKET, NUMBER, MISSING, QUEUED, EARLY, ROOM = range(6)
# columns of what was posted and taken: whose, key; checksum, or first word and number of words
PEER, KEY, FIRST, COUNT = range(4)
WORD = 4  # bytes
HEAD_BYTES = WORD * HEAD


@kernel
def takes(
    j: int, words: Indices, count: int, numbers: Array, heads: Indices, target: Indices, state: Indices, taken: Indices
) -> bool:
    """Take the frame of neighbour j, if it is the one that is wanted; `target`: where its numbers go, and how many bytes."""
    if WORD * (count - HEAD) != target[1]:
        return False
    check = recognised(words, count, heads[j], state[STEP], state[STAGE], numbers)
    if check < 0:
        return False
    copy_bytes(target[0], words.ctypes.data + WORD * HEAD, target[1])
    row = taken[state[TAKEN]]
    row[PEER], row[KEY], row[FIRST] = j, state[STEP] << 16 | state[STAGE], check
    state[TAKEN] += 1
    return True


@kernel
def say(
    kind: int,
    wire: Indices,
    near: Indices,
    heads: Indices,
    said: Indices,
    state: Indices,
    words: Indices,
    posted: Indices,
) -> bool:
    """Tell all neighbours; False where there is no room to keep it."""
    needed = 0
    for j in range(near.shape[0]):
        needed += HEAD + said[kind, j, 1] // WORD
    if state[WORDS] + needed > words.shape[0] or state[POSTED] + near.shape[0] > posted.shape[0]:
        return False
    for j in range(near.shape[0]):
        start, count = state[WORDS], HEAD + said[kind, j, 1] // WORD
        address = words.ctypes.data + WORD * start
        copy_bytes(address + WORD * HEAD, said[kind, j, 0], said[kind, j, 1])
        write(words, start, count, heads[j], state[STEP], state[STAGE])
        send(wire, near[j, SOCKET], address, WORD * count)  # where it cannot be, the neighbour asks again
        row = posted[state[POSTED]]
        row[PEER], row[KEY], row[FIRST], row[COUNT] = j, state[STEP] << 16 | state[STAGE], start, count
        state[POSTED] += 1
        state[WORDS] += count
    return True


@kernel
def hear(
    kind: int, wire: Indices, near: Indices, heads: Indices, heard: Indices, state: Indices, taken: Indices,
    mail: Indices, mail_numbers: Array, early: Indices, early_numbers: Array,
) -> int:  # fmt: skip
    """Take a frame of every neighbour that has not been heard yet; why it had to stop, or DONE."""
    left = 0
    for j in range(near.shape[0]):
        if near[j, MISSING] == 1 and near[j, EARLY] > 0:
            count, near[j, EARLY] = near[j, EARLY], 0
            if takes(j, early[j], count, early_numbers[j], heads, heard[kind, j], state, taken):
                near[j, MISSING] = 0
            else:
                copy_bytes(mail.ctypes.data, early[j].ctypes.data, WORD * count)
                state[MAIL_SIZE] = WORD * count
                return MAIL
        left += near[j, MISSING]
        if near[j, MISSING] == 1 and near[j, QUEUED] > 0 and state[ASKED] == 0:
            state[ASKED] = 1
            return HELD
    while left > 0:
        size = receive(wire)
        if size == NO_FRAME:
            return WAITS
        if size < 0:
            continue
        state[MAIL_SIZE] = size
        if size < WORD * HEAD or size > WORD * mail.shape[0] or size % 8 != 0:
            return MAIL
        copy_bytes(mail.ctypes.data, wire[DATA], size)
        count, peer = size // WORD, -1
        for j in range(near.shape[0]):
            if near[j, NUMBER] == mail[3]:
                peer = j
        if peer < 0:
            return MAIL
        if near[peer, MISSING] == 1:
            if not takes(peer, mail, count, mail_numbers, heads, heard[kind, peer], state, taken):
                return MAIL
            near[peer, MISSING] = 0
            left -= 1
        elif near[peer, EARLY] == 0 and mail[0] == heads[peer, 0]:  # requests are not kept waiting
            copy_bytes(early[peer].ctypes.data, mail.ctypes.data, size)
            near[peer, EARLY] = count
        else:
            return MAIL
    return DONE


@kernel
def swap(
    kind: int, said_before: bool, wire: Indices, near: Indices, out: Indices, into: Indices, said: Indices, heard: Indices,
    state: Indices, words: Indices, posted: Indices, taken: Indices, mail: Indices, mail_numbers: Array, early: Indices,
    early_numbers: Array,
) -> int:  # fmt: skip
    """An exchange in the middle of a part of a tick: tell all neighbours, and take a frame of each; why it had to stop, or DONE."""
    if state[TAKEN] + near.shape[0] > taken.shape[0]:
        return FULL
    began = now(wire)
    if not said_before:
        if not say(kind, wire, near, out, said, state, words, posted):
            return FULL
        for j in range(near.shape[0]):
            near[j, MISSING] = 1
        state[ASKED] = 0
    why = hear(kind, wire, near, into, heard, state, taken, mail, mail_numbers, early, early_numbers)
    passed = now(wire) - began
    state[WAITING] += passed
    state[WORKING] -= passed  # in which it is counted as well
    if why == DONE:
        state[STAGE] += 1
    return why


@kernel
def drive_shard(
    tape: Indices, program: Indices, watch: Indices, guard: Indices, leaks: Indices, elements: int, clock: Array, dt: float,
    wire: Indices, near: Indices, out: Indices, into: Indices, said: Indices, heard: Indices, state: Indices,
    words: Indices, posted: Indices, taken: Indices, mail: Indices, mail_numbers: Array, early: Indices,
    early_numbers: Array,
) -> int:  # fmt: skip
    """Go on until something has to be looked at; what."""
    last = now(wire)
    if state[BEGAN] == 0:
        state[BEGAN] = last
    while True:
        operation, a, b = tape[state[POSITION]]
        if operation == PLAY:
            if a < b:
                part, row = play(program[a:b], elements, NO_BARRIER, 1)
                if part >= 0:
                    state[WRONG], state[ROW] = a + part, row
                time = now(wire)
                state[WORKING] += time - last
                last = time
        elif operation == SAY:
            if not say(a, wire, near, out, said, state, words, posted):
                return FULL
            for j in range(near.shape[0]):
                near[j, MISSING] = 1
            state[ASKED] = 0
            last = now(wire)
        elif operation == HEAR:
            if state[TAKEN] + near.shape[0] > taken.shape[0]:
                return FULL
            why = hear(a, wire, near, into, heard, state, taken, mail, mail_numbers, early, early_numbers)
            time = now(wire)
            state[WAITING] += time - last
            last = time
            if why != DONE:
                return why
            state[STAGE] += 1
        elif operation == BEGIN:
            if state[STEP] >= state[LIMIT]:
                return DONE
            if last - state[BEGAN] >= state[LATEST]:
                return LATE
            if play(watch, elements, NO_BARRIER, 1)[0] >= 0:
                return BREAKS
            clock[TIME] = (state[TICK] + 1.0) * dt
            state[WRONG] = -1
            state[POSITION] = state[CONTINUING] if state[OPEN] == 1 else state[OPENING]
            continue
        elif operation == MOVED:
            if state[WRONG] >= 0:
                return FAILED
            state[OPEN] = 1
            state[TICK] += 1
            if state[TICK] % state[EVERY] != 0 and state[MUST_LOOK] == 0:
                state[POSITION] = state[REST]
            else:
                state[POSITION] = state[END]
            continue
        elif operation == ENDED:
            state[OPEN] = 0
            if state[WRONG] >= 0:
                state[TICK] -= 1
                return FAILED
            if play(guard, elements, NO_BARRIER, 1)[0] >= 0:
                state[TICK] -= 1
                return TRUE
            if state[TICK] % state[EVERY] != 0:
                state[POSITION] = state[REST]
                continue
        elif operation == SHOWN:
            state[POSITION] = state[REST]
            return SAMPLE
        elif operation == NEXT:
            state[STAGE] = 0
            state[STEP] += 1
            state[POSITION] = 0
            if play(leaks, elements, NO_BARRIER, 1)[0] >= 0:
                return LEAK
            continue
        state[POSITION] += 1
