"""A simulation that was kept in a folder goes on to the same bits, in any process; what can happen to files is foreseen."""

import itertools
import os
import warnings
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

import coordinator.record.checkpoints.folder
import nursery
import scenarios
from campaign import first_of, more, shortened
from components import Law, Load, Revolute, Rod, Spherical, SpringDamper
from coordinator import (
    Centralized,
    Checkpoints,
    CheckpointWarning,
    LeakWarning,
    Penalty,
    Shannon,
    Simulation,
    first_difference,
    rerun,
    resume,
)
from coordinator.continuation.resume import latest
from coordinator.record.checkpoints.folder import heads_in
from foreign import Particle, Particles, Wire, pendulum
from mechanisms import COMMON
from mixture import mixture
from modular import Apply, Assembly, Crossing, Cut, Join, Limit, ModelError
from random_assemblies import random_assembly
from scenarios.catalogue import names
from solvers import EXACT, IMPLICIT
from waiting import GUARD


def whole(model, dt, until, *settings, by_hand=None, **more):
    """The run without a stop; something may be changed by hand in the middle."""
    with Simulation(model(), dt, *settings, **more) as simulation:
        simulation.run(_middle(until, dt))
        if by_hand is not None:
            by_hand(simulation)
        return simulation.run(until)


def kept(model, dt, until, folder, *settings, by_hand=None, stops=(0.25, 0.5, 0.7), workers=None, **more):
    """The same, put away and taken out again at every stop; a change by hand falls between a stop and what follows."""
    with Simulation(model(), dt, *settings, **more) as simulation:
        simulation.run(round(stops[0] * until / dt) * dt, checkpoints=folder)
    for stop in (*stops[1:], 1.0):
        with resume(folder, workers=workers, launcher="here") as simulation:
            if by_hand is not None and simulation.tick == round(_middle(until, dt) / dt):
                by_hand(simulation)
            simulation.run(round(stop * until / dt) * dt, checkpoints=latest(folder).checkpoints())
    return simulation.recorded


def _middle(until, dt):
    return round(0.5 * until / dt) * dt


def same(model, dt, until, folder, *settings, **more):
    by_hand, workers = more.pop("by_hand", None), more.pop("workers", None)
    one = whole(model, dt, until, *settings, by_hand=by_hand, **more)
    two = kept(model, dt, until, folder, *settings, by_hand=by_hand, workers=workers, **more)
    assert one.digest == two.digest
    for name in ("model", "events", "margins", "forms", "settings", "versions", "obstacles"):
        assert getattr(one, name) == getattr(two, name), name
    for name in (*one.joints, *one.forces):
        for line, series in one.ledger(name).items():
            assert np.array_equal(series, two.ledger(name)[line], equal_nan=True)
    assert one.timings["evaluations"] == two.timings["evaluations"]
    return two


@pytest.mark.short(4)
@pytest.mark.parametrize("name", shortened(COMMON, names()))
def test_every_scenario(name, tmp_path):
    def model():
        return scenarios.load(name)

    dt = model().suggested.get("dt", 1e-3)
    same(model, dt, 120 * dt, tmp_path, record_every=7)


@pytest.mark.parametrize("seed", first_of(1, range(8)))
def test_random_mechanisms(seed, tmp_path):
    rule = Penalty() if seed % 3 else Penalty(rule=Shannon(delta=0.05))
    same(lambda: random_assembly(seed), 1e-4, 0.006, tmp_path, rule, record_every=1 + seed % 5, project_velocities=True)


def test_a_force_on_the_ground(tmp_path):
    def model():
        found = scenarios.load("double-pendulum")
        found.apply(
            "spring", SpringDamper(stiffness=5.0, damping=0.3, length=0.2), "ground", "lower.end", at=(0.9, 0.4)
        )
        return found

    same(model, 1e-3, 0.06, tmp_path)


def test_everything_at_once_with_changes_by_hand(tmp_path):
    def by_hand(simulation):
        simulation.cut("knee")
        simulation.join("nail", Revolute(axis=(0, 0, 1)), "ground", "tail.start")
        simulation.add("new", Rod((2.0, 0.0, 0.0), (2.5, 0.0, 0.0), 0.3, 0.02))
        simulation.apply("pull", SpringDamper(5.0, 0.1), "new.start", "flag.end")
        simulation.remove("rod")

    run = same(mixture, 1e-3, 0.08, tmp_path, by_hand=by_hand)
    assert {"rod", "new"} <= set(run.bodies)
    assert not run.obstacles and first_difference(run, rerun(run)) is None


@pytest.mark.campaign
def test_every_component_in_a_stack_of_its_own(tmp_path):
    same(mixture, 1e-3, 0.05, tmp_path, grouped=False)


def test_events_conditions_limits_and_alarms_that_wait(tmp_path):
    def model():
        chain = scenarios.load("chain", bodies=6)
        chain.cut("ball1")
        chain.join("ball1", Spherical(), "rod0.end", "rod1.start", breaks_at=Limit(force=2.5, window=0.05))
        for k in range(1, 9):
            chain.at(0.03 * k, Cut(f"ball{4}") if k == 2 else Apply(f"kick{k}", Load((0.0, 0.0, 0.5)), ["rod5.end"]))
        chain.when(Crossing("rod5.end", "z", -0.01), Join("catch", Spherical(), "ground", "rod5.end"))
        return chain

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakWarning)
        run = same(model, 1e-3, 0.4, tmp_path, leak_limit=1e-9)
    assert {"cut", "apply", "break", "join", "alarm"} <= {event["kind"] for event in run.events}


@pytest.mark.short(2)
@pytest.mark.parametrize("solver", [*IMPLICIT.values(), EXACT], ids=[*IMPLICIT, "exact"])
def test_centralized_solvers(solver, tmp_path):
    def model():
        pendulum = scenarios.load("double-pendulum")
        pendulum.at(0.007, Cut("elbow"))
        return pendulum

    same(model, 1e-3, 0.012, tmp_path, solver if isinstance(solver, Centralized) else Centralized(solver))


class KeptParticles(Particles):
    def save(self):
        return {"motion": self.motion.copy()}

    def restore(self, memory):
        self.motion[:] = memory["motion"]


@dataclass(frozen=True)
class KeptParticle(Particle):
    def kind(self):
        return ("kept particle", len(self.at))

    def new_stack(self):
        return KeptParticles(len(self.at))


@pytest.mark.campaign
def test_bodies_and_joints_in_plain_python(tmp_path):
    def model():
        found = pendulum(KeptParticle(1.3, (0.3, 0.8, 0.0), (0.2, 0.0, 0.0)), Wire(0.8))
        found.apply("pull", SpringDamper(9.0, 0.2), "bob.here", "frame.start")
        return found

    same(model, 1e-3, 0.1, tmp_path)


def test_a_body_that_does_not_say_what_it_remembers_is_named(tmp_path):
    with Simulation(pendulum(Particle(1.3, (0.3, 0.8, 0.0), (0.2, 0.0, 0.0)), Wire(0.8)), 1e-3) as simulation:
        simulation.run(0.01)
        with pytest.raises(ModelError, match=r"'bob' .*save and restore"):
            Checkpoints(tmp_path).write(simulation)


def test_workers_before_and_after(tmp_path):
    def model():
        return scenarios.load("chain", bodies=9)

    one = whole(model, 1e-3, 0.1)
    with Simulation(model(), 1e-3, workers=3, launcher="here") as simulation:
        simulation.run(0.04, checkpoints=tmp_path)
    with resume(tmp_path, workers=2, launcher="here") as simulation:
        assert [len(worker.bodies) for worker in simulation.workers] == [5, 4]
        assert simulation.run(0.1).digest == one.digest


def test_cut_and_made_again_with_a_checkpoint_in_between(tmp_path):
    """A joint that is made again at the instant of its cut is the same joint, also where files lie between the two."""
    model = scenarios.load("double-pendulum")
    joint = model.joint_edges["elbow"]
    runs = []
    for put_away in (False, True):
        simulation = Simulation(model, 1e-3)
        simulation.run(0.1)
        simulation.cut("elbow")
        if put_away:
            Checkpoints(tmp_path).write(simulation)
            simulation = resume(tmp_path)
        simulation.join("elbow", joint.joint, str(joint.first), str(joint.second))
        runs.append(simulation.run(0.2))
    assert runs[0].digest == runs[1].digest


def test_another_process_goes_on_to_the_same_bits(tmp_path):
    with Simulation(mixture(law=False), 1e-3) as simulation:
        simulation.run(0.05, checkpoints=tmp_path)
        digest = simulation.run(0.1).digest
    program, said = tmp_path / "program.py", tmp_path / "said"
    program.write_text(f"from coordinator import resume\nprint(resume({str(tmp_path)!r}).run(0.1).digest)\n")
    with said.open("w") as file:
        process = nursery.script(program, out=file, errors=file, environment=os.environ)
    assert process.wait(GUARD) == 0 and process.pid != os.getpid(), said.read_text()
    assert said.read_text().strip() == digest


# --- how often, and how much ---------------------------------------------------------------------------------------------


ASKED = [0]


def slowly(t, x, v):
    ASKED[0] += 1
    return 0.0, 0.0


def test_checkpoints_are_written_as_often_as_asked_and_two_are_kept(tmp_path, monkeypatch):
    """By a clock that goes on with every question to the law; writing takes no time, however slow the disk is."""
    monkeypatch.setattr(
        coordinator.record.checkpoints.folder, "time", SimpleNamespace(monotonic=lambda: 1e-3 * ASKED[0])
    )
    wrote = []

    class Counting(Checkpoints):
        def write(self, simulation, until=None):
            wrote.append(simulation.tick)
            return super().write(simulation, until)

    with Simulation(scenarios.load("double-pendulum"), 1e-4) as simulation:
        simulation.apply("slow", Load(Law(slowly)), "lower.end")
        simulation.run(0.02, checkpoints=Counting(tmp_path, every=0.02))
    assert len(wrote) > 3 and wrote == sorted(wrote) and wrote[-1] == 200
    assert [int(path.stem) for path in heads_in(tmp_path)] == wrote[:-3:-1]
    samples = sorted(tmp_path.glob("*.samples"))
    sizes = [path.stat().st_size for path in samples]
    assert len(samples) == len(wrote)
    assert sum(sizes) < 1.5 * sizes[0] * 200 / wrote[0] + 200e3  # nothing is written again and again


def test_ctrl_c_leaves_a_checkpoint_at_the_tick_of_its_run(tmp_path):
    def stop(simulation):
        raise KeyboardInterrupt

    with Simulation(scenarios.load("double-pendulum"), 1e-5) as simulation, pytest.raises(KeyboardInterrupt):
        simulation.run(5.0, progress=stop, checkpoints=tmp_path)
    found = latest(tmp_path)
    assert found.until == 5.0
    assert found.simulation().tick == simulation.tick > 0
    assert found.simulation().recorded.digest == simulation.recorded.digest


# --- bad days --------------------------------------------------------------------------------------------------------------


def two_checkpoints(folder):
    with Simulation(scenarios.load("double-pendulum"), 1e-3) as simulation:
        checkpoints = Checkpoints(folder)
        simulation.run(0.02, checkpoints=checkpoints)
        simulation.run(0.04, checkpoints=checkpoints)
        return simulation.run(0.06).digest


@pytest.mark.parametrize("which", ["000000000040.checkpoint", "000000000040.samples"])
@pytest.mark.parametrize("cases", [10, *more([40])])
def test_a_damaged_file_is_found_and_the_checkpoint_before_is_taken(which, cases, tmp_path):
    digest, path = two_checkpoints(tmp_path), tmp_path / which
    good, rng = path.read_bytes(), np.random.default_rng(5)
    for case in range(cases):
        place = int(rng.integers(len(good)))
        bad = bytes([good[place] ^ (1 << int(rng.integers(8)))])
        path.write_bytes(good[:place] + (bad + good[place + 1 :] if case % 2 else b""))
        with pytest.warns(CheckpointWarning, match=which):
            simulation = resume(tmp_path)
        assert simulation.tick == 20
    assert simulation.run(0.06).digest == digest


def test_nothing_that_can_be_read_is_refused_with_all_reasons(tmp_path):
    two_checkpoints(tmp_path)
    for path in tmp_path.glob("*.checkpoint"):
        path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ModelError, match=r"no checkpoint can be read(.|\n)*000000000040(.|\n)*000000000020"):
        resume(tmp_path)
    with pytest.raises(ModelError, match="holds no checkpoint"):
        resume(tmp_path / "elsewhere")


def test_a_full_disk_costs_a_checkpoint_and_no_run(tmp_path, monkeypatch):
    digest, written = two_checkpoints(tmp_path / "good"), itertools.count()
    put = coordinator.record.checkpoints.folder.put_in_place

    def full(path, content):
        if next(written) in (2, 5):  # the samples of one, the head of another
            path.with_name(f".{path.name}.part").write_bytes(content[:100])
            raise OSError(28, "No space left on device")
        put(path, content)

    monkeypatch.setattr(coordinator.record.checkpoints.folder, "put_in_place", full)
    checkpoints = Checkpoints(tmp_path / "full")
    with Simulation(scenarios.load("double-pendulum"), 1e-3) as simulation:
        simulation.run(0.01, checkpoints=checkpoints)
        for until in (0.02, 0.03):
            with pytest.warns(CheckpointWarning, match="No space left"):
                simulation.run(until, checkpoints=checkpoints)
            if until == 0.02:
                simulation.run(0.025, checkpoints=checkpoints)
    monkeypatch.undo()
    simulation = resume(tmp_path / "full")
    assert simulation.tick == 25
    assert simulation.run(0.06).digest == digest


def test_a_full_disk_at_the_very_end_costs_nothing_that_was_kept(tmp_path, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device")

    checkpoints = Checkpoints(tmp_path)
    with Simulation(scenarios.load("double-pendulum"), 1e-3) as simulation:
        run = simulation.run(0.02, checkpoints=checkpoints)
        monkeypatch.setattr(coordinator.record.checkpoints.folder, "put_in_place", full)
        with pytest.warns(CheckpointWarning, match="No space left"):
            checkpoints.lean_on_run(simulation, 0.02, run)
    assert resume(tmp_path).tick == 20


def test_a_folder_that_holds_another_run_is_refused_before_anything_is_computed(tmp_path):
    two_checkpoints(tmp_path)
    with (
        Simulation(scenarios.load("double-pendulum"), 1e-3) as simulation,
        pytest.raises(ModelError, match=r"another run.*by resume"),
    ):
        simulation.run(0.1, checkpoints=tmp_path)
    assert simulation.tick == 0


def test_a_law_without_a_name_is_refused_before_anything_is_computed(tmp_path):
    model = Assembly()
    model.add("rod", Rod((0, 0, 0), (1, 0, 0), 1.0))
    model.apply("push", Load(Law(lambda t, x, v: (0.0, 0.0, 1.0))), "rod.end")
    with Simulation(model, 1e-3) as simulation, pytest.raises(ModelError, match=r"push.*module of its own"):
        simulation.run(0.1, checkpoints=tmp_path)
    assert simulation.tick == 0


def test_other_versions_are_said(tmp_path, monkeypatch):
    two_checkpoints(tmp_path)
    monkeypatch.setattr("coordinator.continuation.resume.bits", lambda: "another machine")
    with pytest.warns(CheckpointWarning, match="other versions or on another machine"):
        resume(tmp_path)
