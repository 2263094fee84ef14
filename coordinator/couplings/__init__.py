"""Couplings, one per file; names are imported on first use, since solvers of the whole system are slow to load."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coordinator.couplings.centralized import Centralized
    from coordinator.couplings.coupling import Coupling
    from coordinator.couplings.penalty import Penalty

_HOMES = {"Centralized": "centralized", "Coupling": "coupling", "Penalty": "penalty"}

__all__ = ["Centralized", "Coupling", "Penalty"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'coordinator.couplings' has no attribute {name!r}")
    return getattr(importlib.import_module(f"coordinator.couplings.{_HOMES[name]}"), name)
