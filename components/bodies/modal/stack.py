"""The stack of bodies that bend a little about a floating frame: their state, and what they offer a coupling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from components.bodies.body_stack import GLUE, BodyStack
from components.bodies.modal import compliance, gluing, kernels
from components.bodies.posed.by_body import ImpulseByBody
from components.bodies.posed.stack import TurnedSide
from modular.elements import Array
from modular.errors import ModelError
from modular.port import PortName
from modular.side import Side

if TYPE_CHECKING:
    from components.bodies.modal.description import ModalBody

WORK_COLUMNS = ("next_q", "next_v", "now", "mix", "mix_before", "amounts")


class ModalBodies(ImpulseByBody):
    """Bodies with equally many modes and places; weights of an element are w0, its place and the arm from there."""

    varying = True  # mass matrices and Jacobians follow the coordinates (modular/body.py: GivesEquations)
    elastic = True  # what its drive holds is stiff: solvers that iterate want to know how it changes
    constant = (*BodyStack.constant, *WORK_COLUMNS)  # room to work in: nothing of it is kept
    sizes: Array  # modes, places
    mix: Array  # N
    amounts: Array  # of each mode: forces, momenta, rates, what is sought
    # of each make
    kilograms: Array
    inertia: Array  # I_ab
    gyroscopic: Array  # C_ij
    squares: Array  # omega^2
    losses: Array  # 2 zeta omega
    places: Array  # of ports, not bent, in the axes of the body
    shapes: Array  # how each mode moves and turns them, place by place

    def __init__(self, dimension: int, modes: int, places: int, capacity: int = 4, width: int = 2) -> None:
        coordinates, turning = (3 if dimension == 2 else 7) + modes, 2 * dimension - 3
        super().__init__((coordinates,), dimension, 2 + dimension, capacity, width, long=True)
        self.fixed("sizes", 2)
        self.sizes[:] = modes, places
        for name in ("next_q", "next_v", "now"):
            self.column(name, coordinates, listed=True)
        for name in ("mix", "mix_before"):
            self.column(name, modes, turning, listed=True)
        self.column("amounts", modes, 4, listed=True)
        self.common("kilograms")
        self.common("inertia", (1 + modes) ** 2, turning**2, listed=True)
        self.common("gyroscopic", modes**2, turning, listed=True)
        for name in ("squares", "losses"):
            self.common(name, modes, listed=True)
        self.common("places", places, dimension, listed=True)
        self.common("shapes", places * modes, dimension + turning, listed=True)
        self.take_loops(kernels, compliance, gluing)
        self.fold(*self.together[0])

    def recall(self, details: Mapping[str, Any]) -> None:
        """Keep them again; loops count on columns as long as there are modes and places."""
        super().recall(details)
        modes, places = (int(size) for size in self.sizes)
        d, rows, makes = len(self.gravity), self.capacity, len(self.kilograms)
        coordinates, t = (3 if d == 2 else 7) + modes, 2 * d - 3
        sizes: dict[str, tuple[int, ...]] = dict.fromkeys(
            ("q", "v", "a", "next_q", "next_v", "now"), (rows, coordinates)
        )
        sizes |= dict.fromkeys(("mix", "mix_before"), (rows, modes, t))
        sizes |= dict.fromkeys(("squares", "losses"), (makes, modes))
        sizes |= {"amounts": (rows, modes, 4), "inertia": (makes, (1 + modes) ** 2, t**2)}
        sizes |= {
            "gyroscopic": (makes, modes**2, t),
            "places": (makes, places, d),
            "shapes": (makes, places * modes, d + t),
        }
        fits = modes >= 0 and all(getattr(self, name).shape == size for name, size in sizes.items())
        fits = fits and all(self.folds(name) or getattr(self, name).shape == self.q.shape for name in GLUE)
        held = self.weights[..., 1]
        if not fits or not np.all((held >= 0) & (held < max(places, 1))):
            raise ModelError(f"{type(self).__name__}: columns of modes and places do not fit each other.")

    @property
    def forward_only(self) -> bool:
        """What is damped does not come back by steps that are negative."""
        return any(np.any(body.ratios > 0.0) for body in self.bodies.values())

    def start_of(self, body: ModalBody) -> tuple[Array, Array]:
        """Coordinates and rates of a body at the start."""
        return body.start, body.pace

    def constants_of(self, body: ModalBody) -> Mapping[str, Any]:
        """Its mass, what its inertia is made of, its modes."""
        names = ("inertia", "gyroscopic", "squares", "losses", "places", "shapes")
        return {"kilograms": body.mass} | {name: getattr(body.numbers, name) for name in names}

    def side(self, name: str, port: PortName) -> Side:
        """A port as a joint sees it now."""
        return ModalSide(self, name, port)

    # --- events ----------------------------------------------------------------------------------------------------

    def element_slopes(self, body: Any, q: Array) -> Callable[[Array], Array]:
        """How elements follow all coordinates where a body stands."""
        return partial(body.reach, q=q)


class ModalSide(TurnedSide):
    """A port of such a body, or what is fixed to it, as it stands now."""

    def __init__(self, stack: ModalBodies, name: str, port: PortName) -> None:
        body: ModalBody = stack.bodies[name]
        super().__init__(stack, name, port, body.port_weights(port.port))
        d, q = len(self.position), self._q
        self.part, self._place = (self._weights[1],), self.position
        unbent = np.array([self._local(body, axis, q) for axis in np.eye(d)]).T  # where axes of the port are now
        self._turn = np.linalg.inv(body.rotation(q) @ unbent).T

    def _local(self, body: ModalBody, arm: Array, q: Array) -> Array:
        place, modes = body.local(np.array([0.0, self._weights[1], *arm]))
        return np.asarray(place + q[len(q) - body.modes :] @ modes)
