"""A rough way between processes: gates that pass TCP on, and tear, delay, thin out, cut or swallow what goes through."""

from __future__ import annotations

import asyncio
import random
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from coordinator.distributed.launchers import Order, Subprocess

MOODS = ("torn", "late", "thin", "cut", "silent", "shut")
PIECES = {"torn": (1, 0.0), "thin": (50, 0.05)}  # bytes at a time, and the pause after them [s]
HERE = "127.0.0.1"


class Gate:
    """One port that leads to another one, in a mood that may change at any time."""

    def __init__(self, port: int) -> None:
        self.leads_to, self.mood = port, "open"
        self.seen: set[str] = set()  # moods in which something came
        self.passed = 0  # bytes
        self.port = free_port()

    async def open(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._pass, HERE, self.port)

    def shut(self) -> None:
        """Hear no more."""
        self._server.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = [writer]
        try:
            if self.mood == "shut":
                self.seen.add(self.mood)
                return
            with suppress(OSError):
                there, onward = await asyncio.open_connection(HERE, self.leads_to)
                ends.append(onward)
                ways = {asyncio.ensure_future(self._pump(*way)) for way in ((reader, onward), (there, writer))}
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                mood = self.mood
                self.seen.add(mood)
                if mood in ("cut", "shut"):
                    return
                if mood == "silent":  # neither side hears of it; half a message is never made up for
                    while self.mood == "silent":
                        await asyncio.sleep(0.02)
                    return
                if mood == "late":
                    await asyncio.sleep(0.2)
                while data:
                    piece, pause = PIECES.get(self.mood, (len(data), 0.0))
                    writer.write(data[:piece])
                    await writer.drain()
                    await asyncio.sleep(pause)
                    self.passed += len(data[:piece])
                    data = data[piece:]


class Gates(list[Gate]):
    """Gates, and the thread that keeps them."""

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def to(self, port: int) -> Gate:
        """One more, open."""
        gate = Gate(port)
        asyncio.run_coroutine_threadsafe(gate.open(), self._loop).result(10)
        self.append(gate)
        return gate

    def close(self) -> None:
        """Nothing comes through any more."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        for gate in self:
            gate.shut()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)


class RoughWay(Subprocess):
    """Starts processes on this machine that reach the run, and each other, through gates alone."""

    def __init__(self) -> None:
        super().__init__()
        self.gates = Gates()
        self._hub: Gate | None = None

    def mailbox(self) -> str:
        """Over TCP, which gates know."""
        return f"tcp://{HERE}:*"

    def start(self, order: Order) -> None:
        """With a gate in front of its mailbox, and one in front of that of the run."""
        if self._hub is None:
            self._hub = self.gates.to(int(order.settings["hub"].rpartition(":")[2]))
        mailbox = free_port()
        ways = {"where": mailbox, "announce": self.gates.to(mailbox).port, "hub": self._hub.port}
        settings: Mapping[str, str] = {
            **order.settings,
            **{name: f"tcp://{HERE}:{port}" for name, port in ways.items()},
        }
        super().start(replace(order, settings=settings))

    def spoil(self, rng: random.Random) -> str:
        """Put a gate, or all, into a mood; which."""
        mood = rng.choice(MOODS)
        for gate in self.gates if rng.random() < 0.3 else [rng.choice(self.gates)]:
            gate.mood = mood
        return mood

    def mend(self) -> None:
        """All gates are open again."""
        for gate in self.gates:
            gate.mood = "open"

    def close(self) -> None:
        """End processes and gates."""
        super().close()
        self.gates.close()


def free_port() -> int:
    """One that nobody has."""
    with socket.create_server((HERE, 0)) as probe:
        return int(probe.getsockname()[1])
