"""The whole system at once: the coupling that modular ones are held against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coordinator.couplings.centralized import HHT, Solver
from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.explicit import find_fastest
from coordinator.couplings.centralized.freedoms import find_freedoms
from coordinator.couplings.centralized.solver import NoSolution, State, finite, settled
from coordinator.couplings.centralized.whole import Whole, account, integrated, swiftest, worth_while
from coordinator.engine.program import Operation, TickProgram
from coordinator.system import System
from modular.elements import Array
from modular.errors import CouplingError, ModelError
from modular.one_thread import on_one_thread


@dataclass(frozen=True)
class Centralized(Whole):
    """One solver for all components, as `Centralized(HHT())` or `Centralized(MinimalCoordinates(method="DOP853"))`."""

    solver: Solver = field(default_factory=HHT)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.solver, Solver):
            raise ModelError(f"Centralized: solver = {self.solver!r} is not a solver; give one such as HHT() or GGL().")

    @property
    def declared_order(self) -> int | None:
        """That of its solver."""
        return self.solver.declared_order

    @property
    def meets_corners(self) -> bool:
        """As its solver does."""
        return self.solver.meets_corners

    @on_one_thread
    def configure(self, system: System, dt: float) -> None:
        """Bodies must write down their equations, and the solver must be able to treat every joint."""
        equations = self.equations_of(system)
        reason = self.solver.refuses(equations)
        if reason is not None:
            raise CouplingError(reason)
        system.cache = {"equations": equations, "solver": {}}

    def program(self, system: System) -> TickProgram | None:
        """Ticks that are one compiled call each, for the engine; one that finds no end is left to the step."""
        step = self.solver.compiled_step(system, system.cache["equations"])
        if step is None:
            return None
        tick: list[Operation] = [(step, "advance")]
        return TickProgram(
            first_tick=tick, next_ticks=tick, evaluations=0, begin=step.take_memory, end=step.tell, left_to_step=True
        )

    def divided(self, system: System) -> TickProgram | None:
        """One solver for all is not divided among workers."""
        return None

    def checkpoint_state(self, system: System) -> dict[str, Any]:
        """Scales that were taken where the present topology began, and what the solver remembers."""
        equations: Equations = system.cache["equations"]
        return {"extent": equations.extent, "scale": equations.scale, "solver": system.cache["solver"]}

    def restore_state(self, system: System, state: Mapping[str, Any]) -> None:
        """Stand so."""
        equations: Equations = system.cache["equations"]
        equations.extent, equations.scale = state["extent"], state["scale"]
        system.cache["solver"] = dict(state["solver"])
        system.cache.pop("whole step", None)

    @on_one_thread
    def advance(self, system: System, dt: float, start: float = 0.0, stop: float = 1.0) -> str | None:
        """One tick, or a part of it, by the solver."""
        equations: Equations = system.cache["equations"]
        step = self.solver.compiled_step(system, equations)
        if step is not None and step.advance((stop - start) * dt, (system.tick + stop) * dt):
            return None
        before = equations.evaluations
        q, v = equations.read()
        state = State(q, v, system.memory["a"], system.memory["multipliers"])
        equations.at((system.tick + start) * dt)
        end = (system.tick + stop) * dt
        try:
            with np.errstate(all="ignore"):  # what leaves the numbers is told below, with a reason
                state = self.solver.advance(
                    equations, state, (system.tick + start) * dt, (stop - start) * dt, system.cache["solver"]
                )
                system.evaluations += equations.evaluations - before  # of the method, not of what is shown
                shown = settled(equations, end, state.q, state.v) if self.solver.rough else state
            finite(shown.q, shown.v, shown.a, shown.multipliers)
        except (NoSolution, np.linalg.LinAlgError) as error:
            equations.go(q, v)
            system.cache["reason"] = f"{type(self.solver).__name__} found no next state, {error}"
            found = _no_solution(equations, error, (system.tick + start) * dt, (stop - start) * dt)
            system.cache["reason"] += f": {found.cause}" if found.cause else ""
            system.cache["cure"] = (found.remedy, found.step)
            equations.go(q, v)
            return found.body or swiftest(equations, v)
        begun = State(q, v, system.memory["a"], system.memory["multipliers"])
        done = self._works(system, equations, begun, state, (system.tick + start) * dt, (stop - start) * dt)
        system.memory = {"a": state.a, "multipliers": state.multipliers}
        self.show(system, equations, shown, end)
        for k, stack in enumerate(system.booked):
            if done is None:
                stack.account(system.elements, (stop - start) * dt)
            else:
                account(stack, system.elements, (stop - start) * dt, done[k])
        return None

    def _works(
        self, system: System, equations: Equations, begun: State, ended: State, time: float, h: float
    ) -> list[Array] | None:
        """What all did within a tick; None where ends of ticks tell that as well, or nobody can be asked."""
        if self.solver.rough or (self.solver.declared_order or np.inf) <= 2 or not worth_while(system):
            return None
        try:
            with np.errstate(all="ignore"):
                return integrated(system, equations, begun, ended, time, h)
        except (NoSolution, np.linalg.LinAlgError):  # a singular place on the way
            return None

    def remedy(self, margin: float, dt: float) -> tuple[str, float | None]:
        """A smaller step, or a solver that passes singular configurations."""
        other = (
            "" if isinstance(self.solver, HHT) else ", or a solver that passes places where motions part, such as HHT()"
        )
        return f"take dt = {dt / 4:.2g} s{other}", dt / 4


def _no_solution(equations: Equations, error: Exception, time: float, h: float) -> NoSolution:
    """What a solver says of its failure, or what is elastic and too fast for the step it was given."""
    if isinstance(error, NoSolution) and error.remedy is not None:
        return error
    try:
        fastest = find_fastest(equations, find_freedoms(equations), time, h)
    except (np.linalg.LinAlgError, ValueError):  # nothing to be found out where it stands
        fastest = None
    if fastest is None or fastest.followed:
        return NoSolution(str(error))
    step = min(fastest.step, h / 4)
    return NoSolution(
        str(error),
        cause=f"the step is too long for the elastic parts: {fastest.describe(h)}",
        body=fastest.body,
        remedy=f"take dt = {step:.2g} s, or MinimalCoordinates(), which is implicit there",
        step=step,
    )
