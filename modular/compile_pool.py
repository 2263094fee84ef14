"""Compile pool: the first run of a kind compiles on all cores.

Numba compiles one kernel at a time, so other processes (modular/compile_worker.py) take loops from the end of the list of what
will be needed, while this one takes them in the order of need. A worker writes what it has compiled into the folder of
kept code, where it is found like anything else; what no worker finished is compiled here. A worker is told nothing but names and
layouts. MODULAR_COMPILERS says how many processes may compile at once; left out, one for each core.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from modular.first_use import counted
from modular.own_packages import PACKAGES, ROOT
from modular.views import Field, ViewType

MIN_LOOPS_PER_PROCESS = 8  # loops to compile that are worth the start of another process
START = "import sys; sys.path.insert(0, sys.argv[1]); from modular.compile_worker import main; main()"


class Job(NamedTuple):
    """One loop for one layout of its stack and of the table of elements; without any, a function that compiles what it calls."""

    function: str  # module:name
    stack: tuple[Field, ...] = ()
    elements: tuple[Field, ...] = ()

    @classmethod
    def calling(cls, function: Any) -> Job:
        """The job of calling a function without arguments."""
        return cls(f"{function.__module__}:{function.__name__}")


class CompilePool:
    """What is to be compiled, and the processes that help."""

    def __init__(self, size: int) -> None:
        self.size = size  # processes that may help
        self.foreseen: Callable[[], Iterable[Job]] | None = (
            None  # what else will be needed, asked when the first is missing
        )
        self._waiting: list[Job] = []  # in the order of need
        self._with_worker: dict[Job, threading.Event] = {}
        self._seen: set[Job] = set()
        self._lock = threading.Lock()
        self._processes: list[subprocess.Popen[str]] = []

    def offer(self, jobs: Iterable[Job]) -> None:
        """These will be needed, in this order, and are not kept yet."""
        with self._lock:
            new = [job for job in dict.fromkeys(jobs) if job not in self._seen]
            self._seen.update(new)
            self._waiting += new
            missing = self.size - len(self._processes) if len(self._waiting) >= MIN_LOOPS_PER_PROCESS else 0
        for _ in range(missing):
            self._start()

    def claim(self, job: Job) -> None:
        """This process needs the loop now: it takes it off the list, or waits for the worker that is at it."""
        if self.size > 0 and self.foreseen is not None:
            foreseen, self.foreseen = self.foreseen, None
            self.offer(foreseen())
        with self._lock:
            if job in self._waiting:
                self._waiting.remove(job)
                return
            event = self._with_worker.get(job)
        if event is not None:
            with counted():
                event.wait()

    def _start(self) -> None:
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-W", "ignore", "-c", START, str(ROOT)], text=True, encoding="utf-8",
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env={**os.environ, "MODULAR_COMPILERS": "1"},
            )  # fmt: skip
        except OSError:
            return  # no process more: all is compiled here
        self._processes.append(process)
        if len(self._processes) == 1:
            atexit.register(self.close)
        threading.Thread(target=self._feed, args=(process,), daemon=True, name="compile worker").start()

    def _feed(self, process: subprocess.Popen[str]) -> None:
        """Hand one job after the other to a worker, from the end of the list."""
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while process.stdout.readline():  # it is ready
                with self._lock:
                    job = self._waiting.pop() if self._waiting else None
                    if job is not None:
                        event = self._with_worker[job] = threading.Event()
                if job is None:
                    break
                try:
                    process.stdin.write(json.dumps(job) + "\n")
                    process.stdin.flush()
                    answered = process.stdout.readline()
                finally:
                    event.set()
                if not answered:
                    break
        with self._lock:
            if process in self._processes:
                self._processes.remove(process)
        with contextlib.suppress(OSError):
            process.stdin.close()
        with contextlib.suppress(OSError):
            process.stdout.close()
        process.wait()

    def close(self) -> None:
        """End the processes that help."""
        with self._lock:
            self._waiting.clear()
            processes = list(self._processes)
        for process in processes:
            process.kill()


def jobs_of(pairs: Iterable[tuple[Any, ViewType, ViewType]]) -> list[Job]:
    """Loops of ours that are not kept yet, as jobs."""
    return [
        loop.job(stack, elements)
        for loop, stack, elements in pairs
        if loop.__module__.partition(".")[0] in PACKAGES and not loop.is_kept(stack, elements)
    ]


def _size() -> int:
    if not Path(sys.executable or "").stem.lower().startswith("python"):
        return 0  # inside another program, which would start itself
    setting = os.environ.get("MODULAR_COMPILERS", "")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(int(setting) if setting.isdecimal() else cores, 1) - 1


pool = CompilePool(_size())
