"""Scalar signals: inputs of FMUs that follow courses, and outputs that controllers read; held against closed forms."""

import numpy as np
import pytest

import made_fmus
from components import Controller, NewtonEulerBody, OutputOf, Revolute, Sine
from components.fmi import Fmu
from coordinator import BlackBox, Glued, Penalty, Simulation
from modular import Assembly, ModelError

pytest.importorskip("fmpy", reason="FMPy is not installed; pip install -e '.[fmi]'")

INERTIA, TORQUE, HERTZ = 0.21, 0.6, 1.3
W = 2.0 * np.pi * HERTZ


def driven(interface, **more):
    """A disc that nobody holds, whose torque is an input that follows a course."""
    port = made_fmus.port(orientation=(), angular_velocity=(), moment=())
    given = {"outputs": ["omega"], "signals": {"mz": Sine(TORQUE, HERTZ)}, "parameters": {"gravity": 0.0}, **more}
    return Fmu(made_fmus.rigid(), ports={"hub": port}, dimension=2, interface=interface, **given)


def model(body):
    made = Assembly(gravity=(0.0, 0.0))
    made.add("disc", body)
    wheel = NewtonEulerBody(mass=1.0, inertia=0.5, centre=(2.0, 0.0), ports={"hub": (2.0, 0.0)})
    made.add("wheel", wheel)
    made.join("bearing", Revolute(), "ground", "wheel.hub")
    return made


def turning(time):
    """omega = T / (I w) (1 - cos w t)."""
    return TORQUE / (INERTIA * W) * (1.0 - np.cos(W * time))


@pytest.mark.parametrize("interface, order", [("co-simulation", 2), ("model exchange", None)])
def test_an_input_follows_its_course(interface, order):
    """Held in the middle of a step of co-simulation; followed where we integrate."""
    errors = []
    for dt in (0.02, 0.01):
        with Simulation(model(driven(interface)), dt, Penalty()) as simulation:
            run = simulation.run(1.0)
        found = run.bodies["disc"].output("omega", run.state("disc")[0])
        errors.append(np.abs(found - turning(run.time)).max())
    if order is None:
        assert errors[0] < 1e-9
    else:
        assert errors[1] < 1e-2 and errors[0] / errors[1] == pytest.approx(2.0**order, rel=0.05)


def proportional(time, readings, memory):
    """An effort by what the program shows."""
    return 3.0 * readings["speed"]


@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_a_controller_reads_what_an_fmu_shows(coupling):
    """Its effort is held from tick to tick: the wheel turns by the sum of what was read."""
    made, dt = model(driven("co-simulation")), 0.01
    made.apply("motor", Controller(proportional, {"speed": OutputOf("disc", "omega")}), "ground", "wheel.hub")
    with Simulation(made, dt, coupling) as simulation:
        run = simulation.run(0.5)
    shown = run.bodies["disc"].output("omega", run.state("disc")[0])
    expected = 3.0 * dt * np.concatenate([[0.0], np.cumsum(shown[:-1])]) / 0.5
    wheel, (q, v, *_) = run.bodies["wheel"], run.state("wheel")
    assert wheel.angular_velocity_of("hub", q, v) == pytest.approx(expected, abs=1e-9)


def test_at_a_worker_too_to_the_same_bits(monkeypatch):
    monkeypatch.setenv("MODULAR_ALLOW", "fmpy")
    data = driven("co-simulation").to_data()
    box = BlackBox(data.pop("class"), worker="plant", ports=["hub"], dimension=2, data=data)
    found = []
    for body, there in (
        (driven("co-simulation"), {}),
        (box, {"workers": {"plant": ["disc"], "rest": ["wheel"]}, "launcher": "here"}),
    ):
        made = model(body)
        made.apply("motor", Controller(proportional, {"speed": OutputOf("disc", "omega")}), "ground", "wheel.hub")
        with Simulation(made, 0.01, Penalty(), **there) as simulation:
            run = simulation.run(0.1)
            found.append((run.digest, run.bodies["disc"].output("omega", run.state("disc")[0])))
    assert found[0][0] == found[1][0] and np.array_equal(found[0][1], found[1][1])
    assert found[0][1][-1] > 0.1


def test_what_is_not_there_is_refused_with_what_is():
    made = model(driven("co-simulation"))
    made.apply("motor", Controller(proportional, {"speed": OutputOf("disc", "turn")}), "ground", "wheel.hub")
    with (
        pytest.raises(ModelError, match="body 'disc' shows no variable 'turn'; it has omega"),
        Simulation(made, 0.01) as simulation,
    ):
        simulation.run(0.02)
    with pytest.raises(ModelError, match=r"signals\['mz'\] = 0.3; give a course of one number"):
        model(driven("co-simulation", signals={"mz": 0.3}))
        Simulation(model(driven("co-simulation", signals={"mz": 0.3})), 0.01)
    with pytest.raises(ModelError, match="has no variable 'torque'"):
        Simulation(model(driven("co-simulation", signals={"torque": Sine(0.3, 1.0)})), 0.01)
