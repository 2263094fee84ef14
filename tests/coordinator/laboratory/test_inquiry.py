"""How a mechanism in the laboratory swings, and which of its joints share a load: asked of it as it stands."""

import numpy as np
import pytest

import scenarios
from components import Revolute
from coordinator.analysis import modes
from coordinator.laboratory.acts import AskLoads, Grab, ShowMode
from hands_on import digests, session_of, walk
from modular import Cut, Join, ModelError


def answers(session):
    session.turn()
    return session.snapshot.answers


def test_modes_are_those_of_the_place_where_it_rests_and_joints_hold_on_the_way():
    right = modes(scenarios.load("double-pendulum"), seek=True)
    with session_of(dt=1e-3) as session:
        walk(session, 200)
        session.do(Grab("lower", "start", "end", 0.5))
        session.do(ShowMode(1))
        found = answers(session)
        assert found.modes == tuple(f"{k}: {f:.4g} Hz" for k, f in enumerate(right.frequencies))
        assert found.swing.words == found.modes[1] and found.swing.period == pytest.approx(1.0 / right.frequencies[1])
        plan, poses = found.swing.plan, found.swing.poses
        assert "hand" not in plan.forces and len(poses) == 48
        ends = np.array([ends_of(plan, pose) for pose in poses])
        assert np.abs(ends[:, 1] - ends[:, 2]).max() < 1e-9 and np.abs(ends[:, 0]).max() < 1e-9
        assert np.ptp(ends[:, 3], axis=0).max() > 0.05
        assert np.ptp(np.linalg.norm(ends[:, 3] - ends[:, 2], axis=1)) < 1e-9  # a rod stays as long as it is
        assert ends[:, 1, 0] * right.shapes["lower.end"][1, 0].real == pytest.approx(
            ends[:, 3, 0] * right.shapes["upper.end"][1, 0].real, abs=0.03
        )
        quarter = found.swing.at(0.25 * found.swing.period)
        assert quarter.bodies is poses[12] and found.swing.at(3.25 * found.swing.period).bodies is poses[12]


def ends_of(plan, pose):
    found = {}
    for states in pose:
        for row, name in enumerate(states.names):
            for port in ("start", "end"):
                found[name, port] = plan.bodies[name].port_motion(port, states.q[row], states.v[row], states.v[row])[0]
    return [found[one] for one in (("upper", "start"), ("upper", "end"), ("lower", "start"), ("lower", "end"))]


def test_asking_changes_no_bit_of_the_motion():
    kept = []
    for asks in (True, False):
        with session_of(dt=1e-3) as session:
            walk(session, 50)
            if asks:
                session.do(ShowMode(0))
                session.do(AskLoads())
            walk(session, 150)
            kept.append(digests(session))
    assert kept[0] == kept[1]


def test_who_shares_a_load_is_told_of_joints_as_they_are_now_and_forgotten_at_a_change():
    with session_of("bricard", dt=1e-3) as session:
        session.do(AskLoads())
        found = answers(session)
        assert [sorted(group) for group in found.sharing] == [[f"hinge{k}" for k in range(1, 7)]]
        assert "1 freedom, 1 redundant lock" in found.mobility
        assert session.notices[-1].text == found.mobility
        session.do(Cut("hinge3"))
        assert answers(session).sharing == () and answers(session).mobility == ""
        session.do(AskLoads())
        assert "5 freedoms at" in answers(session).mobility and "no joints share" in answers(session).mobility


def test_joints_that_were_made_on_the_way_hold_where_they_were_made():
    with session_of(dt=1e-3) as session:
        walk(session, 300)
        session.do(Join("pin", Revolute(), "ground", "lower.end"))
        session.do(AskLoads())
        assert "0 freedoms at 0.3 s" in answers(session).mobility
        session.do(Cut("elbow"))
        session.do(ShowMode(1))
        assert len(answers(session).modes) == 2


@pytest.mark.parametrize(
    "model, number, words",
    [("double-pendulum", 5, "there are 2, counted from 0"), ("robot-arm", 0, "drives or courses")],
)
def test_what_cannot_be_shown_is_refused(model, number, words):
    with session_of(model, dt=1e-3) as session:
        with pytest.raises(ModelError, match=words):
            session.do(ShowMode(number))
        assert answers(session).swing is None


def test_what_swings_is_shown_until_it_is_sent_away():
    with session_of(dt=1e-3) as session:
        session.do(ShowMode(0))
        session.do(AskLoads())
        assert answers(session).swing is not None and answers(session).mobility
        session.do(ShowMode(None))
        assert answers(session).swing is None and answers(session).mobility
