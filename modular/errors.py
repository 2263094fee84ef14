"""What can go wrong, and what one should know of a run: each a sentence that names the component, the value and the remedy."""

from __future__ import annotations


class ModelError(ValueError):
    """The model cannot be what its data say; the message names the component, the value and the remedy."""


class CouplingError(ModelError, RuntimeError):
    """A coupling needs something that a component of the model does not offer; the message says by name who lacks what."""


class KeywordError(ModelError, TypeError):
    """A call names a setting that is not there; the message says which one may have been meant."""


class MemoryShortage(MemoryError):
    """Recording the run as asked does not fit in memory; said before it starts, or where the room ends."""


class Diverged(ArithmeticError):
    """The run went wrong at `tick`; everything recorded until then is kept in `sim.recorded`.

    `component` is the body or joint to look at first; `holding_step` is a step [s] that would hold, or None
    where no step would (then the message says what to change instead).
    """

    def __init__(self, message: str, *, component: str, tick: int, holding_step: float | None) -> None:
        super().__init__(message)
        self.component = component
        self.tick = tick
        self.holding_step = holding_step


class RunWarning(UserWarning):
    """Something that whoever runs a simulation should know."""


class StabilityWarning(RunWarning):
    """A run begins with stiffness beyond what its step can bear."""


class UnseenWarning(RunWarning):
    """A force does something that is over before ticks see what it is."""


class StartWarning(RunWarning):
    """A run does not begin as it was meant: what should rest does not quite, or what should touch is inside."""


class ImportedWarning(RunWarning):
    """A file of another program says more than the model that was made of it holds."""


class VerdictWarning(RunWarning):
    """What a run has recorded speaks against it."""


class StorageWarning(RunWarning):
    """Samples go elsewhere than was asked for."""


class LeakWarning(RunWarning):
    """A joint or force has leaked more energy than was allowed."""


class Malformed(ModelError):
    """A control message or a checkpoint is not what its schema says; names the thing and the field."""


class RunFailed(RuntimeError):
    """The run cannot go on with the right bits: neighbours run other programs, repeat themselves otherwise, or send no numbers."""
