"""The pictures of a study: error against step with the fitted slopes, error against work, error against a swept setting."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.report.page import quantity, write
from scenarios.study.sheet import (
    MAX_CURVES,
    cross_out,
    decades,
    draw_curve,
    error_axis,
    handle,
    legend_beside,
    name_steps,
    name_values,
    remark,
    sheet,
    tall_enough,
    wrapped,
)
from scenarios.study.study import Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

ERROR, GAP = "largest error of a port", "largest gap of a joint"
Groups = dict[str, list[tuple[float, Row]]]  # cases by all that differs but one setting, with the value of that


def draw_pictures(study: Study, folder: Path) -> list[Path]:
    """Draw what the grid of the study allows into a folder that exists; pictures of an earlier study go."""
    drawn = {"convergence.png": convergence(study), "work.png": work(study), "sweep.png": sweep(study)}
    for name, figure in drawn.items():
        if figure is None:
            (folder / name).unlink(missing_ok=True)
    return [write(figure, folder / name) for name, figure in drawn.items() if figure is not None]


def convergence(study: Study) -> Figure | None:
    """Error and joint gap against the step, with the fitted lines; None for a single step."""
    curves = _curves(study)
    if len(study.grid.steps) < 2 or not curves:
        return None
    measures = {"error": ERROR} | ({"gap": GAP} if any(row.visible("gap") for row in study.rows) else {})
    handles = []
    for k, curve in enumerate(curves):
        fits = {name: study.fit(curve, name) for name in measures}
        orders = ", ".join(f"{name} {fit.order:.2f}" for name, fit in fits.items() if fit is not None)
        handles.append(_entry(k, curve, f"order: {orders or 'none'}"))
    handles += _remarks(study)
    height = tall_enough(4.0, _labels(handles))
    figure, panels = sheet(_title(study, "error against step"), 1, len(measures), [height])
    for panel, (measure, label) in zip(panels, measures.items(), strict=True):
        for k, curve in enumerate(curves):
            fit = study.fit(curve, measure)
            line = [] if fit is None else [(dt, fit.at(dt)) for dt in (fit.coarsest, fit.finest)]
            draw_curve(panel, k, [(row.case.dt, value) for row in curve if (value := row.visible(measure))], line)
        name_steps(panel, study.grid.steps)
        error_axis(panel, label)
        cross_out(panel, [[row.case.dt for row in curve if row.failure] for curve in curves])
    legend_beside(figure, handles)
    return figure


def work(study: Study) -> Figure | None:
    """Error against what it costs: evaluations, and seconds of computing; None where nothing came to its end."""
    curves = _curves(study)
    if not curves:
        return None
    handles = [_entry(k, curve, "") for k, curve in enumerate(curves)] + _remarks(study)
    figure, panels = sheet(_title(study, "error against work"), 1, 2, [tall_enough(4.0, _labels(handles))])
    costs = (("evaluations", "evaluations", ""), ("seconds", "computing time", "s"))
    for panel, (cost, label, unit) in zip(panels, costs, strict=True):
        for k, curve in enumerate(curves):
            pairs = [(row.value(cost), row.visible("error")) for row in curve]
            draw_curve(panel, k, [(x, y) for x, y in pairs if x and y])
        panel.set_xscale("log")
        panel.set_xlabel(label)
        error_axis(panel, ERROR)
        decades(panel.xaxis, panel.get_xlim(), unit)
    legend_beside(figure, handles)
    return figure


def sweep(study: Study) -> Figure | None:
    """Error against each swept setting whose values are numbers; None where there is none, or nothing came to its end.

    Where several settings are swept, each panel shows the finest step only.
    """
    found = {name: groups for name in study.sweeps if (groups := _groups(study, name))}
    if not found or not _curves(study):
        return None
    entries = {name: [_group(k, *item) for k, item in enumerate(groups.items())] for name, groups in found.items()}
    heights = [tall_enough(3.2, _labels(handles)) for handles in entries.values()]
    step = f", Δt = {quantity(study.grid.steps[-1], 's')}" if len(study.sweeps) > 1 else ""
    figure, panels = sheet(_title(study, f"error against setting{step}"), len(found), 1, heights)
    for panel, (name, groups) in zip(panels, found.items(), strict=True):
        for k, pairs in enumerate(groups.values()):
            draw_curve(panel, k, [(value, error) for value, row in pairs if (error := row.visible("error"))])
        panel.set_xlabel(name)
        error_axis(panel, ERROR)
        name_values(panel, sorted({value for pairs in groups.values() for value, _ in pairs}))
        cross_out(panel, [[value for value, row in pairs if row.failure] for pairs in groups.values()])
        legend_beside(panel, entries[name])
    return figure


# --- parts -----------------------------------------------------------------------------------------------------------


def _title(study: Study, what: str) -> str:
    return f"{study.grid.scenario}: {what} (until {study.grid.until:g} s)"


def _curves(study: Study) -> list[list[Row]]:
    """The curves that can be drawn: those with an error that is more than rounding."""
    return [curve for curve in study.curves if any(row.visible("error") for row in curve)][:MAX_CURVES]


def _entry(k: int, curve: list[Row], note: str) -> Line2D:
    lost = sum(1 for row in curve if row.failure)
    notes = [note] * bool(note) + [f"× lost at {lost} of {len(curve)} steps"] * bool(lost)
    return handle(k, "\n".join([wrapped(curve[0].variant.coupling), *notes]))


def _remarks(study: Study) -> list[Line2D]:
    """What is not drawn."""
    drawable = [curve for curve in study.curves if any(row.visible("error") for row in curve)]
    lost = [curve for curve in study.curves if all(row.failure for row in curve)]
    texts = [f"{len(lost)} of {len(study.curves)} couplings:\nlost at every step"] if lost else []
    if len(drawable) > MAX_CURVES:
        texts.append(f"{len(drawable) - MAX_CURVES} more couplings:\nsee study.csv")
    return [remark(text) for text in texts]


def _groups(study: Study, name: str) -> Groups:
    """The cases of a swept setting whose values are numbers; empty where there are fewer than two values."""
    field = re.compile(rf"\b{name.rpartition('.')[2]}=[^,()]*")
    groups: Groups = {}
    for row in study.rows:
        value = _number(row.variant.values.get(name, ""))
        if value is None or (len(study.sweeps) > 1 and row.case.dt != study.grid.steps[-1]):
            continue
        label = field.sub(lambda found: found[0].partition("=")[0] + "=…", row.variant.coupling)
        label += f", Δt = {quantity(row.case.dt, 's')}" if len(study.sweeps) == 1 else ""
        groups.setdefault(label, []).append((value, row))
    ordered = {label: sorted(pairs, key=lambda pair: pair[0]) for label, pairs in list(groups.items())[:MAX_CURVES]}
    return ordered if len({value for pairs in ordered.values() for value, _ in pairs}) > 1 else {}


def _group(k: int, label: str, pairs: list[tuple[float, Row]]) -> Line2D:
    lost = sum(1 for _, row in pairs if row.failure)
    return handle(k, "\n".join([wrapped(label), *([f"× lost at {lost} of {len(pairs)} values"] * bool(lost))]))


def _labels(handles: list[Line2D]) -> list[str]:
    return [str(entry.get_label()) for entry in handles]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
