"""Who moves which body, and what joints across a boundary read from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from coordinator.engine.program import TOGETHER, compiled
from coordinator.system import System
from modular.port import GROUND

NO_WORKER = -1  # moves the ground


class Ownership:
    """The parts at both sides of every joint and force."""

    def __init__(self, system: System, parts: Sequence[Iterable[str]], *, together: bool = False) -> None:
        """`together`: joints and forces that go across are worked out by all parts, not by the two that they join alone."""
        self.together, self.count = together, len(parts)
        self.part_of = {name: k for k, names in enumerate(parts) for name in names}
        self.sides: dict[str, tuple[int, ...]] = {}  # of every joint and force; a force on one body has it twice
        self.across: list[tuple[int, int, int]] = []  # element, the part of its body, the part that reads it too
        self.boundary_bodies: set[str] = set()  # bodies that show such an element
        self.reads_end_velocity = np.zeros(
            system.elements.count, np.int64
        )  # 1 where a force reads the velocity v + dt a
        self.company = self._company(system)
        for homes in (system.joint_home, system.force_home):
            for name, home in homes.items():
                sides = [NO_WORKER if owner == GROUND else self.part_of[owner] for owner in home.owners]
                self.sides[name] = tuple(sides) if len(sides) > 1 else (sides[0], sides[0])
                if not self.crosses(name):
                    continue
                self.boundary_bodies.update(owner for owner in home.owners if owner != GROUND)
                for side, start, count in zip(sides, home.starts, home.counts, strict=True):
                    if side == NO_WORKER:
                        continue
                    others = range(len(parts)) if together else sorted(self.parts_with(name))
                    readers = [k for k in others if k != side]
                    self.across += [(k, side, reader) for k in range(start, start + count) for reader in readers]
                    self.reads_end_velocity[start : start + count] = int(
                        homes is system.force_home and getattr(home.stack, "reads_end_velocity", True)
                    )
        self.across.sort()

    def _company(self, system: System) -> dict[str, set[int]]:
        """Of forces that are found together: the parts of all bodies that they join, over others too, and over glued joints.

        Each of these parts works all of them out, from the same numbers.
        """
        joining = [
            (name, [owner for owner in home.owners if owner != GROUND])
            for name, home in system.force_home.items()
            if compiled((home.stack, TOGETHER))
        ]
        if not joining:
            return {}
        import networkx as nx  # a tenth of a second, for those who need it

        graph = nx.Graph()
        for _, owners in joining:
            nx.add_path(graph, owners)
        for home in system.joint_home.values() if self.together else ():
            nx.add_path(graph, [owner for owner in home.owners if owner != GROUND])
        joined = [(bodies, {self.part_of[body] for body in bodies}) for bodies in nx.connected_components(graph)]
        found = {body: parts for bodies, parts in joined for body in bodies}
        return {name: found[owners[0]] for name, owners in joining if owners}

    def parts_with(self, use: str) -> set[int]:
        """The parts that work a joint or force out, if nobody else does."""
        return self.company.get(use, {*self.sides[use]} - {NO_WORKER})

    def crosses(self, use: str) -> bool:
        """Whether a joint or force takes numbers from several parts."""
        return len(self.parts_with(use)) > 1

    def needs(self, me: int, use: str) -> bool:
        """Whether a part works a joint or force out."""
        return me in self.parts_with(use) or (self.together and self.crosses(use))

    def owner(self, use: str) -> int:
        """The part that gives the row of a joint or force back: that of its first body."""
        return next((side for side in self.sides[use] if side != NO_WORKER), NO_WORKER)
