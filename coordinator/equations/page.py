"""Equations as a page: for LaTeX, or for Markdown with formulas between dollars."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import sympy

from coordinator.equations.courses import TIME
from coordinator.equations.names import in_latex, latex_names
from coordinator.equations.written import Written

DIGITS = 6  # of numbers on a page; the expressions keep them all
PAGE_WIDTH = 95  # letters of a formula
LONG = 5 * PAGE_WIDTH  # of one in which what repeats gets a name
LARGEST = 8  # coordinates up to which a body's matrix is written as one; beyond, entry by entry
PREAMBLE = r"""\documentclass[a4paper,10pt]{article}
\usepackage[T1]{fontenc}
\usepackage{amsmath}
\usepackage[margin=20mm]{geometry}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\allowdisplaybreaks
\begin{document}
"""


Section = tuple[str, str, list[str]]  # heading, words, formulas line by line


def latex(written: Written, more: Sequence[Section] = ()) -> str:
    """A document of its own, with more sections at its end."""
    lines = [PREAMBLE + rf"\section*{{{_text(written.model.title or 'Equations of motion')}}}"]
    for kind, content in (*_parts(written), *_sections(more)):
        if kind == "heading":
            lines.append(rf"\subsection*{{{_text(content)}}}")
        elif kind == "words":
            lines.append(_words(content))
        else:
            lines.append("\\begin{align*}\n" + " \\\\\n".join(content) + "\n\\end{align*}")
    return "\n\n".join([*lines, r"\end{document}"]) + "\n"


def markdown(written: Written, more: Sequence[Section] = ()) -> str:
    """With headings and formulas between double dollars."""
    lines = [f"# {written.model.title or 'Equations of motion'}"]
    for kind, content in (*_parts(written), *_sections(more)):
        if kind == "heading":
            lines.append(f"## {content}")
        elif kind == "words":
            lines.append(content)
        else:
            lines.append("$$\n\\begin{aligned}\n" + " \\\\\n".join(content) + "\n\\end{aligned}\n$$")
    return "\n\n".join(lines) + "\n"


def _sections(more: Sequence[Section]) -> Iterator[tuple[str, Any]]:
    for heading, words, formulas in more:
        yield "heading", heading
        yield "words", words
        yield "formulas", formulas


def _parts(written: Written) -> Iterator[tuple[str, Any]]:
    """Headings, words, and formulas line by line."""
    printer = Printer(written)
    yield (
        "words",
        (
            f"{len(written.coordinates)} coordinates, {len(written.constraints)} constraints. Every body moves by "
            "$M\\ddot{q} + G^{T}\\lambda = Q$, and $\\Phi = 0$ holds, so $G\\ddot{q} = \\gamma$."
        ),
    )
    if written.parameters:
        yield "heading", "Parameters"
        yield (
            "words",
            ", ".join(f"${printer(one)} = {printer.number(value)}$" for one, value in written.parameters.items()),
        )
    for name, own in written.columns.items():
        yield "heading", f"Body {name}: {type(written.model.bodies[name]).__name__}"
        yield "formulas", list(_body(written, printer, name, own))
    for name, rows in written.rows_of.items():
        yield "heading", f"Joint {name}: {type(written.model.joint_edges[name].joint).__name__}"
        yield "formulas", list(_constraints(written, printer, rows))
    if written.notes or written.open:
        yield "heading", "Where this holds"
        for name, what in written.open.items():
            yield "words", f"{name}: as long as it does not act, {what}; it has no formula and is left out"
        for name, expressions in written.notes.items():
            shown = ", ".join(f"${printer(one)} \\neq 0$" for one in expressions[:3])
            yield "words", f"{name}: {shown}"


def _body(written: Written, printer: Printer, name: str, own: slice) -> Iterator[str]:
    q = sympy.Matrix(written.coordinates[own])
    yield f"q^{{\\mathrm{{{_text(name)}}}}} &= {printer.row(q)}^{{T}}"
    mass, count = written.M[own, own], own.stop - own.start
    if count <= LARGEST:
        yield f"M &= {printer(mass)}"
    else:
        for (i, j), value in sorted(mass.todok().items()):
            if i <= j:
                yield f"M_{{{i + 1},{j + 1}}} &= {printer(value)}"
    loads = [(k, written.loads[k]) for k in range(own.start, own.stop) if k in written.loads]
    if not loads:
        yield "Q &= 0"
    yield from printer.block([(f"Q_{{{printer(written.coordinates[k])}}}", value) for k, value in loads])
    yield from _constraints(written, printer, written.closing[name])


def _constraints(written: Written, printer: Printer, rows: slice) -> Iterator[str]:
    """phi of some rows, their slopes, and gamma."""
    for number, r in enumerate(range(rows.start, rows.stop), 1):
        slopes = [(c, s) for (row, c), s in written.jacobian.items() if row == r]
        if written.holonomic[r]:
            yield from printer.lines(f"\\Phi_{{{number}}}", written.constraints[r], " = 0")
        else:
            along = sum((s * written.rates[c] for c, s in slopes), sympy.Integer(0))
            yield f"\\dot{{\\Phi}}_{{{number}}} &= {printer(along)} = 0"
        varying = [(c, s) for c, s in slopes if s.free_symbols] if written.holonomic[r] else []
        if varying:
            shown = [f"\\frac{{\\partial\\Phi_{{{number}}}}}{{\\partial {printer(written.coordinates[c])}}} = {printer(s)}"
                     for c, s in varying]  # fmt: skip
            for start in range(0, len(shown), 2):
                yield "&\\quad " + ",\\quad ".join(shown[start : start + 2])
        if r in written.gamma:
            yield from printer.lines(f"\\gamma_{{{number}}}", written.gamma[r])


class Printer:
    """Expressions in LaTeX, with dots for rates and few digits."""

    def __init__(self, written: Written) -> None:
        symbols = [*written.coordinates, *written.rates, *written.parameters, *written.led.named, *written.multipliers]
        self.names = latex_names(symbols) | {TIME: "t"}

    def __call__(self, expression: Any) -> str:
        """One of them."""
        many = isinstance(expression, sympy.MatrixBase)
        rounded = expression.applyfunc(_rounded) if many else _rounded(expression)
        text: str = sympy.latex(rounded, symbol_names=self.names, mat_delim="(", mat_str="pmatrix", order="none")
        return _plain_matrix(text)

    def lines(self, name: str, value: Any, end: str = "") -> Iterator[str]:
        """name = value, on as many lines as a page is wide for, broken between what is added."""
        whole = self(value)
        if _width(whole) <= PAGE_WIDTH:
            yield f"{name} &= {whole}{end}"
            return
        line, begin = "", f"{name} &="
        for part in value.as_ordered_terms() if value.is_Add else [value]:
            shown = self(part)
            shown = shown if shown.startswith("-") or (begin[0] != "&" and not line) else f"+ {shown}"
            if line and _width(line) + _width(shown) > PAGE_WIDTH:
                yield f"{begin} {line}"
                begin, line = "&\\quad", ""
            line = f"{line} {shown}".strip()
        yield f"{begin} {line}{end}"

    def block(self, named: Sequence[tuple[str, Any]]) -> Iterator[str]:
        """Several formulas; where they are long, what repeats in them has a name before them."""
        if any(_width(self(value)) > LONG for _, value in named):
            common, reduced = sympy.cse(
                [value for _, value in named], symbols=sympy.numbered_symbols("s"), order="none"
            )
            for one, value in common:
                yield from self.lines(self(one), value)
            named = [(name, value) for (name, _), value in zip(named, reduced, strict=True)]
        for name, value in named:
            yield from self.lines(name, value)

    def row(self, vector: Any) -> str:
        """A vector lying."""
        return "(" + ",\\ ".join(self(one) for one in vector) + ")"

    def number(self, value: float) -> str:
        """To few digits."""
        return str(sympy.latex(_rounded(sympy.Float(value, 15)), order="none"))


def _width(text: str) -> int:
    """About how many letters wide a formula is."""
    shown = re.sub(r"\\[a-zA-Z]+", lambda found: {"\\sin": "sin", "\\cos": "cos"}.get(found[0], ""), text)
    return len(re.sub(r"[{}^_\\\s]", "", shown))


def _plain_matrix(text: str) -> str:
    """A matrix has its brackets once."""
    text = text.replace("\\left(\\begin{pmatrix}", "\\begin{pmatrix}").replace(
        "\\end{pmatrix}\\right)", "\\end{pmatrix}"
    )
    return text


def _rounded(expression: Any) -> Any:
    """With few digits, for people."""
    return expression.xreplace({one: _short(one) for one in expression.atoms(sympy.Float)})


def _short(number: Any) -> Any:
    value = float(f"{float(number):.{DIGITS}g}")
    return sympy.Integer(int(value)) if value == int(value) and abs(value) < 1e6 else sympy.Float(repr(value))


def _text(words: str) -> str:
    return words.replace("_", r"\_").replace("#", r"\#").replace("&", r"\&").replace("%", r"\%")


def _words(words: str) -> str:
    """Words with formulas between dollars: only words are escaped."""
    return "".join(part if part.startswith("$") else _text(part) for part in re.split(r"(\$[^$]*\$)", words))


__all__ = ["Printer", "in_latex", "latex", "markdown"]
