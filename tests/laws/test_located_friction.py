"""Dry friction under glued joints: a joint while it sticks; where it begins to slide, and to stick, is located within steps.

Against closed forms, and a chain that an integrator with events takes from switch to switch (tests/support/rubbing_chain.py).
"""

import warnings

import numpy as np
import pytest

import scenarios
from campaign import later, named, some
from components import (
    DrivenRotation,
    Fixed,
    Friction,
    KnifeEdge,
    Load,
    Revolute,
    RigidBody,
    Smooth,
    Stop,
    Table,
)  # fmt: skip
from coordinator import BlackBox, Checkpoints, Glued, Penalty, Relaxed, Simulation, resume
from coordinator.checks.examination import examine
from coordinator.continuation.reconfigure import with_settings
from coordinator.couplings.compositions import order_of
from coordinator.record.sensors import exerted
from modular import Assembly, ModelError
from rubbing_models import (
    BELT,
    SLIDING,
    STATIC,
    K,
    M,
    X,
    body,
    car,
    drawn,
    hung,
    landing,
    on_a_belt,
    rubs,
    slider,
    sprung,
)

COUPLINGS = [Glued(), Relaxed(), Glued(4)]


def played(model, until, coupling=None, dt=1e-3, **settings):
    """A run, and the book of the friction in it."""
    with warnings.catch_warnings(), Simulation(model, dt, coupling or Glued(), **settings) as simulation:
        warnings.simplefilter("ignore")
        return simulation.run(until), simulation.ledger("rub")


# --- one coordinate, closed forms ------------------------------------------------------------------------------------


def stick_and_slip(time):
    """It is carried to x = Fs / k, swings about Fk / k until it is as fast as the belt again, and is carried on from there."""
    w, wide = np.sqrt(K / M), (STATIC - SLIDING) / K
    slides, sticks = 2.0 / w * (np.pi - np.arctan2(wide * w, BELT)), 2.0 * wide / BELT
    first = STATIC / K / BELT
    since = np.mod(time - first, slides + sticks)
    swing = SLIDING / K + wide * np.cos(w * since) + BELT / w * np.sin(w * since)
    carried = SLIDING / K - wide + BELT * (since - slides)
    return np.where(time < first, BELT * time, np.where(since < slides, swing, carried))


@pytest.mark.parametrize(
    ("coupling", "dt", "most"), [(Glued(), 8e-3, 1.6e-4), (Relaxed(), 8e-3, 1.6e-4), (Glued(4), 1.6e-2, 6e-8)]
)
def test_stick_and_slip_on_a_belt_keeps_the_order_of_the_step_over_many_periods(coupling, dt, most):
    """Eleven of them: each switch is found where it is, so that errors are those of steps alone."""
    off = []
    for step in (dt, dt / 2.0):
        run, ledger = played(on_a_belt(), 16.0, coupling, step)
        off.append(np.abs(run.position("block.p")[:, 0] - stick_and_slip(run.time)).max())
        assert ledger["leaked"] == 0.0 and ledger["dissipated"] > 20.0
    assert off[0] < most and np.log2(off[0] / off[1]) > coupling.declared_order - 0.2


@pytest.mark.parametrize("coupling", COUPLINGS, ids=named)
def test_a_swing_loses_four_times_its_width_in_each_period_and_ends_where_the_spring_is_too_weak(coupling):
    k, dry, mass, start, dt = 50.0, 0.8, 0.7, 0.5, 4e-3
    model = Assembly(gravity=(0.0, 0.0))
    slider("block", model, mass=mass)
    model.apply("spring", sprung(k, -start), "ground", "block.p")
    model.apply("rub", rubs(dry), "ground", "block.p")
    run, ledger = played(model, 12.0, coupling, dt)
    half, count = np.pi * np.sqrt(mass / k), int(np.ceil((start * k / dry - 1.0) / 2.0))
    done = np.minimum(np.floor(run.time / half), count)
    wide, turned = start - 2.0 * dry / k * done, (-1.0) ** done
    swing = dry / k + (wide - dry / k) * np.cos((run.time - done * half) / half * np.pi)
    place = run.position("block.p")[:, 0] + start
    most = 4e-4 if coupling.order == 2 else 2e-8
    np.testing.assert_allclose(place, turned * np.where(done < count, swing, wide), atol=most)
    assert np.ptp(place[run.time > count * half + 0.1]) < 1e-13  # it stands
    assert abs(place[-1]) == pytest.approx(0.012, abs=1e-7)
    lost = 0.5 * k * (start**2 - place[-1] ** 2)
    assert ledger["dissipated"] == pytest.approx(lost, rel=2e-4) and ledger["leaked"] == 0.0


def on_a_slope(dry, push=0.0, slope=0.4):
    """A block of 2 kg on a slope, and what pushes it upwards, more and more."""
    along = (np.cos(slope), np.sin(slope))
    model = Assembly(gravity=(0.0, -9.81))
    slider("block", model, at=(0.3, 0.2), axis=along, mass=2.0)
    model.apply("rub", rubs(dry, along), "ground", "block.p")
    if push:
        model.apply("push", Load(Table((0.0, 10.0), ((0.0, 0.0), tuple(10.0 * push * np.array(along))))), "block.p")
    return model


@pytest.mark.parametrize("coupling", COUPLINGS, ids=named)
def test_what_is_held_stands_and_breaks_loose_at_the_force_that_it_holds(coupling):
    weight = 2.0 * 9.81 * np.sin(0.4)
    run, _ = played(on_a_slope(1.001 * weight), 6.0, coupling, record_every=100)
    assert np.abs(run.position("block.p") - (0.3, 0.2)).max() < 1e-14
    run, _ = played(on_a_slope(1.2 * weight, 3.0), 7.0, coupling, 1e-2)
    since = np.maximum(run.time - 2.2 * weight / 3.0, 0.0)
    way = np.linalg.norm(run.position("block.p") - (0.3, 0.2), axis=1)
    assert np.abs(way - 3.0 / 2.0 * since**3 / 6.0).max() < (4e-5 if coupling.order == 2 else 1e-10)


@pytest.mark.campaign("more")
def test_what_is_held_stands_for_a_minute():
    run, _ = played(on_a_slope(1.001 * 2.0 * 9.81 * np.sin(0.4)), 60.0, record_every=1000)
    assert np.abs(run.position("block.p") - (0.3, 0.2)).max() < 1e-12


@pytest.mark.parametrize(("coupling", "stiffness"), [(Glued(), None), (Penalty(), None), (Penalty(), 9e5)])
def test_along_a_distance_friction_takes_its_force_times_the_way_from_where_it_began(coupling, stiffness):
    """An arm lets itself down along a telescope; a spring that holds there begins without tension."""
    model, top, dt = Assembly(gravity=(0.0, -9.81)), np.array([0.8, 0.9]), 1e-3 if stiffness is None else 1e-4
    model.add("arm", RigidBody(mass=1.0, inertia=0.1, centre=(0.5, 0.0), ports={"a": (0.0, 0.0), "b": (0.8, 0.0)}))
    model.join("hinge", Revolute(), "ground", "arm.a")
    model.apply("rub", Friction(6.0, stiffness=stiffness, measure="distance"), "ground", "arm.b", at=tuple(top))
    run, ledger = played(model, 0.5, coupling, dt)
    way = np.linalg.norm(run.position("arm.b")[-1] - top) - 0.9
    assert way > 0.02 and ledger["dissipated"] + ledger["stored"] == pytest.approx(6.0 * way, rel=1e-3)
    assert abs(ledger["leaked"]) < 1e-4


# --- several together ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, *later(range(1, 1 + some(60)))])
def test_chains_with_friction_in_their_hinges_go_as_an_integrator_with_events_takes_them(seed):
    chain = drawn(seed)
    angles, _ = chain.end(1.0)
    tip = np.array([chain.lengths @ np.cos(angles), chain.lengths @ np.sin(angles)])
    off = {}
    for coupling, dt in ((Glued(), 4e-3), (Glued(), 2e-3), (Glued(4), 4e-3), (Glued(4), 2e-3)):
        run, _ = played(hung(chain), 1.0, coupling, dt)
        off[coupling.order, dt] = np.abs(run.position(f"link{chain.count - 1}.b")[-1] - tip).max()
        assert run.energy[-1] <= run.energy[0] + 1e-9 * np.ptp(run.energy) + 1e-9
    assert off[4, 2e-3] < max(0.1 * off[4, 4e-3], 1e-9) and off[4, 2e-3] < max(1e-2 * off[2, 2e-3], 1e-9)
    assert off[2, 2e-3] < max(0.3 * off[2, 4e-3], 1e-9)


def test_of_two_blocks_on_one_another_the_lower_takes_the_upper_along_as_far_as_friction_does():
    """Pulled below mu (m + M) g / m in all they go together, beyond each by itself."""
    for pull, together in ((5.0, True), (12.0, False)):
        model = Assembly(gravity=(0.0, 0.0))
        slider("lower", model, mass=2.0)
        slider("upper", model, at=(0.0, 0.1), mass=1.0)
        model.apply("rub", rubs(3.0), "lower.p", "upper.p")
        model.apply("floor", rubs(1.0), "ground", "lower.p")
        model.apply("pull", Load((pull, 0.0)), "lower.p")
        run, ledger = played(model, 1.0, dt=1e-2)
        lower, upper = (run.position(f"{name}.p")[-1, 0] for name in ("lower", "upper"))
        due = ((pull - 1.0) / 6.0,) * 2 if together else ((pull - 4.0) / 4.0, 3.0 / 2.0)
        np.testing.assert_allclose((lower, upper), due, atol=1e-12)
        assert ledger["dissipated"] == pytest.approx(3.0 * (lower - upper), abs=1e-9)


def test_friction_in_series_and_side_by_side_does_not_depend_on_the_order_of_rows():
    """Two on one hinge are one with the sum of both, however they share it."""
    runs = []
    for parts in ((2.0,), (0.5, 1.5), (1.5, 0.5)):
        model = Assembly(gravity=(0.0, -9.81))
        ports = {"root": (0.0, 0.0), "end": (0.6, 0.0)}
        arm = RigidBody(
            mass=1.0, inertia=0.1, centre=(0.3, 0.0), ports=ports, angular_velocity=1.0, velocity=(0.0, 0.3)
        )
        model.add("arm", arm)
        model.add(
            "tip", RigidBody(mass=0.5, inertia=0.02, centre=(0.9, 0.0), ports={"a": (0.6, 0.0)}, velocity=(0.0, 0.6))
        )
        joints = [("hinge", "ground", "arm.root"), ("elbow", "arm.end", "tip.a")]
        for name, first, second in joints if parts[0] < 1.0 else joints[::-1]:
            model.join(name, Revolute(), first, second)
        for k, dry in enumerate(parts):
            model.apply("rub" if k == 0 else f"rub{k}", Friction(dry), joint="hinge")
        model.apply("slack", Friction(0.3), joint="elbow")
        runs.append(played(model, 1.0)[0].position("tip.a"))
    assert np.ptp(runs[0][:, 1]) > 0.1
    for other in runs[1:]:
        np.testing.assert_allclose(other, runs[0], atol=1e-11)


def test_a_loop_stands_where_all_its_hinges_together_hold_what_weight_does_along_its_one_way():
    """sum M |dtheta_i| = -dV: each of four hinges may hold it alone, and how they share is open; in any order it is one bound."""

    def looped(dry, order):
        model = scenarios.load("four-bar")
        for joint in order:
            model.apply(f"rub-{joint}", Friction(dry), joint=joint)
        return model

    joints = list(looped(1.0, ()).joints)
    with Simulation(looped(1e-9, joints), 1e-4, Glued(4)) as simulation:
        run = simulation.run(0.01)
        turned = sum(simulation.ledger(f"rub-{joint}")["dissipated"] for joint in joints) / 1e-9
    bound = (run.potential_energy()[0] - run.potential_energy()[-1]) / turned
    for order in (joints, joints[::-1]):
        for share, moves in ((0.999, True), (1.001, False)):
            with Simulation(looped(share * bound, order), 1e-3, Glued()) as simulation:
                run = simulation.run(0.1)
            way = max(
                np.ptp(run.position(f"{name}.{body.port_names[-1]}"), axis=0).max() for name, body in run.bodies.items()
            )
            assert (way > 1e-6) == moves and (moves or way < 1e-13)


def test_friction_stops_no_joint_that_is_driven():
    """A hinge that stands for a while and goes on takes its friction along, which has stuck meanwhile."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("arm", RigidBody(mass=1.0, inertia=0.1, centre=(0.3, 0.0), ports={"root": (0.0, 0.0), "end": (0.6, 0.0)}))
    model.join("hinge", Revolute(), "ground", "arm.root")
    model.join("drive", DrivenRotation(Smooth((0.0, 0.2, 0.5, 0.7), (0.0, 0.0, 0.4, 0.4))), "ground", "arm.root")
    model.apply("rub", Friction(2.0), joint="hinge")
    run, ledger = played(model, 0.7, dt=2e-3)
    assert run.angle("hinge")[-1] == pytest.approx(0.4, abs=1e-12)
    went = np.abs(np.diff(run.angle("hinge"))).sum()  # a smooth course swings a little
    assert went > 0.4 and ledger["dissipated"] == pytest.approx(2.0 * went, rel=1e-3)


# --- beside what counts by steps -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("brake", "mu"), [(30.0, 0.8), (60.0, 0.5)], ids=["rolls", "locks"])
def test_a_wheel_that_is_braked_rolls_slower_or_slides_as_its_brake_holds(brake, mu):
    """(m + I / r^2) a = M / r while it rolls, m a = mu N where the brake holds it; then all stand."""
    lag = brake / 0.3 / (25.5 + 2.5) if brake == 30.0 else mu * 25.0 * 9.81 / 25.5
    off = []
    for dt in (2e-3, 1e-3):
        run, ledger = played(car(brake, mu), 2.0, dt=dt)
        time = np.minimum(run.time, 3.0 / lag)
        place = run.position("car.p")[:, 0]
        off.append(np.abs(place - 3.0 * time + 0.5 * lag * time**2).max())
        assert np.ptp(place[run.time > 3.0 / lag + 0.1]) < 1e-6 and ledger["leaked"] == 0.0
    assert off[0] < 3e-4 and off[1] < off[0] / 3.0


def test_between_walls_a_slide_goes_the_way_that_its_friction_leaves_it():
    """v^2 / 2 = (F / m) s, whatever walls give back, if that is all: where it stops after so many bounces."""
    model = Assembly(gravity=(0.0, 0.0))
    slider("block", model, velocity=(2.0, 0.0))
    model.apply("wall", Stop(-0.2, 0.3, stiffness=2e3, measure="way", axis=X), "ground", "block.p")
    model.apply("rub", rubs(0.7), "ground", "block.p")
    found = []
    for dt in (1e-3, 5e-4):
        run, ledger = played(model, 6.0, dt=dt)
        assert np.ptp(run.position("block.p")[run.time > 5.5, 0]) < 1e-13
        assert ledger["dissipated"] == pytest.approx(2.0, rel=1e-4) and ledger["leaked"] == 0.0
        found.append(run.position("block.p")[-1, 0])
    assert found[1] == pytest.approx(0.0378526, abs=2e-5) and abs(found[0] - 0.0378526) < 6e-5


# --- events, paths, words --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "dry"), [(7, 0.3), (5, 3.0), *later([(1, 0.1), (4, 0.3), (8, 1.0), (7, 3.0)])])
def test_chains_that_rub_gain_nothing_where_they_land(seed, dry):
    """Half of a blow acts a tick later, and the energy between both halves is that of nothing: up to half a joule is lost there and
    comes back. What was there within three ticks is never there again, of 36 J."""
    with Simulation(landing(seed, dry), 1e-3, Glued()) as simulation:
        energy = simulation.run(1.0).energy
    lasting = np.max([energy[k : len(energy) - 3 + k] for k in range(4)], axis=0)
    assert energy[0] - energy[-1] > 10.0
    assert (lasting - np.minimum.accumulate(lasting)).max() < 1e-2


def test_what_sticks_is_cut_joined_and_broken_as_joints_are():
    """A pendulum that is held up falls where its friction goes, or where it is struck; it is held anew where it comes to rest."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("arm", RigidBody(mass=1.0, inertia=0.1, centre=(0.3, 0.0), ports={"root": (0.0, 0.0), "end": (0.6, 0.0)}))
    model.join("hinge", Revolute(), "ground", "arm.root")
    model.apply("rub", Friction(4.0), joint="hinge")
    with warnings.catch_warnings(), Simulation(model, 1e-3, Glued()) as simulation:
        warnings.simplefilter("ignore")
        simulation.run(0.2)
        body_of = simulation.body("arm")
        simulation.add("lump", RigidBody(mass=1.0, inertia=0.01, centre=(0.6, 0.0), ports={"p": (0.6, 0.0)}))
        simulation.join("weld", Fixed(), "arm.end", "lump.p")  # 2.9 N m more than friction holds: it slides
        simulation.run(0.3)
        assert simulation.recorded.angle("hinge")[-1] < -1e-2
        simulation.cut("weld")
        simulation.run(1.0)
        angles = simulation.recorded.angle("hinge")
        assert abs(angles[-1] - angles[-400]) < 1e-13 and angles[-1] > -1.0
        simulation.remove("rub")
        simulation.run(1.05)
        fallen = simulation.recorded.angle("hinge")[-1] - angles[-1]
    assert body_of is not None
    due = -0.5 * 9.81 * 0.3 * np.cos(angles[-1]) / 0.19 * 0.05**2
    assert fallen == pytest.approx(due, rel=2e-2)


def test_what_it_does_is_told_and_another_coupling_goes_on_from_there():
    """A weight that is held is told at once; springs and joints take it over from each other and hold it where it was."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("arm", RigidBody(mass=1.0, inertia=0.16, centre=(0.2, 0.0), ports={"hub": (0.0, 0.0), "end": (1.0, 0.0)}))
    model.join("hinge", Revolute(), "ground", "arm.hub")
    model.apply("rub", Friction(3.0), joint="hinge")
    with Simulation(model, 1e-3, Glued()) as simulation:
        simulation.run(0.1)
        np.testing.assert_allclose(exerted(simulation.recorded, "rub")[:, 2], 0.2 * 9.81, rtol=1e-6)
        for coupling, most in ((Penalty(), 2e-5), (Glued(4), 1e-12)):
            simulation = with_settings(simulation, coupling=coupling)
            run = simulation.run(simulation.time + 0.2)
            assert np.ptp(run.angle("hinge")[-50:]) < most and abs(run.angle("hinge")[-1]) < 2e-5


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("build", [lambda: car(60.0, 0.5), on_a_belt], ids=["whole", "divided"])
def test_steps_stacks_threads_and_workers_and_checkpoints_have_the_same_bits(build, tmp_path):
    def digest(step=False, **settings):
        with warnings.catch_warnings(), Simulation(build(), 5e-3, Glued(), **settings) as simulation:
            warnings.simplefilter("ignore")
            while step and simulation.tick < 240:
                simulation.step()
                if simulation.tick in (90, 163, 201):
                    Checkpoints(tmp_path / f"{simulation.tick}").write(simulation)
            return simulation.run(1.4).digest

    def boxed():
        """One of the bodies as a black box, in the middle of whose step others try theirs."""
        model, name = build(), "block" if build is on_a_belt else "car"
        data = model.bodies[name].to_data()
        model.bodies[name] = BlackBox(data.pop("class"), worker="there", ports=["p"], dimension=2, data=data)
        with warnings.catch_warnings(), Simulation(model, 5e-3, Glued()) as simulation:
            warnings.simplefilter("ignore")
            return simulation.run(1.4).digest

    digests = {
        digest(),
        digest(step=True),
        digest(grouped=False),
        digest(threads=2),
        boxed(),
        digest(workers=2, launcher="here"),
    }
    for folder in sorted(tmp_path.iterdir()):
        with resume(folder) as simulation:
            digests.add(simulation.run(1.4).digest)
    assert len(digests) == 1


def test_a_check_tells_what_is_located_and_orders_of_runs_count_on_it():
    model = on_a_slope(20.0)
    with Simulation(model, 1e-3, Glued(4)) as simulation:
        assert simulation.located_friction == ["rub"] == examine(simulation).friction and not simulation.margins
        assert not simulation.implicit_forces
    assert order_of(Glued(4), model) == 4 and order_of(Glued(4, implicit_forces=False), model) == 2 == order_of(
        Penalty(), model
    )
    assert order_of(Penalty(), on_a_belt()) == 1
    with Simulation(model, 1e-3, Penalty()) as simulation:
        assert simulation.located_friction == []


@pytest.mark.parametrize(
    ("friction", "said"),
    [
        (Friction(2.0, static=1.0), r"static = 1 is less than dry = 2.*leave static out, or give more"),
        (Friction(0.0, static=1.0), r"static = 1 and dry = 0.*give a dry above 0"),
        (Friction(1.0, static=float("nan")), "static = nan; give a finite number"),
    ],
)
def test_friction_that_cannot_be_is_refused(friction, said):
    model = Assembly(gravity=(0.0, 0.0))
    slider("block", model)
    with pytest.raises(ModelError, match=f"friction 'rub': {said}"):
        model.apply("rub", friction, "ground", "block.p")


def test_blades_and_friction_are_refused_together_where_stages_go_back():
    model = Assembly(gravity=(0.0, 0.0))
    body(model, "sleigh", (0.0, 0.0), velocity=(1.0, 0.0))
    model.join("blade", KnifeEdge((0.0, 1.0)), "ground", "sleigh.p")
    model.apply("rub", Friction(0.1), "ground", "sleigh.p")
    with pytest.raises(ModelError, match=r"located by trying steps.*blade.*take order=2"):
        Simulation(model, 1e-3, Glued(4))
    run, _ = played(model, 0.1)
    assert run.position("sleigh.p")[-1, 0] == pytest.approx(0.1, abs=1e-3)
