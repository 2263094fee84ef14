"""The figures of a run that one looks at first."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from modular.errors import ModelError

if TYPE_CHECKING:
    from coordinator.record.run import Run


def summary(run: Run) -> dict[str, str]:
    """The figures one looks at first."""
    try:
        energy = run.energy
    except ModelError:  # a black box that nobody can ask any more
        energy = None
    lines = {
        "model": run.model.get("title") or "(no title)",
        "bodies, joints": f"{len(run.bodies)}, {len(run.joints)}",
        "time": f"{run.time[0]:g} … {run.time[-1]:g} s, {len(run):,} samples, dt = {run.dt:g} s"
        if len(run)
        else "none",
    }
    if len(run) and energy is not None:
        lines["energy"] = f"{energy[0]:.6g} J at the start, {energy[-1]:.6g} J at the end"
    if leaks := leaked_within(run):
        name = max(leaks, key=lambda body: abs(leaks[body]))
        lines["leaked within bodies"] = f"{leaks[name]:.3g} J at {name}"
    worst = worst_violation(run)
    if worst:
        lines["largest joint violation"] = f"{worst[1]:.3g} at {worst[0]}"
    if run.estimate:
        share, length = run.estimate["share"], run.estimate["length"]
        lines["estimated error"] = f"{length:.1g} m, {share:.1g} of the extent"
    if run.verified:
        lines["measured error"] = run.verified["words"]
    if run.margins and run.margins[0].get("margins"):
        name, margin = min(run.margins[0]["margins"].items(), key=lambda item: item[1])
        load = run.margins[0].get("loads", {}).get(name)
        whose = f" (load on {load['body']})" if load else ""
        lines["stability margin"] = f"{margin:.3g}; tightest joint: {name}{whose}"
    if run.events:
        lines["events"] = "; ".join(f"{e['time']:g} s {e['kind']} {e['name']}" for e in run.events[:6])
    if run.never:
        lines["did not happen"] = "; ".join(run.never[:6])
    if run.obstacles:
        lines["cannot be repeated from its folder"] = " ".join(run.obstacles)
    return lines


def leaked_within(run: Run) -> dict[str, float]:
    """What bodies lost at most, or won, beside what they were given [J], of those that reckon that."""
    found: dict[str, float] = {}
    bodies: dict[str, Any] = dict(run.bodies)
    for name, body in bodies.items():
        # what is moved by its own equations of motion leaks nothing that joints do not book
        if not hasattr(body, "leaked"):
            continue
        try:
            lost = body.leaked(run.state(name)[0])
        except ModelError:  # a black box that nobody can ask any more
            continue
        if lost is not None and np.isfinite(lost).any():
            found[name] = float(lost[np.nanargmax(np.abs(lost))])
    return found


def worst_violation(run: Run) -> tuple[str, float] | None:
    """The joint with the largest error of position, and that error."""
    worst: tuple[str, float] | None = None
    for segment in run.segments:
        for names, series in segment.joints:
            if not segment.used:
                continue
            sizes = np.abs(series["violation"]).max(axis=(0, 2))
            k = int(np.argmax(sizes))
            if worst is None or sizes[k] > worst[1]:
                worst = (names[k], float(sizes[k]))
    return worst


def as_html(figures: Mapping[str, str]) -> str:
    """Figures as a table, for notebooks."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(key)}</th><td style='text-align:left'>{html.escape(value)}</td></tr>"
        for key, value in figures.items()
    )
    return f"<table>{rows}</table>"
