"""Object code: loops brought back from disk as an object file and the name of a function in it, without numba.

A loop takes addresses and returns a number, so nothing is needed to call it but where it lies. Reading it back takes a tenth of
the time that numba needs for a kernel, and nothing is unpickled.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

import llvmlite.binding as llvm
from numba.core.registry import cpu_target

_one_by_one = threading.Lock()


def packed(library: Any, symbol: str) -> bytes:
    """The object file of a compiled library behind the name of a function in it."""
    return symbol.encode() + b"\n" + bytes(library._get_compiled_object())


def address_in(content: bytes) -> int:
    """Load an object file; where its function lies."""
    symbol, _, code = content.partition(b"\n")
    with _one_by_one:  # of two functions with the same name the last one is found
        engine = _engine()
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        found = engine.get_function_address(symbol.decode())
    if not found:
        raise ValueError(f"there is no function {symbol.decode()} in this object file")
    return int(found)


@functools.cache
def _engine() -> Any:
    """Where object files are loaded to, for as long as the process lives."""
    triple, processor, features = cpu_target.target_context.codegen().magic_tuple()
    module = llvm.parse_assembly("")
    module.triple = triple
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=processor, features=features, codemodel="jitdefault", jit=True,
        reloc="static" if triple.startswith(("x86_64", "i686", "amd64")) else "default",
    )  # fmt: skip
    return llvm.create_mcjit_compiler(module, machine)
