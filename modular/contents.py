"""Contents: what a kernel is made of, as a digest; the same in every process, and another after any edit that matters.

Numba compiles into a kernel all that it calls and the values of all names that it reads, and it asks Python functions
(intrinsics, overloads, what computes shapes) what to make. So the digest covers the instructions and constants of a kernel and of
all that it reaches, their defaults and closures, and every value behind a name, also inside tuples, dictionaries, classes and
objects. Comments, docstrings and line numbers are no part of it. A value that cannot be described is refused by name, and then
nothing is kept.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core import types as types_of_numba
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic
from numba.core.typing.templates import builtin_registry

from modular.own_packages import is_own_source

numba_types: Any = types_of_numba  # it lists its names at run time

LIBRARIES = frozenset(("numba", "numpy", "llvmlite"))  # known by their versions
STANDARD = frozenset(sys.stdlib_module_names)  # known by the version of Python
# ours that make code for the compiler: every kernel depends on them as a whole (modular/kernel.py)
GENERATORS = tuple(
    f"modular.{name}"
    for name in (
        "blocks",
        "code_libraries",
        "contents",
        "dispatcher",
        "kept_code",
        "kernel",
        "lane_rows",
        "lanes",
        "loop",
        "memory",
        "target",
        "views",
        "workspaces",
    )
)
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic, np.dtype)
DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)  # how classes show their slots
UNSAID = frozenset(("__doc__", "__dict__", "__weakref__", "__module__", "__firstlineno__", "__static_attributes__"))


class Indescribable(Exception):
    """A value that a kernel reaches and whose content cannot be told: what it is, and where it was met."""

    def __init__(self, what: str, where: str = "") -> None:
        super().__init__(what, where)

    def __str__(self) -> str:
        return "".join(self.args)


def contents(function: Callable[..., Any], remember: bool = True) -> bytes:
    """Digest of a kernel and of all that it reaches, as it stands in memory.

    `remember`: use what was found of our own functions earlier in this process; they do not change while it runs.
    """
    return _Description(_of_ours if remember else {}).of(function)


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


def contents_of_module(name: str) -> bytes:
    """Digest of all instructions and constants of a module."""
    spec = sys.modules[name].__spec__ if name in sys.modules else find_spec(name)
    code = getattr(spec and spec.loader, "get_code", lambda name: None)(name)
    if code is None:
        raise Indescribable(f"the module '{name}', of which there is no code")
    return _of_code(code)


_of_ours: dict[FunctionType, tuple[bytes, frozenset[str]]] = {}


class _Description:
    """One walk through all that something reaches."""

    def __init__(self, known: dict[FunctionType, tuple[bytes, frozenset[str]]]) -> None:
        self.known = known
        self.words: set[str] = set()  # names of attributes, and words, in what is innermost and all that it reaches
        self.open: list[int] = []  # what is being described, from the outermost to the innermost
        self.lasting = True  # nothing in what is innermost could change, or leads back to something around it

    def of(self, value: Any) -> bytes:
        """Digest of a value."""
        if isinstance(value, PLAIN):
            if isinstance(value, str):
                self.words.add(value)
            return _digest(type(value).__name__, repr(value).encode())
        if isinstance(value, FunctionType) and value in self.known:
            known, reached = self.known[value]
            self.words |= reached
            return known
        if id(value) in self.open:
            back = len(self.open) - 1 - self.open.index(id(value))
            self.lasting = self.lasting and back == 0
            return _digest("back", str(back).encode())
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
        home = _top(type(value).__module__)
        if home in LIBRARIES or home in STANDARD or (callable(value) and hasattr(value, "__qualname__")):
            return self._of_named(value)
        return self._of_state(value)

    def _of_array(self, value: Any) -> bytes:
        shown = self.of(value.tolist()) if value.dtype.hasobject else np.ascontiguousarray(value).tobytes()
        order = (value.dtype.str, value.shape, value.flags.c_contiguous, value.flags.f_contiguous)
        return _digest("array", repr(order).encode(), shown)

    def _of_sequence(self, value: Any) -> bytes:
        return _digest(type(value).__name__, *map(self.of, value))

    def _of_dictionary(self, value: Any) -> bytes:
        return _digest("dict", *(self.of(part) for pair in value.items() for part in pair))

    def _of_set(self, value: Any) -> bytes:
        return _digest("set", *sorted(map(self.of, value)))

    def _of_module(self, value: Any) -> bytes:
        return _digest("module", value.__name__.encode())  # what is asked of it has a name of its own

    def _of_kernel(self, value: Any) -> bytes:
        options = dict(sorted(value.targetoptions.items()))
        return _digest("kernel", self.of(value.py_func), self.of(options), self.of(value.locals))

    def _of_intrinsic(self, value: Any) -> bytes:
        return _digest("intrinsic", self.of(value._defn), self.of((value._prefer_literal, value._ctor_kwargs)))

    def _of_function(self, function: FunctionType) -> bytes:
        name = f"{function.__module__}.{function.__qualname__}"
        if _top(function.__module__) in LIBRARIES or _top(function.__module__) in STANDARD:
            return _digest("library", name.encode(), *self._overloads(function))
        if function.__module__ in GENERATORS:  # known with its whole module, but for what it was given
            found = list(_around(function))
        else:
            self.lasting = self.lasting and is_own_source(function.__code__.co_filename)
            found = list(names(function))
        self.words |= _words_of(function.__code__)
        parts = [_of_code(function.__code__), self.of(function.__defaults__), self.of(function.__kwdefaults__)]
        for word, value in found:
            try:
                parts += [word.encode(), self.of(value)]
            except Indescribable as error:
                raise Indescribable(error.args[0], error.args[1] or f", '{word}' in {name}") from None
        return _digest("function", *parts, *self._overloads(function))

    def _of_class(self, kind: type) -> bytes:
        name = f"{kind.__module__}.{kind.__qualname__}".encode()
        if _top(kind.__module__) in LIBRARIES | STANDARD or kind.__module__ in GENERATORS:
            return _digest("class", name, *self._overloads(kind))
        parts = [self.of(base) for base in kind.__bases__]
        for word, value in sorted(vars(kind).items()):
            if (
                word not in UNSAID
                and not word.startswith(("_abc_", "__dataclass_"))
                and not isinstance(value, DESCRIPTORS)
            ):
                parts += [word.encode(), self.of(value)]
        return _digest("class", name, *parts)

    def _of_member(self, value: enum.Enum) -> bytes:
        return _digest(
            "enum", f"{type(value).__module__}.{type(value).__qualname__}.{value.name}".encode(), self.of(value.value)
        )

    def _of_wrapper(self, value: Any) -> bytes:
        held = getattr(value, "__wrapped__", None) or value.__func__
        return _digest(type(value).__name__, self.of(held), self.of(getattr(value, "__self__", None)))

    def _of_property(self, value: property) -> bytes:
        return _digest("property", *map(self.of, (value.fget, value.fset, value.fdel)))

    def _of_partial(self, value: Any) -> bytes:
        return _digest("partial", *map(self.of, (value.func, value.args, value.keywords)))

    def _of_type(self, kind: Any) -> bytes:
        """A type of numba's, or of somebody who extends numba: then all that his module says may count."""
        home = type(kind).__module__
        if _top(home) not in LIBRARIES and home not in GENERATORS:
            return _digest("type", str(kind).encode(), contents_of_module(home))
        if isinstance(kind, numba_types.Dispatcher):
            return _digest("type", self.of(kind.dispatcher))
        inner = kind.types if isinstance(kind, numba_types.BaseTuple) else ()
        return _digest("type", type(kind).__name__.encode(), str(kind).encode(), *map(self.of, inner))

    def _of_named(self, value: Any) -> bytes:
        """What a library brings: compiled functions by their names, objects by how they show themselves."""
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        home = getattr(value, "__module__", None)
        if callable(value) and isinstance(name, str) and isinstance(home, str):
            version = getattr(sys.modules.get(_top(home)), "__version__", "")
            return _digest("builtin", f"{home}.{name} {version}".encode(), *self._overloads(value))
        if isinstance(value, types.BuiltinFunctionType) and isinstance(name, str):
            return _digest("method", name.encode(), self.of(value.__self__))
        for text in (repr(value), str(value)):
            if " at 0x" not in text:
                return _digest("object", type(value).__qualname__.encode(), text.encode(), *self._overloads(value))
        raise Indescribable(f"a value of type {type(value).__module__}.{type(value).__qualname__}")

    def _of_state(self, value: Any) -> bytes:
        slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
        state = {name: getattr(value, name) for name in slots if hasattr(value, name)} | getattr(value, "__dict__", {})
        if not state:
            raise Indescribable(f"a value of type {type(value).__module__}.{type(value).__qualname__}")
        return _digest("object", self.of(type(value)), self.of(dict(sorted(state.items()))))

    def _overloads(self, value: Any) -> list[bytes]:
        """What the compiler was told to make of a function."""
        return [self.of(function) for function in _overloads_of(value)]


_WAYS: list[tuple[Any, Callable[[_Description, Any], bytes]]] = [
    (FunctionType, _Description._of_function),
    (Dispatcher, _Description._of_kernel),
    (_Intrinsic, _Description._of_intrinsic),
    (np.ndarray, _Description._of_array),
    ((tuple, list), _Description._of_sequence),
    (dict, _Description._of_dictionary),
    ((set, frozenset), _Description._of_set),
    (ModuleType, _Description._of_module),
    (type, _Description._of_class),
    (numba_types.Type, _Description._of_type),
    (enum.Enum, _Description._of_member),
    ((staticmethod, classmethod, types.MethodType, functools._lru_cache_wrapper), _Description._of_wrapper),
    (property, _Description._of_property),
    (functools.partial, _Description._of_partial),
]


# --- names -----------------------------------------------------------------------------------------------------------


def names(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What the names in a function stand for: of its module, of what surrounds it, and of modules that it names."""
    codes = list(_codes(function.__code__))
    found = [
        (name, function.__globals__[name])
        for code in codes
        for name in _globals_of(code)
        if name in function.__globals__
    ]
    found = sorted(dict(found).items()) + list(_around(function))
    yield from found
    asked = sorted({name for code in codes for name in code.co_names})
    modules = [(name, value) for name, value in found if isinstance(value, ModuleType)]
    seen: set[int] = set()
    while modules:
        path, module = modules.pop()
        if id(module) in seen or _top(module.__name__) in LIBRARIES | STANDARD:
            continue
        seen.add(id(module))
        inside = [(f"{path}.{name}", vars(module)[name]) for name in asked if name in vars(module)]
        modules += [(name, value) for name, value in inside if isinstance(value, ModuleType)]
        yield from inside


def _around(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What surrounds a function, where it is filled already."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue


@functools.cache
def _top(module: str | None) -> str:
    return (module or "").partition(".")[0]


_overloads: dict[int, list[FunctionType]] = {}
_overloads_read = [0]  # how much of numba's register is in there


def _overloads_of(value: Any) -> list[FunctionType]:
    """Functions that tell the compiler what to make of this one, in the order in which they were registered."""
    registered = builtin_registry.globals
    for known, kind in registered[_overloads_read[0] :]:
        for template in getattr(kind, "templates", ()):
            made = getattr(template, "_overload_func", None)
            if isinstance(made, FunctionType) and _top(made.__module__) not in LIBRARIES:
                _overloads.setdefault(id(known), []).append(made)
    _overloads_read[0] = len(registered)
    return _overloads.get(id(value), [])


def _digest(kind: str, *parts: bytes) -> bytes:
    """Digest of parts, of which none can be taken for two others."""
    digest = hashlib.blake2b(kind.encode(), digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


# --- instructions ----------------------------------------------------------------------------------------------------

LOAD_GLOBAL, STORE_NAME, EXTENDED = (dis.opmap[name] for name in ("LOAD_GLOBAL", "STORE_NAME", "EXTENDED_ARG"))
CONSTANTS = frozenset(dis.hasconst)


@functools.cache
def _of_code(code: CodeType) -> bytes:
    """Instructions and constants of a function and of those inside it; not its docstring, nor its place in the file."""
    shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    words = (code.co_varnames, code.co_names, code.co_freevars, code.co_cellvars)
    bare, constants = (
        bytearray(code.co_code),
        [],
    )  # constants by their values, not by their places, which a docstring moves
    for place, operation, argument in _instructions(code):
        if operation in CONSTANTS:
            bare[place + 1] = 0
            constants.append(_of_constant(code.co_consts[argument]))
        elif operation == STORE_NAME and code.co_names[argument] == "__doc__" and constants:
            constants.pop()
    return _digest("code", bytes(bare), code.co_exceptiontable, repr((shape, words)).encode(), *constants)


def _of_constant(value: Any) -> bytes:
    if isinstance(value, CodeType):
        return _of_code(value)
    if isinstance(value, tuple):
        return _digest("tuple", *map(_of_constant, value))
    if isinstance(value, frozenset):
        return _digest("set", *sorted(map(_of_constant, value)))
    return _digest(type(value).__name__, repr(value).encode())


@functools.cache
def _globals_of(code: CodeType) -> frozenset[str]:
    """Names that a function looks up in its module."""
    return frozenset(
        code.co_names[place >> 1] for _, operation, place in _instructions(code) if operation == LOAD_GLOBAL
    )


@functools.cache
def _words_of(code: CodeType) -> frozenset[str]:
    """Names of attributes, and words among its constants."""
    found = set(code.co_names)
    for value in code.co_consts:
        if isinstance(value, CodeType):
            found |= _words_of(value)
        elif isinstance(value, (tuple, frozenset)):
            found.update(word for word in _flat(value) if isinstance(word, str))
        elif isinstance(value, str):
            found.add(value)
    return frozenset(found)


def _flat(value: Iterable[Any]) -> Iterator[Any]:
    for part in value:
        if isinstance(part, (tuple, frozenset)):
            yield from _flat(part)
        else:
            yield part


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _instructions(code: CodeType) -> Iterator[tuple[int, int, int]]:
    """Places, operations and arguments."""
    extended = 0
    words = code.co_code
    for place in range(0, len(words), 2):
        operation, argument = words[place], words[place + 1]
        if operation == EXTENDED:
            extended = (extended | argument) << 8
        else:
            yield place, operation, extended | argument
            extended = 0
