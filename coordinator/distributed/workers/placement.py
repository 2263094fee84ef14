"""Whose black boxes are: workers as they are asked for, where some bodies can live at one of them only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING

from coordinator.couplings.coupling import Coupling
from coordinator.couplings.glued import Glued
from coordinator.couplings.with_components import WithComponents
from coordinator.distributed.workers.black_box import BlackBox
from coordinator.distributed.workers.black_boxes import BlackBoxes
from coordinator.distributed.workers.channel import Channel, LocalChannel
from coordinator.distributed.workers.hosted_stack import (
    StackHost,
)
from coordinator.distributed.workers.partition import as_wanted, partition
from coordinator.system import System
from modular.assembly import Assembly
from modular.body import Bodies, Body
from modular.errors import ModelError
from modular.tiles import kinds_of

if TYPE_CHECKING:
    from coordinator.distributed.workers.distributed_run import DistributedRun

THIS_PROCESS = "this process"
ChannelTo = Callable[[str, BlackBox], Channel]


def black_boxes_in(bodies: Mapping[str, Body]) -> dict[str, BlackBox]:
    """Those among some bodies."""
    if not any(isinstance(body, BlackBox) for body in kinds_of(bodies)):
        return {}
    return {name: body for name, body in bodies.items() if isinstance(body, BlackBox)}


def channels_to(distributed_run: DistributedRun | None, stack_host: StackHost) -> ChannelTo:
    """Where black boxes live: at the workers that they name, or in this process where there are no workers."""
    return (
        (lambda name, box: LocalChannel(THIS_PROCESS, stack_host))
        if distributed_run is None
        else distributed_run.channel
    )


def connect(bodies: MutableMapping[str, Body], channel_to: ChannelTo) -> None:
    """Let descriptions know where to ask; all that cannot be is said at once."""
    problems = []
    for name in black_boxes_in(bodies):
        try:
            connect_one(bodies, name, channel_to)
        except ModelError as error:
            problems.append(str(error))
    if problems:
        raise ModelError("\n".join(problems))


def connect_one(bodies: MutableMapping[str, Body], name: str, channel_to: ChannelTo) -> None:
    """Let a description know where to ask."""
    box = bodies[name]
    if isinstance(box, BlackBox):
        bodies[name] = box.reached(name, channel_to(name, box))


def relocate(bodies: MutableMapping[str, Body], stacks: Sequence[Bodies], channel_to: ChannelTo) -> None:
    """Let black boxes that have moved in this process live where they are named."""
    connect(bodies, channel_to)
    for stack in stacks:
        if isinstance(stack, BlackBoxes):
            first = bodies[stack.names[0]]
            assert isinstance(first, BlackBox)
            stack.move(channel_to(stack.names[0], first))


def placement_for(assembly: Assembly, workers: int | Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Workers and their bodies; those that black boxes name are among them, and leave other bodies to others where they can."""
    boxes = black_boxes_in(assembly.bodies)
    if isinstance(workers, Mapping):
        wanted = as_wanted(workers, tuple(assembly.bodies))
        check_placement(boxes, wanted)
        return wanted
    if isinstance(workers, bool) or not isinstance(workers, int):
        raise ModelError(
            f"Simulation: workers = {workers!r}; give a number of workers, or the names of the bodies of each, as in "
            "{'left': ['rod0', 'rod1'], 'right': ['rod2']}."
        )
    if not boxes:
        return {f"worker{k}": part for k, part in enumerate(partition(assembly.graph, workers))}
    named = {box.worker: [name for name in boxes if boxes[name].worker == box.worker] for box in boxes.values()}
    others, left = workers - len(named), [name for name in assembly.bodies if name not in boxes]
    if others < 0 or others > len(left):
        raise ModelError(
            f"workers = {workers}; black boxes run at {', '.join(named)}, and {len(left)} other bodies are left: "
            "give a whole "
            f"number from {len(named)} to {len(named) + len(left)}."
        )
    rest = assembly.graph.subgraph([node for node in assembly.graph if node not in boxes])
    if others:
        fresh = [name for k in range(workers + len(named)) if (name := f"worker{k}") not in named]
        return {**named, **dict(zip(fresh, partition(rest, others), strict=False))}
    if left:
        for part, more in zip(named.values(), partition(rest, min(len(named), len(left))), strict=False):
            part += more
    return named


def check_placement(boxes: Mapping[str, BlackBox], wanted: Mapping[str, Sequence[str]]) -> None:
    """Refuse what would give a black box to another worker than the one it names."""
    for name, box in boxes.items():
        if box.worker not in wanted:
            raise ModelError(
                f"body '{name}' is a black box that runs at worker '{box.worker}'; workers are "
                f"{', '.join(wanted)}. Name that "
                f"worker, as in workers={{'{box.worker}': ['{name}'], …}}."
            )
        if name not in wanted[box.worker]:
            home = next(worker for worker, names in wanted.items() if name in names)
            raise ModelError(
                f"workers: body '{name}' is assigned to '{home}', but it is a black box that runs at "
                f"'{box.worker}'; assign it to that one."
            )


def glued_box(coupling: Coupling, system: System) -> BlackBoxes | None:
    """A black box that steps between glued joints: within a tick it is asked again and again, from where all joints are known."""
    boxes = [bodies for bodies in system.bodies if isinstance(bodies, BlackBoxes)]
    if isinstance(coupling, Glued) or not boxes:
        return next(iter(boxes), None)
    mixture = coupling.mixture(system) if isinstance(coupling, WithComponents) else None
    levels = [] if mixture is None else mixture.levels
    stepping = [stack for level in levels for stack, _ in level.members.bodies]
    return next((box for box in boxes if any(box is stack for stack in stepping)), None)
