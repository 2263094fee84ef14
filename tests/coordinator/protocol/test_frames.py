"""Frames say exactly what their header says, and any damage to one is found."""

import struct
import tracemalloc
import zlib

import numpy as np
import pytest

from coordinator.distributed.protocol.frames import (
    HEADER_BYTES,
    Frame,
    Header,
    Kind,
    Rejection,
    decode,
    encode,
    first_not_finite,
    key_of,
    stamped,
)

HEADER = Header(Kind.DATA, 0x11223344, 3, 2, 0x1234567890, 513, 5, 0xCAFEBABE)
NUMBERS = np.array([1.5, -2.25, 3e300, 1e-310, -0.0])
FRAME = encode(HEADER, NUMBERS.tobytes())


def test_a_frame_has_forty_bytes_and_its_numbers():
    assert HEADER_BYTES == 40 and len(FRAME) == 40 + 8 * len(NUMBERS)
    assert len(encode(HEADER)) == 40


def test_every_field_lies_where_the_page_says():
    fields = {4: ("I", 0x11223344), 8: ("I", 0), 12: ("I", 3), 16: ("I", 2), 20: ("Q", 0x1234567890), 28: ("H", 513),
              30: ("H", 5), 32: ("I", 0xCAFEBABE)}  # fmt: skip
    assert FRAME[:4] == b"mb\x02\x01"
    for offset, (kind, value) in fields.items():
        assert struct.unpack_from("<" + kind, FRAME, offset) == (value,)
    assert struct.unpack_from("<I", FRAME, 36) == (zlib.crc32(FRAME[40:] + FRAME[:36]),)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_what_was_sent_comes_out_bit_by_bit_without_a_copy(kind):
    raw = kind(FRAME)
    frame = decode(raw, HEADER.run)
    assert isinstance(frame, Frame) and Header(*frame[:8]) == HEADER
    assert frame.payload.obj is (raw.obj if kind is memoryview else raw)
    assert np.frombuffer(frame.payload).tobytes() == NUMBERS.tobytes()
    assert frame.check == zlib.crc32(NUMBERS.tobytes())


def test_every_flipped_bit_is_found():
    for bit in range(8 * len(FRAME)):
        damaged = bytearray(FRAME)
        damaged[bit // 8] ^= 1 << bit % 8
        assert isinstance(decode(damaged, HEADER.run), Rejection), bit


def test_every_cut_and_every_byte_too_much_is_found():
    for length in range(len(FRAME)):
        assert isinstance(decode(FRAME[:length], HEADER.run), Rejection), length
    for more in range(1, 17):
        assert isinstance(decode(FRAME + bytes(more), HEADER.run), Rejection), more


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", Rejection.LENGTH),
        (bytes(39), Rejection.LENGTH),
        (FRAME + b"x", Rejection.LENGTH),
        (b"MB" + FRAME[2:], Rejection.MAGIC),
        (b"mb\x01" + FRAME[3:], Rejection.VERSION),
        (FRAME[:-1] + b"x", Rejection.CHECKSUM),
        (encode(HEADER._replace(kind=9)), Rejection.KIND),
        (encode(HEADER._replace(run=1)), Rejection.RUN),
        (encode(HEADER._replace(step=1 << 48)), Rejection.STEP),
    ],
)
def test_a_rejection_says_why(raw, why):
    assert decode(raw, HEADER.run) is why


def test_arrays_of_any_shape_are_sent_row_by_row():
    table = np.arange(12.0).reshape(4, 3)
    assert encode(HEADER, table.data)[40:] == table.tobytes()
    with pytest.raises((ValueError, BufferError)):
        encode(HEADER, table[:, :2].data)


def test_a_later_incarnation_sends_the_same_contents():
    frame = decode(stamped(FRAME, 9), HEADER.run)
    assert isinstance(frame, Frame)
    assert Header(*frame[:8]) == HEADER._replace(incarnation=9)
    assert frame.check == decode(FRAME, HEADER.run).check


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 3, 28])
def test_the_first_number_that_is_not_finite_is_found(bad, place):
    numbers = np.full(29, 1.7e308)
    assert first_not_finite(numbers.tobytes()) is None
    numbers[place:] = bad
    assert first_not_finite(numbers.tobytes()) == place


def test_keys_grow_in_program_order():
    order = [key_of(0, 0), key_of(0, 1), key_of(0, 65535), key_of(1, 0), key_of((1 << 48) - 1, 65535)]
    assert order == sorted(order) and order[-1] < 1 << 64


def test_decoding_needs_no_memory_to_speak_of():
    raw = encode(HEADER, bytes(1 << 20))
    tracemalloc.start()
    decode(raw, HEADER.run)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4096
