"""How much of a long campaign runs: all of it, or with MODULAR_SLOW_CASES=20 a fifteenth."""

import os

CASES = int(os.environ.get("MODULAR_SLOW_CASES", "300"))


def some(count):
    """So many of `count` cases, one at least."""
    return max(1, round(count * min(1.0, CASES / 300)))
