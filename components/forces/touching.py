"""Where two shapes touch, or are about to: points, normals from the first shape to the second, and gaps.

In the plane all lies at z = 0, boxes have no depth, and axes along z are left out.

Boxes against boxes by separating axes and clipping, to eight points: E. Catto, "Contact manifolds", Game Developers Conference
(2007); segments: C. Ericson, "Real-time collision detection", Morgan Kaufmann (2005), 5.1.9.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from components.forces.shapes import BOX, CAPSULE, HALF_SPACE, SPHERE
from modular.blocks import room
from modular.elements import Array
from modular.kernel import kernel

POINTS = 8  # most of one pair
PARALLEL = 1e-2  # square of the sine below which two capsules lie along each other
EDGE = 1e-3  # of a box: by so much an edge must be the better answer than a face
SECTIONS = 32  # of a line, in search of its point that is nearest to a box
GOLDEN = 0.6180339887498949


@kernel
def clamp(value: float, most: float) -> Any:
    """Between -most and most."""
    return min(max(value, -most), most)


@kernel
def put(points: Array, normals: Array, gaps: Array, k: int, x: Array, n: Array, sign: float, gap: float) -> None:
    """Note a point."""
    for c in range(3):
        points[k, c] = x[c]
        normals[k, c] = sign * n[c]
    gaps[k] = gap


@kernel
def on_half_space(
    plane: Array, kind: int, size: Array, pose: Array, flat: bool, x: Array, points: Array, normals: Array,
    gaps: Array,
) -> Any:  # fmt: skip
    """Corners, ends or the middle of a shape, above a plane."""
    count = 0
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
        put(points, normals, gaps, count, x, plane[1], 1.0, height - size[3])
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
def on_lines(
    size_a: Array, a: Array, size_b: Array, b: Array, x: Array, n: Array, one: Array, other: Array,
    points: Array, normals: Array, gaps: Array,
) -> Any:  # fmt: skip
    """Capsules and spheres, lines with a radius: their nearest points; two where they lie along each other."""
    half_a, half_b = size_a[0], size_b[0]
    along, on_a, on_b = 0.0, 0.0, 0.0
    for c in range(3):
        along += a[1, c] * b[1, c]
        on_a += a[1, c] * (b[0, c] - a[0, c])
        on_b += b[1, c] * (a[0, c] - b[0, c])
    square = 1.0 - along * along
    low, high = 0.0, 0.0
    two = half_a > 0.0 and half_b > 0.0 and square < PARALLEL
    if two:
        low = max(-half_a, min(on_a - along * half_b, on_a + along * half_b))
        high = min(half_a, max(on_a - along * half_b, on_a + along * half_b))
        two = low < high
    count = 2 if two else 1
    for k in range(count):
        if two:
            s = low if k == 0 else high
        elif square > 1e-12:
            s = clamp((along * on_b + on_a) / square, half_a)
        else:
            s = clamp(on_a, half_a)
        t = clamp(along * s + on_b, half_b)
        if not two:
            s = clamp(along * t + on_a, half_a)
        for c in range(3):
            one[c] = a[0, c] + s * a[1, c]
            other[c] = b[0, c] + t * b[1, c]
        gap = between(one, size_a[3], other, size_b[3], a[2], n, x)
        put(points, normals, gaps, k, x, n, 1.0, gap)
    return count


@kernel
def off_box(half: Array, pose: Array, p: Array, flat: bool, local: Array, n: Array) -> Any:
    """How far a point is from a box, negative inside, and the normal there."""
    square = 0.0
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
def on_box(
    half: Array, a: Array, size: Array, b: Array, flat: bool, x: Array, n: Array, p: Array,
    local: Array, points: Array, normals: Array, gaps: Array,
) -> Any:  # fmt: skip
    """A sphere, or the ends of a capsule and its point that is nearest to the box."""
    long, count = size[0], 0
    at, ends = 0.0, 0.0
    if long > 0.0:
        low, high = -long, long
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        at_left, at_right = 0.0, 0.0
        for _ in range(SECTIONS):
            for side in range(2):
                for c in range(3):
                    p[c] = b[0, c] + (left if side == 0 else right) * b[1, c]
                found = off_box(half, a, p, flat, local, n)
                if side == 0:
                    at_left = found
                else:
                    at_right = found
            if at_left < at_right:
                high, right = right, left
                left = high - GOLDEN * (high - low)
            else:
                low, left = left, right
                right = low + GOLDEN * (high - low)
        at = 0.5 * (low + high)
    for k in range(3):
        if long == 0.0 and k > 0:
            continue
        where = at if k == 2 else long if k == 1 else -long
        for c in range(3):
            p[c] = b[0, c] + where * b[1, c]
        distance = off_box(half, a, p, flat, local, n)
        if k < 2:
            ends = distance if k == 0 else min(ends, distance)
        elif not (distance < ends and abs(at) < 0.98 * long):
            continue
        for c in range(3):
            x[c] = p[c] - (0.5 * (distance + size[3])) * n[c]
        put(points, normals, gaps, count, x, n, 1.0, distance - size[3])
        count += 1
    return count


@kernel
def on_boxes(
    half_a: Array, a: Array, half_b: Array, b: Array, flat: bool, x: Array, n: Array,
    points: Array, normals: Array, gaps: Array,
) -> Any:  # fmt: skip
    """Two boxes: the axis along which they are furthest apart, and what lies above the face that looks along it."""
    polygon, cut, line = room((16, 3)), room((16, 3)), room((3,))
    best, which, sign = -1e300, -1, 1.0
    reach_a = max(half_a[0], max(half_a[1], half_a[2]))
    reach_b = max(half_b[0], max(half_b[1], half_b[2]))
    for axis in range(15):
        if flat and (axis > 5 or axis % 3 == 2):
            continue
        length = 0.0
        for c in range(3):
            if axis < 3:
                line[c] = a[1 + axis, c]
            elif axis < 6:
                line[c] = b[1 + axis - 3, c]
            else:
                i, j = (axis - 6) // 3, (axis - 6) % 3
                line[c] = a[1 + i, (c + 1) % 3] * b[1 + j, (c + 2) % 3] - a[1 + i, (c + 2) % 3] * b[1 + j, (c + 1) % 3]
            length += line[c] * line[c]
        if length < 1e-6:
            continue
        length = sqrt(length)
        apart, spread = 0.0, 0.0
        for c in range(3):
            line[c] /= length
            apart += line[c] * (b[0, c] - a[0, c])
        for k in range(3):
            one, other = 0.0, 0.0
            for c in range(3):
                one += line[c] * a[1 + k, c]
                other += line[c] * b[1 + k, c]
            spread += half_a[k] * abs(one) + half_b[k] * abs(other)
        gap = abs(apart) - spread
        if gap > best + (EDGE * min(reach_a, reach_b) if axis > 2 else 0.0):
            best, which, sign = gap, axis, 1.0 if apart >= 0.0 else -1.0
            for c in range(3):
                n[c] = sign * line[c]  # from a to b
    if which > 5:
        i, j = (which - 6) // 3, (which - 6) % 3
        along, on_a, on_b = 0.0, 0.0, 0.0
        for c in range(3):
            polygon[0, c], polygon[1, c] = a[0, c], b[0, c]  # the middles of the two edges
        for k in range(3):
            one, other = 0.0, 0.0
            for c in range(3):
                one += n[c] * a[1 + k, c]
                other += n[c] * b[1 + k, c]
            for c in range(3):
                if k != i:
                    polygon[0, c] += (half_a[k] if one > 0.0 else -half_a[k]) * a[1 + k, c]
                if k != j:
                    polygon[1, c] -= (half_b[k] if other > 0.0 else -half_b[k]) * b[1 + k, c]
        for c in range(3):
            along += a[1 + i, c] * b[1 + j, c]
            on_a += a[1 + i, c] * (polygon[1, c] - polygon[0, c])
            on_b += b[1 + j, c] * (polygon[0, c] - polygon[1, c])
        s = clamp((along * on_b + on_a) / max(1.0 - along * along, 1e-12), half_a[i])
        t = clamp(along * s + on_b, half_b[j])
        for c in range(3):
            x[c] = 0.5 * (polygon[0, c] + s * a[1 + i, c] + polygon[1, c] + t * b[1 + j, c])
        put(points, normals, gaps, 0, x, n, 1.0, best)
        return 1
    of_a = which < 3
    face = which if of_a else which - 3
    outward = 1.0 if of_a else -1.0  # the face that is kept looks along outward n
    # the face of the other box that looks against it most
    other, most = 0, -1.0
    for k in range(3):
        value = 0.0
        for c in range(3):
            value += n[c] * (b[1 + k, c] if of_a else a[1 + k, c])
        if abs(value) > most and not (flat and k == 2):
            other, most = k, abs(value)
            turn = -1.0 if value * outward > 0.0 else 1.0
    u, v = (other + 1) % 3, (other + 2) % 3
    if flat and u == 2:
        u, v = v, u
    count = 2 if flat else 4
    for k in range(count):
        p = -1.0 if k == 0 or k == 3 else 1.0
        q = -1.0 if k < 2 else 1.0
        for c in range(3):
            if of_a:
                polygon[k, c] = b[0, c] + turn * half_b[other] * b[1 + other, c] + p * half_b[u] * b[1 + u, c]
                polygon[k, c] += q * half_b[v] * b[1 + v, c]
            else:
                polygon[k, c] = a[0, c] + turn * half_a[other] * a[1 + other, c] + p * half_a[u] * a[1 + u, c]
                polygon[k, c] += q * half_a[v] * a[1 + v, c]
    for plane in range(4):
        k = (face + 1 + plane // 2) % 3
        if flat and k == 2:
            continue
        side = 1.0 if plane % 2 == 0 else -1.0
        kept = 0
        for e in range(count):
            f = (e + 1) % count
            off_e, off_f = -(half_a[k] if of_a else half_b[k]), -(half_a[k] if of_a else half_b[k])
            for c in range(3):
                away = side * (a[1 + k, c] if of_a else b[1 + k, c])
                off_e += away * (polygon[e, c] - (a[0, c] if of_a else b[0, c]))
                off_f += away * (polygon[f, c] - (a[0, c] if of_a else b[0, c]))
            if off_e <= 0.0:
                for c in range(3):
                    cut[kept, c] = polygon[e, c]
                kept += 1
            if (off_e < 0.0 < off_f or off_f < 0.0 < off_e) and not (count == 2 and e == 1):
                share = off_e / (off_e - off_f)
                for c in range(3):
                    cut[kept, c] = polygon[e, c] + share * (polygon[f, c] - polygon[e, c])
                kept += 1
        count = kept
        for e in range(count):
            for c in range(3):
                polygon[e, c] = cut[e, c]
        if count == 0:
            return 0
    found = 0
    for e in range(count):
        gap = -(half_a[face] if of_a else half_b[face])
        for c in range(3):
            gap += outward * n[c] * (polygon[e, c] - (a[0, c] if of_a else b[0, c]))
        if found < POINTS:
            for c in range(3):
                x[c] = polygon[e, c] - 0.5 * gap * outward * n[c]
            put(points, normals, gaps, found, x, n, 1.0, gap)
            found += 1
    return found


@kernel
def touch(
    kind_a: int, size_a: Array, a: Array, kind_b: int, size_b: Array, b: Array, flat: bool, points: Array, normals: Array,
    gaps: Array,
) -> Any:  # fmt: skip
    """How many points there are; of the two kinds the first is the lower one. A pose is a middle and three axes, (4, 3)."""
    x, n, one, other = room((3,)), room((3,)), room((3,)), room((3,))
    if kind_a == HALF_SPACE:
        return on_half_space(a, kind_b, size_b, b, flat, x, points, normals, gaps)
    if kind_a >= CAPSULE:
        return on_lines(size_a, a, size_b, b, x, n, one, other, points, normals, gaps)
    if kind_b >= CAPSULE:
        return on_box(size_a, a, size_b, b, flat, x, n, one, other, points, normals, gaps)
    return on_boxes(size_a, a, size_b, b, flat, x, n, points, normals, gaps)
