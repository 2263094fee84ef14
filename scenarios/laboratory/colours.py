"""Colours of what the page shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

PALETTE = np.array(
    [(16, 82, 148), (196, 62, 22), (20, 110, 48), (112, 60, 160), (168, 116, 0), (0, 122, 134), (160, 40, 120), (80, 80, 84)],
    np.uint8,
)  # fmt: skip
SHARED = "who shares loads"
COLOURS = ("bodies", "load", "violation", SHARED)  # what the colours of joints say


def shared(groups: Sequence[Sequence[str]], joint: str) -> tuple[int, int, int]:
    """Joints that share loads have the colour of their group; grey, who carries what is told."""
    found = next((k for k, group in enumerate(groups) if joint in group), None)
    return (190, 190, 194) if found is None else tuple(PALETTE[found % (len(PALETTE) - 1)].tolist())


def heat(share: float) -> tuple[int, int, int]:
    """From blue over green and yellow to red, 0 to 1."""
    stops = np.array([(50, 80, 190), (40, 160, 140), (240, 200, 40), (210, 40, 40)], float)
    at = float(np.clip(share, 0.0, 1.0)) * (len(stops) - 1)
    k = min(int(at), len(stops) - 2)
    mixed = stops[k] + (at - k) * (stops[k + 1] - stops[k])
    return int(mixed[0]), int(mixed[1]), int(mixed[2])
