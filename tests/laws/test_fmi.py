"""FMUs in and out: bodies that others move, models that others step; held against closed forms, our own bodies and each other."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import made_fmus
import scenarios
from campaign import shortened
from components import NewtonEulerBody, Revolute
from components.fmi import Fmu, FmuNetwork, PowerPort
from components.fmi.port import structured
from components.fmi.stepper import Stepper
from coordinator import BlackBox, Glued, Penalty, Relaxed, Simulation
from coordinator.distributed.workers.black_boxes import BlackBoxes
from modular import Assembly, CouplingError, ModelError
from modular.component import Component
from modular.errors import RunWarning

fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed; pip install -e '.[fmi]'")

ARM = -0.5


def on_a_rod(lower):
    """A rod on a pivot, and a second body that hangs from it."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add(
        "upper",
        NewtonEulerBody(mass=1.0, inertia=0.1, centre=(0.5, 0.0), ports={"start": (0.0, 0.0), "end": (1.0, 0.0)}),
    )
    model.add("lower", lower)
    model.join("pivot", Revolute(), "ground", "upper.start")
    model.join("elbow", Revolute(), "upper.end", "lower.start")
    return model


def ours():
    return NewtonEulerBody(mass=1.3, inertia=0.21, centre=(1.5, 0.0), ports={"start": (1.0, 0.0)})


def theirs(file=None, **more):
    given = {"x": 1.5, "arm": ARM} | more.pop("parameters", {})
    return Fmu(
        file or made_fmus.rigid(), ports={"start": made_fmus.port()}, dimension=2, parameters=given, mass=1.3,
        kinetic="kinetic", potential="potential", **more,
    )  # fmt: skip


def ran(model, dt, coupling, until=0.2):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)
        with Simulation(model, dt, coupling) as simulation:
            return simulation.run(until)


# --- in --------------------------------------------------------------------------------------------------------------


@pytest.mark.short(1)
@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_a_body_of_a_stranger_moves_as_ours_to_second_order(coupling):
    """Co-simulation and model exchange; what it leaks is the order of the step too."""
    apart = {}
    for dt in (2e-3, 1e-3):
        own = ran(on_a_rod(ours()), dt, coupling, 0.1)
        for interface in ("co-simulation", "model exchange"):
            run = ran(on_a_rod(theirs(interface=interface)), dt, coupling, 0.1)
            apart[interface, dt] = np.abs(run.position("lower.start") - own.position("lower.start")).max()
            body = run.bodies["lower"]
            assert np.abs(body.leaked(run.state("lower")[0])).max() < 20.0 * dt**2
    for interface in ("co-simulation", "model exchange"):
        assert apart[interface, 1e-3] < 30.0 * 1e-6
        assert 3.3 < apart[interface, 2e-3] / apart[interface, 1e-3] < 4.8
    assert apart["co-simulation", 1e-3] == pytest.approx(apart["model exchange", 1e-3], rel=1e-3)


def test_without_its_state_it_is_held_by_springs_and_refused_by_what_repeats_steps():
    """Its compliance is measured at fresh starts, and turns with its port."""
    blind = made_fmus.rigid(saves=False)
    apart = []
    for dt in (2e-3, 1e-3):
        run = ran(on_a_rod(theirs(blind)), dt, Penalty())
        own = ran(on_a_rod(ours()), dt, Penalty())
        apart.append(np.abs(run.position("lower.start") - own.position("lower.start")).max())
    assert apart[1] < 1e-4 and apart[0] / apart[1] > 3.3
    with Simulation(on_a_rod(theirs(blind)), 1e-3) as simulation:
        margin = simulation.margins["elbow"]
    with Simulation(on_a_rod(ours()), 1e-3) as simulation:
        assert margin == pytest.approx(simulation.margins["elbow"], rel=1e-3)
    for coupling in (Glued(), Relaxed()):
        with pytest.raises(
            CouplingError,
            match=r"drift and can be kicked.*lower cannot \('rigid.fmu' says canGetAndSetFMUState = false\)",
        ):
            Simulation(on_a_rod(theirs(blind)), 1e-3, coupling)


@pytest.mark.parametrize("saves", [True, False])
def test_how_it_answers_forces_turns_with_it(saves):
    """Closed form of a rigid body at a port beside its centre, after it has turned by 1.5 rad."""
    stepper = Stepper("it", theirs(made_fmus.rigid(saves=saves), parameters={"spin": 5.0}))
    stepper.dt = 1e-3
    stepper.measure(1e-3)
    for _ in range(300):
        stepper.advance(stepper.still, 1e-3)
    x, y = ARM * np.cos(1.5), ARM * np.sin(1.5)
    lever = np.array([-y, x, 1.0])
    expected = np.diag([1 / 1.3, 1 / 1.3, 0.0]) + np.outer(lever, lever) / 0.21
    assert stepper.answers(1e-3)[0] == pytest.approx(expected, abs=0.03)  # what a step of 5 mrad averages


@pytest.mark.campaign
def test_two_fmus_are_glued_to_each_other():
    """The thesis's T-T: forces go into both, and what joins them finds the forces (Séguy 2003, I.3.5)."""
    model = Assembly(gravity=(0.0, -9.81))
    for name, x, arm in (("left", -0.5, 0.5), ("right", 0.5, -0.5)):
        spin = {"spin": 3.0, "vy": 1.5} if name == "left" else {"vy": 1.5}
        body = theirs(parameters={"x": x, "arm": arm, "damping": 0.0, **spin, "vy": -1.5 if name == "left" else 0.0})
        model.add(name, body)
    model.join("hinge", Revolute(), "left.start", "right.start")
    run = ran(model, 1e-3, Glued(), 0.08)
    assert np.abs(run.position("left.start") - run.position("right.start")).max() < 1e-9
    total = sum(run.bodies[name].leaked(run.state(name)[0]) for name in ("left", "right"))
    assert np.abs(total).max() < 1e-4  # nothing acts but gravity


@pytest.mark.campaign
def test_damping_within_is_told_as_leaked():
    """A falling disc with drag c v: what it loses is c times the integral of v squared."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("disc", theirs(parameters={"x": 0.0, "arm": 0.0, "damping": 0.7}))
    model.add("weight", NewtonEulerBody(mass=1.0, inertia=0.1, centre=(3.0, 0.0), ports={"at": (3.0, 0.0)}))
    t = 0.4
    run = ran(model, 1e-3, Penalty(), t)
    rate, mass = 0.7 / 1.3, 1.3
    speed = 9.81 / rate * (1.0 - np.exp(-rate * run.time))
    assert run.velocity("disc.start")[:, 1] == pytest.approx(-speed, abs=1e-9)
    lost = (
        0.7 * (9.81 / rate) ** 2 * (t - 2.0 * (1 - np.exp(-rate * t)) / rate + (1 - np.exp(-2 * rate * t)) / (2 * rate))
    )
    assert run.bodies["disc"].leaked(run.state("disc")[0])[-1] == pytest.approx(lost, rel=1e-8)
    assert mass == run.bodies["disc"].total_mass
    from scenarios.report.summary import overview

    assert run.summary()["leaked within bodies"] == f"{lost:.3g} J at disc"
    assert overview(run)["leaked within"] == f"disc {lost:.3g} J"


def test_networks_of_model_exchange_are_exact_and_of_co_simulation_first_order():
    """x'' = y, y'' = x with the outputs of one as forces on the other: x + y grows as cosh t, x - y swings as cos t."""
    files = {"a": made_fmus.rigid(), "b": made_fmus.rigid()}
    parameters = {f"{name}.{key}": value for name in "ab" for key, value in (("mass", 1.0), ("gravity", 0.0))}
    parameters |= {"a.x": 1.0, "b.x": 0.2}
    network = {"files": files, "connections": {"a.fx": "b.px", "b.fx": "a.px"}, "parameters": parameters}
    exact = 0.5 * np.array([1.2 * np.cosh(2.0) + 0.8 * np.cos(2.0), 1.2 * np.cosh(2.0) - 0.8 * np.cos(2.0)])
    _, found = FmuNetwork(**network, interface="model exchange").run(2.0, 0.1, ["a.px", "b.px"])
    assert found[-1] == pytest.approx(exact, abs=1e-10)
    errors = [
        np.abs(FmuNetwork(**network, interface="co-simulation").run(2.0, dt, ["a.px", "b.px"])[1][-1] - exact).max()
        for dt in (0.02, 0.01)
    ]
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.05)


def test_events_of_model_exchange_are_located():
    """A ball that bounces elastically: height h - g t^2 / 2 until sqrt(2 h / g), and the mirror image after it."""
    network = FmuNetwork(
        {"ball": made_fmus.rigid("EVENTS")}, parameters={"ball.y": 1.0, "ball.floor": 0.0}, interface="model exchange"
    )
    times, found = network.run(1.5, 0.05, ["ball.py"])
    period = 2.0 * np.sqrt(2.0 / 9.81)
    phase = (times + 0.5 * period) % period - 0.5 * period
    assert found[:, 0] == pytest.approx(1.0 - 0.5 * 9.81 * phase**2, abs=1e-9)


SSD = """<?xml version="1.0"?>
<ssd:SystemStructureDescription xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
 xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" version="1.0" name="pair"><ssd:System name="pair">
<ssd:Elements>
<ssd:Component name="a" source="resources/rigid.fmu"><ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>
<ssv:ParameterSet version="1.0" name="p"><ssv:Parameters><ssv:Parameter name="x"><ssv:Real value="1.5"/></ssv:Parameter>
</ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings></ssd:Component>
<ssd:Component name="b" source="resources/rigid.fmu"/></ssd:Elements>
<ssd:Connections><ssd:Connection startElement="a" startConnector="px" endElement="b" endConnector="fx"/>
<ssd:Connection startElement="b" startConnector="px" endElement="a" endConnector="fx"/></ssd:Connections>
<ssd:ParameterBindings><ssd:ParameterBinding source="resources/all.ssv"/></ssd:ParameterBindings>
</ssd:System></ssd:SystemStructureDescription>"""
SSV = """<ssv:ParameterSet xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" version="1.0" name="all">
<ssv:Parameters><ssv:Parameter name="b.mass"><ssv:Real value="2.5"/></ssv:Parameter></ssv:Parameters></ssv:ParameterSet>"""


def test_systems_out_of_ssp_files_move_as_those_told_by_hand(tmp_path):
    file = made_fmus.rigid()
    with zipfile.ZipFile(tmp_path / "pair.ssp", "w") as archive:
        archive.writestr("SystemStructure.ssd", SSD)
        archive.writestr("resources/all.ssv", SSV)
        archive.write(file, "resources/rigid.fmu")
    by_hand = FmuNetwork(
        {"a": file, "b": file}, {"b.fx": "a.px", "a.fx": "b.px"}, {"a.x": 1.5, "b.mass": 2.5}, "model exchange"
    )
    found = FmuNetwork.from_ssp(tmp_path / "pair.ssp", "model exchange").run(0.5, 0.05, ["a.px", "b.py"])[1]
    assert np.array_equal(found, by_hand.run(0.5, 0.05, ["a.px", "b.py"])[1])
    with pytest.raises(ModelError, match=r"is not an SSP: an SSP is a ZIP file that contains a SystemStructure.ssd"):
        FmuNetwork.from_ssp(file)


CROSSED = made_fmus.port(  # what goes in goes into one, and the motion is that of the other
    position=("one.px", "one.py"), velocity=("one.pvx", "one.pvy"), force=("two.fx", "two.fy"),
    orientation=(), angular_velocity=(), moment=(),
)  # fmt: skip
REFUSALS = [
    (lambda: theirs("nowhere.fmu"), "there is no such file"),
    (lambda: theirs(__file__), "is not an FMU: an FMU is a ZIP file"),
    (
        lambda: theirs(made_fmus.rigid("UNLICENSED")),
        r"cannot instantiate: .*It says: no licence was found on the server",
    ),
    (lambda: theirs(parameters={"weight": 3.0}), "has no variable 'weight'; it has"),
    (lambda: theirs(interface="scheduled"), "interface = 'scheduled'; give 'co-simulation' or 'model exchange'"),
    (
        lambda: Fmu(made_fmus.rigid(), ports={"tip": made_fmus.port(force=("pvx", None), moment=(None,))}, dimension=2),
        r"port 'it.tip': along x neither the motion nor the force 'pvx' is an input of the FMU",
    ),
    (
        lambda: Fmu({"one": made_fmus.rigid(), "two": made_fmus.rigid()}, ports={"tip": CROSSED}, dimension=2),
        "does not move under a force on its ports",
    ),
    (lambda: Fmu(made_fmus.rigid(), ports={"tip": "tip"}, dimension=2), r"no variables 'tip.position.x'"),
    (lambda: Fmu(made_fmus.rigid(), ports={}, dimension=2), "an FMU without ports cannot be joined"),
    (
        lambda: Fmu(made_fmus.rigid(), ports={"tip": PowerPort(("px", "py"), ("pvx",), ("fx", "fy"))}, dimension=2),
        r"port 'it.tip': velocity names 1 variables; give 2",
    ),
]


@pytest.mark.parametrize("made, said", REFUSALS, ids=[said[:24] for _, said in REFUSALS])
def test_what_cannot_be_is_refused_in_a_sentence(made, said):
    model = Assembly(gravity=(0.0, -9.81))
    with pytest.raises(ModelError, match=said) as refused:
        model.add("it", made())
        Simulation(model, 1e-3)
    assert re.search(r"'it[.']|FMU '", str(refused.value))


def test_an_fmu_that_fails_on_the_way_is_named_and_what_was_recorded_stays():
    with Simulation(on_a_rod(theirs(made_fmus.rigid("FAILS"))), 1e-3) as simulation:
        with pytest.raises(ModelError, match=r"rigid\) answers 'error' to fmi2DoStep \(at 0.011 s\)"):
            simulation.run(0.1)
        assert len(simulation.recorded) == 12


def test_an_fmu_that_never_comes_back_is_given_up_and_what_was_recorded_stays():
    """It sleeps for ever in a step; one that only fails says so as without a time limit."""
    with Simulation(on_a_rod(theirs(made_fmus.rigid("HANGS"), time_limit=0.4)), 1e-3) as simulation:
        with pytest.raises(
            ModelError,
            match=r"'rigid.fmu' has not been stepped by 0.001 s within 0.4 s \(at 0.011 s\), and was given up",
        ):
            simulation.run(0.1)
        assert len(simulation.recorded) == 12
        with pytest.raises(ModelError, match="has failed before"):
            simulation.run(0.1)
    fine = [ran(on_a_rod(theirs(time_limit=limit)), 1e-3, Penalty(), 0.02).digest for limit in (None, 20.0)]
    assert fine[0] == fine[1]
    with pytest.raises(ModelError, match=r"answers 'error' to fmi2DoStep"):
        ran(on_a_rod(theirs(made_fmus.rigid("FAILS"), time_limit=20.0)), 1e-3, Penalty())


# --- at one worker, which alone loads it ---------------------------------------------------------------------------------


@pytest.fixture
def allowed(monkeypatch):
    """As `modular --allow fmpy`: what a worker is told to load is named by a message."""
    monkeypatch.setenv("MODULAR_ALLOW", "fmpy")


def test_an_fmu_that_a_file_names_is_loaded_where_somebody_allows_it(tmp_path, monkeypatch):
    file = shutil.copy(made_fmus.rigid(), tmp_path / "theirs.fmu")
    data = theirs().to_data()
    for there in (str(file), {"one": str(file)}):
        body = Component.from_data({**data, "file": there})
        with pytest.raises(ModelError, match=r"theirs.fmu' is named by a file or a message, and its code would run"):
            body.empty_stack()
    monkeypatch.setenv("MODULAR_ALLOW", "fmpy")
    assert Component.from_data({**data, "file": str(file)}).empty_stack() is not None


def at_a_worker():
    data = theirs().to_data()
    return BlackBox(data.pop("class"), worker="plant", ports=["start"], dimension=2, data=data)


@pytest.mark.short(1)
@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_at_a_worker_it_gives_the_bits_of_one_at_hand(coupling, allowed):
    there = {"workers": {"plant": ["lower"], "rest": ["upper"]}, "launcher": "here"}
    one = ran(on_a_rod(theirs()), 1e-3, coupling, 0.04).digest
    assert ran(on_a_rod(at_a_worker()), 1e-3, coupling, 0.04).digest == one
    with Simulation(on_a_rod(at_a_worker()), 1e-3, coupling, **there) as simulation:
        run = simulation.run(0.04)
        assert run.digest == one
        assert run.summary()["leaked within bodies"].endswith(" J at lower")  # asked of the worker


def test_between_glued_joints_nobody_is_asked_again_what_he_shows(monkeypatch, allowed):
    """Half of the questions were where it stands: it is told with what moves it, along the whole stencil of a step."""
    asked = []
    call = BlackBoxes.call

    def counted(self, method, **said):
        asked.append(said.get("verb", method))
        return call(self, method, **said)

    monkeypatch.setattr(BlackBoxes, "call", counted)
    with Simulation(on_a_rod(at_a_worker()), 1e-3, Glued()) as simulation:
        simulation.run(0.01)
        asked.clear()
        simulation.run(0.02)
    assert not {"show", "show_end_velocity"} & {*asked}
    assert asked.count("kick") >= 10


@pytest.mark.campaign
@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_a_worker_that_is_killed_comes_back_with_its_fmu_to_the_same_bits(coupling, allowed):
    one, kills = ran(on_a_rod(theirs()), 1e-3, coupling, 0.5).digest, 3
    with Simulation(
        on_a_rod(at_a_worker()), 1e-3, coupling, workers={"plant": ["lower"], "rest": ["upper"]}
    ) as simulation:
        simulation.distributed_run.pool.every = 20

        def kill():
            time.sleep(0.02)
            pid = next(worker.pid for worker in simulation.workers if worker.name == "plant")
            if pid is not None:
                os.kill(pid, signal.SIGKILL)

        for k in range(kills):
            killer = threading.Thread(target=kill)
            killer.start()
            simulation.run(0.5 * (k + 1) / kills)
            killer.join()
        assert simulation.recorded.digest == one
        assert len(simulation.distributed_run.pool.deaths) == kills


@pytest.mark.campaign
def test_one_that_never_comes_back_at_its_worker_is_told(allowed):
    data = theirs(made_fmus.rigid("HANGS"), time_limit=0.4).to_data()
    box = BlackBox(data.pop("class"), worker="plant", ports=["start"], dimension=2, data=data)
    with Simulation(on_a_rod(box), 1e-3, workers={"plant": ["lower"], "rest": ["upper"]}) as simulation:
        with pytest.raises(ModelError, match=r"'rigid.fmu' has not been stepped by 0.001 s within 0.4 s"):
            simulation.run(0.1)
        assert len(simulation.recorded) >= 1


@pytest.mark.campaign
def test_a_crash_takes_its_worker_and_is_told(allowed):
    """It is tried on three workers; the process of the simulation and all that was recorded stay."""
    data = theirs(made_fmus.rigid("CRASHES")).to_data()
    box = BlackBox(data.pop("class"), worker="plant", ports=["start"], dimension=2, data=data)
    with Simulation(on_a_rod(box), 1e-3, workers={"plant": ["lower"], "rest": ["upper"]}) as simulation:
        with pytest.raises(ModelError, match=r"plant.* died"):
            simulation.run(0.1)
        assert len(simulation.recorded) >= 1


# --- out -------------------------------------------------------------------------------------------------------------


def exported(model, folder, version, **more):
    from scenarios.fmi.writing import export_fmu

    file = folder / f"model{version}.fmu"
    export_fmu(model, file, 1e-3, version=version, **more)
    return file


def halves():
    whole = scenarios.load("double-pendulum")
    lower = Assembly(gravity=whole.gravity)
    lower.add("lower", whole.bodies["lower"])
    return whole, lower


def outside(whole, file):
    model = Assembly(gravity=whole.gravity)
    model.add("upper", whole.bodies["upper"])
    outputs = ("lower.end.position.x", "lower.end.position.y")
    model.add("lower", Fmu(str(file), ports={"start": "lower.start"}, dimension=2, outputs=outputs))
    for name, edge in whole.joint_edges.items():
        model.join(name, edge.joint, str(edge.first), str(edge.second))
    return model


@pytest.mark.short(1)
@pytest.mark.parametrize("version, coupling", [(2, Penalty()), (2, Glued()), (3, Glued())], ids=["2p", "2g", "3g"])
def test_an_exported_rod_moves_as_inside(version, coupling, tmp_path):
    whole, lower = halves()
    file = exported(lower, tmp_path, version, coupling=coupling, ports=["lower.start"])
    inside, run = ran(whole, 1e-3, coupling), ran(outside(whole, file), 1e-3, coupling)
    body, q = run.bodies["lower"], run.state("lower")[0]
    tip = np.stack([body.output(name, q) for name in body.outputs], axis=1)
    assert tip == pytest.approx(inside.position("lower.end"), abs=1e-12)


FRESH = """
import os, sys, fmpy, numpy as np
from fmpy.validation import validate_fmu
until, dt, *files = float(sys.argv[1]), float(sys.argv[2]), *sys.argv[3:]
for file in files:
    assert validate_fmu(file) == [], validate_fmu(file)
    found = fmpy.simulate_fmu(file, stop_time=until, step_size=dt, output_interval=dt)
    np.save(f"{file}.npy", np.array([list(row) for row in found]))
    print(",".join(found.dtype.names), flush=True)
os._exit(0)  # the compiled part of PythonFMU lets go of Python twice as a process exits, which ends in an abort now and then
"""


@pytest.mark.short(1)
@pytest.mark.parametrize("name", shortened(["double-pendulum", "cut-double-pendulum"], scenarios.names()))
def test_ready_systems_give_their_bits_to_fmpy_in_a_fresh_process(name, tmp_path):
    """Validated without a word; the first ports of every body, at every tick."""
    from scenarios.settings import coupling_for

    model = scenarios.load(name)
    dt = model.suggested.get("dt", 1e-4)
    until, coupling = 30 * dt, coupling_for(model, None, None)
    from scenarios.fmi.writing import export_fmu

    watch = [f"{body}.{described.port_names[0]}" for body, described in model.bodies.items() if described.port_names][
        :6
    ]
    run = ran(model, dt, coupling, until)
    files = [tmp_path / f"{version}.fmu" for version in (2, 3)]
    for version, file in zip((2, 3), files, strict=True):
        export_fmu(model, file, dt, version=version, coupling=coupling, watch=watch)
    command = [sys.executable, "-c", FRESH, repr(until), repr(dt), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for file, line in zip(files, done.stdout.strip().splitlines()[-2:], strict=True):
        names, found = line.split(","), np.load(f"{file}.npy")
        for port in watch:
            columns = [names.index(f"{structured(port)}.position.{axis}") for axis in "xyz"[: model.dimension]]
            assert np.array_equal(found[: len(run), columns], run.position(port)), port


def steps(fmus, count):
    names = ["lower.end.position.x", "lower.end.velocity.y", "lower.end.acceleration.x", "energy.kinetic"]
    for _ in range(count):
        fmus.step(1e-3)
    return fmus.ask(fmus.signals(names, "test"))


def test_its_state_goes_back_and_into_another_instance():
    """As the importer asks for it; a state that is written down goes on to the same bits."""
    from components.fmi.fmu_system import FmuSystem

    folder = Path(made_fmus.rigid()).parent
    for version in (2, 3):
        file = exported(scenarios.load("double-pendulum"), folder, version, coupling=Penalty())
        first, second = (FmuSystem({"": str(file)}, {}, None, {}) for _ in range(2))
        for fmus in (first, second):
            fmus.begin()
        steps(first, 7)
        kept, data = first.save(), first.as_data()
        there = steps(first, 5)
        first.restore(kept)
        assert np.array_equal(steps(first, 5), there)
        second.take_data(data)
        assert np.array_equal(steps(second, 5), there)
        first.forget(kept)


def test_parameters_build_the_model_anew(tmp_path):
    from scenarios.fmi.writing import export_fmu

    model, file = scenarios.load("four-bar"), tmp_path / "bar.fmu"
    export_fmu(model, file, 1e-3, target="four-bar", parameters={"crank": 0.1}, watch=["coupler.end"])
    found = fmpy.simulate_fmu(
        str(file), start_values={"crank": 0.12}, stop_time=0.01, step_size=1e-3, output_interval=1e-3
    )
    run = ran(scenarios.load("four-bar", crank=0.12), 1e-3, Penalty(), 0.01)
    assert np.array_equal(found["coupler.end.position.x"], run.position("coupler.end")[:, 0])


def test_steps_that_are_no_whole_ticks_are_refused(tmp_path):
    from components.fmi.fmu_system import FmuSystem

    fmus = FmuSystem({"": str(exported(scenarios.load("double-pendulum"), tmp_path, 2))}, {}, None, {})
    fmus.begin()
    with pytest.raises(ModelError, match=r"'discard' .* a step of 0.0015 s is not a whole number of ticks of 0.001 s"):
        fmus.step(1.5e-3)
    fmus.time = 0.0
    fmus.step(2e-3)
