"""Control messages are strict: what is written is read back, and every refusal names the message and the field."""

import json
import zlib

import pytest

from coordinator.distributed.protocol import control, schema
from coordinator.distributed.protocol.control import from_coordinator, from_worker
from coordinator.distributed.protocol.plan import START, CheckpointRef, Member, Neighbour
from modular.errors import Malformed, ModelError

NEIGHBOURS = (Neighbour("arm", 3, 0xCAFE, 2), Neighbour("Fuß", 4, 1, 0))
MEMBERS = (Member("arm", 3, 2, "tcp://10.0.0.1:5555"), Member("Fuß", 4, 1, ""))
FROM_WORKER = [
    control.Hello("arm", 1, "ipc:///tmp/x"),
    control.Progress("arm", 1, 39, 1234, 5, "Fuß", 1234),
    control.Checkpointed("arm", 1, 30, "0123abcd"),
    control.Failed("arm", 1, 12, "zeile\nzwei\t✓"),
]
FROM_COORDINATOR = [
    control.Welcome(2, 3, 1000, 40, 6, MEMBERS, NEIGHBOURS, (CheckpointRef(30, 1, "ab"), START)),
    control.Grant(40),
    control.Roster(6, MEMBERS),
    control.Durable(30, 20),
    control.Stop("knee diverged"),
]


def sealed(text):
    """A line with a right checksum, whatever stands in it."""
    body = text.rstrip()[:-1].encode()
    return body + b',"check":"%08x"}' % zlib.crc32(body)


def altered(message, **fields):
    value = json.loads(schema.encode(message))
    del value["check"]
    value.update(fields)
    return sealed(json.dumps({k: v for k, v in value.items() if v is not ...}, separators=(",", ":")))


@pytest.mark.parametrize("message", FROM_WORKER, ids=lambda m: type(m).__name__)
def test_workers_are_understood(message):
    assert from_worker(schema.encode(message)) == message
    with pytest.raises(Malformed, match="is none of"):
        from_coordinator(schema.encode(message))


@pytest.mark.parametrize("message", FROM_COORDINATOR, ids=lambda m: type(m).__name__)
def test_the_coordinator_is_understood(message):
    assert from_coordinator(schema.encode(message)) == message
    with pytest.raises(Malformed, match="is none of"):
        from_worker(schema.encode(message))


def test_a_message_is_plain_json_on_one_line():
    for message in [*FROM_WORKER, *FROM_COORDINATOR]:
        raw = schema.encode(message)
        assert b"\n" not in raw and raw.isascii()
        assert json.loads(raw)["message"] == type(message).__name__.lower()


@pytest.mark.parametrize("message", [*FROM_WORKER, *FROM_COORDINATOR], ids=lambda m: type(m).__name__)
def test_every_field_is_needed_and_checked_and_named(message):
    read = from_worker if message in FROM_WORKER else from_coordinator
    name = type(message).__name__.lower()
    for field in schema.rules(type(message)):
        with pytest.raises(Malformed, match=f"^{name}: field '{field}' is missing"):
            read(altered(message, **{field: ...}))
        for wrong in (None, -1, 1 << 64, 1.5, "x" * 600_000, [], [1], {}, {"a": 1}, True):
            raw = altered(message, **{field: wrong})
            if wrong in ([],) and isinstance(getattr(message, field), tuple):
                continue
            with pytest.raises(Malformed, match=rf"^(control message|{name}\.{field})"):
                read(raw)
    with pytest.raises(Malformed, match=f"^{name}: unknown field 'extra'"):
        read(altered(message, extra=1))


def test_what_is_wrong_deep_inside_is_named_with_its_place():
    welcome = FROM_COORDINATOR[0]
    neighbours = json.loads(schema.encode(welcome))["neighbours"]
    neighbours[1]["joints"] = 70_000
    with pytest.raises(Malformed, match=r"^welcome\.neighbours\[1\]\.joints: 70000 is not a whole number from"):
        from_coordinator(altered(welcome, neighbours=neighbours))


GRANT = '{"message":"grant","horizon":40}'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (GRANT.replace('"horizon":40', '"horizon":40,"horizon":40'), "field 'horizon' twice"),
        (GRANT.replace("40", "NaN"), "'NaN' is not a whole number"),
        (GRANT.replace("40", "Infinity"), "'Infinity' is not a whole number"),
        (GRANT.replace("40", "4e1"), "'4e1' is not a whole number"),
        (GRANT.replace("40", "9" * 5000), "is too long"),
        (GRANT.replace("40", "[" * 5000 + "]" * 5000), "not JSON|is not a whole number"),
        (GRANT.replace("40", "[" * 200_000 + "]" * 200_000), "objects and lists"),
        (GRANT.replace("40", '"é"'), "not JSON"),
        (GRANT.replace('"grant"', '"pickle"'), "'pickle' is none of durable"),
        (GRANT.replace('"grant"', "7"), "7 is none of"),
        (GRANT.replace('"message":"grant",', ""), "None is none of"),
        ("[1]", "not JSON"),
        ('{"message":"stop","reason":"\\ud800"}', r"stop\.reason.*unpaired"),
    ],
)
def test_a_line_that_is_no_message_is_refused(text, why):
    with pytest.raises(Malformed, match=why) as refused:
        from_coordinator(sealed(text))
    assert isinstance(refused.value, ModelError) and len(str(refused.value)) < 400


def test_a_message_over_a_mebibyte_is_refused_unread():
    with pytest.raises(Malformed, match=r"1048577 bytes; at most 1048576"):
        from_coordinator(b" " * (1 << 20) + b"}")


def test_every_flipped_bit_is_found():
    raw = schema.encode(FROM_COORDINATOR[1])
    for bit in range(8 * len(raw)):
        damaged = bytearray(raw)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(Malformed, match="checksum"):
            from_coordinator(bytes(damaged))


@pytest.mark.parametrize("name", ["", "a\nb", "a\0", "x" * 129, "\u202e"])
def test_a_name_can_be_printed(name):
    with pytest.raises(Malformed, match=r"hello\.name"):
        schema.encode(control.Hello(name, 1, ""))


def test_what_could_not_be_read_is_not_written():
    with pytest.raises(Malformed, match=r"grant\.horizon: -1 is not a whole number"):
        schema.encode(control.Grant(-1))
    with pytest.raises(Malformed, match=r"welcome\.checkpoints: .* is not a tuple"):
        schema.encode(control.Welcome(2, 3, 1000, 40, 6, (), (), (START, START, START)))
