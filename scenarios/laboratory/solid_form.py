"""What a new rigid body is made of: numbers for its mass and inertia, or a shape and a density that tell them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from components import Solid
from scenarios.laboratory.fields import add_number, add_vector

GIVEN, BOX, BALL, CYLINDER, CAPSULE = "mass and inertia", "box", "ball", "cylinder", "capsule"
OF_SHAPES = {
    GIVEN: ("mass", "inertia"),
    BOX: ("edges", "density"),
    BALL: ("shape_radius", "density"),
    CYLINDER: ("shape_radius", "shape_length", "along", "density"),
    CAPSULE: ("shape_radius", "shape_length", "along", "density"),
}
AXES = ("x", "y", "z")
THICKNESS = 0.1  # of the size of what is proposed
DENSITY = 1000.0  # [kg/m^3]


def solid_fields(gui: Any, size: float) -> dict[str, Any]:
    """Fields for shapes, by the names under which `solid_of` finds them."""
    thick = float(f"{THICKNESS * size:.2g}")
    return {
        "made_of": gui.add_dropdown("new body is given by", tuple(OF_SHAPES)),
        "edges": add_vector(gui, "edges of new body [m]", (size, thick, thick), hint="Along x, y and z"),
        "shape_radius": add_number(gui, "radius of new shape [m]", 0.5 * thick),
        "shape_length": add_number(
            gui, "length of new shape [m]", size, hint="Of a capsule: of its straight part, without the half balls"
        ),
        "along": gui.add_dropdown("new shape lies along", AXES),
        "density": add_number(
            gui, "density of new body [kg/m³]", DENSITY, hint="Wood 700, water 1000, aluminium 2700, steel 7850"
        ),
    }


def solid_of(value: Mapping[str, Any]) -> Solid:
    """The solid that the fields describe, about its centre."""
    kind, density = value["made_of"], value["density"]
    if kind == BOX:
        return Solid.box(*value["edges"], density=density)
    if kind == BALL:
        return Solid.ball(value["shape_radius"], density=density)
    make = Solid.cylinder if kind == CYLINDER else Solid.capsule
    along = AXES.index(value["along"])
    turn = np.roll(np.eye(3), along - 2, axis=0)  # takes z to the axis that was chosen
    return make(value["shape_radius"], value["shape_length"], density=density).turned(turn)
