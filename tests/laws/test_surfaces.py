"""Surfaces: whoever comes near has met in time, and moves as if every pair had been declared; on every path with the same bits."""

import itertools
import warnings

import numpy as np
import pytest

import scenarios
from campaign import as_far_as, later
from components import (
    Box,
    Capsule,
    Contact,
    Distance,
    Fixed,
    HalfSpace,
    LedBody,
    Load,
    PointMassRod,
    Ramp,
    Revolute,
    RigidBody,
    Sphere,
    SpringDamper,
    Surface,
)
from components.forces.broad_phase import meeting, overlapping
from coordinator import Centralized, Glued, Penalty, Run, Simulation, resume
from coordinator.continuation.reconfigure import with_names, with_settings
from coordinator.events.encounters import Meetings, encounters, meetings_of
from coordinator.system import System
from modular import Add, Apply, Assembly, Cut, ModelError
from modular.errors import CouplingError

DT = 1e-3


def put(model, name, at, shape, restitution=0.8, friction=0.0, **motion):
    at = tuple(at)
    spread = 0.004 if len(at) == 2 else (0.004, 0.005, 0.006)
    model.add(name, RigidBody(mass=1.0, inertia=spread, centre=at, ports={"G": at}, **motion))
    model.apply(f"skin-{name}", Surface(shape, friction, restitution), f"{name}.G")


def crowd(seed, dimension, count=9, restitution=(0.5, 1.0), shapes="random"):
    """Bodies of many shapes and sizes that fly about over the ground, beside a box that stands there."""
    rng = np.random.default_rng([seed, dimension])
    model = Assembly(gravity=(0.0, 0.0, -9.81)[-dimension:])
    floor = Contact(HalfSpace(), Sphere(), restitution=0.7).first
    model.apply("floor", Surface(floor, restitution=rng.uniform(*restitution)), "ground")
    aside = (3.2, 0.3, 0.2)[:dimension]
    model.apply("block", Surface(Box((0.5,) * dimension, centre=aside), restitution=0.7), "ground")
    fast, spin = 10.0 ** rng.uniform(-0.5, 1.2), 10.0 ** rng.uniform(-1.0, 1.0)
    for k in range(count):
        size = 0.3 if shapes == "balls" else 10.0 ** rng.uniform(-1.3, -0.4)
        kinds = [Sphere(size), Capsule(0.3 * size, 1.5 * size), Box(tuple(size * rng.uniform(0.5, 1.5, dimension)))]
        shape = kinds[0] if shapes == "balls" else kinds[rng.integers(3)]
        place = np.array((k % 3, k // 3 % 3, k // 9) if dimension == 3 else (k % 3, k // 3)) + rng.uniform(
            -0.1, 0.1, dimension
        )
        place[-1] += 0.8
        turning = spin * rng.normal(size=3) if dimension == 3 else spin * rng.normal()
        motion = {"velocity": tuple(fast * rng.normal(size=dimension)), "angular_velocity": turning}
        put(model, f"b{k}", place, shape, rng.uniform(*restitution), **motion)
    return model


def declared(model):
    """The same with a contact for every pair from the start on."""
    found, edges = model.copy(), list(model.force_edges.items())
    found.force_edges = {}
    for k, (one, edge) in enumerate(edges):
        for other, second in edges[k + 1 :]:
            force, ports = edge.force.meeting(second.force), (edge.ports[0], second.ports[0])
            if force is not None and ports[0].body != ports[1].body:
                found.apply(f"{one}+{other}", force, *map(str, ports))
    return found


def places(simulation):
    return np.concatenate([stack.state()["q"].ravel() for stack in simulation.system.bodies])


def acting(simulation):
    """Contacts that act now."""
    stacks = [stack for stack in simulation.system.forces if hasattr(stack, "did")]
    return {name for stack in stacks for name, row in stack.row.items() if np.abs(stack.did[row]).max() > 0.0}


@pytest.mark.short(1)
@pytest.mark.parametrize(
    ("seed", "dimension", "coupling"),
    [(0, 3, Glued()), (1, 2, Penalty()), *later(itertools.product(range(2, 40), (2, 3), (Glued(), Penalty())))],
)
def test_whoever_touches_has_met(seed, dimension, coupling):
    """Contacts that act where every pair was declared have been found, tick by tick, as long as both move alike."""
    model, touched = crowd(seed, dimension), set()
    with Simulation(model, DT, coupling) as found, Simulation(declared(model), DT, coupling) as every:
        for _ in range(700):
            found.step()
            every.step()
            if np.abs(places(found) - places(every)).max() > 1e-6:
                break
            touched |= acting(every)
            assert acting(every) <= set(found.system.encounters)
        assert touched
        assert len(found.system.encounters) < len(every.system.force_home)


@pytest.mark.parametrize(("dimension", "coupling"), [(3, Penalty()), (2, Glued())])
def test_it_is_the_motion_of_declared_contacts(dimension, coupling):
    """Balls that bounce: how they do hangs on the two that meet alone, and so not on who is known to whom."""
    model = crowd(3, dimension, shapes="balls", restitution=(0.8, 1.0))
    with Simulation(model, DT, coupling) as found, Simulation(declared(model), DT, coupling) as every:
        found.run(0.5)
        every.run(0.5)
    np.testing.assert_allclose(places(found), places(every), atol=1e-11)
    assert sum(ledger["dissipated"] for ledger in ledgers(found)) > 1e-3  # they have struck


def test_a_plane_that_turns_is_met_by_what_lies_beside_it():
    """Where it turns fast its far parts come near in no time."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add("flap", LedBody(turning=Ramp(-3.0), ports={"G": (0.0, 0.0)}, centre=(0.0, 0.0)))
    model.apply("skin-flap", Surface(HalfSpace((1.0, 0.0)), restitution=0.9), "flap.G")
    for k in range(5):
        put(model, f"b{k}", (0.4 + 0.3 * k, 2.0 - 0.9 * k), Sphere(0.05), 0.9)
    with Simulation(model, DT, Glued()) as found, Simulation(declared(model), DT, Glued()) as every:
        for _ in range(12):
            found.run(found.time + 0.04)
            every.run(every.time + 0.04)
            assert acting(every) <= set(found.system.encounters)
    np.testing.assert_allclose(places(found), places(every), atol=1e-11)
    assert sum(ledger["supplied"] != 0.0 for ledger in ledgers(found)) >= 2


@pytest.mark.campaign
@pytest.mark.parametrize("coupling", [Glued(), Penalty()], ids=["glued", "penalty"])
def test_bits_are_those_of_every_other_path(coupling, tmp_path):
    model = crowd(5, 3, shapes="balls", restitution=(0.0, 0.6))
    with Simulation(model, DT, coupling, record_every=10) as one:
        run = one.run(0.4)
    assert any(name in one.system.encounters for name in run.forces)
    with Simulation(model, DT, coupling) as steps:
        while steps.tick < 400:
            steps.step()
    with Simulation(model, DT, coupling, record_every=7, threads=2) as parts:
        parts.run(0.13)
        parts.run(0.4)
    with Simulation(model, DT, coupling, workers=3, launcher="here") as shared:
        shared.run(0.4)
    with Simulation(model, DT, coupling) as first:
        first.run(0.2, checkpoints=tmp_path)
    with resume(tmp_path) as rest:
        rest.run(0.4)
    with Simulation(model, DT, coupling, grouped=False) as apart:  # whose surfaces met nobody
        apart.run(0.4)
    for other in (steps, parts, shared, rest, apart):
        np.testing.assert_array_equal(places(one), places(other))
        assert known(one) == known(other)


def known(simulation):
    return encounters(simulation.assembly).keys()


def test_the_model_stays_what_it_was(tmp_path):
    """Who meets whom belongs to the motion: it is in no file of the model, and what is read runs with the same bits."""
    model = crowd(6, 3, shapes="balls")
    with Simulation(model, DT, Glued()) as simulation:
        run = simulation.run(0.3)
        assert simulation.system.encounters
        assert simulation.assembly.given().to_data() == model.to_data()
        assert list(run.model["forces"]) == list(model.forces)
        run.save(tmp_path / "run")
        model.save(tmp_path / "model.json")
    assert all(event["kind"] == "verdict" for event in run.events)
    read = Run.load(tmp_path / "run")
    assert set(read.forces) - set(model.forces) >= set(simulation.system.encounters)
    with Simulation(Assembly.load(tmp_path / "model.json"), DT, Glued()) as again:
        again.run(0.3)
    np.testing.assert_array_equal(places(simulation), places(again))


def test_energy_is_booked_when_those_who_met_have_parted():
    model = crowd(7, 3, shapes="balls", restitution=(0.3, 0.6), count=14)
    with Simulation(model, DT, Glued(), record_every=20) as simulation:
        run = simulation.run(1.2)
    assert any("+" in name for name in simulation.system.closed)
    done = sum(ledger["work_first"] + ledger["work_second"] for ledger in ledgers(simulation))
    assert done == pytest.approx(run.energy[-1] - run.energy[0], rel=1e-7) and done < -1.0
    assert sum(abs(ledger["leaked"]) for ledger in ledgers(simulation)) < 1e-3 * abs(done)


def ledgers(simulation):
    return [simulation.ledger(name) for name in (*simulation.system.force_home, *simulation.system.closed)]


def test_it_goes_on_under_other_settings_and_other_names():
    """Who has met is known by its new name, and stands in no model that it begins with."""
    model = crowd(6, 3, shapes="balls")
    with Simulation(model, DT, Glued()) as simulation:
        simulation.run(0.3)
        assert (before := set(simulation.system.encounters))
        renamed = with_names(simulation, {"skin-b0": "peel", "b1": "ball"})
        assert known(renamed) == {name.replace("skin-b0", "peel") for name in before}
        plain = simulation.run(0.4).position("b0.G")[-1]
        assert list(renamed.run(0.3).model["forces"]) == [name.replace("skin-b0", "peel") for name in model.forces]
        np.testing.assert_array_equal(renamed.run(0.4).position("b0.G")[-1], plain)
        finer = with_settings(renamed, dt=0.5 * DT)
        assert not any("+" in name for name in finer.run(0.5).model["forces"])


def test_a_body_that_others_pass_through_keeps_its_name():
    model = pair()
    model.apply("veil", Surface(Sphere(0.1), through=("right",)), "left.G")
    with (
        Simulation(model, DT, Glued()) as simulation,
        pytest.raises(ModelError, match="the surface 'veil' refers to it"),
    ):
        with_names(simulation, {"right": "other"})


def tied(seed, dimension):
    """Bodies of two shapes each, between some of which springs act that no step of a millisecond resolves."""
    rng = np.random.default_rng([seed, dimension, 77])
    model = Assembly(gravity=(0.0, 0.0, -9.81)[-dimension:])
    shapes = {"ground": [Contact(HalfSpace(), Sphere()).first]}
    for k in range(6):
        place = np.array((0.5 * (k % 3), 0.5 * (k // 3), 0.6 + 0.3 * rng.random()))
        place = place if dimension == 3 else np.array((place[0], place[1] + place[2]))
        mass = 10 ** rng.uniform(-1, 1)
        inertia = 0.02 * mass if dimension == 2 else (0.02 * mass, 0.024 * mass, 0.018 * mass)
        ports = {"G": tuple(place), "p": tuple(place + 0.1 * rng.normal(size=dimension))}
        body = RigidBody(
            mass=mass, inertia=inertia, centre=tuple(place), ports=ports, velocity=tuple(rng.normal(size=dimension))
        )
        model.add(f"b{k}", body)
        shapes[f"b{k}.G"] = [Sphere(0.1), Box((0.15,) * dimension)] if rng.random() < 0.5 else [Capsule(0.08, 0.2)]
    Surface.all(model, shapes, rng.uniform(0, 0.8), rng.uniform(0, 0.7))
    for k in range(3):
        one, other = rng.choice(6, 2, replace=False)
        spring = SpringDamper(10 ** rng.uniform(4, 7), 10 ** rng.uniform(-1, 2))
        model.apply(f"spring{k}", spring, f"b{one}.G", f"b{other}.p")
    return model


@pytest.mark.short(1)
@pytest.mark.parametrize(
    ("seed", "dimension", "coupling"),
    [(0, 3, "auto"), (4, 2, "glued"), *later(itertools.product(range(30), (2, 3), ("glued", "auto")))],
)
def test_what_stiff_springs_tie_gains_nothing_as_it_falls_in_a_heap(seed, dimension, coupling):
    """Steps with such springs are tried, and taken back; that is no tick for contacts, whatever the clock adds up to.

    Energy dips in a blow, which acts in two ticks; and over a few it does not rise.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = Simulation(tied(seed, dimension), DT, coupling).run(0.8)
    energy = run.energy + sum(run.ledger(name)["stored"] for name in run.model["forces"])
    most = np.lib.stride_tricks.sliding_window_view(energy, 12).max(axis=1)
    assert (most - np.minimum.accumulate(most)).max() <= 0.02 * max(most[0] - most.min(), 1.0)


# --- who may meet whom ------------------------------------------------------------------------------------------------


def pair(**settings):
    """Two balls that fly into each other."""
    model = Assembly(gravity=(0.0, 0.0))
    put(model, "left", (-0.5, 0.0), Sphere(0.1), velocity=(1.0, 0.0))
    put(model, "right", (0.5, 0.0), Sphere(0.1), **settings)
    return model


def met(model, until=1.0, **events):
    with Simulation(model, DT, Glued()) as simulation:
        simulation.run(until)
        return bool(simulation.system.encounters) or any("+" in name for name in simulation.system.closed)


def test_two_that_fly_into_each_other_meet():
    assert met(pair())


def test_bodies_that_pass_through_each_other_do_not():
    model = pair()
    model.remove("skin-left")
    model.apply("skin-left", Surface(Sphere(0.1), through=("right",)), "left.G")
    assert not met(model)


def test_what_a_joint_connects_meets_when_it_is_cut():
    """Two rods that overlap where they are joined; once that is cut they touch."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add("one", PointMassRod(start=(0.0, 0.0), end=(1.0, 0.0), masses=(1.0, 1.0)))
    model.add(
        "two",
        PointMassRod(start=(1.0, 0.0), end=(1.6, 0.8), masses=(1.0, 1.0), velocity=(-0.2, 0.15), angular_velocity=0.5),
    )
    model.join("elbow", Revolute(), "one.end", "two.start")
    model.apply("skin-one", Surface(Capsule(0.05, 0.8, centre=(0.4, 0.0))), "one.start")
    model.apply("skin-two", Surface(Capsule(0.05, 0.8, axis=(0.6, 0.8), centre=(0.3, 0.4))), "two.start")
    model.at(0.02, Cut("elbow"))
    with Simulation(model, DT, Glued()) as simulation:
        simulation.run(0.02)
        assert not simulation.system.encounters
        simulation.run(0.05)
        assert list(simulation.system.encounters) == ["skin-one+skin-two"]
        simulation.join("again", Distance(), "one.start", "two.end")
        simulation.run(0.06)
        assert not simulation.system.encounters


@pytest.mark.parametrize("coupling", [Penalty(), Glued()])
@pytest.mark.parametrize("dimension", [2, 3])
def test_what_is_cut_while_it_is_in_each_other_comes_out_by_itself(dimension, coupling):
    """Rods that are folded over at their joint are not thrown apart when it is cut; once apart they are as hard as others."""
    model = Assembly(gravity=(0.0,) * dimension)
    inertia = 0.02 if dimension == 2 else (0.02,) * 3
    for name, sign in (("left", -1.0), ("right", 1.0)):
        away = np.array((0.05 * sign, 0.0, 0.0)[:dimension])
        ports = {"hinge": (0.0,) * dimension, "middle": tuple(away)}
        body = RigidBody(mass=1.0, inertia=inertia, centre=tuple(away), ports=ports)
        model.add(name, body)
    model.join("hinge", Fixed(), "left.hinge", "right.hinge")
    Surface.all(model, {"left.middle": Sphere(0.1), "right.middle": Sphere(0.1)}, restitution=1.0)
    with Simulation(model, DT, coupling) as simulation:
        simulation.run(0.02)
        simulation.cut("hinge")
        apart = simulation.run(0.2)
        assert apart.energy[-1] < 1e-20
        assert simulation.system.encounters  # they have met, and nothing happens
        for name, sign in (("left", -1.0), ("right", 1.0)):
            way = np.array((sign, 0.0, 0.0)[:dimension])
            simulation.apply(f"pull-{name}", Load(tuple(5.0 * way)), f"{name}.middle")
        simulation.run(0.5)
        for name in ("left", "right"):
            simulation.remove(f"pull-{name}")
            simulation.apply(
                f"back-{name}", Load(tuple(-20.0 * way * (1 if name == "right" else -1))), f"{name}.middle"
            )
        run = simulation.run(0.75)
    distance = np.linalg.norm(run.position("left.middle") - run.position("right.middle"), axis=1)
    assert distance[:200] == pytest.approx(0.1, abs=1e-9)  # DT is a millisecond
    assert 0.19 < distance[500:].min() < 0.215  # they go 12 mm in a tick
    turned = np.flatnonzero(np.diff(distance) > 0.0)
    assert len(turned) and turned[-1] > 560  # they bounce off each other


def test_shapes_that_begin_in_each_other_are_thrown_apart_or_let_out():
    """Declared contacts tell of it; `let_out` means it so."""
    energies = {}
    for let_out in (False, True):
        model = Assembly(gravity=(0.0, 0.0))
        for k in range(2):
            place = (0.15 * k, 0.0)
            model.add(f"ball{k}", RigidBody(mass=1.0, inertia=0.004, centre=place, ports={"G": place}))
        model.apply("contact", Contact(Sphere(0.1), Sphere(0.1), let_out=let_out), "ball0.G", "ball1.G")
        with warnings.catch_warnings():
            warnings.simplefilter("error" if let_out else "ignore")
            energies[let_out] = Simulation(model, DT).run(0.1).energy[-1]
    assert energies[True] == 0.0 and energies[False] > 1.0


def test_what_was_declared_stays_alone():
    model = pair()
    model.apply("bump", Contact(Sphere(0.1), Sphere(0.1), restitution=0.0), "left.G", "right.G")
    with Simulation(model, DT, Glued()) as simulation:
        run = simulation.run(1.0)
        assert not simulation.system.encounters
    np.testing.assert_allclose(run.velocity("right.G")[-1, 0], 0.5, atol=1e-9)


def test_nothing_meets_that_nobody_moves():
    model = Assembly(gravity=(0.0, 0.0))
    model.add("gate", LedBody(ports={"G": (0.0, 0.1)}, way=Ramp((0.1, 0.0)), centre=(0.0, 0.1)))
    Surface.all(model, {"ground": HalfSpace(), "gate.G": Box((0.5, 0.3))})
    put(model, "far", (0.0, 5.0), Sphere(0.1))
    assert not met(model, 0.3)


def test_whoever_is_added_meets_and_leaves_with_its_body():
    model = pair()
    late = RigidBody(mass=1.0, inertia=0.004, centre=(0.0, 0.5), ports={"G": (0.0, 0.5)}, velocity=(0.0, -2.0))
    model.at(0.05, Add("late", late))
    model.at(0.05, Apply("skin-late", Surface(Sphere(0.1), 0.0, 0.8), ("late.G",)))
    with Simulation(model, DT, Glued()) as simulation:
        simulation.run(0.3)
        assert any("skin-late" in name for name in simulation.system.encounters)
        simulation.remove("late")
        simulation.run(0.4)
        assert not any("late" in name for name in (*simulation.system.encounters, *simulation.system.force_home))


def test_of_two_that_meet_friction_is_the_mean_and_restitution_the_larger():
    one, other = Surface(Sphere(0.1), 0.4, 0.2), Surface(Box((1.0, 1.0)), 0.1, None)
    assert one.meeting(other) == Contact(Sphere(0.1), Box((1.0, 1.0)), pytest.approx(0.2), 0.2, let_out=True)
    assert Surface(HalfSpace()).meeting(Surface(HalfSpace())) is None


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("surface", "said"),
    [
        (Surface("ball"), "surface 'skin': shape = 'ball' is not a shape; give a HalfSpace, Sphere, Capsule or Box."),
        (Surface(Sphere(-1.0)), "surface 'skin': shape: radius = -1.0"),
        (Surface(Sphere(0.1), friction=-1.0), "surface 'skin': friction = -1.0; give a finite number from 0 on."),
        (Surface(Sphere(0.1), restitution=2.0), "surface 'skin': restitution = 2.0; give a number from 0 to 1."),
        (Surface(Sphere(0.1), through="right"), "surface 'skin': through = 'right'; give a tuple of names of bodies"),
        (Surface(Box((1.0, 1.0), turned=((1.0, 0.0), (1.0, 0.0)))), "turned = ((1.0, 0.0), (1.0, 0.0)); give 2 unit"),
    ],
)  # fmt: skip
def test_wrong_surfaces_are_refused(surface, said):
    with pytest.raises(ModelError) as refused:
        pair().apply("skin", surface, "left.G")
    assert said in str(refused.value)


def test_a_name_that_is_taken_is_told():
    model = pair()
    model.apply("skin-left+skin-right", Contact(HalfSpace(centre=(0.0, -5.0)), Sphere(0.1)), "ground", "left.G")
    with pytest.raises(ModelError, match="the encounter of the surfaces 'skin-left' and 'skin-right' would be named"):
        met(model)


@pytest.mark.parametrize("coupling", [Glued(4), Centralized()])
def test_couplings_that_go_back_in_time_refuse_surfaces(coupling):
    with pytest.raises(CouplingError, match="skin-left"):
        Simulation(pair(), DT, coupling)


# --- what is near -----------------------------------------------------------------------------------------------------


@pytest.mark.short(1)
@pytest.mark.parametrize("seed", range(8))
def test_pairs_are_those_of_a_look_at_every_pair(seed):
    """Boxes of all sizes, flat and whole numbers among them; still ones, and some that go their ways."""
    rng = np.random.default_rng(seed)
    for _ in range(as_far_as(40, 14)):
        dimension, count = rng.integers(2, 4), rng.integers(0, 50)
        middle = rng.normal(size=(count, dimension)) * 10.0 ** rng.uniform(-1, 2, dimension)
        half = 10.0 ** rng.uniform(-2, rng.uniform(-2, 1.5), (count, dimension))
        ways = rng.choice([0.0, 1.0], (count, dimension)) * rng.normal(size=(count, dimension))
        if seed % 2:
            middle, half, ways = np.round(middle), np.round(half) + 0.5, np.round(ways)
        assert overlapping(middle - half, middle + half).tolist() == overlaps(middle, half)
        times = np.linspace(0.0, 1.0, 101)[:, None, None]
        seen = {pair for here in middle + times * ways for pair in map(tuple, overlaps(here, half))}
        found = set(map(tuple, meeting(middle, ways, half).tolist()))
        assert seen <= found
        wider = {
            pair
            for here in middle + times * ways
            for pair in map(tuple, overlaps(here, half + 0.02 * np.abs(ways).max(initial=0.0)))
        }
        assert found <= wider


def overlaps(middle, half):
    apart = np.abs(middle[:, None] - middle[None])
    inside = (apart <= half[:, None] + half[None]).all(axis=2)
    return np.argwhere(np.triu(inside, 1)).tolist()


def test_as_pairs_meet_nobody_is_asked_how_ports_stand(monkeypatch):
    """What the contacts take hold of is what their surfaces have: of bodies by the thousand it would be worked out each time."""
    with Simulation(crowd(6, 3, shapes="balls"), DT, Glued()) as simulation:
        before = set(simulation.system.encounters)
        monkeypatch.setattr(System, "sides", None)
        simulation.run(0.4)
        assert set(simulation.system.encounters) - before


def test_who_may_meet_is_kept_as_it_would_be_found_anew():
    """Over bodies that come and go, joints that are made and cut, and contacts that somebody removes."""
    model = crowd(6, 3, shapes="balls")
    with Simulation(model, DT, Glued()) as simulation:
        changes = [
            lambda: simulation.join("link", Distance(), "b0.G", "b1.G"),
            lambda: simulation.remove(next(iter(simulation.system.encounters))),
            lambda: simulation.cut("link"),
            lambda: simulation.remove("b2"),
        ]
        simulation.run(0.3)
        for k, change in enumerate(changes):
            change()
            simulation.run(0.3 + 0.02 * (k + 1))
            kept = meetings_of(simulation.system, simulation.assembly)
            anew = Meetings(simulation.system, simulation.assembly)
            assert kept.known == anew.known and kept.names == anew.names and kept.bars == anew.bars
            pairs = np.arange(len(kept.names) ** 2)
            assert kept.allowed(pairs).tolist() == anew.allowed(pairs).tolist()
            assert {kept.code_of(pair): name for name, pair in simulation.system.encounters.items()} == kept.known


@pytest.mark.parametrize("dimension", [2, 3])
def test_contacts_are_taken_in_together_as_one_by_one(dimension):
    forces = [
        Contact(Sphere(0.3), Box((0.4, 0.5, 0.6)[:dimension]), 0.3, 0.8, let_out=True),
        Contact(Box((0.4, 0.5, 0.6)[:dimension]), HalfSpace(), stiffness=300.0, damping=2.0),
        Contact(Capsule(0.1, 0.7), Sphere(0.2), 0.5),
    ]
    names, first = ["a", "b", "c"], [(8, 20), (12, 24), (16, 4)]
    together, apart = (forces[0].new_stack(dimension) for _ in range(2))
    together.add_many(names, forces, first)
    for given in zip(names, forces, first, strict=True):
        apart.add(*given)
    for name, rows in apart.copy_rows().items():
        assert np.array_equal(together.copy_rows()[name], rows), name
    assert together.swapped[:3].tolist() == [1, 1, 0] and together.law[1].tolist() == [0.0, -1.0, 300.0, 2.0, 0.0]


def test_a_pile_at_rest_is_seldom_looked_at():
    """Ten boxes: who is near was found before the first tick, and nobody strays."""
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    model.apply("floor", Surface(HalfSpace(), 0.5), "ground")
    for k in range(10):
        put(model, f"box{k}", (0.0, 0.0, 0.1 + 0.2 * k), Box((0.2, 0.2, 0.2)), None, 0.5)
    with Simulation(model, DT, Glued(), record_every=100) as simulation:
        run = simulation.run(2.0)
        assert len(simulation.recorder.segments) == 1
    assert len(simulation.system.encounters) == 10
    assert np.abs(run.position("box9.G") - run.position("box9.G")[0]).max() < 1e-9


def test_the_funnel_lets_its_balls_through():
    model = scenarios.load("funnel", count=12)
    with warnings.catch_warnings(), Simulation(model, DT, Glued(), record_every=50) as simulation:
        warnings.simplefilter("ignore")
        run = simulation.run(1.2)
    ends = np.array([run.position(f"ball{k + 1}.centre")[-1] for k in range(12)])
    assert np.all(ends[:, 2] > 0.0199)  # none has sunk into the ground
    assert np.sum(ends[:, 2] < 0.03) >= 10
