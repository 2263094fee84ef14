"""What a worker is given: tables, halos, and the stages to play on them; as objects or as a payload.

There is nothing of models or events in it: a worker plays loops on rows, whatever they stand for.

A program with halo exchanges: where in a tick workers have to hear from each other.

All workers play the same stages in the same order, each on its own rows. A stage ends where bodies have said what joints
across a boundary must see. Bodies at the boundary go first, so that what they say is on its way while the others move.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coordinator.couplings.interface.members import InterfaceJoints, RemoteJoints
from coordinator.distributed.workers.black_box_shard import BlackBoxShard
from coordinator.distributed.workers.halo import NO_CONTENT, RATE, SENT_AFTER, Halo
from coordinator.distributed.workers.hosted_stack import StackHost
from coordinator.engine.guards import Aims, Guards, take_aim
from coordinator.engine.program import Operation, TickProgram
from coordinator.events.breakage import Watched
from coordinator.system import System
from modular.payload import packed, unpacked
from modular.tables_as_data import described, revived


@dataclass
class Stage:
    """Operations to be played, the last of which say what neighbours must hear; `NOTHING` where nobody waits for it."""

    operations: list[Operation] = field(default_factory=list)
    sending: list[Operation] = field(default_factory=list)  # by bodies
    kind: str = NO_CONTENT


@dataclass
class Stages:
    """The program of a tick (coordinator/engine/program.py) in stages, and what a sample needs."""

    prologue: list[Stage]
    first_tick: list[Stage]
    next_ticks: list[Stage]
    epilogue: list[Stage]
    shown: list[Stage]

    @classmethod
    def of(cls, program: TickProgram, shown: list[Operation], *, ledgers: bool = False) -> Stages:
        """Cut into stages.

        At the end of a tick nobody looks across, but for a sample (`shown`): each neighbour books the work on its own side.
        With `ledgers` both book all of it at every tick.
        """
        said = {**SENT_AFTER, "correct": RATE} if ledgers else SENT_AFTER
        end = cut(program.epilogue, {"show": RATE} if ledgers else {})
        return cls(
            cut(program.prologue, said),
            cut(program.first_tick, said),
            cut(program.next_ticks, said),
            end,
            cut(shown, said),
        )

    def for_tables(self, table_of: Callable[[Any], Any]) -> Stages:
        """The same for the tables of a subsystem; `table_of` gives None for what the subsystem has nothing of."""

        def mine(operations: Iterable[Operation]) -> list[Operation]:
            return [(table, verb) for stack, verb in operations if (table := table_of(stack)) is not None]

        def each(stages: list[Stage]) -> list[Stage]:
            return [Stage(mine(stage.operations), mine(stage.sending), stage.kind) for stage in stages]

        return Stages(
            each(self.prologue), each(self.first_tick), each(self.next_ticks), each(self.epilogue), each(self.shown)
        )


def cut(operations: Iterable[Operation], said: Mapping[str, str]) -> list[Stage]:
    """Stages of a list of operations: each ends with the last body that says a thing; `said`: what, by the verb."""
    stages: list[Stage] = [Stage()]
    for stack, verb in operations:
        kind, last = said.get(verb, NO_CONTENT), stages[-1]
        if last.kind not in (NO_CONTENT, kind):
            last = Stage()
            stages.append(last)
        if kind == NO_CONTENT:
            last.operations.append((stack, verb))
        else:
            last.sending.append((stack, verb))
            last.kind = kind
    return stages if stages[0].operations or stages[0].sending else []


SECTIONS = ("prologue", "first_tick", "next_ticks", "epilogue", "shown")


@dataclass
class Shard:
    """Everything that one worker needs."""

    system: System
    watched: Watched | None
    outgoing: dict[int, Halo]  # by the number of the neighbour
    incoming: dict[int, Halo]
    boundary_rows: dict[int, int]  # by the identity of a table: how many of its first rows are at a boundary
    stages: Stages
    dt: float
    every: int
    leaks: list[Operation] = field(default_factory=list)  # what rings where a ledger leaks too much
    guards: Guards | None = None  # conditions on what moves here
    aims: Aims = field(default_factory=list)
    must_look: bool = False  # whether every worker has to look around at the end of every tick
    glued_joints: tuple[InterfaceJoints, RemoteJoints] | None = None  # all joints of the whole, where they are glued

    @property
    def tables(self) -> list[Any]:
        """All tables of components, elements first; black boxes are none, but stand among them."""
        system = self.system
        watched = [] if self.watched is None else [self.watched]
        stacks: list[Any] = [system.elements, *system.bodies, *system.joints, *system.forces, *watched]
        return [*stacks, *(self.glued_joints or ())]

    @property
    def sent_per_tick(self) -> int:
        """Bytes that are said to each neighbour in a tick, roughly; only where that may be much."""
        if self.glued_joints is None:
            return 0
        shown = max((halo.count for halo in self.outgoing.values()), default=0)
        return self.glued_joints[0].sent_per_tick(shown, len(self.system.gravity), self.system.elements.motions)

    def layout(self, other: int) -> int:
        """A number that tells whether this worker and another mean the same elements in the same order."""
        outgoing, incoming = self.outgoing[other], self.incoming[other]
        facts = [len(outgoing.element), len(incoming.element), outgoing.state.shape[2]]
        return zlib.crc32(
            repr([*facts, outgoing.reads_end_velocity.tolist(), incoming.reads_end_velocity.tolist()]).encode()
        )

    def to_payload(self) -> bytes:
        """As bytes."""
        guards = [] if self.guards is None else [self.guards]
        tables: list[Any] = [*self.tables, *self.outgoing.values(), *self.incoming.values(), *guards]
        number = {id(table): k for k, table in enumerate(tables)}
        arrays: dict[str, Any] = {}
        listed = []
        for k, table in enumerate(tables):
            data, columns = table.described() if isinstance(table, BlackBoxShard) else described(table)
            listed.append(data)
            arrays |= {f"{k}.{name}": array for name, array in columns.items()}

        def verbs(operations: Sequence[Operation]) -> list[Any]:
            return [[number[id(table)], verb] for table, verb in operations]

        def section(stages: Sequence[Stage]) -> list[Any]:
            return [[verbs(stage.operations), verbs(stage.sending), stage.kind] for stage in stages]

        system = self.system
        arrays["gravity"] = system.gravity
        data = {
            "tables": listed,
            "bodies": len(system.body_stacks),
            "joints": len(system.joint_stacks),
            "forces": len(system.force_stacks),
            "watched": self.watched is not None,
            "glued": self.glued_joints is not None,
            "outgoing": list(self.outgoing),
            "incoming": list(self.incoming),
            "guards": [[number[id(stack)], int(row), int(axis)] for stack, row, axis in self.aims],
            "boundary_rows": [self.boundary_rows.get(id(table), 0) for table in tables],
            "stages": {name: section(getattr(self.stages, name)) for name in SECTIONS},
            "leaks": verbs(self.leaks),
            "dt": self.dt,
            "every": self.every,
            "tick": system.tick,
            "must_look": self.must_look,
        }
        return packed(data, arrays)

    @classmethod
    def from_payload(cls, payload: bytes | memoryview, stack_host: StackHost | None = None) -> Shard:
        """From bytes; `stack_host`: the black boxes that live here already."""
        stack_host = StackHost() if stack_host is None else stack_host
        data, arrays = unpacked(payload, "shard")
        columns: list[dict[str, Any]] = [{} for _ in data["tables"]]
        for name, array in arrays.items():
            number, _, column = name.partition(".")
            if column:
                columns[int(number)][column] = array
        tables: list[Any] = [
            BlackBoxShard.revived(table, columns[k], stack_host)
            if "record" in table
            else revived(table, columns[k], f"shard, table {k}")
            for k, table in enumerate(data["tables"])
        ]
        rest = iter(tables)
        system = System(np.array(arrays["gravity"]))
        system.tick, system.elements = data["tick"], next(rest)
        system.body_stacks = {k: next(rest) for k in range(data["bodies"])}
        system.joint_stacks = {k: next(rest) for k in range(data["joints"])}
        system.force_stacks = {k: next(rest) for k in range(data["forces"])}
        watched = next(rest) if data["watched"] else None
        glued_joints = (next(rest), next(rest)) if data["glued"] else None
        outgoing = {other: next(rest) for other in data["outgoing"]}
        incoming = {other: next(rest) for other in data["incoming"]}
        aims = [(tables[k], row, axis) for k, row, axis in data["guards"]]
        guards = next(rest, None)
        if guards is not None:
            take_aim(guards, aims)

        def verbs(operations: list[Any]) -> list[Operation]:
            return [(tables[k], verb) for k, verb in operations]

        def section(stages: list[Any]) -> list[Stage]:
            return [Stage(verbs(operations), verbs(sending), kind) for operations, sending, kind in stages]

        return cls(
            system,
            watched,
            outgoing,
            incoming,
            {id(table): count for table, count in zip(tables, data["boundary_rows"], strict=True)},
            Stages(*(section(data["stages"][name]) for name in SECTIONS)),
            data["dt"],
            data["every"],
            verbs(data["leaks"]),
            guards,
            aims,
            data["must_look"],
            glued_joints,
        )

    # --- the state alone ---------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Arrays of everything that a run changes, by table and column."""
        found: dict[str, Any] = {}
        for k, table in enumerate(self.tables):
            if isinstance(table, BlackBoxShard):
                found |= {f"{k}.{name}": array for name, array in table.memory_as_arrays().items()}
                continue
            for name in table.changing():
                found[f"{k}.{name}"] = getattr(table, name)[: table.count]
        for other, halo in self.incoming.items():
            found[f"heard {other}"] = halo.state
        if self.guards is not None:
            found["side"] = self.guards.side[: self.guards.count]
        return found

    def take_state(self, arrays: dict[str, Any]) -> None:
        """Stand like another shard that began as this one did."""
        for k, table in enumerate(self.tables):
            if isinstance(table, BlackBoxShard):
                mine = {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{k}.")}
                table.take_memory(mine)
                continue
            for name in table.changing():
                array = arrays.get(f"{k}.{name}")
                if array is not None:
                    getattr(table, name)[: table.count] = array
        for other, halo in self.incoming.items():
            halo.state[:] = arrays[f"heard {other}"]
        if self.guards is not None:
            self.guards.side[: self.guards.count] = arrays["side"]
