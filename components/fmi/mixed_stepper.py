"""One FMU of whose ports a part is told motions and a part forces, as a body that forces move.

Along what is told motions it shows, at the end of a step, forces f = A a + B g + c, and along what is told forces g accelerations
b = C a + D g + e; a and g are what it is told there. A to D are measured by unit accelerations and unit forces, in steps that are
taken back. Solved for accelerations, that is how the body answers forces (Séguy 2003, I.3.5):

    a =  A^-1 f - A^-1 B g + ...          b = C A^-1 f + (D - C A^-1 B) g + ...

and as no force does work that another one has to pay, C = -B^T. The a at which the forces that act are shown is found by Newton's
iteration with A, as in moved_stepper.py; what is told forces moves as in stepper.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from components.fmi.mixed_port import MixedMap
from components.fmi.moved_stepper import CLOSE, ROUNDS, UNIT, Motion, MovedStepper
from modular.elements import Array
from modular.errors import CouplingError, ModelError

UNLIKE = 0.5  # of the larger: how far B and -C^T may be from each other


class MixedStepper(MovedStepper):
    """What runs of one body whose FMU is told motions and forces."""

    mapping: ClassVar[Any] = MixedMap
    more: ClassVar[tuple[str, ...]] = ("told_now",)
    kept: ClassVar[tuple[str, ...]] = (*MovedStepper.kept, *more)

    # --- where it stands ---------------------------------------------------------------------------------------------

    def start(self, force: Array) -> None:
        """At time 0, and what it shows there unless it is accelerated."""
        self._given = force.copy()
        self.told_now = self.told_before = self.still  # accelerations, at the last end and where the present step began
        pose, twist = self.map.begin(self.body.parameters)
        self.pose, self.twist, self.slope = pose, twist, self.still.copy()
        self._begin(self.slope)
        self.pose, self.twist, self.slope = self.map.merged(pose, twist)
        shown = self.map.read() - self.carriers.forces(self.pose, self.twist, self.gravity)
        self.force = force.copy()
        self.force[self.map.moved_rows] = shown[self.map.moved_rows]

    def _begin(self, slope: Array) -> None:
        """At time 0 again, with an acceleration."""
        self.fmus.begin(self.map.inputs(self.pose, self.twist, slope, self._given))

    def reevaluate(self, force: Array) -> None:
        """Accelerations where it stands, under forces that may have jumped; at time 0 it begins with them."""
        super().reevaluate(force)
        if self.ticks:
            return
        self._given, rows = force.copy(), self.map.moved_rows
        answer = self.compliance[np.ix_(rows, rows)]
        for _ in range(ROUNDS):
            self._begin(self.slope)
            shown = self.map.read() + self.carriers.matrix(self.pose) @ self.slope
            shown -= self.carriers.forces(self.pose, self.twist, self.gravity)
            step = answer @ (force - shown)[rows]
            self.slope = self.slope.copy()
            self.slope[rows] += step
            if np.abs(step).max(initial=0.0) <= CLOSE * max(1.0, float(np.abs(self.slope).max(initial=0.0))):
                break
        if self.map.accelerates:
            self.slope = np.where(self.map.told[1], self.slope, self.map.merged(self.pose, self.twist)[2])
        elif self.dt:
            found, _, _ = self._along(self._now, self.slope, self.slope, force, self.dt, glued=False)
            self.slope = np.where(self.map.told[1], self.slope, found.slope)
            self._begin(self.slope)
        self.told_now = self.slope

    def hold_begin(self) -> None:
        """Remember where the step begins, and which acceleration was told there."""
        if self.over or self.begin is None:
            self.told_before = self.told_now
        super().hold_begin()

    def _stand(self, motion: Motion) -> None:
        super()._stand(motion)
        self.told_now = motion.slope

    # --- a step ------------------------------------------------------------------------------------------------------

    def _along(
        self, start: Motion, first: Array, last: Array, end: Array, h: float, glued: bool
    ) -> tuple[Motion, Array, float]:
        """A step along a motion and under forces: where it leads, forces that the motion takes, and what of a change of the others
        the FMU holds at its end."""
        share = 1.0
        if glued and self.map.forced.rates is None and self.fmus.variable_step:
            before, after = 0.5 * (3.0 * start.force - end), 0.5 * (3.0 * end - start.force)
            middle = first + 0.5 * (last - self.told_before)  # so the mean of all that it is told is that of both ends
            halves = (0.5, middle, before), (1.0, last, after)
            for (
                part,
                slope,
                held,
            ) in halves:  # as under the first force in its place, as under their mean in its velocity
                pose, twist = self._ahead(start, first, slope, part * h, glued)
                self.map.tell(pose, twist, slope, held, held, 0.5 * h)
                self.fmus.step(0.5 * h)
            share = 1.5
        else:
            pose, twist = self._ahead(start, first, last, h, glued)
            self.map.tell(pose, twist, last, start.force, end, h)
            self.fmus.step(h)
            share = 0.5 if self.map.forced.rates is None else 1.0
        pose, twist, shown = self.map.merged(pose, twist)
        if self.map.accelerates:
            slope = np.where(self.map.told[1], last, shown)
        else:  # the mean of what is not told, and as much more as the forces at the end are other ones
            mean = (twist - start.twist) / h + self.compliance @ (0.5 * (end - start.force))
            slope = np.where(self.map.told[1], last, mean)
        carried = self.carriers.matrix(pose) @ slope - self.carriers.forces(pose, twist, self.gravity)
        return Motion(pose, twist, slope, end.copy()), self.map.read() + carried, share

    def _at_end(self, shown: Array, start: Motion, end: Array, share: float) -> Array:
        """Forces along what is told motions, under the others as they are at the end of the step, and not as they are held."""
        moved, forced = self.map.moved_rows, self.map.forced_rows
        change = (1.0 - share) * (end - start.force)[forced]
        felt = np.linalg.solve(self.compliance[np.ix_(moved, moved)], self.compliance[np.ix_(moved, forced)] @ change)
        return np.asarray(shown[moved] - felt)

    def _led(self, start: Motion, first: Array, end: Array, h: float, glued: bool) -> Motion:
        """The motion at whose end these forces act."""
        rows = self.map.moved_rows
        answer = self.compliance[np.ix_(rows, rows)]
        last, saved = first.copy(), self.begin
        last[rows] += (self.compliance @ (end - start.force))[rows]
        if not self.saves:
            found, shown, share = self._along(start, first, first, end, h, glued)  # along the predicted motion
            last = first.copy()
            last[rows] += answer @ (end[rows] - self._at_end(shown, start, end, share))
            pose, twist = self._ahead(start, first, last, h, glued)
            places, rates = self.map.told
            poses, twists = np.where(places, pose, found.pose), np.where(rates, twist, found.twist)
            return Motion(poses, twists, np.where(rates, last, found.slope), end.copy())
        change = np.inf
        for _ in range(ROUNDS):
            found, shown, share = self._along(start, first, last, end, h, glued)
            step = answer @ (end[rows] - self._at_end(shown, start, end, share))
            before, change = change, float(np.abs(step).max(initial=0.0))
            if change <= CLOSE * max(1.0, float(np.abs(last).max(initial=0.0))) or (change < 1e-9 and change >= before):
                return found
            if not np.isfinite(change):
                break
            last = last.copy()
            last[rows] += step
            self.fmus.restore(saved)
        raise CouplingError(
            f"body '{self.name}': '{self.body.called}' does not converge: no acceleration of its ports was found at which it "
            f"shows the forces that act on them (after {ROUNDS} iterations the last change is {change:.3g} m/s2 or rad/s2). Take a "
            "shorter step, or give the port more mass where a stiff spring inside acts on it."
        )

    # --- how it answers forces ---------------------------------------------------------------------------------------

    def answers(self, h: float) -> tuple[Array, Array]:
        """Accelerations per unit force on its ports where it stands, and a square root of them; looking changes nothing."""
        if self.saves:
            saved = self.fmus.save()
            found = self._measured(partial(self.fmus.restore, saved), self._now, self.slope, h, glued=False)
            self.fmus.restore(saved)
            self.fmus.forget(saved)
        elif self.ticks == 0:
            found = self._measured(partial(self._begin, self.slope), self._now, self.slope, h, glued=False)
            self._begin(self.slope)
            from components.fmi.port import axes_of

            self.axes = [axes_of(pose) for pose in self.pose]
        else:
            found = self._turned()
        return self._checked(found)

    def _measured(self, again: Callable[[], None], start: Motion, first: Array, h: float, glued: bool) -> Array:
        """The compliance, from unit accelerations and unit forces at the end of a step."""
        moved, forced = self.map.moved_rows, self.map.forced_rows
        taken, shown = [], []
        for row in [None, *moved, *forced]:
            again()
            last, end = first.copy(), start.force.copy()
            if row is not None:
                (last if row in moved else end)[row] += UNIT
            found, force, share = self._along(start, first, last, end, h, glued)
            taken.append(force[moved])
            shown.append(found.slope[forced] if self.map.accelerates else found.twist[forced] * (2.0 / h))
        A, B = np.split((np.array(taken[1:]) - taken[0]).T / UNIT, [len(moved)], axis=1)
        C, D = np.split((np.array(shown[1:]) - shown[0]).T / UNIT, [len(moved)], axis=1)
        B = B / share
        self._answer_of(A)
        if np.abs(B + C.T).max(initial=0.0) > UNLIKE * max(
            np.abs(B).max(initial=0.0), np.abs(C).max(initial=0.0), 1e-9
        ):
            raise ModelError(
                f"body '{self.name}': the motions and forces that '{self.body.called}' shows are not reciprocal: how a "
                "force input changes the forces shown must be the opposite of how a motion input changes the motions shown. Where "
                "the forces shown are those that the FMU exerts, and not those on it, give exerts=True."
            )
        inverse = np.linalg.inv(A)
        found_all = np.zeros_like(self.compliance)
        found_all[np.ix_(moved, moved)] = inverse
        found_all[np.ix_(moved, forced)] = -inverse @ B
        found_all[np.ix_(forced, moved)] = C @ inverse
        found_all[np.ix_(forced, forced)] = D - C @ inverse @ B
        return found_all

    # --- between glued joints ----------------------------------------------------------------------------------------

    def drift(self, force: Array, h: float) -> Array:
        """Under forces that are held for the whole step: poses to which it leads, whatever acts at its end."""
        self.hold_begin()
        assert self.from_start is not None
        self.held = force.copy()
        self.held_slope = self._jumped(self.from_start, force, self.start_compliance)
        self.ahead = self._held(force, self.held_slope, h).pose
        return np.asarray(self.ahead)

    def _held(self, force: Array, slope: Array, h: float) -> Motion:
        assert self.from_start is not None
        return self._along(self.from_start._replace(force=force), slope, slope, force, h, glued=True)[0]

    def answers_ahead(self, h: float) -> Array:
        """B' over all ports: how they stand at the end of the drift for forces at its beginning."""
        found = np.zeros_like(self.compliance)
        for row in (*self.map.moved_rows, *self.map.forced_rows):
            self.fmus.restore(self.begin)
            force = self.held.copy()
            force[row] += UNIT
            pose = self._held(force, self.held_slope + self.start_compliance[:, row] * UNIT, h).pose
            found[:, row] = self._way(self.ahead, pose) * (2.0 / (h * h * UNIT))
        return np.asarray(found @ np.linalg.pinv(self.root, rcond=1e-9).T)

    def answers_at_end(self, h: float) -> None:
        """The compliance where the drift has led: velocities for forces at the end of the step."""
        assert self.from_start is not None
        again, start = partial(self.fmus.restore, self.begin), self.from_start._replace(force=self.held)
        self.compliance, self.root = self._checked(self._measured(again, start, self.held_slope, h, glued=True))
