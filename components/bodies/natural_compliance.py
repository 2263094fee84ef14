"""How a body in natural coordinates answers forces: its compliance, what joints may ask of it, and impulses."""

from math import sqrt

import numpy as np

from components.bodies.natural_kernels import constraint_rates, differences, remove_internal, workspace
from modular.elements import RIGID, Array, Indices
from modular.kernel import kernel


@kernel
def respond_loop(
    count: int,
    q: Array,
    slip: Array,
    centre: Array,
    axes: Array,
    spin: Array,
    attached: Indices,
    weights: Array,
    numbers: Indices,
    response: Array,
) -> None:
    """B of every attached element of a rigid body: three translations and three rotations, mass-normalised.

    B B^T = C M_c^-1 C^T with M_c^-1 = M^-1 - M^-1 H^T S^-1 H M^-1: a body whose internal constraints hold moves as
    a rigid body, so the constrained compliance needs no more than its mass centre and principal axes.
    """
    elements, dimension = q.shape[1], q.shape[2]
    arm = np.empty(dimension)
    middle = np.empty(dimension)
    axis = np.empty(3)
    for n in range(count):
        for c in range(dimension):
            middle[c] = 0.0
            for i in range(elements):
                middle[c] += centre[n, i] * q[n, i, c]
        for k in range(numbers[n]):
            element = attached[n, k]
            share = weights[n, k, 0]  # 1 for a point, 0 for a direction
            if elements > 1:
                share += weights[n, k, 1]
            for c in range(dimension):
                arm[c] = -share * middle[c]
                for i in range(elements):
                    arm[c] += weights[n, k, i] * q[n, i, c]
                for mode in range(response.shape[2]):
                    response[element, c, mode] = 0.0
                response[element, c, c] = share * slip[n]
            if dimension == 2:
                response[element, 0, 2] = -spin[n] * arm[1]
                response[element, 1, 2] = spin[n] * arm[0]
            else:
                for mode in range(3):
                    for c in range(3):
                        axis[c] = spin[n] if c == mode else 0.0
                        for i in range(elements):
                            axis[c] += axes[n, mode, i] * q[n, i, c]
                    response[element, 0, 3 + mode] = axis[1] * arm[2] - axis[2] * arm[1]
                    response[element, 1, 3 + mode] = axis[2] * arm[0] - axis[0] * arm[2]
                    response[element, 2, 3 + mode] = axis[0] * arm[1] - axis[1] * arm[0]


@kernel
def respond_freely_loop(
    count: int, root: Array, dimension: int, attached: Indices, weights: Array, numbers: Indices, response: Array
) -> None:
    """B of every attached element with the plain M^-1 of (IV.14); root is the Cholesky factor of M^-1."""
    elements = root.shape[1]
    for n in range(count):
        for k in range(numbers[n]):
            element = attached[n, k]
            for c in range(dimension):
                for mode in range(response.shape[2]):
                    response[element, c, mode] = 0.0
                for j in range(elements):
                    value = 0.0
                    for i in range(elements):
                        value += weights[n, k, i] * root[n, i, j]
                    response[element, c, j * dimension + c] = value


@kernel
def tighten_loop(count: int, attached: Indices, numbers: Indices, load: Array, bound: Array) -> None:
    """Upper bound of the largest eigenvalue of each body's summed loads, written to all its elements."""
    total = np.empty((RIGID, RIGID))
    square = np.empty((RIGID, RIGID))
    for n in range(count):
        total[:] = 0.0
        for k in range(numbers[n]):
            for i in range(RIGID):
                for j in range(RIGID):
                    total[i, j] += load[attached[n, k], i, j]
        value = largest_eigenvalue(total, square)
        for k in range(numbers[n]):
            bound[attached[n, k]] = value


@kernel
def largest_eigenvalue(matrix: Array, square: Array) -> float:
    """Upper bound of the largest eigenvalue of a symmetric semi-definite matrix, at most 3 % above it; spoils it.

    lambda <= (tr A^64)^(1/64), by six squarings scaled by their traces: no branch, no library, smooth in A.
    """
    size = matrix.shape[0]
    traces = np.zeros(7)
    for power in range(7):
        trace = 0.0
        for i in range(size):
            trace += matrix[i, i]
        traces[power] = trace
        if trace <= 0.0:
            break
        if power == 6:
            break
        for i in range(size):
            for j in range(size):
                matrix[i, j] /= trace
        for i in range(size):
            for j in range(i, size):
                value = 0.0
                for k in range(size):
                    value += matrix[i, k] * matrix[k, j]
                square[i, j] = value
                square[j, i] = value
        matrix[:] = square
    largest: float = traces[6]
    for power in range(5, -1, -1):
        largest = traces[power] * sqrt(largest)
    return largest


@kernel
def push_row(q: Array, push: Array, inverse_mass: Array, inverse_s: Array, jump: Array) -> None:
    """Jump of velocity of one body under impulses on its coordinates: M_c^-1 p."""
    elements, dimension = q.shape
    for c in range(dimension):
        for i in range(elements):
            value = 0.0
            for j in range(elements):
                value += inverse_mass[i, j] * push[j, c]
            jump[i, c] = value
    if elements < 2:
        return
    w, dw, _, _, rate, _, multipliers, pull = workspace(elements, dimension)
    differences(q, w)
    differences(jump, dw)
    constraint_rates(w, dw, rate)
    remove_internal(w, inverse_mass, inverse_s, rate, multipliers, pull, jump)
