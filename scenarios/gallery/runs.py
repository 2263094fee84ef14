"""The runs that the figures show; each is simulated once, however many figures ask for it."""

from __future__ import annotations

from typing import Any

import scenarios
from coordinator import Penalty, Run, Shannon, Simulation
from modular.elements import Array
from modular.internal_gains import InternalGains
from scenarios.gallery.minimal import START, rk4

# Séguy 2003, IV.5.1 and IV.3: delta = 0.3, fixed internal gains
THESIS = Penalty(rule=Shannon(delta=0.3, damping=0.05), internal=InternalGains.thesis(), preload=False)
# the spatial pendulum has a margin of 0.62 at delta = 0.3 and diverges there
SOFTER = Penalty(rule=Shannon(delta=0.18, damping=0.05), internal=InternalGains.thesis(), preload=False)
DEFAULTS = Penalty()
NAMES = {THESIS: "settings of the thesis", SOFTER: "settings of the thesis, δ = 0.18", DEFAULTS: "defaults"}


class Runs:
    """Remembers what was simulated; no run is longer than `most` seconds."""

    def __init__(self, most: float = float("inf")) -> None:
        self.most = most
        self._kept: dict[tuple[Any, ...], Run] = {}
        self._reference: dict[tuple[float, int], Array] = {}

    def of(self, scenario: str, coupling: Penalty, dt: float, until: float, **settings: Any) -> Run:
        """A ready system, stepped by `dt` to `until` [s]."""
        key = (scenario, coupling, dt, until, *sorted(settings.items()))
        if key not in self._kept:
            with Simulation(scenarios.load(scenario, **settings), dt, coupling) as simulation:
                self._kept[key] = simulation.run(min(until, self.most))
        return self._kept[key]

    def pair(self, scenario: str, dt: float, until: float, thesis: Penalty = THESIS, **settings: Any) -> dict[str, Run]:
        """With the settings of the thesis and with the defaults, under their names."""
        return {NAMES[coupling]: self.of(scenario, coupling, dt, until, **settings) for coupling in (thesis, DEFAULTS)}

    def reference(self, dt: float, until: float) -> Array:
        """The two angles of the double pendulum by Runge-Kutta 4, (n, 4)."""
        steps = round(min(until, self.most) / dt)
        if (dt, steps) not in self._reference:
            self._reference[dt, steps] = rk4(START, dt, steps)
        return self._reference[dt, steps]
