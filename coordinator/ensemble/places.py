"""Where a port is in all variants of a piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from coordinator.ensemble.parameters import BODY
from coordinator.ensemble.pieces import Piece
from coordinator.ensemble.variants import Variants
from modular.body import Body, Fellows
from modular.elements import Array
from modular.errors import ModelError
from modular.tiles import TileRows, Which


def places_in(piece: Piece, variants: Variants, port: str) -> Array | None:
    """Positions of a port [m], (samples, variants, d); None where its body never was there."""
    if port in piece.places:
        return piece.places[port]
    body, name = port_of(variants, port)
    q = piece.series("bodies", body, "q")
    if q is None:
        return None
    bodies = bodies_of(variants, body, piece.variants)
    if isinstance(bodies, TileRows) or len({each.port_names for each in bodies}) == 1:
        found = type(bodies[0]).port_places(bodies, q)
        of_each = found.reshape(*q.shape[:2], -1, found.shape[-1])
        return np.asarray(of_each[:, :, bodies[0].port_names.index(name)])
    return of_each_body(bodies, lambda one, k: one.port_motion(name, q[:, k], q[:, k], q[:, k])[0])


def rates_in(piece: Piece, variants: Variants, port: str) -> Array | None:
    """Velocities of a port [m/s], (samples, variants, d)."""
    body, name = port_of(variants, port)
    q, v, a = (piece.series("bodies", body, key) for key in "qva")
    if q is None or v is None or a is None:
        return None
    bodies = bodies_of(variants, body, piece.variants)
    return of_each_body(bodies, lambda one, k: one.port_motion(name, q[:, k], v[:, k], a[:, k])[1])


def bodies_of(variants: Variants, name: str, which: tuple[int, ...]) -> Fellows | TileRows:
    """A body as each of these variants describes it."""
    if name in variants.columns:
        return variants.bodies(Which(which)).rows_of([name])
    if not any(found.kind == BODY and found.owner == name for found in variants.parameters):
        return Fellows([variants.model.bodies[name]] * len(which))
    return Fellows(variants.member(BODY, name, k) for k in which)


def of_each_body(bodies: Sequence[Body], read: Callable[[Body, int], Array]) -> Array:
    """What is read of each body, (samples, bodies, …)."""
    return np.stack([read(body, k) for k, body in enumerate(bodies)], axis=1)


def port_of(variants: Variants, port: str) -> tuple[str, str]:
    """The body and the port of it that a name means."""
    found = variants.model.port(port, "Ensemble")
    if found.body not in variants.model.bodies:
        raise ModelError(f"Ensemble: '{port}' is no port of a body; give one such as 'upper.end'.")
    return found.body, found.port
