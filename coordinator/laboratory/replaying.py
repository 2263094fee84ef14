"""A session once more, from its diary, without anybody who acts: the same motion, to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from coordinator.continuation.resume import Checkpoint
from coordinator.laboratory.acts import Receipt
from coordinator.laboratory.diary import START, Entry, read_diary, read_ending
from coordinator.laboratory.session import Session
from coordinator.record.fingerprint import bits
from coordinator.simulation import Simulation
from modular.errors import ModelError

Looking = Callable[[Session, int, int], None]  # told how many acts of how many are done


@dataclass(frozen=True)
class Repetition:
    """What came of it."""

    acts: int
    tick: int
    time: float  # [s]
    same: bool | None  # None: the session was cut off, so there is nothing to hold it against
    first: int | None  # the first stretch that differs
    same_machine: bool
    trouble: str


def replay(folder: str | Path, *, out: str | Path | None = None, looking: Looking | None = None) -> Repetition:
    """Carry out a diary; `out`: a folder for the new session, with its own diary and runs."""
    folder = Path(folder)
    entries, ending = list(read_diary(folder)), read_ending(folder)
    simulation = beginning(folder)
    same_machine = _same_machine(folder)
    with Session(simulation, out) as session:
        carry_on(session, entries, looking)
        if ending is not None:
            _to(session, ending["tick"])
        digests = [*session.stretches.digests, session.simulation.recorded.digest]
        first = None if ending is None else _first_different(digests, ending["digests"])
        return Repetition(
            acts=len(entries), tick=session.simulation.tick, time=session.simulation.time,
            same=None if ending is None else first is None, first=first, same_machine=same_machine, trouble=session.trouble,
        )  # fmt: skip


def beginning(folder: Path) -> Simulation:
    """The simulation as it stood when the diary began."""
    return _start(folder).moved_by(None)


def carry_on(session: Session, entries: Iterable[Entry], looking: Looking | None = None) -> None:
    """Carry out acts at their ticks."""
    listed = list(entries)
    for done, (tick, act) in enumerate(listed):
        _to(session, tick)
        receipt = Receipt(act)
        session.carry_out(receipt)
        if receipt.error:
            raise ModelError(
                f"act {done + 1} of the diary, {act!r} at tick {tick}, was accepted then and is refused now: "
                f"{receipt.error}"
            )
        if looking is not None:
            looking(session, done + 1, len(listed))


def _to(session: Session, tick: int) -> None:
    if session.simulation.tick > tick:
        raise ModelError(f"the diary goes backwards from tick {session.simulation.tick} to {tick}; it was changed.")
    if not session.trouble:
        session.advance(tick, lambda: False)


def _start(folder: Path) -> Checkpoint:
    try:
        return Checkpoint.in_memory((folder / START).read_bytes())
    except OSError as error:
        raise ModelError(f"'{folder / START}' cannot be read ({error.strerror}).") from error


def _same_machine(folder: Path) -> bool:
    return bool(_start(folder).head.get("bits") == bits())


def _first_different(now: list[str], then: list[str]) -> int | None:
    for number, (one, other) in enumerate(zip(now, then, strict=False)):
        if one != other:
            return number + 1
    return None if len(now) == len(then) else min(len(now), len(then)) + 1
