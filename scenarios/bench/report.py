"""What the suite leaves behind: bench.json, bench.md and, where it was measured, the picture of work against precision."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from modular.errors import ModelError
from scenarios.bench.figures import Figure, Point
from scenarios.bench.suite import Results
from scenarios.bench.table import markdown, put_into
from scenarios.report.folder import RunFolder

FORMAT = "modular-bench-1"
PICTURE = "work-precision.png"
FILES = ("bench.json", "bench.md", PICTURE)


@contextmanager
def bench_folder(path: Path, *, overwrite: bool, numbered: bool) -> Iterator[Path]:
    """A folder taken before anything is measured; results in it are replaced only if that was asked for."""
    with RunFolder(path, overwrite=overwrite, numbered=numbered) as folder:
        folder.claim(FILES, "results", "them")
        yield folder.path


def write_report(results: Results, folder: Path, page: Path | None = None) -> list[Path]:
    """Write all files into a folder that exists; with a page, put the table and the picture there too."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    data, text = folder / "bench.json", folder / "bench.md"
    data.write_text(json.dumps(to_data(results), indent=1, allow_nan=False, ensure_ascii=False), encoding="utf-8")
    table = markdown(results)
    text.write_text(f"# Benchmarks\n\n{table}", encoding="utf-8")
    files = [data, text]
    drawn = [point for point in results.points if point.error > 0]
    if drawn:
        from scenarios.bench.picture import draw_picture

        files.append(draw_picture(drawn, folder / PICTURE))
    if page is not None:
        put_into(page, table)
        if drawn:
            pictures = page.parent / "pictures"
            pictures.mkdir(exist_ok=True)
            (pictures / PICTURE).write_bytes((folder / PICTURE).read_bytes())
        files.append(page)
    return files


def to_data(results: Results) -> dict[str, Any]:
    """JSON-ready."""
    return {
        "format": FORMAT,
        "command": results.command,
        "quick": results.quick,
        "interrupted": results.interrupted,
        "seconds": results.seconds,
        "machine": results.machine,
        "yardsticks": results.yardsticks,
        "figures": [figure.to_data() for figure in results.figures],
        "points": [point.to_data() for point in results.points],
    }


def from_data(data: Mapping[str, Any]) -> Results:
    """The results again."""
    if data.get("format") != FORMAT:
        raise ModelError(
            f"format = {data.get('format')!r}; these are no results of modular bench, which say {FORMAT!r}."
        )
    return Results(
        machine=dict(data["machine"]),
        quick=bool(data["quick"]),
        command=str(data["command"]),
        figures=[Figure.from_data(figure) for figure in data["figures"]],
        points=[Point.from_data(point) for point in data["points"]],
        yardsticks=[float(value) for value in data["yardsticks"]],
        seconds=float(data["seconds"]),
        interrupted=bool(data["interrupted"]),
    )
