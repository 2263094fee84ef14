"""What the interface holds, as loops see it: numbers and room by their names, and the columns of its lists."""

from __future__ import annotations

from typing import Any

from numba.extending import intrinsic

from modular.blocks import BlockType, machine_type
from modular.kernel import kernel
from modular.lanes import types
from modular.views import View

PIVOT_SHIFT = 1e-5  # of its scale, added to every pivot where the smallest reactions are looked for; see `factorise`
MACHINE_EPSILON = 2.0**-52
# matrices: W; W where joints that lock velocities alone take part; V, or W with a share added
WORK, RATES, AGAIN = range(3)
# whole numbers, as loops see them
WHOLE_NUMBERS = (
    "numbers",  # of a matrix
    "row_count", "joint_count", "joint_count_of_all", "body_count", "span_count", "motions",
    "product_count", "ahead_count", "own_count",  # of what matrices are added up from
    "stage_count", "watches_walls", "steps", "most_turns", "elements_sheet",
    "matrix", "matrix_of_all",  # which one answers now; which one where all joints take part
    "dependent", "repeated",  # rows that depend on others; those that repeat others of their own joint
    "sharp", "glides", "in_parts",
    "too_far",  # whether a body has turned too far in the step to be kept in shape
    "tried",  # whether W of rates stands as it was factorised next to where a step leads that was tried
    "guessed",  # whether stiff dampers are taken to exert what they do where a step begins, which may be far off
    "trying",  # whether a step is only tried
    "nonlinear",  # whether laws of some of them are linear for a step alone
    "implicit", "damped",  # how many joints are stiff forces; whether any has a damper
    "parted",  # whether what others exert acts as impulses, at the first and at the last of several parts of a tick
    "rubbing",  # how many joints are dry friction
    "undivided",  # whether something counts by steps, so that none may be divided where friction switches
    "instant",  # whether stiff forces exert what they do, and are not solved for; 2: nor does friction hold anything
    "anything_watched", "watched_count", "loaded_count", "other_count", "touching_count", "island_count",
    "trouble",  # why there is no next state
    "parts",  # of ticks in which a body turned too far
    "turns", "method", "local_rounds", "budget", "iterations",
    "looks_ahead",  # whether reactions are found by how joints answer where the drift has led
)  # fmt: skip
NUMBERS = (
    "factor",  # of reactions
    "added",  # a share of its scale, added to every pivot
    "trend",  # how reactions change from stage to stage
    "left_open", "gap",  # the most that was left open; by how much the joint is open that is open by most
    "spread",  # how many times what one of its sides answers a joint answers, at most; of all joints that are at hand
    "before", "first",  # the largest error or rate of the round before, and of the first one
    "gains_step",  # the step for which stiff forces have been gains_step
    "part", "start_weight", "end_weight",  # of a tick that is taken in parts: the last one; what others exert counts so often
    "relaxation",  # of what reactions of gliding joints differ by in the halves of a step: how much is taken (Aitken)
    "slack",  # times what joints may leave open: what they may in a step that is only tried
    "wrong", "lost",  # where workers move a part each: who has gone wrong in what is played; whether the tick is theirs no more
)  # fmt: skip
ASKED = 3  # numbers of which the largest of all workers is asked
STRETCHES = (
    "work", "work_of_rates", "again", "right_side", "bias", "scales", "blurs", "reaches", "summands", "body_sums", "mismatch",
    "lacked", "awaited", "asked", "moved", "opened",  # of rates that stiff dampers expect (damped.py)
    "found", "direction", "pushed",  # by local iterations
    "scratch", "blur", "reach", "whole", "rest",  # as large as the largest block
    "held_motions", "held_row",  # of a body that is struck (impact_responses.py)
    "reactions_before",  # of joints, where a step begins that is tried (switches.py)
)  # fmt: skip
SHAPE, OPEN, UNSETTLED, UNEQUAL = range(4)  # why there is no next state: a body lost its shape, a joint stays open, …
# columns of the lists
LISTS = {"joints": 26, "products": 5, "ahead": 5, "entries": 5, "updates": 5, "moves": 5, "own": 5, "holds": 3,
         "touching": 7, "grips": 3, "islands": 6, "seats": 4, "flags": 2, "island_joints": 1}  # fmt: skip
(
    SIZE, LENGTHS, GLIDING, RIGHT, DIAGONAL, ERROR, RATE, EFFORT, CARRIED, CLOSED, KICKED, FIRST, LAST, NEXT, BEYOND, MOVE,
    MOVED, ACROSS, INDEX, PLACE_COMPLIANCE, RATE_COMPLIANCE, GAP_RATE, PREDICTED_RATE, RELAXATION, LAW, FRICTION,
) = range(26)  # of a joint; the last seven are addresses of forces that are rows (modular/compliant.py), and else 0  # fmt: skip
TARGET, ONE, OTHER, ROWS, COLUMNS = range(5)  # of a product of blocks
WHERE_OF, BODY, HOLDS = range(3)  # of a side of a joint: its G, its body, and how many joints that holds


@intrinsic  # type: ignore[untyped-decorator]
def numbers_at(context: Any, address: types.Type) -> Any:
    """Numbers from an address on."""
    kind = BlockType(types.float64, (0,))

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        return builder.inttoptr(values[0], machine_type(kind.item).as_pointer())

    return kind(types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def whole_numbers_at(context: Any, address: types.Type) -> Any:
    """Whole numbers from an address on."""
    kind = BlockType(types.int64, (0,))

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        return builder.inttoptr(values[0], machine_type(kind.item).as_pointer())

    return kind(types.int64), generate


@kernel
def matrix_of(interface: View, which: int) -> Any:
    """One of the matrices."""
    if which == WORK:
        return interface.work
    return interface.work_of_rates if which == RATES else interface.again
