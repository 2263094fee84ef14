"""Dispatchers: what numba makes of a kernel, without what nobody calls.

Numba makes three functions of each: the kernel itself, one that Python calls and one that C calls. Most kernels are only
called by others, and loops only by address; leaving out their wrappers saves a fifth of all compiling.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from numba.core import config
from numba.core.registry import CPUDispatcher

from modular.code_libraries import ApartCompiler, LinkableCompiler, WholeCompiler
from modular.contents import contents
from modular.kept_code import KeptCode
from modular.lanes import types
from modular.reach import Indescribable
from modular.views import asked_by

OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy"}
WITHOUT_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def options_of(apart: bool) -> dict[str, Any]:
    """What numba is told of a kernel that is built into its callers, or of one that stands apart."""
    return {**OPTIONS, "forceinline": not apart}


class BareDispatcher(CPUDispatcher):  # type: ignore[misc]
    """A kernel without wrappers: called by its address, or, if its compiler says so, built into others and never run by itself."""

    def __init__(
        self, function: Callable[..., Any], compiler: type[WholeCompiler] = WholeCompiler, written_out: bool = True
    ) -> None:
        self._written_out = written_out
        options = options_of(compiler is ApartCompiler) | WITHOUT_WRAPPERS
        super().__init__(function, targetoptions=options, pipeline_class=compiler)

    def compile(self, sig: Any) -> Any:
        """As numba does, a tenth faster."""
        with nothing_collected(), claims_let_go(self._cache), named_by_content(self.py_func):
            return super().compile(sig)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """How another kernel calls it, which may know more of a table than this one asks for, or of a number."""
        known = args if self._written_out else map(types.unliteral, args)
        return super().get_call_template(tuple(asked_by(self.py_func, kind) for kind in known), kws)


class KernelDispatcher(CPUDispatcher):  # type: ignore[misc]
    """A kernel that Python may call; for other kernels it has a bare form."""

    def __init__(self, function: Callable[..., Any], written_out: bool = True, apart: bool = False) -> None:
        super().__init__(function, targetoptions=options_of(apart), pipeline_class=WholeCompiler)
        self._written_out, self._for_others = written_out, ApartCompiler if apart else LinkableCompiler
        self._kept: Callable[..., Any] | None = None

    @cached_property
    def bare(self) -> BareDispatcher:
        """The form for other kernels, made when the first asks."""
        bare = BareDispatcher(self.py_func, self._for_others, self._written_out)
        bare._compiling_counter = self._compiling_counter  # a kernel may call itself
        if self._kept is not None:
            bare._cache = self._kept(self.py_func, bare.targetoptions)
        return bare

    def compile(self, sig: Any) -> Any:
        """As numba does, a tenth faster."""
        with nothing_collected(), claims_let_go(self._cache):
            return super().compile(sig)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """How another kernel calls it."""
        return self.bare.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """What another kernel calls."""
        return self.bare.get_overload(sig)

    @property
    def ready(self) -> bool:
        """Whether it is compiled for some types that Python calls it with."""
        return bool(self.overloads)

    def keep_in(self, kept: Callable[..., Any]) -> None:
        """Where its machine code is kept, in both forms."""
        self._kept, self._cache = kept, kept(self.py_func, self.targetoptions)


def dispatch(function: Callable[..., Any], written_out: bool = True, apart: bool = False) -> Any:
    """The dispatcher of a kernel; the function itself where numba was told not to compile (NUMBA_DISABLE_JIT)."""
    return function if config.DISABLE_JIT else KernelDispatcher(function, written_out, apart)


@contextmanager
def nothing_collected() -> Iterator[None]:
    """Garbage waits: the compiler makes millions of small objects, and hardly any that could be let go."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def named_by_content(function: Any) -> Iterator[None]:
    """What was made around something else is called after what it is made of: functions that differ in that alone, compiled by
    several processes and loaded by one, would have the same name.
    """
    usual = function.__qualname__
    try:
        if function.__closure__:
            function.__qualname__ = f"{usual.partition(' ')[0]} {contents(function).hex()}"
    except Indescribable:
        pass  # it is kept nowhere
    try:
        yield
    finally:
        function.__qualname__ = usual.partition(" ")[0]


@contextmanager
def claims_let_go(cache: Any) -> Iterator[None]:
    """Whatever comes of it, nobody waits for it afterwards; what is kept nowhere nobody claims."""
    try:
        yield
    finally:
        if isinstance(cache, KeptCode):
            cache.let_go()
