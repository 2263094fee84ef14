"""The picture of any answer of an analysis, and the places where commands keep it."""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from coordinator import Run
from coordinator.analysis import (
    Along,
    Assembled,
    Efforts,
    Equilibrium,
    Linear,
    Locus,
    Mobility,
    Modes,
    Result,
    Statics,
    Workspace,
    modes_of,
)
from coordinator.analysis.result import FILE
from coordinator.record.archive import ABOUT
from modular.errors import ModelError
from scenarios.report import trajectories
from scenarios.report.assembling import draw_assembled
from scenarios.report.kinematics import draw_workspace
from scenarios.report.locus import draw_locus
from scenarios.report.page import COLOURS, dress, legend, sheet, write
from scenarios.report.poses import draw_equilibrium, draw_mobility, draw_modes, draw_statics

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@singledispatch
def draw_result(found: object, title: str) -> Figure:
    """Its picture."""
    raise ModelError(f"there is no picture of a {type(found).__name__}.")


draw_result.register(Assembled, draw_assembled)
draw_result.register(Equilibrium, draw_equilibrium)
draw_result.register(Locus, draw_locus)
draw_result.register(Mobility, draw_mobility)
draw_result.register(Modes, draw_modes)
draw_result.register(Statics, draw_statics)
draw_result.register(Workspace, draw_workspace)


@draw_result.register(Run)
def _(found: Run, title: str) -> Figure:
    return trajectories.draw(found)


@draw_result.register(Efforts)
def _(found: Efforts, title: str) -> Figure:
    """Efforts by their units, and powers, over time."""
    units = {drive: found.unit(drive) for drive in found.efforts}
    kinds = list(dict.fromkeys(units.values()))
    figure = sheet(f"{title}: what its drives exert", 9.0, 0.8 + 2.6 * (1 + len(kinds)))
    panels = figure.subplots(1 + len(kinds), 1, sharex=True, squeeze=False)[:, 0]
    colours = {drive: COLOURS[k % len(COLOURS)] for k, drive in enumerate(found.efforts)}
    for panel, unit in zip(panels, kinds, strict=False):
        for drive in (one for one in units if units[one] == unit):
            panel.plot(found.times, found.efforts[drive], color=colours[drive], linewidth=1.3, label=drive)
        dress(panel, f"effort [{unit}]")
        legend(panel)
    for drive in found.efforts:
        panels[-1].plot(found.times, found.power(drive), color=colours[drive], linewidth=1.3, label=drive)
    dress(panels[-1], "power [W]", time=True)
    legend(panels[-1])
    return figure


@draw_result.register(Along)
def _(found: Along, title: str) -> Figure:
    """How well joints hold what they hold, over time, with the singular configurations on the way; and freedoms."""
    figure = sheet(f"{title}: how near to singular configurations", 9.0, 5.6)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2.2, 1.0])
    held = np.where(np.isfinite(found.smallest), found.smallest, np.nan)
    above.plot(found.times, held, color=COLOURS[0], linewidth=1.4)
    for one in found.singular:
        colour = COLOURS[1] if one.passed or not one.smallest else COLOURS[4]
        above.axvline(one.time, color=colour, linewidth=0.9, linestyle=(0, (4, 3)))
        names = ", ".join(one.bodies[:2]) + (" …" if len(one.bodies) > 2 else "")
        above.annotate(
            f"{one.time:.4g} s: {names}", (one.time, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 3),
            textcoords="offset points", fontsize=7.5, ha="left", rotation=20, color=colour,
        )  # fmt: skip
    dress(above, "smallest singular value")
    above.set_ylim(bottom=0.0)
    below.step(found.times, found.freedoms, color="#222222", linewidth=1.4, where="post")
    below.yaxis.get_major_locator().set_params(integer=True)
    below.set_ylim(0.0, float(found.freedoms.max(initial=1)) + 0.5)
    dress(below, "freedoms", time=True)
    return figure


@draw_result.register(Linear)
def _(found: Linear, title: str) -> Figure:
    """Its eigenvalues in the plane: what is to the right of the axis grows."""
    values = modes_of(found).eigenvalues
    figure = sheet(f"{title}: eigenvalues of its linear equations", 6.5, 6.0)
    panel = figure.add_subplot()
    panel.axvline(0.0, color="#888888", linewidth=0.8)
    for sign in (1.0, -1.0):
        panel.plot(values.real, sign * values.imag, marker="x", linestyle="", color=COLOURS[0], markersize=7)
    if not np.abs(values.real).max(initial=0.0) > 1e-9 * np.abs(values).max(initial=0.0):
        panel.set_xlim(-1.0, 1.0)
    dress(panel, "imaginary part [1/s]")
    panel.set_xlabel("real part [1/s]")
    return figure


def check_places(out: Path | None, picture: Path | None, *, overwrite: bool) -> None:
    """Refuse before anything is looked at what could not be kept afterwards."""
    for option, path in (("--out", out), ("--picture", picture)):
        if path is not None and path.suffix and not path.resolve().parent.is_dir():
            raise ModelError(f"{option} {path}: there is no folder '{path.parent}'; make it first, or name another.")
    if picture is not None and picture.suffix != ".png":
        raise ModelError(f"--picture {picture}: pictures are written as PNG; give a name that ends in .png.")
    held = [what for name, what in ((FILE, "result"), (ABOUT, "run")) if out is not None and (out / name).exists()]
    if held and not overwrite:
        raise ModelError(f"--out {out}: it holds a {held[0]} already; give another name, or --overwrite.")


def keep(found: Result, title: str, out: Path | None, picture: Path | None) -> list[str]:
    """Write what was asked for; what is to be said of that."""
    said = []
    if out is not None:
        place = found.save(out)
        again = f"; modular show {place} tells it again" if place.is_dir() else ""
        said.append(f"written to {place}{again}")
    if picture is not None:
        said.append(f"drawn in {write(draw_result(found, title), picture)}")
    return said
