"""Looking at a simulation between two ticks: what it recorded, how near it is to its limits, where its bodies are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from coordinator.checks import load_stiffness
from coordinator.checks.context import CheckContext
from coordinator.checks.verification import Progress, StepDoubling, Verification, control, verify
from coordinator.couplings.implicit import located_friction
from coordinator.couplings.margins import Margins, as_dict, tightest
from coordinator.engine.interrupt import Turn, one_at_a_time
from coordinator.record.run import Run
from coordinator.system import System
from modular.body import Bodies
from modular.elements import Array
from modular.errors import ModelError
from modular.ledger import ledger_columns
from modular.port import GROUND, PortName


class Inspected(CheckContext, Protocol):
    """A simulation that is looked at."""

    turn: Turn

    @property
    def ways(self) -> Mapping[str, tuple[str, str]]:
        """How every joint is treated now."""

    @property
    def tightest(self) -> tuple[str, float] | None:
        """The joint nearest to the stability limit."""

    @property
    def recorded(self) -> Run:
        """Everything recorded so far."""


class Inspection:
    """What can be asked of a simulation."""

    @property
    @one_at_a_time
    def recorded(self: Inspected) -> Run:
        """Everything recorded so far."""
        return self.past.run(self)

    @one_at_a_time
    def verify(self: Inspected, *, progress: Progress | None = None) -> Verification:
        """Run again at half and at twice the step, as far as it has come: how far it is off, and in which order that falls."""
        make: Any = type(self)
        found = verify(make, self.recorded, progress=progress)
        self.past.verified = found.to_data()
        return found

    @one_at_a_time
    def control(self: Inspected, *, part: float = 1.0) -> StepDoubling | None:
        """Run again at twice the step, and at half of it where that cannot tell: `run.estimate` says then what both say.

        It costs half a run, and where motions are sensitive two and a half; `part`: less of it, from the start. None where there
        is no run at twice the step.
        """
        make: Any = type(self)
        run = self.recorded
        found = control(make, run, stiff=bool(self.system.implicit_forces), part=part)
        if found is not None and found.doubtful and part == 1.0:
            with suppress(ModelError):  # it does not hold at half the step
                measured = verify(make, run, coarse=found.coarse)
                self.past.verified, found = measured.to_data(), found.settled(measured)
        self.past.controlled = {} if found is None else found.to_data()
        return found

    @property
    def events(self: Inspected) -> list[dict[str, Any]]:
        """Everything that changed the model, or happened to it, so far."""
        return self.past.events

    @property
    def margins(self: Inspected) -> dict[str, float]:
        """Stability margin of every joint and spring at the present topology, under the loads of now.

        A load on a body of little inertia counts at the joint that brings most of it; `loads` tells of which margins that is so.
        """
        own = self.stiffness_margins
        return dict(load_stiffness.tell(own, load_stiffness.now(self, own))[0])

    @property
    def loads(self: Inspected) -> dict[str, str]:
        """Of joints whose margin is what a load leaves: the body that passes it on."""
        own = self.stiffness_margins
        return {
            joint: load["body"] for joint, load in load_stiffness.tell(own, load_stiffness.now(self, own))[1].items()
        }

    @property
    def stiffness_margins(self: Inspected) -> Mapping[str, float]:
        """What their stiffness alone leaves to joints and springs."""
        latest = self.past.latest_margins()
        glued = {name for name, (way, _) in self.ways.items() if way == "glued"}
        here = [*self.system.joint_home, *self.system.force_home]
        if isinstance(latest, Margins) and not glued and latest.of_just(here):
            return latest
        latest = as_dict(latest)
        return {name: latest[name] for name in here if name in latest and name not in glued}

    @property
    def ways(self: Inspected) -> dict[str, tuple[str, str]]:
        """How every joint is treated now, "glued" or "penalty", and why, where the coupling does not treat all alike."""
        return dict(self.coupling.ways(self.system))

    @property
    def implicit_forces(self: Inspected) -> list[str]:
        """Forces that change faster than the step resolves: they limit it no more, and what is fast in them is damped."""
        return self.system.implicit_forces

    @property
    def located_friction(self: Inspected) -> list[str]:
        """Dry friction that is a joint while it sticks; where it begins to slide, and ends, is located within the step."""
        return located_friction(self.system)

    @property
    def tightest(self: Inspected) -> tuple[str, float] | None:
        """The joint nearest to the stability limit, with its margin."""
        return tightest(self.margins)

    def body(self: Inspected, name: str) -> Bodies:
        """A body as a view of its row: the same arrays, the same code."""
        self.assembly.known(name, self.assembly.bodies, "body")
        return self.system.body_home[name].one(name)

    def has_port(self: Inspected, port: str) -> bool:
        """Whether the body of a port is there now."""
        return PortName.parse(port, "port").body in self.assembly.bodies

    def has_joint(self: Inspected, joint: str) -> bool:
        """Whether a joint holds now."""
        return joint in self.assembly.joint_edges

    def port_motion(self: Inspected, port: str) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of a port now."""
        name = self.assembly.port(port, "port_motion")
        if name.body == GROUND:
            raise ModelError("port_motion: the ground does not move; give 'body.port'.")
        side = self.system.body_home[name.body].side(name.body, name)
        return side.position, side.velocity, side.acceleration

    def __repr__(self: Inspected) -> str:
        tight = self.tightest
        load = f" (load on {self.loads[tight[0]]})" if tight and tight[0] in self.loads else ""
        what = "joint" if tight and tight[0] in self.assembly.joint_edges else "force"
        margin = f"stability margin {tight[1]:.3g}; tightest {what}: {tight[0]}{load}" if tight else "no joints"
        return f"<Simulation of {self.assembly!r} at tick {self.tick} ({self.time:g} s), dt = {self.dt:g} s; {margin}>"

    def ledger(self: Inspected, name: str) -> dict[str, float]:
        """energy ledger of a joint or force now [J]."""
        if name in self.system.closed:
            return ledger_columns(self.system.closed[name], self.recorded.led_sides(name))
        if name in self.system.force_home:
            forces = self.system.force_home[name]
            return ledger_columns(forces.stack.ledger[forces.stack.row[name]], _led(self.system, forces.owners))
        self.assembly.known(name, self.assembly.joints, "joint")
        home = self.system.joint_home[name]
        return ledger_columns(home.stack.ledger[home.stack.row[name]], _led(self.system, home.owners))


def _led(system: System, owners: Sequence[str]) -> list[bool]:
    """Which sides are on bodies that are led."""
    return [owner != GROUND and system.described[owner].led for owner in owners]
