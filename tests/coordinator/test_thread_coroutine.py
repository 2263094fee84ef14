"""Something done turn by turn pauses where it is, goes on when told to, and ends when nobody needs it."""

import threading

import pytest

from coordinator.distributed.workers.thread_coroutine import ThreadCoroutine, _idle


def counting(said):
    """Pauses three times, if it is let."""

    def act():
        for number in range(3):
            if not coroutine.pause(number):
                return f"given up at {number}"
            said.append(number)
        return "done"

    coroutine = ThreadCoroutine(act)
    return coroutine


def test_it_does_nothing_before_it_is_told_to_go_on():
    said = []
    coroutine = counting(said)
    for number in range(3):
        assert coroutine.resume() == number
        assert said == list(range(number))
    assert coroutine.resume() is None
    assert (coroutine.result, said) == ("done", [0, 1, 2])
    coroutine.close()


def test_it_comes_to_an_end_where_it_is_given_up_and_pauses_no_more():
    said = []
    coroutine = counting(said)
    coroutine.resume()
    coroutine.resume()
    coroutine.close()
    assert (coroutine.result, said) == ("given up at 1", [0])


def test_what_it_raises_is_raised_where_it_is_told_to_go_on():
    def act():
        coroutine.pause(1)
        raise ArithmeticError("no more")

    coroutine = ThreadCoroutine(act)
    assert coroutine.resume() == 1
    with pytest.raises(ArithmeticError, match="no more"):
        coroutine.resume()
    coroutine.close()


def test_threads_are_used_again():
    before = len(_idle)
    for _ in range(5):
        coroutine = counting([])
        coroutine.resume()
        coroutine.close()
    assert len(_idle) <= max(1, before)
    assert threading.current_thread() is threading.main_thread()
