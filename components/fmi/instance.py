"""One FMU that runs: the same few verbs for FMI 2 and FMI 3, co-simulation and model exchange.

Numbers that pass at every step lie in arrays that are made once (`Numbers`), so that a call costs what the FMU takes and little
more.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from components.fmi.archive import CO_SIMULATION, Archive, Variable, _first_line, fmpy
from components.fmi.numbers import FLOATS, NAMES_TWO, TYPES, Numbers, discrete
from modular.elements import Array
from modular.errors import ModelError

KEPT_MESSAGES = 5  # of the log of an FMU
FATAL = 4  # status of FMI
_alone: set[Path] = set()  # folders of FMUs that may be there once in a process, and are


class Instance:
    """An FMU that has been instantiated; every call that it fails becomes one sentence with its name."""

    def __init__(self, archive: Archive, kind: str, name: str) -> None:
        package = fmpy()
        self.archive, self.kind, self.name = archive, kind, name
        self.three = archive.version == 3
        here = archive.description
        self.part = here.coSimulation if kind == CO_SIMULATION else here.modelExchange
        if self.part is None:
            raise ModelError(f"FMU '{archive.path}' offers no {kind}; it offers {' and '.join(archive.kinds)}.")
        self._once = archive.folder if self.part.canBeInstantiatedOnlyOncePerProcess else None
        if self._once in _alone:
            raise ModelError(
                f"FMU '{archive.path}' says canBeInstantiatedOnlyOncePerProcess, and runs in this process already; close that one, "
                "or let each live at a worker of its own (BlackBox)."
            )
        self._log: list[str] = []
        self.lost = False  # after a fatal error nothing may be called any more (FMI 2.0.4, 2.1.3)
        self.time, self._begun = 0.0, False
        self._elements: dict[int, Array] = {}  # of arrays, as they have been told
        self._starts: dict[int, Array] = {}  # as they begin
        self._told = ctypes.c_bool(), ctypes.c_bool(), ctypes.c_bool(), ctypes.c_double()  # by a step of FMI 3
        self._told_at = [ctypes.byref(value) for value in self._told]
        classes = {
            (2, True): "FMU2Slave", (2, False): "FMU2Model", (3, True): "FMU3Slave", (3, False): "FMU3Model",
        }  # fmt: skip
        module = package.fmi3 if self.three else package.fmi2
        make = getattr(module, classes[archive.version, kind == CO_SIMULATION])
        archive.check_platform()
        self._guard("load", lambda: self._load(make))
        self._guard("instantiate", self._instantiate)

    def _load(self, make: Callable[..., Any]) -> None:
        here = self.archive.description
        self.fmu = make(
            guid=here.guid, unzipDirectory=str(self.archive.folder), modelIdentifier=self.part.modelIdentifier,
            instanceName=self.name,
        )  # fmt: skip
        self._f = self.fmu._functions

    def _instantiate(self) -> None:
        if self.three:
            self.fmu.instantiate(logMessage=self._hear, loggingOn=True)
        else:
            fmi2 = fmpy().fmi2
            callbacks = fmi2.fmi2CallbackFunctions()
            callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(self._hear_two)
            callbacks.allocateMemory = fmi2.defaultCallbacks.allocateMemory
            callbacks.freeMemory = fmi2.defaultCallbacks.freeMemory
            self.fmu.instantiate(callbacks=callbacks, loggingOn=True)
        self.component = self.fmu.component
        if self._once is not None:
            _alone.add(self._once)

    # --- what may go wrong -------------------------------------------------------------------------------------------

    def _hear(self, _environment: Any, status: int, _category: Any, message: bytes | None) -> None:
        if status >= 1 and message:
            self._log = [*self._log[1 - KEPT_MESSAGES :], message.decode("utf-8", "replace").strip()]

    def _hear_two(self, environment: Any, _name: Any, status: int, category: Any, message: bytes | None) -> None:
        self._hear(environment, status, category, message)

    def _guard(self, what: str, act: Callable[[], Any]) -> Any:
        try:
            return act()
        except ModelError:
            raise
        except Exception as error:
            self.lost = self.lost or getattr(error, "status", 0) == FATAL
            raise self.error(f"cannot {what}: {_first_line(error)}") from error

    def error(self, what: str) -> ModelError:
        """What to say of it."""
        said = f" It says: {' '.join(' '.join(self._log).split())[:300]}" if self._log else ""
        return ModelError(f"FMU '{self.archive.path.name}' ({self.name}) {what} (at {self.time:g} s).{said}")

    def _call(self, function: str, *arguments: Any) -> None:
        if self.lost:
            raise self.error("has failed before and must not be called again")
        status = self._f[function](self.component, *arguments)
        if status > 1:
            self.lost = self.lost or status == FATAL
            names = {2: "discard", 3: "error", 4: "fatal", 5: "pending"}
            raise self.error(f"answers '{names.get(status, status)}' to {function}")

    # --- variables ---------------------------------------------------------------------------------------------------

    def variables(self, names: Sequence[str], what: str, *, discrete: bool = False) -> Numbers:
        """Variables of one type by their names: floats, and where that may be whole numbers and booleans."""
        found = [self.archive.variable(name, what) for name in names]
        for variable in found:
            if variable.kind not in (TYPES if discrete else FLOATS) or not (self.three or variable.kind in NAMES_TWO):
                needed = "a number or a boolean" if discrete else "Float64"
                raise ModelError(f"{what}: variable '{variable.name}' is of type {variable.kind}; {needed} is needed.")
        for variable in found:
            if variable.place is not None and variable.reference not in self._elements:
                self._starts[variable.reference] = np.array(variable.starts)
                self._elements[variable.reference] = np.array(variable.starts)
        return Numbers(found, found[0].kind if found else "Float64", three=self.three)

    def _forget_elements(self) -> None:
        """Arrays are as the file says again."""
        for reference, starts in self._starts.items():
            self._elements[reference][:] = starts

    def tell(self, numbers: Numbers, values: Array) -> None:
        """Set variables."""
        own = values if numbers.units is None else (values - numbers.units[1]) / numbers.units[0]
        if numbers.discrete:
            numbers.check(own)
        if numbers.places is None:
            numbers.array[:] = own
        else:  # other elements stay as they have been told
            for reference, rows in numbers.wholes.items():
                numbers.array[rows] = self._elements[reference]
            numbers.array[numbers.places] = own
            for reference, rows in numbers.wholes.items():
                self._elements[reference][:] = numbers.array[rows]
        if self.three:
            self._call(numbers.set, numbers.references, numbers.count, numbers.values, numbers.size)
        else:
            self._call(numbers.set, numbers.references, numbers.count, numbers.values)

    def ask(self, numbers: Numbers) -> Array:
        """Get variables; the array is overwritten when they are asked for again."""
        if self.three:
            self._call(numbers.get, numbers.references, numbers.count, numbers.values, numbers.size)
        else:
            self._call(numbers.get, numbers.references, numbers.count, numbers.values)
        found = numbers.array if numbers.places is None else numbers.array[numbers.places]
        return found if numbers.units is None else found * numbers.units[0] + numbers.units[1]

    def set_parameter(self, name: str, value: Any) -> None:
        """Set a variable of any type by its name, before it is initialised."""
        variable = self.archive.variable(name, f"FMU '{self.archive.path.name}': parameters")
        if variable.causality == "structuralParameter":
            raise ModelError(
                f"FMU '{self.archive.path.name}': '{name}' is a structural parameter, by which its arrays would have other sizes; "
                f"it stays {variable.start}, as the file says."
            )
        self._check_settable(variable)
        verb = (
            variable.kind if self.three else {"Float64": "Real", "Int32": "Integer"}.get(variable.kind, variable.kind)
        )
        try:
            if variable.kind in FLOATS:
                value = variable.own(float(value))
                if not math.isfinite(value):
                    raise ValueError(value)
            elif variable.kind == "String":
                value = str(value)
            elif variable.kind in TYPES:
                value = discrete(variable.kind, value)
        except (TypeError, ValueError):
            raise ModelError(
                f"FMU '{self.archive.path.name}': parameter {name} = {value!r}; give a value of type {variable.kind}."
            ) from None
        given = [value]
        if variable.place is not None:
            count = len(variable.starts)
            whole = self._guard(f"show {name}", lambda: getattr(self.fmu, f"get{verb}")([variable.reference], count))
            given = list(whole)
            given[variable.place] = value
            if variable.reference in self._elements:
                self._elements[variable.reference][variable.place] = value
        self._guard(f"take {name} = {value!r}", lambda: getattr(self.fmu, f"set{verb}")([variable.reference], given))

    def _check_settable(self, variable: Variable) -> None:
        """Refuse to set what the FMU works out itself: many take the number, and go on without it."""
        cause, known = variable.causality or "local", variable.start is not None and variable.initial != "calculated"
        if variable.variability == "constant" or (
            cause not in ("parameter", "input", "structuralParameter") and not (known and cause in ("output", "local"))
        ):
            why = "constant" if variable.variability == "constant" else f"of causality {cause}"
            raise ModelError(
                f"FMU '{self.archive.path.name}': '{variable.name}' is {why}, and the FMU works it out itself; parameters, inputs "
                "and what begins with a start value can be set."
            )

    # --- beginning and end -------------------------------------------------------------------------------------------

    def begin(self, parameters: Mapping[str, Any], inputs: Sequence[tuple[Numbers, Array]]) -> None:
        """Initialise with parameters and inputs, at time 0; whoever has begun before goes back to the very beginning."""
        if self._begun:
            self._guard("be reset", self.fmu.reset)
            self._forget_elements()
        for name, value in parameters.items():
            self.set_parameter(name, value)

        def initialise() -> None:
            if self.three:
                self.fmu.enterInitializationMode(startTime=0.0)
            else:
                self.fmu.setupExperiment(startTime=0.0)
                self.fmu.enterInitializationMode()
            for numbers, values in inputs:
                self.tell(numbers, values)
            self.fmu.exitInitializationMode()

        self._guard("initialise", initialise)
        self.time, self._begun = 0.0, True

    def close(self) -> None:
        """Let it go; its library stays loaded, as others may use it."""
        component, self.component = getattr(self, "component", None), None
        if component is not None and self._once is not None:
            _alone.discard(self._once)
        if component is not None and not self.lost:
            self._f["fmi3FreeInstance" if self.three else "fmi2FreeInstance"](component)

    # --- a step of co-simulation -------------------------------------------------------------------------------------

    @property
    def variable_step(self) -> bool:
        """Whether steps may differ."""
        return bool(self.part.canHandleVariableCommunicationStepSize)

    @property
    def inner_step(self) -> float:
        """Of which communication steps are multiples; nothing where it does not say."""
        return float(getattr(self.part, "fixedInternalStepSize", None) or 0.0)

    def step(self, h: float) -> None:
        """Advance by h [s]."""
        if self.three:
            _, end, early, last = self._told
            self._call("fmi3DoStep", self.time, h, not self.saves, *self._told_at)
            if end.value:
                raise self.error("asks to end the simulation")
            if early.value:
                raise self.error(f"returns early from a step, at {last.value:g} s, which it was not allowed to")
        else:
            self._call("fmi2DoStep", self.time, h, 0 if self.saves else 1)
        self.time += h

    # --- its state ---------------------------------------------------------------------------------------------------

    @property
    def saves(self) -> bool:
        """Whether its state can be taken and given back."""
        return bool(self.part.canGetAndSetFMUstate)

    @property
    def serialises(self) -> bool:
        """Whether that can be written down."""
        return self.saves and bool(self.part.canSerializeFMUstate)

    def save(self) -> tuple[float, Any]:
        """Its state, which is to be forgotten some time."""
        state = ctypes.c_void_p()
        self._call("fmi3GetFMUState" if self.three else "fmi2GetFMUstate", ctypes.byref(state))
        return self.time, state

    def restore(self, saved: tuple[float, Any]) -> None:
        """Go back to it."""
        self._call("fmi3SetFMUState" if self.three else "fmi2SetFMUstate", saved[1])
        self.time = saved[0]

    def forget(self, saved: tuple[float, Any]) -> None:
        """Let a state go."""
        if self.component is not None and not self.lost:
            self._call("fmi3FreeFMUState" if self.three else "fmi2FreeFMUstate", ctypes.byref(saved[1]))

    def as_bytes(self, saved: tuple[float, Any]) -> bytes:
        """A state as bytes, for another process."""
        serialise = self.fmu.serializeFMUState
        return bytes(self._guard("write its state down", lambda: serialise(saved[1])))

    def from_bytes(self, time: float, data: bytes) -> tuple[float, Any]:
        """The state that bytes describe."""
        return time, self._guard("read its state", lambda: self.fmu.deserializeFMUState(data))
