"""What is played together in a glued step (segments.py), by number, and how the program of it is written."""

from __future__ import annotations

# what is played together
BEGIN, PRESS, DRIFT, BOOK, ARRIVE, EXERT, KICK, LOOK, RECKON, SHOW, STRIKE, CARRY = range(12)
(
    MEET,
    ANSWER,
    ANSWER_AHEAD,
    WEIGH,
    CLOSE_PLACES,
    STOP_RATES,
    LOOK_ALONG,
    REACT,
    EXPECT,
    WEIGH_AHEAD,
    SET_OUT,
    RETREAT,
    MOVE_ALONG,
    FORGET,
    FORETELL,
    AGREE,
    ADD_UP,
    PASS_ON,
    START_OVER,
) = range(12, 31)
WIDTH = 5  # of the program
ADDRESS, WHOSE, FROM, TO, WHO = range(WIDTH)
