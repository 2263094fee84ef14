"""Joints that are glued where both sides can be, and springs where they cannot, or where one would have it so.

Components that are glued to each other step as one, by RATTLE and with the reactions of their joints found together; between
components joints are explicit springs, as in `Penalty`. So a component that only predicts and corrects can take part, and
a group can be stepped by itself, as often as it needs: `steps` says how many steps of its own a body, and whoever is glued to
it, takes in a tick. What springs exert acts on it as one impulse per tick, with the stiffness that the whole tick allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import ClassVar

from coordinator.building import JointHome
from coordinator.couplings.implicit import names_of
from coordinator.couplings.interface.plan import GLUED, PENALTY, Plan, Planning, Wish, why_not
from coordinator.couplings.penalty import Penalty
from coordinator.system import System
from modular.errors import CouplingError, ModelError
from modular.names import missing

AUTO = "auto"
WAYS = (GLUED, PENALTY, AUTO)


@dataclass(frozen=True)
class Mixed(Penalty):
    """Glued inside groups, springs between them; of second order in dt.

    `joints`: "glued", "penalty" or "auto" by the names of joints, in which * stands for anything; the first that fits counts.
    `default`: for all others. "auto" glues a joint where both its bodies can step on their own. `steps`: of bodies, by
    their names, in the same way. `tolerance`: what may stay open inside groups, as a share of the extent of the system.

    `extrapolate` is an experiment: springs are asked at each of the steps of a component, against where the other side would be
    if it went on as it did, instead of once a tick. It pumps up what is not held by much damping; impulses do not.
    """

    adapts: ClassVar[bool] = False

    joints: Mapping[str, str] = field(default_factory=dict)
    default: str = AUTO
    steps: Mapping[str, int] = field(default_factory=dict)
    tolerance: float = 1e-14
    extrapolate: bool = False

    @classmethod
    def auto(cls) -> Mixed:
        """Every joint glued that can be."""
        return cls()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, example in (("joints", "{'elbow': 'penalty'}"), ("steps", "{'wheel': 4}")):
            if not isinstance(getattr(self, name), Mapping):
                raise ModelError(
                    f"{type(self).__name__}: {name} = {getattr(self, name)!r}; give names and values: {example}."
                )
        for what, way in (("default", self.default), *((f"joint '{name}'", way) for name, way in self.joints.items())):
            if way not in WAYS:
                raise ModelError(f"{type(self).__name__}: {what} = {way!r}; give one of {', '.join(WAYS)}.")
        for name, steps in self.steps.items():
            if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
                raise ModelError(
                    f"{type(self).__name__}: steps of '{name}' = {steps!r}; give a whole number from 1 on."
                )
        if not (isinstance(self.tolerance, int | float) and 0.0 < self.tolerance < 1.0):
            raise ModelError(
                f"{type(self).__name__}: tolerance = {self.tolerance!r}; give a share of the extent "
                "of the system between 0 and 1, such as 1e-14."
            )

    def configure(self, system: System, dt: float) -> None:
        """As `Penalty`, and joints that are to be glued must find bodies that can be."""
        super().configure(system, dt)
        if system.cache.get("wishes") != (system.version, self):
            self._check(system)
            system.cache["wishes"] = system.version, self

    def _check(self, system: System) -> None:
        """Names that fit nobody, and wishes that cannot be granted."""
        plan = self.plan(system)
        for name, (way, why) in plan.ways.items():
            if way == PENALTY and self._wish(name)[0] == GLUED:
                raise CouplingError(f"{type(self).__name__}: joint '{name}' cannot be glued: {why}. Let it be 'auto'.")
        for pattern, steps in self.steps.items():
            fitting = [body for body in system.described if fnmatchcase(body, pattern)]
            if not fitting and system.tick == 0:
                raise ModelError(f"{type(self).__name__}: steps: " + missing("body", pattern, list(system.described)))
            for body in fitting:
                reason = why_not(system, body)
                if steps > 1 and reason is not None:
                    raise CouplingError(
                        f"{type(self).__name__}: '{body}' cannot take {steps} steps in a tick: it {reason}."
                    )
        for pattern in self.joints:
            if system.tick == 0 and not any(fnmatchcase(name, pattern) for name in system.joint_home):
                raise ModelError(f"{type(self).__name__}: " + missing("joint", pattern, list(system.joint_home)))

    def mixes(self, system: System) -> bool:
        """Always."""
        return True

    def plan(self, system: System) -> Plan:
        """What was wished for, as far as bodies admit it."""

        def wish(name: str, home: JointHome) -> Wish:
            if system.merged(*home.owners):
                return GLUED, "its bodies are merged"
            way, why = self._wish(name)
            return (GLUED, "both sides step on their own") if way == AUTO else (way, why)  # type: ignore[return-value]

        steps = {body: self._steps(body) for body in system.body_home} if self.steps else {}
        return Planning(system, wish, lambda body: True, steps).plan()

    def forces_found(self, system: System, touched: Iterable[str] | None = None) -> set[str]:
        """Those within components: who steps how often is said by the plan."""
        mixture = self.mixture(system) if self.implicit_forces else None
        return set() if mixture is None else names_of(system, touched) & mixture.within

    def _wish(self, name: str) -> tuple[str, str]:
        for pattern, way in self.joints.items():
            if fnmatchcase(name, pattern):
                return way, f"asked for as '{pattern}'"
        return self.default, f"{self.default} is the default"

    def _steps(self, body: str) -> int:
        return next((steps for pattern, steps in self.steps.items() if fnmatchcase(body, pattern)), 1)
