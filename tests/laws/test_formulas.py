"""Formulas(): code generated from the formulas of a model, of order eight; the same code for all variants, bit for bit."""

import numpy as np
import pytest

import scenarios
from campaign import shortened
from components import PointOnLine, Prismatic, Revolute, RigidBody, Rod, SpringDamper
from coordinator import Centralized, Ensemble, Formulas, Generated, Glued, MinimalCoordinates, Simulation, resume
from coordinator.equations import runge_kutta
from modular import Assembly, CouplingError, Cut, Diverged

SYSTEMS = shortened(
    ["double-pendulum"],
    [
        "double-pendulum", "slider-crank", "four-bar", "double-pendulum-3d", "spinning-book", "kapitza-pendulum", "scissors",
        "bicycle-chain", "switching-pendulum", "cardan-shaft", "bricard",
    ],
)  # fmt: skip
STEPS = {"bicycle-chain": 2e-4}  # its links shake at a kilohertz: at 1 ms it is off by 4e-5 m, and tells so
EXACT = Centralized(MinimalCoordinates(method="DOP853", rtol=1e-12, atol=1e-12))


def swing(held="lower.end"):
    """Two rods, a spring with a damper from the ground to the end, or to another port."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("upper", Rod((0.0, 0.0), (1.0, 0.0), 1.0))
    model.add("lower", Rod((1.0, 0.0), (1.8, 0.1), 0.7))
    model.join("pin", Revolute(), "ground", "upper.start")
    model.join("elbow", Revolute(), "upper.end", "lower.start")
    model.apply("spring", SpringDamper(60.0, 0.5), "ground", held, at=(0.3, 1.0))
    return model


def run_of(model, dt, until, coupling=None, **settings):
    with Simulation(model, dt, Formulas() if coupling is None else coupling, **settings) as simulation:
        return simulation.run(until)


def apart(one, other):
    return max(float(np.nanmax(np.abs(one.state(body)[0] - other.state(body)[0]))) for body in one.bodies)


def differing(count):
    lengths = np.linspace(0.8, 1.3, count)
    elbow, end = np.c_[lengths, 0.0 * lengths], np.c_[lengths + 0.8, np.linspace(-0.4, 0.1, count)]
    return {
        "upper.mass": np.geomspace(0.1, 30.0, count), "lower.mass": np.linspace(2.0, 0.3, count), "upper.end": elbow,
        "lower.start": elbow, "lower.end": end, "spring.stiffness": np.linspace(5.0, 90.0, count),
    }  # fmt: skip


@pytest.mark.parametrize("name", SYSTEMS)
def test_it_goes_where_independent_coordinates_go(name):
    model = scenarios.load(name)
    dt = STEPS.get(name, 1e-3)
    one, other = run_of(model, dt, 0.1, record_every=round(1e-2 / dt)), run_of(model, 1e-2, 0.1, EXACT)
    assert apart(one, other) < 1e-9
    for joint in one.joints:
        assert np.allclose(one.reaction(joint), other.reaction(joint), rtol=1e-6, atol=1e-6)


def test_links_whose_mass_sits_in_their_middle_lose_no_digits():
    """Of the coordinates of their ends a millionth is left of the second once the first have gone."""
    model, until = scenarios.load("bicycle-chain", links=2), 0.02
    with Simulation(model, 1e-3, Formulas()) as simulation:
        equations = simulation.system.cache["equations"]
        a = simulation.system.memory["a"]
        assert np.allclose(a, equations.accelerate(0.0, *equations.read())[0], rtol=0.0, atol=1e-9)
        assert np.abs(equations.jacobian() @ a).max() < 1e-9 * np.abs(a).max()
        run = simulation.run(until)
    other = run_of(model, 2.5e-4, until, Glued(order=8), record_every=4)
    assert apart(run, other) < 1e-9


def test_its_order_is_eight():
    ends = [run_of(swing(), dt, 1.5).position("lower.end")[-1] for dt in (0.1, 0.05, 0.0125)]
    coarse, fine = (float(np.linalg.norm(end - ends[-1])) for end in ends[:2])
    assert fine > 1e-9 and 7.0 < np.log2(coarse / fine) < 9.5


def test_the_bits_of_a_variant_are_those_of_its_single_run():
    vary = differing(9) | {"gravity.1": np.linspace(-12.0, -3.0, 9)}
    found = Ensemble(swing(), 0.02, Formulas(), vary=vary, record_every=3).run(until=0.3)
    assert not found.apart and not found.retired and len(found.pieces) == 1
    for k in (3, 8):
        one, model = found.run_of(k), found.variants.model_of(k)
        alone = run_of(model, 0.02, 0.3, record_every=3)
        assert one.digest == alone.digest and one.estimate == alone.estimate
    assert apart(one, run_of(model, 0.02, 0.3, Centralized(Generated()), record_every=3)) < 1e-8


def hanging_on_a_spring(damping: float) -> Assembly:
    model = Assembly((0.0, -9.81))
    model.add("rod", Rod((0.0, 0.0), (1.0, 0.2), 1.2))
    model.join("pivot", Revolute(), "ground", "rod.start")
    model.apply("spring", SpringDamper(30.0, damping), "ground", "rod.end", at=(0.3, 1.5))
    return model


@pytest.mark.campaign
@pytest.mark.parametrize("first", [0.3, 0.0])
def test_what_is_nothing_in_some_variants_has_no_name_there_and_these_stand_apart(first):
    """The code of a single run has no damping where there is none: so has that of the variants without."""
    vary = {"spring.damping": [first, 0.0, 0.5, 0.0, 0.2, 0.0, 0.7], "rod.mass": np.linspace(1.0, 2.0, 7)}
    found = Ensemble(hanging_on_a_spring(first), 0.02, Formulas(), vary=vary).run(until=0.2)
    assert not found.apart and sorted(len(piece.told) for piece in found.pieces) == ([3, 4])
    for k in (1, 2, 6):
        alone = Simulation(found.variants.model_of(k), 0.02, Formulas()).run(0.2)
        assert found.run_of(k).digest == alone.digest


def test_threads_leave_the_bits(monkeypatch):
    """Eleven models, of which the first thread takes four and the second seven."""
    vary = differing(11)
    one = Ensemble(swing(), 0.02, Formulas(), vary=vary).run(until=0.2)
    monkeypatch.setattr(runge_kutta, "MODELS_PER_THREAD", 4)
    monkeypatch.setattr(runge_kutta, "cores", lambda: 2)
    two = Ensemble(swing(), 0.02, Formulas(), vary=vary).run(until=0.2)
    for k in range(11):
        assert one.run_of(k).digest == two.run_of(k).digest


@pytest.mark.campaign
def test_models_with_as_many_numbers_of_each_kind_have_code_of_their_own():
    """Code is found again by what it is made of: one after the other in one process, and the first one once more."""
    for held in ("lower.end", "upper.end", "lower.end"):
        one, other = (run_of(swing(held), 0.02, 0.2, coupling) for coupling in (None, Centralized(Generated())))
        assert apart(one, other) < 1e-9


def sledge():
    """On two slides in a line: two rows follow from the others."""
    model = Assembly(gravity=(2.0, -9.81))
    model.add("sledge", Rod((0.0, 0.0), (0.8, 0.6), 3.0))
    for port in ("start", "end"):
        model.join(port, Prismatic(axis=(0.8, 0.6)), "ground", f"sledge.{port}")
    model.apply("spring", SpringDamper(60.0, 0.5), "ground", "sledge.end", at=(1.3, 2.0))
    return model


@pytest.mark.campaign
def test_rows_that_follow_from_others_leave_the_smallest_reactions():
    one, other = (run_of(sledge(), 5e-3, 0.1, coupling) for coupling in (None, EXACT))
    assert apart(one, other) < 1e-10
    for joint in one.joints:
        assert np.allclose(one.reaction(joint), other.reaction(joint), rtol=1e-6, atol=1e-6)
    found = Ensemble(sledge(), 5e-3, Formulas(), vary={"sledge.mass": [3.0, 0.2, 50.0, 11.0]}).run(until=0.1)
    for k in (0, 2):
        assert found.run_of(k).digest == run_of(found.variants.model_of(k), 5e-3, 0.1).digest


@pytest.mark.campaign
def test_one_that_runs_away_is_retired_and_nobody_else_notices():
    vary = {"spring.stiffness": np.array([20.0, 1e9, 60.0, 80.0, 30.0])}
    found = Ensemble(swing(), 0.02, Formulas(), vary=vary, keep="final").run(until=0.3)
    assert list(found.retired) == [1] and "found no next state" in found.retired[1].reason
    without = Ensemble(
        swing(), 0.02, Formulas(), vary={"spring.stiffness": np.array([20.0, 60.0, 80.0, 30.0])}, keep="final"
    )
    places = found.position("lower.end")[[0, 2, 3, 4]]
    assert np.array_equal(places[:, -1], without.run(until=0.3).position("lower.end")[:, -1])


@pytest.mark.campaign
def test_one_that_an_impulse_stops_at_its_start_leaves_the_bits_of_others():
    """Velocities that miss a joint by little are put right; of how many is decided for each model by itself."""
    turn = np.array([1.7, 1.7, 1.7, 1.7, 12.0, 1.7])
    lower = np.c_[0.0 * turn, turn]
    lower[2] += (3e-7, -2e-7)
    lower[3] += (3e-9, -2e-9)  # little beside the fastest of them, and much beside its own
    vary = {"upper.angular_velocity": turn, "upper.velocity": np.c_[0.0 * turn, 0.5 * turn], "lower.velocity": lower}
    found = Ensemble(swing(), 5e-3, Formulas(), vary=vary).run(until=0.05)
    digests = [found.run_of(k).digest for k in range(len(turn))]
    for k in (1, 2, 3, 4):
        assert digests[k] == run_of(found.variants.model_of(k), 5e-3, 0.05).digest
    assert digests[0] == digests[5] == digests[1]  # the same model


def plate():
    """A rigid body whose elements stand elsewhere where its mass or its centre is another; a rod on it, a spring at a hole."""
    model = Assembly(gravity=(0.3, -9.81))
    ports = {"hole": (0.3, 0.1), "end": (0.0, 0.4)}
    model.add("plate", RigidBody(mass=1.3, inertia=0.2, centre=(0.05, 0.02), ports=ports))
    model.add("rod", Rod((0.0, 0.4), (0.7, 0.4), 0.8))
    model.join("pin", Revolute(), "plate.end", "rod.start")
    model.apply("spring", SpringDamper(60.0, 0.5, length=0.9), "ground", "plate.hole", at=(0.3, 1.0))
    return model


@pytest.mark.campaign
def test_masses_centres_and_ports_of_rigid_bodies_are_parameters():
    vary = {
        "plate.mass": [1.3, 2.0, 0.7, 1.0], "plate.centre": [[0.05, 0.02], [0.1, 0.2], [-0.1, 0.05], [0.2, -0.1]],
        "plate.ports.hole.point": [[0.3, 0.1], [0.2, 0.1], [0.4, -0.2], [0.5, 0.3]], "spring.damping": [0.5, 0.3, 1.0, 2.0],
    }  # fmt: skip
    found = Ensemble(plate(), 0.01, Formulas(), vary=vary, record_every=3).run(until=0.3)
    assert not found.apart and not found.retired
    for k in (1, 3):
        one, model = found.run_of(k), found.variants.model_of(k)
        assert one.digest == run_of(model, 0.01, 0.3, record_every=3).digest
    assert apart(one, run_of(model, 0.01, 0.3, Centralized(Generated()), record_every=3)) < 1e-8


@pytest.mark.campaign
def test_numbers_without_a_name_in_the_formulas_are_not_passed_over():
    """Places in the world of a port of the ground have none."""
    vary = {"spring.at": [[0.3, 1.0], [0.3, 1.1], [0.4, 1.0]]}
    with pytest.raises(CouplingError, match=r"no name in the formulas.*take Glued"):
        Ensemble(plate(), 0.01, Formulas(), vary=vary).run(until=0.1)


@pytest.mark.campaign
@pytest.mark.parametrize(
    "vary",
    [{"spring.damping": [0.5, 0.0, 1.0]}, {"plate.centre": [[0.0, 0.4], [0.0, 0.1], [0.1, 0.1]]}],
    ids=["no damper", "a weight of 1"],
)
def test_variants_that_lack_terms_of_others_have_formulas_of_their_own(vary):
    found = Ensemble(plate(), 0.01, Formulas(), vary=vary).run(until=0.1)
    for k in range(3):
        assert found.run_of(k).digest == run_of(found.variants.model_of(k), 0.01, 0.1).digest, k


def pinned():
    """A rod on a pin, whose end is on a line as well: what the line takes of the reaction depends on how the rod stands."""
    model = Assembly(gravity=(2.0, -9.81))
    model.add("rod", Rod((0.0, 0.0), (0.8, 0.6), 3.0))
    model.join("pin", Revolute(), "ground", "rod.start")
    model.join("line", PointOnLine(axis=(1.0, 0.0)), "ground", "rod.start")
    return model


@pytest.mark.short(1)
@pytest.mark.parametrize("model", [swing, pinned], ids=["swing", "pinned"])
def test_it_goes_on_from_a_checkpoint_with_the_same_bits(model, tmp_path):
    with Simulation(model(), 0.02, Formulas()) as simulation:
        simulation.run(0.2, checkpoints=tmp_path)
        whole = simulation.run(0.4)
    with resume(tmp_path) as simulation:
        assert simulation.run(0.4).digest == whole.digest


@pytest.mark.campaign
def test_a_joint_that_is_cut_leaves_other_formulas():
    model = swing()
    model.at(0.2, Cut("elbow"))
    one, other = run_of(model, 0.01, 0.4), run_of(model, 0.01, 0.4, Centralized(Generated()))
    assert apart(one, other) < 1e-8
    assert "changes the formulas" in Ensemble(model, 0.01, Formulas(), vary={"upper.mass": [1.0, 2.0, 3.0]}).apart


@pytest.mark.short(1)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bouncing-ball", "can only step forward"),
        ("robot-arm", "no formula"),
    ],
)
def test_what_has_no_formula_is_refused_by_name(name, said):
    with pytest.raises(CouplingError, match=said):
        Simulation(scenarios.load(name), 1e-3, Formulas())


@pytest.mark.campaign
def test_a_step_that_is_too_long_is_told_as_such():
    model = swing()
    model.apply("stiff", SpringDamper(1e9, 0.0), "ground", "lower.end", at=(0.3, 1.0))
    with pytest.raises(Diverged, match=r"Formulas found no next state.*Remedy: take dt"):
        run_of(model, 0.02, 1.0)
