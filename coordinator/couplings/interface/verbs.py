"""What is played together in a glued step (segments.py), by number, and how the program of it is written."""

from __future__ import annotations

# what is played together
(
    BEGIN,
    APPLY_MULTIPLIERS,
    DRIFT,
    ACCOUNT,
    ACCEPT_STEP,
    EXERT,
    KICK,
    MEASURE,
    REEVALUATE,
    SHOW,
    APPLY_IMPULSE,
    HOLD_REACTIONS,
) = range(12)
(
    UPDATE_OPERATOR,
    SOLVE,
    SOLVE_AHEAD,
    FACTORISE,
    CLOSE_PLACES,
    STOP_RATES,
    COMPUTE_BIAS,
    COMPUTE_REACTIONS,
    PREDICT_REACTIONS,
    UPDATE_OPERATOR_AHEAD,
    SAVE_START,
    RESTORE_START,
    MOVE_ALONG,
    INVALIDATE,
    EXTRAPOLATE_OTHER_SIDES,
    SHARE_LARGEST,
    SHARE_SUMMANDS,
    SHARE_SUMS,
    USE_LAST_REACTIONS,
    PREDICT_EFFORTS,
    COMPUTE_GAINS,
    EVALUATE_LAWS,
    SEE_THROUGH,
    LOOK_AHEAD,
    RESPOND,
    FIND_END_RATES,
    ITERATE_STEP,
    DECIDE,
    RENEW_FRICTION,
    TELL,
    LINEARISE_LAWS,
) = range(12, 43)
WIDTH = 5  # of the program
ADDRESS, COMPONENT, FROM, TO, WHO = range(WIDTH)
