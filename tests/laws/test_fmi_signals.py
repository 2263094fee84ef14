"""Scalar signals: inputs that follow courses or are commanded, outputs that controllers read; held against closed forms."""

import numpy as np
import pytest

import made_fmus
from components import Controller, NewtonEulerBody, OutputOf, Revolute, Sine, TurningBetween
from components.fmi import Command, Fmu
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


def model(body, turning=0.0):
    made = Assembly(gravity=(0.0, 0.0))
    made.add("disc", body)
    wheel = NewtonEulerBody(
        mass=1.0, inertia=0.5, centre=(2.0, 0.0), ports={"hub": (2.0, 0.0)}, angular_velocity=turning
    )
    made.add("wheel", wheel)
    made.join("bearing", Revolute(), "ground", "wheel.hub")
    return made


def turning(time):
    """omega = T / (I w) (1 - cos w t)."""
    return TORQUE / (INERTIA * W) * (1.0 - np.cos(W * time))


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("interface, order", [("co-simulation", 2), ("model exchange", None)])
def test_an_input_follows_its_course(interface, order):
    """Held in the middle of a step of co-simulation; followed where we integrate."""
    errors = []
    for dt in (0.02, 0.01):
        with Simulation(model(driven(interface)), dt, Penalty()) as simulation:
            run = simulation.run(0.5)
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


# --- commands ----------------------------------------------------------------------------------------------------------


def braking(time, readings, memory):
    """A torque by the speed that the program itself shows, and how often it was asked."""
    memory[0] += 1.0
    return 0.5 - 3.0 * readings["speed"]


def by_wheel(time, readings, memory):
    """A torque by the speed of a body of ours."""
    return 0.2 * readings["wheel"]


def by_wheel_or_not(time, readings, memory):
    """A torque by nothing."""
    return 0.3


def commanded(interface, function=braking, every=2, turning=0.0, **inputs):
    """The disc whose torque is decided by what it shows."""
    made = model(driven(interface, signals={}), turning)
    given = inputs or {"speed": OutputOf("disc", "omega")}
    made.apply("governor", Command(function, "mz", given, every=every, memory=(0.0,)), "disc.hub")
    return made


def ways():
    return pytest.mark.parametrize(
        ("interface", "coupling"),
        [
            ("co-simulation", Penalty()),
            ("co-simulation", Glued()),
            ("model exchange", Penalty()),
            ("model exchange", Glued()),
        ],
    )


@ways()
def test_a_command_is_held_until_it_is_decided_about_again(interface, coupling):
    """omega' = T / I with T held over two ticks: the difference equation, to rounding."""
    dt, h = 0.01, 0.02
    with Simulation(commanded(interface), dt, coupling) as simulation:
        run = simulation.run(0.4)
    shown = run.bodies["disc"].output("omega", run.state("disc")[0])
    expected, speed = [0.0], 0.0
    for _ in range(20):
        torque = 0.5 - 3.0 * speed
        expected += [speed + torque * dt / INERTIA, speed := speed + torque * h / INERTIA]
    tolerance = 1e-12 if interface == "co-simulation" else 1e-9
    assert shown == pytest.approx(np.array(expected), abs=tolerance)
    assert shown[-1] > 0.1


def test_what_a_body_of_ours_does_goes_into_an_fmu():
    """A wheel that turns evenly: the disc is driven by as much, evenly."""
    made = commanded("co-simulation", by_wheel, 1, wheel=TurningBetween("ground", "wheel.hub"), turning=1.5)
    with Simulation(made, 0.01, Glued()) as simulation:
        run = simulation.run(0.3)
    shown = run.bodies["disc"].output("omega", run.state("disc")[0])
    assert shown == pytest.approx(0.3 * run.time / INERTIA, abs=1e-9)


def test_a_command_goes_to_a_worker_and_over_a_restart_to_the_same_bits(monkeypatch, tmp_path):
    """With the disc at hand, as a black box, and gone on with from a checkpoint in the middle."""
    monkeypatch.setenv("MODULAR_ALLOW", "fmpy,test_fmi_signals")
    data = driven("co-simulation", signals={}).to_data()
    box = BlackBox(data.pop("class"), worker="plant", ports=["hub"], dimension=2, data=data)
    there = {"workers": {"plant": ["disc"], "rest": ["wheel"]}, "launcher": "here"}
    digests = []
    for coupling in (Penalty(), Glued()):
        found = []
        for body, where in ((driven("co-simulation", signals={}), {}), (box, there)):
            made = model(body)
            made.apply(
                "governor",
                Command(braking, "mz", {"speed": OutputOf("disc", "omega")}, every=3, memory=(0.0,)),
                "disc.hub",
            )
            with Simulation(made, 0.01, coupling, **where) as simulation:
                simulation.run(0.05)
                found.append(simulation.run(0.1).digest)
        assert found[0] == found[1]
        digests.append(found[0])


def test_commands_that_nothing_takes_are_refused_by_name():
    cases = [
        (
            Command(by_wheel_or_not, "omega", {}),
            "disc.hub",
            r"'omega' is not an input of its FMU \(its causality is 'output'\)",
        ),
        (Command(by_wheel_or_not, "torque", {}), "disc.hub", "has no variable 'torque'"),
        (
            Command(by_wheel_or_not, "mz", {}),
            "wheel.hub",
            "command 'governor': body 'wheel' has no input 'mz'; put it on a port of an Fmu",
        ),
        (Command(braking, ""), "disc.hub", "command 'governor': variable = ''; give the name of an input"),
        (Command(braking, "mz", {"x": 3}), "disc.hub", "input 'x' = 3; give a sensor"),
        (Command(braking, "mz", every=0), "disc.hub", "every = 0; give a number of ticks"),
        (Command(3, "mz"), "disc.hub", "function = 3; give a function"),
    ]
    for command, port, why in cases:
        made = model(driven("co-simulation", signals={}))
        with pytest.raises(ModelError, match=why):
            made.apply("governor", command, port)
            with Simulation(made, 0.01) as simulation:
                simulation.run(0.02)
    made = model(driven("co-simulation"))  # with signals={"mz": …}
    made.apply("governor", Command(braking, "mz", {"speed": OutputOf("disc", "omega")}, memory=(0.0,)), "disc.hub")
    with (
        pytest.raises(ModelError, match=r"input 'mz' is set by its course \(signals\) and by commands"),
        Simulation(made, 0.01) as simulation,
    ):
        simulation.run(0.02)


def test_an_input_is_told_by_one_alone():
    """A port, a connection, a course or commands."""
    body = Fmu(made_fmus.rigid(), ports={"hub": made_fmus.port()}, dimension=2, signals={"fx": Sine(1.0, 1.0)})
    with pytest.raises(ModelError, match=r"input 'fx' is set by port 'hub' and by its course"):
        Simulation(model(body), 0.01)
    wired = {"files": {"one": made_fmus.rigid(), "two": made_fmus.rigid()}, "connections": {"one.mz": "two.omega"}}
    names = {"position": ("one.px", "one.py"), "velocity": ("one.pvx", "one.pvy"), "force": ("one.fx", "one.fy")}
    port = made_fmus.port(**names, orientation=(), angular_velocity=(), moment=())
    body = Fmu(wired["files"], connections=wired["connections"], ports={"hub": port}, dimension=2)
    made = model(body)
    made.apply("torque", Command(by_wheel_or_not, "one.mz"), "disc.hub")
    with pytest.raises(ModelError, match=r"input 'one.mz' is set by the connection from 'two.omega' and by commands"):
        Simulation(made, 0.01).run(0.02)


def test_two_commands_do_not_tell_one_input():
    made = model(driven("co-simulation", signals={}))
    made.apply("one", Command(by_wheel_or_not, "mz", every=3), "disc.hub")
    made.apply("two", Command(by_wheel_or_not, "mz"), "disc.hub")
    with pytest.raises(ModelError, match="commands 'one' and 'two' both set the input 'mz' of 'disc'"):
        Simulation(made, 0.01).run(0.02)


# --- whole numbers and booleans ----------------------------------------------------------------------------------------


def shifting(time, readings, memory):
    """A gear, from 2 on, higher with every decision; odd ones are passed over."""
    return 2.0 + 2.0 * round(10.0 * time)


def switching(time, readings, memory):
    """On, until the disc is fast."""
    return not readings["fast"]


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("interface", ["co-simulation", "model exchange"])
def test_whole_numbers_and_booleans_are_commanded_and_shown(interface):
    """FMI 2: a gear that multiplies a torque of 1 N m, and a switch that opens once the disc is fast."""
    body = driven(interface, signals={}, outputs=["omega", "turns", "fast"], parameters={"gravity": 0.0})
    made = model(body)
    made.apply("torque", Command(by_wheel_or_not, "mz", every=1000), "disc.hub")
    made.apply("gear", Command(shifting, "gear", every=10), "disc.hub")
    made.apply("switch", Command(switching, "on", {"fast": OutputOf("disc", "fast")}), "disc.hub")
    with Simulation(made, 0.01) as simulation:
        run = simulation.run(1.0)
    speed, turns, fast = (run.bodies["disc"].output(name, run.state("disc")[0]) for name in body.outputs)
    expected = [0.0]
    for tick in range(100):
        gear, on = 2.0 + 2.0 * (tick // 10), expected[-1] <= 1.0
        expected.append(expected[-1] + 0.3 * gear * on * 0.01 / INERTIA)
    assert speed == pytest.approx(np.array(expected), abs=1e-9) and 1.0 < speed[-1] < 1.2
    assert np.array_equal(fast, speed > 1.0)
    way = np.concatenate([[0.0], np.cumsum(0.005 * (speed[1:] + speed[:-1]))])
    assert np.array_equal(turns, np.floor(way))


def half(time, readings, memory):
    """Neither a gear nor on or off."""
    return 0.5


@pytest.mark.parametrize(("variable", "wanted"), [("gear", "a whole number from"), ("on", "true or false")])
def test_what_is_no_whole_number_is_refused_where_one_is_wanted(variable, wanted):
    made = model(driven("co-simulation", signals={}))
    made.apply("half", Command(half, variable), "disc.hub")
    with (
        pytest.raises(ModelError, match=f"variable '{variable}' is of type .* and cannot be 0.5; give {wanted}"),
        Simulation(made, 0.01) as simulation,
    ):
        simulation.run(0.02)
