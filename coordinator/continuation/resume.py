"""Going on from a checkpoint."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

from coordinator.couplings import Coupling
from coordinator.distributed.workers.distributed_run import (
    DistributedRun,
    LaunchConfig,
    check_divisible,
    distributed_run_for,
)
from coordinator.distributed.workers.hosted_stack import StackHost
from coordinator.distributed.workers.placement import black_boxes_in, channels_to, connect, connect_one
from coordinator.record.archive import ABOUT
from coordinator.record.checkpoints.folder import (
    CHECKPOINT_SECONDS,
    INSIDE,
    Checkpoints,
    CheckpointWarning,
    checksum,
    heads_in,
    named,
)
from coordinator.record.checkpoints.notes import Notes
from coordinator.record.checkpoints.simulation_as_data import COUNTS, FORMAT, system_from_data
from coordinator.record.fingerprint import bits
from coordinator.record.on_disk import OnDisk, put_together, read_pieces
from coordinator.record.past import Given, Past
from coordinator.record.recorder import Recorder, Segment
from coordinator.record.run import Run
from coordinator.simulation import Simulation
from modular.assembly import Assembly
from modular.component import Component
from modular.errors import ModelError
from modular.numbers import number
from modular.payload import unpacked
from modular.tables_as_data import check_places, revived

Read = tuple[dict[str, Any], dict[str, Any]]


class Checkpoint:
    """A checkpoint that was read: whole, with all its samples."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head, self.arrays = _payload(path)
        if self.head.get("format") != FORMAT:
            raise ModelError(f"'{path}': format {self.head.get('format')!r} is not {FORMAT!r}.")
        with self._fitting():
            samples = self.head["samples"]
            self.segments = (
                read_pieces(path.parent / samples["in"], samples["pieces"])
                if isinstance(samples, dict) and "pieces" in samples
                else put_together(_piece(path.parent, *named(piece)) for piece in samples)
                if isinstance(samples, list)
                else (_of_run(path.parent.parent, samples))
            )

    @classmethod
    def in_memory(cls, content: bytes) -> Checkpoint:
        """One that was kept without its samples, and not in a file."""
        found = cls.__new__(cls)
        found.path, found.segments = Path("what was kept"), []
        found.head, found.arrays = unpacked(content, "what was kept")
        return found

    @property
    def recording(self) -> OnDisk | None:
        """Where its samples lie, if they were recorded to disk; they go on there."""
        folder = next((Path(one.stored.folder) for one in self.segments if one.stored is not None), None)
        return None if folder is None else OnDisk(folder, lasts=(folder / ABOUT).exists())

    @property
    def until(self) -> float | None:
        """Where the run was to end [s]."""
        return None if self.head["until"] is None else float(self.head["until"])

    @property
    def same_bits(self) -> bool:
        """Whether this process computes as the one did that wrote it."""
        return bool(self.head["bits"] == bits())

    def simulation(
        self,
        *,
        threads: int | None = None,
        workers: int | Mapping[str, Sequence[str]] | None = None,
        launcher: str | LaunchConfig = "processes",
    ) -> Simulation:
        """The simulation as it stood."""
        with self._fitting():
            return _simulation(self, threads, workers, launcher)

    def moved_by(self, distributed_run: DistributedRun | None, threads: int | None = None) -> Simulation:
        """The simulation as it stood, for workers who are there already; None: for nobody but this process."""
        with self._fitting():
            assembly, coupling, past = _beginning(self)
            return _standing(self, assembly, coupling, past, threads, distributed_run)

    @contextmanager
    def _fitting(self) -> Iterator[None]:
        """Say of what cannot be made sense of from where it is."""
        try:
            yield
        except ModelError:
            raise
        except (
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
            AssertionError,
            ArithmeticError,
            MemoryError,
        ) as error:
            raise ModelError(
                f"'{self.path}' does not fit this version of modular ({type(error).__name__}: {error}); it was written with "
                f"{self.head.get('bits')}."
            ) from error

    def checkpoints(self, every: float = CHECKPOINT_SECONDS, *, saved_next: bool = False) -> Checkpoints:
        """Where it goes on to be kept."""
        return Checkpoints.continued(self.path.parent, self.head, every, saved_next=saved_next)


def latest(folder: str | Path) -> Checkpoint:
    """The newest checkpoint in a folder, or in its subfolder `checkpoints`, that can be read."""
    folder = Path(folder)
    place = folder / INSIDE if (folder / INSIDE).is_dir() else folder
    found = heads_in(place)
    if not found:
        raise ModelError(
            f"'{folder}' holds no checkpoint; give a folder that modular run or Simulation.run(checkpoints=…) has written to."
        )
    refused = []
    for path in found:
        try:
            checkpoint = Checkpoint(path)
        except (ModelError, OSError) as error:
            refused.append(str(error))
            continue
        if refused:
            warnings.warn(f"{' '.join(refused)} Going on from {path.name} instead.", CheckpointWarning, stacklevel=3)
        return checkpoint
    raise ModelError(f"'{folder}': no checkpoint can be read. {' '.join(refused)}")


def resume(
    folder: str | Path,
    *,
    threads: int | None = None,
    workers: int | Mapping[str, Sequence[str]] | None = None,
    launcher: str | LaunchConfig = "processes",
) -> Simulation:
    """The simulation that was kept in a folder, as it stood at its last checkpoint.

    It goes on to the same bits. Give `run(until, checkpoints=folder)` the same folder to let it be kept further.
    """
    found = latest(folder)
    if not found.same_bits:
        warnings.warn(
            f"'{found.path}' was written by other versions or on another machine; what follows may differ in the last "
            "bits.",
            CheckpointWarning,
            stacklevel=2,
        )
    return found.simulation(threads=threads, workers=workers, launcher=launcher)


def _payload(path: Path) -> Read:
    return unpacked(_content(path), f"'{path}'")


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"'{path}' cannot be read ({error.strerror}).") from error


def _piece(folder: Path, name: str, expected: str) -> Read:
    """Samples that a checkpoint was written with."""
    content = _content(folder / name)
    if expected and checksum(content) != expected:
        raise ModelError(f"'{folder / name}' contains other samples than those written with its checkpoint.")
    return unpacked(content, f"'{folder / name}'")


def _of_run(folder: Path, last: Mapping[str, Any]) -> list[Segment]:
    """Samples of the run that is kept beside."""
    run = Run.load(folder)
    if len(run) != last["taken"] or last.get("digest") not in (None, run.written_digest):
        raise ModelError(
            f"'{folder}' holds {len(run)} samples, but its checkpoint belongs to a run of {last['taken']}; they were "
            "mixed."
        )
    segments = list(run.segments)
    for _ in range(int(last.get("ends", 0))):  # modular 0.1 has none
        end = segments.pop()
        segments += [end.trimmed(end.used - 1)] if end.used > 1 else []
    return segments


def _simulation(
    found: Checkpoint,
    threads: int | None,
    workers: int | Mapping[str, Sequence[str]] | None,
    launcher: str | LaunchConfig,
) -> Simulation:
    assembly, coupling, past = _beginning(found)
    asked = workers is not None and bool(black_boxes_in(assembly.bodies))
    distributed_run = distributed_run_for(assembly, workers, launcher) if workers is not None and asked else None
    try:
        simulation = _standing(found, assembly, coupling, past, threads, distributed_run)
    except BaseException:
        if distributed_run is not None:
            distributed_run.pool.close()
        raise
    if workers is not None and distributed_run is None:
        simulation.hire(workers, launcher)
    return simulation


def _beginning(found: Checkpoint) -> tuple[Assembly, Coupling, Past]:
    """What it was given and what happened to it."""
    head, notes = found.head, Notes(found.arrays)
    assembly = Assembly.from_data(head["model"])
    coupling = Component.from_data(head["coupling"])
    if not isinstance(coupling, Coupling):
        raise ModelError(f"'{found.path}': {head['coupling'].get('class')} is not a coupling.")
    return assembly, coupling, _past(notes.get(head["past"]), assembly, coupling)


def _standing(
    found: Checkpoint,
    assembly: Assembly,
    coupling: Coupling,
    past: Past,
    threads: int | None,
    distributed_run: DistributedRun | None,
) -> Simulation:
    """Without workers, but for those where black boxes live."""
    head, arrays, notes = found.head, found.arrays, Notes(found.arrays)
    stack_host = StackHost()
    connect(assembly.bodies, channels_to(distributed_run, stack_host))
    for name in black_boxes_in(past.ever or {}):
        with suppress(ModelError):  # one that has left, and so has its worker
            connect_one(past.ever or {}, name, channels_to(distributed_run, stack_host))
    system = system_from_data(head["system"], arrays, assembly, grouped=past.grouped)
    _check_settings(head, f"'{found.path}'")
    recorder = Recorder(head["record every"])
    recorder.segments = found.segments
    if (place := found.recording) is not None:
        recorder.put_on(place)
    simulation = Simulation.from_state(
        assembly, system, head["dt"], coupling, past, recorder, leak_limit=head["alarm"]["limit"], threads=threads,
        distributed_run=distributed_run, stack_host=stack_host,
    )  # fmt: skip
    coupling.restore_state(system, notes.get(head["standing"]))
    simulation.schedule.restore_state(notes.get(head["schedule"]))
    simulation.alarm.rung = set(head["alarm"]["rung"])
    breakage, columns = (
        simulation.breakage,
        {n.partition(".")[2]: a for n, a in arrays.items() if n.startswith("watched.")},
    )
    breakage.watched = revived(head["watched"], columns, f"'{found.path}', limited joints", breakage.watched)
    check_places(breakage.watched, system.elements, f"'{found.path}', limited joints")
    kept = notes.get(head["breakage"])
    breakage.asked, breakage.gone = kept["asked"], {name: tuple(values) for name, values in kept["gone"].items()}
    if distributed_run is not None:
        check_divisible(simulation)
    return simulation


def _check_settings(head: Mapping[str, Any], owner: str) -> None:
    """Numbers that decide how far compiled code goes."""
    whole = {"record every": head["record every"], **{name: head["system"][name] for name in COUNTS}}
    for name, value in whole.items():
        if type(value) is not int or not (name == "record every") <= value < 1 << 62:
            raise ModelError(f"{owner}: {name} = {value!r} is not a count.")
    if not number(head["dt"], f"{owner}: dt", "s") > 0.0:
        raise ModelError(f"{owner}: dt = {head['dt']!r} is not a step.")
    if head["alarm"]["limit"] is not None:
        number(head["alarm"]["limit"], f"{owner}: leak limit", "J")
    if head["until"] is not None:
        number(head["until"], f"{owner}: until", "s")


def _past(data: Mapping[str, Any], assembly: Assembly, coupling: Coupling) -> Past:
    past = Past(Given.from_data(data["given"], assembly, coupling), project=data["project"], grouped=data["grouped"])
    past.events, past.margins, past.forms, past.acts = data["events"], data["margins"], data["forms"], data["acts"]
    past.seconds = number(data["seconds"], "seconds of computing", "s")
    logs = (past.events, past.margins, past.acts)
    listed = all(isinstance(one, list) for one in logs) and isinstance(past.forms, dict)
    if not listed or not all(isinstance(one, dict) for one in (*chain(*logs), *past.forms.values())):
        raise ModelError("the events, margins, acts and forms of joints must be lists and tables.")
    for entry in past.margins:
        _check_margins(entry)
    if data["ever"] is not None:
        past.ever = {name: Component.from_data(body) for name, body in data["ever"].items()}
    return past


def _check_margins(entry: Mapping[str, Any]) -> None:
    """An entry of their log: numbers by name, and of joints that a load takes them from, by how much."""
    margins, loads = entry["margins"], entry.get("loads", {})
    if not (
        isinstance(margins, dict) and isinstance(loads, dict) and all(isinstance(one, dict) for one in loads.values())
    ):
        raise ModelError("margins must be numbers by name.")
    for name, margin in margins.items():
        number(margin, f"margin of '{name}'", "-")
    for name, load in loads.items():
        number(load["margin"], f"margin of '{name}' under its load", "-")
        if load["without"] is not None:
            number(load["without"], f"margin of '{name}' without its load", "-")
