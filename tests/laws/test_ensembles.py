"""The law of ensembles: the bits of each variant are those of its single run, whatever happens to the others."""

from __future__ import annotations

import numpy as np
import pytest

import scenarios
from campaign import spread
from components.bodies import PointMassRod, RigidBody
from components.forces import Stop
from components.joints import Revolute
from coordinator import Ensemble, Glued, Penalty, Simulation, Stable
from coordinator.ensemble.parameters import changed, parameter
from coordinator.ensemble.variants import Variants
from modular.assembly import Assembly
from modular.errors import Diverged
from modular.events import Cut
from modular.limit import Limit


def pendulums(**events) -> Assembly:
    """A pendulum of three rods in the plane, without symmetry."""
    model = Assembly((0.3, -9.81))
    model.add("upper", PointMassRod((0.0, 0.0), (0.7, -0.2), (0.9, 0.4)))
    model.add("lower", PointMassRod((0.7, -0.2), (0.9, -1.1), (0.5, 1.1), velocity=(0.0, 0.0)))
    model.join("pivot", Revolute(), "ground", "upper.start", breaks_at=events.get("breaks_at"))
    model.join("elbow", Revolute(), "upper.end", "lower.start")
    model.add("last", PointMassRod((0.9, -1.1), (1.7, -1.3), (0.3, 0.6)))
    model.join("wrist", Revolute(), "lower.end", "last.start")
    return model


def differing(count: int) -> dict[str, np.ndarray]:
    return {
        "upper.masses": np.c_[np.linspace(0.5, 2.0, count), np.linspace(0.4, 0.3, count)],
        "lower.masses.1": np.geomspace(0.02, 90.0, count),  # so iterations end after other rounds in each
    }


def test_members_of_variants_have_the_numbers_that_were_given_and_all_others_of_the_model():
    """However many of a description differ, whole or in part, one after the other."""
    model = pendulums()
    model.add("plate", RigidBody(mass=2.0, inertia=0.3, centre=(0.4, 0.2), ports={"end": (0.5, 0.6)}))
    draw, count = np.random.default_rng(4), 3
    own = {
        "upper.masses.0": draw.uniform(0.5, 2.0, count), "lower.end.1": draw.uniform(-2.0, -1.0, count),
        "lower.masses.1": draw.uniform(0.5, 2.0, count), "lower.velocity.0": draw.normal(size=count),
        "last.end": draw.normal(size=(count, 2)), "last.end.1": draw.normal(size=count),
        "plate.mass": draw.uniform(1.0, 2.0, count), "plate.centre": draw.normal(size=(count, 2)),
        "plate.ports.end.point.0": draw.normal(size=count),
    }  # fmt: skip
    variants = Variants(model, own)
    for k in range(count):
        bodies = variants.model_of(k).bodies
        expected = dict(model.bodies)
        for name, values in own.items():
            found = parameter(model, name)
            value = float(values[k]) if values.ndim == 1 else tuple(values[k].tolist())
            expected[found.owner] = changed(expected[found.owner], [(found.path, value)])
        assert {name: body.to_data() for name, body in bodies.items()} == {
            name: body.to_data() for name, body in expected.items()
        }
        assert bodies["last"].end == (own["last.end"][k, 0], own["last.end.1"][k])


def test_variants_with_the_same_numbers_of_a_member_have_one_in_common():
    """To the last bit: what differs in the sign of a zero is another one."""
    model = pendulums()
    model.add(
        "plate", RigidBody(mass=2.0, inertia=0.3, centre=(0.4, 0.2), ports={"end": (0.5, 0.6)}, velocity=(0.0, 0.0))
    )
    vary = {"plate.mass": [1.0, 2.0, 1.0, 1.0, 1.0], "plate.velocity.0": [0.0, 0.0, 0.0, -0.0, 0.5]}
    variants = Variants(model, {**vary, "upper.masses.0": [1.0, 2.0, 3.0, 4.0, 5.0]})
    made = [variants.model_of(k).bodies["plate"] for k in range(5)]
    assert made[2] is made[0] and len({id(each) for each in made}) == 4
    assert np.signbit(made[3].velocity[0]) and not np.signbit(made[0].velocity[0])
    assert [variants.model_of(k).bodies["upper"].masses[0] for k in range(5)] == [1.0, 2.0, 3.0, 4.0, 5.0]


def assert_the_bits_are_those_of_single_runs(ensemble: Ensemble, which, **settings) -> None:
    for k in which:
        alone = Simulation(ensemble.variants.model_of(k), ensemble.dt, ensemble.coupling, **settings)
        try:
            alone.run(ensemble.until)
        except Diverged as error:
            gone = ensemble.retired[k]
            assert (gone.component, gone.time, gone.reason) == (error.component, error.tick * ensemble.dt, str(error))
        one, other = ensemble.run_of(k), alone.recorded
        assert one.digest == other.digest, k
        assert one.happenings == other.happenings, k
        assert (one.margins, one.forms, one.estimate) == (other.margins, other.forms, other.estimate), k


COUPLINGS = [pytest.param(Penalty(), 1e-3, id="penalty"), pytest.param(Glued(order=4), 0.004, id="glued4")]


@pytest.mark.parametrize(("coupling", "dt"), COUPLINGS)
def test_the_bits_of_a_variant_are_those_of_its_single_run(coupling, dt):
    found = Ensemble(pendulums(), dt, coupling, vary=differing(9), record_every=4).run(until=40 * dt)
    assert not found.apart and not found.retired
    assert_the_bits_are_those_of_single_runs(found, range(9), record_every=4)


@pytest.mark.parametrize("near", [1, 7, 12])
def test_it_is_the_same_how_many_go_through_their_stages_together(near, monkeypatch):
    """One, two or four of nine; the last ones are fewer, and one of the second lot is lost on the way."""
    found = []
    spins = np.where(np.arange(9) == 5, 3e6, 0.1)
    model = pendulums()
    model.add("wheel", RigidBody.example(2))
    for bodies in (10_000, near):
        monkeypatch.setattr("coordinator.couplings.interface.side_by_side.BODIES_NEAR", bodies)
        vary = {**differing(9), "wheel.angular_velocity": spins}
        found.append(Ensemble(model, 0.004, Glued(order=4), vary=vary).run(until=0.04))
    whole, parted = found
    assert list(whole.retired) == list(parted.retired) == [5]
    assert np.array_equal(whole.position("last.end"), parted.position("last.end"), equal_nan=True)


def test_variants_of_different_sizes_and_gravities_run_as_alone():
    lengths = np.linspace(0.4, 2.3, 7)  # so tolerances of glued joints differ
    vary = {
        "upper.end.0": lengths, "lower.start.0": lengths, "lower.end.0": lengths + 0.2, "last.start.0": lengths + 0.2,
        "gravity": np.c_[np.zeros(7), [-9.81] * 5 + [-1.62] * 2],
    }  # fmt: skip
    found = Ensemble(pendulums(), 0.01, Glued(), vary=vary).run(until=0.3)
    assert not found.apart
    assert_the_bits_are_those_of_single_runs(found, range(7))


def test_joints_break_and_are_cut_in_each_variant_by_itself():
    """Some variants break, at ticks of their own; all lose another joint at times of their own."""
    model = pendulums(breaks_at=Limit(force=16.0))
    model.at(0.2, Cut("elbow"))
    masses = np.linspace(0.2, 2.0, 8)
    vary = {
        "lower.masses.1": masses,
        "events.0.time": np.linspace(0.15, 0.25, 8),
        "pivot.breaks_at.force": 16.0 + masses,
    }
    found = Ensemble(model, 1e-3, vary=vary, record_every=7).run(until=0.3)
    assert not found.apart
    broken = [k for k in range(8) if any(event["kind"] == "break" for event in found.run_of(k).happenings)]
    assert 0 < len(broken) < 8
    assert_the_bits_are_those_of_single_runs(found, range(8), record_every=7)


def test_one_that_moves_and_one_that_rests_begin_as_alone():
    """Loads that joints start with are found in each model by itself, also where they are of one joint alone."""
    model = Assembly((0.0, 0.0, -9.81))
    model.add(
        "arm", RigidBody(mass=2.0, inertia=(0.2, 0.3, 0.4), centre=(0.4, 0.1, 0.0), ports={"end": (0.0, 0.0, 0.0)})
    )
    model.join("hinge", Revolute(axis=(0.0, 1.0, 0.0)), "ground", "arm.end")
    speeds = np.c_[np.zeros(5), [0.0, 0.0, 1.5, -0.7, 0.0], np.zeros(5)]
    velocity = np.cross(speeds, [0.4, 0.1, 0.0])
    vary = {"arm.angular_velocity": speeds, "arm.velocity": velocity, "arm.mass": [2.0, 3.0, 1.0, 0.5, 4.0]}
    found = Ensemble(model, 1e-3, vary=vary).run(until=0.03)
    assert not found.apart
    assert_the_bits_are_those_of_single_runs(found, range(5))


@pytest.mark.parametrize("coupling", [Penalty(), Glued()])
def test_one_that_diverges_is_retired_and_named_and_the_others_do_not_notice(coupling):
    masses = np.linspace(0.5, 2.0, 6)
    spins = np.zeros(6)
    spins[3] = 3e6  # [rad/s], at 1 ms: more than any part of a tick bears
    model = pendulums()
    model.add("wheel", RigidBody.example(2))
    vary = {"upper.masses.0": masses, "wheel.angular_velocity": spins}
    found = Ensemble(model, 1e-3, coupling, vary=vary).run(until=0.05)
    assert list(found.retired) == [3]
    gone = found.retired[3]
    assert gone.component in ("wheel", "elbow") and 0.0 < gone.time < 0.05
    assert (
        np.isnan(found.position("upper.end")[3]).any()
        and np.isfinite(np.delete(found.position("upper.end"), 3, 0)).all()
    )
    assert_the_bits_are_those_of_single_runs(found, range(6))


@pytest.mark.parametrize("name", ["switching-pendulum", "bouncing-ball"])
def test_what_cannot_run_side_by_side_runs_one_after_the_other_and_says_why(name):
    model = scenarios.load(name)
    name = "rod.masses" if "rod" in model.bodies else "ball.mass"
    values = np.multiply.outer([0.5, 0.9, 1.4], parameter(model, name).of(model))
    found = Ensemble(model, 1e-3, vary={name: values}, record_every=5).run(until=0.4)
    assert found.apart
    assert_the_bits_are_those_of_single_runs(found, range(3), record_every=5)


@pytest.mark.parametrize(("order", "apart"), [(2, False), (4, True)])
def test_a_wall_that_one_variant_nears_changes_no_other(order, apart):
    """Steps of higher order go in even stages while a wall is near: of all that is there, so variants run apart."""
    model = Assembly((0.0, -9.81))
    model.add("rod", PointMassRod((0.0, 0.0), (1.0, 0.0), (0.5, 0.5)))
    model.join("pivot", Revolute(), "ground", "rod.start")
    model.apply("stop", Stop(low=-0.3, restitution=0.5), "ground", "rod.start")
    found = Ensemble(model, 2e-3, Glued(order), vary={"stop.low": [-0.1, -0.3, -0.6]}).run(until=0.5)
    assert bool(found.apart) == apart
    assert_the_bits_are_those_of_single_runs(found, range(3))


class Half(Stable):
    """A rule of somebody else's."""


def test_rules_of_others_are_not_trusted_to_look_at_one_model_alone():
    assert "Half may look at all" in Ensemble(pendulums(), 1e-3, Penalty(rule=Half()), vary=differing(3)).apart


COUPLINGS_OF_ALL = [Penalty(), Glued()]


@pytest.mark.campaign
@pytest.mark.parametrize("coupling", COUPLINGS_OF_ALL, ids=["penalty", "glued"])
@pytest.mark.parametrize("name", spread(scenarios.names(), 3))
def test_every_ready_system_may_be_varied(name, coupling):
    """The first number of a body that may differ: as many ticks as it takes to be on the way."""
    model = scenarios.load(name)
    dt = model.suggested.get("dt", 1e-3)
    body, field = next(
        (body, field) for body in model.bodies for field in ("mass", "masses") if hasattr(model.bodies[body], field)
    )
    values = np.multiply.outer(np.linspace(1.0, 1.1, 5), parameter(model, f"{body}.{field}").of(model))
    found = Ensemble(model, dt, coupling, vary={f"{body}.{field}": values}, record_every=7).run(until=150 * dt)
    assert len(found) == 5 and len(found.ticks) > 1
    assert_the_bits_are_those_of_single_runs(found, range(5), record_every=7)
