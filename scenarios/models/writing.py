"""A model written as people would write it, in TOML: kinds by their short names, ports one a line; what is read back is the same.

Each part is held against what is read of it. One that could not be told so is written as `Assembly.save` writes it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from modular.assembly import Assembly
from modular.body import Body
from modular.component import Component, find_class
from modular.errors import ModelError
from modular.events import Condition, Event
from modular.files import put_in_place
from modular.force import Force
from modular.joint import Joint
from modular.limit import Limit
from scenarios.models.document import Node, Source
from scenarios.models.kinds import kind_of, short_name, wanted
from scenarios.models.own_file import SETTINGS
from scenarios.models.toml_text import assignment, key_text, table_text
from scenarios.models.values import FAILURES, Scope, read_part, read_value

HEADING = "# A model of bodies, joints and forces, in m, kg, s, N and rad; modular run FILE.toml runs it.\n\n"
NONE = "none"  # an expression that stands for nothing, which TOML has no word for
ENDINGS = (".toml", ".json")


def write_model(model: Assembly, path: str | Path) -> None:
    """Write a model as TOML or JSON, as the name ends; what stood there is there until it is whole on disk."""
    path = Path(path)
    if path.suffix not in ENDINGS:
        raise ModelError(f"'{path}': models are written as {' or '.join(ENDINGS)}; give such a name.")
    if path.suffix == ".json":
        model.save(path)
    else:
        put_in_place(path, model_text(model).encode())


def model_text(model: Assembly) -> str:
    """The model as TOML."""
    data = model.given().to_data()
    parts = [HEADING]
    if data["title"]:
        parts.append(assignment("title", data["title"]))
    parts.append(assignment("gravity", data["gravity"]))
    parts += _settings(data["suggested"])
    for what, base in (("bodies", Body), ("joints", Joint), ("forces", Force)):
        for name, part in data[what].items():
            parts.append(table_text(f"[{what}.{key_text(name)}]", _edge(part, base, name), spread=("ports",)))
    for scheduled in data["events"]:
        parts.append(table_text("[[events]]", dict(_event(scheduled))))
    if data.get("begin"):
        parts.append("\n# coordinates and velocities of bodies that begin elsewhere than they are described\n[begin]\n")
        parts += [assignment(key_text(name), state) for name, state in data["begin"].items()]
    if data.get("counted"):
        parts.append("\n# what joints count where they are made\n[counted]\n")
        parts += [assignment(key_text(name), value) for name, value in data["counted"].items()]
    if not (data["bodies"] or data["joints"]):
        parts.append("\n[bodies]\n")
    return "".join(parts)


def _settings(suggested: Mapping[str, Any]) -> Iterator[str]:
    """Under the name that people use; what they could not write there as it was saved."""
    if not suggested:
        return
    ours = all(key in SETTINGS and _is_read_back(value, SETTINGS[key]) for key, value in suggested.items())
    try:
        yield table_text("[settings]" if ours else "[suggested]", suggested)
    except ModelError as error:
        raise ModelError(f"suggested: {error}") from error


def _is_read_back(value: Any, annotation: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    if isinstance(value, int | float) and not 0.0 < value < float("inf"):
        return False
    try:
        return bool(read_value(_node(value), annotation, Scope()) == value)
    except ModelError:
        return False


def _edge(data: Mapping[str, Any], base: type[Component], name: str) -> dict[str, Any]:
    """A body, a joint or a force: its kind, where it is, and all else."""
    where = {key: data[key] for key in ("between", "on", "at") if key in data}
    if "breaks_at" in data:
        where["breaks_at"] = _part(data["breaks_at"], Limit, f"{name}, breaks_at")
    fields = {key: value for key, value in data.items() if key not in where}
    part = _part(fields, base, name)
    kind = next(iter(part))
    return {kind: part.pop(kind), **where, **part}


def _event(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        if key == "do":
            yield key, [_part(event, Event, "an event") for event in value]
        elif key == "when":
            yield key, _part(value, Condition, "a condition")
        else:
            yield key, value


def _part(data: Mapping[str, Any], base: type[Component], name: str) -> dict[str, Any]:
    """A part with its kind, where it is read back as it was."""
    written = [_by_kind(data, base, brief=True), _by_kind(data, base, brief=False)]
    for part in written:
        try:
            if _alike(read_part(_node(part), (base,), Scope()).to_data(), data) and _same(part):
                return part
        except FAILURES:
            continue
    if _same(data):
        return dict(data)
    raise ModelError(f"{name}: a {data['class']} holds what TOML has no form for; write the model as JSON, FILE.json.")


def _same(data: Mapping[str, Any]) -> bool:
    """Whether TOML gives back what was written."""
    try:
        return _alike(tomllib.loads(table_text("[part]", data, spread=("ports",)))["part"], data)
    except (ModelError, ValueError):
        return False


def _alike(one: Any, other: Any) -> bool:
    """Whether two are the same to the last letter: a whole number is no other, nor is a zero of another sign."""
    return json.dumps(one) == json.dumps(other)


def _by_kind(data: Mapping[str, Any], base: type[Component], *, brief: bool) -> dict[str, Any]:
    made = find_class(data["class"])
    hints = kind_of(made).hints
    found: dict[str, Any] = {"kind": short_name(base, made)}
    for key, value in data.items():
        if key != "class":
            found[key] = _written(value, hints.get(key, Any), brief)
    return found


def _written(value: Any, annotation: Any, brief: bool) -> Any:
    want = wanted(annotation)
    if value is None:
        return NONE
    if isinstance(value, Mapping):
        if "class" in value:
            if brief and value.keys() == {"class", "point"} and value["class"] == "modular:Port":
                return value["point"]
            bases = want.components or (Component,)
            return _by_kind(value, bases[0], brief=brief)
        inner = Any if want.values is None else want.values
        return {key: _written(item, inner, brief) for key, item in value.items()}
    if isinstance(value, list):
        if len(want.fixed) == len(value) > 0:
            return [_written(item, each, brief) for item, each in zip(value, want.fixed, strict=True)]
        return [_written(item, Any if want.items is None else want.items, brief) for item in value]
    return value


def _node(value: Any) -> Node:
    return Node(value, Source(Path("model.toml"), "", toml=True))
