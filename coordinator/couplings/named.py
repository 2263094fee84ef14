"""A coupling by what people call it: `glued`, `penalty(rule=shannon)`, `hht(alpha=0.05)`."""

from __future__ import annotations

import ast

from coordinator.couplings.coupling import Coupling
from modular.typed import component_of, makers, parse


def coupling_named(text: str, option: str) -> Coupling:
    """A coupling, or a centralized solver by its own name: `hht(alpha=0.05)` for `centralized(solver=hht(alpha=0.05))`."""
    from coordinator.couplings.centralized import Solver  # slow to load
    from coordinator.couplings.centralized.coupling import Centralized

    node = parse(text, option)
    function = node.func if isinstance(node, ast.Call) else node
    if isinstance(function, ast.Name) and function.id.lower() in makers(Solver):
        return Centralized(component_of(Solver, node, f"{option} {text}"))
    found: Coupling = component_of(Coupling, node, f"{option} {text}", also=makers(Solver))
    return found
