"""What a simulation was given, as its runs must know it to be repeated: the model and the coupling, worked out when asked for."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from coordinator.couplings import Coupling
from coordinator.record.obstacles import exchanged, foreign_sources, homeless, lost_acts, parts_of
from modular.assembly import Assembly
from modular.component import Component, plain
from modular.errors import ModelError


class Given:
    """The model and the coupling as they were at the start.

    While nothing has changed the model is that of the simulation itself; who changes it says so before (`part`).
    """

    def __init__(self, assembly: Assembly, coupling: Coupling) -> None:
        self._assembly, self._coupling = assembly, coupling
        self._parted = self._from_elsewhere = False

    def part(self) -> None:
        """From here on the simulation goes ways of its own."""
        if not self._parted:
            self._assembly, self._parted = self._assembly.copy(), True

    def leave_untold(self) -> None:
        """Whoever reads the runs knows the model and its sources himself: nothing of them is worked out."""
        self.model, self._others = {}, ({}, [])

    def to_data(self) -> dict[str, Any]:
        """What a simulation that goes on elsewhere has to know of its beginning."""
        return {
            "model": self.model,
            "coupling": plain(self._coupling),
            "sources": self.sources,
            "homeless": self._others[1],
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any], assembly: Assembly, coupling: Coupling) -> Given:
        """The same; `coupling` is the present one."""
        first = coupling if plain(coupling) == data["coupling"] else Component.from_data(data["coupling"])
        given = cls(assembly, first)
        given._parted = given._from_elsewhere = True
        model, sources, homeless = data["model"], data["sources"], data["homeless"]
        valid = isinstance(sources, dict) and isinstance(homeless, list)
        if not valid or not all(isinstance(text, str) for text in (*sources.values(), *homeless)):
            raise ModelError("what a run was given must be tables and lists of texts.")
        if not isinstance(model, dict):
            raise ModelError(f"what a run was given must be a model, not {model!r}.")
        given.model, given._others = model, (sources, homeless)
        return given

    @functools.cached_property
    def model(self) -> dict[str, Any]:
        """The model as data."""
        return self._assembly.to_data()

    def model_of(self, assembly: Assembly) -> dict[str, Any]:
        """The present model of the simulation as data: the one at the start, as long as nothing has changed."""
        return self.model if assembly is self._assembly and not self._parted else assembly.to_data()

    @property
    def to_look_at(self) -> Assembly:
        """The model without a copy, as it is now where it came from elsewhere."""
        return self._assembly

    def assembly(self) -> Assembly:
        """The model."""
        return Assembly.from_data(self.model) if self._from_elsewhere else self._assembly.copy()

    @property
    def sources(self) -> dict[str, str]:
        """Digests of the sources of others that take part."""
        return self._others[0]

    @functools.cached_property
    def _others(self) -> tuple[dict[str, str], list[str]]:
        """Sources of others, and what has no home, found in one go through the model."""
        parts = parts_of(self._assembly, self._coupling)
        return foreign_sources(parts), homeless(parts)

    def obstacles(self, coupling: Coupling, made: list[dict[str, Any]]) -> list[str]:
        """Why a run cannot be repeated from its folder, a sentence each; the present coupling, and what was made by hand."""
        return [*self._others[1], *exchanged(self._coupling, coupling), *lost_acts(made)]
