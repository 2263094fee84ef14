"""Where two boxes touch: by separating axes and clipping, to eight points.

After E. Catto, "Contact manifolds", Game Developers Conference (2007). The axis along which the boxes are furthest apart is the
normal of a face, and what of the other box lies above that face touches; or it is across two edges, which touch in one point.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from components.forces.contact_pair import Pair, Patch
from components.forces.touching_points import clamp, put
from components.forces.vectors import cross, dot
from modular.blocks import room
from modular.elements import Array
from modular.kernel import kernel
from modular.workspaces import GIVEN, Workspace, workspace

MAX_POINTS_PER_PAIR = 8  # most of one pair
EDGE_PREFERENCE = 1e-3  # of a box: by so much an edge must be the better answer than a face
FLUSH = 1e-9  # of a box: corners so near to a side lie in it, whatever rounding says
PARALLEL_SINE_SQUARED = 1e-6  # square of the sine below which two edges lie along each other
AXES, FACES = 15, 6  # all that may separate two boxes; of them those along faces come first

new_face = workspace(
    half=GIVEN, pose=GIVEN,  # of the box whose face is kept
    other_half=GIVEN, other=GIVEN,  # and of the other
    axis=int, outward=float,  # which axis it is across, and 1 where it looks along the normal
    count=int, polygon=(16, 3), cut=(16, 3),  # what is left of the other box's face
)  # fmt: skip


@kernel
def on_boxes(pair: Pair, patch: Patch) -> Any:
    """Where two boxes touch, or are about to; how many points."""
    normal = room((3,))
    axis, gap = furthest_apart(pair, normal)
    if axis >= FACES:
        on_edges(pair, (axis - FACES) // 3, (axis - FACES) % 3, normal, gap, patch)
        return 1
    of_a = axis < 3
    face = new_face(
        pair.size_a if of_a else pair.size_b, pair.a if of_a else pair.b,
        pair.size_b if of_a else pair.size_a, pair.b if of_a else pair.a,
    )  # fmt: skip
    face.axis, face.outward = axis % 3, 1.0 if of_a else -1.0
    flat = pair.flat == 1
    look_against(face, normal, flat)
    clip(face, flat)
    return below_face(face, normal, patch)


# --- the axis ---------------------------------------------------------------------------------------------------------


@kernel
def furthest_apart(pair: Pair, normal: Array) -> tuple[int, float]:
    """The axis along which two boxes are furthest apart, and by how much; the normal looks from the first to the second."""
    half_a, half_b, line = pair.size_a, pair.size_b, room((3,))
    reach_a = max(half_a[0], max(half_a[1], half_a[2]))
    reach_b = max(half_b[0], max(half_b[1], half_b[2]))
    best, which = -1e300, -1
    for axis in range(AXES):
        if (pair.flat and (axis >= FACES or axis % 3 == 2)) or not axis_of(pair, axis, line):
            continue
        apart, spread = 0.0, 0.0
        for c in range(3):
            apart += line[c] * (pair.b[0, c] - pair.a[0, c])
        for k in range(3):
            spread += half_a[k] * abs(dot(line, pair.a[1 + k])) + half_b[k] * abs(dot(line, pair.b[1 + k]))
        gap = abs(apart) - spread
        if gap > best + (EDGE_PREFERENCE * min(reach_a, reach_b) if axis > 2 else 0.0):
            best, which = gap, axis
            for c in range(3):
                normal[c] = (1.0 if apart >= 0.0 else -1.0) * line[c]
    return which, best


@kernel
def axis_of(pair: Pair, axis: int, line: Array) -> bool:
    """One axis, of length 1: across a face of the first box, of the second, across an edge of each; False where there is none."""
    if axis < FACES:
        for c in range(3):
            line[c] = pair.a[1 + axis, c] if axis < 3 else pair.b[1 + axis - 3, c]
    else:
        cross(pair.a[1 + (axis - FACES) // 3], pair.b[1 + (axis - FACES) % 3], line)
    square = dot(line, line)
    if square < PARALLEL_SINE_SQUARED:
        return False
    length = sqrt(square)
    for c in range(3):
        line[c] /= length
    return True


# --- edges ------------------------------------------------------------------------------------------------------------


@kernel
def middle_of_edge(half: Array, pose: Array, axis: int, normal: Array, sign: float, middle: Array) -> None:
    """The middle of that edge along an axis which is furthest along a normal, or against it."""
    for c in range(3):
        middle[c] = pose[0, c]
    for k in range(3):
        if k != axis:
            there = half[k] if dot(normal, pose[1 + k]) > 0.0 else -half[k]
            for c in range(3):
                middle[c] += sign * there * pose[1 + k, c]


@kernel
def on_edges(pair: Pair, i: int, j: int, normal: Array, gap: float, patch: Patch) -> None:
    """One point, where edges along axis i of the first box and axis j of the second are nearest to each other (Ericson, 5.1.9)."""
    a, b, one, other, x = pair.a, pair.b, room((3,)), room((3,)), room((3,))
    middle_of_edge(pair.size_a, a, i, normal, 1.0, one)
    middle_of_edge(pair.size_b, b, j, normal, -1.0, other)
    along, on_a, on_b = 0.0, 0.0, 0.0
    for c in range(3):
        along += a[1 + i, c] * b[1 + j, c]
        on_a += a[1 + i, c] * (other[c] - one[c])
        on_b += b[1 + j, c] * (one[c] - other[c])
    s = clamp((along * on_b + on_a) / max(1.0 - along * along, 1e-12), pair.size_a[i])
    t = clamp(along * s + on_b, pair.size_b[j])
    for c in range(3):
        x[c] = 0.5 * (one[c] + s * a[1 + i, c] + other[c] + t * b[1 + j, c])
    put(patch, 0, x, normal, gap)


# --- faces ------------------------------------------------------------------------------------------------------------


@kernel
def look_against(face: Workspace, normal: Array, flat: bool) -> None:
    """The polygon is that face of the other box which looks against the kept one most; in the plane an edge."""
    pose, half = face.other, face.other_half
    axis, most, turn = 0, -1.0, 1.0
    for k in range(3):
        value = dot(normal, pose[1 + k])
        if abs(value) > most and not (flat and k == 2):
            axis, most = k, abs(value)
            turn = -1.0 if value * face.outward > 0.0 else 1.0
    u, v = (axis + 1) % 3, (axis + 2) % 3
    if flat and u == 2:
        u, v = v, u
    face.count = 2 if flat else 4
    for k in range(face.count):
        p = -1.0 if k == 0 or k == 3 else 1.0
        q = -1.0 if k < 2 else 1.0
        for c in range(3):
            corner = pose[0, c] + turn * half[axis] * pose[1 + axis, c] + p * half[u] * pose[1 + u, c]
            face.polygon[k, c] = corner + q * half[v] * pose[1 + v, c]


@kernel
def clip(face: Workspace, flat: bool) -> None:
    """Cut off what lies beyond the sides of the kept face."""
    for plane in range(4):
        k = (face.axis + 1 + plane // 2) % 3
        if not (flat and k == 2):
            clip_by(face, k, 1.0 if plane % 2 == 0 else -1.0)


@kernel
def beyond(face: Workspace, k: int, side: float, corner: int) -> float:
    """How far a corner of the polygon lies beyond a side of the kept face."""
    off: float = -face.half[k]
    for c in range(3):
        off += side * face.pose[1 + k, c] * (face.polygon[corner, c] - face.pose[0, c])
    return 0.0 if abs(off) <= FLUSH * face.half[k] else off


@kernel
def clip_by(face: Workspace, k: int, side: float) -> None:
    """Cut off what lies beyond one side."""
    kept, polygon, cut = 0, face.polygon, face.cut
    for e in range(face.count):
        f = (e + 1) % face.count
        off_e, off_f = beyond(face, k, side, e), beyond(face, k, side, f)
        if off_e <= 0.0:
            for c in range(3):
                cut[kept, c] = polygon[e, c]
            kept += 1
        if (off_e < 0.0 < off_f or off_f < 0.0 < off_e) and not (face.count == 2 and e == 1):
            share = off_e / (off_e - off_f)
            for c in range(3):
                cut[kept, c] = polygon[e, c] + share * (polygon[f, c] - polygon[e, c])
            kept += 1
    face.count = kept
    for e in range(kept):
        for c in range(3):
            polygon[e, c] = cut[e, c]


@kernel
def below_face(face: Workspace, normal: Array, patch: Patch) -> Any:
    """What is left of the polygon touches, half-way to the kept face; how many points."""
    x, found, outward = room((3,)), min(face.count, MAX_POINTS_PER_PAIR), face.outward
    for e in range(found):
        gap = -face.half[face.axis]
        for c in range(3):
            gap += outward * normal[c] * (face.polygon[e, c] - face.pose[0, c])
        for c in range(3):
            x[c] = face.polygon[e, c] - 0.5 * gap * outward * normal[c]
        put(patch, e, x, normal, gap)
    return found
