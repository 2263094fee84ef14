"""Rotors that joints carry, and wheels between joints that follow each other: against closed forms and MuJoCo."""

from math import cos, sin
from pathlib import Path

import numpy as np
import pytest

from components import Motor
from coordinator import Glued, Simulation
from modular import ModelError
from scenarios.models import export_model, read_model
from scenarios.models.following import IDLE
from scenarios.models.import_report import APPROXIMATED, DROPPED

ARMATURES = """<mujoco><option gravity="1 0.5 -9.81"/><worldbody>
 <body name="a" pos="0 0 1"><joint name="turn" axis="0.2 1 0.1" armature="0.05"/>
  <inertial pos="0.2 0.03 0.05" mass="3" diaginertia="0.05 0.06 0.04" quat="1 0.2 0.3 0"/>
  <body name="b" pos="0.4 0.1 0"><joint name="carried" axis="0.7 -0.3 1" armature="0.03"/>
   <inertial pos="0.1 0.2 -0.1" mass="1.5" diaginertia="0.01 0.02 0.015" quat="1 0 0.3 0.5"/>
   <body name="c" pos="0.2 0.1 0.3"><joint name="slide" type="slide" axis="0.3 0.5 1" armature="0.8"/>
    <inertial pos="0 0.1 0.1" mass="0.7" diaginertia="0.01 0.012 0.009"/></body></body></body>
</worldbody></mujoco>"""


def test_what_carries_rotors_moves_as_in_mujoco(tmp_path: Path):
    """Joint by joint, on the ground, on what moves, and on a slide: the inertia of a rotor is exact however its carrier moves."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed; pip install -e '.[peers]'")
    path = tmp_path / "arm.xml"
    path.write_text(ARMATURES)
    values = {"turn": 0.3, "carried": -0.4, "slide": 0.05}
    there = mujoco.MjModel.from_xml_path(str(path))
    there.opt.timestep, there.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(there)
    data.qpos[:] = list(values.values())
    mujoco.mj_step(there, data, 3000)
    found = read_model(path, values=values)
    assert found.report.lines() == [] and len(found.assembly.bodies) == 9
    assert found.assembly.suggested == {"coupling": "glued"}
    without = read_model(path, rotors=False)
    assert len(without.report.of(DROPPED)) == len(without.assembly.bodies) == 3 and not without.assembly.suggested
    assert sum(body.total_mass for name, body in found.assembly.bodies.items() if "turn-" not in name) == pytest.approx(
        5.2
    )
    with Simulation(found.assembly, 5e-4, Glued(order=4)) as simulation:
        run = simulation.run(0.3)
    ours = [found.joints[name].over(run)[-1] for name in values]
    assert np.abs(np.array(ours) - list(values.values())).min() > 0.05
    np.testing.assert_allclose(ours, data.qpos, atol=1e-8)


def test_what_is_too_slender_for_a_rotor_is_told(tmp_path: Path):
    path = tmp_path / "arm.xml"
    path.write_text(ARMATURES.replace('armature="0.03"', 'armature="3e4"'))
    (told,) = read_model(path).report.of(DROPPED)
    assert "carried" in told.element and "too slender" in told.what
    path.write_text(ARMATURES.replace('armature="0.03"', 'armature="-1"'))
    with pytest.raises(ModelError, match=r"arm\.xml:4: .*armature = -1; give a number from 0 on"):
        read_model(path)


def link(name: str, mass: float, inertia: float = 0.01, centre: str = "0 0 0") -> str:
    return (
        f'<link name="{name}"><inertial><origin xyz="{centre}"/><mass value="{mass}"/>'
        f'<inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def joint(name: str, kind: str, parent: str, child: str, axis: str, at: str = "0 0 0", more: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><axis xyz="{axis}"/>'
        f'<origin xyz="{at}"/><limit lower="-9" upper="9" effort="0" velocity="1"/>{more}</joint>'
    )


def follows(leader: str, ratio: float, offset: float = 0.0) -> str:
    return f'<mimic joint="{leader}" multiplier="{ratio}" offset="{offset}"/>'


def read(tmp_path: Path, *parts: str, **options):
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r">{"".join(parts)}</robot>')
    return read_model(path, stops=False, **options)


@pytest.mark.parametrize("ratio", [1.0, -0.7, 2.5])
def test_slides_that_follow_slides_fall_together(ratio, tmp_path: Path):
    """One goes r times as far as the other: (m + r^2 n)(1 + share of the wheel) q'' = (m a + r n b) g."""
    m, n, a, b = 1.3, 0.6, np.array([0.0, 0.6, -0.8]), np.array([0.0, 0.8, 0.6])
    found = read(
        tmp_path, '<link name="base"/>', link("one", m), link("two", n),
        joint("p", "prismatic", "base", "one", "0 0.6 -0.8", "0.1 0 0"),
        joint("q", "prismatic", "base", "two", "0 0.8 0.6", "-0.2 0.1 0", follows("p", ratio, 0.05)),
    )  # fmt: skip
    (told,) = [entry for entry in found.report.of(APPROXIMATED) if "wheel" in entry.what]
    assert f"joint 'q' goes {ratio:g} times as far as 'p', by a wheel between" in told.what
    with Simulation(found.assembly, 1e-3, Glued()) as simulation:
        run = simulation.run(0.5)
    pull = -9.81 * (m * a[2] + ratio * n * b[2]) / ((m + ratio**2 * n) * (1.0 + IDLE))
    p, q = (found.joints[name].over(run) for name in "pq")
    np.testing.assert_allclose(p, 0.5 * pull * run.time**2, atol=5e-7)
    np.testing.assert_allclose(q, ratio * p + 0.05, atol=1e-12)


def test_fingers_of_a_hand_that_swings_follow_each_other(tmp_path: Path):
    """One force opens both, about a hinge that turns: what they do to each other does not show in how the hand swings."""
    found = read(
        tmp_path, '<link name="base"/>', link("hand", 2.0, 0.02, "0 0 -0.3"), link("left", 0.4), link("right", 0.4),
        joint("wrist", "continuous", "base", "hand", "1 0 0"),
        joint("l", "prismatic", "hand", "left", "0 1 0", "0 0 -0.5"),
        joint("r", "prismatic", "hand", "right", "0 -1 0", "0 0 -0.5", follows("l", 1.0)),
        values={"wrist": 0.8, "l": 0.02},
    )  # fmt: skip
    found.assembly.apply("open", Motor(1.5), joint="l")
    with Simulation(found.assembly, 5e-4, Glued(order=4)) as simulation:
        run = simulation.run(0.6)
    left, right = (found.joints[name].over(run) for name in "lr")
    np.testing.assert_allclose(left, right, atol=1e-12)
    # Lagrange: (I + 2 m (h^2 + x^2)) w' + 4 m x x' w = -(M c + 2 m h) g sin;  2 m (1 + share) (x'' - ...) = F + 2 m x w^2
    m, h, whole, weight = 0.4, 0.5, 0.02 + 2.0 * 0.09 + 0.02, (2.0 * 0.3 + 0.8 * 0.5) * 9.81
    state = np.array([0.8, 0.02, 0.0, 0.0])

    def rate(y):
        angle, x, w, v = y
        turning = (-weight * sin(angle) - 4.0 * m * x * v * w) / (whole + 2.0 * m * (h * h + x * x))
        return np.array([w, v, turning, (1.5 + 2.0 * m * x * w * w) / (2.0 * m * (1.0 + IDLE))])

    for _ in range(6000):
        k1 = rate(state)
        k2 = rate(state + 0.5e-4 * k1)
        k3 = rate(state + 0.5e-4 * k2)
        state = state + 1e-4 / 6.0 * (k1 + 2 * k2 + 2 * k3 + rate(state + 1e-4 * k3))
    assert abs(left[-1] - state[1]) < 2e-5 and abs(found.joints["wrist"].over(run)[-1] - state[0]) < 2e-4


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_a_slide_follows_the_hinge_of_its_own_carrier(base, tmp_path: Path):
    """What is outside of the hinge is what holds the carrier: the ground, or a body."""
    found = read(
        tmp_path, link("base", 5.0, 0.3), link("arm", 1.2, 0.02, "0 0.3 0"), link("bar", 0.8),
        joint("hinge", "continuous", "base", "arm", "1 0 0"),
        joint("slide", "prismatic", "arm", "bar", "0 0.6 0.8", "0 0.2 0", follows("hinge", 0.05)),
        base=base, values={"hinge": 0.4},
    )  # fmt: skip
    found.assembly.apply("motor", Motor(3.0), joint="hinge")
    with Simulation(found.assembly, 1e-3, Glued()) as simulation:
        run = simulation.run(0.3)
    hinge, slide = (found.joints[name].over(run) for name in ("hinge", "slide"))
    assert np.ptp(hinge) > 0.3
    np.testing.assert_allclose(slide, 0.05 * hinge, atol=1e-11)


def test_hinges_on_one_line_and_a_slide_follow_a_hinge(tmp_path: Path):
    """Geared on one axis, and a rack: closed forms of their common coordinate, over a small swing of energy."""
    found = read(
        tmp_path, '<link name="base"/>', link("rotor", 0.5, 0.004), link("arm", 1.2, 0.02, "0 0.3 0"), link("bar", 0.8),
        joint("fast", "continuous", "base", "rotor", "1 0 0"),
        joint("slow", "continuous", "base", "arm", "1 0 0", "0.2 0 0", follows("fast", -0.04)),
        joint("rack", "prismatic", "base", "bar", "0 0 1", "0.5 0 0", follows("fast", 0.01)),
    )  # fmt: skip
    with Simulation(found.assembly, 2e-4, Glued()) as simulation:
        run = simulation.run(0.4)
    fast, slow, rack = (found.joints[name].over(run) for name in ("fast", "slow", "rack"))
    assert abs(fast[-1]) > 0.5
    np.testing.assert_allclose(slow, -0.04 * fast, atol=1e-11)
    np.testing.assert_allclose(rack, 0.01 * fast, atol=1e-11)
    arm = 0.02 + 1.2 * 0.09
    whole = 0.004 + 0.04**2 * arm + IDLE * (0.004 + 0.04**2 * arm) + 0.01**2 * 0.8 + IDLE * (0.004 + 0.01**2 * 0.8)
    speed = np.gradient(fast, run.time, edge_order=2)
    energy = 0.5 * whole * speed**2 + 9.81 * (1.2 * 0.3 * np.array([sin(s) for s in slow]) + 0.8 * rack)
    assert np.ptp(energy[5:-5]) < 2e-3 * 0.5 * whole * speed[-1] ** 2
    assert cos(slow[-1]) > 0.9


@pytest.mark.parametrize("ending", ["xml", "sdf", "urdf"])
def test_what_follows_by_a_wheel_is_written_for_other_programs(ending, tmp_path: Path):
    """As joints that follow the wheel, either way round; what is read back begins and goes together as before."""
    found = read(
        tmp_path, '<link name="base"/>', link("hand", 2.0, 0.02, "0 0 -0.3"), link("left", 0.4), link("right", 0.5),
        joint("wrist", "continuous", "base", "hand", "1 0 0"),
        joint("l", "prismatic", "hand", "left", "0 1 0", "0 0 -0.5"),
        joint("r", "prismatic", "hand", "right", "0 -1 0", "0.1 0 -0.5", follows("l", 0.6, 0.02)),
        values={"wrist": 0.8, "l": 0.02},
    )  # fmt: skip
    path = tmp_path / f"hand.{ending}"
    export_model(found.assembly, path)
    back = read_model(path, stops=False)
    runs = []
    for one in (found, back):
        with Simulation(one.assembly, 1e-3, Glued()) as simulation:
            runs.append(simulation.run(0.3))
    ways = [run.way(name) for run in runs for name in ("l", "r")]
    assert np.ptp(ways[0]) > 0.01
    np.testing.assert_allclose(ways[1], 0.6 * ways[0], atol=1e-12)
    np.testing.assert_allclose(ways[3], 0.6 * ways[2], atol=1e-12)
    np.testing.assert_allclose(ways[2], ways[0], atol=5e-3 * np.ptp(ways[0]))  # by wheels between wheels and slides
