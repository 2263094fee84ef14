"""What a worker is given: tables, borders, and the stages to play on them; as objects or as a parcel of bytes.

There is nothing of models or events in it: a worker plays loops on rows, whatever they stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coordinator.couplings.interface.seats import Elsewhere, Seats
from coordinator.distributed.workers.border import Border
from coordinator.distributed.workers.lent import Lent
from coordinator.distributed.workers.resident import Residents
from coordinator.distributed.workers.stages import Stage, Stages
from coordinator.engine.guards import Aims, Guards, take_aim
from coordinator.engine.score import Part as Verb
from coordinator.events.breakage import Watched
from coordinator.system import System
from modular.parcel import packed, unpacked
from modular.tables_as_data import described, revived

ROUNDS = ("begin", "first", "again", "end", "shown")


@dataclass
class Piece:
    """Everything that one worker needs."""

    system: System
    watched: Watched | None
    telling: dict[int, Border]  # by the number of the neighbour
    hearing: dict[int, Border]
    at_border: dict[int, int]  # by the identity of a table: how many of its first rows are at a border
    stages: Stages
    dt: float
    every: int
    leaks: list[Verb] = field(default_factory=list)  # what rings where a ledger leaks too much
    guards: Guards | None = None  # conditions on what moves here
    aims: Aims = field(default_factory=list)
    must_look: bool = False  # whether every worker has to look around at the end of every tick
    seated: tuple[Seats, Elsewhere] | None = None  # all joints of the whole, where they are glued

    @property
    def tables(self) -> list[Any]:
        """All tables of components, elements first; black boxes are none, but stand among them."""
        system = self.system
        watched = [] if self.watched is None else [self.watched]
        stacks: list[Any] = [system.elements, *system.bodies, *system.joints, *system.forces, *watched]
        return [*stacks, *(self.seated or ())]

    @property
    def said_per_tick(self) -> int:
        """Bytes that are said to each neighbour in a tick, roughly; only where that may be much."""
        if self.seated is None:
            return 0
        shown = max((border.count for border in self.telling.values()), default=0)
        return self.seated[0].said_per_tick(shown, len(self.system.gravity), self.system.elements.motions)

    def to_parcel(self) -> bytes:
        """As bytes."""
        guards = [] if self.guards is None else [self.guards]
        tables: list[Any] = [*self.tables, *self.telling.values(), *self.hearing.values(), *guards]
        number = {id(table): k for k, table in enumerate(tables)}
        arrays: dict[str, Any] = {}
        listed = []
        for k, table in enumerate(tables):
            data, columns = table.described() if isinstance(table, Lent) else described(table)
            listed.append(data)
            arrays |= {f"{k}.{name}": array for name, array in columns.items()}

        def verbs(parts: Sequence[Verb]) -> list[Any]:
            return [[number[id(table)], verb] for table, verb in parts]

        def round_(stages: Sequence[Stage]) -> list[Any]:
            return [[verbs(stage.parts), verbs(stage.saying), stage.kind] for stage in stages]

        system = self.system
        arrays["gravity"] = system.gravity
        data = {
            "tables": listed,
            "bodies": len(system.body_stacks),
            "joints": len(system.joint_stacks),
            "forces": len(system.force_stacks),
            "watched": self.watched is not None,
            "glued": self.seated is not None,
            "telling": list(self.telling),
            "hearing": list(self.hearing),
            "guards": [[number[id(stack)], int(row), int(axis)] for stack, row, axis in self.aims],
            "at_border": [self.at_border.get(id(table), 0) for table in tables],
            "stages": {name: round_(getattr(self.stages, name)) for name in ROUNDS},
            "leaks": verbs(self.leaks),
            "dt": self.dt,
            "every": self.every,
            "tick": system.tick,
            "must_look": self.must_look,
        }
        return packed(data, arrays)

    @classmethod
    def from_parcel(cls, parcel: bytes | memoryview, residents: Residents | None = None) -> Piece:
        """From bytes; `residents`: the black boxes that live here already."""
        residents = Residents() if residents is None else residents
        data, arrays = unpacked(parcel, "piece of work")
        columns: list[dict[str, Any]] = [{} for _ in data["tables"]]
        for name, array in arrays.items():
            number, _, column = name.partition(".")
            if column:
                columns[int(number)][column] = array
        tables: list[Any] = [
            Lent.revived(table, columns[k], residents)
            if "record" in table
            else revived(table, columns[k], f"piece of work, table {k}")
            for k, table in enumerate(data["tables"])
        ]
        rest = iter(tables)
        system = System(np.array(arrays["gravity"]))
        system.tick, system.elements = data["tick"], next(rest)
        system.body_stacks = {k: next(rest) for k in range(data["bodies"])}
        system.joint_stacks = {k: next(rest) for k in range(data["joints"])}
        system.force_stacks = {k: next(rest) for k in range(data["forces"])}
        watched = next(rest) if data["watched"] else None
        seated = (next(rest), next(rest)) if data["glued"] else None
        telling = {other: next(rest) for other in data["telling"]}
        hearing = {other: next(rest) for other in data["hearing"]}
        aims = [(tables[k], row, axis) for k, row, axis in data["guards"]]
        guards = next(rest, None)
        if guards is not None:
            take_aim(guards, aims)

        def verbs(parts: list[Any]) -> list[Verb]:
            return [(tables[k], verb) for k, verb in parts]

        def round_(stages: list[Any]) -> list[Stage]:
            return [Stage(verbs(parts), verbs(saying), kind) for parts, saying, kind in stages]

        return cls(
            system,
            watched,
            telling,
            hearing,
            {id(table): count for table, count in zip(tables, data["at_border"], strict=True)},
            Stages(*(round_(data["stages"][name]) for name in ROUNDS)),
            data["dt"],
            data["every"],
            verbs(data["leaks"]),
            guards,
            aims,
            data["must_look"],
            seated,
        )

    # --- the state alone ---------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Arrays of everything that a run changes, by table and column."""
        found: dict[str, Any] = {}
        for k, table in enumerate(self.tables):
            if isinstance(table, Lent):
                found |= {f"{k}.{name}": array for name, array in table.memory_as_arrays().items()}
                continue
            for name in table.changing():
                found[f"{k}.{name}"] = getattr(table, name)[: table.count]
        for other, border in self.hearing.items():
            found[f"heard {other}"] = border.state
        if self.guards is not None:
            found["side"] = self.guards.side[: self.guards.count]
        return found

    def take_state(self, arrays: dict[str, Any]) -> None:
        """Stand like another piece that began as this one did."""
        for k, table in enumerate(self.tables):
            if isinstance(table, Lent):
                mine = {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{k}.")}
                table.take_memory(mine)
                continue
            for name in table.changing():
                array = arrays.get(f"{k}.{name}")
                if array is not None:
                    getattr(table, name)[: table.count] = array
        for other, border in self.hearing.items():
            border.state[:] = arrays[f"heard {other}"]
        if self.guards is not None:
            self.guards.side[: self.guards.count] = arrays["side"]
