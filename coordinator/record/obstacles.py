"""What keeps a run from being repeated from its folder: changes that are no events, and functions or classes without a home.

A file holds the name of a function, "module:function", never its code. A lambda, a function inside a function and one
that was typed at the prompt have no name under which another process could find them.
Of a run that has none, the same simulation can be made again from its folder (`prepared`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from coordinator.couplings.coupling import Coupling
from coordinator.record.fingerprint import digest_of_files
from modular.assembly import Assembly
from modular.component import ATOMS, Component, class_name
from modular.errors import ModelError
from modular.own_packages import PACKAGES
from modular.version import __version__

if TYPE_CHECKING:
    from coordinator.record.run import Run

OWN_PACKAGES = (*PACKAGES, "scenarios")
MAX_LISTED_EVENTS = 4
Parts = Iterable[tuple[str, Any]]  # components and functions, each with the words for whose it is


def homeless(parts: Parts) -> list[str]:
    """Functions and classes of a model that another process could not find, a sentence each."""
    found: dict[str, None] = {}
    for owner, value in parts:
        if isinstance(value, Component):
            if not _importable(type(value).__module__):
                found[f"{owner} is a {class_name(type(value))}, a class that no other process can import."] = None
        elif not _has_a_name(value):
            found[
                f"{owner} follows {_spoken(value)}, a function that cannot be imported under its name; put it into a "
                "module of its own and import it from there."
            ] = None
    return list(found)


PRESCRIBED = "prescribed"  # the kind of the event of a run that tells a motion without forces


def lost_acts(made: Sequence[Mapping[str, Any]]) -> list[str]:
    """The changes by hand that no file can tell, as one sentence; none where there were none."""
    if not made:
        return []
    if any(event["kind"] == PRESCRIBED for event in made):
        return [
            "nothing was integrated: drives or paths prescribe this motion; ask coordinator.analysis.kinematics for it."
        ]
    first = ", ".join(
        f"{event['kind']} '{event['name']}' at {event['time']:.6g} s" for event in made[:MAX_LISTED_EVENTS]
    )
    more = f" and {len(made) - MAX_LISTED_EVENTS} more" if len(made) > MAX_LISTED_EVENTS else ""
    return [
        f"it was changed by hand during the run ({first}{more}), in a way that no event of a model can describe: "
        "another limit, another target, "
        "or a function or class that cannot be imported under its name. Give such limits and functions to the model at the start."
    ]


def exchanged(at_start: Component, now: Component) -> list[str]:
    """Whether the coupling is another one than at the start, as a sentence."""
    if now is at_start:
        return []
    return [f"its coupling was changed by hand during the run ({at_start!r} for {now!r}); keep one for the whole run."]


def foreign_sources(parts: Parts) -> dict[str, str]:
    """A digest of every file outside our packages that defines a function or class of the model."""
    found: dict[str, str] = {}
    for _, value in parts:
        there = getattr(value, "sources", None)  # of a black box, which is defined elsewhere
        found |= source_of(value, found) if there is None else there
    return found


def sources_of(parts: Parts) -> dict[str, str]:
    """The same, and a digest of every file that a component names: programs such as FMUs, and modules of "module:function"."""
    found = foreign_sources(parts)
    for component in (value for _, value in parts if isinstance(value, Component)):
        for field in type(component).names_functions:
            named = getattr(component, field)
            for text in named.values() if isinstance(named, Mapping) else [named]:
                if not isinstance(text, str):
                    continue
                module, told, _ = text.partition(":")
                with suppress(ImportError, ValueError):
                    if Path(text).is_file():
                        found[f"file {text}"] = digest_of_files([Path(text)], Path(text).parent)
                    elif told and module.partition(".")[0] not in OWN_PACKAGES and (spec := find_spec(module)):
                        path = Path(spec.origin or "")
                        found[f"source of {module}"] = (
                            digest_of_files([path], path.parent) if path.is_file() else "unknown"
                        )
    return found


def source_of(value: Any, known: Container[str] = ()) -> dict[str, str]:
    """A digest of the file that defines a function, or the class of a component, unless it is ours or known."""
    module = type(value).__module__ if isinstance(value, Component) else getattr(value, "__module__", None) or ""
    file, name = getattr(sys.modules.get(module), "__file__", None), f"source of {module}"
    if module.partition(".")[0] in OWN_PACKAGES or not file or name in known:
        return {}
    path = Path(file)
    return {name: digest_of_files([path], path.parent) if path.is_file() else "unknown"}


def parts_of(assembly: Assembly, coupling: Component | None) -> list[tuple[str, Any]]:
    """Every component and every function in a model, each with the words for whose it is."""
    found: list[tuple[str, Any]] = []
    _look_into("the coupling", coupling, found)
    for name, body in assembly.bodies.items():
        _look_into(f"body '{name}'", body, found)
    for name, joint in assembly.joint_edges.items():
        _look_into(f"joint '{name}'", (joint.joint, joint.breaks_at), found)
    for name, force in assembly.force_edges.items():
        _look_into(f"force '{name}'", force.force, found)
    for scheduled in assembly.schedule:
        _look_into("a scheduled event", (*scheduled.events, scheduled.condition), found)
    return found


def parts_in(owner: str, value: Any) -> list[tuple[str, Any]]:
    """The same of one component, or of several."""
    found: list[tuple[str, Any]] = []
    _look_into(owner, value, found)
    return found


def _look_into(owner: str, value: Any, found: list[tuple[str, Any]]) -> None:
    if isinstance(value, Component):
        found.append((owner, value))
        inside: Iterable[Any] = [getattr(value, name) for name in getattr(value, "__dataclass_fields__", ())]
    elif isinstance(value, tuple | list):
        inside = value
    elif isinstance(value, Mapping):
        inside = value.values()
    else:
        if callable(value) and not isinstance(value, type | ModuleType):
            found.append((owner, value))
        return
    for item in inside:
        if item.__class__ not in ATOMS:
            _look_into(owner, item, found)


def _has_a_name(function: Callable[..., Any]) -> bool:
    """Whether "module:function" leads back to this very function, in another process too."""
    module = getattr(function, "__module__", None) or ""
    name = getattr(function, "__qualname__", "")
    return _importable(module) and getattr(sys.modules.get(module), name, None) is function


def _importable(module: str) -> bool:
    """Whether a module could be found by a fresh process with the same path; what was loaded by other ways could not."""
    package = module.partition(".")[0]
    if package in OWN_PACKAGES:
        return True
    if not package or package == "__main__":
        return False
    finders = (getattr(finder, "find_spec", None) for finder in sys.meta_path)
    return any(find is not None and find(package, None) is not None for find in finders)


def _spoken(function: Callable[..., Any]) -> str:
    return f"{getattr(function, '__module__', '?')}:{getattr(function, '__qualname__', repr(function))}"


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


Made = TypeVar("Made")


def prepared(
    make: Callable[..., Made],
    run: Run,
    *,
    model: Assembly | None = None,
    dt: float | None = None,
    record_every: int | None = None,
) -> Made:
    """The simulation that a run came from, at its start; at another step, where that is asked for.

    `make`: how simulations are made, or what is made instead, with the arguments of `Simulation`.
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
