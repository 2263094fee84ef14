"""A seeded world of real protocol cores: a virtual network, disks, launcher and clock that do their worst.

`World(Day.drawn(seed)).run()` plays one day and returns None, or what was bad about it. Everything follows from the
seed. To look at one day alone:

    python tests/coordinator/protocol/bad_days.py 1234
"""

import heapq
import random
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from springs import Body, Model, Split, single, total

from coordinator.distributed.protocol import (
    CheckpointRef,
    Coordinator,
    Deadlines,
    Plan,
    RunFailed,
    State,
    Worker,
    effects,
)

DEADLINES = Deadlines(patience=0.02, patience_most=0.2, report=0.2, silence=1.5, start=2.0, stuck=10.0, orphan=20.0)
LATEST = 300.0  # [s] of the world's clock
RUN = 0x5EED


@dataclass(frozen=True)
class Day:
    """What happens on one day. Chances are per message; times in seconds of the world's clock."""

    seed: int
    workers: int = 4
    steps: int = 30
    every: int = 5
    slice: int = 6  # steps that the owner asks for at once
    loss: float = 0.0
    twice: float = 0.0
    flips: float = 0.0
    slow: float = 0.0  # chance of a delay up to 100 times the usual
    clogs: int = 0
    pauses: int = 0  # shorter than the deadline
    zombies: int = 0  # longer than the deadline
    kills: int = 0
    pairs: int = 0  # two at once
    dies_at_event: int = -1  # a worker, after so many events of the world
    rot: float = 0.0  # chance that the newest checkpoint cannot be read
    deaths: int = 5  # until the run is given up
    die_at: str = ""  # effect ("Store") or message ("commit") of a worker at which processes die
    dying: int = 3  # how many
    dying_chance: float = 0.3
    jitter: float = 0.5  # of the usual delay; with any, messages overtake each other
    false_starts: float = 0.0  # chance that a start fails, or that a process is started twice
    afar: bool = False  # checkpoints are kept on another machine, and what is said of them goes over the network too

    @classmethod
    def drawn(cls, seed: int) -> "Day":
        rng = random.Random(f"day {seed}")
        workers = rng.choice([2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 8, 12])
        workers = rng.randint(13, 64) if rng.random() < 0.06 else workers
        steps = max(8, min(40, 200 // workers))
        harsh = rng.random() < 0.8

        def some(*values: float) -> float:
            return rng.choice(values) if harsh else 0

        return cls(
            seed=seed,
            workers=workers,
            steps=rng.randint(steps // 2, steps),
            every=rng.choice([1, 2, 3, 5]),
            slice=rng.choice([3, 6, 10, 48]),
            loss=some(0, 0.02, 0.1, 0.2),
            twice=some(0, 0.02, 0.1, 0.2),
            flips=some(0, 0.01, 0.05),
            slow=some(0, 0.01, 0.05),
            clogs=int(some(0, 0, 2, 6)),
            pauses=int(some(0, 0, 2)),
            zombies=int(some(0, 0, 1, 2)),
            kills=int(some(0, 1, 2, 4)),
            pairs=int(some(0, 0, 1)),
            rot=some(0, 0, 0.3),
            false_starts=some(0, 0, 0.2),
            afar=rng.random() < 0.5,
        )

    @classmethod
    def violent(cls, seed: int) -> "Day":
        """Far worse than anything that is promised: it takes long, and still comes to the right bits."""
        rng = random.Random(f"violent {seed}")
        return cls(
            seed=seed,
            workers=rng.choice([2, 3, 4, 6, 9]),
            steps=rng.randint(8, 40),
            every=rng.choice([1, 2, 3, 5, 8]),
            slice=rng.choice([1, 2, 3, 7, 50]),
            loss=rng.choice([0, 0.2, 0.4]),
            twice=rng.choice([0, 0.3]),
            flips=rng.choice([0, 0.1]),
            slow=rng.choice([0, 0.1]),
            clogs=rng.randint(0, 10),
            pauses=rng.randint(0, 6),
            zombies=rng.randint(0, 4),
            kills=rng.randint(0, 12),
            pairs=rng.randint(0, 3),
            rot=rng.choice([0, 0.5]),
            deaths=50,
            die_at=rng.choice(["", "Store", "Load", "Resume", "welcome", "grant"]),
            dying=rng.randint(0, 6),
            false_starts=rng.choice([0, 0.3]),
            afar=rng.random() < 0.5,
        )


class Process:
    """A worker process: a core, its share of the physics, and an owner that does what the core asks."""

    def __init__(self, world: "World", name: str, incarnation: int) -> None:
        self.world, self.name, self.incarnation = world, name, incarnation
        self.number, self.address = world.names.index(name), f"{name}/{incarnation}"
        self.core = world.make_worker(RUN, name, incarnation, self.address, DEADLINES, world.now)
        self.routes: dict[str, str] = {}
        self.alive, self.paused, self.spoilt = True, False, False
        self.held: list[tuple[Callable, tuple]] = []  # what came while it was paused
        self.task: Iterator[None] | None = None
        self.due: float | None = None
        self.body: Body | None = None
        split = Split(world.model, self.number)
        self.others = sorted({a + b - self.number for a, b in split.joints if self.number in (a, b)})
        near = [w for w in self.others if split.joints[min(w, self.number), max(w, self.number)]]
        self.tells = {w: split.sends(self.number, w) for w in near}  # masses
        self.hears = {w: split.sends(w, self.number) for w in near}

    # --- physics ------------------------------------------------------------------------------------------------------

    def step(self) -> Iterator[None]:
        core, body, model = self.core, self.body, self.world.model
        step = core.step
        body.begin()
        stages = model.stages(step)
        for stage in range(stages):
            for other, masses in self.tells.items():
                self.post(other, step, stage, [value for m in masses for value in (body.x[m], body.v[m])])
            yield from self.take_states(step, stage)
            body.stage(stage, stages)
        if model.gathers_at(step):
            yield from self.gather(step, stages)
        if core.finish(self.world.now):
            core.checkpoint(body.state(body.own))
            self.world.checkpointed(self, body.state(body.own))
        self.world.stepped(self)

    def take_states(self, step: int, stage: int) -> Iterator[None]:
        body = self.body
        for other, masses in self.hears.items():
            numbers: list[float] = []
            yield from self.take(other, step, stage, 2 * len(masses), numbers)
            for k, m in enumerate(masses):
                body.x[m], body.v[m] = numbers[2 * k], numbers[2 * k + 1]

    def gather(self, step: int, stage: int) -> Iterator[None]:
        body, model = self.body, self.world.model
        energies = body.energies(body.own)
        if self.number:
            self.post(0, step, stage, energies)
            answer: list[float] = []
            yield from self.take(0, step, stage, 1, answer)
            body.damp(answer[0])
            return
        for other in self.others:
            yield from self.take(other, step, stage, model.owner.count(other), energies)
        amount = total(energies)  # own masses come first and owners are in order: the order of masses
        for other in self.others:
            self.post(other, step, stage, [amount])
        body.damp(amount)

    def post(self, other: int, step: int, stage: int, numbers: list[float]) -> None:
        name = self.world.names[other]
        frame = self.core.links[name].post(step, stage, struct.pack(f"<{len(numbers)}d", *numbers))
        self.send(name, frame)

    def take(self, other: int, step: int, stage: int, count: int, into: list[float]) -> Iterator[None]:
        link = self.core.links[self.world.names[other]]
        while (payload := link.take(step, stage, 8 * count, self.world.now)) is None:
            yield
        into.extend(struct.unpack(f"<{count}d", payload))

    # --- the owner ----------------------------------------------------------------------------------------------------

    def send(self, name: str, frame: bytes) -> None:
        target = self.routes.get(name)
        if target is not None:
            self.world.post(self.name, frame, self.world.deliver, target)

    def pump(self) -> None:
        """Do what can be done now."""
        core = self.core
        while self.alive and not self.paused:
            for effect in core.effects():
                self.perform(effect)
            if core.state is State.ENDED:
                self.die("ended")
            elif not self.move():
                wake = core.next_wake()
                if self.due is None or wake < self.due:
                    self.due = wake
                    self.world.at(max(wake, self.world.now), self.woken, wake)
                return

    def move(self) -> bool:
        """Go on with the step; False where that is not possible now."""
        core = self.core
        if not core.may_step or self.body is None or not self.alive:
            self.task = None  # nothing to do, or the core has failed
            return False
        if self.task is None:
            self.task = self.step()
        try:
            next(self.task)
            return False
        except StopIteration:
            self.task = None
        except RunFailed as error:
            self.task = None
            core.fail(str(error), self.world.now)
        return True

    def woken(self, wake: float) -> None:
        if self.due == wake:
            self.due = None
            self.hand(self.wake)

    def wake(self) -> None:
        self.core.wake(self.world.now)

    def receive(self, raw: bytes) -> None:
        self.core.receive(raw, self.world.now)

    def hear(self, raw: bytes) -> None:
        day = self.world.day
        self.core.hear(raw, self.world.now)
        if day.die_at.islower() and raw.startswith(b'{"message":"%s"' % day.die_at.encode()):
            self.maybe_die(day.die_at)

    def hand(self, deed: Callable, *arguments) -> None:
        """Let the core do something, now or when the process goes on."""
        if self.paused:
            self.held.append((deed, arguments))
        elif self.alive:
            deed(*arguments)
            self.pump()

    def perform(self, effect: effects.ForWorker) -> None:
        world, now, rng = self.world, self.world.now, self.world.rng
        if world.day.die_at:
            self.maybe_die(type(effect).__name__)
        if not self.alive:
            return
        match effect:
            case effects.Send(name, frame):
                self.send(name, frame)
            case effects.Report(message):
                world.post(self.name, message, world.tell_coordinator, self)
            case effects.Connect(name, address):
                self.routes[name] = address
            case effects.Load(ref):
                if world.day.afar:
                    world.post(self.name, b"load", lambda *_: self.read(ref))
                else:
                    self.read(ref)
            case effects.Resume(state):
                self.body = Body(world.model, [m for m, w in enumerate(world.model.owner) if w == self.number])
                if state:
                    self.body.restore(state)
                if self.core.step == world.day.steps:
                    world.stepped(self)
            case effects.Store(step, incarnation, blob):
                key = (self.name, step, incarnation)
                if world.day.afar:
                    world.post(self.name, b"store", lambda *_: self.write(key, blob))
                else:
                    world.at(now + rng.uniform(0, 0.01), self.write, key, blob)
            case effects.Ended(reason):
                world.endings.append((self.name, self.incarnation, reason))

    def maybe_die(self, moment: str) -> None:
        world = self.world
        if world.day.die_at == moment and world.deaths_left and world.rng.random() < world.day.dying_chance:
            world.deaths_left -= 1
            world.counts["died at the moment"] += 1
            world.faults[self.name] += 1
            self.die("killed")

    # --- the disk, which may be on the machine of the coordinator ---------------------------------------------------------

    def read(self, ref: CheckpointRef) -> None:
        world = self.world
        world.counts["loads"] += 1
        blob = world.load(self.name, ref)

        def answer() -> None:
            self.core.loaded(ref, blob, world.now)

        if world.day.afar:
            world.post("coordinator", b"loaded", lambda *_: self.hand(answer))
        else:
            world.at(world.now + world.rng.uniform(0, 0.01), self.hand, answer)

    def write(self, key: tuple[str, int, int], blob: bytes) -> None:
        """Temporary file, fsync, rename: a process that died before leaves nothing, unless all had been sent."""
        world = self.world
        if world.day.afar:
            world.store(key, blob)
            world.post("coordinator", b"stored", lambda *_: self.hand(self.core.stored, key[1]))
        elif self.alive:
            world.store(key, blob)
            self.hand(self.core.stored, key[1])

    def die(self, reason: str) -> None:
        if self.alive:
            self.alive = False
            self.count()
            del self.world.processes[self.address]
            self.world.exited(self, reason)

    def count(self) -> None:
        for link in self.core.links.values():
            self.world.counts.update(link.counts)

    def send_away(self) -> None:
        """It has been replaced, and is told so."""
        self.world.counts["sent away"] += 1
        self.die("sent away")

    def pause(self, seconds: float | None) -> None:
        """For a while; with None until it has been replaced."""
        if self.alive and not self.paused:
            self.paused = True
            if seconds is None:
                self.world.wake_zombie(self)
            else:
                self.world.at(self.world.now + seconds, self.go_on)

    def go_on(self) -> None:
        """Wake up. Whoever finds itself replaced everywhere may be in any state: what it says must not count."""
        self.paused = False
        if not self.alive:
            return
        if self.world.is_fenced(self) and self.body is not None:
            self.spoilt = True
            self.world.counts["spoilt"] += 1
            for m in self.body.own:
                self.body.x[m] += 1.0
        held, self.held = self.held, []
        for deed, arguments in held:
            if self.alive:
                deed(*arguments)
                self.pump()
        self.pump()


class World:
    """Everything there is on one day, and the clock."""

    make_worker = Worker
    make_process = Process
    coordinator_class = Coordinator

    def __init__(self, day: Day) -> None:
        self.day, self.rng = day, random.Random(day.seed)
        self.model = Model.drawn(self.rng, day.workers, day.steps)
        self.names = [f"w{k}" for k in range(day.workers)]
        self.now, self.order = 0.0, 0
        self.queue: list[tuple[float, int, Callable, tuple]] = []
        self.processes: dict[str, Process] = {}  # by address
        self.disk: dict[tuple[str, int, int], bytes] = {}
        plan = Plan(RUN, tuple(self.names), tuple(Split(self.model).edges()), day.every, day.deaths)
        self.coordinator = self.coordinator_class(plan, DEADLINES, 0.0)
        self.coordinator_due: float | None = None
        self.performed = 0  # effects of the coordinator
        self.started: set[tuple[str, int]] = set()
        self.clogged: dict[str, float] = {}
        self.counts: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()  # per worker: what may count as a death
        self.endings: list[tuple[str, int, str]] = []
        self.states: dict[tuple[int, int], set[bytes]] = {}
        self.finished = False
        self.latest = LATEST
        self.deaths_left = day.dying
        self.failure = ""

    # --- time -----------------------------------------------------------------------------------------------------------

    def at(self, time: float, deed: Callable, *args) -> None:
        self.order += 1
        heapq.heappush(self.queue, (time, self.order, deed, args))

    def run(self) -> str | None:
        """Play the day. None, or what was bad about it."""
        self.schedule_faults()
        self.coordinator.run_to(min(self.day.slice, self.day.steps), 0.0)
        self.pump_coordinator()
        events = 0
        while self.queue and not self.is_over():
            self.now, _, deed, args = heapq.heappop(self.queue)
            if self.now > self.latest:
                return self.told("hangs: " + "; ".join(self.standing()))
            if events == self.day.dies_at_event:
                self.kill(1)
            deed(*args)
            events += 1
        self.counts["events"] = events
        for process in self.processes.values():
            process.count()
        return self.verdict()

    def is_over(self) -> bool:
        """All is done; or it has failed, and every process that can has ended."""
        if self.finished or not self.failure:
            return self.finished
        self.latest = min(self.latest, self.now + 20.0)
        return not any(process.alive and not process.paused for process in self.processes.values())

    def standing(self) -> list[str]:
        return self.coordinator.status_lines(self.now)[:5] + [
            p.core.waiting(self.now) for p in list(self.processes.values())[:8]
        ]

    def told(self, what: str) -> str:
        return f"seed {self.day.seed}: {what}\n    {self.day}"

    def verdict(self) -> str | None:
        if self.failure:
            name = self.failure.partition("'")[2].partition("'")[0]
            if "without a new checkpoint" in self.failure and self.faults[name] >= 3:
                self.counts["gave up"] += 1
                return None
            return self.told(f"failed: {self.failure}")
        truth = single(self.model, self.day.steps, self.day.every)
        for worker in range(self.day.workers):
            if (worker, self.day.steps) not in self.states:
                return self.told(f"worker {worker} never finished")
        for key, seen in self.states.items():
            if seen != {truth[key]}:
                return self.told(f"other bits: worker {key[0]} at step {key[1]}")
        return None

    # --- faults ---------------------------------------------------------------------------------------------------------

    def schedule_faults(self) -> None:
        day, rng = self.day, self.rng
        span = 0.1 + 0.004 * day.steps * (1 + 8 * day.loss)
        for _ in range(day.kills):
            self.at(rng.uniform(0, 1.5 * span), self.kill, 1)
        for _ in range(day.pairs):
            self.at(rng.uniform(0, 1.5 * span), self.kill, 2)
        for _ in range(day.pauses):
            self.at(rng.uniform(0, span), self.pause, rng.uniform(0.01, 0.5))
        for _ in range(day.zombies):
            self.at(rng.uniform(0, span), self.pause, None)
        for _ in range(day.clogs):
            self.at(rng.uniform(0, span), self.clog)

    def victims(self, count: int) -> list[Process]:
        living = [p for p in self.processes.values() if p.alive]
        return self.rng.sample(living, min(count, len(living)))

    def kill(self, count: int) -> None:
        for process in self.victims(count):
            self.faults[process.name] += 1
            self.counts["kills"] += 1
            process.die("killed")

    def pause(self, seconds: float | None) -> None:
        for process in self.victims(1):
            self.faults[process.name] += 1
            process.pause(seconds)

    def wake_zombie(self, process: Process) -> None:
        """Just when its successor has begun, and its neighbours wait for frames."""
        if self.is_fenced(process):
            self.at(self.now + self.rng.uniform(0, 0.01), process.go_on)
        elif process.alive:
            self.at(self.now + 0.005, self.wake_zombie, process)

    def clog(self) -> None:
        """Some nodes hear nothing for a while; they come back one by one."""
        for name in self.rng.sample([*self.names, "coordinator"], self.rng.randint(1, 1 + self.day.workers // 2)):
            self.clogged[name] = self.now + self.rng.uniform(0.01, 0.4)
            self.faults[name] += 1

    def is_fenced(self, process: Process) -> bool:
        if self.coordinator.registry[process.name].incarnation <= process.incarnation:
            return False
        links = [p.core.links.get(process.name) for p in self.processes.values() if p is not process]
        return all(link is None or link.incarnation > process.incarnation for link in links)

    # --- network --------------------------------------------------------------------------------------------------------

    def post(self, source: str, raw: bytes, arrive: Callable, whom: object = None) -> None:
        """A message on its way: `arrive(whom, raw)`, once, twice or never."""
        day, random = self.day, self.rng.random
        copies = 1
        if day.loss and random() < day.loss:
            copies = 0
        elif day.twice and random() < day.twice:
            copies = 2
        for _ in range(copies):
            delay = 0.001 * (1.0 + day.jitter * (2.0 * random() - 1.0))
            if day.slow and random() < day.slow:
                delay *= 1 + 99 * random()
            sent = raw
            if day.flips and random() < day.flips:
                damaged = bytearray(raw)
                damaged[self.rng.randrange(len(raw))] ^= 1 << self.rng.randrange(8)
                sent = bytes(damaged)
            self.at(self.now + delay, self.arrive, source, arrive, whom, sent)

    def arrive(self, source: str, arrive: Callable, whom: object, raw: bytes) -> None:
        if self.clogged and (free := self.clogged.get(source, 0.0)) > self.now:
            self.at(free + 0.001 * self.rng.random(), self.arrive, source, arrive, whom, raw)
        else:
            arrive(whom, raw)

    def deliver(self, address: str, raw: bytes) -> None:
        process = self.processes.get(address)
        if process is not None:
            process.hand(process.receive, raw)

    # --- processes and disks ----------------------------------------------------------------------------------------------

    def launch(self, name: str, incarnation: int) -> None:
        if self.rng.random() < self.day.false_starts:
            if self.rng.random() < 0.5:
                self.faults[name] += 1
                self.at(self.now + 0.01, self.say_exited, name, incarnation, "could not be started")
                return
            self.at(self.now + self.rng.uniform(0, 0.1), self.spawn, name, incarnation)  # and once more
        self.at(self.now + self.rng.uniform(0, 0.02), self.spawn, name, incarnation)

    def spawn(self, name: str, incarnation: int) -> None:
        if (name, incarnation) in self.started:
            return  # its place is taken
        self.started.add((name, incarnation))
        process = self.make_process(self, name, incarnation)
        self.processes[process.address] = process
        process.pump()

    def exited(self, process: Process, reason: str) -> None:
        if self.rng.random() < 0.8:  # otherwise only silence tells
            self.at(self.now + self.rng.uniform(0, 0.02), self.say_exited, process.name, process.incarnation, reason)

    def say_exited(self, name: str, incarnation: int, reason: str) -> None:
        self.coordinator.exited(name, incarnation, reason, self.now)
        self.pump_coordinator()

    def store(self, key: tuple[str, int, int], blob: bytes) -> None:
        oldest = self.coordinator.registry[key[0]].checkpoints[-1].step
        for other in [other for other in self.disk if other[0] == key[0] and other[1] < oldest]:
            del self.disk[other]
        self.disk[key] = blob

    def load(self, name: str, ref) -> bytes | None:
        blob = self.disk.get((name, ref.step, ref.incarnation))
        newest = ref == self.coordinator.registry[name].checkpoints[0]
        if blob is not None and newest and self.rng.random() < self.day.rot:
            self.counts["rot"] += 1
            cut = self.rng.randrange(len(blob))
            blob = blob[:cut] if self.rng.random() < 0.5 else blob[:cut] + bytes([blob[cut] ^ 1]) + blob[cut + 1 :]
        return blob

    # --- what is seen -------------------------------------------------------------------------------------------------------

    def checkpointed(self, process: Process, state: bytes) -> None:
        self.note(process, state)

    def stepped(self, process: Process) -> None:
        self.counts["steps"] += 1
        if process.core.step == self.day.steps:
            self.note(process, process.body.state(process.body.own))

    def note(self, process: Process, state: bytes) -> None:
        if not process.spoilt:
            self.states.setdefault((process.number, process.core.step), set()).add(state)

    # --- the coordinator ----------------------------------------------------------------------------------------------------

    def tell_coordinator(self, process: Process, raw: bytes) -> None:
        core = self.coordinator
        if process.incarnation < core.registry[process.name].incarnation:
            self.post("coordinator", b"quit", lambda *_: process.hand(process.send_away))
        core.hear(raw, self.now, process.name)
        self.pump_coordinator()

    def pump_coordinator(self) -> None:
        core = self.coordinator
        while todo := core.effects():
            for effect in todo:
                self.performed += 1
                self.perform(effect)
        wake = core.next_wake()
        if self.coordinator_due is None or wake < self.coordinator_due:
            self.coordinator_due = wake
            self.at(max(wake, self.now), self.wake_coordinator, wake)

    def wake_coordinator(self, wake: float) -> None:
        if self.coordinator_due == wake:
            self.coordinator_due = None
            self.coordinator.wake(self.now)
            self.pump_coordinator()

    def perform(self, effect: effects.ForCoordinator) -> None:
        match effect:
            case effects.Start(name, incarnation):
                self.launch(name, incarnation)
            case effects.End(name, incarnation):
                self.started.add((name, incarnation))  # or it never will be
                process = self.processes.get(f"{name}/{incarnation}")
                if process is not None and not process.paused:
                    process.die("ended by the launcher")
            case effects.Tell(name, incarnation, message):
                process = self.processes.get(f"{name}/{incarnation}")
                if process is not None:
                    self.post("coordinator", message, self.tell_worker, process)
            case effects.Reached(step):
                self.finished = step == self.day.steps
                self.coordinator.run_to(min(step + self.day.slice, self.day.steps), self.now)
            case effects.Ended(reason):
                self.failure = reason

    def tell_worker(self, process: Process, raw: bytes) -> None:
        process.hand(process.hear, raw)


def play(seed: int, **fields) -> str | None:
    """One drawn day; fields of it may be given."""
    return World(replace(Day.drawn(seed), **fields)).run()


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        day = World(Day.drawn(int(argument)))
        print(day.run() or f"seed {argument}: well", dict(day.counts))
