"""A spring whose ends are at one place acts along the way they part: its damper does from there on, under every coupling."""

from itertools import product
from math import exp, sin, sqrt

import numpy as np
import pytest

from campaign import later, shortened
from components import RigidBody, SpringDamper, TableSpring
from coordinator import GGL, HHT, Centralized, Glued, MinimalCoordinates, Penalty, Relaxed, Simulation
from modular import Assembly

MASS, STIFFNESS, DAMPING = 2.0, 50.0, 3.0
SPEED = np.array((0.9, -0.5))
COUPLINGS = {
    "penalty": Penalty(),
    "glued": Glued(),
    "relaxed": Relaxed(),
    "hht": Centralized(HHT()),
    "ggl": Centralized(GGL()),
    "minimal": Centralized(MinimalCoordinates()),
}
FORCES = {
    "spring": lambda: SpringDamper(STIFFNESS, DAMPING, 0.0),
    "as it is made": lambda: SpringDamper(STIFFNESS, DAMPING),
    "table": lambda: TableSpring((0.0, 1.0), (0.0, STIFFNESS), DAMPING),
}


def drawn(force, speed=SPEED):
    """A body that leaves the place to which a spring draws it."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add(
        "body", RigidBody(mass=MASS, inertia=0.3, centre=(0.0, 0.0), velocity=tuple(speed), ports={"P": (0.0, 0.0)})
    )
    model.apply("spring", force, "ground", "body.P", at=(0.0, 0.0))
    return model


def way(time):
    """As far as it has gone by then, per speed: m x'' + c x' + k x = 0."""
    decay = 0.5 * DAMPING / MASS
    swing = sqrt(STIFFNESS / MASS - decay**2)
    return exp(-decay * time) * sin(swing * time) / swing


EVERY = list(product(FORCES, COUPLINGS))
CHOSEN = [*product(FORCES, ("penalty", "glued", "relaxed", "hht")), ("table", "ggl")]


@pytest.mark.parametrize(("name", "coupling"), [*shortened(CHOSEN, EVERY), *later([("as it is made", "minimal")])])
def test_a_damper_acts_from_the_place_where_its_ends_are_one(name, coupling):
    """To second order; without its damper in the first tick a run is of first order, 5e-5 m off at 1 ms."""
    errors = []
    for dt in (2e-3, 1e-3):
        run = Simulation(drawn(FORCES[name]()), dt, COUPLINGS[coupling]).run(0.2)
        errors.append(np.abs(run.position("body.P")[-1] - SPEED * way(0.2)).max())
    assert errors[1] < 3e-6
    assert errors[1] < 0.35 * errors[0] or errors[0] < 1e-9
