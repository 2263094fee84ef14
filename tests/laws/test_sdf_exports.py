"""Models written as SDFormat: what is read back moves as what was written, loops and joints that follow others too."""

from pathlib import Path

import numpy as np
import pytest

import scenarios
from campaign import shortened
from components import Coupler, Friction, Planar, RigidBody, TorsionSpring
from modular import Assembly, ModelError
from round_trips import TENSOR, compare, ends, machine
from scenarios.models import export_model, read_model


@pytest.mark.parametrize(
    "name",
    shortened(["four-bar"], ["four-bar", "double-pendulum-3d", "chain", "bricard", "scissors", "spring-pendulum"]),
)
def test_a_ready_system_that_is_read_back_moves_the_same(name, tmp_path: Path):
    model = scenarios.load(name)
    model.schedule.clear()
    for force in [
        name for name, edge in model.force_edges.items() if not isinstance(edge.force, TorsionSpring | Friction)
    ]:
        model.remove(force)
    for body in model.bodies.values():
        assert body.velocity is None or not np.any(body.velocity)
    compare(model, tmp_path)


@pytest.mark.campaign
def test_every_joint_and_force_that_has_a_form_is_read_back(tmp_path: Path):
    model = machine()
    found = export_model(model, tmp_path / "machine.sdf", strict=True)
    assert not found.approximated
    back = read_model(tmp_path / "machine.sdf", strict=True).assembly
    assert np.allclose(back.gravity, model.gravity)
    assert {"hinge-spring", "slide-friction", "yaw-stop", "finger-motor", "finger-follows"} <= {
        *back.forces,
        *back.joints,
    }
    stop, motor = (back.force_edges[name].force for name in ("yaw-stop", "finger-motor"))
    assert {stop.low, stop.high} in ({-0.25, 0.5}, {-0.5, 0.25}) and motor.most == 6.0
    compare(model, tmp_path, most=1e-8)


def test_followers_have_a_form_everywhere(tmp_path: Path):
    """A tree with a joint that follows, in all formats; each says it, and moves as it."""
    model = machine()
    for name in ("a", "b", "c", "d", "f"):
        model.remove(name)
    model.gravity[:] = 0.0, 0.0, -9.81
    for suffix, word in ((".urdf", "mimic"), (".xml", "polycoef"), (".sdf", "mimic")):
        file = tmp_path / f"model{suffix}"
        assert word in export_model(model, file).text
        back = read_model(file, stops=True).assembly
        (follows,) = [edge.joint for edge in back.joint_edges.values() if isinstance(edge.joint, Coupler)]
        assert abs(follows.ratio) == pytest.approx(0.6)
        np.testing.assert_allclose(ends(back, ["e.e_p1"]), ends(model, ["e.p1"]), atol=1e-9)


def test_what_has_no_form_is_refused_by_name(tmp_path: Path):
    with pytest.raises(ModelError, match=r"joint '.*': SDFormat has hinges"):
        export_model(_table(), tmp_path / "table.sdf")
    model = machine()
    model.cut("yaw")
    with pytest.raises(ModelError, match=r"joint 'follows' \(Coupler\)"):
        export_model(model, tmp_path / "loose.sdf")


def _table() -> Assembly:
    model = Assembly()
    model.add("g", RigidBody(mass=1.0, inertia=TENSOR, centre=(0.0, 0.0, 0.1), ports={"p": (0.0, 0.0, 0.0)}))
    model.join("table", Planar(normal=(0.0, 0.0, 1.0)), "ground", "g.p")
    return model
