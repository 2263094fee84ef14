"""The stack of bodies that are led along courses: what they follow, and what they offer a coupling."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from components.bodies.led import kernels
from components.bodies.loops.trial_step import TRIAL_STEP
from components.bodies.posed.by_body import EquationsByBody
from components.bodies.posed.kernels import show_end_velocity_loop, show_loop
from components.bodies.posed.stack import PosedSide
from modular.body import Body
from modular.courses import NUMBERS_PER_ROW
from modular.elements import Array, Elements
from modular.loop import loops_of
from modular.port import PortName
from modular.side import Side

if TYPE_CHECKING:
    from components.bodies.led.description import LedBody


class LedBodies(EquationsByBody):
    """Bodies at q = (r, theta) or (r, p), (n, 3) or (n, 7), as two courses say (led/kernels.py), of d and of `turning` numbers."""

    varying = True  # Jacobians follow the coordinates (modular/body.py: GivesEquations)
    way: Array  # pieces of the course of its origin (modular/courses.py)
    turn: Array  # and of its angle or quaternion
    way_head: Array  # how many pieces, and what is taken off
    turn_head: Array
    axis: Array  # of an angle in space, of each make, (n, 3)
    going: Array  # value, rate and acceleration of the courses as last read, (n, d, 3)
    turning: Array
    asked: Array  # coordinates, rates and accelerations that a solver has read off, (n, 3, k)

    def __init__(self, dimension: int, turning: int, capacity: int = 4, width: int = 2) -> None:
        coordinates = 3 if dimension == 2 else 7
        super().__init__((coordinates,), dimension, 1 + dimension, capacity, width)
        for name, numbers in (("way", dimension), ("turn", turning)):
            self.column(name, 1 + NUMBERS_PER_ROW * numbers, listed=True)
            self.column(f"{name}_head", 1 + numbers)
        self.common("axis", 3)
        self.column("going", dimension, 3)
        self.column("turning", turning, 3)
        self.column("asked", 3, coordinates)
        self.loops = TRIAL_STEP | loops_of(kernels) | {"show_end_velocity": show_end_velocity_loop, "show": show_loop}
        for verb in ("respond_predicted", "respond_freely", "respond_ahead"):
            self.loops[verb] = kernels.respond_loop
        self.beyond = 0.0  # how far along the motion a solver looks [s]
        self.fold(*self.together[0])

    def limits(self, elements: int) -> Iterator[tuple[str, Any]]:
        """The pieces of courses are no more than there is room for."""
        yield from super().limits(elements)
        for name, course in (("ways_held", self.going), ("turns_held", self.turning)):
            pieces = self.way if name == "ways_held" else self.turn
            yield name, pieces.shape[1] // (1 + NUMBERS_PER_ROW * course.shape[1])

    @property
    def ways_held(self) -> Array:
        """How many pieces the way of each has."""
        return self.way_head[:, 0]

    @property
    def turns_held(self) -> Array:
        """How many pieces its turning has."""
        return self.turn_head[:, 0]

    def start_of(self, body: LedBody) -> tuple[Array, Array]:
        """Where its courses are at time zero."""
        return body.motion(0.0)[:2]

    def constants_of(self, body: LedBody) -> Mapping[str, Any]:
        """The axis of its angle."""
        return {"axis": body.line}

    def add_many(self, names: Sequence[str], bodies: Sequence[Body]) -> None:
        """Take bodies in, as they stand at time zero, with the pieces of their courses."""
        super().add_many(names, bodies)
        for name, body in zip(names, cast("Sequence[LedBody]", bodies), strict=True):
            row = self.row[name]
            for label, head, pieces in body.courses():
                if pieces.size > getattr(self, label).shape[1]:
                    self.widen(label, pieces.size)
                getattr(self, label)[row, : pieces.size] = pieces.ravel()
                getattr(self, f"{label}_head")[row] = head
            self.a[row] = body.motion(0.0)[2]

    def place_on_course(self, name: str, elements: Elements) -> None:
        """A body that comes later stands where its courses are by then."""
        row = self.row[name]
        self.play("place_on_course", elements, row, row + 1)

    def side(self, name: str, port: PortName) -> Side:
        """A port as a joint sees it now."""
        return PosedSide(self, name, port)

    # --- events ----------------------------------------------------------------------------------------------------

    def element_slopes(self, body: Any, q: Array) -> Callable[[Array], Array]:
        """How elements follow all coordinates where a body stands."""
        return partial(body.reach, slopes=body.slopes(q))

    def push(self, name: str, impulses: Mapping[int, Array], elements: Elements) -> float:
        """Impulses change nothing of its motion; what they take out is what comes from outside [J]."""
        row, body = self.row[name], self.bodies[name]
        slopes, work = body.slopes(self.q[row]), 0.0
        for k, element in enumerate(self.attached[row, : int(self.numbers[row])].tolist()):
            impulse = impulses.get(element)
            if impulse is not None:
                work += float(impulse @ body.reach(self.weights[row, k], slopes) @ self.v[row])
        return work

    def shift(self, name: str, velocity: Array) -> float:
        """Nothing shifts it."""
        return 0.0

    # --- equations -------------------------------------------------------------------------------------------------

    def read_off(self, elements: Elements) -> None:
        """Its constraints are those of the clock, looked at `Elements.beyond` further along the motion."""
        self.play("read_off", elements)
        self.beyond = float(elements.beyond[0])

    def coordinate_names(self) -> list[str]:
        """Place and angle, or place and quaternion."""
        return ["x", "y", "theta"] if len(self.gravity) == 2 else ["x", "y", "z", "p_0", "p_1", "p_2", "p_3"]

    def mass(self) -> Array:
        """Any will do: every coordinate is told."""
        return np.broadcast_to(np.eye(self.q.shape[1]), (self.count, self.q.shape[1], self.q.shape[1])).copy()

    def drive(self) -> Array:
        """Nothing."""
        return np.zeros((self.count, self.q.shape[1]))

    def closure(self) -> tuple[Array, Array, Array]:
        """q - q(t) = 0."""
        n, k = self.count, self.q.shape[1]
        asked = self.asked[:n]
        jacobian = np.broadcast_to(np.eye(k), (n, k, k)).copy()
        return self.q[:n] - asked[:, 0], self.v[:n] - asked[:, 1] - self.beyond * asked[:, 2], jacobian
