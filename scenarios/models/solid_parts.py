"""Bodies by their shapes in a model file: `solid = [{ shape = "box", x = 0.5, y = 0.04, z = 0.02, density = 7850 }]`.

Shapes are those that `Solid` offers, with its settings. Each may be moved (`at`), turned about the origin before that (`turned`, a
rotation matrix or an axis and an angle), and taken out of what stands before it (`hole = true`).
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from components import RigidBody, Solid
from modular.body import Body
from modular.elements import Array
from modular.errors import ModelError
from modular.names import hint
from scenarios.models.document import Node
from scenarios.models.kinds import named
from scenarios.models.markup import shown
from scenarios.models.meshes import read_mesh
from scenarios.models.values import FAILURES, Scope, fields_of, kind_at, made, number, read_value, told

FILED = ("file", "scale")  # of a mesh: STL or OBJ, and metres per unit
PLACING = ("at", "turned", "hole")
WORKED_OUT = ("mass", "inertia", "centre")  # what a body has of its solid


@functools.cache
def shapes() -> dict[str, tuple[Callable[..., Solid], dict[str, Any]]]:
    """What `Solid` can be made of, and the annotations of its settings."""
    found = {}
    for name, member in vars(Solid).items():
        if isinstance(member, classmethod) and not name.startswith("_"):
            maker = getattr(Solid, name)
            given = inspect.signature(maker).parameters
            if all(each.kind is not each.VAR_POSITIONAL for each in given.values()):
                hints = typing.get_type_hints(maker)
                found[name] = maker, {setting: hints[setting] for setting in given}
    return found


def body_of_solid(node: Node, dimension: int, scope: Scope) -> Body:
    """A body of which mass, centre and inertia are those of shapes."""
    kind = kind_at(node, (Body,)) if "kind" in node.value else named(Body, RigidBody.__name__)
    if lacking := [name for name in WORKED_OUT if name not in kind.hints]:
        raise node.refuse(
            f"a {kind.name} has no {lacking[0]} that shapes could give; take kind = 'RigidBody'.", "solid"
        )
    for name in WORKED_OUT:
        if name in node.value:
            raise node.refuse("the shapes under solid say it already; leave it out, or take solid = … out.", name)
    solid = _sum(node.inside("solid"), scope)
    values = fields_of(node, kind, scope, besides=("solid",))
    plane = dimension == 2
    inertia: Any = float(solid.inertia[2, 2]) if plane else tuple(map(tuple, solid.inertia.tolist()))
    centre = tuple(solid.centre.tolist()[:dimension])
    body: Body = made(kind, {**values, "mass": solid.mass, "inertia": inertia, "centre": centre}, node)
    return body


def _sum(node: Node, scope: Scope) -> Solid:
    found: Solid | None = None
    for part in node.parts():
        solid, hole = _shape(part, scope)
        try:
            if hole and found is None:
                raise ModelError("a hole comes first; write the shape that it is cut from before it.")
            found = solid if found is None else found - solid if hole else found + solid
        except FAILURES as error:
            raise told(error, part) from error
    if found is None:
        raise node.refuse("it is empty; write one shape or more.")
    return found


def _shape(node: Node, scope: Scope) -> tuple[Solid, bool]:
    name = node.table().get("shape")
    if name is None or not isinstance(name.value, str) or name.value.lower() not in shapes():
        what = "it has no shape" if name is None else f"there is no shape {shown(repr(name.value))}"
        raise (name or node).refuse(f"{what}; {hint('' if name is None else str(name.value), shapes())}")
    maker, hints = shapes()[name.value.lower()]
    values: dict[str, Any] = {}
    if name.value.lower() == "mesh" and "file" in node.value:
        values = _from_file(node, scope)
    filed = FILED if name.value.lower() == "mesh" else ()
    for key, part in node.items():
        if values and key in FILED:
            continue
        if values and key in ("points", "faces"):
            raise node.refuse("the file says it already; leave it out, or take file = … out.", key)
        if key in hints:
            values[key] = read_value(part, hints[key], scope)
        elif key not in ("shape", *PLACING):
            raise node.refuse(
                f"a {name.value} has no '{shown(key)}'; {hint(key, [*hints, *PLACING, *filed])}",
                key,
            )
    empty = inspect.Parameter.empty
    given = inspect.signature(maker).parameters
    if lacking := [key for key, each in given.items() if each.default is empty and key not in values]:
        raise node.refuse(f"a {name.value} needs {' and '.join(lacking)}; give them [m, kg].")
    try:
        solid = maker(**values)
        if (turned := node.get("turned")) is not None:
            solid = solid.turned(_rotation(turned, scope))
        if (at := node.get("at")) is not None:
            place = read_value(at, Sequence[float], scope)
            solid = solid.moved((*place, 0.0) if len(place) == 2 else place)
    except FAILURES as error:
        raise told(error, node) from error
    hole = node.get("hole")
    return solid, hole is not None and bool(read_value(hole, bool, scope))


def _from_file(node: Node, scope: Scope) -> dict[str, Any]:
    """Places and faces of a mesh in a file beside the model, or below it."""
    home = Path(node.source.path).resolve().parent
    path = (home / read_value(node.inside("file"), str, scope)).resolve()
    if not path.is_relative_to(home):
        raise node.refuse(f"'{path}' does not lie in the folder of the model or below it; put it there.", "file")
    scale = number(node.inside("scale"), scope, "a factor") if "scale" in node.value else 1.0
    try:
        points, faces = read_mesh(path)
    except ModelError as error:
        raise node.refuse(str(error), "file") from error
    return {"points": scale * points, "faces": faces}


def _rotation(node: Node, scope: Scope) -> Array:
    """A rotation matrix, or an axis and an angle [rad]; in the plane an angle alone."""
    if isinstance(node.value, list):
        return np.array(read_value(node, Sequence[Sequence[float]], scope), float)
    if not isinstance(node.value, dict):
        axis, angle = np.array([0.0, 0.0, 1.0]), number(node, scope, "an angle [rad], or { axis = […], angle = … }")
    else:
        node.table(("axis", "angle"))
        if lacking := [key for key in ("axis", "angle") if key not in node.value]:
            raise node.refuse(f"it has no {lacking[0]}; give {{ axis = [0, 0, 1], angle = … }}.")
        axis = np.array(read_value(node.inside("axis"), Sequence[float], scope), float)
        angle = number(node.inside("angle"), scope, "an angle [rad]")
    size = float(np.linalg.norm(axis)) if axis.shape == (3,) else 0.0
    if not 1e-9 < size < 1e9:
        raise node.refuse(f"axis = {axis.tolist()}; give a direction in space.")
    x, y, z = axis / size
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross)
