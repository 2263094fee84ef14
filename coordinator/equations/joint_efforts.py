"""What a joint exerts, as formulas of coordinates, rates and parameters: the wrench of its multipliers on its second side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from coordinator.equations.names import latex_names
from coordinator.equations.page import Printer
from coordinator.equations.solved import Solved
from coordinator.equations.writing import write
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError
from modular.names import missing
from modular.torsor import Torsor

NAMES = {2: ("F_x", "F_y", "M_z"), 3: ("F_x", "F_y", "F_z", "M_x", "M_y", "M_z")}
UNIQUE = 1e-9  # of the rows: what is smaller tells nothing


@dataclass(frozen=True)
class Efforts:
    """Components of a wrench at the point of a joint; `formulas` in the names of `steps`."""

    joint: str
    names: tuple[str, ...]
    formulas: list[Any]
    solved: Solved
    torsor: Torsor  # along the axes of the world, in the names of `steps`

    @property
    def steps(self) -> list[tuple[Any, Any]]:
        """What comes first, in order: names and formulas."""
        needed = self.solved.needed(self.formulas)
        return [(one, step) for one, step in self.solved.steps if one in needed]

    def expanded(self) -> dict[str, Any]:
        """Formulas without names in between, simplified: for small systems."""
        return {
            name: sympy.simplify(self.solved.expanded(value))
            for name, value in zip(self.names, self.formulas, strict=True)
        }

    def at(
        self, q: Sequence[float] | Array, v: Sequence[float] | Array, time: float = 0.0,
        parameters: Mapping[str, float] | None = None,
    ) -> Array:  # fmt: skip
        """Numbers [N], [N m], in the order of `names`."""
        if "function" not in self.__dict__:
            self.__dict__["function"] = self.solved.function_of(self.formulas)
        return np.asarray(self.__dict__["function"](q, v, time, parameters))

    def lines(self) -> list[str]:
        """Steps and then formulas for LaTeX, one a line."""
        printer = Printer(self.solved.written)
        printer.names |= latex_names([one for one, _ in self.steps])
        lines = [f"{printer(one)} &= {printer(step)}" for one, step in self.steps]
        named = zip(self.names, self.formulas, strict=True)
        return lines + [f"{printer(sympy.Symbol(name, real=True))} &= {printer(value)}" for name, value in named]

    def latex(self) -> str:
        """The same as a block."""
        return "\\begin{align*}\n" + " \\\\\n".join(self.lines()) + "\n\\end{align*}"


def write_efforts(
    model: Assembly, joint: str, mask: Sequence[int] | None, axes: str | None, on: str, *, numbers: bool = False
) -> Efforts:
    """Of one joint of a model, on its `second` or `first` side."""
    if joint not in model.joint_edges:
        raise ModelError(missing("joint", joint, model.joint_edges, "efforts"))
    edge = model.joint_edges[joint]
    if on not in ("second", "first"):
        raise ModelError(f"efforts: on = {on!r}; give 'second' ({edge.second}) or 'first' ({edge.first}).")
    if on == "first" and not edge.joint.together:
        raise ModelError(
            f"joint '{joint}' ({type(edge.joint).__name__}) holds each of its sides at a point of its own; ask for on='second'."
        )
    asked = _mask(mask, model.dimension)
    written = write(model, numbers=numbers, ports=[axes] if axes else [])
    rows, held = written.rows_of[joint], written.held[joint]
    check_unique(written, joint)
    solved = Solved(written, (written.start[0], written.start[1]))
    forces = [[sympy.Integer(0)] * model.dimension for _ in held.places]
    for (m, k, c), slope in held.slopes.items():
        forces[k][c] -= solved.multipliers[rows.start + m] * solved.name(slope)
    nothing = np.zeros(3, int).astype(object)
    wrench = Torsor.wrench(np.array(forces[0], object), nothing, np.array(held.places[0], object))
    for place, force in zip(held.places[1:], forces[1:], strict=True):  # directions: couples x x f
        couple = Torsor.wrench(np.array(force, object), nothing, np.array(place, object)).at(nothing).moment
        wrench = Torsor(wrench.kind, wrench.resultant, wrench.moment + couple, wrench.point)
    wrench = wrench if on == "second" else -wrench
    resultant, moment = wrench.resultant, wrench.moment
    if axes:
        resultant, moment = wrench.along(np.array(written.axes[axes].tolist(), object))
    every = [*resultant[:2], moment[2]] if model.dimension == 2 else [*resultant, *moment]
    chosen = [k for k, wanted in enumerate(asked) if wanted]
    names = tuple(NAMES[model.dimension][k] for k in chosen)
    return Efforts(joint, names, [sympy.sympify(every[k]) for k in chosen], solved, wrench)


def _mask(mask: Sequence[int] | None, dimension: int) -> list[bool]:
    names = NAMES[dimension]
    if mask is None:
        return [True] * len(names)
    found = list(mask)
    if len(found) != len(names) or any(one not in (0, 1, False, True) for one in found) or not any(found):
        raise ModelError(
            f"efforts: mask = {mask!r}; give a 0 or 1 for each of {', '.join(names)}, such as {[1, *[0] * (len(names) - 1)]}."
        )
    return [bool(one) for one in found]


def check_unique(written: Any, joint: str) -> None:
    """Refuse where joints hold each other, so that no equation tells what this one does."""
    jacobian = written.at(*written.start)["jacobian"]
    _, sizes, right = np.linalg.svd(jacobian.T, full_matrices=True)
    rank = int((sizes > UNIQUE * sizes.max(initial=0.0)).sum())
    idle = right[rank:]  # multipliers that exert nothing on any body
    if not len(idle):
        return
    rows, held = written.rows_of[joint], written.held[joint]
    numbers = dict(zip(written.coordinates, map(float, written.start[0]), strict=True)) | written.parameters
    for one in idle:
        total = np.zeros((len(held.places), written.model.dimension))
        for (m, k, c), slope in held.slopes.items():
            total[k, c] += one[rows.start + m] * float(slope.evalf(17, subs=numbers))
        turning = np.zeros(3)
        for place, force in zip(held.places[1:], total[1:], strict=True):
            arm = np.array([float(x.evalf(17, subs=numbers)) for x in place] + [0.0])[:3]
            turning += np.cross(arm, np.append(force, 0.0)[:3])
        if max(np.abs(total[0]).max(), np.abs(turning).max()) > 1e-6:
            raise ModelError(
                f"joint '{joint}': its reaction is not unique, because joints are redundant there; `modular mobility` "
                "names them. Remove one of them, or replace it by a spring."
            )
