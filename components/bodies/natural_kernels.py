"""The local equations of a body in natural coordinates, for one row, and their loops over a stack.

A body is e elements in d dimensions, q of shape (e, d): two points A, B and unit vectors u, v (e = 4 in space, 3 in the plane;
Séguy 2003, III.7), two points for rods that nothing twists (e = 2), one for a point mass. Its mass matrix is an e x e matrix times
the unit matrix, so everything below works on rows of d numbers. With w = (B - A, u, v) the internal constraints
(III.8) are the products w_a . w_b = const, one for each pair a <= b; equal pairs carry a factor 1/2, as (VI.2).
"""

import numpy as np

from modular.elements import Array, Indices
from modular.kernel import kernel


@kernel
def differences(q: Array, w: Array) -> None:
    """w = (B - A, u, v) of one body, or the same of its velocities or accelerations."""
    for c in range(q.shape[1]):
        if w.shape[0] > 0:
            w[0, c] = q[1, c] - q[0, c]
        for k in range(1, w.shape[0]):
            w[k, c] = q[k + 1, c]


@kernel
def constraint_errors(w: Array, gram: Array, error: Array) -> None:
    """phi of one body: (III.8), each pair against its constant."""
    row = 0
    for i in range(w.shape[0]):
        for j in range(i, w.shape[0]):
            product = -gram[i, j]
            for c in range(w.shape[1]):
                product += w[i, c] * w[j, c]
            error[row] = 0.5 * product if i == j else product
            row += 1


@kernel
def constraint_rates(w: Array, dw: Array, rate: Array) -> None:
    """H v of one body."""
    row = 0
    for i in range(w.shape[0]):
        for j in range(i, w.shape[0]):
            product = 0.0
            for c in range(w.shape[1]):
                product += w[i, c] * dw[j, c]
                if i != j:
                    product += w[j, c] * dw[i, c]
            rate[row] = product
            row += 1


@kernel
def remove_internal(
    w: Array, inverse_mass: Array, inverse_s: Array, residual: Array, multipliers: Array, pull: Array, a: Array
) -> None:
    """a -= M^-1 H^T S^-1 residual, for one body; S = H M^-1 H^T is the constant local operator."""
    rows = residual.shape[0]
    for r in range(rows):
        value = 0.0
        for s in range(rows):
            value += inverse_s[r, s] * residual[s]
        multipliers[r] = value
    vectors, dimension = w.shape
    elements = a.shape[0]
    for c in range(dimension):
        row = 0
        pull[:] = 0.0  # H^T mu on the elements, this component
        for i in range(vectors):
            for j in range(i, vectors):
                mu = multipliers[row]
                row += 1
                on_i = mu * w[j, c]
                on_j = mu * w[i, c] if i != j else 0.0
                if i == 0:
                    pull[0] -= on_i
                    pull[1] += on_i
                else:
                    pull[i + 1] += on_i
                if j == 0:
                    pull[0] -= on_j
                    pull[1] += on_j
                else:
                    pull[j + 1] += on_j
        for i in range(elements):
            change = 0.0
            for j in range(elements):
                change += inverse_mass[i, j] * pull[j]
            a[i, c] -= change


@kernel
def solve_locally(
    q: Array,
    v: Array,
    force: Array,
    inverse_mass: Array,
    inverse_s: Array,
    gram: Array,
    fall: Array,
    gravity: Array,
    stiffness: float,
    damping: float,
    iterations: int,
    scratch: tuple[Array, ...],
    a: Array,
) -> None:
    """Acceleration of one body at (q, v) under the forces on its coordinates: Bayo's iteration (IV.8).

    Written with the constraint-space operator: (M + alpha H^T H) a' = M a - alpha H^T f is the same as
    a' = a - M^-1 H^T (S + 1/alpha)^-1 (H a + f), and S is constant as long as the body is rigid.
    """
    elements, dimension = q.shape
    # q''(0) = M^-1 Q                                                            Séguy 2003, (IV.9)
    for c in range(dimension):
        for i in range(elements):
            value = fall[i] * gravity[c]
            for j in range(elements):
                value += inverse_mass[i, j] * force[j, c]
            a[i, c] = value
    vectors = elements - 1
    if vectors <= 0:
        return
    w, dw, ddw, error, rate, residual, multipliers, pull = scratch
    differences(q, w)
    differences(v, dw)
    constraint_errors(w, gram, error)
    constraint_rates(w, dw, rate)
    # f = dH/dt q' + 2 xi omega phi' + omega^2 phi stays as it is through the iterations   Séguy 2003, (IV.6)
    row = 0
    for i in range(vectors):
        for j in range(i, vectors):
            centripetal = 0.0
            for c in range(dimension):
                centripetal += dw[i, c] * dw[j, c]
            if i != j:
                centripetal *= 2.0
            rate[row] = centripetal + damping * rate[row] + stiffness * error[row]
            row += 1
    for _ in range(iterations):
        # a' = a - M^-1 H^T (S + 1/alpha)^-1 (H a + f)                              Séguy 2003, (IV.8)
        differences(a, ddw)
        constraint_rates(w, ddw, residual)
        for r in range(residual.shape[0]):
            residual[r] += rate[r]
        remove_internal(w, inverse_mass, inverse_s, residual, multipliers, pull, a)


@kernel
def workspace(elements: int, dimension: int) -> tuple[Array, ...]:
    """Scratch arrays for one body at a time."""
    vectors = max(elements - 1, 0)
    rows = vectors * (vectors + 1) // 2
    return (
        np.zeros((vectors, dimension)),
        np.zeros((vectors, dimension)),
        np.zeros((vectors, dimension)),
        np.zeros(rows),
        np.zeros(rows),
        np.zeros(rows),
        np.zeros(rows),
        np.zeros(elements),
    )


@kernel
def show_row(state: Array, attached: Indices, weights: Array, number: int, shown: Array) -> None:
    """Every attached element is a constant linear map of the coordinates (III.3.5)."""
    for k in range(number):
        element = attached[k]
        for c in range(state.shape[1]):
            value = 0.0
            for i in range(state.shape[0]):
                value += weights[k, i] * state[i, c]
            shown[element, c] = value


@kernel
def show_loop(count: int, state: Array, attached: Indices, weights: Array, numbers: Indices, shown: Array) -> None:
    """Show one kind of state of a whole stack."""
    for n in range(count):
        show_row(state[n], attached[n], weights[n], numbers[n], shown)


@kernel
def collect_row(attached: Indices, weights: Array, number: int, force: Array, total: Array) -> None:
    """Forces on the elements become forces on the coordinates: the transpose of `show_row`."""
    total[:] = 0.0
    for k in range(number):
        element = attached[k]
        for i in range(total.shape[0]):
            for c in range(total.shape[1]):
                total[i, c] += weights[k, i] * force[element, c]


@kernel
def predict_loop(
    count: int,
    q: Array,
    v: Array,
    a: Array,
    q_new: Array,
    v_new: Array,
    dt: float,
    beta: float,
    gamma: float,
    attached: Indices,
    weights: Array,
    numbers: Indices,
    position: Array,
    velocity: Array,
    current: Array,
) -> None:
    """Predict (II.44 with the unknown acceleration left out) and show the predicted elements."""
    now = np.empty((q.shape[1], q.shape[2]))
    for n in range(count):
        for i in range(q.shape[1]):
            for c in range(q.shape[2]):
                q_new[n, i, c] = q[n, i, c] + dt * v[n, i, c] + (0.5 - beta) * dt * dt * a[n, i, c]
                v_new[n, i, c] = v[n, i, c] + (1.0 - gamma) * dt * a[n, i, c]
                now[i, c] = v[n, i, c] + dt * a[n, i, c]
        show_row(q_new[n], attached[n], weights[n], numbers[n], position)
        show_row(v_new[n], attached[n], weights[n], numbers[n], velocity)
        show_row(now, attached[n], weights[n], numbers[n], current)


@kernel
def correct_loop(
    count: int,
    q: Array,
    v: Array,
    a: Array,
    q_new: Array,
    v_new: Array,
    dt: float,
    beta: float,
    gamma: float,
    inverse_mass: Array,
    inverse_s: Array,
    gram: Array,
    fall: Array,
    gravity: Array,
    stiffness: float,
    damping: float,
    iterations: int,
    attached: Indices,
    weights: Array,
    numbers: Indices,
    force: Array,
    position: Array,
    velocity: Array,
) -> int:
    """Local solve, correction (II.44), corrected elements; the first row that went wrong, or -1."""
    elements, dimension = q.shape[1], q.shape[2]
    total = np.empty((elements, dimension))
    scratch = workspace(elements, dimension)
    wrong = -1
    for n in range(count):
        collect_row(attached[n], weights[n], numbers[n], force, total)
        solve_locally(
            q_new[n], v_new[n], total, inverse_mass[n], inverse_s[n], gram[n], fall[n], gravity,
            stiffness, damping, iterations, scratch, a[n],
        )  # fmt: skip
        for i in range(elements):
            for c in range(dimension):
                v[n, i, c] = v_new[n, i, c] + gamma * dt * a[n, i, c]
                q[n, i, c] = q_new[n, i, c] + beta * dt * dt * a[n, i, c]
        show_row(q[n], attached[n], weights[n], numbers[n], position)
        show_row(v[n], attached[n], weights[n], numbers[n], velocity)
        if wrong < 0 and not is_sound(q[n], v[n], gram[n]):
            wrong = n
    return wrong


@kernel
def is_sound(q: Array, v: Array, gram: Array) -> bool:
    """Finite, and every vector within half of its squared length: a body beyond that has lost its shape."""
    for i in range(q.shape[0]):
        for c in range(q.shape[1]):
            if not (np.isfinite(q[i, c]) and np.isfinite(v[i, c])):
                return False
    for k in range(gram.shape[0]):
        square = 0.0
        for c in range(q.shape[1]):
            component = q[1, c] - q[0, c] if k == 0 else q[k + 1, c]
            square += component * component
        if abs(square - gram[k, k]) > 0.5 * gram[k, k]:
            return False
    return True


@kernel
def reevaluate_loop(
    rows: Indices,
    q: Array,
    v: Array,
    a: Array,
    inverse_mass: Array,
    inverse_s: Array,
    gram: Array,
    fall: Array,
    gravity: Array,
    stiffness: float,
    damping: float,
    iterations: int,
    attached: Indices,
    weights: Array,
    numbers: Indices,
    force: Array,
) -> None:
    """Accelerations at the unchanged state, for the rows of bodies that an event touched."""
    elements, dimension = q.shape[1], q.shape[2]
    total = np.empty((elements, dimension))
    scratch = workspace(elements, dimension)
    for n in rows:
        collect_row(attached[n], weights[n], numbers[n], force, total)
        solve_locally(
            q[n], v[n], total, inverse_mass[n], inverse_s[n], gram[n], fall[n], gravity,
            stiffness, damping, iterations, scratch, a[n],
        )  # fmt: skip


@kernel
def violations_loop(q: Array, v: Array, gram: Array, error: Array, rate: Array) -> None:
    """Internal constraints in position and velocity along a series of states of one body."""
    scratch = workspace(q.shape[1], q.shape[2])
    w, dw = scratch[0], scratch[1]
    for n in range(q.shape[0]):
        differences(q[n], w)
        differences(v[n], dw)
        constraint_errors(w, gram, error[n])
        constraint_rates(w, dw, rate[n])
