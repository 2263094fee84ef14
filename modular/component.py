"""Components as data: settings objects that can be written to a file and found again by name.

Nothing is ever pickled. A component is a frozen dataclass of plain values; its class is named "package:Class" and
looked up only in packages that declare themselves under the entry point `modular.components`.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from modular.errors import ModelError
from modular.former_names import refuse_former_names
from modular.keywords import Spelt

ATOMS = frozenset({float, int, str, bool, type(None)})  # values that nobody can change and that JSON knows

Found = TypeVar("Found")


class Read(str):
    """A name that a file or a message has said, and nobody here."""

    __slots__ = ()


def _once(question: Callable[[type], Found]) -> Callable[[type], Found]:
    """Ask a question about a class once; the answer never changes."""
    return functools.cache(question)


class Component(Spelt):
    """Anything of a model that is described by plain data."""

    __slots__ = ()
    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]  # every class that is derived is a dataclass

    registered: ClassVar[dict[str, type[Component]]] = {}
    names_functions: ClassVar[
        tuple[str, ...]
    ] = ()  # fields that may name a function, "module:function" (modular/allowed.py), or a program in a file

    def __post_init__(self) -> None:
        """Take copies: arrays and lists become tuples, so that nobody else's edit reaches a description."""
        for name, _ in _fields(type(self)):
            value = getattr(self, name)
            if value.__class__ not in ATOMS:
                copied = frozen(value)
                if copied is not value:
                    object.__setattr__(self, name, copied)

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        refuse_former_names(cls, vars(cls))
        Component.registered[class_name(cls)] = cls

    def to_data(self) -> dict[str, Any]:
        """This component as JSON-ready data."""
        kind = type(self)
        data: dict[str, Any] = {"class": class_name(kind)}
        for name, default in _fields(kind):
            value = getattr(self, name)
            if value is not default and not _same(value, default):
                data[name] = value if value.__class__ in ATOMS else plain(value)
        return data

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> Any:
        """The component that `to_data` described."""
        fields = {name: _revive(value) for name, value in data.items() if name != "class"}
        try:
            kind = find_class(data["class"])
            for name in kind.names_functions:
                if isinstance(fields.get(name), str):
                    fields[name] = Read(fields[name])
                elif isinstance(fields.get(name), Mapping):
                    fields[name] = {key: Read(item) for key, item in fields[name].items()}
            return kind(**fields)
        except TypeError as error:
            raise ModelError(f"{data['class']}: its data do not fit its class: {error}") from error


@_once
def _fields(kind: type) -> tuple[tuple[str, Any], ...]:
    """Names and defaults of the fields of a component class; a field without default has MISSING, which no value is."""
    return tuple((field.name, field.default) for field in dataclasses.fields(kind))


def _same(value: Any, default: Any) -> bool:
    """Whether a value says what is taken where nothing is said, whoever made it; a zero of the other sign does not."""
    kind = value.__class__
    if kind not in ATOMS or kind is not default.__class__ or value != default:
        return False
    return kind is not float or value != 0.0 or str(value) == str(default)


def _flat(values: Sequence[Any]) -> bool:
    """Whether a tuple or list holds numbers and texts alone."""
    for value in values:  # noqa: SIM110 - a loop takes a third of the time of `all`
        if value.__class__ not in ATOMS:
            return False
    return True


def frozen(value: Any) -> Any:
    """A value that nobody else can change: arrays and lists as tuples, mappings as copies."""
    kind = value.__class__
    if kind in ATOMS or (kind is tuple and _flat(value)):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return frozen(value.tolist())
    if isinstance(value, list | tuple):
        copied = tuple(frozen(item) for item in value)
        return value if isinstance(value, tuple) and all(a is b for a, b in zip(copied, value, strict=True)) else copied
    if isinstance(value, dict):
        return {key: frozen(item) for key, item in value.items()}
    return value


@_once
def class_name(cls: type) -> str:
    """The name of a class in files and messages: "package:Class"."""
    return f"{cls.__module__.partition('.')[0]}:{cls.__name__}"


@functools.cache
def _packages() -> dict[str, str]:
    found = {point.name: point.value for point in entry_points(group="modular.components")}
    return {"modular": "modular", "components": "components", "coordinator": "coordinator", **found}


def known_packages() -> frozenset[str]:
    """Names of the packages whose classes, loops and functions may be asked for by name."""
    return frozenset(_packages().values())


def find_class(name: str) -> type[Component]:
    """The component class called "package:Class"."""
    package, _, kind = name.partition(":")
    if name not in Component.registered and package in _packages():
        module = importlib.import_module(_packages()[package])
        getattr(module, kind, None)  # packages may import their names on first use
    if name not in Component.registered:
        raise ModelError(
            f"{name!r} is not a known component class; known packages: {', '.join(sorted(_packages()))}. Import the "
            "file that defines it first, or declare its package under the entry point 'modular.components'."
        )
    return Component.registered[name]


def plain(value: Any) -> Any:
    """`value` as JSON-ready data."""
    kind = value.__class__
    if kind in ATOMS:
        return value
    if (kind is tuple or kind is list) and _flat(value):
        return list(value)
    if isinstance(value, Component):
        return value.to_data()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    raise ModelError(f"{value!r} ({type(value).__name__}) cannot be written as plain data.")


def _revive(value: Any) -> Any:
    if isinstance(value, Mapping):
        if "class" in value:
            return Component.from_data(value)
        return {key: _revive(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_revive(item) for item in value)
    return value
