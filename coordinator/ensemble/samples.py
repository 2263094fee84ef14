"""Values for the variants of an ensemble: grids, and samples of ranges and distributions.

Every function returns a dictionary of arrays, as `Ensemble(…, vary=…)` takes it. A range is a pair of numbers, a distribution
anything with `ppf`, such as `scipy.stats.norm(1.0, 0.05)`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from modular.elements import Array
from modular.errors import ModelError

Spread = Any  # a pair of numbers, or a distribution


def grid(values: Mapping[str, Sequence[float]]) -> dict[str, Array]:
    """Every value of each with every value of all others, the last one changing fastest."""
    names = list(values)
    if not names or not all(np.size(values[name]) for name in names):
        raise ModelError("grid: give at least one value for every name, such as {'upper.masses.0': [0.5, 1.0]}.")
    rows = list(itertools.product(*(list(values[name]) for name in names)))
    return {name: np.array([row[k] for row in rows], float) for k, name in enumerate(names)}


def latin_hypercube(spreads: Mapping[str, Spread], count: int, *, seed: int = 0) -> dict[str, Array]:
    """`count` samples of which each range, cut into as many parts, holds one in every part."""
    from scipy.stats import qmc

    return _spread(spreads, qmc.LatinHypercube(len(spreads), rng=seed).random(_count(count)))


def sobol(spreads: Mapping[str, Spread], count: int, *, seed: int = 0) -> dict[str, Array]:
    """The first `count` points of a scrambled Sobol sequence; a power of two is balanced, other numbers are refused."""
    from scipy.stats import qmc

    _count(count)
    power = int(count).bit_length() - 1
    if 2**power != count:
        raise ModelError(
            f"sobol: {count} points are not balanced; take a power of two, {2**power} or {2 ** (power + 1)}."
        )
    return _spread(spreads, qmc.Sobol(len(spreads), rng=seed).random_base2(power))


def drawn(spreads: Mapping[str, Spread], count: int, *, seed: int = 0) -> dict[str, Array]:
    """`count` independent samples."""
    return _spread(spreads, np.random.default_rng(seed).random((_count(count), len(spreads))))


def _count(count: int) -> int:
    if not isinstance(count, int | np.integer) or count < 1:
        raise ModelError(f"count = {count!r}; give a whole number of variants from 1 on.")
    return int(count)


def _spread(spreads: Mapping[str, Spread], shares: Array) -> dict[str, Array]:
    """Shares of one, (count, names), as values of each."""
    return {name: of_shares(name, spread, shares[:, k]) for k, (name, spread) in enumerate(spreads.items())}


def of_shares(name: str, spread: Spread, shares: Array) -> Array:
    """Values of one number where its distribution has so large a share below."""
    if hasattr(spread, "ppf"):
        return np.asarray(spread.ppf(shares), float)
    try:
        low, high = (float(end) for end in spread)
    except (TypeError, ValueError):
        low = high = np.nan
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ModelError(
            f"'{name}': {spread!r} is no spread; give a range such as (0.5, 2.0), or a distribution "
            "such as scipy.stats.norm(1.0, 0.05)."
        )
    return np.asarray(low + (high - low) * shares)
