"""Stiff forces and dry friction among workers: everybody works them out, from the same numbers, to the bits of one process."""

import os
import signal
import threading
import warnings

import pytest

import coordinator.distributed.workers.distributed_run
import scenarios
from both_ways import goes_on_and_is_kept, on_every_path, same, scattered
from by_payload import ByPayload
from campaign import each_once, later, named, some
from components import Bushing, Distance, Friction, Law, Motor, Revolute, Rod, SpringDamper, TorsionSpring
from coordinator import Glued, Mixed, Penalty, Relaxed, Simulation
from modular import Assembly, Cut, Diverged, Join, ModelError
from rubbing_models import car, drawn, hung, landing, on_a_belt
from stiff_models import bushed, net, servo
from waiting import wait_for

DT = 1e-3


def pulled(t, angle, rate):
    """A law of one's own that no step resolves."""
    return -1e6 * (angle - 0.3) - 1e3 * rate


def two_links(law):
    """Two rods on hinges, the first under a motor."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("one", Rod((0.0, 0.0), (1.0, 0.0), mass=1.0))
    model.add("two", Rod((1.0, 0.0), (2.0, 0.0), mass=1.0))
    model.join("hinge", Revolute(), "ground", "one.start")
    model.join("elbow", Revolute(), "one.end", "two.start")
    model.apply("motor", law, "ground", "one.start")
    return model


MODELS = {
    "governor": (lambda: scenarios.load("flyball-governor"), 5e-3, 10),
    "pendulum": (lambda: scenarios.load("spring-pendulum"), DT, 20),
    "bushing": (lambda: bushed(3, 1e8, 1e5), DT, 20),
    "servo": (lambda: servo(2, 1e6, 1e3), DT, 20),
    "law": (lambda: two_links(Motor(law=Law(pulled))), DT, 20),
    "belt": (on_a_belt, 1e-2, 80),
    "chain": (lambda: hung(drawn(2)), 5e-3, 100),
    "car": (lambda: car(60.0, 0.5), 5e-3, 100),
    "landing": (lambda: landing(7, 0.3), 5e-3, 100),
}
COUPLINGS = {"glued": Glued(), "relaxed": Relaxed(), "glued(4)": Glued(4)}


@pytest.fixture(autouse=True)
def by_payload(monkeypatch):
    monkeypatch.setattr(coordinator.distributed.workers.distributed_run, "InProcessPool", ByPayload)


@pytest.fixture(autouse=True)
def nothing_is_said(recwarn):
    """Of how exact runs are: that is another matter."""
    warnings.simplefilter("ignore")


@pytest.mark.short(3)
@pytest.mark.parametrize(
    ("coupling", "workers", "name"),
    each_once([("glued", 2), ("relaxed", 2), ("glued", 1), ("glued", 3)], MODELS),
    ids=named,
)
def test_rows_are_worked_out_by_all_to_the_bits_of_one_process(name, coupling, workers):
    model, dt, ticks = MODELS[name]
    lots = scattered(model(), min(workers, len(model().bodies)), seed=workers)
    same(model, dt, ticks * dt, lots, COUPLINGS[coupling], record_every=1 + workers)


@pytest.mark.parametrize("name", ["belt", *later(["chain"])])
def test_switches_are_located_in_steps_of_fourth_order_too(name):
    model, dt, ticks = MODELS[name]
    same(model, dt, ticks * dt, 2, Glued(4), record_every=7)


def both(model, workers, coupling, **settings):
    """Digests of a run with a pause in its middle, or how it stops; in one process, and among workers."""
    found = []
    for number in (None, workers):
        with Simulation(
            model(), DT, coupling, workers=number, launcher="here", project_velocities=True, **settings
        ) as run:
            try:
                run.run(0.015)
                found.append(run.run(0.03).digest)
            except Diverged as error:
                found.append((str(error), run.tick, run.recorded.digest))
    return found


@pytest.mark.parametrize("seed", [12, *later([7, *range(some(60))])])
def test_nets_of_forces_of_any_strength(seed):
    """And where the run is interrupted angles of torsion springs go on as they were, though found by another way."""
    workers = scattered(net(seed), min(len(net(seed).bodies), 2 + seed % 3), seed)
    one, two = both(lambda: net(seed), workers, Relaxed() if seed % 3 == 1 else Glued(), record_every=1 + seed % 4)
    assert one == two


@pytest.mark.parametrize("seed", [7, *later([12, 36])])
def test_from_a_checkpoint_to_the_same_bits(seed, tmp_path):
    coupling = Relaxed() if seed % 3 == 1 else Glued()
    goes_on_and_is_kept(lambda: net(seed), DT, coupling, 0.03, tmp_path, project_velocities=True)


@pytest.mark.campaign
def test_events_among_them():
    def model():
        made = bushed(2, 1e7, 1e4)
        made.add("three", Rod((2.0, 0.0), (2.6, 0.8), mass=0.5))
        made.join("elbow", Revolute(), "two.b", "three.start")
        made.apply("rub", Friction(0.4, viscous=0.2), joint="elbow")
        made.apply("rope", SpringDamper(1e7, 1e3, 2.0), "one.a", "two.b")
        made.apply("servo", TorsionSpring(1e6, 1e3), "ground", "one.a")
        made.at(0.019, Cut("elbow"))
        made.at(0.021, Join("again", Distance(), "two.a", "three.end"))
        return made

    def by_hand(simulation):
        simulation.apply("second", Bushing(1e6, 1e3, 1e4, 1e2), "one.a", "three.end")

    run = same(model, DT, 0.04, 3, Glued(), by_hand=by_hand, record_every=3)
    assert {"cut", "join", "apply"} <= {event["kind"] for event in run.events}
    assert len(on_every_path(model, DT, Glued(), 0.04, by_hand)) == 1


def test_whoever_dies_is_replaced_and_the_bits_stay():
    def model():
        chain = landing(7, 0.3)
        chain.apply("servo", TorsionSpring(1e6, 1e3, 0.1), joint="hinge2")
        return chain

    with Simulation(model(), DT, Glued(), record_every=20) as simulation:
        digest = simulation.run(0.2).digest
        assert simulation.implicit_forces and simulation.located_friction
    with Simulation(model(), DT, Glued(), record_every=20, workers=2) as simulation:
        simulation.distributed_run.pool.every = 20
        simulation.run(0.02)

        def kill():
            at = simulation.distributed_run.pool._reached
            wait_for(lambda: simulation.distributed_run.pool._reached > at)
            os.kill(simulation.workers[1].pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        run = simulation.run(0.2)
        killer.join()
        assert [worker.replaced for worker in simulation.workers] == [0, 1]
    assert run.digest == digest


@pytest.mark.parametrize("coupling", [Penalty(), Mixed()])
def test_components_that_step_on_their_own_among_others_are_of_one_process(coupling):
    said = r"bush may change faster .* share under Glued and Relaxed alone.*implicit_forces=False"
    with pytest.raises(ModelError, match=said):
        Simulation(bushed(2, 1e8, 1e6), DT, coupling, workers=2, launcher="here")
