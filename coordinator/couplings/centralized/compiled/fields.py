"""What a compiled step holds, as loops see it: vectors, numbers and lists by name."""

from __future__ import annotations

# what is played together
SHOW, EVALUATE, SHAPES, LINEARISE, RATES, EXERT, RECORD, ACCOUNT = range(8)
ADDRESS, SHEET, STOP = range(3)  # columns of the program
# columns of stacks of bodies: addresses of their columns, and their part of the coordinates and of the rows
Q, V, A, ACCELERATION, EFFORT, PULL, INERTIA, OPENNESS, BEND, COORDINATE, COORDINATES, ROW, ROWS = range(13)
# columns of stacks of joints: the same; what kind of joints they are; where their sides begin
PRELOAD, ERROR, RATE, LINE, LINES, HOLONOMIC, BENT, DISTANCE, LEDGER, PITCH, COUNT, FIRST_SIDE, SECOND_SIDE = range(13)
# columns of members: how many elements, where their lines, pairs and numbers begin; of joints rows and Jacobians
ELEMENTS, LINE_AT, PAIR_AT, NUMBER_AT, FIRST_ROW, ROW_COUNT, ON_FIRST, ON_SECOND, ON_FIRST_COUNT = range(9)
ELEMENT, WEIGHTS, WEIGHT_COUNT = range(3)  # of a line
LISTS = {"program": 3, "segments": 2, "bodies": 13, "joints": 13, "members": 9, "lines": 3, "pairs": 3}
PLACES = (
    "places",
    "row_places",
    "rest_places",
    "rest_row_places",
)  # of coordinates and rows among the unknowns of both matrices
VECTORS = ("q0", "v0", "q", "v", "a", "acceleration_found", "last_pull")  # as long as the coordinates
MULTIPLIERS = ("multipliers_found", "bias", "shown")  # as long as the rows
REMEMBERED = ("a0", "multipliers", "factored")  # in the memory of the system; what the factors at hand were made of
BORDER, REFERENCE = 2, 3  # of that: the step, the time and the border, before coordinates, velocities and multipliers
WHOLE_NUMBERS = (
    "size", "rows", "stack_count", "joint_stacks", "force_members", "member_count", "most_force_elements", "most_joint_elements",
    "elements_sheet", "evaluations", "factorisations", "iterations", "stencil",
    "assemble", "factorise", "solve", "residual",  # loops of factors
    "factors", "at_x", "at_work", "at_rest_factors", "at_rest_x", "at_rest_y", "at_rest_rest", "factored_now",
    "at_redundant", "at_epsilon", "unknowns", "tangent_numbers", "element_count",
)  # fmt: skip
NUMBERS = ("alpha", "extent")
EXACT, CURVED = range(2)  # stencils of second derivatives along the motion: of quadratic rows, and of any
