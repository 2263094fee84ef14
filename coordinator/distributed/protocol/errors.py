"""What ends a distributed run, as a sentence that says who, at which step, and what to do."""

from __future__ import annotations

from modular.errors import ModelError


class Malformed(ModelError):
    """A control message or a checkpoint is not what its schema says; names the thing and the field."""


class RunFailed(RuntimeError):
    """The run cannot go on with the right bits: neighbours run other programs, repeat themselves otherwise, or send no numbers."""
