"""An ensemble on disk: a folder that fills block by block.

`ensemble.json` says what is run: model, values, settings, versions, machine, and digests of the files of others that take part. The
digest of it stands in every block, of which there is a file of arrays and a text that says what they are. Plain data: nothing is
executed. An ensemble that is given the same folder takes what is there; one that differs in anything is refused, and told in what.

Pieces of an ensemble as data and arrays, for files and for other machines.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from coordinator.couplings import Coupling
from coordinator.ensemble.pieces import Piece, VariantNotices
from coordinator.ensemble.variants import Variants
from coordinator.record.fingerprint import machine, versions
from coordinator.record.obstacles import homeless, parts_of, sources_of
from coordinator.record.on_disk import segments_as_data, segments_from_data
from modular.component import plain
from modular.errors import ModelError
from modular.files import put_in_place

FORMAT = "modular-ensemble-1"
ABOUT = "ensemble.json"
MAX_TOLD = 3  # things that differ


class Folder:
    """Blocks of variants in files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._key = ""

    def begin(
        self, variants: Variants, coupling: Coupling, settings: Mapping[str, Any], until: float, keep: str
    ) -> None:
        """Say what is run; a folder of something else is refused."""
        parts = parts_of(variants.model, coupling)
        if nowhere := homeless(parts):
            raise ModelError(f"Ensemble: record_to = '{self.path}' cannot be continued safely: {' '.join(nowhere)}")
        about = {
            "format": FORMAT, "model": variants.model.to_data(), "coupling": plain(coupling), "settings": plain(settings),
            "until": until, "keep": keep, "vary": {name: plain(values) for name, values in variants.values.items()},
            "versions": versions(), "machine": {name: value for name, value in machine().items() if name != "system"},
            "sources": sources_of(parts),
        }  # fmt: skip
        text = json.dumps(about, indent=1, sort_keys=True)
        self._key = hashlib.blake2b(text.encode(), digest_size=10).hexdigest()
        self.path.mkdir(parents=True, exist_ok=True)
        file = self.path / ABOUT
        if file.is_file() and file.read_text(encoding="utf-8", errors="replace") != text:
            raise ModelError(
                f"'{self.path}' holds another ensemble than this one: {_differing(file, json.loads(text))}. Results of both would "
                "mix: give record_to= another folder, delete this one, or set back what differs to go on."
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


def _differing(file: Path, here: Mapping[str, Any]) -> str:
    """What a folder was begun with that is other now."""
    try:
        there = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        there = None
    if not isinstance(there, dict):
        return f"its {ABOUT} cannot be read"
    found = list(_apart("", there, here)) or ["the order of what is written in it"]
    more = f", and {len(found) - MAX_TOLD} more" if len(found) > MAX_TOLD else ""
    return "; ".join(found[:MAX_TOLD]) + more


def _apart(name: str, there: Any, here: Any) -> Iterator[str]:
    """What two say otherwise, by dotted names."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in (*here, *(key for key in there if key not in here)):
            yield from _apart(f"{name}.{key}" if name else key, there.get(key), here.get(key))
    elif (
        isinstance(there, list)
        and isinstance(here, list)
        and len(there) == len(here)
        and name.partition(".")[0] != "vary"
    ):
        for k, (one, other) in enumerate(zip(there, here, strict=True)):
            yield from _apart(f"{name}.{k}", one, other)
    elif there != here:
        yield f"{name} was {_short(there)} and is {_short(here)}"


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} values, {_short(value[0])} to {_short(value[-1])}" if value else "no values"
    text = "nothing" if value is None else json.dumps(value)
    return text if len(text) < 60 else text[:57] + "..."


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
    told = {int(variant): VariantNotices(**one) for variant, one in about["told"].items()}
    segments = segments_from_data(about["layout"], arrays)
    places, extremes = (
        {name[len(what) :]: array for name, array in arrays.items() if name.startswith(what)}
        for what in ("places/", "extremes/")
    )
    mark, seconds = about["mark"], float(about["seconds"])
    return Piece(segments, told, mark, seconds, places, arrays["place_ticks"], extremes)
