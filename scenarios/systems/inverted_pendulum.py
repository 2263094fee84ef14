"""An inverted pendulum on a cart: a controller in Python reads four sensors a hundred times a second and holds the pole upright.

The sensors are those of Renaud and Dion 2024, 9.3; here what they show drives the cart. The gains place the closed loop of the
linear, sampled cart at exp(T s) with s = -4 ± i, -5, -6 1/s. Between two decisions the force is held, and everything is compiled.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, sin
from typing import Any

from components import AngleBetween, Controller, Prismatic, Revolute, RigidBody, TurningBetween, WayBetween
from modular import Assembly, Port
from modular.elements import Array

GROUP = "Driven and controlled"

CONTROL_PERIOD = 0.01  # between two decisions [s]
GAINS = (-27.11, -98.76, -22.84, -22.52)  # of way, lean to the right and their rates [N/m, N, N s/m, N s]


def balance(time: float, readings: Mapping[str, Any], memory: Array) -> float:
    """Force on the cart [N], against a state that is fed back."""
    state = (readings["way"], -readings["lean"], readings["pace"], -readings["turning"])
    return -float(sum(gain * value for gain, value in zip(GAINS, state, strict=True)))


def build(lean: float = 0.4, most: float = 30.0) -> Assembly:
    """lean: of the pole to the right at the start [rad]; most: largest force on the cart [N]."""
    cart, pole, half = 1.0, 0.3, 0.4  # [kg], [kg], [m]
    up, right = (sin(lean), cos(lean)), (cos(lean), -sin(lean))
    middle, tip = (half * up[0], half * up[1]), (2 * half * up[0], 2 * half * up[1])

    mechanism = Assembly(gravity=(0.0, -9.81), title="inverted pendulum")
    mechanism.add("cart", RigidBody(mass=cart, inertia=0.1, centre=(0, 0), ports={"pin": (0, 0)}))
    ports = {"foot": Port((0.0, 0.0), axes=(right, up)), "tip": tip}
    mechanism.add("pole", RigidBody(mass=pole, inertia=pole * (2 * half) ** 2 / 12, centre=middle, ports=ports))
    mechanism.join("rail", Prismatic(axis=(1.0, 0.0)), "ground", "cart.pin")
    mechanism.join("hinge", Revolute(), "cart.pin", "pole.foot")

    instruments = {
        "way": WayBetween("ground", "cart.pin", (1.0, 0.0)),
        "lean": AngleBetween("ground", "pole.foot"),
        "pace": WayBetween("ground", "cart.pin", (1.0, 0.0), rate=True),
        "turning": TurningBetween("ground", "pole.foot"),
    }
    drive = Controller(balance, instruments, period=CONTROL_PERIOD, most=most, measure="way", axis=(1.0, 0.0))
    mechanism.apply("drive", drive, "ground", "cart.pin")
    mechanism.suggested = {"dt": 1e-3, "until": 4.0}
    return mechanism
