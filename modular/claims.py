"""Claims: of several processes that lack the same machine code, one makes it and the others wait for it.

Whoever is about to compile leaves a file with his name beside where the code will lie, and removes it afterwards. A claim is a
courtesy, not a lock: one whose process is no more is void, one of another machine as soon as it is older than most kernels take to
compile, and whoever cannot leave one compiles. A slow or busy machine takes as long as it takes: its kernels are made once too.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time as clock
from pathlib import Path

PATIENCE, LOOK_EVERY = 10.0, 0.01  # [s]
PATIENCE_WITH_THE_LIVING = 180.0  # [s]
SUFFIX = ".claim"


class Claims:
    """What this process is about to make."""

    def __init__(self) -> None:
        self._places: set[Path] = set()

    def take(self, path: Path) -> bool:
        """Whether the file is this process's to make; if somebody else is making it, wait until it is there."""
        place = path.with_name(path.name + SUFFIX)
        while place not in self._places and not path.exists():
            try:
                with place.open("x", encoding="utf-8") as claim:
                    self._places.add(place)
                    claim.write(f"{os.getpid()} {socket.gethostname()}")
            except FileExistsError:
                if self._is_void(place):
                    place.unlink(missing_ok=True)
                clock.sleep(LOOK_EVERY)
            except OSError:
                break
        return not path.exists()

    def let_go(self) -> None:
        """It is made, or could not be."""
        while self._places:
            with contextlib.suppress(OSError):
                self._places.pop().unlink(missing_ok=True)

    @staticmethod
    def _is_void(place: Path) -> bool:
        """Whether nobody can still be at work on it."""
        import psutil  # where somebody waits

        try:
            age = abs(clock.time() - place.stat().st_mtime)
            process, _, machine = place.read_text(encoding="utf-8").partition(" ")
        except OSError:
            return False
        if machine != socket.gethostname() or not process.isdecimal():
            return age > PATIENCE
        return age > PATIENCE_WITH_THE_LIVING or not psutil.pid_exists(int(process))
