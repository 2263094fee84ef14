"""A session without a thread: acts at given ticks, as a diary has them."""

from contextlib import contextmanager

import scenarios
from coordinator import Penalty, Simulation
from coordinator.laboratory.acts import Step
from coordinator.laboratory.session import Session


@contextmanager
def session_of(model="double-pendulum", dt=1e-4, coupling=None, folder=None, **options):
    """A session of a scenario or a model; turns are taken where the test wants them."""
    given = scenarios.load(model) if isinstance(model, str) else model
    simulation = Simulation(given, dt, coupling or Penalty(), **options)
    with Session(simulation, folder) as session:
        yield session


def walk(session, ticks):
    """So many ticks; a motion that comes to an end ends the walk."""
    session.do(Step(ticks))
    while session.pace.moving:
        session.turn()


def digests(session):
    """What was recorded, stretch by stretch, to the last bit."""
    return [*session.stretches.digests, session.simulation.recorded.digest]
