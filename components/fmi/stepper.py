"""One FMU that moves as a body: its step under forces, by the scheme of a coupling, and how it answers them.

Between springs (`Penalty`) it is predicted from its last acceleration, and takes one step under a force that changes linearly.
Between glued joints it takes the same step again and again, each time from its saved state: under the reactions that close the
joints where it leads (`drift`), then with those at its end that stop them (`kick`). An FMU whose forces are held in a step is
taken through a kick in two halves, with F1 = (3 F - F')/2 and F2 = (3 F' - F)/2: a free mass then stands where F leads, and has
the velocity of (F + F')/2, as in RATTLE. How it answers forces (Séguy 2003, I.3.5: unit forces at the joint) is measured by
steps that are taken back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from components.fmi.body import KINETIC, POTENTIAL, TAIL, WORK, Fmu
from components.fmi.fmu_system import FmuSystem
from components.fmi.port import PortMap, PowerPort, axes_of, moved, way_between
from components.fmi.watch import Pace
from modular.elements import Array
from modular.errors import CouplingError, ModelError

UNIT = 1.0  # force [N] and moment [N m] by which answers are measured
SETTLE = "settle"  # input of our own FMUs: forces have jumped, find accelerations anew
KNOWN_BETAS, NEAR_BETA = (0.0, 0.25, 1.0 / 6.0), 0.02
LEAST_ANSWER = 1e-12  # of the largest: motions that no force makes
BACK = 1e-12  # of its place: how near it must stand again
AGAINST = 1e-3  # of the largest: so much does a step turn what a joint within holds


def fmus_and_ports(name: str, body: Fmu) -> tuple[FmuSystem, list[PowerPort]]:
    """The FMUs of a body, instantiated, and its ports by the names of their variables."""
    what = f"body '{name}'"
    try:
        fmus = FmuSystem(body.files, body.connections, body.interface, body.parameters, time_limit=body.time_limit)
        problems, ports = [], []
        for port, given in body.ports.items():
            found = given if isinstance(given, PowerPort) else PowerPort.called(given, fmus, body.dimension)
            problems += found.problems(f"port '{name}.{port}'")
            problems += found.check_units(f"port '{name}.{port}'", fmus)
            ports.append(found)
        if problems:
            raise ModelError("\n".join(problems))
    except ModelError as error:
        raise ModelError(f"{what}: {error}" if f"'{name}" not in str(error) else str(error)) from error
    return fmus, ports


class Stepper:
    """What runs of one body."""

    mapping: ClassVar[Any] = PortMap
    kept: ClassVar[tuple[str, ...]] = (
        "pose",
        "twist",
        "slope",
        "force",
        "free",
        "compliance",
        "root",
    )  # what it remembers
    more: ClassVar[tuple[str, ...]] = ()  # of that, where it stands beside the motion and forces of its ports

    def __init__(self, name: str, body: Fmu, opened: tuple[FmuSystem, list[PowerPort]] | None = None) -> None:
        """`opened`: what `fmus_and_ports` has found."""
        self.name, self.body = name, body
        what = f"body '{name}'"
        self.fmus, ports = fmus_and_ports(name, body) if opened is None else opened
        try:
            self.map: Any = self.mapping(self.fmus, ports, what)
            for port, one in zip(body.ports, ports, strict=True):
                for variable in one.told(self.fmus):
                    self.fmus.claim(variable, f"port '{port}'", what)
            energies = [variable for variable in (body.kinetic, body.potential) if variable]
            self._check_energies(energies, what)
            self.told = self.fmus.signals([*energies, *body.outputs], what, discrete=True)
            self.fmus.follow(body.signals, what)
            self.settles = self.fmus.signals([SETTLE], what) if self.fmus.has(SETTLE) else None
        except ModelError as error:
            raise ModelError(f"{what}: {error}" if what not in str(error) else str(error)) from error
        self.ports = ports
        self.still = np.zeros(self.map.count * self.map.width)
        self.force = self.still.copy()  # on all ports, at the end of the last step
        self.free = self.still.copy()  # acceleration without forces on the ports, as the last step showed it
        self.work, self.ticks, self.since = 0.0, 0, 0
        self.dt = 0.0
        self.settings = (0.25, 0.5)  # beta and gamma of Newmark
        # what of a force at the end of a step its place there shows, x += beta h^2 a; -1: as the settings say
        self.beta = -1.0
        self.compliance = np.zeros((len(self.still), len(self.still)))
        self.root = self.compliance
        self.begin: Any = None  # saved state at which the present step began
        self.over = False  # whether that step has been kicked to its end
        self.foreseen: tuple[Array, Array] = np.zeros(0), np.zeros(0)  # pose and twist as they are predicted
        self.origin: Any = None  # what `restore_start` goes back to
        self.pace = Pace(self.map.count, self.map.d)
        self.start(self.still)

    def _check_energies(self, names: list[str], what: str) -> None:
        """Energies are in units of energy."""
        for name in names:
            variable = self.fmus.variable(name, what)
            declared = variable.exponents or ()
            if variable.causality in ("input", "parameter") or (any(declared) and declared[:3] != (1, 2, -2)):
                raise ModelError(
                    f"{what}: '{name}' ({variable.causality}, in {variable.unit or 'no unit'}) is no energy that the FMU shows; "
                    "name outputs in units of energy as kinetic and potential."
                )

    # --- where it stands ---------------------------------------------------------------------------------------------

    def start(self, force: Array) -> None:
        """At time 0, with forces on its ports."""
        inputs = [(self.map.inputs, force[self.map.inputs_at])]
        self.fmus.begin(inputs)
        self.pose, self.twist, slope = self.map.read()
        self.slope = slope
        self.force = force.copy()

    @property
    def steps_by_answers(self) -> bool:
        """Whether a step depends on how it answers forces."""
        return not self.map.accelerates

    @property
    def saves(self) -> bool:
        """Whether it can take a step again."""
        return self.fmus.missing_state is None

    def row(self) -> tuple[Array, Array, Array]:
        """Its coordinates, velocities and accelerations, for the record."""
        width, rest = self.map.pose_width, TAIL + len(self.body.outputs)
        found = []
        for values in (self.twist, self.slope):
            rates = np.zeros((self.map.count, width))
            rates[:, : self.map.width] = values.reshape(self.map.count, -1)
            found.append(np.concatenate([rates.ravel(), np.zeros(rest)]))
        told = self.fmus.ask(self.told) if self.told.count else np.zeros(0)
        tail = np.zeros(rest)
        given = iter(told)
        if self.body.kinetic:
            tail[KINETIC] = next(given)
        if self.body.potential:
            tail[POTENTIAL] = next(given)
        tail[WORK] = self.work
        tail[TAIL:] = list(given)
        return np.concatenate([self.pose.ravel(), tail]), found[0], found[1]

    def predicted(self, h: float) -> tuple[Array, Array]:
        """Pose and twist h from now, as Newmark's scheme predicts them."""
        beta, gamma = self.settings if self.beta < 0.0 else (self.beta, self.settings[1])
        way = (h * self.twist + (0.5 - beta) * h * h * self.slope).reshape(self.map.count, -1)
        return np.array([moved(pose, step) for pose, step in zip(self.pose, way, strict=True)]), (
            self.twist + (1.0 - gamma) * h * self.slope
        )

    def command(self, variable: str, value: float) -> None:
        """An input is so from now on."""
        self.drop()
        self.fmus.command(variable, value, f"body '{self.name}'")
        if self.map.accelerates:
            self._read()

    # --- between springs ---------------------------------------------------------------------------------------------

    def advance(self, force: Array, h: float) -> None:
        """One step, at whose end these forces act."""
        self.drop()
        before, twist = self.pose, self.twist
        self.map.tell(self.force, force, h)
        self.fmus.step(h)
        self._read()
        mean, way = 0.5 * (self.force + force), self._way(before, self.pose)
        self.work += float(mean @ way)
        self._watch(way, twist, h)
        if not self.map.accelerates:
            self.free = (self.twist - twist) / h - self.compliance @ mean
            self.slope = self.compliance @ force + self.free
        self.force = force.copy()
        self.ticks += 1

    def _watch(self, way: Array, twist: Array, h: float) -> None:
        """A step has been taken, from a twist."""
        self.pace.add(way, twist, self.twist, h)
        self.pace.check(self.name, list(self.body.ports))

    def _read(self) -> None:
        pose, twist, slope = self.map.read()
        self.pose, self.twist = pose, twist
        if self.map.accelerates:
            self.slope = slope

    def _way(self, before: Array, after: Array) -> Array:
        return np.concatenate([way_between(a, b) for a, b in zip(before, after, strict=True)])

    def reevaluate(self, force: Array) -> None:
        """Accelerations where it stands, under forces that may have jumped."""
        if self.settles is not None:
            self.map.tell(force, force, self.dt or 1.0)
            self.fmus.tell(self.settles, np.ones(1))
            self._read()
        elif self.ticks == 0:
            self.start(force)
            if not self.map.accelerates:
                self.slope = self._tried_slope(force)
                self.free = self.slope - self.compliance @ force
                self.start(force)
        elif not self.map.accelerates:
            self.slope = self.compliance @ force + self.free
        self.force = force.copy()

    def _tried_slope(self, force: Array) -> Array:
        """The mean acceleration in a first step that is taken back; the FMU stands at the end of it."""
        h = self.dt
        if not h:
            return self.still.copy()
        before = self.twist.copy()
        self.map.tell(force, force, h)
        self.fmus.step(h)
        _, twist, _ = self.map.read()
        return np.asarray((twist - before) / h)

    # --- how it answers forces ---------------------------------------------------------------------------------------

    def measure(self, h: float) -> None:
        """Keep how it answers from here on; a step depends on it where the FMU shows no accelerations."""
        self.compliance, self.root = self.answers(h)
        if not self.ticks:
            self.first = self.compliance

    def answers(self, h: float) -> tuple[Array, Array]:
        """Accelerations per unit force on its ports where it stands, and a square root of them; looking changes nothing.

        From steps of h that are taken back, or from fresh starts.
        """
        if self.saves:
            saved = self.fmus.save()
            found = self._unit_steps(partial(self.fmus.restore, saved), self.force, h)
            self.fmus.restore(saved)
            self.fmus.forget(saved)
            if not self.ticks:
                self._check_back("its state was given back (canGetAndSetFMUState)")
        elif self.ticks == 0:
            force = self.force.copy()
            given = [(self.map.inputs, force[self.map.inputs_at])]
            found = self._unit_steps(partial(self.fmus.begin, given), force, h)
            pose = self.pose.copy()
            self.start(force)
            self.pose, began = pose, self.pose
            self._check_back("it was reset and began again")
            self.pose = began
            self.axes = [axes_of(pose) for pose in self.pose]
        else:
            found = self._turned()
        return self._checked(found)

    def _check_back(self, what: str) -> None:
        """Refuse an FMU that does not stand again where it stood."""
        apart = float(np.abs(self._way(self.pose, self.map.read()[0])).max(initial=0.0))
        if apart > BACK * max(1.0, float(np.abs(self.pose).max())):
            raise ModelError(
                f"body '{self.name}': '{self.body.called}' stands {apart:.3g} m or rad from where it stood, after {what}. Steps of "
                "such an FMU cannot be taken again."
            )

    def _unit_steps(self, again: Callable[[], None], force: Array, h: float) -> Array:
        """Columns of the compliance: what one step shows under unit forces at its end, over what it shows without."""
        found = np.zeros_like(self.compliance)
        slopes, poses = [], []
        for row in [None, *self.map.inputs_at]:
            again()
            end = force.copy()
            if row is not None:
                end[row] += UNIT
            self.map.tell(force, end, h)
            self.fmus.step(h)
            pose, twist, slope = self.map.read()
            poses.append(pose)
            slopes.append(slope.copy() if self.map.accelerates else twist * (2.0 / h))
        for row, slope in zip(self.map.inputs_at, slopes[1:], strict=True):
            found[:, row] = (slope - slopes[0]) / UNIT
        if self.map.accelerates and not self.ticks:
            self.beta = self._seen_in_place([self._way(poses[0], pose) / UNIT for pose in poses[1:]], found, h)
        return found

    def _seen_in_place(self, ways: list[Array], answers: Array, h: float) -> float:
        """What of a force at the end of a step the place there shows.

        Nothing within glued joints, a quarter between springs, a sixth where a force that changes linearly is integrated. The
        prediction leaves out as much: only then is the place that joints see the one to which the last forces have led, and their
        springs bear the step as beside bodies of ours (central differences of the predicted places, whatever beta is).
        """
        columns = answers[:, self.map.inputs_at].T
        total = float(np.sum(columns * columns))
        share = float(np.sum(np.array(ways) * columns)) / (h * h * total) if total > 0.0 else 0.25
        return next((known for known in KNOWN_BETAS if abs(share - known) < NEAR_BETA), min(max(share, 0.0), 0.5))

    def _turned(self) -> Array:
        """The compliance that was measured at the start, turned with each port since."""
        if not hasattr(self, "first"):
            return self.compliance
        turn = np.zeros_like(self.compliance)
        d, w = self.map.d, self.map.width
        for k, (pose, start) in enumerate(zip(self.pose, self.axes, strict=True)):
            r = axes_of(pose) @ start.T
            turn[k * w : k * w + d, k * w : k * w + d] = r
            turn[k * w + d : (k + 1) * w, k * w + d : (k + 1) * w] = r if d == 3 else 1.0
        return np.asarray(turn @ self.first @ turn.T)

    def _checked(self, found: Array) -> tuple[Array, Array]:
        """A compliance is symmetric, and no force does negative work in it."""
        if not np.isfinite(found).all():
            raise ModelError(
                f"body '{self.name}': its FMU answers unit forces with values that are not finite numbers."
            )
        compliance = 0.5 * (found + found.T)
        values, vectors = np.linalg.eigh(compliance)
        if not values[-1] > 0.0:
            raise ModelError(
                f"body '{self.name}': '{self.body.called}' does not move under a force on its ports: unit forces change nothing "
                "in a step. Are the variables of its force inputs right?"
            )
        if values[0] < -AGAINST * values[-1]:
            raise ModelError(
                f"body '{self.name}': '{self.body.called}' moves against a force on a port (answers from {values[0]:.3g} to "
                f"{values[-1]:.3g} m/s² per N). Force and moment must act on the FMU, in the axes of its position and velocity."
            )
        values = np.where(values > LEAST_ANSWER * values[-1], values, 0.0)
        return compliance, vectors * np.sqrt(values)

    # --- between glued joints ----------------------------------------------------------------------------------------

    def hold_begin(self) -> None:
        """Remember where the step begins."""
        if self.over:
            self.drop()
        if self.begin is None:
            self.begin = self.fmus.save()
            self.before = self.pose.copy(), self.twist.copy(), self.force.copy(), self.work
        else:
            self.fmus.restore(self.begin)

    def drift(self, force: Array, h: float) -> Array:
        """Under a force that is held for the whole step: poses to which it leads."""
        self.hold_begin()
        self._through(force, force, h)
        self.held = force.copy()
        self.ahead, self.ahead_twist, _ = self.map.read()
        return np.asarray(self.ahead)

    def _through(self, start: Array, end: Array, h: float) -> None:
        """A step whose first half is moved by one force and whose second by another: its place is as under the first.

        Of a force that changes linearly from f to g the place shows (1/2 - beta) f + beta g, and the velocity (f + g) / 2.
        """
        if self.map.rates is not None or np.array_equal(start, end):
            beta = max(self.beta, 0.0)
            if self.map.accelerates and abs(0.5 - 2.0 * beta) <= NEAR_BETA and not np.array_equal(start, end):
                raise CouplingError(
                    f"body '{self.name}': '{self.body.called}' moves by Newmark's scheme, as between springs: its place shows "
                    "the mean of the forces at both ends of a step, and between glued joints it would be of first order. Export it "
                    "with coupling=Glued() (modular export-fmu --coupling glued), or hold it by springs (Penalty)."
                )
            if abs(0.5 - 2.0 * beta) > NEAR_BETA:
                begins = (0.5 * start - beta * (start + end)) / (0.5 - 2.0 * beta)
                start, end = begins, start + end - begins
            self.map.tell(start, end, h)
            self.fmus.step(h)
            return
        if not self.fmus.variable_step:
            raise CouplingError(
                f"body '{self.name}': '{self.body.called}' takes steps of one length only "
                "(canHandleVariableCommunicationStepSize = false), and has no force_rate: it cannot be glued. Take Penalty."
            )
        for force in (0.5 * (3.0 * start - end), 0.5 * (3.0 * end - start)):
            self.map.tell(force, force, 0.5 * h)
            self.fmus.step(0.5 * h)

    def kick(self, force: Array, h: float) -> None:
        """The same step with another force at its end."""
        self.fmus.restore(self.begin)
        self._through(self.held, force, h)
        pose, twist, _, work = self.before
        self._read()
        half = self._way(pose, self.pose) / h
        self.work = work + 0.25 * h * float(self.held @ (twist + half) + force @ (half + self.twist))
        if not self.map.accelerates:
            self.free = (self.twist - twist) / h - self.compliance @ (0.5 * (self.held + force))
        self.ticks += int(not self.over)
        self.force, self.length, self.over = force.copy(), h, True

    def drop(self) -> None:
        """The step is not to be taken again."""
        if self.begin is not None:
            self.fmus.forget(self.begin)
        begun, self.begin = self.begin is not None and self.over, None
        self.over = False
        if begun:
            self._watch(self._way(self.before[0], self.pose), self.before[1], self.length)

    def answers_ahead(self, h: float) -> Array:
        """B' over all ports: how they stand at the end of the drift for forces at its beginning."""
        found = np.zeros_like(self.compliance)
        for row in self.map.inputs_at:
            self.fmus.restore(self.begin)
            force = self.held.copy()
            force[row] += UNIT
            self._through(force, force, h)
            pose, _, _ = self.map.read()
            found[:, row] = self._way(self.ahead, pose) * (2.0 / (h * h * UNIT))
        return np.asarray(found @ np.linalg.pinv(self.root, rcond=1e-9).T)

    def answers_at_end(self, h: float) -> None:
        """The compliance where the drift has led: velocities for forces at the end of the step."""
        found = np.zeros_like(self.compliance)
        for row in self.map.inputs_at:
            self.fmus.restore(self.begin)
            force = self.held.copy()
            force[row] += UNIT
            self._through(self.held, force, h)
            _, twist, _ = self.map.read()
            found[:, row] = (twist - self.ahead_twist) * (2.0 / (h * UNIT))
        self.compliance, self.root = self._checked(found)

    def strike(self, impulse: Array) -> None:
        """Impulses on its ports, as more force at the end of the last step."""
        if not np.any(impulse):
            return
        if self.begin is None:
            raise ModelError(
                f"body '{self.name}': an impulse would change its velocity at once, but '{self.body.called}' can only be moved by "
                "forces. Start with velocities that its joints allow (parameters of the FMU), and join it to ports that have the "
                "same velocity."
            )
        self.kick(self.force + impulse * (2.0 / self.length), self.length)
