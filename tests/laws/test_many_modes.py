"""The slowest modes of large models, and linear equations over a setting from few of its values: as right as those of all."""

import numpy as np
import pytest
from scipy.special import jn_zeros

import scenarios
from components import Fixed, Load, Revolute, Rod, SpringDamper, TorsionSpring
from coordinator.analysis import modes, root_locus
from modular import Assembly, ModelError

G = 9.81


def hanging(count, *, stiffness=0.0, damping=0.0, loop=False):
    """Rods on hinges, one below the other, in 10 m; `loop`: beside them as many, held to each other at their ends."""
    length, model = 10.0 / count, Assembly(gravity=(0.0, -G))
    for side in ("a", "b")[: 1 + loop]:
        x = 0.0 if side == "a" else 0.3
        for k in range(count):
            name, before = f"{side}{k}", "ground" if k == 0 else f"{side}{k - 1}.end"
            model.add(name, Rod((x, -k * length), (x, -(k + 1) * length), 1.0 + 0.1 * (side == "b")))
            model.join(f"{name}-pin", Revolute(), before, f"{name}.start")
            if stiffness:
                model.apply(f"{name}-spring", TorsionSpring(stiffness, damping), before, f"{name}.start")
    if loop:
        for k in range(0, count, 3):
            model.add(f"rung{k}", Rod((0.0, -(k + 1) * length), (0.3, -(k + 1) * length), 0.2))
            model.join(f"rung{k}-a", Revolute(), f"a{k}.end", f"rung{k}.start")
            model.join(f"rung{k}-b", Revolute(), f"b{k}.end", f"rung{k}.end")
    return model


@pytest.mark.short(1)
@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"stiffness": 40.0},
        {"loop": True},
        {"stiffness": 40.0, "damping": 0.8, "loop": True},
        {"stiffness": 40.0, "damping": 400.0},  # all of them creep
    ],
)
def test_the_slowest_are_those_of_all(kind):
    model = hanging(55 if kind.get("loop") is None else 40, **kind)
    some, whole = modes(model, count=7), modes(model)
    assert (
        len(some.eigenvalues) == 7 and len(whole.eigenvalues) > 30 and (some.complete, whole.complete) == (False, True)
    )
    assert "7 slowest modes" in some.summary()[0] and "none of which grows" in some.summary()[0]
    nearest = np.argsort(np.abs(whole.eigenvalues), kind="stable")[:7]
    np.testing.assert_allclose(some.eigenvalues, whole.eigenvalues[nearest], rtol=1e-8, atol=1e-9)
    for k, m in enumerate(nearest):
        turn = np.vdot(some.shapes["a20.end"][k], whole.shapes["a20.end"][m])
        for port in ("a3.end", "a30.end"):
            one, other = some.shapes[port][k] * turn / abs(turn), whole.shapes[port][m]
            np.testing.assert_allclose(one, other, atol=2e-5)


def test_a_long_chain_swings_as_a_string_that_hangs_by_itself():
    """omega = 1/2 j_0k sqrt(g / L), of second order in its rods (D. Bernoulli, L. Euler)."""
    right = 0.5 * jn_zeros(0, 4) * np.sqrt(G / 10.0)
    off = [np.abs(modes(hanging(n), count=4).eigenvalues.imag / right - 1.0).max() for n in (100, 200)]
    assert off[1] < 4e-4 and off[0] / off[1] == pytest.approx(4.0, rel=0.05)


def test_what_cannot_be_asked_so_is_refused():
    with pytest.raises(ModelError, match="give how many are sought, from 1 on"):
        modes(hanging(3), count=0)
    with pytest.raises(ModelError, match="about a motion that goes on leave it out"):
        modes(hanging(3), count=2, steady=True)
    assert len(modes(hanging(3), count=20).eigenvalues) == 3


def bicycle(speed):
    return scenarios.load("bicycle", speed=speed)


@pytest.mark.campaign
def test_campbells_lines_from_few_speeds_are_those_of_each_speed():
    """Weave and capsize speeds of the benchmark (Meijaard et al. 2007), and all eigenvalues."""
    found = root_locus(bicycle, "speed", np.linspace(0.5, 10.0, 200), steady=True, smooth=True)
    assert [change.stable for change in found.changes] == [True, False]
    weave, capsize = (change.value for change in found.changes)
    assert weave == pytest.approx(4.29238253634111, abs=1e-9) and capsize == pytest.approx(6.02426201538837, abs=1e-9)
    for k in (0, 71, 140):
        right = modes(bicycle(found.values[k]), steady=True).eigenvalues
        right, row = right[np.abs(right) > 0.0], found.eigenvalues[k]
        row = row[np.isfinite(row)]
        assert len(row) == len(right) and max(np.abs(right - one).min() for one in row) < 1e-9


def mast(load):
    """A clamped rod on a stiff hinge, pressed along its axis: it buckles where the load times its length is its stiffness."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add("foot", Rod((0.0, -1.0), (0.0, 0.0), 5.0))
    model.join("clamp", Fixed(), "ground", "foot.start")
    model.add("mast", Rod((0.0, 0.0), (0.0, 1.5), 2.0))
    model.join("hinge", Revolute(), "foot.end", "mast.start")
    model.apply("spring", TorsionSpring(30.0, 0.0), "foot.end", "mast.start")
    model.apply("load", Load(force=(0.0, -load)), "mast.end")
    return model


def test_a_load_at_which_something_buckles_is_found_from_few():
    found = root_locus(mast, "load", np.linspace(5.0, 40.0, 60), smooth=True)
    assert [change.value for change in found.changes] == pytest.approx([20.0], rel=1e-8)
    inertia = 2.0 * 1.5**2 / 3.0
    stable = found.values < 20.0
    squares = (found.eigenvalues[stable, 0].imag) ** 2
    np.testing.assert_allclose(squares, (30.0 - 1.5 * found.values[stable]) / inertia, rtol=1e-8)


def jumps(setting):
    model = mast(5.0)
    if setting > 0.4321:
        model.apply("guy", SpringDamper(20.0, 0.0, 1.0), "ground", "mast.end", at=(0.0, 3.0))
    return model


@pytest.mark.campaign
def test_what_is_no_smooth_function_of_a_setting_is_refused():
    with pytest.raises(ModelError, match=r"between setting = .* not a smooth function of it.* leave smooth out"):
        root_locus(jumps, "setting", np.linspace(0.0, 1.0, 30), smooth=True)
    assert root_locus(jumps, "setting", np.linspace(0.0, 1.0, 5)).eigenvalues.shape[0] == 5
