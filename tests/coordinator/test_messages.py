"""Messages of workers come back as they were written, and nothing else is listened to."""

import json
import random

import pytest

from coordinator.distributed.workers.messages import (
    FIELDS,
    MAX_DATA_BYTES,
    MAX_TEXT_LENGTH,
    decode_message,
    encode_message,
)

EXAMPLES = {str: "a", int: 3, bool: True, list: ["a", "b"], dict: {"a": "b"}}


def example(word):
    return {name: EXAMPLES.get(kind, 1.5) for name, kind in FIELDS[word].items()}


def unheard(word, data):
    """Whether neither end takes a message: who would say it is told, who gets it all the same does not listen."""
    try:
        encode_message(word, data)
    except ValueError as error:
        assert word in str(error)
        return decode_message([word.encode(), json.dumps(data).encode(), b"", b""]) is None
    return False


@pytest.mark.parametrize("word", FIELDS)
def test_every_message_comes_back(word):
    message = decode_message(encode_message(word, example(word), b"one", b"two"))
    assert (message.kind, message.data, message.payload, message.second_payload) == (
        word,
        example(word),
        b"one",
        b"two",
    )


@pytest.mark.parametrize("word", [word for word in FIELDS if FIELDS[word]])
def test_what_lacks_a_field_has_one_too_many_or_of_another_kind_is_no_message(word):
    data = example(word)
    for name, kind in FIELDS[word].items():
        assert unheard(word, {k: v for k, v in data.items() if k != name})
        wrong = [None, {"a": {"b": "c"}}, [1], -1, 1 << 62] + ([] if kind is str else ["x"])
        if kind is not bool:
            wrong.append(True)
        for value in wrong:
            assert unheard(word, {**data, name: value})
    assert unheard(word, {**data, "more": 1})


def test_long_texts_unknown_words_and_wrong_parts_are_no_messages():
    long = {"why": "x" * (1 << 17), "unfit": False}
    assert decode_message([b"quit", json.dumps(long).encode(), b"", b""]) is None
    assert len(decode_message(encode_message("quit", long)).data["why"]) == MAX_TEXT_LENGTH  # what is said is heard
    many = {str(k): "x" * 60_000 for k in range(20)}
    assert unheard("begin", {**example("begin"), "keys": many})
    assert decode_message([b"quit", b" " * (MAX_DATA_BYTES + 1), b"", b""]) is None
    assert unheard("unknown", {})
    assert decode_message(encode_message("ping")[:3]) is None
    assert decode_message([b"ping", b"[" * 100_000, b"", b""]) is None
    assert decode_message([b"ping", b"NaN", b"", b""]) is None


def test_noise_is_never_more_than_nothing():
    rng = random.Random(5)
    words = [word.encode() for word in FIELDS]
    for _ in range(20_000):
        word = rng.choice(words)
        text = bytearray(json.dumps(example(word.decode())).encode())
        for _ in range(rng.randint(0, 4)):
            if text:
                text[rng.randrange(len(text))] = rng.randrange(256)
        parts = [word, bytes(text), rng.randbytes(rng.randint(0, 9)), b""][: rng.choice([4, 4, 4, 3])]
        message = decode_message(parts)
        assert message is None or set(message.data) == set(FIELDS[message.kind])
