"""Modes that are followed over a setting: where stability changes, lines that cross, and settings that are none."""

from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import scenarios
from components import Revolute, RigidBody, Spherical, SpringDamper, TorsionSpring
from coordinator.analysis import linearise, locus, modes, root_locus
from modular import Assembly
from modular.errors import ModelError
from scenarios.cli import app


def bicycle(speed):
    return scenarios.load("bicycle", speed=speed)


@pytest.mark.campaign
def test_the_speeds_between_which_a_bicycle_stays_up():
    """Weave and capsize speed of the benchmark (Meijaard et al. 2007)."""
    found = root_locus(bicycle, "speed", [3.0, 5.0, 8.0], steady=True)
    weave, capsize = found.changes
    assert weave.value == pytest.approx(4.29238253634111, abs=1e-9) and weave.stable
    assert capsize.value == pytest.approx(6.02426201538837, abs=1e-8) and not capsize.stable
    assert abs(weave.eigenvalue.imag - 3.43503385) < 1e-6 and abs(capsize.eigenvalue) < 1e-9
    assert found.stable.tolist() == [False, True, False]


@pytest.mark.campaign
def test_the_spin_from_which_a_top_sleeps():
    """C^2 w^2 = 4 A m g l, where two swings meet (E. J. Routh): real parts alone tell it to 6e-6."""

    def top(spin):
        model = Assembly(gravity=(0.0, 0.0, -9.81))
        top = RigidBody(
            mass=2.0, centre=(0.0, 0.0, 0.3), inertia=(0.05, 0.05, 0.02), ports={"tip": (0.0, 0.0, 0.0)},
            angular_velocity=(0.0, 0.0, spin),
        )  # fmt: skip
        model.add("top", top)
        model.join("tip", Spherical(), "ground", "top.tip")
        return model

    across = 0.05 + 2.0 * 0.3**2
    right = np.sqrt(4.0 * across * 2.0 * 9.81 * 0.3) / 0.02
    for values in ([90.0, 140.0], [90.0, right, 140.0]):
        (found,) = root_locus(top, "spin", values, steady=True).changes
        assert found.value == pytest.approx(right, rel=1e-9) and found.stable
        assert found.eigenvalue == pytest.approx(0.02j * right / (2.0 * across), rel=1e-6)


def upright(stiffness):
    """A pole of 2 kg on its end, held by a spring: it stands from m g l / 2 on."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("pole", RigidBody(mass=2.0, inertia=0.2, centre=(0.0, 0.5), ports={"foot": (0.0, 0.0)}))
    model.join("pin", Revolute(), "ground", "pole.foot")
    model.apply("spring", TorsionSpring(stiffness, 0.4), "ground", "pole.foot")
    return model


def test_the_spring_from_which_a_pole_stands():
    (change,) = root_locus(upright, "stiffness", [6.0, 8.0, 12.0]).changes
    assert change.value == pytest.approx(9.81, abs=1e-9) and change.stable and abs(change.eigenvalue) < 1e-6


@pytest.mark.campaign
def test_lines_are_those_of_the_modes_at_each_value():
    values = np.array([4.4, 5.0, 5.9])  # between them nothing changes that would be looked for
    found = root_locus(bicycle, "speed", values, steady=True)
    for value, row in zip(values, found.eigenvalues, strict=True):
        right = modes(bicycle(value), steady=True).eigenvalues
        right = right[np.abs(right) > 0.0]
        row = row[np.isfinite(row)]
        assert len(row) == len(right)
        assert max(np.abs(right - one).min() for one in row) < 1e-9
    assert np.abs(np.diff(found.eigenvalues, axis=0)).max() < 9.0  # nobody jumps to another line


def heavier(speed):
    """A bicycle of which another number follows the speed as well."""
    model = bicycle(speed)
    model.bodies["fork"] = replace(model.bodies["fork"], mass=4.0 + 0.01 * speed)
    return model


def damped(speed):
    """One with a force that reads velocities."""
    model = bicycle(speed)
    model.apply("stabiliser", SpringDamper(0.0, 1e-3), "frame.saddle", "fork.axle")
    return model


@pytest.mark.short(1)
@pytest.mark.parametrize(("build", "written"), [(bicycle, 5), (heavier, 12), (damped, 12)])
def test_models_that_differ_by_velocities_alone_are_told_by_five_of_them(build, written, monkeypatch):
    """Inertia and rolling bring velocities in to second degree: the lines are those of models that are written one by one."""
    looked = []
    monkeypatch.setattr(locus, "linearise", lambda model, **how: looked.append(model) or linearise(model, **how))
    values = np.linspace(1.0, 4.0, 12)
    found = root_locus(build, "speed", values, steady=True)
    assert len(looked) == written
    for k in (2, 7, 10) if written == 5 else ():
        right = modes(build(values[k]), steady=True).eigenvalues
        right = right[np.abs(right) > 0.0]
        row = found.eigenvalues[k][np.isfinite(found.eigenvalues[k])]
        assert len(row) == len(right)
        assert max(np.abs(right - one).min() for one in row) < 1e-10


def crossing(stiffness):
    """Two masses on springs that know nothing of each other: one stiffens past the other."""
    model = Assembly(gravity=(0.0, 0.0))
    for k, (name, size) in enumerate((("still", 100.0), ("stiffer", stiffness))):
        at = (1.0, float(k))
        model.add(name, RigidBody(mass=1.0, inertia=0.0, centre=at, ports={"P": at}))
        for side, way in enumerate(((-1.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.0, -1.0))):
            foot = (at[0] + way[0], at[1] + way[1])
            strength = size if way[1] == 0.0 else 7.0
            model.apply(f"{name}{side}", SpringDamper(0.5 * strength, 0.0, 1.0), "ground", f"{name}.P", at=foot)
    return model


def test_lines_cross_and_do_not_turn_from_each_other():
    """Between two values the mass that stiffens overtakes the other: each keeps its own line."""
    found = root_locus(crossing, "stiffness", [40.0, 90.0, 150.0, 220.0])
    swings = np.sort(np.nanmax(found.eigenvalues.imag, axis=0))[-2:]
    np.testing.assert_allclose(swings, [10.0, np.sqrt(220.0)], rtol=1e-6)
    lines = {round(float(line.imag[0]), 6): line.imag for line in found.eigenvalues.T}
    np.testing.assert_allclose(lines[10.0], 10.0, rtol=1e-6)
    np.testing.assert_allclose(lines[round(40.0**0.5, 6)], np.sqrt([40.0, 90.0, 150.0, 220.0]), rtol=1e-6)
    assert not found.changes and found.stable.all()


def test_settings_that_are_none_are_refused():
    for values in ([1.0], [2.0, 1.0], [0.0, np.nan]):
        with pytest.raises(ModelError, match=r"root_locus: speed = .* give two numbers or more, each larger"):
            root_locus(bicycle, "speed", values, steady=True)


def test_the_command_tells_and_draws_them(tmp_path):
    file = tmp_path / "lines.png"
    told = CliRunner().invoke(
        app, ["modes", "bicycle", "--steady", "--over", "speed=4.5:5:2", "--picture", str(file)]
    )  # fmt: skip
    assert told.exit_code == 0, told.output
    assert "All along it is stable" in told.output and file.read_bytes()[:4] == b"\x89PNG"
    wrong = CliRunner().invoke(app, ["modes", "bicycle", "--over", "speed=7:4"])
    assert wrong.exit_code != 0 and "write NAME=FROM:TO:COUNT" in wrong.output
    nowhere = CliRunner().invoke(
        app, ["modes", "bicycle", "--over", "speed=4:5:2", "--picture", str(tmp_path / "no" / "x.png")]
    )
    assert nowhere.exit_code != 0 and "there is no folder" in " ".join(nowhere.output.split())
    alone = CliRunner().invoke(app, ["modes", "bicycle", "--swing", "1"])
    assert alone.exit_code != 0 and "give a folder for it with --out" in " ".join(alone.output.split())
