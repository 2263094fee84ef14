"""Tables as data: what a worker in another process is given, and what a checkpoint holds.

The class of a table and its loops go by name, "module:name", and are looked up only in packages that declare themselves under
the entry point `modular.components`; its numbers go as arrays. What a class keeps beside its columns it names in `details`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from modular.component import known_packages
from modular.errors import ModelError
from modular.loop import Loop
from modular.table import ALIKE, COLUMN, FIXED, Table


def described(table: Table) -> tuple[dict[str, Any], dict[str, Any]]:
    """A table as data and arrays; rows beyond those in use stay behind."""
    fields, arrays = [], {}
    for name, kind, dtype, shape in table.fields():
        fields.append([name, kind, dtype, list(shape)])
        array = getattr(table, name)
        if kind == COLUMN and len(array) < table.capacity:
            continue  # folded
        arrays[name] = array[: {COLUMN: table.count, ALIKE: 1}.get(kind)]
    data = {
        "class": named(type(table)),
        "count": table.count,
        "fields": fields,
        "loops": {verb: named(loop) for verb, loop in table.loops.items()},
        "details": table.details(),
    }
    return data, arrays


def revived(data: Mapping[str, Any], arrays: Mapping[str, Any], owner: str, like: Table | None = None) -> Any:
    """The table that was described; `owner` is named in errors.

    `like`: an empty table of the same kind, where there is one; then its class and its loops need not be looked up.
    """
    kind = type(like) if like is not None and named(type(like)) == data["class"] else found(data["class"], owner)
    if not (isinstance(kind, type) and issubclass(kind, Table)):
        raise ModelError(f"{owner}: {data['class']!r} is no table.")
    ready = {} if like is None else {named(loop): loop for loop in like.loops.values()}
    table: Any = object.__new__(kind)
    Table.__init__(table, int(data["count"]))
    for name, what, dtype, shape in data["fields"]:
        array = arrays.get(name)
        if array is None and what != COLUMN:
            raise ModelError(f"{owner}: column '{name}' of {data['class']} is missing.")
        if array is not None and (array.dtype.name != dtype or array.ndim != len(shape) + (what != FIXED)):
            raise ModelError(
                f"{owner}: column '{name}' of {data['class']} holds {array.dtype} in {array.ndim} dimensions."
            )
        table.take_field(name, what, dtype, shape, array)
    table.loops = {verb: ready.get(name) or _loop(name, owner) for verb, name in data["loops"].items()}
    table.recall(data["details"])
    return table


def named(thing: Any) -> str:
    """Where a class or loop is found again."""
    return f"{thing.__module__}:{thing.__name__}"


def found(name: str, owner: str) -> Any:
    """The class, loop or function called "module:name"; only in packages that declare themselves."""
    module, _, attribute = name.partition(":")
    if module.partition(".")[0] not in known_packages():
        raise ModelError(
            f"{owner}: {name!r} is in none of the packages known here ({', '.join(sorted(known_packages()))}); install its package "
            "where this worker runs, and let it declare the entry point 'modular.components'."
        )
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ModelError(
            f"{owner}: {name!r} is not installed here ({error}); install the same versions on all machines."
        ) from error


def _loop(name: str, owner: str) -> Loop:
    loop = found(name, owner)
    if not isinstance(loop, Loop):
        raise ModelError(f"{owner}: {name!r} is no compiled loop.")
    return loop
