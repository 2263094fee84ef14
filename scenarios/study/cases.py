"""One case of a study: a scenario, a coupling and a step, run alone; it comes back as plain numbers.

A case is known by a digest of everything that decides its numbers, so a case that is done is found again, and one whose
model or program has changed is not taken for it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from modular.errors import CouplingError, Diverged, ModelError
from scenarios import catalogue
from scenarios.report.said import said_already
from scenarios.settings import read_coupling
from scenarios.study.measures import errors, margin, quality

if TYPE_CHECKING:
    from coordinator.record.run import Run
    from coordinator.simulation import Progress

FORMAT = "modular-study-1"
Result = dict[str, Any]  # plain numbers and words, see run_case


@dataclass(frozen=True)
class Case:
    """What decides the numbers of a case."""

    scenario: str
    settings: dict[str, Any]
    coupling: str
    dt: float  # [s]
    every: int  # ticks from one sample to the next
    samples: int  # without the start
    model: str  # digest of the model and of the program
    against: str | None  # digest of the reference; None: this is one

    @property
    def ticks(self) -> int:
        """How many there are to step."""
        return self.every * self.samples

    @property
    def digest(self) -> str:
        """The name of this case."""
        text = json.dumps([FORMAT, asdict(self)], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()

    def to_text(self) -> str:
        """This case as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Case:
        """The case that `to_text` wrote."""
        return cls(**json.loads(text))


# --- files -----------------------------------------------------------------------------------------------------------


def result_file(case: Case, folder: Path) -> Path:
    """Where the result of a case lies."""
    return folder / "cases" / f"{case.digest}.json"


def reference_folder(digest: str, folder: Path) -> Path:
    """Where the reference lies, as a run folder: `modular show` draws it."""
    return folder / "reference" / digest


def found(case: Case, folder: Path) -> Result | None:
    """The result of a case that was done before; None where there is none, or none that can be read."""
    if case.against is None and not (reference_folder(case.digest, folder) / "run.json").is_file():
        return None
    try:
        data = json.loads(result_file(case, folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole = isinstance(data, dict) and data.get("format") == FORMAT and isinstance(data.get("result"), dict)
    return data["result"] if whole else None


def keep(case: Case, result: Mapping[str, Any], folder: Path) -> None:
    """Write the result of a case; it is there as a whole or not at all."""
    file = result_file(case, folder)
    data = {"format": FORMAT, "case": asdict(case), "result": dict(result)}
    beside = file.with_suffix(".part")
    beside.write_text(json.dumps(data, indent=1, allow_nan=False), encoding="utf-8")
    beside.replace(file)


# --- running ---------------------------------------------------------------------------------------------------------


def run_case(case: Case, folder: Path, progress: Progress | None = None) -> Result:
    """Run a case, hold it against its reference and keep the result.

    `outcome` is "done"; "diverged", then with `diverged_at` [s] and a `message`; or "refused", where the coupling cannot do
    this model. Then come `steps`, `evaluations`, `seconds`, the margin before and after events, and, of a case that is done,
    what `measures.py` takes. Anything else that goes wrong is an error of the program and is raised.
    """
    from coordinator import Simulation

    assembly = catalogue.build(case.scenario, case.settings)
    coupling = read_coupling(case.coupling, None)
    result: Result = {"outcome": "done", "message": "", "diverged_at": None}
    try:
        with suppress(ArithmeticError), Simulation(assembly, case.dt, coupling, record_every=case.every) as trial:
            trial.step()  # compiling is not the time of the case
        with Simulation(assembly, case.dt, coupling, record_every=case.every) as simulation:
            try:
                with said_already():
                    simulation.run(case.ticks * case.dt, progress=progress)
            finally:
                recorded, ticks = simulation.recorded, simulation.tick
                result |= {"steps": ticks, "evaluations": int(recorded.timings.get("evaluations", ticks))}
                result |= {"seconds": recorded.timings.get("seconds", 0.0)} | margin(recorded)
        result |= _judged(case, recorded, folder)
    except Diverged as error:
        result |= {"outcome": "diverged", "message": str(error), "diverged_at": error.tick * case.dt}
    except (ModelError, CouplingError) as error:
        result |= {"outcome": "refused", "message": str(error)}
    keep(case, result, folder)
    return result


def _judged(case: Case, run: Run, folder: Path) -> Result:
    """The measures of a run that came to its end; a reference is kept."""
    from coordinator import Run

    lost = np.flatnonzero(~np.isfinite(run.energy))
    if lost.size:
        at = float(run.time[lost[0]])
        return {"outcome": "diverged", "message": f"the energy is no longer finite at {at:g} s", "diverged_at": at}
    if case.against is None:
        run.save(reference_folder(case.digest, folder))
        return quality(run)
    return quality(run) | errors(run, Run.load(reference_folder(case.against, folder)))
