"""The coupling of the thesis: explicit springs and dampers in the joints, one exchange per step.

Séguy 2003, chapter IV and Figure IV-2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, cast

from coordinator.couplings.adapting import (
    BEYOND,
    DEEPEST,
    REFUSED,
    TAKEN,
    Halving,
    advance_adaptively,
    look_about,
    state_of,
)
from coordinator.couplings.coupling import require
from coordinator.couplings.equilibrium import carry_loads, just_made, start_as_predicted
from coordinator.couplings.interface.bounds import margins_of
from coordinator.couplings.interface.mixture import RuleInPython
from coordinator.couplings.interface.position_stage import tolerate
from coordinator.couplings.interface.projection import settle
from coordinator.couplings.margins import stability_margins
from coordinator.couplings.rules import Stable, StiffnessRule
from coordinator.couplings.with_components import WithComponents
from coordinator.engine.program import STRIKES, Operation, TickProgram, compiled, exerting, perform
from coordinator.engine.region import EventOperation, Region
from coordinator.system import System
from modular.body import GivesCompliance, PredictsAndCorrects
from modular.elements import GAIN_STEP, STEP
from modular.errors import ModelError
from modular.guarding import guard_loop
from modular.internal_gains import InternalGains
from modular.joints import Joints
from modular.newmark import Newmark
from modular.numbers import number


def guarded(joints: Joints) -> Operation:
    """What lets joints settle their accounts of energy."""
    joints.loops["guard"] = guard_loop
    return joints, "guard"


@dataclass(frozen=True)
class Penalty(WithComponents):
    """Explicit penalty joints; second order in dt with the default gains."""

    verbs: ClassVar[tuple[str, ...]] = (
        "show", "linearise", "measure_rates", "save_forces", "respond", "compute_compliance", "find_uneven",
        "compute_seen_mass", "compute_mobility", "request_demand", "bound_demands", "stiffen", "compute_parting",
        "use_present_velocity", "exert", *STRIKES, "reevaluate", "predict", "show_end_velocity", "respond_predicted",
        "update_preload", "use_end_velocity", "restore_forces", "save_previous", "open", "save_bounds", "compute_demand",
        "compute_margin", "restore_bounds", "wrenches", "correct_and_predict", "account_and_exert", "account",
    )  # fmt: skip
    adapts: ClassVar[bool] = True  # whether a tick may be taken in halves

    rule: StiffnessRule = field(default_factory=Stable)
    newmark: Newmark = field(default_factory=Newmark)
    internal: InternalGains = field(default_factory=InternalGains)
    preload: bool = True  # new joints carry their load from the start, and do not swing into it (equilibrium.py)
    adaptive: float | None = None  # what joints may leak in a second, a share of the energy that is about (adapting.py)
    guard: bool = False  # joints settle their accounts of energy (modular/guarding.py)
    implicit_forces: bool = True  # those that the step does not resolve are found, not exerted

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.rule, StiffnessRule):
            raise ModelError(
                f"Penalty: rule = {self.rule!r} is not a stiffness rule; give one such as Stable() or "
                "Shannon(delta=0.2)."
            )

        if self.adaptive is not None:
            if not 0.0 < number(self.adaptive, f"{type(self).__name__}: adaptive", "1/s") < 1.0:
                raise ModelError(
                    f"{type(self).__name__}: adaptive = {self.adaptive!r}; give the share of the total energy that "
                    "joints may leak per second, such as 1e-4."
                )
            if not self.adapts:
                raise ModelError(f"{type(self).__name__}: adaptive steps are for Penalty alone; leave adaptive out.")

    # --- a tick ------------------------------------------------------------------------------------------------------

    def configure(self, system: System, dt: float) -> None:
        """Bodies must predict, correct and report their compliance; those of components must step on their own."""
        if self.mixture(system) is not None:
            tolerate(system, self.tolerance)
        if system.cache.get("configured") == (system.turnover, dt, self):
            return  # nobody is new
        require(system, PredictsAndCorrects, "Penalty", "predict and correct their state")
        require(system, GivesCompliance, "Penalty", "report their compliance")
        self._hand_out(system, dt)
        system.cache["configured"] = (system.turnover, dt, self)
        system.cache.pop("stack registry", None)

    def advance(self, system: System, dt: float, start: float = 0.0, stop: float = 1.0) -> str | None:
        """One tick (or a part of it), as Figure IV-2: predict, exchange, solve locally, correct."""
        if (mixture := self.mixture(system)) is not None:
            system.elements.clock[:] = (stop - start) * dt, (system.tick + stop) * dt, dt
            return mixture.advance()
        span, end = (stop - start) * dt, (system.tick + stop) * dt
        if self.adaptive is None:
            system.evaluations += 1
            return self._step(system, dt, span, end)
        halving = self._halving(system)
        if not halving.compiled:
            return advance_adaptively(
                system, span, end, self.adaptive, lambda step, time: self._step(system, dt, step, time)
            )
        system.elements.clock[:] = span, end, dt
        return perform(system.elements, [(halving, "advance")])

    def _halving(self, system: System) -> Halving:
        """Ticks in halves, for the stacks that there are."""
        known = system.cache.get("halving")
        key = (system.version, id(system), id(system.elements), system.elements.sheet, system.turns, self)
        if known is None or known[0] != key:
            refresh = self.refreshing_in_a_tick(system)
            rule: list[Operation] = [(RuleInPython(self.rule, system), "refresh")] if refresh is None else refresh
            show: list[Operation] = [(bodies, "show") for bodies in system.bodies]
            operations = [*self.approach(system), *rule, *self.answer(system), *show]
            known = system.cache["halving"] = key, Halving(system, operations, self.adaptive or 0.0)
        return cast(Halving, known[1])

    def _step(self, system: System, dt: float, step: float, time: float) -> str | None:
        """One step, which ends at a time, with the gains of `dt`."""
        elements = system.elements
        elements.clock[:] = step, time, dt
        wrong = perform(elements, self.approach(system))
        refresh = self.refreshing_in_a_tick(system)  # seen masses turn with the bodies, and springs against them
        if refresh is None:
            self.rule.refresh(system, dt)
        else:
            perform(elements, refresh)
        wrong = perform(elements, self.answer(system)) or wrong
        for bodies in system.bodies_as(PredictsAndCorrects):
            bodies.show(elements)
        return wrong

    def approach(self, system: System) -> list[Operation]:
        """Before the stiffness is known: predict, show the predicted ports, write the joint equations there."""
        operations: list[Operation] = [(bodies, "predict") for bodies in system.bodies]
        if system.force_home:
            operations += [
                (bodies, "show_end_velocity") for bodies in system.bodies if compiled((bodies, "show_end_velocity"))
            ]
        return operations + [(joints, "linearise") for joints in system.joints]

    def answer(self, system: System) -> list[Operation]:
        """Joint forces, local solves, correction, and the energy of the tick."""
        booked = system.booked
        operations = exerting(booked)
        if self.guard:
            operations += [guarded(joints) for joints in system.joints]
        operations += [(bodies, "correct") for bodies in system.bodies]
        return operations + [(stack, "account") for stack in booked]

    def program(self, system: System) -> TickProgram | None:
        """The same ticks for the engine, but for adaptive ones; points that coincide need no equations of their own.

        With joints alone, bodies correct and predict in one go, and joints book the tick that has passed when they exert
        for the next: every row is fetched once per tick.
        """
        if (mixture := self.mixture(system)) is not None:
            return mixture.tick_program()
        if self.adaptive is not None:
            halving = self._halving(system)
            step: list[Operation] = [(halving, "advance")]
            return TickProgram(first_tick=step, next_ticks=step, evaluations=0) if halving.compiled else None
        refresh = self.refreshing_in_a_tick(system)
        if refresh is None:
            return None
        approach = [*self.approach(system), *refresh]
        approach = [
            operation
            for operation in approach
            if operation[1] != "linearise" or operation[0].form.coincident < operation[0].form.rows
        ]
        bodies, joints = list(system.bodies), list(system.joints)
        hand: list[Operation] = [(stack, verb) for stack in bodies for verb in ("correct_and_predict", "show")]
        hand += [(stack, "account_and_exert") for stack in joints]
        if system.force_home or self.guard or not all(map(compiled, hand)):
            whole = [*approach, *self.answer(system)]
            return TickProgram(first_tick=whole, next_ticks=whole)
        between = [operation for operation in approach if operation[1] != "predict"]
        correct_and_predict: list[Operation] = [(stack, "correct_and_predict") for stack in bodies]
        return TickProgram(
            prologue=[operation for operation in approach if operation[1] == "predict"],
            first_tick=[*between, *((stack, "exert") for stack in joints), *correct_and_predict],
            next_ticks=[*between, *((stack, "account_and_exert") for stack in joints), *correct_and_predict],
            epilogue=[*((stack, "show") for stack in bodies), *((stack, "account") for stack in joints)],
        )

    def settle(self, system: System, dt: float, touched: Iterable[str]) -> None:
        """Accelerations are state with a memory: after an event a stale one would lower the order to one.

        Only touched bodies are re-evaluated; on the others the forces of the last tick stay, in their accelerations and in
        the ledger.
        """
        mixture = self.mixture(system)
        if self.adaptive is not None:
            look_about(system)
        self._rest(system, dt)
        try:
            if self.take_implicit(system, dt, touched):
                self.settle(system, dt, touched)
            elif mixture is None:
                self._settle(system, dt, touched)
            else:
                settle(mixture, self.rule, dt, preload=self.preload)
        finally:  # also where a law has no answer
            self._hand_out(system, dt)

    def _settle(self, system: System, dt: float, touched: Iterable[str]) -> None:
        """Leaves the bodies with gains at rest."""
        region = Region.of(system, touched)
        new = just_made(region) if self.preload else []
        if new:
            carry_loads(region, dt, new)
            region.play("settle", self._settling)
            start_as_predicted(region, dt, new, self._turns)
        else:
            region.play("keep and settle", lambda region: [*region.save_forces(), *self._settling(region)])

    def _turns(self, region: Region) -> bool:
        """Whether the rule lets preloads turn with the bodies."""
        return any(verb == "compute_parting" for _, verb in self.refreshing(region) or ())

    def _rest(self, system: System, dt: float) -> None:
        """Now, with gains at rest: see equilibrium.py."""
        system.elements.clock[:] = 0.0, system.time(dt), dt
        self._hand_out(system, float("inf"))

    def _hand_out(self, system: System, dt: float) -> None:
        """Settings of the scheme, those that bodies have of their own instead of ours (modular/integrator.py)."""
        for bodies in system.bodies:
            name = bodies.names[0]
            own = system.described[name].integrator
            settings = self.newmark, self.internal, dt
            if own is not None:
                settings = own.settings(f"body '{name}'", *settings, elastic=getattr(bodies, "elastic", False))
            cast(PredictsAndCorrects, bodies).configure(*settings)

    def _settling(self, region: Region) -> list[EventOperation]:
        """Stiffness, forces and accelerations of what an event touches."""
        elements = region.elements
        operations: list[EventOperation] = [(bodies, "show") for bodies in region.bodies]
        if region.system.force_home:
            operations.append((elements, "use_present_velocity"))
        operations += [(joints, "linearise") for joints in region.joints]
        refresh = self.refreshing(region)
        operations += [self._refresh] if refresh is None else refresh
        operations += exerting((*region.joints, *region.forces))
        return [*operations, *region.restore_forces(), *((bodies, "reevaluate") for bodies in region.bodies)]

    def _refresh(self, region: Region) -> None:
        """A rule in Python knows no regions; there is no step, although loads were tried with one (equilibrium.py)."""
        clock = region.elements.clock
        step, clock[STEP] = float(clock[STEP]), 0.0
        self.rule.refresh(region.system, float(clock[GAIN_STEP]))
        clock[STEP] = step

    def counters(self, system: System) -> dict[str, float]:
        """Of adaptive ticks: which were refused, and which leaked too much all the same."""
        if self.adaptive is None:
            return super().counters(system)
        state = state_of(system)
        return {
            "evaluations": float(state[TAKEN]),
            "refused": float(state[REFUSED]),
            "beyond": float(state[BEYOND]),
            "most steps in a tick": 2.0 ** float(state[DEEPEST]),
        }

    def why_not_merge(self, system: System, body: str) -> str | None:
        """It must be able to step on its own, and not with all others in adaptive ticks."""
        if self.adaptive is not None:
            return "is under Penalty(adaptive=…), which steps all bodies alike; leave adaptive out, or take Merged()"
        return super().why_not_merge(system, body)

    def margins(self, system: System, dt: float, touched: list[str] | None = None) -> Mapping[str, float]:
        """From the local coupled bound."""
        if (mixture := self.mixture(system)) is not None:
            return margins_of(mixture, dt)
        return stability_margins(system, dt, touched)

    def remedy(self, margin: float, dt: float) -> tuple[str, float | None]:
        """Internal gains beyond their limit call for a step, joints beyond theirs for another rule."""
        if self.internal.frequency is not None and self.internal.frequency * dt > self.internal.limit:
            step = 0.8 * self.internal.limit / self.internal.frequency
            return (
                f"the internal gains are too stiff for this step: take dt = {step:.2g} s, or tie them to the step",
                step,
            )
        return self.rule.remedy(margin, dt)
