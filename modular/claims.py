"""Claims: of several processes that lack the same machine code, one makes it and the others wait for it.

Whoever is about to compile leaves an empty file beside where the code will lie, and removes it afterwards. A claim is a courtesy,
not a lock: one that is older than any kernel takes to compile belongs to somebody who died, and whoever cannot leave one compiles.
"""

from __future__ import annotations

import contextlib
import os
import time as clock
from pathlib import Path

PATIENCE, LOOK_EVERY = 10.0, 0.01  # [s]
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
                os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                self._places.add(place)
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
        try:
            return abs(clock.time() - place.stat().st_mtime) > PATIENCE
        except OSError:
            return False
