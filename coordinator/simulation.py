"""The simulation: advances a model in time, and changes its topology while it moves."""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from coordinator.checks.diagnosis import diagnose, in_words
from coordinator.checks.inspection import Inspection
from coordinator.checks.run_warnings import Alarm, WarningMemory
from coordinator.couplings import Coupling, Penalty
from coordinator.couplings.coupling import coupling_named
from coordinator.couplings.implicit import found_forces
from coordinator.couplings.resting import begin_at_rest
from coordinator.distributed.workers.distributed_run import (
    COLLECT_TIMEOUT,
    SHORT_TIMEOUT,
    DistributedRun,
    LaunchConfig,
    distributed_run_for,
)
from coordinator.distributed.workers.hosted_stack import StackHost
from coordinator.distributed.workers.placement import black_boxes_in, connect
from coordinator.distributed.workers.workforce import Workforce
from coordinator.engine.engine import Engine
from coordinator.engine.interrupt import Turn, held_interrupts, one_at_a_time
from coordinator.engine.threads import check_threads
from coordinator.events.breakage import Breakage
from coordinator.events.bulk_add import begin, put_together, undisturbed
from coordinator.events.changes import Changes
from coordinator.events.controlling import consult, next_look
from coordinator.events.encounters import disturb, first_look, let_meet
from coordinator.events.impact import agree_velocities
from coordinator.events.precompile import expect_loops, precompile
from coordinator.events.schedule import Schedule, advance_through_events, check_schedule
from coordinator.record.archive import recording
from coordinator.record.checkpoints.folder import Checkpoints
from coordinator.record.past import Given, Past
from coordinator.record.recorder import Recorder
from coordinator.record.run import Run
from coordinator.system import System
from modular import first_use
from modular.assembly import Assembly
from modular.component import plain
from modular.errors import ModelError, VerdictWarning
from modular.events import Cut, Event
from modular.first_use import seconds_spent
from modular.keywords import Spelt
from modular.numbers import number
from modular.tiles import kinds_of

MIN_STEP = 1e-30  # step [s]: below, its square is nothing
Progress = Callable[["Simulation"], None]


class Simulation(Changes, Inspection, Workforce, Spelt):
    """Steps an assembly by integer ticks of `dt` seconds; works on its own copy of the model.

    `coupling`: how joints hold, an object such as `Glued(4)`, or its name as the command line takes it, such as "glued(order=4)".
    `record_every`: ticks between two samples; where a run ends is one more. `project_velocities`: let initial velocities that
    violate a joint be corrected by impulses (the energy they take is booked); otherwise they are refused. `leak_limit`: warn, and
    log an alarm, when the ledger of a joint or force leaks more than this [J]. `threads`: as many as pay unless said otherwise; the
    results are the same bits for any number. `workers`: a number of processes that move a part of the bodies each, or the
    bodies of each by its name; the same bits again. `launcher`: where those processes are: "processes" on this machine, "here",
    one after the other in this one, or a `LaunchConfig`.
    """

    def __init__(
        self,
        assembly: Assembly,
        dt: float,
        coupling: Coupling | str | None = None,
        *,
        record_every: int = 1,
        project_velocities: bool = False,
        leak_limit: float | None = None,
        grouped: bool = True,
        threads: int | None = None,
        workers: int | Mapping[str, Sequence[str]] | None = None,
        launcher: str | LaunchConfig = "processes",
    ) -> None:
        if not isinstance(assembly, Assembly):
            raise ModelError(
                f"Simulation: {assembly!r} is not an Assembly; build one, or load a ready one with "
                "scenarios.load('double-pendulum')."
            )
        if isinstance(coupling, str):
            coupling = coupling_named(coupling, "Simulation: coupling =")
        if coupling is not None and not isinstance(coupling, Coupling):
            raise ModelError(
                f"Simulation: coupling = {coupling!r} is not a coupling; give one such as "
                "Penalty(rule=Stable(safety=1.3)), or "
                "its name, such as 'glued'."
            )
        if not (isinstance(dt, int | float | np.number) and np.isfinite(dt) and dt > MIN_STEP):
            raise ModelError(f"Simulation: dt = {dt!r} s; give a positive step, such as 1e-4.")
        if not isinstance(record_every, int | float | np.number) or record_every < 1 or record_every % 1 != 0:
            raise ModelError(f"Simulation: record_every = {record_every!r}; give a whole number of ticks from 1 on.")
        if leak_limit is not None and number(leak_limit, "Simulation: leak_limit", "J") < 0:
            raise ModelError(
                f"Simulation: leak_limit = {leak_limit} J; give an energy from 0 on, or None for no alarm."
            )
        model, chosen = assembly.given().copy(), Penalty() if coupling is None else coupling
        past = Past(Given(model, chosen), project=project_velocities, grouped=grouped)
        system = System(model.gravity, model.bodies, grouped=grouped, acting=model.force_edges)
        system.parted, system.gravities, system.shared = model.parted, model.gravities, model.shared
        self._begin(model, system, float(dt), chosen, past, Recorder(int(record_every)), leak_limit, threads)
        if black_boxes_in(model.bodies) and workers is not None:
            self.distributed_run = distributed_run_for(model, workers, launcher)  # they are asked while all is built
        try:
            connect(model.bodies, self._channel)
            with undisturbed():
                self._build(project_velocities)
            self.check_divisible()
        except BaseException:
            self.close()
            raise
        if workers is not None and self.distributed_run is None:
            self.hire(workers, launcher)

    @classmethod
    def from_state(
        cls, model: Assembly, system: System, dt: float, coupling: Coupling, past: Past, recorder: Recorder, *,
        leak_limit: float | None, threads: int | None, distributed_run: DistributedRun | None = None,
        stack_host: StackHost | None = None,
    ) -> Self:  # fmt: skip
        """One that has moved already: `system` is what the model has become (coordinator/record/checkpoints)."""
        found = object.__new__(cls)
        found._begin(model, system, dt, coupling, past, recorder, leak_limit, threads)
        found.distributed_run, found._stack_host = distributed_run, stack_host or found._stack_host
        coupling.configure(system, dt)
        return found

    def _begin(
        self, model: Assembly, system: System, dt: float, coupling: Coupling, past: Past, recorder: Recorder,
        leak_limit: float | None, threads: int | None,
    ) -> None:  # fmt: skip
        self._dt = dt
        self.turn = Turn()
        self.coupling = coupling
        self.assembly = model
        self.distributed_run = None
        self.local_system = system
        self.recorder = recorder
        self.breakage = Breakage(dt, model.dimension)
        self.alarm = Alarm(leak_limit)
        self.engine = Engine(check_threads(threads))
        self.schedule = Schedule(model.schedule, dt)
        self.past = past
        model.origin = past.origin
        self._stack_host = StackHost()  # black boxes, while there are no workers
        self._alone = False  # while the model itself changes something
        self._closed = False
        self.warning_memory = WarningMemory()
        self.bound_for = 0  # the tick to which it runs, or has run

    # --- one step, the table of contents -------------------------------------------------------------------------

    @one_at_a_time
    def step(self) -> None:
        """Advance the assembly by one tick."""
        self.apply_events()  # joints added, cut, broken; loads changed
        consult(self)  # controllers read their instruments and decide
        wrong = advance_through_events(self)  # the coupling, in parts where an event lies between two ticks
        if wrong is not None:
            raise diagnose(self, wrong)
        self.tick += 1
        self.record()

    def apply_events(self) -> None:
        """Carry out what the model has scheduled for this tick, and let those meet that have come near each other."""
        for event in self.schedule.due(self.tick):
            self.carry_out(event)
        with self._by_itself():
            for joint, impulse in self.breakage.broken(self.system).items():
                self.cut(joint, "break", filtered_impulse=impulse)
                self.breakage.forget(joint)
            if self.coupling.looks and self.tick % self.coupling.looks == 0:
                for bodies, why in self.coupling.look(self.system).items():
                    self.merge(*bodies, why=why)
        if let_meet(self):  # surfaces that have come near each other
            self.warning_memory.note_start(self, begin_at_rest(self.system, self.coupling, self.dt))

    def carry_out(self, event: Event) -> None:
        """An event of the model; one that cannot be done says when it was asked for.

        A cut that comes too late, because the joint has broken or was cut before, is only noted.
        """
        if isinstance(event, Cut) and not self.has_joint(event.joint):
            tick, time = self.tick + int(self.system.part > 0.0), self.system.time(self.dt)
            self.events.append({"tick": tick, "time": time, "kind": "too late", "name": event.joint})
            return
        try:
            with self._by_itself():
                event.apply(self)
        except ModelError as error:
            raise ModelError(f"event {type(event).__name__} at {self.system.time(self.dt):.6g} s: {error}") from error

    def record(self) -> None:
        """Keep the corrected state of this tick, and look at the ledgers; between two ticks there is none to keep."""
        if self.local_system.part > 0.0:
            return
        self.recorder.record(self.system)
        self.ring()

    def ring(self) -> None:
        """Log the alarms of this tick."""
        for name, leak in self.alarm.ring(self.system, self.time).items():
            self.events.append({"tick": self.tick, "time": self.time, "kind": "alarm", "name": name, "leaked": leak})

    # --- time ----------------------------------------------------------------------------------------------------

    @property
    def system(self) -> System:
        """What is being simulated, here and now; collected from the workers where they have it."""
        if self.distributed_run is not None:
            with self.turn:
                self.distributed_run.collect(self)
        return self.local_system

    @property
    def whole(self) -> bool:
        """Whether this is how things stand; False where the mechanism was lost with its workers."""
        return self.distributed_run is None or not self.distributed_run.failure

    @property
    def tick(self) -> int:
        """Ticks since the start."""
        return self.local_system.tick

    @tick.setter
    def tick(self, value: int) -> None:
        self.local_system.tick = value

    @property
    def dt(self) -> float:
        """The step [s]; gains, schedule and record hang on it, so it stays."""
        return self._dt

    @property
    def time(self) -> float:
        """tick dt [s], and where a change of the step was made between two ticks the part of one that has gone by."""
        return self.local_system.time(self.dt)

    @one_at_a_time
    def run(
        self, until: float, *, progress: Progress | None = None, checkpoints: Checkpoints | str | Path | None = None,
        record_to: str | Path | None = None,
    ) -> Run:  # fmt: skip
        """Step to the tick nearest to `until` [s]; `progress` is called about ten times a second.

        Ctrl-C stops it at a whole tick: what was recorded stays, and `run` goes on from there. `checkpoints`: a folder in which
        the simulation is kept every minute and at the end; from there `resume` goes on, in another process too. `record_to`: a run
        folder that grows as the run goes on, also beyond the memory there is; `Run.load` reads it at any time.
        """
        self._alive()
        until = number(until, "run: until", "s")
        if round(until / self.dt) < self.tick:
            raise ModelError(f"run: until = {until} s; the simulation is at {self.time:.9g} s and only goes forward.")
        last = round(until / self.dt)
        if last == self.tick == 0 and until > 0.0:
            raise ModelError(
                f"run: until = {until:g} s is less than half a step (dt = {self.dt:g} s); take a shorter step."
            )
        if isinstance(checkpoints, str | Path):
            checkpoints = Checkpoints(checkpoints)
        if checkpoints is not None:
            checkpoints.begin(self)
            self.recorder.spare = checkpoints.folder
        growing = recording(self, record_to)
        self.bound_for = last
        self.recorder.expect(self.system, last - self.tick)
        precompile(self)
        first_use.finish()
        self.warning_memory.begin(self)
        started = shown = clock.perf_counter()
        compiling = seconds_spent()
        try:
            with held_interrupts() as interrupt:
                while self.tick < last:
                    self.warning_memory.look(self)
                    self.stride(min(last, self.warning_memory.look_at))
                    interrupt.obey()
                    if checkpoints is not None:
                        checkpoints.if_due(self, until)
                    if growing is not None:
                        growing.if_due(self)
                    if progress is not None and (now := clock.perf_counter()) - shown > 0.1:
                        shown = now
                        progress(self)
        except KeyboardInterrupt:
            self.bound_for = self.tick  # as if it had been told to end here
            with nullcontext() if self.distributed_run is None else self.distributed_run.with_short_timeout():
                if checkpoints is not None and self.whole:
                    checkpoints.try_to_write(self, until)
            raise
        finally:
            self.past.seconds += clock.perf_counter() - started - (seconds_spent() - compiling)
            if growing is not None:
                growing.write(self)
        self.warning_memory.end()
        if checkpoints is not None:
            checkpoints.at_end(self, until)
        if progress is not None:
            progress(self)
        self._judge()
        return self.recorded

    def _judge(self) -> None:
        """Say what speaks against what was recorded, once."""
        if (found := self.past.judge(self)) is not None:
            words = found.sentence(self.dt, words=partial(in_words, self))
            warnings.warn(words, VerdictWarning, stacklevel=4)

    def stride(self, last: int) -> None:
        """Many ticks at once where everything is compiled, up to the next event or a slice of time; else one step."""
        if self.local_system.part > 0.0:  # the rest of a tick that was begun with another step
            self.step()
            return
        free = self.schedule.next_tick(last)
        if looks := self.coupling.looks:
            free = min(free, self.tick if self.tick % looks == 0 else self.tick + looks - self.tick % looks)
        if self.tick < free:
            consult(self)
            free = min(free, next_look(self) or free)
        if self.tick < free and self.distributed_run is not None:
            if self.distributed_run.run(self, free):
                if self.distributed_run.stopped:
                    self.ring()
                return
            self._without_workers()
        elif self.tick < free:
            before = self.tick
            wrong = self.engine.run(self, free)
            if wrong is not None:
                raise diagnose(self, wrong)
            self.ring()
            if self.tick > before:
                return
        self.step()

    # --- beginning and end -------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self.close(COLLECT_TIMEOUT if kind is None else SHORT_TIMEOUT)

    @one_at_a_time
    def close(self, within: float = COLLECT_TIMEOUT) -> None:
        """Let everything go; what was recorded stays readable. Workers have so long to give their shards back [s]."""
        self._closed = True
        self.engine.close()
        if self.distributed_run is not None:
            self.distributed_run.close(self, within)

    def _about_to_change(self) -> None:
        """Before every change of the model."""
        self._alive()
        self.past.given.part()

    def _alive(self) -> None:
        if self._closed:
            raise ModelError("this simulation is closed; what it recorded is still in `recorded`.")

    def _build(self, project: bool) -> None:
        put_together(self.system, self.assembly, self.breakage.check)
        if self.assembly.begin:
            begin(self.system, self.assembly.begin)
        first_look(self)
        breaking = any(joint.breaks_at is not None for joint in kinds_of(self.assembly.joint_edges))
        for name, joint in self.assembly.joint_edges.items() if breaking else ():
            if joint.breaks_at is not None:
                self.breakage.check(name, joint)
                self.breakage.watch(name, joint, self.system.joint_home[name])
        check_schedule(self.assembly)
        self.coupling.configure(self.system, self.dt)
        self.system.elements.clock[:] = self.dt, 0.0, self.dt
        expect_loops(self.system, self.coupling)
        self.system.show()
        lost = agree_velocities(self.system, project=project)
        if lost:
            self.events.append({"tick": 0, "time": 0.0, "kind": "projection", "name": "velocities", "energy": lost})
        self.coupling.settle(self.system, self.dt, self.assembly.bodies)
        self.warning_memory.note_start(self, begin_at_rest(self.system, self.coupling, self.dt, everything=True))
        self._log_margins()
        self.record()

    def _after(self, kind: str, name: str, touched: Sequence[str], act: Event | None = None, **details: Any) -> None:
        """Every change ends here: settings, accelerations of the touched bodies, margins, log, record.

        `act`: the event that makes the same change, where there is one.

        An event between two ticks is booked with its own time and with the tick that it leads to.
        """
        system, coupling, dt = self.system, self.coupling, self.dt
        between = system.part > 0.0
        disturb(system)
        coupling.configure(system, dt)
        coupling.settle(system, dt, touched)
        if found_forces(system):
            self.check_divisible()
        self.warning_memory.note_start(self, begin_at_rest(system, coupling, dt))
        self._log_margins(touched)
        entry = {"tick": system.tick + int(between), "time": system.time(dt), "kind": kind, "name": name}
        for key, value in details.items():
            entry[key] = plain(value)
        if not self._alone:
            entry |= self.past.by_hand(act, system.time(dt))
        self.events.append(entry)
        if not between:
            self.record()

    @contextmanager
    def _by_itself(self) -> Iterator[None]:
        """What happens inside is part of the model; all other changes were made by hand."""
        before, self._alone = self._alone, True
        try:
            yield
        finally:
            self._alone = before

    def _log_margins(self, touched: Sequence[str] | None = None) -> None:
        """Margins of all joints and springs, or of those on touched bodies."""
        system = self.system
        bodies = None if touched is None else list(touched)
        entry = self.warning_memory.entry(self, self.coupling.margins(system, self.dt, bodies), bodies)
        if touched is None and not system.turns:
            system.forget_answers()  # a later event unfolds them for good, and writes to a few rows of them
        self.past.margins.append(entry)
