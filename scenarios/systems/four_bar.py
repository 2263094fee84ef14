"""A four-bar given by its lengths alone: bars are written roughly, and assembled (coordinator/analysis/assembling.py).

With the usual lengths the crank goes round, and the rocker to and fro: its shortest and longest bars are together shorter than the
two others (F. Grashof, Theoretische Maschinenlehre, vol. 2, Leipzig 1883).
"""

from __future__ import annotations

from math import cos, sin

from components import DrivenRotation, Ramp, Revolute, Rod
from coordinator.analysis import assemble
from modular import Assembly, ModelError

GROUP = "Mechanisms"

DENSITY = 2.0  # [kg/m]


def build(
    crank: float = 0.1,
    coupler: float = 0.4,
    rocker: float = 0.3,
    ground: float = 0.35,
    angle: float = 0.5,
    speed: float = 0.0,
    rough: bool = False,
) -> Assembly:
    """crank, coupler, rocker, ground: lengths [m]; angle: of the crank above the ground [rad]; speed: with which it is driven
    [rad/s], let go with 0; rough: leave the bars as they are written."""
    lengths = {"crank": crank, "coupler": coupler, "rocker": rocker, "ground": ground}
    for name, length in lengths.items():
        if not length > 0.0:
            raise ModelError(f"four-bar: {name} = {length}; give a length above 0 [m].")
    pin = (crank * cos(angle), crank * sin(angle))
    top = (ground, rocker)

    mechanism = Assembly(gravity=(0.0, -9.81), title="four-bar")
    mechanism.add("crank", Rod((0.0, 0.0), pin, DENSITY * crank))
    mechanism.add("coupler", Rod(pin, (pin[0] + coupler, pin[1]), DENSITY * coupler))
    mechanism.add("rocker", Rod((ground, 0.0), top, DENSITY * rocker))
    mechanism.join("pivot", Revolute(), "ground", "crank.start")
    mechanism.join("pin", Revolute(), "crank.end", "coupler.start")
    mechanism.join("top", Revolute(), "coupler.end", "rocker.end")
    mechanism.join("foot", Revolute(), "ground", "rocker.start")
    if speed:
        mechanism.join("motor", DrivenRotation(Ramp(speed)), "ground", "crank.start")
    mechanism.suggested = {"dt": 1e-4, "until": 2.0}
    return mechanism if rough else assemble(mechanism, hold=["crank"])
