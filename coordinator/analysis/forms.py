"""Where quadratic forms vanish together: how many dimensions that has, and on how many lines where it is lines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from modular.elements import Array

STARTS = 40  # directions drawn by lot, and as many more per number
ROUNDS = 200  # of Gauss and Newton
NOTHING = 1e-7  # of its natural size: a form that is no larger is none
VANISHED = 1e-9  # of the forms, at a direction of length one
NEAR = 1e-2  # by so much a solution is displaced to see in which directions others lie
SAME = 1e-3  # directions that differ by no more are one


@dataclass(frozen=True)
class Vanishing:
    """Dimension of the set; how many lines it is where that is one."""

    dimension: int
    lines: int | None


def vanishing(forms: Array, size: float) -> Vanishing:
    """Of a^T Q_k a = 0 for all k, over real a; `size`: what forms that are anything are like."""
    count = forms.shape[1]
    forms = _independent(forms[np.abs(forms).max(axis=(1, 2)) > NOTHING * size])
    if not len(forms):
        return Vanishing(count, None)
    draw, starts = np.random.default_rng(1), STARTS * (1 + count)
    found = [a for start in draw.normal(size=(starts, count)) if (a := _solved(forms, start)) is not None]
    if not found:
        return Vanishing(0, None)
    dimension = max(_dimension(forms, a, draw) for a in found[:STARTS])
    return Vanishing(dimension, _lines(found) if dimension == 1 else None)


def _independent(forms: Array) -> Array:
    """Combinations of some forms, each of size one."""
    if not len(forms):
        return forms
    _, values, right = np.linalg.svd(forms.reshape(len(forms), -1), full_matrices=False)
    return np.asarray(right[values > NOTHING * values.max()].reshape(-1, *forms.shape[1:]))


def _solved(forms: Array, a: Array) -> Array | None:
    """A direction near a given one on which all vanish, by Gauss and Newton; None where none is found."""
    a = a / np.linalg.norm(a)
    for _ in range(ROUNDS):
        turned = forms @ a
        values = turned @ a
        if float(np.abs(values).max()) <= VANISHED:
            return np.asarray(a)
        step = np.linalg.lstsq(2.0 * turned, values, rcond=1e-12)[0]
        a = a - step
        length = float(np.linalg.norm(a))
        if not 0.0 < length < np.inf:
            return None
        a = a / length
    return None


def _dimension(forms: Array, a: Array, draw: np.random.Generator) -> int:
    """Of the set around one of its directions, the line itself counted: in how many ways others lie beside it."""
    count = len(a)
    beside = []
    for _ in range(4 * count):
        near = _solved(forms, a + NEAR * draw.normal(size=count) / np.sqrt(count))
        if near is not None and np.linalg.norm(near - a) < 10.0 * NEAR:
            beside.append(near - (near @ a) * a)
    if not beside:
        return 1
    values = np.linalg.svd(np.array(beside), compute_uv=False)
    return 1 + int((values > 0.1 * NEAR).sum())


def _lines(found: list[Array]) -> int:
    distinct: list[Array] = []
    for a in found:
        if all(1.0 - abs(float(a @ b)) > SAME for b in distinct):
            distinct.append(a)
    return len(distinct)
