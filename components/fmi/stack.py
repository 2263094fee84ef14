"""The stack of bodies that FMUs move: what they offer a coupling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from components.fmi.body import TAIL, Fmu
from components.fmi.moved_stepper import stepper_of
from components.fmi.port import axes_of, cross, moment, way_between
from components.fmi.stepper import Stepper
from modular.body import Body
from modular.elements import GAIN_STEP, STEP, Array, Elements
from modular.errors import ModelError
from modular.internal_gains import InternalGains
from modular.newmark import Newmark
from modular.port import PortName
from modular.side import Mark, Side

POINT, DIRECTION = 1.0, 0.0
GLUED = (
    "drift", "accept_step", "kick", "save_start", "restore_start", "invalidate", "respond_ahead", "apply_impulse",
    "show_end_velocity",
)  # fmt: skip
SAVED = ("save", "restore")
STANDS = ("pose", "twist", "slope", "force", "work")
ROUNDING = 1e-12  # of velocities: impulses that change no more are none


class FmuSide(Side):
    """A port of an FMU as it stands now."""

    def __init__(self, stepper: Stepper, name: str, port: PortName) -> None:
        self.owner, self.name = name, str(port)
        self._port = list(stepper.body.ports).index(port.port)
        pose, d, w = stepper.pose[self._port], stepper.map.d, stepper.map.width
        self._turns = stepper.ports[self._port].turns
        self._axes = axes_of(pose)
        self.position = pose[:d].copy()
        start = self._port * w
        self.velocity, self.acceleration = (
            stepper.twist[start : start + d].copy(),
            stepper.slope[start : start + d].copy(),
        )

    @property
    def frame(self) -> Array:
        """Axes of the port as rows."""
        return self._axes.T

    @property
    def directions(self) -> Array:
        """All, where it has an orientation."""
        return np.eye(len(self.position)) if self._turns else np.zeros((0, len(self.position)))

    def point(self, x: Array) -> Mark | None:
        """The material point that stands at `x`; a port without orientation is one point."""
        arm = self._axes.T @ (np.asarray(x, float) - self.position)
        if not self._turns and np.abs(arm).max() > 1e-9 * max(1.0, float(np.abs(self.position).max())):
            return None
        return Mark(np.array([self._port, POINT, *(arm if self._turns else 0.0 * arm)]), np.array(x, float))

    def direction(self, u: Array) -> Mark | None:
        """The direction along `u`, fixed to the port."""
        if not self._turns:
            return None
        return Mark(np.array([self._port, DIRECTION, *(self._axes.T @ np.asarray(u, float))]), np.array(u, float))


class Fmus:
    """FMUs with equally many ports, one row each."""

    forward_only = True  # no FMU takes a step back in time
    idle_verbs = ("accept_step", "invalidate")  # of those it offers: nothing is done for them

    def __init__(self, dimension: int, ports: int, outputs: int, saves: bool, serialises: bool) -> None:
        """`saves`: whether all can take a step again; `serialises`: whether they can write their states down."""
        self.names: list[str] = []
        self.row: dict[str, int] = {}
        self.gravity: Array = np.zeros(dimension)
        width = ports * (3 if dimension == 2 else 7) + TAIL + outputs
        self._shape = dimension, ports, outputs, saves, serialises
        offered = (*(GLUED if saves else ()), *(SAVED if serialises else ()))
        self.__dict__.update({verb: getattr(self, f"_{verb}") for verb in offered})
        self.steppers: list[Stepper] = []
        self.held: list[list[tuple[int, Mark]]] = []  # elements of each, in their order
        self._rows = {key: np.zeros((0, width)) for key in "qva"}
        self._dt = 0.0

    # --- coming and going --------------------------------------------------------------------------------------------

    def add(self, name: str, body: Body) -> None:
        """Instantiate an FMU."""
        assert isinstance(body, Fmu)
        stepper = stepper_of(name, body, self.gravity)
        stepper.dt = self._dt
        self.row[name] = len(self.names)
        self.names.append(name)
        self.steppers.append(stepper)
        self.held.append([])
        self._rows = {key: np.vstack([rows, np.zeros(rows.shape[1])]) for key, rows in self._rows.items()}
        self._record(self.row[name])

    def remove(self, name: str) -> None:
        """Let it go."""
        k = self.row[name]
        self.steppers[k].fmus.close()
        del self.names[k], self.steppers[k], self.held[k]
        self._rows = {key: np.delete(rows, k, axis=0) for key, rows in self._rows.items()}
        self.row = {name: k for k, name in enumerate(self.names)}

    def one(self, name: str) -> Self:
        """The same stack narrowed to one row, to look at."""
        k = self.row[name]
        view = object.__new__(type(self))
        view.__dict__.update({key: value for key, value in self.__dict__.items() if key not in (*GLUED, *SAVED)})
        view.names, view.row = [name], {name: 0}
        view.steppers, view.held = [self.steppers[k]], [self.held[k]]
        view._rows = {key: rows[k : k + 1] for key, rows in self._rows.items()}
        return view

    def __deepcopy__(self, memo: Any) -> Fmus:
        """Another stack with FMUs of its own, which stand as these do."""
        if not hasattr(self, "save"):
            raise ModelError(f"body '{self.names[0]}' cannot be copied: {self.steppers[0].fmus.missing_bytes}.")
        made = type(self)(*self._shape)
        made.gravity, made._dt = self.gravity.copy(), self._dt
        for name, stepper in zip(self.names, self.steppers, strict=True):
            made.add(name, stepper.body)
        made.held = [list(held) for held in self.held]
        made._restore(self._save())
        for stepper, other in zip(made.steppers, self.steppers, strict=True):
            stepper.settings = other.settings
        return made

    def side(self, name: str, port: PortName) -> Side:
        """A port as a joint sees it now."""
        return FmuSide(self.steppers[self.row[name]], name, port)

    def attach(self, name: str, element: int, mark: Mark) -> None:
        """Show a point or direction from now on."""
        self.held[self.row[name]].append((element, mark))

    def detach(self, name: str, element: int) -> None:
        """Stop doing so."""
        k = self.row[name]
        self.held[k] = [(row, mark) for row, mark in self.held[k] if row != element]

    def state(self) -> Mapping[str, Array]:
        """Poses and twists of ports, energies, work and outputs."""
        return self._rows

    def command(self, name: str, variable: str, value: float) -> None:
        """An input of its FMU is so from now on, until it is commanded otherwise."""
        k = self.row[name]
        self.steppers[k].command(variable, value)
        self._record(k)

    def _record(self, k: int) -> None:
        for key, values in zip("qva", self.steppers[k].row(), strict=True):
            self._rows[key][k] = values

    @property
    def why_not(self) -> str:
        """Why a step cannot be taken again; nothing where it can."""
        return next((why for stepper in self.steppers if (why := stepper.fmus.missing_state)), "")

    # --- elements ----------------------------------------------------------------------------------------------------

    def _points(self, k: int, pose: Array, twist: Array) -> Any:
        """Every element of a body at a pose: its row, arm or direction, place and rate."""
        d, w = self.steppers[k].map.d, self.steppers[k].map.width
        axes = [axes_of(one) for one in pose]
        for row, mark in self.held[k]:
            port = int(mark.weights[0])
            arm = axes[port] @ mark.weights[2:]
            spin = twist[port * w + d : (port + 1) * w]
            rate = cross(spin, arm)
            if mark.weights[1] == POINT:
                yield row, port, arm, pose[port, :d] + arm, twist[port * w : port * w + d] + rate
            else:
                yield row, port, arm, arm, rate

    def _show(self, k: int, elements: Elements, pose: Array, twist: Array) -> None:
        for row, _, _, x, v in self._points(k, pose, twist):
            elements.position[row], elements.velocity[row] = x, v

    def _wrench(self, k: int, elements: Elements, pose: Array) -> Array:
        """Forces on the elements as forces and moments on the ports."""
        stepper = self.steppers[k]
        d, w = stepper.map.d, stepper.map.width
        found = np.zeros(len(stepper.still))
        for (row, port, arm, _, _), (_, mark) in zip(self._points(k, pose, stepper.still), self.held[k], strict=True):
            force, start = elements.force[row], port * w
            if mark.weights[1] == POINT:
                found[start : start + d] += force
            found[start + d : start + w] += moment(arm, force)
        return found

    def _respond(self, k: int, elements: Elements, pose: Array, root: Array) -> None:
        stepper = self.steppers[k]
        d, w = stepper.map.d, stepper.map.width
        for (row, port, arm, _, _), (_, mark) in zip(self._points(k, pose, stepper.still), self.held[k], strict=True):
            start = port * w
            rows = np.array([cross(spin, arm) for spin in root[start + d : start + w].T]).T
            if mark.weights[1] == POINT:
                rows = rows + root[start : start + d]
            elements.response[row] = 0.0
            elements.response[row, :, : rows.shape[1]] = rows

    # --- between springs ---------------------------------------------------------------------------------------------

    def configure(self, newmark: Newmark, internal: InternalGains, dt: float) -> None:
        """Take the settings of the scheme."""
        for stepper in self.steppers:
            stepper.settings = newmark.beta, newmark.gamma
            if np.isfinite(dt):
                stepper.dt = self._dt = dt

    def predict(self, elements: Elements, dt: float) -> None:
        """Show the ports as they are predicted."""
        for k, stepper in enumerate(self.steppers):
            if stepper.steps_by_answers:
                self._refresh(stepper, elements)
            stepper.foreseen = stepper.predicted(dt)
            self._show(k, elements, *stepper.foreseen)
            for row, _, _, _, v in self._points(k, stepper.pose, stepper.twist + dt * stepper.slope):
                elements.current_velocity[row] = v

    def correct(self, elements: Elements, dt: float) -> str | None:
        """Take the step under the forces on the elements."""
        wrong = None
        for k, stepper in enumerate(self.steppers):
            stepper.advance(self._wrench(k, elements, stepper.foreseen[0]), dt)
            self._record(k)
            if not all(np.isfinite(rows[k]).all() for rows in self._rows.values()):
                wrong = wrong or self.names[k]
        self.show(elements)
        return wrong

    def show(self, elements: Elements) -> None:
        """Show the ports where they stand."""
        for k, stepper in enumerate(self.steppers):
            self._show(k, elements, stepper.pose, stepper.twist)

    def reevaluate(self, elements: Elements, names: Sequence[str]) -> None:
        """Accelerations where they stand."""
        for k, stepper in enumerate(self.steppers):
            if self.names[k] in names:
                stepper.dt = stepper.dt or float(elements.clock[GAIN_STEP])
                stepper.reevaluate(self._wrench(k, elements, stepper.pose))
                self._record(k)

    def respond(self, elements: Elements, *, constrained: bool = True) -> None:
        """Say how forces are answered where they stand."""
        for k, stepper in enumerate(self.steppers):
            if stepper.begin is not None and not stepper.over:  # within a step of glued joints
                stepper.answers_at_end(float(elements.clock[STEP]))
                self._respond(k, elements, stepper.ahead, stepper.root)
                continue
            h = self._length(stepper, elements)
            if stepper.ticks:  # somebody looks, between two ticks
                root = stepper.answers(h)[1]
            else:
                stepper.measure(h)
                root = stepper.root
            self._respond(k, elements, stepper.pose, root)

    def respond_predicted(self, elements: Elements) -> None:
        """The same where they are predicted."""
        for k, stepper in enumerate(self.steppers):
            if not stepper.steps_by_answers:
                self._refresh(stepper, elements)
            self._respond(k, elements, stepper.foreseen[0], stepper.root)

    def _refresh(self, stepper: Stepper, elements: Elements) -> None:
        """Measure how it answers, once in so many ticks: always in the same ones, whoever looks between them."""
        if stepper.ticks - stepper.since >= stepper.body.refresh or not stepper.root.any():
            stepper.measure(self._length(stepper, elements))
            stepper.since = stepper.ticks

    def _length(self, stepper: Stepper, elements: Elements) -> float:
        """Of the steps by which it is measured."""
        h = float(elements.clock[STEP]) or float(elements.clock[GAIN_STEP]) or self._dt
        stepper.dt = stepper.dt or h
        if not stepper.fmus.variable_step or h <= 0.0:
            h = stepper.dt
        return h

    def bound_demands(self, elements: Elements) -> None:
        """The largest eigenvalue of what joints ask."""
        for held in self.held:
            rows = [row for row, _ in held]
            if rows:
                elements.bound[rows] = np.linalg.eigvalsh(elements.demand[rows].sum(axis=0))[-1]

    def push(self, name: str, impulses: Mapping[int, Array], elements: Elements) -> float:
        """No FMU is struck: refused."""
        if all(np.abs(impulse).max(initial=0.0) == 0.0 for impulse in impulses.values()):
            return 0.0
        raise ModelError(_stroke(name))

    def shift(self, name: str, velocity: Array) -> float:
        """The same."""
        if np.abs(velocity).max(initial=0.0) == 0.0:
            return 0.0
        raise ModelError(_stroke(name))

    # --- between glued joints, where all can save their states ---------------------------------------------------------

    def _drift(self, elements: Elements, step: float) -> str | None:
        for k, stepper in enumerate(self.steppers):
            before = stepper.before[0] if stepper.begin is not None and not stepper.over else stepper.pose
            pose = stepper.drift(self._wrench(k, elements, before), step)
            half = np.concatenate([way_between(a, b) for a, b in zip(before, pose, strict=True)]) / step
            self._show(k, elements, pose, half)
            if not np.isfinite(pose).all():
                return self.names[k]
        return None

    def _accept_step(self, elements: Elements) -> None:
        """The step is repeated once more, for its kick."""

    def _kick(self, elements: Elements, step: float) -> str | None:
        wrong = None
        for k, stepper in enumerate(self.steppers):
            stepper.kick(self._wrench(k, elements, stepper.ahead), step)
            self._show(k, elements, stepper.ahead, stepper.twist)
            self._record(k)
            if not all(np.isfinite(rows[k]).all() for rows in self._rows.values()):
                wrong = wrong or self.names[k]
        return wrong

    def _save_start(self, elements: Elements) -> None:
        for stepper in self.steppers:
            if stepper.over:
                stepper.drop()
            if stepper.origin is not None:
                stepper.fmus.forget(stepper.origin[0])
            stepper.origin = stepper.fmus.save(), {key: getattr(stepper, key) for key in (*STANDS, *stepper.more)}

    def _restore_start(self, elements: Elements) -> None:
        for stepper in self.steppers:
            stepper.drop()
            stepper.fmus.restore(stepper.origin[0])
            vars(stepper).update(stepper.origin[1])

    def _invalidate(self, elements: Elements) -> None:
        """Nothing is kept that could be."""

    def _respond_ahead(self, elements: Elements) -> None:
        for k, stepper in enumerate(self.steppers):
            self._respond(k, elements, stepper.ahead, stepper.answers_ahead(float(elements.clock[STEP])))

    def _apply_impulse(self, elements: Elements) -> None:
        for k, stepper in enumerate(self.steppers):
            impulse = self._wrench(k, elements, stepper.pose)
            jump = np.abs(stepper.compliance @ impulse).max(initial=0.0)
            if jump > ROUNDING * max(1.0, float(np.abs(stepper.twist).max(initial=0.0))):
                stepper.strike(impulse)
            self._show(k, elements, stepper.pose, stepper.twist)
            self._record(k)

    def _show_end_velocity(self, elements: Elements) -> None:
        for k, stepper in enumerate(self.steppers):
            for row, _, _, _, v in self._points(k, stepper.pose, stepper.twist + elements.clock[STEP] * stepper.slope):
                elements.current_velocity[row] = v

    # --- as data -----------------------------------------------------------------------------------------------------

    def _save(self) -> dict[str, Any]:
        return {
            name: {
                "machine": stepper.fmus.as_data(),
                **{key: getattr(stepper, key).copy() for key in stepper.kept}, "work": stepper.work,
                "ticks": stepper.ticks, "since": stepper.since, "beta": stepper.beta,
            }
            for name, stepper in zip(self.names, self.steppers, strict=True)
        }  # fmt: skip

    def _restore(self, memory: Mapping[str, Any]) -> None:
        for k, (name, stepper) in enumerate(zip(self.names, self.steppers, strict=True)):
            kept = memory[name]
            stepper.drop()
            stepper.fmus.take_data(kept["machine"])
            for key in stepper.kept:
                setattr(stepper, key, np.array(kept[key]))
            stepper.work, stepper.ticks, stepper.since = float(kept["work"]), int(kept["ticks"]), int(kept["since"])
            stepper.beta = float(kept["beta"])
            self._record(k)


def _stroke(name: str) -> str:
    return (
        f"body '{name}': this event needs a jump of its velocity, but an FMU is moved by forces alone. Begin with "
        "velocities that fit its joints (parameters of the FMU), join it where it moves alike, or put a body of ours "
        "between."
    )
