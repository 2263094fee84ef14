"""Native FMUs whose ports are told motions: the forces of FMUs with Python in them, at order eight."""

import shutil

import numpy as np
import pytest

import scenarios
from campaign import shortened
from components import Fmu, NewtonEulerBody, Revolute, RigidBody, Rod, Spherical
from coordinator import Formulas, Glued, Simulation
from modular import Assembly, ModelError
from scenarios.fmi.native_fmu import export_native
from scenarios.fmi.writing import export_fmu
from stepped import Stepped

pytest.importorskip("fmpy", reason="FMPy is not installed; pip install -e '.[fmi]'")
pytestmark = pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="there is no C compiler")

TICK = 4e-3
INERTIA = ((0.2, 0.01, -0.02), (0.01, 0.15, 0.03), (-0.02, 0.03, 0.1))
AXIS = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])


def in_plane():
    """A rod that hangs on a plate, which is led."""
    model = Assembly(gravity=(0.3, -9.81))
    model.add("rod", Rod((0.0, 0.0), (1.0, 0.2), 1.1))
    ports = {"hole": (1.0, 0.2), "tip": (1.4, 0.7)}
    model.add("plate", RigidBody(mass=1.3, inertia=0.2, centre=(1.2, 0.1), ports=ports))
    model.join("elbow", Revolute(), "rod.end", "plate.hole")
    return model


def plate():
    """In space, by itself."""
    model = Assembly(gravity=(0.3, -0.2, -9.81))
    ports = {"hole": (1.0, 0.2, -0.1), "tip": (1.6, 0.9, -0.7)}
    model.add("plate", NewtonEulerBody(mass=0.8, inertia=INERTIA, centre=(1.2, 0.5, -0.4), ports=ports))
    return model


def in_space():
    """With a body that hangs on it."""
    model, ports = plate(), {"end": (1.0, 0.2, -0.1)}
    model.add("rod", NewtonEulerBody(mass=1.0, inertia=INERTIA, centre=(0.5, 0.1, 0.0), ports=ports))
    model.join("elbow", Spherical(), "rod.end", "plate.hole")
    return model


def motion(start, time):
    """A motion from rest, that is no polynomial: what the variables of "plate.tip" are told of it."""
    d = len(start)
    c, s = np.array([0.4, -0.3, 0.5])[:d], np.array([0.1, 0.2, -0.15])[:d]
    wave, rate, bend = 1.0 - np.cos(2.0 * time), 2.0 * np.sin(2.0 * time), 4.0 * np.cos(2.0 * time)
    way = (start + c * time**3 + s * wave, 3.0 * c * time**2 + s * rate, 6.0 * c * time + s * bend)
    turn, spin, grow = 0.5 * wave, 0.5 * rate, 0.5 * bend
    told = {}
    for what, values in zip(("position", "velocity", "acceleration"), way, strict=True):
        told |= {f"{what}.{axis}": value for axis, value in zip("xyz", values, strict=False)}
    if d == 2:
        told |= {"angle": turn, "angular_velocity": spin, "angular_acceleration": grow}
    else:
        sign = -1.0 if round(time / TICK) % 2 else 1.0  # the same turn
        quaternion = sign * np.array([np.cos(0.5 * turn), *(np.sin(0.5 * turn) * AXIS)])
        told |= {f"orientation.{axis}": value for axis, value in zip("wxyz", quaternion, strict=True)}
        for what, size in (("angular_velocity", spin), ("angular_acceleration", grow)):
            told |= {f"{what}.{axis}": value for axis, value in zip("xyz", size * AXIS, strict=True)}
    return {f"plate.tip.{name}": value for name, value in told.items()}


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("make", "version"), shortened([(in_plane, 3)], [(in_plane, 3), (in_plane, 2), (plate, 3), (in_space, 3)])
)
def test_forces_are_those_of_an_fmu_with_python_in_it_and_states_go_back(make, version, tmp_path):
    """To the rounding of both, as the joints of the other are glued at order eight; steps of one tick, and of three."""
    from fmpy.validation import validate_fmu

    watch = ["rod.end"] if "rod" in make().bodies else []  # of a plate that is led its leader tells all
    native, other = tmp_path / "native.fmu", tmp_path / "other.fmu"
    layout = export_native(make(), native, TICK, version=version, moved=["plate.tip"], watch=watch)
    assert validate_fmu(str(native)) == []
    export_fmu(make(), other, TICK, version=version, moved=["plate.tip"], watch=watch, coupling=Glued(order=8))
    names = [one.name for one in layout.scalars if one.causality == "output" and "acceleration" not in one.name]
    one, known = Stepped(str(native)), Stepped(str(other))
    axes = "xyz"[: make().dimension]
    start = one.ask(*(f"plate.tip.position.{axis}" for axis in axes))
    times, found = TICK * np.cumsum([1] * 6 + [3] * 4), []
    for k, time in enumerate(times):
        if k == 5:
            state, content = one.fmu.getFMUState(), one.written()
        for each in (one, known):
            each.tell(**motion(start, time))
            each.step(time - each.time)
        found.append(one.ask(*names))
        assert np.abs(found[-1] - known.ask(*names)).max() < 1e-11 * max(1.0, np.abs(found[-1]).max())
    one.fmu.setFMUState(state)
    fresh = Stepped(str(native), one.folder)
    fresh.read(content)
    for again in (one, fresh):
        again.time = times[4]
        for k in range(5, len(times)):
            again.tell(**motion(start, times[k]))
            again.step(times[k] - again.time)
            assert np.array_equal(again.ask(*names), found[k])


def test_glued_to_a_rod_of_ours_it_moves_as_one_mechanism(tmp_path):
    """X-T: at second order, which is that of the gluing."""
    whole, off = scenarios.load("double-pendulum"), []
    alone = Assembly(gravity=whole.gravity)
    alone.add("lower", whole.bodies["lower"])
    export_native(alone, tmp_path / "led.fmu", 2e-3, moved=["lower.start"])  # of order eight, in one tick or in two
    with Simulation(whole, 2e-3, Formulas()) as simulation:
        exact = simulation.run(0.1).position("lower.start")[-1]
    for dt in (4e-3, 2e-3):
        model = Assembly(gravity=whole.gravity)
        model.add("upper", whole.bodies["upper"])
        model.add("lower", Fmu(str(tmp_path / "led.fmu"), ports={"start": "lower.start"}, dimension=2))
        for name, edge in whole.joint_edges.items():
            model.join(name, edge.joint, str(edge.first), str(edge.second))
        with Simulation(model, dt, Glued()) as simulation:
            off.append(float(np.abs(simulation.run(0.1).position("lower.start")[-1] - exact).max()))
    assert off[1] < 1e-6 and 3.5 < off[0] / off[1] < 4.5


def test_what_cannot_be_is_refused_in_a_sentence(tmp_path):
    both = Assembly(gravity=(0.0, -9.81))
    both.add("rod", Rod((0.0, 0.0), (1.0, 0.2), 1.1))
    with pytest.raises(ModelError, match="its reaction is not unique"):
        export_native(both, tmp_path / "it.fmu", TICK, moved=["rod.start:point", "rod.end:point"])
    export_native(both, tmp_path / "it.fmu", TICK, moved=["rod.start:point"])
    for name, said in (
        ("rod.start.position.x", "told to begin where number 1 .* is 3"),
        ("rod.start.velocity.y", "number 4 .* is 3"),
    ):
        model = Assembly(gravity=(0.0, -9.81))
        model.add(
            "it", Fmu(str(tmp_path / "it.fmu"), ports={"start": "rod.start"}, dimension=2, parameters={name: 3.0})
        )
        with pytest.raises(ModelError, match=said):
            Simulation(model, TICK)
