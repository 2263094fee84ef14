"""A plan: which joints are glued and which are springs, and how often every component steps in a tick.

Components that are glued to each other step as one. A joint can be glued where both its bodies drift and are kicked
(`DriftsAndKicks`); a joint that locks velocities alone needs to try a whole step over again (stepping.py), and can be glued
only where no force of a spring reaches its component.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from coordinator.building import JointHome
from coordinator.system import System
from modular.body import DriftsAndKicks, GivesCompliance
from modular.port import GROUND

Way = Literal["glued", "penalty"]
Wish = tuple[Way, str]  # how a joint is to be treated, and why
GLUED: Way = "glued"
PENALTY: Way = "penalty"
SKATES = "it locks only velocities, which needs steps that can be repeated, and springs act on its component"


@dataclass(frozen=True)
class Plan:
    """Who is treated how; in the order of the model."""

    ways: dict[str, Wish]  # of all joints
    rates: dict[int, list[str]]  # bodies that step on their own, by the number of their steps in a tick
    others: list[str]  # bodies that predict and correct

    @property
    def glued(self) -> list[str]:
        """Joints without play."""
        return [name for name, (way, _) in self.ways.items() if way == GLUED]

    @property
    def springs(self) -> list[str]:
        """Joints that are springs."""
        return [name for name, (way, _) in self.ways.items() if way == PENALTY]

    @cached_property
    def rate(self) -> dict[str, int]:
        """Steps in a tick, of every body that steps on its own."""
        return {body: steps for steps, bodies in self.rates.items() for body in bodies}

    def rates_of(self, owners: Iterable[str]) -> set[int]:
        """Steps in a tick of the bodies on which something acts; 0 of those that predict and correct."""
        return {self.rate.get(owner, 0) for owner in owners if owner != GROUND}

    def crosses(self, name: str, owners: Iterable[str]) -> bool:
        """Whether something acts between components that step on their own, or on one from outside."""
        if name in self.ways and self.ways[name][0] == GLUED:
            return False
        rates = self.rates_of(owners)
        return max(rates, default=0) > 0 and (name in self.ways or len(rates) > 1)


@dataclass
class Planning:
    """What a coupling wants of joints and bodies."""

    system: System
    wish: Callable[[str, JointHome], Wish]
    drifts: Callable[[str], bool]  # which bodies step on their own, of those that can
    steps: Mapping[str, int] = field(default_factory=dict)  # in a tick, of bodies; one if nothing is said

    def plan(self) -> Plan:
        """Joints, then components, then their rates; once more where a skate must become a spring."""
        ways = {name: self._way(name, self.system.joint_home[name]) for name in self.system.joint_home}
        while True:
            found = self._with(ways)
            skates = self._skates_on_springs(found)
            if not skates:
                return found
            ways |= dict.fromkeys(skates, (PENALTY, SKATES))

    def _way(self, name: str, home: JointHome) -> Wish:
        for owner in home.owners:
            if owner != GROUND and not self._own(owner):
                return PENALTY, f"body '{owner}' {why_not(self.system, owner) or 'predicts and corrects'}"
        return self.wish(name, home)

    def _own(self, body: str) -> bool:
        return why_not(self.system, body) is None and self.drifts(body)

    def _with(self, ways: dict[str, Wish]) -> Plan:
        system = self.system
        import networkx as nx  # a tenth of a second, for those who need it

        graph = nx.Graph()
        graph.add_nodes_from(body for body in system.body_home if self._own(body))
        for name, (way, _) in ways.items():
            ends = [owner for owner in system.joint_home[name].owners if owner != GROUND]
            if way == GLUED and len(ends) == 2:
                graph.add_edge(*ends)
        rate: dict[str, int] = {}
        for component in nx.connected_components(graph):
            most = max(self.steps.get(body, 1) for body in component)
            rate.update(dict.fromkeys(component, most))
        rates: dict[int, list[str]] = {}
        for body in system.body_home:
            if body in rate:
                rates.setdefault(rate[body], []).append(body)
        return Plan(dict(ways), dict(sorted(rates.items())), [body for body in system.body_home if body not in rate])

    def _skates_on_springs(self, plan: Plan) -> list[str]:
        """Joints that lock velocities alone, are to be glued, and step with a body that something from outside acts on."""
        system = self.system
        homes = {name: system.joint_home[name] for name in plan.glued}
        skates = [name for name, home in homes.items() if not home.stack.form.holonomic]
        if not skates:
            return []
        owners = {name: system.home(name).owners for name in (*plan.springs, *system.force_home)}
        disturbed = set[int]()  # those that step as often share an interface
        for name, bodies in owners.items():
            if plan.crosses(name, bodies):
                disturbed |= plan.rates_of(bodies)
        return [name for name in skates if plan.rates_of(homes[name].owners) & disturbed]


def why_not(system: System, body: str) -> str | None:
    """Why a body cannot step on its own; None where it can."""
    stack = system.body_home[body]
    if not isinstance(stack, DriftsAndKicks):
        return "cannot drift and be kicked (DriftsAndKicks)"
    if not isinstance(stack, GivesCompliance):
        return "does not report its compliance (GivesCompliance)"
    own = system.described[body].integrator
    if own is not None and own.steps > 1:
        return f"takes {own.steps} steps of its own in a tick (integrator), but glued bodies step together"
    return None
