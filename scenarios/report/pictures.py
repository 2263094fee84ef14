"""All pictures of a run, one file each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from coordinator.record.across import reading
from coordinator.record.run import Run
from scenarios.report import efforts, energy, ledger, reactions, trajectories, violations
from scenarios.report.page import write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES: dict[str, Callable[[Run], Figure | None]] = {
    "trajectories.png": trajectories.draw,
    "energy.png": energy.draw,
    "violations.png": violations.draw,
    "ledger.png": ledger.draw,
    "reactions.png": reactions.draw,
    "efforts.png": efforts.draw,
}


def draw_pictures(run: Run, folder: Path) -> list[Path]:
    """Draw all pictures into a folder that exists; what has nothing to show is left out."""
    with reading(run):
        figures = ((name, draw(run)) for name, draw in PICTURES.items())
        return [write(figure, folder / name) for name, figure in figures if figure is not None]
