"""The folder of a study: study.csv and study.json with everything, report.md and pictures for people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scenarios.report.page import quantity
from scenarios.study.study import Study
from scenarios.study.table import cells, columns, orders, write_csv

CAPTIONS = {
    "convergence.png": "Error against step; the lines are the fits.",
    "work.png": "Error against work: how much accuracy costs.",
    "sweep.png": "Error against setting.",
}
FORMAT = "modular-study-1"


def write_report(study: Study, folder: Path, notes: Sequence[str] = (), command: str = "") -> list[Path]:
    """Write all files of a study whose cases are done; `notes` are sentences for the reader, `command` is what was typed."""
    files = [write_csv(study, folder / "study.csv"), _write_json(study, folder / "study.json", notes, command)]
    from scenarios.study.pictures import draw_pictures  # matplotlib, and so not before

    pictures = draw_pictures(study, folder)
    text = markdown(study, [path.name for path in pictures], notes, command)
    return [*files, _write(folder / "report.md", text), *pictures]


def markdown(study: Study, pictures: Sequence[str], notes: Sequence[str], command: str) -> str:
    """The report as text."""
    grid = study.grid
    settings = ", ".join(f"{name} = {value}" for name, value in grid.settings.items())
    lines = [f"# Study of {grid.scenario}", ""]
    if settings:
        lines += [f"Settings of the model: {settings}.", ""]
    lines += [
        f"{len(study.rows)} cases until {grid.until:g} s, each held against `{grid.reference.coupling}` with "
        f"Δt = {quantity(grid.reference.dt, 's')} every {quantity(grid.comparison, 's')}. The "
        "error is the largest distance of any port from where the reference has it; joints and energy are looked at every "
        f"{quantity(grid.interval, 's')}.",
        "",
    ]
    if command:
        lines += ["Typed:", "", "```bash", command, "```", ""]
    lines += [f"- {note}" for note in notes] + [""] * bool(notes)
    lines += ["## Results", "", *_table(columns(study), [cells(study, row) for row in study.rows]), ""]
    lines += _ends(study)
    if len(grid.steps) > 1:
        lines += ["## Order of convergence", ""]
        lines += [*_table(["coupling", "order of the error"], [list(pair) for pair in orders(study)], right=False), ""]
        lines += [
            "An order is fitted by least squares in log-log over the longest range of neighbouring steps where the error "
            "falls along a straight line. Orders of the other measures are in `study.json`.",
            "",
        ]
    lines += ["## Pictures", ""] * bool(pictures)
    for name in pictures:
        lines += [f"![{CAPTIONS[name]}]({name})", "", CAPTIONS[name], ""]
    lines += [
        "## Files",
        "",
        "- `study.csv`: one line per case, numbers in full; all columns but the wall time repeat bit for bit.",
        "- `study.json`: the grid, the results, the errors of every port, the fits.",
        "- `cases/`: one file per case. A study that is typed again takes from here what is done already.",
        "- `reference/`: the reference as a run folder; `modular show` draws it.",
    ]
    return "\n".join(lines) + "\n"


def _ends(study: Study) -> list[str]:
    """Why cases did not come to their end."""
    messages = dict.fromkeys(row.result["message"] for row in study.rows if row.failure)
    return ["Cases that did not finish:", "", *(f"- {message}" for message in messages), ""] if messages else []


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: bool = True) -> list[str]:
    rule = ["---", *(["---:" if right else "---"] * (len(headings) - 1))]
    body = [[f"`{row[0]}`", *row[1:]] for row in rows]
    return ["| " + " | ".join(line) + " |" for line in (headings, rule, *body)]


def _write_json(study: Study, path: Path, notes: Sequence[str], command: str) -> Path:
    rows: list[dict[str, Any]] = [
        {"case": row.case.digest, "coupling": row.variant.coupling, "values": row.variant.values, "dt": row.case.dt}
        | row.result
        for row in study.rows
    ]
    data = {
        "format": FORMAT, "command": command, "grid": study.grid.to_data(), "notes": list(notes),
        "reference": study.reference, "cases": rows, "fits": study.fits(),
    }  # fmt: skip
    return _write(path, json.dumps(data, indent=1, allow_nan=False))


def _write(path: Path, text: str) -> Path:
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
    return path
