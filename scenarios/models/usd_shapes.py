"""What shapes of USD weigh: boxes, balls, cylinders and capsules, stretched along their own axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from components import Solid
from modular.elements import Array
from modular.errors import ModelError

WATER = 1000.0  # [kg/m^3], what USD takes where nothing is said


def usual_density(pxr: Any, shape: Any, density: float, kilograms: float, metres: float) -> tuple[float, float]:
    """Mass [kg] of a shape, 0 where it does not say one, and its density [kg/m^3]: its own, that of its body, or that of water."""
    if not shape.HasAPI(pxr.UsdPhysics.MassAPI):
        return 0.0, density or WATER
    api = pxr.UsdPhysics.MassAPI(shape)
    own = float(api.GetDensityAttr().Get() or 0.0) * kilograms / metres**3
    return kilograms * float(api.GetMassAttr().Get() or 0.0), own or density or WATER


def geometry_of(pxr: Any, shape: Any, stretch: Array) -> tuple[str, Array, dict[str, str]]:
    """What a shape is, how its z axis turns into its line, and its sizes [m] as SDFormat has them.

    Its type alone where it is none of these, or stretched so that it is none any more.
    """
    geometry = pxr.UsdGeom
    even = float(np.ptp(stretch)) < 1e-6 * float(stretch.max())
    if shape.IsA(geometry.Cube):
        edges = float(geometry.Cube(shape).GetSizeAttr().Get()) * stretch
        return "box", np.eye(3), {"size": " ".join(map(repr, map(float, edges)))}
    if shape.IsA(geometry.Sphere) and even:
        return (
            "sphere",
            np.eye(3),
            {"radius": repr(float(geometry.Sphere(shape).GetRadiusAttr().Get()) * float(stretch[0]))},
        )
    for kind, name in ((geometry.Cylinder, "cylinder"), (geometry.Capsule, "capsule")):
        if not shape.IsA(kind):
            continue
        one = kind(shape)
        along = "XYZ".index(str(one.GetAxisAttr().Get()))
        across = np.delete(stretch, along)
        if float(np.ptp(across)) > 1e-6 * float(across.max()) or (name == "capsule" and not even):
            break
        radius, height = float(one.GetRadiusAttr().Get()), float(one.GetHeightAttr().Get())
        turn = np.roll(np.eye(3), along + 1, axis=0)  # the z axis becomes that one
        sizes = {"radius": repr(radius * float(across[0])), "length": repr(height * float(stretch[along]))}
        return name, turn, sizes
    return str(shape.GetTypeName()) or "shape", np.eye(3), {}


def solid_of(pxr: Any, shape: Any, stretch: Array, mass: float, density: float) -> Solid | None:
    """In the axes of the shape [m]; None where it is none that is known."""
    given: dict[str, Any] = {"mass": mass} if mass > 0.0 else {"density": density}
    if shape.IsA(pxr.UsdGeom.Mesh):
        return _mesh(pxr.UsdGeom.Mesh(shape), stretch, given)
    kind, turn, told = geometry_of(pxr, shape, stretch)
    sizes = [float(word) for text in told.values() for word in text.split()]
    made: Any = {"box": Solid.box, "sphere": Solid.ball, "cylinder": Solid.cylinder, "capsule": Solid.capsule}.get(kind)
    return None if made is None or not sizes else made(*sizes, **given).turned(turn)


def _mesh(mesh: Any, stretch: Array, given: dict[str, Any]) -> Solid | None:
    """A closed mesh; None where it has no inside."""
    points = np.array(mesh.GetPointsAttr().Get() or (), float).reshape(-1, 3) * stretch
    counts, numbers = (
        list(attribute.Get() or ()) for attribute in (mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr())
    )
    ends = np.cumsum(counts, dtype=np.int64)
    faces = [[int(k) for k in numbers[end - count : end]] for end, count in zip(ends, counts, strict=True)]
    places, which = np.unique(points, axis=0, return_inverse=True)
    which = which.reshape(-1)
    kept = [[int(which[k]) for k in face] for face in faces if all(0 <= k < len(which) for k in face)]
    try:
        return Solid.mesh(places.tolist(), [face for face in kept if len(set(face)) == len(face)], **given)
    except ModelError:
        return None
