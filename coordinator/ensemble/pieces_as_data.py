"""Pieces of an ensemble as data and arrays, for files and for other machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from coordinator.ensemble.pieces import Piece, Told
from coordinator.record.segments_as_data import segments_as_data, segments_from_data
from modular.component import plain


def pieces_as_data(pieces: Sequence[Piece]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What each is, and the arrays of all by name."""
    abouts, arrays = [], {}
    for k, piece in enumerate(pieces):
        layout, found = segments_as_data([segment.trimmed() for segment in piece.segments])
        arrays.update({f"{k}/{name}": array for name, array in found.items()})
        arrays.update({f"{k}/places/{port}": array for port, array in piece.places.items()})
        arrays.update({f"{k}/extremes/{port}": array for port, array in piece.extremes.items()})
        arrays[f"{k}/place_ticks"] = piece.place_ticks
        told = {str(variant): plain(asdict(one)) for variant, one in piece.told.items()}
        abouts.append({"layout": layout, "told": told, "mark": piece.mark, "seconds": piece.seconds})
    return abouts, arrays


def pieces_from_data(abouts: Sequence[Mapping[str, Any]], held: Mapping[str, Any]) -> list[Piece]:
    """The pieces that were described."""
    return [_piece(about, f"{k}/", held) for k, about in enumerate(abouts)]


def _piece(about: Mapping[str, Any], start: str, held: Mapping[str, Any]) -> Piece:
    arrays = {name[len(start) :]: held[name] for name in held if name.startswith(start)}
    told = {int(variant): Told(**one) for variant, one in about["told"].items()}
    segments = segments_from_data(about["layout"], arrays)
    places, extremes = (
        {name[len(what) :]: array for name, array in arrays.items() if name.startswith(what)}
        for what in ("places/", "extremes/")
    )
    mark, seconds = about["mark"], float(about["seconds"])
    return Piece(segments, told, mark, seconds, places, arrays["place_ticks"], extremes)
