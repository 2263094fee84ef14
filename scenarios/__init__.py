"""Ready systems, reports and the command line.

A scenario is one file in `scenarios/systems/` that defines `build(**settings) -> Assembly`; its docstring explains it and
its defaults are the settings. It is found by its file name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scenarios.catalogue import describe, names

if TYPE_CHECKING:
    from coordinator import Simulation
    from modular.assembly import Assembly
    from scenarios.laboratory.opening import Laboratory

__all__ = ["describe", "live", "load", "names"]


def load(name: str, **settings: Any) -> Assembly:
    """Build a scenario, such as `load("chain", bodies=100)`."""
    from scenarios.catalogue import build

    return build(name, settings)


def live(simulation: Simulation | Assembly, **options: Any) -> Laboratory:
    """Open a simulation or a model in a browser, and act on it while it runs (scenarios/laboratory/opening.py has the options)."""
    from scenarios.laboratory.opening import live

    return live(simulation, **options)
