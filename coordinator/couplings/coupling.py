"""The contract of a coupling: how the components advance by one tick together.

A coupling by what people call it: `glued`, `penalty(rule=shannon)`, `hht(alpha=0.05)`.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from coordinator.engine.program import TickProgram
from coordinator.system import System
from modular.component import Component
from modular.elements import Array
from modular.errors import CouplingError
from modular.force import Force
from modular.names import first_few
from modular.typed import component_of, makers, parse


class Coupling(Component):
    """One way of stepping a system; settings only, no memory."""

    # what stacks will be asked for from the first tick on, in that order: such loops are compiled by several processes
    verbs: ClassVar[tuple[str, ...]] = ()

    @property
    def declared_order(self) -> int | None:
        """Its order in dt; None where it chooses steps of its own inside a tick."""
        return 2

    @abstractmethod
    def configure(self, system: System, dt: float) -> None:
        """Check by name that every component offers what this coupling needs, and hand out its settings."""

    @abstractmethod
    def settle(self, system: System, dt: float, touched: Iterable[str]) -> None:
        """After an event: re-evaluate the accelerations of the touched bodies at their unchanged state."""

    def settle_begun(self, system: System, dt: float, begun: Sequence[str], touched: Sequence[str]) -> None:
        """After encounters of surfaces have begun; `touched`: bodies of those that may touch at once."""
        self.settle(system, dt, touched)

    @abstractmethod
    def advance(self, system: System, dt: float, start: float = 0.0, stop: float = 1.0) -> str | None:
        """Advance everything by one tick of `dt`, or by the part of it from `start` to `stop` with the gains of the whole.

        Returns the name of a body that went wrong, if any.
        """

    def program(self, system: System) -> TickProgram | None:
        """Whole ticks as operations in order, for the engine; None where a tick is more than that."""
        return None

    def divided(self, system: System) -> TickProgram | None:
        """The same for workers, who move a part each; None where a tick cannot be divided among them."""
        return self.program(system)

    def checkpoint_state(self, system: System) -> dict[str, Any]:
        """What `configure` does not find again where the system stands now: numbers and arrays, for checkpoints."""
        return {}

    def restore_state(self, system: System, state: Mapping[str, Any]) -> None:
        """Go back to that state, once configured."""

    def missed(self, system: System) -> Array | None:
        """What its steps have left out of each of the models that stand here [m]; None where samples are to tell of it."""
        return None

    def counters(self, system: System) -> dict[str, float]:
        """What it counted on the way, by name, for the timings of a run."""
        return {}

    def reason(self, system: System, name: str) -> str | None:
        """Why a tick found no end, where `name` is who went wrong in it; None where a body lost its shape, as any may."""
        return None

    def ways(self, system: System) -> Mapping[str, tuple[str, str]]:
        """How every joint is treated, and why, where that is not the same for all."""
        return {}

    def why_not_merge(self, system: System, body: str) -> str | None:
        """Why a body cannot be merged with others; None where it can, or where all joints are without play anyway."""
        return None

    def sets_aside(self, system: System, body: str) -> str | None:
        """Why the integrator of a body means nothing under it; None where it counts."""
        return None

    looks = 0  # ticks after which it wants to look at the ledger; 0: never

    def look(self, system: System) -> dict[tuple[str, ...], str]:
        """Neighbours that should be merged, and why; asked between two ticks."""
        return {}

    @abstractmethod
    def margins(self, system: System, dt: float, touched: list[str] | None = None) -> Mapping[str, float]:
        """Stability margin of every joint, or of those on some bodies; empty where the coupling has no such limit."""

    @property
    def swings(self) -> float | None:
        """omega dt up to which bodies may swing under their loads between joints that all hold at once; None where springs hold."""
        return None

    def forces_found(self, system: System) -> set[str]:
        """Forces that are found together with the reactions of joints where the step does not resolve them (implicit.py)."""
        return set()

    def order_beside(self, force: Force) -> int | None:
        """Of which order in the step a force lets a run be; None: of any."""
        return force.order

    def unseen_by_blows(self, system: System, force: str) -> Iterable[str]:
        """Glued joints that do not count where a force finds how the bodies that it strikes answer it."""
        return ()

    @property
    def tells_through_joints(self) -> bool:
        """Whether contacts that carry what rests are told how bodies answer through their joints (interface/islands.py)."""
        return False

    @property
    def at_once(self) -> bool:
        """Whether all joints hold at once, without springs."""
        return self.swings is not None

    def cure(self, system: System, dt: float) -> tuple[str, float | None]:
        """The remedy where a tick found no end for a reason of its own (`reason`), as the system stands."""
        return self.remedy(1.0, dt)

    def shorter(self, system: System, step: float) -> tuple[str, float | None]:
        """A step of this length as the remedy, and what else may help as the system stands."""
        return self.remedy(1.0, 4.0 * step)

    @abstractmethod
    def remedy(self, margin: float, dt: float) -> tuple[str, float | None]:
        """What would hold instead: a sentence, and a step [s] where a step helps."""


def require(
    system: System, capability: type, coupling: str, what: str, remedy: str = "Choose another coupling"
) -> None:
    """Refuse by name the bodies that lack a capability."""
    stacks = [bodies for bodies in system.bodies if not isinstance(bodies, capability)]
    lacking = [name for bodies in stacks for name in bodies.names]
    if lacking:
        reasons = [reason for bodies in stacks if (reason := getattr(bodies, "why_not", ""))]
        why = f" ({reasons[0]})" if reasons else ""
        raise CouplingError(
            f"{coupling} needs bodies that {what} ({capability.__name__}); {first_few(lacking)} cannot{why}. {remedy}."
        )


def coupling_named(text: str, option: str) -> Coupling:
    """A coupling, or a centralized solver by its own name: `hht(alpha=0.05)` for `centralized(solver=hht(alpha=0.05))`."""
    from coordinator.couplings.centralized import Solver  # slow to load
    from coordinator.couplings.centralized.coupling import Centralized

    node = parse(text, option)
    function = node.func if isinstance(node, ast.Call) else node
    if isinstance(function, ast.Name) and function.id.lower() in makers(Solver):
        return Centralized(component_of(Solver, node, f"{option} {text}"))
    found: Coupling = component_of(Coupling, node, f"{option} {text}", also=makers(Solver))
    return found
