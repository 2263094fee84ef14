"""What joints and bodies may leave open, by how far a system reaches."""

from __future__ import annotations

from math import ceil, log2

import numpy as np

from coordinator.building.models_apart import UnlikeModels
from coordinator.system import System


def tolerate(system: System, share: float) -> None:
    """What may stay open: a share of the extent of the system, and of a right angle.

    Of the extent rounded up to a power of two: so models that differ a little are closed alike, and may stand side by side.
    """
    extents = extents_of(system)
    alike: dict[float, list[int]] = {}
    for model, extent in extents.items():
        alike.setdefault(2.0 ** ceil(log2(extent)) if extent else 1.0, []).append(model)
    if len(alike) > 1:
        raise UnlikeModels(list(alike.values()))
    system.elements.tolerance[:] = share * next(iter(alike), 1.0), share


def extents_of(system: System) -> dict[int, float]:
    """How far the bodies of each model that stands in the system reach [m]; there is one, but for ensembles."""
    if system.parted is None:
        return {0: max([float(np.abs(bodies.state()["q"]).max(initial=0.0)) for bodies in system.bodies] or [0.0])}
    found: dict[int, float] = {}
    for bodies in system.bodies:
        q = bodies.state()["q"]
        sizes = np.abs(q).reshape(len(q), -1).max(axis=1, initial=0.0).tolist()
        for name, size in zip(bodies.names, sizes, strict=True):
            model = system.parted(name)[1]
            found[model] = max(found.get(model, 0.0), size)
    return found
