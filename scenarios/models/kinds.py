"""Kinds of bodies, joints, forces, events and what is in them, by the names that people write: whatever is declared, yours too.

Nothing is listed here: a kind is a dataclass in a package that declares itself under the entry point `modular.components`, its
fields are those of the dataclass, and what may stand in one is said by its annotation.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from modular.component import Component, class_name, find_class, known_packages
from modular.errors import ModelError
from modular.names import hint
from modular.typed import words
from scenarios.models.markup import shown


@dataclasses.dataclass(frozen=True)
class Kind:
    """A class that can be written in a file."""

    made: type[Component]
    hints: Mapping[str, Any]  # of its fields
    needed: tuple[str, ...]  # fields without a default

    @property
    def name(self) -> str:
        """As it is written."""
        return self.made.__name__


def kinds_of(base: type[Component]) -> dict[str, type[Component]]:
    """All that can stand where a `base` is due, by "package:Class"."""
    _look()
    found: dict[str, type[Component]] = {}
    for name, made in Component.registered.items():
        if issubclass(made, base) and _is_described(made) and not _unfinished(made):
            package = name.partition(":")[0]
            if package in known_packages():
                found[name] = made
    return dict(sorted(found.items()))


def named(base: type[Component], name: str) -> Kind:
    """The kind called `Rod`, `rod`, or `components:Rod`; refused with the nearest that there is."""
    if ":" in name:
        made = find_class(name)
        if not (issubclass(made, base) and _is_described(made)) or _unfinished(made):
            raise ModelError(f"'{shown(name)}' is no {words(base.__name__)}; {hint(name, kinds_of(base))}")
        return kind_of(made)
    return kind_of(_named(base, name))


def _collected(base: type[Component], count: int) -> dict[str, list[type[Component]]]:
    """By small letters; anew where more classes are there than before."""
    found: dict[str, list[type[Component]]] = {}
    for made in kinds_of(base).values():
        found.setdefault(made.__name__.lower(), []).append(made)
    return found


ByName = dict[str, list[type[Component]]]
_by_short_name = cast("Callable[[type[Component], int], ByName]", functools.lru_cache(1000)(_collected))


def _named(base: type[Component], name: str) -> type[Component]:
    _look()
    known = _by_short_name(base, len(Component.registered))
    found = known.get(name.lower(), [])
    if len(found) > 1:
        exact = [made for made in found if made.__name__ == name]
        if len(exact) != 1:
            raise ModelError(f"'{name}' may be {' or '.join(map(class_name, found))}; write it with its package.")
        return exact[0]
    if not found:
        names = [made.__name__ for all_of in known.values() for made in all_of]
        raise ModelError(f"there is no {words(base.__name__)} '{shown(name)}'; {hint(name, names)}")
    return found[0]


def short_name(base: type[Component], made: type[Component]) -> str:
    """How a kind is written where a `base` is due: as shortly as it is found again."""
    try:
        return made.__name__ if _named(base, made.__name__) is made else class_name(made)
    except ModelError:
        return class_name(made)


def _kind_of(made: type[Component]) -> Kind:
    """What a file may say of a class."""
    fields = [field for field in dataclasses.fields(made) if field.init]
    hints = typing.get_type_hints(made)
    missing = dataclasses.MISSING
    needed = tuple(field.name for field in fields if field.default is missing and field.default_factory is missing)
    return Kind(made, {field.name: hints[field.name] for field in fields}, needed)


kind_of = cast("Callable[[type[Component]], Kind]", functools.cache(_kind_of))


def _is_described(made: type) -> bool:
    """Whether it is described by fields."""
    return hasattr(made, "__dataclass_fields__")


def _unfinished(made: type) -> bool:
    """Whether it leaves something to those that are derived from it."""
    return any(getattr(getattr(made, name, None), "__isabstractmethod__", False) for name in dir(made))


@functools.cache
def _look() -> None:
    """Import the packages that declare kinds, and all that they name."""
    for package in sorted(known_packages() - {"coordinator"}):
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            getattr(module, name, None)  # some import their names on first use


# --- what may stand in a field -----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Wanted:
    """What an annotation allows."""

    anything: bool = False
    nothing: bool = False  # None
    text: bool = False
    truth: bool = False
    number: bool = False
    whole: bool = False  # of numbers only these
    function: bool = False  # "module:function"
    items: Any = None  # annotation of what is in a list
    fixed: tuple[Any, ...] = ()  # annotations of lists of a fixed length
    values: Any = None  # annotation of what is in a table of names
    components: tuple[type[Component], ...] = ()

    def __str__(self) -> str:
        """In words."""
        told = [
            f"a table with kind = {'…' if _unfinished(part) else part.__name__!r} ({words(part.__name__)})"
            for part in self.components
        ]
        told += ["a whole number" if self.whole else "a number"] * self.number
        told += ["numbers in [ ]" if wanted(self.items).number else "a list"] * (self.items is not None)
        told += ["a list"] * bool(self.fixed)
        told += ["a table of names"] * (self.values is not None)
        told += ["true or false"] * self.truth
        told += ['"module:function"' if self.function else "a text"] * self.text
        return " or ".join(told) or "a number, a text or a list"


@functools.cache
def wanted(annotation: Any) -> Wanted:
    """What an annotation allows; what is not known here allows anything."""
    found: dict[str, Any] = {}
    components: list[type[Component]] = []
    for part in _parts(annotation):
        origin, inner = typing.get_origin(part), typing.get_args(part)
        if part is type(None):
            found["nothing"] = True
        elif part is str:
            found["text"] = True
        elif part is bool:
            found["truth"] = True
        elif part is float:
            found["number"], found["whole"] = True, False
        elif part is int:
            found.setdefault("whole", not found.get("number"))
            found["number"] = True
        elif isinstance(part, type) and issubclass(part, Component):
            components.append(part)
        elif origin is tuple and inner and inner[-1] is not Ellipsis:
            found["fixed"] = inner
        elif isinstance(origin, type) and issubclass(origin, Mapping):
            found["values"] = inner[1]
        elif isinstance(origin, type) and issubclass(origin, Sequence):
            found["items"] = inner[0]
        elif origin is Callable or origin is typing.get_origin(Callable[[], None]):
            found["function"] = True
        else:
            found["anything"] = True
    return Wanted(**found, components=tuple(components))


def _parts(annotation: Any) -> tuple[Any, ...]:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return tuple(part for each in typing.get_args(annotation) for part in _parts(each))
    return (annotation,)
