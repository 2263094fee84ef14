"""Settings of the scheme that loops of bodies read, and what gains of internal constraints leave to be done.

The gains read a predicted state, whose place and velocity lack the new acceleration a: phi is there larger than it will be
by -beta dt^2 H a, its rate by -gamma dt H a. On a body that turns, H a = -s with s = dH/dt q', so they would pull by

    (2 xi omega gamma dt + omega^2 beta dt^2) s

though nothing is open: 0.56 of the centripetal acceleration with the default gains. (IV.6) adds the whole of s; with `LEAD` what is
added is only what is left of it, and velocities in s are those at the end of the step, v + dt a of the step before. Otherwise a
turning body stretches until its gains hang in balance, and their work shows in its energy.

What whirls (gyroscopic torques, and what links carry along) reads the velocities at the end of the step, v' + gamma dt a with v'
predicted, and those wait for a. v + dt a of the step before stands in for them, but errs to one side: a body that tumbles would
lose energy for good, in third order. So bodies with gyroscopic forces ask `EXTRA_GYROSCOPIC_ROUNDS` times more,
each time with what the answer leads to. After one time the error is as large, and to the other side; after two nothing of it is
left to be seen.
"""

from __future__ import annotations

from modular.elements import STEP, Array
from modular.kernel import kernel
from modular.views import View

# places in `gains`; SHARE: of a tick, that a step of the body takes; DEMAND_WEIGHT: how often what acts on it counts against the
# limit
BETA, GAMMA, STIFFNESS, DAMPING, ITERATIONS, LEAD, MORE, SHARE, DEMAND_WEIGHT = range(9)
EXTRA_GYROSCOPIC_ROUNDS = 2  # how often what whirls is asked once more


@kernel
def step_of(bodies: View, elements: View) -> float:
    """The step of bodies that take one or several in a tick [s]."""
    step: float = elements.clock[STEP] * bodies.gains[SHARE]
    return step


@kernel
def inward(gains: Array, dt: float) -> float:
    """The share of s that is left to be added."""
    share: float = 1.0 - gains[LEAD] * (gains[GAMMA] * dt * gains[DAMPING] + gains[BETA] * dt * dt * gains[STIFFNESS])
    return share
