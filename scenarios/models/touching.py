"""Shapes for contact of files of other programs, as surfaces: boxes, balls, capsules, planes; a cylinder as a capsule in it."""

from __future__ import annotations

from itertools import product

import numpy as np

from components.forces.shapes import Box, Capsule, HalfSpace, Shape, Sphere
from modular.elements import Array
from modular.errors import ModelError
from scenarios.models.import_report import APPROXIMATED, DROPPED, READ, Report
from scenarios.models.looks import found
from scenarios.models.markup import Element
from scenarios.models.meshes import read_triangles
from scenarios.models.mjcf_classes import upright
from scenarios.models.robot import Frame, Touching

# faces, corners of a cube
OUTWARDS = np.array([x for x in product((-1.0, 0.0, 1.0), repeat=3) if 0 < np.abs(x).sum() != 2])
NOT_ASKED = "a shape for contact; contacts = true lets it touch"
FLAT = 0.2  # of its radius: a cylinder that is no longer than that is told to be no ball


def shape_of(given: Touching, frame: Frame) -> tuple[Shape | None, str]:
    """The shape where it is put, and what is not quite as it stands; none where it is not known."""
    centre = tuple(float(x) for x in frame.place)
    line = _row(frame.turn[:, 2])
    if given.kind == "box":
        return Box(given.sizes, centre, tuple(_row(edge) for edge in frame.turn.T)), ""
    if given.kind == "sphere":
        return Sphere(given.sizes[0], centre), ""
    if given.kind == "plane":
        return HalfSpace(line, centre), ""
    if given.kind == "capsule":
        return _capsule(given.sizes[0], given.sizes[1], line, centre), ""
    if given.kind == "cylinder":
        radius, length = given.sizes
        if length < FLAT * radius:
            return None, ""
        inside = min(radius, 0.5 * length)
        made = _capsule(inside, length - 2.0 * inside, line, centre)
        return made, f"a cylinder as the capsule of radius {inside:g} m in it, which ends in half balls"
    return None, ""


def _capsule(radius: float, length: float, line: tuple[float, ...], centre: tuple[float, ...]) -> Shape:
    return Capsule(radius, length, line, centre) if length > 1e-9 * radius else Sphere(radius, centre)


def _row(x: Array) -> tuple[float, ...]:
    return tuple(float(value) for value in x)


def placed(given: Touching, frame: Frame, report: Report) -> list[Shape]:
    """What touches for it; tells what became of it."""
    if given.kind == "mesh" and given.file:
        return _corners(given, frame, report)
    shape, less = shape_of(given, frame)
    if shape is not None and (wrong := shape.problems(3)):
        raise given.element.refuse(f"a {given.kind} for contact: {wrong[0]}.")
    if shape is None:
        report.tell(
            DROPPED,
            given.element,
            f"a shape for contact ({given.kind}) that is none of ours: box, ball, capsule, plane",
        )
    else:
        report.tell(APPROXIMATED if less else READ, given.element, less or f"a {given.kind} that touches")
    return [] if shape is None else [shape]


def _corners(given: Touching, frame: Frame, report: Report) -> list[Shape]:
    """The outermost corners of a mesh, as balls of radius 0: on planes they are its hull where that has no others."""
    try:
        corners, _ = read_triangles(found(given.file, report.folder, given.element))
    except ModelError as error:
        report.tell(DROPPED, given.element, f"a mesh for contact: {str(error).partition('>: ')[2] or error}")
        return []
    corners = corners * np.array(given.scale)
    outermost = [int(k) for k in np.unique(np.argmax(corners @ OUTWARDS.T, axis=0))] if len(corners) else []
    what = f"a mesh as its {len(outermost)} outermost corners, which touch shapes, and no corners of others"
    report.tell(APPROXIMATED, given.element, what)
    return [Sphere(0.0, _row(frame.place + frame.turn @ corners[k])) for k in outermost]


def left_out(given: Touching, report: Report) -> None:
    """Where nothing is to touch."""
    report.tell(DROPPED, given.element, NOT_ASKED)


def of_geometry(element: Element, frame: Frame, friction: float, *, inner: bool) -> Touching:
    """Of <geometry>, as URDF (attributes) and SDFormat (`inner` elements) have it."""
    geometry = element.one("geometry")
    for kind, names in (
        ("box", ("size",)),
        ("sphere", ("radius",)),
        ("cylinder", ("radius", "length")),
        ("capsule", ("radius", "length")),
    ):
        one = geometry.one(kind) if geometry is not None else None
        if one is None:
            continue
        if kind == "box":
            size = one.one("size") if inner else None
            edges = one.vector("size") if size is None else size.own_numbers(3)
            return Touching(element, kind, frame, _row(edges), friction)
        sizes = tuple(one.inner_number(name) if inner else one.number(name) for name in names)
        return Touching(element, kind, frame, sizes, friction)
    if geometry is not None and (mesh := geometry.one("mesh")) is not None:
        one = mesh.one("scale") if inner else None
        file = mesh.inner("uri", "") if inner else mesh.attributes.get("filename", "")
        scale = mesh.vector("scale", (1.0, 1.0, 1.0)) if one is None else one.own_numbers(3)
        return Touching(element, "mesh", frame, (), friction, file.strip(), _row(scale))
    if geometry is not None and inner and (plane := geometry.one("plane")) is not None:
        normal = plane.one("normal")
        up = np.array([0.0, 0.0, 1.0]) if normal is None else normal.own_numbers(3)
        return Touching(element, "plane", frame @ Frame(np.zeros(3), _upright(up, plane)), (), friction)
    what = geometry.inside[0].tag if geometry is not None and geometry.inside else "no geometry"
    return Touching(element, what, frame, (), friction)


def _upright(normal: Array, element: Element) -> Array:
    """A rotation that takes the z axis to a direction."""
    size = float(np.linalg.norm(normal))
    if not 1e-9 < size < 1e9:
        raise element.refuse("its normal points nowhere; give a direction.")
    return upright(normal / size)
