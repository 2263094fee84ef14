"""Couplings under which some components step on their own, glued inside, among others (coordinator/couplings/interface/mixture.py).

Whatever the coupling is, bodies that were merged are such a component: the mixture, and what it needs at events, is kept here. So
are bodies between which a force acts that is stiffer than the step: it is a row of their interface (modular/compliant.py), while
their joints stay springs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from coordinator.building import JointHome
from coordinator.couplings.coupling import Coupling
from coordinator.couplings.implicit import may_be_implicit, names_of, take_implicit
from coordinator.couplings.interface.bounds import margins_of_forces_on
from coordinator.couplings.interface.mixture import Mixture, RuleInPython
from coordinator.couplings.interface.plan import GLUED, PENALTY, Plan, Planning, Wish, why_not
from coordinator.couplings.interface.position_stage import tolerate
from coordinator.couplings.interface.projection import preload_from_reactions
from coordinator.couplings.rules import StiffnessRule
from coordinator.couplings.rules.rule import in_a_tick
from coordinator.engine.program import Operation, Stacks
from coordinator.system import System
from modular.port import GROUND


class WithComponents(Coupling):
    """Springs between bodies, and between components of several."""

    rule: StiffnessRule  # of the springs
    guard: bool  # they settle their accounts of energy
    implicit_forces: bool  # forces that the tick does not resolve are found
    tolerance: float = 1e-14  # what may stay open inside a component, as a share of the extent of the system
    extrapolate: bool = False  # an experiment of `Mixed`

    def mixes(self, system: System) -> bool:
        """Whether there are components that step on their own."""
        return bool(system.groups or (system.force_stacks and system.implicit_forces))

    def plan(self, system: System) -> Plan:
        """Who is glued to whom: bodies that were merged; those that a stiff force joins step on their own as they do."""
        stepping = {body for group in system.groups for body in group}
        stepping.update(owner for name in system.implicit_forces for owner in system.home(name).owners)

        def wish(name: str, home: JointHome) -> Wish:
            return (GLUED, "its bodies are merged") if system.merged(*home.owners) else (PENALTY, "not merged")

        return Planning(system, wish, stepping.__contains__).plan()

    def mixture(self, system: System) -> Mixture | None:
        """Of components that step on their own and others; None where every body predicts and corrects."""
        known = system.cache.get("mixture")
        if not self.mixes(system):
            if known is not None:
                preload_from_reactions(system, filter(system.joint_home.__contains__, known[1].plan.glued))
                del system.cache["mixture"]
            return None
        key = (system.version, id(system), id(system.elements), system.elements.sheet, system.turns, self)
        if known is None or known[0] != key:
            refresh = self.refreshing(system) if system.turns else []
            rule: list[Operation] = [(RuleInPython(self.rule, system), "refresh")] if refresh is None else refresh
            made = Mixture(system, self.plan(system), rule, guard=self.guard, extrapolate=self.extrapolate)
            if known is not None:
                made.inherit_counters(known[1])
                preload_from_reactions(system, set(made.plan.springs).intersection(known[1].plan.glued))
            known = system.cache["mixture"] = key, made
        return cast(Mixture, known[1])

    def take_implicit(self, system: System, dt: float, touched: Iterable[str]) -> bool:
        """Forces that the tick does not resolve are found from here on; whether there are new ones.

        Bodies between which one acts step on their own then.
        """
        if not self.implicit_forces or not may_be_implicit(system):
            return False
        touched = list(touched)
        among = self.forces_found(system, touched)
        if among.issubset(system.implicit_forces):
            return False
        if not take_implicit(system, margins_of_forces_on(system, dt, touched, self.mixture(system)), among):
            return False
        system.cache.pop("mixture", None)
        tolerate(system, self.tolerance)
        return True

    def forces_found(self, system: System, touched: Iterable[str] | None = None) -> set[str]:
        """Those between bodies that can step on their own, and have no integrator of theirs."""

        def joins(owner: str) -> bool:
            own = owner == GROUND or system.described[owner].integrator is None
            return own and (owner == GROUND or self.why_not_merge(system, owner) is None)

        found = names_of(system, touched) if self.implicit_forces else set()
        return {name for name in found if all(map(joins, system.home(name).owners))}

    def ways(self, system: System) -> Mapping[str, tuple[str, str]]:
        """Which joints are glued, and why the others are not."""
        return {} if (mixture := self.mixture(system)) is None else mixture.plan.ways

    def unseen_by_blows(self, system: System, force: str) -> Iterable[str]:
        """Those of components, but by what acts within one."""
        mixture = self.mixture(system)
        return () if mixture is None or force in mixture.inside else mixture.plan.glued

    def why_not_merge(self, system: System, body: str) -> str | None:
        """It must be able to step on its own."""
        return why_not(system, body)

    def sets_aside(self, system: System, body: str) -> str | None:
        """Those of components fly between their joints."""
        mixture = self.mixture(system)
        flies = mixture is not None and body in mixture.plan.rate
        return "it is glued to others, and flies between them by a rule without weights and gains" if flies else None

    def counters(self, system: System) -> dict[str, float]:
        """Rounds of components that are glued inside."""
        return {} if (mixture := self.mixture(system)) is None else mixture.counters

    def refreshing(self, system: Stacks) -> list[Operation] | None:
        """The rule as operations; None where it is Python, or a rule of ours that somebody has changed."""
        return self.rule.program(system) if type(self.rule).refresh is StiffnessRule.refresh else None

    def refreshing_in_a_tick(self, system: System) -> list[Operation] | None:
        """The same between the prediction and the forces; nothing where all that it looks at stays as it is."""
        if not system.turns:
            return []
        operations = self.refreshing(system)
        return None if operations is None else in_a_tick(operations)

    def checkpoint_state(self, system: System) -> dict[str, Any]:
        """The extent of the system when components were merged."""
        return {"tolerance": system.elements.tolerance.copy()} if self.mixes(system) else {}

    def restore_state(self, system: System, state: Mapping[str, Any]) -> None:
        """Go back to that state."""
        if "tolerance" in state:
            system.elements.tolerance[:] = state["tolerance"]

    def reason(self, system: System, name: str) -> str | None:
        """Which joint of a component stays open."""
        mixture = self.mixture(system)
        return None if mixture is None else mixture.reason(name, type(self).__name__)

    def cure(self, system: System, dt: float) -> tuple[str, float | None]:
        """A smaller step, where a component cannot close its joints: no stiffness helps there."""
        return f"take dt = {dt / 4:.2g} s, or leave its joints to springs", dt / 4
