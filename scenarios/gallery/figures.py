"""Which figures there are, and which of them somebody asked for."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from modular.errors import ModelError
from scenarios.gallery import cutting, double_pendulum, other_planar, spatial
from scenarios.gallery.runs import Runs
from scenarios.gallery.sheet import Entry
from scenarios.report.page import write

COLOURS = 48  # of a picture: a third of the size, and no eye sees it
FIGURES = {
    entry.name: entry
    for family in (double_pendulum, other_planar, spatial, cutting)
    for entry in family.FIGURES
}  # fmt: skip


def choose(only: Sequence[str]) -> list[Entry]:
    """The figures of these numbers in the order of the thesis, or all; an unknown one is refused with the nearest known."""
    if not only:
        return list(FIGURES.values())
    known = {name.lower(): name for name in FIGURES}
    problems = []
    for name in only:
        if name.lower() not in known:
            near = difflib.get_close_matches(name.lower(), known, 1)
            hint = f"did you mean '{known[near[0]]}'?" if near else f"known: {', '.join(FIGURES)}."
            problems.append(f"the gallery has no figure '{name}'; {hint}")
    if problems:
        raise ModelError("\n".join(problems))
    wanted = {name.lower() for name in only}
    return [entry for name, entry in FIGURES.items() if name.lower() in wanted]


def draw(entry: Entry, runs: Runs, folder: Path) -> tuple[Path, str]:
    """Draw one figure into a folder: its file, and what was measured."""
    drawn = entry.draw(runs, entry)
    file = write(drawn.figure, folder / f"{entry.name}.png")
    with Image.open(file) as picture:
        few = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(file, optimize=True)
    return file, drawn.found
