"""Tables as data: what a worker in another process is given, and what a checkpoint holds.

The class of a table and its loops go by name, "module:name", and are looked up only in packages that declare themselves under
the entry point `modular.components`; its numbers go as arrays. What a class keeps beside its columns it names in `details`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from modular.component import known_packages
from modular.errors import ModelError
from modular.loop import Loop
from modular.table import ALIKE, COLUMN, COMMON, FIXED, Table


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
    if like is not None and (said := _unlike(data, like)):
        raise ModelError(f"{owner}: {data['class']} has {said}, which this version does not know.")
    kind = type(like) if like is not None else found(data["class"], owner)
    if not (isinstance(kind, type) and issubclass(kind, Table)):
        raise ModelError(f"{owner}: {data['class']!r} is not a table.")
    ready = {} if like is None else {named(loop): loop for loop in like.loops.values()}
    table: Any = object.__new__(kind)
    Table.__init__(table, int(data["count"]))
    folded = {name for name, what, *_ in data["fields"] if what == COLUMN and (like is None or like.folds(name))}
    for names in () if like is None else like.together:
        if arrays.keys() & folded.intersection(names):
            folded -= set(names)  # all of them or none
    for name, what, dtype, shape in data["fields"]:
        array = arrays.get(name)
        if array is None and name not in folded:
            raise ModelError(f"{owner}: column '{name}' of {data['class']} is missing.")
        if array is not None and not _fits(array, what, dtype, shape, data["count"]):
            raise ModelError(f"{owner}: column '{name}' of {data['class']} holds {array.dtype} in shape {array.shape}.")
        table.take_field(name, what, dtype, shape, array)
    table.loops = {verb: ready.get(name) or _loop(name, owner) for verb, name in data["loops"].items()}
    table.recall(data["details"])
    if table.count != data["count"]:
        raise ModelError(f"{owner}: {data['class']} names {table.count} rows, and has {data['count']}.")
    return table


def check_places(table: Table, elements: Table, owner: str) -> None:
    """Refuse numbers by which compiled loops would reach beyond the tables."""
    for name, highest in table.limits(elements.capacity):
        column = getattr(table, name)[: table.count]
        if column.size and not (column.min() >= 0 and (column <= highest).all()):
            raise ModelError(f"{owner}: '{name}' of {named(type(table))} points outside its table.")


def _unlike(data: Mapping[str, Any], like: Table) -> str:
    """What a table from data has that one of the same kind, just made, has not."""
    if data["class"] != named(type(like)):
        return f"the class {data['class']}, where {named(type(like))} was expected"
    fields = [[name, kind, dtype, list(shape)] for name, kind, dtype, shape in like.fields()]
    if data["fields"] != fields:
        return "columns"
    # a coupling may have added some, a law has one less
    ours = {verb: named(loop) for verb, loop in like.loops.items()}
    return "" if all(ours.get(verb, name) == name for verb, name in data["loops"].items()) else "loops"


def _fits(array: Any, what: str, dtype: str, shape: Sequence[int], count: int) -> bool:
    """Whether numbers are as many as a field is said to have; 0 stands for a size that may grow."""
    rows = {COLUMN: [count], ALIKE: [1], FIXED: [], COMMON: [0]}[what]
    sizes = [*rows, *shape]
    return (
        array.dtype.name == dtype
        and array.ndim == len(sizes)
        and all(size in (0, has) for size, has in zip(sizes[1:], array.shape[1:]))
        and (what == COMMON or list(array.shape[:1]) == sizes[:1])
    )


def named(thing: Any) -> str:
    """Where a class or loop is found again."""
    return f"{thing.__module__}:{thing.__name__}"


def found(name: str, owner: str) -> Any:
    """The class, loop or function called "module:name"; only in packages that declare themselves."""
    module, _, attribute = name.partition(":")
    if module.partition(".")[0] not in known_packages():
        raise ModelError(
            f"{owner}: {name!r} is in none of the packages known here ({', '.join(sorted(known_packages()))}); "
            "install its package where this worker runs, and declare the entry point 'modular.components'."
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
        raise ModelError(f"{owner}: {name!r} is not a compiled loop.")
    return loop
