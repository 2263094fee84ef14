"""Contents: what a kernel is made of, as a digest; the same in every process, and another after any edit that matters.

Numba compiles into a kernel all that it calls and the values of all names that it reads, and it asks Python functions
(intrinsics, overloads, what computes shapes) what to make. So the digest covers the instructions and constants of a kernel and of
all that it reaches, their defaults and closures, and every value behind a name, also inside tuples, dictionaries, classes and
objects. Comments, docstrings and line numbers are no part of it. A value that cannot be described is refused by name, and then
nothing is kept.
"""

from __future__ import annotations

import abc
import collections
import datetime
import decimal
import enum
import fractions
import functools
import inspect
import operator
import pathlib
import re
import sys
import types
import uuid
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core import types as types_of_numba
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic
from numba.np.ufunc.dufunc import DUFunc
from numba.np.ufunc.gufunc import GUFunc

from modular.instructions import constant_words_of, digest_of, of_code, of_number, words_of
from modular.libraries import found_by_name, is_in_a_library, is_library, is_library_function, top
from modular.own_packages import is_own_source
from modular.reach import WHOLE, Indescribable, around, codes_behind, contents_of_module, names
from modular.registrations import foreign, overloads_of

numba_types: Any = types_of_numba  # it lists its names at run time

# ours that make code for the compiler: every kernel depends on them as a whole (modular/kernel.py)
GENERATORS = tuple(
    f"modular.{name}"
    for name in (
        "blocks",
        "code_libraries",
        "contents",
        "dispatcher",
        "formula",
        "instructions",
        "kept_code",
        "kernel",
        "known_calls",
        "lane_functions",
        "lane_rows",
        "lanes",
        "libraries",
        "loop",
        "lowering",
        "memory",
        "reach",
        "registrations",
        "target",
        "views",
        "workspaces",
    )
)
PLAIN = frozenset((bool, int, str, bytes, type(None), type(Ellipsis), type(NotImplemented)))
# objects that show all that they hold, and where others that do are at home
SHOWN = (range, slice, np.dtype, fractions.Fraction, decimal.Decimal, datetime.date, datetime.timedelta, pathlib.PurePath,
         uuid.UUID, re.Pattern, types.GenericAlias, types.UnionType, operator.itemgetter, operator.attrgetter)  # fmt: skip
SHOWING = frozenset(("numba", "llvmlite", "typing", "typing_extensions", "types", "builtins", "_thread"))
DESCRIPTORS = (
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    type(inspect.getattr_static(collections.namedtuple("Sample", "field"), "field")),
)  # how classes show their slots
UNSAID = frozenset(("__doc__", "__dict__", "__weakref__", "__module__", "__firstlineno__", "__static_attributes__"))


def contents(function: Callable[..., Any], remember: bool = True) -> bytes:
    """Digest of a kernel and of all that it reaches, as it stands in memory.

    `remember`: use what was found of our own functions earlier in this process; they do not change while it runs.
    """
    found = _Description(_of_ours if remember else {}).of(function)
    return digest_of("taught", found, *map(_Description({}).of, foreign())) if foreign() else found


def words(function: Any) -> frozenset[str]:
    """Names of attributes, and words, in a kernel and in all that it reaches: it can ask for no other by name."""
    if function not in _of_ours:
        description = _Description(_of_ours)
        description.of(function)
        return frozenset(description.words)
    return _of_ours[function][1]


def contents_of_types(kinds: Iterable[Any]) -> bytes:
    """Digest of what the types of arguments stand for: functions among them, and what others have taught the compiler."""
    return _Description({}).of(tuple(kinds))


_of_ours: dict[FunctionType, tuple[bytes, frozenset[str]]] = {}


def forget(function: Any) -> None:
    """Nobody will ask for it again: it need not be remembered."""
    _of_ours.pop(function, None)


class _Description:
    """One walk through all that something reaches."""

    def __init__(self, known: dict[FunctionType, tuple[bytes, frozenset[str]]]) -> None:
        self.known = known
        self.words: set[str] = set()  # names of attributes, and words, in what is innermost and all that it reaches
        self.open: list[int] = []  # what is being described, from the outermost to the innermost
        self.lasting = True  # nothing in what is innermost could change, or leads back to something around it

    def of(self, value: Any) -> bytes:
        """Digest of a value."""
        kind = type(value)
        if kind in PLAIN:
            if kind is str:
                self.words.add(value)
            return digest_of(kind.__name__, repr(value).encode())
        if kind is float or kind is complex:
            return digest_of(kind.__name__, of_number(value))
        if isinstance(value, FunctionType) and value in self.known:
            known, reached = self.known[value]
            self.words |= reached
            return known
        if id(value) in self.open:
            back = len(self.open) - 1 - self.open.index(id(value))
            self.lasting = self.lasting and back == 0
            return digest_of("back", str(back).encode())
        around, self.lasting = self.lasting, True
        words, self.words = self.words, set()
        self.open.append(id(value))
        try:
            found = self._of_new(value)
            if self.lasting and isinstance(value, FunctionType):
                self.known[value] = found, frozenset(self.words)
        finally:
            self.open.pop()
            self.lasting = self.lasting and around
            self.words |= words
        return found

    def _of_new(self, value: Any) -> bytes:
        for kinds, describe in _WAYS:
            if isinstance(value, kinds):
                return describe(self, value)
        home = getattr(value, "__module__", None)
        if is_library(type(value).__module__) or (is_library(home) and found_by_name(value)):
            return self._of_named(value)
        return self._of_state(value)

    def _with_class(self, value: Any, kind: type, bare: bytes) -> bytes:
        """What a value holds, and where its class was made from another what that adds."""
        if type(value) is kind:
            return bare
        return digest_of("derived", bare, self.of(type(value)), self.of(_state_of(value)))

    def _of_plain(self, value: Any) -> bytes:
        kind = next(each for each in (bool, int, str, bytes, float, complex) if isinstance(value, each))
        return self._with_class(value, kind, self.of(kind(value)))

    def _of_generic(self, value: Any) -> bytes:
        if value.dtype.hasobject:
            return digest_of("object", repr(value.dtype).encode(), self.of(value.item()))
        return digest_of(type(value).__name__, repr(value.dtype).encode(), value.tobytes())

    def _of_array(self, value: Any) -> bytes:
        shown = self.of(value.tolist()) if value.dtype.hasobject else np.ascontiguousarray(value).tobytes()
        order = (value.dtype, value.shape, value.flags.c_contiguous, value.flags.f_contiguous)
        return self._with_class(value, np.ndarray, digest_of("array", repr(order).encode(), shown))

    def _of_sequence(self, value: Any) -> bytes:
        kind = next(each for each in (tuple, list, collections.deque) if isinstance(value, each))
        most = getattr(value, "maxlen", None)
        return self._with_class(value, kind, digest_of(kind.__name__, repr(most).encode(), *map(self.of, value)))

    def _of_signature(self, value: inspect.Signature) -> bytes:
        words = [(each.name, int(each.kind), each.default) for each in value.parameters.values()]
        return digest_of("signature", self.of(words))

    def _of_space(self, value: Any) -> bytes:
        return digest_of("space", self.of(type(value)), self.of(dict(sorted(vars(value).items()))))

    def _of_dictionary(self, value: Any) -> bytes:
        bare = digest_of("dict", *(self.of(part) for pair in value.items() for part in pair))
        if isinstance(value, collections.defaultdict):
            bare = digest_of("default", bare, self.of(value.default_factory))
        return bare if isinstance(value, types.MappingProxyType) else self._with_class(value, dict, bare)

    def _of_set(self, value: Any) -> bytes:
        kind = set if isinstance(value, set) else frozenset
        return self._with_class(value, kind, digest_of("set", *sorted(map(self.of, value))))

    def _of_module(self, value: Any) -> bytes:
        """A module that is handed on, of which anything may be asked: all its code, and that of those which it imports."""
        return digest_of("whole module", *codes_behind(value))

    def _of_kernel(self, value: Any) -> bytes:
        options = dict(sorted(value.targetoptions.items()))
        written_out = getattr(value, "_written_out", True)
        return digest_of(
            "kernel", self.of(value.py_func), self.of(options), self.of(value.locals), self.of(written_out)
        )

    def _of_ufunc(self, value: Any) -> bytes:
        """One of numpy's own by its name; one that numba made by what it was made of."""
        name = str(value.__name__)
        if getattr(np, name, None) is value:
            return digest_of("ufunc", name.encode())
        made = getattr(value, "_dispatcher", None)
        if made is None:
            raise Indescribable(f"the ufunc '{name}'")
        layout = getattr(getattr(value, "gufunc_builder", None), "signature", "")
        return digest_of(
            "ufunc", *map(self.of, (made.py_func, dict(sorted(made.targetoptions.items())), layout, value.types))
        )

    def _of_intrinsic(self, value: Any) -> bytes:
        return digest_of("intrinsic", self.of(value._defn), self.of((value._prefer_literal, value._ctor_kwargs)))

    def _of_function(self, function: FunctionType) -> bytes:
        name = f"{function.__module__}.{function.__qualname__}"
        if is_library_function(function):
            held = [] if is_in_a_library(function) else [value for _, value in around(function)]
            return digest_of("library", name.encode(), *map(self.of, held), *self._overloads(function))
        if function.__module__ in GENERATORS:  # known with its whole module, but for what it was given
            found = list(around(function))
            self.words |= constant_words_of(function.__code__)  # its attributes are those of what makes code
        else:
            self.lasting = self.lasting and is_own_source(function.__code__.co_filename)
            found = list(names(function))
            self.words |= words_of(function.__code__)
        parts = [of_code(function.__code__), self.of(function.__defaults__), self.of(function.__kwdefaults__)]
        parts += [self.of(_given_to(function)), self.of(_signature_of(function))] if vars(function) else []
        for word, value in found:
            try:
                known = isinstance(value, ModuleType) and not word.endswith(WHOLE)
                parts += [word.encode(), str(value.__name__).encode() if known else self.of(value)]
            except Indescribable as error:
                raise Indescribable(error.args[0], error.args[1] or f", '{word}' in {name}") from None
        return digest_of("function", *parts, *self._overloads(function))

    def _of_class(self, kind: type) -> bytes:
        name = f"{kind.__module__}.{kind.__qualname__}".encode()
        if is_library(kind.__module__) or kind.__module__ in GENERATORS:
            return digest_of("class", name, *self._overloads(kind))
        parts = [self.of(base) for base in (*kind.__bases__, type(kind))]
        parts += sorted(self.of(each) for each in _registered(kind))
        fields = vars(kind).get("__dataclass_fields__", {})
        parts += [self.of({name: dict(field.metadata) for name, field in fields.items()})] if fields else []
        for word, value in sorted(vars(kind).items()):
            if (
                word not in UNSAID
                and not word.startswith(("_abc_", "__dataclass_"))
                and not isinstance(value, DESCRIPTORS)
            ):
                parts += [word.encode(), self.of(value)]
        return digest_of("class", name, *parts)

    def _of_member(self, value: enum.Enum) -> bytes:
        name = f"{type(value).__module__}.{type(value).__qualname__}.{value.name}"
        state = self.of(_state_of(value)) if not is_library(type(value).__module__) else b""
        return digest_of("enum", name.encode(), self.of(type(value)), state)

    def _of_wrapper(self, value: Any) -> bytes:
        held = value.__wrapped__ if isinstance(value, functools._lru_cache_wrapper) else value.__func__
        return digest_of(type(value).__name__, self.of(held), self.of(getattr(value, "__self__", None)))

    def _of_property(self, value: property) -> bytes:
        return digest_of("property", *map(self.of, (value.fget, value.fset, value.fdel)))

    def _of_partial(self, value: Any) -> bytes:
        return digest_of("partial", *map(self.of, (value.func, value.args, value.keywords)))

    def _of_type(self, kind: Any) -> bytes:
        """A type of numba's, or of somebody who extends numba: then all that his module says may count."""
        home = type(kind).__module__
        inside = [
            getattr(kind, name, None)
            for name in ("instance_class", "pymod", "_fields", "dtype", "type", "key_type", "value_type")
        ]
        parts = [self.of(each) for each in inside if each is not None and each is not kind]
        if not is_library(home) and home not in GENERATORS:
            behind = sys.modules.get(home)
            codes = (
                [contents_of_module(home)]
                if behind is None or is_own_source(behind.__file__ or "")
                else codes_behind(behind)
            )
            return digest_of("type", str(kind).encode(), *codes, *parts)
        if isinstance(kind, numba_types.Dispatcher):
            return digest_of("type", self.of(kind.dispatcher))
        inner = kind.types if isinstance(kind, numba_types.BaseTuple) else ()
        return digest_of("type", type(kind).__name__.encode(), str(kind).encode(), *map(self.of, inner), *parts)

    def _of_named(self, value: Any) -> bytes:
        """What a library brings: compiled functions by their names, objects by how they show themselves."""
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        home = getattr(value, "__module__", None)
        if callable(value) and is_library(home) and found_by_name(value):
            version = getattr(sys.modules.get(top(home)), "__version__", "")
            return digest_of("builtin", f"{home}.{name} {version}".encode(), *self._overloads(value))
        if isinstance(value, types.BuiltinFunctionType) and isinstance(name, str):
            return digest_of("method", name.encode(), self.of(value.__self__))
        if isinstance(value, SHOWN) or top(type(value).__module__) in SHOWING:
            for text in (repr(value), str(value)):
                if " at 0x" not in text:
                    return digest_of(
                        "object", type(value).__qualname__.encode(), text.encode(), *self._overloads(value)
                    )
        raise Indescribable(f"a value of type {type(value).__module__}.{type(value).__qualname__}")

    def _of_state(self, value: Any) -> bytes:
        state = _state_of(value)
        if not state:
            raise Indescribable(f"a value of type {type(value).__module__}.{type(value).__qualname__}")
        return digest_of("object", self.of(type(value)), self.of(state))

    def _overloads(self, value: Any) -> list[bytes]:
        """What the compiler was told to make of a function."""
        return [self.of(function) for function in overloads_of(value)]


_WAYS: list[tuple[Any, Callable[[_Description, Any], bytes]]] = [
    (FunctionType, _Description._of_function),
    (Dispatcher, _Description._of_kernel),
    (_Intrinsic, _Description._of_intrinsic),
    (np.ndarray, _Description._of_array),
    (np.generic, _Description._of_generic),
    ((np.ufunc, DUFunc, GUFunc), _Description._of_ufunc),
    ((tuple, list, collections.deque), _Description._of_sequence),
    ((dict, types.MappingProxyType), _Description._of_dictionary),
    (types.SimpleNamespace, _Description._of_space),
    (inspect.Signature, _Description._of_signature),
    ((set, frozenset), _Description._of_set),
    (ModuleType, _Description._of_module),
    (type, _Description._of_class),
    (numba_types.Type, _Description._of_type),
    (enum.Enum, _Description._of_member),
    ((bool, int, str, bytes, float, complex), _Description._of_plain),
    ((staticmethod, classmethod, types.MethodType, functools._lru_cache_wrapper), _Description._of_wrapper),
    (property, _Description._of_property),
    (functools.partial, _Description._of_partial),
]


# --- what a value holds beside what it shows -------------------------------------------------------------------------


def _registered(kind: type) -> list[type]:
    """Classes that were registered as subclasses of an abstract one, which shows them to nobody else."""
    if not isinstance(kind, abc.ABCMeta):
        return []
    shown: Any = abc
    held = [each() for each in shown._get_dump(kind)[0]]
    return [each for each in held if each is not None]


def _given_to(function: FunctionType) -> dict[str, Any]:
    """Attributes that a function was given; its signature, once somebody asked for it, is told by itself."""
    return {name: value for name, value in sorted(vars(function).items()) if name != "__signature__"}


def _signature_of(function: FunctionType) -> inspect.Signature | None:
    """How it may be called, which a wrapper takes over from what it wraps."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _state_of(value: Any) -> dict[str, Any]:
    """What an object holds, in a dictionary and in slots, also private ones."""
    state: dict[str, Any] = {}
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            private = slot.startswith("__") and not slot.endswith("__")
            name = f"_{kind.__name__.lstrip('_')}{slot}" if private else slot
            if hasattr(value, name):
                state[name] = getattr(value, name)
    return dict(sorted((state | getattr(value, "__dict__", {})).items()))
