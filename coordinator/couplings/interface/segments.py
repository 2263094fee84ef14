"""What is played together in a step of glued components, as operations of a program (coordinator/engine/program.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coordinator.couplings.interface import collectives as kinds
from coordinator.couplings.interface import verbs as at
from coordinator.couplings.interface.collectives import Collectives
from coordinator.couplings.interface.members import Members
from coordinator.engine.program import Operation, RangedOperation, compiled, exerting
from modular import gluing
from modular.compliant import CompliantRows
from modular.elements import Elements
from modular.friction_rows import FrictionRows
from modular.ledger import steady_loop
from modular.table import Table

Segment = list[Operation | RangedOperation]
# of compliant forces (modular/compliant.py), where a drift has led and at the end of a kick
RESIDUALS = {"linearise": "compute_place_residuals", "measure_rates": "compute_rate_residuals"}
COMPLIANT_VERBS = {
    at.PREDICT_EFFORTS: "predict_efforts",
    at.COMPUTE_GAINS: "compute_gains",
}
PAUSE = "pause"  # of an exchange: until frames of the others have come


def segments_of(
    elements: Elements,
    members: Members,
    interface: Any,
    collectives: Collectives | None = None,
    boundary_rows: Mapping[int, int] | None = None,
) -> dict[int, Segment]:
    """All segments by their numbers, mostly without regard to which rows take part; joints are equipped for them.

    With `collectives` they are of a part of the whole, and frames are exchanged where needed. `boundary_rows`: how many rows of
    a stack of joints, by its identity, go across a border; these come first, and wait for what the others say.
    """
    bodies, joints, forces = ([stack for stack, _ in rows] for rows in (members.bodies, members.stacks, members.forces))
    compliant, works = interface.found_forces.stacks, [(stack, "account") for stack in (*joints, *forces)]
    stiff, rubbing = _apart(compliant)
    elements.loops |= gluing.ELEMENT_LOOPS
    rest: list[Operation] = [(interface, "book_others")] if members.loaded_elements else []

    def bodies_(verb: str) -> Segment:
        return [(stack, verb) for stack in bodies]

    def joints_(verb: str, *, tried: bool = False) -> Segment:
        """What joints do, and forces that are rows."""
        return [*((stack, verb) for stack in joints), *_of_rows(verb, stiff, rubbing, tried)]

    def some(verb: str, *, across: bool) -> Segment:
        """Joints that go across, or all others; those in plain Python do it for all rows, and so twice."""
        found: Segment = []
        for stack in joints:
            boundary = (boundary_rows or {}).get(id(stack), 0)
            rows = (0, boundary) if across else (boundary, stack.count)
            found.append((stack, verb, [rows]) if compiled((stack, verb)) else (stack, verb))
        return found

    def exchange(kind: str) -> Segment:
        if collectives is None:
            return []
        table = collectives.exchanges[kind]
        return [(table, "send"), (table, PAUSE), (table, "receive")]

    def across_border(verb: str, kind: str, *, tried: bool = False) -> Segment:
        """What joints do with elements of which some stand elsewhere, and show to all."""
        if collectives is None:
            return joints_(verb, tried=tried)
        own, beyond = some(verb, across=False), some(verb, across=True)
        return [*own, *exchange(kind), *beyond, *_of_rows(verb, stiff, rubbing, tried)]

    answers = across_border("compute_joint_response", kinds.ANSWERS)
    responding = [*bodies_("respond"), *answers, *_all(compliant, "compute_gains")]
    again = interface.two_matrices or interface.rubbing > 0  # it may have to be tried again
    return {
        at.BEGIN: [*_all(compliant, "save_gaps"), (interface, "use_predicted_reactions"), *joints_("apply_multipliers")],
        at.APPLY_MULTIPLIERS: joints_("apply_multipliers"),
        at.DRIFT: [*bodies_("drift"), *across_border("linearise", kinds.PLACES, tried=True)],
        at.ACCOUNT: [(elements, "steady"), *(_steady(stack) for stack, _ in works), *works, *_all(compliant, "book_losses"), *rest],
        at.ACCEPT_STEP: [(interface, "save_reaction_change"), *_all(rubbing, "note_closing"), *bodies_("accept_step")],
        at.UPDATE_OPERATOR: [*responding, (interface, "factorise")],
        at.SEE_THROUGH: _seeing(interface, forces),
        at.LOOK_AHEAD: _looking_ahead(elements, forces) if interface.watches_walls else [],
        at.FACTORISE: [(interface, "factorise")],
        at.SOLVE: [(interface, "solve"), *joints_("apply_multipliers")],
        at.UPDATE_OPERATOR_AHEAD: [
            *bodies_("respond_ahead"), *across_border("compute_joint_response", kinds.AHEAD), (interface, "factorise_ahead"),
        ],
        at.SOLVE_AHEAD: [(interface, "solve_ahead"), *joints_("apply_multipliers")],
        at.EXERT: [(elements, "use_present_velocity"), *exerting(forces)],
        at.KICK: [*bodies_("kick"), *across_border("measure_rates", kinds.RATES, tried=True)],
        at.PREDICT_REACTIONS: [(interface, "predict_reactions")],
        at.SAVE_START: bodies_("save_start") if again else [],
        at.RESTORE_START: [
            (interface, "average_reactions"), *bodies_("restore_start"), *bodies_("show"),
            *across_border("linearise", kinds.PLACES), *_all(rubbing, "look"),
        ] if again else [],
        at.SHOW: [*bodies_("show"), *([] if collectives is None else [(collectives.exchanges[kinds.RATES], "show")])],
        at.MEASURE: [*joints_("linearise"), *joints_("measure_rates"), *_all(rubbing, "look"), *exchange(kinds.LOOKED)],
        at.REEVALUATE: [
            *bodies_("reevaluate"), *map(_showing_end_velocity, bodies), (elements, "use_end_velocity"),
            *across_border("measure_rates", kinds.RECKONED),
        ],
        at.APPLY_IMPULSE: bodies_("apply_impulse"),
        at.HOLD_REACTIONS: [(interface, "hold_reactions")],
        at.CLOSE_PLACES: [(interface, "close")],
        at.STOP_RATES: [(interface, "stop")],
        at.COMPUTE_BIAS: [(interface, "compute_bias")],
        at.EXTRAPOLATE_OTHER_SIDES: [(interface, "extrapolate_other_sides"), *_reaching(members)] if members.reaching else [],
        at.INVALIDATE: bodies_("invalidate"),
        at.USE_LAST_REACTIONS: [(interface, "use_last_reactions"), *bodies_("invalidate"), *joints_("apply_multipliers")],
        at.MOVE_ALONG: [(elements, "move_along")],
        at.COMPUTE_REACTIONS: [(interface, "compute_reactions")],
        **_of_forces(interface, stiff, rubbing),
        **_trying(interface, responding),
        at.SHARE_LARGEST: exchange(kinds.LARGEST),
        at.SHARE_SUMMANDS: exchange(kinds.SUMMANDS),
        at.SHARE_SUMS: exchange(kinds.SUMS),
    }  # fmt: skip


def _trying(interface: Any, responding: Segment) -> dict[int, Segment]:
    """What a step is tried by, where something must know of its end, and how laws are asked."""
    return {
        at.RESPOND: responding if interface.damped else [],
        at.FIND_END_RATES: [(interface, "find_end_rates")] if interface.damped else [],
        at.LINEARISE_LAWS: [(rows, "linearise_laws") for rows in interface.found_forces.nonlinear],
        at.ITERATE_STEP: [(interface, "iterate_step")] if interface.glides else [],
    }


def _all(stacks: list[Any], verb: str) -> Segment:
    """What several stacks do."""
    return [(stack, verb) for stack in stacks]


def _apart(compliant: Sequence[CompliantRows]) -> tuple[list[Any], list[Any]]:
    """Stiff forces, and dry friction."""
    rubbing = [rows for rows in compliant if isinstance(rows, FrictionRows)]
    return [rows for rows in compliant if rows not in rubbing], rubbing


def _of_rows(verb: str, stiff: list[Any], rubbing: list[Any], tried: bool) -> Segment:
    """What forces that are rows do as joints do; workers work all of them out, each for itself.

    `tried`: at the end of a half of a step; elsewhere dry friction is only looked at.
    """
    residuals = [RESIDUALS[verb]] if verb in RESIDUALS else []
    asked = [(stiff, (verb, *residuals)), (rubbing, (verb, *(residuals if tried else ())))]
    return [(rows, each) for stacks, verbs in asked for rows in stacks for each in verbs]


def _of_forces(interface: Any, stiff: list[Any], rubbing: list[Any]) -> dict[int, Segment]:
    """What forces do by themselves that are rows: stiff ones, and dry friction."""
    found = {which: _all(stiff, verb) for which, verb in COMPLIANT_VERBS.items()}
    found[at.EVALUATE_LAWS] = [
        *_all(interface.found_forces.nonlinear, "linearise_now"),
        *_all([*stiff, *rubbing], "evaluate_laws"),
    ]
    found[at.RENEW_FRICTION] = _all(rubbing, "compute_gains")
    found[at.TELL] = _all(rubbing, "tell")
    found[at.DECIDE] = [(interface, "decide")] if rubbing else []
    return found


def _seeing(interface: Any, forces: list[Any]) -> Segment:
    """Forces that strike or carry are let know how bodies answer, those that come near through the joints of these."""
    told: Segment = [(stack, "note_free") for stack in forces if compiled((stack, "note_free"))]
    if interface.island_count == 0:
        told = []
    answering: Segment = [(interface, "answer_through_joints")] if interface.island_count else []
    seeing: Segment = [(interface, "see_through_joints")] if interface.touching_count else []
    return (
        told
        + answering
        + seeing
        + [(stack, "compute_mobility") for stack in forces if compiled((stack, "compute_mobility"))]
    )


def _looking_ahead(elements: Elements, forces: list[Any]) -> Segment:
    """Walls see how fast what they may stop moves now."""
    watching: Segment = [(stack, "look_ahead") for stack in forces if compiled((stack, "look_ahead"))]
    return [(elements, "use_present_velocity"), *watching]


def _reaching(members: Members) -> list[Operation]:
    """Springs that are asked between two exchanges."""
    operations: list[Operation] = [(stack, "linearise") for stack, _ in members.reaching if "linearise" in stack.loops]
    return operations + [(stack, "exert") for stack, _ in members.reaching]


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


def _showing_end_velocity(bodies: Any) -> Operation:
    """Velocities v + a dt; a stack in plain Python that predicts shows them with its prediction."""
    shows = isinstance(bodies, Table) or hasattr(bodies, "show_end_velocity")
    return bodies, "show_end_velocity" if shows else "predict"


def _steady(stack: Any) -> Operation:
    if not isinstance(stack, Table):
        return Steady(stack), "steady"
    stack.loops["steady"] = steady_loop
    return stack, "steady"
