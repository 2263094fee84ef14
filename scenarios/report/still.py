"""The picture of a model that was not run: bodies, joints, forces, and the axes of ports, as it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import numpy as np

from coordinator import Run, Simulation
from coordinator.record.turning import axis_in_world
from modular import Assembly
from modular.elements import Array
from modular.errors import ModelError
from modular.port import GROUND
from scenarios.report.mechanism import stroke
from scenarios.report.page import COLOURS, GREY, sheet
from scenarios.report.poses import arrow
from scenarios.report.touching import EARTH, GROUND_SHARE, ground_outlines
from scenarios.report.view import View, choose_view

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXES = ("#c23b22", "#3a8f3a", "#2a52be")  # x, y, z
LONG = 0.09  # of the extent: an axis of a frame
LOAD = 0.16  # of the extent: the arrow of a load, whatever its size
HINGE = 0.07  # of the extent: the axis of a joint, to either side
MOST_NAMES = 16  # of bodies, of joints, of forces
SAME = 1e-3  # of the extent: what is named at one place shares its name
STEP = 1e-3  # [s]: nothing moves


@dataclass(frozen=True)
class Still:
    """A model as it stands."""

    model: Assembly
    run: Run  # of one sample
    extent: float

    def place(self, port: Any, at: Any = None) -> Array | None:
        """Of a port; of the ground where it was said."""
        if port.body == GROUND:
            return None if at is None else np.asarray(at, float)
        return np.asarray(self.run.position(str(port))[0])


def draw_model(model: Assembly, *, names: bool = True, frames: bool = True) -> Figure:
    """Bodies in colours, joints as rings or squares with their axes, forces dashed, ports with their axes."""
    with catch_warnings():
        simplefilter("ignore")  # it is not to be run
        with Simulation(_still(model), STEP, project_velocities=True) as simulation:
            run = simulation.recorded
    shape = stroke(run, list(run.bodies), np.array([0]))
    points = shape[0][np.isfinite(shape[0]).all(axis=1)]
    extent = float(np.ptp(points, axis=0).max(initial=0.0)) or 1.0
    still = Still(model, run, extent)
    joints, forces = joint_places(still), force_places(still)
    arms = [arm for axes in frames_of(still).values() for arm in axes] if frames else []
    shapes = [shape, *(np.reshape(p, (1, -1, shape.shape[-1])) for p in (list(joints.values()), arms) if len(p))]
    shapes += [np.reshape(line, (1, -1, shape.shape[-1])) for line in forces.values()]
    ground = ground_outlines(run, GROUND_SHARE * extent)
    view = choose_view(run, [*shapes, *(edges[None] for edges in ground)])
    figure = sheet(f"{model.title or 'model'}: {_counts(model)}", 9.0, 7.0)
    panel = view.stage(figure)
    for edges in ground:
        panel.plot(*view.of(edges).T, color=EARTH, linewidth=0.8, zorder=1)
    for k, body in enumerate(run.bodies):
        _body(still, panel, view, body, COLOURS[k % len(COLOURS)], named=names and len(run.bodies) <= MOST_NAMES)
    for name, line in forces.items():
        if len(model.force_edges[name].ports) == 1:
            arrow(panel, view, line[0], line[1], COLOURS[1])
        else:
            panel.plot(*view.of(line).T, color=GREY, linewidth=1.2, linestyle=(0, (4, 2)), zorder=2)
        if names and len(forces) <= MOST_NAMES:
            _name(panel, view.of(line.mean(axis=0)), [name], GREY)
    _joints(still, panel, view, joints, named=names and len(joints) <= MOST_NAMES)
    if frames:
        for port, axes in frames_of(still).items():
            for colour, arm in zip(AXES, axes, strict=False):
                panel.plot(*view.of(arm).T, color=colour, linewidth=1.3, zorder=5)
            if port == GROUND:
                _name(panel, view.of(axes[0, 1]), ["world"], AXES[0])
    _legend(figure, model, frames=frames)
    return figure


def _still(model: Assembly) -> Assembly:
    """Nothing happens to it."""
    found = model.copy()
    found.schedule = []
    return found


def joint_places(still: Still) -> dict[str, Array]:
    """Where each joint is [m]."""
    found = {}
    for name, edge in still.model.joint_edges.items():
        places = [still.place(port, edge.at) for port in (edge.second, edge.first)]
        if (place := next((one for one in places if one is not None), None)) is not None:
            found[name] = place
    return found


def force_places(still: Still) -> dict[str, Array]:
    """From where to where forces act, (2, d), loads along themselves; what acts at one place, or changes, is not drawn."""
    found = {}
    for name, edge in still.model.force_edges.items():
        load = getattr(edge.force, "force", None)
        if len(edge.ports) == 1 and isinstance(load, Sequence) and np.any(load):
            start, way = still.place(edge.ports[0]), np.asarray(load, float)
            found[name] = np.array([start, start + LOAD * still.extent * way / np.linalg.norm(way)])
            continue
        ends = [still.place(port, edge.at) for port in edge.ports]
        there = [one for one in ends if one is not None]
        if len(there) == 2 and np.linalg.norm(there[1] - there[0]) > SAME * still.extent:
            found[name] = np.array(there)
    return found


def frames_of(still: Still) -> dict[str, Array]:
    """The axes of ports that have some, and of the world where its origin is near: lines, (axes, 2, d)."""
    run, found = still.run, dict[str, Array]()
    d = len(run.model["gravity"])
    for body, described in run.bodies.items():
        for port in described.port_names:
            try:
                axes = run.axes(f"{body}.{port}")[0]
            except ModelError:  # a kind whose ports have none
                continue
            start = run.position(f"{body}.{port}")[0]
            found[f"{body}.{port}"] = np.array([[start, start + LONG * still.extent * axis] for axis in axes])
    places = np.array([lines[0, 0] for lines in found.values()]).reshape(-1, d)
    if len(places) and np.linalg.norm(places, axis=1).min() <= still.extent:
        found[GROUND] = np.array([[np.zeros(d), 1.6 * LONG * still.extent * axis] for axis in np.eye(d)])
    return found


def _body(still: Still, panel: Any, view: View, body: str, colour: str, *, named: bool) -> None:
    line = stroke(still.run, [body], np.array([0]))[0]
    centre = view.of(still.run.mass_centre(body)[0])
    panel.plot(*view.of(line).T, color=colour, linewidth=2.6, solid_capstyle="round", zorder=3)
    panel.plot(*centre[:, None], color=colour, marker="o", markersize=6, markerfacecolor="white", zorder=4)
    panel.plot(*centre[:, None], color=colour, marker="+", markersize=6, zorder=4)
    if named:
        _name(panel, centre, [body], colour, above=True)


def _joints(still: Still, panel: Any, view: View, joints: Mapping[str, Array], *, named: bool) -> None:
    """Rings or squares, axes, and the names of all that are at one place together."""
    groups: list[tuple[Array, list[str]]] = []
    for name, place in joints.items():
        edge = still.model.joint_edges[name]
        ground = GROUND in (edge.first.body, edge.second.body)
        panel.plot(
            *view.of(place)[:, None], color="#222222", marker="s" if ground else "o", markersize=5.5,
            markerfacecolor="#222222" if ground else "white", zorder=6,
        )  # fmt: skip
        if len(place) == 3 and set(edge.joint.coordinates) & {"angle", "way"}:
            half = HINGE * still.extent * axis_in_world(still.run, name)[0]
            panel.plot(*view.of(np.array([place - half, place + half])).T, color="#222222", linewidth=1.0, zorder=5)
        words = f"{name} ({type(edge.joint).__name__})"
        near = next((known for at, known in groups if np.linalg.norm(at - place) <= SAME * still.extent), None)
        if near is None:
            groups.append((place, [words]))
        else:
            near.append(words)
    for place, together in groups if named else ():
        _name(panel, view.of(place), together, "#222222")


def _name(panel: Any, place: Array, words: list[str], colour: str, *, above: bool = False) -> None:
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.2, foreground="white", alpha=0.85)]
    if len(place) == 3:
        text = "\n".join(f"  {word}" for word in words)
        panel.text(
            *place, text, fontsize=7.5, color=colour, va="bottom" if above else "top", zorder=8, path_effects=halo
        )
        return
    panel.annotate(
        "\n".join(words), tuple(place), xytext=(6, 5 if above else -5), textcoords="offset points", fontsize=7.5,
        color=colour, va="bottom" if above else "top", zorder=8, path_effects=halo,
    )  # fmt: skip


def _legend(figure: Figure, model: Assembly, *, frames: bool) -> None:
    """What marks mean, and the weight."""
    from matplotlib.lines import Line2D

    dark = "#222222"
    line: dict[str, Any] = {"linestyle": "", "markersize": 5.5, "color": dark}
    handles = [Line2D([], [], marker="$\\oplus$", label="mass centre", **line)]
    if model.joint_edges:
        handles[:0] = [
            Line2D([], [], marker="s", label="joint with the ground", **line),
            Line2D([], [], marker="o", markerfacecolor="white", label="joint", **line),
        ]
    if any(len(edge.ports) > 1 for edge in model.force_edges.values()):
        handles.append(Line2D([], [], color=GREY, linestyle=(0, (4, 2)), label="force between two ports"))
    if frames:
        handles += [Line2D([], [], color=colour, label=axis) for axis, colour in zip("xyz", AXES, strict=True)][
            : model.dimension
        ]
    gravity = ", ".join(f"{g:.4g}" for g in model.gravity)
    handles.append(Line2D([], [], color=dark, linestyle="", label=f"gravity ({gravity}) m/s²"))
    figure.legend(handles=handles, loc="outside lower left", fontsize=8, frameon=False, ncols=min(len(handles), 8))


def _counts(model: Assembly) -> str:
    """How much there is."""
    counts = {"body": len(model.bodies), "joint": len(model.joint_edges), "force": len(model.force_edges)}
    plural = {"body": "bodies", "joint": "joints", "force": "forces"}
    return ", ".join(f"{n} {word if n == 1 else plural[word]}" for word, n in counts.items() if n)
