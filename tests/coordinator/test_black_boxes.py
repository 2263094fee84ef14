"""Bodies of a package that only one worker has: every bit is that of one process where it is installed, whoever is killed."""

import copy
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import plants
import scenarios
import zoo
from campaign import more, shortened
from components import Revolute, Rod, Spherical
from coordinator import BlackBox, Centralized, Glued, LaunchConfig, Run, Simulation, resume
from coordinator.continuation.resume import latest
from coordinator.distributed.launchers import Subprocess
from coordinator.distributed.workers import black_boxes
from coordinator.distributed.workers.hosted_stack import StackHost
from coordinator.distributed.workers.messages import Message
from coordinator.distributed.workers.remote_channel import RpcServer, _as_payload, _from_payload
from foreign import Particle, Wire, pendulum
from modular import Assembly, CouplingError, Cut, ModelError
from modular.component import Component, class_name
from plants import boxed

SUPPORT = Path(plants.__file__).parent
INSTALLED = [str(SUPPORT), str(SUPPORT / "only_there")]
ELSEWHERE = {"workers": {"plant": ["motor", "flyer"], "rest": ["rod0", "rod1", "rod2", "rod3"]}}


ALWAYS = [  # what "hung" and "events" show is shown by "often" too, and what "thesis" does by "beams"
    case for case in plants.CASES if case not in ("hung", "events", "thesis")
]


class There(Subprocess):
    """Lets one worker find what is installed for it alone."""

    def start(self, order):
        before = os.environ.get("PYTHONPATH")
        paths = [*INSTALLED, *filter(None, [before])] if order.name == "plant" else [before or ""]
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)
        try:
            super().start(order)
        finally:
            if before is None:
                del os.environ["PYTHONPATH"]
            else:
                os.environ["PYTHONPATH"] = before


@pytest.fixture(scope="module")
def ways(request):
    """What comes of the cases that are asked for here, in a process where the package is installed."""
    root = str(SUPPORT.parents[1])
    paths = os.pathsep.join([root, *INSTALLED, *filter(None, [os.environ.get("PYTHONPATH")])])
    tests = [item for item in request.session.items if getattr(item, "module", None) is request.module]
    asked = {"often", "crossing", *(item.callspec.params.get("case") for item in tests if hasattr(item, "callspec"))}
    program = [sys.executable, str(SUPPORT / "plants.py"), *(case for case in plants.CASES if case in asked)]
    done = subprocess.run(program, env={**os.environ, "PYTHONPATH": paths}, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


@pytest.fixture
def launch_config():
    return LaunchConfig(There())


def pid_of(simulation):
    return next(worker.pid for worker in simulation.workers if worker.name == "plant")


# --- the bits of the class itself ------------------------------------------------------------------------------------


def test_the_package_is_not_installed_here():
    with pytest.raises(ModelError, match="not a known component class"):
        plants.itself("plant:Motor", at=(0.0, 0.0, 0.0))


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("case", shortened(ALWAYS, plants.CASES))
def test_where_it_is_installed_every_way_gives_the_bits_of_the_class_itself(case, ways):
    assert {"alone", "InProcessPool", "ByPayload", "hired"} <= set(ways[case])
    for way, outcome in ways[case].items():
        assert outcome == ways[case]["itself"], way


@pytest.mark.parametrize("case", ["often", *more(["crossing", "fragile", "beams", "forgetful", "diverging"])])
def test_a_worker_in_another_process_gives_the_bits_of_the_class_itself(case, ways, launch_config):
    with plants.build(case, boxed, workers=2, launcher=launch_config) as simulation:
        assert [worker.name for worker in simulation.workers] == ["plant", "worker0"]
        assert plants.outcome(simulation) == ways[case]["itself"]
        energy = simulation.recorded.energy
        assert np.isfinite(energy).all() and len(energy)


@pytest.mark.campaign
def test_a_worker_that_is_killed_is_replaced_and_nobody_can_tell(ways, launch_config):
    with plants.build("often", boxed, workers=2, launcher=launch_config) as simulation:
        simulation.distributed_run.pool.every = 10
        for stop in (0.01, 0.025, 0.045):
            simulation.run(stop)
            if stop == 0.025:
                simulation.body("motor").state()  # collected: now it dies between two distributions
            os.kill(pid_of(simulation), signal.SIGKILL)
        killer = threading.Thread(target=kill_later, args=(pid_of, simulation))
        simulation.run(0.05)
        killer.start()
        found = plants.outcome(simulation)
        killer.join()
        assert len(simulation.distributed_run.pool.deaths) >= 3
    assert found == ways["often"]["itself"]


def kill_later(pid_of, simulation):
    time.sleep(0.02)
    if (pid := pid_of(simulation)) is not None:
        os.kill(pid, signal.SIGKILL)


def test_one_that_is_killed_while_it_is_asked_at_every_tick_is_made_again(ways, launch_config, monkeypatch):
    monkeypatch.setattr(black_boxes, "MAX_JOURNAL_LENGTH", 20)
    with plants.build("crossing", boxed, workers=2, launcher=launch_config) as simulation:
        simulation.run(0.02)
        os.kill(pid_of(simulation), signal.SIGKILL)
        simulation.run(0.039)
        os.kill(pid_of(simulation), signal.SIGKILL)
        assert plants.outcome(simulation) == ways["crossing"]["itself"]


def test_one_that_does_not_save_cannot_be_replaced(launch_config):
    with plants.build("forgetful", boxed, workers=2, launcher=launch_config) as simulation:
        simulation.run(0.01)
        os.kill(pid_of(simulation), signal.SIGKILL)
        with pytest.raises(ModelError, match=r"'plant' has died, and 'motor' \(plant:Forgetful\) cannot be replaced"):
            simulation.run(0.02)


def test_a_checkpoint_goes_on_where_the_package_is_installed(ways, launch_config, tmp_path):
    with plants.build("often", boxed, workers=2, launcher=launch_config) as simulation:
        simulation.run(0.045, checkpoints=tmp_path)
    with pytest.raises(ModelError, match=r"give workers=…, one of which is 'plant', or install the package 'plant'"):
        resume(tmp_path)
    with resume(tmp_path, workers=2, launcher=LaunchConfig(There())) as simulation:
        simulation.run(plants.UNTIL, checkpoints=latest(tmp_path).checkpoints())
        assert plants.told(simulation) == ways["often"]["itself"]


def test_one_that_does_not_save_is_not_kept_in_a_checkpoint(tmp_path):
    with (
        simulated(Particle.example(), dimension=3) as simulation,
        pytest.raises(ModelError, match="does not save its state"),
    ):
        simulation.run(0.01, checkpoints=tmp_path)


# --- what nobody can do ----------------------------------------------------------------------------------------------


def single(**changes):
    model = Assembly()
    given = {"what": "plant:Motor", "worker": "plant", "ports": ["shaft"], "data": {"at": (0.0, 0.0, 0.0)}}
    model.add("motor", BlackBox(**{**given, **changes}))
    return model


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"what": "Motor"}, "'Motor' names no class; write 'package:Class'"),
        ({"worker": ""}, "worker = ''; give the name of the worker"),
        ({"ports": "shaft"}, r"ports = 'shaft'; give the names of its ports"),
        ({"dimension": 4}, "dimension = 4; give 2 or 3"),
        ({"dimension": 2}, "build both in the plane or both in space"),
        ({"data": {"class": "plant:Motor"}}, "give the fields of plant:Motor by name"),
        ({"data": [1.0]}, "give the fields of plant:Motor by name"),
    ],
)
def test_a_description_that_cannot_be_is_refused(changes, said):
    with pytest.raises(ModelError, match=said):
        single(**changes)


@pytest.mark.parametrize(
    ("workers", "said"),
    [
        (
            None,
            r"cannot be made in this process.*give workers=…, one of which is 'plant', or install the package 'plant'",
        ),
        (2, r"workers = 2; black boxes run at plant, and 0 other bodies are left: give a whole number from 1 to 1"),
        ({"other": ["motor"]}, r"runs at worker 'plant'; workers are other. Name that worker"),
        (1, r"cannot be made at worker 'plant'.*Remedy: install the package 'plant' there"),
    ],
)
def test_where_nobody_has_the_package_it_is_said_who_lacks_it(workers, said):
    with pytest.raises(ModelError, match=said):
        Simulation(single(), 1e-3, workers=workers, launcher="here")


def test_a_black_box_belongs_to_the_worker_that_it_names():
    model = plants.hung(boxed)
    parts = {"plant": ["rod0", "rod1", "motor"], "rest": ["flyer", "rod2", "rod3"]}
    with pytest.raises(ModelError, match="'flyer' is assigned to 'rest', but it is a black box that runs at 'plant'"):
        Simulation(model, 1e-3, workers=parts, launcher="here")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"what": "plants:Motor"},
            r"cannot be made at worker 'plant': 'plants:Motor' .* Remedy: install the package 'plants' there",
        ),
        ({"data": {"at": (0.0, 0.0, 0.0), "weight": 1.0}}, r"data do not fit its class.*'weight'"),
    ],
)
def test_the_worker_says_what_it_cannot_make_and_ends(changes, said, crew):
    with pytest.raises(ModelError, match=said):
        Simulation(single(**changes), 1e-3, workers=1, launcher=crew())
    assert crew.closed()


ROD = {
    "what": "components:Rod",
    "ports": ["start", "end"],
    "data": {"start": (0, 0, 0), "end": (1, 0, 0), "mass": 1, "radius": 0.1},
}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"ports": ["end", "foot"]}, r"ports = \['end', 'foot'\]; components:Rod has \['start', 'end'\]"),
        ({"data": {**ROD["data"], "mass": -1.0}}, "body 'motor': mass = -1.0 kg; a mass must be positive"),
        ({"data": {**ROD["data"], "start": (0, 0), "end": (1, 0)}}, "dimension = 3; components:Rod has 2"),
        (
            {"what": "coordinator:Penalty", "data": {}},
            "cannot be made at worker 'plant': 'coordinator:Penalty' is not a body",
        ),
    ],
)
def test_a_worker_is_asked_whether_a_description_is_right(changes, said):
    with pytest.raises(ModelError, match=said):
        Simulation(single(**{**ROD, **changes}), 1e-3, workers=1, launcher="here")


@pytest.fixture
def crew():
    """Configurations whose processes are seen to end."""
    made = []

    def launch_config():
        made.append(There())
        return LaunchConfig(made[-1])

    launch_config.closed = lambda: made and not made[-1]._children.running
    return launch_config


def test_what_a_component_raises_is_told_with_its_name_and_its_own_words(launch_config):
    data = {"at": (0.0, 0.0, 0.0), "fails_below": 0.995}
    with Simulation(single(data=data), 1e-3, workers=1, launcher=launch_config) as simulation:
        with pytest.raises(ModelError) as caught:
            simulation.run(0.1)
        assert simulation.tick == 6
    for said in (
        "'motor' (plant:Motor) at worker 'plant', correct",
        "plant.py",
        "ZeroDivisionError: the pump has run dry",
    ):
        assert said in str(caught.value)


@pytest.mark.parametrize("ping", [1.0, *more([0.001])])
def test_one_that_ends_every_process_ends_the_run_with_its_last_words(launch_config, ping, monkeypatch):
    """Also where it is noticed first that the connection has gone."""
    monkeypatch.setattr("coordinator.distributed.workers.process_supervision.PING_SECONDS", ping)
    model = single(what="plant:Deadly")
    model.join("mount", Spherical(), "ground", "motor.shaft")
    with pytest.raises(ModelError) as caught:
        Simulation(model, 1e-3, workers=1, launcher=launch_config)
    for said in ("'plant' has died 3 times over side of 'motor' (plant:Deadly)", "ended with code 3: farewell"):
        assert said in str(caught.value)


def test_centralized_solvers_refuse_it_by_name(launch_config):
    with pytest.raises(CouplingError, match=r"motor, flyer cannot.*Penalty"):
        Simulation(plants.hung(boxed), 1e-3, Centralized(), **ELSEWHERE, launcher=launch_config)


def test_the_worker_where_it_lives_does_not_go():
    said = r"worker 'there' cannot leave: body 'body' is a black box"
    with simulated(Particle.example(), workers=1) as simulation, pytest.raises(ModelError, match=said):
        simulation.retire("there")


# --- as data -----------------------------------------------------------------------------------------------------------


def test_a_model_with_black_boxes_is_built_saved_and_loaded_where_nobody_knows_them(tmp_path):
    model = single(data={"at": np.zeros(3), "gear": {"class": "plant:Gear", "teeth": [12, 31]}})
    model.join("mount", Spherical(), "ground", "motor.shaft")
    model.save(tmp_path / "model.json")
    again = Assembly.load(tmp_path / "model.json")
    assert again.to_data() == model.to_data()
    assert again.bodies == model.bodies
    assert again.bodies["motor"].description["gear"] == {"class": "plant:Gear", "teeth": (12, 31)}
    with pytest.raises(ModelError, match="body 'motor' has no port 'foot'; known: shaft"):
        model.join("other", Spherical(), "ground", "motor.foot")


def test_energies_are_asked_for_while_the_simulation_is_open(launch_config, tmp_path):
    with Simulation(single(), 1e-3, workers=1, launcher=launch_config) as simulation:
        run = simulation.run(0.05)
        assert run.kinetic_energy()[-1] > 0.0
        assert run.position("motor.shaft").shape == (51, 3)
        assert run.bodies["motor"].total_mass == 1.0
        assert run.bodies["motor"].freedoms == 3
        assert "source of plant" in run.versions
    q, _, _ = run.state("motor")
    assert q.shape == (51, 1, 3)
    run.save(tmp_path)
    again = Run.load(tmp_path)
    assert again == run
    assert "energy" not in again.summary() and "motor" not in repr(again)
    for old in (run, again):
        with pytest.raises(
            ModelError, match=r"worker 'plant' can no longer be asked, and 'plant:Motor' is not installed"
        ):
            old.position("motor.shaft")


# --- the contract, of bodies whose class is known here ---------------------------------------------------------------


def box_of(body):
    data = body.to_data()
    what = data.pop("class")
    return BlackBox(what, worker="there", ports=body.port_names, dimension=body.dimension, data=data)


def simulated(body, dimension=3, *, box=True, **settings):
    """A body that falls, is caught, swings, and is let go."""
    model = Assembly(gravity=(0.7, -9.81, 0.3)[:dimension])
    model.add("body", box_of(body) if box else body)
    model.at(0.05, Cut("hook"))
    port = body.port_names[0]
    model.join("hook", Spherical() if dimension == 3 else zoo.components.Revolute(), "ground", f"body.{port}")
    more = {"launcher": "here"} if settings else {}
    return Simulation(model, 1e-3, project_velocities=True, record_every=3, **settings, **more)


@pytest.mark.short(3)
@pytest.mark.parametrize(("body_type", "dimension"), zoo.MOVED, ids=zoo.label)
def test_every_body_of_ours_moves_alike_as_a_black_box(body_type, dimension):
    body = body_type.example(dimension)
    assert box_of(body).what == class_name(body_type)
    runs = []
    for settings in ({"box": False}, {}, {"workers": 1}):
        with simulated(body, dimension, **settings) as simulation:
            runs.append(simulation.run(0.099))
            last = simulation.recorded.state("body")[0][-1]
            assert np.array_equal(simulation.body("body").state()["q"][0], last)
    assert runs[0].digest == runs[1].digest == runs[2].digest
    assert runs[0].events == runs[1].events == runs[2].events
    assert np.array_equal(runs[0].energy, runs[1].energy)
    for ours, theirs in zip(runs[0].internal_violation("body"), runs[1].internal_violation("body"), strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize(("name", "which", "order"), [("double-pendulum", "lower", 4), ("bicycle", "rear-wheel", 2)])
def test_black_boxes_are_glued_to_the_bits_of_the_class_itself(name, which, order):
    """Where steps are tried again (rolling) too, and at a worker, which is asked in the middle of ticks."""
    digests = []
    for settings in (None, {}, {"workers": 2, "launcher": "here"}):
        model = scenarios.load(name)
        if settings is not None:
            model.bodies[which] = box_of(model.bodies[which])
        with Simulation(model, 1e-3, Glued(order), **(settings or {})) as simulation:
            digests.append(simulation.run(0.02).digest)
    assert digests[0] == digests[1] == digests[2]


def test_a_worker_takes_many_ticks_at_once_also_where_joints_ask_black_boxes_in_their_middle(monkeypatch):
    """The stiffness of a hinge turns with what it holds."""
    whole, step = [], Simulation.step
    monkeypatch.setattr(Simulation, "step", lambda simulation: whole.append(simulation.tick) or step(simulation))
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    model.add("arm", box_of(Rod((0.0, 0.0, 0.0), (0.5, 0.0, 0.1), 1.0, 0.02)))
    model.add("tip", Rod((0.5, 0.0, 0.1), (0.7, 0.3, 0.1), 0.3, 0.01))
    model.join("shoulder", Revolute(axis=(0, 1, 0)), "ground", "arm.start")
    model.join("wrist", Revolute(axis=(0, 1, 0)), "arm.end", "tip.start")
    with Simulation(model, 1e-3, workers=2, launcher="here") as simulation:
        simulation.run(0.05)
    assert whole == []


def test_a_foreign_body_swings_alike_as_a_black_box():
    particle = Particle(1.3, (0.3, 0.8, 0.0), (0.2, 0.0, 0.0))
    runs = []
    for body in (particle, box_of(particle)):
        with Simulation(pendulum(body, Wire(0.8)), 1e-3) as simulation:
            simulation.run(0.2)
            simulation.cut("wire")
            simulation.run(0.3)
            simulation.join("catch", Spherical(), "ground", "bob.here", law="kinematic")
            runs.append(simulation.run(0.4))
    assert runs[0].digest == runs[1].digest
    assert runs[0].events == runs[1].events


def test_a_copy_has_black_boxes_of_its_own():
    body = zoo.RigidBody.example(3)
    with simulated(body) as first:
        first.run(0.02)
        second = copy.deepcopy(first)
        digest = first.run(0.1).digest
        assert second.run(0.1).digest == digest


def test_bodies_come_and_go_and_the_others_do_not_notice():
    runs = []
    for box in (box_of, lambda body: body):
        with Simulation(Assembly(), 1e-3) as simulation:
            for k in range(4):
                body = Component.from_data({**Particle.example().to_data(), "at": [float(k), 0.0, 0.0]})
                simulation.add(f"b{k}", box(body))
                simulation.join(f"j{k}", Spherical(), "ground", f"b{k}.here")
                simulation.run(0.01 * (k + 1))
            simulation.remove("b1")
            simulation.cut("j2")
            simulation.add("late", box(Particle.example()))
            simulation.join("back", Spherical(), "ground", "b2.here")
            runs.append(simulation.run(0.08))
            assert simulation.body("b2").names == ["b2"]
            assert simulation.body("b2").state()["q"].shape == (1, 1, 3)
    assert runs[0].digest == runs[1].digest


def test_black_boxes_and_workers_come_and_go():
    rod = scenarios.load("chain", bodies=1).bodies["rod0"]
    runs = []
    for box, settings in (
        (None, {}),
        (box_of, {"workers": {"there": ["motor", "spare"], "rest": ["rod0", "rod1"]}, "launcher": "here"}),
    ):
        make = box or (lambda body: body)
        model = scenarios.load("chain", bodies=2)
        model.add("motor", make(rod))
        model.add("spare", make(rod))
        with Simulation(model, 1e-3, **settings) as simulation:
            simulation.run(0.02)
            if box:
                simulation.enlist("third", ["rod1"])
                with pytest.raises(ModelError, match="it is a black box that runs at 'there'"):
                    simulation.enlist("fourth", ["motor"])
            simulation.remove("motor")
            simulation.remove("spare")
            simulation.run(0.04)
            simulation.add("other", make(rod))
            simulation.join("hold", Spherical(), "ground", "other.end")
            runs.append(simulation.run(0.06))
            if box:
                assert [worker.bodies for worker in simulation.workers] == [("other",), ("rod0",), ("rod1",)]
    assert runs[0].digest == runs[1].digest


def test_one_that_does_not_save_stays_where_it_has_moved():
    with simulated(Particle.example()) as simulation:
        simulation.run(0.01)
        with pytest.raises(ModelError, match=r"'body' \(foreign:Particle\) stays in this process"):
            simulation.hire(1, "here")
        assert simulation.workers == []
        simulation.run(0.02)


# --- questions and answers -------------------------------------------------------------------------------------------


def question(number, method, **said):
    return Message(("call", {"number": number, "method": method, "most": 1 << 20}, _as_payload(said), b""))


def record_of(body):
    """How a hosted stack with one body, called "p", is made."""
    data = box_of(body).description
    nothing = {"configured": None, "held": [], "memory": None}
    return {"like": data, "gravity": np.zeros(3), "bodies": [["p", data]], **nothing}


def test_what_is_asked_twice_is_done_once():
    rpc_server, record = RpcServer(), record_of(Particle.example())
    rpc_server.handle(question(7, "make", key="k", record=record))
    push = question(8, "shift", key="k", name="p", velocity=np.array([1.0, 0.0, 0.0]))
    first = rpc_server.handle(push)
    assert rpc_server.handle(push) == first
    _, data, state, _ = rpc_server.handle(question(9, "state", key="k"))
    assert _from_payload(state)["v"][0, 0, 0] == Particle.example().velocity[0] + 1.0
    assert json.loads(data)["refused"] == ""


def test_one_that_went_on_alone_stands_as_the_record_says_when_it_is_lent_anew():
    stack_host, record = StackHost(), record_of(zoo.RigidBody.example(3))
    stack_host.dispatch("make", {"key": "k", "record": record})
    memory = stack_host.dispatch("save", {"key": "k"})
    stack_host.dispatch("shift", {"key": "k", "name": "p", "velocity": np.ones(3)})
    again = stack_host.revived("k", {**record, "memory": memory})
    assert again is stack_host.known["k"]
    assert np.array_equal(again.save()["v"], memory["v"])


@pytest.mark.parametrize(
    ("method", "said", "why"),
    [
        ("__init__", {}, "not a question that black boxes answer"),
        ("state", {"key": "unknown"}, "does not run here"),
        ("describe", {"description": {}, "question": "to_data", "about": {}}, "not a question that black boxes answer"),
        ("facts", {"name": "x", "description": {"class": "coordinator:Penalty"}}, "is not a body"),
        ("state", {}, "KeyError"),
    ],
)
def test_nothing_else_can_be_asked(method, said, why):
    answer = RpcServer().handle(question(1, method, **said))
    assert why in json.loads(answer[1])["refused"]


def test_a_damaged_question_is_refused_and_the_next_is_answered():
    rpc_server = RpcServer()
    whole = question(1, "facts", name="x", description=box_of(Particle.example()).description)
    damaged = Message((*whole[:2], whole.payload[:-3] + b"xyz", b""))
    assert "damaged" in json.loads(rpc_server.handle(damaged)[1])["refused"]
    again = Message((whole.kind, {**whole.data, "number": 2}, whole.payload, b""))
    assert _from_payload(rpc_server.handle(again)[2])["ports"] == ["here"]
