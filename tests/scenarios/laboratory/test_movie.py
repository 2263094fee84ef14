"""A run as one file that plays in a browser without a network."""

import numpy as np
import pytest

import scenarios
from chromium import opened
from coordinator import Simulation
from modular import ModelError
from scenarios.laboratory.movie import Film, write_html


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
            np.testing.assert_array_equal(states.reaction[0], cut.reaction(states.names[0])[k])


def test_one_file_plays_in_a_browser_without_a_network(cut, user, tmp_path):
    said = []
    path = write_html([cut], tmp_path / "cut.html", lambda done, of: said.append((done, of)))
    assert said[-1] == (26, 26)
    assert path.stat().st_size < 3e6
    user.set_offline(True)
    page = opened(user, path.as_uri())
    page.wait_for_function("window.__viserMutable?.nodeRefFromName?.['/bodies/sticks'] != null")


def test_nothing_recorded_is_nothing_to_show(tmp_path):
    with pytest.raises(ModelError, match="nothing was recorded"):
        write_html([], tmp_path / "nothing.html")
