"""All pictures of a run, one file each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from coordinator.record.across import reading
from coordinator.record.run import Run
from scenarios.report import energy, ledger, reactions, trajectories, violations
from scenarios.report.page import write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES: dict[str, Callable[[Run], Figure]] = {
    "trajectories.png": trajectories.draw,
    "energy.png": energy.draw,
    "violations.png": violations.draw,
    "ledger.png": ledger.draw,
    "reactions.png": reactions.draw,
}


def draw_pictures(run: Run, folder: Path) -> list[Path]:
    """Draw all pictures into a folder that exists."""
    with reading(run):
        return [write(draw(run), folder / name) for name, draw in PICTURES.items()]
