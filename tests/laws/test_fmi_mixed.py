"""FMUs that are told motions along some axes and forces along others: of order two, as bodies of ours, whatever holds them."""

from functools import cache

import numpy as np
import pytest

import made_fmus
import scenarios
from components import Fixed, NewtonEulerBody, PointMassRod, Revolute
from components.fmi import Fmu
from coordinator import BlackBox, Glued, Penalty, Relaxed, Simulation
from modular import Assembly, CouplingError, ModelError
from modular.assembly import Beginning
from scenarios.fmi.writing import export_fmu

pytest.importorskip("fmpy", reason="FMPy is not installed; pip install -e '.[fmi]'")

PARAMETERS = {"px": 1.0, "arm": -0.5}


def ours():
    return NewtonEulerBody(mass=1.3, inertia=0.21, centre=(1.5, 0.0), ports={"start": (1.0, 0.0)})


def led(saves=True, **changes):
    """The same body as an FMU: its one port is told where it goes, and a moment; it shows the force, and how it turns."""
    port = made_fmus.led_port(**changes)
    energies = {"kinetic": "kinetic", "potential": "potential"}
    return Fmu(made_fmus.led(saves=saves), ports={"start": port}, dimension=2, parameters=PARAMETERS, **energies)


def on_a_rod(lower, joint):
    model = Assembly(gravity=(0.0, -9.81))
    upper = NewtonEulerBody(mass=1.0, inertia=0.1, centre=(0.5, 0.0), ports={"start": (0.0, 0.0), "end": (1.0, 0.0)})
    model.add("upper", upper)
    model.add("lower", lower)
    model.join("pivot", Revolute(), "ground", "upper.start")
    model.join("elbow", joint, "upper.end", "lower.start")
    return model


def ran(model, dt, coupling, until=0.2, **there):
    with Simulation(model, dt, coupling, **there) as simulation:
        return simulation.run(until)


def apart(run, other):
    return float(np.abs(run.position("lower.start")[-1] - other.position("lower.start")[-1]).max())


def leak(run):
    return float(np.abs(run.bodies["lower"].leaked(run.state("lower")[0])).max())


@cache
def truth(joint, until):
    """A run of order four."""
    return ran(on_a_rod(ours(), joint), 1e-3, Glued(order=4), until)


@pytest.mark.short(2, each=True)
@pytest.mark.parametrize("joint", [Revolute(), Fixed()], ids=["hinge", "weld"])
@pytest.mark.parametrize(
    ("coupling", "until"), [(Penalty(), 0.1), (Glued(), 0.1), (Relaxed(), 0.2)], ids=["penalty", "glued", "relaxed"]
)
def test_a_port_with_both_directions_is_of_order_two_as_a_body_of_ours(joint, coupling, until):
    """A weld has a moment too, so both directions carry."""
    right = truth(joint, until)
    found = [ran(on_a_rod(led(), joint), dt, coupling, until) for dt in (4e-3, 2e-3)]
    errors, leaks = [apart(run, right) for run in found], [leak(run) for run in found]
    of_ours = apart(ran(on_a_rod(ours(), joint), 2e-3, coupling, until), right)
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1) and leaks[0] / leaks[1] == pytest.approx(4.0, rel=0.2)
    assert errors[1] < 1.3 * of_ours and leaks[1] < 2e-5
    if not isinstance(coupling, Penalty):
        assert np.abs(found[1].position("upper.end") - found[1].position("lower.start")).max() < 1e-10


@pytest.mark.campaign
def test_one_that_cannot_save_its_state_moves_between_springs():
    right = truth(Revolute(), 0.2)
    errors = [apart(ran(on_a_rod(led(saves=False), Revolute()), dt, Penalty()), right) for dt in (4e-3, 2e-3)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15) and errors[1] < 5e-4


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_at_a_worker_and_from_a_memory_to_the_same_bits(monkeypatch, coupling):
    monkeypatch.setenv("MODULAR_ALLOW", "fmpy")
    data = led().to_data()
    box = BlackBox(data.pop("class"), worker="plant", ports=["start"], dimension=2, data=data)
    there = {"workers": {"plant": ["lower"], "rest": ["upper"]}, "launcher": "here"}
    whole = ran(on_a_rod(led(), Fixed()), 2e-3, coupling, 0.024)
    assert ran(on_a_rod(box, Fixed()), 2e-3, coupling, 0.024, **there).digest == whole.digest
    with (
        Simulation(on_a_rod(led(), Fixed()), 2e-3, coupling) as one,
        Simulation(on_a_rod(led(), Fixed()), 2e-3, coupling) as two,
    ):
        one.run(0.012)
        two.run(0.012)
        stacks = [simulation.system.body_home["lower"] for simulation in (one, two)]
        stacks[1].restore(stacks[0].save())
        assert np.array_equal(one.run(0.024).position("lower.start"), two.run(0.024).position("lower.start"))


@pytest.fixture(scope="module")
def middle_rod(tmp_path_factory):
    """Of a chain of three, as an FMU of ours: led at its start, with a force at its end."""
    whole, file = scenarios.load("chain", bodies=3), tmp_path_factory.mktemp("fmus") / "rod.fmu"
    alone = Assembly(gravity=whole.gravity)
    alone.add("rod1", whole.bodies["rod1"])
    export_fmu(alone, file, 1e-3, ports=["rod1.end"], moved=["rod1.start:point"], coupling=Glued())
    return whole, Fmu(file, ports={"start": "rod1.start", "end": "rod1.end"})


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_one_port_is_led_and_another_one_held(middle_rod, coupling):
    whole, rod = middle_rod
    model = Assembly(gravity=whole.gravity)
    for name, body in whole.bodies.items():
        model.add(name, rod if name == "rod1" else body)
    for name, edge in whole.joint_edges.items():
        model.join(name, edge.joint, str(edge.first), str(edge.second))
    right = ran(whole, 1e-3, Glued(order=4), 0.01)
    found, inside = ran(model, 1e-3, coupling, 0.01), ran(whole, 1e-3, coupling, 0.01)
    errors = [np.abs(run.position("rod2.end") - right.position("rod2.end")).max() for run in (found, inside)]
    assert errors[0] < 2.0 * errors[1] + 1e-6


def test_what_does_not_fit_is_refused():
    with pytest.raises(ModelError, match="give exerts=True"):
        ran(on_a_rod(led(exerts=True), Revolute()), 1e-3, Penalty())
    with pytest.raises(ModelError, match="along axis x of a port both its motion and 'mz' are inputs"):
        ran(
            on_a_rod(led(force=("mz", "fy"), moment=(), orientation=(), angular_velocity=()), Revolute()),
            1e-3,
            Penalty(),
        )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"force": ("kinetic", "fy")},
            "port 'lower.start': along x neither the motion nor the force 'kinetic' is an input",
        ),
        ({"moment": ("omega",)}, "in turns neither the motion nor the force 'omega' is an input"),
        ({"position": ("mass", "py")}, "position 'mass' is of causality parameter; give an output or an input"),
        ({"position": (1.0, "py")}, "position 1.0 stays along x, and velocity 'pvx' does not; give None for it"),
    ],
)
def test_ports_through_which_nothing_goes_in_are_refused(changes, said):
    """What is told to an output would be lost, and the body fall as if nothing held it."""
    body = Fmu(
        made_fmus.rigid(), ports={"start": made_fmus.port(**changes)}, dimension=2, parameters={"x": 1.5, "arm": -0.5}
    )
    with pytest.raises(ModelError, match=said):
        ran(on_a_rod(body, Revolute()), 1e-3, Penalty())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ports": ["start"]}, r"body 'lower': ports = .*; give it by names, as in ports="),
        ({"parameters": {"mass": "heavy"}}, "parameter mass = 'heavy'; give a value of type Float64"),
        ({"parameters": [1.0]}, "body 'lower': parameters = .*; give it by names"),
    ],
)
def test_what_is_no_data_of_an_fmu_is_refused_in_a_sentence(given, said):
    fields = {"ports": {"start": made_fmus.port()}, "parameters": {"x": 1.5, "arm": -0.5}, **given}
    with pytest.raises(ModelError, match=said) as refused:
        ran(on_a_rod(Fmu(made_fmus.rigid(), dimension=2, **fields), Revolute()), 1e-3, Penalty())
    assert "\n" not in str(refused.value)


@pytest.mark.campaign
def test_a_model_that_begins_elsewhere_than_it_is_described_is_led_from_where_it_begins(tmp_path):
    """As one whose bodies were assembled: its welds take hold of bodies as they begin."""
    whole = scenarios.load("double-pendulum")
    with Simulation(whole, 1e-3, Glued()) as simulation:
        stack = simulation.system.body_home["lower"]
        begin = Beginning(*(np.array(stack.state()[key][stack.row["lower"]]) for key in "qv"))
        inside = simulation.run(0.04)
    lower = whole.bodies["lower"]
    length = float(np.linalg.norm(np.subtract(lower.end, lower.start)))
    alone = Assembly(gravity=whole.gravity)
    alone.add("lower", PointMassRod((0.3, 0.1), (0.3 + length, 0.1), lower.masses))
    alone.begin["lower"] = begin
    export_fmu(alone, tmp_path / "led.fmu", 1e-3, moved=["lower.start"])
    model = Assembly(gravity=whole.gravity)
    model.add("upper", whole.bodies["upper"])
    model.add("lower", Fmu(tmp_path / "led.fmu", ports={"start": "lower.start"}, dimension=2))
    for name, edge in whole.joint_edges.items():
        model.join(name, edge.joint, str(edge.first), str(edge.second))
    found = ran(model, 1e-3, Glued(), 0.04)
    assert np.abs(found.position("lower.start") - inside.position("lower.start")).max() < 1e-7


@pytest.mark.parametrize("coupling", [Glued(), Relaxed()], ids=["glued", "relaxed"])
def test_one_exported_with_springs_is_not_glued_at_first_order(tmp_path, coupling):
    """Its place shows the mean of the forces at both ends, as its velocity does; between springs it is as inside."""
    whole = scenarios.load("double-pendulum")
    alone = Assembly(gravity=whole.gravity)
    alone.add("lower", whole.bodies["lower"])
    export_fmu(alone, tmp_path / "lower.fmu", 1e-3, ports=["lower.start"], coupling=Penalty())
    model = Assembly(gravity=whole.gravity)
    model.add("upper", whole.bodies["upper"])
    model.add("lower", Fmu(tmp_path / "lower.fmu", ports={"start": "lower.start"}, dimension=2))
    for name, edge in whole.joint_edges.items():
        model.join(name, edge.joint, str(edge.first), str(edge.second))
    with pytest.raises(CouplingError, match=r"body 'lower': .* moves by Newmark's scheme, .*--coupling glued"):
        ran(model, 1e-3, coupling, 0.01)
    inside = ran(whole, 1e-3, Penalty(), 0.05)
    assert (
        np.abs(ran(model, 1e-3, Penalty(), 0.05).position("lower.start") - inside.position("lower.start")).max() < 1e-12
    )
