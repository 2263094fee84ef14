"""What ends a distributed run, each as a sentence that says who, at which step, and what to do."""

from __future__ import annotations

from modular.errors import ModelError


class Malformed(ModelError):
    """A control message, a journal entry or a checkpoint is not what its schema says; names the thing and the field."""


class RunFailed(RuntimeError):
    """The run cannot go on with the right bits. `worker` is whom to look at first, `step` where it happened."""

    def __init__(self, message: str, *, worker: str, step: int) -> None:
        super().__init__(message)
        self.worker = worker
        self.step = step


class NonDeterministic(RunFailed):
    """A worker sent two different contents under one key: some component of it does not repeat itself."""


class Disagreement(RunFailed):
    """Two workers do not run the same program: they differ in which frames there are, or in how long they are."""


class NotFinite(RunFailed):
    """A neighbour sent a number that is infinite or not a number; `position` counts the numbers of the frame from 0."""

    def __init__(self, message: str, *, worker: str, step: int, position: int) -> None:
        super().__init__(message, worker=worker, step=step)
        self.position = position
