"""An ensemble on disk: a folder that fills block by block.

`ensemble.json` says what is run, with a digest; of every block there is a file of arrays and a text that says what they are. Plain
data: nothing is executed. An ensemble that is given the same folder takes what is there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coordinator.couplings import Coupling
from coordinator.ensemble.pieces import Piece
from coordinator.ensemble.pieces_as_data import pieces_as_data, pieces_from_data
from coordinator.ensemble.variants import Variants
from coordinator.record.fingerprint import machine, versions
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
