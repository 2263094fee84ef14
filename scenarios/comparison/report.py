"""The folder of a comparison: report.md and pictures for people, tables and one JSON file for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from modular.elements import Array
from scenarios.comparison.budget import NAMES, PARTS
from scenarios.comparison.compare import Comparison, Row
from scenarios.comparison.table import (
    budget_cells,
    budget_columns,
    cells,
    columns,
    error_text,
    markdown_table,
    reasons,
    write_errors,
    write_table,
)
from scenarios.report.folder import RunFolder
from scenarios.report.page import quantity

FORMAT = "modular-comparison-1"
PICTURES = ("comparison.png", "budget.png")
FILES = ("report.md", "comparison.csv", "errors.csv", "comparison.json", *PICTURES)


@contextmanager
def comparison_folder(path: Path, *, overwrite: bool, numbered: bool) -> Iterator[Path]:
    """A folder taken before anything is computed; a comparison in it is replaced only if that was asked for."""
    with RunFolder(path, overwrite=overwrite, numbered=numbered) as folder:
        folder.claim(FILES, "a comparison", "it")
        yield folder.path


def write_report(found: Comparison, folder: Path, command: str = "") -> list[Path]:
    """Write all files into a folder that exists; `command` is what was typed."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    from scenarios.comparison.pictures import draw_pictures  # matplotlib, and so not before

    pictures = draw_pictures(found, folder)
    text = folder / "report.md"
    text.write_text(markdown(found, [picture.name for picture in pictures], command), encoding="utf-8")
    tables = [write_table(found, folder / "comparison.csv"), write_errors(found, folder / "errors.csv")]
    data = folder / "comparison.json"
    data.write_text(json.dumps(to_data(found, command), indent=1, allow_nan=False), encoding="utf-8")
    return [text, *pictures, *tables, data]


# --- for people ------------------------------------------------------------------------------------------------------


def markdown(found: Comparison, pictures: list[str], command: str) -> str:
    """The report as text."""
    plan = found.plan
    lines = [f"# {plan.scenario}: how far from the truth, and why", ""]
    if plan.settings:
        lines += ["Settings of the model: " + ", ".join(f"{k} = {v}" for k, v in plan.settings.items()) + ".", ""]
    lines += [
        f"Until {plan.until:g} s, looked at every {quantity(plan.interval, 's')} ({plan.samples:,} times). The error of a run is "
        "the largest distance of any port from where the reference has it.",
        "",
    ]
    if command:
        lines += ["Typed:", "", "```bash", command, "```", ""]
    lines += ["## The reference", "", *_reference(found), ""]
    lines += ["## Results", ""]
    lines += [*markdown_table(columns(found), [cells(found, row) for row in found.rows]), ""]
    lines += [
        "The order is fitted to the largest errors of all steps that stand clear of what the reference is sure to. Joint gap, "
        "direction error and internal error are the largest violations of the joints and of the internal constraints of bodies. "
        "The energy drift is the largest change of the energy of the bodies that neither forces nor impacts account for.",
        "",
    ]
    lines += [f"- {reason}" for reason in reasons(found)] + [""] * bool(reasons(found))
    lines += ["![Paths, errors, violations and energy of all methods](comparison.png)", ""]
    if found.budgets:
        lines += ["## Why the modular runs are off", "", *_budgets(found)]
        if PICTURES[1] in pictures:
            lines += ["![Error and its parts over time](budget.png)", ""]
    lines += ["## Files", "", *_files(found)]
    return "\n".join(lines) + "\n"


def reference_sentences(found: Comparison) -> list[str]:
    """What was taken for the truth, how sure it is, and what was tried before."""
    truth = found.reference
    sentences = [f"`{truth.text}`: {truth.how}. It is taken to be sure to {quantity(truth.sure, 'm')}."]
    sentences += [f"Passed over: {reason}" for reason in truth.passed_over]
    doubtful = [row.label for row in found.done if row.found["error"] <= 10.0 * truth.sure]
    if doubtful:
        sentences.append(f"Errors as small as that say little: {'; '.join(doubtful)}.")
    return sentences


def _reference(found: Comparison) -> list[str]:
    first, *others = reference_sentences(found)
    return [first, *(f"\n- {text}" if k == 0 else f"- {text}" for k, text in enumerate(others))]


def _budgets(found: Comparison) -> list[str]:
    lines = [
        "A modular run violates the equations of its joints, which are springs, and of its bodies, which drift. Here an otherwise "
        "exact system followed the violations that the run recorded: those of the joints only, of the bodies only, and both.",
        "",
        f"- *{NAMES['compliance']}*: from the exact motion to the one whose joints are as open as those of the run;",
        f"- *{NAMES['drift']}*: from the exact motion to the one whose bodies are as deformed as those of the run;",
        f"- *{NAMES['integration']}*: from the motion with both to the run itself;",
        "- *remainder*: what the three, added as vectors, leave of the error. Parts may cancel, so one may be larger "
        "than the total.",
        "",
        "Largest over time, of all ports, as long as the remainder stays below a tenth of the error:",
        "",
        *markdown_table(budget_columns(), budget_cells(found), left=2),
        "",
    ]
    for row, split in found.budgets:
        sizes = split.largest
        largest = max((sizes[name], name) for name in PARTS)[1]
        if split.holds:
            lines.append(
                f"- {row.label}: most of the error, {error_text(found, row)}, comes from the {NAMES[largest]}."
            )
    return [*lines, ""]


def _files(found: Comparison) -> list[str]:
    return [
        "- `comparison.csv`: the table with numbers in full.",
        "- `errors.csv`: errors over time" + (", and the parts of those that were split." if found.budgets else "."),
        "- `comparison.json`: everything together: plan, reference, rows with the error of every port, series, budgets.",
        "- `comparison.png`" + (", `budget.png`" if found.budgets else "") + ": the pictures.",
    ]


# --- for programs ----------------------------------------------------------------------------------------------------


def to_data(found: Comparison, command: str = "") -> dict[str, Any]:
    """Everything as JSON-ready data; None where a number is missing."""
    plan, truth = found.plan, found.reference
    fits = {method.name: fit for method in plan.methods if (fit := found.order(method)) is not None}
    return {
        "format": FORMAT,
        "command": command,
        "scenario": plan.scenario,
        "settings": plan.settings,
        "model": plan.assembly.to_data(),
        "versions": truth.run.versions,
        "times": _plain(plan.times),
        "steps": list(plan.steps),
        "reference": {
            "coupling": truth.text,
            "how": truth.how,
            "doubt": truth.sure,
            "passed over": list(truth.passed_over),
            "uncertainty": _plain(truth.uncertainty),
            "positions": {port: _plain(series) for port, series in truth.positions.items()},
        },
        "orders": {name: asdict(fit) for name, fit in fits.items()},
        "rows": [_row(row) for row in found.rows],
    }


def _row(row: Row) -> dict[str, Any]:
    data: dict[str, Any] = {"method": row.method.name, "coupling": row.method.text, "dt": row.dt}
    data |= {"adaptive": row.method.adaptive, "outcome": row.outcome, "message": row.message}
    if row.trace is not None:
        trace = row.trace
        series = {"error": row.error, "joints": trace.joints, "bodies": trace.bodies, "drift": trace.drift}
        data |= row.found | trace.quality
        data |= {"steps": trace.steps, "evaluations": trace.evaluations, "seconds": trace.seconds}
        data["series"] = {name: _plain(values) for name, values in series.items() if values is not None}
    if row.budget is not None:
        split = row.budget
        data["budget"] = {
            "largest": split.largest, "share": split.share, "holds until": split.holds_until,
            "series": {name: _plain(getattr(split, name)) for name in ("total", *PARTS, "remainder")},
        }  # fmt: skip
    elif row.no_budget:
        data["no budget"] = row.no_budget
    return data


def _plain(values: Array) -> Any:
    """Nested lists of numbers, None for those that are none."""
    numbers = values.astype(object)
    numbers[~np.isfinite(values)] = None
    return numbers.tolist()
