"""Joints that follow others: which pairs of hinges a `Coupler` holds together, so that all of them follow.

A coupler needs two hinges of one body. What follows the same joint is one group, so whoever shares a body with any of it may be
held to that: a fingertip to its finger, which is held to the other finger at the palm. The motion is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from components.joints.coupler import COAXIAL, FAR, period_of
from modular.elements import Array
from scenarios.models.groups import Group
from scenarios.models.import_report import APPROXIMATED, DROPPED, READ, Report
from scenarios.models.markup import shown
from scenarios.models.robot import TURNING, Frame, Robot, RobotJoint

IDLE = 1e-3  # of the inertia of two joints: that of a wheel between them


@dataclass(frozen=True)
class Hinge:
    """One side of a pair: a joint, and whether its child is the outer body, or its parent."""

    joint: RobotJoint
    child: bool
    axis: Array  # in the world, about which the outer body turns as the joint is counted
    place: Array  # [m]


@dataclass(frozen=True)
class Pair:
    """A follower and whom it is held to; the turn of the follower is `ratio` times the other."""

    leader: Hinge
    follower: Hinge
    ratio: float


@dataclass(frozen=True)
class Idled:
    """A follower and whom it follows, by a wheel between on the body that carries both; outer bodies are children, or parents."""

    leader: RobotJoint
    follower: RobotJoint
    ratio: float
    carrier: Group
    children: tuple[bool, bool]

    def outer(self, groups: Mapping[str, Group]) -> tuple[Group, Group]:
        """What is outside of either."""
        one, other = (
            groups[joint.child if child else joint.parent]
            for joint, child in zip((self.leader, self.follower), self.children, strict=True)
        )
        return one, other


def pairs_of(
    robot: Robot,
    groups: Mapping[str, Group],
    frames: Mapping[str, Frame],
    moves: Callable[[RobotJoint], Any],
    report: Report,
) -> Iterator[Pair | Idled]:
    """All of them, from the joints that lead on; tells what becomes of every joint that follows."""
    shares = {name: _share(robot, joint) for name, joint in robot.joints.items() if joint.mimic is not None}
    leaders = dict.fromkeys(leader for leader, _ in shares.values())
    for leader in leaders:
        shares[leader] = (leader, 1.0)
        held = [leader] if moves(robot.joints[leader]) else []
        waiting = [name for name, (who, _) in shares.items() if who == leader and name != leader]
        while True:
            found = next(
                (
                    pair
                    for name in waiting
                    for other in held
                    if (pair := _pair(robot, groups, frames, other, name, shares))
                ),
                None,
            )
            if found is None:
                break
            name = found.follower.joint.name
            waiting.remove(name)
            held.append(name)
            _tell(found, report)
            yield found
        while (
            idled := next(
                (one for name in waiting for other in held if (one := _idled(robot, groups, other, name, shares))), None
            )
        ) is not None:
            name = idled.follower.name
            waiting.remove(name)
            held.append(name)
            assert idled.follower.mimic is not None
            report.tell(
                APPROXIMATED, idled.follower.mimic.element,
                f"joint '{shown(name)}' goes {idled.ratio:g} times as far as '{shown(idled.leader.name)}', by a wheel between that "
                f"adds {IDLE:g} of their inertia",
            )  # fmt: skip
            yield idled
        for name in waiting:
            _tell_free(robot.joints[name], moves, robot.joints[leader], report)


def _share(robot: Robot, joint: RobotJoint) -> tuple[str, float]:
    """Who leads in the end, and how much of its turn this one takes."""
    share, at = 1.0, joint
    while at.mimic is not None:
        share *= at.mimic.multiplier
        at = robot.joints[at.mimic.joint]
    return at.name, share


def _pair(
    robot: Robot, groups: Mapping[str, Group], frames: Mapping[str, Frame], held: str, name: str,
    shares: Mapping[str, tuple[str, float]],
) -> Pair | None:  # fmt: skip
    """These two, where both are hinges of one body that do not lie on one line."""
    joints = robot.joints[held], robot.joints[name]
    ratio = shares[name][1] / shares[held][1] if shares[held][1] != 0.0 else 0.0
    if ratio == 0.0 or any(joint.kind not in TURNING for joint in joints):
        return None
    ends = [(groups[joint.parent], groups[joint.child]) for joint in joints]
    if any(parent is child for parent, child in ends):
        return None
    for one in (0, 1):
        for other in (0, 1):
            outer = ends[0][1 - one], ends[1][1 - other]
            if ends[0][one] is ends[1][other] and outer[0] is not outer[1]:
                hinges = [_hinge(joint, side == 0, frames) for joint, side in zip(joints, (one, other), strict=True)]
                if _apart(*hinges):
                    return Pair(hinges[0], hinges[1], ratio)
    return None


def _idled(
    robot: Robot, groups: Mapping[str, Group], held: str, name: str, shares: Mapping[str, tuple[str, float]]
) -> Idled | None:
    """These two, where one body carries both."""
    leader, follower = robot.joints[held], robot.joints[name]
    ratio = shares[name][1] / shares[held][1] if shares[held][1] != 0.0 else 0.0
    ends = [(groups[joint.parent], groups[joint.child]) for joint in (leader, follower)]
    if ratio == 0.0 or any(parent is child for parent, child in ends):
        return None
    for one in (0, 1):
        for other in (0, 1):
            if ends[0][one] is ends[1][other] and ends[0][1 - one] is not ends[1][1 - other]:
                return Idled(leader, follower, ratio, ends[0][one], (one == 0, other == 0))
    return None


def _hinge(joint: RobotJoint, child: bool, frames: Mapping[str, Frame]) -> Hinge:
    axis = (frames[joint.parent] @ joint.frame).turn @ joint.axis
    return Hinge(joint, child, axis if child else -axis, frames[joint.child].place)


def _apart(one: Hinge, other: Hinge) -> bool:
    """Whether the two tell how the body between them turns."""
    line = other.place - one.place
    size = float(np.linalg.norm(line))
    far = max(1.0, float(np.abs(one.place).max()))
    aside = min(float(np.linalg.norm(np.cross(line, hinge.axis))) for hinge in (one, other)) / max(size, 1e-6 * far)
    return max(aside, float(np.linalg.norm(np.cross(one.axis, other.axis)))) > COAXIAL


def _tell(pair: Pair, report: Report) -> None:
    joint, other = pair.follower.joint, pair.leader.joint
    assert joint.mimic is not None
    said = f"joint '{shown(joint.name)}' turns {pair.ratio:g} times as far as '{shown(other.name)}', by a coupler"
    free = joint.low is None or other.low is None
    if period_of(pair.ratio) == FAR and free:
        report.tell(APPROXIMATED, joint.mimic.element, f"{said} that holds for half a turn either way")
    else:
        report.tell(READ, joint.mimic.element, said)


def _tell_free(joint: RobotJoint, moves: Callable[[RobotJoint], Any], leader: RobotJoint, report: Report) -> None:
    assert joint.mimic is not None
    if not moves(joint):
        report.tell(READ, joint.mimic.element, "a joint that does not move follows nobody")
        return
    why = (
        "no body carries it and one that follows the same" if moves(leader) else f"'{shown(leader.name)}' does not move"
    )
    report.tell(
        DROPPED, joint.mimic.element,
        f"joint '{shown(joint.name)}' begins where it follows '{shown(joint.mimic.joint)}', and is free then: {why}",
    )  # fmt: skip
