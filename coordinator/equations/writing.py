"""The equations of a model, written down by its own components over symbols.

M(q) a + G(q)^T lambda = Q(t, q, v),    phi(t, q) = 0,    G v = phi_t,    G a = gamma          Séguy 2003, (II.14), (II.15)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy

from coordinator.equations.courses import TIME
from coordinator.equations.forms import rows_of
from coordinator.equations.names import coordinate_names, rate_of, symbol
from coordinator.equations.observed_ports import hold_axes
from coordinator.equations.parameters import TURNED, Parameters, name_bodies, name_force, name_gravity
from coordinator.equations.tables import NoFormula, SymbolicSystem, TableTwin, assembled, terms
from coordinator.equations.terms import Term, exact, expression, tidy
from coordinator.equations.written import Held, Motion, Written
from coordinator.system import System
from modular.assembly import Assembly
from modular.body import GivesEquations
from modular.errors import CouplingError
from modular.force import Decides
from modular.ledger import DISSIPATED, STORED, SUPPLIED


def write(model: Assembly, *, numbers: bool = False, ports: Sequence[str] = ()) -> Written:
    """All equations of a model; `numbers`: with its numbers instead of names for them; `ports` whose axes are asked for.

    What only acts where something is against it (a stop) is left out, and told (`Written.open`), as long as it is not.
    """
    model, left_out = _without_open_ones(model)
    found = _Writer(model, numbers, ports).written()
    found.open = left_out
    return found


def _without_open_ones(model: Assembly) -> tuple[Assembly, dict[str, str]]:
    """A model without the forces that begin and end and do not act where it stands, and these, in words."""
    if not model.force_edges:
        return model, {}
    model = model.given().copy()
    system = assembled(model)
    left_out: dict[str, str] = {}
    for forces in system.forces:
        limits = [n for n in forces.row if getattr(model.force_edges[n].force, "between_limits", False)]
        if limits:
            forces.exert(system.elements, 0.0)  # one that acts may say so itself
        for name in limits:
            force = model.force_edges[name].force
            if forces.ledger[forces.row[name], STORED] > 0.0:
                raise NoFormula(
                    f"force '{name}' acts in the initial pose, but has no formula, because its contact opens and closes; leave it "
                    "out, or start the model where it does not act."
                )
            numbers = [f"{key}={value}" for key, value in force.to_data().items() if key != "class"]
            left_out[name] = f"{type(force).__name__}({', '.join(numbers)})"
    for name in left_out:
        del model.force_edges[name]
    return model, left_out


def write_system(system: System) -> Written:
    """All equations of a system that runs, as it stands, with its numbers."""
    model = Assembly(gravity=tuple(system.gravity.tolist()))
    model.bodies = {name: system.described[name] for stack in system.bodies for name in stack.names}
    return _Writer(model, True, (), system).written()


def write_running(
    system: System, model: Assembly, whole: frozenset[str] = frozenset(), shown: Sequence[int] = ()
) -> Written:
    """All equations of a system that runs, as it stands, with names for the numbers of this model of it.

    `whole`: components, or gravity, all of whose numbers have names, also those that are nothing; `shown`: elements whose motion is
    asked for as well.
    """
    return _Writer(model, False, (), system, whole, booked=True, turning=True).written(shown)


class _Writer:
    """What is known while equations are being written."""

    def __init__(
        self, model: Assembly, numbers: bool, ports: Sequence[str], running: System | None = None,
        whole: frozenset[str] = frozenset(), *, booked: bool = False, turning: bool = False,
    ) -> None:  # fmt: skip
        self.booked = booked  # whether powers are asked for
        self.model = model if running is not None else model.given().copy()
        self.system = assembled(self.model) if running is None else running
        lacking = [stack.names[0] for stack in self.system.bodies if not isinstance(stack, GivesEquations)]
        if lacking:
            raise CouplingError(
                f"body '{lacking[0]}' does not give its equations, because it is computed outside this program; leave "
                "it out."
            )
        self.start = tuple(
            np.concatenate([np.ravel(stack.state()[key]) for stack in self.system.bodies] or [np.empty(0)])
            for key in "qv"
        )
        self.frames = {port: hold_axes(self.system, self.model, port) for port in ports}
        self.parameters = Parameters(numbers=numbers, running=running is not None, whole=whole, turning=turning)
        self.stage = SymbolicSystem(self.system)
        self.coordinates: list[Any] = []
        self.columns: dict[str, slice] = {}
        self._first_look()
        self._name()

    def _first_look(self) -> None:
        """Forces take the lengths and angles at which they are made from where bodies stand: over numbers."""
        stage = self.stage
        stage.at(0.0)
        stage.show()
        for twin, forces in zip(stage.forces, self.system.forces, strict=True):
            for name, row in forces.row.items():
                with stage.told("force", name):
                    _refuse_laws(forces, name, self.model)
                    twin.play("exert", stage.elements, row, row + 1)

    def _name(self) -> None:
        """Symbols for coordinates, their rates, and numbers."""
        gravity = name_gravity(self.parameters, self.system.gravity)
        for twin, stack in zip(self.stage.bodies, self.system.bodies, strict=True):
            known: Any = stack
            labels, n = coordinate_names(known), known.count
            name_bodies(twin, known, self.parameters)
            twin.__dict__["gravity"] = gravity
            shape = twin.q[:n].shape
            own = [[symbol(f"{name}.{label}") for label in labels] for name in known.names]
            for name, row in zip(known.names, own, strict=True):
                self.columns[name] = slice(len(self.coordinates), len(self.coordinates) + len(row))
                self.coordinates += row
            twin.q[:n] = terms(np.array(own, object).reshape(shape))
            twin.v[:n] = terms(np.array([[rate_of(one) for one in row] for row in own], object).reshape(shape))
            _tidy(twin.weights)
        for twin, forces in zip(self.stage.forces, self.system.forces, strict=True):
            for name in forces.row:
                if name in self.model.force_edges:
                    force = self.model.force_edges[name].force
                    name_force(twin, forces, name, force, self.parameters, self.model.dimension)
        for twin in self.stage.joints:
            _tidy(twin.marker)
        self.rates = [rate_of(one) for one in self.coordinates]
        self.rate_of = dict(zip(self.coordinates, self.rates, strict=True))

    def written(self, shown: Sequence[int] = ()) -> Written:
        """Everything, and the motion of some elements."""
        stage = self.stage
        stage.at(Term(TIME))
        stage.show()
        stage.as_terms()
        found = Written(
            self.model, self.coordinates, self.rates, self.columns, self.parameters.values, stage.led, stage.notes
        )
        self.reach: dict[int, list[tuple[int, list[Any]]]] = {}  # by element: column, and a number for each direction
        self.bends: dict[int, list[Any]] = {}
        self.shown = [[expression(x) for x in place] for place in stage.elements.position[: self.system.elements.count]]
        for twin, stack in zip(stage.bodies, self.system.bodies, strict=True):
            self._write_bodies(found, twin, stack)
        for twin, joints in zip(stage.joints, self.system.joints, strict=True):
            for name, row in joints.row.items():
                with stage.told("joint", name):
                    self._write_joint(found, twin, joints, name, row)
        self._write_forces(found)
        found.start, found.taken = self.start, self.parameters.taken
        for port, frame in self.frames.items():
            found.axes[port] = frame.axes([self.shown[element] for element in frame.elements])
        for element in shown:
            found.motions[element] = Motion(
                self.shown[element], self._pace(element), list(self.reach.get(element, ())), self._bend(element)
            )
        return found

    def _write_bodies(self, found: Written, twin: TableTwin, stack: Any) -> None:
        stage, who = self.stage, f"{stack.names[0]}"
        with stage.told("body", who):
            if hasattr(stack, "read_off"):
                twin.play("read_off", stage.elements)
                twin.__dict__["beyond"] = 0.0
            try:
                mass, drive, (errors, _, jacobian), reach = twin.mass(), twin.drive(), twin.closure(), twin.reach()
            except (TypeError, ValueError, AttributeError) as error:
                body = stack.bodies[stack.names[0]]
                raise NoFormula(
                    f"body '{who}' ({type(body).__name__}) has no formulas: its equations are worked out step by step, from "
                    "numbers. Put a rigid body in its place, or leave it out."
                ) from error
            bends = self._bends(twin, jacobian, stack)
        for name, row in stack.row.items():
            own = self.columns[name]
            for (i, j), value in _entries(mass[row], relative=True):
                found.mass[own.start + i, own.start + j] = value
            for (i,), value in _entries(drive[row]):
                found.loads[own.start + i] = value
            found.closing[name] = slice(len(found.constraints), len(found.constraints) + len(errors[row]))
            for m, gap in enumerate(errors[row]):
                r = found.add_row(name, expression(gap))
                for (j,), value in _entries(jacobian[row, m]):
                    found.jacobian[r, own.start + j] = value
                if bends is not None:
                    found.add("gamma", r, -expression(bends[row, m]))
                if hasattr(stack, "read_off"):
                    found.add("gamma", r, expression(twin.asked[row, 2, m]))
                    found.flow[r] = expression(twin.asked[row, 1, m])
        served, owners, blocks = reach
        for element, owner, block in zip(served, owners, blocks, strict=True):
            start = self.columns[stack.names[int(owner)]].start
            kept = self.reach.setdefault(int(element), [])
            for j in range(block.shape[1]):
                column = [expression(tidy(x) if isinstance(x, float) else x) for x in block[:, j]]
                if any(value != 0 for value in column):
                    kept.append((start + j, column))

    def _bends(self, twin: TableTwin, jacobian: Any, stack: Any) -> Any:
        """G' v of internal constraints, which are quadratic forms of coordinates: G v, with rates in place of coordinates."""
        own = self.coordinates[self.columns[stack.names[0]]]
        moves = False
        for slope in (expression(x) for x in jacobian[0].ravel()):
            bent = [slope.diff(one) for one in slope.free_symbols.intersection(own)]
            moves = moves or bool(bent)
            if any(x.free_symbols for x in bent) or (
                slope.xreplace(dict.fromkeys(own, sympy.Integer(0))) != 0 and bent
            ):
                raise NoFormula(
                    f"body '{stack.names[0]}' has internal constraints that are not quadratic in its coordinates, and no "
                    "formula for their second derivatives; replace it by another kind of body."
                )
        if not moves:
            return None
        places = twin.q
        twin.__dict__["q"] = twin.v
        try:
            return twin.closure()[1]
        finally:
            twin.__dict__["q"] = places

    def _write_joint(self, found: Written, twin: TableTwin, joints: Any, name: str, row: int) -> None:
        form, d = joints.form, self.model.dimension
        rows = rows_of(form, joints.marker[row], d)
        starts = int(joints.first[row]), int(joints.second[row])
        elements = [
            start + k for start, count in zip(starts, (form.first, form.second), strict=True) for k in range(count)
        ]
        places = [self.shown[element] for element in elements]
        shown = dict(zip(rows.positions, (x for place in places for x in place), strict=True))
        if form.drives:
            follow = self.stage.led.follow
            follow(joints.marker[row], joints.pieces[row], Term(TIME), 0.0, twin.course[row])
            shown |= dict(zip(rows.courses, (expression(x) for x in twin.course[row, :, :3].ravel()), strict=True))
        moving = None
        found.rows_of[name] = slice(len(found.constraints), len(found.constraints) + form.rows)
        begin = len(found.constraints)
        for m in range(form.rows):
            r = found.add_row(name, rows.errors[m].xreplace(shown), holonomic=form.holonomic)
            if rows.bends[m] != 0:
                moving = moving or dict(zip(rows.velocities, (x for e in elements for x in self._pace(e)), strict=True))
                found.add("gamma", r, -rows.bends[m].xreplace(shown).xreplace(moving))
            driven = m - form.rows + form.drives
            if driven >= 0:
                found.flow[r] = expression(twin.course[row, driven, 1])
                found.add("gamma", r, expression(twin.course[row, driven, 2]))
        second = [self.shown[starts[1] + k] for k in range(form.second)]
        first = [self.shown[starts[0] + k] for k in range(form.first)]
        held = found.held[name] = Held(first, second, {})
        found.drives[name] = form.drives
        if self.booked:
            paces = found.paces[name] = ({}, {})
            for (m, side, k, c), slope in rows.slopes.items():
                along = slope.xreplace(shown) * self._pace(starts[side] + k)[c]
                paces[side][begin + m] = paces[side].get(begin + m, sympy.Integer(0)) + along
        for (m, side, k, c), slope in rows.slopes.items():
            value, element = slope.xreplace(shown), starts[side] + k
            if side == 1:
                held.slopes[m, k, c] = value
            for column, along in self.reach.get(element, ()):
                if along[c] != 0:
                    found.add("jacobian", (begin + m, column), value * along[c])
            bend = self._bend(element)
            if bend and bend[c] != 0:
                found.add("gamma", begin + m, -value * bend[c])

    def _pace(self, element: int) -> list[Any]:
        """Velocity of an element."""
        return [expression(x) for x in self.stage.elements.velocity[element]]

    def _bend(self, element: int) -> list[Any]:
        """Acceleration of an element whose body's coordinates do not accelerate; nothing where it follows them in proportion."""
        if element not in self.bends:
            total = [sympy.Integer(0)] * self.model.dimension
            for column, along in self.reach.get(element, ()):
                for c, slope in enumerate(along):
                    for one in slope.free_symbols & self.rate_of.keys():
                        total[c] += slope.diff(one) * self.rate_of[one] * self.rates[column]
            self.bends[element] = total if any(x != 0 for x in total) else []
        return self.bends[element]

    def _write_forces(self, found: Written) -> None:
        stage, system = self.stage, self.system
        stage.elements.force[...] = 0.0
        for twin, forces in zip(stage.forces, system.forces, strict=True):
            for name, row in forces.row.items():
                with stage.told("force", name):
                    twin.play("exert", stage.elements, row, row + 1)
                found.stored[name] = expression(twin.ledger[row, STORED])
                for column in getattr(forces, "turning", ()) if self.parameters.turning else ():
                    found.turned[f"{name}.{TURNED}_{column}"] = expression(twin.tried[row, column])
                pushes = found.pushes.setdefault(name, {})
                home = system.force_home[name]
                powers = found.powers[name] = {DISSIPATED: expression(twin.power[row])} if self.booked else {}
                if self.booked and twin.drawn.shape[1]:
                    powers[SUPPLIED] = expression(twin.drawn[row, 0])
                for line, (start, count) in enumerate(zip(home.starts, home.counts, strict=True)):
                    for element in range(start, start + count):
                        force = [expression(x) for x in stage.elements.force[element]]
                        if self.booked:
                            work = sum(f * u for f, u in zip(force, self._pace(element), strict=True))
                            powers[line] = powers.get(line, 0) + work
                        for column, along in self.reach.get(element, ()):
                            push = sum((f * b for f, b in zip(force, along, strict=True) if b != 0), sympy.Integer(0))
                            if push != 0:
                                found.add("loads", column, push)
                                pushes[column] = pushes.get(column, sympy.Integer(0)) + push


def _tidy(numbers: Any) -> None:
    """Take out of geometry what rounding made of nothing."""
    for place, value in np.ndenumerate(numbers):
        if not isinstance(value, Term):
            numbers[place] = tidy(float(value))


def _refuse_laws(forces: Any, name: str, model: Assembly) -> None:
    if name in model.force_edges and model.force_edges[name].force.sums:
        raise NoFormula(
            f"force '{name}' goes by a sum over time, which is no place and no velocity; set its integral gain to 0, or take "
            "Glued(4)."
        )
    if name in getattr(forces, "laws", {}):
        raise NoFormula(f"force '{name}' is a law in Python, which has no formula; give numbers, or leave it out.")
    if isinstance(forces, Decides):
        raise NoFormula(
            f"force '{name}' is set by a program at intervals and held between, which is not a formula; leave it out, "
            "or put springs and dampers in its place."
        )
    remembers = any(getattr(forces, mark, False) for mark in ("forward_only", "begins_and_ends", "slips"))
    if "exert" not in forces.loops or remembers:
        raise NoFormula(
            f"force '{name}' has no formula: what it does depends on what it did before, or is decided in Python; leave it out, or "
            "put a spring in its place."
        )


def _entries(values: Any, *, relative: bool = False) -> Any:
    """Places and expressions of an array, without nothing and what rounding made of it."""
    least = 0.0
    if relative:
        numbers = [abs(x) for x in values.ravel() if not isinstance(x, Term)]
        least = 1e-15 * max(numbers, default=0.0)
    for place, value in np.ndenumerate(values):
        if isinstance(value, Term):
            if value.expression != 0:
                yield place, value.expression
        elif abs(value) > least:
            yield place, exact(float(value))
