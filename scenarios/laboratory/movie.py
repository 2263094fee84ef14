"""A run as one file that plays in any browser, without a network: the picture of the page with a bar for its time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coordinator import Run
from coordinator.laboratory.snapshot import BodyStates, JointStates, Plan, Snapshot
from modular.assembly import JointEdge
from modular.component import Component, find_class
from modular.elements import Array
from modular.errors import ModelError
from modular.port import PortName
from scenarios.laboratory.handling import Handling
from scenarios.laboratory.scene import Scene
from scenarios.laboratory.selection import Selection
from scenarios.report.mechanism import exists, joint_spells

NAME = "motion.html"
PER_SECOND, FRAMES = 25, 1500  # pictures in a second, and at most
Progress = Callable[[int, int], None]


def write_html(runs: Sequence[Run], path: Path, progress: Progress | None = None) -> Path:
    """Write the motion of some runs, one after the other, into one file."""
    from scenarios.laboratory.gate import open_server

    runs = [run for run in runs if len(run)]
    if not runs:
        raise ModelError("nothing was recorded, so there is nothing to show.")
    seconds = sum(float(run.time[-1] - run.time[0]) for run in runs)
    pause = max(1.0 / PER_SECOND, seconds / FRAMES)
    frames = [(film, k) for film in map(Film, runs) for k in film.frames(pause)]
    with open_server(label=str(runs[0].model.get("title") or "modular")) as gated:
        selection = Selection()
        scene = Scene(gated.server, Handling(lambda act: None, selection), selection)
        first = frames[0][0].snapshot(frames[0][1])
        scene.stage(first)
        serializer = gated.server.get_scene_serializer()
        for number, (film, k) in enumerate(frames):
            scene.update(film.snapshot(k))
            serializer.insert_sleep(pause)
            if progress is not None:
                progress(number + 1, len(frames))
        path.write_bytes(serializer.as_html().encode())
    return path


class Film:
    """Snapshots from a run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._states = {name: run.state(name)[:2] for name in run.bodies}
        self._spells = {name: spells for name, spells in joint_spells(run).items() if name in run.joints}
        self._there = {name: exists(run, name) for name in self._spells}
        self._joints = {
            name: (run.violation(name), run.violation_rate(name), run.reaction(name)) for name in self._spells
        }
        self._places: dict[str, Array] = {}
        self._plans: dict[tuple[tuple[str, ...], tuple[Any, ...]], Plan] = {}
        self._coupling: Any = Component.from_data(run.settings["coupling"])

    def frames(self, pause: float) -> list[int]:
        """Samples to show, so long after each other [s]."""
        time = self.run.time
        count = max(1, int((time[-1] - time[0]) / pause) + 1)
        wanted = time[0] + pause * np.arange(count)
        return sorted(set(np.searchsorted(time, wanted - 1e-12).clip(0, len(time) - 1).tolist()))

    def snapshot(self, k: int) -> Snapshot:
        """Everything at one sample."""
        run = self.run
        bodies = [
            BodyStates((name,), q[k][None], v[k][None])
            for name, (q, v) in self._states.items()
            if np.isfinite(q[k]).all()
        ]
        here = {name: self._held(name, k) for name, there in self._there.items() if there[k]}
        joints = []
        for name, (_, ports) in here.items():
            error, rate, reaction = (series[k][None] for series in self._joints[name])
            first, second = (self._place(ports, side, k) for side in (0, 1))
            joints.append(JointStates((name,), 0, error, rate, reaction, first[None], second[None], np.zeros((1, 8))))
        plan = self._plan(tuple(states.names[0] for states in bodies), here)
        return Snapshot(
            number=k, plan=plan, tick=int(run.ticks[k]), time=float(run.time[k]), stretch=1, playing=True, speed=1.0, factor=1.0,
            trouble="", bodies=bodies, joints=joints, forces=[], closed={}, held=None, target=None, notices=(), undo="", redo="",
            record=run.segments,
        )  # fmt: skip

    def _held(self, name: str, k: int) -> tuple[str, tuple[str, ...]]:
        """Class and ports of a joint at a sample."""
        spell = [s for s in self._spells[name] if s[0] <= self.run.ticks[k]] or self._spells[name][:1]
        return spell[-1][1], spell[-1][2]

    def _place(self, ports: tuple[str, ...], side: int, k: int) -> Array:
        port = ports[side] if "." in ports[side] else ports[1 - side]
        if port not in self._places:
            self._places[port] = self.run.position(port)
        place: Array = self._places[port][k]
        return place

    def _plan(self, bodies: tuple[str, ...], joints: dict[str, tuple[str, tuple[str, ...]]]) -> Plan:
        """What is there; one object as long as it stays the same."""
        key = bodies, tuple(joints.items())
        if key not in self._plans:
            gravity = tuple(self.run.model["gravity"])
            edges = {}
            for name, (kind, ports) in joints.items():
                example: Any = find_class(kind)
                first, second = (PortName.parse(port, name) for port in ports)
                edges[name] = JointEdge(example.example(len(gravity)), *first, *second)
            described = {name: self.run.bodies[name] for name in bodies}
            self._plans[key] = Plan(
                len(self._plans), str(self.run.model.get("title", "")), gravity, self.run.dt, self._coupling, described, edges, {},
                (), {}, {}, {}, (),
            )  # fmt: skip
        return self._plans[key]
