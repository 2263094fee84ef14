"""What a run folder says of the simulation that it came from: the same can be made again from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, Self, TypeVar

from coordinator.couplings.coupling import Coupling
from coordinator.record.run import Run
from modular.assembly import Assembly
from modular.component import Component
from modular.errors import ModelError
from modular.version import __version__


class Repeated(Protocol):
    """A simulation that repeats a run."""

    @property
    def recorded(self) -> Run:
        """What it has recorded."""

    def run(self, until: float, *, progress: Any = None) -> Run:
        """Go on to a time."""

    def __enter__(self) -> Self:
        """A simulation that closes itself."""

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """Let everything go."""


R = TypeVar("R", bound=Repeated)


def prepared(
    make: Callable[..., R],
    run: Run,
    *,
    model: Assembly | None = None,
    dt: float | None = None,
    record_every: int | None = None,
) -> R:
    """The simulation that a run came from, at its start; at another step, where that is asked for.

    `make`: how simulations are made, with the arguments of `Simulation`.
    """
    if run.obstacles:
        raise ModelError("this run cannot be repeated from its folder: " + " ".join(run.obstacles))
    settings = run.settings
    return make(
        run.assembly() if model is None else model,
        run.dt if dt is None else dt,
        coupling_of(run),
        record_every=settings.get("record_every", 1) if record_every is None else record_every,
        project_velocities=settings.get("project_velocities", any(e["kind"] == "projection" for e in run.events)),
        leak_limit=settings.get("leak_limit"),
        grouped=settings.get("grouped", True),
    )


def coupling_of(run: Run) -> Coupling:
    """As its folder describes it."""
    data: Mapping[str, Any] = run.settings.get("coupling", {})
    name = data.get("class", "none")
    try:
        coupling = Component.from_data(data)
    except (ModelError, KeyError) as error:
        raise ModelError(
            f"this run cannot be repeated here: its coupling {name} is not known, or not with these settings. The run was "
            f"written by modular {run.versions.get('modular', 'of an unknown version')}, this is {__version__}; install that "
            f"version, or import the file that defines the coupling first. ({error})"
        ) from error
    if not isinstance(coupling, Coupling):
        raise ModelError(f"this run cannot be repeated: {name} is not a coupling; its run.json was changed.")
    return coupling
