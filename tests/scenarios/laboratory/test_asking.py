"""Questions in the page, without a browser: what is chosen is asked, and what is answered is said and drawn."""

import numpy as np
import pytest

from hands_on import session_of
from scenarios.laboratory.colours import COLOURS, PALETTE, SHARED, shared
from scenarios.laboratory.handling import Handling
from scenarios.laboratory.selection import Selection

pytest.importorskip("viser")

from scenarios.laboratory import scene as scene_module
from scenarios.laboratory.asking import NONE, SLOWEST, CallClient
from scenarios.laboratory.scene import Scene


def test_a_mode_is_chosen_swings_and_goes(server, monkeypatch):
    with session_of(dt=1e-3) as session:
        selection = Selection()
        scene = Scene(server, Handling(session.post, selection), selection)
        scene.stage(session.snapshot)
        asking = CallClient(server, session.post, scene)
        assert tuple(asking.modes.options) == (NONE, SLOWEST)
        asking.choose(SLOWEST)
        session.turn()
        asking.update(session.snapshot)
        assert tuple(asking.modes.options) == (NONE, "0: 0.3815 Hz", "1: 0.9211 Hz")
        assert asking.modes.value == "0: 0.3815 Hz" and "one period in 2.6 s" in asking.swinging.content
        places = []
        for clock in (0.0, 0.5 * session.snapshot.answers.swing.period):
            monkeypatch.setattr(scene_module.time, "monotonic", lambda clock=clock: clock)
            scene.update(session.snapshot)
            places.append(np.array(scene._nodes["/ghost/sticks"].batched_positions))
        monkeypatch.undo()
        assert np.abs(places[1] - places[0]).max() > 0.05
        asking.choose(NONE)
        session.turn()
        asking.update(session.snapshot)
        scene.update(session.snapshot)
        assert asking.modes.value == NONE and "/ghost/sticks" not in scene._nodes


def test_joints_that_share_a_load_have_the_colour_of_their_group():
    groups = [("a", "b"), ("c", "d")]
    assert shared(groups, "a") == shared(groups, "b") == tuple(PALETTE[0].tolist()) != shared(groups, "c")
    assert len({shared(groups, name) for name in ("a", "c", "z")}) == 3
    assert SHARED in COLOURS
