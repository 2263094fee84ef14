"""Kept code: the machine code of kernels on disk, one file for each kernel and layout, named after all that it is made of.

Numba's own cache asks only whether the file of the cached function itself has changed, knows functions that other functions
have made by nothing, and finds machine code through an index that two processes may write at the same time. Here the name of a
file is a digest of what the code depends on: what the kernel is made of (modular/contents.py), the types that it is compiled for,
the processor. So a comment costs nothing, an edited kernel is compiled again with those that call it and no other, and going back
finds the old code. Where nothing can be kept, or what was kept is broken, code is made in memory.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from modular.claims import Claims
from modular.code_libraries import FORMS
from modular.contents import contents, contents_of_types
from modular.kernel_store import SUFFIX, KernelStore
from modular.object_code import address_in, packed
from modular.reach import Indescribable

OF_NUMBA = re.compile(r"_?(NRT_|numba).*")
AT_HAND = re.compile(r"NRT_.*|numba_(do_raise|unpickle|gil_ensure|gil_release|runtime_build_excinfo_struct)")

_log = logging.getLogger("modular")


class KeptCode(FunctionCache):  # type: ignore[misc]
    """What numba asks for machine code of one kernel, and gives it to."""

    def __init__(
        self, stores: Callable[[], Sequence[KernelStore]], function: Callable[..., Any], options: Mapping[str, Any]
    ) -> None:
        self._py_func, self._name = function, f"{function.__module__}.{function.__qualname__}"
        self._options = repr(sorted(options.items()))  # what numba was told
        self._stores = stores  # asked when code is first needed: importing a kernel touches no disk
        self._impl = Portable()
        self._claims = Claims()
        self.enable()

    @property
    def cache_path(self) -> str:
        """The folder, empty where nothing is kept."""
        return str(next((store.folder for store in self._stores() if not store.shipped), ""))

    def load_overload(self, types: Any, context: Any) -> Any:
        """What is kept; numba would first gather all that it knows to compile, which takes longer than loading."""
        with self._guard_against_spurious_io_errors():
            return self._load_overload(types, context)

    def _load_overload(self, types: Any, context: Any) -> Any:
        if not self._enabled:
            return None

        def rebuilt(content: bytes) -> Any:
            return self._impl.rebuild(context, pickle.loads(content))

        found = self.find(types, context.codegen(), rebuilt)
        if found is None and self.made_meanwhile(types, context.codegen()):
            found = self.find(types, context.codegen(), rebuilt)
        return found

    def _save_overload(self, types: Any, made: Any) -> None:
        if self._enabled and self._impl.check_cachable(made):
            self.keep(types, made.codegen, dumps(self._impl.reduce(made)))

    def find(self, types: Any, codegen: Any, load: Callable[[bytes], Any]) -> Any:
        """What is kept for these types, loaded; None where there is nothing that can be."""
        if (name := self.file_of(types, codegen)) is None:
            return None
        for store in self._stores():
            content = store.load(name)
            if content is not None:
                try:
                    return load(content)
                except Exception as error:  # of a numba that was patched, or out of memory: it is made again
                    _log.debug("cached code of %s cannot be used: %s", self._name, error)
        return None

    def made_meanwhile(self, types: Any, codegen: Any) -> bool:
        """Whether another process was making what is missing, and has; otherwise this one is to make it, and say so (`let_go`)."""
        if (name := self.file_of(types, codegen)) is None:
            return False
        return any(not self._claims.take(store.folder / name) for store in self._stores() if not store.shipped)

    def let_go(self) -> None:
        """What was missing is made, or could not be."""
        self._claims.let_go()

    def keep(self, types: Any, codegen: Any, content: bytes) -> None:
        """Keep what was compiled, under what it is made of now.

        That is described anew: had a name of ours got another value on the way, what was remembered would not fit the code.
        """
        if (name := self.file_of(types, codegen, remember=False)) is not None:
            for store in self._stores():
                store.save(name, content)

    def file_of(self, types: Any, codegen: Any, remember: bool = True) -> str | None:
        """The name of the file for a kernel compiled for these types; None where what it is made of cannot be told."""
        function = self._py_func
        try:
            arguments = types if isinstance(types, (tuple, list)) else types.args
            parts = [contents(function, remember), contents_of_types(arguments), repr(codegen.magic_tuple()).encode()]
        except Indescribable as error:
            _log.info(
                "%s is compiled at every start: it depends on %s, whose content cannot be determined", self._name, error
            )
            return None
        words = f"{self._name}{types}{self._options}".encode()
        digest = hashlib.blake2b(b"".join(parts) + words, digest_size=16).hexdigest()
        return f"{Path(function.__code__.co_filename).stem}.{function.__name__.strip('<>')}.{digest}{SUFFIX}"

    def flush(self) -> None:
        """Code that is kept is never wrong, so it stays."""


class KeptLoop(KeptCode):
    """The same for a loop: an object file and nothing of numba's (modular/object_code.py), found before numba is asked."""

    def load_overload(self, types: Any, context: Any) -> Any:
        """Whoever compiles has looked already."""

    def has(self, types: Any, context: Any) -> bool:
        """Whether the loop is kept, by the name of its file."""
        name = self.file_of(types, context.codegen())
        return name is not None and any(store.has(name) for store in self._stores())

    def address(self, types: Any, context: Any) -> int | None:
        """Where the loop lies now, if it is kept."""
        found: int | None = self.find(types, context.codegen(), address_in)
        return found

    def _save_overload(self, types: Any, made: Any) -> None:
        if self._enabled and self._impl.check_cachable(made) and not called(made.library):
            self.keep(types, made.codegen, packed(made.library, made.fndesc.llvm_func_name))


class Portable(CompileResultCacheImpl):  # type: ignore[misc]
    """How compiled code is taken apart and put together."""

    def __init__(self) -> None:
        """Numba would look for a folder of its own here."""

    def reduce(self, made: Any) -> Any:
        """Its parts, and what of numba's own it calls."""
        return called(made.library), super().reduce(made)

    def rebuild(self, context: Any, parts: Any) -> Any:
        """Put it together, where what it calls can be found."""
        needed, parts = parts
        if parts[0][1] in FORMS:
            return self._rebuild_linkable(context, *parts)
        if needed:
            rtsys.initialize(context)  # arrays and their memory
        if not all(map(AT_HAND.fullmatch, needed)):
            context.refresh()
        return super().rebuild(context, parts)

    def _rebuild_linkable(
        self, context: Any, library: Any, description: Any, environment: Any, signature: Any, *parts: Any
    ) -> Any:
        """The same of what only others call: nothing of it is run."""
        name, form, bitcode, jumped_to = library
        built = FORMS[form].of(context.codegen(), name, bitcode, jumped_to)
        objectmode, lifted, annotation, reload, environments = parts
        return CompileResult(
            target_context=context, typing_context=context.typing_context, library=built, environment=environment,
            entry_point=context.get_executable(built, description, environment), fndesc=description,
            type_annotation=annotation, signature=signature, objectmode=objectmode, lifted=lifted, typing_error=None,
            call_helper=None, metadata=None, reload_init=reload, referenced_envs=environments,
        )  # fmt: skip

    def check_cachable(self, made: Any) -> bool:
        """Not where an address of this process is in it."""
        return not made.lifted and not made.library.has_dynamic_globals


def called(library: Any) -> list[str]:
    """Functions and data of numba's own that machine code needs."""
    module = library._final_module
    parts = (*module.functions, *module.global_variables)
    return sorted(part.name for part in parts if part.is_declaration and OF_NUMBA.fullmatch(part.name))
