"""Mass, centre and inertia of the shapes of MJCF, in the frame of their body."""

from __future__ import annotations

from typing import Any

import numpy as np

from components import Solid
from modular.elements import Array
from modular.errors import ModelError
from modular.names import missing
from scenarios.models.markup import Element, shown
from scenarios.models.meshes import read_mesh
from scenarios.models.mjcf_classes import Classes, numbers, some_numbers, upright
from scenarios.models.robot import USUAL_FRICTION, Frame, Touching

WATER = 1000.0  # [kg/m^3], the density where none is given
SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
WITHOUT_MASS = ("plane", "hfield", "sdf")


def solid_of(geom: Element, classes: Classes) -> Solid | None:
    """A shape with what its class says; None where it has no mass."""
    kind = geom.attributes.get("type", "sphere")
    mass = geom.number("mass") if "mass" in geom.attributes else None
    density = geom.number("density", WATER)
    if kind in WITHOUT_MASS or mass == 0.0 or (mass is None and density == 0.0):
        return None
    if kind == "mesh" or "mesh" in geom.attributes:
        return _mesh(geom, classes, {"density": density} if mass is None else {"mass": mass})
    if kind not in SIZES:
        raise geom.refuse(f'type="{shown(kind)}"; give one of {", ".join([*SIZES, *WITHOUT_MASS, "mesh"])}.')
    if geom.attributes.get("shellinertia") == "true":
        raise geom.refuse("the inertia of a shell; give its body an <inertial>.")
    frame, size = placed(geom, kind, classes)
    place, turn = frame.place, frame.turn
    if len(size) < SIZES[kind]:
        raise geom.refuse(f'size="{shown(geom.attributes.get("size", ""))}"; a {kind} has {SIZES[kind]} numbers.')
    try:
        return _solid(kind, size, None if mass is not None else density, mass).turned(turn).moved(place.tolist())
    except ModelError as error:
        raise geom.refuse(str(error)) from error


def touching_of(geom: Element, classes: Classes) -> Touching:
    """The same as what touches, as its body sees it."""
    kind = "mesh" if "mesh" in geom.attributes else geom.attributes.get("type", "sphere")
    friction = float(some_numbers(geom, "friction", (USUAL_FRICTION,))[0])
    if friction < 0.0:
        raise geom.refuse(f"friction = {friction:g}; give a number from 0 on.")
    if kind == "plane":
        return Touching(geom, kind, classes.frame(geom), (), friction)
    if kind == "mesh":
        asset = classes.meshes.get(geom.attributes.get("mesh", ""))
        file = "" if asset is None else f"{classes.mesh_folder}/{asset.attributes.get('file', '')}".lstrip("/")
        scale = (1.0, 1.0, 1.0) if asset is None else tuple(asset.vector("scale", (1.0, 1.0, 1.0)).tolist())
        return Touching(geom, kind, classes.frame(geom), (), friction, file, scale)
    if kind not in SIZES:
        return Touching(geom, kind, Frame.none(), (), friction)
    frame, size = placed(geom, kind, classes)
    if len(size) < SIZES[kind]:
        raise geom.refuse(f'size="{shown(geom.attributes.get("size", ""))}"; a {kind} has {SIZES[kind]} numbers.')
    whole = [float(value) for value in size[: SIZES[kind]]]
    if kind == "box":
        whole = [2.0 * value for value in whole]
    elif len(whole) == 2:
        whole[1] *= 2.0
    return Touching(geom, kind, frame, tuple(whole), friction)


def placed(geom: Element, kind: str, classes: Classes) -> tuple[Frame, Array]:
    """Where a shape is in its body, and its sizes, which are halves."""
    frame = classes.frame(geom)
    place, turn = frame.place, frame.turn
    size = some_numbers(geom, "size")
    if "fromto" in geom.attributes and kind != "sphere":
        ends = numbers(geom, "fromto", 6).reshape(2, 3)
        line = ends[1] - ends[0]
        half = 0.5 * float(np.linalg.norm(line))
        if not half > 0.0:
            raise geom.refuse("fromto: both ends are one point; give two.")
        place, turn = 0.5 * (ends[0] + ends[1]), upright(line / (2.0 * half))
        size = np.array([*size[:1], half] if SIZES[kind] == 2 else [*size[:1], *size[:1], half])
    return Frame(place, turn), size


def _solid(kind: str, size: Array, density: float | None, mass: float | None) -> Solid:
    """Sizes are halves."""
    x, y, z = (float(value) for value in [*size, 0.0, 0.0][:3])
    if kind == "sphere":
        return Solid.ball(x, density=density, mass=mass)
    if kind == "capsule":
        return Solid.capsule(x, 2.0 * y, density=density, mass=mass)
    if kind == "cylinder":
        return Solid.cylinder(x, 2.0 * y, density=density, mass=mass)
    if kind == "box":
        return Solid.box(2.0 * x, 2.0 * y, 2.0 * z, density=density, mass=mass)
    ball = Solid.ball(1.0, density=None if density is None else density * x * y * z, mass=mass)
    stretched = np.diag([x, y, z])
    return Solid(ball.mass, ball.centre, stretched @ ball.second_moment @ stretched)


def _mesh(geom: Element, classes: Classes, given: dict[str, Any]) -> Solid:
    """What a mesh beside the file encloses; a mesh that is open is refused."""
    asset = classes.meshes.get(geom.text("mesh"))
    if asset is None:
        raise geom.refuse(missing("mesh", shown(geom.text("mesh")), classes.meshes))
    if geom.attributes.get("type", "mesh") != "mesh":
        raise geom.refuse(
            f'type="{shown(geom.attributes["type"])}" is fitted to a mesh, which is not read; write its sizes.'
        )
    home = classes.folder
    path = None if home is None else (home / classes.mesh_folder / asset.text("file")).resolve()
    if home is None or path is None or not path.is_relative_to(home):
        raise asset.refuse("its file does not lie in the folder of the model or below it; put it there.")
    stretch = asset.vector("scale", (1.0, 1.0, 1.0))
    if "refpos" in asset.attributes or "refquat" in asset.attributes:
        raise asset.refuse("refpos and refquat of meshes are not read; move the geom.")
    if (form := asset.attributes.get("inertia", "exact")) not in ("exact", "legacy"):
        raise asset.refuse(f'inertia="{shown(form)}" is not read, as meshes are solid; give its body an <inertial>.')
    frame = classes.frame(geom)
    try:
        points, faces = read_mesh(path)
        places = points * stretch
        return Solid.mesh(places.tolist(), faces, **given).turned(frame.turn).moved(frame.place.tolist())
    except ModelError as error:
        raise geom.refuse(f'{error} Or give its body an <inertial>, or the geom mass="0".') from error
