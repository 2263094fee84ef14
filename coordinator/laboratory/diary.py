"""The diary of a laboratory: every act that decides how the motion goes on, with the tick at which it was carried out.

With the state at the beginning it is all that is needed to have the whole motion again, to the last bit, without anybody who acts.
In a folder it is a file of lines (JSON), written as things happen, so that nothing is lost when something fails:

    start.checkpoint    the simulation at the beginning (coordinator/record/checkpoints/folder.py says how)
    diary.jsonl         a first line about the file, then one line per act
    laboratory.json     at the end: how far it came, and the digests of what was recorded
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from coordinator.laboratory.acts import Act, Doing
from coordinator.record.fingerprint import machine, versions
from modular.component import Component
from modular.errors import ModelError
from modular.events import Event
from modular.files import put_in_place
from modular.version import __version__

if TYPE_CHECKING:
    from coordinator.laboratory.session import Session


FORMAT = "modular-diary-1"
DIARY, START, END = "diary.jsonl", "start.checkpoint", "laboratory.json"
MAX_LINES_IN_MEMORY = 2000  # lines that are kept in memory beside a file


class Entry(NamedTuple):
    """One act."""

    tick: int
    act: Doing


class Diary:
    """In memory, and in a file where there is a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.entries: deque[Entry] = deque(maxlen=None if folder is None else MAX_LINES_IN_MEMORY)
        self.count = 0
        self.failure = ""  # why it is no longer written
        self._file: IO[str] | None = None
        if folder is not None:
            self._file = (folder / DIARY).open("w", encoding="utf-8", newline="\n")
            self._write({"format": FORMAT, "modular": __version__})

    def note(self, tick: int, act: Doing) -> None:
        """An act that was carried out at a tick."""
        self.entries.append(Entry(tick, act))
        self.count += 1
        self._write({"tick": tick, "act": act.to_data()})

    def close(self) -> None:
        """No more acts."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, line: dict[str, object]) -> None:
        """A disk that is full does not end the motion; whoever looks is told."""
        if self._file is None:
            return
        try:
            self._file.write(json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n")
            self._file.flush()
        except OSError as error:
            self.failure = f"the diary in '{self.folder}' cannot be written any more ({error.strerror})."
            self.close()


def read_diary(folder: Path) -> Iterator[Entry]:
    """The acts of a diary in their order; a last line that was cut off by a crash is left out."""
    path = folder / DIARY
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise ModelError(
            f"'{folder}' holds no diary ({error.strerror}); give a folder that modular live has written."
        ) from error
    if not lines or _data(path, 0, lines[0]).get("format") != FORMAT:
        raise ModelError(f"'{path}' is not a diary of format {FORMAT!r}.")
    for number, line in enumerate(lines[1:], start=1):
        if number == len(lines) - 1:  # nothing, or what a crash has left of a line
            return
        data = _data(path, number, line)
        try:
            act = Component.from_data(data["act"])
            tick = data["tick"]
        except (KeyError, TypeError) as error:
            raise ModelError(f"'{path}', line {number + 1}: this is not an act of a diary ({error}).") from error
        if not isinstance(act, Act | Event) or type(tick) is not int or tick < 0:
            raise ModelError(f"'{path}', line {number + 1}: {data!r} is not an act of a diary.")
        yield Entry(tick, act)


def _data(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except ValueError as error:
        raise ModelError(f"'{path}', line {number + 1}: {error}.") from error
    if not isinstance(data, dict):
        raise ModelError(f"'{path}', line {number + 1}: {data!r} is not a line of a diary.")
    return data


STRETCH = "stretch-{:02d}"


def write_ending(folder: Path, session: Session) -> None:
    """Runs of all stretches that are in memory, and what a repetition is held against."""
    simulation, stretches = session.simulation, session.stretches
    runs = dict(stretches.finished)
    runs[stretches.latest] = last = simulation.recorded
    about: dict[str, Any] = {
        "tick": simulation.tick,
        "time": simulation.time,
        "acts": session.diary.count,
        "trouble": session.trouble,
        "digests": [*stretches.digests, last.digest],
        "runs": {},
        "versions": versions(),
        "machine": machine(),
    }
    for number, run in runs.items():
        if len(run):
            name = STRETCH.format(number)
            run.save(folder / name)
            about["runs"][number] = name
    put_in_place(folder / END, json.dumps(about, indent=2).encode())


def read_ending(folder: Path) -> dict[str, Any] | None:
    """What `write_ending` wrote; None where the session has not come to its end in good order."""
    try:
        found = json.loads((folder / END).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ModelError(f"'{folder / END}' cannot be read ({error}).") from error
    if not isinstance(found, dict) or not isinstance(found.get("digests"), list) or type(found.get("tick")) is not int:
        raise ModelError(f"'{folder / END}' does not say how far the session went; it was changed.")
    return found
