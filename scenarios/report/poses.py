"""Mechanisms in poses, side by side: how they swing in their modes, what they can do, and what their joints carry at rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator import Run
from coordinator.analysis import Equilibrium, Mobility, Modes, Motion, Statics
from coordinator.analysis.modes import shown_size
from coordinator.analysis.ports import port_places, posed, whole
from modular import Assembly
from modular.elements import Array
from modular.port import GROUND
from scenarios.report.mechanism import joint_points, on_ground, stroke
from scenarios.report.page import COLOURS, GREY, quantity, sheet
from scenarios.report.view import View, choose_view

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_POSES = 6  # panels
PHASES = (0.125, 0.25, 0.375, 0.5)  # of a period, drawn lightly beside its beginning
ARROW = 0.22  # of the extent: the largest force
NOTHING = 1e-9  # of the largest force: what is no more is rounding
MOST_NAMES = 12  # of forces

Panel = tuple[str, list[Array]]  # what is above it, and the poses in it: the last one dark, those before lightly


def draw_modes(found: Modes, title: str) -> Figure:
    """The slowest modes that swing, then those that grow or decay, then those that drift: in grey where all is in the middle."""
    values = found.eigenvalues
    order = sorted(range(len(values)), key=lambda k: (not values[k].imag, not values[k], k))[:MOST_POSES]
    panels = []
    for k in sorted(order):
        panels.append((_mode(found, k), [*found.poses(k, PHASES)[::-1], *found.poses(k, [0.0])]))
    more = f" ({len(panels)} of {len(found.eigenvalues)})" if len(panels) < len(found.eigenvalues) else ""
    linear = found.linear
    return _side_by_side(linear.assembly, whole(linear.rest), panels, f"{title}: modes{more}")


def draw_mobility(found: Mobility, title: str) -> Figure:
    """Each free motion: where the model stands in grey, and where that leads, both ways; joints that share loads in red."""
    here, panels = whole(found.rest), []
    for motion in found.motions[:MOST_POSES]:
        way = motion.velocities * shown_size(found.assembly, found.rest, motion.velocities)
        panels.append((_motion(motion), [here - way, here - 0.5 * way, here + 0.5 * way, here + way]))
    more = f", {len(panels)} of them" if len(panels) < found.freedoms else ""
    words = f"{found.freedoms} freedom{'s' * (found.freedoms != 1)}{more}, {found.redundancies} redundant"
    shared = {joint for group in found.sharing for joint in group.joints}
    panels = panels or [("nothing moves", [])]
    return _side_by_side(found.assembly, here, panels, f"{title}: {words}", shared)


def draw_statics(found: Statics, title: str, start: Array | None = None) -> Figure:
    """The model at rest, and the force of each joint on its second side; in grey where it was put."""
    here, d = whole(found.rest), found.dimension
    run = posed(found.assembly, here, [here, *([] if start is None else [start])], 1.0, "statics")
    points = reaction_points(found.assembly, port_places(found.assembly, found.rest))
    sizes = {joint: float(np.linalg.norm(found.force(joint))) for joint in points}
    largest = max(sizes.values(), default=0.0)
    shape = stroke(run, list(run.bodies), np.arange(len(run)))
    extent = float((np.nanmax(shape, axis=(0, 1)) - np.nanmin(shape, axis=(0, 1))).max()) or 1.0
    scale = ARROW * extent / largest if largest else 0.0
    tips = {joint: point + scale * found.force(joint) for joint, point in points.items()}
    view = choose_view(run, [shape, np.reshape([*tips.values()], (1, -1, d))] if tips else [shape])
    figure = sheet(f"{title}: what joints carry where it rests", 8.0, 6.5)
    panel = view.stage(figure)
    if start is not None:
        panel.plot(*view.of(shape[1]).T, color="#cccccc", linewidth=2.0, solid_capstyle="round")
    panel.plot(*view.of(shape[0]).T, color="#444444", linewidth=2.2, solid_capstyle="round")
    told = sorted(sizes, key=lambda joint: -sizes[joint])[:MOST_NAMES]
    for joint, point in points.items():
        if not sizes[joint] > NOTHING * largest:
            continue
        colour = COLOURS[0] if found.unique(joint) else COLOURS[1]
        arrow(panel, view, point, tips[joint], colour)
        if joint in told:
            _name(panel, view.of(tips[joint]), f"{joint} {quantity(sizes[joint], 'N')}", colour)
    if found.sharing:
        panel.set_title("joints in orange share what they carry", fontsize=8, loc="right", color=COLOURS[1])
    return figure


def draw_equilibrium(found: Equilibrium, title: str) -> Figure:
    """The same, and where it was put."""
    words = "it stays there" if found.stable else "it does not stay there"
    return draw_statics(found.statics, f"{title} ({words})", whole(found.start))


def reaction_points(model: Assembly, places: Mapping[str, Array]) -> dict[str, Array]:
    """Where each joint holds its second side, or its first where the second is the ground [m]."""
    found = {}
    for name, edge in model.joint_edges.items():
        ends = [port for port in (edge.second, edge.first) if port.body != GROUND and str(port) in places]
        if ends:
            found[name] = places[str(ends[0])]
    return found


def _side_by_side(
    model: Assembly, start: Array, panels: Sequence[Panel], words: str, marked: set[str] | frozenset[str] = frozenset()
) -> Figure:
    """A panel for each, all to one scale."""
    run = posed(model, start, [start, *(pose for _, poses in panels for pose in poses)], 1.0, "poses")
    shape = stroke(run, list(run.bodies), np.arange(len(run)))
    view = choose_view(run, [shape])
    across = min(3, len(panels))
    down = -(-len(panels) // across) if panels else 1
    figure = sheet(words, max(6.0, 4.2 * across), 0.6 + 3.8 * down)
    grid = figure.add_gridspec(down, max(across, 1))
    at = 1
    for k, (above, poses) in enumerate(panels):
        panel = view.stage(figure, grid[k // across, k % across], zoom=0.72 if down > 1 else 0.95)
        panel.set_title(above, fontsize=8.5, loc="left")
        panel.plot(*view.of(shape[0]).T, color="#c4c4c4", linewidth=2.6, solid_capstyle="round", zorder=1)
        for turn in range(len(poses)):
            last = turn == len(poses) - 1
            colour, wide, faint = ("#222222", 1.8, 1.0) if last else (COLOURS[0], 0.9, 0.45)
            panel.plot(*view.of(shape[at + turn]).T, color=colour, linewidth=wide, alpha=faint, zorder=2 + last)
        _mark_joints(run, panel, view, marked)
        at += len(poses)
    return figure


def _mark_joints(run: Run, panel: Any, view: View, marked: set[str] | frozenset[str]) -> None:
    """Joints with the ground as squares; those that are marked in red."""
    first = np.array([0])
    for points in joint_points(run, first, only=on_ground(run)).values():
        panel.plot(*view.of(points).T, color=GREY, marker="s", linestyle="", markersize=4.5, zorder=4)
    for points in joint_points(run, first, only=marked).values():
        panel.plot(
            *view.of(points).T, color=COLOURS[1], marker="o", fillstyle="none", linestyle="", markersize=9, zorder=5
        )


def arrow(panel: Any, view: View, start: Array, end: Array, colour: str) -> None:
    """From one place to another."""
    one, other = view.of(start), view.of(end)
    if len(one) == 3:
        panel.quiver(*one, *(other - one), color=colour, linewidth=1.6, arrow_length_ratio=0.25)
        return
    panel.annotate(
        "", xy=tuple(other), xytext=tuple(one), zorder=5,
        arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.6, "shrinkA": 0.0, "shrinkB": 0.0},
    )  # fmt: skip


def _name(panel: Any, place: Array, text: str, colour: str) -> None:
    if len(place) == 3:
        panel.text(*place, " " + text, fontsize=8, color=colour)
        return
    panel.annotate(text, tuple(place), xytext=(4, 2), textcoords="offset points", fontsize=8, color=colour)


def _mode(found: Modes, k: int) -> str:
    """What is said above a mode."""
    damping = 100.0 * float(found.damping[k])
    shown = found.frequencies[k] > 0.0 and abs(damping) > 1e-8
    return f"mode {k}: {found.told(k)}" + (f", damping {damping:.2g} %" if shown else "")


def _motion(motion: Motion) -> str:
    """What is said above a motion, short."""
    head = str(motion).partition(", and with it")[0]
    others = f", and {len(motion.along)} more" if motion.along else ""
    return shorten(head + others + (", idle" if motion.idle else ""), 60, placeholder=" …")
