"""What is played together in a step of glued components, as parts of a score (coordinator/engine/score.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.couplings.interface import talking
from coordinator.couplings.interface import verbs as at
from coordinator.couplings.interface.members import Members
from coordinator.couplings.interface.talking import Talk
from coordinator.engine.score import Part, Stretches, compiled
from modular import gluing
from modular.elements import Elements
from modular.ledger import steady_loop
from modular.table import Table

Segment = list[Part | Stretches]
PAUSE = "pause"  # of an exchange: until the others were heard


def segments_of(
    elements: Elements,
    members: Members,
    interface: Any,
    talk: Talk | None = None,
    at_border: Mapping[int, int] | None = None,
) -> dict[int, Segment]:
    """All segments by their numbers, mostly without regard to which rows take part; joints are equipped for them.

    With a `talk` they are of a part of the whole, and others are heard where that is needed. `at_border`: how many rows of
    a stack of joints, by its identity, go across a border; these come first, and wait for what the others say.
    """
    bodies, joints, forces = ([stack for stack, _ in rows] for rows in (members.bodies, members.stacks, members.forces))
    booked = [*joints, *forces]
    elements.loops |= gluing.ELEMENT_LOOPS
    weighing: Segment = [(stack, "weigh") for stack in forces if compiled((stack, "weigh"))]
    toll: list[Part] = [(interface, "toll")] if members.tolls else []

    def bodies_(verb: str) -> Segment:
        return [(stack, verb) for stack in bodies]

    def joints_(verb: str) -> Segment:
        return [(stack, verb) for stack in joints]

    def some(verb: str, *, across: bool) -> Segment:
        """Joints that go across, or all others; those in plain Python do it for all rows, and so twice."""
        found: Segment = []
        for stack in joints:
            border = (at_border or {}).get(id(stack), 0)
            rows = (0, border) if across else (border, stack.count)
            found.append((stack, verb, [rows]) if compiled((stack, verb)) else (stack, verb))
        return found

    def exchange(kind: str) -> Segment:
        if talk is None:
            return []
        table = talk.exchanges[kind]
        return [(table, "tell"), (table, PAUSE), (table, "hear")]

    def seeing(verb: str, kind: str) -> Segment:
        """What joints do with elements of which some stand elsewhere, and show to all."""
        if talk is None:
            return joints_(verb)
        return [*some(verb, across=False), *exchange(kind), *some(verb, across=True)]

    glides = interface.glides
    return {
        at.BEGIN: [(interface, "recall"), *joints_("press")],
        at.PRESS: joints_("press"),
        at.DRIFT: [*bodies_("drift"), *seeing("linearise", talking.PLACES)],
        at.BOOK: [(elements, "steady"), *map(_steady, booked), *((stack, "account") for stack in booked), *toll],
        at.ARRIVE: [(interface, "keep"), *bodies_("arrive")],
        at.MEET: [*bodies_("respond"), *seeing("face", talking.ANSWERS), *weighing, (interface, "weigh")],
        at.WEIGH: [(interface, "weigh")],
        at.ANSWER: [(interface, "answer"), *joints_("press")],
        at.WEIGH_AHEAD: [*bodies_("respond_ahead"), *seeing("face", talking.AHEAD), (interface, "weigh_ahead")],
        at.ANSWER_AHEAD: [(interface, "answer_ahead"), *joints_("press")],
        at.EXERT: [(elements, "stand"), *((stack, "exert") for stack in forces)],
        at.KICK: [*bodies_("kick"), *seeing("measure_rates", talking.RATES)],
        at.EXPECT: [(interface, "expect")],
        at.SET_OUT: bodies_("set_out") if glides else [],
        at.RETREAT: [
            (interface, "average"), *bodies_("retreat"), *bodies_("show"), *seeing("linearise", talking.PLACES),
        ] if glides else [],
        at.SHOW: [*bodies_("show"), *([] if talk is None else [(talk.exchanges[talking.RATES], "show")])],
        at.LOOK: [*joints_("linearise"), *joints_("measure_rates"), *exchange(talking.LOOKED)],
        at.RECKON: [
            *bodies_("reevaluate"), *map(_foreseeing, bodies), (elements, "look_ahead"),
            *seeing("measure_rates", talking.RECKONED),
        ],
        at.STRIKE: bodies_("strike"),
        at.CARRY: [(interface, "carry")],
        at.CLOSE_PLACES: [(interface, "close")],
        at.STOP_RATES: [(interface, "stop")],
        at.LOOK_ALONG: [(interface, "look_along")],
        at.FORETELL: [(interface, "foretell"), *_reaching(members)] if members.reaching else [],
        at.FORGET: bodies_("forget"),
        at.START_OVER: [(interface, "start_over"), *bodies_("forget"), *joints_("press")],
        at.MOVE_ALONG: [(elements, "move_along")],
        at.REACT: [(interface, "react")],
        at.AGREE: exchange(talking.MOST),
        at.ADD_UP: exchange(talking.SUMMANDS),
        at.PASS_ON: exchange(talking.SUMS),
    }  # fmt: skip


def _reaching(members: Members) -> list[Part]:
    """Springs that are asked between two exchanges."""
    parts: list[Part] = [(stack, "linearise") for stack, _ in members.reaching if "linearise" in stack.loops]
    return parts + [(stack, "exert") for stack, _ in members.reaching]


class Steady:
    """A stack of forces that is no table: its dampers take now what they took before."""

    def __init__(self, stack: Any) -> None:
        self._stack = stack

    @property
    def count(self) -> int:
        """So many forces."""
        return len(self._stack.names)

    def steady(self, elements: Elements) -> None:
        """Forces stay as they are while this is booked."""
        self._stack.power_before[:] = self._stack.power


def _foreseeing(bodies: Any) -> Part:
    """Velocities v + a dt; a stack in plain Python that predicts shows them with its prediction."""
    return bodies, "foresee" if hasattr(bodies, "foresee") or isinstance(bodies, Table) else "predict"


def _steady(stack: Any) -> Part:
    if not isinstance(stack, Table):
        return Steady(stack), "steady"
    stack.loops["steady"] = steady_loop
    return stack, "steady"
