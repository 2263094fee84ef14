"""A run as one file that plays in a browser without a network."""

import json
import re

import numpy as np
import pytest

import scenarios
from campaign import first_of
from chromium import opened
from components import AirDrag, Box, Contact, HalfSpace, Load, RigidBody, Rod, Sphere, SpringDamper
from coordinator import Simulation
from coordinator.laboratory.acts import Adjust, Collect, Grab, Release
from coordinator.laboratory.session import Session
from hands_on import session_of, walk
from modular import Add, Apply, Assembly, ModelError, Remove
from modular.picture import Picture
from monkey import play
from scenarios.laboratory.figure import Figure
from scenarios.laboratory.gate import open_server
from scenarios.laboratory.handling import Handling
from scenarios.laboratory.movie import ASPECTS, Film, write_html
from scenarios.laboratory.scene import FILM_ASPECT, Scene
from scenarios.laboratory.selection import Selection
from scenarios.laboratory.touching import outlines_of


@pytest.fixture(scope="module")
def cut():
    with Simulation(scenarios.load("cut-double-pendulum"), 1e-3) as simulation:
        return simulation.run(1.0)


def test_a_film_shows_what_was_recorded_and_joints_while_they_are_there(cut):
    film = Film(cut)
    frames = film.frames(0.04)
    assert frames[0] == 0
    assert len(frames) == 26
    for k in (0, 400, 600, 900):
        snapshot = film.snapshot(k)
        names = [name for states in snapshot.joints for name in states.names]
        assert names == [name for name, at in (("pivot", 0.8), ("elbow", 0.5)) if cut.time[k] < at]
        q, _ = snapshot.state("lower")
        np.testing.assert_array_equal(q, cut.state("lower")[0][k])
        for states in snapshot.joints:
            for row, name in enumerate(states.names):
                np.testing.assert_array_equal(states.reaction[row], cut.reaction(name)[k])


def test_one_file_plays_in_a_browser_without_a_network(cut, user, tmp_path):
    said = []
    path = write_html([cut], tmp_path / "cut.html", lambda done, of: said.append((done, of)))
    assert said[-1] == (26, 26)
    assert path.stat().st_size < 3e6
    user.set_offline(True)
    page = opened(user, path.as_uri())
    page.wait_for_function("window.__viserMutable?.nodeRefFromName?.['/bodies/sticks'] != null")
    assert page.title() == "cut-double-pendulum"


def test_nothing_recorded_is_nothing_to_show(tmp_path):
    with pytest.raises(ModelError, match="nothing was recorded"):
        write_html([], tmp_path / "nothing.html")


# --- what people did -------------------------------------------------------------------------------------------------


def disc(x, y):
    return RigidBody(
        mass=1.3, inertia=0.02, centre=(x, y), velocity=(0.3, 0.1), ports={"G": (x, y), "rim": (x + 0.1, y + 0.03)}
    )


def things():
    """Two discs that touch the ground, hang on springs, and are pushed."""
    model = Assembly(gravity=(0.0, -9.81), title="things & <forces>")
    model.add("a", disc(0.0, 1.0))
    model.add("b", disc(0.5, 1.2))
    model.apply("floor", Contact(HalfSpace(centre=(0.0, 0.2)), Sphere(0.1)), "ground", "a.G")
    model.apply("spring", SpringDamper(stiffness=200.0, damping=1.0, length=0.3), "a.G", "b.G")
    model.apply("wall", SpringDamper(stiffness=50.0, length=0.1), "ground", "b.G", at=(0.5, 2.0))
    model.apply("push", Load((1.5, 2.0)), "b.rim")
    model.apply("air", AirDrag(quadratic=0.4), "a.rim")
    model.at(0.03, Apply("later", Load((0.3, -3.0)), ("a.G",)))
    return model


@pytest.fixture(scope="module")
def handled():
    """What the page showed of a session in which bodies and forces came, changed and went; and what was recorded of it."""
    shown, ticks = [], 5
    with session_of(things(), 1e-3, record_every=ticks) as session:

        def go(pictures):
            for _ in range(pictures):
                shown.append(session.snapshot)
                walk(session, ticks)

        go(5)
        session.do(Add("c", disc(1.5, 2.0)))
        session.do(Apply("floor-c", Contact(HalfSpace(centre=(0.0, 0.2)), Box((0.2, 0.3))), ("ground", "c.G")))
        session.do(Apply("pull", SpringDamper(stiffness=20.0, length=0.1), ("a.G", "c.rim")))
        go(4)
        session.do(Adjust("push", {"force": (0.5, 5.0)}))
        session.do(Grab("a", "G", "rim", 0.3))
        go(3)
        session.do(Release())
        session.do(Adjust("c", {"mass": 2.0}))
        session.do(Remove("spring"))
        go(3)
        session.do(Collect())
        yield shown, session.collected


def acting(snapshot):
    """Forces by name, as they are drawn; nobody can tell afterwards where a hand drew to."""
    return {
        name: (snapshot.plan.forces[name], states.force[row], states.place[row], states.second[row])
        for states in snapshot.forces
        for row, name in enumerate(states.names)
        if name != "hand"
    }


def test_a_film_shows_the_forces_and_the_bodies_that_the_page_showed(handled):
    shown, runs = handled
    films = [Film(run) for run in runs]
    assert len(films) > 1
    filmed = {round(film.run.time[k], 9): film.snapshot(k) for film in films for k in range(len(film.run))}
    came = set()
    for live in shown:
        film = filmed[round(live.time, 9)]
        if abs(live.time - 0.03) < 1e-9:  # the film shows a tick as it was left: with the load that came then
            assert "later" in film.plan.forces
            continue
        assert set(film.plan.bodies) == set(live.plan.bodies)
        there, expected = acting(film), acting(live)
        assert set(there) == set(expected)
        assert outlines_of(film.plan, 1.0) == outlines_of(live.plan, 1.0)
        for name, (edge, force, first, second) in expected.items():
            assert there[name][0] == edge
            if not isinstance(edge.force, Contact):
                np.testing.assert_allclose(there[name][2:], (first, second), atol=1e-12)
            if len(edge.ports) == 1:  # drag takes the velocity of the new tick while it moves
                np.testing.assert_allclose(there[name][1], force, rtol=3e-3)
        came |= set(there)
    assert came == {"floor", "spring", "wall", "push", "air", "later", "floor-c", "pull"}


def test_a_body_that_was_there_between_two_samples_alone_is_not_missed(tmp_path):
    with session_of(dt=1e-3, record_every=10) as session:
        walk(session, 53)
        session.do(Add("b", disc(0.4, 0.3)))
        session.do(Adjust("upper", {"length": 1.2}))
        walk(session, 20)
        session.do(Collect())
        first, second = session.collected
        assert "b" in first.bodies
        assert list(Film(first).snapshot(len(first) - 1).plan.bodies) == ["upper", "lower"]
        assert list(Film(second).snapshot(len(second) - 1).plan.bodies) == ["upper", "lower", "b"]
        assert write_html([first, second], tmp_path / "film.html").exists()


@pytest.mark.parametrize("seed", first_of(1, range(20)))
def test_whatever_was_done_it_can_be_kept_as_a_film_with_all_that_was_there(tmp_path, seed):
    with Session(Simulation(scenarios.load("double-pendulum"), 1e-3, record_every=10)) as session:
        play(session, 60, seed, walked=7)
        session.do(Collect())
        runs = [run for run in session.collected if len(run)]
    for film in map(Film, runs):
        start = 0
        for segment in film.run.segments:
            drawn = film.snapshot(start)
            start += segment.used
            for part in ("bodies", "joints", "forces"):
                there = {name for names, _ in getattr(segment, part) for name in names}
                assert set(getattr(drawn.plan, part)) == there - {"hand"}
    assert write_html(runs, tmp_path / "film.html").exists()


@pytest.mark.parametrize("aspect", ASPECTS)
def test_everything_that_happens_is_within_the_frame_of_a_film_and_fills_it(handled, aspect):
    """Of that of the film, and of windows as narrow as a phone's, where the page begins with another view."""
    _, runs = handled
    snapshots = [film.snapshot(k) for film in map(Film, runs) for k in range(len(film.run))]
    with open_server() as gated:
        selection = Selection()
        scene = Scene(gated.server, Handling(lambda act: None, selection), selection)
        scene.stage(*snapshots, tight=True)
        camera = gated.server.initial_camera
        view = scene.film_view(aspect)
        if aspect == FILM_ASPECT:
            assert np.array_equal(view.position, camera.position) and np.array_equal(view.look_at, camera.look_at)
        eye, aim, fov = view.position, view.look_at, float(camera.fov)
    ahead = (aim - eye) / np.linalg.norm(aim - eye)
    right = np.cross(ahead, (0.0, 1.0, 0.0))
    axes = np.array([right, np.cross(right, ahead)])
    places = np.concatenate([Figure(one.plan, one, 1.0).places(one) for one in snapshots]) - eye
    share = places @ axes.T / (places @ ahead)[:, None] / np.tan(0.5 * fov)
    assert np.abs(share[:, 1]).max() < 0.95
    assert np.abs(share[:, 0]).max() < 0.95 * aspect
    assert max(np.ptp(share[:, 1]), np.ptp(share[:, 0]) / aspect) > 1.2


def test_a_film_begins_with_the_view_for_its_window(handled, tmp_path):
    page = write_html(handled[1], tmp_path / "film.html").read_text()
    head = page[: page.index("window.__VISER_EMBED_DATA__")]
    told = json.loads(re.search(r"const views = (\{.*?\}\}),", head)[1])
    assert [float(aspect) for aspect in told] == list(ASPECTS)
    far = [
        np.linalg.norm(np.subtract(*([float(x) for x in place.split(",")] for place in view.values())))
        for view in told.values()
    ]
    assert far == sorted(far, reverse=True) and far[0] > 1.5 * far[-1]


def test_robots_look_in_a_film_as_their_files_say(tmp_path, monkeypatch):
    seen, update = [], Scene.update

    def watched(scene, snapshot):
        update(scene, snapshot)
        seen.append([picture for _, picture in scene.looks.all()])

    monkeypatch.setattr(Scene, "update", watched)
    box = Picture("rod", "end", "box", (0.0, 0.0, 0.0), ((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0)), (0.1, 0.1, 0.1))
    model = Assembly()
    model.add("rod", Rod((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 1.0, 0.05))
    run = Simulation(model, 0.01).run(0.1)
    write_html([run], tmp_path / "film.html", pictures=[box])
    assert seen and all(shown == [box] for shown in seen)


def test_a_film_has_the_name_of_its_model(handled, tmp_path):
    page = write_html(handled[1], tmp_path / "film.html").read_text()
    assert "<title>things &amp; &lt;forces&gt;</title>" in page
    assert "<title>Viser" not in page
