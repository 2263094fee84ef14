"""Systems of FMUs by themselves: scalar connections, stepped or integrated together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from components.fmi.archive import give
from components.fmi.fmu_system import FmuSystem
from components.fmi.ssp import read_ssp
from modular.component import Component
from modular.elements import Array
from modular.errors import ModelError


@dataclass(frozen=True)
class FmuNetwork(Component):
    """FMUs whose outputs feed each other's inputs.

    `files`: by the names of the members; `connections`: {"one.input": "other.output"}; `parameters`: {"one.mass": 2.0}, of any
    type; `interface`: "co-simulation" or "model exchange", or the first that each offers.
    """

    names_functions: ClassVar[tuple[str, ...]] = ("files",)

    files: Mapping[str, str]
    connections: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    interface: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        give(self.files.values())

    @classmethod
    def from_ssp(cls, path: str | Path, interface: str | None = None) -> Self:
        """The system of FMUs that an SSP file describes."""
        return cls(**read_ssp(path), interface=interface)

    def fmus(self) -> FmuSystem:
        """All of them, instantiated."""
        return FmuSystem(dict(self.files), self.connections, self.interface, self.parameters)

    def run(self, until: float, dt: float, outputs: Sequence[str]) -> tuple[Array, Array]:
        """Times (n,) and outputs (n, k) at every step of `dt` [s]."""
        ticks = round(until / dt)
        if ticks < 1:
            raise ModelError(f"FmuNetwork: until = {until} s is less than half a step of {dt} s; take a shorter step.")
        fmus = self.fmus()
        try:
            shown = fmus.signals(outputs, "FmuNetwork: outputs", discrete=True)
            fmus.begin()
            found = [fmus.ask(shown)]
            for tick in range(ticks):
                fmus.time = tick * dt
                fmus.step(dt)
                found.append(fmus.ask(shown))
            return np.asarray(dt * np.arange(ticks + 1), float), np.array(found)
        finally:
            fmus.close()
