"""Meshes out of files: STL, as text and as bytes, and OBJ; corners that are the same place are one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from modular.elements import Array, Indices
from modular.errors import ModelError
from scenarios.models.collada import fans, read_collada

LARGEST = 200_000_000  # bytes
ENDINGS = (".stl", ".obj")
HEAD, FACE = 80, 50  # bytes of a binary STL: before the number of faces, and of each


def read_mesh(path: Path) -> tuple[Array, list[list[int]]]:
    """Places, and the numbers of those of each face."""
    if path.suffix.lower() not in ENDINGS:
        raise ModelError(f"'{path}': meshes are read from {' and '.join(ENDINGS)}; convert it.")
    data = _bytes(path)
    try:
        points, faces = _obj(data) if path.suffix.lower() == ".obj" else _stl(data)
    except (ValueError, IndexError) as error:
        raise ModelError(f"'{path}' is not a mesh ({error}); write it again.") from error
    places, which = np.unique(points, axis=0, return_inverse=True)
    which = which.reshape(-1)
    kept = [[int(which[k]) for k in face] for face in faces]
    return places, [face for face in kept if len(set(face)) == len(face)]  # what has no area goes


def read_triangles(path: Path) -> tuple[Array, Indices]:
    """Corners (n, 3) [m] and triangles (m, 3) of STL, OBJ and COLLADA files, for pictures: corners as they are written."""
    if path.suffix.lower() not in (*ENDINGS, ".dae"):
        raise ModelError(f"'{path}': pictures are read from {', '.join((*ENDINGS, '.dae'))}; convert it.")
    data = _bytes(path)
    try:
        if path.suffix.lower() == ".dae":
            return read_collada(data, path.name)
        if path.suffix.lower() == ".stl":
            return _stl(data)
        points, faces = _obj(data)
        counts = np.array([len(face) for face in faces], np.int64)
        return points, fans(np.array([k for face in faces for k in face], np.int64), counts)
    except (ValueError, IndexError) as error:
        raise ModelError(f"'{path}' is not a mesh ({error}); write it again.") from error


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise ModelError(f"'{path}' cannot be read ({error.strerror}).") from error
    if len(data) > LARGEST:
        raise ModelError(f"'{path}': {LARGEST} bytes are the most that are read as a mesh.")
    return data


def _stl(data: bytes) -> tuple[Array, Indices]:
    count = int(np.frombuffer(data, "<u4", 1, HEAD)[0]) if len(data) >= HEAD + 4 else -1
    if len(data) == HEAD + 4 + FACE * count:
        rows = np.frombuffer(
            data, np.dtype([("normal", "<f4", 3), ("points", "<f4", (3, 3)), ("more", "<u2")]), count, HEAD + 4
        )
        points = rows["points"].reshape(-1, 3).astype(float)
    else:
        words = [line.split() for line in data.decode("utf-8").splitlines()]
        points = np.array([[float(x) for x in line[1:4]] for line in words if line and line[0] == "vertex"])
        if not data.lstrip().startswith(b"solid") or points.shape[1:] != (3,) or len(points) % 3:
            raise ValueError("neither a text that begins with solid nor as long as its number of faces says")
    if not np.isfinite(points).all():
        raise ValueError("a corner is no number")
    return points, np.arange(len(points)).reshape(-1, 3)


def _obj(data: bytes) -> tuple[Array, list[list[int]]]:
    points, faces = [], []
    for line in data.decode("utf-8").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            points.append([float(x) for x in words[1:4]])
        elif words[:1] == ["f"]:
            numbers = [int(word.partition("/")[0]) for word in words[1:]]
            faces.append([k - 1 if k > 0 else len(points) + k for k in numbers])
    found = np.array(points, float)
    if found.shape[1:] != (3,) or not np.isfinite(found).all():
        raise ValueError("it has no corners of three numbers")
    if any(not 0 <= k < len(found) for face in faces for k in face):
        raise ValueError("a face has a corner that does not exist")
    return found, faces
