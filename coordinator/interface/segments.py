"""What is played together in a step of glued components, as parts of a score (coordinator/score.py)."""

from __future__ import annotations

from typing import Any

from coordinator.interface import stepping as at
from coordinator.interface.members import Members
from coordinator.score import Part
from modular import gluing
from modular.elements import Elements
from modular.ledger import steady_loop
from modular.table import Table


def segments_of(elements: Elements, members: Members, interface: Any) -> dict[int, list[Part]]:
    """All segments by their numbers, without regard to which rows take part; joints are equipped for them."""
    bodies, joints, forces = ([stack for stack, _ in rows] for rows in (members.bodies, members.stacks, members.forces))
    booked = [*joints, *forces]
    elements.loops |= gluing.ELEMENT_LOOPS
    toll: list[Part] = [(interface, "toll")] if members.tolls else []

    def bodies_(verb: str) -> list[Part]:
        return [(stack, verb) for stack in bodies]

    def joints_(verb: str) -> list[Part]:
        return [(stack, verb) for stack in joints]

    glides = any(not stack.form.holonomic for stack in joints)
    return {
        at.BEGIN: [(interface, "recall"), *joints_("press")],
        at.PRESS: joints_("press"),
        at.DRIFT: [*bodies_("drift"), *joints_("linearise")],
        at.BOOK: [(elements, "steady"), *map(_steady, booked), *((stack, "account") for stack in booked), *toll],
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
            *bodies_("reevaluate"), *map(_foreseeing, bodies), (elements, "look_ahead"), *joints_("measure_rates"),
        ],
        at.STRIKE: bodies_("strike"),
        at.CARRY: [(interface, "carry")],
        at.CLOSE_PLACES: [(interface, "close")],
        at.STOP_RATES: [(interface, "stop")],
        at.LOOK_ALONG: [(interface, "look_along")],
        at.FORETELL: [(interface, "foretell"), *_reaching(members)] if members.reaching else [],
        at.FORGET: bodies_("forget"),
        at.MOVE: [(elements, "move_along")],
        at.REACT: [(interface, "react")],
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
