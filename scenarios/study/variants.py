"""The couplings of a study: every coupling that was asked for, with every value that is swept."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from modular.component import Component
from modular.errors import ModelError
from modular.typed import read_component
from scenarios.settings import read_coupling

if TYPE_CHECKING:
    from coordinator.couplings import Coupling

TRUTH = {"true": "True", "false": "False", "none": "None"}


@dataclass(frozen=True)
class Sweep:
    """A field of the coupling, as a dotted name, and the values that it takes, as typed."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Variant:
    """A coupling in full, as it is typed, and the swept values that made it."""

    coupling: str
    values: dict[str, str] = field(default_factory=dict)
    base: str = ""  # the coupling that was swept, as it is typed


def read_sweep(text: str) -> Sweep:
    """A sweep from `rule.delta=0.1,0.2`; commas inside brackets belong to a value."""
    name, equals, values = text.partition("=")
    name = name.strip()
    parts = tuple(dict.fromkeys(split_outside(values)))
    if not (equals and parts and name and all(part.isidentifier() for part in name.split("."))):
        raise ModelError(f"--sweep {text}: write NAME=VALUE,VALUE,… such as --sweep rule.damping=0,0.05,0.1.")
    return Sweep(name, parts)


def variants(couplings: Sequence[str], sweeps: Sequence[Sweep]) -> tuple[Variant, ...]:
    """Every coupling with every combination of swept values, each once.

    A sweep changes the couplings that have its field and leaves the others alone; one that none of them has is refused. A name
    without dots may be that of an inner field, where there is but one of it.
    """
    texts = [canonical(text) for text in couplings]
    found = [Variant(text, base=text) for text in texts]
    for sweep in sweeps:
        found = _swept(found, sweep)
    unique: dict[str, Variant] = {}
    for variant in found:
        unique.setdefault(canonical(variant.coupling), variant)
    return tuple(unique.values())


def canonical(text: str) -> str:
    """A coupling as it is typed, without what it would do anyway."""
    return text_of(read_coupling(text, None))


def _swept(found: Sequence[Variant], sweep: Sweep) -> list[Variant]:
    sweep = _in_full(found, sweep)
    path = tuple(sweep.name.split("."))
    where = f"--sweep {sweep.name}"
    if any(sweep.name in variant.values for variant in found):
        raise ModelError(f"{where} is given twice; write all its values after one --sweep.")
    changed: list[Variant] = []
    lacking: list[str] = []
    for variant in found:
        coupling = read_coupling(variant.coupling, None)
        lack = _lacks(coupling, path)
        if lack is not None:
            lacking.append(f"in {variant.coupling}, {lack}")
            changed.append(variant)
            continue
        for value in sweep.values:
            text = _with_field(coupling, path, TRUTH.get(value.lower(), value))
            made = _coupling(text, f"{where}={value}, that is")
            shown = tuple(tuple(name.split(".")) for name in (*variant.values, sweep.name))
            changed.append(Variant(text_of(made, shown), variant.values | {sweep.name: value}, variant.base))
    if len(lacking) == len(found):
        raise ModelError(f"{where}: {'; '.join(dict.fromkeys(lacking))}.")
    return changed


def _in_full(found: Sequence[Variant], sweep: Sweep) -> Sweep:
    """The sweep under its dotted name, where a short one was typed."""
    couplings = [read_coupling(variant.coupling, None) for variant in found]
    if "." in sweep.name or not all(_lacks(coupling, (sweep.name,)) for coupling in couplings):
        return sweep
    ends = f".{sweep.name}"
    names = sorted({name for coupling in couplings for name in _names(coupling) if name.endswith(ends)})
    if len(names) > 1:
        raise ModelError(f"--sweep {sweep.name}: which one? There are {' and '.join(names)}; write its whole name.")
    return replace(sweep, name=names[0]) if names else sweep


def _names(component: Component, before: str = "") -> Iterator[str]:
    """Dotted names of all settings of a component and of those inside it."""
    for f in _fields(component):
        yield before + f.name
        inner = getattr(component, f.name)
        if isinstance(inner, Component):
            yield from _names(inner, f"{before}{f.name}.")


def _coupling(text: str, option: str) -> Coupling:
    from coordinator.couplings import Coupling

    made: Coupling = read_component(Coupling, text, option)
    return made


def _lacks(component: Component, path: Sequence[str]) -> str | None:
    """Why a component has no such field, in words; None where it has one."""
    name, rest = path[0], path[1:]
    known = [f.name for f in _fields(component)]
    kind = type(component).__name__
    if name not in known:
        steps = "; steps are given as --dt 1e-3,5e-4" if name in ("dt", "step", "steps") else ""
        return f"{kind} has no setting '{name}'{_meant(component, name)}; it has: {', '.join(known) or 'none'}{steps}"
    inner = getattr(component, name)
    if rest and not isinstance(inner, Component):
        return f"'{name}' of {kind} is {inner!r}, which has no setting '{rest[0]}'; sweep '{name}' itself"
    return _lacks(inner, rest) if rest else None


def _meant(component: Component, name: str) -> str:
    """What may have been meant, here or further inside."""
    names = list(_names(component))
    near = difflib.get_close_matches(name, dict.fromkeys(full.rpartition(".")[2] for full in names), 1)
    full = [f"'{full}'" for full in names if near and full.rpartition(".")[2] == near[0]]
    return f" (did you mean {' or '.join(full)}?)" if full else ""


def _with_field(component: Component, path: Sequence[str], value: str) -> str:
    """The text of a component with one field changed, some levels down."""
    name, rest = path[0], path[1:]
    changed = _with_field(getattr(component, name), rest, value) if rest else value
    return _written(component, {name: changed}, ())


def text_of(component: Component, shown: Sequence[Sequence[str]] = ()) -> str:
    """A component as it is typed, with what differs from its defaults: penalty(rule=shannon(delta=0.2)).

    `shown`: paths of fields that are written in any case.
    """
    return _written(component, {}, shown)


def _written(component: Component, changed: dict[str, str], shown: Sequence[Sequence[str]]) -> str:
    from coordinator.couplings import Centralized

    if isinstance(component, Centralized) and "solver" not in changed:  # known by the name of its solver alone
        return text_of(component.solver, [path[1:] for path in shown if path[0] == "solver" and path[1:]])
    words = []
    for f in _fields(component):
        value = getattr(component, f.name)
        inner = [path[1:] for path in shown if path[0] == f.name]
        if f.name in changed:
            words.append(f"{f.name}={changed[f.name]}")
        elif inner or not _is_default(f, value):
            words.append(f"{f.name}={_value(value, [path for path in inner if path])}")
    name = type(component).__name__.lower()
    return f"{name}({', '.join(words)})" if words else name


def _value(value: Any, shown: Sequence[Sequence[str]]) -> str:
    if isinstance(value, Component):
        return text_of(value, shown)
    return value if isinstance(value, str) and value.isidentifier() else repr(value)


def _fields(component: Component) -> list[dataclasses.Field[Any]]:
    return [f for f in dataclasses.fields(component) if f.init]


def _is_default(f: dataclasses.Field[Any], value: Any) -> bool:
    if f.default is not dataclasses.MISSING:
        return bool(value == f.default)
    return f.default_factory is not dataclasses.MISSING and bool(value == f.default_factory())


def split_outside(text: str) -> list[str]:
    """The parts between commas that stand in no brackets."""
    parts, depth, start = [], 0, 0
    for k, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(text[start:k])
            start = k + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]
