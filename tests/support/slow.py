"""How much of a long campaign runs: all of it, or with MODULAR_SLOW_CASES=10 a thirtieth."""

import os

CASES = int(os.environ.get("MODULAR_SLOW_CASES", "300"))


def some(count):
    """So many of `count` cases, one at least."""
    return max(1, round(count * min(1.0, CASES / 300)))


def spread(items, least=8):
    """So many of a list, evenly spread, `least` of them at least."""
    count = min(len(items), max(least, some(len(items))))
    return [items[round(k * (len(items) - 1) / max(1, count - 1))] for k in range(count)]
