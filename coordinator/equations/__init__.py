"""What a model says of itself in symbols: its equations, written by its own components; torsors. Needs sympy (extra `symbolic`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from modular.assembly import Assembly
from modular.errors import ModelError
from modular.joint import Joint
from modular.torsor import Torsor

if TYPE_CHECKING:
    from coordinator.equations.joint_efforts import Efforts
    from coordinator.equations.lagrangian import Lagrange
    from coordinator.equations.right_hand_side import RightHandSide
    from coordinator.equations.torsors_of_joints import JointTorsors
    from coordinator.equations.written import Written

INSTALL = "pip install 'modular-multibody[symbolic]'"


def equations(model: Assembly, *, numbers: bool = False) -> Written:
    """The equations of a model as expressions of sympy: M, Q, phi by joint, G and gamma.

    Parameters have names (`upper.mass`, `spring.stiffness`, `gravity`); with `numbers` their values stand there. What has no
    formula (contacts, laws in Python, controllers) is refused by name. Stops that are open are left out, and told (`.open`): the
    equations hold as long as they are.
    """
    need_sympy("the equations of a model in symbols")
    from coordinator.equations.writing import write

    return write(model, numbers=numbers)


def efforts(
    model: Assembly, joint: str, mask: Sequence[int] | None = None, *, axes: str | None = None, on: str = "second",
    numbers: bool = False,
) -> Efforts:  # fmt: skip
    """What a joint exerts on its second side (`on`: or on its first), at its point, as formulas of coordinates and rates.

    `mask`: a 0 or 1 for each of F_x, F_y, M_z in the plane, F_x, F_y, F_z, M_x, M_y, M_z in space. `axes`: a port, such as
    "crank.tip", along whose axes; those of the world where left out.
    """
    need_sympy("efforts of joints as formulas")
    from coordinator.equations.joint_efforts import write_efforts

    return write_efforts(model, joint, mask, axes, on, numbers=numbers)


def lagrange(model: Assembly, q: Mapping[str, Any] | None = None, *, numbers: bool = False) -> Lagrange:
    """Lagrange's equations in independent coordinates: those of the joints along a spanning tree, which lead to every body.

    They are counted from where the model stands: "pin.theta" [rad], "slide.s" [m]. `q` puts others in their place, as
    expressions of sympy: {"elbow.theta": b - a}. Loops and drives stay as equations with multipliers.
    """
    need_sympy("Lagrange's equations")
    from coordinator.equations.lagrangian import Lagrange

    return Lagrange(model, q or {}, numbers=numbers)


def joint_torsors(joint: Joint, *, dimension: int = 3) -> JointTorsors:
    """What a joint leaves free and what it can carry, in symbols: `.twist`, `.wrench`, at its point."""
    need_sympy("torsors of joints in symbols")
    from coordinator.equations.torsors_of_joints import torsors_of

    return torsors_of(joint, dimension)


def moving(model: Assembly, *, numbers: bool = False) -> RightHandSide:
    """Accelerations and multipliers as a compiled function, `.at(q, v, time)`, and as source code, `.c_source()`."""
    need_sympy("source code of a model")
    from coordinator.equations.right_hand_side import RightHandSide

    return RightHandSide.of(model, numbers=numbers)


def need_sympy(what: str) -> None:
    """Refuse with the remedy where sympy is not installed."""
    if find_spec("sympy") is None:
        raise ModelError(f"{what}: this needs sympy, which is not installed; {INSTALL} brings it.")


__all__ = ["Torsor", "efforts", "equations", "joint_torsors", "lagrange", "moving", "need_sympy"]
