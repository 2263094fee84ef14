"""Energy of a run as a balance: what the bodies hold, what forces and impacts account for, what is left as drift."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coordinator.record.across import ledgers, once, together
from coordinator.record.run import Run
from modular.elements import Array


@dataclass(frozen=True)
class Balance:
    """All energies in joules, one number per sample."""

    kinetic: Array
    potential: Array
    total: Array  # of the bodies
    stored: Array  # elastic, in the joints
    work: Array  # done by forces since the start
    impacts: Array  # lost in impacts since the start
    changed: bool  # bodies came or went: the total jumps with them, and its drift means nothing

    @property
    def drift(self) -> Array:
        """Change of the total that neither forces nor impacts account for."""
        balance = self.total - self.work + self.impacts
        return np.asarray(balance - balance[0])

    @property
    def explained(self) -> Array:
        """Drift of bodies and joints together: less what cuts let go and dampers took, a measure of the scheme."""
        return np.asarray(self.drift + self.stored - self.stored[0])

    @property
    def scale(self) -> float:
        """Largest kinetic energy."""
        return float(np.max(self.kinetic))


@once
def balance(run: Run) -> Balance:
    """The energy balance of a run."""
    kinetic = run.kinetic_energy()
    all_ledgers = ledgers(run)
    joints = len(run.joints)  # their ledgers come first
    of_joints, of_forces = (
        together(part, len(run)) for part in (all_ledgers.whole[:joints], all_ledgers.whole[joints:])
    )
    stored, impacts = of_joints["stored"], of_joints["impact"]
    work = of_forces["work_first"] + of_forces["work_second"] - of_joints["supplied"]  # drives, and bodies that are led
    changed = any(event["kind"] in ("add", "remove") and event["name"] in run.bodies for event in run.events)
    total = run.energy
    return Balance(kinetic, total - kinetic, total, stored, work - work[:1], impacts - impacts[:1], changed)
