"""What bends and stretches between two neighbouring nodes of a beam.

A beam is a row of nodes, each a slice of it that stays rigid, at a place r and turned by an angle theta or a quaternion p. Half-way
between two of them stands a frame R, turned half as much as it takes to come from one to the other, and in it

    e = R^T (r2 - r1)          kappa: the rotation vector that leads from the axes of one node to those of the other

are compared with those of a piece that bends and twists alike all along. Turned by u kappa at u l from its middle, it leads from
end to end by the integral of exp(u kappa) e1 along it,

    e0 = l (e1 + kappa x (kappa x e1) / 24) + O(|kappa|^4):

an arc is shorter than what is bent to it. So what pulls at a piece straightens its arc, as tension does within a beam. It is the
geometrically exact beam (J. C. Simo, "A finite strain beam formulation", Comput. Methods Appl. Mech. Eng. 49 (1985) 55-70) on
elements of two nodes with one point of integration, which do not lock; seen from the frame half-way it is the co-rotational one (M.
A. Crisfield, "Non-linear finite element analysis of solids and structures" 2, Wiley 1997, 17). Energy: (e - e0) C (e - e0) / 2 l +
kappa C kappa / 2 l, the stiffness being that of pieces.py.

`slope` is B, how (e, kappa) follow the motions of the two nodes, each its velocity in the world and its spin in its own axes;
`tilt` how the turning of the frame half-way does; `lean` is -d e0 / d kappa, so that e - e0 = e - l e1 + lean kappa / 2.
"""

from __future__ import annotations

from math import atan2, cos, sin, sqrt, tan

from components.bodies.posed.kernels import SPACE, rotation
from modular.blocks import room
from modular.elements import Array
from modular.kernel import kernel

SMALL_ANGLE = 1e-4  # turnings below which series stand for what would be 0 / 0 [rad]


@kernel
def strain(one: Array, other: Array, stretch: Array, frame: Array, slope: Array, tilt: Array) -> None:
    """(e, kappa), R, B and how R turns."""
    if one.shape[0] == SPACE:
        strain_in_space(one, other, stretch, frame, slope, tilt)
    else:
        strain_in_plane(one, other, stretch, frame, slope, tilt)


@kernel
def strain_in_plane(one: Array, other: Array, stretch: Array, frame: Array, slope: Array, tilt: Array) -> None:
    """The same where turnings are angles."""
    mean = 0.5 * (one[2] + other[2])
    c, s = cos(mean), sin(mean)
    frame[0, 0] = frame[1, 1] = c
    frame[1, 0] = s
    frame[0, 1] = -s
    dx, dy = other[0] - one[0], other[1] - one[1]
    stretch[0] = c * dx + s * dy
    stretch[1] = c * dy - s * dx
    stretch[2] = other[2] - one[2]
    slope[:, :] = 0.0
    for node in range(2):
        at, sign = 3 * node, 2.0 * node - 1.0
        slope[0, at], slope[0, at + 1], slope[0, at + 2] = sign * c, sign * s, 0.5 * stretch[1]
        slope[1, at], slope[1, at + 1], slope[1, at + 2] = -sign * s, sign * c, -0.5 * stretch[0]
        slope[2, at + 2] = sign
        tilt[0, at] = tilt[0, at + 1] = 0.0
        tilt[0, at + 2] = 0.5


@kernel
def strain_in_space(one: Array, other: Array, stretch: Array, frame: Array, slope: Array, tilt: Array) -> None:
    """The same where they are quaternions: p1 + p2 stands half-way, and p1^-1 p2 leads from one to the other."""
    middle, way, twist = room((7,)), room((3,)), room((3,))
    size = 0.0
    for c in range(3, SPACE):
        middle[c] = one[c] + other[c]
        size += middle[c] * middle[c]
    rotation(middle, frame)
    for j in range(3):
        for c in range(3):
            frame[c, j] /= size
    for c in range(3):
        way[c] = other[c] - one[c]
    for j in range(3):
        stretch[j] = frame[0, j] * way[0] + frame[1, j] * way[1] + frame[2, j] * way[2]
    turned, length = 0.0, 0.0
    for c in range(3, SPACE):
        turned += one[c] * other[c]
    for j in range(3):
        s, t = (j + 1) % 3, (j + 2) % 3
        twist[j] = (
            one[3] * other[4 + j] - other[3] * one[4 + j] - (one[4 + s] * other[4 + t] - one[4 + t] * other[4 + s])
        )
        length += twist[j] * twist[j]
    angle = 2.0 * atan2(sqrt(length), turned)
    share, quarter, bend = 2.0 / turned, 0.25, 1.0 / 12.0
    if angle > SMALL_ANGLE:
        share = angle / sqrt(length)
        quarter = tan(0.25 * angle) / angle
        bend = (1.0 - 0.5 * angle / tan(0.5 * angle)) / (angle * angle)
    square = 0.0
    for j in range(3):
        twist[j] *= share
        stretch[3 + j] = twist[j]
        square += twist[j] * twist[j]
    slope[:, :] = 0.0
    tilt[:, :] = 0.0
    for node in range(2):
        at, sign = 6 * node, 2.0 * node - 1.0
        for j in range(3):
            s, t = (j + 1) % 3, (j + 2) % 3
            for c in range(3):
                slope[j, at + c] = sign * frame[c, j]
            # the frame half-way turns by half of what the nodes do, and by tan(angle / 4) kappa x their difference
            tilt[j, at + 3 + j] = 0.5
            tilt[j, at + 3 + s] = -sign * 0.5 * quarter * twist[t]
            tilt[j, at + 3 + t] = sign * 0.5 * quarter * twist[s]
            # kappa follows by the inverse of what leads from rotation vectors to spins
            for k in range(3):
                slope[3 + j, at + 3 + k] = sign * bend * (twist[j] * twist[k] - (square if j == k else 0.0))
            slope[3 + j, at + 3 + j] += sign
            slope[3 + j, at + 3 + s] += -0.5 * twist[t]
            slope[3 + j, at + 3 + t] += 0.5 * twist[s]
        for j in range(3):  # e: seen from the frame that turns, what stands still turns back
            s, t = (j + 1) % 3, (j + 2) % 3
            for k in range(3):
                slope[j, at + 3 + k] = stretch[s] * tilt[t, at + 3 + k] - stretch[t] * tilt[s, at + 3 + k]


@kernel
def arc(stretch: Array, length: float, lean: Array) -> None:
    """How far e0 is from following kappa: 0 where the piece is straight."""
    d = lean.shape[0]
    if d == 2:
        lean[0, 0], lean[1, 0] = length / 12.0 * stretch[2], 0.0
    else:
        share = length / 24.0
        lean[:, :] = 0.0
        for c in range(1, 3):
            lean[0, c] = 2.0 * share * stretch[3 + c]
            lean[c, 0] = -share * stretch[3 + c]
            lean[c, c] = -share * stretch[3]


@kernel
def add_arc(slope: Array, lean: Array) -> None:
    """B of (e - e0, kappa) from that of (e, kappa)."""
    for i in range(lean.shape[0]):
        for a in range(slope.shape[1]):
            for c in range(lean.shape[1]):
                slope[i, a] += lean[i, c] * slope[lean.shape[0] + c, a]


@kernel
def add_tension_of_arc(effort: Array, slope: Array, length: float, factor: float, matrix: Array) -> None:
    """How the moments that forces have along an arc follow what bends it: n . d2(e - e0) / dkappa2."""
    share = factor * length / 24.0
    for a in range(slope.shape[1]):
        for b in range(slope.shape[1]):
            if slope.shape[0] == 3:
                matrix[a, b] += 2.0 * share * effort[0] * slope[2, a] * slope[2, b]
            else:
                for c in range(1, 3):
                    matrix[a, b] += 2.0 * share * effort[0] * slope[3 + c, a] * slope[3 + c, b]
                    matrix[a, b] -= share * effort[c] * (slope[3, a] * slope[3 + c, b] + slope[3 + c, a] * slope[3, b])


@kernel
def add_tension(effort: Array, stretch: Array, slope: Array, tilt: Array, factor: float, matrix: Array) -> None:
    """How the forces of an element turn with it: what stands under tension is stiff across, what is pressed gives way.

    With d and t the motion across and the turning of the frame half-way, the second change of e is 2 d x t + t x (t x e); that of
    kappa is left out, which costs a solver a round more where beams are strongly bent.
    """
    half, lengths = slope.shape[1] // 2, 3 if slope.shape[0] == 6 else 2
    for i in range(2 * half):
        for j in range(2 * half):
            value = 0.0
            if lengths == 2:
                # d of a motion is its slope without the turning; across it is a quarter turn
                ti, tj = tilt[0, i], tilt[0, j]
                di0, di1 = slope[0, i] - ti * stretch[1], slope[1, i] + ti * stretch[0]
                dj0, dj1 = slope[0, j] - tj * stretch[1], slope[1, j] + tj * stretch[0]
                value += (effort[0] * di1 - effort[1] * di0) * tj + (effort[0] * dj1 - effort[1] * dj0) * ti
                value -= ti * tj * (effort[0] * stretch[0] + effort[1] * stretch[1])
            else:
                along, both, one, other = 0.0, 0.0, 0.0, 0.0
                for c in range(3):
                    s, r = (c + 1) % 3, (c + 2) % 3
                    ti, tj = tilt[c, i], tilt[c, j]
                    # n . (d x t) = d . (t x n), d without the turning
                    di = slope[c, i] - (stretch[s] * tilt[r, i] - stretch[r] * tilt[s, i])
                    dj = slope[c, j] - (stretch[s] * tilt[r, j] - stretch[r] * tilt[s, j])
                    value += di * (tilt[s, j] * effort[r] - tilt[r, j] * effort[s])
                    value += dj * (tilt[s, i] * effort[r] - tilt[r, i] * effort[s])
                    along += effort[c] * stretch[c]
                    both += ti * tj
                    one += 0.5 * (effort[c] * ti)
                    other += stretch[c] * tj
                first, second = 0.0, 0.0
                for c in range(3):
                    first += effort[c] * tilt[c, j]
                    second += stretch[c] * tilt[c, i]
                value += one * other + 0.5 * first * second - both * along
            matrix[i, j] += factor * value
