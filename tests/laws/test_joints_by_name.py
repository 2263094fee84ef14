"""Joints of a model answer by their names: where they begin, as whoever wrote the model counts."""

from pathlib import Path

import numpy as np
import pytest

import scenarios
from components import Cylindrical, Motor, NewtonEulerBody, Prismatic, Revolute, Rod, Stop
from coordinator import Glued, Simulation
from modular import Assembly, ModelError
from modular.assembly import Beginning
from scenarios.models import read_model, write_model
from urdf_arm import ARM

TENSOR = ((0.02, 0.001, 0.0), (0.001, 0.03, 0.002), (0.0, 0.002, 0.025))


def arm():
    """A hinge, then a slide that it carries, neither of them along an axis of the world."""
    model = Assembly(title="arm")
    ports = {"root": (0.0, 0.0, 0.0), "end": (0.4, 0.2, 0.1)}
    model.add("upper", NewtonEulerBody(mass=1.3, inertia=TENSOR, centre=(0.2, 0.1, -0.3), ports=ports))
    model.add(
        "hand", NewtonEulerBody(mass=0.7, inertia=TENSOR, centre=(0.5, 0.3, 0.2), ports={"root": (0.4, 0.2, 0.1)})
    )
    model.join("elbow", Revolute(axis=(0.3, 0.5, -0.8)), "ground", "upper.root")
    model.join("slide", Prismatic(axis=(0.6, -0.2, 0.4)), "upper.end", "hand.root")
    return model


def moved_to_where_it_ran(model, until=0.4):
    with Simulation(model, 1e-3, Glued(order=4)) as simulation:
        run = simulation.run(until)
    later = model.copy()
    for name in model.bodies:
        q, v, _ = run.state(name)
        later.begin[name] = Beginning(q[-1].copy(), v[-1].copy())
    return run, later


@pytest.mark.parametrize("swapped", [False, True])
def test_a_joint_begins_at_the_value_at_which_a_run_left_it(swapped):
    """The turn and the way of a model that begins where a run ended are those that the run tells, either way round."""
    model = arm()
    if swapped:
        for name, joint, ends in (
            ("elbow", Revolute(axis=(0.3, 0.5, -0.8)), ("upper.root", "ground")),
            ("slide", Prismatic(axis=(0.6, -0.2, 0.4)), ("hand.root", "upper.end")),
        ):
            model.cut(name)
            model.join(name, joint, *ends)
    assert model.joints["elbow"].angle == model.joints["slide"].way == 0.0
    run, later = moved_to_where_it_ran(model)
    assert abs(run.angle("elbow")[-1]) > 0.1 and abs(run.way("slide")[-1]) > 0.05
    assert later.joints["elbow"].angle == pytest.approx(run.angle("elbow")[-1], abs=1e-12)
    assert later.joints["slide"].way == pytest.approx(run.way("slide")[-1], abs=1e-12)


def test_in_the_plane_hinges_turn_about_z():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0.0, 0.0), (0.6, 0.8), mass=1.0))
    model.join("pin", Revolute(), "rod.start", "ground")
    run, later = moved_to_where_it_ran(model)
    assert abs(run.angle("pin")[-1]) > 0.3
    assert later.joints["pin"].angle == pytest.approx(run.angle("pin")[-1], abs=1e-12)


def test_names_are_a_tuple_as_before_and_lead_to_joints():
    model = arm()
    model.apply("stop", Stop(low=-0.5, high=0.75), joint="elbow")
    model.apply("motor", Motor(most=12.0), joint="elbow")
    assert model.joints == ("elbow", "slide") and list(model.joints) == ["elbow", "slide"]
    assert model.joints[0] == "elbow" and model.joints[-1:] == ("slide",) and "slide" in model.joints
    model.count("elbow", 0.25)
    elbow, slide = model.joints["elbow"], model.joints["slide"]
    assert (elbow.angle, elbow.low, elbow.high, elbow.effort) == (0.25, -0.25, 1.0, 12.0)
    assert (slide.way, slide.low, slide.high, slide.effort) == (0.0, None, None, None)
    for wrong, said in (
        (lambda: model.joints["elbo"], "there is no joint 'elbo'; did you mean 'elbow'"),
        (lambda: slide.angle, "joint 'slide' has a way, no angle; take .way"),
        (lambda: model.count("elbow", float("nan")), "joint 'elbow': counted"),
        (lambda: model.count("knee", 1.0), "there is no joint 'knee'"),
    ):
        with pytest.raises(ModelError, match=said):
            wrong()
    model.cut("slide")
    model.join("slide", Cylindrical(axis=(0.6, -0.2, 0.4)), "upper.end", "hand.root")
    with pytest.raises(ModelError, match=r"joint 'slide' \(Cylindrical\) has no single angle or way"):
        _ = model.joints["slide"].begins


@pytest.mark.campaign
@pytest.mark.parametrize("ending", ["toml", "json"])
def test_a_robot_keeps_how_its_file_counts(ending, tmp_path: Path):
    """In the model, over a run, and through our own files to the byte."""
    (tmp_path / "arm.urdf").write_text(ARM)
    found = read_model(tmp_path / "arm.urdf", values={"shoulder": 0.7, "slide": 0.1})
    model, path = found.assembly, tmp_path / f"model.{ending}"
    write_model(model, path)
    back = scenarios.load(str(path))
    write_model(back, tmp_path / f"again.{ending}")
    assert path.read_bytes() == (tmp_path / f"again.{ending}").read_bytes()
    for one in (model, back, model.copy()):
        shoulder = one.joints["shoulder"]
        assert (shoulder.angle, one.joints["slide"].way) == (0.7, 0.1)
        told = found.joints["shoulder"]
        assert (shoulder.effort, told.effort) == (30.0, 30.0)
        np.testing.assert_allclose((shoulder.low, shoulder.high), (told.low, told.high), atol=1e-15)
    with Simulation(
        read_model(tmp_path / "arm.urdf", values={"shoulder": 0.7}, stops=False).assembly, 1e-3, Glued()
    ) as sim:
        run = sim.run(0.1)
        assert sim.assembly.joints["shoulder"].over(run) == pytest.approx(0.7 + run.angle("shoulder"), abs=1e-15)


def test_a_value_in_a_file_may_be_a_sum_and_is_told_with_its_line(tmp_path: Path):
    text = (
        'gravity = [0, -9.81]\n[bodies.rod]\nkind = "Rod"\nstart = [0, 0]\nend = [0.5, 0]\nmass = 1\n'
        '[joints.pin]\nkind = "Revolute"\nbetween = ["ground", "rod.start"]\n[counted]\n{}\n'
    )
    path = tmp_path / "rod.toml"
    path.write_text(text.format('pin = "30 * deg"'))
    assert scenarios.load(str(path)).joints["pin"].angle == pytest.approx(np.pi / 6)
    path.write_text(text.format("pins = 0.1"))
    with pytest.raises(ModelError, match=r"rod\.toml:11: counted.*there is no joint 'pins'; did you mean 'pin'"):
        scenarios.load(str(path))
