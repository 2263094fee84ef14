"""Pinocchio: its articulated-body algorithm with Euler's method, on the tree of ball joints.

Pinocchio is a library without a simulation loop. The race counts its algorithm in its own compiled loop (`abaInParallel` over
a batch, one thread), where no Python stands between two calls, and to it the update of the state, called from Python
with the price of a call taken off. A user who steps from Python pays more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from modular.elements import Array
from scenarios.bench.figures import Figure, Target
from scenarios.bench.harness import Subject, ratio, take_turns
from scenarios.bench.models import chain
from scenarios.bench.peers.mechanism import Mechanism, mechanism
from scenarios.bench.peers.peer import Peer, bring
from scenarios.bench.peers.race import both_move_it, costs
from scenarios.bench.stepping import DT, Stepper
from scenarios.bench.suite import Case, MeasuringEffort

NAME = "pinocchio"
GAIN = Target(1.5, at_least=True)
NAMED = "spatial chain, ABA and Euler: {:,} bodies"
STATES_PER_CALL = 500  # states of which each is one call of the algorithm
CALLS_PER_SAMPLE = 500  # updates of the state in a sample


def cases(effort: MeasuringEffort) -> list[Case]:
    """Chains of ball joints in space."""
    return [Case(NAMED.format(bodies), measure(bodies), 4, GAIN) for bodies in (10, 100)]


def measure(bodies: int) -> Callable[[MeasuringEffort], Iterator[Figure]]:
    """Its time over ours."""

    def figures(effort: MeasuringEffort) -> Iterator[Figure]:
        assembly = chain(bodies)
        off, we = both_move_it("Pinocchio", assembly, Pinocchio)
        peer, one = Pinocchio(mechanism(assembly), DT), Pinocchio(mechanism(chain(1)), DT)
        peer.run(100)
        batch = peer.batch()
        stepper = Stepper.of(assembly).calibrate(effort.seconds)
        subjects = {
            "modular": stepper.subject,
            "algorithm": Subject(lambda nothing: batch()),
            "update": Subject(lambda nothing: peer.update(CALLS_PER_SAMPLE)),
            "call": Subject(lambda nothing: one.update(CALLS_PER_SAMPLE)),
        }
        seconds = take_turns(subjects, effort.rounds)
        cost = stepper.per_body(seconds["modular"])
        rounds = zip(seconds["algorithm"], seconds["update"], seconds["call"], strict=True)
        other = [1e6 * (a / STATES_PER_CALL + max(u - c, 0.0) / CALLS_PER_SAMPLE) / bodies for a, u, c in rounds]
        note = costs(other, cost, off, we)
        yield Figure.of(NAME, NAMED.format(bodies), "× our time", ratio(other, cost), GAIN, note)

    return figures


class Pinocchio(Peer):
    """An open chain in Pinocchio, stepped by semi-implicit Euler."""

    def __init__(self, mechanism: Mechanism, dt: float) -> None:
        self.pin = pin = bring("pinocchio", "pin")
        self.dt = dt
        self.model: Any = pin.Model()
        self.model.gravity.linear = np.array([0.0, 0.0, -mechanism.gravity])
        joint, place, angle = 0, np.array([mechanism.links[0].start[0], 0.0, mechanism.links[0].start[1]]), 0.0
        for k, link in enumerate(mechanism.links):
            turn = pin.Quaternion(
                np.array([0.0, -np.sin((link.angle - angle) / 2), 0.0, np.cos((link.angle - angle) / 2)])
            )
            joint = self.model.addJoint(joint, pin.JointModelSpherical(), pin.SE3(turn, place), f"joint{k}")
            inertia = np.diag([link.axial, link.inertia, link.inertia])
            matter = pin.Inertia(link.mass, np.array([link.centre, 0.0, 0.0]), inertia)
            self.model.appendBodyToJoint(joint, matter, pin.SE3.Identity())
            place, angle = np.array([link.length, 0.0, 0.0]), link.angle
        self.lengths = [link.length for link in mechanism.links]
        self.data: Any = self.model.createData()
        self.torque = np.zeros(self.model.nv)
        self.q, self.v = pin.neutral(self.model), np.zeros(self.model.nv)

    def run(self, ticks: int) -> None:
        """From the start, so many steps."""
        pin, model, data, dt = self.pin, self.model, self.data, self.dt
        q, v = pin.neutral(model), np.zeros(model.nv)
        for _ in range(ticks):
            v = v + dt * pin.aba(model, data, q, v, self.torque)
            q = pin.integrate(model, q, dt * v)
        self.q, self.v = q, v

    def ends(self) -> Array:
        """Where the ends of all rods are."""
        self.pin.forwardKinematics(self.model, self.data, self.q)
        joints = [self.data.oMi[k + 1] for k in range(len(self.lengths))]
        ends = [joint.act(np.array([length, 0.0, 0.0])) for joint, length in zip(joints, self.lengths, strict=True)]
        return np.array(ends)[:, [0, 2]]

    def batch(self) -> Callable[[], None]:
        """One call of the algorithm for each of a batch of states, in a compiled loop on one thread."""
        pool = self.pin.ModelPool(self.model)
        q, v, torque = (np.asfortranarray(np.tile(x[:, None], STATES_PER_CALL)) for x in (self.q, self.v, self.torque))

        def go() -> None:
            self.pin.abaInParallel(1, pool, q, v, torque)

        return go

    def update(self, times: int) -> None:
        """Euler's update of the state, called from Python."""
        pin, model, q, v, dt = self.pin, self.model, self.q, self.v, self.dt
        for _ in range(times):
            pin.integrate(model, q, dt * v)
