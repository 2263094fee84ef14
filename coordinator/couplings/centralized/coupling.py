"""The whole system at once: the coupling that modular ones are held against."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coordinator.couplings.centralized import HHT, Solver
from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.fastest import find_fastest
from coordinator.couplings.centralized.freedoms import find_freedoms
from coordinator.couplings.centralized.solver import NoSolution, State, finite, settled
from coordinator.couplings.coupling import Coupling, require
from coordinator.system import System
from modular.body import GivesEquations
from modular.elements import Array
from modular.errors import CouplingError, ModelError
from modular.ledger import IMPACT, LEAKED
from modular.names import first_few
from modular.one_thread import on_one_thread

REST_SPEED_TOLERANCE = 1e-9  # of the largest velocity: what joints may find moving against them after an event


@dataclass(frozen=True)
class Centralized(Coupling):
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
        require(system, GivesEquations, "Centralized", "write down their equations", "Penalty() can treat them")
        forward = [name for stack in system.forces if getattr(stack, "forward_only", False) for name in stack.names]
        if forward:
            raise CouplingError(
                f"Centralized: {first_few(forward)} can only step forward, but solvers iterate on the state; take "
                "Penalty(), Glued() or Relaxed()."
            )
        system.show()
        equations = Equations(system)
        reason = self.solver.refuses(equations)
        if reason is not None:
            raise CouplingError(reason)
        system.cache = {"equations": equations, "solver": {}}

    def checkpoint_state(self, system: System) -> dict[str, Any]:
        """Scales that were taken where the present topology began, and what the solver remembers."""
        equations: Equations = system.cache["equations"]
        return {"extent": equations.extent, "scale": equations.scale, "solver": system.cache["solver"]}

    def restore_state(self, system: System, state: Mapping[str, Any]) -> None:
        """Stand so."""
        equations: Equations = system.cache["equations"]
        equations.extent, equations.scale = state["extent"], state["scale"]
        system.cache["solver"] = dict(state["solver"])

    @on_one_thread
    def settle(self, system: System, dt: float, touched: Iterable[str]) -> None:
        """Consistent velocities, accelerations and reactions at the unchanged place."""
        equations: Equations = system.cache["equations"]
        q, v = equations.read()
        equations.at(system.time(dt))
        equations.go(q, v)
        limit = REST_SPEED_TOLERANCE * max(1.0, float(np.abs(v).max(initial=0.0)))
        if float(np.abs(equations.rates()).max(initial=0.0)) > limit:
            v = self._stop(system, equations, q, v)
        state = settled(equations, system.time(dt), q, v)
        system.memory = {"a": state.a, "multipliers": state.multipliers}
        self._show(system, equations, state, system.time(dt))
        elements = system.elements
        elements.force_before[:] = elements.force
        elements.velocity_before[:] = elements.velocity
        for stack in system.booked:
            stack.open_books()

    def _stop(self, system: System, equations: Equations, q: Array, v: Array) -> Array:
        """One impulse of all joints together stops what moves against them; each books what it takes as an impact."""
        elements = system.elements
        change, impulses = equations.saddle(equations.mass, equations.jacobian()).solve(
            np.zeros(equations.size), -equations.rates()
        )
        elements.velocity_before[:] = elements.velocity
        equations.go(q, v + change)
        equations.exert_joints(impulses)
        elements.force_before[:] = elements.force
        for joints in equations.joints:
            left = joints.ledger[: joints.count, LEAKED].copy()
            joints.drawn[:, 1:] = joints.drawn[:, :1]
            joints.account(elements, 1.0)
            joints.ledger[: joints.count, IMPACT] += joints.ledger[: joints.count, LEAKED] - left
            joints.ledger[: joints.count, LEAKED] = left
        return np.asarray(v + change)

    @on_one_thread
    def advance(self, system: System, dt: float, start: float = 0.0, stop: float = 1.0) -> str | None:
        """One tick, or a part of it, by the solver."""
        equations: Equations = system.cache["equations"]
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
            return found.body or _swiftest(equations, v)
        system.memory = {"a": state.a, "multipliers": state.multipliers}
        self._show(system, equations, shown, end)
        for stack in system.booked:
            stack.account(system.elements, (stop - start) * dt)
        return None

    def _show(self, system: System, equations: Equations, state: State, time: float) -> None:
        """Write a state to the bodies and let joints and forces act as they do in it."""
        equations.at(time)
        equations.go(state.q, state.v)
        equations.write(a=state.a)
        for joints in system.joints:
            joints.measure(system.elements)
        for forces in system.forces:
            forces.exert(system.elements, time)
        equations.exert_joints(state.multipliers)

    def sets_aside(self, system: System, body: str) -> str | None:
        """Nobody steps by himself."""
        return "one solver steps all bodies"

    def reason(self, system: System, name: str) -> str | None:
        """What the solver said."""
        said: str | None = system.cache.get("reason")
        return said

    def cure(self, system: System, dt: float) -> tuple[str, float | None]:
        """What the solver said would help; otherwise as ever."""
        sentence, step = system.cache.get("cure", (None, None))
        return self.remedy(1.0, dt) if sentence is None else (sentence, step)

    def margins(self, system: System, dt: float, touched: list[str] | None = None) -> dict[str, float]:
        """It has no limit that hangs on the stiffness of joints."""
        return {}

    def remedy(self, margin: float, dt: float) -> tuple[str, float | None]:
        """A smaller step, or a solver that passes singular places."""
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


def _swiftest(equations: Equations, v: Array) -> str:
    """The body with the largest velocity: where to look first."""
    return max(equations.columns, key=lambda name: float(np.abs(v[equations.columns[name]]).max(initial=0.0)))
