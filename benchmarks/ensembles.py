"""Ten thousand double pendulums with masses and lengths of their own, 5 s each: an ensemble beside `mujoco.rollout`.

Both take steps as long as the places of all tips at the end let them be (an error of 1e-5 m at most, against glued joints of order
8 with steps that are shorter by far), one thread each, processor time of everything: set-up, steps, and reading the tips. Run it
with

    python benchmarks/ensembles.py [VARIANTS]
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np

import scenarios
from coordinator import Coupling, Ensemble, Formulas, Glued
from modular.errors import RunWarning

UNTIL, ALLOWED = 5.0, 1e-5  # [s], [m]
TRIED = 64  # variants by which steps are chosen
STEPS = (64, 96, 128, 192, 256, 320, 384, 448, 512, 640, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192)


def lot(count: int) -> dict[str, Any]:
    """Masses and lengths by lot."""
    draw = np.random.default_rng(3)
    upper, lower = draw.uniform(0.6, 1.0, (2, count))
    masses = draw.uniform(0.5, 2.0, (2, count))
    return {"upper": upper, "lower": lower, "elbow": masses[0], "tip": masses[1]}


def ours(of: dict[str, Any], steps: int, coupling: Coupling) -> Any:
    """Tips at the end."""
    elbow, hanging = np.c_[of["upper"], 0.0 * of["upper"]], np.c_[of["upper"], -of["lower"]]
    vary = {"upper.end": elbow, "lower.start": elbow, "lower.end": hanging}
    vary |= {"upper.masses.1": of["elbow"], "lower.masses.1": of["tip"]}
    model = scenarios.load("double-pendulum")
    found = Ensemble(model, UNTIL / steps, coupling, vary=vary, record_every=steps, keep="places").run(until=UNTIL)
    return found.position("lower.end")[:, -1]


def document(dt: float) -> str:
    """The double pendulum as MuJoCo reads it; the mass of the lower rod at the elbow belongs to the upper one there."""
    inertia = 'diaginertia="1e-9 1e-9 1e-9"'
    flags = '<flag contact="disable" constraint="disable" eulerdamp="disable"/>'
    return (
        f'<mujoco><option timestep="{dt!r}" integrator="RK4" gravity="0 0 -9.81">{flags}</option><worldbody>'
        f'<body><joint type="hinge" axis="0 -1 0"/><inertial pos="1 0 0" mass="1" {inertia}/>'
        f'<body pos="1 0 0"><joint type="hinge" axis="0 -1 0"/><inertial pos="0 0 -1" mass="1" {inertia}/></body></body>'
        "</worldbody></mujoco>"
    )


def theirs(of: dict[str, Any], steps: int) -> Any:
    """Tips at the end, by MuJoCo's RK4 in joint angles."""
    import mujoco
    from mujoco import rollout

    first = mujoco.MjModel.from_xml_string(document(UNTIL / steps))
    models = []
    for k in range(len(of["tip"])):
        model = first.__copy__()
        elbow = of["upper"][k], 0.0, 0.0
        model.body_ipos[1], model.body_mass[1], model.body_pos[2] = elbow, 0.5 + of["elbow"][k], elbow
        model.body_ipos[2], model.body_mass[2] = (0.0, 0.0, -of["lower"][k]), of["tip"][k]
        models.append(model)
    data = mujoco.MjData(first)
    mujoco.mj_resetData(first, data)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.zeros((len(models), mujoco.mj_stateSize(first, kind)))
    states, _ = rollout.rollout(models, data, start, nstep=steps)
    one, both = states[:, -1, 1], states[:, -1, 1] + states[:, -1, 2]
    x = of["upper"] * np.cos(one) + of["lower"] * np.sin(both)
    z = of["upper"] * np.sin(one) - of["lower"] * np.cos(both)
    return np.c_[x, z]


def main() -> None:
    warnings.simplefilter("ignore", RunWarning)
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    few = lot(TRIED)
    exact = ours(few, 1280, Glued(order=8))
    ways = {
        "formulas": lambda of, steps: ours(of, steps, Formulas()),
        "glued, order 6": lambda of, steps: ours(of, steps, Glued(order=6)),
        "mujoco.rollout, RK4": theirs,
    }
    everyone, found = lot(count), {}
    for name, way in ways.items():
        for steps in STEPS:
            error = float(np.abs(way(few, steps) - exact).max())
            if error <= ALLOWED:
                break
        began, wall = time.process_time(), time.perf_counter()
        way(everyone, steps)
        found[name] = time.process_time() - began
        print(
            f"{name:20s} {steps:5d} steps, error {error:.1e} m: {found[name]:7.2f} s of processor time, "
            f"{time.perf_counter() - wall:7.2f} s, {1e6 * found[name] / count:7.0f} µs a variant",
            flush=True,
        )
    best = min(value for name, value in found.items() if not name.startswith("mujoco"))
    print(f"mujoco.rollout takes {found['mujoco.rollout, RK4'] / best:.2f} times as long")


if __name__ == "__main__":
    main()
