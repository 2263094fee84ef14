"""Degrees of freedom, seen masses and advice, against what one counts by hand."""

import re
import warnings

import numpy as np
import pytest

import scenarios
import zoo
from campaign import more
from components import Beam, Distance, Fixed, ModalBody, Revolute, Rod, Spherical, SpringDamper
from coordinator import Glued, Penalty, Shannon, Simulation, examine
from coordinator.checks.examination import joint_share
from modular import Assembly, Limit


def look(model, dt=1e-3, **settings):
    with Simulation(model, dt, **settings) as simulation:
        return examine(simulation)


@pytest.mark.parametrize(
    ("name", "freedoms", "locks", "mobility"),
    [
        ("double-pendulum", 6, 4, 2),
        ("double-pendulum-3d", 10, 7, 3),
        ("slider-crank", 6, 5, 1),
        ("switching-pendulum", 3, 2, 1),
        ("chain", 60, 30, 30),
    ],
)
def test_mobility_is_what_one_counts_by_hand(name, freedoms, locks, mobility):
    found = look(scenarios.load(name))
    assert (found.freedoms, found.locks, found.mobility) == (freedoms, locks, mobility)
    assert found.redundancy == 0


def test_a_redundant_loop_is_told():
    """A planar four-bar in space on four parallel hinges: Grübler counts -2, it moves with 1."""
    model = Assembly()
    points = [(0, 0, 0), (0, 0, 1), (1, 0, 1), (1, 0, 0)]
    for k, name in enumerate("abc"):
        model.add(name, Rod(points[k], points[k + 1], 1.0, 0.05))
    for name, first, second in (
        ("1", "ground", "a.start"),
        ("2", "a.end", "b.start"),
        ("3", "b.end", "c.start"),
        ("4", "c.end", "ground"),
    ):
        model.join(f"hinge{name}", Revolute(axis=(0, 1, 0)), first, second)
    found = look(model)
    assert found.freedoms - found.locks == -2
    assert found.mobility == 1 and found.redundancy == 3


@pytest.mark.parametrize(
    ("first", "second", "limit", "idle"),
    [
        (Revolute(), Revolute(), None, "other"),
        (Fixed(), Revolute(), None, "other"),
        (Revolute(), Fixed(), None, "one"),
        (Fixed(), Revolute(), Limit(force=10.0), None),
    ],
    ids=["hinges", "weld first", "weld second", "one breaks"],
)
def test_a_joint_that_says_what_another_says_is_told(first, second, limit, idle):
    """Nothing decides which of two equal hinges bears how much. What may break is there for that."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0, 0), (1.0, 0), 1.0))
    model.join("one", first, "ground", "rod.start", breaks_at=limit)
    model.join("other", second, "ground", "rod.start")
    told = [line for line in look(model).advice if "locks nothing that" in line]
    assert [line.partition(" locks")[0].strip("'") for line in told] == ([idle] if idle else [])


def test_links_that_say_the_same_at_one_pose_are_left_alone():
    model = Assembly(gravity=(0.0, 0.0))
    model.add("rod", Rod((-1.0, 0), (1.0, 0), 1.0))
    model.join("right", Distance(), "ground", "rod.end", at=(3.0, 0.0))
    model.join("left", Distance(), "ground", "rod.start", at=(-3.0, 0.0))
    assert not [line for line in look(model).advice if "locks nothing that" in line]


def test_the_seen_mass_of_a_pinned_rod_is_that_of_its_end():
    model = Assembly()
    model.add("rod", Rod((0, 0, 0), (2.0, 0, 0), 3.0))
    model.join("pin", Spherical(), "ground", "rod.start")
    (joint,) = look(model).joints
    # along the rod m, across it twice m/4: compliance 1/m + 4/m + 4/m in three directions
    assert joint.seen_mass == pytest.approx(3 * 3.0 / 9)
    assert joint.seen_inertia is None and joint.locks == 3
    weld = Assembly()
    weld.add("rod", Rod((0, 0, 0), (2.0, 0, 0), 3.0))
    weld.join("weld", Fixed(), "ground", "rod.start")
    (joint,) = look(weld).joints
    assert joint.seen_inertia == pytest.approx(3.0 * 4 / 12)  # two turns, each with m l^2 / 12
    assert joint.locks == 5


def test_advice_names_what_is_too_stiff_and_what_gives():
    found = look(scenarios.load("chain", bodies=3), coupling=Penalty(rule=Shannon(0.3)))
    assert any("beyond the limit" in line and "Stable()" in line for line in found.advice)
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", zoo.masses(2, (0, 0), (1, 0)))
    model.join("pin", Revolute(), "ground", "rod.start")
    model.apply("spring", SpringDamper(1e4), "ground", "rod.end", at=(1.0, 1.0))
    found = look(model)
    assert set(found.springs) == {"spring"} and not any("soften" in line for line in found.advice)  # it would be found
    found = look(model, coupling=Penalty(implicit_forces=False))
    assert any("soften 'spring'" in line for line in found.advice)
    assert any("'pin' opens" in line for line in found.advice)


def held(elements, dimension=2, modes=0, hinge=False):
    """Two beams in a row, one welded at the wall, and a rod at their end."""
    points = [(x, 0.0, 0.0)[:dimension] for x in (0.0, 0.4, 1.0, 1.3)]
    model = Assembly(gravity=(0.0, -9.81, 0.0)[:dimension])
    for name, start, end in zip(("root", "rest"), points, points[1:], strict=False):
        beam = Beam.of_rectangle(start, end, width=0.03, height=0.02, density=1000.0, young=2e9, elements=elements)
        model.add(name, ModalBody.of_beam(beam, modes) if modes else beam)
    model.add("rod", Rod(points[2], points[3], 0.3, 1e-3 if dimension == 3 else 0.0))
    model.join("wall", Fixed(), "ground", "root.start")
    model.join("weld", Revolute() if hinge else Fixed(), "root.end", "rest.start")
    model.join("tip", Revolute() if dimension == 2 else Revolute(axis=(0.0, 0.0, 1.0)), "rest.end", "rod.start")
    model.join("far", Spherical() if dimension == 3 else Revolute(), "rod.end", "ground")
    return model


HELD = {
    "2": {"elements": 2},
    "8": {"elements": 8},
    "hinge": {"elements": 4, "hinge": True},
    "modes": {"elements": 6, "modes": 4},
}
SPACE = {"elements": 4, "dimension": 3}


@pytest.mark.parametrize("settings", [*HELD.values(), *more([SPACE])], ids=str)
def test_a_joint_that_is_softer_than_its_flexible_bodies_names_a_step_that_is_not(settings):
    """Followed: at that step it is below a tenth, and with glued joints there is nothing to be said."""
    model = held(**settings)
    found = look(model)
    shares = {joint.name: joint.share for joint in found.joints}
    assert shares["far"] is None and all(0.0 < shares[name] < 1.0 for name in ("wall", "weld", "tip"))
    worst = max((name for name in shares if shares[name]), key=lambda name: shares[name])
    line = next(line for line in found.advice if "compared with the flexible bodies" in line)
    assert line.startswith(f"'{worst}'") and f"{shares[worst]:.0%}" in line
    step = float(re.search(r"dt = (\S+) s", line)[1])
    assert step < 1e-3
    finer = look(model, step)
    assert 0.05 < max(joint.share or 0.0 for joint in finer.joints) <= 0.1
    assert not any("compared with the flexible bodies" in line for line in finer.advice)
    glued = look(model, coupling=Glued())
    assert all(joint.share is None for joint in glued.joints) and not any("flexible" in line for line in glued.advice)


def test_the_share_of_a_joint_says_how_much_too_far_a_cantilever_sags():
    """A weld that holds a fifth of the compliance lets the tip sag by about a quarter of the beam's own sag more."""
    for elements, dt in ((4, 1e-3), (8, 5e-4)):
        model = Assembly(gravity=(0.0, -9.81))
        beam = Beam.of_rectangle(
            (0.0, 0.0), (1.0, 0.0), width=0.02, height=0.02, density=1000.0, young=2e9, elements=elements
        )
        model.add("beam", beam)
        model.join("wall", Fixed(), "ground", "beam.start")
        share = look(model, dt).joints[0].share
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tips = [Simulation(model, dt, c).run(0.45).position("beam.end")[:, 1].min() for c in (Penalty(), Glued())]
        assert tips[0] / tips[1] - 1.0 == pytest.approx(share / (1.0 - share), rel=0.5)


def test_what_a_flexible_body_yields_is_that_of_a_bar_that_its_inertia_holds():
    """Pulled at one end, by l / 3 E A of its middle, and across by l^3 / 105 E I."""
    bar = Beam.of_rectangle((0.0, 0.0), (0.8, 0.0), width=0.03, height=0.02, density=1000.0, young=2e9, elements=24)
    model = Assembly(gravity=(0.0, 0.0))
    model.add("bar", bar)
    model.join("pin", Revolute(), "ground", "bar.start")
    with Simulation(model, 1e-4) as simulation:
        home = simulation.system.joint_home["pin"]
        share, stiffness = joint_share(simulation.system, home, 0), home.stack.stiffness[0]
    yields = (1.0 / share - 1.0) * 2.0 / stiffness[0, 0]  # along and across
    bending = 2e9 * 0.03 * 0.02**3 / 12
    assert yields == pytest.approx(0.8 / (3.0 * 2e9 * 6e-4) + 0.8**3 / (105.0 * bending), rel=0.02)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("slider-crank", "1 closed loop:"),
        ("bricard", "1 closed loop:"),
        ("robot-arm", "3 drives:"),
        ("double-pendulum", ""),
    ],
)
def test_closed_loops_and_drives_are_told_with_the_couplings_that_do_not_ring(name, told):
    """Of springs alone: what is glued has nothing to ring with."""
    for coupling in ("penalty", "glued"):
        with Simulation(scenarios.load(name), 1e-3, coupling) as simulation:
            lines = [line for line in examine(simulation).advice if "--coupling glued" in line]
        assert [line.startswith(told) for line in lines] == [True] * (coupling == "penalty" and told != "")


@pytest.mark.parametrize("name", ["double-pendulum", "double-pendulum-3d"])
def test_a_joint_that_gives_too_much_under_what_it_carries_names_a_step_at_which_it_does_not(name):
    """As far as it opens at once where nothing bears its load; at the step that is named nothing is said, nor of rigid joints."""

    def advice(dt, coupling=None):
        with Simulation(scenarios.load(name), dt, coupling) as simulation:
            return "".join(line for line in examine(simulation).advice if "gives way" in line)

    said = advice(0.02)
    foretold = float(re.search(r"by about ([0-9.e-]+) m", said)[1])
    with Simulation(scenarios.load(name), 0.02, Penalty(preload=False)) as simulation:
        run = simulation.run(0.1)
    opened = max(np.linalg.norm(run.violation(joint), axis=1).max() for joint in run.assembly().joints)
    assert 0.4 * foretold < opened < 3.0 * foretold
    assert advice(float(re.search(r"dt = ([0-9.e-]+) s", said)[1])) == ""
    assert advice(0.02, Glued()) == ""
