"""The end of a session in its folder: how far it came, the runs of its stretches, and their digests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coordinator.laboratory.diary import END
from coordinator.record.fingerprint import machine, versions
from modular.errors import ModelError
from modular.files import put_in_place

if TYPE_CHECKING:
    from coordinator.laboratory.session import Session

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
