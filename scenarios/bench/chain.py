"""Cost of a step per body, by number of bodies: rods on ball joints in space, and on hinges in the plane, hardly recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from modular.assembly import Assembly
from scenarios.bench.figures import Figure, Target
from scenarios.bench.harness import spread
from scenarios.bench.models import chain, planar_chain
from scenarios.bench.stepping import Stepper, step_together
from scenarios.bench.suite import Case, MeasuringEffort

NAME = "chain"
COST = Target(0.20)  # [us]
FLAT = Target(1.5)
TARGETED = range(10, 100_001)  # bodies
KINDS: dict[str, Callable[[int], Assembly]] = {
    "spatial, 12 coordinates": chain,
    "spatial, 6 coordinates": lambda bodies: chain(bodies, radius=0.0),
    "planar, 4 coordinates": planar_chain,
}


def cases(effort: MeasuringEffort) -> list[Case]:
    """One for each kind of chain; all lengths of a kind take turns."""
    return [Case(kind, measure(kind, model), effort.choose(10, 90)) for kind, model in KINDS.items()]


def measure(kind: str, model: Callable[[int], Assembly]) -> Callable[[MeasuringEffort], Iterator[Figure]]:
    """Cost at each length, and how flat it is."""

    def figures(effort: MeasuringEffort) -> Iterator[Figure]:
        sizes = effort.choose((2, 10, 100, 1000), (2, 10, 100, 1000, 10_000, 100_000))
        steppers = {str(bodies): Stepper.of(model(bodies)) for bodies in sizes}
        seconds = step_together(steppers, effort)
        costs = {name: steppers[name].per_body(values) for name, values in seconds.items()}
        for name, values in costs.items():
            target = COST if int(name) in TARGETED else None
            yield Figure.of(NAME, f"{kind}: {int(name):,} bodies", "µs per body and step", spread(values), target)
        asked = [values for name, values in costs.items() if int(name) in TARGETED]
        flat = [max(values) / min(values) for values in zip(*asked, strict=True)]
        least, most = min(size for size in sizes if size in TARGETED), max(sizes)
        yield Figure.of(NAME, f"{kind}: dearest over cheapest, {least:,} … {most:,} bodies", "×", spread(flat), FLAT)

    return figures
