"""Mechanisms from our components that move as one of the references does."""

import numpy as np

import references
from components import Revolute, RigidBody, Rod
from modular import Assembly

COMMON = (  # ready systems of kinds of which most tests are; the others have kernels of their own, and wait for the campaign
    "chain", "cut-double-pendulum", "double-pendulum", "double-pendulum-3d", "scissors", "simple-pendulum", "slider-crank",
    "spinning-book", "spring-pendulum", "switching-pendulum", "two-rods",
)  # fmt: skip
BARS = ("crank", "coupler", "rocker")


def four_bar(dimension=2):
    """The crank-rocker of `references.four_bar`: three bars, four hinges; "rocker" starts at its pin on the ground.

    In the plane it is determinate. In space, gravity along -y and all hinges about z, it is redundant three times and
    moves the same: its bars are bodies with the moment m l^2 / 12 about z and less about the other two axes.
    """
    crank, rate = references.CRANK_START
    angles = references.four_bar_angles(np.array(crank))
    slopes, curves = references.four_bar_slopes(angles)
    centres, swings, _ = references.four_bar_centres(angles, slopes, curves)
    mechanism = Assembly(gravity=(0.0, -references.G, 0.0)[:dimension], title=f"four-bar-{dimension}d")
    for k, name in enumerate(BARS):
        half = 0.5 * references.BARS[k] * references.heading(angles[k])
        ends = {"start": in_space(centres[k] - half, dimension), "end": in_space(centres[k] + half, dimension)}
        velocity, spin = in_space(swings[k] * rate, dimension), slopes[k] * rate
        if dimension == 2:
            bar = Rod(ends["start"], ends["end"], references.BAR_MASSES[k], velocity=velocity, angular_velocity=spin)
        else:
            bar = RigidBody(
                mass=references.BAR_MASSES[k],
                inertia=bar_inertia(k, angles[k]),
                centre=in_space(centres[k], 3),
                ports=ends,
                velocity=velocity,
                angular_velocity=(0.0, 0.0, spin),
            )
        mechanism.add(name, bar)
    hinge = Revolute() if dimension == 2 else Revolute(axis=(0.0, 0.0, 1.0))
    mechanism.join("crank-pin", hinge, "ground", "crank.start")
    mechanism.join("crank-coupler", hinge, "crank.end", "coupler.start")
    mechanism.join("coupler-rocker", hinge, "coupler.end", "rocker.end")
    mechanism.join("rocker-pin", hinge, "ground", "rocker.start")
    mechanism.suggested = {"dt": 1e-4, "until": 2.0}
    return mechanism


def in_space(point, dimension):
    return (*(float(x) for x in point), 0.0)[:dimension]


def bar_inertia(k, angle):
    """m l^2 / 12 about z, nearly as much across the bar in its plane, a little along it: no lamina and no line."""
    about_z = references.BAR_MASSES[k] * references.BARS[k] ** 2 / 12
    along, across = references.heading(angle), references.heading(angle + np.pi / 2)
    tensor = np.zeros((3, 3))
    tensor[:2, :2] = about_z * (0.1 * np.outer(along, along) + 0.95 * np.outer(across, across))
    tensor[2, 2] = about_z
    return tuple(map(tuple, 0.5 * (tensor + tensor.T)))


def rods_in_a_row(count):
    """In the plane, hung on the ground by the first: "pin0", "pin1", … between "rod0", "rod1", …"""
    model = Assembly(gravity=(0.0, -9.81))
    for k in range(count):
        model.add(f"rod{k}", Rod((0.1 * k, 0.0), (0.1 * k + 0.1, 0.0), 1.0))
        model.join(f"pin{k}", Revolute(), f"rod{k - 1}.end" if k else "ground", f"rod{k}.start")
    return model
