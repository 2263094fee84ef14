"""The exact stability bound of an assembly, for studies: it knows all joints at once, which no component does.

With G = J B over all joints and springs, W = G G^T, the scheme is stable iff lambda_max(W E) < 4, where E collects
dt^2 K + 2 dt C of joints and dt^2 k + 4 dt c of forces; the same eigenvalue is that of G^T E G. Derivation: docs/method.md.

Bodies with a gamma of their own count N = 2 gamma times what springs ask: at z = -1 there is G^T (dt^2 K) G N + G^T (2 dt C) G, and
dampers of forces count (1 + N) / 2 times.
"""

from __future__ import annotations

import numpy as np

from coordinator.system import System
from modular.elements import Array
from modular.seen_mass import responses_of

STABILITY_LIMIT = 4.0


def exact_margin(system: System, dt: float) -> float:
    """Factor by which the step could grow at the present stiffness before the exact bound is reached."""
    spring, damper = _demands(system, dt)
    if not spring.any() and not damper.any():
        return float("inf")
    symmetric = np.allclose(spring, spring.T, rtol=1e-12, atol=0.0) and np.allclose(
        damper, damper.T, rtol=1e-12, atol=0.0
    )

    def largest(growth: float) -> float:
        whole = growth**2 * spring + growth * damper
        return float(np.linalg.eigvalsh(whole)[-1] if symmetric else np.linalg.eigvals(whole).real.max())

    low, high = 0.0, 1.0
    while largest(high) < STABILITY_LIMIT:
        low, high = high, 2.0 * high
    while high - low > 1e-9 * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if largest(middle) < STABILITY_LIMIT else (low, middle)
    return low


def _demands(system: System, dt: float) -> tuple[Array, Array]:
    """G^T dt^2 K G and G^T 2 dt C G over the motions of all bodies, at the elements as they are shown."""
    system.respond()
    motions = system.elements.motions
    column = {name: motions * k for k, name in enumerate(system.body_home)}
    size = motions * len(column)
    spring, damper, losses = np.zeros((size, size)), np.zeros((size, size)), np.zeros((size, size))
    demand_weights = [float(getattr(home, "demand_weight", 1.0)) for home in system.body_home.values()]
    for joints in system.joints:
        joints.compute_compliance(system.elements)
    for name, home in system.joint_home.items():
        row = home.stack.row[name]
        seen = responses_of(home.stack, system.elements, row)
        g = _placed(column, home.owners, seen, size)
        spring += g.T @ (dt**2 * home.stack.stiffness[row]) @ g
        damper += g.T @ (2.0 * dt * home.stack.damping[row]) @ g
    for forces in system.forces:
        forces.request_demand(system.elements, dt)
    for name, force in system.force_home.items():
        row = force.stack.row[name]
        x, y = (block[row] for block in force.stack.requested_demand())
        if x.any() or y.any():
            alone = len(force.owners) == 1  # on a point of one body
            seen = (
                [system.elements.response[force.starts[0]]]
                if alone
                else responses_of(force.stack, system.elements, row)
            )
            g = _placed(column, tuple(force.owners), seen, size)
            spring += g.T @ x @ g
            losses += g.T @ y @ g
    counted = np.repeat(demand_weights, motions)
    return spring * counted, damper + losses * (0.5 + 0.5 * counted)


def _placed(column: dict[str, int], owners: tuple[str, ...], seen: list[Array], size: int) -> Array:
    """The rows of one joint over the motions of all bodies."""
    g = np.zeros((len(seen[0]), size))
    motions = size // max(1, len(column))
    for owner, part in zip(owners, seen, strict=True):
        if owner in column:
            g[:, column[owner] : column[owner] + motions] += part[:, :motions]
    return g
