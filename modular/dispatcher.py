"""Dispatchers: what numba makes of a kernel, without what nobody calls.

Numba makes three functions of each: the kernel itself, one that Python calls and one that C calls. Most kernels are only
called by others, and loops only by address; leaving out their wrappers saves a fifth of all compiling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import config
from numba.core.registry import CPUDispatcher

OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy", "forceinline": True}
BARE = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class KernelDispatcher(CPUDispatcher):  # type: ignore[misc]
    """A kernel that Python may call; for other kernels it has a bare form."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, targetoptions=dict(OPTIONS))
        self.bare = CPUDispatcher(function, targetoptions=dict(BARE))
        self.bare._compiling_counter = self._compiling_counter  # a kernel may call itself

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """How another kernel calls it."""
        return self.bare.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """What another kernel calls."""
        return self.bare.get_overload(sig)

    @property
    def ready(self) -> bool:
        """Whether it is compiled for some types."""
        return bool(self.overloads or self.bare.overloads)

    def keep_in(self, kept: Callable[..., Any]) -> None:
        """Where its machine code is kept, in both forms."""
        self._cache, self.bare._cache = (
            kept(self.py_func, self.targetoptions),
            kept(self.py_func, self.bare.targetoptions),
        )


def dispatch(function: Callable[..., Any]) -> Any:
    """The dispatcher of a kernel; the function itself where numba was told not to compile (NUMBA_DISABLE_JIT)."""
    return function if config.DISABLE_JIT else KernelDispatcher(function)


def bare(function: Callable[..., Any]) -> Any:
    """The dispatcher of a function that is only called by its address."""
    return CPUDispatcher(function, targetoptions=dict(BARE))
