"""Triangles out of COLLADA files (.dae, Khronos 1.4.1 and 1.5), for pictures: triangles and polygons, where the scene puts them.

Lengths are in the unit that the file says. What is up is not turned, as ROS and Gazebo have it: such files stand as links do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from modular.elements import Array, Indices
from scenarios.models.markup import Element, parsed

LONGEST_TEXT = 100_000_000  # letters of an array of numbers
DEEPEST_NODE = 50


def read_collada(data: bytes, file: str) -> tuple[Array, Indices]:
    """Corners [m] (n, 3), and triangles as numbers of corners (m, 3)."""
    root = parsed(data, file, longest=LONGEST_TEXT)
    if root.tag != "COLLADA":
        raise root.refuse("a file of COLLADA begins with <COLLADA>.")
    shapes = {
        geometry.attributes.get("id", ""): _geometry(geometry)
        for library in root.all("library_geometries")
        for geometry in library.all("geometry")
    }
    scenes = [scene for library in root.all("library_visual_scenes") for scene in library.all("visual_scene")]
    placed = [found for scene in scenes[:1] for found in _placed(scene, np.eye(4), shapes, 0)]
    corners, triangles, count = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], 0
    for M, (points, faces) in placed or [(np.eye(4), shape) for shape in shapes.values()]:
        corners.append(points @ M[:3, :3].T + M[:3, 3])
        triangles.append(faces + count)
        count += len(points)
    asset = root.one("asset")
    unit = None if asset is None else asset.one("unit")
    metres = 1.0 if unit is None else unit.number("meter", 1.0)
    return metres * np.concatenate(corners), np.concatenate(triangles)


Shape = tuple[Array, Indices]


def _placed(node: Element, above: Array, shapes: Mapping[str, Shape], depth: int) -> Iterator[tuple[Array, Shape]]:
    """What hangs on a node, and where."""
    if depth > DEEPEST_NODE:
        raise node.refuse(f"more than {DEEPEST_NODE} nodes in each other; no mesh.")
    M = above @ _moved(node)
    for inner in node.inside:
        if inner.tag == "node":
            yield from _placed(inner, M, shapes, depth + 1)
        elif inner.tag == "instance_geometry":
            shape = shapes.get(inner.attributes.get("url", "").removeprefix("#"))
            if shape is not None:
                yield M, shape


def _moved(node: Element) -> Array:
    """The product of its transformations, in their order."""
    M = np.eye(4)
    for inner in node.inside:
        one = np.eye(4)
        if inner.tag == "matrix":
            one = inner.own_numbers(16).reshape(4, 4)
        elif inner.tag == "translate":
            one[:3, 3] = inner.own_numbers(3)
        elif inner.tag == "scale":
            one[:3, :3] = np.diag(inner.own_numbers(3))
        elif inner.tag == "rotate":
            *axis, angle = inner.own_numbers(4)
            length = float(np.linalg.norm(axis))
            if length > 0.0:
                K = np.cross(np.eye(3), np.array(axis) / length)  # Rodrigues' formula
                one[:3, :3] += np.sin(np.radians(angle)) * K + (1.0 - np.cos(np.radians(angle))) * (K @ K)
        M = M @ one
    return M


def _geometry(geometry: Element) -> Shape:
    mesh = geometry.one("mesh")
    if mesh is None:
        return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    sources = {f"#{source.attributes.get('id', '')}": source for source in mesh.all("source")}
    vertices = mesh.one("vertices")
    if vertices is not None:
        at = _input(vertices, "POSITION")
        sources[f"#{vertices.attributes.get('id', '')}"] = sources.get(at.text("source"), at)
    points, faces, count = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], 0
    for inner in mesh.inside:
        if inner.tag in ("triangles", "polylist"):
            own, corners = _faces(inner, sources)
            points.append(own)
            faces.append(corners + count)
            count += len(own)
    return np.concatenate(points), np.concatenate(faces)


def _input(element: Element, semantic: str) -> Element:
    for one in element.all("input"):
        if one.attributes.get("semantic") == semantic:
            return one
    raise element.refuse(f"it has no input of {semantic}.")


def _faces(element: Element, sources: Mapping[str, Element]) -> Shape:
    at = _input(element, "VERTEX")
    source = sources.get(at.text("source"))
    array = None if source is None else source.one("float_array")
    if array is None:
        raise at.refuse("its source is not there.")
    points = _numbers(array)
    points = points[: len(points) // 3 * 3].reshape(-1, 3)
    stride = 1 + max(int(one.number("offset", 0.0)) for one in element.all("input"))
    corners = element.one("p")
    numbers = np.zeros(0, np.int64) if corners is None else _wholes(corners)
    numbers = numbers[: len(numbers) // stride * stride].reshape(-1, stride)[:, int(at.number("offset", 0.0))]
    counts = element.one("vcount")
    size = np.full(len(numbers) // 3, 3, np.int64) if counts is None else _wholes(counts)
    faces = fans(numbers, size)
    if len(faces) and not (faces.min() >= 0 and faces.max() < len(points)):
        raise element.refuse("a face has a corner that does not exist.")
    return points, faces


def fans(corners: Indices, counts: Indices) -> Indices:
    """Polygons, one after the other with so many corners each, as triangles around their first corners."""
    starts = np.cumsum(counts) - counts
    if len(counts) and (counts.min() < 0 or starts[-1] + counts[-1] > len(corners)):
        raise ValueError("polygons have more corners than the mesh has")
    each = np.maximum(counts - 2, 0)
    first = np.repeat(starts, each)
    step = np.arange(len(first)) - np.repeat(np.cumsum(each) - each, each)
    return np.asarray(np.stack([corners[first], corners[first + step + 1], corners[first + step + 2]], axis=1))


def _wholes(element: Element) -> Indices:
    return np.asarray(_numbers(element), np.int64)


def _numbers(element: Element) -> Array:
    try:
        found = np.array(element.content.split(), float)
    except (ValueError, OverflowError) as error:
        raise element.refuse("it holds what is no number.") from error
    if not np.isfinite(found).all():
        raise element.refuse("it holds what is no number.")
    return found
