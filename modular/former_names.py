"""Former names of verbs: a checkpoint names the loops of its tables, and one of an earlier version by the names of then."""

from __future__ import annotations

from collections.abc import Mapping

# what a verb was called, and what it is called now: on one table the first, on another the second
FORMER_VERBS: Mapping[str, tuple[str, ...]] = {
    # of joints
    "face": ("compute_joint_response",),
    "press": ("apply_multipliers",),
    "see": ("compute_compliance",),
    "see_all": ("compute_free_compliance",),
    "weigh": ("compute_seen_mass", "compute_mobility"),
    "judge": ("find_uneven",),
    "take_load": ("compute_parting",),
    "bear_load": ("update_preload",),
    "load": ("compute_load",),
    "ask": ("request_load",),
    "grow": ("compute_margin",),
    "exert_on": ("account_and_exert",),
    # of forces
    "act_again": ("apply_recorded",),
    # of bodies
    "tighten": ("bound_loads",),
    "foresee": ("show_end_velocity",),
    "go_on": ("correct_and_predict",),
    "strike": ("apply_impulse",),
    "arrive": ("accept_step",),
    "set_out": ("save_start",),
    "retreat": ("restore_start",),
    "forget": ("invalidate",),
    # of elements
    "forget_loads": ("clear_loads",),
    "take_bounds": ("save_force_bounds",),
    "keep": ("save_forces",),
    "put_back": ("restore_forces",),
    "keep_bounds": ("save_bounds",),
    "put_bounds_back": ("restore_bounds",),
    "stand": ("use_present_velocity", "place_on_course"),
    "look_ahead": ("use_end_velocity",),
    "remember": ("save_previous",),
}


def present_loops(loops: Mapping[str, str], ours: Mapping[str, str]) -> dict[str, str]:
    """Verbs and loops of a table from data, by their names of now; `ours`: those of a fresh table of the same kind.

    A loop that a coupling has added is found in the same module as before, under the name of its verb.
    """
    found = {}
    for verb, name in loops.items():
        now = verb
        if verb not in ours and verb in FORMER_VERBS:
            now = next((new for new in FORMER_VERBS[verb] if new in ours), FORMER_VERBS[verb][0])
            name = ours.get(now) or f"{name.partition(':')[0]}:{now}_loop"
        found[now] = name
    return found
