"""Options that belong together: fields of one dataclass, which a command takes as one parameter."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

NAMED = inspect.Parameter.KEYWORD_ONLY


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command as the command line reads it: in place of a parameter whose type is a dataclass stand its fields."""
    kinds = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in kinds.items() if is_dataclass(kind)}
    shown = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in groups:
            shown += _options(groups[parameter.name])
        else:
            shown.append(parameter.replace(kind=NAMED, annotation=kinds[parameter.name]))

    def called(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{option.name: given.pop(option.name) for option in _options(kind)})
        command(**given)

    called.__name__, called.__module__, called.__doc__ = command.__name__, command.__module__, command.__doc__
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    called.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    return called


def _options(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [inspect.Parameter(f.name, NAMED, default=f.default, annotation=hints[f.name]) for f in fields(kind)]
