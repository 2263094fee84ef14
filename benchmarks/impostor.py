"""A process that wants to be believed by a run that is not its own: it overhears what workers say, and says it again, falsified.

Started by `chaos_cases.impostors`, which tells it on its standard input whom to speak to and, line by line, what workers have said:
more than a stranger would ever hear. At the end it says how many of which kind of lie it has told.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from contextlib import suppress

from coordinator.distributed.transports.keys import Keys
from coordinator.distributed.transports.zeromq import Mailbox, fresh_keys
from coordinator.distributed.workers.messages import decode_message, encode_message
from coordinator.record.fingerprint import bits
from modular.errors import ModelError
from modular.payload import packed, unpacked

LIES = ("greeting", "falsified", "replayed", "to a worker")
CARRIED = ("state", "samples", "store", "core")  # words that bits hang on


def off_by_one(payload: bytes) -> bytes:
    """Numbers that are as good as the right ones, in a payload that is whole."""
    try:
        data, arrays = unpacked(payload)
    except ModelError:
        return payload[:-1] + bytes([payload[-1] ^ 1]) if payload else b"?"
    return packed(data, {name: array + 1 if array.dtype.kind == "f" else array for name, array in arrays.items()})


class Impostor:
    """Lines to the run and to its workers, and what has been heard so far; without keys it comes as a stranger."""

    def __init__(self, told: dict) -> None:
        self.rng, self.names = random.Random(told["seed"]), told["names"]
        keys = (
            Keys(*(key.encode() for key in told["keys"])) if told["keys"] else fresh_keys() if told["hub key"] else None
        )
        keyless = bool(told["hub key"]) and not told["keys"] and self.rng.random() < 0.5
        self.mailbox, self.key = Mailbox(keys=None if keyless else keys), b"" if keyless else told["hub key"].encode()
        self.hub, self.workers = told["hub"], told["workers"]
        self.said: Counter[str] = Counter()
        self.heard: list[list[bytes]] = []
        for k, address in enumerate(self.workers):
            self.mailbox.connect(
                f"worker {k}", address, key=b"" if keyless else self.rng.choice(told["worker keys"] or [""]).encode()
            )
        self.come()

    def come(self) -> None:
        """To the run, as a worker would; under the name of a connection that is there it could only cut that off."""
        name = f"{self.rng.choice(self.names)}/1/0/{self.rng.random()}"
        self.mailbox.connect("hub", self.hub, key=self.key, identity=name)

    def lie(self) -> None:
        """Once, about what was said some time ago: also by an incarnation that is gone since."""
        parts = self.rng.choice(self.heard)
        kind, message = self.rng.choice(LIES), decode_message(parts)
        if kind == "greeting":
            name, made = self.rng.choice([*self.names, "nobody", "x" * 5000]), self.rng.choice([0, 1, 2, 3])
            facts = {
                "name": name,
                "incarnation": made,
                "pid": 1,
                "address": self.rng.choice([self.hub, "ipc:///nowhere"]),
            }
            sent = self.mailbox.send(
                "hub", *encode_message("hello", {**facts, "fingerprint": self.rng.choice([bits(), "other"])})
            )
        elif kind == "to a worker":
            frame = self.rng.choice([off_by_one(parts[2]), self.rng.randbytes(8 * self.rng.randrange(1, 60))])
            sent = self.mailbox.send(f"worker {self.rng.randrange(len(self.workers))}", frame)
        else:
            if kind == "falsified" and message is not None and message.kind in CARRIED:
                parts = [*parts[:2], off_by_one(message.payload), parts[3]]
            sent = self.mailbox.send("hub", *parts)
        self.said[kind] += sent


def main() -> None:
    told = json.loads(sys.stdin.readline())
    impostor = Impostor(told)
    for line in sys.stdin:
        heard = json.loads(line)
        impostor.heard = [*impostor.heard[-200:], list(map(bytes.fromhex, heard["parts"]))]
        if impostor.rng.random() < 0.05:
            with suppress(ModelError):
                impostor.come()
        for _ in range(impostor.rng.randrange(4)):
            impostor.lie()
    print(json.dumps(impostor.said))
    impostor.mailbox.close()


if __name__ == "__main__":
    main()
