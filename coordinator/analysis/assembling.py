"""Assembly: bodies are moved as wholes until all joints are closed, and no farther than that takes.

    minimise sum over bodies of |c - c0|^2 + r^2 theta^2   subject to   phi(c, R) = 0

Each body stands at its centre c, turned by R from where it is described; r says how large it is. With d the displacement so far,
a step s = (dc, r dtheta) solves

    s + J^T lambda = -d,    J s = -phi

First phi is closed alone, by the smallest steps: Newton's method (J. García de Jalón, E. Bayo, "Kinematic and dynamic simulation of
multibody systems", Springer 1994, chapter 3). All rows of a joint for its turns have one scale: each with its own, the third row of
a cross product, which is nothing where it is closed, leads steps astray. Then bodies slide back towards the start along what stays
closed. What flexes keeps its shape.

Where nothing closes, the gaps are made as small as they get, by damped steps (D. W. Marquardt, J. Soc. Indust. Appl. Math. 11
(1963) 431), also from other places, and the loop that lacks most is named.

Loops that cannot close for the lengths of their bodies alone, told before anything is searched.

Where all joints of a loop hold two points together, its bodies are the sides of a polygon, whose lengths do not change. It closes
if and only if no side is longer than all others together; else the longest less the sum of the others is what lacks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from coordinator.analysis.poses import Poses, ports_of, put_down
from coordinator.analysis.senses import turn_beforehand, turned_round
from coordinator.couplings.centralized.saddle import Saddle
from coordinator.record.export import Series, dataset_of
from modular.assembly import Assembly, Beginning
from modular.elements import Array
from modular.errors import ModelError
from modular.one_thread import on_one_thread
from modular.port import GROUND

if TYPE_CHECKING:
    import xarray

Bond = tuple[str, str, int, str, int]  # a joint; the body on either side, and the element of its point there
SURE = 1e-9  # of the extent: what lacks less may be rounding


def what_lacks(poses: Poses) -> tuple[list[str], float, str] | None:
    """Bodies of a loop that is too short, by how much [m], and a joint at which it stays open; none where none is known to be."""
    bonds = _bonds(poses)
    above = _tree(bonds)
    worst: tuple[list[str], float, str] | None = None
    for bond in bonds:
        if above.get(bond[1]) is bond or above.get(bond[3]) is bond or bond[1] == bond[3]:
            continue
        loop, lengths = _around(bond, above, poses)
        longest = max(lengths)
        lacks = longest - (sum(lengths) - longest)
        if lacks > SURE * poses.extent and (worst is None or lacks > worst[1]):
            worst = loop, lacks, bond[0]
    return worst


def _bonds(poses: Poses) -> list[Bond]:
    """Joints that hold two points together; what does not move is the ground."""
    found: list[Bond] = []
    for name, home in poses.system.joint_home.items():
        form = home.stack.form
        if form.coincident and form.holonomic:
            one, other = (owner if owner in poses.number else GROUND for owner in home.owners)
            found.append((name, one, int(home.starts[0]), other, int(home.starts[1])))
    return found


def _tree(bonds: list[Bond]) -> dict[str, Bond | None]:
    """By which joint each body hangs on what is nearer to the ground, or to the first of its part."""
    at: dict[str, list[Bond]] = {GROUND: []}
    for bond in bonds:
        for body in (bond[1], bond[3]):
            at.setdefault(body, []).append(bond)
    above: dict[str, Bond | None] = {}
    for root in at:
        if root in above:
            continue
        above[root] = None
        waiting = deque([root])
        while waiting:
            body = waiting.popleft()
            for bond in at[body]:
                other = bond[3] if bond[1] == body else bond[1]
                if other not in above:
                    above[other] = bond
                    waiting.append(other)
    return above


def _around(bond: Bond, above: dict[str, Bond | None], poses: Poses) -> tuple[list[str], list[float]]:
    """The bodies of the loop that a joint closes with the tree, and how far apart its two points are on each."""
    ways = [_up(body, above) for body in (bond[1], bond[3])]
    while len(ways[0]) > 1 and len(ways[1]) > 1 and ways[0][-2] == ways[1][-2]:
        ways[0].pop()
        ways[1].pop()
    loop = [*ways[0], *ways[1][-2::-1]]  # from one side of the joint up to where they meet, and down to the other
    joints = []
    for k in (0, 1):
        own = [above[body] for body in ways[k][:-1]]
        joints.append(own if k == 0 else own[::-1])
    chain = [bond, *joints[0], *joints[1], bond]
    lengths = []
    for k, body in enumerate(loop):
        ends = [_point(chain[k], body, poses), _point(chain[k + 1], body, poses)]
        lengths.append(float(np.linalg.norm(ends[0] - ends[1])))
    return loop, lengths


def _up(body: str, above: dict[str, Bond | None]) -> list[str]:
    """A body and all that it hangs on."""
    way = [body]
    while (bond := above[way[-1]]) is not None:
        way.append(bond[3] if bond[1] == way[-1] else bond[1])
    return way


def _point(bond: Bond | None, body: str, poses: Poses) -> Array:
    """Where a joint takes hold of a body, as both were written."""
    assert bond is not None
    return np.asarray(poses.first_positions[bond[2] if bond[1] == body else bond[4]])


CLOSED = 1e-14  # of the extent: what may stay open
ROUNDING = 1e-12  # of the extent: what falls no more below that is closed
MOST_ROUNDS = 60
REGULAR = 1e-13  # of rows of length one: what makes steps unique where rows say what others say already
SLIDES, SLIDE_ROUNDS = 3, 8  # back towards the start, and to close what each opens
SAME = 1e-6  # of the extent: places that differ by less are one
HALVINGS = 2  # of a step that opens more than it closes
NEAREST = 1e-2  # of all that bodies have moved: what they could still slide back
LONGEST = 0.35  # of the extent, and rad, that a body goes in one step
TRIES = 12  # places from where gaps are made small
TRIED_TURN = 0.6  # [rad], by which bodies are turned for that, in the root mean square
DAMPED_ROUNDS = 200
DENSE = 400  # unknowns up to which dense matrices are faster
FARTHER, HOPELESS = (
    10.0,
    4,
)  # times what the sum of squares seems to fall yet; rounds in a row in which that is not enough
OPEN = 1e-3  # of the extent: gaps that may be nothing yet
OPENED = 1e-4  # of the others: the weight of the joint whose gap is sought


@dataclass(frozen=True)
class Moved:
    """How far a body has gone: its centre [m], and its turn [rad]."""

    way: float
    turn: float


class Assembled(Assembly):
    """A model whose joints are closed; `residuals`: the widest gap before each step and in the end [m], turns times the extent."""

    residuals: list[float]
    moved: dict[str, Moved]
    before: dict[str, Array]  # where ports are as the model is written [m]
    after: dict[str, Array]  # and where they are now

    def summary(self) -> list[str]:
        """What was found, a sentence each."""
        count = len(self.residuals) - 1
        if not count:
            return [f"all joints are closed as the model is written (to {self.residuals[0]:.1e} m)"]
        lines = [
            f"closed in {count} step{'s' * (count > 1)}, from {self.residuals[0]:.3g} m to {self.residuals[-1]:.1e} m",
        ]
        for name, moved in sorted(self.moved.items(), key=lambda item: -item[1].way - item[1].turn)[:10]:
            lines.append(f"'{name}' went {moved.way:.3g} m and turned by {moved.turn:.3g} rad")
        return lines

    def to_xarray(self) -> xarray.Dataset:
        """Gaps before each step and in the end, and where ports were and are, as one Dataset; needs the extra `data`."""
        ports, axes = ("port", "axis"), "xyz"[: self.dimension]
        table = (len(self.after), self.dimension)
        series = {
            "residual": Series(
                ("step",), np.array(self.residuals), "m", "the widest gap before each step and in the end"
            ),
            "before": Series(
                ports, np.reshape([self.before[k] for k in self.after], table), "m", "where ports are written"
            ),
            "after": Series(ports, np.reshape([*self.after.values()], table), "m", "where ports are"),
        }
        labels = {"step": range(len(self.residuals)), "port": list(self.after), "axis": axes}
        return dataset_of(series, labels, {"title": self.title})


@on_one_thread
def assemble(model: Assembly, *, hold: Iterable[str] = ()) -> Assembled:
    """The model with closed joints, its bodies moved as little as that takes; `hold`: bodies and ports that stay where they are.

    Joints hold on to bodies as they are described: an axis or a line that was given is that of the bodies as they are written. What
    follows courses is where these begin. Velocities turn with their bodies, and what joints stop of them is stopped.
    """
    with put_down(model, hold) as poses:
        residuals = close(poses)
        return _assembled(model, poses, residuals)


def with_ports_at(model: Assembly, targets: Mapping[str, Array]) -> Assembled:
    """The model with closed joints and ports at some places."""
    with put_down(model, (), targets) as poses:
        return _assembled(model, poses, close(poses))


@on_one_thread
def branches(model: Assembly, *, hold: Iterable[str] = (), tries: int = 32) -> list[Assembled]:
    """All ways to close a model that are found from its bodies as written and from `tries` other poses, the nearest first.

    What is held must leave it no motion: hold the crank of a four-bar, and there are two.
    """
    found: list[tuple[float, Assembled, Array]] = []
    with put_down(model, hold) as poses:
        draw = np.random.default_rng(0)
        for turn in range(tries):
            turns = draw.uniform(-np.pi, np.pi, (len(poses.names), poses.turns)) if turn else None
            poses.go(poses.start, turns)
            if turn:
                poses.centres += draw.normal(scale=0.3 * poses.extent, size=poses.centres.shape)
            turn_beforehand(poses)
            residuals = _closing(poses)
            if residuals[-1] > ROUNDING * poses.extent or turned_round(poses):
                continue
            if left := poses.freedoms():
                raise ModelError(
                    f"branches: the model can still move in {left} way{'s' * (left > 1)} as it is held; hold more, "
                    "such as its crank: hold=['crank'], or give a driven joint."
                )
            places = poses.places()
            if all(float(np.abs(places - known).max()) > SAME * poses.extent for _, _, known in found):
                way = float(np.linalg.norm(poses.displacement()))
                found.append((way, _assembled(model, poses, residuals), places))
    if not found:
        assemble(model, hold=hold)  # says why
    return [one for _, one, _ in sorted(found, key=lambda item: item[0])]


def close(poses: Poses) -> list[float]:
    """Move bodies until all is closed; the gaps on the way."""
    start = poses.start
    turn_beforehand(poses)
    residuals = _closing(poses)
    if residuals[-1] <= ROUNDING * poses.extent and not turned_round(poses):
        return residuals
    if (short := what_lacks(poses)) is not None:
        loop, lacks, joint = short
        raise ModelError(_lacking(poses, loop, f"{lacks:.3g} m", joint))
    least, best = np.inf, poses.copy()
    draw = np.random.default_rng(0)
    for turn in range(TRIES):
        poses.go(start, draw.normal(scale=TRIED_TURN, size=(len(poses.names), poses.turns)) if turn else None)
        turn_beforehand(poses)
        gap = _make_small(poses, settled=False)
        if gap < 1e-6 * poses.extent:
            found = _newton(poses, MOST_ROUNDS)
            if found[-1] <= ROUNDING * poses.extent and not turned_round(poses):
                return [*residuals, *found]
            gap = poses.extent
        if gap < least:
            least, best = gap, poses.copy()
    poses.take(best)
    raise ModelError(_what_lacks(poses))


def _closing(poses: Poses) -> list[float]:
    """Close all joints, and slide back towards the start along what stays closed; the gaps before each step and in the end."""
    residuals = _newton(poses, MOST_ROUNDS)
    for _ in range(SLIDES):
        if residuals[-1] > ROUNDING * poses.extent:
            break
        away = poses.displacement()
        slide = _step(poses, poses.constraints()[1], -away, 0.0)
        if not float(np.abs(slide).max(initial=0.0)) > NEAREST * float(np.abs(away).max(initial=0.0)):
            break
        there = poses.copy()
        poses.advance(slide)
        again = _newton(poses, SLIDE_ROUNDS)
        if not (again[-1] <= ROUNDING * poses.extent and np.linalg.norm(poses.displacement()) < np.linalg.norm(away)):
            poses.take(there)
            break
        residuals += again[1:]
    return residuals


def _newton(poses: Poses, most: int) -> list[float]:
    """The gaps before each step and in the end."""
    residuals: list[float] = []
    while True:
        error, jacobian = poses.constraints()
        residuals.append(float(np.abs(error).max(initial=0.0)))
        now, before = residuals[-1], residuals[-2] if len(residuals) > 1 else np.inf
        stalls = now <= ROUNDING * poses.extent and now >= 0.1 * before
        if now <= CLOSED * poses.extent or stalls or len(residuals) > most or not np.isfinite(now):
            return residuals
        step = _step(poses, jacobian, np.zeros(jacobian.shape[1]), -error)
        _go_down(poses, poses.clipped(step, LONGEST), float(error @ error))


def _go_down(poses: Poses, step: Array, value: float) -> None:
    """As much of a step as lets the squares of all gaps sum to less than before."""
    there = poses.copy()
    for _ in range(HALVINGS):
        poses.advance(step)
        error, _ = poses.constraints()
        if float(error @ error) < value:
            return
        poses.take(there)
        step = 0.5 * step
    poses.advance(step)


def _step(poses: Poses, jacobian: sparse.csr_matrix, pull: Array, error: Array | float) -> Array:
    """s with s + J^T lambda = pull, J s = error."""
    scale = poses.scales(jacobian)
    size = jacobian.shape[1]
    matrix = sparse.identity(size, format="csr") if size > DENSE else np.eye(size)
    border = jacobian if size > DENSE else jacobian.toarray()
    saddle = Saddle(matrix, border, scale, REGULAR)
    return saddle.once(pull, np.broadcast_to(error, scale.shape))[0]


def _make_small(poses: Poses, *, settled: bool = True) -> float:
    """Damped steps to where the sum of squares of all gaps is smallest; the widest of them.

    `settled` False is for the search alone: it leaves off once the way that the sum still goes, told by how its falls shrink,
    cannot take it to nothing. Falls that shrink slowly, as on a plateau, go on.
    """
    error, jacobian = poses.errors(), _table(poses)
    value, damping, before_falls, hopeless = float(error @ error), 1e-3, 0.0, 0
    for _ in range(DAMPED_ROUNDS):
        gradient = jacobian.T @ error
        if value <= (CLOSED * poses.extent) ** 2 or float(np.abs(gradient).max(initial=0.0)) <= 1e-14 * poses.extent:
            break
        squares = jacobian.T @ jacobian
        while damping < 1e8:
            step = -_solved(squares, damping, gradient)
            before = poses.copy()
            poses.advance(poses.clipped(step, LONGEST))
            error = poses.errors()
            if float(error @ error) < value:
                break
            poses.take(before)
            damping *= 4.0
        else:
            break
        falls = value - float(error @ error)
        value, damping = float(error @ error), max(damping / 5.0, 1e-12)
        if falls <= 1e-13 * value:
            break
        shrinks = min(falls / before_falls, 1.0) if before_falls > 0.0 else 1.0
        left = FARTHER * falls * shrinks / max(1.0 - shrinks, 1e-12)
        hopeless = hopeless + 1 if left < 0.5 * value and value > (OPEN * poses.extent) ** 2 else 0
        if not settled and hopeless >= HOPELESS:
            break
        before_falls, jacobian = falls, _table(poses)
    return float(np.abs(poses.errors()).max(initial=0.0))


def _table(poses: Poses) -> Any:
    """How gaps follow a step, dense where that is faster."""
    return poses.table() if len(poses.displacement()) <= DENSE else poses.slopes().tocsc()


def _solved(squares: Any, damping: float, gradient: Array) -> Array:
    """(J^T J + damping)^-1 times a gradient."""
    if sparse.issparse(squares):
        return np.asarray(
            sparse.linalg.spsolve(squares + damping * sparse.identity(len(gradient), format="csc"), gradient)
        )
    return np.asarray(np.linalg.solve(squares + damping * np.eye(len(gradient)), gradient))


def _what_lacks(poses: Poses) -> str:
    """By how much which loop does not close: the joint that is open by most takes all of it."""
    if (wrong := turned_round(poses)) and max(poses.gaps().values()) < 1e-6 * poses.extent:
        return f"the model closes only with joint '{wrong[0]}' turned by half a turn; describe its bodies the right way round."
    joint = max(poses.gaps(), key=lambda name: poses.gaps()[name])
    poses.weights[joint] = OPENED
    _make_small(poses)
    way, turn = poses.gap(joint)
    lacks = f"{way:.3g} m" if way >= turn * poses.extent else f"{turn:.3g} rad"
    return _lacking(poses, poses.loop(joint), lacks, joint)


def _lacking(poses: Poses, loop: list[str], lacks: str, joint: str) -> str:
    held = f" while {', '.join(map(repr, poses.held))} stay{'s' * (len(poses.held) == 1)}" if poses.held else ""
    return (
        f"the model cannot be closed{held}: {'loop ' if len(loop) > 1 else ''}{'–'.join(loop)} lacks {lacks}, all its other "
        f"joints closed, at joint '{joint}'. Change a length by that much, hold less, or start nearer to a closed "
        "configuration."
    )


def _assembled(model: Assembly, poses: Poses, residuals: list[float]) -> Assembled:
    found = Assembled.__new__(Assembled)
    found.__dict__.update(model.copy().__dict__)
    moved = {name: Moved(*poses.moved(name)) for name in poses.names}
    found.residuals, found.before = residuals, poses.ports_as_written
    found.moved = {name: gone for name, gone in moved.items() if gone.way > CLOSED * poses.extent or gone.turn > CLOSED}
    found.after = {}
    for name, (q, v, paces) in poses.states().items():
        found.after |= ports_of(model.bodies[name], name, q)
        if name in found.moved or paces:
            found.begin[name] = Beginning(q, v)
    return found
