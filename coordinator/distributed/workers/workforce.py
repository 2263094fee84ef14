"""Workers of a simulation: they come and go between two ticks, and the mechanism goes to them and comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from coordinator.distributed.workers.black_box import BlackBox
from coordinator.distributed.workers.channel import Channel
from coordinator.distributed.workers.context import WorkerContext
from coordinator.distributed.workers.distributed_run import (
    DistributedRun,
    LaunchConfig,
    check_divisible,
    distributed_run_for,
)
from coordinator.distributed.workers.hosted_stack import (
    StackHost,
)
from coordinator.distributed.workers.placement import channels_to, relocate
from coordinator.distributed.workers.worker_pool import WorkerInfo
from coordinator.engine.interrupt import Turn, one_at_a_time
from modular.body import Body
from modular.errors import ModelError


class Distributable(WorkerContext, Protocol):
    """A simulation that workers may move."""

    turn: Turn
    distributed_run: DistributedRun | None
    _stack_host: StackHost

    def _channel(self, name: str, box: BlackBox) -> Channel:
        """To where a black box lives."""

    def _without_workers(self) -> None:
        """Go on alone where the last worker has gone."""


class Workforce:
    """Who moves the bodies of a simulation."""

    distributed_run: DistributedRun | None

    @one_at_a_time
    def hire(
        self: Distributable, workers: int | Mapping[str, Sequence[str]], launcher: str | LaunchConfig = "processes"
    ) -> None:
        """Let workers move the bodies from here on: so many of them, or the bodies of each by its name."""
        if self.distributed_run is not None:
            raise ModelError("this simulation has workers already; they are in `workers`.")
        check_divisible(self)
        distributed_run = distributed_run_for(self.assembly, workers, launcher)
        try:
            relocate(self.assembly.bodies, list(self.local_system.bodies), distributed_run.channel)
        except BaseException:
            distributed_run.pool.close()
            raise
        self.distributed_run = distributed_run

    def _channel(self: Distributable, name: str, box: BlackBox) -> Channel:
        """To where a black box lives: at the worker that it names, or in this process where there are no workers."""
        return channels_to(self.distributed_run, self._stack_host)(name, box)

    def _reached(self: Distributable, name: str, body: Body) -> Body:
        """A body that lives elsewhere, at the end of a channel."""
        return body.reached(name, self._channel(name, body)) if isinstance(body, BlackBox) else body

    @one_at_a_time
    def enlist(self: Distributable, name: str, bodies: Sequence[str] = ()) -> None:
        """One more worker from here on, with some bodies that others have had, or with its share of all."""
        if self.distributed_run is None:
            raise ModelError(
                f"worker '{name}': there are no workers yet; begin with Simulation(…, workers=2) or simulation.hire(2)."
            )
        self.distributed_run.add_worker(self, name, bodies)

    @one_at_a_time
    def retire(self: Distributable, name: str) -> None:
        """A worker goes, and others take its bodies over; when the last has gone, they are moved in this process."""
        if self.distributed_run is None:
            raise ModelError(f"worker '{name}': there are no workers.")
        self.distributed_run.remove_worker(self, name)
        self._without_workers()

    def _without_workers(self: Distributable) -> None:
        """Go on alone where the last worker has gone."""
        if self.distributed_run is not None and not self.distributed_run.bodies:
            self.distributed_run.pool.close()
            self.distributed_run = None

    @property
    def workers(self: Distributable) -> list[WorkerInfo]:
        """Who moves which bodies, in which process, and how they did; nobody where all is moved here in one piece."""
        return [] if self.distributed_run is None else self.distributed_run.worker_info()

    @property
    def is_distributed(self: Distributable) -> bool:
        """Whether workers have the mechanism now."""
        return self.distributed_run is not None and self.distributed_run.is_distributed

    @property
    def has_workers(self: Distributable) -> bool:
        """Whether there are workers, wherever the mechanism is now."""
        return self.distributed_run is not None

    def check_divisible(self: Distributable) -> None:
        """Refuse what workers, if there are any, could not move."""
        if self.distributed_run is not None:
            check_divisible(self)

    @property
    def last_messages(self: Distributable) -> list[str]:
        """What workers and coordinator said to each other last, but for what neighbours say at every tick."""
        return [] if self.distributed_run is None else list(self.distributed_run.pool.message_log)
