"""Sobol's indices: which share of the variance of an answer a number brings alone, and which with all others.

    S_i = Var(E(y | x_i)) / Var(y),    T_i = 1 - Var(E(y | all but x_i)) / Var(y)

Saltelli et al. (2010): two independent samples A and B of n variants each, and for every number a third one, A with the column of
that number from B; n (p + 2) variants for p numbers. S_i by their estimator, T_i by Jansen's (1999). Intervals come from samples of
the samples (bootstrap).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coordinator.ensemble.samples import Spread, of_shares
from modular.elements import Array
from modular.errors import ModelError

CONFIDENCE = 0.95
RESAMPLES = 200
MIN_POINTS = 8
ROUNDING = 1e-13  # of an answer: what moves less does not move


@dataclass(frozen=True)
class Indices:
    """Indices of answers, (answers, numbers) each, with the ends of the intervals in which 95 of 100 such studies have them."""

    names: tuple[str, ...]
    first: Array
    total: Array
    first_interval: Array  # (2, answers, numbers)
    total_interval: Array
    points: int  # of each sample, those without a retired variant


def saltelli(spreads: Mapping[str, Spread], points: int, *, seed: int = 0) -> dict[str, Array]:
    """Values for the variants of A, of B, and of A with one column of B, number after number."""
    from scipy.stats import qmc

    power = int(points).bit_length() - 1
    if points < MIN_POINTS or 2**power != points:
        raise ModelError(
            f"indices: {points} points; give a power of two from {MIN_POINTS} on, such as 256: n of them make n (p + 2) variants."
        )
    count = len(spreads)
    shares = qmc.Sobol(2 * count, rng=seed).random_base2(power)
    first, second = shares[:, :count], shares[:, count:]
    blocks = [first, second]
    for k in range(count):
        mixed = first.copy()
        mixed[:, k] = second[:, k]
        blocks.append(mixed)
    every = np.concatenate(blocks)
    return {name: of_shares(name, spread, every[:, k]) for k, (name, spread) in enumerate(spreads.items())}


def sobol_indices(names: Sequence[str], answers: Any, *, seed: int = 0) -> Indices:
    """Indices of answers of the variants that `saltelli` made, (variants,) or (variants, answers).

    Points of which a variant has no answer, because it was retired, are left out with all that belongs to them.
    """
    found = np.asarray(answers, float)
    found = found[:, None] if found.ndim == 1 else found
    sets = len(names) + 2
    if len(found) % sets or not len(found):
        raise ModelError(
            f"indices: {len(found)} answers for {len(names)} numbers; give one for each of the n (p + 2) that saltelli made."
        )
    blocks = found.reshape(sets, len(found) // sets, -1)
    blocks = blocks[:, np.isfinite(blocks).all(axis=(0, 2))]
    points = blocks.shape[1]
    if points < MIN_POINTS:
        raise ModelError(
            f"indices: only {points} points came to their end in all their variants; {MIN_POINTS} are needed."
        )
    rng = np.random.default_rng(seed)
    first, total = _shares(blocks)
    again = [_shares(blocks[:, rng.integers(points, size=points)]) for _ in range(RESAMPLES)]
    edges = [0.5 - 0.5 * CONFIDENCE, 0.5 + 0.5 * CONFIDENCE]
    spread = [np.quantile([each[k] for each in again], edges, axis=0) for k in (0, 1)]
    return Indices(tuple(names), first, total, spread[0], spread[1], points)


def _shares(blocks: Array) -> tuple[Array, Array]:
    """Alone and with the others, (answers, numbers) each; of what does not move there are none."""
    one, other, mixed = blocks[0], blocks[1], blocks[2:]
    both = np.concatenate([one, other])
    middle, variance = both.mean(axis=0), both.var(axis=0)
    moving = variance > (ROUNDING * np.abs(both).max(axis=0)) ** 2
    variance = np.where(moving, variance, np.nan)
    first = ((other - middle) * (mixed - one)).mean(axis=1) / variance
    total = 0.5 * ((one - mixed) ** 2).mean(axis=1) / variance
    return first.T, total.T
