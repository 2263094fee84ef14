"""How components are told about in the panels: units, numbers, descriptions; and HTML that says what it is given and no more."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from coordinator.couplings.with_components import WithComponents
from coordinator.laboratory.snapshot import Plan
from modular.assembly import JointEdge
from modular.body import Body
from modular.component import Component

UNITS = {
    "mass": "kg", "mass_at_start": "kg", "mass_at_end": "kg", "length": "m", "radius": "m", "inertia": "kg m²", "stiffness": "N/m",
    "damping": "N s/m", "force": "N", "moment": "N m", "most": "N",
}  # fmt: skip
MAX_LABEL_LENGTH = 20  # letters of a name in a label
RED, DIM, GREEN = "#c92a2a", "var(--mantine-color-dimmed)", "#2b8a3e"


def short(name: str, most: int = MAX_LABEL_LENGTH) -> str:
    """A name in so many letters at most: its beginning and its end, by which those that are alike differ."""
    end = most // 3
    return name if len(name) <= most else f"{name[: most - end - 1]}…{name[-end:]}"


def label_of(number: str, name: str) -> str:
    """Of a field: "mass of upper [kg]"."""
    unit = UNITS.get(number)
    return f"{number.replace('_', ' ')} of {short(name)}" + (f" [{unit}]" if unit else "")


def describe(value: object) -> str:
    """A value in a few letters."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int | float):
        return f"{value:.4g}"
    if isinstance(value, Component):
        return class_of(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {describe(item)}" for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "(" + ", ".join(map(describe, value)) + ")"
    return str(value)


def class_of(component: object) -> str:
    """The name of its class."""
    return type(component).__name__


# --- HTML ------------------------------------------------------------------------------------------------------------


def safe(text: object) -> str:
    """A text that shows as it is: names come from files, and are never part of the page."""
    return html.escape(str(text), quote=True)


def block(*lines: str, size: float = 0.8) -> str:
    """Some lines of HTML."""
    inner = "".join(f"<div>{line}</div>" for line in lines if line)
    style = f"font-size:{size}em;line-height:1.4;padding:0 0.8em 0.5em;color:inherit;overflow-wrap:anywhere"
    return f'<div style="{style}">{inner}</div>'


def dim(text: object) -> str:
    """Something of less weight."""
    return f'<span style="color:{DIM}">{safe(text)}</span>'


def in_red(text: object) -> str:
    """Something that should not be."""
    return f'<span style="color:{RED};font-weight:600">{safe(text)}</span>'


def swatch(colour: str, text: object) -> str:
    """A text with a mark of its colour, as in a legend."""
    return (
        f'<span style="white-space:nowrap;margin-right:0.9em"><span style="color:{colour}">■</span> {safe(text)}</span>'
    )


def table(rows: Sequence[tuple[str, str]]) -> str:
    """Names and values side by side."""
    cells = "".join(
        f'<tr><td style="color:{DIM};padding-right:0.8em">{safe(name)}</td><td style="text-align:right">{safe(value)}</td></tr>'
        for name, value in rows
    )
    return f'<table style="font-variant-numeric:tabular-nums;width:100%">{cells}</table>'


# --- descriptions ----------------------------------------------------------------------------------------------------


def about_body(plan: Plan, name: str, body: Body) -> str:
    """What kind of body it is."""
    merged = [other for group in plan.groups if name in group for other in group if other != name]
    freedoms = body.freedoms
    mass = "led" if body.led else f"{describe(body.total_mass)} kg"
    return block(
        f"<b>{safe(class_of(body))}</b> · {safe(mass)} · {freedoms} freedom{'s' * (freedoms != 1)}",
        dim("ports: " + (", ".join(body.port_names) or "none")),
        dim(f"one component with {', '.join(merged)}") if merged else "",
    )


def about_joint(plan: Plan, name: str, edge: JointEdge) -> str:
    """What kind of joint it is, what it connects and how it is treated."""
    data = [f"{key} {describe(value)}" for key, value in data_of(edge.joint).items()]
    limits = () if edge.breaks_at is None else ((edge.breaks_at.force, "N"), (edge.breaks_at.impulse, "N s"))
    breaks = [f"{value:.4g} {unit}" for value, unit in limits if value is not None]
    way, alert = treatment(plan, name)
    return block(
        f"<b>{safe(class_of(edge.joint))}</b> · {safe(edge.first)} — {safe(edge.second)}",
        dim(", ".join(data)) if data else "",
        in_red(way) if alert else dim(way),
        dim(f"breaks at {' or '.join(breaks)}") if breaks else "",
    )


def about_force(name: str, force: Component, ports: Sequence[object]) -> str:
    """What acts, and on what."""
    rest = {k: v for k, v in data_of(force).items() if not is_number(v) and not is_vector(v)}
    return block(
        f"<b>{safe(class_of(force))}</b> · {safe(' — '.join(map(str, ports)))}",
        dim(", ".join(f"{key} {describe(value)}" for key, value in rest.items())) if rest else "",
    )


def treatment(plan: Plan, name: str) -> tuple[str, bool]:
    """How a joint is treated, and whether it is beyond its limit."""
    margin = plan.margins.get(name)
    way, why = plan.ways.get(name, ("", ""))
    if way:
        text = f"{way}: {why}" if why else way
    else:
        text = "spring" if isinstance(plan.coupling, WithComponents) else f"closed by {class_of(plan.coupling)}"
    if margin is None:
        return text, False
    load = f" under the load on {plan.loads[name]}" if name in plan.loads else ""
    return f"{text}, margin {margin:.3g}{load}" + (" (unstable)" if margin < 1.0 else ""), margin < 1.0


def data_of(component: Component) -> dict[str, Any]:
    """Its data that were given."""
    found = {field.name: getattr(component, field.name) for field in fields(component)}
    return {name: value for name, value in found.items() if value is not None}


def is_number(value: object) -> bool:
    """Whether it can be edited as a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_vector(value: object) -> bool:
    """Whether it can be edited as two numbers or three."""
    return isinstance(value, tuple) and len(value) in (2, 3) and all(map(is_number, value))


def free_name(stem: str, taken: set[str]) -> str:
    """`stem-1`, or the next that is free."""
    number = 1
    while f"{stem}-{number}" in taken:
        number += 1
    return f"{stem}-{number}"
