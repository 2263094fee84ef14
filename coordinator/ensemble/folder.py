"""An ensemble on disk: a folder that fills block by block.

`ensemble.json` says what is run, with a digest; of every block there is a file of arrays and a text that says what they are. Plain
data: nothing is executed. An ensemble that is given the same folder takes what is there.

Pieces of an ensemble as data and arrays, for files and for other machines.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from coordinator.couplings import Coupling
from coordinator.ensemble.pieces import Piece, Told
from coordinator.ensemble.variants import Variants
from coordinator.record.fingerprint import machine, versions
from coordinator.record.on_disk import segments_as_data, segments_from_data
from modular.component import plain
from modular.errors import ModelError
from modular.files import put_in_place

FORMAT = "modular-ensemble-1"
ABOUT = "ensemble.json"


class Folder:
    """Blocks of variants in files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._key = ""

    def begin(
        self, variants: Variants, coupling: Coupling, settings: Mapping[str, Any], until: float, keep: str
    ) -> None:
        """Say what is run; a folder of something else is refused."""
        about = {
            "format": FORMAT, "model": variants.model.to_data(), "coupling": plain(coupling), "settings": plain(settings),
            "until": until, "keep": keep, "vary": {name: plain(values) for name, values in variants.values.items()},
            "versions": versions(), "machine": machine(),
        }  # fmt: skip
        text = json.dumps(about, indent=1, sort_keys=True)
        self._key = hashlib.blake2b(text.encode(), digest_size=10).hexdigest()
        self.path.mkdir(parents=True, exist_ok=True)
        file = self.path / ABOUT
        if file.is_file() and file.read_text(encoding="utf-8") != text:
            raise ModelError(
                f"'{self.path}' holds another ensemble, or one that another version or machine has run; give an empty folder, "
                "or the same model, values, step and end."
            )
        put_in_place(file, text.encode())

    def _files(self, which: Sequence[int]) -> tuple[Path, Path]:
        name = f"block-{which[0]:06d}-{hashlib.blake2b(repr(list(which)).encode(), digest_size=4).hexdigest()}"
        return self.path / f"{name}.json", self.path / f"{name}.npz"

    def piece(self, which: Sequence[int]) -> list[Piece] | None:
        """What is there of a block; None where it has not been run, or was not written to its end."""
        text, arrays = self._files(which)
        if not text.is_file():
            return None
        try:
            said = json.loads(text.read_text(encoding="utf-8"))
            data = arrays.read_bytes()
            if said["key"] != self._key or hashlib.sha256(data).hexdigest() != said["sum"]:
                return None
            with np.load(arrays, allow_pickle=False) as held:
                return pieces_from_data(said["pieces"], {name: held[name] for name in held})
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def write(self, which: Sequence[int], pieces: Sequence[Piece]) -> None:
        """Put a block there: the arrays first, and then the text that says they are whole."""
        text, file = self._files(which)
        abouts, arrays = pieces_as_data(pieces)
        beside = file.with_suffix(".part.npz")
        np.savez(beside, **arrays)
        beside.replace(file)
        said = {"key": self._key, "sum": hashlib.sha256(file.read_bytes()).hexdigest(), "pieces": abouts}
        put_in_place(text, json.dumps(said).encode())


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
