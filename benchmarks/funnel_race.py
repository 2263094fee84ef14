"""A thousand balls in a funnel, against MuJoCo and PyBullet: processor time per ball and step, and how deep balls sink in.

    python benchmarks/funnel_race.py
    python benchmarks/funnel_race.py --count 250 --until 0.5
    python benchmarks/funnel_race.py --only ours pybullet

The same scene (`modular run funnel`), the same step, one thread each; all take turns, a stretch of time each. Depths are worked out
of the places of balls, by one function for all. MuJoCo's contacts are springs: once as they come, and once as stiff as its step
allows, for depths that can be compared; `mujoco-pgs-2` and `-4` take two and four steps for one of ours, with contacts as stiff as
these allow. Needs pip install mujoco pybullet.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from components import Box, RigidBody, Surface
from coordinator import Glued, Simulation
from scenarios.systems.funnel import build

RADIUS, MASS, FRICTION, RESTITUTION = 0.02, 0.03, 0.3, 0.3
DT = 1e-3
SHORTEST = 2.0  # steps: the shortest time constant of contacts that MuJoCo takes


def scene(count: int) -> tuple[Any, np.ndarray, list[Box]]:
    """Our model, where balls begin, and the boards."""
    model = build(count, RADIUS, MASS, friction=FRICTION, restitution=RESTITUTION)
    places = [body.centre for body in model.bodies.values() if isinstance(body, RigidBody)]
    shapes = [edge.force.shape for edge in model.force_edges.values() if isinstance(edge.force, Surface)]
    boards = [shape for shape in shapes if isinstance(shape, Box)]
    return model, np.array(places), boards


class Ours:
    """`Glued()`."""

    name = "modular, Glued()"

    def __init__(self, count: int) -> None:
        model, self.places, _ = scene(count)
        self.simulation = Simulation(model, DT, Glued(), record_every=100, threads=1)
        self.ports = [f"ball{k + 1}.centre" for k in range(count)]
        self.until = 0.0

    def go(self, ticks: int) -> None:
        """So many steps."""
        self.until += ticks * DT
        self.run = self.simulation.run(self.until)

    def now(self) -> np.ndarray:
        """Where balls are."""
        return np.array([self.run.position(port)[-1] for port in self.ports])


class MuJoCo:
    """Its Newton solver, or projected Gauss-Seidel."""

    def __init__(self, count: int, solver: str, stiff: bool, parts: int = 1) -> None:
        self.mujoco, self.parts = import_module("mujoco"), parts
        self.name = f"MuJoCo, {solver}{', stiff' if stiff else ''}{f', {parts} steps' if parts > 1 else ''}"
        hard = f'solref="{SHORTEST * DT / parts:g} 1" solimp="0.99 0.999 0.0001"'
        _, places, boards = scene(count)
        text = [
            f'<mujoco><option timestep="{DT / parts:g}" gravity="0 0 -9.81" solver="{solver}"/><size memory="2G"/>',
            f'<default><geom friction="{FRICTION}" condim="3" {hard if stiff else ""}/></default><worldbody>',
            '<geom type="plane" size="10 10 0.1"/>',
        ]
        for board in boards:
            half, at = 0.5 * np.array(board.size), np.array(board.centre)
            axes = np.array(board.turned)[:2].ravel()
            text.append(f'<geom type="box" size="{_row(half)}" pos="{_row(at)}" xyaxes="{_row(axes)}"/>')
        for place in places:
            ball = f'<geom type="sphere" size="{RADIUS}" mass="{MASS}"/>'
            text.append(f'<body pos="{_row(place)}"><freejoint/>{ball}</body>')
        text.append("</worldbody></mujoco>")
        self.model = self.mujoco.MjModel.from_xml_string("".join(text))
        self.data = self.mujoco.MjData(self.model)

    def go(self, ticks: int) -> None:
        """So many steps."""
        self.mujoco.mj_step(self.model, self.data, ticks * self.parts)

    def now(self) -> np.ndarray:
        """Where balls are."""
        return np.array(self.data.qpos).reshape(-1, 7)[:, :3]


class PyBullet:
    """Its sequential impulses, 50 sweeps."""

    name = "PyBullet"

    def __init__(self, count: int) -> None:
        self.bullet = bullet = import_module("pybullet")
        _, places, boards = scene(count)
        bullet.connect(bullet.DIRECT)
        bullet.setGravity(0, 0, -9.81)
        bullet.setTimeStep(DT)
        self._add(bullet.createCollisionShape(bullet.GEOM_PLANE), 0.0)
        for board in boards:
            shape = bullet.createCollisionShape(bullet.GEOM_BOX, halfExtents=(0.5 * np.array(board.size)).tolist())
            self._add(shape, 0.0, board.centre, _quaternion(np.array(board.turned).T))
        ball = bullet.createCollisionShape(bullet.GEOM_SPHERE, radius=RADIUS)
        self.balls = [self._add(ball, MASS, place.tolist()) for place in places]

    def _add(self, shape: int, mass: float, place: Any = (0, 0, 0), turned: Any = (0, 0, 0, 1)) -> int:
        """Numbers of both bodies are multiplied there."""
        body: int = self.bullet.createMultiBody(mass, shape, -1, place, turned)
        self.bullet.changeDynamics(
            body, -1, lateralFriction=FRICTION**0.5, restitution=RESTITUTION**0.5, linearDamping=0, angularDamping=0
        )
        return body

    def go(self, ticks: int) -> None:
        """So many steps."""
        for _ in range(ticks):
            self.bullet.stepSimulation()

    def now(self) -> np.ndarray:
        """Where balls are."""
        return np.array([self.bullet.getBasePositionAndOrientation(ball)[0] for ball in self.balls])


def _row(numbers: np.ndarray) -> str:
    return " ".join(f"{number:.12g}" for number in numbers)


def _quaternion(turned: np.ndarray) -> list[float]:
    """x, y, z, w of a rotation by less than half a turn, or by one."""
    values, vectors = np.linalg.eig(turned)
    axis = np.real(vectors[:, np.argmin(np.abs(values - 1.0))])
    spin = turned - turned.T
    sine = 0.5 * np.array([spin[2, 1], spin[0, 2], spin[1, 0]]) @ axis
    angle = np.arctan2(sine, 0.5 * (np.trace(turned) - 1.0))
    return [*(np.sin(0.5 * angle) * axis).tolist(), float(np.cos(0.5 * angle))]


def depths(places: np.ndarray, boards: list[Box]) -> np.ndarray:
    """How deep balls are in each other, in the ground and in the boards [m], of all that touch."""
    pairs = cKDTree(places).query_pairs(2.0 * RADIUS, output_type="ndarray")
    found = [2.0 * RADIUS - np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1), RADIUS - places[:, 2]]
    for board in boards:
        local = (places - board.centre) @ np.array(board.turned).T
        half = 0.5 * np.array(board.size)
        outside = np.linalg.norm(local - np.clip(local, -half, half), axis=1)
        inside = (half - np.abs(local)).min(axis=1)
        found.append(RADIUS - np.where(outside > 0.0, outside, -inside))
    deep = np.concatenate(found)
    return deep[deep > 0.0]


KINDS: dict[str, Callable[[int], Any]] = {
    "ours": Ours,
    "mujoco": lambda count: MuJoCo(count, "Newton", False),
    "mujoco-pgs": lambda count: MuJoCo(count, "PGS", False),
    "mujoco-stiff": lambda count: MuJoCo(count, "Newton", True),
    "mujoco-pgs-stiff": lambda count: MuJoCo(count, "PGS", True),
    "mujoco-pgs-2": lambda count: MuJoCo(count, "PGS", True, 2),
    "mujoco-pgs-4": lambda count: MuJoCo(count, "PGS", True, 4),
    "pybullet": PyBullet,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="of balls")
    parser.add_argument("--until", type=float, default=0.8, help="[s]")
    parser.add_argument("--stretch", type=int, default=50, help="steps of a turn")
    parser.add_argument("--only", nargs="*", default=[], choices=KINDS, help="some of them")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    count = asked.count
    boards = scene(count)[2]
    runners = [make(count) for name, make in KINDS.items() if not asked.only or name in asked.only]
    turns = round(asked.until / DT / asked.stretch)
    spent = np.zeros((len(runners), turns))
    deepest, median = np.zeros((len(runners), turns)), np.zeros((len(runners), turns))
    for turn in range(turns):
        for k in range(len(runners)) if turn % 2 == 0 else reversed(range(len(runners))):
            gc.collect()
            started = time.process_time()
            runners[k].go(asked.stretch)
            spent[k, turn] = 1e6 * (time.process_time() - started) / asked.stretch / count
            deep = depths(runners[k].now(), boards)
            deepest[k, turn], median[k, turn] = deep.max(initial=0.0), np.median(deep) if deep.size else 0.0
        told = "; ".join(
            f"{runner.name} {spent[k, turn]:.0f} µs, {1e3 * deepest[k, turn]:.2f} mm"
            for k, runner in enumerate(runners)
        )
        print(f"{(turn + 1) * asked.stretch * DT:.2f} s: {told}", flush=True)
    print(
        f"\n{count} balls, {asked.until:g} s: µs per ball and step (mean; last third); deepest, median of depths [mm]"
    )
    for k, runner in enumerate(runners):
        late = spent[k, 2 * turns // 3 :].mean()
        deep = f"{1e3 * deepest[k].max():8.3f} {1e3 * deepest[k, -1]:8.3f} {1e3 * median[k, -1]:8.4f}"
        print(f"  {runner.name:24} {spent[k].mean():7.1f} {late:7.1f}   {deep}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
