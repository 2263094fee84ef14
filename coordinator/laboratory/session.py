"""A session in the laboratory: a simulation that goes on by the clock, and acts that reach it from elsewhere.

One *turn* is the table of contents: acts are carried out between two steps, in their order; then time goes on as far as is due;
then what there is now is shown. Whoever acts posts (`post`), whoever looks reads `snapshot`: nobody waits for anybody. With
`start` the turns are taken in a thread of their own.

An act that cannot be carried out is refused with a reason, and leaves nothing behind. What decides how the motion goes on stands in
the diary, so the same motion can be had again without anybody (coordinator/laboratory/replaying.py).
"""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from coordinator.checks.diagnosis import in_words
from coordinator.couplings import Centralized
from coordinator.events.precompile import precompile
from coordinator.laboratory.acts import (
    Act,
    Change,
    Doing,
    Drag,
    Receipt,
    Redo,
    Reset,
    Undo,
    describe,
    is_noted,
    is_undone,
)
from coordinator.laboratory.diary import START, Diary, write_ending
from coordinator.laboratory.ghost import Ghost, why_no_ghost
from coordinator.laboratory.hand import Hand
from coordinator.laboratory.history import History, Kept, Stretches, keep, stand_again, turn_page
from coordinator.laboratory.inquiry import Inquiry
from coordinator.laboratory.pace import Pace
from coordinator.laboratory.snapshot import Notice, Snapshot, Window
from coordinator.record.run import Run
from coordinator.simulation import Simulation
from modular.errors import CouplingError, ModelError, RunWarning
from modular.events import Event
from modular.files import put_in_place
from modular.numbers import number

_log = logging.getLogger("modular")
STEPPING_BUDGET_SECONDS = 0.016  # seconds that one turn may spend on stepping
# seconds between two snapshots at least; of workers everything has to be taken back
SNAPSHOT_SECONDS, SNAPSHOT_SECONDS_WORKERS = 1 / 40, 1 / 15
MAX_SAMPLE_BYTES = 256e6  # bytes that samples may take
MAX_EVENTS_PER_STRETCH = 400  # in a stretch of the record
MAX_WAITING_ACTS = 10_000  # acts that may wait
MAX_NOTICES = 50  # that are shown
MEMORY_PIECES = 32  # parts of that memory that are made ready at a time


@dataclass(frozen=True)
class TurnPage(Change):
    """The record begins another stretch: the session's own act, noted because stretches are compared."""

    undone = False

    def changed(self, simulation: Simulation) -> Simulation:
        """The same simulation, with an empty record."""
        turn_page(simulation)
        return simulation


class Session:
    """A simulation that people act on while it runs; `folder`: where its diary is written, and at the end all that was recorded.

    `memory`: bytes that samples may take, the oldest go first. The simulation belongs to the session from then on, and others may
    take its place; ask for `simulation`.
    """

    def __init__(
        self,
        simulation: Simulation,
        folder: str | Path | None = None,
        *,
        memory: float = MAX_SAMPLE_BYTES,
        speed: float = 1.0,
    ) -> None:
        self.simulation = simulation
        self.folder = None if folder is None else Path(folder)
        self.pace, self.hand = Pace(speed), Hand()
        self.stretches = Stretches(number(memory, "Session: memory", "bytes"))
        self.trouble = ""
        self.notices: deque[Notice] = deque(maxlen=MAX_NOTICES)
        self._posted: deque[Receipt] = deque()
        self._wake = threading.Condition()
        self.history = History()
        self.ghost: Ghost | None = None
        self.inquiry = Inquiry()
        self.collected: list[Run] = []  # what was recorded until somebody asked for it (Collect)
        self.revision, self._shown_at, self._noticed = 0, 0.0, 0
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._behind = False  # there was more to step than a turn has time for
        self._closed = False
        precompile(simulation)
        self.stretches.begin_after(simulation)
        self._heard = len(simulation.past.events)  # events of the simulation that were told
        self._why_not_back, start = "", None
        try:
            start = keep(simulation, self.stretches.latest)
        except (ModelError, CouplingError) as error:
            self._why_not_back = str(error)
        if self.folder is not None:
            if start is None:
                raise ModelError(f"this session cannot be recorded: {self._why_not_back}")
            self.folder.mkdir(parents=True, exist_ok=True)
            put_in_place(self.folder / START, start.content)
        self._start = start
        self.diary = Diary(self.folder)
        self._window = Window(self)

    # --- one turn, the table of contents -----------------------------------------------------------------------------

    def turn(self) -> None:
        """Acts, time, and what there is to see."""
        self._obey()
        self._go_on()
        self._show()

    # --- from elsewhere ----------------------------------------------------------------------------------------------

    def post(self, act: Doing) -> Receipt:
        """Ask for something; from any thread, and at once."""
        if not isinstance(act, Act | Event):
            raise ModelError(f"{act!r} is not an act; give one such as Cut('elbow') or Pause().")
        receipt = Receipt(act)
        with self._wake:
            if self._stopping or self._closed:
                receipt.close("this session is closed.")
            elif len(self._posted) >= MAX_WAITING_ACTS:
                receipt.close(f"{MAX_WAITING_ACTS} acts are waiting already; this one was dropped.")
            else:
                self._posted.append(receipt)
                self._wake.notify()
        return receipt

    def do(self, act: Doing) -> None:
        """Ask for something and wait until it is done; ModelError where it is refused."""
        receipt = self.post(act)
        if self._thread is None or threading.current_thread() is self._thread:
            self._obey()
        else:
            receipt.wait()
        if receipt.error:
            raise ModelError(receipt.error)

    def start(self) -> Self:
        """Let the turns be taken in a thread of their own."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="modular-session", daemon=True)
            self._thread.start()
        return self

    def close(self) -> None:
        """Stop, let go of everything, and write the end of the diary; what was recorded stays readable."""
        with self._wake:
            if self._closed:
                return
            self._stopping = True
            self._wake.notify()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        with self._wake:
            self._closed = True
            for receipt in self._posted:
                receipt.close("this session is closed.")
            self._posted.clear()
        try:
            if self.folder is not None:
                write_ending(self.folder, self)
        finally:
            self.stretches.close()
            self.diary.close()
            self.simulation.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def runs(self) -> list[Run]:
        """What was recorded, stretch by stretch, as far as it is still in memory; ask while the session stands still."""
        return [*self.stretches.finished.values(), self.simulation.recorded]

    # --- acts --------------------------------------------------------------------------------------------------------

    def _obey(self) -> None:
        """Carry out what was posted; of a row of drags the last one alone."""
        settled: list[Receipt] = []
        while receipt := self._next():
            self.carry_out(receipt)
            settled.append(receipt)
        if settled:
            self._show(now=True)
        for receipt in settled:
            receipt.close()

    def _next(self) -> Receipt | None:
        """What is to be carried out now."""
        with self._wake:
            if not self._posted:
                return None
            receipt = self._posted.popleft()
            while isinstance(receipt.act, Drag) and self._posted and isinstance(self._posted[0].act, Drag):
                receipt.close()
                receipt = self._posted.popleft()
            return receipt

    def carry_out(self, receipt: Receipt) -> None:
        """One act, or a reason why not."""
        act, simulation, trouble = receipt.act, self.simulation, self.trouble
        tick, version = simulation.tick, simulation.local_system.version
        kept: Kept | None = None
        if is_noted(act):
            self._with_ghost(lambda ghost: ghost.follow(simulation))
        try:
            if trouble and is_noted(act) and not isinstance(act, Undo | Redo | Reset):
                self.check_going()
            if is_noted(act) and not isinstance(act, Drag | Undo) and not trouble:
                kept = self._keep()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RunWarning)
                self._perform(act)
        except Exception as error:
            reason = str(error) if isinstance(error, ModelError | CouplingError) else f"{type(error).__name__}: {error}"
            if self.simulation is not simulation or simulation.local_system.version != version:
                self._as_before(kept)
            self.notice("refused", f"{describe(act)}: {reason}")
            receipt.settle(reason)
            return
        if is_undone(act) and (kept is not None or self._start is None):
            self.history.remember(kept, act)
        elif isinstance(act, Redo):
            self.history.remember(kept, self.history.next(), again=True)
        if is_noted(act):
            self._with_ghost(lambda ghost: ghost.witness(act, self.simulation))
            self.diary.note(tick, act)
            if not isinstance(act, Drag):
                self.revision += 1
                self.notice("done", describe(act))
        receipt.settle(tick=tick)

    def _perform(self, act: Doing) -> None:
        """What it says; a change by which another simulation goes on ends a stretch of the record."""
        before = self.simulation
        if isinstance(act, Event):
            act.apply(before)
        elif not isinstance(act, Change):
            act.perform(self)
        else:
            if not isinstance(act, TurnPage):
                self.hand.release(before)  # it would not find its point again
            run = before.recorded
            after = act.changed(before)
            if after is not before or isinstance(act, TurnPage):
                self.stretches.finish_with(run)
                self._take_over(after)

    def _take_over(self, after: Simulation) -> None:
        """Another simulation goes on in the place of the present one."""
        if after is not self.simulation:
            self.simulation.engine.close()
        self.simulation = after
        self._heard = len(after.past.events)
        self.pace.set_clock(after)

    def _keep(self) -> Kept | None:
        """As it stands now; None where it cannot be kept, because a law of the model has no name."""
        return None if self._start is None else keep(self.simulation, self.stretches.latest)

    def _as_before(self, kept: Kept | None) -> None:
        """An act has failed on its way; whatever the hand holds it goes on holding."""
        if kept is None:
            self.trouble = "an act failed halfway, and no earlier state was kept to restore."
        else:
            self._stand_again(kept)

    # --- back and forth ----------------------------------------------------------------------------------------------

    def undo(self) -> None:
        """Back to the instant before the last change."""
        kept, act = self.history.last()
        if kept is None:
            raise ModelError(f"'{describe(act)}' cannot be undone: {self._why_not_back}")
        self._stand_again(kept)
        self.hand.release(self.simulation)
        self.history.go_back()

    def redo(self) -> None:
        """The change that was undone last, once more."""
        self._perform(self.history.next())

    def reset(self) -> None:
        """Back to the beginning; what was recorded since is a stretch of its own."""
        if self._start is None:
            raise ModelError(f"the beginning cannot be restored: {self._why_not_back}")
        run = self.simulation.recorded
        after = stand_again(self._start, self.simulation)
        self.stretches.finish_with(run)
        after.record()
        self._stood_again(after)
        self.hand.release(after)

    def _stand_again(self, kept: Kept) -> None:
        """Let the simulation stand where it was kept; what was recorded since is given up."""
        segments = self.simulation.recorder.segments
        after = stand_again(kept, self.simulation)
        self.stretches.go_back(kept, after, segments)
        self._stood_again(after)

    def _stood_again(self, after: Simulation) -> None:
        self._take_over(after)
        self.trouble = ""

    # --- time --------------------------------------------------------------------------------------------------------

    def check_going(self) -> None:
        """Refuse to go on where the motion has come to an end."""
        if self.trouble:
            raise ModelError(f"the motion has stopped: {self.trouble} Undo the last change, or reset.")

    def _go_on(self) -> None:
        """Step to what is due, for a moment at most."""
        simulation, started = self.simulation, time.monotonic()
        due = simulation.tick if self.trouble else self.pace.due(simulation)
        self._behind = False
        if simulation.tick >= due:
            return
        if self.stretches.full(simulation, MAX_EVENTS_PER_STRETCH):
            self.carry_out(Receipt(TurnPage()))
        self.advance(
            due, lambda: time.monotonic() - started > STEPPING_BUDGET_SECONDS or bool(self._posted) or self._stopping
        )
        self._behind = self.simulation.tick < due
        self.pace.passed(self.simulation)

    def advance(self, last: int, enough: Callable[[], bool]) -> None:
        """Step to a tick, or until it is enough; a motion that comes to an end is no error here."""
        simulation = self.simulation
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RunWarning)
                while simulation.tick < last:
                    left, most = last - simulation.tick, self.stretches.most / MEMORY_PIECES
                    goal = simulation.tick + simulation.recorder.expect_more(simulation.local_system, left, most)
                    simulation.stride(goal if self.ghost is None else min(goal, self.ghost.next_tick))
                    if self.ghost is not None and simulation.tick >= self.ghost.next_tick:
                        self._with_ghost(lambda ghost: ghost.follow(simulation))
                    if enough():
                        break
        except Exception as error:
            self.trouble = f"{error}" if isinstance(error, ValueError | RuntimeError | ArithmeticError) else repr(error)
            self.pace.pause()
            self.notice("trouble", self.trouble)
        if (found := self.simulation.past.judge(self.simulation)) is not None:
            simulation = self.simulation
            words = partial(in_words, simulation)
            self.notice("happened", found.sentence(simulation.dt, words=words))
        self._listen()

    def call_ghost(self, solver: Centralized | None) -> None:
        """Let a reference follow from here on, or no more."""
        self.ghost = None if solver is None else Ghost(self.simulation, solver)
        self.revision += 1

    def _with_ghost(self, do: Callable[[Ghost], object]) -> None:
        """The reference goes its own ways; where it cannot, it goes."""
        if self.ghost is None:
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                do(self.ghost)
        except Exception as error:
            self.ghost = None
            self.notice("refused", why_no_ghost(error))

    def _listen(self) -> None:
        """What has happened by itself: joints that broke, events of the model."""
        events = self.simulation.past.events
        for event in events[self._heard :]:
            if event.get("by") != "hand":
                self.revision += 1
                self.notice("happened", f"{event['kind']} {event['name']} at {event['time']:.6g} s")
        self._heard = len(events)

    # --- what there is to see ----------------------------------------------------------------------------------------

    @property
    def snapshot(self) -> Snapshot:
        """Everything at one instant, not long ago; for any thread."""
        return self._window.latest

    def notice(self, kind: str, text: str) -> None:
        """Something that whoever looks should know."""
        self._noticed += 1
        self.notices.append(Notice(self._noticed, self.simulation.time, kind, text))

    def _show(self, *, now: bool = False) -> None:
        """A new snapshot in place of the last, not too often."""
        pause = SNAPSHOT_SECONDS if self.simulation.distributed_run is None else SNAPSHOT_SECONDS_WORKERS
        clock = time.monotonic()
        if (now or not self.pace.moving or clock - self._shown_at >= pause) and self._window.stale():
            self._window.look()
            self._shown_at = time.monotonic()

    # --- the thread --------------------------------------------------------------------------------------------------

    def _spare(self, began: float) -> float:
        """Seconds until the next turn, where nobody asks for anything: as the last began, so that a few long turns do it."""
        if not self.pace.moving or self.trouble:
            return 0.1
        if self._behind:
            return 0.0
        return min(max(self.pace.until_next(self.simulation), began + SNAPSHOT_SECONDS / 2 - time.monotonic()), 0.1)

    def _run(self) -> None:
        began = 0.0
        while not self._stopping:
            with self._wake:
                if not self._posted and (left := self._spare(began)) > 0.0:
                    self._wake.wait(left)
            began = time.monotonic()
            try:
                self.turn()
            except Exception as error:  # none is known; whoever comes upon one keeps the page, and can reset
                _log.exception("laboratory: an update failed")
                self.trouble = self.trouble or f"an update failed ({type(error).__name__}: {error})."
                self.pace.pause()
