"""In which line of a model file a part stands, for what goes wrong once it is a model: open joints, steps that are too large.

Noted when a file is read, and asked by the command where it ends with an error.
"""

from __future__ import annotations

import re

from scenarios.models.gathering import Gathered

PARTS = re.compile(r"\b(\w+) '([^']{1,200})'")

_places: dict[tuple[str, str], str] = {}  # by "body", "joint" or "force", and name


def note(found: Gathered) -> None:
    """From now on these are the parts of the model."""
    _places.clear()
    for what, parts in (("body", found.bodies), ("joint", found.joints), ("force", found.forces)):
        for name, (node, _) in parts.items():
            _places[what, name] = f"{node.source.path}:{node.source.line(node.keys)}"


def forget() -> None:
    """Another model is built, which is no file of ours."""
    _places.clear()


def with_place(message: str) -> str:
    """A message with the place of the first part that it names, unless it tells one already."""
    if any(place in message for place in {place.rpartition(":")[0] + ":" for place in _places.values()}):
        return message
    for what, name in PARTS.findall(message):
        place = _places.get((what, name)) or (_places.get(("force", name)) if what not in ("body", "joint") else None)
        if place:
            return f"{place}: {message}"
    return message
