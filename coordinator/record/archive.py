"""A run on disk: `run.json` says what it was, `arrays.npz` holds what was recorded. Plain data; nothing is executed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coordinator.record.recorder import Segment
from coordinator.record.segments_as_data import segments_as_data, segments_from_data
from modular.errors import ModelError

FORMAT = "modular-run-1"


def write(folder: str | Path, about: dict[str, Any], segments: Sequence[Segment]) -> Path:
    """Write both files of a run folder, each beside its place first and then renamed."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    layout, arrays = segments_as_data(segments)
    data = {"format": FORMAT, **about, "segments": layout}
    _beside(folder / "arrays.npz", lambda path: np.savez(path, **arrays))
    text = json.dumps(finite(data), indent=1, allow_nan=False)
    _beside(folder / "run.json", lambda path: path.write_text(text, encoding="utf-8"))
    return folder


def read(folder: str | Path) -> tuple[dict[str, Any], list[Segment]]:
    """What `write` wrote."""
    folder = Path(folder)
    if not (folder / "run.json").is_file():
        raise ModelError(f"'{folder}' holds no run.json; give a folder written by Run.save or `modular run --out`.")
    data = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    if data.get("format") != FORMAT:
        raise ModelError(
            f"'{folder}': format {data.get('format')!r} is not {FORMAT!r}; was it written by another version?"
        )
    with np.load(folder / "arrays.npz", allow_pickle=False) as arrays:
        segments = segments_from_data(data.pop("segments"), arrays)
    return data, segments


def finite(value: Any) -> Any:
    """Strict JSON knows no NaN and no infinity; a margin without a value is None there."""
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _beside(path: Path, write: Callable[[Path], Any]) -> None:
    """Write beside, then rename: an interrupted save leaves the old file whole."""
    beside = path.with_name(f".{path.stem}.part{path.suffix}")
    write(beside)
    beside.replace(path)
