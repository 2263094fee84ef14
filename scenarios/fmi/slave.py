"""What the compiled part of an exported FMU calls: classes with the methods that it expects, for FMI 2 and FMI 3.

That part is the one of PythonFMU and PythonFMU3 (MIT licence): it finds in `resources` a module with a class that extends
`Fmi2Slave` or `Fmi3Slave`, and calls its methods by name. The classes of these names here answer from arrays.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenarios.fmi.exported import Exported, State, UnevenStep
from scenarios.fmi.variables import BOOLEAN, WHOLE

DISCARD = 2  # status of FMI


# PythonFMU 0.7.0 gives back, with every instance, a reference to the names of its module that it has never taken: after the
# first they were freed while in use, and the process crashed at some later collection of garbage. One more is taken at the start
# and for each.
_held: list[dict[str, Any]] = []


def hold(names: dict[str, Any]) -> None:
    """Keep the names of a module."""
    _held.append(names)


@dataclass
class Message:
    """For the log of the master."""

    msg: str
    status: int = DISCARD
    category: str = "logStatusDiscard"
    debug: bool = False


class Slave:
    """What both have in common."""

    def __init__(self, **given: Any) -> None:
        hold(sys.modules[type(self).__module__].__dict__)
        self._exported = Exported(Path(given["resources"]))
        self._messages: list[Any] = []

    def _get_log_queue(self) -> list[Any]:
        return self._messages

    def enter_initialization_mode(self) -> None:
        """Nothing is built before inputs and parameters are known."""

    def exit_initialization_mode(self) -> None:
        """Build the model, and let it stand at the start."""
        self._exported.begin()

    def do_step(self, current_time: float, step_size: float) -> bool:
        """Advance; a step that is no whole number of ticks is discarded, and may be taken otherwise."""
        try:
            self._exported.step(current_time, step_size)
        except UnevenStep as error:
            self._messages.append(Message(str(error)))
            return False
        return True

    def terminate(self) -> None:
        """Let the simulation go."""
        if self._exported.simulation is not None:
            self._exported.simulation.close()

    def get_boolean(self, references: list[int]) -> list[bool]:
        """Booleans."""
        return self._exported.ask(references, BOOLEAN)

    def set_boolean(self, references: list[int], values: list[bool]) -> None:
        """Booleans."""
        self._exported.tell(references, [float(value) for value in values], BOOLEAN)

    def _get_fmu_state(self) -> State:
        return self._exported.state()

    def _set_fmu_state(self, state: State) -> None:
        self._exported.restore(state)

    @staticmethod
    def _fmu_state_to_bytes(state: State) -> bytes:
        return state.as_bytes()

    @staticmethod
    def _fmu_state_from_bytes(content: bytes) -> State:
        return State(None, None, content)


class Fmi2Slave(Slave):
    """For FMI 2."""

    def setup_experiment(self, start_time: float, stop_time: float | None, tolerance: float | None) -> None:
        """Models begin at 0."""
        if start_time != 0.0:
            raise ValueError(f"it begins at 0 s, and not at {start_time:g} s")

    def get_real(self, references: list[int]) -> list[float]:
        """Variables."""
        return self._exported.ask(references)

    def set_real(self, references: list[int], values: list[float]) -> None:
        """Variables."""
        self._exported.tell(references, values)

    def get_integer(self, references: list[int]) -> list[int]:
        """Whole numbers."""
        return self._exported.ask(references, WHOLE)

    def set_integer(self, references: list[int], values: list[int]) -> None:
        """Whole numbers."""
        self._exported.tell(references, values, WHOLE)


@dataclass(frozen=True)
class Stepped:
    """What a step of FMI 3 answers."""

    status: int
    terminateSimulation: bool = False  # noqa: N815 - as it is looked for


DONE, DISCARDED = Stepped(0), Stepped(DISCARD)


class Fmi3Slave(Slave):
    """For FMI 3."""

    def do_step(self, current_time: float, step_size: float) -> Any:
        """Advance."""
        return DONE if super().do_step(current_time, step_size) else DISCARDED

    def setup_experiment(self, start_time: float) -> None:
        """Models begin at 0."""
        if start_time != 0.0:
            raise ValueError(f"it begins at 0 s, and not at {start_time:g} s")

    def get_int32(self, references: list[int]) -> list[int]:
        """Whole numbers."""
        return self._exported.ask(references, WHOLE)

    def set_int32(self, references: list[int], values: list[int]) -> None:
        """Whole numbers."""
        self._exported.tell(references, values, WHOLE)

    def get_float64(self, references: list[int]) -> list[float]:
        """Variables."""
        return self._exported.ask(references)

    def set_float64(self, references: list[int], values: list[float]) -> None:
        """Variables."""
        self._exported.tell(references, values)
