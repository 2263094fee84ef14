"""Couplings, one per file; the centralized one is imported on first use, since its solvers are slow to load."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from coordinator.couplings.coupling import Coupling
from coordinator.couplings.glued import Glued
from coordinator.couplings.merged import Merged
from coordinator.couplings.mixed import Mixed
from coordinator.couplings.penalty import Penalty
from coordinator.couplings.relaxed import Relaxed

if TYPE_CHECKING:
    from coordinator.couplings.centralized.coupling import Centralized

__all__ = ["Centralized", "Coupling", "Glued", "Merged", "Mixed", "Penalty", "Relaxed"]


def __getattr__(name: str) -> Any:
    if name != "Centralized":
        raise AttributeError(f"module 'coordinator.couplings' has no attribute {name!r}")
    return importlib.import_module("coordinator.couplings.centralized.coupling").Centralized
