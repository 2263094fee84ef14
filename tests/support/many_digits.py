"""Integration in 40 digits, to tell how precise a reference in double precision really is.

The explicit midpoint rule with 2, 4, ..., 2k parts of a stretch, extrapolated to none (Gragg 1965; Hairer, Norsett and Wanner,
Solving Ordinary Differential Equations I, II.9): order 2k, from nothing but the rates, in mpmath's numbers.
"""

from lazily import Lazily

mpmath = Lazily("mpmath")

DIGITS = 40
COLUMNS = 12  # order 24
DOUBT = 1e-19  # difference of the last two columns in which a stretch is trusted


def extrapolate(rates, y, length):
    """State after a stretch of time, from `rates(state) -> list`, and how far the last two columns differ."""
    table = []
    slope = rates(y)
    for k in range(1, COLUMNS + 1):
        parts = 2 * k
        h = length / parts
        before, now = y, [a + h * b for a, b in zip(y, slope, strict=True)]
        for _ in range(parts - 1):
            before, now = now, [a + 2 * h * b for a, b in zip(before, rates(now), strict=True)]
        row = [now]
        for j in range(1, k):
            ratio = (mpmath.mpf(k) / (k - j)) ** 2 - 1
            row.append([a + (a - b) / ratio for a, b in zip(row[j - 1], table[-1][j - 1], strict=True)])
        table.append(row)
    return table[-1][-1], max(abs(a - b) for a, b in zip(table[-1][-1], table[-1][-2], strict=True))


def solve(rates, start, interval, count):
    """States at multiples of `interval`; a stretch in doubt is halved, one beyond doubt is followed by a longer one.

    `start` and `interval` are taken as the doubles that they are, so both roads begin at the same place.
    """
    with mpmath.workdps(DIGITS):
        state = [mpmath.mpf(float(x)) for x in start]
        states, parts = [state], 1
        for _ in range(count):
            left = parts = max(1, parts // 2)
            while left:
                ahead, doubt = extrapolate(rates, state, mpmath.mpf(float(interval)) / parts)
                if doubt > DOUBT:
                    left, parts = 2 * left, 2 * parts
                else:
                    left, state = left - 1, ahead
            states.append(state)
        return states
