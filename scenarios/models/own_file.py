"""A model out of our own file, TOML or JSON: what is in it, as people write it or as it was saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from sys import intern
from typing import Any

import numpy as np

from modular.assembly import Assembly, Beginning
from modular.body import Body
from modular.errors import ModelError
from modular.events import Condition, Event
from modular.force import Force
from modular.joint import Joint
from modular.limit import Limit
from scenarios.models.document import Node
from scenarios.models.gathering import Gathered, Part, gathered
from scenarios.models.places import note
from scenarios.models.solid_parts import body_of_solid
from scenarios.models.values import FAILURES, Scope, number, read_part, read_value, told

SETTINGS: Mapping[str, Any] = {"dt": float, "until": float, "record_every": int, "coupling": str}
SI = "SI"


def read_own(path: str | Path, settings: Mapping[str, Any] | None = None) -> Assembly:
    """The model of a TOML or JSON file; `settings` are values for its parameters."""
    path = Path(path)
    try:
        found = gathered(path, settings or {})
        model = _built(found)
    except RecursionError as error:
        raise ModelError(f"{path}: its parts are nested too deeply to be read.") from error
    note(found)
    return model


def _built(found: Gathered) -> Assembly:
    top, scope = found.top, found.scope
    if not top.value.keys() & {"bodies", "include", "repeat"}:
        raise top.refuse('it has no bodies; write such as [bodies.rod] with kind = "Rod".')
    assembly = _empty(top, scope)
    for name, part in found.bodies.items():
        _add(assembly, name, part)
    for name, part in found.joints.items():
        _join(assembly, name, part)
    for name, part in found.forces.items():
        _apply(assembly, name, part)
    for part in found.events:
        _schedule(assembly, part)
    for name, part in found.begin.items():
        _begin(assembly, name, part)
    for name, part in found.zeros.items():
        _count(assembly, name, part)
    _settle(assembly, top, scope)
    return _assembled(assembly, top, scope)


def _empty(top: Node, scope: Scope) -> Assembly:
    if (units := top.get("units")) is not None and units.value != SI:
        raise units.refuse(
            f'{units.value!r}; all numbers are in m, kg, s, N and rad, units = "{SI}"; others are written where they are, '
            'such as "120 * mm" or "30 * deg".'
        )
    title = top.get("title")
    words = "" if title is None else read_value(title, str, scope)
    try:
        gravity = top.get("gravity")
        if gravity is None:
            return Assembly(title=words)
        return Assembly(read_value(gravity, Sequence[float], scope), title=words)
    except FAILURES as error:
        raise told(error, top) from error


def _add(assembly: Assembly, name: str, part: Part) -> None:
    node, scope = part
    if "solid" in node.table().value and "class" not in node.value:
        body = body_of_solid(node, assembly.dimension, scope)
    else:
        body = read_part(node, (Body,), scope)
    try:
        assembly.add(name, body)
    except FAILURES as error:
        raise told(error, node) from error


def _join(assembly: Assembly, name: str, part: Part) -> None:
    node, scope = part
    joint = read_part(node, (Joint,), scope, besides=("between", "at", "breaks_at"))
    ports = _ports(node, "between", scope, '["ground", "rod.start"]')
    if len(ports) != 2:
        raise node.refuse(f"{len(ports)} ports; a joint is between two.", "between")
    limit = node.get("breaks_at")
    breaks_at = None if limit is None else read_value(limit, Limit | None, scope)
    try:
        assembly.join(name, joint, *ports, at=_at(node, scope), breaks_at=breaks_at)
    except FAILURES as error:
        raise told(error, node) from error


def _apply(assembly: Assembly, name: str, part: Part) -> None:
    node, scope = part
    force: Force = read_part(node, (Force,), scope, besides=("on", "at", "joint"))
    joint = node.get("joint")
    ports = (
        _ports(node, "on", scope, '["ground", "rod.end"], or joint = "elbow"')
        if joint is None or "on" in node.value
        else ()
    )
    at = _at(node, scope)
    if "class" in node.value and force.placed_by:
        at = None  # older files gave a contact one, without effect
    try:
        along = None if joint is None else read_value(joint, str, scope)
        assembly.apply(name, force, *ports, at=at, joint=along)
    except FAILURES as error:
        raise told(error, node) from error


def _ports(node: Node, key: str, scope: Scope, example: str) -> tuple[str, ...]:
    ports = node.get(key)
    if ports is None:
        raise node.refuse(f"it has no {key}; name its ports, such as {key} = {example}.")
    found = read_value(ports, Sequence[str] | str, scope)
    return (found,) if isinstance(found, str) else found


def _at(node: Node, scope: Scope) -> Any:
    at = node.get("at")
    return None if at is None else read_value(at, Sequence[float] | None, scope)


def _schedule(assembly: Assembly, part: Part) -> None:
    node, scope = part
    node.table(("at", "when", "repeats", "do"))
    if ("at" in node.value) == ("when" in node.value):
        raise node.refuse("give a time, at = … [s], or a condition, when = { … }; one of both.")
    if "do" not in node.value:
        raise node.refuse('it has no do; say what happens, such as do = [{ kind = "Cut", joint = "pin" }].')
    events = [read_part(each, (Event,), scope) for each in node.inside("do").parts()]
    try:
        if (at := node.get("at")) is not None:
            if "repeats" in node.value:
                raise ModelError("repeats = … has no meaning for a time; leave it out.")
            assembly.at(number(at, scope, "a time [s]"), *events)
            return
        repeats = node.get("repeats")
        again = repeats is not None and bool(read_value(repeats, bool, scope))
        assembly.when(read_part(node.inside("when"), (Condition,), scope), *events, repeats=again)
    except FAILURES as error:
        raise told(error, node) from error


def _begin(assembly: Assembly, name: str, part: Part) -> None:
    node, scope = part
    try:
        assembly.known(name, assembly.bodies, "body")
        state = [np.array(read_value(each, Any, scope), float) for each in node.parts()]
        assembly.begin[intern(str(name))] = Beginning(*state)
    except FAILURES as error:
        raise told(error, node) from error


def _count(assembly: Assembly, name: str, part: Part) -> None:
    node, scope = part
    try:
        assembly.count(name, number(node, scope, "a value"))
    except FAILURES as error:
        raise told(error, node) from error


def _settle(assembly: Assembly, top: Node, scope: Scope) -> None:
    """What suits it: as written, or under the name that `Assembly.save` gives it."""
    if "suggested" in top.value:
        if "settings" in top.value:
            raise top.refuse("settings are there already under that name; keep one of both.", "suggested")
        assembly.suggested = dict(top.inside("suggested").table().value)
    elif (settings := top.get("settings")) is not None:
        settings.table(SETTINGS, "setting")
        assembly.suggested = {key: _setting(key, each, scope) for key, each in settings.items()}


def _setting(key: str, node: Node, scope: Scope) -> Any:
    value = read_value(node, SETTINGS[key], scope)
    if key == "coupling":
        import coordinator.equations.formulas  # so that these are known by name
        import coordinator.equations.generated  # noqa: F401
        from coordinator.couplings.coupling import coupling_named

        try:
            coupling_named(value, "coupling")
        except ModelError as error:
            raise node.refuse(str(error).removeprefix(f"coupling {value}: ")) from error
    if isinstance(value, int | float) and not 0.0 < value < np.inf:
        raise node.refuse(f"{value}; give a number above 0.")
    return value


def _assembled(assembly: Assembly, top: Node, scope: Scope) -> Assembly:
    """Bodies moved until all joints are closed, where that is asked for."""
    wish = top.get("assemble")
    if wish is None or wish.value is False:
        return assembly
    hold: Sequence[str] = ()
    if isinstance(wish.value, dict):
        wish.table(("hold",))
        held = wish.get("hold")
        hold = () if held is None else read_value(held, Sequence[str], scope)
    elif wish.value is not True:
        raise wish.refuse('give true, or what stays where it is: { hold = ["crank"] }.')
    from coordinator.analysis import assemble

    try:
        return assemble(assembly, hold=hold)
    except FAILURES as error:
        raise told(error, wish) from error
