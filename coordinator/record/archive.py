"""A run on disk: `run.json` says what it was, `arrays.npz` holds what was recorded. Plain data; nothing is executed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coordinator.record.recorder import Segment
from coordinator.record.series import PARTS
from modular.errors import ModelError

FORMAT = "modular-run-1"


def write(folder: str | Path, about: dict[str, Any], segments: Sequence[Segment]) -> Path:
    """Write both files of a run folder, each beside its place first and then renamed."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {}
    layout = []
    for s, segment in enumerate(segments):
        arrays[f"{s}.ticks"] = segment.ticks
        for part in PARTS:
            for k, (_, series) in enumerate(getattr(segment, part)):
                arrays.update({f"{s}.{part}.{k}.{key}": array for key, array in series.items()})
        layout.append(
            {part: [[names, list(series)] for names, series in getattr(segment, part)] for part in PARTS}
            | {"closed": {name: row.tolist() for name, row in segment.closed.items()}}
        )
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
    segments = []
    with np.load(folder / "arrays.npz", allow_pickle=False) as arrays:
        for s, layout in enumerate(data.pop("segments")):
            parts = {
                part: [
                    (names, {key: arrays[f"{s}.{part}.{k}.{key}"] for key in keys})
                    for k, (names, keys) in enumerate(layout[part])
                ]
                for part in PARTS
            }
            ticks = arrays[f"{s}.ticks"]
            closed = {name: np.array(row) for name, row in layout["closed"].items()}
            segments.append(Segment(ticks, **parts, closed=closed, used=len(ticks)))
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
