"""The table of the suite, as cells for the screen and as Markdown; and its place in a page of the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from modular.errors import ModelError
from scenarios.bench.figures import Figure
from scenarios.bench.harness import spread
from scenarios.bench.machine import sentence
from scenarios.bench.suite import Results, describe

COLUMNS = ("figure", "measured", "quartiles", "target", "verdict")
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"


def cells(figure: Figure) -> tuple[str, str, str, str, str]:
    """One row."""
    target = "" if figure.target is None else str(figure.target)
    if not figure.measured:
        return figure.name, "", "", target, figure.verdict
    unit = figure.unit.replace("× ", "×\u00a0") if figure.unit.startswith("×") else figure.unit
    quartiles = f"{number(figure.low)} … {number(figure.high)}" if figure.samples > 1 else ""
    return figure.name, f"{number(figure.value)} {unit}".strip(), quartiles, target, figure.verdict


def number(value: float) -> str:
    """Three digits, without powers where people would not write them."""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        digits = f"{value:#.3g}" if abs(value) < 1000 else f"{float(f'{value:.3g}'):,.0f}"
        return digits.rstrip(".")
    return f"{value:.2e}"


def tally(figures: Sequence[Figure]) -> str:
    """How many targets are reached, in one sentence."""
    wanted = [figure for figure in figures if figure.target is not None]
    if not wanted:
        return "No figure of these has a target."
    words = ("reached", "on the edge", "missed", "not measured")
    counts = {word: sum(figure.verdict == word for figure in wanted) for word in words}
    counted = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"{len(wanted)} target{'s' * (len(wanted) != 1)}: {counted}."


def markdown(results: Results) -> str:
    """Machine, table, and what was left out."""
    how = "quickly (few rounds, short samples, small sizes)" if results.quick else "in full"
    lines = [f"Measured {how} in {results.seconds / 60:.0f} min on: {sentence(results.machine)}.", ""]
    if results.command:
        lines += [f"Typed: `{results.command}`", ""]
    if results.interrupted:
        lines += ["It was stopped before its end.", ""]
    if results.yardsticks:
        stick = spread(results.yardsticks)
        lines += [
            "Yardstick, taken before each benchmark: 1,000 multiply-adds in sequence took "
            f"{number(stick.median)} µs ({number(min(results.yardsticks))} … {number(max(results.yardsticks))}).",
            "",
        ]
    lines += [tally(results.figures), ""]
    for family in dict.fromkeys(figure.family for figure in results.figures):
        rows = [figure for figure in results.figures if figure.family == family]
        lines += [f"### {family}", "", describe(family), ""]
        lines += ["| " + " | ".join((*COLUMNS, "remark")) + " |", "| --- | ---: | ---: | ---: | --- | --- |"]
        for figure in rows:
            words = (*cells(figure), figure.why or figure.note)
            lines.append("| " + " | ".join(" ".join(word.replace("|", "\\|").split()) for word in words) + " |")
        lines.append("")
    return "\n".join(lines)


def put_into(page: Path, text: str) -> None:
    """Replace what lies between the marks of a page."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ModelError(f"{page}: no place for the table; put the lines {BEGIN} and {END} where it shall stand.")
    page.write_text(f"{before}{BEGIN}\n\n{text.strip()}\n\n{END}{after}", encoding="utf-8")
