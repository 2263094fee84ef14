"""Lagrange's equations in independent coordinates, from what a model writes of itself.

With all coordinates x = X(q) of the bodies, R = dX/dq, what moves a model is seen along R (Lagrange's equations, for M is theirs):

    (R^T M R) q'' + (G R)^T lambda = R^T (Q - M R' q'),      phi(X(q)) = 0 of loops and drives

Joints of the spanning tree are closed by X, so their multipliers are gone, and those of the bodies too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import sympy
from sympy.simplify.fu import TR5, TR7, TR8

from coordinator.equations.courses import TIME
from coordinator.equations.names import latex_names, symbol
from coordinator.equations.page import Printer
from coordinator.equations.spanning import Tree
from coordinator.equations.writing import write
from coordinator.equations.written import Written, function_of
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError

NEAT = 4000  # operations up to which formulas are simplified
TRIES, SAME = 3, 1e-9  # how often a force is held against its energy; of its size: what they may differ by
PASSES = 3  # in which powers of sines and cosines become those of multiples
SOLVABLE = 4  # coordinates and multipliers up to which accelerations are written out


class Lagrange:
    """M q'' + G^T lambda = F, phi = 0: `mass`, `forces`, `phi`, `G`, `gamma`, with `coordinates`, `rates`, `multipliers`."""

    def __init__(self, model: Assembly, chosen: Mapping[str, Any], *, numbers: bool = False) -> None:
        self.written = w = write(model, numbers=numbers)
        self.tree = tree = Tree(w, chosen)
        self.model, self.parameters = w.model, w.parameters
        self.coordinates = tree.coordinates
        self.rates = [symbol(f"{one.name}'") for one in self.coordinates]
        self.places = tree.places
        self.placing = dict(zip(w.coordinates, self.places, strict=True))
        self._along()
        self.mass = self._mass()
        self.forces = self._forces(self.written.loads)
        self._loops(tree.rows)

    # --- written ---------------------------------------------------------------------------------------------------------

    def _along(self) -> None:
        """R by columns, the paces R q', and R' q'."""
        motion = dict(zip(self.coordinates, self.rates, strict=True))
        self.columns: list[dict[int, Any]] = [{} for _ in self.coordinates]
        self.paces: list[Any] = []
        self.bends: list[Any] = []
        for i, place in enumerate(self.places):
            pace = sympy.Integer(0)
            for k, one in enumerate(self.coordinates):
                slope = place.diff(one)
                if slope != 0:
                    self.columns[k][i] = slope
                    pace += slope * motion[one]
            bend = sum((pace.diff(one) * rate for one, rate in motion.items() if pace.has(one)), sympy.Integer(0))
            self.paces.append(pace)
            self.bends.append(bend)
        self.placing |= dict(zip(self.written.rates, self.paces, strict=True))

    def _mass(self) -> Any:
        n = len(self.coordinates)
        found = sympy.zeros(n, n)
        rows: dict[int, list[tuple[int, Any]]] = {}
        for (i, j), value in self.written.mass.items():
            rows.setdefault(i, []).append((j, value.xreplace(self.placing)))
        for k in range(n):
            moved: dict[int, Any] = {}
            for i, entries in rows.items():
                share = sum((m * self.columns[k][j] for j, m in entries if j in self.columns[k]), sympy.Integer(0))
                if share != 0:
                    moved[i] = share
            for other in range(k + 1):
                total = sum(
                    (self.columns[other][i] * x for i, x in moved.items() if i in self.columns[other]), sympy.Integer(0)
                )
                found[other, k] = found[k, other] = neat(total)
        return found

    def _forces(self, loads: Mapping[int, Any]) -> Any:
        """R^T (Q - M R' q') of such loads Q."""
        w, found = self.written, sympy.zeros(len(self.coordinates), 1)
        acts = {i: value.xreplace(self.placing) for i, value in loads.items()}
        for (i, j), value in w.mass.items():
            if self.bends[j] != 0:
                acts[i] = acts.get(i, sympy.Integer(0)) - value.xreplace(self.placing) * self.bends[j]
        for k, column in enumerate(self.columns):
            plain, rooted = sympy.Integer(0), sympy.Integer(0)
            for i, slope in column.items():
                for part in sympy.Add.make_args(acts.get(i, sympy.Integer(0))):
                    if has_roots(part):
                        rooted += slope * part
                    else:
                        plain += slope * part
            found[k] = neat(plain) + rooted
        return found

    def _loops(self, rows: Sequence[int]) -> None:
        w, n = self.written, len(self.coordinates)
        self.rows = list(rows)
        self.phi = sympy.Matrix(len(rows), 1, [neat(w.constraints[r].xreplace(self.placing)) for r in rows])
        self.G, self.gamma = sympy.zeros(len(rows), n), sympy.zeros(len(rows), 1)
        place = {r: k for k, r in enumerate(rows)}
        bent: dict[int, Any] = {}
        for (r, c), slope in w.jacobian.items():
            if r not in place:
                continue
            here = slope.xreplace(self.placing)
            for k, column in enumerate(self.columns):
                if c in column:
                    self.G[place[r], k] += here * column[c]
            bent[r] = bent.get(r, sympy.Integer(0)) + here * self.bends[c]
        self.G = self.G.applyfunc(neat)
        for r in rows:
            total = w.gamma.get(r, sympy.Integer(0)).xreplace(self.placing) - bent.get(r, sympy.Integer(0))
            self.gamma[place[r]] = neat(total)
        counts: dict[str, int] = {}
        self.multipliers = []
        for r in rows:
            owner = w.owners[r]
            counts[owner] = counts.get(owner, 0) + 1
            self.multipliers.append(symbol(f"{owner}.lambda_{counts[owner]}"))

    # --- what it says ----------------------------------------------------------------------------------------------------

    @property
    def accelerations(self) -> list[Any]:
        """Symbols for q''."""
        return [symbol(f"{one.name}''") for one in self.coordinates]

    def equations(self) -> list[Any]:
        """One for each coordinate, and one for each row of loops and drives."""
        inertia = self.mass * sympy.Matrix(self.accelerations)
        if self.rows:
            inertia += self.G.T * sympy.Matrix(self.multipliers)
        return [sympy.Eq(inertia[k], self.forces[k]) for k in range(len(self.coordinates))] + [
            sympy.Eq(x, 0) for x in self.phi
        ]

    def solved(self) -> dict[Any, Any]:
        """Accelerations and multipliers written out, for small systems."""
        n, m = len(self.coordinates), len(self.rows)
        if n + m > SOLVABLE:
            raise ModelError(
                f"lagrange: {n} coordinates and {m} loop equations are too many to be written out solved; `at` has numbers, "
                "`coordinator.equations.efforts` and `source` formulas step by step."
            )
        whole = (
            sympy.Matrix(sympy.BlockMatrix([[self.mass, self.G.T], [self.G, sympy.zeros(m, m)]])) if m else self.mass
        )
        right = sympy.Matrix([*self.forces, *self.gamma])
        found = whole.LUsolve(right)
        return dict(zip([*self.accelerations, *self.multipliers], map(neat, found), strict=True))

    @cached_property
    def kinetic(self) -> Any:
        """Kinetic energy [J]."""
        rates = sympy.Matrix(self.rates)
        return sympy.expand((rates.T * self.mass * rates)[0] / 2)

    @cached_property
    def applied(self) -> Any:
        """What acts along the coordinates, without what comes of inertia: weight, springs, dampers and loads."""
        return self._without_inertia(self.forces)

    def _without_inertia(self, forces: Any) -> Any:
        found = sympy.zeros(len(self.coordinates), 1)
        for k, one in enumerate(self.coordinates):
            gyration = -self.kinetic.diff(one)
            for other, rate in zip(self.coordinates, self.rates, strict=True):
                gyration += self.kinetic.diff(self.rates[k]).diff(other) * rate
            found[k] = neat(forces[k] + gyration)
        return found

    @cached_property
    def potential(self) -> Any:
        """Potential energy [J], zero where the model stands, that of springs as these tell it; None where what acts has none."""
        springs = [name for name in self.written.pushes if holds_what_it_does(self.written, name)]
        held = sum((self.written.stored[name] for name in springs), sympy.Integer(0)).xreplace(self.placing)
        left = dict(self.written.loads)
        for name in springs:
            for column, push in self.written.pushes[name].items():
                left[column] -= push
        acts = self._without_inertia(self._forces(left)) if springs else self.applied
        if any(has_roots(value) for value in acts):
            return None
        if acts.free_symbols & {*self.rates, TIME} or acts.free_symbols & self.written.led.named.keys():
            return None
        total = sympy.Integer(0)
        for k, one in enumerate(self.coordinates):
            # along one axis after the other: those behind stay at nothing
            here = acts[k].xreplace(dict.fromkeys(self.coordinates[k + 1 :], sympy.Integer(0)))
            way = sympy.integrate(sympy.expand(here), one)
            if way.has(sympy.Integral):
                return None
            total -= way - way.subs(one, 0)
        open_ = [sympy.simplify(total.diff(one) + acts[k]) for k, one in enumerate(self.coordinates)]
        if any(x != 0 for x in open_):
            return None
        return neat(total) + held - held.xreplace(dict.fromkeys(self.coordinates, sympy.Integer(0)))

    def conserved(self) -> dict[str, Any]:
        """What stays as it is while the model moves: its energy, momenta of coordinates that nothing depends on."""
        found: dict[str, Any] = {}
        driven = any(self.phi[k].free_symbols & {TIME, *self.written.led.named} for k in range(len(self.rows)))
        led = self.written.led.named and any(r in self.written.flow for r in self.rows)
        if self.potential is not None and not driven and not led:
            found["energy"] = self.kinetic + self.potential
        for k, one in enumerate(self.coordinates):
            still = self.applied[k] == 0 and all(x == 0 for x in self.G[:, k])
            if still and sympy.simplify(self.kinetic.diff(one)) == 0:
                found[f"momentum of {one.name}"] = neat(self.kinetic.diff(self.rates[k]))
        return found

    # --- at numbers ------------------------------------------------------------------------------------------------------

    @cached_property
    def _function(self) -> Any:
        entries = [*self.mass, *self.forces, *self.phi, *self.G, *self.gamma, *self.places, *self.paces, *self.bends]
        entries += [slope for column in self.columns for slope in column.values()]
        return function_of([TIME, *self.coordinates, *self.rates, *self.parameters, *self.written.led.named], entries)

    def at(
        self, q: Sequence[float] | Array, rates: Sequence[float] | Array, time: float = 0.0,
        parameters: Mapping[str, float] | None = None,
    ) -> dict[str, Array]:  # fmt: skip
        """Numbers: mass, forces, phi, G, gamma, accelerations; of the bodies `places` and their derivatives `paces`, `curving`."""
        n, m, w = len(self.coordinates), len(self.rows), self.written
        if len(q) != n or len(rates) != n:
            raise ModelError(f"lagrange: {len(q)} coordinates and {len(rates)} rates; there are {n} of each.")
        known = w.values(parameters)
        led = [w.led.value(one, time) for one in w.led.named]
        numbers = np.array(self._function(time, *q, *rates, *(known[one] for one in w.parameters), *led), float)
        shapes = {"mass": (n, n), "forces": (n,), "phi": (m,), "G": (m, n), "gamma": (m,)}
        shapes |= {name: (len(self.places),) for name in ("places", "paces", "curving")}
        found, start = {}, 0
        for name, shape in shapes.items():
            size = int(np.prod(shape))
            found[name] = numbers[start : start + size].reshape(shape)
            start += size
        whole = np.block([[found["mass"], found["G"].T], [found["G"], np.zeros((m, m))]])
        right = np.concatenate([found["forces"], found["gamma"]])
        found["accelerations"] = np.linalg.lstsq(whole, right, rcond=1e-13)[0][:n]
        found["curving"] = found["curving"].copy()
        for column, acceleration in zip(self.columns, found["accelerations"], strict=True):
            for i in column:
                found["curving"][i] += numbers[start] * acceleration
                start += 1
        return found

    # --- to be read ------------------------------------------------------------------------------------------------------

    def lines(self) -> list[str]:
        """M, F, and phi of loops and drives for LaTeX, line by line."""
        printer = Printer(self.written)
        printer.names |= latex_names([*self.coordinates, *self.rates, *self.accelerations, *self.multipliers])
        n = len(self.coordinates)
        found = [f"q &= {printer.row(self.coordinates)}^{{T}}"]
        for i in range(n):
            for j in range(i, n):
                found += printer.lines(f"M_{{{i + 1},{j + 1}}}", self.mass[i, j])
        found += printer.block([(f"F_{{{i + 1}}}", self.forces[i]) for i in range(n)])
        for k, value in enumerate(self.phi):
            found += printer.lines(f"\\Phi_{{{k + 1}}}", value, " = 0")
        return found

    def latex(self) -> str:
        """The same as a block."""
        return "\\begin{align*}\n" + " \\\\\n".join(self.lines()) + "\n\\end{align*}"


def holds_what_it_does(written: Written, name: str) -> bool:
    """Whether a force is that of the energy which it says it holds, and of nothing beside: at places, rates and numbers by lot."""
    stored, pushes = written.stored[name], written.pushes[name]
    moves = [one for one in written.coordinates if stored.has(one)]
    if not moves:
        return False
    wanted = [*{written.coordinates.index(one) for one in moves} | pushes.keys()]
    lacking = [pushes.get(k, sympy.Integer(0)) + stored.diff(written.coordinates[k]) for k in wanted]
    sizes = [pushes.get(k, sympy.Integer(0)) for k in wanted]
    symbols = sorted(set().union(*(one.free_symbols for one in (*lacking, *sizes))), key=lambda one: str(one.name))
    numbers, function = np.random.default_rng(0), function_of(symbols, [*lacking, *sizes])
    for _ in range(TRIES):
        found = np.abs(np.array(function(*numbers.uniform(0.5, 1.5, len(symbols))), float)).reshape(2, -1)
        if not found[0].max() <= SAME * found[1].max():
            return False
    return True


def has_roots(value: Any) -> bool:
    """Whether roots of what moves are in it, as the lengths of springs are: what is not to be multiplied out."""
    return any(not power.exp.is_Integer and power.base.free_symbols for power in value.atoms(sympy.Pow))


def neat(value: Any) -> Any:
    """Angles put together and like terms collected, where that takes no long time."""
    if not value.free_symbols or value.count_ops() > NEAT or has_roots(value):
        return value
    expanded = sympy.expand(value)
    found = [value, expanded]
    if expanded.has(sympy.sin, sympy.cos):  # products of sines and cosines, term by term, as those of sums of angles
        for _ in range(PASSES):
            parts = [TR8(TR7(TR5(part))) for part in sympy.Add.make_args(found[-1])]
            found.append(sympy.expand(sympy.Add(*parts)))
            if not any(isinstance(power.base, sympy.sin | sympy.cos) for power in found[-1].atoms(sympy.Pow)):
                break  # of half angles, as of quaternions, there are fourth powers
    return min(found, key=lambda one: one.count_ops())
