"""The mechanism in motion, as a GIF: bodies as lines between their ports, joints as dots while they exist, traces of free ends."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from coordinator.record.run import Run
from modular.elements import Array, Indices
from scenarios.report.mechanism import dimension, free_ports, joint_points, on_ground, outline, samples, stroke
from scenarios.report.page import COLOURS, title
from scenarios.report.view import View, choose_view

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "animation.gif"
MAX_VIEW_EXTENT = 1.5  # times the size of the mechanism: what goes further leaves the picture, if something stays
MAX_FRAMES = 150
FRAMES_PER_SECOND = 25
MIN_FRAMES_PER_SECOND = 10  # frames per second that still look like motion
MIN_SECONDS = 2.0  # what is shorter is slowed down to about this [s]
MAX_TRACES = 6


@dataclass(frozen=True)
class Film:
    """Which samples are shown, how long each [s], and how many times as fast as the clock."""

    at: Indices
    frame: float
    speed: float


def film(run: Run) -> Film:
    """In real time where 150 frames allow it; what is short is slowed down, what is long speeded up."""
    length = float(run.time[-1] - run.time[0])
    if length == 0.0:
        return Film(np.array([0]), 1.0, 1.0)
    shown = length
    if length < 0.5 * MIN_SECONDS:
        shown = length * _round(MIN_SECONDS / length)
    elif length > MAX_FRAMES / MIN_FRAMES_PER_SECOND:
        shown = length / _round(length * MIN_FRAMES_PER_SECOND / MAX_FRAMES)
    frames = min(MAX_FRAMES, len(run), max(2, round(shown * FRAMES_PER_SECOND) + 1))
    frame = max(round(100 * shown / (frames - 1)), 2) / 100  # GIF counts in hundredths of a second
    return Film(samples(run, frames), frame, length / (frame * (frames - 1)))


def animate(run: Run, folder: Path) -> Path:
    """Write the animation into a folder that exists."""
    shot = film(run)
    frames = Scene(run, shot).images()
    palette = frames[-1].quantize(64, method=Image.Quantize.MEDIANCUT)
    images = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    rest = [round(1000 * shot.frame)] * (len(images) - 1)
    path = folder / NAME
    images[0].save(path, save_all=True, append_images=images[1:], duration=[*rest, 1500], loop=0, optimize=False)
    return path


class Scene:
    """Everything that moves, drawn anew on a background that is drawn once."""

    def __init__(self, run: Run, shot: Film) -> None:
        self.run = run
        self.shot = shot
        at = shot.at
        few = len(run.bodies) <= len(COLOURS)
        shapes = [outline(run, body, at) for body in run.bodies] if few else [stroke(run, list(run.bodies), at)]
        self.figure, self.place, view = stage(run, shapes)
        self.shapes = [view.of(shape) for shape in shapes]
        thick = 3.0 if len(run.bodies) <= 30 else 1.6
        self.bodies = [
            self._line(color=COLOURS[k % len(COLOURS)], linewidth=thick, solid_capstyle="round", zorder=3)
            for k in range(len(shapes))
        ]
        points, ground = joint_points(run, at), on_ground(run)
        empty = np.empty((len(at), 0, dimension(run)))
        kinds = [[p for name, p in points.items() if (name in ground) == held] for held in (True, False)]
        self.dots = [view.of(np.stack(kind, axis=1) if kind else empty) for kind in kinds]
        size = 5.0 if len(points) <= 30 else 1.8
        self.marks = [
            self._line(color="#111111", marker="s", linestyle="", markersize=size + 2.0, zorder=4),
            self._line(
                color="#111111",
                marker="o",
                linestyle="",
                markersize=size,
                zorder=4,
                markerfacecolor="white" if few else "#111111",
            ),
        ]
        self.trails = trails(run, at, view)
        self.traces = [
            self._line(
                color=COLOURS[list(run.bodies).index(body) % len(COLOURS)] if few else COLOURS[1],
                linewidth=0.9,
                zorder=2,
            )
            for body, _, _ in self.trails
        ]
        speed = "in real time" if abs(shot.speed - 1) < 0.02 else f"{shot.speed:.2g} × real time"
        self.place.set_title(f"{title(run)}, {speed}", fontsize=9, loc="left")
        self.clock = self.figure.text(0.985, 0.99, "", ha="right", va="top", fontsize=9, family="monospace")

    def images(self) -> list[Image.Image]:
        """One image per frame."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        canvas: Any = FigureCanvasAgg(self.figure)
        canvas.draw()
        background = canvas.copy_from_bbox(self.figure.bbox)
        artists = [*self.traces, *self.bodies, *self.marks, self.clock]
        frames = []
        for k in range(len(self.shot.at)):
            self._pose(k)
            canvas.restore_region(background)
            for artist in artists:
                self.figure.draw_artist(artist) if artist is self.clock else self.place.draw_artist(artist)
            frames.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy()))
        return frames

    def _pose(self, k: int) -> None:
        for line, shape in zip(self.bodies, self.shapes, strict=True):
            _place(line, shape[k])
        for mark, dots in zip(self.marks, self.dots, strict=True):
            _place(mark, dots[k])
        sample = self.shot.at[k]
        for line, (_, where, path) in zip(self.traces, self.trails, strict=True):
            _place(line, path[where <= sample])
        self.clock.set_text(f"t = {self.run.time[sample]:.3f} s")

    def _line(self, **style: Any) -> Any:
        nothing: list[list[float]] = [[]] * (3 if self.place.name == "3d" else 2)
        return self.place.plot(*nothing, animated=True, **style)[0]


def stage(run: Run, shapes: list[Array]) -> tuple[Figure, Any, View]:
    """An empty figure, as high as the motion asks for."""
    from matplotlib.figure import Figure

    view = choose_view(run, in_sight(shapes))
    sides = view.high - view.low
    ratio = float(np.clip(sides[1] / sides[0], 0.3, 1.4)) if len(sides) == 2 else 0.85
    figure = Figure(figsize=(6.0, 6.0 * ratio + 0.7), dpi=100, layout="constrained")
    place = view.stage(figure)
    place.tick_params(labelsize=8)
    return figure, place, view


def in_sight(shapes: list[Array]) -> list[Array]:
    """Without what has gone far from where all began, as what falls after a cut does, if anything stays near: else all."""
    begin = np.concatenate([shape[0] for shape in shapes])
    low, high = np.nanmin(begin, axis=0), np.nanmax(begin, axis=0)
    way = MAX_VIEW_EXTENT * float((high - low).max())
    near = [
        ((shape >= low - way) & (shape <= high + way)).all(axis=-1) | np.isnan(shape).any(axis=-1) for shape in shapes
    ]
    if not way or not any(there.all() for there in near):
        return shapes
    return [np.where(there[..., None], shape, np.nan) for shape, there in zip(shapes, near, strict=True)]


def trails(run: Run, at: Indices, view: View) -> list[tuple[str, Indices, Array]]:
    """Paths of the ends that no joint holds, while none does: body, samples, points."""
    fine = samples(run, 8 * len(at))
    free = free_ports(run, fine)
    ends = [port for port, loose in free.items() if loose.any()]
    step = max(1, -(-len(ends) // MAX_TRACES))
    found = []
    for port in ends[::-1][::step]:
        path = view.of(run.position(port)[fine])
        path[~free[port]] = np.nan
        found.append((port.partition(".")[0], fine, path))
    return found


def _place(line: Any, points: Array) -> None:
    line.set_data_3d(*points.T) if points.shape[-1] == 3 else line.set_data(*points.T)


def _round(factor: float) -> float:
    """The nearest of 1, 2, 5, 10, 20, 50 … that is not smaller."""
    power = 10.0 ** np.floor(np.log10(factor))
    return float(next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= factor * (1 - 1e-9)))
