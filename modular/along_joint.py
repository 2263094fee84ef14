"""Forces that are put on a joint by its name: along its one coordinate, between its two ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modular.elements import Array
from modular.errors import ModelError
from modular.force import Force
from modular.port import GROUND, PortName

if TYPE_CHECKING:
    from modular.assembly import Assembly
    from modular.edges import JointEdge


def on_joint(model: Assembly, name: str, force: Force, joint: str) -> tuple[Force, tuple[str, ...], Any]:
    """The force along the coordinate of a joint, as positive as that, its ports, and where on the ground it takes hold."""
    model.known(joint, model.joint_edges, "joint", f"force '{name}'")
    edge = model.joint_edges[joint]
    kinds = edge.joint.coordinates
    if len(kinds) != 1 or kinds[0] == "distance":
        raise ModelError(
            f"force '{name}': joint '{joint}' ({type(edge.joint).__name__}) has no single angle or way along which a "
            "force could act; name the ports between which it should act."
        )
    made = force.on_joint(kinds[0], None if model.dimension == 2 and kinds[0] == "angle" else axis_of(model, edge))
    if made is None:
        raise ModelError(
            f"force '{name}': a {type(force).__name__} does not act along the {kinds[0]} of a joint; take one that does, such as a "
            "Motor, Regulator, Stop, Friction or TableSpring, or name its ports."
        )
    ports = (str(edge.first), str(edge.second))
    return made, (*ports, *ports[1:] * (made.sides - 2)), edge.at if GROUND in ports else None


def axis_of(model: Assembly, edge: JointEdge) -> Any:
    """As it was given, or that of the port which the joint takes it from."""
    return axis_along(model, getattr(edge.joint, "axis", None), edge.first, edge.second)


def axis_along(model: Assembly, given: Any, first: PortName, second: PortName) -> Any:
    """An axis in the world as it was given for what is between two ports, or that of the port which it is taken from."""
    if given is not None:
        return given
    axes = _axes(model, first if first.body != GROUND else second)
    return tuple(float(x) for x in axes[2 if model.dimension == 3 else 0])


def _axes(model: Assembly, port: PortName) -> Array:
    """Axes of a port as its body is described."""
    body = model.bodies[port.body]
    stack: Any = body.new_stack()
    stack.add(port.body, body)
    return body.port_axes(port.port, stack.state()["q"][0])
