"""Where people look from, without a browser: nobody is left before an edge, and what is asked for is within the frame."""

import asyncio
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

import scenarios
from coordinator.laboratory.acts import Step
from hands_on import session_of
from modular import Cut
from scenarios.laboratory.cameras import CENTRE, CHOSEN, FREE_SHARE, Cameras, mass_centre
from scenarios.laboratory.figure import Figure
from scenarios.laboratory.selection import Selection
from scenarios.laboratory.view import FRAME_MARGIN, View, cell_of, fitted, format_length

FOV = np.radians(75.0)


class Client:
    """Somebody who has the page open."""

    def __init__(self, position, look_at, aspect=1.4):
        self.camera = SimpleNamespace(
            client=self, position=np.array(position), look_at=np.array(look_at), up_direction=(0.0, 1.0, 0.0),
            aspect=aspect, fov=FOV, on_update=lambda answer: setattr(self, "turned", answer),
        )  # fmt: skip
        self.atomic, self.client_id = nullcontext, id(self)

    @property
    def way(self):
        return np.array(self.camera.position) - np.array(self.camera.look_at)


class Server:
    """The viewer, as far as cameras go."""

    def __init__(self):
        self.initial_camera = SimpleNamespace(near=0.01, far=1000.0)
        self.clients = {}

    def on_client_connect(self, answer):
        self.came = answer

    def get_clients(self):
        return self.clients

    def come(self, client):
        self.clients[len(self.clients)] = client
        asyncio.run(self.came(client))


def cameras_for(points, *, flat, selection=None):
    """Of a page that shows some points."""
    server = Server()
    cameras = Cameras(server, selection or Selection())
    first = View(np.array([0.1, 0.2, 3.0]), np.array([0.1, 0.2, 0.0]), np.array([0.0, 1.0, 0.0]))
    cameras.begin(first, points, flat=flat, size=1.0)
    return server, cameras


def share_of_frame(points, camera):
    """Where points are in a frame, from -1 to 1 across and upwards."""
    eye, ahead = np.array(camera.position), np.array(camera.look_at) - np.array(camera.position)
    ahead = ahead / np.linalg.norm(ahead)
    right = np.cross(ahead, camera.up_direction)
    right /= np.linalg.norm(right)
    seen = (points - eye) @ np.array([right, np.cross(right, ahead), ahead]).T
    return seen[:, :2] / seen[:, 2:] / np.tan(0.5 * FOV) / np.array([camera.aspect, 1.0])


POINTS = np.random.default_rng(5).uniform((-1.0, -0.4, -0.3), (1.4, 0.9, 0.6), (30, 3))


@pytest.mark.parametrize("aspect", [0.46, 1.0, 2.1])
@pytest.mark.parametrize("way", [(0.3, 0.4, 2.0), (-1.0, 2.0, -0.7), (0.0, 3.0, 0.0)])
def test_fit_all_shows_all_of_it_from_where_one_looks_and_no_nearer_than_needed(aspect, way):
    server, cameras = cameras_for(POINTS, flat=False)
    client = Client(np.array(way) + 5.0, (5.0, 5.0, 5.0), aspect)
    if way[:1] + way[2:] == (0.0, 0.0):
        client.camera.up_direction = (0.0, 0.0, -1.0)
    server.come(client)
    client.camera.position, client.camera.look_at = np.array(way) + 5.0, np.full(3, 5.0)
    cameras.fit(client)
    np.testing.assert_allclose(np.cross(client.way, way), 0.0, atol=1e-9)
    if way[:1] + way[2:] == (0.0, 0.0):
        return  # from straight above, what is up is the viewer's choice
    share = share_of_frame(POINTS, client.camera)
    low = 1.0 - 2.0 * FREE_SHARE if aspect < 0.7 else -1.0  # on a phone above the panel
    assert share[:, 1].min() > low
    assert share.max() < 1.0
    assert share[:, 0].min() > -1.0
    if aspect >= 0.7:
        assert np.abs(share).max() > 0.95 / FRAME_MARGIN
    else:  # what is deep is seen from farther away there
        assert max(np.abs(share[:, 0]).max(), np.abs(share[:, 1] - (1.0 - FREE_SHARE)).max() / FREE_SHARE) > 0.5


def test_a_plane_that_is_turned_edge_on_or_away_is_looked_at_straight_again():
    server, _ = cameras_for(POINTS * (1, 1, 0), flat=True)
    for way in ((2.0, 0.0, 0.1), (0.3, -1.5, 0.2), (0.4, 0.0, -2.0)):
        client = Client(np.add(way, (0.5, 0.2, 0.0)), (0.5, 0.2, 0.0))
        server.come(client)
        asyncio.run(client.turned(client.camera))
        np.testing.assert_allclose(client.way, (0.0, 0.0, np.linalg.norm(way)), atol=1e-12)
        np.testing.assert_allclose(client.camera.look_at, (0.5, 0.2, 0.0))


@pytest.mark.parametrize(
    ("flat", "way"), [(True, (1.0, 0.8, 1.0)), (False, (2.0, 0.0, 0.01)), (False, (0.0, 1.0, -2.0))]
)
def test_whoever_looks_from_beside_or_at_what_is_in_space_is_left_alone(flat, way):
    server, _ = cameras_for(POINTS, flat=flat)
    client = Client(way, (0.0, 0.0, 0.0))
    server.come(client)
    asyncio.run(client.turned(client.camera))
    np.testing.assert_array_equal(client.camera.position, way)


@pytest.mark.parametrize(("followed", "chosen"), [(CENTRE, None), (CHOSEN, "lower")])
def test_a_camera_goes_along_with_what_it_follows_and_keeps_its_way_of_looking(followed, chosen):
    selection = Selection()
    selection.choose(chosen)
    server, cameras = cameras_for(POINTS, flat=True, selection=selection)
    client = Client((0.5, 1.0, 2.5), (0.2, 0.1, 0.0))
    server.come(client)
    way = client.way
    with session_of(dt=1e-3) as session:
        for _ in range(3):
            session.do(Step(150))
            while session.pace.moving:
                session.turn()
            snapshot = session.snapshot
            figure = Figure(snapshot.plan, snapshot)
            cameras.follow = followed
            cameras.update(snapshot, figure.places(snapshot), figure.size)
            q = {name: snapshot.state(name)[0] for name in ("upper", "lower")}
            bodies = snapshot.plan.bodies
            centres = {name: bodies[name].mass_centre(q[name]) for name in q}
            masses = {name: bodies[name].total_mass for name in q}
            names = [chosen] if chosen else ["upper", "lower"]
            expected = sum(masses[n] * centres[n] for n in names) / sum(masses[n] for n in names)
            np.testing.assert_allclose(client.camera.look_at, (*expected, 0.0), atol=1e-12)
            np.testing.assert_allclose(client.way, way, atol=1e-12)
        cameras.follow = CHOSEN
        selection.choose("elbow")  # no body: the camera stays
        before = client.camera.position
        cameras.update(snapshot, figure.places(snapshot), figure.size)
        np.testing.assert_array_equal(client.camera.position, before)


def watched(session, cameras, until):
    """Where points are at every 0.05 s of a motion that is watched."""
    seen = []
    while session.snapshot.time < until:
        session.do(Step(50))
        while session.pace.moving:
            session.turn()
        snapshot = session.snapshot
        figure = Figure(snapshot.plan, snapshot)
        seen.append(figure.places(snapshot))
        cameras.update(snapshot, seen[-1], figure.size)
    return seen


@pytest.mark.parametrize("aspect", [0.46, 1.6])
def test_who_leaves_his_camera_alone_sees_the_whole_motion_and_who_moves_it_is_left_alone(aspect):
    """A pendulum that begins with both rods to one side comes to the other; on a phone that was outside the picture."""
    with session_of(scenarios.load("double-pendulum"), 1e-3) as session:
        figure = Figure(session.snapshot.plan, session.snapshot)
        server, cameras = Server(), None
        cameras = Cameras(server, Selection())
        points = figure.places(session.snapshot)
        middle = points.mean(axis=0)
        first = View(np.add(middle, (0.0, 0.0, 3.0)), middle, np.array([0.0, 1.0, 0.0]))
        cameras.begin(first, points, flat=True, size=figure.size)
        left, moved = Client(first.position, first.look_at, aspect), Client(first.position, first.look_at, aspect)
        server.come(left)
        server.come(moved)
        asyncio.run(left.turned(left.camera))  # as a browser tells it when it comes, or when its window changes
        moved.camera.position = own = np.add(moved.camera.position, (0.3, 0.0, 0.5))
        asyncio.run(moved.turned(moved.camera))
        seen = watched(session, cameras, 1.5)
        everything = np.concatenate(seen)
        assert everything[:, 0].min() < points[:, 0].min() - 0.3  # there is something to miss
        share = share_of_frame(everything, left.camera)
        low = 1.0 - 2.0 * FREE_SHARE if aspect < 0.7 else -1.0
        assert np.abs(share[:, 0]).max() <= 1.0
        assert share[:, 1].max() <= 1.0
        assert share[:, 1].min() >= low
        np.testing.assert_array_equal(moved.camera.position, own)
        framed = np.array(left.camera.position)
        for place, look_at in (((3.0, 3.0, 3.0), np.zeros(3)), (first.position, first.look_at)):
            left.camera.position, left.camera.look_at = (
                np.array(place),
                look_at,
            )  # a browser that hears late where to look
            asyncio.run(left.turned(left.camera))
            np.testing.assert_array_equal(left.camera.position, framed)
        late = Client(first.position, first.look_at, aspect)
        server.come(late)
        cameras.look_again(late)
        assert np.abs(share_of_frame(everything, late.camera)[:, 0]).max() <= 1.0
        cameras.look_again(moved)
        assert np.abs(share_of_frame(everything, moved.camera)[:, 0]).max() <= 1.0


def test_what_falls_far_after_a_cut_does_not_draw_a_camera_after_it():
    with session_of(scenarios.load("double-pendulum"), 1e-3) as session:
        figure = Figure(session.snapshot.plan, session.snapshot)
        server = Server()
        cameras = Cameras(server, Selection())
        points = figure.places(session.snapshot)
        first = fitted(points, np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]), aspect=0.46)
        cameras.begin(first, points, flat=True, size=figure.size)
        client = Client(first.position, first.look_at, 0.46)
        server.come(client)
        session.do(Cut("pivot"))
        seen = watched(session, cameras, 3.0)
        size = float(np.ptp(points, axis=0).max())
        assert np.abs(seen[-1][:, 1]).min() > 10.0 * size
        assert np.linalg.norm(client.way) < 10.0 * np.linalg.norm(first.position - first.look_at) / FREE_SHARE


def test_nothing_to_follow_and_nothing_to_fit_move_nobody_to_nowhere():
    view = fitted(np.full((2, 3), np.nan), np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]), aspect=1.0, least=2.0)
    assert np.isfinite(view.position).all()
    assert np.linalg.norm(view.position - view.look_at) > 1.0
    with session_of(scenarios.load("free-fall"), 1e-3) as session:
        assert mass_centre(session.snapshot, lambda name: False) is None


def test_lines_of_a_grid_are_a_round_number_apart_and_told_in_a_unit():
    for size in np.geomspace(1e-4, 1e4, 97):
        cell = cell_of(size)
        assert 1.0 / 7.6 < cell / size <= 1.0 / 3.0 + 1e-9
        assert f"{cell:.0e}"[0] in "125"
    lengths = {cell: format_length(cell) for cell in (1e-4, 5e-3, 0.02, 0.5, 2.0, 100.0)}
    assert lengths == {1e-4: "100 µm", 5e-3: "5 mm", 0.02: "0.02 m", 0.5: "0.5 m", 2.0: "2 m", 100.0: "100 m"}
