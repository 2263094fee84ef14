"""Couplings as people type them, and those that are offered for choice."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace
from typing import Any

from coordinator.couplings import Coupling
from modular.component import Component
from scenarios.settings import read_coupling

OFFERED = {
    "penalty": "penalty",
    "penalty, gains of the thesis": "penalty(internal=thesis)",
    "penalty, guarded": "penalty(guard=true)",
    "penalty, adaptive": "penalty(adaptive=1e-4)",
    "glued, order 2": "glued",
    "glued, order 4": "glued(order=4)",
    "glued, order 6": "glued(order=6)",
    "glued, order 8": "glued(order=8)",
    "relaxed": "relaxed",
    "mixed, auto": "mixed",
    "merged": "merged",
    "whole: minimal coordinates": "minimalcoordinates",
    "whole: HHT": "hht",
}
OTHER = "as typed"


def as_typed(component: Component) -> str:
    """A component as `read_coupling` reads it: its name, and the settings that are not as usual."""
    given = []
    for field in fields(component):
        value = getattr(component, field.name)
        if field.default is not MISSING:
            usual = field.default
        else:
            usual = MISSING if field.default_factory is MISSING else field.default_factory()
        if usual is MISSING or value != usual:
            given.append(f"{field.name}={_value(value)}")
    name = type(component).__name__.lower()
    return f"{name}({', '.join(given)})" if given else name


def _value(value: Any) -> str:
    if isinstance(value, Component):
        return as_typed(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_value(key)}: {_value(item)}" for key, item in value.items()) + "}"
    return repr(value)


def offered(coupling: Coupling) -> str:
    """Which of the offered couplings it is, whatever its stiffness rule; `OTHER`, if none."""
    for name, text in OFFERED.items():
        if with_rule_of(coupling, read_coupling(text, None)) == coupling:
            return name
    return OTHER


def with_rule_of(old: Coupling, new: Coupling) -> Coupling:
    """A coupling with the stiffness rule of another, where both have one."""
    rule = getattr(old, "rule", None)
    if rule is None or not hasattr(new, "rule"):
        return new
    return replace(new, rule=rule)
