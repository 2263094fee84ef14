"""Something done turn by turn pauses where it is, goes on when told to, and ends when nobody needs it."""

import threading

import pytest

from coordinator.distributed.workers.turns import Turns, _idle


def counting(said):
    """Pauses three times, if it is let."""

    def act():
        for number in range(3):
            if not turns.pause(number):
                return f"given up at {number}"
            said.append(number)
        return "done"

    turns = Turns(act)
    return turns


def test_it_does_nothing_before_it_is_told_to_go_on():
    said = []
    turns = counting(said)
    for number in range(3):
        assert turns.go_on() == number
        assert said == list(range(number))
    assert turns.go_on() is None
    assert (turns.result, said) == ("done", [0, 1, 2])
    turns.close()


def test_it_comes_to_an_end_where_it_is_given_up_and_pauses_no_more():
    said = []
    turns = counting(said)
    turns.go_on()
    turns.go_on()
    turns.close()
    assert (turns.result, said) == ("given up at 1", [0])


def test_what_it_raises_is_raised_where_it_is_told_to_go_on():
    def act():
        turns.pause(1)
        raise ArithmeticError("no more")

    turns = Turns(act)
    assert turns.go_on() == 1
    with pytest.raises(ArithmeticError, match="no more"):
        turns.go_on()
    turns.close()


def test_threads_are_used_again():
    before = len(_idle)
    for _ in range(5):
        turns = counting([])
        turns.go_on()
        turns.close()
    assert len(_idle) <= max(1, before)
    assert threading.current_thread() is threading.main_thread()
