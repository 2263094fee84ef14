"""A JSON Schema (draft 7) of our model files, for completion and red lines in editors: whatever is declared."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from modular.body import Body
from modular.component import Component
from modular.events import Condition, Event
from modular.force import Force
from modular.joint import Joint
from modular.limit import Limit
from scenarios.models.kinds import Kind, Wanted, kind_of, kinds_of, short_name, wanted
from scenarios.models.own_file import SETTINGS
from scenarios.models.solid_parts import WORKED_OUT, shapes

Schema = dict[str, Any]
NUMBER: Schema = {"$ref": "#/definitions/number"}
ANYTHING: Schema = {}
FILE: Schema = {"file": {"type": "string", "description": "STL or OBJ, beside the model or below it."}, "scale": NUMBER}
SUM_OR_NUMBER: Schema = {
    "description": 'A number, or an expression of parameters such as "length / 2" or "30 * deg".',
    "anyOf": [{"type": "number"}, {"type": "string"}],
}


def schema() -> Schema:
    """What may stand in a model file."""
    definitions: dict[str, Schema] = {"number": SUM_OR_NUMBER}
    body = _any_of(Body, definitions, solid=True)
    between = _texts('The two ports, "body.port" or "ground".', 2, 2)
    on = {"anyOf": [{"type": "string"}, _texts('The ports, "body.port" or "ground".', 1, None)]}
    breaks = {"breaks_at": _value(Limit | None, definitions)}
    joint = _any_of(Joint, definitions, also={"between": between, "at": _place(), **breaks}, needs=("between",))
    along = {"type": "string", "description": "A joint with one angle or way, along which it acts; in place of on."}
    force = _any_of(Force, definitions, also={"on": on, "at": _place(), "joint": along})
    events = {"type": "array", "items": _event(definitions)}
    contents: dict[str, Schema] = {
        "bodies": _named("Bodies by name.", body), "joints": _named("Joints by name.", joint),
        "forces": _named("Forces by name.", force), "events": events, "repeat": {"$ref": "#/definitions/repeat"},
    }  # fmt: skip
    definitions["repeat"] = {"type": "array", "items": _table(
        {"for": {"type": "string"}, "from": NUMBER, "to": NUMBER, **contents}, ("for", "to"),
        "What is in it, for each value; names in it carry one in braces, as \"rod{i}\".",
    )}  # fmt: skip
    settings = {key: _value(annotation, definitions) for key, annotation in SETTINGS.items()}
    top = {
        "title": {"type": "string"}, "units": {"const": "SI"},
        "gravity": _place("[m/s^2]; two numbers in the plane, three in space."),
        "parameters": {"type": "object", "additionalProperties": _parameter()}, "include": _include(), **contents,
        "begin": {"type": "object"},
        "counted": {"type": "object", "additionalProperties": NUMBER, "description": "What joints count where they are made."},
        "settings": _table(settings, (), "What suits the model: dt and until [s], a coupling."),
        "suggested": {"type": "object"}, "assemble": _assemble(),
    }  # fmt: skip
    return {
        "$schema": "http://json-schema.org/draft-07/schema#", "title": "A model of modular",
        **_table(top, (), "Bodies, joints and forces in m, kg, s, N and rad."), "definitions": definitions,
    }  # fmt: skip


def _named(what: str, inner: Schema) -> Schema:
    return {"type": "object", "description": what, "additionalProperties": inner}


def _table(properties: Mapping[str, Schema], needed: tuple[str, ...], what: str = "") -> Schema:
    found: Schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return {**found, **({"required": list(needed)} if needed else {}), **({"description": what} if what else {})}


def _texts(what: str, least: int, most: int | None) -> Schema:
    found: Schema = {"type": "array", "items": {"type": "string"}, "minItems": least, "description": what}
    return found if most is None else {**found, "maxItems": most}


def _place(what: str = "A place [m].") -> Schema:
    return {"description": what, "anyOf": [{"type": "array", "items": NUMBER}, {"type": "string"}]}


def _parameter() -> Schema:
    return {"anyOf": [{"type": ["number", "string", "boolean"]}, {"type": "array", "items": NUMBER}]}


def _include() -> Schema:
    table = _table(
        {"file": {"type": "string"}, "parameters": {"type": "object", "additionalProperties": _parameter()}}, ("file",)
    )
    return {"anyOf": [{"type": "string"}, {"type": "array", "items": {"anyOf": [{"type": "string"}, table]}}]}


def _assemble() -> Schema:
    return {
        "description": "Move bodies until all joints are closed; hold: bodies and ports that stay.",
        "anyOf": [{"type": "boolean"}, _table({"hold": {"type": "array", "items": {"type": "string"}}}, ())],
    }


def _event(definitions: dict[str, Schema]) -> Schema:
    act = _any_of(Event, definitions)
    do = {"anyOf": [act, {"type": "array", "items": act}]}
    when = _any_of(Condition, definitions)
    properties = {"at": NUMBER, "when": when, "repeats": {"type": "boolean"}, "do": do}
    return _table(properties, ("do",), "At a time [s], or when something comes true.")


def _any_of(
    base: type[Component], definitions: dict[str, Schema], *, also: Mapping[str, Schema] | None = None, needs: tuple[str, ...] = (),
    solid: bool = False,
) -> Schema:  # fmt: skip
    """A table of one of the kinds, which its name decides."""
    name = base.__name__ + ("Placed" if also else "")
    if name not in definitions:
        definitions[name] = {}  # kinds may hold others of their base
        made = list(kinds_of(base).values())
        found = [_kind(base, kind_of(each), definitions, also or {}, needs) for each in made]
        if solid:
            found += [
                _of_solid(base, kind_of(each), definitions)
                for each in made
                if set(WORKED_OUT) <= set(kind_of(each).hints)
            ]
        found.append({"type": "object", "required": ["class"]})
        definitions[name] = {"anyOf": found}
    return {"$ref": f"#/definitions/{name}"}


def _kind(
    base: type[Component],
    kind: Kind,
    definitions: dict[str, Schema],
    also: Mapping[str, Schema],
    needs: tuple[str, ...],
) -> Schema:
    fields = {key: _value(annotation, definitions) for key, annotation in kind.hints.items()}
    named = {"const": short_name(base, kind.made)}
    return _table({"kind": named, **fields, **also}, ("kind", *kind.needed, *needs), _first_line(kind.made))


def _of_solid(base: type[Component], kind: Kind, definitions: dict[str, Schema]) -> Schema:
    """A body of which mass, centre and inertia are worked out from shapes."""
    fields = {key: _value(annotation, definitions) for key, annotation in kind.hints.items() if key not in WORKED_OUT}
    rotation = {"anyOf": [_place("A turn about the origin [rad]."), NUMBER, {"type": "object"}]}
    placing = {"at": _place(), "turned": rotation, "hole": {"type": "boolean"}}
    each = [
        _table(
            {
                "shape": {"const": name},
                **{key: _value(hint, definitions) for key, hint in hints.items()},
                **placing,
                **(FILE if name == "mesh" else {}),
            },
            ("shape",),
        )
        for name, (_, hints) in shapes().items()
    ]
    solid = {"anyOf": [{"anyOf": each}, {"type": "array", "items": {"anyOf": each}}]}
    named = {"const": short_name(base, kind.made)}
    needed = tuple(name for name in kind.needed if name not in WORKED_OUT)
    return _table({"kind": named, "solid": solid, **fields}, ("solid", *needed), f"A {kind.name} of shapes.")


def _value(annotation: Any, definitions: dict[str, Schema]) -> Schema:
    want = wanted(annotation)
    if want.anything:
        return ANYTHING
    found = _scalars(want)
    if want.items is not None:
        found.append({"type": "array", "items": _value(want.items, definitions)})
    if want.fixed:
        found.append({"type": "array", "items": [_value(each, definitions) for each in want.fixed]})
    if want.values is not None:
        found.append({"type": "object", "additionalProperties": _value(want.values, definitions)})
    for part in want.components:
        concrete = hasattr(part, "__dataclass_fields__") and list(kinds_of(part).values()) == [part]
        found.append(_alone(part, definitions) if concrete else _any_of(part, definitions))
    return found[0] if len(found) == 1 else {"anyOf": found}


def _scalars(want: Wanted) -> list[Schema]:
    found: list[Schema] = [NUMBER] if want.number else []
    if want.truth:
        found.append({"type": "boolean"})
    numbers = want.items is not None and wanted(want.items).number
    if want.text or want.nothing or want.truth or numbers:
        found.append({"type": "string"})
    return found


def _alone(part: type[Component], definitions: dict[str, Schema]) -> Schema:
    """A table that needs no kind, as there is no other."""
    kind = kind_of(part)
    fields = {key: _value(annotation, definitions) for key, annotation in kind.hints.items()}
    return _table({"kind": {"const": kind.name}, **fields}, kind.needed, _first_line(part))


def _first_line(made: type) -> str:
    return (inspect.getdoc(made) or "").partition("\n")[0]
