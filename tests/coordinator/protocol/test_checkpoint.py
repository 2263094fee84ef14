"""A checkpoint comes back as it was saved, or is refused: any byte that changed or is missing is found."""

import json
import random
from dataclasses import replace
from hashlib import sha256

import pytest

from coordinator.distributed.protocol import checkpoint
from coordinator.distributed.protocol.checkpoint import Snapshot
from modular.errors import Malformed

LINKS = (({"peer": 1, "posted": 7, "taken": 6, "log": [[7, 48]]}, bytes(range(48))), ({"peer": 2}, b""))
SNAPSHOT = Snapshot(7, "arm", 2, 40, b"state" * 20, LINKS)
BLOB = checkpoint.encode(SNAPSHOT)


def test_a_checkpoint_comes_back_as_it_was_saved():
    back = checkpoint.decode(BLOB)
    assert (back.run, back.name, back.incarnation, back.step, back.state) == (7, "arm", 2, 40, b"state" * 20)
    assert [(saved["peer"], frames) for saved, frames in back.links] == [(1, bytes(range(48))), (2, b"")]


def test_the_digest_is_of_the_state_alone():
    other = replace(SNAPSHOT, incarnation=9, links=())
    assert checkpoint.decode(checkpoint.encode(other)).digest == SNAPSHOT.digest == checkpoint.digest(b"state" * 20)
    assert replace(SNAPSHOT, state=b"State").digest != SNAPSHOT.digest


def test_every_changed_byte_is_found():
    rng = random.Random(1)
    for place in range(len(BLOB)):
        damaged = bytearray(BLOB)
        damaged[place] ^= rng.randrange(1, 256)
        with pytest.raises(Malformed, match="elbow"):
            checkpoint.decode(bytes(damaged), "elbow")


def test_every_cut_is_found():
    for length in range(len(BLOB)):
        with pytest.raises(Malformed):
            checkpoint.decode(BLOB[:length])
    with pytest.raises(Malformed, match="checksum"):
        checkpoint.decode(BLOB + b"x")


def forged(head, parts=b"", length=None):
    """A file whose checksum is right, whatever its head says."""
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    body = (len(text) if length is None else length).to_bytes(8, "little") + text + parts
    return BLOB[:8] + sha256(body).digest() + body


HEAD = {"run": 7, "name": "arm", "incarnation": 2, "step": 40, "state": 4, "links": []}


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (forged(HEAD, b"12345"), "parts of"),
        (forged({**HEAD, "state": -4}, b""), "parts of"),
        (forged({**HEAD, "state": 1 << 80}, b"1234"), "parts of"),
        (forged({**HEAD, "state": "4"}, b"1234"), "parts of"),
        (forged({**HEAD, "step": -1}, b"1234"), "'step' is -1"),
        (forged({**HEAD, "step": 1.5}, b"1234"), "'step' is 1.5"),
        (forged({**HEAD, "name": 5}, b"1234"), "'name' is 5"),
        (forged({**HEAD, "links": {}}, b"1234"), "'links'"),
        (forged({**HEAD, "links": [1]}, b"1234"), "'links'"),
        (forged({**HEAD, "links": [{}]}, b"1234"), "parts of"),
        (forged([HEAD], b"1234"), "not an object"),
        (forged(b"[" * 100_000, b""), "not JSON"),
        (forged(HEAD, b"1234", length=1 << 60), "the head is said to have"),
        (b"\x00" * 100, "no checkpoint, or of another version"),
    ],
)
def test_a_forged_head_is_refused(raw, why):
    with pytest.raises(Malformed, match=why):
        checkpoint.decode(raw)


def test_a_forged_head_that_is_right_is_read():
    assert checkpoint.decode(forged(HEAD, b"1234")).state == b"1234"
