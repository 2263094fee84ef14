"""An edge delivers each frame once and in order, whatever the network does, and says what it waits for."""

import struct
from itertools import permutations

import pytest

from coordinator.distributed.protocol import Deadlines, Link, Malformed, Member, Neighbour, RunFailed
from coordinator.distributed.protocol.frames import Frame, Header, Kind, decode, encode
from coordinator.distributed.protocol.link import CAPACITY, Inbox, Verdict
from modular.errors import ModelError

RUN = 7
TIMES = Deadlines(patience=0.2, patience_most=1.0)


LEFT, RIGHT = Member("left", 0, 1, ""), Member("right", 1, 1, "")
TO_LEFT, TO_RIGHT = Neighbour("left", 0, 0xCAFE, 2), Neighbour("right", 1, 0xCAFE, 2)


def pair():
    """Both ends of an edge."""
    return Link(RUN, LEFT, TO_RIGHT, TIMES), Link(RUN, RIGHT, TO_LEFT, TIMES)


def successor_of_left():
    return Link(RUN, Member("left", 0, 2, ""), TO_RIGHT, TIMES)


def kept(link):
    """How long the frames are that could be sent again."""
    return [length for _, length in link.log.save()[0]]


def numbers(*values):
    return struct.pack(f"<{len(values)}d", *values)


def give(link, raw, now=0.0):
    frame = decode(raw, RUN)
    assert isinstance(frame, Frame)
    return link.receive(frame, now)


def value(payload):
    return None if payload is None else struct.unpack("<d", payload)[0]


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_frames_are_taken_in_the_order_of_the_program(order):
    left, right = pair()
    frames = [left.post(step, stage, numbers(10 * step + stage)) for step in (0, 1) for stage in (0, 1)]
    for k in order:
        assert give(right, frames[k]) == (Verdict.ACCEPTED, ())
    taken = [value(right.take(step, stage, 8, 0.0)) for step in (0, 1) for stage in (0, 1)]
    assert taken == [0.0, 1.0, 10.0, 11.0]


def test_a_frame_is_taken_once_and_its_copies_are_counted():
    left, right = pair()
    frame = left.post(0, 0, numbers(1.5))
    assert [give(right, frame)[0] for _ in range(3)] == [Verdict.ACCEPTED, Verdict.DUPLICATE, Verdict.DUPLICATE]
    assert value(right.take(0, 0, 8, 0.0)) == 1.5
    assert give(right, frame)[0] is Verdict.DUPLICATE
    assert right.take(0, 1, 8, 0.0) is None
    assert right.counts["duplicate"] == 3


@pytest.mark.parametrize("taken", [False, True])
def test_a_copy_with_other_numbers_is_a_contradiction(taken):
    (left, right), (other, _) = pair(), pair()
    give(right, left.post(0, 0, numbers(1.5)))
    if taken:
        right.take(0, 0, 8, 0.0)
    assert give(right, other.post(0, 0, numbers(1.5000001)))[0] is Verdict.CONTRADICTION


def test_a_new_incarnation_repeats_and_the_old_one_is_not_listened_to_any_more():
    left, right = pair()
    old = [left.post(step, 0, numbers(step)) for step in range(3)]
    give(right, old[0])
    right.take(0, 0, 8, 0.0)
    successor = successor_of_left()
    assert give(right, successor.post(0, 0, numbers(0)))[0] is Verdict.DUPLICATE
    assert give(right, old[1])[0] is Verdict.FENCED
    assert right.take(1, 0, 8, 0.0) is None
    assert give(right, successor.post(1, 0, numbers(1)))[0] is Verdict.ACCEPTED


def test_the_old_one_is_fenced_before_the_new_one_says_a_word():
    left, right = pair()
    right.replaced(2, 0.0)
    notice, request = left.notice(5), left.post(0, 0, numbers(1))
    right.post(0, 0, numbers(2))
    assert give(right, notice)[0] is give(right, request)[0] is Verdict.FENCED
    assert len(kept(right)) == 1


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({"layout": 1}, Verdict.LAYOUT),
        ({"joints": 3}, Verdict.LAYOUT),
    ],
)
def test_what_is_laid_out_differently_is_not_taken(change, verdict):
    _, right = pair()
    header = Header(Kind.DATA, RUN, 0, 1, 0, 0, 2, 0xCAFE)._replace(**change)
    assert give(right, encode(header, numbers(1)))[0] is verdict
    assert right.take(0, 0, 8, 0.0) is None


# --- loss -------------------------------------------------------------------------------------------------------------------


def test_a_lost_frame_is_asked_for_with_growing_patience_and_comes_from_the_log():
    left, right = pair()
    left.post(0, 0, numbers(3.5))  # lost
    assert right.take(0, 0, 8, 10.0) is None
    asked = []
    now = 10.0
    while len(asked) < 5:
        if right.request(now) is not None:
            asked.append(now)
        now += 0.01
    gaps = [b - a for a, b in zip([10.0, *asked], asked)]
    assert gaps == pytest.approx([0.2, 0.2, 0.4, 0.8, 1.0], abs=0.02)
    request = right._signal(Kind.RESEND, 0)
    verdict, answers = give(left, request)
    assert verdict is Verdict.ACCEPTED and len(answers) == 2
    for answer in answers:
        give(right, answer)
    assert value(right.take(0, 0, 8, now)) == 3.5
    assert right.ask_at is None and right.request(now + 100) is None


def test_who_is_far_behind_catches_up_withoutwaiting_for_timeouts():
    left, right = pair()
    for step in range(1000):
        left.post(step, 0, numbers(step))
    now, asked = 5.0, 0
    right.take(0, 0, 8, now - TIMES.patience)
    for step in range(1000):
        while (payload := right.take(step, 0, 8, now)) is None:
            request = right.request(now)
            assert request is not None, "waits although the frame is known to exist"
            asked += 1
            for answer in give(left, request, now)[1]:
                give(right, answer, now)
        assert value(payload) == step
    assert asked == -(-1000 // CAPACITY)


def test_answers_that_bring_nothing_are_not_asked_for_at_once_again():
    left, right = pair()
    left.post(0, 0, numbers(1))
    right.take(0, 0, 8, 0.0)
    for _ in range(3):  # only the end of each answer arrives
        now = right.ask_at
        newest = give(left, right.request(now), now)[1][-1]
        give(right, newest, now)
        assert right.request(now + 0.1) is None


def test_a_successor_is_not_pressed_for_what_only_its_predecessor_had():
    left, right = pair()
    for step in range(4):
        left.post(step, 0, numbers(step))
    give(right, left._signal(Kind.NEWEST, left.posted), 1.0)
    right.replaced(2, 1.0)
    assert right.take(0, 0, 8, 1.0) is None
    assert right.ask_at == 1.0 + TIMES.patience


def test_an_edge_without_numbers_still_exchanges_frames():
    left, right = pair()
    frame = left.post(0, 0, b"")
    assert len(frame) == 40 and give(right, frame)[0] is Verdict.ACCEPTED
    assert bytes(right.take(0, 0, 0, 0.0)) == b""


def test_too_much_too_early_is_dropped_and_asked_for_at_once_when_its_turn_comes():
    left, right = pair()
    frames = [left.post(step, 0, numbers(step)) for step in range(CAPACITY + 5)]
    verdicts = [give(right, frame)[0] for frame in frames]
    assert verdicts == [Verdict.ACCEPTED] * CAPACITY + [Verdict.FULL] * 5
    assert len(right.inbox.waiting) == CAPACITY
    for step in range(CAPACITY):
        right.take(step, 0, 8, 1.0)
    assert right.take(CAPACITY, 0, 8, 1.0) is None
    assert right.request(1.0) is not None


def test_a_frame_that_is_needed_sooner_pushes_out_the_latest():
    inbox = Inbox()
    for key in range(1, CAPACITY + 1):
        inbox.place(key, 0, memoryview(b""))
    assert inbox.place(0, 0, memoryview(b"")) is Verdict.ACCEPTED
    assert len(inbox.waiting) == CAPACITY and CAPACITY not in inbox.waiting and 0 in inbox.waiting


# --- the program ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [(3, 0), (2, 5), (0, 0)])
def test_posts_go_in_order_and_once(key):
    left, _ = pair()
    left.post(3, 0, numbers(1))
    with pytest.raises(ModelError, match="steps and stages are posted in order, each once"):
        left.post(*key, numbers(1))


@pytest.mark.parametrize("stage", [-1, 1 << 16])
def test_a_stage_has_sixteen_bits(stage):
    left, _ = pair()
    with pytest.raises(ModelError, match=f"step 3, stage {stage} cannot be posted from 'left' to 'right'"):
        left.post(3, stage, numbers(1))


def test_half_a_number_cannot_be_posted():
    left, _ = pair()
    with pytest.raises(ModelError, match="12 bytes cannot be posted to 'right'"):
        left.post(0, 0, bytes(12))
    left.post(0, 0, bytes(16))


def test_another_length_is_said_with_both_numbers():
    left, right = pair()
    give(right, left.post(4, 2, numbers(1, 2)))
    with pytest.raises(RunFailed, match=r"from 'left', step 4, stage 2 has 16 bytes, and 24 are expected"):
        right.take(4, 2, 24, 0.0)


def test_a_frame_too_many_is_found_whether_it_comes_before_or_after():
    left, right = pair()
    first, second = left.post(4, 0, numbers(1)), left.post(4, 1, numbers(2))
    give(right, first)
    give(right, second)
    with pytest.raises(RunFailed, match="step 4, stage 0 was sent, but not requested"):
        right.take(4, 1, 8, 0.0)
    _, right = pair()
    give(right, second)
    right.take(4, 1, 8, 0.0)
    assert give(right, first)[0] is Verdict.UNWANTED


def test_a_number_that_is_not_finite_is_named():
    left, right = pair()
    give(right, left.post(4, 1, numbers(1, 2, float("inf"), 3)))
    with pytest.raises(
        RunFailed, match=r"'left' sent a number that is not finite in step 4, stage 1 \(number 2 of 4\)"
    ):
        right.take(4, 1, 32, 0.0)


def test_a_wait_says_who_waits_for_whom_for_what_and_since_when():
    left, right = pair()
    give(right, left.post(1040, 0, numbers(1)), now=3.0)
    right.take(1040, 0, 8, 3.0)
    right.take(1041, 0, 8, 4.0)
    assert right.waited(16.0) == 12.0
    text = right.waiting(16.0)
    assert text == (
        "worker 'right' waits for step 1041, stage 0 from 'left' since 12.0 s, has step 1040, heard 13.0 s ago"
    )


# --- what is kept -----------------------------------------------------------------------------------------------------------


def test_the_log_is_trimmed_by_the_notice_of_the_neighbour_and_by_nothing_else():
    left, right = pair()
    for step in range(10):
        give(right, left.post(step, 0, numbers(step)))
        right.take(step, 0, 8, 0.0)
    assert kept(left) == [48] * 10
    give(left, right.notice(6))
    assert kept(left) == [48] * 4
    give(left, right.notice(3))  # a late one
    assert kept(left) == [48] * 4
    answers = give(left, right._signal(Kind.RESEND, 0))[1]
    assert [decode(raw, RUN).step for raw in answers] == [6, 7, 8, 9, 9]


def test_copies_of_what_nobody_can_ask_for_any_more_are_not_compared():
    left, right = pair()
    frames = [left.post(step, 0, numbers(step)) for step in range(4)]
    for step, frame in enumerate(frames):
        give(right, frame)
        right.take(step, 0, 8, 0.0)
    give(right, left.notice(2))
    assert len(right.inbox._keys) == 2
    assert [give(right, frame)[0] for frame in frames] == [Verdict.DUPLICATE] * 4


def test_a_long_run_keeps_no_more_than_a_short_one():
    left, right = pair()
    sizes = []
    for step in range(20_000):
        give(right, left.post(step, 0, numbers(step)))
        right.take(step, 0, 8, 0.0)
        if step % 100 == 99:
            give(left, right.notice(max(0, step - 199)))
            give(right, left.notice(max(0, step - 199)))
            sizes.append((len(kept(left)), len(right.inbox._keys), len(right.inbox._checks), len(right.inbox.waiting)))
    assert len(set(sizes[5:])) == 1 and max(sizes[-1]) <= 300


# --- checkpoints ------------------------------------------------------------------------------------------------------------


def test_a_successor_answers_for_what_its_predecessor_sent():
    left, right = pair()
    for step in range(5):
        left.post(step, 0, numbers(step))  # all lost
    saved, frames = left.save()
    successor = successor_of_left()
    successor.restore(saved, frames)
    right.replaced(2, 0.0)
    right.take(0, 0, 8, 0.0)
    for answer in give(successor, right.request(0.2), 0.2)[1]:
        give(right, answer)
    assert [value(right.take(step, 0, 8, 0.0)) for step in range(5)] == [0, 1, 2, 3, 4]
    give(right, successor.post(5, 0, numbers(5)))
    assert value(right.take(5, 0, 8, 0.0)) == 5


def test_a_successor_asks_at_once_for_what_its_predecessor_had_not_taken():
    left, right = pair()
    for step in range(3):
        give(right, left.post(step, 0, numbers(step)))
    right.take(0, 0, 8, 0.0)
    successor = Link(RUN, Member("right", 1, 2, ""), TO_LEFT, TIMES)
    successor.restore(*right.save())
    assert successor.take(1, 0, 8, 50.0) is None
    for answer in give(left, successor.request(50.0))[1]:
        give(successor, answer)
    assert value(successor.take(1, 0, 8, 50.0)) == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"posted": None}, "lacks posted or taken"),
        ({"taken": 1 << 70}, "lacks posted or taken"),
        ({"posted": True}, "lacks posted or taken"),
        ({"log": 5}, "lacks its log"),
        ({"log": [[0, 48], [0, 48]]}, "has an entry"),
        ({"log": [[0, 48], [1 << 60, 48]]}, "has an entry"),
        ({"log": [[0]]}, "has an entry"),
        ({"log": [[0, -48]]}, "has an entry"),
        ({"log": [[0, 48], [65536, 40]]}, "holds no frame at 48"),
        ({"log": [[0, 48]]}, "has 96 bytes"),
        ({"log": [[1, 48], [65536, 48]]}, "holds no frame at 0"),
    ],
)
def test_a_saved_link_that_makes_no_sense_is_refused(change, why):
    left, _ = pair()
    left.post(0, 0, numbers(0))
    left.post(1, 0, numbers(1))
    saved, frames = left.save()
    fresh, _ = pair()
    with pytest.raises(Malformed, match=why):
        fresh.restore({**saved, **change}, frames)
