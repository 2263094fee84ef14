"""Names that people mistype: the nearest known one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def hint(name: str, names: Iterable[str]) -> str:
    """`did you mean 'elbow'?`, or what there is."""
    known = list(names)
    lowered = {other.lower(): other for other in known}
    near = difflib.get_close_matches(str(name).lower(), lowered, 1)
    if near:
        return f"did you mean '{lowered[near[0]]}'?"
    return f"known: {', '.join(known[:12]) or 'none'}{' …' * (len(known) > 12)}."


def missing(what: str, name: str, names: Iterable[str], owner: str = "") -> str:
    """A sentence for a name that is not there; `what` is "joint", or "port of 'crank'"."""
    kind, _, holder = what.partition(" of ")
    sentence = f"{holder} has no {kind} '{name}'" if holder else f"there is no {kind} '{name}'"
    return f"{owner + ': ' if owner else ''}{sentence}; {hint(name, names)}"
