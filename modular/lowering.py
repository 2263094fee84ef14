"""Lowering: numba writes a kernel in LLVM's language, without counting references to what has none.

For every value that comes and goes numba looks through its type, member by member, for memory that it counts references to.
Numbers, lanes, blocks and tables have none, and are nearly all that kernels know; a type is looked through once.
"""

from __future__ import annotations

from typing import Any

from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

_counted: dict[Any, bool] = {}  # by type


def is_counted(context: Any, kind: Any) -> bool:
    """Whether a value of this type holds memory of numba's."""
    found = _counted.get(kind)
    if found is None:
        found = _counted[kind] = bool(context.data_model_manager[kind].contains_nrt_meminfo())
    return found


class _Lower(Lower):  # type: ignore[misc]
    """What numba lowers a function with."""

    def incref(self, typ: Any, val: Any) -> None:
        """Another one holds it."""
        if is_counted(self.context, typ):
            super().incref(typ, val)

    def decref(self, typ: Any, val: Any) -> None:
        """One holds it no more."""
        if is_counted(self.context, typ):
            super().decref(typ, val)


@register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(NativeLowering):  # type: ignore[misc]
    """The pass of numba's that does it."""

    _name = "lowering_of_kernels"

    @property
    def lowering_class(self) -> type[Lower]:
        """What it is done with."""
        return _Lower
