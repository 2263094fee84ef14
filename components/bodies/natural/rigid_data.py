"""Data of rigid bodies, whatever their coordinates: mass, inertia, mass centre, ports, motion; and what may be wrong with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from components.bodies.natural.straight import check_motion
from modular.elements import Array
from modular.errors import ModelError
from modular.port import Port


class RigidData(Protocol):
    """What a rigid body is told, in the world as it stands at the start."""

    @property
    def mass(self) -> float:
        """[kg]."""

    @property
    def inertia(self) -> Any:
        """About the mass centre [kg m^2]."""

    @property
    def centre(self) -> Sequence[float]:
        """The mass centre [m]."""

    @property
    def ports(self) -> Mapping[str, Any]:
        """Name -> point [m], or `Port` with axes."""

    @property
    def velocity(self) -> Sequence[float] | None:
        """Of the mass centre [m/s]."""

    @property
    def angular_velocity(self) -> Sequence[float] | float | None:
        """[rad/s]."""


def named_ports(kind: str, ports: Any) -> dict[str, Port]:
    """Ports that may be given as mere points."""
    if not isinstance(ports, Mapping):
        raise ModelError(f"{kind}: ports = {ports!r}; give a mapping from names to points, as {{'tip': (1, 0, 0)}}.")
    return {n: p if isinstance(p, Port) else Port(tuple(float(x) for x in p)) for n, p in ports.items()}


def tensor_of(inertia: Any) -> Array:
    """About the mass centre, in world axes at the start; in the plane the number itself."""
    given = np.asarray(inertia, float)
    return np.diag(given) if given.shape == (3,) else given


def check_rigid(name: str, body: RigidData) -> list[str]:
    """Negative mass, impossible inertia, ports and velocities of the wrong dimension."""
    d = len(body.centre)
    if d not in (2, 3):
        return [f"body '{name}': centre has {d} coordinates; give 2 in the plane, 3 in space."]
    inertia = tensor_of(body.inertia)
    if not np.all(np.isfinite(body.centre)) or not np.all(np.isfinite(inertia)):
        return [
            f"body '{name}': centre = {body.centre} or inertia = {body.inertia} is not finite; give finite numbers."
        ]
    problems = []
    if not (np.isfinite(body.mass) and body.mass > 0):
        problems.append(f"body '{name}': mass = {body.mass} kg; a mass must be positive.")
    if d == 2 and inertia.shape != ():
        problems.append(f"body '{name}': inertia has shape {inertia.shape}; in the plane give one number [kg m^2].")
    elif d == 2 and not inertia >= 0:
        problems.append(f"body '{name}': inertia = {inertia} kg m^2; it cannot be negative.")
    elif d == 3:
        problems += _check_tensor(name, inertia)
    for port, place in body.ports.items():
        if len(place.point) != d:
            problems.append(f"port '{name}.{port}' has {len(place.point)} coordinates where its body has {d}.")
    return problems + check_motion(name, d, body.velocity, body.angular_velocity)


def _check_tensor(name: str, inertia: Array) -> list[str]:
    if inertia.shape != (3, 3) or not np.allclose(inertia, inertia.T, atol=1e-9 * np.abs(inertia).max()):
        return [f"body '{name}': inertia must be a symmetric 3 x 3 tensor or three principal values [kg m^2]."]
    values = np.linalg.eigvalsh(inertia)
    listed = ", ".join(f"{value:.4g}" for value in values)
    if values[0] < 0 or values[2] > (values[0] + values[1]) * (1 + 1e-9):
        return [
            f"body '{name}': principal inertias {listed} kg m^2 violate the triangle inequality (none may exceed the "
            f"sum of the other two); no distribution of mass has them. Check the units, and that the tensor is taken "
            "about the mass centre."
        ]
    return []
