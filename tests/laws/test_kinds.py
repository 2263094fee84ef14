"""One body of a mechanism replaced by each kind of body there is: the same motion, within the error of the scheme."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import kinds
from campaign import each_once, more, named, shortened
from components import Beam, Revolute, RigidBody, Rod, Spherical
from coordinator import Glued, Penalty, Simulation
from kinds import KINDS
from modular import Assembly


def played(make, dimension, coupling, dt):
    _, mechanism = kinds.FREE[dimension]
    with Simulation(mechanism(make), dt, coupling) as simulation:
        return kinds.paths(simulation.run(0.5), dimension)


@pytest.mark.short(3)
@pytest.mark.parametrize(("dimension", "kind"), each_once([2, 3], KINDS), ids=named)
def test_a_four_bar_and_a_double_pendulum_move_alike_whatever_one_body_is(kind, dimension):
    """Affine bases to 1e-10; others to what two schemes of order four leave; a stiff mode by as much as it gives way."""
    within = 1e-10 if kind in ("canonical", "points", "masses") else 2e-6 if kind == "a stiff mode" else 2e-8
    given = played(RigidBody, dimension, Glued(4), 1e-3)
    found = played(KINDS[kind], dimension, Glued(4), 1e-3)
    assert np.abs(given - found).max() < within


@pytest.mark.parametrize("kind", ["newton-euler", "subassembly", "no mode"])
def test_under_springs_too(kind):
    """Within what the springs themselves give way."""
    makes = ((RigidBody, 5e-4), (RigidBody, 2.5e-4), (KINDS[kind], 5e-4))
    given, finer, found = (played(make, 2, Penalty(), dt).reshape(3, -1, 2)[:, -1] for make, dt in makes)
    assert np.abs(given - found).max() < np.abs(given - finer).max()


@pytest.mark.short(1)
@pytest.mark.parametrize(
    ("dimension", "kind"),
    shortened(
        [(2, "newton-euler"), (2, "subassembly"), (3, "a stiff mode")],
        itertools.product([2, 3], ["newton-euler", "subassembly", "no mode", "a stiff mode"]),
    ),
)
def test_dampers_take_little_while_bodies_turn_and_books_close_to_second_order(kind, dimension):
    """Arms that had turned further than velocities would part, to first order, what moves alike (newmark_loops.py)."""
    taken, leaks = [], []
    for dt in (1e-3, 5e-4):
        with Simulation(kinds.FREE[dimension][1](KINDS[kind]), dt, record_every=10) as simulation:
            run = simulation.run(0.25)
        ledgers = [run.ledger(joint) for joint in run.joints]
        taken.append(sum(ledger["dissipated"][-1] for ledger in ledgers))
        leaks.append(sum(np.abs(ledger["leaked"]).max() for ledger in ledgers))
    assert taken[0] < 5e-6 and leaks[0] < 2e-5
    assert taken[1] < 0.3 * taken[0] and leaks[1] < 0.3 * leaks[0]


@pytest.mark.parametrize("dimension", [2, *more([3])])
def test_a_stiff_beam_in_its_place_moves_as_a_rigid_bar(dimension):
    """Its mass matrix is that of its slices, which the rigid bar is given; what is left is how far it bends: a quarter of that
    where it is four times as stiff."""
    left, right = ((0.2, 0.4), (1.2, 0.6)) if dimension == 2 else ((0.5, 0.0, 0.0), (1.0, 0.4, -0.2))
    beam = Beam(left, right, mass=1.1, axial=4e6, bending=4e4, elements=4)
    stiffer = replace(beam, axial=4.0 * beam.axial, bending=4.0 * beam.bending)
    arms = beam.start_of_nodes[:, :dimension] - 0.5 * np.add(left, right)
    if dimension == 2:
        inertia = float(beam.node_masses @ np.sum(arms**2, 1) + beam.node_inertia.sum())
    else:
        own = beam.own_axes @ np.diag(beam.node_inertia.sum(axis=0)) @ beam.own_axes.T
        inertia = own + beam.node_masses @ np.sum(arms**2, 1) * np.eye(3) - (arms.T * beam.node_masses) @ arms
    rigid = RigidBody(mass=1.1, inertia=inertia, centre=0.5 * np.add(left, right), ports={"start": left, "end": right})
    tracks = []
    for body in (rigid, beam, stiffer):
        model = Assembly(gravity=(0.0, -9.81, 0.0)[:dimension])
        model.add("bar", body)
        if dimension == 2:
            model.add("crank", Rod((0.0, 0.0), left, 0.6))
            model.add("rocker", Rod((1.0, 0.0), right, 0.9))
            sides = [
                ("ground", "crank.start"),
                ("crank.end", "bar.start"),
                ("bar.end", "rocker.end"),
                ("rocker.start", "ground"),
            ]
        else:
            model.add("upper", Rod((0.0, 0.0, 0.0), left, 0.8, 0.03))
            sides = [("ground", "upper.start"), ("upper.end", "bar.start")]
        for k, pair in enumerate(sides):
            model.join(f"joint{k}", Revolute() if dimension == 2 else Spherical(), *pair)
        with Simulation(model, 2.5e-4, Glued()) as simulation:
            tracks.append(simulation.run(0.5).position("bar.end"))
    bent, bent_less = (np.abs(tracks[0] - track).max() for track in tracks[1:])
    assert bent < 1.5e-4 and bent_less < 0.3 * bent + 3e-6  # and what steps leave
