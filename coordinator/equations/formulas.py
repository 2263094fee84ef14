"""A coupling that moves a model by code generated from its formulas; many variants of a model by the same code, four at a time.

What components write of themselves becomes one function for accelerations and reactions (common_formulas.py), in which masses,
lengths and the numbers of forces are parameters. Steps are those of a method of order eight (runge_kutta.py). So it is the fastest
way to move small models, and many variants of one; formulas end where a model decides by cases (contacts, dry friction, stops).

What may go along with a motion by formulas, such as its tangents: what it is told, and what it keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from coordinator.building import UnlikeModels
from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.solver import State
from coordinator.couplings.centralized.whole import REST_SPEED_TOLERANCE, Whole, swiftest
from coordinator.equations import need_sympy
from coordinator.equations.parts import kept, parts_in
from coordinator.system import System
from modular.elements import Array
from modular.errors import CouplingError, ModelError
from modular.one_thread import on_one_thread

if TYPE_CHECKING:
    from coordinator.equations.common_formulas import CommonFormulas
    from coordinator.equations.ledgers import LedgerMap
    from coordinator.equations.passages import Passages


class StepObserver(Protocol):
    """One that is told of every step and of every change."""

    def names(self, system: System) -> frozenset[str]:
        """Components, or single numbers, that are to have names in the formulas also where they are nothing."""

    def configured(self, system: System, common: CommonFormulas) -> None:
        """Formulas were written: at the start, and after every change of the model."""

    def settled(self, system: System, before: Mapping[str, Array], time: float) -> None:
        """Accelerations were found anew; `before` is what was remembered until then."""

    def advanced(self, system: System, before: State, after: State, time: float, h: float) -> dict[str, Array]:
        """A step was taken; what is to be remembered beside the motion."""


OPEN = 1e-6  # of the extent, before the last correction, which leaves the square of that


@dataclass(frozen=True)
class Formulas(Whole):
    """Code that is generated from the formulas of the model, and a Runge-Kutta method of order eight; needs the extra `symbolic`.

    The tick is its step. Components without a formula are refused by name.
    """

    @property
    def declared_order(self) -> int:
        """Of Dormand and Prince."""
        return 8

    @on_one_thread
    def configure(self, system: System, dt: float) -> None:
        """Write the formulas of the first model that stands here, and hold those of all others against what their parts say."""
        need_sympy("the code of Formulas()")
        from coordinator.equations.common_formulas import CommonFormulas
        from coordinator.equations.ledgers import LedgerMap
        from coordinator.equations.passages import Passages

        equations = self.equations_of(system, scaled=False)
        observer: StepObserver | None = system.observer
        try:
            common = CommonFormulas(system, equations, frozenset() if observer is None else observer.names(system))
        except (CouplingError, UnlikeModels):
            raise
        except ModelError as error:
            raise CouplingError(f"Formulas: {error}") from error
        system.cache = {
            "equations": equations,
            "formulas": common,
            "books": LedgerMap(common),
            "passages": Passages(common),
        }
        if observer is not None:
            observer.configured(system, common)

    def settle(self, system: System, dt: float, touched: Iterable[str]) -> None:
        """As ever; who goes along is told."""
        before = system.memory
        super().settle(system, dt, touched)
        common: CommonFormulas = system.cache["formulas"]
        system.memory["powers"] = common.motions.powers[: len(common.models)].copy()
        if "missed" in before:
            system.memory["missed"] = before["missed"]
        if system.observer is not None:
            system.observer.settled(system, before, system.time(dt))

    def consistent(self, system: System, equations: Equations, q: Array, v: Array) -> Array:
        """As ever; of many models each by its own velocities, and one that an impulse has to stop does not stand beside others."""
        common: CommonFormulas = system.cache["formulas"]
        if system.parted is None or system.observer is not None:
            return super().consistent(system, equations, q, v)
        limits = REST_SPEED_TOLERANCE * np.maximum(1.0, np.abs(v[common.columns]).max(axis=1))
        moving = np.abs(equations.rates()[common.rows]).max(axis=1, initial=0.0) > limits
        if moving.any():
            which = np.array([system.parted(next(iter(model.values())))[1] for model in common.models])
            raise UnlikeModels([*([k] for k in which[moving].tolist()), which[~moving].tolist()])
        return v

    def checkpoint_state(self, system: System) -> dict[str, Any]:
        """Scales that were taken where the formulas were written."""
        common: CommonFormulas = system.cache["formulas"]
        return dict(common.scales())

    def restore_state(self, system: System, state: Mapping[str, Any]) -> None:
        """Stand so."""
        common: CommonFormulas = system.cache["formulas"]
        common.take_scales(state)

    def rest_of(self, system: System, equations: Equations, time: float, q: Array, v: Array) -> State:
        """By the same code as in steps."""
        common: CommonFormulas = system.cache["formulas"]
        common.read(q, v, np.zeros(equations.size))
        common.read_turns()
        common.rest(time)
        a, multipliers = np.zeros(equations.size), np.zeros(equations.rows)
        common.tell(a=a, multipliers=multipliers)
        return State(q, v, a, multipliers)

    @on_one_thread
    def advance(self, system: System, dt: float, start: float = 0.0, stop: float = 1.0) -> str | None:
        """One tick, or a part of it."""
        equations: Equations = system.cache["equations"]
        common: CommonFormulas = system.cache["formulas"]
        q, v = equations.read()
        time, h = (system.tick + start) * dt, (stop - start) * dt
        if "powers" not in system.memory:  # of a checkpoint from before they were kept
            common.read(q, v, system.memory["a"])
            common.rest(time)
            system.memory["powers"] = common.motions.powers[: len(common.models)].copy()
        common.read(q, v, system.memory["a"])
        common.read_turns()
        common.motions.powers[: len(common.models)] = system.memory["powers"]
        passages: Passages = system.cache["passages"]
        held, parts = passages.read(system.memory.get("passages")), parts_in(system.memory, len(common.models))
        set_out = (q, v, system.memory["a"], system.memory["powers"])
        held = passages.step(set_out, held, parts, time, h, dt, OPEN)
        system.evaluations += 13
        state = State(*(np.empty(size) for size in (*(equations.size,) * 3, equations.rows)))
        common.tell(q=state.q, v=state.v, a=state.a, multipliers=state.multipliers)
        wrong = common.wrong(OPEN, held if system.observer is None else ())
        if wrong is not None:
            model, reason = wrong
            system.cache["reason"] = f"Formulas found no next state: {reason}"
            with np.errstate(all="ignore"):
                own = np.zeros(equations.size)
                own[common.columns[model]] = np.nan_to_num(v[common.columns[model]])
            equations.go(q, v)
            return swiftest(equations, own)
        passages.tell(held, state, system.memory["multipliers"], time + h)
        before = State(q, v, system.memory["a"], state.multipliers)
        along = {} if system.observer is None else system.observer.advanced(system, before, state, time, h)
        powers = common.motions.powers[: len(common.models)].copy()
        system.memory = {
            "a": state.a,
            "multipliers": state.multipliers,
            "powers": powers,
            "missed": system.memory.get("missed", 0.0) + common.motions.missed[: len(common.models)],
            **along,
            **passages.pack(held),
            **kept(parts),
        }
        self.show(system, equations, state, time + h)
        ledgers: LedgerMap = system.cache["books"]
        ledgers.account(system, h)
        return None

    def missed(self, system: System) -> Array | None:
        """What steps have left out of each model that stands here [m], all of them together, by what each has told."""
        return np.asarray(system.memory["missed"][:, 0]) if "missed" in system.memory else None

    def remedy(self, margin: float, dt: float) -> tuple[str, float | None]:
        """A smaller step, or another coupling where formulas change from place to place."""
        return (
            f"take dt = {dt / 4:.2g} s, or Glued(), for stiff forces and for places where rows begin to depend on others",
            dt / 4,
        )
