"""Draws how a ball bounces against its closed form: `python docs/pictures/contact.py`."""

from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

import scenarios
from coordinator import Glued, Penalty, Simulation

HERE = Path(__file__).resolve().parent
G, HEIGHT, RESTITUTION = 9.81, 1.0, 0.8


def closed_form(time: np.ndarray) -> np.ndarray:
    """Height of the lowest point [m]."""
    speed, start = np.sqrt(2 * G * HEIGHT), np.sqrt(2 * HEIGHT / G)
    found = HEIGHT - 0.5 * G * time**2
    while speed > 1e-3:
        speed *= RESTITUTION
        found = np.where(time >= start, speed * (time - start) - 0.5 * G * (time - start) ** 2, found)
        start += 2 * speed / G
    return np.where(time >= start, 0.0, found)


figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.2), layout="constrained")
for name, coupling, dt in (
    ("springs, 1 ms", Penalty(), 1e-3),
    ("springs, 0.1 ms", Penalty(), 1e-4),
    ("glued, 1 ms", Glued(), 1e-3),
):
    with Simulation(scenarios.load("bouncing-ball", restitution=RESTITUTION), dt, coupling) as simulation:
        run = simulation.run(4.2)
    height = run.position("ball.centre")[:, 2] - 0.1
    if dt == 1e-3 and coupling == Glued():
        left.plot(run.time, 1e2 * closed_form(run.time), color="0.75", linewidth=4, label="closed form")
        left.plot(
            run.time[::25], 1e2 * height[::25], ".", markersize=4, color="C0", label="every 25th tick of 1 ms, glued"
        )
    error = np.abs(height - closed_form(run.time))
    right.semilogy(run.time, np.maximum(error, 1e-16), linewidth=0.8, label=name)
left.set(xlabel="time [s]", ylabel="height [cm]", ylim=(-4, 104))
right.set(xlabel="time [s]", ylabel="error of the height [m]", ylim=(1e-16, 1e-1))
left.legend(frameon=False, fontsize=8)
right.legend(frameon=False, fontsize=8, loc="upper left")
figure.savefig(HERE / "contact.png", dpi=110)
