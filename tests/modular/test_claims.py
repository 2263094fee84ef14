"""Of several processes that lack the same machine code one makes it; whoever dies over it holds nobody up for long."""

import os
import socket
import subprocess
import sys
import threading

import pytest

from modular import claims
from modular.claims import Claims
from waiting import wait_for


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sum.kernel"


def asked(path):
    """What somebody else is answered, as a list that is empty until then, and the thread that waits."""
    answers, others = [], Claims()
    waiting = threading.Thread(target=lambda: answers.append(others.take(path)))
    waiting.start()
    return answers, waiting, others


def test_one_makes_it_and_the_other_finds_it(path):
    mine = Claims()
    assert mine.take(path) and mine.take(path)
    answers, waiting, _ = asked(path)
    wait_for(lambda: path.with_name("sum.kernel.claim").exists())
    assert waiting.is_alive() and not answers
    path.write_bytes(b"code")
    waiting.join()
    assert answers == [False]
    mine.let_go()
    assert list(path.parent.iterdir()) == [path]


def test_where_the_first_could_not_the_other_does(path):
    mine = Claims()
    assert mine.take(path)
    answers, waiting, others = asked(path)
    assert waiting.is_alive()
    mine.let_go()
    waiting.join()
    assert answers == [True]
    others.let_go()
    assert not list(path.parent.iterdir())


def claimed(path, by, seconds_ago):
    """A claim that somebody left."""
    place = path.with_name("sum.kernel.claim")
    place.write_text(by)
    then = place.stat().st_mtime - seconds_ago
    os.utime(place, (then, then))


def test_a_claim_of_a_process_that_died_is_void_at_once_and_that_of_another_machine_after_a_while(path):
    died = subprocess.Popen([sys.executable, "-c", ""])
    died.wait()
    for by, seconds_ago in (
        (f"{died.pid} {socket.gethostname()}", 0.0),
        ("1 elsewhere", claims.PATIENCE + 1.0),
        ("", 11.0),
    ):
        claimed(path, by, seconds_ago)
        mine = Claims()
        assert mine.take(path)
        mine.let_go()


def test_somebody_who_lives_may_take_his_time(path):
    claimed(path, f"{os.getpid()} {socket.gethostname()}", claims.PATIENCE + 60.0)
    answers, waiting, _ = asked(path)
    waiting.join(0.2)
    assert waiting.is_alive() and not answers
    path.write_bytes(b"code")
    waiting.join()
    assert answers == [False]


def test_where_nothing_can_be_left_everybody_makes_it(tmp_path):
    assert Claims().take(tmp_path / "nowhere" / "sum.kernel")
