"""A payload comes back as it went, or is refused."""

import json

import numpy as np
import pytest

from modular.errors import ModelError
from modular.payload import MAGIC, BadPayload, packed, unpacked

DATA = {"name": "räd", "numbers": [1, 2.5, -0.1], "inner": {"none": None, "yes": True}}
ARRAYS = {
    "states": np.arange(24.0).reshape(2, 3, 4) / 7,
    "empty": np.zeros((0, 5)),
    "rows": np.array([3, -1, 2**62]),
    "bytes": np.frombuffer(b"abc", np.uint8),
    "one": np.array(np.pi),
    "odd": np.array([np.nan, -0.0, np.inf]),
}


def test_data_and_arrays_come_back_bit_by_bit():
    data, arrays = unpacked(packed(DATA, ARRAYS))
    assert data == DATA
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()


def test_rows_that_do_not_lie_together_are_packed_as_they_look():
    array = np.arange(20.0).reshape(4, 5)[::2, 1:].T
    assert np.array_equal(unpacked(packed({}, {"a": array}))[1]["a"], array)


def test_every_flipped_bit_and_every_cut_is_refused():
    payload = packed(DATA, {"rows": np.arange(5)})
    for place in range(len(payload)):
        for bit in (0, 3, 7):
            flipped = bytearray(payload)
            flipped[place] ^= 1 << bit
            with pytest.raises(BadPayload, match=r"^this payload: "):
                unpacked(bytes(flipped), "this payload")
        with pytest.raises(BadPayload):
            unpacked(payload[:place])
    with pytest.raises(BadPayload):
        unpacked(payload + bytes(8))


def sealed(text, rest=b""):
    """A payload with a checksum that fits, whatever it says."""
    import hashlib

    text += b" " * (-len(text) % 8)
    body = MAGIC + len(text).to_bytes(8, "little") + text + rest
    return body + hashlib.blake2b(body, digest_size=8).digest()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{", "not JSON"),
        (b"[]", "object with 'data' and 'arrays'"),
        (b'{"data": 3, "arrays": []}', "object with 'data' and 'arrays'"),
        (b'{"data": {}, "arrays": {}}', "has to be a list"),
        (b'{"data": {}, "arrays": [["a", "f8", [1000000000000]]]}', "larger than the rest"),
        (b'{"data": {}, "arrays": [["a", "f8", [-1]]]}', "not the name, type and shape"),
        (b'{"data": {}, "arrays": [["a", "O", [1]]]}', "not the name, type and shape"),
        (b'{"data": {}, "arrays": [["a", "f8", [0, 0, 0, 0, 0, 0, 0, 0, 0]]]}', "not the name, type and shape"),
        (b'{"data": {}, "arrays": [["a", "f8", [true]]]}', "not the name, type and shape"),
        (b'{"data": {}, "arrays": [["a", "f8", [0]], ["a", "f8", [0]]]}', "appears twice"),
        (b'{"data": ' + b'{"a":' * 70 + b"1" + b"}" * 70 + b', "arrays": []}', "levels deep"),
        (b'{"data": ' + b"[" * 90000 + b"]" * 90000 + b', "arrays": []}', "not JSON|levels deep"),
    ],
)
def test_parcels_that_lie_are_refused(text, said):
    with pytest.raises(BadPayload, match=said):
        unpacked(sealed(text))


def test_bytes_that_belong_to_nothing_are_refused():
    with pytest.raises(BadPayload, match="belong to no array"):
        unpacked(sealed(json.dumps({"data": {}, "arrays": []}).encode(), bytes(16)))


def test_what_is_no_number_is_not_packed():
    with pytest.raises(ModelError, match="'a' holds numbers of type"):
        packed({}, {"a": np.array(["x"])})
    with pytest.raises(ValueError, match="JSON"):
        packed({"a": float("nan")}, {})
