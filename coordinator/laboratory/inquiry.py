"""What people ask of a mechanism in a laboratory: how it swings, and which joints share a load.

Both are asked of another one that stands where it stands, in maximal coordinates: the motion does not know. Answers hold until
something is changed.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coordinator.analysis.counting import count
from coordinator.analysis.equilibrium import refuse_forward, refuse_sums, resting
from coordinator.analysis.linear import linear_at
from coordinator.analysis.modes import Modes, modes_of
from coordinator.continuation.reconfigure import with_settings
from coordinator.couplings import Centralized
from coordinator.couplings.centralized.equations import Equations
from coordinator.laboratory.ghost import GhostView
from coordinator.laboratory.hand import NAME as HAND
from coordinator.laboratory.history import twin
from coordinator.laboratory.snapshot import Answers, BodyStates, Plan, plan_of
from coordinator.simulation import Simulation
from modular.errors import ModelError

if TYPE_CHECKING:
    from coordinator.laboratory.session import Session

POSES = 48  # of a period
SHORTEST, LONGEST = 0.8, 4.0  # [s]: a period as it is shown
MOST_MODES = 20  # that are listed


class Swing(NamedTuple):
    """One mode, about the place where the mechanism would come to rest."""

    number: int
    words: str
    period: float  # as it is shown [s]
    plan: Plan
    poses: Sequence[Sequence[BodyStates]]

    def at(self, clock: float) -> GhostView:
        """By a clock that goes on while the mechanism stands still."""
        pose = int(clock / self.period * len(self.poses)) % len(self.poses)
        return GhostView(self.plan, 0.0, self.poses[pose], ())


@dataclass
class Inquiry:
    """Asks, and remembers until the revision changes."""

    revision: int = -1
    answers: Answers = field(default_factory=Answers)

    def still(self, revision: int) -> Answers:
        """What holds now."""
        return self.answers if revision == self.revision else Answers()

    def _say(self, session: Session, **found: Any) -> None:
        answers = self.still(session.revision)._replace(**found)
        session.revision += 1
        self.revision, self.answers = session.revision, answers

    def forget_swing(self, session: Session) -> None:
        """Nothing swings any more."""
        self._say(session, swing=None)

    def swing(self, session: Session, number: int) -> None:
        """How it swings about where it would come to rest from where it stands."""
        simulation, equations = _another(session.simulation)
        refuse_forward(simulation.assembly)
        refuse_sums(simulation.assembly)
        if equations.driven:
            raise ModelError("drives or courses move this mechanism; run modular modes on it with its drives at rest.")
        equations.go(equations.read()[0], np.zeros(equations.size))
        found = modes_of(linear_at(resting(equations, simulation.assembly, seek=True)))
        if not 0 <= number < len(found.eigenvalues):
            raise ModelError(f"mode {number}: there are {len(found.eigenvalues)}, counted from 0 on.")
        words = [_words(found, k) for k in range(min(MOST_MODES, len(found.eigenvalues)))]
        frequency = float(found.frequencies[number])
        period = float(np.clip(1.0 / frequency if frequency else 1.0, SHORTEST, LONGEST))
        poses = []
        for q in found.poses(number, np.arange(POSES) / POSES):
            equations.go(equations.project_position(q, np.zeros(equations.size)), np.zeros(equations.size))
            poses.append(_states(equations))
        swing = Swing(number, _words(found, number), period, plan_of(simulation, session.revision), poses)
        self._say(session, modes=tuple(words), swing=swing)

    def loads(self, session: Session) -> None:
        """Freedoms, and which joints share loads where it stands."""
        found = count(_another(session.simulation)[1])
        said = [f"{found} at {session.simulation.time:.6g} s"]
        groups = [tuple(group.joints) for group in found.sharing]
        said += [f"{', '.join(group)} share loads, and no equation determines how" for group in groups]
        words = "; ".join(said if groups else [*said, "no joints share a load"])
        self._say(session, mobility=words, sharing=tuple(groups))
        session.notice("happened", words)


def _another(simulation: Simulation) -> tuple[Simulation, Equations]:
    """One that stands there, without the hand."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = twin(simulation)
        if HAND in other.assembly.force_edges:
            other.remove(HAND)
        other = with_settings(other, coupling=Centralized())
    return other, Equations(other.system)


def _states(equations: Equations) -> list[BodyStates]:
    found = []
    for stack in equations.stacks:
        state = stack.state()
        found.append(BodyStates(tuple(stack.names), np.array(state["q"]), np.array(state["v"])))
    return found


def _words(found: Modes, k: int) -> str:
    return f"{k}: {found.told(k)}"
