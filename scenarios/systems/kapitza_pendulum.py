"""Kapitza's pendulum: a rod on a bearing that is shaken up and down fast enough stands on its end and does not fall.

The bearing is a port of a `LedBody`, which moves as it is told. A rod of length l stands where (a w)^2 > 4 g l / 3, with the
amplitude a and w = 2 pi frequency: P. L. Kapitza, Sov. Phys. JETP 21 (1951), with 2 l / 3, the length of the pendulum that swings
as the rod does.
"""

from __future__ import annotations

from math import cos, pi, sin

from components import LedBody, Revolute, Rod, Sine
from modular import Assembly

GROUP = "Driven and controlled"


def build(amplitude: float = 0.02, frequency: float = 40.0, lean: float = 0.2) -> Assembly:
    """amplitude [m] and frequency [Hz] of the bearing; lean: of the rod from upright at the start [rad]."""
    length = 0.4  # [m]
    way = Sine((0.0, amplitude), frequency, -pi / 2)  # at rest at first

    shaken = Assembly(gravity=(0.0, -9.81), title="Kapitza's pendulum")
    shaken.add("table", LedBody(way=way, centre=(0.0, 0.0), ports={"pin": (0.0, 0.0), "edge": (0.1, 0.0)}))
    tip = (length * sin(lean), length * cos(lean))
    shaken.add("rod", Rod((0.0, 0.0), tip, mass=0.3))
    shaken.join("bearing", Revolute(), "table.pin", "rod.start")
    shaken.suggested = {"dt": 2e-5, "until": 2.0, "record_every": 20}
    return shaken
