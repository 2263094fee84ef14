"""Long runs: energy together with what dampers took goes neither up nor down for good."""

import numpy as np
import pytest

import kinds
import scenarios
from campaign import later
from components import NewtonEulerBody, Revolute, RigidBody, Rod, Spherical, Subassembly
from coordinator import Simulation
from modular import Assembly


def slope(time, energy, blocks=20):
    """How fast an energy goes up [J/s], and the standard error of that, from the means of stretches of a run."""
    count = (len(time) - 1) // blocks * blocks
    middles, means = (column[1 : count + 1].reshape(blocks, -1).mean(axis=1) for column in (time, energy))
    (found, _), covariance = np.polyfit(middles, means, 1, cov=True)
    return found, np.sqrt(covariance[0, 0])


# --- bodies alone ------------------------------------------------------------------------------------------------------

SPIN = (3.0, 1.0, -2.0)
ENDS = ((0.0, 0.0, 0.0), (0.5, 0.2, 0.1))


def pair(dimension):
    """Two bodies on a joint inside a component; both turn."""
    data = [(1.0, (0.0, 0.0, 0.0), SPIN), (0.7, (0.5, 0.1, 0.0), (1.0, -2.0, 2.5))]
    seam, bodies, seam_velocity = np.array([0.3, 0.0, 0.0]), {}, np.cross(SPIN, (0.3, 0.0, 0.0))
    for name, (mass, centre, spin) in zip(("one", "two"), data, strict=True):
        inertia = kinds.LOWER["inertia"]
        if dimension == 2:
            spin, inertia = (0.0, 0.0, spin[2]), 0.03
            seam_velocity = np.cross((0.0, 0.0, SPIN[2]), seam)
        velocity = seam_velocity + np.cross(spin, np.subtract(centre, seam))
        bodies[name] = NewtonEulerBody(
            mass=mass,
            inertia=inertia,
            centre=centre[:dimension],
            ports={"seam": tuple(seam[:dimension])},
            velocity=tuple(velocity[:dimension]),
            angular_velocity=spin if dimension == 3 else spin[2],
        )
    return Subassembly(
        bodies, [(Spherical() if dimension == 3 else Revolute(), "one.seam", "two.seam")], {"out": "one.seam"}
    )


TUMBLING = {  # and what it strays in a second, as a share of its energy
    "rigid": (lambda: RigidBody(**kinds.LOWER, angular_velocity=SPIN), 1e-11),
    "masses": (lambda: RigidBody(**kinds.LOWER, basis="masses", angular_velocity=SPIN), 1e-11),
    "newton-euler": (lambda: NewtonEulerBody(**kinds.LOWER, angular_velocity=SPIN), 1e-9),
    "rod": (lambda: Rod(*ENDS, 1.2, 0.03, angular_velocity=SPIN), 1e-11),
    "a pair in the plane": (lambda: pair(2), 1e-9),
    "a pair in space": (lambda: pair(3), 4e-8),
}


@pytest.mark.short(2)
@pytest.mark.parametrize("kind", TUMBLING)
def test_a_body_that_tumbles_keeps_its_energy(kind):
    """What whirls reads velocities that are not known yet: guessed once, they would take energy for good (scheme.py)."""
    make, most = TUMBLING[kind]
    body = make()
    assembly = Assembly(gravity=(0.0,) * body.dimension)
    assembly.add("body", body)
    with Simulation(assembly, 1e-3, record_every=20) as simulation:
        run = simulation.run(60.0)
    assert abs(slope(run.time, run.energy)[0]) < most * run.energy[0]


# --- mechanisms --------------------------------------------------------------------------------------------------------


def strays(assembly, until):
    """Slope of energy and what dampers took [J/s], its standard error, and what they take in a second."""
    with Simulation(assembly, 1e-3, record_every=20) as simulation:
        run = simulation.run(until)
    taken = sum(run.ledger(joint)["dissipated"] for joint in run.joints)
    return *slope(run.time, run.energy + taken), taken[-1] / until


@pytest.mark.parametrize(
    ("dimension", "kind", "until"),
    [
        (2, "canonical", 40.0),
        (3, "newton-euler", 40.0),
        *later([(d, kind, 200.0) for d in (2, 3) for kind in kinds.KINDS]),
    ],
)
def test_nothing_comes_of_nothing_in_a_long_run_whatever_one_body_is(dimension, kind, until):
    """Blocks of a chaotic motion hang together a little, so four standard errors; dampers book to a hundredth (docs/energy.md)."""
    found, error, taken = strays(kinds.FREE[dimension][1](kinds.KINDS[kind]), until)
    assert abs(found) < 4.0 * error + 0.01 * taken


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("name", "settings", "share"),
    [
        ("double-pendulum", {}, 0.1),
        ("double-pendulum-3d", {}, 0.01),
        ("chain", {"bodies": 4}, 0.01),
        ("slider-crank", {}, 0.1),
    ],
)
def test_nor_in_systems_of_rods(name, settings, share):
    """Where little is taken, dampers book up to a tenth more than they take: they read the rates from before they act."""
    found, error, taken = strays(scenarios.load(name, **settings), 200.0)
    assert abs(found) < 4.0 * error + share * taken
