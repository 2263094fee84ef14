"""A body whose place and turning follow courses over time, or what was recorded of another body: nothing moves it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import Any, ClassVar, Self

import numpy as np

from components.bodies.led.stack import LedBodies
from components.bodies.natural.rigid_data import named_ports
from components.bodies.posed.description import PosedBody
from components.courses import Course, Sine, Smooth
from modular.courses import NUMBERS_PER_ROW
from modular.elements import Array
from modular.errors import ModelError
from modular.port import Port

FARTHEST_TURN = 1.5  # rad from one sample to the next: a cubic leaves out 1e-3 of the turn, more of the path
DIFFERENCE_ANGLE = 1e-4  # of a turn: how far one looks along a recorded motion for the rates of its axes


@dataclass(frozen=True)
class LedBody(PosedBody):
    """A body that moves as it is told, whatever joints and forces do to it; they feel its place and its rates.

    way: a `Course` of its origin [m], of two or three numbers; turning: a course of its angle [rad], in space about `axis` (left
    out, z) through the origin, or of four numbers, a quaternion (cos, sin e) of any length. What is left out stays as it is.
    centre: where the origin stands at time zero [m]; left out, where `way` begins. ports: name -> point [m] or `Port` with axes,
    in the world as the body stands at time zero. A table over time is a `Smooth`; `LedBody.of(run, "crank")` does what a body of
    a run did.

    What it brings is the line `supplied` in the ledgers of the joints and forces on it.
    """

    way: Course | None = field(kw_only=True, default=None)
    turning: Course | None = field(kw_only=True, default=None)
    axis: Sequence[float] | None = field(kw_only=True, default=None)
    centre: Sequence[float] | None = field(kw_only=True, default=None)
    ports: Mapping[str, Any] = field(kw_only=True, default_factory=dict)

    led: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "ports", named_ports("LedBody", self.ports))
        if self.centre is None and self.way is None:
            raise ModelError("LedBody: give way=…, the course of its origin, or centre=…, its fixed place.")

    @property
    def origin(self) -> Array:
        """Where its origin stands at time zero."""
        if self.centre is None:
            assert self.way is not None
            return np.array(self.way.at(0.0)[0].tolist())
        return np.asarray(self.centre, float)

    @property
    def own_axes(self) -> Array:
        """Those of the world; of a course of quaternions those that it tells of time zero."""
        return self.rotation(self.motion(0.0)[0])

    @property
    def places(self) -> Mapping[str, Any]:
        """Its ports."""
        return self.ports

    @property
    def total_mass(self) -> float:
        """More than anything can move."""
        return inf

    @property
    def freedoms(self) -> int:
        """None of its own."""
        return 0

    @property
    def line(self) -> Array:
        """The axis about which it turns."""
        axis = np.array([0.0, 0.0, 1.0]) if self.axis is None else np.asarray(self.axis, float)
        return np.asarray(axis / np.linalg.norm(axis))

    def check(self, name: str) -> list[str]:
        """Courses of the wrong width, axes that point nowhere, ports of the wrong dimension."""
        problems, d = [], self.dimension
        if d not in (2, 3):
            return [f"body '{name}': its origin has {d} coordinates; give 2 or 3."]
        for label, widths in (("way", (d,)), ("turning", (1,) if d == 2 else (1, 4))):
            course: Any = getattr(self, label)
            if course is not None and not isinstance(course, Course):
                problems.append(
                    f"body '{name}': {label} = {course!r}; give a course: a Ramp, a Sine or a Smooth table."
                )
            elif course is not None and course.width not in widths:
                wanted = " or ".join(str(width) for width in widths)
                problems.append(f"body '{name}': its {label} has {course.width} numbers at each time; give {wanted}.")
        if not np.all(np.isfinite(self.origin)):
            problems.append(f"body '{name}': centre = {self.centre!r}; give finite numbers.")
        if self.axis is not None:
            given = np.asarray(self.axis, float)
            if d == 2 or given.shape != (3,) or not 0.0 < float(np.linalg.norm(given)) < inf or self._quaternions:
                problems.append(
                    f"body '{name}': axis = {self.axis!r}; give three numbers, in space, together with an angle."
                )
        if self._quaternions and not problems:
            assert self.turning is not None
            pieces = self.turning.pieces()[:, 1:].reshape(-1, 4, NUMBERS_PER_ROW)
            if not (np.linalg.norm(pieces[:, :, 0] + pieces[:, :, 4], axis=1) > 1e-6).all():
                problems.append(f"body '{name}': turning contains a quaternion of zero length; give rotations.")
        for port, place in self.ports.items():
            if len(place.point) != d or not np.all(np.isfinite(np.asarray(place.point, float))):
                problems.append(f"port '{name}.{port}' stands at {tuple(place.point)}; give {d} finite numbers.")
                continue
            try:
                place.frame(f"port '{name}.{port}'")
            except ModelError as error:
                problems.append(str(error))
        return problems

    def kind(self) -> Hashable:
        """Those that turn in the same way share a stack."""
        return LedBodies, self.dimension, 4 if self._quaternions else 1

    def new_stack(self) -> LedBodies:
        """An empty stack for such bodies."""
        return LedBodies(self.dimension, 4 if self._quaternions else 1)

    # --- the motion --------------------------------------------------------------------------------------------------

    @property
    def _quaternions(self) -> bool:
        return self.dimension == 3 and self.turning is not None and self.turning.width == 4

    def courses(self) -> list[tuple[str, Array, Array]]:
        """Label, head and pieces of both courses: how many pieces, what is taken off, and the pieces."""
        d = self.dimension
        way = np.zeros((1, 1 + NUMBERS_PER_ROW * d)) if self.way is None else self.way.pieces()
        begin = np.zeros(d) if self.way is None else self.way.at(0.0)[0]
        turn = np.zeros((1, 1 + NUMBERS_PER_ROW)) if self.turning is None else self.turning.pieces()
        counted = np.zeros(4) if self._quaternions else np.zeros(1) if self.turning is None else self.turning.at(0.0)[0]
        return [
            ("way", np.array([len(way), *(begin - self.origin)]), way),
            ("turn", np.array([len(turn), *counted]), turn),
        ]

    def motion(self, time: float) -> tuple[Array, Array, Array]:
        """Coordinates at a time, their rates and accelerations."""
        d = self.dimension
        going = np.zeros((3, d)) if self.way is None else self.way.at(time)
        if self.way is None or self.centre is not None:
            going[0] += self.origin - (0.0 if self.way is None else self.way.at(0.0)[0])
        if self._quaternions:
            assert self.turning is not None
            p, dp, ddp = self.turning.at(time)
            s = float(np.linalg.norm(p))
            u = p / s
            ds = float(u @ dp)
            du = (dp - ds * u) / s
            dds = (float(dp @ dp + p @ ddp) - ds * ds) / s
            turn = np.array([u, du, (ddp - 2.0 * ds * du - dds * u) / s])
        else:
            turn = np.zeros((3, 1)) if self.turning is None else self.turning.at(time)
            turn[0] -= 0.0 if self.turning is None else self.turning.at(0.0)[0]
            if d == 3:
                half, rate, bend = 0.5 * turn[:, 0]
                axis, c, s = self.line, np.cos(half), np.sin(half)
                turn = np.array(
                    [
                        [c, *(s * axis)],
                        [-rate * s, *(rate * c * axis)],
                        [-bend * s - rate**2 * c, *((bend * c - rate**2 * s) * axis)],
                    ]
                )
        q, v, a = np.concatenate([going, turn], axis=1)
        return q, v, a

    # --- what a record of states says ----------------------------------------------------------------------------------

    def kinetic_energy(self, q: Array, v: Array) -> Array:
        """None that anybody could take."""
        return np.zeros(q.shape[:-1])

    def potential_energy(self, q: Array, gravity: Array) -> Array:
        """None."""
        return np.zeros(q.shape[:-1])

    def momentum(self, q: Array, v: Array) -> Array:
        """None that anybody could take."""
        return np.zeros((*q.shape[:-1], self.dimension))

    def mass_centre(self, q: Array) -> Array:
        """Its origin stands for it."""
        return np.asarray(q[..., : self.dimension])

    @property
    def quaternions(self) -> list[slice]:
        """It is told what they are: nothing keeps their length."""
        return []

    # --- made from others ----------------------------------------------------------------------------------------------

    @classmethod
    def of(cls, run: Any, body: str, ports: Sequence[str] | None = None) -> Self:
        """A body that does what one of a run did, with its ports, or with some of them.

        Places and axes of the samples, with their rates, are copied into smooth tables; before the first and after the last sample
        it goes on as it went there. A rod turns about itself as little as its way allows.
        """
        if body not in run.bodies:
            raise ModelError(f"LedBody.of: the run has no body '{body}'; give one of {', '.join(run.bodies)}.")
        source = run.bodies[body]
        names = list(source.port_names if ports is None else ports)
        q, v, a = run.state(body)
        there = np.isfinite(q.reshape(len(q), -1)).all(axis=1)
        if not names or int(there.sum()) < 2:
            raise ModelError(
                f"LedBody.of: '{body}' has {len(names)} ports and {there.sum()} samples; it needs 1 and 2."
            )
        q, v, a, times = q[there], v[there], a[there], np.asarray(run.time)[there].tolist()
        motions = {name: source.port_motion(name, q, v, a) for name in names}
        axes, rates = _axes_of(source, names, q, v)
        place, pace, _ = motions[names[0]]
        way = Smooth(times, place.tolist(), pace.tolist(), goes_on=True)
        turning = _turning(times, axes, rates)
        lead = cls(way=way, turning=turning)
        start = lead.rotation(lead.motion(0.0)[0])
        first = lead.rotation(lead.motion(times[0])[0])
        points = {
            name: tuple((lead.origin + start @ first.T @ (motion[0][0] - place[0])).tolist())
            for name, motion in motions.items()
        }
        return cls(way=way, turning=turning, ports=_framed(source, points, q[0], start @ first.T))

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A body of this type without zeros or symmetry, for the contract tests."""
        way = Sine((0.2, -0.1, 0.15)[:dimension], 0.7, 0.4)
        if dimension == 2:
            return cls(
                way=way,
                turning=Sine(0.6, 0.9, 0.2),
                centre=(0.4, -0.3),
                ports={"left": (0.1, 0.2), "right": (0.9, -0.7)},
            )
        return cls(
            way=way, turning=Sine(0.6, 0.9, 0.2), axis=(0.3, -0.5, 0.8), centre=(0.4, -0.3, 0.2),
            ports={"left": (0.1, 0.2, -0.1), "right": (0.9, -0.7, 0.5)},
        )  # fmt: skip


def _axes_of(source: Any, names: Sequence[str], q: Array, v: Array) -> tuple[Array, Array]:
    """Axes of a body over its samples as columns, (n, d, d), and their rates."""
    try:
        source.port_axes(names[0], q)
    except ModelError:
        return _axes_of_rod(source, q, v)
    speed = float(np.abs(v).max())
    h = DIFFERENCE_ANGLE / speed if speed > 0.0 else 1.0

    def at(share: float) -> Array:
        return np.asarray(np.swapaxes(source.port_axes(names[0], q + share * h * v), -1, -2))

    return at(0.0), (at(-2.0) - 8.0 * at(-1.0) + 8.0 * at(1.0) - at(2.0)) / (12.0 * h)


def _axes_of_rod(source: Any, q: Array, v: Array) -> tuple[Array, Array]:
    """Axes of a body that has only a line, from two of its ports: they follow the line and do not turn about it."""
    if len(source.port_names) < 2:
        d = source.dimension
        return np.broadcast_to(np.eye(d), (len(q), d, d)).copy(), np.zeros((len(q), d, d))
    (a, da, _), (b, db, _) = (source.port_motion(name, q, v, v) for name in source.port_names[:2])
    length = np.linalg.norm(b - a, axis=1)[:, None]
    line, rate = (b - a) / length, (db - da) / length
    rate -= np.sum(rate * line, axis=1, keepdims=True) * line
    if line.shape[1] == 2:
        quarter = np.array([[0.0, 1.0], [-1.0, 0.0]])
        return np.stack([line, line @ quarter], -1), np.stack([rate, rate @ quarter], -1)
    from scipy.spatial.transform import Rotation  # a third of a second, for those who need it

    frames = [Rotation.align_vectors([line[0]], [[1.0, 0.0, 0.0]])[0].as_matrix()]
    for before, after in pairwise(line):
        across = np.cross(before, after)
        turn = Rotation.from_rotvec(
            across / max(np.linalg.norm(across), 1e-300) * np.arctan2(np.linalg.norm(across), before @ after)
        )
        frames.append(turn.as_matrix() @ frames[-1])
    axes = np.array(frames)
    return axes, np.swapaxes(np.cross(np.cross(line, rate)[:, None, :], np.swapaxes(axes, 1, 2)), 1, 2)


def _turning(times: Any, axes: Array, rates: Array) -> Smooth:
    """A smooth course of an angle or a quaternion."""
    if axes.shape[1] == 2:
        rate = axes[:, 0, 0] * rates[:, 1, 0] - axes[:, 1, 0] * rates[:, 0, 0]
        _refuse_far_turns(times, np.abs(rate))
        angle = np.unwrap(np.arctan2(axes[:, 1, 0], axes[:, 0, 0]))
        return Smooth(times, angle.tolist(), rate.tolist(), goes_on=True)
    from scipy.spatial.transform import Rotation

    p = Rotation.from_matrix(axes).as_quat()[:, [3, 0, 1, 2]]
    flips = np.cumprod(np.where(np.sum(p[1:] * p[:-1], axis=1) < 0.0, -1.0, 1.0))
    p[1:] *= flips[:, None]
    spin = np.einsum("nij,nkj->nik", rates, axes)  # w x
    w = 0.5 * np.stack([spin[:, 2, 1] - spin[:, 1, 2], spin[:, 0, 2] - spin[:, 2, 0], spin[:, 1, 0] - spin[:, 0, 1]], 1)
    _refuse_far_turns(times, np.linalg.norm(w, axis=1))
    scalar = -0.5 * np.sum(w * p[:, 1:], axis=1)
    vector = 0.5 * (p[:, :1] * w + np.cross(w, p[:, 1:]))
    return Smooth(times, p.tolist(), np.concatenate([scalar[:, None], vector], axis=1).tolist(), goes_on=True)


def _refuse_far_turns(times: Any, rates: Array) -> None:
    """Samples between which it turns so far that nobody can tell from them how."""
    turns = 0.5 * (rates[1:] + rates[:-1]) * np.diff(times)
    at = int(np.argmax(turns))
    if turns[at] > FARTHEST_TURN:
        raise ModelError(
            f"LedBody.of: the body turns by about {turns[at]:.3g} rad between two samples, from {times[at]:g} to "
            f"{times[at + 1]:g} s, which do not tell how; record more often (record_every), so that it turns by less than "
            f"{FARTHEST_TURN} rad."
        )


def _framed(source: Any, points: Mapping[str, Any], q: Array, turn: Array) -> dict[str, Any]:
    """Ports with the axes that they had, where the body that they are on has any."""
    made = {}
    for name, point in points.items():
        try:
            frame = source.port_axes(name, q) @ turn.T
        except ModelError:
            made[name] = Port(point)
            continue
        left, _, right = np.linalg.svd(frame)  # axes that drift while they move are not quite square
        made[name] = Port(point, tuple(map(tuple, (left @ right).tolist())))
    return made
