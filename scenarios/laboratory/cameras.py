"""The cameras of all who have a page open: what they see at first, all of it, or what they go along with.

Whoever leaves his camera alone sees the motion as far as it has come: where something leaves the frame the camera steps back.
In the plane nobody is left edge-on: whoever turns so far that nothing is to be seen looks straight at it again.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from coordinator.laboratory.snapshot import Snapshot
from modular.elements import Array
from scenarios.laboratory.figure import in_space
from scenarios.laboratory.selection import Selection
from scenarios.laboratory.view import FRAME_MARGIN, MOTION_MARGIN, View, fitted, is_edge_on, shown_share

NOBODY, CENTRE, CHOSEN = "nobody", "mass centre", "what is selected"
FOLLOWED = (NOBODY, CENTRE, CHOSEN)
# width over height of a phone, whose panel covers the lower part, and the share above it
NARROW_ASPECT, FREE_SHARE = 0.7, 0.45
FAR_PLANE_FACTOR = 20.0  # of the distance of a camera: what lies behind that is not drawn
MAX_REACH = 4.0  # sizes of what is seen at first: what goes farther from its middle, as after a cut, leaves the picture
TOUCHED_SHARE = 1e-3  # of the distance of a camera: whoever moves it farther than that looks as he wants
# what a browser shows until it has heard where to look; it may hear that after what it is told next
UNTOLD = View(np.array([3.0, 3.0, 3.0]), np.zeros(3), np.array([0.0, 0.0, 1.0]))
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
        self._middle, self._reach = np.zeros(3), 0.0
        self._box = np.zeros((2, 3))  # corners of where everything has been
        self._given: dict[int, list[View]] = {}  # of clients who leave their cameras alone: what they were given last

    def begin(self, first: View, points: Array, *, flat: bool, size: float) -> None:
        """What everybody sees at first."""
        self.first, self._points, self._flat, self._size = first, points, flat, size
        self._box = np.array([points.min(axis=0), points.max(axis=0)])
        self._middle, self._reach = (
            self._box.mean(axis=0),
            MAX_REACH * max(float(np.ptp(self._box, axis=0).max()), size),
        )
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

        assert self.first is not None
        self._given[client.client_id] = [self.first]

        async def turned(camera: Any) -> None:
            self._notice(camera.client)
            self.level(camera.client)

        client.camera.on_update(turned)
        if client.camera.aspect < NARROW_ASPECT:  # of the window: panels beside the picture come later
            self._narrow.add(client.client_id)
            self.look_again(client)

    # --- for one of them ---------------------------------------------------------------------------------------------

    def look_again(self, client: Any) -> None:
        """Let somebody look from where he looked at first, or from as far as it takes to see where everything has been."""
        if self.first is None:
            return
        position, look_at, up = self.first
        if client.client_id in self._narrow:
            position, look_at, up = self._fitted(client, position - look_at, up, MOTION_MARGIN)
        view = View(position, look_at, up)
        corners = self._corners()
        if not self._holds(client, view, corners):
            view = self._fitted(client, position - look_at, up, FRAME_MARGIN, corners)
        self._give(client, view)

    def fit(self, client: Any) -> None:
        """Let somebody see all that there is now, from the direction from which he looks; from then on the view is his."""
        if self.first is None:
            return
        away = np.array(client.camera.position) - np.array(client.camera.look_at)
        self._given.pop(client.client_id, None)
        self._put(client, self._fitted(client, away, self.first.up, FRAME_MARGIN))

    def level(self, client: Any) -> None:
        """Whoever sees a plane from its edge looks straight at it again, at the same point from as far."""
        position, look_at = np.array(client.camera.position), np.array(client.camera.look_at)
        if self._flat and self.first is not None and is_edge_on(position, look_at):
            away = np.array([0.0, 0.0, float(np.linalg.norm(position - look_at))])
            self._put(client, View(look_at + away, look_at, self.first.up))

    def _notice(self, client: Any) -> None:
        """Whoever has moved his camera looks as he wants from now on; a browser that is only beginning to is told again."""
        given = self._given.get(client.client_id)
        if not given or self.first is None:
            return
        position, look_at = np.array(client.camera.position), np.array(client.camera.look_at)
        now = View(position, look_at, given[-1].up)
        if _alike(now, given[-1]):
            return
        if _alike(now, self.first) or _alike(now, UNTOLD):
            self._put(client, given[-1])
        elif not any(_alike(now, view) for view in given):
            del self._given[client.client_id]

    def _give(self, client: Any, view: View) -> None:
        """A view that is ours to change; what comes from a browser may still tell of the one before."""
        self._given[client.client_id] = [*self._given.get(client.client_id, [])[-2:], view]
        self._put(client, view)

    def _fitted(self, client: Any, away: Array, up: Array, margin: float, points: Array | None = None) -> View:
        """All within the part of the frame that no panel covers."""
        aspect, fov, free = float(client.camera.aspect), float(client.camera.fov), self._free(client)
        away = away / max(float(np.linalg.norm(away)), 1e-9)
        points = self._points if points is None else points
        view = fitted(points, away, up, aspect=aspect / free, fov=fov, least=self._size, margin=margin)
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
        if self.first is None:
            return
        if self.follow == NOBODY:
            self._step_back(points)
            return
        place = self._followed(snapshot)
        if place is None:
            return
        for client in list(self.server.get_clients().values()):
            position, look_at = np.array(client.camera.position), np.array(client.camera.look_at)
            reach = float(np.linalg.norm(position - look_at))
            view = self._seen_at(client, place, position - look_at, self.first.up)
            if float(np.linalg.norm(view.look_at - look_at)) > MIN_FOLLOWED_SHARE * reach:
                with client.atomic():
                    client.camera.position = tuple(view.position)
                    client.camera.look_at = tuple(view.look_at)

    def _step_back(self, points: Array) -> None:
        """Whoever leaves his camera alone sees where everything has been, as far as it is near."""
        # what is nowhere is not near
        near = points[np.abs(points - self._middle).max(axis=1, initial=0.0) <= self._reach]
        if not len(near):
            return
        box = np.array([np.minimum(self._box[0], near.min(axis=0)), np.maximum(self._box[1], near.max(axis=0))])
        if np.array_equal(box, self._box):
            return
        self._box = box
        corners = self._corners()
        for client in list(self.server.get_clients().values()):
            views = self._given.get(client.client_id)
            if not views or self._holds(client, views[-1], corners):
                continue
            away = views[-1].position - views[-1].look_at
            self._give(client, self._fitted(client, away, views[-1].up, FRAME_MARGIN, corners))

    def _corners(self) -> Array:
        """Of the box in which everything has been."""
        return np.array(list(product(*self._box.T)))

    def _holds(self, client: Any, view: View, points: Array) -> bool:
        """Whether all is within the part of the frame that no panel covers."""
        share = shown_share(points, view, aspect=float(client.camera.aspect), fov=float(client.camera.fov))
        low = 1.0 - 2.0 * self._free(client)
        return bool(np.abs(share[:, 0]).max() <= 1.0 and share[:, 1].max() <= 1.0 and share[:, 1].min() >= low)

    def _followed(self, snapshot: Snapshot) -> Array | None:
        """Where it is."""
        chosen = self.selection.name
        if self.follow == CHOSEN:
            return mass_centre(snapshot, lambda name: name == chosen)
        return mass_centre(snapshot, lambda name: True)


def _alike(one: View, other: View) -> bool:
    """Whether two views are from one place to one place, as far as a browser tells."""
    least = TOUCHED_SHARE * float(np.linalg.norm(one.position - one.look_at))
    return bool(np.abs([one.position - other.position, one.look_at - other.look_at]).max() <= least)


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
