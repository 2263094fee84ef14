"""A study as data: which cases there are, what they are held against, and at which times."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coordinator.record.fingerprint import versions
from coordinator.record.obstacles import parts_of, sources_of
from modular.errors import ModelError
from scenarios.steps import DEFAULT_DURATION, WHOLE_RATIO_TOLERANCE, divides, read_steps
from scenarios.study.cases import Case
from scenarios.study.reference import ADAPTIVE, REFERENCE_REFINEMENT, Reference
from scenarios.study.variants import Sweep, Variant, canonical, variants

if TYPE_CHECKING:
    from modular.assembly import Assembly

COARSER_FACTORS = (4.0, 2.0, 1.0)  # of the suggested step, where no steps are given
MAX_REFERENCE_STEP, MIN_COMPARISONS = 0.02, 20  # step of an adaptive reference [s], and comparisons with it


@dataclass(frozen=True)
class Grid:
    """The cases of a study: every variant with every step."""

    scenario: str
    settings: dict[str, Any]
    steps: tuple[float, ...]  # [s], coarsest first
    samples: int  # multiples of the coarsest step until the end; cases are looked at there
    variants: tuple[Variant, ...]
    reference: Reference
    model: str  # digest of the model and of the program

    @property
    def interval(self) -> float:
        """From one look at a case to the next [s]."""
        return self.steps[0]

    @property
    def comparison(self) -> float:
        """From one comparison with the reference to the next [s]: a step of the reference, where that is the coarser one."""
        return max(self.interval, self.reference.dt)

    @property
    def until(self) -> float:
        """End of every case [s]."""
        return self.samples * self.interval

    def reference_case(self) -> Case:
        """The case that the others are held against."""
        dt = self.reference.dt
        every, samples = round(self.comparison / dt), round(self.until / self.comparison)
        return Case(self.scenario, self.settings, self.reference.coupling, dt, every, samples, self.model, None)

    def cases(self) -> list[tuple[Variant, Case]]:
        """All cases: the variants in order, each from the coarsest to the finest step."""
        against = self.reference_case().digest
        return [(v, self._case(canonical(v.coupling), dt, against)) for v in self.variants for dt in self.steps]

    def to_data(self) -> dict[str, Any]:
        """This grid as JSON-ready data."""
        data: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return data | {"until": self.until}

    def _case(self, coupling: str, dt: float, against: str | None) -> Case:
        every = round(self.interval / dt)
        return Case(self.scenario, self.settings, coupling, dt, every, self.samples, self.model, against)


def read_grid(
    assembly: Assembly,
    scenario: str,
    settings: Mapping[str, Any],
    *,
    steps: str | None = None,
    until: float | None = None,
    couplings: Sequence[str] = (),
    sweeps: Sequence[Sweep] = (),
    reference: str | None = None,
    reference_dt: float | None = None,
) -> Grid:
    """The grid that a command line describes, checked."""
    chosen = read_steps(assembly, steps, coarser=COARSER_FACTORS, example="4e-4,2e-4,1e-4", what="errors are taken")
    samples = _samples(assembly, chosen[0], until)
    held = _reference(assembly, chosen, samples, reference, reference_dt)
    return Grid(
        scenario, dict(settings), chosen, samples, variants(couplings or ["penalty"], sweeps), held,
        model_digest(assembly, scenario),
    )  # fmt: skip


def model_digest(assembly: Assembly, scenario: str) -> str:
    """Changes with the model, with a file that it comes from, with those that it names, and with the program that runs it."""
    digest = hashlib.blake2b(digest_size=12)
    digest.update(json.dumps(assembly.to_data(), sort_keys=True).encode())
    if Path(scenario).is_file():
        digest.update(Path(scenario).read_bytes())
    digest.update(json.dumps(versions(), sort_keys=True).encode())
    if named := sources_of(parts_of(assembly, None)):
        digest.update(json.dumps(named, sort_keys=True).encode())
    return digest.hexdigest()


def between_ticks(assembly: Assembly, steps: Sequence[float]) -> list[tuple[float, list[float]]]:
    """Times of scheduled events, with the steps that have no tick there: they move the event to the nearest."""
    found = []
    for time in dict.fromkeys(s.time for s in assembly.schedule if s.time is not None):
        off = [dt for dt in steps if abs(time / dt - round(time / dt)) > WHOLE_RATIO_TOLERANCE * max(1.0, time / dt)]
        if off:
            found.append((time, off))
    return found


# --- steps and times -------------------------------------------------------------------------------------------------


def _samples(assembly: Assembly, interval: float, until: float | None) -> int:
    end = assembly.suggested.get("until", DEFAULT_DURATION) if until is None else until
    if not (isfinite(end) and end > 0):
        raise ModelError(f"--until {end:g}: give a positive number of seconds, such as --until 0.5.")
    samples = int(end / interval * (1 + 1e-9))
    if samples < 1:
        raise ModelError(
            f"--until {end:g} s is less than the coarsest step of {interval:g} s; give a later time or finer steps."
        )
    return samples


# --- reference -------------------------------------------------------------------------------------------------------


def _reference(
    assembly: Assembly, steps: Sequence[float], samples: int, coupling: str | None, dt: float | None
) -> Reference:
    """As asked for, or the default."""
    text = coupling or ADAPTIVE
    if dt is None:
        adaptive = coupling is None and text == ADAPTIVE
        dt = _longest(assembly, steps, samples) if adaptive else steps[-1] / REFERENCE_REFINEMENT
    coarser = round(dt / steps[0]) if isfinite(dt) and dt > steps[0] else 0
    if not (isfinite(dt) and dt > 0 and (samples % coarser == 0 if coarser else True) and _fits(dt, steps[0])):
        raise ModelError(
            f"--reference-dt {dt:g}: the step of the reference must divide the coarsest step, {steps[0]:g} s, or be a multiple "
            f"of it that divides the whole time; take {steps[-1] / REFERENCE_REFINEMENT:g}."
        )
    try:
        return Reference(canonical(text), dt)
    except ModelError as error:
        raise ModelError(str(error).replace("--coupling", "--reference", 1)) from None


def _fits(dt: float, interval: float) -> bool:
    return divides(dt, interval) or divides(interval, dt)


def _longest(assembly: Assembly, steps: Sequence[float], samples: int) -> float:
    """The step of an adaptive reference, whose work grows with the number of ticks: long, but with some comparisons.

    Events happen at ticks and are looked for between two of them, and joints break by what a tick sees: then as in the cases.
    """
    if any(edge.breaks_at is not None for edge in assembly.joint_edges.values()):
        return steps[-1]
    if assembly.schedule:
        return steps[0] if not between_ticks(assembly, steps[:1]) else steps[-1]
    factors = [
        n for n in range(1, samples // MIN_COMPARISONS + 1) if samples % n == 0 and n * steps[0] <= MAX_REFERENCE_STEP
    ]
    return max(factors, default=1) * steps[0]
