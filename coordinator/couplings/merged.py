"""Neighbours as one component that is solved inside, by hand or where the ledger shows a joint that is too weak for its load.

Séguy 2003, second perspective of his conclusion, Figure I-9: components that the explicit joints between them serve badly are
fused at run time; inner joints have no play, outer ports stay as they are. Everything else goes on as in `Penalty`.

Which bodies may be one component: those that are there, and that joints between them hold together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from coordinator.couplings.adapting import energy_about
from coordinator.couplings.interface.plan import why_not
from coordinator.couplings.penalty import Penalty
from coordinator.system import System
from modular.errors import ModelError
from modular.ledger import STORED
from modular.names import missing
from modular.numbers import number
from modular.port import GROUND


def check_group(system: System, bodies: Sequence[str], what: str) -> None:
    """Refuse names of nobody, a body alone, and bodies that no joint connects, those being counted that they are merged with."""
    for body in bodies:
        if body != GROUND and body not in system.body_home:
            raise ModelError(f"{what}: " + missing("body", body, list(system.body_home)))
    if len(set(bodies)) < 2:
        raise ModelError(
            f"{what}: {describe(bodies)} is one body; name two neighbours or more, such as 'crank', 'rod'."
        )
    import networkx as nx  # a tenth of a second, for those who need it

    graph = nx.Graph()
    graph.add_nodes_from(set(bodies).union(*(known for known in system.groups if not set(known).isdisjoint(bodies))))
    for name in system.joint_home:
        first, second = system.joint_home[name].owners
        if first in graph and second in graph:
            graph.add_edge(first, second)
    parts = sorted(map(sorted, nx.connected_components(graph)))
    if len(parts) > 1:
        raise ModelError(
            f"{what}: no joint connects {describe(parts[0])} with {describe(parts[1])}; merge neighbours, or name the bodies "
            "between them too."
        )


def describe(bodies: Sequence[str]) -> str:
    """Names for a sentence."""
    return ", ".join(f"'{body}'" for body in bodies)


LEDGER_CHECK_TICKS = 50  # ticks from one look at the ledger to the next


@dataclass(frozen=True)
class Merged(Penalty):
    """`Penalty` between components of several bodies; `groups` says which bodies are one from the start.

    `heavy`: neighbours are merged once the spring between them holds more than this share of the energy that is about (the kinetic
    energy of all bodies, and what their weight does over the extent of the system); a joint without play would hold none.
    `light`: neighbours are merged where the mass that a joint sees is below this share of the mean mass of the bodies. Left
    out, nobody is merged but by hand (`Simulation.merge`).
    """

    adapts: ClassVar[bool] = False

    groups: Sequence[Sequence[str]] = ()
    heavy: float | None = None
    light: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("heavy", "light"):
            value = getattr(self, name)
            if value is not None and not 0.0 < number(value, f"Merged: {name}", "") < 1.0:
                raise ModelError(f"Merged: {name} = {value!r}; give a share between 0 and 1, such as 1e-6.")
        if isinstance(self.groups, str) or any(isinstance(group, str) or len(group) < 2 for group in self.groups):
            raise ModelError(
                f"Merged: groups = {self.groups!r}; give lists of two bodies or more, such as [['crank', 'rod']]."
            )

    def configure(self, system: System, dt: float) -> None:
        """As `Penalty`; at the start of a run groups are merged."""
        if system.tick == 0 and not system.cache.get("grouped"):
            system.cache["grouped"] = True
            for group in self.groups:
                check_group(system, group, "Merged: groups")
                for body in group:
                    reason = None if body == GROUND else why_not(system, body)
                    if reason is not None:
                        raise ModelError(f"Merged: groups: body '{body}' {reason}.")
                system.merge(group)
        super().configure(system, dt)

    @property
    def looks(self) -> int:  # type: ignore[override]
        """Only where something is merged by itself."""
        return 0 if self.heavy is None and self.light is None else LEDGER_CHECK_TICKS

    def look(self, system: System) -> dict[tuple[str, ...], str]:
        """Neighbours whose joint is too weak for its load, or sees too little mass."""
        found: dict[tuple[str, ...], str] = {}
        about = energy_about(system) if self.heavy is not None else 0.0
        seen = seen_masses(system) if self.light is not None else {}
        for name in system.joint_home:
            home = system.joint_home[name]
            apart = home.stack.form.holonomic and not system.merged(*home.owners)
            if not apart or any(owner != GROUND and why_not(system, owner) for owner in home.owners):
                continue
            stored = float(home.stack.ledger[home.stack.row[name], STORED])
            if self.heavy is not None and stored > self.heavy * about:
                found.setdefault(home.owners, f"'{name}' holds {stored / about:.2g} of the total energy")
            elif self.light is not None and seen.get(name, 1.0) < self.light:
                found.setdefault(home.owners, f"'{name}' sees {seen[name]:.2g} of the mean mass of the bodies")
        return found


def seen_masses(system: System) -> dict[str, float]:
    """The mass that the translations of every joint see, as a share of the mean mass of the bodies."""
    mean = float(
        np.mean(
            [system.described[name].total_mass for name in system.body_home if not system.described[name].led] or [1.0]
        )
    )
    system.show()
    system.respond()
    found: dict[str, float] = {}
    for stack in system.joints:
        lengths = stack.form.translations
        if lengths > 0:
            stack.linearise(system.elements)
            stack.compute_compliance(system.elements)
            answers = np.einsum("nii->n", stack.compliance[: stack.count, :lengths, :lengths]) / lengths
            found.update(
                (name, 1.0 / (answer * mean)) for name, answer in zip(stack.names, answers, strict=True) if answer
            )
    return found
