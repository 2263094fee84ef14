"""The contract and the algebra of modular multibody systems: knows no concrete body and no socket.

Names are imported on first use, so that `modular list` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from modular.own_packages import check_not_shadowed
from modular.version import __version__

if TYPE_CHECKING:
    from modular.allowed import allow
    from modular.assembly import Assembly
    from modular.component import Component
    from modular.errors import CouplingError, Diverged, KeywordError, MemoryShortage, ModelError
    from modular.events import Add, Apply, Crossing, Cut, Join, Merge, Remove, Unmerge
    from modular.integrator import Integrator
    from modular.internal_gains import InternalGains
    from modular.limit import Limit
    from modular.newmark import Newmark
    from modular.port import Port

_HOMES = {
    "Add": "events",
    "Apply": "events",
    "Assembly": "assembly",
    "Integrator": "integrator",
    "InternalGains": "internal_gains",
    "Component": "component",
    "CouplingError": "errors",
    "Crossing": "events",
    "Cut": "events",
    "Diverged": "errors",
    "Join": "events",
    "KeywordError": "errors",
    "Limit": "limit",
    "MemoryShortage": "errors",
    "Merge": "events",
    "ModelError": "errors",
    "Newmark": "newmark",
    "Port": "port",
    "allow": "allowed",
    "Remove": "events",
    "Unmerge": "events",
}

__all__ = [
    "Add",
    "Apply",
    "Assembly",
    "Component",
    "CouplingError",
    "Crossing",
    "Cut",
    "Diverged",
    "Integrator",
    "InternalGains",
    "Join",
    "KeywordError",
    "Limit",
    "MemoryShortage",
    "Merge",
    "ModelError",
    "Newmark",
    "Port",
    "Remove",
    "Unmerge",
    "__version__",
    "allow",
]

check_not_shadowed()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'modular' has no attribute {name!r}")
    return getattr(importlib.import_module(f"modular.{_HOMES[name]}"), name)
