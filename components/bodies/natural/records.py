"""What a record of bodies in natural coordinates says: their energies, internal errors, places of ports and how they turn.

Sums over coordinates are short; a record is long, in bodies or in samples. Of a long record each sum runs along the longer of the
two, with the coordinates in front: the same sums in the same order as `short_sums.py` writes them, to the same bits, in a third of
the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from components.bodies.natural.many import spans_of
from components.bodies.short_sums import combined, dot, product
from modular.elements import Array

LONG = 2000  # bodies or samples from which on it pays

Part = tuple[tuple[slice | int, slice | int], slice | int]  # of (samples, bodies), and of the bodies alone


def _long(q: Array) -> bool:
    """Whether a record, (samples, bodies, e, d), is read faster along its longer axis."""
    return q.ndim == 4 and max(q.shape[:2]) >= LONG


def kinetic_energies(matrix: Array, v: Array) -> Array:
    """1/2 v^T M v [J], (..., e, e) and (..., e, d) to (...); (A1.3) of the thesis lacks the factor 1/2."""
    if _long(v) and matrix.ndim == 3:
        found = np.empty(v.shape[:2])
        for part, bodies in _parts(v):
            rates = _in_front(v[part])
            columns = [[_summed(line, rates[:, k]) for k in range(v.shape[3])] for line in _in_front(matrix[bodies])]
            found[part] = 0.5 * _summed_up(
                _summed(rate, momentum) for rate, momentum in zip(rates, columns, strict=True)
            )
        return found
    momenta = product(matrix, v)
    return np.asarray(0.5 * _summed_up(dot(v[..., i, :], momenta[..., i, :]) for i in range(v.shape[-2])))


def falls(weights: Array, q: Array, gravity: Array) -> Array:
    """Gravity along the mass centre, of which weights are given, (bodies, e) and (samples, bodies, e, d) to (samples, bodies)."""
    if not _long(q):
        return dot(combined(weights, q), gravity)
    found = np.empty(q.shape[:2])
    for part, bodies in _parts(q):
        elements, by = _in_front(q[part]), np.moveaxis(weights[bodies], -1, 0)
        found[part] = _summed([_summed(by, elements[:, k]) for k in range(q.shape[3])], gravity)
    return found


def internal_errors(gram: Array, points: int, q: Array, v: Array) -> tuple[Array, Array]:
    """How large the errors of internal constraints are, and their rates, (samples, bodies) each."""
    if not _long(q):
        w, dw = (np.moveaxis(spans_of(a, points), (-2, -1), (0, 1)) for a in (q, v))
        return _errors(w, dw, np.moveaxis(gram, 0, -1))
    errors, rates = np.empty((2, *q.shape[:2]))
    for part, bodies in _parts(q):
        w, dw = (_in_front(spans_of(a[part], points)) for a in (q, v))
        errors[part], rates[part] = _errors(w, dw, _in_front(gram[bodies]))
    return errors, rates


def _errors(w: Array, dw: Array, gram: Array) -> tuple[Array, Array]:
    """Of w_a . w_b = const (III.8), short axes in front."""
    errors, rates = np.zeros((2, *w.shape[2:]))
    for i in range(len(w)):
        for j in range(i, len(w)):
            half = 0.5 if i == j else 1.0
            errors += (half * (_summed(w[i], w[j]) - gram[i, j])) ** 2
            rates += (half * (_summed(w[i], dw[j]) + _summed(dw[i], w[j]))) ** 2
    return np.sqrt(errors), np.sqrt(rates)


def places(weights: Array, q: Array) -> Array:
    """Points put together from the elements, (bodies, points, e) and (samples, bodies, e, d) to (samples, bodies, points, d)."""
    if not _long(q):
        return product(weights, q)
    found = np.empty((*q.shape[:2], weights.shape[1], q.shape[3]))
    for part, bodies in _parts(q):
        elements, by = _in_front(q[part]), _in_front(weights[bodies])
        for point, line in enumerate(by):
            for k in range(q.shape[3]):
                found[(*part, point, k)] = _summed(line, elements[:, k])
    return found


def _parts(q: Array) -> Iterator[Part]:
    """Sample by sample, or body by body where there are more samples."""
    samples, bodies = q.shape[:2]
    if bodies >= samples:
        yield from (((k, slice(None)), slice(None)) for k in range(samples))
    else:
        yield from (((slice(None), k), k) for k in range(bodies))


def _in_front(a: Array) -> Array:
    """The two short axes, which are the last, in front of the long one."""
    return np.ascontiguousarray(np.moveaxis(a, (-2, -1), (0, 1)))


def _summed(first: Sequence[Array] | Array, second: Sequence[Array] | Array) -> Array:
    """Sum of a_k b_k over the first axis, in its order."""
    return _summed_up(a * b for a, b in zip(first, second, strict=True))


def _summed_up(terms: Iterable[Array]) -> Array:
    """From zero, in their order."""
    left = iter(terms)
    total: Array = np.asarray(0.0 + next(left))
    for term in left:
        total += term
    return total


ROUND = 1e-6  # of the cube of a third of their sum: the product of resistances to turning by which all axes are told


def turned_by(resistance: Array, turning: Array) -> Array:
    """How fast what resists so turns, (n, 3, 3) and (n, 3) to (n, 3); not at all about an axis that nothing resists about."""
    size = np.trace(resistance, axis1=-2, axis2=-1) / 3.0
    all_round = np.linalg.det(resistance) > ROUND * size**3
    found = np.empty_like(turning)
    found[all_round] = np.linalg.solve(resistance[all_round], turning[all_round][..., None])[..., 0]
    slender = ~all_round
    if slender.any():
        inverse = np.linalg.pinv(resistance[slender], hermitian=True)
        found[slender] = np.einsum("...ij,...j->...i", inverse, turning[slender])
    return found
