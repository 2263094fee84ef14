"""A mechanism near a place where it rests: linear equations of its independent motions.

With q = q0 + N p, where the columns of N are the motions that no joint stops, and velocities N_v u,

    p' = N^T N_v u,    N_v^T M N_v u' + C u + K p = 0,
    K = -N_v^T d(Q - G^T lambda)/dq N,    C = -N_v^T dQ/dv N_v,

Q and G at the multipliers lambda with which it rests: their part in K is the stiffness that joints have because their forces turn
with what they hold, as that of the pin of a pendulum. How N bends along the constraints does not come in: forces at rest do no work
on it. Where all joints lock places N_v = N; those that lock velocities alone leave more places than motions.

Derivatives are taken along each motion to fourth order; what is quadratic, as all joints between bodies in natural coordinates
are but for those that read angles, is exact but for rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coordinator.analysis.equilibrium import Rest
from coordinator.analysis.ports import port_places, states_of
from coordinator.analysis.result import Result
from coordinator.analysis.tangent import damping_along, dense, stiffness_along
from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.freedoms import RANK_TOLERANCE, find_freedoms
from coordinator.record.export import Series
from modular.assembly import Assembly
from modular.elements import Array


@dataclass(frozen=True)
class Linear(Result):
    """M u' + C u + K p = 0 with p' = R u about a place; `motions` N_v and `places` N are given by columns."""

    rows = ("row",)
    mass: Array
    damping: Array
    stiffness: Array
    motions: Array  # (coordinates, velocities)
    places: Array  # (coordinates, places)
    assembly: Assembly
    rest: dict[str, tuple[Array, slice]]  # of each body, where it rests and which coordinates are its own
    start: dict[str, tuple[Array, slice]]  # the same where it was put
    steps: int  # in which it came to rest from there
    doubt: tuple[Array, Array] | None = (
        None  # of stiffness and damping at rest: by how much differences tell them differently
    )
    turning: Array | None = None  # about a motion that goes on (linearise.py): p' = turning p + rates_of_places u
    rates_of_places: Array | None = None

    @property
    def way(self) -> tuple[str, float]:
        """The port that went farthest to where it rests, and how far [m]; "" where none has."""
        now, before = (port_places(self.assembly, states) for states in (self.rest, self.start))
        found = [("", 0.0), *((port, float(np.linalg.norm(now[port] - before[port]))) for port in now)]
        return max(found, key=lambda item: item[1])

    @property
    def rates(self) -> Array:
        """R: how places change with the velocities."""
        return np.asarray(self.places.T @ self.motions) if self.rates_of_places is None else self.rates_of_places

    @property
    def shown(self) -> Array:
        """Motions by which modes are shown: velocities at rest, and about a motion that goes on ways from it."""
        return self.motions if self.turning is None else self.places

    @property
    def matrix(self) -> Array:
        """A of (p, u)' = A (p, u)."""
        n = self.places.shape[1]
        turning = np.zeros((n, n)) if self.turning is None else self.turning
        below = -np.linalg.solve(self.mass, np.concatenate([self.stiffness, self.damping], axis=1))
        return np.concatenate([np.concatenate([turning, self.rates], axis=1), below])

    def summary(self) -> list[str]:
        """In words, a line each."""
        about = "a place where the model rests" if self.turning is None else "a motion that goes on"
        (n, m), (port, way) = (self.places.shape[1], self.motions.shape[1]), self.way
        lines = [f"linear equations about {about}: {n} places and {m} velocities"]
        if way > 0.0:
            lines.append(f"'{port}' has moved by {way:.3g} m to get there, in {self.steps} steps")
        for name, matrix in (("mass", self.mass), ("damping", self.damping), ("stiffness", self.stiffness)):
            size = float(np.abs(matrix).max(initial=0.0))
            lines.append(f"{name}: up to {size:.3g}" if size else f"no {name}")
        return lines

    def series(self) -> dict[str, Series]:
        """Its matrices, by name."""
        square, of_places = ("row", "velocity"), ("row", "place")
        found = {
            "mass": Series(square, self.mass, "", "M"),
            "damping": Series(square, self.damping, "", "C"),
            "stiffness": Series(of_places, self.stiffness, "", "K"),
            "rates": Series(("place", "velocity"), self.rates, "", "R, with p' = R u"),
            "motions": Series(("coordinate", "velocity"), self.motions, "", "N_v, velocities of all coordinates"),
            "places": Series(("coordinate", "place"), self.places, "", "N, ways of all coordinates"),
            "matrix": Series(("of", "state"), self.matrix, "", "A of (p, u)' = A (p, u)"),
        }
        if self.turning is not None:
            found["turning"] = Series(("place_row", "place"), self.turning, "1/s", "p' = turning p + R u")
        return found

    def labels(self) -> dict[str, Sequence[Any]]:
        """What the places along each axis are called."""
        n, m = self.places.shape[1], self.motions.shape[1]
        coordinates = [""] * len(self.places)
        for name, (_, own) in self.rest.items():
            coordinates[own] = [f"{name}[{k}]" for k in range(own.stop - own.start)]
        found = {"row": range(m), "velocity": range(m), "place": range(n), "coordinate": coordinates}
        found |= {key: [*(f"p{k}" for k in range(n)), *(f"u{k}" for k in range(m))] for key in ("of", "state")}
        return found | ({} if self.turning is None else {"place_row": range(n)})


def linear_at(rest: Rest) -> Linear:
    """Of a model that rests."""
    equations, q = rest.equations, rest.state.q
    motions = find_freedoms(equations).basis
    damps = damping_along(equations, q, motions)
    places = motions if equations.holonomic.all() else free_places(equations)
    bends = stiffness_along(equations, q, places, rest.state.multipliers)
    return Linear(
        mass=dense(motions.T @ (equations.mass @ motions)),
        damping=motions.T @ damps.values,
        stiffness=motions.T @ bends.values,
        motions=motions,
        places=places,
        assembly=rest.model,
        rest=states_of(equations, q),
        start=states_of(equations, rest.start),
        steps=rest.steps,
        doubt=(np.abs(motions.T) @ bends.doubt, np.abs(motions.T) @ damps.doubt),
    )


def free_places(equations: Equations) -> Array:
    """Places to which joints that lock places let the system go, orthonormal."""
    jacobian = dense(equations.jacobian())[equations.holonomic] * equations.scale[equations.holonomic, None]
    _, values, right = np.linalg.svd(jacobian)
    rank = int((values > RANK_TOLERANCE * values.max(initial=0.0)).sum())
    return np.asarray(right[rank:].T)
