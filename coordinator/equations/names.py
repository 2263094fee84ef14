"""How coordinates, parameters and multipliers are called, in words and in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import sympy

GREEK = {"theta", "lambda", "mu", "eta", "omega", "phi", "psi", "alpha", "beta", "gamma"}
SHORT = {
    "mass": "m", "length": "l", "inertia": "J", "stiffness": "k", "damping": "c", "gravity": "g", "rest": "s",
    "force": "F", "moment": "M", "torque": "M", "masses": "m", "linear": "b", "quadratic": "c", "velocity": "v",
}  # fmt: skip


def coordinate_names(stack: Any) -> list[str]:
    """Of the coordinates of one body of a stack; numbered where the stack does not say."""
    shape = stack.state()["q"].shape[1:]
    count = 1
    for size in shape:
        count *= size
    given: Sequence[str] = stack.coordinate_names() if hasattr(stack, "coordinate_names") else ()
    return list(given) or [f"q{k + 1}" for k in range(count)]


def symbol(name: str, *, positive: bool = False) -> Any:
    """A real number by name; `positive`: it cannot be negative or zero."""
    return sympy.Symbol(name, real=True, positive=True) if positive else sympy.Symbol(name, real=True)


def rate_of(coordinate: Any) -> Any:
    """Its rate."""
    return symbol(f"{coordinate.name}'")


def in_latex(name: str) -> str:
    """`upper.A_x'` as the letter A with the index x, its owner above, and a dot."""
    bare = name.rstrip("'")
    dots = len(name) - len(bare)
    owner, _, own = bare.rpartition(".")
    base, _, index = own.partition("_")
    counted = re.fullmatch(r"([A-Za-z]+?)(\d+)", base)
    if counted and not index:
        base, index = counted.groups()
    base, index = (SHORT.get(base, base), index) if dots == 0 else (base, index)
    letter = f"\\{base}" if base in GREEK else base if len(base) == 1 else rf"\mathrm{{{_escaped(base)}}}"
    letter = {0: letter, 1: rf"\dot{{{letter}}}", 2: rf"\ddot{{{letter}}}"}.get(dots, letter)
    below = f"_{{{_escaped(index)}}}" if index else ""
    above = rf"^{{\mathrm{{{_escaped(owner)}}}}}" if owner else ""
    return letter + below + above


def _escaped(text: str) -> str:
    return text.replace("_", r"\_").replace("#", r"\#")


def latex_names(symbols: Sequence[Any]) -> dict[Any, str]:
    """Of symbols, as sympy's printer asks for them."""
    return {one: in_latex(one.name) for one in symbols}
