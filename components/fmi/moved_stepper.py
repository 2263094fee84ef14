"""One FMU that is told how its ports move and shows the forces that this takes, as a body that forces move.

Its ports are ours: place, velocity and acceleration a. What an FMU shows at the end of a step depends on a as M a + b, with M
measured by unit accelerations in steps that are taken back. So the a at which it shows the force that acts there is found by
Newton's iteration, each round the same step again from the saved state; the inverse of M is how the body answers forces (the
gluing of Séguy 2003, I.3.5, with motions told in place of forces). An FMU that cannot save its state takes one step only, along
the predicted motion, and b is what it shows there less M a.

Between springs the motion of a port in a step is that of Newmark's scheme. Between glued joints its place is led there by the force
F of the beginning alone, x + h v + h^2 a(F) / 2, and its velocity by F and by F' at the end (velocity Verlet): that is RATTLE for a
free mass.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from components.fmi.body import KINETIC, POTENTIAL, Fmu
from components.fmi.fmu_system import FmuSystem
from components.fmi.moved_port import Carriers, MotionMap
from components.fmi.port import PowerPort, axes_of, moved
from components.fmi.stepper import Stepper, fmus_and_ports
from modular.elements import Array
from modular.errors import CouplingError, ModelError

UNIT = 1.0  # acceleration [m/s2, rad/s2] by which inertias are measured
ROUNDS = 25  # of Newton's iteration
CLOSE = 1e-13  # of the largest acceleration: how near a round must come to the one before
LEAST_INERTIA = 1e-9  # of the largest: less is none


class Motion(NamedTuple):
    """Poses, twists and their rates over all ports, with the forces that this takes."""

    pose: Array
    twist: Array
    slope: Array
    force: Array


class MovedStepper(Stepper):
    """What runs of one body whose FMU is told motions."""

    mapping: ClassVar[Any] = MotionMap

    def __init__(
        self, name: str, body: Fmu, opened: tuple[FmuSystem, list[PowerPort]], gravity: Array
    ) -> None:  # fmt: skip
        self.gravity = gravity
        self.carriers = Carriers(opened[1], body.dimension)
        self.from_start: Motion | None = None  # where the present step began
        super().__init__(name, body, opened)
        self.settles = None

    # --- where it stands ---------------------------------------------------------------------------------------------

    def start(self, force: Array) -> None:
        """At time 0, and what it shows there unless it is accelerated."""
        pose, twist = self.map.begin(self.body.parameters)
        self.pose, self.twist, self.slope = pose, twist, self.still.copy()
        self._begin(self.slope)
        self.force = self.map.read() - self.carriers.forces(pose, twist, self.gravity)

    def row(self) -> tuple[Array, Array, Array]:
        """With the energy of what carries its ports, where the FMU tells its own."""
        q, v, a = super().row()
        if self.carriers.some and (self.body.kinetic or self.body.potential):
            tail = self.map.count * self.map.pose_width
            rates = self.twist.reshape(self.map.count, -1)
            kinetic, potential = self.carriers.energies(self.pose, rates, self.gravity)
            q[tail + KINETIC] += kinetic
            q[tail + POTENTIAL] += potential
        return q, v, a

    def _begin(self, slope: Array) -> None:
        """At time 0 again, with an acceleration."""
        self.fmus.begin([(self.map.inputs, self.map.values(self.pose, self.twist, slope))])

    def reevaluate(self, force: Array) -> None:
        """Accelerations where it stands, under forces that may have jumped."""
        if not self.root.any():
            self.measure(self.dt or 1e-3)
        self.slope = self.slope + self.compliance @ (force - self.force)
        self.force = force.copy()

    def command(self, variable: str, value: float) -> None:
        """An input is so from now on; what that changes in the forces shown, the next step shows."""
        self.drop()
        self.fmus.command(variable, value, f"body '{self.name}'")

    @property
    def steps_by_answers(self) -> bool:
        """By them accelerations are found."""
        return True

    @property
    def _now(self) -> Motion:
        return Motion(self.pose, self.twist, self.slope, self.force)

    # --- a step ------------------------------------------------------------------------------------------------------

    def _jumped(self, start: Motion, force: Array, compliance: Array) -> Array:
        """The acceleration at the beginning of a step, under forces that are not those of the last one."""
        return start.slope if np.array_equal(force, start.force) else start.slope + compliance @ (force - start.force)

    def _ahead(self, start: Motion, first: Array, last: Array, h: float, glued: bool) -> tuple[Array, Array]:
        """Poses and twists at the end of a step, by its accelerations at both ends."""
        beta, gamma = (0.0, 0.5) if glued else self.settings
        way = (h * start.twist + h * h * ((0.5 - beta) * first + beta * last)).reshape(self.map.count, -1)
        twist = start.twist + h * ((1.0 - gamma) * first + gamma * last)
        return np.array([moved(pose, step) for pose, step in zip(start.pose, way, strict=True)]), twist

    def _shown(self, start: Motion, first: Array, last: Array, h: float, glued: bool) -> tuple[Array, Array, Array]:
        """A step of the FMU along this motion: where it leads, and forces on the ports that it takes."""
        pose, twist = self._ahead(start, first, last, h, glued)
        self.map.tell(pose, twist, last)
        self.fmus.step(h)
        carried = self.carriers.matrix(pose) @ last - self.carriers.forces(pose, twist, self.gravity)
        return pose, twist, self.map.read() + carried

    def _led(self, start: Motion, first: Array, end: Array, h: float, glued: bool) -> Motion:
        """The motion at whose end these forces act."""
        last, saved = first + self.compliance @ (end - start.force), self.begin
        if not self.saves:
            _, _, shown = self._shown(start, first, first, h, glued)  # along the predicted motion
            last = first + self.compliance @ (end - shown)
            return Motion(*self._ahead(start, first, last, h, glued), last, end.copy())
        change = np.inf
        for _ in range(ROUNDS):
            pose, twist, shown = self._shown(start, first, last, h, glued)
            step = self.compliance @ (end - shown)
            before, change = change, float(np.abs(step).max(initial=0.0))
            if change <= CLOSE * max(1.0, float(np.abs(last).max(initial=0.0))) or (change < 1e-9 and change >= before):
                return Motion(pose, twist, last, end.copy())
            if not np.isfinite(change):
                break
            last = last + step
            self.fmus.restore(saved)
        raise CouplingError(
            f"body '{self.name}': '{self.body.called}' does not converge: no acceleration of its ports was found at which it "
            f"shows the forces that act on them (after {ROUNDS} iterations the last change is {change:.3g} m/s2 or rad/s2). Take a "
            "shorter step, or give the port more mass where a stiff spring inside acts on it."
        )

    def advance(self, force: Array, h: float) -> None:
        """One step, at whose end these forces act."""
        self.drop()
        start = self._now
        if self.saves:
            self.begin = self.fmus.save()
        self._stand(self._led(start, start.slope, force, h, glued=False))
        self.drop()
        self.work += float(0.5 * (start.force + force) @ self._way(start.pose, self.pose))
        self.ticks += 1

    def _stand(self, motion: Motion) -> None:
        self.pose, self.twist, self.slope, self.force = motion

    # --- how it answers forces ---------------------------------------------------------------------------------------

    def answers(self, h: float) -> tuple[Array, Array]:
        """Accelerations per unit force on its ports where it stands, and a square root of them; looking changes nothing."""
        if self.saves:
            saved = self.fmus.save()
            found = self._inertia(partial(self.fmus.restore, saved), self._now, self.slope, h, glued=False)
            self.fmus.restore(saved)
            self.fmus.forget(saved)
            return self._answer(found)
        if self.ticks == 0:
            found = self._inertia(partial(self._begin, self.slope), self._now, self.slope, h, glued=False)
            self._begin(self.slope)
            self.axes = [axes_of(pose) for pose in self.pose]
            return self._answer(found)
        return self._checked(self._turned())

    def _inertia(self, again: Callable[[], None], start: Motion, first: Array, h: float, glued: bool) -> Array:
        """Forces at the end of a step per unit acceleration there, over all ports."""
        rows = self.map.free()
        forces = []
        for row in [None, *rows]:
            again()
            last = first.copy()
            if row is not None:
                last[row] += UNIT
            forces.append(self._shown(start, first, last, h, glued)[2])
        return np.array([(force - forces[0])[rows] / UNIT for force in forces[1:]]).T

    def _answer(self, inertia: Array) -> tuple[Array, Array]:
        """The inverse of an inertia, which must be one."""
        self._answer_of(inertia)
        rows = self.map.free()
        found = np.zeros_like(self.compliance)
        found[np.ix_(rows, rows)] = np.linalg.inv(inertia)
        return self._checked(found)

    def _answer_of(self, inertia: Array) -> None:
        """Refuse what is no inertia."""
        if not np.isfinite(inertia).all():
            raise ModelError(
                f"body '{self.name}': its FMU answers unit accelerations with values that are not finite numbers."
            )
        values = np.linalg.eigvalsh(0.5 * (inertia + inertia.T))
        if not values[0] > LEAST_INERTIA * max(float(np.abs(values).max()), LEAST_INERTIA):
            turning = any(port.turns for port in self.ports)
            raise ModelError(
                f"body '{self.name}': the forces that '{self.body.called}' shows do not grow with the acceleration of its ports in "
                f"every direction (from {values[0]:.3g} to {values[-1]:.3g} kg or kg m2), so their inertia is not "
                f"defined. Give the ports a mass, PowerPort(…, mass=…{', inertia=…' if turning else ''}); where the forces "
                "are those that the FMU exerts, and not those on it, give exerts=True."
            )

    # --- between glued joints ----------------------------------------------------------------------------------------

    def hold_begin(self) -> None:
        """Remember where the step begins."""
        fresh = self.over or self.begin is None
        super().hold_begin()
        if fresh:
            if not self.root.any():
                self.measure(self.dt)
            self.from_start, self.start_compliance = self._now, self.compliance

    def drift(self, force: Array, h: float) -> Array:
        """Under a force at the beginning of the step: poses to which it leads, whatever acts at its end."""
        self.hold_begin()
        assert self.from_start is not None
        self.held = force.copy()
        self.held_slope = self._jumped(self.from_start, force, self.start_compliance)
        ahead, _ = self._ahead(self.from_start, self.held_slope, self.held_slope, h, True)
        self.ahead = ahead
        return np.asarray(ahead)

    def kick(self, force: Array, h: float) -> None:
        """The same step with another force at its end."""
        assert self.from_start is not None
        self.fmus.restore(self.begin)
        start = self.from_start
        self._stand(self._led(start._replace(force=self.held), self.held_slope, force, h, glued=True))
        _, twist, _, work = self.before
        half = self._way(start.pose, self.pose) / h
        self.work = work + 0.25 * h * float(self.held @ (twist + half) + force @ (half + self.twist))
        self.ticks += int(not self.over)
        self.length, self.over = h, True

    def answers_ahead(self, h: float) -> Array:
        """B' over all ports: how they stand at the end of the drift for forces at its beginning."""
        return np.asarray(self.start_compliance @ np.linalg.pinv(self.root, rcond=1e-9).T)

    def answers_at_end(self, h: float) -> None:
        """The compliance where the drift has led: velocities for forces at the end of the step."""
        assert self.from_start is not None
        again = partial(self.fmus.restore, self.begin)
        self.compliance, self.root = self._answer(self._inertia(again, self.from_start, self.held_slope, h, glued=True))


def stepper_of(name: str, body: Fmu, gravity: Array) -> Stepper:
    """What runs of a body, by what its ports are told: forces, motions, or both."""
    fmus, ports = fmus_and_ports(name, body)
    if not any(port.is_moved(fmus) for port in ports):
        return Stepper(name, body, (fmus, ports))
    forces = [entry for port in ports for entry in (*port.force, *port.moment) if isinstance(entry, str)]
    if not any(fmus.variable(entry, name).causality == "input" for entry in forces):
        return MovedStepper(name, body, (fmus, ports), gravity)
    from components.fmi.mixed_stepper import MixedStepper

    return MixedStepper(name, body, (fmus, ports), gravity)
