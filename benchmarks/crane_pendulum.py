"""FMUs of somebody else carry our pendulums: crane-fmu 0.2.0 (pip install crane-fmu), an oscillator and a mobile crane.

    python benchmarks/crane_pendulum.py

Neither can save its state, so they are held by springs (`Penalty`). The oscillator of six freedoms takes forces and shows motion
(T); a pendulum of ours hangs on it, and the energy of both is to stay. The crane takes motion and shows the force on its base (X);
its base stands on a deck of ours, which heaves on a spring: it is to heave as 22 t more do. Last a pendulum of ours hangs from its
boom, and all that the ledger books is to close.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from importlib.resources import files
from pathlib import Path

import numpy as np

from components import Bushing, Fixed, NewtonEulerBody, Planar, Prismatic, Spherical, SpringDamper
from components.fmi import Fmu, PowerPort
from coordinator import Penalty, Simulation
from modular import Assembly
from modular.errors import RunWarning

CRANE, DECK, STIFFNESS = 22_000.0, 50_000.0, 4e6  # kg (what its force shows), kg, N/m
INERTIA = (8e5, 8e5, 1e6)  # kg m2, of the deck
G = 9.81


def there(name: str) -> str:
    """A file of the package."""
    return str(Path(str(files("examples"))) / f"{name}.fmu")


def triple(name: str, start: int = 0) -> list[str]:
    """Three entries of one of its vectors."""
    return [f"{name}[{k}]" for k in range(start, start + 3)]


def ran(model: Assembly, dt: float, until: float):
    """Held by springs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)
        with Simulation(model, dt, Penalty()) as simulation:
            return simulation.run(until)


def oscillator(dt: float) -> tuple[float, float]:
    """A pendulum of 0.3 kg on an oscillator of 1 kg: how far its hinge is open, and how much the energy of both changes."""
    port = PowerPort(
        position=triple("x"), velocity=triple("v"), force=triple("f"), orientation=triple("x", 3),
        angular_velocity=triple("v", 3), moment=triple("f", 3),
    )  # fmt: skip
    stiff = np.array([40.0, 60.0, 90.0, 25.0, 30.0, 20.0])
    given = {f"k[{k}]": value for k, value in enumerate(stiff)} | {f"c[{k}]": 0.0 for k in range(6)} | {"x[0]": 0.2}
    model = Assembly(gravity=(0.0, 0.0, -G))
    model.add("oscillator", Fmu(there("HarmonicOscillator6D"), ports={"top": port}, parameters=given))
    inertia = ((0.01, 0, 0), (0, 0.01, 0), (0, 0, 0.002))
    ports = {"hook": (0.2, 0.0, 0.0)}
    model.add("pendulum", NewtonEulerBody(mass=0.3, inertia=inertia, centre=(0.5, 0.1, -0.3), ports=ports))
    model.join("hinge", Spherical(), "oscillator.top", "pendulum.hook")
    run = ran(model, dt, 1.0)
    q, v = run.state("oscillator")[:2]
    x = np.concatenate([q[:, :3], np.array([2.0 * np.arctan2(row[4:7], row[3]) for row in q])], axis=1)
    own = 0.5 * np.sum(v[:, :6] ** 2, axis=1) + 0.5 * np.sum(stiff * x**2, axis=1)
    body, (p, w) = run.bodies["pendulum"], run.state("pendulum")[:2]
    total = own + body.kinetic_energy(p, w) + body.potential_energy(p, np.array([0.0, 0.0, -G]))
    swing = np.ptp(body.kinetic_energy(p, w))
    gap = np.abs(run.position("oscillator.top") - run.position("pendulum.hook")).max()
    return float(gap), float(np.abs(total - total[0]).max() / swing)


def crane() -> Fmu:
    """The crane on a deck; it is told velocities and accelerations."""
    base = PowerPort(
        position=[None] * 3, velocity=triple("velocity"), acceleration=triple("d_velocity"), force=triple("force"),
        moment=triple("torque"), orientation=[None] * 4, angular_velocity=triple("d_angular"), exerts=True, mass=DECK,
        inertia=INERTIA,
    )  # fmt: skip
    return Fmu(there("MobileCrane"), ports={"base": base}, mass=CRANE, outputs=["boom.end[0]", "boom.end[2]"])


def heaving(dt: float) -> float:
    """How far the deck is from z = g/w2 (cos(w t) - 1), at 1 s [m]."""
    model = Assembly(gravity=(0.0, 0.0, -G))
    model.add("crane", crane())
    model.join("guide", Prismatic(axis=(0, 0, 1)), "ground", "crane.base")
    model.apply("water", SpringDamper(STIFFNESS, length=10.0), "crane.base", "ground", at=(0.0, 0.0, -10.0))
    run = ran(model, dt, 1.0)
    square = STIFFNESS / (CRANE + DECK)
    return float(np.abs(run.position("crane.base")[:, 2] - G / square * (np.cos(np.sqrt(square) * run.time) - 1)).max())


def swinging(dt: float) -> tuple[float, float, float]:
    """A pendulum of 500 kg swings from the boom, the deck sways, heaves and rolls: how far all energy that is booked changes, as
    a share of what moves, how far the joints are open [m], and how far the deck has rolled [deg]."""
    model = Assembly(gravity=(0.0, 0.0, -G))
    model.add("crane", crane())
    model.join("plane", Planar(normal=(1, 0, 0)), "ground", "crane.base")
    water = Bushing(stiffness=(0.0, 4e5, STIFFNESS), turning=(4e7, 0.0, 0.0))
    model.apply("water", water, "ground", "crane.base")
    ball, rod = ((4.0, 0, 0), (0, 4.0, 0), (0, 0, 4.0)), ((2e3, 0, 0), (0, 1.2e4, 0), (0, 0, 1.2e4))
    jib = {"base": (0.0, 0.0, 0.0), "tip": (8.0, 0.0, 3.0)}
    model.add("jib", NewtonEulerBody(mass=2000.0, inertia=rod, centre=(4.0, 0.0, 1.5), ports=jib))
    hook = {"hook": (8.0, 0.0, 3.0)}
    model.add("load", NewtonEulerBody(mass=500.0, inertia=ball, centre=(8.0, 1.5, 0.5), ports=hook))
    model.join("weld", Fixed(), "crane.base", "jib.base")
    model.join("tackle", Spherical(), "jib.tip", "load.hook")
    run = ran(model, dt, 2.0)
    gravity, total, moving = np.array([0.0, 0.0, -G]), 0.0, 0.0
    for name in run.bodies:
        body, (q, v) = run.bodies[name], run.state(name)[:2]
        kinetic, potential = body.kinetic_energy(q, v), body.potential_energy(q, gravity)
        total, moving = total + kinetic + potential, moving + (kinetic if name != "crane" else 0.0)
    for name in ("water", "plane", "weld", "tackle"):
        ledger = run.ledger(name)
        total = total + ledger["stored"] + ledger["dissipated"] + ledger["leaked"]
    turn = run.state("crane")[0][:, 3:7]
    gap = np.abs(run.position("jib.tip") - run.position("load.hook")).max()
    return (
        float(np.abs(total - total[0]).max() / moving.max()),
        float(gap),
        float(np.degrees(2 * np.abs(turn[:, 1]).max())),
    )


def told(what: str, dt: float) -> str:
    """One result in words."""
    if what == "oscillator":
        gap, energy = oscillator(dt)
        return f"pendulum on the oscillator, {dt:g} s: hinge open by {1e3 * gap:.2g} mm, energy within {energy:.2e} of the swing"
    if what == "heaving":
        return f"deck with the crane heaves, {dt:g} s: {heaving(dt):.2e} m from the closed form"
    energy, gap, roll = swinging(dt)
    return (
        f"pendulum on the crane, {dt:g} s: booked energy within {energy:.2e} of what moves, tackle open by {1e3 * gap:.2g} mm, "
        f"the deck rolls by {roll:.3g} degrees"
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(told(sys.argv[1], float(sys.argv[2])))
    else:  # a process for each: the two files bring different modules of the same names
        for what in ("oscillator", "heaving", "swinging"):
            for step in ("2e-3", "1e-3"):
                subprocess.run([sys.executable, __file__, what, step], check=True)
