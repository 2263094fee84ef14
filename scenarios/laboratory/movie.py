"""A run as one file that plays in any browser, without a network: the picture of the page with a bar for its time."""

from __future__ import annotations

import html
import json
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from coordinator import Run
from coordinator.laboratory.snapshot import BodyStates, ForceStates, JointStates, Plan, Snapshot
from coordinator.record.recorder import Segment
from modular.assembly import ForceEdge, JointEdge
from modular.component import Component
from modular.elements import Array
from modular.errors import ModelError
from modular.picture import Picture
from modular.port import GROUND, PortName
from scenarios.laboratory.edges import edge_at, forces_of, joints_of
from scenarios.laboratory.handling import Handling
from scenarios.laboratory.loads import Loads, States
from scenarios.laboratory.scene import FILM_ASPECT, Scene
from scenarios.laboratory.selection import Selection
from scenarios.laboratory.view import View

NAME = "motion.html"
FRAMES_PER_SECOND, MAX_FRAMES = 25, 1500  # pictures in a second, and at most
ASPECTS = (
    0.45,
    0.6,
    0.8,
    1.0,
    FILM_ASPECT,
)  # width over height of windows in which it may be opened; of wider ones the last
BAR_HEIGHT = 48  # of the bar for its time [pixels]
FRAMING_SAMPLES = 80  # of them, so that all that happens is within the frame
Progress = Callable[[int, int], None]


def write_html(
    runs: Sequence[Run], path: Path, progress: Progress | None = None, pictures: Sequence[Picture] = ()
) -> Path:
    """Write the motion of some runs, one after the other, into one file; `pictures`: what their bodies look like."""
    from scenarios.laboratory.gate import open_server

    runs = [run for run in runs if len(run)]
    if not runs:
        raise ModelError("nothing was recorded, so there is nothing to show.")
    seconds = sum(float(run.time[-1] - run.time[0]) for run in runs)
    pause = max(1.0 / FRAMES_PER_SECOND, seconds / MAX_FRAMES)
    frames = [(film, k) for film in (Film(run, pictures) for run in runs) for k in film.frames(pause)]
    title = str(runs[0].model.get("title") or "modular")
    with open_server(label=title) as gated:
        selection = Selection()
        scene = Scene(gated.server, Handling(lambda act: None, selection), selection)
        scene.unhurried = True
        some = np.unique(np.linspace(0, len(frames) - 1, min(len(frames), FRAMING_SAMPLES)).round().astype(int))
        scene.stage(*(frames[n][0].snapshot(frames[n][1]) for n in some), tight=True)
        serializer = gated.server.get_scene_serializer()
        for number, (film, k) in enumerate(frames):
            scene.update(film.snapshot(k))
            serializer.insert_sleep(pause)
            if progress is not None:
                progress(number + 1, len(frames))
        page = framed(titled(serializer.as_html(), title), {a: scene.film_view(a) for a in ASPECTS})
        path.write_bytes(page.encode())
    return path


def titled(page: str, title: str) -> str:
    """A page of the viewer under a title of its own."""
    return page.replace("<title>Viser</title>", f"<title>{html.escape(title)}</title>", 1)


def framed(page: str, views: Mapping[float, View]) -> str:
    """A page that begins with the view for its window, by width over height: all is to be seen on a phone too.

    The viewer takes where it begins from its address, and knows one place otherwise.
    """
    at = {
        f"{aspect:g}": {
            "initialCameraPosition": ",".join(f"{x:.9g}" for x in view.position),
            "initialCameraLookAt": ",".join(f"{x:.9g}" for x in view.look_at),
        }
        for aspect, view in views.items()
    }
    script = f"""<script>
(() => {{
  const views = {json.dumps(at)}, asked = new URLSearchParams(location.search);
  const room = innerWidth / Math.max(innerHeight - {BAR_HEIGHT}, 1);
  const aspect = Object.keys(views).map(Number).filter((one) => one <= room).sort((a, b) => b - a)[0] ?? {min(views):g};
  if (asked.has("initialCameraPosition")) return;
  for (const [key, value] of Object.entries(views[aspect])) asked.set(key, value);
  try {{ history.replaceState(history.state, "", "?" + asked); }} catch {{}}
}})();
</script>"""
    return page.replace("<head>", f"<head>{script}", 1)


class Film:
    """Snapshots from a run: what was there by its samples, what it was by what the run tells of joints and forces."""

    def __init__(self, run: Run, pictures: Sequence[Picture] = ()) -> None:
        self.run, self._pictures = run, pictures
        self._starts = [0, *accumulate(segment.used for segment in run.segments)]
        self._joints, self._forces = joints_of(run), forces_of(run)
        self._plans: dict[Any, tuple[Plan, Loads]] = {}
        self._grounds: dict[tuple[str, int], Array] = {}
        self._coupling: Any = Component.from_data(run.settings["coupling"])

    def frames(self, pause: float) -> list[int]:
        """Samples to show, so long after each other [s]."""
        time = self.run.time
        count = max(1, int((time[-1] - time[0]) / pause) + 1)
        wanted = time[0] + pause * np.arange(count)
        return sorted(set(np.searchsorted(time, wanted - 1e-12).clip(0, len(time) - 1).tolist()))

    def snapshot(self, k: int) -> Snapshot:
        """Everything at one sample."""
        run, (segment, row) = self.run, self._where(k)
        tick, time = int(run.ticks[k]), float(run.time[k])
        bodies = _bodies(segment, row)
        states = {name: (table.q[n], table.v[n]) for table in bodies for n, name in enumerate(table.names)}
        held = self._there(self._joints, segment.joints, tick)
        acting = self._there(self._forces, segment.forces, tick)
        held = {n: s for n, s in held.items() if {s[1].first_body, s[1].second_body} <= {GROUND, *states}}
        acting = {n: s for n, s in acting.items() if {port.body for port in s[1].ports} <= {GROUND, *states}}
        plan, loads = self._plan(held, acting, states)
        forces = self._force_states(acting, states, loads.at(states, time))
        return Snapshot(
            number=k, plan=plan, tick=tick, time=time, stretch=1, playing=True, speed=1.0, factor=1.0, trouble="", bodies=bodies,
            joints=self._joint_states(segment, row, held, states), forces=forces, closed={}, held=None, target=None,
            notices=(), undo="", redo="", record=run.segments,
        )  # fmt: skip

    def _where(self, k: int) -> tuple[Segment, int]:
        """The segment of a sample, and which of its own it is."""
        number = bisect_right(self._starts, k, hi=len(self._starts) - 1) - 1
        return self.run.segments[number], k - self._starts[number]

    @staticmethod
    def _there(lifetimes: Any, tables: Sequence[tuple[Sequence[str], Any]], tick: int) -> dict[str, Any]:
        """Of what was there by the samples, since when it was as it was, and how."""
        return {name: edge_at(lifetimes[name], tick) for names, _ in tables for name in names if name in lifetimes}

    def _joint_states(
        self, segment: Segment, row: int, held: dict[str, tuple[int, JointEdge]], states: States
    ) -> list[JointStates]:
        found = []
        for names, series in segment.joints:
            rows = [n for n, name in enumerate(names) if name in held]
            if not rows:
                continue
            known = [names[n] for n in rows]
            places = [self._ends(name, held[name], states) for name in known]
            error, rate, reaction = (series[key][row][rows] for key in ("violation", "violation_rate", "reaction"))
            first, second = (np.array([ends[side] for ends in places]) for side in (0, 1))
            found.append(JointStates(known, 0, error, rate, reaction, first, second, np.zeros((len(rows), 8))))
        return found

    def _ends(self, name: str, lifetime: tuple[int, JointEdge], states: States) -> tuple[Array, Array]:
        """Where its two points are; on the ground where it was made, but at the other one for what holds points together."""
        since, edge = lifetime
        ports, at = (edge.first, edge.second), edge.at
        together = at is None and self.run.forms.get(name, {}).get("translations") == len(self.run.model["gravity"])
        first, second = (self._place(name, since, ports, side, at, states, moving=together) for side in (0, 1))
        return first, second

    def _force_states(
        self, acting: dict[str, tuple[int, ForceEdge]], states: States, loads: dict[str, Array]
    ) -> list[ForceStates]:
        found = []
        for name, (since, edge) in acting.items():
            first, last = (
                self._place(name, since, edge.ports, side, edge.at, states) for side in (0, len(edge.ports) - 1)
            )
            force = loads.get(name, np.zeros(len(first)))
            found.append(ForceStates((name,), force[None], first[None], last[None], np.zeros((1, 8))))
        return found

    def _place(
        self, name: str, since: int, ports: Sequence[PortName], side: int, at: Sequence[float] | None, states: States, *,
        moving: bool = False,
    ) -> Array:  # fmt: skip
        """Where a port is; that of the ground stays at `at`, or where the other port was when it was taken hold of."""
        port = ports[side]
        if port.body != GROUND:
            return self._port(port, *states[port.body])
        if at is not None:
            return np.array(at, float)
        other = next(port for port in ports if port.body != GROUND)
        if moving:
            return self._port(other, *states[other.body])
        if (name, since) not in self._grounds:
            self._grounds[name, since] = self._port(other, *self._first_state(other.body, since, states))
        return self._grounds[name, since]

    def _port(self, port: PortName, q: Array, v: Array) -> Array:
        place: Array = self.run.bodies[port.body].port_motion(port.port, q, v, v)[0]
        return place

    def _first_state(self, body: str, tick: int, states: States) -> tuple[Array, Array]:
        """Of the first sample from a tick on."""
        for segment in self.run.segments:
            row = int(np.searchsorted(segment.ticks[: segment.used], tick))
            place = segment.series("bodies", body)
            if row < segment.used and place is not None:
                return place[0]["q"][row, place[1]], place[0]["v"][row, place[1]]
        return states[body]

    def _plan(
        self, held: dict[str, tuple[int, JointEdge]], acting: dict[str, tuple[int, ForceEdge]], states: States
    ) -> tuple[Plan, Loads]:
        """What is there; one object as long as it stays the same."""
        since = tuple((name, lifetime[0]) for lifetimes in (held, acting) for name, lifetime in lifetimes.items())
        key = tuple(states), since
        if key not in self._plans:
            gravity = tuple(self.run.model["gravity"])
            bodies = {name: self.run.bodies[name] for name in states}
            joints = {name: edge for name, (_, edge) in held.items()}
            forces = {name: edge for name, (_, edge) in acting.items()}
            title = str(self.run.model.get("title", ""))
            plan = Plan(
                len(self._plans),
                title,
                gravity,
                self.run.dt,
                self._coupling,
                bodies,
                joints,
                forces,
                (),
                {},
                {},
                {},
                (),
                self._pictures,
            )
            self._plans[key] = plan, Loads(gravity, bodies, forces, states)
        return self._plans[key]


def _bodies(segment: Segment, row: int) -> list[BodyStates]:
    """Those that are somewhere: a motion that has come to an end may leave others nowhere."""
    found = []
    for names, series in segment.bodies:
        q, v = series["q"][row], series["v"][row]
        there = np.flatnonzero(np.isfinite(q).reshape(len(names), -1).all(axis=1))
        if len(there) == len(names):
            found.append(BodyStates(tuple(names), q, v))
        elif len(there):
            found.append(BodyStates(tuple(names[n] for n in there), q[there], v[there]))
    return found
