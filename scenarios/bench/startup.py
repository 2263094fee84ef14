"""Building a long chain and its first step; and a process from nothing to its first step."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from coordinator import Simulation
from scenarios.bench.figures import Figure, Target
from scenarios.bench.harness import Subject, spread, take_turns
from scenarios.bench.models import chain
from scenarios.bench.stepping import DT
from scenarios.bench.suite import Case, MeasuringEffort, Skip

NAME = "startup"
COST = Target(20.0)  # [us]
FRESH = """
import scenarios
from coordinator import Simulation
with Simulation(scenarios.load("double-pendulum"), 1e-4) as simulation:
    simulation.step()
"""


def cases(effort: MeasuringEffort) -> list[Case]:
    """The chain, and the process."""
    return [
        Case("chain of 10,000", chain_of_many, effort.choose(20, 40)),
        Case("process", process, effort.choose(5, 15)),
    ]


def chain_of_many(effort: MeasuringEffort) -> Iterator[Figure]:
    """From the model to the first step, in a process that has done it before."""
    bodies = 10_000
    made: list[Any] = []

    def let_go(model: Any) -> None:
        made.pop().close()

    def start(model: Any) -> None:
        made.append(Simulation(model, DT, record_every=1000, threads=1))
        made[-1].step()

    subjects = {
        "model": Subject(lambda nothing: chain(bodies)),
        "start": Subject(start, prepare=lambda: chain(bodies), finish=let_go),
    }
    seconds = take_turns(subjects, max(3, effort.rounds // 2))
    each = {name: [1e6 * value / bodies for value in values] for name, values in seconds.items()}
    unit = "µs per body"
    yield Figure.of(NAME, "chain of 10,000: Simulation and its first step", unit, spread(each["start"]), COST)
    whole = [sum(parts) for parts in zip(each["model"], each["start"], strict=True)]
    yield Figure.of(
        NAME, "chain of 10,000: model, Simulation and its first step", unit, spread(whole), COST, "add, join, step"
    )


def process(effort: MeasuringEffort) -> Iterator[Figure]:
    """A Python of its own; the first one may have to compile and is not counted."""

    def act(nothing: Any) -> None:
        done = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Skip(f"a fresh process did not come to its first step: {done.stderr.strip().splitlines()[-1]}")

    seconds = take_turns({"process": Subject(act)}, max(3, effort.rounds // 2))["process"]
    yield Figure.of(
        NAME, "a process, from nothing to the first step", "s", spread(seconds), note="kernels compiled before"
    )
