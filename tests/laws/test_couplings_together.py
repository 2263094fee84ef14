"""All couplings beside each other: light rods carry a heavy one, a joint is cut and made again, and the physics are the same."""

import numpy as np
import pytest

import references
from campaign import later
from components import Rod, Spherical, SpringDamper
from coordinator import Centralized, Glued, Penalty, Relaxed, Simulation
from modular import Assembly, Cut, Join
from scenarios.bench.peers.exact import exact_ends
from scenarios.bench.peers.mechanism import mechanism
from solvers import EXACT

COUPLINGS = {
    "penalty": Penalty(),
    "glued, order 2": Glued(),
    "glued, order 4": Glued(4),
    "relaxed": Relaxed(),
    "relaxed, gauss-seidel": Relaxed(method="gauss-seidel"),
    "relaxed, jacobi": Relaxed(method="jacobi"),
    "centralized": Centralized(),
}


def run_of(model, coupling, dt, until, **settings):
    with Simulation(model, dt, coupling, **settings) as simulation:
        return simulation.run(until)


# --- light rods that carry a heavy one -------------------------------------------------------------------------------

SHORT = 0.1  # [s]


def wrecking_ball():
    """Two rods of 10 g and 0.1 m that carry one of 10 kg and 0.3 m on ball joints, not quite in a line, let go from the side."""
    model, place = Assembly(gravity=(0.0, 0.0, -references.G)), np.zeros(3)
    for k, (length, mass, radius) in enumerate([(0.1, 0.01, 0.005), (0.1, 0.01, 0.005), (0.3, 10.0, 0.02)]):
        angle = 0.5 + 0.02 * (-1) ** k  # from the vertical
        end = place + length * np.array([np.sin(angle), 0.0, -np.cos(angle)])
        model.add(f"rod{k}", Rod(tuple(place), tuple(end), mass, radius))
        model.join(f"ball{k}", Spherical(), f"rod{k - 1}.end" if k else "ground", f"rod{k}.start")
        place = end
    return model


def carried(coupling, dt, truth):
    """The run, and the largest distance of an end of a rod from where it should be [m]."""
    run = run_of(wrecking_ball(), coupling, dt, SHORT, record_every=round(SHORT / dt))
    ends = np.array([run.position(f"rod{k}.end")[-1][[0, 2]] for k in range(3)])
    return run, np.abs(ends - truth).max()


@pytest.fixture(scope="module")
def truth():
    return exact_ends(mechanism(wrecking_ball()), SHORT)


@pytest.mark.short(2)
@pytest.mark.parametrize(
    ("name", "dt", "order", "most"),
    [
        ("penalty", 2.5e-5, None, 5e-4),
        ("glued, order 2", 1e-4, 2, 2e-5),
        ("glued, order 4", 2e-4, 4, 5e-8),
        ("relaxed", 1e-4, 2, 2e-5),
        ("centralized", 5e-4, None, 1e-4),
    ],
)
def test_light_rods_carry_a_thousand_times_their_mass_with_nothing_set_by_hand(name, dt, order, most, truth):
    """The ball moves by 24 mm. Springs are as stiff as the lightest rod lets them be; the heavy one bounces on them."""
    errors = [carried(COUPLINGS[name], dt, truth)[1]]
    assert errors[0] < most
    if order is not None:
        errors.insert(0, carried(COUPLINGS[name], 2 * dt, truth)[1])
        assert abs(references.orders(errors)[0] - order) < 0.3


@pytest.mark.campaign
@pytest.mark.parametrize("method", ["gauss-seidel", *later(["jacobi"])])
def test_sweeps_take_as_many_iterations_as_the_masses_are_apart_and_say_what_they_left_open(method, truth):
    run, error = carried(Relaxed(method=method), 2e-4, truth)
    assert error < 2e-4
    assert 1e-10 < run.timings["left open"] < 1e-6


# --- a joint that is cut and made again ------------------------------------------------------------------------------

SPIN, DRIFT = np.array([0.8, -1.7, 2.6]), np.array([0.3, 0.1, 1.2])  # [rad/s], [m/s]
CUT, AGAIN, END = 0.1, 0.2, 0.3  # [s]
PLACE = (0.313, 0.368, 0.376)  # [m], between the two ends when they are joined again, 0.17 m apart


def thrown():
    """Two rods on a ball joint and a spring, thrown and turning; they part, fly on the spring, and are joined again."""
    model = Assembly(gravity=(0.0, 0.0, -references.G))
    corners = np.array([(0.0, 0.0, 0.0), (0.4, 0.1, 0.2), (0.7, -0.2, 0.3)])
    for k, mass in enumerate((0.5, 0.8)):
        start, end = corners[k], corners[k + 1]
        velocity = DRIFT + np.cross(SPIN, 0.5 * (start + end))
        moving = {"velocity": tuple(velocity), "angular_velocity": tuple(SPIN)}
        model.add(f"rod{k}", Rod(tuple(start), tuple(end), mass, 0.03, **moving))
    model.join("ball", Spherical(), "rod0.end", "rod1.start")
    model.apply("spring", SpringDamper(stiffness=20.0, length=0.3), "rod0.start", "rod1.end")
    model.at(CUT, Cut("ball"))
    model.at(AGAIN, Join("again", Spherical(), "rod0.end", "rod1.start", at=PLACE))
    return model


def ends_of(run):
    return np.array([run.position(f"rod{k}.{end}") for k in range(2) for end in ("start", "end")])


@pytest.fixture(scope="module")
def exact():
    return run_of(thrown(), EXACT, 1e-2, END)


@pytest.mark.short(1)
@pytest.mark.parametrize(
    ("name", "dt", "order", "most"),
    [
        ("glued, order 2", 1e-3, 2, 2e-5),
        ("penalty", 1e-4, 2, 2.5e-6),
        ("glued, order 4", 5e-3, 4, 3e-7),
        ("relaxed", 1e-3, 2, 2e-5),
        ("relaxed, gauss-seidel", 1e-3, 2, 2e-5),
        ("relaxed, jacobi", 1e-3, 2, 2e-5),
        ("centralized", 2.5e-3, 2, 3.2e-4),
    ],
)
def test_a_joint_cut_and_made_again_is_the_same_physics_under_every_coupling(name, dt, order, most, exact):
    steps = (2 * dt, dt)
    runs = [run_of(thrown(), COUPLINGS[name], step, END, record_every=round(1e-2 / step)) for step in steps]
    errors = [np.abs(ends_of(run) - ends_of(exact)).max() for run in runs]
    assert errors[1] < most
    assert abs(references.orders(errors)[0] - order) < 0.2
    fine = runs[1]
    # nobody pushes from outside but gravity: not the cut, not the blow
    momentum = sum(fine.bodies[name].momentum(*fine.state(name)[:2]) for name in fine.bodies)
    weight = np.outer(fine.time, (0.0, 0.0, -1.3 * references.G))
    assert np.abs(momentum - momentum[0] - weight).max() < 1e-11
    # every line of the ledgers is that of the exact run, to what the scheme errs; the blow takes 1.1 J
    ledgers, true = fine.balance(), exact.balance()
    for line in ("change", "stored", "released", "impact"):
        assert ledgers[line][-1] == pytest.approx(true[line][-1], abs=50.0 * errors[1])  # [J] of [m]
    assert max(np.abs(ledgers[line]).max() for line in ("leaked", "internal")) < 50.0 * errors[1]
    assert true["impact"][-1] > 1.0
