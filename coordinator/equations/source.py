"""Formulas as lines of source code that Python and C read alike, so that both do the same operations in the same order.

Sums and products go from left to right, whole powers are products, roots are roots: nothing is left to a compiler but what each
operation is. Compiled without contraction (`-ffp-contract=off`) both give the same bits.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import sympy

from coordinator.equations.courses import TIME
from coordinator.equations.terms import nearest_whole
from modular.errors import ModelError

if TYPE_CHECKING:
    from coordinator.equations.solved import Solved

Arrays = Mapping[str, Sequence[Any]]
NAME = re.compile(r"[cx]\d+")  # of what comes up on the way
LARGEST_POWER = 8  # whole exponents up to which powers are written as products
FUNCTIONS = {
    sympy.sin: "sin", sympy.cos: "cos", sympy.exp: "exp", sympy.tanh: "tanh", sympy.atan2: "atan2", nearest_whole: "rint",
}  # fmt: skip


class Lines:
    """Lines `x = formula` for formulas of a solved system; what several of them have in common comes first."""

    def __init__(self, solved: Solved, values: Sequence[Any], more: Arrays = MappingProxyType({})) -> None:
        w = solved.written
        self.names: dict[Any, str] = {TIME: "t"}
        of_model = (("q", w.coordinates), ("v", w.rates), ("p", w.parameters), ("f", w.led.named))
        for letter, symbols in (*of_model, *more.items()):
            self.names |= {one: f"{letter}[{k}]" for k, one in enumerate(symbols)}
        needed = solved.needed(values)
        kept = [(one, step) for one, step in solved.steps if one in needed]
        common, reduced = sympy.cse(
            [step for _, step in kept] + list(values), symbols=sympy.numbered_symbols("c"), order="none"
        )
        self.temporary: list[tuple[str, str]] = []
        ready = dict(common)
        self.names |= {one: one.name for one in ready} | {one: one.name for one, _ in kept}
        written: set[Any] = set()

        def bring(value: Any) -> None:
            for one in sorted(value.free_symbols & ready.keys(), key=lambda s: int(s.name[1:])):
                if one not in written:
                    written.add(one)
                    bring(ready[one])
                    self.temporary.append((one.name, self.code(ready[one])))

        for (one, _), value in zip(kept, reduced, strict=False):
            bring(value)
            self.temporary.append((one.name, self.code(value)))
        self.results: list[str] = []
        for value in reduced[len(kept) :]:
            bring(value)
            self.results.append(self.code(value))

    def code(self, value: Any) -> str:
        """One formula."""
        if value in self.names:
            return self.names[value]
        if value.is_Add:
            return self._sum(value)
        if value.is_Mul:
            return self._product(value)
        if value.is_Pow:
            return self._power(value)
        if value.func in FUNCTIONS:
            return f"{FUNCTIONS[value.func]}({', '.join(self.code(part) for part in value.args)})"
        if value.is_Rational and not value.is_Integer:
            return f"({int(value.p)}.0/{int(value.q)}.0)"
        if value.is_number:
            number = float(value)
            return repr(number) if number >= 0.0 else f"({number!r})"
        raise ModelError(f"equations: '{value.func}' has no source code; this term remains: {value}.")

    def _sum(self, value: Any) -> str:
        """What is added, then what is taken away."""
        below = [part for part in value.args if part.could_extract_minus_sign()]
        above = [part for part in value.args if part not in below]
        found = " + ".join(self.code(part) for part in above) + "".join(f" - {self.code(-part)}" for part in below)
        return f"({found.strip()})"

    def _product(self, value: Any) -> str:
        if value.args[0] == -1:
            return f"(-{self.code(-value)})"
        above = [part for part in value.args if not _below(part)]
        below = [1 / part for part in value.args if _below(part)]
        over = "*".join(self.code(part) for part in above) or "1.0"
        for part in below:
            over += f"/{self.code(part)}"
        return f"({over})"

    def _power(self, value: Any) -> str:
        base, exponent = value.base, value.exp
        if _below(value):
            return f"(1.0/{self.code(1 / value)})"
        if exponent == sympy.Rational(1, 2):
            return f"sqrt({self.code(base)})"
        doubled = 2 * exponent
        if not doubled.is_Integer or exponent > LARGEST_POWER:
            raise ModelError(f"equations: the power {value} has no source code; whole powers and roots have.")
        whole, half = divmod(int(doubled), 2)
        parts = [self.code(base)] * whole + [f"sqrt({self.code(base)})"] * half
        return "(" + "*".join(parts) + ")"

    def body(self, end: str, declare: str, results: Sequence[str]) -> Iterator[str]:
        """All lines that some results take."""
        used = {name for code in results for name in NAME.findall(code)}
        for name, code in reversed(self.temporary):
            if name in used:
                used.update(NAME.findall(code))
        for name, code in self.temporary:
            if name in used:
                yield f"    {declare}{name} = {code}{end}"


def lines_of(solved: Solved, values: Sequence[Any], more: Arrays = MappingProxyType({})) -> Lines:
    """The same lines for Python and for C."""
    return _lines(solved, tuple(values), tuple((letter, tuple(symbols)) for letter, symbols in more.items()))


@functools.lru_cache(maxsize=8)
def _lines(solved: Solved, values: tuple[Any, ...], more: tuple[tuple[str, tuple[Any, ...]], ...]) -> Lines:
    return Lines(solved, values, dict(more))


def _below(part: Any) -> bool:
    """Whether a factor stands below the line."""
    return bool(part.is_Pow and part.exp.is_number and part.exp < 0)


def python_source(solved: Solved, values: Sequence[Any], more: Arrays = MappingProxyType({})) -> str:
    """A function (t, q, v, p, f, out) for kernels (modular/formula.py) and for Python; `more` arrays come before `out`."""
    lines = lines_of(solved, values, more)
    given = ", ".join(("t", "q", "v", "p", "f", *more, "out"))
    found = [f"def evaluate({given}):", *lines.body("", "", lines.results)]
    found += [f"    out[{k}] = {code}" for k, code in enumerate(lines.results)]
    return "\n".join([*found, "    return 0"]) + "\n"


def c_function(
    name: str, solved: Solved, values: Sequence[Any], kept: Sequence[int], more: Arrays = MappingProxyType({})
) -> str:
    """The same for C: `out` takes those values that are `kept`, and each of them is worked out by the very same operations."""
    lines = lines_of(solved, values, more)
    arrays = ("q", "v", "p", *more)
    results = [lines.results[k] for k in kept]
    found = [
        f"static void {name}(double t, {', '.join(f'const double *{array}' for array in arrays)}, double *out)",
        "{",
    ]
    found += [f"    {' '.join(f'(void){array};' for array in ('t', *arrays))}"]
    found += [*lines.body(";", "const double ", results)]
    found += [f"    out[{k}] = {code};" for k, code in enumerate(results)]
    return "\n".join([*found, "}"]) + "\n"
