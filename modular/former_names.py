"""Methods and loops of contracts that bore other names before: a kind that still has one is refused, for nobody would call it."""

from __future__ import annotations

from collections.abc import Iterable

from modular.errors import ModelError

FORMER = {
    "bound_loads": "bound_demands",
    "company": "stack_kind",
    "compute_load": "compute_demand",
    "keep_books": "keep_ledgers",
    "open_books": "open_ledgers",
    "request_load": "request_demand",
    "requested_load": "requested_demand",
    "requests_load": "requests_demand",
}


def refuse_former_names(kind: type, names: Iterable[str]) -> None:
    """Raise where methods or loops of a kind have a former name; fields that a description declares are its own."""
    found = [name for name in names if name in FORMER and name not in vars(kind).get("__annotations__", ())]
    if found:
        told = ", ".join(f"{name!r} is called {FORMER[name]!r} now" for name in found)
        raise ModelError(f"{kind.__module__}.{kind.__qualname__}: {told}; rename it, nobody would call it")
