"""The mechanism in the page: bodies, joints, ports, traces, arrows, the hand, and the ghost of a reference.

All bodies are two nodes of the page, one of sticks and one of balls, and all joints of a kind are one: a picture of fifty bodies is
a few messages. Nodes are made anew when somebody comes or goes; else only their places change.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import numpy as np

from components import Contact, Surface
from coordinator.laboratory.ghost import GhostView
from coordinator.laboratory.snapshot import Plan, Snapshot
from modular.assembly import JointEdge
from modular.elements import Array, Indices
from modular.port import GROUND
from scenarios.laboratory.cameras import Cameras
from scenarios.laboratory.colours import PALETTE, SHARED, heat, shared
from scenarios.laboratory.figure import Figure, along, extent_of, in_space
from scenarios.laboratory.handling import Handling
from scenarios.laboratory.looks import Looks, colours_of
from scenarios.laboratory.selection import Selection
from scenarios.laboratory.shapes import (
    COARSE_DETAIL,
    FINE_DETAIL,
    SHAPES,
    detail_for,
    mesh,
    shape_of,
    sizes_of_marks,
)
from scenarios.laboratory.stage import lay_grid, light
from scenarios.laboratory.touching import Outline, outlines_of, poses
from scenarios.laboratory.traces import path_since
from scenarios.laboratory.view import View, away_of, fitted, up_of

CHOSEN, JOINT, ON_GROUND, PORT = (255, 200, 0), (70, 70, 80), (30, 30, 34), (240, 240, 245)
HAND, ARROW, TRACE, LINK, GHOST = (230, 40, 40), (200, 40, 60), (120, 120, 130), (110, 110, 120), (60, 60, 70)
CONTACT_OPACITY = 0.6  # how much of shapes that touch is seen: what is inside them shows through
MAX_TRACES = 4  # free ends that leave a trace
FILM_ASPECT, FILM_FOV = (
    1.25,
    np.radians(40.0),
)  # of the frame of a film, which nobody has opened yet: width over height, and angle


class Scene:
    """Draws snapshots; everything of the viewer is touched in the thread that calls `update`."""

    def __init__(self, server: Any, handling: Handling, selection: Selection) -> None:
        self.server, self.handling, self.selection = server, handling, selection
        self.colours, self.arrows, self.traces, self.pictured = "bodies", True, True, True
        self.figure: Figure | None = None
        self.detail = FINE_DETAIL
        self._nodes: dict[str, Any] = {}
        self._plan: Plan | None = None
        self._chosen: str | None = None
        self._size = 1.0
        self.cameras = Cameras(server, selection)
        self.unhurried = False  # whether everything is drawn in every picture, however fast they follow each other
        self._drawn = 0.0
        self._tails: dict[str, deque[Array]] = {}
        self._time = -np.inf
        self._ghost_plan: Plan | None = None
        self._ghost: Figure | None = None
        self._order: list[str] | None = None  # joints, as they are drawn
        self._rows: dict[str, Any] = {}  # of them, shape by shape
        self._colour_mode = self.colours
        self._outlines: list[Outline] = []
        self.looks = Looks()
        self._pictured = self.pictured

    # --- the stage ---------------------------------------------------------------------------------------------------

    def stage(self, *snapshots: Snapshot, tight: bool = False) -> None:
        """Where one looks from, and what is up; `tight`: all that is in these snapshots fills the frame, and nothing else comes."""
        plan = snapshots[0].plan
        clouds: list[Array] = []
        sizes: list[float] = []
        before: Plan | None = None
        for snapshot in snapshots:
            figure = Figure(snapshot.plan, snapshot, sizes[-1] if before is snapshot.plan else None)
            before = snapshot.plan
            clouds.append(self._extent(figure, snapshot, tight=tight))
            sizes.append(figure.size)
        points, size = np.concatenate(clouds), max(sizes)
        points = points[np.isfinite(points).all(axis=1)]
        if not len(points):
            points = np.zeros((1, 3))
        up = up_of(plan)
        away = away_of(plan, points, up)
        middle, side = extent_of(points)
        if tight:
            self.server.initial_camera.fov = FILM_FOV
            self._filmed = points, away, up, size
            first = self.film_view(FILM_ASPECT)
        else:
            aim = middle - 0.15 * side * up
            first = View(aim + 2.2 * max(side, 1.4 * size) * away, aim, up)
        self.server.scene.set_up_direction(tuple(up))
        self.cameras.begin(first, points, flat=plan.dimension == 2, size=size)
        light(self.server, away, up)
        lay_grid(self.server, plan, points, away, size)

    def film_view(self, aspect: float) -> View:
        """From where all that is filmed is seen in a frame of so much width over height."""
        points, away, up, size = self._filmed
        return fitted(points, away, up, aspect=aspect, fov=FILM_FOV, least=size)

    def _extent(self, figure: Figure, snapshot: Snapshot, *, tight: bool) -> Array:
        """Points that are to be seen: of the bodies, and of the shapes on them that touch."""
        places = figure.places(snapshot)
        if not tight:
            return places
        outlines = [one for one in outlines_of(snapshot.plan, figure.size) if one.body != GROUND]
        centres, _ = poses(outlines, snapshot)
        radii = np.array([np.linalg.norm(one.sizes) for one in outlines]).reshape(-1, 1, 1)
        around = centres[:, None] + radii * np.concatenate([np.eye(3), -np.eye(3)])
        if snapshot.plan.dimension == 2:
            around[..., 2] = 0.0
        return np.concatenate([places, around.reshape(-1, 3)])

    # --- a picture ---------------------------------------------------------------------------------------------------

    def update(self, snapshot: Snapshot) -> None:
        """Show a snapshot."""
        fresh = self._plan is not snapshot.plan or self._colour_mode != self.colours or self._pictured != self.pictured
        if fresh:
            self._pictured = self.pictured
            self.looks.show(snapshot.plan)
            self._plan, self._colour_mode = snapshot.plan, self.colours
            going_on = self.figure is not None and bool(self.figure.parts)
            self.figure = Figure(snapshot.plan, snapshot, self._size if going_on else None)
            self._size = self.figure.size
            self.detail = detail_for(len(self.figure.parts))
        assert self.figure is not None
        places = self.figure.places(snapshot)
        self.handling.see(snapshot, self.figure, places)
        chosen = self._chosen != self.selection.name
        self._chosen = self.selection.name
        with self.server.atomic():
            self._bodies("/bodies", self.figure, places, fresh, chosen)
            self._draw_looks(snapshot, fresh, chosen)
            self._draw_touching(snapshot, fresh, chosen)
            self._draw_joints(snapshot, fresh, chosen)
            self._draw_ports(places, fresh)
            if fresh or self.unhurried or time.monotonic() - self._drawn >= self.detail.pause:
                self._drawn = time.monotonic()
                self._draw_lines(snapshot)
                self._draw_traces(snapshot, places)
            swing = snapshot.answers.swing
            self._draw_ghost(snapshot.ghost if swing is None else swing.at(time.monotonic()))
        self.cameras.update(snapshot, places, self._size)

    def _bodies(
        self, root: str, figure: Figure, places: Array, fresh: bool, chosen: bool, *, ghost: bool = False
    ) -> None:
        hidden = self.looks.bodies if self.pictured and not ghost else frozenset()  # behind their pictures
        kept = [k for k, part in enumerate(figure.sticks) if part.body not in hidden]
        sticks, (first, second) = [figure.sticks[k] for k in kept], (ends[kept] for ends in figure.ends(places))
        arms = second - first
        lengths = np.linalg.norm(arms, axis=1)
        radii = np.array([part.radius for part in sticks])
        self._batch(
            f"{root}/sticks", "cylinder", 0.5 * (first + second), along(arms), np.column_stack([radii, radii, lengths]),
            [part.body for part in sticks], fresh, chosen, ghost,
        )  # fmt: skip
        kept = [k for k, part in enumerate(figure.balls) if part.body not in hidden]
        balls, centres = [figure.balls[k] for k in kept], figure.centres(places)[kept]
        sizes = np.array([part.radius for part in balls])
        self._batch(
            f"{root}/balls", "ball", centres, np.tile([1.0, 0.0, 0.0, 0.0], (len(centres), 1)), np.tile(sizes[:, None], (1, 3)),
            [part.body for part in balls], fresh, chosen, ghost,
        )  # fmt: skip

    def _draw_touching(self, snapshot: Snapshot, fresh: bool, chosen: bool) -> None:
        """The shapes that contacts let touch, so that one sees through them to the ports; half spaces of the ground beside."""
        if fresh:
            self._outlines = outlines_of(snapshot.plan, self._size)
        places, turns = poses(self._outlines, snapshot)
        for shape in ("ball", "box", "cylinder"):
            for where, on_ground in (("/shapes", False), ("/ground", True)):
                rows = [
                    k for k, one in enumerate(self._outlines) if one.mesh == shape and (one.body == GROUND) is on_ground
                ]
                sizes = np.array([self._outlines[k].sizes for k in rows]).reshape(-1, 3)
                self._batch(
                    f"{where}/{shape}", shape, places[rows], turns[rows], sizes, [self._outlines[k].body for k in rows], fresh,
                    chosen, on_ground, opacity=CONTACT_OPACITY,
                )  # fmt: skip

    def _draw_looks(self, snapshot: Snapshot, fresh: bool, chosen: bool) -> None:
        """What files of others say that bodies look like."""
        if fresh:
            for name in [name for name in self._nodes if name.startswith("/looks/")]:
                self._drop(name)
        for number, ones in enumerate(self.looks.meshes.values() if self.pictured else ()):
            outlines, pictures = [one for one, _ in ones], [picture for _, picture in ones]
            places, turns = poses(outlines, snapshot)
            file = pictures[0].file
            bodies = [one.body for one in outlines]
            colours = colours_of(pictures, self._colours_of(bodies, GROUND in bodies))
            colours[[name == self.selection.name for name in bodies]] = CHOSEN
            self._batch(
                f"/looks/{number}", outlines[0].mesh, places, turns, np.array([one.sizes for one in outlines]), bodies, fresh,
                chosen, False, given=None if file is None else self.looks.mesh(file), colours=colours,
            )  # fmt: skip

    def _batch(
        self, name: str, shape: str, places: Array, turns: Array, sizes: Array, bodies: list[str], fresh: bool, chosen: bool,
        ghost: bool, opacity: float | None = None, given: tuple[Array, Indices] | None = None, colours: Any = None,
    ) -> None:  # fmt: skip
        if colours is None:
            colours = self._colours_of(bodies, ghost)
        if fresh or name not in self._nodes:
            self._drop(name)
            if len(places):
                self._nodes[name] = node = self.server.scene.add_batched_meshes_simple(
                    name, *(given or mesh(shape, self.detail)), turns, places, batched_scales=sizes,
                    batched_colors=colours, lod="off", opacity=0.25 if ghost else opacity,
                    cast_shadow=not ghost,
                )  # fmt: skip
                if not ghost:
                    self.handling.attend(node, name, bodies)
            return
        if not len(places):
            return
        node = self._nodes[name]
        node.batched_positions = places.astype(np.float32)
        if shape != "ball":
            node.batched_wxyzs = turns.astype(np.float32)
            if not np.array_equal(node.batched_scales, sizes.astype(np.float32)):
                node.batched_scales = sizes.astype(np.float32)
        if chosen and not ghost:
            node.batched_colors = colours

    def _colours_of(self, bodies: list[str], ghost: bool) -> Any:
        if ghost:
            return np.tile(np.array(GHOST, np.uint8), (len(bodies), 1))
        assert self._plan is not None
        number = {name: k for k, name in enumerate(self._plan.bodies)}
        found = PALETTE[[number.get(name, 0) % len(PALETTE) for name in bodies]]
        found[[name == self.selection.name for name in bodies]] = CHOSEN
        return found

    # --- joints and ports --------------------------------------------------------------------------------------------

    def _draw_joints(self, snapshot: Snapshot, fresh: bool, chosen: bool) -> None:
        """A mark per joint, by its kind; coloured by what it carries or leaves open where that is asked for."""
        d = snapshot.plan.dimension
        names = [name for states in snapshot.joints for name in states.names]
        places = in_space(_together([states.first for states in snapshot.joints], d))
        load = np.concatenate([np.linalg.norm(states.reaction, axis=1) for states in snapshot.joints] or [np.zeros(0)])
        gap = np.concatenate(
            [np.abs(states.error).max(axis=1, initial=0.0) for states in snapshot.joints] or [np.zeros(0)]
        )
        if fresh or self._order != names:
            fresh, self._order = True, names
            shapes = [shape_of(snapshot.plan.joints[name].joint) for name in names]
            self._rows = {shape: np.flatnonzero([own == shape for own in shapes]) for shape in SHAPES}
        colours = (
            self._joint_colours(snapshot, names, load, gap) if fresh or chosen or self.colours != "bodies" else None
        )
        for shape in SHAPES:
            rows, path = self._rows[shape], f"/joints/{shape}"
            if fresh:
                self._drop(path)
                if len(rows):
                    assert colours is not None
                    around = [self._around(snapshot.plan.joints[names[row]]) for row in rows]
                    scales = sizes_of_marks(shape, self._size, np.array(around))
                    self._nodes[path] = node = self.server.scene.add_batched_meshes_simple(
                        path, *mesh(shape, COARSE_DETAIL), np.tile([1.0, 0.0, 0.0, 0.0], (len(rows), 1)), places[rows],
                        batched_scales=scales,
                        batched_colors=colours[rows], lod="off",
                    )  # fmt: skip
                    self.handling.attend(node, path, [names[row] for row in rows], joints=True)
            elif len(rows):
                self._nodes[path].batched_positions = places[rows].astype(np.float32)
                if colours is not None:
                    self._nodes[path].batched_colors = colours[rows]

    def _around(self, edge: JointEdge) -> float:
        """Radius of what is drawn around a joint [m]."""
        assert self.figure is not None
        return max(self.figure.thickness(port.body, port.port) for port in (edge.first, edge.second))

    def _joint_colours(self, snapshot: Snapshot, names: list[str], load: Array, gap: Array) -> Any:
        colours = np.zeros((len(names), 3), np.uint8)
        heaviest, widest = max(float(load.max(initial=0.0)), 1e-12), max(float(gap.max(initial=0.0)), 1e-15)
        for k, name in enumerate(names):
            edge = snapshot.plan.joints[name]
            colours[k] = ON_GROUND if GROUND in (edge.first_body, edge.second_body) else JOINT
            if self.colours == "load":
                colours[k] = heat(load[k] / heaviest)
            elif self.colours == "violation":
                colours[k] = heat(1.0 + np.log10(max(gap[k], 1e-16) / widest) / 6.0)
            elif self.colours == SHARED:
                colours[k] = shared(snapshot.answers.sharing, name)
            if name == self.selection.name:
                colours[k] = CHOSEN
        return colours

    def _draw_ports(self, places: Array, fresh: bool) -> None:
        """Small balls on all ports: where one clicks to join."""
        assert self.figure is not None
        numbers = [k for k, point in enumerate(self.figure.points) if self.figure.is_port(*point)]
        if not numbers:
            self._drop("/ports")
            return
        if fresh or "/ports" not in self._nodes:
            self._drop("/ports")
            size = 0.013 * self._size
            self._nodes["/ports"] = node = self.server.scene.add_batched_meshes_simple(
                "/ports", *mesh("ball", COARSE_DETAIL), np.tile([1.0, 0.0, 0.0, 0.0], (len(numbers), 1)),
                places[numbers], batched_scales=np.full((len(numbers), 3), size), batched_colors=PORT, lod="off",
            )  # fmt: skip
            self.handling.attend_ports(node, [self.figure.points[k] for k in numbers])
        else:
            self._nodes["/ports"].batched_positions = places[numbers].astype(np.float32)

    # --- lines -------------------------------------------------------------------------------------------------------

    def _draw_lines(self, snapshot: Snapshot) -> None:
        """Reactions and loads as arrows, springs and long joints as lines, and the hand."""
        d = snapshot.plan.dimension
        first = in_space(_together([states.first for states in snapshot.joints], d))
        second = in_space(_together([states.second for states in snapshot.joints], d))
        long = np.linalg.norm(second - first, axis=1) > 1e-3 * self._size
        links = [np.stack([first[long], second[long]], axis=1)]
        places = [second]
        forces = [in_space(_together([states.reaction[:, :d] for states in snapshot.joints], d))]
        hand = np.zeros((0, 2, 3))
        for acting in snapshot.forces:
            place, end = in_space(acting.place), in_space(acting.second)
            edge = snapshot.plan.forces.get(acting.names[0]) if acting.names else None
            if edge is None or isinstance(edge.force, Contact | Surface):
                continue
            if len(edge.ports) == 2:
                links.append(np.stack([place, end], axis=1))
            elif snapshot.target is not None and hasattr(edge.force, "target"):
                hand = np.stack([place[0], in_space(snapshot.target)])[None]
            elif acting.force.shape[1] == d:
                places.append(place)
                forces.append(in_space(acting.force))
        self._lines("/links", np.concatenate(links), LINK, 0.006)
        self._lines("/hand", hand, HAND, 0.008)
        start, pull = np.concatenate(places), np.concatenate(forces)
        size = np.linalg.norm(pull, axis=1)
        largest = float(size.max(initial=0.0))
        if not self.arrows or largest == 0.0:
            self._drop("/reactions")
            return
        length = 0.35 * self._size / largest * pull
        length[size < 0.02 * largest] = (
            0.0,
            0.0,
            1e-6 * self._size,
        )  # too short to be seen, and the node stays as it is
        self._arrows("/reactions", np.stack([start, start + length], axis=1))

    def _lines(self, name: str, segments: Array, colour: tuple[int, int, int], thickness: float) -> None:
        if not len(segments):
            self._drop(name)
            return
        points = np.array(segments, np.float32)
        node = self._nodes.get(name)
        if node is None or node.points.shape != points.shape:
            self._drop(name)
            self._nodes[name] = self.server.scene.add_line_segments(
                name, points, colour, thickness=thickness * self._size
            )
        else:
            node.points = points

    def _arrows(self, name: str, segments: Array) -> None:
        points = segments.astype(np.float32)
        node = self._nodes.get(name)
        if node is None or node.points.shape != points.shape:
            self._drop(name)
            self._nodes[name] = self.server.scene.add_arrows(
                name, points, ARROW, shaft_radius=0.005 * self._size, head_radius=0.014 * self._size,
                head_length=0.035 * self._size,
            )  # fmt: skip
        else:
            node.points = points

    def _draw_traces(self, snapshot: Snapshot, places: Array) -> None:
        """Paths of free ends, and of what is chosen; they begin anew where time goes back."""
        assert self.figure is not None
        if snapshot.time < self._time:
            self._tails.clear()
            self._time = -np.inf
        ends = self._free_ends(snapshot) if self.traces else []
        for end in [end for end in self._tails if end not in ends]:
            del self._tails[end]
        if snapshot.time < self._time + self.detail.often and len(self._tails) == len(ends):
            return
        segments = []
        for end in ends:
            body, _, port = end.partition(".")
            tail = self._tails.setdefault(end, deque(maxlen=self.detail.trace))
            tail.extend(path_since(snapshot, body, port, self._time, self.detail))
            path = np.array([*tail, self.figure.of(places, body)[port]])
            segments.append(np.stack([path[:-1], path[1:]], axis=1))
        self._time = snapshot.time
        lines = np.concatenate(segments) if segments else np.zeros((0, 2, 3))
        padding = lines[-1:].repeat(-len(lines) % 50, axis=0)  # so that the node is made anew now and then only
        self._lines("/traces", np.concatenate([lines, padding]), TRACE, 0.005)

    def _free_ends(self, snapshot: Snapshot) -> list[str]:
        """Ports that no joint holds; of the chosen body all."""
        assert self.figure is not None
        held = {str(port) for edge in snapshot.plan.joints.values() for port in (edge.first, edge.second)}
        ports = [f"{body}.{port}" for body, port in self.figure.points if port]
        chosen = [port for port in ports if port.partition(".")[0] == self.selection.name]
        free = [port for port in ports if port not in held]
        step = max(1, -(-len(free) // MAX_TRACES))
        return list(dict.fromkeys([*free[::-1][::step], *chosen]))

    def _draw_ghost(self, ghost: GhostView | None) -> None:
        if ghost is None:
            for name in ("/ghost/sticks", "/ghost/balls"):
                self._drop(name)
            self._ghost = None
            return
        fresh = self._ghost is None or self._ghost_plan is not ghost.plan
        if fresh:
            self._ghost, self._ghost_plan = Figure(ghost.plan, ghost, self._size), ghost.plan
        assert self._ghost is not None
        self._bodies("/ghost", self._ghost, self._ghost.places(ghost), fresh, False, ghost=True)

    def _drop(self, name: str) -> None:
        node = self._nodes.pop(name, None)
        if node is not None:
            self.handling.forget(name)
            node.remove()


def _together(arrays: list[Array], dimension: int) -> Array:
    """Rows of all stacks, one after the other."""
    return np.concatenate(arrays) if arrays else np.zeros((0, dimension))
