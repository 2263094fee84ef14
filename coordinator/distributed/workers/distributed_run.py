"""Workers move one mechanism: the simulation distributes it between two events and collects it to look at it.

Within a tick workers talk to their neighbours only. The run advances in slices. Where a joint breaks, a condition comes true or
a body goes wrong in a slice, all workers roll back to its beginning and advance to the tick before, and that tick is the
simulation's, taken in one piece as always: so an event is the same code, and the same bits, however the mechanism was moved.
"""

from __future__ import annotations

import logging
import os
import time as clock
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from coordinator.couplings.coupling import Coupling
from coordinator.couplings.interface.interface import Interface
from coordinator.distributed.launchers import Launcher, Subprocess
from coordinator.distributed.protocol.deadlines import Deadlines
from coordinator.distributed.transports.keys import Keys
from coordinator.distributed.workers.black_box import BlackBox
from coordinator.distributed.workers.black_boxes import BlackBoxes
from coordinator.distributed.workers.channel import Channel
from coordinator.distributed.workers.context import WorkerContext
from coordinator.distributed.workers.partition import as_wanted, balanced_parts, partition
from coordinator.distributed.workers.placement import black_boxes_in, check_placement, glued_box, placement_for
from coordinator.distributed.workers.shard import Stages
from coordinator.distributed.workers.subsystem import Ownership, Subsystem, merge_samples
from coordinator.distributed.workers.worker_pool import InProcessPool, WorkerInfo, WorkerPool
from coordinator.engine.engine import shown
from coordinator.engine.guards import guards_of, tell
from coordinator.engine.program import Operation, TickProgram, perform
from coordinator.system import System
from modular.assembly import Assembly
from modular.component import class_name
from modular.elements import TIME
from modular.errors import ModelError
from modular.keywords import Spelt
from modular.names import MAX_NAME_LENGTH, first_few, missing, unfit
from modular.table import Table

_log = logging.getLogger("modular")
MAX_MESSAGE_BYTES = 1 << 28  # bytes of what a worker says at once
MIN_SLICE_TICKS = 16  # ticks of the first slice, and of the shortest
NOT_LENT = -1
COLLECT_TIMEOUT, SHORT_TIMEOUT = (
    60.0,
    0.5,
)  # seconds to collect the mechanism, at the end, and where something went wrong


@dataclass(frozen=True)
class LaunchConfig(Spelt):
    """Where workers come from and how they find their way: see the pages on workers and on clusters.

    `bind`: the mailbox that they turn to; left out, one that the launcher thinks fit. `keys`: those of the coordinator, by which
    workers know it; left out, none in a folder that only you may enter, and fresh ones elsewhere, of which the launcher tells
    workers. Workers that are started by hand find those of this user by themselves, on this machine; others must be given some.
    `authorized_keys`: names of workers by their public keys; left out, a launcher gives each process a pair of its own.
    `deadlines`: how long everybody waits for everything, such as Deadlines(silence=20.0) for workers that hang.
    `elastic`: whoever comes with another name than those of the workers takes part from the next slice on.
    `max_message_bytes`: bytes that a worker may say at once; more is refused by its name.
    """

    launcher: Launcher = field(default_factory=Subprocess)
    bind: str = ""
    keys: Keys | None = None
    authorized_keys: Mapping[bytes, str] | None = None
    deadlines: Deadlines | None = None
    elastic: bool = False
    max_message_bytes: int = MAX_MESSAGE_BYTES

    def __post_init__(self) -> None:
        for name, fits, what in (
            ("launcher", callable(getattr(self.launcher, "start", None)), "a launcher, such as Ssh([…]) or ByHand()"),
            ("bind", isinstance(self.bind, str), "an address, such as 'tcp://10.0.0.7:5555'"),
            ("keys", self.keys is None or isinstance(self.keys, Keys), "Keys, or None for fresh ones"),
            (
                "authorized_keys",
                self.authorized_keys is None or isinstance(self.authorized_keys, Mapping),
                "names of workers by their public keys, or None",
            ),
            (
                "deadlines",
                self.deadlines is None or isinstance(self.deadlines, Deadlines),
                "Deadlines(silence=20.0), or None",
            ),
            ("elastic", isinstance(self.elastic, bool), "True or False"),
            (
                "max_message_bytes",
                isinstance(self.max_message_bytes, int) and self.max_message_bytes > 0,
                "a whole number of bytes from 1 on",
            ),
        ):
            if not fits:
                raise ModelError(f"LaunchConfig: {name} = {getattr(self, name)!r}; give {what}.")


class DistributedRun:
    """Who moves which bodies, and where the mechanism is."""

    def __init__(self, parts: Mapping[str, Sequence[str]], pool: WorkerPool, *, fixed: bool = False) -> None:
        """`fixed`: bodies stay with the workers that they were given to."""
        self.fixed = fixed
        self.bodies = [list(part) for part in parts.values()]
        self.pool = pool
        self._subsystems: list[Subsystem] = []  # while it is distributed
        self._distributed_at = NOT_LENT  # the tick at which it was
        self._process = os.getpid()  # to which workers answer
        self.stopped = False  # whether the last slice ended where the simulation has to look at something
        self._single_tick = NOT_LENT  # the tick from which on one tick is the simulation's
        self._warned = False
        self.failure = ""  # why the mechanism was lost with its workers
        self._ticks = MIN_SLICE_TICKS
        self._evaluations = 1  # of all forces, per tick
        self._ending: list[Operation] = []  # what is played before anybody looks, where that needs the whole

    def run(self, simulation: WorkerContext, last: int) -> bool:
        """A slice of ticks, to `last` at most; False where the next tick has to be taken in one piece."""
        if self.failure:
            raise ModelError(f"{self.failure} This run cannot go on; what was recorded is in `recorded`.")
        self._check_process()
        self._update_membership(simulation)
        if not self.bodies:
            return False
        try:
            return self._run(simulation, last)
        except KeyboardInterrupt as error:
            if simulation.local_system.tick != self._distributed_at:
                self._lose(error)
            elif self._subsystems:  # workers were starting: the mechanism still stands here as it was
                self._subsystems = []
                self.pool.discard()
            raise
        except BaseException as error:
            self._lose(error)
            raise

    def _run(self, simulation: WorkerContext, last: int) -> bool:
        system = simulation.local_system
        if system.tick in (self._single_tick, simulation.breakage.asked) or not self._distribute(simulation):
            return False
        first, started = system.tick, clock.perf_counter()
        reach = min(last, first + min(self._ticks, self.pool.max_ticks))
        results = self.pool.advance(reach)
        self.stopped, self._single_tick = any(one.why for one in results), NOT_LENT
        if self.stopped:
            reach = self._single_tick = min(one.tick for one in results)
            self.pool.rollback()
            self.pool.advance(reach)
        system.tick = reach
        system.evaluations += self._evaluations * (reach - first)
        merge_samples(simulation.recorder, system, self._subsystems, self.pool.collect_samples())
        if reach > first:
            pace = (clock.perf_counter() - started) / (reach - first)
            wanted = max(MIN_SLICE_TICKS, int(self.pool.slice_seconds / max(pace, 1e-9)))
            self._ticks = min(wanted, 8 * self._ticks, self.pool.max_ticks)
        return reach > first

    @property
    def is_distributed(self) -> bool:
        """Whether the mechanism is with the workers now."""
        return bool(self._subsystems)

    def worker_info(self) -> list[WorkerInfo]:
        """The workers with their bodies."""
        return [
            replace(member, bodies=tuple(bodies))
            for member, bodies in zip(self.pool.worker_info(), self.bodies, strict=True)
        ]

    # --- workers come and go -----------------------------------------------------------------------------------------

    def add_worker(self, simulation: WorkerContext, name: str, bodies: Sequence[str] = ()) -> None:
        """One more worker, with some bodies that others have had, or with its share of all."""
        self._check_process()
        names = [member.name for member in self.pool.worker_info()]
        check_name(name)
        if name in names:
            raise ModelError(f"worker '{name}' exists already; workers are {', '.join(names)}.")
        if self.fixed and not bodies:
            raise ModelError(f"worker '{name}': bodies were assigned to workers explicitly; name the bodies it takes.")
        self.collect(simulation)
        if bodies:
            mine = set(bodies)
            left = {old: [b for b in part if b not in mine] for old, part in zip(names, self.bodies, strict=True)}
            wanted = as_wanted({**left, name: list(bodies)}, tuple(simulation.assembly.bodies))
            check_placement(black_boxes_in(simulation.assembly.bodies), wanted)
            self.fixed, parts = True, list(wanted.values())
        else:
            parts = partition(simulation.assembly.graph, len(names) + 1)
        self.pool.add_worker(name)
        self.pool.reset_statistics()
        self.bodies = parts
        _log.info("worker '%s' has joined and takes %d bodies", name, len(parts[-1]))

    def remove_worker(self, simulation: WorkerContext, name: str) -> None:
        """A worker goes; the others take its bodies over. When the last has gone the simulation moves them itself."""
        self._check_process()
        names = [member.name for member in self.pool.worker_info()]
        if name not in names:
            raise ModelError(missing("worker", name, names))
        living = [body for body, box in black_boxes_in(simulation.assembly.bodies).items() if box.worker == name]
        if living:
            raise ModelError(f"worker '{name}' cannot leave: body '{living[0]}' is a black box that runs only there.")
        self.collect(simulation)
        self.pool.remove_worker(name)
        self.pool.reset_statistics()
        del self.bodies[names.index(name)]
        if self.bodies and not self.fixed:
            self.bodies = partition(simulation.assembly.graph, len(self.bodies))
        elif self.bodies:
            self.bodies = self._with_new_bodies(simulation.local_system)
        _log.info("worker '%s' has left", name)

    def _update_membership(self, simulation: WorkerContext) -> None:
        """Those who have come by themselves, and those who want to go."""
        comers, goers = self.pool.membership_changes()
        for name in comers:
            if not self.fixed and len(self.bodies) < len(simulation.assembly.bodies):
                self.add_worker(simulation, name)
        living = {box.worker for box in black_boxes_in(simulation.assembly.bodies).values()} if goers else set()
        for name in goers:
            if name in living:
                _log.warning("worker '%s' is leaving, but runs black boxes: it will be replaced", name)
            else:
                self.remove_worker(simulation, name)

    # --- the mechanism -----------------------------------------------------------------------------------------------

    def _distribute(self, simulation: WorkerContext) -> bool:
        """Give every worker its shard, where it does not have it; False where a condition can only be asked in one piece."""
        if self._subsystems:
            return True
        guards = guards_of(simulation) if simulation.schedule.watches else None
        if simulation.schedule.watches and guards is None:
            if not self._warned:
                _log.warning(
                    "a condition of the model can only be evaluated in one process; the workers pause until it is over"
                )
                self._warned = True
            return False
        system = simulation.local_system
        if (kept := next((b for b in system.bodies if isinstance(b, BlackBoxes) and not b.saves), None)) is not None:
            if not self._warned:
                whose = f"'{kept.names[0]}' ({kept.what})"
                _log.warning("%s does not save its state; all ticks are computed in one process", whose)
                self._warned = True
            return False
        if (box := glued_box(simulation.coupling, system)) is not None:
            if not self._warned:
                whose = f"'{box.names[0]}' ({box.what})"
                _log.warning(
                    "%s is glued: its worker is asked at every tick, all else is computed in one process", whose
                )
                self._warned = True
            return False
        leaks = simulation.alarm.program(system)
        program = tick_program_of(simulation.coupling, system)
        stages, self._evaluations = (
            Stages.of(program, shown(system), ledgers=bool(leaks) or _guards_in_a_tick(program)),
            program.evaluations,
        )
        interface = interface_in(program)
        if interface is not None:
            interface.prepare("advance")  # joints meet before they part
        if not self.fixed and (shares := balanced_parts(simulation.assembly.graph, self.worker_info())) is not None:
            self.bodies = shares
            self.pool.reset_statistics()
        self.bodies = self._with_new_bodies(system)
        found = [] if interface is None else interface.found_forces.names
        ownership = Ownership(system, self.bodies, together=interface is not None, found=found)
        watched = simulation.breakage.watched
        self._ending = program.epilogue if interface is not None else []
        self._subsystems = [Subsystem(system, ownership, me, watched, interface) for me in range(len(self.bodies))]
        self._distributed_at = system.tick
        self.pool.distribute([part.shard(stages, simulation, leaks, guards) for part in self._subsystems])
        return True

    def collect(self, simulation: WorkerContext) -> None:
        """Collect the mechanism from the workers."""
        if not self._subsystems:
            return
        self._check_process()
        try:
            self.pool.collect()
        except BaseException as error:
            self._lose(error)
            raise
        parts, self._subsystems = self._subsystems, []
        for part in parts:
            part.write_back()
        for part in parts:
            part.write_back_second_sides()
            if part.guards is not None:
                tell(simulation, part.guards)
        system = simulation.local_system
        system.elements.clock[TIME] = system.time(simulation.dt)  # at which joints that are driven stand
        perform(system.elements, shown(system))
        if (interface := parts[0].interface) is not None and parts[0].glued_joints is not None:
            interface.take_back(parts[0].glued_joints[1].counter_values, self._ending)

    def channel(self, name: str, box: BlackBox) -> Channel:
        """To the worker that a black box names."""
        names = [member.name for member in self.pool.worker_info()]
        check_placement({name: box}, {worker: [name] for worker in names})
        return self.pool.channel(box.worker)

    def _with_new_bodies(self, system: System) -> list[list[str]]:
        self.fixed = self.fixed or any(isinstance(bodies, BlackBoxes) for bodies in system.bodies)
        return with_new_bodies(self.bodies, system, [member.name for member in self.pool.worker_info()])

    def close(self, simulation: WorkerContext, within: float) -> None:
        """Collect the mechanism and let the workers go, whatever happens; nobody is waited for longer than so long [s].

        A forked process has none to let go.
        """
        if self._process != os.getpid():
            return
        try:
            if self._subsystems:
                self.pool.limit_wait(within)
                self.collect(simulation)
        except ModelError as error:
            self._lose(error)
            _log.warning("%s The simulation keeps the state in which its bodies were last given to the workers.", error)
        finally:
            self.pool.close()

    @contextmanager
    def with_short_timeout(self) -> Iterator[None]:
        """Meanwhile nobody is waited for longer than a moment."""
        self.pool.limit_wait(SHORT_TIMEOUT)
        try:
            yield
        finally:
            self.pool.limit_wait(inf)

    def _check_process(self) -> None:
        """Refuse what only the process can do to which workers answer."""
        if self._process != os.getpid():
            raise ModelError(
                "this process was forked from the one that owns the workers of this simulation, and they answer "
                "only that one; create the simulation here, or fork before it has workers."
            )

    def _lose(self, error: BaseException) -> None:
        """The mechanism is lost if it was distributed: how it stands now only the workers knew."""
        if self._subsystems:
            lost = f"the state of the mechanism was lost in the middle of a slice ({type(error).__name__})."
            self.failure, self._subsystems = str(error) if isinstance(error, ModelError) else lost, []


def with_new_bodies(parts: Sequence[Sequence[str]], system: System, workers: Sequence[str]) -> list[list[str]]:
    """The bodies of each part as they are now: one that has come goes where it lives or is joined to, or where little is to do."""
    found = [[name for name in names if name in system.body_home] for names in parts]
    part_of = {name: part for part in found for name in part}
    for name, stack in system.body_home.items():
        if name not in part_of and isinstance(stack, BlackBoxes):
            part_of[name] = found[list(workers).index(stack.worker)]
            part_of[name].append(name)
    for name in system.body_home:
        if name not in part_of:
            mates = [owner for use in system.uses[name] for owner in system.home(use).owners if owner in part_of]
            part_of[name] = part_of[mates[0]] if mates else min(found, key=len)
            part_of[name].append(name)
    return found


def tick_program_of(coupling: Coupling, system: System) -> TickProgram:
    """What workers play, or why they cannot."""
    program = coupling.divided(system)
    if system.implicit_forces and (program is None or interface_in(program) is None):
        raise ModelError(
            f"workers: {first_few(system.implicit_forces)} may change faster than the step, and so are found, which workers share "
            "under Glued and Relaxed alone; take one of these, run in one process, take a step that resolves them, or leave them "
            f"as they are by {type(coupling).__name__}(implicit_forces=False)."
        )
    known = {id(stack) for stack in (*system.bodies, *system.booked, system.elements)}
    if program is None or not all(id(s) in known or isinstance(s, Interface) for s, _ in program.operations):
        raise ModelError(
            f"workers: the coupling {class_name(type(coupling))} sees the whole system at once, or has a rule in Python; take "
            "Penalty with one of the rules of coordinator.couplings.rules, Glued or Relaxed, or run in one process."
        )
    return program


def interface_in(program: TickProgram) -> Interface | None:
    """The interface that takes part, if joints are glued."""
    return next((stack for stack, _ in program.operations if isinstance(stack, Interface)), None)


def distributed_run_for(
    assembly: Assembly, workers: int | Mapping[str, Sequence[str]], launcher: str | LaunchConfig
) -> DistributedRun:
    """Workers as asked for: parts of the bodies, or so many that all have the same to do and few joints go across."""
    wanted = placement_for(assembly, workers)
    for name in wanted:
        check_name(name)
    fixed = isinstance(workers, Mapping) or bool(black_boxes_in(assembly.bodies))
    return DistributedRun(wanted, pool_for(list(wanted), launcher), fixed=fixed)


def _guards_in_a_tick(program: TickProgram) -> bool:
    """Whether joints read their own ledgers while they act (modular/guarding.py)."""
    return any(verb == "guard" for _, verb in program.first_tick)


def check_name(worker: str) -> None:
    """Refuse what is no name of a worker."""
    if wrong := unfit(worker):
        raise ModelError(
            f"worker {ascii(worker)[:MAX_NAME_LENGTH]}: {wrong}; choose a short name of visible characters."
        )


def check_divisible(simulation: WorkerContext) -> None:
    """Refuse what can only be moved in one piece."""
    system = simulation.local_system
    tick_program_of(simulation.coupling, system)
    stacks: list[Any] = [*system.bodies, *system.joints, *system.forces]
    for stack in stacks:
        if not isinstance(stack, Table | BlackBoxes):
            raise ModelError(
                f"workers: '{stack.names[0]}' ({class_name(type(stack))}) cannot be divided into rows (it is plain "
                "Python); derive its stack from "
                "modular.stack.Stack, or run in one process."
            )


def pool_for(names: Sequence[str], launcher: str | LaunchConfig) -> WorkerPool:
    """Where the workers are: "here", in "processes" on this machine, or wherever a `LaunchConfig` says."""
    from coordinator.distributed.workers.process_pool import ProcessPool  # sockets, for those who want them

    if launcher == "here":
        return InProcessPool(names)
    if launcher == "processes":
        launcher = LaunchConfig()
    if not isinstance(launcher, LaunchConfig):
        raise ModelError(
            f"Simulation: launcher = {launcher!r}; give 'processes', 'here' or a LaunchConfig(…) of your own."
        )
    return ProcessPool(
        names, launcher.launcher, bind=launcher.bind or launcher.launcher.mailbox(), keys=launcher.keys,
        authorized_keys=launcher.authorized_keys, deadlines=launcher.deadlines, elastic=launcher.elastic,
        max_message_bytes=launcher.max_message_bytes,
    )  # fmt: skip
