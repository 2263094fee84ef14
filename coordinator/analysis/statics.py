"""What joints carry where a model rests, and what of it no equation tells."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from coordinator.analysis.equilibrium import come_to_rest, put_up
from coordinator.analysis.linear import refuse_acceleration, refuse_motion
from coordinator.analysis.mobility import RANK_TOLERANCE, Sharing, mobility
from coordinator.analysis.modes import modes
from coordinator.analysis.reactions import reactions_of
from coordinator.analysis.tangent import dense
from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.solver import settled
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError
from modular.one_thread import on_one_thread


@dataclass(frozen=True)
class Statics:
    """Reactions at rest; where joints share loads, the smallest that hold: of all forces, and moments over the extent, together."""

    reactions: dict[str, Array]  # force on the second side [N], and moment about its point [N m]
    sharing: list[Sharing]  # joints of which no equation tells how they share what they carry
    model: Assembly  # where it rests
    steps: int  # in which it came to rest
    seats: dict[str, Array] = field(repr=False)  # coordinates of the bodies

    def force(self, joint: str) -> Array:
        """On the second side [N]."""
        return self._of(joint)[: self.model.dimension]

    def moment(self, joint: str) -> Array:
        """About the point of the second side [N m]; none of joints that read points alone."""
        return self._of(joint)[self.model.dimension :]

    def unique(self, joint: str) -> bool:
        """Whether the equations tell what it carries."""
        self._of(joint)
        return all(joint not in group.joints for group in self.sharing)

    def _of(self, joint: str) -> Array:
        if joint not in self.reactions:
            raise ModelError(f"there is no joint '{joint}'; it has {', '.join(map(repr, self.reactions)) or 'none'}.")
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
    with put_up(model) as equations:
        _, v = equations.read()
        refuse_motion(equations, v)
        steps = come_to_rest(equations) if seek else 0
        q, v = equations.read()
        state = settled(equations, 0.0, q, v)
        refuse_acceleration(equations, state.a)
        sharing = mobility(model).sharing
        multipliers = _smallest(equations, state.multipliers) if sharing else state.multipliers
        return Statics(reactions_of(equations, multipliers), sharing, model, steps, _seats(equations, q))


def equilibrium(model: Assembly) -> Equilibrium:
    """Where a model would come to rest from where it stands, whether it stays there, and what its joints carry."""
    found = modes(model, seek=True)
    return Equilibrium(statics(model, seek=True), found.stable, found.linear.way[1])


def _smallest(equations: Equations, multipliers: Array) -> Array:
    """With as much of the states of self-stress as makes all forces, and moments over the extent, smallest together."""
    jacobian = dense(equations.jacobian())
    left, values, _ = np.linalg.svd(equations.scale[:, None] * jacobian)
    rank = int((values > RANK_TOLERANCE * values.max()).sum())
    states = left[:, rank:].T * equations.scale
    dimension = equations.system.elements.dimension

    def weighed(one: Array) -> Array:
        wrenches = reactions_of(equations, one).values()
        return np.concatenate([part for w in wrenches for part in (w[:dimension], w[dimension:] / equations.extent)])

    table = np.array([weighed(state) for state in states])
    share = np.linalg.lstsq(table.T, weighed(multipliers), rcond=1e-9)[0]
    return np.asarray(multipliers - share @ states)


def _seats(equations: Equations, q: Array) -> dict[str, Array]:
    return {name: np.array(q[own]) for name, own in equations.columns.items()}
