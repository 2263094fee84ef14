"""A slider-crank whose connecting rod bends: a crank at a constant speed whips a slender steel rod to and fro.

The rod is a beam of `elements` pieces, or, with `modes`, what is left of it by Craig and Bampton; the slider is a block at its end.
With a `thick` rod it moves as the rigid mechanism does; a thin one lags behind in its middle, and swings on at the frequency of its
first bending.
"""

from __future__ import annotations

from math import cos, pi, sin

from components import Beam, DrivenRotation, ModalBody, PointOnLine, Ramp, Revolute, RigidBody
from modular import Assembly

GROUP = "Mechanisms"


def build(
    speed: float = 150.0, thick: float = 6e-3, crank: float = 0.15, rod: float = 0.3, elements: int = 8, modes: int = 0
) -> Assembly:
    """speed: of the crank [rad/s]; thick: diameter of the rod [m]; crank, rod: lengths [m]; elements: pieces of the rod; modes: of
    the rod held at its ends, 0: none but the beam itself."""
    angle = pi / 2  # of the crank at the start
    pin = (crank * cos(angle), crank * sin(angle))
    tip = (pin[0] + (rod**2 - pin[1] ** 2) ** 0.5, 0.0)
    # velocities that all joints allow: the pin goes round, the slider along its line
    pin_rate = (-speed * pin[1], speed * pin[0])
    spin = pin_rate[1] / -(tip[0] - pin[0])
    tip_rate = pin_rate[0] - spin * (tip[1] - pin[1])

    mechanism = Assembly(gravity=(0.0, -9.81), title="flexible slider-crank")
    mechanism.add(
        "crank",
        RigidBody(mass=0.4, inertia=0.002, centre=(0, 0), ports={"start": (0, 0), "end": pin}, angular_velocity=speed),
    )
    beam = Beam.of_circle(
        pin, tip, radius=0.5 * thick, young=2.1e11, density=7870.0, elements=elements,
        velocity=(0.5 * (pin_rate[0] + tip_rate), 0.5 * pin_rate[1]), angular_velocity=spin,
        ports={"middle": 0.5} if elements % 2 == 0 else {},
    )  # fmt: skip
    mechanism.add("rod", ModalBody.of_beam(beam, modes) if modes else beam)
    slider = RigidBody(mass=0.08, inertia=1e-4, centre=tip, ports={"pin": tip}, velocity=(tip_rate, 0.0))
    mechanism.add("slider", slider)
    mechanism.join("pivot", Revolute(), "ground", "crank.start")
    mechanism.join("drive", DrivenRotation(Ramp(speed)), "ground", "crank.start")
    mechanism.join("elbow", Revolute(), "crank.end", "rod.start")
    mechanism.join("wrist", Revolute(), "rod.end", "slider.pin")
    mechanism.join("slide", PointOnLine(axis=(1.0, 0.0)), "ground", "slider.pin")
    mechanism.suggested = {"dt": 2e-5, "until": 0.1, "record_every": 10}
    return mechanism
