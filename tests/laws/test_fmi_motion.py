"""FMUs that take motion and show forces: the thesis's X-T and X-X beside T-T, held against our own bodies and closed forms."""

import shutil
import warnings
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import made_fmus
import scenarios
from campaign import shortened
from components import Fixed, NewtonEulerBody, Revolute, Spherical
from components.fmi import Fmu
from coordinator import BlackBox, Glued, Penalty, Simulation
from modular import Assembly, CouplingError, ModelError
from modular.errors import RunWarning

pytest.importorskip("fmpy", reason="FMPy is not installed; pip install -e '.[fmi]'")

ARM = -0.5
BOTH = pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])


def ran(model, dt, coupling, until=0.1, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)
        with Simulation(model, dt, coupling, **more) as simulation:
            return simulation.run(until)


def ours(mass=1.3, inertia=0.21, x=1.5, **more):
    return NewtonEulerBody(mass=mass, inertia=inertia, centre=(x, 0.0), ports={"start": (x + ARM, 0.0)}, **more)


def led(file=None, x=1.0, port=None, **parameters):
    """The same body as an FMU that is told how its port moves."""
    return Fmu(
        file or made_fmus.told(), ports={"start": port or made_fmus.told_port()}, dimension=2,
        parameters={"px": x, "arm": ARM, **parameters}, kinetic="kinetic", potential="potential",
    )  # fmt: skip


def on_a_rod(lower):
    model = Assembly(gravity=(0.0, -9.81))
    upper = NewtonEulerBody(mass=1.0, inertia=0.1, centre=(0.5, 0.0), ports={"start": (0.0, 0.0), "end": (1.0, 0.0)})
    model.add("upper", upper)
    model.add("lower", lower)
    model.join("pivot", Revolute(), "ground", "upper.start")
    model.join("elbow", Revolute(), "upper.end", "lower.start")
    return model


def apart(made, known, coupling, port="lower.start", steps=(4e-3, 2e-3), until=0.06):
    """How far two models are apart at two steps, and the last run of the first."""
    far = []
    for dt in steps:
        run = ran(made(), dt, coupling, until)
        far.append(np.abs(run.position(port) - ran(known(), dt, coupling, until).position(port)).max())
    return *far, run


@BOTH
def test_what_is_told_motions_moves_as_our_body_to_second_order(coupling):
    """X-T: the coordinator finds the motion of one at which it takes the force of the other."""
    far, near, run = apart(lambda: on_a_rod(led()), lambda: on_a_rod(ours()), coupling)
    assert near < 5e-8 and 3.5 < far / near < 4.5
    assert np.abs(run.bodies["lower"].leaked(run.state("lower")[0])).max() < 5e-6


@pytest.mark.campaign
def test_without_its_state_it_takes_one_step_along_the_predicted_motion():
    """Of second order still; what repeats steps refuses it by name."""
    blind = made_fmus.told(saves=False)
    far, near, _ = apart(lambda: on_a_rod(led(blind)), lambda: on_a_rod(ours()), Penalty())
    assert near < 2e-7 and 3.3 < far / near < 4.5
    with pytest.raises(CouplingError, match=r"drift and can be kicked.*lower cannot"):
        Simulation(on_a_rod(led(blind)), 1e-3, Glued())


@pytest.mark.campaign
def test_two_that_are_told_motions_are_glued_to_each_other():
    """X-X: the motion of a hinge at which the forces that two FMUs take are in balance; they fly, turn and fall."""

    def pair(left, right):
        model = Assembly(gravity=(0.0, -9.81))
        model.add("left", left)
        model.add("right", right)
        model.join("hinge", Revolute(), "left.start", "right.start")
        return model

    def told():
        return pair(led(x=0.0, omega=3.0, arm=0.4, mass=0.7), led(x=0.0, omega=-1.0, angle=0.6))

    def known():
        c, s = np.cos(0.6), np.sin(0.6)
        left = NewtonEulerBody(
            mass=0.7, inertia=0.21, centre=(-0.4, 0.0), ports={"start": (0.0, 0.0)}, angular_velocity=3.0,
            velocity=(0.0, -1.2),
        )  # fmt: skip
        right = NewtonEulerBody(
            mass=1.3, inertia=0.21, centre=(-ARM * c, -ARM * s), ports={"start": (0.0, 0.0)}, angular_velocity=-1.0,
            velocity=(-ARM * s, ARM * c),
        )  # fmt: skip
        return pair(left, right)

    far, near, run = apart(told, known, Glued(), "left.start")
    assert near < 2e-6 and 3.5 < far / near < 4.5
    assert np.abs(run.position("left.start") - run.position("right.start")).max() < 1e-12
    lost = sum(run.bodies[name].leaked(run.state(name)[0]) for name in ("left", "right"))
    assert np.abs(lost).max() < 1e-4


@pytest.mark.short(1, each=True)
@BOTH
def test_a_spring_of_a_stranger_moves_what_carries_it(coupling):
    """A weight on a spring of 90 N/m, x = cos(w t): the FMU has no inertia, and the mass at its port is ours."""
    port = made_fmus.told_port(mass=1.6, inertia=0.3)
    model, errors = Assembly(gravity=(0.0, 0.0)), []
    model.add("it", led(port=port, mass=0.0, inertia=0.0, stiffness=90.0, angle=0.3))
    model.add("turning", ours(x=4.0))
    model.join("held", Revolute(), "ground", "turning.start")
    for dt in (4e-3, 2e-3):
        run = ran(model, dt, coupling, 0.24)
        errors.append(np.abs(run.position("it.start")[:, 0] - np.cos(7.5 * run.time)).max())
    assert errors[1] < 2e-4 and errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    energy = run.bodies["it"].kinetic_energy(*run.state("it")[:2]) + run.bodies["it"].potential_energy(
        run.state("it")[0], np.zeros(2)
    )
    assert energy == pytest.approx(45.0, abs=5e-3)


REFUSALS = [
    (lambda: led(mass=0.0, inertia=0.0), r"do not grow with the acceleration.*mass=…, inertia=…"),
    (lambda: led(port=made_fmus.told_port(exerts=True)), r"do not grow with the acceleration.*give exerts=True"),
    (lambda: led(port=made_fmus.told_port(mass=-1.0)), r"port 'it.start': mass = -1.0; give a mass in kg"),
    (lambda: led(port=made_fmus.told_port(velocity=("fx", "fy"))), r"'fx' is not an input"),
]


@pytest.mark.parametrize("made, said", REFUSALS, ids=["inertia", "side", "mass", "outputs"])
def test_what_cannot_be_is_refused_in_a_sentence(made, said):
    with pytest.raises(ModelError, match=said):
        model = Assembly(gravity=(0.0, -9.81))
        model.add("it", made())
        Simulation(model, 1e-3)


@pytest.mark.campaign
def test_at_a_worker_it_gives_the_bits_of_one_at_hand(monkeypatch):
    monkeypatch.setenv("MODULAR_ALLOW", "fmpy")
    data = led().to_data()
    box = BlackBox(data.pop("class"), worker="plant", ports=["start"], dimension=2, data=data)
    there = {"workers": {"plant": ["lower"], "rest": ["upper"]}, "launcher": "here"}
    for coupling in (Penalty(), Glued()):
        here = ran(on_a_rod(led()), 1e-3, coupling, 0.02)
        assert ran(on_a_rod(box), 1e-3, coupling, 0.02, **there).digest == here.digest


# --- out -------------------------------------------------------------------------------------------------------------


def in_space(**more):
    """A pendulum on a ball joint, and a body that is welded or hangs on a ball below it."""
    model = Assembly(gravity=(0.3, -0.2, -9.81))
    inertia = ((0.2, 0.01, -0.02), (0.01, 0.15, 0.03), (-0.02, 0.03, 0.1))
    upper = {"start": (0.0, 0.0, 0.0), "end": (1.0, 0.2, -0.1)}
    lower = {"start": (1.0, 0.2, -0.1), "end": (1.6, 0.9, -0.7)}
    model.add("upper", NewtonEulerBody(mass=1.0, inertia=inertia, centre=(0.5, 0.1, 0.0), ports=upper))
    model.add("lower", NewtonEulerBody(mass=0.8, inertia=inertia, centre=(1.2, 0.5, -0.4), ports=lower, **more))
    model.join("pivot", Spherical(), "ground", "upper.start")
    return model


def lower_of(whole):
    alone = Assembly(gravity=whole.gravity)
    alone.add("lower", whole.bodies["lower"])
    return alone


def exported(whole, folder, version, **more):
    """The lower body of a model as an FMU that is moved at its start."""
    from scenarios.fmi.writing import export_fmu

    file = folder / f"lower{version}.fmu"
    export_fmu(lower_of(whole), file, more.pop("dt", 1e-3), version=version, moved=["lower.start"], **more)
    return file


def replaced(whole, name, file):
    """A model with a body of it as an FMU."""
    model = Assembly(gravity=whole.gravity)
    for known, body in whole.bodies.items():
        fmu = Fmu(
            str(file), ports={"start": f"{name}.start"}, dimension=whole.dimension, kinetic="energy.kinetic",
            potential="energy.potential",
        )  # fmt: skip
        model.add(known, fmu if known == name else body)
    for joint, edge in whole.joint_edges.items():
        model.join(joint, edge.joint, str(edge.first), str(edge.second))
    return model


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("version, coupling", [(3, Penalty()), (2, Glued())], ids=["3-penalty", "2-glued"])
def test_an_exported_rod_that_is_moved_goes_as_inside_to_second_order(version, coupling, tmp_path):
    from fmpy.validation import validate_fmu

    whole, errors = scenarios.load("double-pendulum"), []
    for dt in (4e-3, 2e-3):
        file = exported(whole, tmp_path, version, dt=dt)
        assert validate_fmu(str(file)) == []
        run = ran(replaced(whole, "lower", file), dt, coupling)
        errors.append(np.abs(run.position("lower.start") - ran(whole, dt, coupling).position("lower.start")).max())
        assert np.abs(run.bodies["lower"].leaked(run.state("lower")[0])).max() < dt**2
    assert errors[1] < 5e-8 and 3.5 < errors[0] / errors[1] < 4.5


@pytest.mark.campaign
@pytest.mark.parametrize("joint", shortened([Fixed()], [Fixed(), Spherical()]), ids=lambda joint: type(joint).__name__)
def test_in_space_too(joint, tmp_path):
    """Orientations as quaternions, moments about the port: welded and hanging."""
    whole, errors = in_space(), []
    whole.join("elbow", joint, "upper.end", "lower.start")
    for dt in (4e-3, 2e-3):
        run = ran(replaced(whole, "lower", exported(whole, tmp_path, 3, dt=dt)), dt, Glued(), 0.06)
        inside = ran(whole, dt, Glued(), 0.06)
        errors.append(np.abs(run.position("lower.start") - inside.position("lower.start")).max())
    assert 1e-12 < errors[1] < 1e-7 and 3.3 < errors[0] / errors[1] < 4.7


@pytest.mark.campaign
def test_what_carries_a_port_turns_as_a_body_in_space(tmp_path):
    """A plate of ours at the port of an FMU, against one that is welded there: weight, inertia, gyroscopic moments."""
    from components.fmi.stepper import fmus_and_ports

    spin = (2.0, -3.0, 4.0)
    velocity = np.cross(spin, (0.2, 0.3, -0.3))
    whole = in_space(angular_velocity=spin, velocity=velocity.tolist())
    whole.join("elbow", Spherical(), "upper.end", "lower.start")
    model = replaced(whole, "lower", exported(whole, tmp_path, 3))
    _, ports = fmus_and_ports("lower", model.bodies["lower"])
    port = replace(ports[0], mass=0.5, inertia=(0.02, 0.05, 0.04))
    known = in_space(angular_velocity=spin, velocity=velocity.tolist())
    plate = {"mass": 0.5, "inertia": ((0.02, 0, 0), (0, 0.05, 0), (0, 0, 0.04)), "centre": (1.0, 0.2, -0.1)}
    known.add("plate", NewtonEulerBody(**plate, ports={"at": (1.0, 0.2, -0.1)}, angular_velocity=spin))
    known.join("weld", Fixed(), "lower.start", "plate.at")
    known.join("elbow", Spherical(), "upper.end", "plate.at")
    carried = Assembly(gravity=whole.gravity)
    carried.add("upper", whole.bodies["upper"])
    carried.add("lower", replace(model.bodies["lower"], ports={"start": port}))
    for joint, edge in whole.joint_edges.items():
        carried.join(joint, edge.joint, str(edge.first), str(edge.second))
    run, inside = ran(carried, 1e-3, Glued(), 0.03), ran(known, 1e-3, Glued(), 0.03)
    assert run.position("lower.start") == pytest.approx(inside.position("lower.start"), abs=1e-6)
    q, v = run.state("lower")[:2]
    assert run.bodies["lower"].angular_velocity_of("start", q, v)[-1] == pytest.approx(
        known.bodies["lower"].angular_velocity_of("start", *(x[-1] for x in inside.state("lower")[:2])), abs=1e-4
    )


def test_what_is_told_to_begin_elsewhere_is_refused(tmp_path):
    file = exported(scenarios.load("double-pendulum"), tmp_path, 2)
    model = Assembly(gravity=(0.0, -9.81))
    model.add(
        "it", Fmu(str(file), ports={"start": "lower.start"}, dimension=2, parameters={"lower.start.position.x": 3.0})
    )
    with pytest.raises(ModelError, match=r"port 'lower.start' is told to begin at \[3.0, .* and the model begins at"):
        Simulation(model, 1e-3)


def test_its_state_goes_into_another_instance_to_the_same_bits(tmp_path):
    from components.fmi.moved_stepper import MovedStepper
    from components.fmi.stepper import SETTLE, fmus_and_ports

    file = exported(scenarios.load("double-pendulum"), tmp_path, 2)
    body = Fmu(str(file), ports={"start": "lower.start"}, dimension=2)
    one, other = (MovedStepper("it", body, fmus_and_ports("it", body), np.array([0.0, -9.81])) for _ in range(2))
    force = np.array([0.3, 12.0, 0.1])
    for stepper in (one, other):
        stepper.dt = 1e-3
        stepper.measure(1e-3)
    for _ in range(4):
        one.advance(force, 1e-3)
    other.fmus.take_data(one.fmus.as_data())
    for key in ("pose", "twist", "slope", "force"):
        setattr(other, key, getattr(one, key))
    for stepper in (one, other):
        for _ in range(4):
            stepper.advance(force, 1e-3)
    assert np.array_equal(one.pose, other.pose) and np.array_equal(one.slope, other.slope)
    assert one.fmus.has(SETTLE)


@pytest.mark.campaign
def test_what_is_glued_within_bears_the_springs_outside_as_a_body_of_ours(tmp_path):
    """Its place shows a force only a step later: the prediction does the same, or the margin would not be one."""
    from scenarios.fmi.writing import export_fmu

    whole, errors = scenarios.load("double-pendulum"), []
    for dt in (2e-3, 1e-3):
        export_fmu(lower_of(whole), tmp_path / "glued.fmu", dt, coupling=Glued(), ports=["lower.start"])
        with Simulation(replaced(whole, "lower", tmp_path / "glued.fmu"), dt) as simulation:
            assert simulation.margins["elbow"] == pytest.approx(1.25, rel=1e-3)
            run = simulation.run(0.2)
        errors.append(
            np.abs(run.position("lower.start") - ran(whole, dt, Penalty(), 0.2).position("lower.start")).max()
        )
    assert errors[1] < 1e-5 and errors[0] / errors[1] > 3.0


@pytest.mark.campaign
def test_a_port_that_its_own_joints_hold_in_one_direction_is_no_reversed_force(tmp_path):
    """The upper rod with its pivot inside: no force moves its end along the rod, and what turns it bends the way."""
    from scenarios.fmi.writing import export_fmu

    whole = scenarios.load("double-pendulum")
    alone = Assembly(gravity=whole.gravity)
    alone.add("upper", whole.bodies["upper"])
    alone.join("pivot", Revolute(), "ground", "upper.start")
    export_fmu(alone, tmp_path / "upper.fmu", 2e-3, coupling=Glued(), ports=["upper.end"])
    export_fmu(lower_of(whole), tmp_path / "led.fmu", 2e-3, moved=["lower.start:point"])
    model = Assembly(gravity=whole.gravity)
    model.add("upper", Fmu(str(tmp_path / "upper.fmu"), ports={"end": "upper.end"}, dimension=2))
    model.add("lower", Fmu(str(tmp_path / "led.fmu"), ports={"start": "lower.start"}, dimension=2))
    model.join("elbow", Revolute(), "upper.end", "lower.start")
    run, inside = ran(model, 2e-3, Glued(), 0.04), ran(whole, 2e-3, Glued(), 0.04)
    assert run.position("upper.end") == pytest.approx(inside.position("upper.end"), abs=2e-7)


TERMINAL = """<fmiTerminalsAndIcons fmiVersion="3.0"><Terminals><Terminal name="hub" matchingRule="bus" terminalKind="of.ours">{}
</Terminal></Terminals></fmiTerminalsAndIcons>"""


def test_a_terminal_tells_which_variables_a_port_is_made_of(tmp_path):
    """The names of a stranger's variables are in its file, and nobody has to write them down."""
    port = made_fmus.told_port()
    members = {f"{kind}.{axis}": name for kind in ("position", "velocity", "acceleration", "force")
               for axis, name in zip("xy", getattr(port, kind), strict=True)}  # fmt: skip
    members |= {"angle": "angle", "angular_velocity": "omega", "angular_acceleration": "alpha", "moment": "mz"}
    told = [f'<TerminalMemberVariable variableName="{name}" memberName="{member}" variableKind="signal"/>'
            for member, name in members.items()]  # fmt: skip
    file = shutil.copy(made_fmus.told(), tmp_path / "told.fmu")
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("terminalsAndIcons/terminalsAndIcons.xml", TERMINAL.format("".join(told)))
    by_name, by_hand = (ran(on_a_rod(led(file, port=given)), 1e-3, Glued(), 0.02) for given in ("hub", port))
    for key in (0, 1):
        assert np.array_equal(by_name.state("lower")[key], by_hand.state("lower")[key])
    with pytest.raises(ModelError, match=r"no variables 'hook.position.x', … and no such terminal"):
        Simulation(on_a_rod(led(file, port="hook")), 1e-3)
