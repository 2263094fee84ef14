"""Workers: their exchange against plain pyzmq with the same bytes, two processes against one, and what passes between them.

Distributing the mechanism and collecting it, once per run, is not in these times.
"""

from __future__ import annotations

from collections.abc import Iterator

from coordinator import LaunchConfig, Simulation
from coordinator.distributed.transports.raw_exchange import RawExchange
from coordinator.distributed.transports.zeromq import fresh_keys
from scenarios.bench.figures import Figure, Target
from scenarios.bench.harness import Subject, ratio, spread, take_turns
from scenarios.bench.machine import machine
from scenarios.bench.models import chain
from scenarios.bench.stepping import DT, RECORD_EVERY
from scenarios.bench.suite import Case, MeasuringEffort, Skip

NAME = "workers"
RATE, GUARDED, GAIN = (Target(limit, at_least=True) for limit in (0.8, 0.75, 1.7))
HERE, MESSAGE = Target(1.03), Target(88.0)  # a header of 40 bytes, and 48 for the one element of a ball joint
RODS = 20_000
NEVER_RECORD = 10**9  # ticks between samples


def cases(effort: MeasuringEffort) -> list[Case]:
    """Exchanges of next to nothing else, a long chain, and one message."""
    return [
        Case("exchange", exchange, effort.choose(6, 40), RATE),
        Case("two processes", two_processes, effort.choose(15, 90), GAIN),
        Case("in one process", in_one_process, effort.choose(15, 60), HERE),
        Case("message", message, 3, MESSAGE),
    ]


class Moved:
    """A simulation that goes on without anybody looking at it, so that workers keep what was distributed to them."""

    def __init__(self, simulation: Simulation, ticks: int) -> None:
        self.simulation, self.ticks = simulation, ticks
        for _ in range(2):  # compiled, distributed, and slices as long as they get
            self()

    def __call__(self) -> None:
        """Go on."""
        last = self.simulation.tick + self.ticks
        while self.simulation.tick < last:
            self.simulation.stride(last)

    @property
    def subject(self) -> Subject:
        """For the harness."""
        return Subject(lambda made: self())


def two_cores() -> None:
    """Skip where there is one."""
    if machine()["cores"] < 2:
        raise Skip("this machine has one core.")


def exchange(effort: MeasuringEffort) -> Iterator[Figure]:
    """Two rods with two workers: a microsecond of mechanics per tick, so nearly all of it is exchange."""
    two_cores()
    ticks = effort.choose(2000, 10_000)

    def pair(launch_config: str | LaunchConfig) -> Simulation:
        return Simulation(chain(2), DT, record_every=NEVER_RECORD, workers=2, launcher=launch_config)

    with (
        RawExchange(int(MESSAGE.limit)) as raw,
        pair("processes") as plain,
        pair(LaunchConfig(keys=fresh_keys())) as guarded,
    ):
        subjects = {
            "raw": Subject(lambda made: raw.swap(ticks)),
            "ours": Moved(plain, ticks).subject,
            "guarded": Moved(guarded, ticks).subject,
        }
        seconds = take_turns(subjects, effort.rounds)
    cost = {name: 1e6 * spread(values).median / ticks for name, values in seconds.items()}
    found = ratio(seconds["raw"], seconds["ours"])
    note = f"{cost['ours']:.0f} against {cost['raw']:.0f} µs per exchange of {MESSAGE.limit:.0f} bytes over {raw.where[0][:3]}"
    yield Figure.of(NAME, "exchange of two workers", "× the rate of plain pyzmq", found, RATE, note)
    found = ratio(seconds["ours"], seconds["guarded"])
    note = f"{cost['guarded']:.0f} µs per exchange"
    yield Figure.of(NAME, "the same with keys (CurveZMQ)", "× the rate without", found, GUARDED, note)


def two_processes(effort: MeasuringEffort) -> Iterator[Figure]:
    """A long chain cut in the middle, against one process with one thread."""
    two_cores()
    ticks = effort.choose(200, 1000)
    with (
        Simulation(chain(RODS), DT, record_every=RECORD_EVERY, threads=1) as one,
        Simulation(chain(RODS), DT, record_every=RECORD_EVERY, workers=2) as two,
    ):
        subjects = {"one": Moved(one, ticks).subject, "two": Moved(two, ticks).subject}
        seconds = take_turns(subjects, effort.rounds)
    each = {name: 1e6 * spread(values).median / ticks for name, values in seconds.items()}
    note = f"{each['two']:.0f} against {each['one']:.0f} µs per tick"
    name = f"chain of {RODS:,}: two processes against one"
    yield Figure.of(NAME, name, "× the speed of one", ratio(seconds["one"], seconds["two"]), GAIN, note)


def in_one_process(effort: MeasuringEffort) -> Iterator[Figure]:
    """The same chain with two workers in one process, one after the other, against no workers."""
    ticks = effort.choose(100, 300)
    with (
        Simulation(chain(RODS), DT, record_every=RECORD_EVERY, threads=1) as plain,
        Simulation(chain(RODS), DT, record_every=RECORD_EVERY, workers=2, launcher="here") as here,
    ):
        subjects = {"plain": Moved(plain, ticks).subject, "here": Moved(here, ticks).subject}
        seconds = take_turns(subjects, effort.rounds)
    name = f"chain of {RODS:,}: two workers in one process"
    yield Figure.of(NAME, name, "× the time without workers", ratio(seconds["here"], seconds["plain"]), HERE)


def message(effort: MeasuringEffort) -> Iterator[Figure]:
    """What a worker says to a neighbour per tick, where one ball joint goes across."""
    with Simulation(chain(2), DT, record_every=NEVER_RECORD, workers=2) as simulation:
        simulation.run(1000 * DT)
        found = [worker.bytes_per_tick for worker in simulation.workers]
    whole = [round(value * 1000 / 1001) for value in found]  # one more, where bodies predict for the first tick
    yield Figure.of(
        NAME, "one ball joint across", "bytes per message", spread([float(value) for value in whole]), MESSAGE
    )
