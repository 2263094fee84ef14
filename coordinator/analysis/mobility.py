"""What a mechanism can do where it stands: motions that are free, locks that say what others say, and what is of first order alone.

With G the Jacobian of all constraints, its null space N are the motions of first order, v = N a. The null space S of G^T are states
of self-stress: reactions that hold each other in balance, so that no equation tells them, and each is a redundant lock. A motion
goes on to second order where G q'' = -dG/dt v has a solution, that is where

    s^T (dG/dt v) = 0    for all s in S

quadratic forms in a. In natural coordinates constraints are quadratic, so these are exact. A mechanism that moves to first order
and not to second is shaky; where the forms vanish on several lines it stands where branches of its motion part. S. Pellegrino,
C. R. Calladine, "Matrix analysis of statically and kinematically indeterminate frameworks", Int. J. Solids Structures 22 (1986)
409-428.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coordinator.analysis.counting import Sharing, sharing_of
from coordinator.analysis.forms import Vanishing, vanishing
from coordinator.analysis.ports import port_places, port_velocities, stacked, states_of
from coordinator.analysis.result import AXES, Kept, Result
from coordinator.analysis.tangent import dense
from coordinator.couplings.centralized.coupling import Centralized
from coordinator.couplings.centralized.equations import Equations
from coordinator.record.export import Series
from coordinator.simulation import Simulation
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError
from modular.one_thread import on_one_thread

RANK_TOLERANCE = 1e-8  # of the largest singular value of rows of length one: what is less is none
SAID = 1e-6  # of a row: what those before it leave, where it says what they say
MOVES = 1e-6  # of the largest twist or velocity in a motion: what is less stands
MOST_FORMS = 40  # motions up to which the second order is looked at


@dataclass(frozen=True)
class Motion(Kept):
    """A motion that joints leave free: a body that leads it, and who goes along."""

    body: str
    turns: bool  # whether the body is known by its turn, else by its mass centre
    direction: Array  # the axis or way of that, of length one; zero where neither moves: the body bends
    along: list[str]  # bodies that move with it
    velocities: Array  # of all coordinates
    idle: bool = False  # whether no port goes anywhere

    def __str__(self) -> str:
        if not self.direction.any():
            return f"'{self.body}' bends"
        way = ", ".join(f"{number:.3g}" for number in np.where(abs(self.direction) < MOVES, 0.0, self.direction))
        what = f"'{self.body}' {'turns about' if self.turns else 'moves along'} ({way})"
        if self.turns and len(self.direction) == 1:
            what = f"'{self.body}' turns"
        others = [f"'{name}'" for name in self.along]
        return what + (f", and with it {', '.join(others)}" if others else "") + (", idle" if self.idle else "")


@dataclass(frozen=True)
class Mobility(Result):
    """Counts and names; `finite`: freedoms to second order, None where joints lock velocities alone or motions are too many."""

    rows = ("motion",)
    free: int  # of all bodies, before joints
    locks: int  # directions that joints lock, one by one
    freedoms: int
    redundant: list[tuple[str, int]]  # locks that could be left out: joint, and which of its independent ones
    sharing: list[Sharing]
    motions: list[Motion]
    finite: int | None
    branches: int | None  # lines on which motions go on, where they are lines
    smallest: float  # singular value that still counts, of rows of length one: how near a pose is where another motion appears
    assembly: Assembly = field(repr=False)
    # of each body, where it stands and which coordinates are its own
    rest: dict[str, tuple[Array, slice]] = field(repr=False)

    @property
    def redundancies(self) -> int:
        """How many locks say what others say."""
        return len(self.redundant)

    @property
    def idle(self) -> int:
        """Motions in which no port goes anywhere."""
        return sum(motion.idle for motion in self.motions)

    @property
    def shaky(self) -> bool:
        """Whether something moves to first order that does not to second."""
        return self.finite is not None and self.finite < self.freedoms and not (self.branches or 0) > 1

    def summary(self) -> list[str]:
        """In words, a line each."""
        lines = [
            f"{self.free} freedoms of the bodies, {self.locks} locked by joints: {_count(self.freedoms, 'freedom')} left"
        ]
        if self.redundant:
            named = ", ".join(f"{joint} ({row + 1})" for joint, row in self.redundant)
            lines.append(f"{_count(self.redundancies, 'lock')} redundant: {named}")
        for group in self.sharing:
            ways = "one way" if group.states == 1 else f"{group.states} ways"
            lines.append(
                f"{', '.join(group.joints)} may hold each other in tension in {ways}: their reactions are not unique"
            )
        ways_of = Counter(map(str, self.motions))
        lines += [f"free: {text}" + (f" in {ways} ways" if ways > 1 else "") for text, ways in ways_of.items()]
        if self.finite is not None and self.finite < self.freedoms:
            if (self.branches or 0) > 1:
                lines.append(
                    f"here {self.branches} branches of the motion part: it moves on along {self.finite} at a time"
                )
            else:
                what = "nothing of that goes on" if self.finite == 0 else f"only {self.finite} of that go on"
                lines.append(f"{what} to second order: the model is shaky here, not movable")
        return lines

    def series(self) -> dict[str, Series]:
        """Its arrays, by name."""
        words = "how ports go in a free motion"
        places = port_places(self.assembly, self.rest)
        if not places or not self.motions:
            return {
                "motion_is_idle": Series(("motion",), np.array([one.idle for one in self.motions], bool), "", "idle")
            }
        velocities = np.array([motion.velocities for motion in self.motions]).T
        ports = port_velocities(self.assembly, self.rest, velocities)
        return {
            "motion_is_idle": Series(("motion",), np.array([one.idle for one in self.motions], bool), "", "idle"),
            "way": Series(("motion", "port", "axis"), stacked(ports), "", words),
            "place": Series(("port", "axis"), stacked(places), "m", "where ports are"),
        }

    def labels(self) -> dict[str, Sequence[Any]]:
        """What the places along each axis are called."""
        ports = list(port_places(self.assembly, self.rest))
        return {"motion": range(len(self.motions)), "port": ports, "axis": AXES[: self.assembly.dimension]}


@on_one_thread
def mobility(model: Assembly) -> Mobility:
    """Of a model where it stands."""
    with _standing(model) as equations:
        return _mobility(equations, model)


@contextmanager
def _standing(model: Assembly) -> Iterator[Equations]:
    if not model.bodies:
        raise ModelError("mobility: the model has no bodies.")
    still = model.copy()
    for name in list(still.force_edges):
        still.remove(name)  # forces lock nothing, and some cannot be asked by those who see the whole
    with Simulation(still, 1e-3, Centralized(), project_velocities=True) as simulation:
        equations: Equations = simulation.system.cache["equations"]
        equations.at(0.0)
        q, _ = equations.read()
        equations.go(q, np.zeros(equations.size))
        yield equations


def _mobility(equations: Equations, model: Assembly) -> Mobility:
    q, _ = equations.read()
    jacobian = dense(equations.jacobian())
    own, rows = own_motions(equations, jacobian), _independent(equations, jacobian)
    locked, owners = _locked(own, rows)
    values, left, basis = null_spaces(locked)
    velocities = own @ basis
    motions = (
        _named(model, velocities, equations.columns, *_twists(equations, model, q, velocities))
        if velocities.shape[1]
        else []
    )
    found = _second_order(equations, q, velocities)
    return Mobility(
        free=own.shape[1],
        locks=len(locked),
        freedoms=velocities.shape[1],
        redundant=[owners[k] for k in _said_before(locked)],
        sharing=sharing_of(left, owners),
        motions=motions,
        finite=None if found is None else found.dimension,
        branches=None if found is None else found.lines,
        smallest=float(values.min(initial=np.inf)),
        assembly=model,
        rest=states_of(equations, q),
    )


def sharing_at(equations: Equations) -> list[Sharing]:
    """Joints that share loads where a system stands."""
    jacobian = dense(equations.jacobian())
    locked, owners = _locked(own_motions(equations, jacobian), _independent(equations, jacobian))
    return sharing_of(null_spaces(locked)[1], owners)


def states_of_stress(equations: Equations, scale: Array) -> Array:
    """Multipliers that hold each other in balance, by rows; `scale`: what rows of G are multiplied by to be alike."""
    return np.asarray(null_spaces(scale[:, None] * dense(equations.jacobian()))[1] * scale)


def _locked(own: Array, rows: list[tuple[str, Array]]) -> tuple[Array, list[tuple[str, int]]]:
    """What joints lock of the motions of bodies, and whose row of those each is."""
    locked = np.concatenate([block @ own for _, block in rows]) if rows else np.zeros((0, own.shape[1]))
    return locked, [(name, k) for name, block in rows for k in range(len(block))]


def own_motions(equations: Equations, jacobian: Array, of: dict[str, slice] | None = None) -> Array:
    """What bodies could do without joints, orthonormal by columns; `of`: the coordinates of some of them."""
    found = [np.zeros((equations.size, 0))]
    for name, own in (equations.columns if of is None else of).items():
        closing = equations.closing[name]
        size = own.stop - own.start
        block = jacobian[closing, own]
        _, values, right = np.linalg.svd(block) if len(block) else (None, np.zeros(0), np.eye(size))
        rank = int((values > RANK_TOLERANCE * values.max(initial=0.0)).sum())
        columns = np.zeros((equations.size, size - rank))
        columns[own] = right[rank:].T
        found.append(columns)
    return np.concatenate(found, axis=1)


def _independent(equations: Equations, jacobian: Array) -> list[tuple[str, Array]]:
    """The rows of each joint, as many as are independent, of length one."""
    found = []
    for name, rows in equations.rows_of.items():
        _, values, right = np.linalg.svd(jacobian[rows], full_matrices=False)
        rank = int((values > RANK_TOLERANCE * values.max(initial=0.0)).sum())
        found.append((name, right[:rank]))
    return found


def null_spaces(locked: Array) -> tuple[Array, Array, Array]:
    """Singular values that count, and the null spaces on the left, by rows, and on the right, by columns."""
    if not len(locked):
        return np.zeros(0), np.zeros((0, 0)), np.eye(locked.shape[1])
    left, values, right = np.linalg.svd(locked)
    rank = int((values > RANK_TOLERANCE * max(float(values.max(initial=0.0)), 1e-300)).sum())
    return values[:rank], left[:, rank:].T, right[rank:].T


def _said_before(locked: Array) -> list[int]:
    """Rows that say what those before them say, in their order."""
    held = np.zeros((0, locked.shape[1]))
    found = []
    for k, row in enumerate(locked):
        rest = row - held.T @ (held @ row)
        rest -= held.T @ (held @ rest)
        size = float(np.linalg.norm(rest))
        if size <= SAID * max(float(np.linalg.norm(row)), 1e-300):
            found.append(k)
        else:
            held = np.concatenate([held, (rest / size)[None]])
    return found


def _twists(equations: Equations, model: Assembly, q: Array, velocities: Array) -> tuple[dict[str, Array], Array]:
    """Turns and mass centres of all bodies in each motion, (motions, numbers), and the velocities of all ports together."""
    extent, twists, ports = equations.extent, {}, [np.zeros((velocities.shape[1], 0))]
    for stack in equations.stacks:
        shape = stack.state()["q"].shape[1:]
        for name in stack.row:
            body, own = model.bodies[name], equations.columns[name]
            v = velocities[own].T.reshape(-1, *shape)
            place = np.broadcast_to(q[own].reshape(shape), v.shape)
            centre = body.momentum(place, v) / max(body.total_mass, 1e-300) / extent
            try:
                turn = np.reshape(body.angular_velocity_of(body.port_names[0], place, v), (len(v), -1))
            except (ModelError, IndexError):  # kinds that tell of no axes
                turn = np.zeros((len(v), 2 * model.dimension - 3))
            twists[name] = np.concatenate([np.nan_to_num(turn), centre], axis=1)
            ports += [body.port_motion(port, place, v, 0.0 * v)[1] / extent for port in body.port_names]
    return twists, np.concatenate(ports, axis=1)


def _named(
    model: Assembly, velocities: Array, columns: Mapping[str, slice], twists: dict[str, Array], ports: Array
) -> list[Motion]:
    """As many motions as there are, each led by another body, those in which no port moves at first."""
    left, values, _ = (
        np.linalg.svd(ports, full_matrices=len(ports) > ports.shape[1])
        if ports.shape[1]
        else (np.eye(velocities.shape[1]), np.zeros(0), None)
    )
    moving = int((values > MOVES * max(float(values.max(initial=0.0)), 1.0)).sum())
    found: list[Motion] = []
    for part, idle in ((left[:, moving:], True), (left[:, :moving], False)):
        found += _led(model, part, twists, velocities, columns, idle=idle)
    return found


def _led(
    model: Assembly,
    part: Array,
    twists: dict[str, Array],
    velocities: Array,
    columns: Mapping[str, slice],
    *,
    idle: bool,
) -> list[Motion]:
    """Combinations of motions such that each has a number of its own, the largest that is left."""
    names, turning = list(twists), 2 * model.dimension - 3
    bending = {name for name, body in model.bodies.items() if body.freedoms > (3 if model.dimension == 2 else 6)}
    if not part.shape[1]:
        return []
    table = np.concatenate([twists[name] for name in names], axis=1).T @ part  # (numbers, motions)
    width = len(twists[names[0]].T)
    mix, pivots, mixed = np.eye(part.shape[1]), list[int](), table.copy()
    least = MOVES * float(np.abs(table).max())
    for k in range(part.shape[1]):
        rest = np.abs(mixed[:, k:])
        row, column = divmod(int(np.argmax(rest)), rest.shape[1])
        if rest[row, column] <= least:
            break
        for both in (mix, mixed):
            both[:, [k, k + column]] = both[:, [k + column, k]]
        for both, size in ((mix, mixed[row, k]), (mixed, mixed[row, k])):
            both[:, k] /= size
        shares = np.where(np.arange(part.shape[1]) == k, 0.0, mixed[row])
        for both in (mix, mixed):
            both -= np.outer(both[:, k], shares)
        pivots.append(row)
    found = []
    for k, row in enumerate(pivots):
        own = table @ mix[:, k]
        body, number = names[row // width], row % width
        block = own[width * (row // width) :][:width]
        turns, bends = bool(number < turning), body in bending
        direction = block[:turning] if turns else block[turning:]
        most = np.abs(own).max()
        along = [
            name
            for i, name in enumerate(names)
            if name != body and np.abs(own[width * i : width * (i + 1)]).max() > MOVES * most
        ]
        unit = 0.0 * direction if bends and not along else direction / np.linalg.norm(direction)
        found.append(Motion(body, turns, unit, along, velocities @ (part @ mix[:, k]), idle and not bends))
    for k in range(len(pivots), part.shape[1]):
        v = velocities @ (part @ mix[:, k])
        body = max(columns, key=lambda name: float(np.abs(v[columns[name]]).max(initial=0.0)))
        found.append(Motion(body, False, np.zeros(model.dimension), [], v / max(float(np.abs(v).max()), 1e-300)))
    return found


def _second_order(equations: Equations, q: Array, velocities: Array) -> Vanishing | None:
    """On which of the motions all forms of self-stress vanish; None where that is not asked."""
    count = velocities.shape[1]
    if not equations.holonomic.all() or count > MOST_FORMS:
        return None
    jacobian = dense(equations.jacobian())
    lengths = np.linalg.norm(jacobian, axis=1)
    scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
    stresses = states_of_stress(equations, scale)
    if not len(stresses) or not count:
        return Vanishing(count, None)
    at_rest = equations.bias(q, np.zeros(equations.size))

    def along(v: Array) -> Array:
        return np.asarray(stresses @ (equations.bias(q, v) - at_rest))

    forms = np.zeros((len(stresses), count, count))
    for i in range(count):
        forms[:, i, i] = along(velocities[:, i])
    for i in range(count):
        for j in range(i):
            both = along(velocities[:, i] + velocities[:, j])
            forms[:, i, j] = forms[:, j, i] = 0.5 * (both - forms[:, i, i] - forms[:, j, j])
    equations.go(q, np.zeros(equations.size))
    return vanishing(forms, 1.0 / equations.extent)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
