"""Native FMUs: formulas as C, without Python; they move as `Formulas()` does, to the bit."""

import functools
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import scenarios
import stepped
from campaign import shortened
from components import Fmu, Load, Regulator, Revolute, RigidBody, Rod, SpringDamper, Table, TorsionSpring
from coordinator import Centralized, Formulas, Generated, Glued, MinimalCoordinates, Penalty, Simulation
from modular import Assembly, Cut, ModelError
from scenarios.cli import app
from scenarios.fmi.native_fmu import export_native
from scenarios.fmi.writing import export_fmu
from shared_folder import made_once
from stepped import Stepped

pytest.importorskip("fmpy", reason="FMPy is not installed; pip install -e '.[fmi]'")
needs_compiler = pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="there is no C compiler")

TICK = 0.01
SYSTEMS = shortened(
    [("double-pendulum", 2), ("spinning-book", 3)],
    [
        *(("double-pendulum", 2), ("spinning-book", 3), ("kapitza-pendulum", 2), ("double-pendulum-3d", 3)),
        *(("slider-crank", 2), ("cardan-shaft", 3), ("rattleback", 2), ("two-rods", 3)),
    ],
)


# axes that lie in a plane of coordinates: numbers decide in which order rows are eliminated
BY_NUMBERS = {"cardan-shaft"}


def arm():
    """A rod on a pin, a plate on the rod, which a spring holds."""
    model = Assembly(gravity=(0.3, -9.81))
    model.add("rod", Rod((0.0, 0.0), (1.0, 0.2), 1.1))
    ports = {"hole": (1.0, 0.2), "tip": (1.4, 0.7)}
    model.add("plate", RigidBody(mass=1.3, inertia=0.2, centre=(1.2, 0.1), ports=ports))
    model.join("pin", Revolute(), "ground", "rod.start")
    model.join("elbow", Revolute(), "rod.end", "plate.hole")
    model.apply("spring", SpringDamper(60.0, 0.5, length=0.9), "ground", "plate.tip", at=(0.3, 1.0))
    return model


@functools.cache
def native_arm():
    return str(made_once("native-arm.fmu", lambda file: export_native(arm(), file, TICK, ports=["plate.tip"])))


PLACE = ("plate.tip.position.x", "plate.tip.position.y")
REST = ("plate.tip.angle", "plate.tip.angular_velocity", "plate.tip.acceleration.y", "energy.stored", "energy.kinetic")


def ran(model, until=0.3, coupling=None, dt=TICK):
    with Simulation(model, dt, Formulas() if coupling is None else coupling) as simulation:
        return simulation.run(until)


def in_a_fresh_process(file, dt, steps, names, folder, state=None):
    out = folder / "out.npy"
    command = [sys.executable, stepped.__file__, str(file), repr(dt), str(steps), str(out), *names]
    more = {} if state is None else {"STATE": str(state)}
    subprocess.run(command, check=True, env={**os.environ, **more})
    return np.load(out)


@needs_compiler
@pytest.mark.short(1, each=True)
@pytest.mark.parametrize(("name", "version"), SYSTEMS)
def test_without_python_in_it_has_the_bits_of_formulas(name, version, tmp_path):
    """In a process that cannot import modular; FMPy says nothing against the file, and the way is that of independent numbers."""
    from fmpy.validation import validate_fmu

    model = scenarios.load(name)
    body = sorted(model.bodies)[-1]
    port = f"{body}.{model.bodies[body].port_names[-1]}"
    file = tmp_path / "native.fmu"
    export_native(model, file, 1e-3, version=version, watch=[port])
    assert validate_fmu(str(file)) == []
    axes = "xyz"[: model.dimension]
    found = in_a_fresh_process(file, 1e-3, 50, [f"{port}.position.{axis}" for axis in axes], tmp_path)
    off = np.abs(found - ran(model, 0.05, dt=1e-3).position(port)).max()
    assert off <= (1e-15 if name in BY_NUMBERS else 0.0)


@pytest.mark.campaign
@needs_compiler
def test_forces_on_its_ports_are_those_of_loads():
    """Held in a step, or changing in it by their rates; in steps of several ticks, too."""
    model = arm()
    model.apply("pull", Load((3.0, -1.5)), "plate.tip")
    steady = ran(model, 0.3).position("plate.tip")
    one = Stepped(native_arm(), **{"plate.tip.force.x": 3.0, "plate.tip.force.y": -1.5})
    for k in range(1, 16):
        one.step(2 * TICK)
        assert np.abs(one.ask(*PLACE) - steady[2 * k]).max() < 1e-13

    model = arm()
    times = np.array([0.0, 0.1, 0.2, 0.3])
    values = np.array([[1.0, 2.0], [8.0, -3.0], [-5.0, 4.0], [0.0, 9.0]])
    model.apply("pull", Load(Table(times.tolist(), values.tolist())), "plate.tip")
    changing = ran(model, 0.3, Centralized(MinimalCoordinates("DOP853", 1e-12, 1e-12)), 2 * TICK).position("plate.tip")
    one = Stepped(native_arm())
    for k in range(3):
        rate = (values[k + 1] - values[k]) / 0.1
        names = (f"plate.tip.{what}.{axis}" for what in ("force", "force_rate") for axis in "xy")
        one.tell(**dict(zip(names, [*values[k], *rate], strict=True)))
        for n in range(1, 6):
            one.tell(
                **dict(zip(("plate.tip.force.x", "plate.tip.force.y"), values[k] + (n - 1) * 0.02 * rate, strict=True))
            )
            one.step(2 * TICK)
            assert np.abs(one.ask(*PLACE) - changing[5 * k + n]).max() < 1e-9


@pytest.mark.campaign
@needs_compiler
def test_a_moment_turns_it_and_accelerations_follow_what_is_told_at_once(tmp_path):
    """A free plate in the plane: angular acceleration is moment over inertia about its centre, whatever was told before."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add("plate", RigidBody(mass=2.0, inertia=0.5, centre=(0.0, 0.0), ports={"centre": (0.0, 0.0)}))
    file = tmp_path / "plate.fmu"
    export_native(model, file, TICK, version=3, ports=["plate.centre"])
    one = Stepped(str(file))
    one.tell(**{"plate.centre.moment": 15.0, "plate.centre.force.x": 4.0})
    assert one.ask("plate.centre.angular_acceleration", "plate.centre.acceleration.x") == pytest.approx([30.0, 2.0])
    for _ in range(100):  # more than two turns, over which the angle goes on
        one.step(TICK)
    expected = [15.0, 30.0, 1.0, 0.5 * 2.0 * 2.0**2 + 0.5 * 0.5 * 30.0**2]
    names = ("plate.centre.angle", "plate.centre.angular_velocity", "plate.centre.position.x", "energy.kinetic")
    assert one.ask(*names) == pytest.approx(expected, rel=1e-9)


@pytest.mark.campaign
@needs_compiler
def test_its_parameters_are_the_numbers_of_the_model():
    model = arm()
    model.bodies["rod"] = Rod((0.0, 0.0), (1.0, 0.2), 2.7)
    model.force_edges["spring"] = replace(model.force_edges["spring"], force=SpringDamper(95.0, 1.5, length=0.9))
    one = Stepped(native_arm(), **{"rod.mass": 2.7, "spring.stiffness": 95.0, "spring.damping": 1.5})
    other = ran(model).position("plate.tip")
    for k in range(1, 31):
        one.step(TICK)
        assert np.abs(one.ask(*PLACE) - other[k]).max() < 1e-13


@pytest.mark.campaign
@needs_compiler
def test_what_acts_about_a_hinge_goes_on_over_turns(tmp_path):
    """A spring and a servo that are wound up by more than two turns; also in an instance that goes on from a state."""
    model, hinge = Assembly(gravity=(0.0, -9.81)), ("ground", "crank.start")
    model.add("crank", Rod((0.0, 0.0), (0.8, 0.0), 1.3, velocity=(0.0, 8.0), angular_velocity=20.0))
    model.join("main", Revolute(), *hinge)
    model.apply("spring", TorsionSpring(0.5, 0.01, rest=0.3), *hinge)
    model.apply("servo", Regulator(0.4, derivative=0.02, target=5.0), *hinge, hinge[1])
    export_native(model, tmp_path / "crank.fmu", 2e-3, watch=["crank.end"])
    run, place = ran(model, 0.8, dt=2e-3), ("crank.end.position.x", "crank.end.position.y")
    assert np.ptp(run.angle("main")) > 4.0 * np.pi
    one = Stepped(str(tmp_path / "crank.fmu"))
    for k in range(1, 401):
        if k == 200:
            (tmp_path / "state").write_bytes(one.written())
        one.step(2e-3)
        assert np.abs(one.ask(*place) - run.position("crank.end")[k]).max() < 1e-12
    there = in_a_fresh_process(tmp_path / "crank.fmu", 2e-3, 201, place, tmp_path, tmp_path / "state")
    assert np.array_equal(there[-1], one.ask(*place))


@needs_compiler
def test_its_state_goes_back_and_into_another_process(tmp_path):
    file = native_arm()
    one = Stepped(file, **{"plate.tip.force.x": 7.0, "plate.tip.moment_rate": 3.0})
    for _ in range(10):
        one.step(TICK)
    state, content = one.fmu.getFMUState(), one.written()
    ways = []
    for _ in range(2):
        way = [one.ask(*PLACE, *REST)]
        for _ in range(10):
            one.step(TICK)
            way.append(one.ask(*PLACE, *REST))
        ways.append(np.array(way))
        one.fmu.setFMUState(state)
        one.time = 10 * TICK
    one.fmu.freeFMUState(state)
    assert np.array_equal(*ways)
    (tmp_path / "state").write_bytes(content)
    there = in_a_fresh_process(file, TICK, 10, [*PLACE, *REST], tmp_path, tmp_path / "state")
    assert np.array_equal(there, ways[0])


@needs_compiler
def test_instances_in_one_process_know_nothing_of_each_other():
    alone = Stepped(native_arm())
    folder = alone.folder
    one, other = Stepped(native_arm(), folder), Stepped(native_arm(), folder, **{"plate.tip.force.y": 40.0})
    for _ in range(20):
        alone.step(TICK)
    for _ in range(20):
        other.step(TICK)
        one.step(TICK)
    assert np.array_equal(one.ask(*PLACE), alone.ask(*PLACE))
    assert np.abs(other.ask(*PLACE) - one.ask(*PLACE)).max() > 1e-2


@pytest.mark.campaign
@needs_compiler
def test_steps_need_be_no_whole_ticks():
    one, exact = Stepped(native_arm()), ran(arm(), 0.3, dt=5e-3).position("plate.tip")
    for h in (0.003, 0.027, 0.1, 0.013, 0.157):
        one.step(h)
    assert one.time == pytest.approx(0.3, abs=1e-12)
    assert np.abs(one.ask(*PLACE) - exact[-1]).max() < 1e-10


@needs_compiler
def test_glued_to_our_own_rod_it_moves_as_one_mechanism(tmp_path):
    """At second order in the step, which is that of the gluing."""
    whole = scenarios.load("double-pendulum")
    alone = Assembly(gravity=whole.gravity)
    alone.add("lower", whole.bodies["lower"])
    file, off = tmp_path / "lower.fmu", []
    export_native(alone, file, 1e-3, ports=["lower.start"], watch=["lower.end"])
    for dt in (2e-3, 1e-3):
        model = Assembly(gravity=whole.gravity)
        model.add("upper", whole.bodies["upper"])
        model.add(
            "lower", Fmu(str(file), ports={"start": "lower.start"}, dimension=2, outputs=["lower.end.position.x"])
        )
        for name, edge in whole.joint_edges.items():
            model.join(name, edge.joint, str(edge.first), str(edge.second))
        joint = ran(model, 0.1, Glued(), dt).position("lower.start")[-1]
        off.append(float(np.abs(joint - ran(whole, 0.1, dt=dt).position("lower.start")[-1]).max()))
    assert off[0] < 1e-7 and off[0] / off[1] > 3.0


@pytest.mark.campaign
@needs_compiler
def test_two_of_them_glued_are_of_fourth_order(tmp_path):
    """Each is exact under a force that changes linearly, and joints find both ends of it; springs hold them, too."""
    whole, ports = scenarios.load("double-pendulum"), {"upper": ("start", "end"), "lower": ("start",)}
    for name, own in ports.items():
        alone = Assembly(gravity=whole.gravity)
        alone.add(name, whole.bodies[name])
        export_native(alone, tmp_path / f"{name}.fmu", 1e-3, version=3, ports=[f"{name}.{port}" for port in own])
    model = Assembly(gravity=whole.gravity)
    for name, own in ports.items():
        shown = {port: f"{name}.{port}" for port in own}
        model.add(name, Fmu(str(tmp_path / f"{name}.fmu"), ports=shown, dimension=2))
    for name, edge in whole.joint_edges.items():
        model.join(name, edge.joint, str(edge.first), str(edge.second))
    exact = ran(whole, 0.2, dt=4e-3).position("lower.start")[-1]
    off = [np.abs(ran(model, 0.2, Glued(), dt).position("lower.start")[-1] - exact).max() for dt in (8e-3, 4e-3)]
    assert off[0] < 1e-6 and off[0] / off[1] > 12.0
    springs = ran(model, 0.06, Penalty(), 1e-3).position("lower.start")[-1]
    assert np.abs(springs - ran(whole, 0.06, dt=4e-3).position("lower.start")[-1]).max() < 1e-4


@pytest.mark.campaign
@needs_compiler
def test_a_step_that_is_too_long_is_discarded_and_shorter_ones_can_be_taken(tmp_path):
    model = Assembly(gravity=(0.3, -9.81))
    model.add("plate", RigidBody(mass=1.3, inertia=0.2, centre=(1.2, 0.1), ports={"tip": (1.4, 0.7)}))
    model.apply("stiff", SpringDamper(1e6, 0.0, length=0.5), "ground", "plate.tip", at=(2.0, 0.7))
    file = tmp_path / "stiff.fmu"
    export_native(model, file, 0.5, watch=["plate.tip"])
    one = Stepped(str(file))
    before = one.ask(*PLACE)
    with pytest.raises(Exception, match=r"discard|2"):
        one.fmu.doStep(currentCommunicationPoint=0.0, communicationStepSize=0.5)
    assert np.array_equal(one.ask(*PLACE), before) and one.ask("time")[0] == 0.0
    one.step(1e-4)
    assert np.isfinite(one.ask(*PLACE)).all()


def test_generated_code_in_an_fmu_of_python_is_refused_where_forces_go_in(tmp_path):
    """It would hold those of the beginning."""
    for coupling in (Formulas(), Centralized(Generated())):
        with pytest.raises(ModelError, match="would not see them change; export a native FMU"):
            export_fmu(arm(), tmp_path / "it.fmu", TICK, coupling=coupling, ports=["plate.tip"])


def cut():
    model = arm()
    model.at(0.2, Cut("elbow"))
    return model


def pulsed():
    model = arm()
    model.apply("pull", Load(Table([0.0, 1.0], [[0.0, 1.0], [2.0, 3.0]])), "plate.tip")
    return model


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (cut, "it has events, which change them on the way"),
        (lambda: scenarios.load("bouncing-ball"), r"floor can only step forward.*without --native"),
        (pulsed, r"force 'pull' has no single formula.*without --native"),
    ],
)
def test_models_without_formulas_are_refused_by_name(make, said, tmp_path, monkeypatch):
    monkeypatch.setenv("CC", sys.executable)  # none is called
    with pytest.raises(ModelError, match=said):
        export_native(make(), tmp_path / "it.fmu", TICK)
    assert not (tmp_path / "it.fmu").exists()


def test_without_a_compiler_it_is_said_what_to_do(tmp_path, monkeypatch):
    file = tmp_path / "it.fmu"
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("scenarios.fmi.compiler.find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"there is no C compiler here.*ziglang.*without --native"):
        export_native(arm(), file, TICK)
    monkeypatch.setenv("CC", "xcc -O3")
    with pytest.raises(ModelError, match="CC=xcc -O3: there is no such compiler"):
        export_native(arm(), file, TICK)


def test_the_command_says_what_does_not_go_together(tmp_path):
    out = str(tmp_path / "it.fmu")
    for more, said in (
        (["--motion", "lower.end", "--port", "lower.end"], "is to take forces and to be moved"),
        (["--coupling", "glued"], "moved by formulas"),
        (["--parameter", "lower.weight"], "lower.weight"),
    ):
        done = CliRunner().invoke(app, ["export-fmu", "double-pendulum", "--native", "--out", out, *more])
        assert done.exit_code == 2 and said in " ".join(done.output.split())
