"""Kinds of joints and forces that a form offers: all that are known here, with what there is to say of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from modular.component import Component, known_packages
from modular.typed import read_component

Kind = TypeVar("Kind", bound=Component)
FUNCTION = re.compile(r"[\w.]+:[\w.]+")
LEFT_OUT = "Leave empty to omit; otherwise numbers such as 0, 0, 1"


def kinds_of(base: type[Kind], dimension: int) -> dict[str, type[Kind]]:
    """Those that mean something in the plane, or in space, by their names."""
    known = known_packages()
    found = [
        kind
        for name, kind in Component.registered.items()
        if issubclass(kind, base) and name.partition(":")[0] in known and not _unfinished(kind)
        and dimension in getattr(kind, "dimensions", (2, 3))
    ]  # fmt: skip
    return {kind.__name__: kind for kind in sorted(found, key=lambda kind: kind.__name__)}


def _unfinished(kind: type) -> bool:
    """Whether it leaves something to those that are derived from it."""
    return any(getattr(getattr(kind, name, None), "__isabstractmethod__", False) for name in dir(kind))


def data_of(kind: type[Component]) -> list[str]:
    """The names of what there is to say."""
    return [field.name for field in fields(kind)]


def described(base: type[Kind], kind: str, handles: Mapping[str, Any], where: str) -> Kind:
    """The joint or force that fields of text describe, read as on the command line; those that are hidden or empty are left out."""
    given = []
    for name, handle in handles.items():
        text = handle.value.strip()
        if FUNCTION.fullmatch(text):  # "module:function" is no expression
            text = repr(text)
        if handle.visible and text:
            given.append(f"{name}=({text})")
    found: Kind = read_component(base, f"{kind.lower()}({', '.join(given)})", where)
    return found
