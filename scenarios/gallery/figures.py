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


def _ways_to_write(name: str) -> tuple[str, ...]:
    """ "vi-3" also as "vi3", "vi.3" and "3", in the chapter that all figures are of."""
    number = name.removeprefix("vi-")
    return name, f"vi{number}", f"vi.{number}", number


def choose(only: Sequence[str]) -> list[Entry]:
    """The figures of these numbers in the order of the thesis, or all; an unknown one is refused with the nearest known."""
    if not only:
        return list(FIGURES.values())
    known = {written: name for name in FIGURES for written in _ways_to_write(name.lower())}
    problems = []
    for name in only:
        if name.lower() not in known:
            near = difflib.get_close_matches(name.lower(), known, 1)
            hint = f"did you mean '{known[near[0]]}'?" if near else f"known: {', '.join(FIGURES)}."
            problems.append(f"the gallery has no figure '{name}'; {hint}")
    if problems:
        raise ModelError("\n".join(problems))
    wanted = {known[name.lower()] for name in only}
    return [entry for name, entry in FIGURES.items() if name in wanted]


def draw(entry: Entry, runs: Runs, folder: Path) -> tuple[Path, str]:
    """Draw one figure into a folder: its file, and what was measured."""
    drawn = entry.draw(runs, entry)
    file = write(drawn.figure, folder / f"{entry.name}.png")
    with Image.open(file) as picture:
        few = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(file, optimize=True)
    return file, drawn.found
