"""Figures VI-3 to VI-12: the planar double pendulum.

The thesis gives two steps, 1e-4 and 1e-3 s; what it reports of the lengths fits the larger one, so the errors are drawn
at 1e-3 s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from coordinator.record.run import Run
from scenarios.gallery.minimal import tip
from scenarios.gallery.runs import DEFAULTS, THESIS, Runs
from scenarios.gallery.sheet import OURS, THEIRS, Drawn, Entry, Series, below, heading, sheet, side_by_side, step
from scenarios.report.page import (
    COLOURS,
    GREY,
    dress,
    few_ticks,
    legend,
    log_axis,
    magnitude,
    peak,
    prefix,
    quantity,
    stride,
    thin,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SYSTEM = "double-pendulum"
FINE_STEP, COARSE_STEP, ROUGH_STEP = 1e-4, 1e-3, 1e-2  # steps [s]
END, LONG_END = 5.0, 30.0  # [s]
BODIES = {"upper": "body 1", "lower": "body 2"}
HALF_WIDTH = 2.15  # half the width of a picture of paths [m]
BLACK = COLOURS[-1]


# --- the path of the tip ---------------------------------------------------------------------------------------------


def tips(runs: Runs, entry: Entry) -> Drawn:
    """VI-3: paths, and how far each is from the reference."""
    thesis, coarse = (runs.of(SYSTEM, THESIS, dt, END) for dt in (FINE_STEP, COARSE_STEP))
    ours = runs.of(SYSTEM, DEFAULTS, FINE_STEP, END)
    reference = tip(runs.reference(FINE_STEP, END))
    shown = {
        "settings of the thesis, Δt = 1 ms": (coarse, COLOURS[1], (0, (4, 2)), 1.0),
        "settings of the thesis, Δt = 0.1 ms": (thesis, COLOURS[2], "-", 1.0),
        "defaults, Δt = 0.1 ms": (ours, COLOURS[0], "-", 1.0),
    }
    figure = sheet(entry, ours, 9.4, 4.0)
    place, errors = figure.subplots(1, 2, width_ratios=(1.0, 1.15))
    every = stride(len(reference), 1200)
    place.plot(*reference[every].T, color=BLACK, linewidth=2.6, alpha=0.35, label="Runge–Kutta 4, two angles, 0.1 ms")
    found = {}
    for name, (run, colour, style, width) in shown.items():
        path = run.position("lower.end")
        some = stride(len(run), 1200)
        place.plot(*path[some].T, color=colour, linestyle=style, linewidth=width, label=name)
        error = magnitude(path - reference[:: round(run.dt / FINE_STEP)])
        found[name] = peak(error)
        time, high = thin(run.time[1:], error[1:], 400)
        errors.plot(time, high, color=colour, linestyle=style, linewidth=1.1)
    axis_of_paths(place)
    heading(place, "path of the tip")
    heading(errors, "distance from Runge–Kutta 4")
    dress(errors, "distance [m]", time=True)
    log_axis(errors)
    below(figure, place)
    return Drawn(figure, "tip off by " + ", ".join(f"{value:.2g} m ({name})" for name, value in found.items()))


def rough(runs: Runs, entry: Entry) -> Drawn:
    """VI-11: a step a hundred times larger."""
    pair = runs.pair(SYSTEM, ROUGH_STEP, END)
    reference = tip(runs.reference(FINE_STEP, END))
    figure = sheet(entry, next(iter(pair.values())), 8.8, 3.9)
    panels = figure.subplots(1, 2)
    found = []
    for panel, (name, run), colour in zip(panels, pair.items(), (THEIRS, OURS), strict=True):
        every = stride(len(reference), 1200)
        panel.plot(*reference[every].T, color=GREY, linewidth=0.9, label="Runge–Kutta 4, 0.1 ms")
        panel.plot(*run.position("lower.end").T, color=colour, linewidth=1.3, label=f"{name}")
        axis_of_paths(panel)
        heading(panel, name)
        found.append(f"lengths {lengthening(run)}, energy {energies(run)} ({name})")
    lines = [panels[0].lines[0], panels[0].lines[1], panels[1].lines[1]]
    figure.legend(handles=lines, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return Drawn(figure, "; ".join(found))


def long(runs: Runs, entry: Entry) -> Drawn:
    """VI-12: half a minute, no explosion."""
    pair = runs.pair(SYSTEM, COARSE_STEP, LONG_END)
    some = next(iter(pair.values()))
    figure = sheet(entry, some, 8.8, 5.2)
    panels = figure.subplots(2, 2, height_ratios=(2.0, 1.0))
    found = []
    for k, ((name, run), colour) in enumerate(zip(pair.items(), (THEIRS, OURS), strict=True)):
        every = stride(len(run), 3000)
        panels[0, k].plot(*run.position("lower.end")[every].T, color=colour, linewidth=0.45)
        axis_of_paths(panels[0, k])
        heading(panels[0, k], f"{name}: path of the tip")
        time, change = thin(run.time, run.energy - run.energy[0], 500)
        panels[1, k].plot(time, change, color=colour, linewidth=1.1)
        dress(panels[1, k], "energy gained [J]" if k == 0 else "", time=True)
        found.append(f"energy {energies(run)}, lengths {lengthening(run)} ({name})")
    return Drawn(figure, "; ".join(found))


def axis_of_paths(axes: Axes) -> None:
    """Equal scales, metres."""
    dress(axes, "y [m]")
    axes.set_xlabel("x [m]")
    axes.set_xlim(-HALF_WIDTH, HALF_WIDTH)
    axes.set_ylim(-HALF_WIDTH, 0.45)
    axes.set_aspect("equal")


# --- the violations --------------------------------------------------------------------------------------------------


def lengthening_of_bodies(run: Run) -> Series:
    """How much longer than at the start each rod is [m]."""
    lengths = {body: magnitude(run.position(f"{body}.end") - run.position(f"{body}.start")) for body in BODIES}
    return {name: lengths[body] - lengths[body][0] for body, name in BODIES.items()}


def rate_of_bodies(run: Run) -> Series:
    """How fast it grows [m/s]."""
    rates = {}
    for body, name in BODIES.items():
        along = run.position(f"{body}.end") - run.position(f"{body}.start")
        moving = run.velocity(f"{body}.end") - run.velocity(f"{body}.start")
        rates[name] = (along * moving).sum(axis=1) / magnitude(along)
    return rates


def inside(label: str, unit: str, series: Callable[[Run], Series]) -> Callable[[Runs, Entry], Drawn]:
    """VI-4 and VI-5."""

    def draw(runs: Runs, entry: Entry) -> Drawn:
        drawn = side_by_side(entry, runs.pair(SYSTEM, COARSE_STEP, END), label, unit, series)
        if unit == "m":
            pairs = {dt: runs.pair(SYSTEM, dt, END) for dt in (COARSE_STEP, FINE_STEP)}
            found = [
                f"{lengthening(run)} ({name}, {step(run)})" for pair in pairs.values() for name, run in pair.items()
            ]
            return Drawn(drawn.figure, "lengths " + ", ".join(found))
        return drawn

    return draw


def at_joint(joint: str, number: int, *, rate: bool) -> Callable[[Runs, Entry], Drawn]:
    """VI-6 to VI-9, per component."""

    def series(run: Run) -> Series:
        error = run.violation_rate(joint) if rate else run.violation(joint)
        letter = "df" if rate else "f"
        return {f"{letter}{number}_{axis}": error[:, k] for k, axis in enumerate("xy")}

    def draw(runs: Runs, entry: Entry) -> Drawn:
        label, unit = ("rate of the gap", "m/s") if rate else ("gap", "m")
        return side_by_side(entry, runs.pair(SYSTEM, COARSE_STEP, END), label, unit, series)

    return draw


# --- the energies ----------------------------------------------------------------------------------------------------


def energy_of(start: str) -> Callable[[Runs, Entry], Drawn]:
    """VI-10, and the same with small angles."""

    def draw(runs: Runs, entry: Entry) -> Drawn:
        pair = runs.pair(SYSTEM, COARSE_STEP, END, start=start)
        some = next(iter(pair.values()))
        figure: Figure = sheet(entry, some, 8.8, 5.0, note=step(some))
        panels = figure.subplots(2, 2, sharex=True, sharey="row", height_ratios=(1.5, 1.0))
        changes = {name: run.energy - run.energy[0] for name, run in pair.items()}
        factor, unit = prefix_of(max(peak(change) for change in changes.values()))
        found = []
        for k, (name, run) in enumerate(pair.items()):
            parts = {"Em1": run.energy_of("upper"), "Em2": run.energy_of("lower"), "Etot": run.energy}
            for colour, (part, values) in zip((COLOURS[0], COLOURS[1], BLACK), parts.items(), strict=True):
                time, thinned = thin(run.time, values, 500)
                panels[0, k].plot(time, thinned, color=colour, linewidth=1.2, label=part)
            time, thinned = thin(run.time, changes[name], 500)
            panels[1, k].plot(time, factor * thinned, color=BLACK, linewidth=1.2)
            dress(panels[0, k], "energy [J]" if k == 0 else "")
            dress(panels[1, k], f"Etot − its start [{unit}]" if k == 0 else "", time=True)
            heading(panels[0, k], name)
            few_ticks(panels[1, k], 5)
            lost = sum(float(run.ledger(joint)["dissipated"][-1]) for joint in run.joints)
            found.append(f"energy {energies(run)}, {quantity(lost, 'J')} dissipated in the joints ({name})")
        legend(panels[0, 1])
        return Drawn(figure, "; ".join(found))

    return draw


def prefix_of(largest: float) -> tuple[float, str]:
    """Joules from a tenth on are written as joules."""
    return (1.0, "J") if largest >= 0.1 else prefix(largest, "J")


# --- what is said beside a figure ------------------------------------------------------------------------------------


def energies(run: Run) -> str:
    """Smallest and largest change of the total."""
    change = run.energy - run.energy[0]
    return f"{change.min():+.2g} … {change.max():+.2g} J"


def lengthening(run: Run) -> str:
    """Smallest and largest change of a length."""
    changes = np.concatenate([100.0 * values for values in lengthening_of_bodies(run).values()])
    return f"{changes.min():+.2g} … {changes.max():+.2g} %"


FIGURES = (
    Entry("VI-3", "Double pendulum: path of the tip over 5 s", tips),
    Entry("VI-4", "Change of the lengths of both bodies", inside("lengthening", "m", lengthening_of_bodies)),
    Entry("VI-5", "Rate at which the lengths change", inside("rate", "m/s", rate_of_bodies)),
    Entry("VI-6", "Gap of joint 1 (pivot)", at_joint("pivot", 1, rate=False)),
    Entry("VI-7", "Gap of joint 2 (elbow)", at_joint("elbow", 2, rate=False)),
    Entry("VI-8", "Rate of the gap of joint 1 (pivot)", at_joint("pivot", 1, rate=True)),
    Entry("VI-9", "Rate of the gap of joint 2 (elbow)", at_joint("elbow", 2, rate=True)),
    Entry("VI-10", "Energy of the bodies and in all", energy_of("thesis")),
    Entry("VI-10-small", "Energy from small angles (18°, 0)", energy_of("small")),
    Entry("VI-11", "Double pendulum with Δt = 10 ms: path of the tip over 5 s", rough),
    Entry("VI-12", "Double pendulum with Δt = 1 ms over 30 s", long),
)
