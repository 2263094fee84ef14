"""What stays of the samples of an ensemble: all of them, some, or what they come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coordinator.ensemble.pieces import Piece
from coordinator.ensemble.places import places_in
from coordinator.ensemble.variants import Variants
from modular.errors import ModelError

ALL, FINAL, EXTREMES, PLACES = "all", "final", "extremes", "places"


@dataclass(frozen=True)
class Keep:
    """What stays."""

    name: str
    every: int = 1

    @property
    def as_given(self) -> str | int:
        """As people give it."""
        return self.name if self.name in (ALL, FINAL, EXTREMES, PLACES) else self.every

    @property
    def whole(self) -> bool:
        """Whether all samples stay."""
        return self.name == ALL

    def piece(self, piece: Piece, variants: Variants) -> Piece:
        """A piece with what stays of it."""
        if self.name == ALL:
            return piece
        if self.name == FINAL:
            return piece.sampled(slice(-1, None))
        if self.name not in (EXTREMES, PLACES):
            return piece.sampled(slice(None, None, self.every))
        kept = piece.sampled(slice(-1, None))
        for port in ports_of(variants):
            places = places_in(piece, variants, port)
            if places is None:
                continue
            if self.name == PLACES:
                kept.places[port], kept.place_ticks = places.copy(), piece.ticks  # of one port: it was read with others
            else:
                kept.extremes[port] = np.stack([places.min(axis=0), places.max(axis=0)], axis=1)
        return kept


def ports_of(variants: Variants) -> list[str]:
    """All ports of the bodies that a model begins with."""
    return [f"{name}.{port}" for name, body in variants.model.bodies.items() for port in body.port_names]


def keep_of(keep: Any) -> Keep:
    """What `keep=` says."""
    known: Keep | None = None
    if isinstance(keep, str):
        known = Keep(keep) if keep in (ALL, FINAL, EXTREMES, PLACES) else None
    elif isinstance(keep, int | np.integer) and not isinstance(keep, bool) and keep > 0:
        known = Keep(f"every {int(keep)}", int(keep))
    if known is None:
        raise ModelError(
            f"Ensemble: keep = {keep!r}; give 'all', 'final', 'extremes', 'places', or a whole number n for every n-th sample."
        )
    return known
