"""What share of the compliance at a joint is the joint's own, beside that of the flexible bodies on it.

A joint that is a spring gives way under a load, and so do the bodies that it holds; where it gives more than they do, the motion is
that of the springs. Both are compared under the same loads sigma on the rows of the joint, of a force F and of the moment F L
that it has at a lever as long as the body: with C_joint = K^-1 and C_body = J K_e^+ J^T, K_e what is elastic in a body,

    share = tr(D C_joint) / tr(D (C_joint + C_body)),    D = 1 for translations, L^2 for rotations.

K_e^+ is static and of a body that nothing else holds: a load is borne by the inertia of the body (inertia relief: its rigid
motions, the lowest modes, are left out). Between rigid bodies a joint has no share; it is all there is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coordinator.building.homes import JointHome
from coordinator.system import System
from modular.elements import Array
from modular.port import GROUND


def joint_share(system: System, home: JointHome, row: int) -> float | None:
    """The share where the system stands, its joints linearised; None where no body is flexible or the joint is no spring."""
    form, stiffness = home.stack.form, home.stack.stiffness[row]
    if not form.holonomic or not stiffness.any():
        return None
    body, lever = np.zeros_like(stiffness), 0.0
    flexible = False
    for side, (owner, start, count) in enumerate(zip(home.owners, home.starts, home.counts, strict=True)):
        stack = None if owner == GROUND else system.body_home[owner]
        if stack is None or not getattr(stack, "elastic", False):
            continue
        flexible = True
        blocks = (home.stack.on_first, home.stack.on_second)[side][row]
        own = stack.row[owner]
        slopes = _slopes(stack, own, range(start, start + count))
        modes = elastic_modes(stack, owner, own, system.gravity)
        moved = np.einsum("med,edk->mk", blocks, slopes) @ modes
        body += moved @ moved.T
        lever = max(lever, _extent(stack, owner))
    if not flexible:
        return None
    weights = np.where(np.arange(form.rows) < form.translations, 1.0, lever**2)
    gives = float(weights @ np.diag(np.linalg.pinv(stiffness, hermitian=True)))
    return gives / (gives + float(weights @ np.diag(body)))


def elastic_modes(stack: Any, name: str, row: int, gravity: Array) -> Array:
    """Columns x with sum x x^T = K_e^+: modes of the body that stands free, each over its frequency; rigid motions left out."""
    from scipy import linalg  # a seventh of a second, for models that bend

    from coordinator.couplings.centralized.tangents import inner_block

    stiffness = inner_block(stack, name, row, gravity, "q")
    mass, border = stack.mass()[row], stack.closure()[2][row]
    free = linalg.null_space(border) if len(border) else np.eye(len(mass))
    stiffness = free.T @ (0.5 * (stiffness + stiffness.T)) @ free
    squares, shapes = linalg.eigh(stiffness, free.T @ mass @ free)
    rigid = 3 if len(gravity) == 2 else 6
    return np.asarray(free @ shapes[:, rigid:] / np.sqrt(squares[rigid:]))


def _slopes(stack: Any, own: int, wanted: range) -> Array:
    """How elements of a body follow its coordinates, (elements, d, k)."""
    served, owners, blocks = stack.reach()
    places = {int(element): k for k, (element, owner) in enumerate(zip(served, owners, strict=True)) if owner == own}
    return np.array([blocks[places[element]] for element in wanted])


def _extent(stack: Any, name: str) -> float:
    """The largest distance of two of its ports [m]."""
    description = stack.bodies[name]
    q, v, a = (stack.state()[key][stack.row[name]][None] for key in ("q", "v", "a"))
    points = np.array([description.port_motion(port, q, v, a)[0][0] for port in description.port_names])
    return float(max(np.linalg.norm(points - point, axis=1).max() for point in points))
