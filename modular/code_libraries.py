"""Code libraries: what LLVM is asked for, once numba has written a kernel in LLVM's language.

Numba asks for machine code of every function, and improves each alone before it improves what it has become part of. Kernels that
others call are built into those; nobody ever runs them by themselves, so of them no machine code is made.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from types import CodeType
from typing import Any, Self

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment
from numba.core.typed_passes import NativeLowering

from modular.known_calls import KnownCalls
from modular.lowering import Lowering

# for loops over several cores, and for expressions of whole arrays, which give the same bits without
OF_ARRAYS = frozenset({
    "PreParforPass", "NopythonRewrites", "ParforPass", "ParforFusionPass", "ParforPreLoweringPass", "DumpParforDiagnostics",
})  # fmt: skip
OF_CLOSURES = frozenset({"InlineClosureLikes", "MakeFunctionToJitFunction"})  # functions inside a kernel


def passes_without_work(code: CodeType) -> frozenset[str]:
    """Those of numba's passes that a kernel does without; each takes its time to find that out."""
    nested = any(isinstance(constant, CodeType) for constant in code.co_consts)
    return OF_ARRAYS if nested else OF_ARRAYS | OF_CLOSURES


def _name(found: Any) -> str:
    """A pass is told by its class, or is an object of it."""
    return (found if isinstance(found, type) else type(found)).__name__


def _ours(step: tuple[Any, str]) -> tuple[Any, str]:
    """A pass and what it is for, ours instead of numba's where there is one."""
    found, purpose = step
    return (Lowering if found is NativeLowering else found), purpose


class Whole(JITCodeLibrary):  # type: ignore[misc]
    """A library that is improved as a whole, with all that was built into it; not function by function before.

    What it jumps to has been improved by itself, and comes in when that is done.
    """

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        # by the names of their functions; none before those that it jumps to itself
        self.jumped_to: dict[str, Apart] = {}

    def add_linking_library(self, library: Any) -> None:
        """Build another one into this one, or leave it to be jumped to."""
        if isinstance(library, Whole):
            library._ensure_finalized()
            self.jumped_to |= library.jumped_to
        if isinstance(library, Apart):
            self.jumped_to[library.name] = library
        else:
            super().add_linking_library(_Bare(library) if isinstance(library, Linkable) else library)

    @property
    def has_dynamic_globals(self) -> bool:
        """Whether an address of this process is in it, or in what it jumps to."""
        return super().has_dynamic_globals or any(other.has_dynamic_globals for other in self.jumped_to.values())

    def _optimize_final_module(self) -> None:
        super()._optimize_final_module()
        self._bring_what_is_jumped_to()

    def _bring_what_is_jumped_to(self) -> None:
        _bring(self.jumped_to, self._final_module)

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _finalize_specific(self) -> None:
        super()._finalize_specific()
        for (
            value
        ) in self._final_module.global_variables:  # of kernels that were built in: what their errors are made of
            if value.name.startswith("_ZN08NumbaEnv") and (environment := lookup_environment(value.name)) is not None:
                self._codegen.set_env(value.name, environment)


def _bring(libraries: Mapping[str, Apart], module: Any) -> None:
    """Link libraries into a module; callers first: what nobody needs yet is left behind."""
    for library in reversed(list(libraries.values())):
        module.link_in(library.bare_module(), preserve=True)


class _Bare:
    """A library without what it jumps to, for those that bring that themselves."""

    def __init__(self, library: Linkable) -> None:
        self._reload_init, self._get_module_for_linking = library._reload_init, library.bare_module

    def _ensure_finalized(self) -> None:
        """It is."""


class Linkable(Whole):
    """A library for others to build into theirs; it is never run."""

    form = "bitcode"

    def bare_module(self) -> Any:
        """What is linked."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """The same for functions of numba's own, which know nothing of what it jumps to: with all of that."""
        module = self.bare_module()
        if self.jumped_to:
            module = module.clone()
            _bring(self.jumped_to, module)
        return module

    def _bring_what_is_jumped_to(self) -> None:
        """Left to whoever is run."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._final_module._CPUCodeLibrary__library = weakref.proxy(self)
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"  # others may bring the same, and nobody needs it once it is inlined
        self._shared_module = self._final_module
        self._finalized = True

    @classmethod
    def of(cls, codegen: Any, name: str, bitcode: bytes, jumped_to: Mapping[str, bytes]) -> Self:
        """The library that was taken apart."""
        self = cls(codegen, name)
        self._final_module = llvm.parse_bitcode(bitcode)
        self.jumped_to = {symbol: Apart.of(codegen, symbol, part, {}) for symbol, part in jumped_to.items()}
        self._finalize_final_module()
        return self

    def get_pointer_to_function(self, name: str) -> int:
        """Nowhere."""
        return 0

    @property
    def codegen(self) -> Self:
        """Whoever asks wants to set the environment of machine code, and there is none."""
        return self

    def serialize_using_object_code(self) -> tuple[str, str, bytes, dict[str, bytes]]:
        """What can be kept of it, with all that it jumps to."""
        jumped_to = {symbol: other._final_module.as_bitcode() for symbol, other in self.jumped_to.items()}
        return self.name, self.form, self._final_module.as_bitcode(), jumped_to

    def set_env(self, name: str, environment: Any) -> None:
        """Left to the library that this one is built into."""


class Apart(Linkable):
    """The same of what its callers jump to: long kernels that several places call."""

    form = "apart"

    def _finalize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.add_function_attribute("noinline")
                self._name = function.name  # by which it is jumped to
        super()._finalize_final_module()


FORMS = {library.form: library for library in (Linkable, Apart)}


class WholeCompiler(Compiler):  # type: ignore[misc]
    """Compiles what is run."""

    library: type[Whole] = Whole

    def define_pipelines(self) -> Any:
        """Numba's own, with another library to begin with, and with what is known of calls."""
        self.state.library = self.library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        self.state.typingctx = KnownCalls(self.state.typingctx)
        pipelines, left_out = super().define_pipelines(), passes_without_work(self.state.func_id.code)
        for each in pipelines:
            each.passes = [_ours(one) for one in each.passes if _name(one[0]) not in left_out]
        return pipelines


class LinkableCompiler(WholeCompiler):
    """Compiles what others call."""

    library = Linkable


class ApartCompiler(WholeCompiler):
    """Compiles what others jump to."""

    library = Apart
