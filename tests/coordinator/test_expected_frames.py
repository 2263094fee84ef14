"""Frames in compiled code: written as the protocol writes them, and recognised only where the protocol would take them."""

import random
import struct
import zlib

import numpy as np
import pytest

from coordinator.distributed.protocol import Deadlines, Link, Member, Neighbour, RunFailed
from coordinator.distributed.protocol.frames import Frame, Header, Kind, decode, encode, key_of
from coordinator.distributed.protocol.link import ACCEPTED
from coordinator.distributed.workers.driver import HEAD, checksum, recognised, write
from modular import ModelError

RUN, STEP, STAGE = 0x11223344, 0x1234567890, 513
HEADER = Header(Kind.DATA, RUN, 3, 2, 0, 0, 5, 0xCAFEBABE)
NUMBERS = np.array([1.5, -2.25, 3e300, 1e-310, -0.0])
FRAME = encode(HEADER._replace(step=STEP, stage=STAGE), NUMBERS.tobytes())


def words_of(raw):
    return np.frombuffer(raw, "<u4").copy()


def head_of(header):
    return words_of(encode(header)).astype(np.int64)


def says(raw, header=HEADER, step=STEP, stage=STAGE):
    """What `recognised` says of some bytes."""
    numbers = np.frombuffer(raw).copy()
    return recognised(numbers.view(np.uint32), len(raw) // 4, head_of(header), step, stage, numbers)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 8, 9, 1000, 1001])
def test_a_checksum_is_that_of_zlib(count):
    words = np.random.default_rng(count).integers(0, 1 << 32, count + 5, dtype=np.uint32)
    for start in (0, 1, 5):
        raw = words[start : start + count].tobytes()
        assert checksum(words, start, start + count, 0) == zlib.crc32(raw)
        assert checksum(words, start, start + count, 0xDEADBEEF) == zlib.crc32(raw, 0xDEADBEEF)


@pytest.mark.parametrize("place", [0, 7])
def test_a_frame_is_written_as_the_protocol_writes_it(place):
    words = np.full(place + len(FRAME) // 4 + 3, 7, np.uint32)
    words[place + HEAD : place + len(FRAME) // 4] = words_of(NUMBERS.tobytes())
    write(words, place, len(FRAME) // 4, head_of(HEADER), STEP, STAGE)
    assert words[place : place + len(FRAME) // 4].tobytes() == FRAME
    assert set(words[:place]) | set(words[place + len(FRAME) // 4 :]) == {7}


def test_the_frame_that_is_wanted_is_recognised_and_no_other():
    assert says(FRAME) == zlib.crc32(NUMBERS.tobytes())
    empty = encode(HEADER._replace(step=STEP, stage=STAGE))
    assert says(empty) == 0
    assert says(FRAME, step=STEP + 1) == says(FRAME, step=STEP + (1 << 32)) == says(FRAME, stage=STAGE - 1) == -1
    for name in Header._fields:
        if name not in ("step", "stage"):
            assert says(FRAME, header=HEADER._replace(**{name: getattr(HEADER, name) ^ 1})) == -1, name


def test_every_flipped_bit_and_every_cut_is_noticed():
    for bit in range(8 * len(FRAME)):
        damaged = bytearray(FRAME)
        damaged[bit // 8] ^= 1 << bit % 8
        assert says(bytes(damaged)) == -1, bit
    for length in range(40, len(FRAME), 8):
        assert says(FRAME[:length]) == -1


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", range(5))
def test_a_number_that_is_not_finite_is_left_to_the_protocol(bad, place):
    numbers = NUMBERS.copy()
    numbers[place] = bad
    assert says(encode(HEADER._replace(step=STEP, stage=STAGE), numbers.tobytes())) == -1


# --- and the links -----------------------------------------------------------------------------------------------------


def pair():
    here = Link(RUN, Member("left", 0, 1, ""), Neighbour("right", 1, 0xCAFE, 1), Deadlines(), 1)
    there = Link(RUN, Member("right", 1, 1, ""), Neighbour("left", 0, 0xCAFE, 1), Deadlines(), 1)
    return here, there


def test_what_is_recognised_is_what_a_link_would_take_in_and_hand_out():
    rng = random.Random(3)
    seen = set()
    for _ in range(3000):
        here, there = pair()
        _, into = there.expected_headers()
        step, stage = rng.choice([(0, 0), (0, 1), (3, 2)])
        numbers = [rng.choice([0.0, 1.5, -2.0, float("inf")]) if rng.random() < 0.1 else 1.0 for _ in range(3)]
        header = Header(Kind.DATA, RUN, 0, 1, *rng.choice([(0, 0), (0, 1), (3, 2)]), 1, 0xCAFE)
        if rng.random() < 0.3:
            name = rng.choice(Header._fields)
            header = header._replace(**{name: rng.choice([0, 1, 2, getattr(header, name)])})
        raw = bytearray(encode(header, struct.pack("<3d", *numbers)))
        if rng.random() < 0.2:
            raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        frame, taken = decode(bytes(raw), RUN), None
        if isinstance(frame, Frame) and frame.kind == Kind.DATA and frame.incarnation == there.incarnation:
            mine = frame.sender == there.peer.number  # as the worker looks before it asks a link
            try:
                if mine and there.receive(frame, 0.0)[0] is ACCEPTED:
                    taken = there.take(step, stage, 24, 0.0)
            except RunFailed:
                taken = None
        check = says(bytes(raw), into, step, stage)
        assert (check >= 0) == (taken is not None)
        assert check < 0 or check == zlib.crc32(bytes(taken))
        seen.add(check >= 0)
        del here
    assert seen == {True, False}


def test_a_link_that_is_told_afterwards_is_as_one_that_was_asked_each_time():
    rng = np.random.default_rng(5)
    (here, there), (told_here, told_there) = pair(), pair()
    keys, frames, checks = [], [], []
    for step in range(6):
        for stage in range(2):
            numbers = rng.normal(size=3).tobytes()
            frame = here.post(step, stage, numbers)
            there.receive(decode(frame, RUN), 1.0)
            assert there.take(step, stage, 24, 1.0) == numbers
            keys.append(key_of(step, stage))
            frames.append(frame)
            checks.append(zlib.crc32(numbers))
    for part in (slice(0, 5), slice(5, 12)):
        told_here.record_exchanged(keys[part], frames[part], [], [], 1.0)
        told_there.record_exchanged([], [], keys[part], checks[part], 1.0)
    assert told_here.save() == here.save() and told_there.save() == there.save()
    assert told_there.counts == there.counts
    request = there._signal(Kind.RESEND, keys[3])
    assert told_here.receive(decode(request, RUN), 2.0) == here.receive(decode(request, RUN), 2.0)
    other = encode(Header(Kind.DATA, RUN, 0, 1, 2, 1, 1, 0xCAFE), bytes(24))  # other numbers than before
    for frame in (*frames, other):
        assert told_there.receive(decode(frame, RUN), 3.0) == there.receive(decode(frame, RUN), 3.0)
    assert told_there.waiting(4.0) == there.waiting(4.0)


def test_what_was_exchanged_cannot_be_told_twice():
    here, there = pair()
    here.record_exchanged([0, 1], [FRAME, FRAME], [], [], 0.0)
    there.record_exchanged([], [], [0, 1], [5, 6], 0.0)
    with pytest.raises(ModelError, match="was posted before"):
        here.record_exchanged([1], [FRAME], [], [], 0.0)
    with pytest.raises(ModelError, match="was taken before"):
        there.record_exchanged([], [], [1], [6], 0.0)


@pytest.mark.parametrize("same", [True, False])
def test_a_copy_that_lies_here_already_is_compared(same):
    here, there = pair()
    frame = here.post(0, 0, NUMBERS.tobytes())
    there.receive(decode(frame, RUN), 0.0)
    check = zlib.crc32(NUMBERS.tobytes())
    if same:
        there.record_exchanged([], [], [0], [check], 0.0)
        assert there.take(1, 0, 40, 0.0) is None and not there.inbox.waiting
    else:
        with pytest.raises(RunFailed, match="'left' sent step 0, stage 0 twice with different numbers"):
            there.record_exchanged([], [], [0], [check ^ 1], 0.0)


def test_who_is_fenced_is_not_recognised():
    here, there = pair()
    frame = here.post(0, 0, bytes(24))
    assert says(frame, there.expected_headers()[1], 0, 0) >= 0
    there.replaced(2, 0.0)
    assert says(frame, there.expected_headers()[1], 0, 0) == -1
