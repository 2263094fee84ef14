"""The cameras of all who have a page open: what they see at first, all of it, or what they go along with.

In the plane nobody is left edge-on: whoever turns so far that nothing is to be seen looks straight at it again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from coordinator.laboratory.snapshot import Snapshot
from modular.elements import Array
from scenarios.laboratory.figure import in_space
from scenarios.laboratory.selection import Selection
from scenarios.laboratory.view import FRAME_MARGIN, MOTION_MARGIN, View, fitted, is_edge_on

NOBODY, CENTRE, CHOSEN = "nobody", "mass centre", "what is selected"
FOLLOWED = (NOBODY, CENTRE, CHOSEN)
# width over height of a phone, whose panel covers the lower part, and the share above it
NARROW_ASPECT, FREE_SHARE = 0.7, 0.45
FAR_PLANE_FACTOR = 20.0  # of the distance of a camera: what lies behind that is not drawn
MIN_FOLLOWED_SHARE = 1e-4  # of the distance of a camera: shorter ways of what it follows are not gone along


class Cameras:
    """Moves cameras; `update` is called in the thread of the page, the rest by the viewer."""

    def __init__(self, server: Any, selection: Selection) -> None:
        self.server, self.selection = server, selection
        self.first: View | None = None
        self.follow = NOBODY
        self._points: Array = np.zeros((0, 3))
        self._size, self._flat = 1.0, False
        self._narrow: set[int] = set()  # clients

    def begin(self, first: View, points: Array, *, flat: bool, size: float) -> None:
        """What everybody sees at first."""
        self.first, self._points, self._flat, self._size = first, points, flat, size
        camera = self.server.initial_camera
        camera.position, camera.look_at = tuple(first.position), tuple(first.look_at)
        reach = float(np.linalg.norm(first.position - first.look_at))
        if FAR_PLANE_FACTOR * reach > camera.far:
            camera.near, camera.far = reach / FAR_PLANE_FACTOR**2, FAR_PLANE_FACTOR * reach

        async def came(client: Any) -> None:
            self.welcome(client)

        self.server.on_client_connect(came)

    def welcome(self, client: Any) -> None:
        """Somebody has opened a page; on a narrow one the mechanism stands above the panel."""

        async def turned(camera: Any) -> None:
            self.level(camera.client)

        client.camera.on_update(turned)
        if client.camera.aspect < NARROW_ASPECT:  # of the window: panels beside the picture come later
            self._narrow.add(client.client_id)
            self.look_again(client)

    # --- for one of them ---------------------------------------------------------------------------------------------

    def look_again(self, client: Any) -> None:
        """Let somebody look from where he looked at first."""
        if self.first is None:
            return
        position, look_at, up = self.first
        if client.client_id in self._narrow:
            position, look_at, up = self._fitted(client, position - look_at, up, MOTION_MARGIN)
        self._put(client, View(position, look_at, up))

    def fit(self, client: Any) -> None:
        """Let somebody see all that there is now, from the direction from which he looks."""
        if self.first is None:
            return
        away = np.array(client.camera.position) - np.array(client.camera.look_at)
        self._put(client, self._fitted(client, away, self.first.up, FRAME_MARGIN))

    def level(self, client: Any) -> None:
        """Whoever sees a plane from its edge looks straight at it again, at the same point from as far."""
        position, look_at = np.array(client.camera.position), np.array(client.camera.look_at)
        if self._flat and self.first is not None and is_edge_on(position, look_at):
            away = np.array([0.0, 0.0, float(np.linalg.norm(position - look_at))])
            self._put(client, View(look_at + away, look_at, self.first.up))

    def _fitted(self, client: Any, away: Array, up: Array, margin: float) -> View:
        """All within the part of the frame that no panel covers."""
        aspect, fov, free = float(client.camera.aspect), float(client.camera.fov), self._free(client)
        away = away / max(float(np.linalg.norm(away)), 1e-9)
        view = fitted(self._points, away, up, aspect=aspect / free, fov=fov, least=self._size, margin=margin)
        return self._seen_at(client, view.look_at, (view.position - view.look_at) / free, up)

    def _seen_at(self, client: Any, place: Array, way: Array, up: Array) -> View:
        """A place in the middle of that part, from a way off."""
        right = np.cross(up, way)
        above = np.cross(way, right / max(float(np.linalg.norm(right)), 1e-12))
        look_at = place - (1.0 - self._free(client)) * np.tan(0.5 * float(client.camera.fov)) * above
        return View(look_at + way, look_at, up)

    def _free(self, client: Any) -> float:
        """How much of its height nothing covers, from the top."""
        return FREE_SHARE if client.client_id in self._narrow else 1.0

    @staticmethod
    def _put(client: Any, view: View) -> None:
        with client.atomic():
            client.camera.up_direction = tuple(view.up)
            client.camera.position = tuple(view.position)
            client.camera.look_at = tuple(view.look_at)

    # --- for all -----------------------------------------------------------------------------------------------------

    def update(self, snapshot: Snapshot, points: Array, size: float) -> None:
        """What there is to see now; cameras go along with what they follow."""
        self._points, self._size = points, size
        place = self._followed(snapshot)
        if place is None or self.first is None:
            return
        for client in list(self.server.get_clients().values()):
            position, look_at = np.array(client.camera.position), np.array(client.camera.look_at)
            reach = float(np.linalg.norm(position - look_at))
            view = self._seen_at(client, place, position - look_at, self.first.up)
            if float(np.linalg.norm(view.look_at - look_at)) > MIN_FOLLOWED_SHARE * reach:
                with client.atomic():
                    client.camera.position = tuple(view.position)
                    client.camera.look_at = tuple(view.look_at)

    def _followed(self, snapshot: Snapshot) -> Array | None:
        """Where it is."""
        if self.follow == NOBODY:
            return None
        chosen = self.selection.name
        if self.follow == CHOSEN:
            return mass_centre(snapshot, lambda name: name == chosen)
        return mass_centre(snapshot, lambda name: True)


def mass_centre(snapshot: Snapshot, counts: Callable[[str], bool]) -> Array | None:
    """Of the bodies that count, in the page; those that are led only where there are no others."""
    masses, places = [], []
    for states in snapshot.bodies:
        for name, q in zip(states.names, states.q, strict=True):
            if counts(name) and (body := snapshot.plan.bodies.get(name)) is not None:
                masses.append(0.0 if body.led else float(body.total_mass))
                places.append(in_space(body.mass_centre(q)))
    if not masses:
        return None
    weights = np.array(masses) if sum(masses) > 0.0 else np.ones(len(masses))
    return np.asarray(weights @ np.array(places) / weights.sum())
