"""Whole turns between samples: an angle is seen but for whole turns, and how fast it changes tells how many there were."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from modular.elements import Array

FULL = 2.0 * np.pi
DOUBT = 1.0  # rad by which rates may foretell another turn than the samples show


def counted(turn: Any, rates: Any, times: Any) -> tuple[Array, npt.NDArray[np.bool_]]:
    """An angle over any number of turns [rad], and after which samples rates leave open how many turns there were.

    `turn`: the angle, but for whole turns; `rates` [rad/s]; all (n,). From one sample to the next it turns by about the mean of
    both rates times the pause. Where that is as the nearest angle says, or less than half a turn off, the nearest it is.
    """
    found, rates = np.unwrap(turn), np.asarray(rates, float)
    foretold = np.nan_to_num(0.5 * (rates[1:] + rates[:-1]) * np.diff(times))
    missed = np.rint((foretold - np.diff(found)) / FULL)
    if missed.any():
        found[1:] += FULL * np.cumsum(missed)
    return found, np.abs(foretold - np.diff(found)) > DOUBT
