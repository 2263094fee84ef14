"""Processes that are children of this one: told what they need on their standard input, heard when they end.

A child ends when its parent does, however that happens, because its standard input does. `Subprocess` starts workers in this way.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from coordinator.distributed.launchers.launcher import Exited, Order
from coordinator.distributed.transports.addresses import IPC_ANY

MODULE = "coordinator.distributed.workers.process"
EXIT_GRACE_SECONDS = 0.3  # seconds that processes have to end by themselves
UNFIT = (
    78  # the code of a process that was told that it does not fit (EX_CONFIG of sysexits.h): another would not either
)
OUTPUT_TAIL_BYTES = 2000  # bytes of what a process said last
Key = tuple[str, int]


class Child:
    """A process, and what it says."""

    def __init__(self, command: Sequence[str], settings: Mapping[str, str], environment: Mapping[str, str]) -> None:
        """Start it; Ctrl-C in a terminal does not reach it."""
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the process has ended
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=self._said,
                stderr=self._said,
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # the same on Windows
                env=environment,
            )
        except BaseException:
            self._said.close()
            raise
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # it has ended at once, and will be heard of
            self.process.stdin.write(json.dumps(dict(settings)).encode() + b"\n")
            self.process.stdin.flush()

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self.process.poll() is not None

    def let_go(self) -> None:
        """Close its standard input: it ends by itself."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()

    def reaped(self) -> tuple[int, str]:
        """The code it ended with (minus the signal that killed it) and what it said last; waits for its end."""
        self.process.wait()
        self._said.seek(max(0, self._said.seek(0, os.SEEK_END) - OUTPUT_TAIL_BYTES))
        words = self._said.read().decode(errors="replace").strip()
        self._said.close()
        self.let_go()
        return self.process.returncode, words


class Children:
    """All of them, by name and incarnation; at most one process for each name."""

    def __init__(self) -> None:
        self.running: dict[Key, Child] = {}
        self._started: set[Key] = set()

    def start(self, order: Order, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Start a process, once; one that had the name before is not wanted any more."""
        key = (order.name, order.incarnation)
        if key in self._started:
            return
        self._started.add(key)
        for older in list(self.running):
            if older[0] == order.name:
                self.stop(*older)
        self.running[key] = Child(command, order.settings, os.environ if environment is None else environment)

    def ended(self) -> list[tuple[Key, int, str]]:
        """Those that have ended since the last call: their codes and last words."""
        gone = [key for key, child in self.running.items() if child.ended]
        return [(key, *self.running.pop(key).reaped()) for key in gone]

    def stop(self, name: str, incarnation: int) -> None:
        """End one at once."""
        child = self.running.get((name, incarnation))
        if child is not None:
            child.kill()

    def close(self) -> None:
        """Let all end by themselves, and end those that do not; none is left."""
        for child in self.running.values():
            child.let_go()
        until = time.monotonic() + EXIT_GRACE_SECONDS
        for child in self.running.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.0, until - time.monotonic()))
            if not child.ended:
                child.kill()
        for key in list(self.running):
            self.running.pop(key).reaped()


def worker_command() -> list[str]:
    """What starts a worker on this machine."""
    return [sys.executable, "-P", "-m", MODULE]  # -P: nothing is imported from the folder that it is started in


def worker_environment() -> dict[str, str]:
    """That of this process; what it can import a worker can."""
    paths = [str(Path(__file__).parents[2]), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


def reason_of(code: int, words: str) -> str:
    """How a process ended, in words."""
    reason = f"killed by signal {-code}" if code < 0 else f"ended with code {code}"
    return f"{reason}: {words}" if words else reason


class Subprocess:
    """Starts `python -m coordinator.distributed.workers.process`; a process ends when this one does, as its standard input does."""

    def __init__(self) -> None:
        self._children = Children()

    def mailbox(self) -> str:
        """On this machine, in a folder that only this user may enter, where there are such."""
        return IPC_ANY

    def start(self, order: Order) -> None:
        """Start a process."""
        self._children.start(order, worker_command(), worker_environment())

    def exits(self) -> list[Exited]:
        """Processes that have ended since the last call."""
        return [Exited(*key, reason_of(code, words), code == UNFIT) for key, code, words in self._children.ended()]

    def stop(self, name: str, incarnation: int) -> None:
        """End a process at once."""
        self._children.stop(name, incarnation)

    def close(self) -> None:
        """Let all end by themselves, and end those that do not."""
        self._children.close()
