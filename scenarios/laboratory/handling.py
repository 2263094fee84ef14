"""What people do with the mouse in the picture: click to choose, drag to grab, drag with shift from body to body to join.

All that happens here is that acts are posted: nothing of the viewer is touched, and nobody waits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from components import Distance, Revolute, Spherical
from coordinator.laboratory.acts import Doing, Drag, Grab, Release
from coordinator.laboratory.snapshot import Snapshot
from modular.component import Component
from modular.elements import Array
from modular.events import Join
from modular.joint import Joint
from modular.port import GROUND
from scenarios.laboratory.figure import Figure
from scenarios.laboratory.selection import Selection
from scenarios.laboratory.words import free_name

BODY_PICK_SHARE = 0.08  # of the size of the mechanism: how near to a body a drag must end to mean it
PORT_PICK_SHARE = 0.03  # of that size: how near to a port a click must be to be one on it
COINCIDENCE_TOLERANCE = 1e-6  # [m]: ports that a joint can hold together as they are


class Handling:
    """Turns events of the page into acts."""

    def __init__(self, post: Callable[[Doing], object], selection: Selection) -> None:
        self.post, self.selection = post, selection
        self._seen: tuple[Snapshot, Figure, Array] | None = None
        self._from: tuple[str, Array] | None = None  # where a drag with shift began: a body, and a point

    def see(self, snapshot: Snapshot, figure: Figure, places: Array) -> None:
        """What is shown now."""
        self._seen = snapshot, figure, places

    def forget(self, name: str) -> None:
        """A node of the page has gone."""

    # --- what nodes are for ------------------------------------------------------------------------------------------

    def attend(self, node: Any, path: str, names: Sequence[str], *, joints: bool = False) -> None:
        """Let instances of a node be clicked, and, where they are bodies, grabbed and joined."""
        names = list(names)

        async def clicked(event: Any) -> None:
            if event.instance_index is not None and event.instance_index < len(names):
                name = names[event.instance_index]
                self.selection.choose(name)
                port = (
                    None if joints else self.port_under(name, np.array(event.ray_origin), np.array(event.ray_direction))
                )
                if port is not None:
                    self.selection.touch(f"{name}.{port}", tuple(event.ray_origin))

        node.on_click(clicked)
        if joints:
            return

        async def dragged(event: Any) -> None:
            if event.instance_index is not None and event.instance_index < len(names):
                self.drag(names[event.instance_index], event)

        async def joined(event: Any) -> None:
            if event.instance_index is not None and event.instance_index < len(names):
                self.draw(names[event.instance_index], event)

        node.on_drag("left")(dragged)
        node.on_drag("left", modifier="shift")(joined)

    def attend_ports(self, node: Any, points: Sequence[tuple[str, str]]) -> None:
        """Let ports be clicked: the last two are proposed for a joint. A drag on a port is one on its body."""
        points = list(points)

        async def clicked(event: Any) -> None:
            if event.instance_index is not None and event.instance_index < len(points):
                body, port = points[event.instance_index]
                self.selection.choose(body)
                self.selection.touch(f"{body}.{port}", tuple(event.ray_origin))

        async def dragged(event: Any) -> None:
            if event.instance_index is not None and event.instance_index < len(points):
                self.drag(points[event.instance_index][0], event)

        async def joined(event: Any) -> None:
            if event.instance_index is not None and event.instance_index < len(points):
                self.draw(points[event.instance_index][0], event)

        node.on_click(clicked)
        node.on_drag("left")(dragged)
        node.on_drag("left", modifier="shift")(joined)

    # --- the hand ----------------------------------------------------------------------------------------------------

    def drag(self, body: str, event: Any) -> None:
        """Grab, draw, let go."""
        if event.phase == "end":
            self.post(Release())
            return
        if event.phase == "start":
            self.selection.choose(body)
            held = self.nearest_on(body, np.array(event.start_position))
            if held is None:
                return
            self.post(Grab(body, *held))
        self.post(Drag(self.in_model(event)))

    def nearest_on(self, body: str, point: Array) -> tuple[str, str, float] | None:
        """The point of a body's sticks and balls nearest to a point: between which of its ports, and how far along.

        Of what is inside a subassembly nobody takes hold: it is its nearest port.
        """
        if self._seen is None:
            return None
        _, figure, places = self._seen
        own = figure.of(places, body)
        ports = [port for port in own if figure.is_port(body, port)]
        if any(port and port not in ports for port in own):
            nearest = min(ports, key=lambda port: float(np.linalg.norm(own[port] - point)), default=None)
            return None if nearest is None else (nearest, nearest, 0.0)
        best, found = np.inf, None
        for part in figure.parts:
            if part.body != body:
                continue
            a = own[part.first]
            b = own[part.second] if part.second is not None else a
            arm = b - a
            square = float(arm @ arm)
            share = float(np.clip((point - a) @ arm / square, 0.0, 1.0)) if square > 0 else 0.0
            distance = float(np.linalg.norm(point - a - share * arm)) - part.radius
            if distance < best:
                second = part.first if part.second is None else part.second
                best, found = distance, (part.first, second, share)
        return found

    def port_under(self, body: str, origin: Array, direction: Array) -> str | None:
        """The port of a body that lies under a click: sticks and balls hide the marks of their own ports."""
        if self._seen is None:
            return None
        _, figure, places = self._seen
        ahead = direction / np.linalg.norm(direction)
        best, found = 1.0, None
        for port, place in figure.of(places, body).items():
            arm = place - origin
            beside = float(np.linalg.norm(arm - (arm @ ahead) * ahead))
            share = beside / max(figure.thickness(body, port), PORT_PICK_SHARE * figure.size)
            if share < best and figure.is_port(body, port):
                best, found = share, port
        return found

    def in_model(self, event: Any) -> tuple[float, ...]:
        """Where the mouse is, in the coordinates of the model: in the plane of a planar one."""
        place = np.array(event.end_position, float)
        assert self._seen is not None
        if self._seen[0].plan.dimension == 3:
            return tuple(place.tolist())
        eye = np.array(event.client.camera.position, float)
        ray = place - eye
        if abs(ray[2]) > 1e-9:
            place = eye - eye[2] / ray[2] * ray
        return tuple(place[:2].tolist())

    # --- joining -----------------------------------------------------------------------------------------------------

    def draw(self, body: str, event: Any) -> None:
        """From one body to another, or to where nobody is: to the ground."""
        if event.phase == "start":
            self._from = body, np.array(event.start_position)
        elif event.phase == "end" and self._from is not None:
            (first, start), self._from = self._from, None
            eye = np.array(event.client.camera.position, float)
            act = self.joining(first, start, eye, np.array(event.end_position, float) - eye, self.in_model(event))
            if act is not None:
                self.post(act)

    def joining(self, body: str, start: Array, eye: Array, ray: Array, end: Sequence[float]) -> Join | None:
        """The joint that a drag asks for."""
        if self._seen is None:
            return None
        snapshot, figure, places = self._seen
        ports = [
            (owner, port, places[k]) for k, (owner, port) in enumerate(figure.points) if figure.is_port(owner, port)
        ]
        mine = [(port, place) for owner, port, place in ports if owner == body]
        if not mine:
            return None
        port, here = min(mine, key=lambda item: float(np.linalg.norm(item[1] - start)))
        other = self._under(body, eye, ray)
        name = free_name("joint", {*snapshot.plan.joints, *snapshot.plan.forces})
        flat = snapshot.plan.dimension == 2
        usual: Joint = Revolute() if flat else Spherical()
        if self.selection.joint:
            usual = Component.from_data({"class": self.selection.joint})
        if other is None:
            near = float(np.linalg.norm(np.array(end) - here[: len(end)])) < BODY_PICK_SHARE * figure.size
            if near:
                return Join(name, usual, GROUND, f"{body}.{port}")
            return Join(name, Distance(), GROUND, f"{body}.{port}", at=tuple(end))
        theirs = [(p, place) for owner, p, place in ports if owner == other]
        if not theirs:
            return None
        aim = eye + ray
        their_port, there = min(theirs, key=lambda item: float(np.linalg.norm(item[1] - aim)))
        apart = float(np.linalg.norm(there - here))
        joint = usual if apart <= COINCIDENCE_TOLERANCE * max(1.0, figure.size) or not usual.coincident else Distance()
        return Join(name, joint, f"{body}.{port}", f"{other}.{their_port}")

    def _under(self, but: str, eye: Array, ray: Array) -> str | None:
        """The body nearest to a line of sight, if one is near."""
        assert self._seen is not None
        _, figure, places = self._seen
        direction = ray / np.linalg.norm(ray)
        best, found = BODY_PICK_SHARE * figure.size, None
        for part in figure.parts:
            if part.body == but:
                continue
            own = figure.of(places, part.body)
            ends = [own[part.first], own[part.second if part.second is not None else part.first]]
            points = ends[0] + np.linspace(0.0, 1.0, 21)[:, None] * (ends[1] - ends[0])
            offset = points - eye
            distance = np.linalg.norm(offset - np.outer(offset @ direction, direction), axis=1).min()
            if distance < best:
                best, found = float(distance), part.body
        return found
