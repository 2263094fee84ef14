"""Masses on springs: a physics small enough to run thousands of times, in one piece or split over workers.

One line per mass, so that both ways do the same arithmetic: forces are summed in the order of spring numbers, whoever
owns the other mass. A step has one to three stages (an event step has 12), every seventh step the energies of all masses
are summed by worker 0, in the order of masses, and come back to everybody.
"""

import random
import struct
import zlib
from dataclasses import dataclass

from coordinator.distributed.protocol import Edge

DT = 1e-3
STAGES_OF_EVENT = 12


@dataclass(frozen=True)
class Spring:
    first: int
    second: int
    stiffness: float
    length: float


@dataclass
class Model:
    """Masses, who owns them, and the springs at the start."""

    masses: list[float]
    owner: list[int]
    springs: dict[int, Spring]
    start: list[tuple[float, float]]
    gathers: bool
    event: int  # step with many stages

    @classmethod
    def drawn(cls, rng: random.Random, workers: int, steps: int) -> "Model":
        count = max(2, workers * rng.choice([1, 2, 2, 3]) if workers <= 64 else workers)
        owner = sorted([*range(workers), *(rng.randrange(workers) for _ in range(count - workers))])
        count = len(owner)
        pairs = [(k, k + 1) for k in range(count - 1)]
        pairs += [tuple(rng.sample(range(count), 2)) for _ in range(count if workers <= 64 else 0)]
        order = list(range(len(pairs)))
        rng.shuffle(order)
        springs = {n: cls.spring(rng, *pairs[k]) for n, k in enumerate(order)}
        return cls(
            [rng.uniform(0.5, 2.0) for _ in range(count)],
            owner,
            springs,
            [(k + rng.uniform(-0.4, 0.4), rng.uniform(-1, 1)) for k in range(count)],
            workers <= 16 and rng.random() < 0.5,
            rng.randrange(steps) if rng.random() < 0.3 else -1,
        )

    @staticmethod
    def spring(rng: random.Random, first: int, second: int) -> Spring:
        return Spring(first, second, rng.uniform(50.0, 500.0), rng.uniform(0.5, 1.5))

    def stages(self, step: int) -> int:
        return STAGES_OF_EVENT if step == self.event else 1 + (step * 5 + 1) % 3

    def gathers_at(self, step: int) -> bool:
        return self.gathers and step % 7 == 3


class Split:
    """Who sends which masses to whom."""

    def __init__(self, model: Model, me: int | None = None) -> None:
        owner = model.owner
        self.reads: dict[tuple[int, int], set[int]] = {}  # (from, to): masses
        self.joints: dict[tuple[int, int], int] = {}
        if model.gathers:
            for other in range(1, max(owner) + 1):
                self.joints[0, other] = 0
        for spring in model.springs.values():
            a, b = owner[spring.first], owner[spring.second]
            if a != b and (me is None or me in (a, b)):
                pair = (min(a, b), max(a, b))
                self.joints[pair] = self.joints.get(pair, 0) + 1
                self.reads.setdefault((a, b), set()).add(spring.first)
                self.reads.setdefault((b, a), set()).add(spring.second)

    def sends(self, here: int, there: int) -> list[int]:
        return sorted(self.reads.get((here, there), ()))

    def edges(self) -> list[Edge]:
        return [
            Edge(a, b, zlib.crc32(repr((self.sends(a, b), self.sends(b, a))).encode()), joints)
            for (a, b), joints in sorted(self.joints.items())
        ]


class Body:
    """Some masses of a model and what touches them: all of them in a single process, a share of them in a worker."""

    def __init__(self, model: Model, own: list[int]) -> None:
        self.model, self.own = model, own
        self.x = {m: model.start[m][0] for m in own}
        self.v = {m: model.start[m][1] for m in own}
        self.at: dict[int, list[Spring]] = {m: [] for m in own}
        for number in sorted(model.springs):
            spring = model.springs[number]
            for m in (spring.first, spring.second):
                if m in self.at:
                    self.at[m].append(spring)

    def begin(self) -> None:
        self.x0 = {m: self.x[m] for m in self.own}
        self.v0 = {m: self.v[m] for m in self.own}

    def force(self, m: int, springs: list[Spring]) -> float:
        x, v, total = self.x, self.v, 0.0
        for s in springs:
            stretch = x[s.second] - x[s.first] - s.length
            pull = s.stiffness * stretch / (1.0 + 0.1 * stretch * stretch) + 0.3 * (v[s.second] - v[s.first])
            total += pull if m == s.first else -pull
        return total

    def stage(self, stage: int, stages: int) -> None:
        h = DT / (stages - stage)
        masses = self.model.masses
        rates = [(m, self.v[m], self.force(m, self.at[m]) / masses[m]) for m in self.own]
        for m, v, a in rates:
            self.x[m] = self.x0[m] + h * v
            self.v[m] = self.v0[m] + h * a

    def energies(self, own: list[int]) -> list[float]:
        return [self.model.masses[m] * self.v[m] * self.v[m] for m in own]

    def damp(self, total: float) -> None:
        for m in self.own:
            self.v[m] = self.v[m] / (1.0 + 1e-4 * total)

    def state(self, own: list[int]) -> bytes:
        """The state of some masses."""
        values = [value for m in own for value in (self.x[m], self.v[m])]
        return struct.pack(f"<{len(values)}d", *values)

    def restore(self, state: bytes) -> None:
        values = struct.unpack(f"<{2 * len(self.own)}d", state)
        for k, m in enumerate(self.own):
            self.x[m], self.v[m] = values[2 * k], values[2 * k + 1]


def total(energies: list[float]) -> float:
    amount = 0.0
    for energy in energies:
        amount += energy
    return amount


def single(model: Model, steps: int, every: int) -> dict[tuple[int, int], bytes]:
    """The state of every worker's masses at every checkpoint and at the end, computed in one piece."""
    workers = max(model.owner) + 1
    own = [[m for m, w in enumerate(model.owner) if w == worker] for worker in range(workers)]
    body = Body(model, list(range(len(model.masses))))
    states = {}
    for step in range(steps + 1):
        if step == steps or step % every == 0:
            states.update({(worker, step): body.state(own[worker]) for worker in range(workers)})
        if step < steps:
            body.begin()
            stages = model.stages(step)
            for stage in range(stages):
                body.stage(stage, stages)
            if model.gathers_at(step):
                body.damp(total(body.energies(body.own)))
    return states
