"""Cost of a step by joint type: 100 full bodies in a row, in the plane and in space."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scenarios.bench.figures import Figure
from scenarios.bench.harness import ratio, spread
from scenarios.bench.models import joint_chain, joint_types
from scenarios.bench.stepping import Stepper, step_together
from scenarios.bench.suite import Case, MeasuringEffort

NAME = "joints"
BODIES = 100


def cases(effort: MeasuringEffort) -> list[Case]:
    """One for the plane, one for space; all types of a dimension take turns."""
    return [Case(word, measure(dimension, word), effort.choose(6, 30)) for dimension, word in WORDS.items()]


WORDS = {2: "planar", 3: "spatial"}
YARDS = {2: "Revolute", 3: "Spherical"}  # what the others are held against


def measure(dimension: int, word: str) -> Callable[[MeasuringEffort], Iterator[Figure]]:
    """Cost with each type of joint, and its ratio to the most common one."""

    def figures(effort: MeasuringEffort) -> Iterator[Figure]:
        kinds = [kind for kind, where in joint_types() if where == dimension]
        steppers = {kind.__name__: Stepper.of(joint_chain(kind, dimension, BODIES)) for kind in kinds}
        seconds = step_together(steppers, effort)
        costs = {name: steppers[name].per_body(values) for name, values in seconds.items()}
        yard = YARDS[dimension]
        for name, values in costs.items():
            beside = ratio(values, costs[yard])
            note = f"{beside.median:.2f} × {yard} ({beside.low:.2f} … {beside.high:.2f})"
            yield Figure.of(NAME, f"{word}: {name}", "µs per body and step", spread(values), note=note)

    return figures
