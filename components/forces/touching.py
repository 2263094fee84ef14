"""Where two shapes touch, or are about to: points, normals from the first shape to the second, and gaps.

In the plane all lies at z = 0, boxes have no depth, and axes along z are left out. Two boxes have a file of their own
(touching_boxes.py); segments: C. Ericson, "Real-time collision detection", Morgan Kaufmann (2005), 5.1.9.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from components.forces.contact_pair import Pair, Patch
from components.forces.shapes import BOX, CAPSULE, HALF_SPACE, SPHERE
from components.forces.touching_boxes import on_boxes
from components.forces.touching_points import clamp, put
from modular.blocks import room
from modular.elements import Array
from modular.kernel import kernel

PARALLEL_SINE_SQUARED = 1e-2  # square of the sine below which two capsules lie along each other
SEARCH_SECTIONS = 32  # of a line, in search of its point that is nearest to a box
GOLDEN_RATIO = 0.6180339887498949


@kernel
def on_half_space(plane: Array, kind: int, size: Array, pose: Array, flat: bool, patch: Patch) -> Any:
    """Corners, ends or the middle of a shape, above a plane."""
    count, x = 0, room((3,))
    for corner in range(8):
        if (kind != BOX and corner > 1) or (kind == SPHERE and corner > 0) or (kind == BOX and flat and corner > 3):
            continue
        one = 1.0 if corner % 2 == 1 else -1.0
        two = 1.0 if (corner // 2) % 2 == 1 else -1.0
        three = 1.0 if corner // 4 == 1 else -1.0
        height = 0.0
        for c in range(3):
            x[c] = pose[0, c] + one * size[0] * pose[1, c] + two * size[1] * pose[2, c] + three * size[2] * pose[3, c]
            height += (x[c] - plane[0, c]) * plane[1, c]
        for c in range(3):
            x[c] -= size[3] * plane[1, c]
        put(patch, count, x, plane[1], height - size[3])
        count += 1
    return count


@kernel
def between(one: Array, first: float, other: Array, second: float, aside: Array, n: Array, x: Array) -> Any:
    """Normal, middle and gap of two spheres with these centres and radii."""
    square = 0.0
    for c in range(3):
        n[c] = other[c] - one[c]
        square += n[c] * n[c]
    distance = sqrt(square)
    for c in range(3):
        n[c] = n[c] / distance if distance > 0.0 else aside[c]
        x[c] = one[c] + (first + 0.5 * (distance - first - second)) * n[c]
    return distance - first - second


@kernel
def shared_stretch(half_a: float, half_b: float, along: float, on_a: float) -> tuple[float, float]:
    """From where to where on the first of two lines that lie along each other the second lies beside it."""
    low = max(-half_a, min(on_a - along * half_b, on_a + along * half_b))
    high = min(half_a, max(on_a - along * half_b, on_a + along * half_b))
    return low, high


@kernel
def nearest_on_lines(half_a: float, half_b: float, along: float, on_a: float, on_b: float) -> tuple[float, float]:
    """Where on two lines they are nearest to each other."""
    square = 1.0 - along * along
    s = clamp((along * on_b + on_a) / square if square > 1e-12 else on_a, half_a)
    t = clamp(along * s + on_b, half_b)
    return clamp(along * t + on_a, half_a), t


@kernel
def on_lines(size_a: Array, a: Array, size_b: Array, b: Array, patch: Patch) -> Any:
    """Capsules and spheres, lines with a radius: their nearest points; two where they lie along each other."""
    x, n, one, other = room((3,)), room((3,)), room((3,)), room((3,))
    half_a, half_b = size_a[0], size_b[0]
    along, on_a, on_b = 0.0, 0.0, 0.0
    for c in range(3):
        along += a[1, c] * b[1, c]
        on_a += a[1, c] * (b[0, c] - a[0, c])
        on_b += b[1, c] * (a[0, c] - b[0, c])
    low, high = 0.0, 0.0
    if half_a > 0.0 and half_b > 0.0 and 1.0 - along * along < PARALLEL_SINE_SQUARED:
        low, high = shared_stretch(half_a, half_b, along, on_a)
    count = 2 if low < high else 1
    for k in range(count):
        if count == 2:
            s = low if k == 0 else high
            t = clamp(along * s + on_b, half_b)
        else:
            s, t = nearest_on_lines(half_a, half_b, along, on_a, on_b)
        for c in range(3):
            one[c] = a[0, c] + s * a[1, c]
            other[c] = b[0, c] + t * b[1, c]
        gap = between(one, size_a[3], other, size_b[3], a[2], n, x)
        put(patch, k, x, n, gap)
    return count


@kernel
def off_box(half: Array, pose: Array, p: Array, flat: bool, n: Array) -> Any:
    """How far a point is from a box, negative inside, and the normal there."""
    square, local = 0.0, room((3,))
    for k in range(3):
        local[k] = 0.0
        for c in range(3):
            local[k] += pose[1 + k, c] * (p[c] - pose[0, c])
        off = local[k] - clamp(local[k], half[k])
        square += off * off
    distance = sqrt(square)
    if distance > 0.0:
        for c in range(3):
            n[c] = 0.0
            for k in range(3):
                n[c] += pose[1 + k, c] * (local[k] - clamp(local[k], half[k])) / distance
        return distance
    nearest, least = 0, half[0] - abs(local[0])
    for k in range(1, 3):
        if half[k] - abs(local[k]) < least and not (flat and k == 2):
            nearest, least = k, half[k] - abs(local[k])
    for c in range(3):
        n[c] = pose[1 + nearest, c] if local[nearest] > 0.0 else -pose[1 + nearest, c]
    return -least


@kernel
def off_box_at(half: Array, a: Array, b: Array, where: float, flat: bool, p: Array, n: Array) -> Any:
    """The same for a place on the line of a capsule, which is p."""
    for c in range(3):
        p[c] = b[0, c] + where * b[1, c]
    return off_box(half, a, p, flat, n)


@kernel
def nearest_on_line(half: Array, a: Array, long: float, b: Array, flat: bool) -> float:
    """Where on its line a capsule is nearest to a box, by golden sections."""
    p, n = room((3,)), room((3,))
    low, high = -long, long
    left, right = high - GOLDEN_RATIO * (high - low), low + GOLDEN_RATIO * (high - low)
    for _ in range(SEARCH_SECTIONS):
        at_left = off_box_at(half, a, b, left, flat, p, n)
        at_right = off_box_at(half, a, b, right, flat, p, n)
        if at_left < at_right:
            high, right = right, left
            left = high - GOLDEN_RATIO * (high - low)
        else:
            low, left = left, right
            right = low + GOLDEN_RATIO * (high - low)
    return 0.5 * (low + high)


@kernel
def on_box(half: Array, a: Array, size: Array, b: Array, flat: bool, patch: Patch) -> Any:
    """A sphere, or the ends of a capsule and its point that is nearest to the box."""
    x, n, p = room((3,)), room((3,)), room((3,))
    long, count, at, ends = size[0], 0, 0.0, 0.0
    if long > 0.0:
        at = nearest_on_line(half, a, long, b, flat)
    for k in range(3):
        if long == 0.0 and k > 0:
            continue
        where = at if k == 2 else long if k == 1 else -long
        distance = off_box_at(half, a, b, where, flat, p, n)
        if k < 2:
            ends = distance if k == 0 else min(ends, distance)
        elif not (distance < ends and abs(at) < 0.98 * long):
            continue
        for c in range(3):
            x[c] = p[c] - (0.5 * (distance + size[3])) * n[c]
        put(patch, count, x, n, distance - size[3])
        count += 1
    return count


@kernel(apart=True)
def touch(pair: Pair, patch: Patch) -> Any:
    """How many points there are; of the two kinds the first is the lower one. A pose is a middle and three axes, (4, 3)."""
    flat = pair.flat == 1
    if pair.kind_a == HALF_SPACE:
        return on_half_space(pair.a, pair.kind_b, pair.size_b, pair.b, flat, patch)
    if pair.kind_a >= CAPSULE:
        return on_lines(pair.size_a, pair.a, pair.size_b, pair.b, patch)
    if pair.kind_b >= CAPSULE:
        return on_box(pair.size_a, pair.a, pair.size_b, pair.b, flat, patch)
    return on_boxes(pair, patch)
