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

from coordinator.checks import carrying
from coordinator.checks.alarm import Alarm
from coordinator.checks.diagnosis import diagnose
from coordinator.checks.foretelling import Foreteller
from coordinator.checks.proposals import in_words
from coordinator.checks.verification import Verification, verify
from coordinator.couplings import Coupling, Penalty
from coordinator.couplings.margins import tightest
from coordinator.couplings.named import coupling_named
from coordinator.couplings.resting import begin_at_rest
from coordinator.distributed.workers.black_box import BlackBox
from coordinator.distributed.workers.channel import Channel
from coordinator.distributed.workers.distributed_run import (
    COLLECT_TIMEOUT,
    SHORT_TIMEOUT,
    DistributedRun,
    LaunchConfig,
    check_divisible,
    distributed_run_for,
)
from coordinator.distributed.workers.hosted_stack import StackHost
from coordinator.distributed.workers.placement import black_boxes_in, channels_to, connect, relocate
from coordinator.distributed.workers.worker_pool import WorkerInfo
from coordinator.engine.engine import Engine
from coordinator.engine.interrupt import held_interrupts
from coordinator.engine.one_at_a_time import Turn, one_at_a_time
from coordinator.engine.threads import check_threads
from coordinator.events.aiming import aim
from coordinator.events.breakage import Breakage
from coordinator.events.bulk_add import add_bodies, add_joints, undisturbed
from coordinator.events.controlling import consult, next_look
from coordinator.events.event_location import advance_through_events
from coordinator.events.impact import agree_velocities, measure_joint, stop_by_impulse, stop_by_shift
from coordinator.events.merging import merge, unmerge
from coordinator.events.precompile import expect_loops, precompile
from coordinator.events.schedule import Schedule, check_schedule
from coordinator.events.undoing import fallible, way_back
from coordinator.record.checkpoints.folder import Checkpoints
from coordinator.record.given import Given
from coordinator.record.growing import recording
from coordinator.record.past import Past, other_body
from coordinator.record.recorder import Recorder
from coordinator.record.run import Run
from coordinator.system import System, ledger_columns
from modular import first_use
from modular.assembly import Assembly, JointEdge
from modular.body import Bodies, Body
from modular.component import class_name, plain
from modular.elements import TIME, Array
from modular.errors import ModelError, VerdictWarning
from modular.events import Add, Apply, Cut, Event, Join, Merge, Remove, Unmerge, check_law
from modular.first_use import seconds_spent
from modular.force import Force, TakesAim
from modular.joint import Joint
from modular.keywords import Spelt
from modular.limit import Limit
from modular.numbers import number
from modular.port import GROUND, PortName

MIN_STEP = 1e-30  # step [s]: below, its square is nothing
REST_SPEED = 1e-6  # relative speed below which joining is no impact [m/s], [rad/s]
Progress = Callable[["Simulation"], None]


class Simulation(Spelt):
    """Steps an assembly by integer ticks of `dt` seconds; works on its own copy of the model.

    `coupling`: how joints hold, an object such as `Glued(4)`, or its name as the command line takes it, such as "glued(order=4)".
    `record_every`: ticks between two samples. `project_velocities`: let initial velocities that violate a joint be
    corrected by impulses (the energy they take is booked); otherwise they are refused. `leak_limit`: warn, and log an
    alarm, when the ledger of a joint or force leaks more than this [J]. `threads`: as many as pay unless said otherwise; the
    results are the same bits for any number. `workers`: a number of processes that move a part of the bodies each, or the
    bodies of each by its name; the same bits again. `launcher`: where those processes are: "processes" on this machine, "here",
    one after the other in this one, or a `LaunchConfig`.
    """

    distributed_run: DistributedRun | None

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
        system = System(model.gravity, model.bodies, grouped=grouped)
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
        found = cls.__new__(cls)
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
        self.foreteller = Foreteller()
        self.bound_for = 0  # the tick to which it runs, or has run

    @one_at_a_time
    def hire(self, workers: int | Mapping[str, Sequence[str]], launcher: str | LaunchConfig = "processes") -> None:
        """Let workers move the bodies from here on: so many of them, or the bodies of each by its name."""
        if self.distributed_run is not None:
            raise ModelError("this simulation has workers already; they are in `workers`.")
        check_divisible(self)
        distributed_run = distributed_run_for(self.assembly, workers, launcher)
        try:
            relocate(self.assembly.bodies, list(self.local_system.bodies), distributed_run.channel)
        except BaseException:
            distributed_run.pool.close()
            raise
        self.distributed_run = distributed_run

    def _channel(self, name: str, box: BlackBox) -> Channel:
        """To where a black box lives: at the worker that it names, or in this process where there are no workers."""
        return channels_to(self.distributed_run, self._stack_host)(name, box)

    @one_at_a_time
    def enlist(self, name: str, bodies: Sequence[str] = ()) -> None:
        """One more worker from here on, with some bodies that others have had, or with its share of all."""
        if self.distributed_run is None:
            raise ModelError(f"worker '{name}': there are no workers yet; begin with workers=…, or with hire.")
        self.distributed_run.add_worker(self, name, bodies)

    @one_at_a_time
    def retire(self, name: str) -> None:
        """A worker goes, and others take its bodies over; when the last has gone, they are moved in this process."""
        if self.distributed_run is None:
            raise ModelError(f"worker '{name}': there are no workers.")
        self.distributed_run.remove_worker(self, name)
        self._without_workers()

    def _without_workers(self) -> None:
        """Go on alone where the last worker has gone."""
        if self.distributed_run is not None and not self.distributed_run.bodies:
            self.distributed_run.pool.close()
            self.distributed_run = None

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
        """Carry out what the model has scheduled for this tick."""
        for event in self.schedule.due(self.tick):
            self.carry_out(event)
        with self._by_itself():
            for joint, impulse in self.breakage.broken(self.system).items():
                self.cut(joint, "break", filtered_impulse=impulse)
                self.breakage.forget(joint)
            if self.coupling.looks and self.tick % self.coupling.looks == 0:
                for bodies, why in self.coupling.look(self.system).items():
                    self.merge(*bodies, why=why)

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
        self.foreteller.begin(self)
        started = shown = clock.perf_counter()
        compiling = seconds_spent()
        try:
            with held_interrupts() as interrupt:
                while self.tick < last:
                    self.foreteller.look(self)
                    self.stride(min(last, self.foreteller.look_at))
                    interrupt.obey()
                    if checkpoints is not None:
                        checkpoints.if_due(self, until)
                    if growing is not None:
                        growing.if_due(self)
                    if progress is not None and (now := clock.perf_counter()) - shown > 0.1:
                        shown = now
                        progress(self)
        except KeyboardInterrupt:
            with nullcontext() if self.distributed_run is None else self.distributed_run.with_short_timeout():
                if checkpoints is not None and self.whole:
                    checkpoints.try_to_write(self, until)
            raise
        finally:
            self.past.seconds += clock.perf_counter() - started - (seconds_spent() - compiling)
            if growing is not None:
                growing.write(self)
        if checkpoints is not None:
            checkpoints.at_end(self, until)
        if progress is not None:
            progress(self)
        self._judge()
        return self.recorded

    def _judge(self) -> None:
        """Say what speaks against what was recorded, once."""
        if (found := self.past.judge(self)) is not None:
            words = found.sentence(self.dt, self.coupling.declared_order, words=partial(in_words, self))
            warnings.warn(words, VerdictWarning, stacklevel=4)

    @one_at_a_time
    def verify(self, *, progress: Progress | None = None) -> Verification:
        """Run again at half and at twice the step, as far as it has come: how far it is off, and in which order that falls."""
        found = verify(type(self), self.recorded, progress=progress)
        self.past.verified = found.to_data()
        return found

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

    # --- changing the model while it moves -------------------------------------------------------------------------

    @one_at_a_time
    def add(self, name: str, body: Body) -> None:
        """Add a body, in the state that its description gives."""
        self._about_to_change()
        self.assembly.add(name, body)
        try:
            if isinstance(body, BlackBox):
                self.assembly.bodies[name] = body = body.reached(name, self._channel(name, body))
        except ModelError:
            del self.assembly.bodies[name]
            raise
        if not self.past.enter(name, body):
            del self.assembly.bodies[name]
            raise other_body(name)
        self.system.elements.clock[TIME] = self.tick * self.dt + self.system.part * self.dt  # where courses stand
        self.system.add_body(name, body)
        self._after("add", name, [name], Add(name, body))

    @one_at_a_time
    def remove(self, name: str) -> None:
        """Remove a body, with the joints and forces on it, or a force."""
        self._about_to_change()
        if name in self.assembly.forces:
            owners = self.system.force_home[name].owners
            self.assembly.remove(name)
            released = self.system.remove_force(name)
            self._after("remove", name, owners, Remove(name), **({"released": released} if released else {}))
            return
        self.assembly.known(name, self.assembly.bodies, "body or force")
        for joint in [n for n, e in self.assembly.joint_edges.items() if name in (e.first.body, e.second.body)]:
            self.cut(joint)
        for force in [n for n, f in self.assembly.force_edges.items() if any(p.body == name for p in f.ports)]:
            self.remove(force)
        self.past.leave(self.assembly.bodies)
        self.assembly.remove(name)
        self.system.remove_body(name)
        self._after("remove", name, [], Remove(name))

    @one_at_a_time
    def join(
        self,
        name: str,
        joint: Joint,
        first: str,
        second: str,
        *,
        at: Sequence[float] | None = None,
        law: str = "momentum",
        breaks_at: Limit | None = None,
    ) -> None:
        """Connect two ports as they stand now; `at` places the joint where they do not coincide [m].

        If its points move relative to each other, that motion stops at once and the energy it takes is booked in the
        ledger of the joint. law="momentum": by one impulse at the joint from the seen masses; law="kinematic": by
        shifting the bodies with their angular velocities kept, as Figure VI-18 of the thesis shows.
        """
        self._about_to_change()
        check_law(name, law)
        self.assembly.join(name, joint, first, second, at=at, breaks_at=breaks_at)
        system, edge, go_back = self.system, self.assembly.joint_edges[name], way_back(self)
        try:
            self.breakage.check(name, edge)
            system.elements.clock[TIME] = self.tick * self.dt + system.part * self.dt  # where courses begin
            home = system.add_joint(name, edge, law, moving=self.dt)
            details: dict[str, Any] = {"between": [first, second], "class": class_name(type(joint))}
            self.breakage.watch(name, edge, home)
            measure_joint(system, name)
            if not home.again and max(map(abs, home.stack.rate[home.stack.row[name]].tolist())) > REST_SPEED:
                stop = stop_by_impulse if law == "momentum" else stop_by_shift
                details |= {"impact": stop(system, name), "law": law}
            act = Join(name, joint, first, second, at=at, law=law, breaks_at=breaks_at)
            self._after("join", name, home.owners, act, **details)
        except Exception:  # it did not fit, or a law had no answer: then nothing has happened
            self.assembly.cut(name)
            self.breakage.leave(name)
            if name in system.joint_home:
                system.remove_joint(name, edge)
            if go_back is not None:
                go_back()
            raise

    @one_at_a_time
    def cut(self, name: str, kind: str = "cut", **details: float) -> None:
        """Cut a joint; `kind` and `details` go into the log of events."""
        self._about_to_change()
        edge = self.assembly.joint_edges.get(name)
        self.assembly.cut(name)
        assert edge is not None
        system = self.system
        home = system.joint_home[name]
        owners, self.past.forms[name] = home.owners, system.facts_of(name)
        self.breakage.leave(name)
        released = system.remove_joint(name, edge)
        self._after(kind, name, owners, Cut(name), released=released, **details)

    @one_at_a_time
    def apply(self, name: str, force: Force, *ports: str, at: Sequence[float] | None = None) -> None:
        """Let a force act on one or two ports; `at` places the end of a spring on the ground [m]."""
        self._about_to_change()
        self.assembly.apply(name, force, *ports, at=at)
        edge, go_back = self.assembly.force_edges[name], way_back(self)
        try:
            self.system.add_force(name, edge)
            if go_back is None and fallible(self.system):  # the first law: once more, with a way back
                self.system.take_back_force(name)
                go_back = way_back(self, always=True)
                self.system.add_force(name, edge)
            aimed = isinstance(self.system.force_home[name].stack, TakesAim)  # where to, no event says
            act = None if aimed else Apply(name, force, ports, at=at)
            self._after("apply", name, self.system.force_home[name].owners, act, on=list(ports))
        except Exception:
            self.assembly.remove(name)
            if name in self.system.force_home:
                self.system.take_back_force(name)
            if go_back is not None:
                go_back()
            raise

    @one_at_a_time
    def aim(self, name: str, target: Sequence[float]) -> None:
        """Move the target of a force that draws to one, such as a hand [m]; it may be moved at every tick."""
        self._about_to_change()
        aim(self, name, target, by_hand=not self._alone)

    @one_at_a_time
    def merge(self, *bodies: str, why: str = "") -> None:
        """Let neighbours be one component, solved inside: joints between them have no play, its outer ports stay as they are.

        "ground" may be one of them. A body that is merged already brings its component along.
        """
        self._about_to_change()
        merged = merge(self, bodies)
        self._after("merge", " + ".join(bodies), merged, Merge(bodies), **({"why": why} if why else {}))

    @one_at_a_time
    def unmerge(self, *bodies: str) -> None:
        """Let the components fall apart to which bodies belong."""
        self._about_to_change()
        self._after("unmerge", " + ".join(bodies), unmerge(self, bodies), Unmerge(bodies))

    @one_at_a_time
    def limit(self, name: str, breaks_at: Limit | None) -> None:
        """Say anew what a joint can take before it breaks; None: everything."""
        self._about_to_change()
        self.assembly.known(name, self.assembly.joint_edges, "joint")
        if breaks_at is not None and not isinstance(breaks_at, Limit):
            raise ModelError(
                f"joint '{name}': breaks_at = {breaks_at!r}; give a Limit, such as Limit(force=500.0), or None."
            )
        edge = self.assembly.joint_edges[name]._replace(breaks_at=breaks_at)
        self.breakage.check(name, edge)
        self.system.limit(name, edge)
        self.assembly.joint_edges[name] = edge
        self.breakage.leave(name)
        self.breakage.forget(name)
        self.breakage.watch(name, edge, self.system.joint_home[name])
        self._after("limit", name, [], breaks_at=breaks_at)

    def settle_anew(self, kind: str, name: str) -> None:
        """Everybody finds accelerations anew: this simulation goes on where another has stood (continuation/reconfigure.py)."""
        self._after("went on", f"{kind} {name}", list(self.assembly.bodies))

    # --- looking -----------------------------------------------------------------------------------------------------

    @property
    @one_at_a_time
    def recorded(self) -> Run:
        """Everything recorded so far."""
        return self.past.run(self)

    @property
    def events(self) -> list[dict[str, Any]]:
        """Everything that changed the model, or happened to it, so far."""
        return self.past.events

    @property
    def workers(self) -> list[WorkerInfo]:
        """Who moves which bodies, in which process, and how they did; nobody where all is moved here in one piece."""
        return [] if self.distributed_run is None else self.distributed_run.worker_info()

    @property
    def is_distributed(self) -> bool:
        """Whether workers have the mechanism now."""
        return self.distributed_run is not None and self.distributed_run.is_distributed

    def check_divisible(self) -> None:
        """Refuse what workers, if there are any, could not move."""
        if self.distributed_run is not None:
            check_divisible(self)

    @property
    def last_messages(self) -> list[str]:
        """What workers and coordinator said to each other last, but for what neighbours say at every tick."""
        return [] if self.distributed_run is None else list(self.distributed_run.pool.message_log)

    @property
    def margins(self) -> dict[str, float]:
        """Stability margin of every joint and spring at the present topology, under the loads of now.

        A load on a body of little inertia counts at the joint that brings most of it; `loads` tells of which margins that is so.
        """
        own = self.stiffness_margins
        return dict(carrying.tell(own, carrying.now(self, own))[0])

    @property
    def loads(self) -> dict[str, str]:
        """Of joints whose margin is what a load leaves: the body that passes it on."""
        own = self.stiffness_margins
        return {joint: load["body"] for joint, load in carrying.tell(own, carrying.now(self, own))[1].items()}

    @property
    def stiffness_margins(self) -> dict[str, float]:
        """What their stiffness alone leaves to joints and springs."""
        latest = self.past.latest_margins()
        glued = {name for name, (way, _) in self.ways.items() if way == "glued"}
        return {
            name: latest[name]
            for name in (*self.system.joint_home, *self.system.force_home)
            if name in latest and name not in glued
        }

    @property
    def ways(self) -> dict[str, tuple[str, str]]:
        """How every joint is treated now, "glued" or "penalty", and why, where the coupling does not treat all alike."""
        return dict(self.coupling.ways(self.system))

    @property
    def tightest(self) -> tuple[str, float] | None:
        """The joint nearest to the stability limit, with its margin."""
        return tightest(self.margins)

    def body(self, name: str) -> Bodies:
        """A body as a view of its row: the same arrays, the same code."""
        self.assembly.known(name, self.assembly.bodies, "body")
        return self.system.body_home[name].one(name)

    def has_port(self, port: str) -> bool:
        """Whether the body of a port is there now."""
        return PortName.parse(port, "port").body in self.assembly.bodies

    def has_joint(self, joint: str) -> bool:
        """Whether a joint holds now."""
        return joint in self.assembly.joint_edges

    def port_motion(self, port: str) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of a port now."""
        name = self.assembly.port(port, "port_motion")
        if name.body == GROUND:
            raise ModelError("port_motion: the ground does not move; give 'body.port'.")
        side = self.system.body_home[name.body].side(name.body, name)
        return side.position, side.velocity, side.acceleration

    def __repr__(self) -> str:
        tight = self.tightest
        load = f" (load on {self.loads[tight[0]]})" if tight and tight[0] in self.loads else ""
        margin = f"stability margin {tight[1]:.3g}; tightest joint: {tight[0]}{load}" if tight else "no joints"
        return f"<Simulation of {self.assembly!r} at tick {self.tick} ({self.time:g} s), dt = {self.dt:g} s; {margin}>"

    def ledger(self, name: str) -> dict[str, float]:
        """Energy book of a joint or force now [J]."""
        if name in self.system.closed:
            return ledger_columns(self.system.closed[name], self.recorded.led_sides(name))
        if name in self.system.force_home:
            forces = self.system.force_home[name]
            return ledger_columns(forces.stack.ledger[forces.stack.row[name]], self._led(forces.owners))
        self.assembly.known(name, self.assembly.joints, "joint")
        home = self.system.joint_home[name]
        return ledger_columns(home.stack.ledger[home.stack.row[name]], self._led(home.owners))

    def _led(self, owners: Sequence[str]) -> list[bool]:
        """Which sides are on bodies that are led."""
        return [owner != GROUND and self.system.described[owner].led for owner in owners]

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
        problems: list[str] = []
        add_bodies(self.system, self.assembly.bodies)

        def make(name: str, joint: JointEdge) -> None:
            try:
                self.breakage.check(name, joint)
                self.system.add_joint(name, joint)
            except ModelError as error:
                problems.append(str(error))

        add_joints(self.system, self.assembly.joint_edges, make)
        if problems:
            raise ModelError("\n".join(problems))
        for name, joint in self.assembly.joint_edges.items():
            if joint.breaks_at is not None:
                self.breakage.check(name, joint)
                self.breakage.watch(name, joint, self.system.joint_home[name])
        for name, force in self.assembly.force_edges.items():
            self.system.add_force(name, force)
        check_schedule(self.assembly)
        self.coupling.configure(self.system, self.dt)
        self.system.elements.clock[:] = self.dt, 0.0, self.dt
        expect_loops(self.system, self.coupling)
        self.system.show()
        lost = agree_velocities(self.system, project=project)
        if lost:
            self.events.append({"tick": 0, "time": 0.0, "kind": "projection", "name": "velocities", "energy": lost})
        self.coupling.settle(self.system, self.dt, self.assembly.bodies)
        begin_at_rest(self.system, self.coupling, self.dt, everything=True)
        self._log_margins()
        self.record()

    def _after(self, kind: str, name: str, touched: Sequence[str], act: Event | None = None, **details: Any) -> None:
        """Every change ends here: settings, accelerations of the touched bodies, margins, log, record.

        `act`: the event that makes the same change, where there is one.

        An event between two ticks is booked with its own time and with the tick that it leads to.
        """
        system, coupling, dt = self.system, self.coupling, self.dt
        between = system.part > 0.0
        coupling.configure(system, dt)
        coupling.settle(system, dt, touched)
        begin_at_rest(system, coupling, dt)
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
        entry = self.foreteller.entry(self, self.coupling.margins(system, self.dt, bodies), bodies)
        if touched is None and not system.turns:
            system.forget_answers()  # a later event unfolds them for good, and writes to a few rows of them
        self.past.margins.append(entry)
