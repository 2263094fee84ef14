"""Loops: the kernel of a class run over its stack, called by address.

All loops have one signature, `loop(start, stop, stack, elements) -> int`: they handle the rows from `start` to `stop` of
a stack beside the table of elements, and return -1, or the first row that went wrong. So one compiled driver runs a whole
tick through the loops of all stacks, and a new class needs no recompilation of it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

from modular.compile_pool import Job, pool
from modular.dispatcher import BareDispatcher
from modular.first_use import expect
from modular.kept_code import KeptLoop
from modular.kernel import has_file, kernel, stores
from modular.lanes import WHOLE, types
from modular.memory import BYTE
from modular.views import ViewType, asked_by

if TYPE_CHECKING:
    from modular.table import Table

NO_FAILED_ROW = -1  # what a loop returns where nothing went wrong


class AtAddress:
    """A function that is called by the address of its machine code."""

    def __init__(self, function: Callable[..., int]) -> None:
        self.dispatcher: Any = BareDispatcher(function)
        self.kept = KeptLoop(stores, function, self.dispatcher.targetoptions) if has_file(function) else None
        if self.kept is not None:
            self.dispatcher._cache = self.kept

    def find(self, signature: tuple[types.Type, ...]) -> int:
        """Where its machine code for such arguments lies, kept or made now."""
        found = self._kept(signature)
        return self._make(signature) if found is None else found

    def _make(self, signature: tuple[types.Type, ...]) -> int:
        """Machine code made now and kept; where it lies."""
        if self.kept is not None and self.kept.made_meanwhile(signature, self.dispatcher.targetctx.codegen()):
            found = self._kept(signature)
            if found is not None:
                return found
        self.dispatcher.compile(signature)
        compiled = self.dispatcher.overloads[signature]
        return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))

    def _kept(self, signature: tuple[types.Type, ...]) -> int | None:
        return self.kept.address(signature, self.dispatcher.targetctx) if self.kept is not None else None


class Loop(AtAddress):
    """A compiled loop; one machine code per layout of the tables."""

    def __init__(self, function: Callable[..., int]) -> None:
        super().__init__(function)
        self.__name__, self.__module__, self.__doc__ = function.__name__, function.__module__, function.__doc__
        self._addresses: dict[tuple[int, int], int] = {}

    def address(self, stack: Table, elements: Table) -> int:
        """Where its machine code for these tables lies."""
        key = (id(stack.view), id(elements.view))  # one view per layout, kept for good
        found = self._addresses.get(key)
        if found is None:
            expect(stack.loops.values())
            part = self._asked(stack.view, elements.view)
            found = self._addresses.get((id(part[0]), id(part[1])))
            if found is None:
                found = self._addresses[id(part[0]), id(part[1])] = self._find(*part)
            self._addresses[key] = found
        return found

    @property
    def ready(self) -> bool:
        """Whether there is machine code for some layout."""
        return bool(self._addresses)

    def is_kept(self, stack: ViewType, elements: ViewType) -> bool:
        """Whether there is machine code for this layout, here or on disk."""
        stack, elements = self._asked(stack, elements)
        if (id(stack), id(elements)) in self._addresses:
            return True
        signature = (types.int64, types.int64, stack, elements)
        return self.kept is not None and self.kept.has(signature, self.dispatcher.targetctx)

    def job(self, stack: ViewType, elements: ViewType) -> Job:
        """What another process is told, that is to compile it."""
        stack, elements = self._asked(stack, elements)
        return Job(f"{self.__module__}:{self.__name__}", stack.fields, elements.fields)

    def compile(self, stack: ViewType, elements: ViewType) -> int:
        """Machine code for this layout, made now and kept; where it lies."""
        return self._make((types.int64, types.int64, *self._asked(stack, elements)))

    def _asked(self, stack: ViewType, elements: ViewType) -> tuple[ViewType, ViewType]:
        """What of a layout it asks for: layouts that differ elsewhere share its machine code."""
        return asked_by(self.dispatcher.py_func, stack), asked_by(self.dispatcher.py_func, elements)

    def _find(self, stack: ViewType, elements: ViewType) -> int:
        """Machine code that is kept, or made now, here or by a process that helps."""
        signature = (types.int64, types.int64, stack, elements)
        found = self._kept(signature)
        if found is None and self.kept is not None:
            pool.claim(self.job(stack, elements))
            found = self._kept(signature)
        return self.compile(stack, elements) if found is None else found

    def __reduce__(self) -> str:
        """A loop is known by its name; whoever copies a stack shares its loops."""
        return self.__name__

    def __call__(self, stack: Table, elements: Table, start: int, stop: int) -> int:
        """Run it over some rows."""
        return int(_call(self.address(stack, elements), start, stop, stack.sheet, elements.sheet))


def loop(function: Callable[..., int]) -> Loop:
    """Compile a loop on first use."""
    return Loop(function)


def made(function: Callable[..., int], after: Callable[..., Any]) -> Loop:
    """A loop that was made around another function, and is found under the name of that one."""
    function.__name__, function.__module__, function.__doc__ = after.__name__, after.__module__, after.__doc__
    return Loop(function)


def loops_of(*modules: Any) -> dict[str, Loop]:
    """The loops of some modules by the verbs that they stand for: `kick_loop` is for "kick"."""
    found = [(name, value) for module in modules for name, value in vars(module).items() if isinstance(value, Loop)]
    return {name.removesuffix("_loop"): value for name, value in found if name.endswith("_loop")}


def inside(function: Callable[..., Any], apart: bool = False) -> Any:
    """A function as a kernel that loops are made around; under a name of its own, for loops are kept in another form."""
    name = f"{function.__name__}_inside"
    copy = FunctionType(function.__code__, function.__globals__, name, function.__defaults__, function.__closure__)
    copy.__module__, copy.__qualname__ = function.__module__, name
    return kernel(copy, apart=apart)


@intrinsic
def call(
    context: Any, address: types.Type, start: types.Type, stop: types.Type, stack: types.Type, elements: types.Type
) -> Any:
    """Call a loop by its address."""

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        pointer, none = WHOLE.as_pointer(), BYTE.as_pointer().as_pointer()
        kind = ir.FunctionType(ir.IntType(32), [pointer, none, WHOLE, WHOLE, pointer, pointer])
        function = builder.inttoptr(values[0], kind.as_pointer())
        result = cgutils.alloca_once(builder, WHOLE)
        sheets = [builder.inttoptr(value, pointer) for value in values[3:]]
        builder.call(function, [result, ir.Constant(none, None), values[1], values[2], *sheets])
        return builder.load(result)

    return types.int64(types.int64, types.int64, types.int64, types.int64, types.int64), generate


@kernel
def _call(address: int, start: int, stop: int, stack: int, elements: int) -> int:
    """Call one loop from Python."""
    found: int = call(address, start, stop, stack, elements)
    return found
