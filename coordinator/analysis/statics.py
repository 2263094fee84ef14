"""What joints carry where a model rests, and what of it no equation tells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coordinator.analysis.linear import linear_at
from coordinator.analysis.mobility import Sharing, sharing_at, states_of_stress
from coordinator.analysis.modes import modes_of
from coordinator.analysis.reactions import reactions_of
from coordinator.analysis.resting import Rest, at_rest
from coordinator.couplings.centralized.equations import Equations
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError
from modular.names import missing
from modular.one_thread import on_one_thread


@dataclass(frozen=True)
class Statics:
    """Reactions at rest; where joints share loads, the smallest that hold: of all forces, and moments over the extent, together."""

    reactions: dict[str, Array]  # force on the second side [N], and moment about its point [N m]
    sharing: list[Sharing]  # joints of which no equation tells how they share what they carry
    dimension: int
    steps: int  # in which it came to rest

    def force(self, joint: str) -> Array:
        """On the second side [N]."""
        return self._of(joint)[: self.dimension]

    def moment(self, joint: str) -> Array:
        """About the point of the second side [N m]; none of joints that read points alone."""
        return self._of(joint)[self.dimension :]

    def unique(self, joint: str) -> bool:
        """Whether the equations tell what it carries."""
        self._of(joint)
        return all(joint not in group.joints for group in self.sharing)

    def _of(self, joint: str) -> Array:
        if joint not in self.reactions:
            raise ModelError(missing("joint", joint, self.reactions))
        return self.reactions[joint]


@dataclass(frozen=True)
class Equilibrium:
    """A place where a model rests."""

    statics: Statics
    stable: bool  # whether it comes back when it is displaced a little
    moved: float  # how far any port has gone to get there [m]

    @property
    def reactions(self) -> dict[str, Array]:
        """What its joints carry there."""
        return self.statics.reactions


@on_one_thread
def statics(model: Assembly, *, seek: bool = False) -> Statics:
    """Of a model where it stands, which has to be a place where it rests; `seek`: where it would come to rest from there.

    Gravity, loads and springs count with what they are where it rests.
    """
    with at_rest(model, seek=seek) as rest:
        return _statics_at(rest)


@on_one_thread
def equilibrium(model: Assembly) -> Equilibrium:
    """Where a model would come to rest from where it stands, whether it stays there, and what its joints carry."""
    with at_rest(model, seek=True) as rest:
        carried, linear = _statics_at(rest), linear_at(rest)
    return Equilibrium(carried, modes_of(linear).stable, linear.way[1])


def _statics_at(rest: Rest) -> Statics:
    equations, sharing = rest.equations, sharing_at(rest.equations)
    multipliers = _smallest(equations, rest.state.multipliers) if sharing else rest.state.multipliers
    return Statics(reactions_of(equations, multipliers), sharing, rest.model.dimension, rest.steps)


def _smallest(equations: Equations, multipliers: Array) -> Array:
    """With as much of the states of self-stress as makes all forces, and moments over the extent, smallest together."""
    states, dimension = states_of_stress(equations, equations.scale), equations.system.elements.dimension

    def weighed(one: Array) -> Array:
        wrenches = reactions_of(equations, one).values()
        return np.concatenate([part for w in wrenches for part in (w[:dimension], w[dimension:] / equations.extent)])

    table = np.array([weighed(state) for state in states])
    share = np.linalg.lstsq(table.T, weighed(multipliers), rcond=1e-9)[0]
    return np.asarray(multipliers - share @ states)
