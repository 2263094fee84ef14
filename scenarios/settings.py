"""Settings as typed on the command line: `--set bodies=100`, `--rule "stable(safety=1.3)"`, `--coupling penalty`.

A component is written as a name, or as a name with keywords: `stable`, `shannon(delta=0.25)`,
`penalty(rule=shannon, internal=thesis)`. Capitals do not matter. Every coupling and rule that exists can be named, with the
settings of its class; a preset such as `thesis` is a class method of the class that it sets up.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import inspect
import json
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

from modular.errors import ModelError
from scenarios import catalogue

if TYPE_CHECKING:
    from coordinator.couplings import Coupling
    from modular.assembly import Assembly

# --- settings of a scenario ------------------------------------------------------------------------------------------


def read_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Settings from `NAME=VALUE`; a value is read as JSON and, where it is none, as text."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        name = name.strip()
        if not (name and equals):
            raise ModelError(f"--set {pair}: write NAME=VALUE, such as --set bodies=100.")
        if name in settings:
            raise ModelError(f"--set {name} is given twice: {settings[name]} and {text}; keep one of them.")
        try:
            settings[name] = json.loads(text)
        except json.JSONDecodeError:
            settings[name] = text
    return settings


def fit_settings(target: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a ready scenario, held against the type of their defaults; unknown ones are left to `catalogue.build`."""
    if target not in catalogue.names():
        return dict(settings)
    _, defaults = catalogue.describe(target)
    fitted = dict(settings)
    for name in settings.keys() & defaults.keys():
        try:
            default = ast.literal_eval(defaults[name])
        except ValueError:
            continue  # an expression: the scenario checks it
        fitted[name] = _as_type(
            type(default), settings[name], f"--set {name}={settings[name]}", f"its default is {default!r}"
        )
    return fitted


# --- couplings and rules ---------------------------------------------------------------------------------------------


def read_coupling(coupling: str | None, rule: str | None) -> Coupling:
    """The coupling of a run; `rule` chooses the stiffness rule of a coupling that has one."""
    from coordinator.couplings import Coupling, Penalty
    from coordinator.rules import StiffnessRule

    chosen: Any = Penalty() if coupling is None else _coupling_or_solver(Coupling, coupling)
    if rule is None:
        return cast("Coupling", chosen)
    if "rule" not in {field.name for field in dataclasses.fields(chosen)}:
        raise ModelError(
            f"--rule {rule}: the coupling {type(chosen).__name__} has no stiffness rule; leave --rule out."
        )
    if coupling is not None and "rule" in _keywords(_parse(coupling, "--coupling")):
        raise ModelError(f"the rule is given twice, in --coupling {coupling} and in --rule {rule}; keep one of them.")
    return cast("Coupling", dataclasses.replace(chosen, rule=read_component(StiffnessRule, rule, "--rule")))


def coupling_for(assembly: Assembly, coupling: str | None, rule: str | None) -> Coupling:
    """The coupling that was asked for; where neither it nor a rule was, the one that the model suggests."""
    if coupling is None and rule is None:
        coupling = assembly.suggested.get("coupling")
    return read_coupling(coupling, rule)


def _coupling_or_solver(kind: type, text: str) -> Any:
    """A coupling, or a centralized solver by its own name: `hht(alpha=0.05)` for `centralized(solver=hht(alpha=0.05))`."""
    from coordinator.centralized import Solver
    from coordinator.couplings import Centralized

    node = _parse(text, "--coupling")
    function = node.func if isinstance(node, ast.Call) else node
    if isinstance(function, ast.Name) and function.id.lower() in _makers(Solver):
        return Centralized(_component(Solver, node, f"--coupling {text}"))
    return _component(kind, node, f"--coupling {text}", also=_makers(Solver))


def read_component(kind: type, text: str, option: str) -> Any:
    """The component of a kind that `name` or `name(key=value, …)` describes."""
    return _component(kind, _parse(text, option), f"{option} {text}")


def _parse(text: str, option: str) -> ast.expr:
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        node = ast.Constant(None)
    if not (isinstance(node, ast.Name) or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name))):
        raise ModelError(
            f"{option} {text}: cannot be read; write a name, or name(key=value, …) such as stable(safety=1.3)."
        )
    return node


def _keywords(node: ast.expr) -> list[str]:
    return [word.arg or "**" for word in node.keywords] if isinstance(node, ast.Call) else []


def _component(kind: type, node: ast.expr, where: str, also: Iterable[str] = ()) -> Any:
    known = _makers(kind)
    function = node.func if isinstance(node, ast.Call) else node
    name = function.id if isinstance(function, ast.Name) else ast.unparse(function)
    maker = known.get(name.lower())
    if maker is None:
        raise ModelError(
            f"{where}: there is no {_words(kind.__name__)} '{name}'; {_hint(name.lower(), [*known, *also])}"
        )
    if isinstance(node, ast.Call) and node.args:
        raise ModelError(f"{where}: name every setting, such as {_example(maker)}.")
    given = _keywords(node)
    hints = typing.get_type_hints(maker) if isinstance(maker, type) else {}
    fields = [field for field in dataclasses.fields(maker) if field.init] if isinstance(maker, type) else []
    values: dict[str, Any] = {}
    for word, argument in zip(given, node.keywords if isinstance(node, ast.Call) else (), strict=True):
        if word not in [field.name for field in fields]:
            raise ModelError(
                f"{where}: {name} has no setting '{word}'; {_hint(word, [field.name for field in fields])}"
            )
        if word in values:
            raise ModelError(f"{where}: '{word}' is given twice; keep one of them.")
        values[word] = _value(hints[word], argument.value, f"{where}: {word} = {ast.unparse(argument.value)}")
    missing = [
        field.name
        for field in fields
        if field.name not in values and field.default is field.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise ModelError(
            f"{where}: {name} needs {' and '.join(missing)}; give {', '.join(f'{word}=…' for word in missing)}."
        )
    return maker(**values)


def _makers(kind: type) -> dict[str, Callable[..., Any]]:
    """What a kind can be made from: its classes by name, and their presets."""
    from modular.component import Component

    classes = [c for c in Component.registered.values() if issubclass(c, kind) and dataclasses.is_dataclass(c)]
    makers: dict[str, Callable[..., Any]] = {c.__name__.lower(): c for c in classes}
    for c in classes:
        for name, member in vars(c).items():
            if isinstance(member, classmethod) and not name.startswith("_"):
                preset = getattr(c, name)
                if not inspect.signature(preset).parameters:
                    makers[name.lower()] = preset
    return makers


def _value(hint: Any, node: ast.expr, where: str) -> Any:
    from modular.component import Component

    if isinstance(hint, type) and issubclass(hint, Component):
        if not isinstance(node, ast.Name | ast.Call):
            raise ModelError(f"{where} is no {_words(hint.__name__)}; {_hint('', _makers(hint))}")
        return _component(hint, node, where)
    kinds = typing.get_args(hint) or (hint,)
    parts = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Component)]
    if parts and isinstance(node, ast.Call):
        return _component(parts[0], node, where)
    if parts and isinstance(node, ast.Dict) and node.keys and None not in node.keys:
        pairs = zip(node.keys, node.values, strict=True)
        return {_literal(key): _component(parts[0], value, where) for key, value in pairs if key}
    try:
        value = _literal(node)
    except ValueError:
        value = ast.unparse(node)
    if isinstance(value, dict | list | tuple):
        return value
    if value is None and type(None) in kinds:
        return None
    if bool in kinds:
        spoken = {"true": True, "false": False}.get(str(value).lower(), value)
        return _as_type(bool, spoken, where, "")
    numbers = [kind for kind in kinds if kind in (int, float)]
    return _as_type(numbers[0], value, where, "") if numbers else value


def _literal(node: ast.expr) -> Any:
    """Numbers, texts, lists and mappings; names stand for themselves."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(item) for item in node.elts]
    if isinstance(node, ast.Dict) and None not in node.keys:
        return {_literal(key): _literal(value) for key, value in zip(node.keys, node.values, strict=True) if key}
    return ast.literal_eval(node)


# --- shared ----------------------------------------------------------------------------------------------------------


def _as_type(kind: type, value: Any, where: str, why: str) -> Any:
    """`value` as a number or truth value where the setting is one."""
    because = f"; {why}" if why else ""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is bool and not isinstance(value, bool):
        raise ModelError(f"{where}: give true or false{because}.")
    if kind is int:
        if not number or not isfinite(value) or int(value) != value:
            raise ModelError(f"{where}: give a whole number{because}.")
        return int(value)
    if kind is float:
        if not number:
            raise ModelError(f"{where}: give a number{because}.")
        return float(value)
    if kind is str and not isinstance(value, str):
        return str(value)
    return value


def _hint(name: str, known: Iterable[str]) -> str:
    known = sorted(known)
    near = difflib.get_close_matches(name, known, 1)
    if not known:
        return "there are none."
    return (f"did you mean '{near[0]}'? There are: " if near else "there are: ") + ", ".join(known) + "."


def _words(name: str) -> str:
    """ "StiffnessRule" as people say it."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()


def _example(maker: Callable[..., Any]) -> str:
    if not isinstance(maker, type):
        return "thesis"
    fields = [f for f in dataclasses.fields(maker) if f.default is not dataclasses.MISSING]
    if fields:
        return f"{maker.__name__.lower()}({fields[0].name}={fields[0].default!r})"
    parts = [f for f in dataclasses.fields(maker) if callable(f.default_factory)]
    return f"{maker.__name__.lower()}({parts[0].name}={_class_of(parts[0])})" if parts else maker.__name__.lower()


def _class_of(field: dataclasses.Field[Any]) -> str:
    """The class of a field's default, as it is typed."""
    assert callable(field.default_factory)
    return type(field.default_factory()).__name__.lower()
