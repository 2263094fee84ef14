"""Code libraries: what LLVM is asked for, once numba has written a kernel in LLVM's language.

Numba asks for machine code of every function, and improves each alone before it improves what it has become part of. Kernels that
others call are built into those; nobody ever runs them by themselves, so of them no machine code is made.
"""

from __future__ import annotations

import weakref
from types import CodeType
from typing import Any, Self

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment

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


class Whole(JITCodeLibrary):  # type: ignore[misc]
    """A library that is improved as a whole, with all that was built into it; not function by function before."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _finalize_specific(self) -> None:
        super()._finalize_specific()
        for (
            value
        ) in self._final_module.global_variables:  # of kernels that were built in: what their errors are made of
            if value.name.startswith("_ZN08NumbaEnv") and (environment := lookup_environment(value.name)) is not None:
                self._codegen.set_env(value.name, environment)


class Linkable(Whole):
    """A library for others to build into theirs; it is never run."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._final_module._CPUCodeLibrary__library = weakref.proxy(self)
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"  # others may bring the same, and nobody needs it once it is inlined
        self._shared_module = self._final_module
        self._finalized = True

    @classmethod
    def of(cls, codegen: Any, name: str, bitcode: bytes) -> Self:
        """The library that was taken apart."""
        self = cls(codegen, name)
        self._final_module = llvm.parse_bitcode(bitcode)
        self._finalize_final_module()
        return self

    def get_pointer_to_function(self, name: str) -> int:
        """Nowhere."""
        return 0

    @property
    def codegen(self) -> Self:
        """Whoever asks wants to set the environment of machine code, and there is none."""
        return self

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """What can be kept of it."""
        return self.name, "bitcode", self._final_module.as_bitcode()

    def set_env(self, name: str, environment: Any) -> None:
        """Left to the library that this one is built into."""


class Apart(Linkable):
    """The same of what its callers jump to: long kernels that several places call."""

    def _finalize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.add_function_attribute("noinline")
        super()._finalize_final_module()


class WholeCompiler(Compiler):  # type: ignore[misc]
    """Compiles what is run."""

    library: type[Whole] = Whole

    def define_pipelines(self) -> Any:
        """Numba's own, with another library to begin with."""
        self.state.library = self.library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        pipelines, left_out = super().define_pipelines(), passes_without_work(self.state.func_id.code)
        for each in pipelines:
            each.passes = [one for one in each.passes if _name(one[0]) not in left_out]
        return pipelines


class LinkableCompiler(WholeCompiler):
    """Compiles what others call."""

    library = Linkable


class ApartCompiler(WholeCompiler):
    """Compiles what others jump to."""

    library = Apart
