"""What differs between the variants of a model: numbers of its bodies, joints, forces and events, and gravity, by dotted names.

A name leads from a member of the model to a number: "upper.masses", "elbow.at", "spring.stiffness", "tooth.breaks_at.force",
"events.0.time", "gravity". A last part that is a whole number picks one of several: "upper.masses.0", "gravity.1".
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from modular.assembly import Assembly, ForceEdge, JointEdge
from modular.body import Body
from modular.component import Component
from modular.elements import Array
from modular.errors import ModelError
from modular.names import first_few, hint
from modular.numbers import LARGEST_MAGNITUDE, SMALLEST_MAGNITUDE, beyond_reach

GRAVITY, EVENTS = "gravity", "events"
OF_EDGES = ("at", "breaks_at")  # what a joint or force has beside its description
BODY, JOINT, FORCE = "body", "joint", "force"


@dataclass(frozen=True)
class Parameter:
    """A number or several of a model: whose, and the way to them."""

    name: str
    kind: str  # BODY, JOINT, FORCE, GRAVITY or EVENTS
    owner: str
    path: tuple[str, ...]

    def of(self, model: Assembly) -> Any:
        """What the model has there."""
        value = self.member(model)
        for part in self.path:
            value = _inside(value, part, self.name)
        return value

    def member(self, model: Assembly) -> Any:
        """Whose number it is, as the model holds it."""
        if self.kind == GRAVITY:
            return tuple(model.gravity.tolist())
        if self.kind == EVENTS:
            return tuple(model.schedule)
        return members_of(model)[self.kind][self.owner]


def parameter(model: Assembly, name: str) -> Parameter:
    """The parameter of that name; refused with the nearest known one."""
    owner, _, rest = name.partition(".")
    path = tuple(rest.split(".")) if rest else ()
    kinds = members_of(model)
    kind = next((kind for kind, members in kinds.items() if owner in members), owner)
    found = Parameter(name, kind, owner, path)
    if kind not in (*kinds, GRAVITY, EVENTS):
        known = [*(member for members in kinds.values() for member in members), GRAVITY, EVENTS]
        raise ModelError(f"Ensemble: vary '{name}': there is no body, joint or force '{owner}'; {hint(owner, known)}")
    if kind != GRAVITY and not path:
        raise ModelError(f"Ensemble: vary '{name}': which number of it? {_offers(found.member(model))}")
    value = found.of(model)
    if isinstance(value, Component | str | bool | Mapping) or (isinstance(value, tuple) and not _numbers(value)):
        raise ModelError(f"Ensemble: vary '{name}': {value!r} is no number; {_offers(value)}")
    return found


def members_of(model: Assembly) -> dict[str, Mapping[str, Any]]:
    """Bodies, joints and forces of a model by their names."""
    return {BODY: model.bodies, JOINT: model.joint_edges, FORCE: model.force_edges}


def values_of(found: Parameter, model: Assembly, values: Any) -> Array:
    """The values of a parameter, one for each variant, (variants, …), in the shape that the model has there."""
    try:
        array = np.asarray(values, float)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.ndim == 0:
        raise ModelError(
            f"Ensemble: vary '{found.name}' = {values!r}; give a value for every variant, such as np.linspace(0.5, 2.0, 100)."
        )
    now = found.of(model)
    shape = () if isinstance(now, int | float) else np.shape(now) if now is not None else None
    if shape is not None and array.shape[1:] != shape:
        each = "one number" if shape == () else f"{' x '.join(map(str, shape))} numbers"
        raise ModelError(
            f"Ensemble: vary '{found.name}' has shape {array.shape}; the model has {now!r} there, so every variant needs {each}: "
            f"give shape {(len(array), *shape)}{_one_of(found, shape, array)}."
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        k = int(bad[0][0])
        raise ModelError(f"Ensemble: variant {k}: {found.name} = {array[k].tolist()}; give finite numbers.")
    return array


def _one_of(found: Parameter, shape: tuple[int, ...], array: Array) -> str:
    """The name of one of several numbers, where values are given for one."""
    return f", or vary one of them, such as '{found.name}.0'" if len(shape) == 1 and array.ndim == 1 else ""


def check_member(kind: str, name: str, member: Any, dimension: int) -> list[str]:
    """What is wrong with a member of a model whose numbers were changed, a sentence each."""
    if kind == BODY:
        body: Body = member
        problems: list[str] = body.problems(name)
        return problems or [f"body '{name}': {wrong}." for wrong in beyond_reach(body, least=SMALLEST_MAGNITUDE)]
    if kind == JOINT:
        edge: JointEdge = member
        parts = [part for part in (edge.joint, edge.breaks_at) if part is not None]
        return [f"joint '{name}': {wrong}." for part in parts for wrong in beyond_reach(part)]
    if kind == FORCE:
        force: ForceEdge = member
        return force.force.check(name, dimension) or [
            f"force '{name}': {wrong}." for wrong in beyond_reach(force.force)
        ]
    if kind == GRAVITY and max(map(abs, member)) > LARGEST_MAGNITUDE:
        return [f"gravity = {member} is too large; give numbers below {LARGEST_MAGNITUDE:g} [m/s^2]."]
    if kind == EVENTS:
        late = [s.time for s in member if s.time is not None and not s.time >= 0.0]
        return [f"an event at {time:g} s; give a time from 0 on." for time in late]
    return []


# --- ways into a member ----------------------------------------------------------------------------------------------


def _described(member: Any) -> Any:
    """The description in an edge of the model."""
    return member.joint if isinstance(member, JointEdge) else member.force if isinstance(member, ForceEdge) else member


def _fields(value: Any) -> list[str]:
    value = _described(value)
    return [field.name for field in dataclasses.fields(value) if field.init] if dataclasses.is_dataclass(value) else []


def _inside(value: Any, part: str, name: str) -> Any:
    """One step of the way."""
    if part.isdigit() and isinstance(value, tuple | list) and not isinstance(value, JointEdge):
        if int(part) < len(value):
            return value[int(part)]
        there = f"there are {len(value)} there, from 0 to {len(value) - 1}" if value else "there is none"
        raise ModelError(f"Ensemble: vary '{name}': {there}.")
    if isinstance(value, Mapping) and part in value:
        return value[part]
    if isinstance(value, JointEdge | ForceEdge) and part in OF_EDGES and hasattr(value, part):
        return getattr(value, part)
    if part in _fields(value):
        return getattr(_described(value), part)
    raise ModelError(f"Ensemble: vary '{name}': {_what(value)} has no '{part}'; {_meant(value, part)}")


def changed(value: Any, changes: Sequence[tuple[Sequence[str], Any]]) -> Any:
    """A value with others at the ends of ways into it, one after the other; every part is made anew once."""
    for k, (path, new) in enumerate(changes):
        if not path:
            return changed(new, changes[k + 1 :])
    if not changes:
        return value
    parts: dict[str, list[tuple[Sequence[str], Any]]] = {}
    for path, new in changes:
        inside = _described(value) is not value and not (path[0] in OF_EDGES and hasattr(value, path[0]))
        parts.setdefault("" if inside else path[0], []).append((path if inside else path[1:], new))
    if isinstance(value, JointEdge):
        return value._replace(
            **{part or "joint": changed(getattr(value, part or "joint"), more) for part, more in parts.items()}
        )
    if isinstance(value, Mapping):
        return {**value, **{part: changed(value[part], more) for part, more in parts.items()}}
    if isinstance(value, tuple | list):
        items = list(value)
        for part, more in parts.items():
            items[int(part)] = changed(items[int(part)], more)
        return tuple(items)
    return dataclasses.replace(
        value, **{part or "force": changed(getattr(value, part or "force"), more) for part, more in parts.items()}
    )


def _what(value: Any) -> str:
    if isinstance(value, Mapping):
        return "what is there"
    value = _described(value)
    return f"a {type(value).__name__}" if dataclasses.is_dataclass(value) else repr(value)


def _known(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return list(value)
    more = [part for part in OF_EDGES if isinstance(value, JointEdge | ForceEdge) and hasattr(value, part)]
    return [*_fields(value), *more]


def _meant(value: Any, part: str) -> str:
    known = _known(value)
    within = [name for name in known if part in name or name in part]  # "mass" of what has "masses"
    return f"did you mean '{within[0]}'?" if within else hint(part, known)


def _offers(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"there are {len(value)} of them, from 0 on."
    return f"it has: {first_few(_known(value), 12) or 'none'}."


def _numbers(value: tuple[Any, ...]) -> bool:
    try:
        return np.asarray(value, float).dtype.kind == "f"
    except (TypeError, ValueError):
        return False
