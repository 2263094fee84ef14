"""The stack of joints of one form: their rows, their springs and their energy ledger."""

from __future__ import annotations

import numpy as np

from modular import seen_mass
from modular.elements import MODES, RIGID, Array, Elements, Indices
from modular.joint import JointForm
from modular.kernel import kernel
from modular.ledger import STORED, Booked, account_loop


class Joints(Booked):
    """Joints of one form; every array has one row per joint."""

    marker: Array  # numbers fixed when the joint was made
    error: Array  # phi, (n, m) [m], [-]
    rate: Array  # its time derivative
    effort: Array  # sigma [N], [N m]
    preload: Array  # the part of it that a joint carries from its start, its spring unstretched
    on_first: Array  # Jacobian with respect to the elements of the first side, (n, m, elements, d)
    on_second: Array
    stiffness: Array  # K, (n, m, m)
    damping: Array  # C
    seen_first: Array  # G = J B, (n, m, modes)
    seen_second: Array
    compliance: Array  # W = J M^-1 J^T over both bodies, (n, m, m)
    shape: Array  # its inverse as the rule sees it

    def __init__(self, form: JointForm, dimension: int) -> None:
        super().__init__()
        self.form = form
        self.column("marker", form.marker)
        for name in ("error", "rate", "effort", "preload"):
            self.column(name, form.rows)
        self.column("on_first", form.rows, form.first, dimension)
        self.column("on_second", form.rows, form.second, dimension)
        for name in ("stiffness", "damping", "compliance", "shape"):
            self.column(name, form.rows, form.rows)
        for name in ("seen_first", "seen_second"):
            self.column(name, form.rows, MODES)

    def linearise(self, elements: Elements) -> None:
        """Errors and Jacobians at the elements as they are shown."""
        self.form.linearise(
            self.count,
            self.first,
            self.second,
            self.marker,
            elements.position,
            self.error,
            self.on_first,
            self.on_second,
        )

    def measure(self, elements: Elements) -> None:
        """Errors and their rates at the elements as they are shown."""
        self.linearise(elements)
        rate_loop(self.count, self.first, self.second, self.on_first, self.on_second, elements.velocity, self.rate)

    def exert(self, elements: Elements) -> None:
        """Spring, damper and preload: sigma = K phi + C phi' + sigma_0, and -J^T sigma on the elements of both sides."""
        rate_loop(self.count, self.first, self.second, self.on_first, self.on_second, elements.velocity, self.rate)
        exert_loop(
            self.count, self.first, self.second, self.on_first, self.on_second, self.stiffness, self.damping,
            self.error, self.rate, self.preload, self.effort, elements.force, self.power, self.ledger,
        )  # fmt: skip

    def account(self, elements: Elements, dt: float) -> None:
        """Book the tick that has just passed."""
        account_loop(
            self.count, self.first, self.second, self.form.first, self.form.second, dt, elements.force,
            elements.force_before, elements.velocity, elements.velocity_before, self.power, self.power_before, self.ledger,
        )  # fmt: skip

    # --- seen masses ---------------------------------------------------------------------------------------------

    def see(self, elements: Elements, *, modes: int = RIGID) -> None:
        """Compliance W of every joint, from what the bodies reported."""
        seen_mass.see_loop(
            self.count, self.first, self.second, self.on_first, self.on_second, elements.response, modes,
            self.seen_first, self.seen_second, self.compliance,
        )  # fmt: skip

    def weigh(self) -> None:
        """Seen mass of every joint as a matrix."""
        seen_mass.shape_loop(self.count, self.form.translations, self.form.rotations, self.compliance, self.shape)

    def ask(self, block: Array, elements: Elements) -> None:
        """Tell the bodies what a stiffness block per joint would ask of them."""
        seen_mass.load_loop(
            self.count, self.form.translations, self.first, self.second, self.seen_first, self.seen_second, block,
            elements.load,
        )  # fmt: skip

    def wrenches(self, elements: Elements) -> Array:
        """Force and, where the joint reads directions, moment on the second side at its point, (n, ...)."""
        force = [elements.force[self.second[: self.count]]]
        if self.form.second > 1:
            rows = self.second[: self.count, None] + np.arange(1, self.form.second)
            x, f = elements.position[rows], elements.force[rows]
            cross = x[..., 0] * f[..., 1] - x[..., 1] * f[..., 0] if x.shape[-1] == 2 else np.cross(x, f)
            moment = cross.sum(axis=1)
            force.append(moment[:, None] if moment.ndim == 1 else moment)
        return np.concatenate(force, axis=1)


@kernel
def rate_loop(
    count: int, first: Indices, second: Indices, on_first: Array, on_second: Array, velocity: Array, rate: Array
) -> None:
    """phi' = J v over both sides."""
    for n in range(count):
        for i in range(rate.shape[1]):
            value = 0.0
            for k in range(on_first.shape[2]):
                for c in range(velocity.shape[1]):
                    value += on_first[n, i, k, c] * velocity[first[n] + k, c]
            for k in range(on_second.shape[2]):
                for c in range(velocity.shape[1]):
                    value += on_second[n, i, k, c] * velocity[second[n] + k, c]
            rate[n, i] = value


@kernel
def exert_loop(
    count: int,
    first: Indices,
    second: Indices,
    on_first: Array,
    on_second: Array,
    stiffness: Array,
    damping: Array,
    error: Array,
    rate: Array,
    preload: Array,
    effort: Array,
    force: Array,
    power: Array,
    ledger: Array,
) -> None:
    """Explicit penalty, Séguy 2003, (IV.2) and (IV.3), with a matrix per joint in place of its scalars.

    The preload is what marks set off by K^-1 sigma_0 would give (coordinator/equilibrium.py); its energy is sigma_0 . phi.
    """
    rows = error.shape[1]
    for n in range(count):
        stored = 0.0
        taken = 0.0
        for i in range(rows):
            spring = 0.0
            damper = 0.0
            for j in range(rows):
                spring += stiffness[n, i, j] * error[n, j]
                damper += damping[n, i, j] * rate[n, j]
            effort[n, i] = spring + damper + preload[n, i]
            stored += (0.5 * spring + preload[n, i]) * error[n, i]
            taken += damper * rate[n, i]
        power[n] = taken
        ledger[n, STORED] = stored
        for k in range(on_first.shape[2]):
            for c in range(force.shape[1]):
                value = 0.0
                for i in range(rows):
                    value -= on_first[n, i, k, c] * effort[n, i]
                force[first[n] + k, c] = value
        for k in range(on_second.shape[2]):
            for c in range(force.shape[1]):
                value = 0.0
                for i in range(rows):
                    value -= on_second[n, i, k, c] * effort[n, i]
                force[second[n] + k, c] = value
