"""Channels: how black boxes are asked, wherever they live."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Protocol

from coordinator.distributed.workers.hosted_stack import HostedStack, StackHost
from modular.errors import ModelError

MAX_ATTEMPTS = 3  # of workers, over one and the same question


class ProcessLost(Exception):
    """The process in which a black box lived is gone; another has taken its place, or will."""


class Unreachable(ModelError):
    """Nobody is at the end of a channel any more."""


class Channel(Protocol):
    """Leads to the black boxes of one worker."""

    worker: str
    persistent: bool  # whether nobody can be lost at its end

    def process(self) -> Hashable:
        """The process that is there now; waits until one is."""

    def call(self, process: Hashable, method: str, said: Mapping[str, Any]) -> Any:
        """One of the few things that can be asked; raises ProcessLost where that process is gone."""

    def hosted(self, key: str) -> HostedStack | None:
        """The hosted stack itself, where it lives in this process."""


class LocalChannel:
    """To hosted stacks of this process."""

    persistent = True

    def __init__(self, worker: str, stack_host: StackHost) -> None:
        self.worker, self.stack_host = worker, stack_host

    def process(self) -> Hashable:
        """This one."""
        return self.worker

    def call(self, process: Hashable, method: str, said: Mapping[str, Any]) -> Any:
        """At once."""
        return self.stack_host.dispatch(method, said)

    def hosted(self, key: str) -> HostedStack | None:
        """Itself."""
        return self.stack_host.known.get(key)
