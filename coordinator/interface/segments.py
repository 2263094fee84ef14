"""What is played together in a step of glued components, as parts of a score (coordinator/score.py)."""

from __future__ import annotations

from typing import Any

from coordinator.interface import stepping as at
from coordinator.score import Part
from coordinator.system import System
from modular import gluing
from modular.elements import Elements
from modular.ledger import steady_loop
from modular.table import Table


def segments_of(system: System, interface: Any) -> dict[int, list[Part]]:
    """All segments by their numbers; joints are equipped for them."""
    bodies, joints, forces, booked = list(system.bodies), list(system.joints), list(system.forces), system.booked
    elements = system.elements
    elements.loops |= gluing.ELEMENT_LOOPS

    def bodies_(verb: str) -> list[Part]:
        return [(stack, verb) for stack in bodies]

    def joints_(verb: str) -> list[Part]:
        return [(stack, verb) for stack in joints]

    glides = any(not stack.form.holonomic for stack in joints)
    return {
        at.BEGIN: [(interface, "recall"), *joints_("press")],
        at.PRESS: joints_("press"),
        at.DRIFT: [*bodies_("drift"), *joints_("linearise")],
        at.BOOK: [(elements, "steady"), *map(_steady, booked), *((stack, "account") for stack in booked)],
        at.ARRIVE: [(interface, "keep"), *bodies_("arrive")],
        at.MEET: [*bodies_("respond"), *joints_("face"), (interface, "weigh")],
        at.WEIGH: [(interface, "weigh")],
        at.ANSWER: [(interface, "answer"), *joints_("press")],
        at.WEIGH_AHEAD: [*bodies_("respond_ahead"), *joints_("face"), (interface, "weigh_ahead")],
        at.ANSWER_AHEAD: [(interface, "answer_ahead"), *joints_("press")],
        at.EXERT: [(elements, "stand"), *((stack, "exert") for stack in forces)],
        at.KICK: [*bodies_("kick"), *joints_("measure_rates")],
        at.EXPECT: [(interface, "expect")],
        at.SET_OUT: bodies_("set_out") if glides else [],
        at.RETREAT: [(interface, "average"), *bodies_("retreat"), *bodies_("show"), *joints_("linearise")] if glides else [],
        at.SHOW: bodies_("show"),
        at.LOOK: [*joints_("linearise"), *joints_("measure_rates")],
        at.RECKON: [
            *bodies_("reevaluate"), *bodies_("foresee"), (elements, "look_ahead"), *joints_("measure_rates"),
        ],
        at.STRIKE: bodies_("strike"),
        at.CARRY: [(interface, "carry")],
        at.CLOSE_PLACES: [(interface, "close")],
        at.STOP_RATES: [(interface, "stop")],
        at.LOOK_ALONG: [(interface, "look_along")],
        at.REACT: [(interface, "react")],
    }  # fmt: skip


class Steady:
    """A stack of forces that is no table: its dampers take now what they took before."""

    def __init__(self, stack: Any) -> None:
        self._stack = stack

    def steady(self, elements: Elements) -> None:
        """Forces stay as they are while this is booked."""
        self._stack.power_before[:] = self._stack.power


def _steady(stack: Any) -> Part:
    if not isinstance(stack, Table):
        return Steady(stack), "steady"
    stack.loops["steady"] = steady_loop
    return stack, "steady"
