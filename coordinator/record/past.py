"""What a simulation remembers beside its samples: what it was given, what happened to it, and who was there before.

What a simulation was given, as its runs must know it to be repeated: the model and the coupling, worked out when asked for.
"""

from __future__ import annotations

import functools
from collections import ChainMap
from collections.abc import Mapping, MutableMapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, cast

import numpy as np

from coordinator.couplings import Coupling
from coordinator.couplings.compositions import order_of
from coordinator.couplings.implicit import is_located
from coordinator.record.context import RecordContext
from coordinator.record.evidence import Evidence, Recorded
from coordinator.record.fingerprint import machine, versions
from coordinator.record.obstacles import exchanged, foreign_sources, homeless, lost_acts, parts_in, parts_of
from coordinator.record.recorder import Beginning
from coordinator.record.run import Run
from coordinator.record.verdict import Estimate
from modular.assembly import Assembly
from modular.body import Body
from modular.component import Component, plain
from modular.errors import ModelError
from modular.events import Event, Scheduled
from modular.tiles import kinds_of


class Given:
    """The model and the coupling as they were at the start.

    While nothing has changed the model is that of the simulation itself; who changes it says so before (`part`).
    """

    def __init__(self, assembly: Assembly, coupling: Coupling) -> None:
        self._assembly, self._coupling = assembly, coupling
        self._parted = self._from_elsewhere = False

    def part(self) -> None:
        """From here on the simulation goes ways of its own."""
        if not self._parted:
            self._assembly, self._parted = self._assembly.copy(), True

    def leave_untold(self) -> None:
        """Whoever reads the runs knows the model and its sources himself: nothing of them is worked out."""
        self.model, self._others = {}, ({}, [])

    def to_data(self) -> dict[str, Any]:
        """What a simulation that goes on elsewhere has to know of its beginning."""
        return {
            "model": self.model,
            "coupling": plain(self._coupling),
            "sources": self.sources,
            "homeless": self._others[1],
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any], assembly: Assembly, coupling: Coupling) -> Given:
        """The same; `coupling` is the present one."""
        first = coupling if plain(coupling) == data["coupling"] else Component.from_data(data["coupling"])
        given = cls(assembly, first)
        given._parted = given._from_elsewhere = True
        model, sources, homeless = data["model"], data["sources"], data["homeless"]
        valid = isinstance(sources, dict) and isinstance(homeless, list)
        if not valid or not all(isinstance(text, str) for text in (*sources.values(), *homeless)):
            raise ModelError("what a run was given must be tables and lists of texts.")
        if not isinstance(model, dict):
            raise ModelError(f"what a run was given must be a model, not {model!r}.")
        given.model, given._others = model, (sources, homeless)
        return given

    @functools.cached_property
    def model(self) -> dict[str, Any]:
        """The model as data."""
        return self._assembly.to_data()

    def model_of(self, assembly: Assembly) -> dict[str, Any]:
        """The present model of the simulation as data: the one at the start, as long as nothing has changed."""
        return self.model if assembly is self._assembly and not self._parted else assembly.to_data()

    @property
    def to_look_at(self) -> Assembly:
        """The model without a copy, as it is now where it came from elsewhere."""
        return self._assembly

    def assembly(self) -> Assembly:
        """The model."""
        return Assembly.from_data(self.model) if self._from_elsewhere else self._assembly.copy()

    @property
    def sources(self) -> dict[str, str]:
        """Digests of the sources of others that take part."""
        return self._others[0]

    @functools.cached_property
    def _others(self) -> tuple[dict[str, str], list[str]]:
        """Sources of others, and what has no home, found in one go through the model."""
        parts = parts_of(self._assembly, self._coupling)
        return foreign_sources(parts), homeless(parts)

    def obstacles(self, coupling: Coupling, made: list[dict[str, Any]]) -> list[str]:
        """Why a run cannot be repeated from its folder, a sentence each; the present coupling, and what was made by hand."""
        return [*self._others[1], *exchanged(self._coupling, coupling), *lost_acts(made)]


OVERLAP = "overlap"  # the event: contacts begin with their shapes in each other
BEYOND = "beyond"  # the event: stops begin beyond a limit
WITHIN_TICKS = ("forward_only", "begins_and_ends", "slips")  # what forces say that begin, end or turn inside ticks


class Past:
    """All that a run tells beside what was recorded."""

    def __init__(self, given: Given, *, project: bool, grouped: bool) -> None:
        self.given = given
        self.project, self.grouped = project, grouped
        self.events: list[dict[str, Any]] = []
        self.margins: list[dict[str, Any]] = []
        self._acts: list[dict[str, Any]] = []
        self._untold: list[Scheduled] = []  # acts that nobody has asked for yet
        self.ever: MutableMapping[str, Body] | None = None  # all bodies that took part, once one has left
        self.forms: dict[str, dict[str, Any]] = {}  # of joints that have left
        self._present: tuple[int, Mapping[str, dict[str, Any]]] = (
            -1,
            {},
        )  # of those that are there, and since which change
        self.seconds = 0.0  # of computing
        self.evidence = Evidence()
        self.prescribed = False  # whether nothing was integrated: a motion that drives or paths prescribe
        self.warned = False  # whether a warning has told how far it is off
        self.verified: dict[
            str, Any
        ] = {}  # what was measured of its error, and when (coordinator/checks/verification.py)
        self.controlled: dict[
            str, Any
        ] = {}  # what a run at twice the step says of it, and when (coordinator/checks/verification.py)
        self._judged = 0  # samples there were when that was asked last
        self._logs = {"events": Log(), "margins": Log(), "acts": Log()}
        self._latest: tuple[int, dict[str, float]] = (0, {})  # margins, and of how many entries

    def enter(self, name: str, body: Body) -> bool:
        """A body comes; False where another one of its name took part before."""
        return self.ever is None or self.ever.setdefault(name, body) == body

    def leave(self, bodies: MutableMapping[str, Body]) -> None:
        """One of them is about to leave."""
        if self.ever is None:
            self.ever = copy(bodies)

    @property
    def acts(self) -> list[dict[str, Any]]:
        """What was done by hand, as events at times."""
        self._acts += [act.to_data() for act in self._untold]
        self._untold.clear()
        return self._acts

    @acts.setter
    def acts(self, acts: list[dict[str, Any]]) -> None:
        self._acts, self._untold = acts, []

    def by_hand(self, act: Event | None, time: float) -> dict[str, Any]:
        """Somebody has changed the model, by what is such an act: what the log is to say of it."""
        if act is None or homeless(parts_in(f"what was done at {time:g} s", act)):
            return {"by": "hand", "repeats": False}
        self._untold.append(Scheduled((act,), time=time))
        return {"by": "hand"}

    def origin(self) -> Assembly:
        """A model that leads to what the simulation is: as it was given, with what was done to it at its times."""
        if lost := lost_acts([event for event in self.events if event.get("repeats") is False]):
            raise ModelError(f"the model of this simulation cannot be the start of another: {lost[0]}")
        return self.given.assembly().with_acts(self.acts)

    def latest_margins(self) -> Mapping[str, float]:
        """The last stability margin of everything that ever had one, by stiffness alone (coordinator/checks/load_stiffness.py)."""
        if len(self.margins) == 1 and not self.margins[0].get("loads"):
            found: Mapping[str, float] = self.margins[0]["margins"]
            return found
        read, latest = self._latest if self._latest[0] <= len(self.margins) else (0, {})
        for entry in self.margins[read:]:
            latest.update(entry["margins"].items())  # of many they stand in lists
            for joint, load in entry.get("loads", {}).items():
                latest.pop(joint)
                latest |= {} if load["without"] is None else {joint: load["without"]}
        self._latest = len(self.margins), latest
        return dict(latest)

    def judge(self, simulation: RecordContext) -> Estimate | None:
        """What has to be told of the run, once; many short runs are not judged each, but when there is a tenth more of them."""
        samples = simulation.recorder.taken.count
        if self.warned or samples < 1.1 * self._judged:
            return None
        self._judged = samples
        found = self.estimate(simulation)
        self.warned = found is not None and found.too_much
        return found if self.warned else None

    def estimate(self, simulation: RecordContext) -> Estimate | None:
        """About how far the run is off, by what has been recorded; None where that says nothing, or nobody can be asked."""
        if self.prescribed:
            return None
        taken = simulation.recorder.taken
        bodies = simulation.assembly.bodies if self.ever is None else self.ever
        forms, gravity = self._forms(simulation), np.asarray(simulation.assembly.gravity, float)
        coupling = simulation.coupling
        beta = largest_beta(coupling, bodies)
        damps = bool(simulation.system.implicit_forces)
        recorded = Recorded(
            taken,
            forms,
            bodies,
            float(simulation.dt),
            gravity,
            beta,
            coupling.at_once,
            damps,
            gravity_of=simulation.assembly.gravity_of if simulation.assembly.gravities else None,
        )
        rises = order_of(coupling, self.given.to_look_at, simulation.assembly) == coupling.declared_order
        least = any(
            getattr(stack, what, False) and not is_located(stack)
            for stack in simulation.system.forces
            for what in WITHIN_TICKS
        )
        # a tick in which a body turns by a radian is seen by no sample
        least = least or coupling.counters(simulation.system).get("parts", 0.0) > 0.0
        try:
            each = coupling.missed(simulation.system)
            missed = None if each is None else float(each.max(initial=0.0))
            found = self.evidence.estimate(recorded, coupling.declared_order, least=least or not rises, missed=missed)
        except ModelError:  # a black box whose worker has gone
            return None
        if found is not None and self.controlled.get("ticks") == simulation.tick:
            found = replace(found, control=self.controlled["share"], held=self.controlled["part"])
        if found is None or not found.too_much:
            return found
        return replace(found, inside=found.who in self._begun(OVERLAP), beyond=found.who in self._begun(BEYOND))

    def _begun(self, kind: str) -> set[str]:
        """Contacts that began with their shapes in each other, or stops that began beyond a limit."""
        return {name for event in self.events if event["kind"] == kind for name in (event["name"], *event["others"])}

    def _forms(self, simulation: RecordContext) -> Mapping[str, dict[str, Any]]:
        """How the equations of every joint are written that ever was there."""
        system = simulation.system
        if self._present[0] != system.version:
            self._present = system.version, system.facts()
        present = self._present[1]
        if isinstance(present, dict):
            return {**self.forms, **present}
        # of many copies each is told when asked for
        return ChainMap(cast("dict[str, dict[str, Any]]", present), self.forms)

    def run(self, simulation: RecordContext) -> Run:
        """Everything so far."""
        system, recorder = simulation.system, simulation.recorder
        estimate = self.estimate(simulation)
        verdict = [estimate.event(simulation.dt)] if estimate is not None and estimate.too_much else []
        return Run(
            dt=simulation.dt,
            model=self.given.model,
            segments=recorder.so_far(recorder.end_of_run(system) if simulation.tick == simulation.bound_for else None),
            bodies=cast("dict[str, Body]", copy(simulation.assembly.bodies if self.ever is None else self.ever)),
            events=self._logs["events"].copied(self.events, verdict),
            settings={
                "coupling": plain(simulation.coupling),
                "record_every": recorder.every,
                "project_velocities": self.project,
                "leak_limit": simulation.alarm.limit,
                "grouped": self.grouped,
                "until": simulation.time,
                "ticks": simulation.tick,
            },
            margins=self._logs["margins"].copied(self.margins),
            acts=self._logs["acts"].copied(self.acts),
            forms=cast("dict[str, dict[str, Any]]", self._forms(simulation)),
            versions={**versions(), **self.given.sources},
            machine=machine(),
            verified=dict(self.verified) if self.verified.get("ticks") == simulation.tick else {},
            never=simulation.schedule.never(),
            estimate={} if estimate is None else estimate.to_data(),
            obstacles=self.given.obstacles(simulation.coupling, self._logs["events"].lost),
            timings={
                "seconds": self.seconds,
                "ticks": float(simulation.tick),
                "evaluations": float(system.evaluations),
                **simulation.coupling.counters(system),
            },
        )


class Log:
    """Copies of the entries of a list that only grows, each made once."""

    def __init__(self) -> None:
        self._of: list[dict[str, Any]] = []
        self._copies: list[dict[str, Any]] = []
        self.lost: list[dict[str, Any]] = []  # changes that were made by hand, and that no file can tell

    def copied(self, entries: list[dict[str, Any]], after: Sequence[dict[str, Any]] = ()) -> Beginning[dict[str, Any]]:
        """All of them so far, and what follows them; entries are shared."""
        if entries is not self._of or len(entries) < len(self._copies):
            self._of, self._copies, self.lost = entries, [], []
        new = [dict(entry) for entry in entries[len(self._copies) :]]
        self._copies += new
        self.lost += [entry for entry in new if entry.get("repeats") is False]
        return Beginning(self._copies, len(self._copies), after)


def other_body(name: str) -> ModelError:
    """Names of a run stand for one body each."""
    return ModelError(f"body '{name}' took part in this run before, as another body; choose another name.")


def largest_beta(coupling: Any, bodies: Mapping[str, Any]) -> float:
    """Newmark's, of the coupling or of a body that has its own; 0 where nobody steps by it."""
    if (newmark := getattr(coupling, "newmark", None)) is None:
        return 0.0
    own = (body.integrator.beta for body in kinds_of(bodies) if getattr(body, "integrator", None) is not None)
    return max([float(newmark.beta), *(float(beta) for beta in own if beta is not None)])
