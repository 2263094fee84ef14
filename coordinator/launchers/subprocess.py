"""Worker processes on this machine."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

from coordinator.launchers.launcher import Exited, Order

GRACE = 2.0  # seconds that a process has to end by itself
LAST_WORDS = 2000  # bytes of what it said last


class Subprocess:
    """Starts `python -m coordinator.workers.process`; a process ends when this one does, because its standard input does."""

    def __init__(self) -> None:
        self._running: dict[tuple[str, int], tuple[subprocess.Popen[bytes], IO[bytes]]] = {}
        self._started: set[tuple[str, int]] = set()

    def start(self, order: Order) -> None:
        """Start a process; Ctrl-C in a terminal does not reach it."""
        key = (order.name, order.incarnation)
        if key in self._started:
            return
        self._started.add(key)
        said = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the process has ended
        paths = [str(Path(__file__).parents[2]), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        process = subprocess.Popen(
            [sys.executable, "-m", "coordinator.workers.process"],
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=said,
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # the same on Windows
            env={**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))},
        )
        self._running[key] = (process, said)
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended at once; `exits` will say so
            process.stdin.write(json.dumps(dict(order.told)).encode() + b"\n")
            process.stdin.flush()

    def pid(self, name: str, incarnation: int) -> int | None:
        """The number that the system gave the process."""
        found = self._running.get((name, incarnation))
        return None if found is None else found[0].pid

    def exits(self) -> list[Exited]:
        """Processes that have ended since the last call."""
        gone = [(key, one) for key, one in self._running.items() if one[0].poll() is not None]
        return [self._buried(key, *one) for key, one in gone]

    def _buried(self, key: tuple[str, int], process: subprocess.Popen[bytes], said: IO[bytes]) -> Exited:
        del self._running[key]
        said.seek(max(0, said.seek(0, os.SEEK_END) - LAST_WORDS))
        words = said.read().decode(errors="replace").strip()
        said.close()
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
        code = process.returncode
        reason = f"killed by signal {-code}" if code < 0 else f"ended with code {code}"
        return Exited(*key, f"{reason}: {words}" if words else reason)

    def stop(self, name: str, incarnation: int) -> None:
        """End a process at once."""
        found = self._running.get((name, incarnation))
        if found is not None:
            found[0].kill()

    def close(self) -> None:
        """Let all end by themselves, and end those that do not."""
        for process, _ in self._running.values():
            if process.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.close()
        for key, (process, said) in list(self._running.items()):
            try:
                process.wait(GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            self._buried(key, process, said)
