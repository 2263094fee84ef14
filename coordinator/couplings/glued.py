"""Glued joints: multipliers found at the interface from the compliances that bodies report.

Séguy 2003, I.3.5 (gluing of components) and the third perspective of his conclusion. Between two joints every body steps on its
own, by RATTLE; the reactions of the joints are those with which all joints are closed where the step leads, in place
and in velocity. So joints store no energy, limit no step and leave nothing open, and as the whole is symmetric and
symplectic, compositions of it have order 4, 6 and 8.

Which shorter step would hold: the tick that found no end is tried in several substeps, from where it began.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from coordinator.couplings.begun_apart import settle_apart
from coordinator.couplings.compositions import LIMITS, ORDERS, stages
from coordinator.couplings.coupling import Coupling, require
from coordinator.couplings.implicit import may_be_implicit, names_of, take_implicit, take_rubbing
from coordinator.couplings.interface.fields import OPEN
from coordinator.couplings.interface.interface import Interface
from coordinator.couplings.interface.position_stage import tolerate
from coordinator.couplings.interface.projection import project_velocities
from coordinator.couplings.interface.side_by_side import SideBySide
from coordinator.couplings.margins import stability_margins
from coordinator.engine.program import STRIKES, Operation, TickProgram, compiled
from coordinator.system import System
from modular.body import DriftsAndKicks, GivesCompliance, PredictsAndCorrects, SavesAndRestores
from modular.elements import GAIN_STEP
from modular.errors import CouplingError, ModelError
from modular.force import Force, TakesEvenStages
from modular.internal_gains import InternalGains
from modular.names import first_few
from modular.newmark import Newmark

TRIED_DIVISORS = (4, 16, 64, 256)  # of a tick


def can_repeat_a_tick(system: System) -> bool:
    """Whether everybody goes back to where a tick began."""
    return all(isinstance(bodies, SavesAndRestores) for bodies in system.bodies)


def divisions_that_converge(
    system: System, interface: Interface, advance: Callable[[float, float], str | None]
) -> int | None:
    """In how many substeps the tick comes to its end, if in any; all stands then where it stood.

    `advance` takes the part of the tick between two shares of it; who went wrong in it, if anybody.
    """
    elements, evaluations, counter_values = system.elements, system.evaluations, interface.counter_values
    clock = elements.clock.copy()
    _forget(system)
    kept = system.save()
    found = None
    for count in TRIED_DIVISORS:
        if all(advance(k / count, (k + 1) / count) is None for k in range(count)):
            found = count
        system.restore(kept)
        _forget(system)
        if found is not None:
            break
    elements.clock[:], system.evaluations = clock, evaluations
    interface.restore_counters(counter_values)
    return found


def _forget(system: System) -> None:
    """What bodies that were flung about have left beside their state: what closed their shapes, and accelerations."""
    for bodies in system.bodies:
        cast(DriftsAndKicks, bodies).invalidate(system.elements)
        accelerations = bodies.state()["a"]
        accelerations[~np.isfinite(accelerations)] = 0.0


@dataclass(frozen=True)
class Glued(Coupling):
    """Exact joints between components that step on their own; `order` 2, 4, 6 or 8 in dt, which is the macro step.

    `tolerance`: what joints and bodies may leave open, as a share of the extent of the system. `implicit_forces`: those that a
    step of order 2 does not resolve are found together with reactions, and not exerted as they stand (modular/compliant.py), and
    dry friction at every order, with where it begins to stick and to slide (modular/friction_rows.py).
    """

    verbs: ClassVar[tuple[str, ...]] = (
        "show", "linearise", "measure_rates", "use_predicted_reactions", "apply_multipliers", "drift", "steady",
        "account", "save_reaction_change", "accept_step", "respond", "compute_joint_response", "compute_mobility",
        "note_free", "factorise", "solve", "respond_ahead", "factorise_ahead", "solve_ahead", "use_present_velocity", "kick",
        "predict_reactions", "reevaluate", "show_end_velocity", "use_end_velocity", "apply_impulse",
        "apply_joint_impulses", "hold_reactions", "close", "stop", "compute_bias", "invalidate", "move_along",
        "compute_reactions", "update_operator", "settle", "wrenches", "advance", "exert", *STRIKES, "request_demand",
    )  # fmt: skip

    order: int = 2
    tolerance: float = 1e-14
    implicit_forces: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order not in ORDERS:
            raise ModelError(f"{type(self).__name__}: order = {self.order!r}; give 2, 4, 6 or 8.")
        if not (isinstance(self.tolerance, int | float) and 0.0 < self.tolerance < 1.0):
            raise ModelError(
                f"{type(self).__name__}: tolerance = {self.tolerance!r}; give a share of the extent "
                "of the system between 0 and 1, such as 1e-14."
            )

    @property
    def declared_order(self) -> int:
        """`order`."""
        return self.order

    def configure(self, system: System, dt: float) -> None:
        """Bodies must drift and be kicked, and report their compliance."""
        require(system, DriftsAndKicks, type(self).__name__, "drift and can be kicked")
        require(system, GivesCompliance, type(self).__name__, "report their compliance")
        if min(stages(self.order)) < 0.0:
            self._refuse_what_cannot_go_back(system)
        for bodies in system.bodies_as(PredictsAndCorrects):
            bodies.configure(Newmark(), InternalGains(), float("inf"))
        tolerate(system, self.tolerance)

    def _refuse_what_cannot_go_back(self, system: System) -> None:
        """Some stages go back in time; walls ask for even ones instead (coordinator/couplings/compositions.py)."""
        for stack in [*system.bodies, *system.forces]:
            even = isinstance(stack, TakesEvenStages) and compiled((stack, "look_ahead"))
            slips = "springs_slip" if self.implicit_forces and hasattr(stack, "springs_slip") else "slips"
            marks = ("forward_only", slips, *(() if even else ("begins_and_ends",)))
            if any(getattr(stack, mark, False) for mark in marks):
                raise CouplingError(
                    f"{type(self).__name__}: a step of order {self.order} goes back in time in some of its stages, and "
                    f"{first_few(cast(Any, stack).names)} cannot; take order=2."
                )
        for stack in system.joints:
            rubs = self.implicit_forces and any(forces.rubbing() for forces in may_be_implicit(system))
            if rubs and stack.count and not stack.form.holonomic:
                raise CouplingError(
                    f"{type(self).__name__}: where dry friction begins to stick or to slide is located by trying steps, and so are "
                    f"reactions of joints that lock velocities alone ({first_few(stack.names)}), which cannot both be at order "
                    f"{self.order}; take order=2."
                )

    def _interface(self, system: System) -> Interface | SideBySide:
        kind = Interface if system.parted is None else SideBySide
        return kind.of(system, stages(self.order), self._local)

    @property
    def _local(self) -> tuple[str, int] | None:
        """A method of local iterations, and how many a stage may take; none where the interface solves for all at once."""
        return None

    def counters(self, system: System) -> dict[str, float]:
        """Rounds of all stages together."""
        return self._interface(system).counters

    def checkpoint_state(self, system: System) -> dict[str, Any]:
        """The extent of the system when the present topology began."""
        return {"tolerance": system.elements.tolerance.copy()}

    def restore_state(self, system: System, state: Mapping[str, Any]) -> None:
        """Go back to that state."""
        system.elements.tolerance[:] = state["tolerance"]

    def advance(self, system: System, dt: float, start: float = 0.0, stop: float = 1.0) -> str | None:
        """One macro step, or a part of it."""
        interface, elements = self._interface(system), system.elements
        elements.clock[:] = (stop - start) * dt, (system.tick + stop) * dt, dt
        system.evaluations += len(interface.stages)
        wrong = interface.perform("advance")
        if wrong is None:
            interface.perform("compute_reactions")
        return wrong

    def program(self, system: System) -> TickProgram | None:
        """The same for the engine; reactions and accelerations are worked out where somebody looks.

        That is at every tick where a joint may break: what it carries must not depend on when samples are taken.
        """
        return self._program(system) if self._interface(system).compiled else None

    def divided(self, system: System) -> TickProgram | None:
        """The same for workers, also where something is plain Python: the step itself calls it."""
        return self._program(system)

    def _program(self, system: System) -> TickProgram:
        interface = self._interface(system)
        react: list[Operation] = [(interface, "compute_reactions")]
        step: list[Operation] = [(interface, "advance")]
        if any(edge.breaks_at is not None for edge in system.joint_home.kinds()):
            step, react = step + react, []
        return TickProgram(first_tick=step, next_ticks=step, epilogue=react, evaluations=len(interface.stages))

    def settle(self, system: System, dt: float, touched: Iterable[str]) -> None:
        """Velocities that no joint stops, reactions and accelerations at the unchanged place."""
        interface, elements = self._interface(system), system.elements
        elements.clock[:] = 0.0, system.time(dt), dt
        interface.perform("update_operator")
        for forces in system.forces:
            forces.request_demand(
                elements, dt
            )  # bodies have answered: those that choose their stiffness by it do it now
        if isinstance(interface, SideBySide):
            interface.project_velocities()
        else:
            project_velocities(system, [interface])
        interface.perform("settle")
        elements.force_before[:] = elements.force
        elements.velocity_before[:] = elements.velocity
        if self._take_implicit(system, dt, touched):
            self.settle(system, dt, touched)
            return
        for stack in system.booked:
            stack.open_ledgers()

    def settle_begun(self, system: System, dt: float, begun: Sequence[str], touched: Sequence[str]) -> None:
        """Those that touch nothing yet alone, where no joints would have to be solved for."""
        shown = Interface.shows_now(system) and not touched and not may_be_implicit(system)
        if not (shown and settle_apart(system, dt, begun)):
            self.settle(system, dt, touched)

    def forces_found(self, system: System) -> set[str]:
        """Those whose law allows it, where no stage goes back in time: nothing can damp there."""
        return names_of(system) if self.implicit_forces and self.order == 2 else set()

    def order_beside(self, force: Force) -> int | None:
        """Dry friction lets it be of any, where its switches are located."""
        return force.order_as_row if self.implicit_forces else force.order

    def _take_implicit(self, system: System, dt: float, touched: Iterable[str]) -> bool:
        """Forces that the step does not resolve become rows of the interface, and stay it; whether there are any."""
        if not self.implicit_forces or not may_be_implicit(system):
            return False
        rubbing = take_rubbing(system)
        if rubbing:
            system.cache.pop("interface", None)
        if rubbing or self.order > 2:
            return rubbing
        found = take_implicit(system, self.margins(system, dt, list(touched)))
        if found:
            system.cache.pop("interface", None)
        return found

    def sets_aside(self, system: System, body: str) -> str | None:
        """Between glued joints nobody predicts and corrects."""
        return "between glued joints bodies use an integration rule without weights and gains"

    def reason(self, system: System, name: str) -> str | None:
        """Which joint stays open."""
        return self._interface(system).reason(name, type(self).__name__)

    def margins(self, system: System, dt: float, touched: list[str] | None = None) -> Mapping[str, float]:
        """Of springs and dampers: their forces are explicit, as elsewhere. Joints set no limit to the step."""
        if not system.force_home:
            return {}
        try:
            return stability_margins(system, 2.0 / LIMITS[self.order] * dt, touched, glued=True)
        finally:
            system.elements.clock[GAIN_STEP] = dt

    @property
    def tells_through_joints(self) -> bool:
        """Where all joints are solved for at once."""
        return self._local is None

    @property
    def swings(self) -> float | None:
        """As far as the composition goes."""
        return LIMITS[self.order]

    def cure(self, system: System, dt: float) -> tuple[str, float | None]:
        """A step with which the tick comes to its end: tried, where joints stay open, and only told if there is one."""
        interface = self._interface(system)
        if isinstance(interface, SideBySide) or interface.why != OPEN or not can_repeat_a_tick(system):
            return self.shorter(system, dt / 4)
        divisions = divisions_that_converge(
            system, interface, lambda start, stop: self.advance(system, dt, start, stop)
        )
        return (
            self._locked(system, dt / TRIED_DIVISORS[-1]) if divisions is None else self.shorter(system, dt / divisions)
        )

    def _locked(self, system: System, dt: float) -> tuple[str, None]:
        """What to do where no step helps, down to one of dt."""
        return (
            f"no smaller step helps (tried down to dt = {dt:.2g} s): these joints cannot be closed from this "
            "state; check for a course, a speed or a load that demands more than they can reach, such as a heavy "
            "body that pulls light ones straight"
        ), None

    def remedy(self, margin: float, dt: float) -> tuple[str, float | None]:
        """A smaller step."""
        return f"take dt = {dt / 4:.2g} s", dt / 4
