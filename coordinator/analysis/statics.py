"""What joints carry where a model rests, and what of it no equation tells.

Forces and moments of joints, as the multipliers of the whole system tell them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coordinator.analysis.bearing import refuse_broken
from coordinator.analysis.counting import Sharing
from coordinator.analysis.equilibrium import Rest, at_rest
from coordinator.analysis.linear import linear_at
from coordinator.analysis.mobility import sharing_at, states_of_stress
from coordinator.analysis.modes import modes_of
from coordinator.analysis.ports import port_places, stacked, states_of
from coordinator.analysis.result import AXES, Result
from coordinator.couplings.centralized.equations import Equations
from coordinator.record.export import Series
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError
from modular.names import missing
from modular.one_thread import on_one_thread


def reactions_of(equations: Equations, multipliers: Array) -> dict[str, Array]:
    """Of every joint: the force on its second side [N], and where it reads directions the moment about its point [N m]."""
    equations.exert_joints(multipliers)
    found: dict[str, Array] = {}
    for joints in equations.joints:
        wrenches = joints.wrenches(equations.system.elements).copy()
        found |= {name: wrenches[row] for name, row in joints.row.items()}
    return {name: found[name] for name in equations.rows_of}


def wrench_series(reactions: Mapping[str, Array], dimension: int, axes: tuple[str, ...]) -> dict[str, Series]:
    """Forces and moments of all joints as arrays whose last of `axes` are the joints; NaN where a joint reads points alone."""
    turns = 3 if dimension == 3 else 1
    shape = next((one.shape[:-1] for one in reactions.values()), ())
    table = np.full((*shape, len(reactions), dimension + turns), np.nan)
    for k, wrench in enumerate(reactions.values()):
        table[..., k, : wrench.shape[-1]] = wrench
    force, moment = np.split(table, [dimension], axis=-1)
    return {
        "force": Series((*axes, "axis"), force, "N", "force of a joint on its second side"),
        "moment": Series((*axes, "turning_axis"), moment, "N m", "moment of a joint on its second side, at its point"),
    }


def efforts_of(equations: Equations, multipliers: Array) -> dict[str, Array]:
    """Of every drive: what it exerts along what it drives, on its second side against the first [N], [N m]."""
    found: dict[str, Array] = {}
    for joints, rows in zip(equations.joints, equations.joint_rows, strict=True):
        drives = joints.form.drives
        if drives:
            exerted = multipliers[rows].reshape(joints.count, -1)[:, -drives:]
            found |= {name: -exerted[row] for name, row in joints.row.items()}
    return found


def courses_of(equations: Equations) -> dict[str, Array]:
    """Of every drive: what it follows now and the rate of that, (drives, 2)."""
    found: dict[str, Array] = {}
    for joints in equations.joints:
        if joints.form.drives:
            found |= {name: np.array(joints.course[row, :, :2]) for name, row in joints.row.items()}
    return found


@dataclass(frozen=True)
class Statics(Result):
    """Reactions at rest; where joints share loads, the smallest that hold: of all forces, and moments over the extent, together."""

    rows = ("joint",)
    reactions: dict[str, Array]  # force on the second side [N], and moment about its point [N m]
    sharing: list[Sharing]  # joints of which no equation tells how they share what they carry
    dimension: int
    steps: int  # in which it came to rest
    assembly: Assembly = field(repr=False)
    # of each body, where it rests and which coordinates are its own
    rest: dict[str, tuple[Array, slice]] = field(repr=False)

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

    def summary(self) -> list[str]:
        """In words, a line each."""
        lines = []
        for joint in self.reactions:
            force, moment = (
                float(np.linalg.norm(self.force(joint))),
                float(np.linalg.norm(self.moment(joint))),
            )
            shared = "" if self.unique(joint) else ", or otherwise: it shares what it carries"
            turned = f" and {moment:.6g} N m" if len(self.moment(joint)) else ""
            lines.append(f"'{joint}' carries {force:.6g} N{turned}{shared}")
        return lines or ["there are no joints"]

    def series(self) -> dict[str, Series]:
        """Its arrays, by name."""
        unique = np.array([self.unique(joint) for joint in self.reactions], bool)
        places = port_places(self.assembly, self.rest)
        return {
            **wrench_series(self.reactions, self.dimension, ("joint",)),
            "unique": Series(("joint",), unique, "", "whether the equations tell it"),
            **({"place": Series(("port", "axis"), stacked(places), "m", "where ports are")} if places else {}),
        }

    def labels(self) -> dict[str, Sequence[Any]]:
        """What the places along each axis are called."""
        turns = AXES if self.dimension == 3 else "z"
        ports = list(port_places(self.assembly, self.rest))
        return {"joint": list(self.reactions), "port": ports, "axis": AXES[: self.dimension], "turning_axis": turns}

    def _of(self, joint: str) -> Array:
        if joint not in self.reactions:
            raise ModelError(missing("joint", joint, self.reactions))
        return self.reactions[joint]


@dataclass(frozen=True)
class Equilibrium(Result):
    """A place where a model rests."""

    rows = ("joint",)
    statics: Statics
    stable: bool  # whether it comes back when it is displaced a little
    moved: float  # how far any port has gone to get there [m]
    start: dict[str, tuple[Array, slice]] = field(repr=False)  # of each body, where it was put

    def summary(self) -> list[str]:
        """In words, a line each."""
        stays = (
            "comes back to it when it is displaced a little" if self.stable else "does not stay there: something grows"
        )
        return [f"the model rests {self.moved:.3g} m from where it was put, and {stays}", *self.statics.summary()]

    def series(self) -> dict[str, Series]:
        """Its arrays, by name."""
        before = port_places(self.statics.assembly, self.start)
        put = {"put": Series(("port", "axis"), stacked(before), "m", "where ports were put")} if before else {}
        return {**self.statics.series(), **put}

    def labels(self) -> dict[str, Sequence[Any]]:
        """What the places along each axis are called."""
        return self.statics.labels()

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
        return _statics_at(rest, "statics")


@on_one_thread
def equilibrium(model: Assembly) -> Equilibrium:
    """Where a model would come to rest from where it stands, whether it stays there, and what its joints carry."""
    with at_rest(model, seek=True) as rest:
        carried, linear = _statics_at(rest, "equilibrium"), linear_at(rest)
    return Equilibrium(carried, modes_of(linear).stable, linear.way[1], linear.start)


def _statics_at(rest: Rest, who: str) -> Statics:
    equations, sharing = rest.equations, sharing_at(rest.equations)
    multipliers = _smallest(equations, rest.state.multipliers) if sharing else rest.state.multipliers
    reactions = reactions_of(equations, multipliers)
    refuse_broken(rest.model, reactions, who)
    return Statics(
        reactions, sharing, rest.model.dimension, rest.steps, rest.model,
        states_of(equations, rest.state.q),
    )  # fmt: skip


def _smallest(equations: Equations, multipliers: Array) -> Array:
    """With as much of the states of self-stress as makes all forces, and moments over the extent, smallest together."""
    states, dimension = states_of_stress(equations, equations.scale), equations.system.elements.dimension

    def weighed(one: Array) -> Array:
        wrenches = reactions_of(equations, one).values()
        return np.concatenate([part for w in wrenches for part in (w[:dimension], w[dimension:] / equations.extent)])

    table = np.array([weighed(state) for state in states])
    share = np.linalg.lstsq(table.T, weighed(multipliers), rcond=1e-9)[0]
    return np.asarray(multipliers - share @ states)
