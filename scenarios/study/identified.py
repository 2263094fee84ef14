"""What an identification found, as a folder to look at: a table, and pictures of what was measured and what the model says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from modular.errors import ModelError
from scenarios.report.page import COLOURS, GREY, dress, sheet, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from coordinator import Identified
    from modular.elements import Array

MOST_RECORDINGS, MOST_CURVES = 4, 8  # that are drawn
MOST_NUMBERS = 24  # whose correlation is drawn


def write_identified(found: Identified, folder: str | Path) -> list[Path]:
    """Write `report.md` and its pictures into a folder, made if there is none."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ModelError(f"write_identified: '{folder}' is a file; give a folder, such as 'identified'.")
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {
        "fit.png": draw_fit(found),
        "residuals.png": draw_residuals(found),
        "correlation.png": draw_correlation(found),
    }
    for name, figure in drawn.items():
        if figure is None:
            (folder / name).unlink(missing_ok=True)
    pictures = [write(figure, folder / name) for name, figure in drawn.items() if figure is not None]
    report = folder / "report.md"
    report.write_text(markdown(found, [path.name for path in pictures]), encoding="utf-8")
    return [report, *pictures]


def markdown(found: Identified, pictures: list[str]) -> str:
    """The report as text."""
    lines = [
        "# Numbers from measurements", "",
        f"Mean square of the residuals, in variances of the noise: {found.chi_square:.3g}, after {found.iterations} iterations.",
        "It is about 1 where the model and the noise are right.", "",
        "| number | began as | found | ± | deviations from where it began |", "| --- | ---: | ---: | ---: | ---: |",
    ]  # fmt: skip
    for name, start, value, deviation in zip(found.names, found.start, found.values, found.deviations, strict=True):
        known = np.isfinite(deviation) and deviation > 0.0
        lines.append(
            f"| {name} | {start:.6g} | {value:.7g} | {f'{deviation:.2g}' if known else 'not known'} | "
            f"{f'{(value - start) / deviation:+.1f}' if known else ''} |"
        )
    if found.undetermined:
        lines += ["", "The recordings do not tell apart (fix one of the numbers, or measure something else):", ""]
        lines += ["- " + ", ".join(f"{part:+.2f} {name}" for name, part in each.items()) for each in found.undetermined]
    lines += [
        "",
        "| recording | samples | missing | root mean square [deviations] | largest |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for k, one in enumerate(found.recordings):
        there = one.residuals[np.isfinite(one.residuals)]
        worst = f"{np.abs(there).max():.2f}" if there.size else ""
        mean = f"{np.sqrt(np.mean(there**2)):.2f}" if there.size else ""
        lines.append(f"| {k} | {one.measured.size} | {one.measured.size - there.size} | {mean} | {worst} |")
    return "\n".join([*lines, "", *(f"![]({name})" for name in pictures), ""])


def draw_fit(found: Identified) -> Figure | None:
    """Every recording: what was measured as points, what the model says as lines."""
    shown = [one for one in found.recordings if one.measured.ndim > 0][:MOST_RECORDINGS]
    if not shown:
        return None
    figure = sheet("Measured, and what the model says", 9.0, 1.0 + 2.8 * len(shown))
    panels = figure.subplots(len(shown), 1, squeeze=False)[:, 0]
    for number, (panel, one) in enumerate(zip(panels, shown, strict=True)):
        along, over_time = _along(one.measured, one.time)
        measured, said = (_curves(values) for values in (one.measured, one.said))
        for k in range(measured.shape[1]):
            colour = COLOURS[k % len(COLOURS)]
            panel.plot(
                along,
                measured[:, k],
                ".",
                color=colour,
                markersize=3.0,
                alpha=0.5,
                label="measured" if k == 0 else None,
            )
            panel.plot(along, said[:, k], color=colour, linewidth=1.1, label="model" if k == 0 else None)
        dress(panel, f"recording {number}", time=over_time)
        if not over_time:
            panel.set_xlabel("sample", fontsize=9)
    panels[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), fontsize=8, ncols=2, frameon=False)
    return figure


def draw_residuals(found: Identified) -> Figure | None:
    """Residuals of every recording, and how often they are how large, beside the normal law."""
    shown = [one for one in found.recordings if one.measured.ndim > 0][:MOST_RECORDINGS]
    if not shown or not found.residuals.size:
        return None
    figure = sheet("Residuals in deviations of the noise", 9.0, 1.0 + 2.2 * (len(shown) + 1))
    panels = figure.subplots(len(shown) + 1, 1, squeeze=False)[:, 0]
    for number, (panel, one) in enumerate(zip(panels, shown, strict=False)):
        along, over_time = _along(one.measured, one.time)
        left = _curves(one.residuals)
        for k in range(left.shape[1]):
            panel.plot(along, left[:, k], ".", color=COLOURS[k % len(COLOURS)], markersize=3.0)
        panel.axhspan(-2.0, 2.0, color=GREY, alpha=0.15, linewidth=0.0)
        dress(panel, f"recording {number}", time=over_time)
        if not over_time:
            panel.set_xlabel("sample", fontsize=9)
    widest = max(4.0, float(np.abs(found.residuals).max()))
    edges = np.linspace(-widest, widest, 41)
    panels[-1].hist(found.residuals, edges, density=True, color=COLOURS[0], alpha=0.5)
    panels[-1].plot(edges, np.exp(-0.5 * edges**2) / np.sqrt(2.0 * np.pi), color=COLOURS[1], label="normal law")
    dress(panels[-1], "share")
    panels[-1].set_xlabel("deviations", fontsize=9)
    panels[-1].legend(fontsize=8, frameon=False)
    return figure


def draw_correlation(found: Identified) -> Figure | None:
    """How errors of two numbers go together."""
    known = np.flatnonzero(np.isfinite(found.deviations) & (found.deviations > 0.0))[:MOST_NUMBERS]
    if len(known) < 2:
        return None
    names, size = [found.names[k] for k in known], 0.34 * len(known)
    figure = sheet("How errors of numbers go together", 4.6 + size, 3.0 + size)
    panel = figure.subplots()
    shown = panel.imshow(found.correlation[np.ix_(known, known)], cmap="RdBu_r", vmin=-1.0, vmax=1.0)
    panel.set_xticks(range(len(names)), names, rotation=90, fontsize=8)
    panel.set_yticks(range(len(names)), names, fontsize=8)
    figure.colorbar(shown, ax=panel, shrink=0.8)
    return figure


def _along(measured: Array, time: Array | None) -> tuple[Array, bool]:
    """Times of the samples, or their numbers."""
    return (np.arange(len(measured), dtype=float), False) if time is None else (time, True)


def _curves(values: Array) -> Array:
    """The first few, (samples, curves)."""
    return values.reshape(len(values), -1)[:, :MOST_CURVES]
