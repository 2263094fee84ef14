"""Changing the model while it moves: what users call between two ticks, and what events of the model call.

Bodies may become one component, and fall apart again: Séguy 2003, second perspective of his conclusion and Figure I-9. Joints
between bodies of one component have no play; its outer ports stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from coordinator.couplings.merged import check_group, describe
from coordinator.engine.interrupt import Turn, one_at_a_time
from coordinator.events.context import EventContext
from coordinator.events.grip import aim
from coordinator.events.impact import measure_joint, stop_by_impulse, stop_by_shift
from coordinator.events.undoing import fallible, restoring
from coordinator.record.past import Past, other_body
from modular.body import Body
from modular.component import class_name
from modular.elements import TIME
from modular.errors import ModelError
from modular.events import Add, Apply, Cut, Event, Join, Merge, Remove, Unmerge, check_law
from modular.force import Force, TakesAim
from modular.joint import Joint
from modular.limit import Limit
from modular.port import GROUND

REST_SPEED = 1e-6  # relative speed below which joining is no impact [m/s], [rad/s]


class Changing(EventContext, Protocol):
    """A simulation whose model is changed."""

    turn: Turn
    _alone: bool

    @property
    def past(self) -> Past:
        """What it remembers."""

    def cut(self, name: str, kind: str = "cut", **details: float) -> None:
        """Cut a joint."""

    def _about_to_change(self) -> None:
        """Before every change."""

    def _after(self, kind: str, name: str, touched: Sequence[str], act: Event | None = None, **details: Any) -> None:
        """After every change."""

    def _reached(self, name: str, body: Body) -> Body:
        """A body that lives elsewhere, at the end of a channel."""


class Changes:
    """The verbs by which a simulation is changed."""

    @one_at_a_time
    def add(self: Changing, name: str, body: Body) -> None:
        """Add a body, in the state that its description gives."""
        self._about_to_change()
        self.assembly.add(name, body)
        try:
            if body.hosted:
                self.assembly.bodies[name] = body = self._reached(name, body)
        except ModelError:
            del self.assembly.bodies[name]
            raise
        if not self.past.enter(name, body):
            del self.assembly.bodies[name]
            raise other_body(name)
        self.system.elements.clock[TIME] = self.tick * self.dt + self.system.part * self.dt  # where courses stand
        self.system.add_body(name, body)
        self._after("add", name, [name], Add(name, body))

    @one_at_a_time
    def remove(self: Changing, name: str) -> None:
        """Remove a body, with the joints and forces on it, or a force."""
        self._about_to_change()
        if name in self.assembly.force_edges:
            owners = self.system.force_home[name].owners
            self.assembly.remove(name)
            released = self.system.remove_force(name)
            self._after("remove", name, owners, Remove(name), **({"released": released} if released else {}))
            return
        self.assembly.known(name, self.assembly.bodies, "body or force")
        for joint in [n for n, e in self.assembly.joint_edges.items() if name in (e.first.body, e.second.body)]:
            self.cut(joint)
        for force in [n for n, f in self.assembly.force_edges.items() if any(p.body == name for p in f.ports)]:
            self.remove(force)
        self.past.leave(self.assembly.bodies)
        self.assembly.remove(name)
        self.system.remove_body(name)
        self._after("remove", name, [], Remove(name))

    @one_at_a_time
    def join(
        self: Changing,
        name: str,
        joint: Joint,
        first: str,
        second: str,
        *,
        at: Sequence[float] | None = None,
        law: str = "momentum",
        breaks_at: Limit | None = None,
    ) -> None:
        """Connect two ports as they stand now; `at` places the joint where they do not coincide [m].

        If its points move relative to each other, that motion stops at once and the energy it takes is booked in the
        ledger of the joint. law="momentum": by one impulse at the joint from the seen masses; law="kinematic": by
        shifting the bodies with their angular velocities kept, as Figure VI-18 of the thesis shows.
        """
        self._about_to_change()
        check_law(name, law)
        self.assembly.join(name, joint, first, second, at=at, breaks_at=breaks_at)
        system, edge, go_back = self.system, self.assembly.joint_edges[name], restoring(self)
        try:
            self.breakage.check(name, edge)
            system.elements.clock[TIME] = self.tick * self.dt + system.part * self.dt  # where courses begin
            home = system.add_joint(name, edge, law, moving=self.dt)
            details: dict[str, Any] = {"between": [first, second], "class": class_name(type(joint))}
            self.breakage.watch(name, edge, home)
            measure_joint(system, name)
            if not home.again and max(map(abs, home.stack.rate[home.stack.row[name]].tolist())) > REST_SPEED:
                stop = stop_by_impulse if law == "momentum" else stop_by_shift
                details |= {"impact": stop(system, name), "law": law}
            act = Join(name, joint, first, second, at=at, law=law, breaks_at=breaks_at)
            self._after("join", name, home.owners, act, **details)
        except Exception:  # it did not fit, or a law had no answer: then nothing has happened
            self.assembly.cut(name)
            self.breakage.leave(name)
            if name in system.joint_home:
                system.remove_joint(name, edge)
            if go_back is not None:
                go_back()
            raise

    @one_at_a_time
    def cut(self: Changing, name: str, kind: str = "cut", **details: float) -> None:
        """Cut a joint; `kind` and `details` go into the log of events."""
        self._about_to_change()
        edge = self.assembly.joint_edges.get(name)
        self.assembly.cut(name)  # or says what it is, if it is none
        assert edge is not None
        system = self.system
        home = system.joint_home[name]
        owners, self.past.forms[name] = home.owners, system.facts_of(name)
        self.breakage.leave(name)
        released = system.remove_joint(name, edge)
        self._after(kind, name, owners, Cut(name), released=released, **details)

    @one_at_a_time
    def apply(self: Changing, name: str, force: Force, *ports: str, at: Sequence[float] | None = None) -> None:
        """Let a force act on one or two ports; `at` places the end of a spring on the ground [m]."""
        self._about_to_change()
        self.assembly.apply(name, force, *ports, at=at)
        edge, go_back = self.assembly.force_edges[name], restoring(self)
        try:
            self.system.add_force(name, edge)
            if go_back is None and fallible(self.system):  # the first law: once more, with a way back
                self.system.take_back_force(name)
                go_back = restoring(self, always=True)
                self.system.add_force(name, edge)
            aimed = isinstance(self.system.force_home[name].stack, TakesAim)  # where to, no event says
            act = None if aimed else Apply(name, force, ports, at=at)
            self._after("apply", name, self.system.force_home[name].owners, act, on=list(ports))
        except Exception:
            self.assembly.remove(name)
            if name in self.system.force_home:
                self.system.take_back_force(name)
            if go_back is not None:
                go_back()
            raise

    @one_at_a_time
    def aim(self: Changing, name: str, target: Sequence[float]) -> None:
        """Move the target of a force that draws to one, such as a hand [m]; it may be moved at every tick."""
        self._about_to_change()
        aim(self, name, target, by_hand=not self._alone)

    @one_at_a_time
    def merge(self: Changing, *bodies: str, why: str = "") -> None:
        """Let neighbours be one component, solved inside: joints between them have no play, its outer ports stay as they are.

        "ground" may be one of them. A body that is merged already brings its component along.
        """
        self._about_to_change()
        merged = merge(self, bodies)
        self._after("merge", " + ".join(bodies), merged, Merge(bodies), **({"why": why} if why else {}))

    @one_at_a_time
    def unmerge(self: Changing, *bodies: str) -> None:
        """Let the components fall apart to which bodies belong."""
        self._about_to_change()
        self._after("unmerge", " + ".join(bodies), unmerge(self, bodies), Unmerge(bodies))

    @one_at_a_time
    def limit(self: Changing, name: str, breaks_at: Limit | None) -> None:
        """Say anew what a joint can take before it breaks; None: everything."""
        self._about_to_change()
        self.assembly.known(name, self.assembly.joint_edges, "joint")
        if breaks_at is not None and not isinstance(breaks_at, Limit):
            raise ModelError(
                f"joint '{name}': breaks_at = {breaks_at!r}; give a Limit, such as Limit(force=500.0), or None."
            )
        edge = self.assembly.joint_edges[name]._replace(breaks_at=breaks_at)
        self.breakage.check(name, edge)
        self.system.limit(name, edge)
        self.assembly.joint_edges[name] = edge
        self.breakage.leave(name)
        self.breakage.forget(name)
        self.breakage.watch(name, edge, self.system.joint_home[name])
        self._after("limit", name, [], breaks_at=breaks_at)

    def settle_anew(self: Changing, kind: str, name: str) -> None:
        """Everybody finds accelerations anew: this simulation goes on where another has stood (continuation/reconfigure.py)."""
        self._after("went on", f"{kind} {name}", list(self.assembly.bodies))


def merge(simulation: EventContext, bodies: Sequence[str]) -> list[str]:
    """Let neighbours be one component; the bodies that it has. Settling is left to the simulation."""
    system = simulation.system
    check_group(system, bodies, "merge")
    for body in bodies:
        reason = None if body == GROUND else simulation.coupling.why_not_merge(system, body)
        if reason is not None:
            raise ModelError(f"merge: body '{body}' {reason}.")
    before = list(system.groups)
    system.merge(bodies)
    try:
        simulation.check_divisible()
    except ModelError:
        system.groups = before
        system.version += 1
        raise
    return [body for body in system.groups[-1] if body != GROUND]


def unmerge(simulation: EventContext, bodies: Sequence[str]) -> list[str]:
    """Let the components fall apart to which bodies belong; all their bodies."""
    system = simulation.system
    for body in bodies:
        if not any(body in group for group in system.groups):
            merged = "; ".join(map(describe, system.groups)) or "none"
            raise ModelError(f"unmerge: body '{body}' is not merged; merged bodies: {merged}.")
    simulation.coupling.ways(system)  # who is glued until now is to be known
    return [body for body in system.unmerge(bodies) if body != GROUND]
