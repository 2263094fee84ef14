"""Ready systems, reports and the command line.

A scenario is one file in `scenarios/systems/` that defines `build(**settings) -> Assembly`; its docstring explains it and
its defaults are the settings. It is found by its file name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scenarios.catalogue import describe, names

if TYPE_CHECKING:
    from modular.assembly import Assembly

__all__ = ["describe", "load", "names"]


def load(name: str, **settings: Any) -> Assembly:
    """Build a scenario, such as `load("chain", bodies=100)`."""
    from scenarios.catalogue import build

    return build(name, settings)
