"""What shapes of USD weigh: boxes, balls, cylinders and capsules, stretched along their own axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from components import Solid
from modular.elements import Array

WATER = 1000.0  # [kg/m^3], what USD takes where nothing is said


def usual_density(pxr: Any, shape: Any, density: float, kilograms: float, metres: float) -> tuple[float, float]:
    """Mass [kg] of a shape, 0 where it does not say one, and its density [kg/m^3]: its own, that of its body, or that of water."""
    if not shape.HasAPI(pxr.UsdPhysics.MassAPI):
        return 0.0, density or WATER
    api = pxr.UsdPhysics.MassAPI(shape)
    own = float(api.GetDensityAttr().Get() or 0.0) * kilograms / metres**3
    return kilograms * float(api.GetMassAttr().Get() or 0.0), own or density or WATER


def solid_of(pxr: Any, shape: Any, stretch: Array, mass: float, density: float) -> Solid | None:
    """In the axes of the shape [m]; None where it is none of these, or stretched so that it is none any more."""
    geometry = pxr.UsdGeom
    given: dict[str, float] = {"mass": mass} if mass > 0.0 else {"density": density}
    even = float(np.ptp(stretch)) < 1e-6 * float(stretch.max())
    if shape.IsA(geometry.Cube):
        size = float(geometry.Cube(shape).GetSizeAttr().Get())
        return Solid.box(*(size * stretch).tolist(), **given)
    if shape.IsA(geometry.Sphere) and even:
        return Solid.ball(float(geometry.Sphere(shape).GetRadiusAttr().Get()) * float(stretch[0]), **given)
    for kind, made in ((geometry.Cylinder, Solid.cylinder), (geometry.Capsule, Solid.capsule)):
        if not shape.IsA(kind):
            continue
        one = kind(shape)
        along = "XYZ".index(str(one.GetAxisAttr().Get()))
        across = np.delete(stretch, along)
        if float(np.ptp(across)) > 1e-6 * float(across.max()) or (kind is geometry.Capsule and not even):
            return None
        radius, height = float(one.GetRadiusAttr().Get()), float(one.GetHeightAttr().Get())
        turn = np.roll(np.eye(3), along + 1, axis=0)  # the z axis becomes that one
        return made(radius * float(across[0]), height * float(stretch[along]), **given).turned(turn)
    return None
