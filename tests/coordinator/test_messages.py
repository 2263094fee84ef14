"""Messages of workers come back as they were written, and nothing else is listened to."""

import json
import random

import pytest

from coordinator.distributed.workers.messages import FIELDS, MOST, read, written

EXAMPLES = {str: "a", int: 3, bool: True, list: ["a", "b"], dict: {"a": "b"}}


def example(word):
    return {name: EXAMPLES.get(kind, 1.5) for name, kind in FIELDS[word].items()}


@pytest.mark.parametrize("word", FIELDS)
def test_every_message_comes_back(word):
    message = read(written(word, example(word), b"one", b"two"))
    assert (message.word, message.data, message.parcel, message.second) == (word, example(word), b"one", b"two")


@pytest.mark.parametrize("word", [word for word in FIELDS if FIELDS[word]])
def test_what_lacks_a_field_has_one_too_many_or_of_another_kind_is_no_message(word):
    data = example(word)
    for name, kind in FIELDS[word].items():
        assert read(written(word, {k: v for k, v in data.items() if k != name})) is None
        wrong = [None, {"a": {"b": "c"}}, [1], -1, 1 << 62] + ([] if kind is str else ["x"])
        if kind is not bool:
            wrong.append(True)
        for value in wrong:
            assert read(written(word, {**data, name: value})) is None
    assert read(written(word, {**data, "more": 1})) is None


def test_long_texts_unknown_words_and_wrong_parts_are_no_messages():
    assert read(written("quit", {"why": "x" * (1 << 17)})) is None
    assert read([b"quit", b" " * (MOST + 1), b"", b""]) is None
    assert read(written("unknown", {})) is None
    assert read(written("ping")[:3]) is None
    assert read([b"ping", b"[" * 100_000, b"", b""]) is None
    assert read([b"ping", b"NaN", b"", b""]) is None


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
        message = read(parts)
        assert message is None or set(message.data) == set(FIELDS[message.word])
