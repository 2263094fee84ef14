"""Whatever bytes come in, nothing is raised but our own errors, and nothing is allocated by what a message claims."""

import contextlib
import json
import random
import tracemalloc
import zlib
from dataclasses import replace
from hashlib import sha256

import pytest
from test_cores import WELCOME, hello, opened, worker

from campaign import some
from coordinator.distributed.protocol import Malformed, Member, checkpoint, schema
from coordinator.distributed.protocol.control import (
    Checkpointed,
    Grant,
    Hello,
    Progress,
    Roster,
    from_coordinator,
    from_worker,
)
from coordinator.distributed.protocol.frames import Frame, Header, Kind, Rejection, decode, encode, stamped
from forged import twisted

MANY = 20_000
MILLION = 1_000_000
MESSAGES = [
    WELCOME, Grant(40), Roster(5, (Member("a", 0, 2, "tcp://x"),)), hello(), Progress("a", 1, 5, 9, 1, "b", 7),
    Checkpointed("a", 1, 10, "x"),
]  # fmt: skip


def mangled(rng, raw):
    """Bytes with a few flips, cuts, repeats or strange stretches."""
    data = bytearray(raw)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(data) + 1)
        match rng.randrange(5):
            case 0 if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
            case 1:
                del data[place : place + rng.choice([1, 4, 8, 40])]
            case 2:
                data[place:place] = rng.randbytes(rng.choice([1, 4, 8, 40]))
            case 3:
                data[place : place + 8] = rng.choice([b"\xff" * 8, bytes(8), b"\x00\x00\x00\x80" * 2])
            case 4:
                data += data[place : place + 64]
    return bytes(data)


def sealed_frame(raw):
    """The same frame with a right checksum, so that it gets past it."""
    return stamped(raw, int.from_bytes(raw[16:20], "little")) if len(raw) >= 40 else raw


def sealed_text(body):
    return body + b',"check":"%08x"}' % zlib.crc32(body)


def frames_of(rng, count):
    for _ in range(count):
        header = Header(
            rng.choice([1, 1, 1, 2, 3, 4, 5, 0]), rng.choice([7, 7, 7, 8]), rng.choice([0, 0, 0, 1, 9]),
            rng.choice([0, 1, 1, 2, 2**32 - 1]),
            rng.choice([0, 1, 2, 19, 2**47, 2**48 - 1, 2**48, 2**64 - 1]), rng.choice([0, 1, 65535]),
            rng.choice([1, 1, 0, 65535]), rng.choice([5, 5, 0]),
        )  # fmt: skip
        raw = encode(header, rng.randbytes(8 * rng.choice([0, 1, 2, 30])))
        kind = rng.randrange(4)
        if kind == 1:
            raw = mangled(rng, raw)
        elif kind == 2:
            raw = sealed_frame(mangled(rng, raw))
        yield raw if kind < 3 else rng.randbytes(rng.randrange(80))


def fuzz_frames(seed, count):
    rng = random.Random(seed)
    core, kinds = worker(), set()
    for raw in frames_of(rng, count):
        found = decode(raw, 7)
        kinds.add(found if isinstance(found, Rejection) else "frame")
        core.receive(raw, 0.0)
        if rng.random() < 0.02:
            core.links["a"].take(rng.randrange(3), rng.randrange(2), 8, 0.0) if not len(
                core.links["a"].inbox.waiting
            ) else None
        if rng.random() < 0.001:
            core = worker()
        core.effects()
    assert kinds >= {"frame", *Rejection} - {Rejection.VERSION, Rejection.MAGIC}


def lines_of(rng, count):
    for _ in range(count):
        raw = schema.encode(rng.choice(MESSAGES))
        kind = rng.randrange(4)
        if kind == 0:
            value = json.loads(raw)
            del value["check"]
            for _ in range(rng.choice([1, 1, 2])):
                value = twisted(rng, value)
            yield sealed_text(json.dumps(value, separators=(",", ":")).encode()[:-1])
        elif kind == 1:
            yield sealed_text(mangled(rng, raw[:-20]))
        else:
            yield mangled(rng, raw) if kind == 2 else rng.randbytes(rng.randrange(200))


def fuzz_control(seed, count):
    rng = random.Random(seed)
    one, other, passed = worker(), opened(), 0
    for raw in lines_of(rng, count):
        for read in (from_worker, from_coordinator):
            try:
                read(raw)
                passed += 1
            except Malformed as refused:
                assert len(str(refused)) < 9000
        one.hear(raw, 0.0)
        other.hear(raw, 0.0, "a")
        one.effects(), other.effects()
        if rng.random() < 0.01:
            one, other = worker(), opened()
    assert passed > count / 100  # some are still messages, and have been acted upon


def blob():
    core = worker()
    for step in range(10):
        core.links["a"].post(step, 0, bytes(16))
        core.finish(0.0)
    core.checkpoint(b"state" * 30)
    return next(effect.blob for effect in core.effects() if type(effect).__name__ == "Store")


def fuzz_checkpoints(seed, count):
    rng = random.Random(seed)
    good, passed = blob(), 0
    length = int.from_bytes(good[40:48], "little")
    head = json.loads(good[48 : 48 + length])
    kept = replace(WELCOME.checkpoints[0], step=10, incarnation=2, digest=checkpoint.decode(good).digest)
    for _ in range(count):
        if rng.random() < 0.5:
            text = json.dumps(twisted(rng, head)).encode()
            body = len(text).to_bytes(8, "little") + text + good[48 + length :]
            raw = good[:8] + sha256(body).digest() + body
        else:
            raw = mangled(rng, good)
        core = worker(replace(WELCOME, checkpoints=(kept,)))
        core.loaded(kept, raw, 0.0)
        passed += core.may_step
        try:
            checkpoint.decode(raw)
        except Malformed:
            continue
    assert passed < count


def test_frames():
    fuzz_frames(1, MANY)


def test_control_messages():
    fuzz_control(2, MANY // 4)


def test_checkpoints():
    fuzz_checkpoints(3, MANY // 20)


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(10))
def test_a_million_frames(part):
    fuzz_frames(f"frames {part}", some(MILLION // 10))


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(10))
def test_a_million_control_messages(part):
    fuzz_control(f"control {part}", max(some(MILLION // 10), 5000))  # a sixtieth of them are messages


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(10))
def test_a_million_checkpoints(part):
    fuzz_checkpoints(f"checkpoints {part}", some(MILLION // 10))


def peak_of(deed):
    tracemalloc.start()
    with contextlib.suppress(Malformed):
        deed()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def test_a_frame_allocates_no_more_than_twice_its_length():
    rng = random.Random(4)
    for raw in frames_of(rng, 2000):
        assert peak_of(lambda raw=raw: decode(raw, 7)) <= 2 * len(raw) + 2048


@pytest.mark.parametrize("filling", [b"[],", b"{},", b"0,", b'"",', b'"\\u0041",', b'{"a":0},', b"1.5,", b"7777,"])
def test_the_most_crowded_message_takes_a_bounded_room(filling):
    """A number takes ten times the room of its text; crowds of lists and objects are refused unread."""
    text = b'{"message":"stop","epoch":1,"reason":[' + filling * ((1 << 20) // len(filling) - 20)
    assert peak_of(lambda: from_coordinator(sealed_text(text[:-1] + b"]"))) < 12 << 20


def test_a_checkpoint_allocates_no_more_than_twice_its_length():
    good = blob()
    for raw in (good, mangled(random.Random(5), good), good[:40] + b"\xff" * 8 + good[48:]):
        assert peak_of(lambda raw=raw: checkpoint.decode(raw)) <= 2 * len(raw) + 16_384


def test_what_is_fuzzed_is_also_understood():
    assert isinstance(decode(encode(Header(Kind.DATA, 7, 0, 1, 0, 0, 1, 5), bytes(8)), 7), Frame)
    assert isinstance(from_worker(schema.encode(hello())), Hello)
