"""How long something took, without the time in which it was ready to run and the machine ran others.

A bound on such seconds says on an idle machine what it says on its own; on a busy one it fails no sooner. Linux tells how long
each thread has waited for a processor; elsewhere nobody does, and then the seconds are none: there such bounds say nothing.
"""

import os
import select
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

OFTEN = 0.005  # seconds between two looks, so that little is missed of threads that end
SEEN = Path("/proc/self/schedstat").is_file()


def waited_by(pid):
    """For how long each thread of a process has waited for a processor so far [s]."""
    found = {}
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError, IndexError):
                found[task.name] = 1e-9 * int((task / "schedstat").read_text().split()[1])
    return found


class Calm:
    """Measures what happens within `with`: in this process, and in others that take part. `seconds`: how long it took.

    Who looks is a process of its own, so that it is in nobody's way.
    """

    def __init__(self, *pids):
        self._pids = [os.getpid(), *pids]
        self.seconds = 0.0

    def __enter__(self):
        if SEEN:
            call = [sys.executable, "-S", __file__, *map(str, self._pids)]
            self._watch = subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self._watch.stdout.readline()
        self._began = time.monotonic()
        return self

    def __exit__(self, *_):
        if SEEN:
            took = time.monotonic() - self._began
            waited = float(self._watch.communicate("over\n")[0])
            self.seconds = max(0.0, took - waited)


def watch(pids):
    """Look until something is said; print for how long all threads together have waited meanwhile."""

    def look():
        return {(pid, task): waited for pid in pids for task, waited in waited_by(pid).items()}

    first = last = look()
    print("looking", flush=True)
    while not select.select([sys.stdin], [], [], OFTEN)[0]:
        last = last | look()
    last = last | look()
    print(sum(waited - first.get(thread, 0.0) for thread, waited in last.items()))


if __name__ == "__main__":
    watch(sys.argv[1:])
