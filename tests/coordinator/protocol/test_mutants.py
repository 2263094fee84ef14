"""The days bite: with one safeguard of the protocol broken, some day goes wrong; with none broken, none does."""

import pytest
from bad_days import Day, Process, World

from coordinator.distributed.protocol import Coordinator, Link, Worker, frames, worker
from coordinator.distributed.protocol.link import Inbox, Verdict

ENOUGH = 200  # days


def first_bad_day(world, draw=Day.drawn, begin=0, days=ENOUGH):
    """What was bad about it; from the seed `begin` on, where those before are known to be well."""
    for seed in range(begin, begin + days):
        told = world(draw(seed)).run()
        if told is not None:
            return told
    return None


def broken_link(**changes):
    """A world whose workers have links with other methods."""
    link = type("BrokenLink", (Link,), changes)
    return type("BrokenWorld", (World,), {"make_worker": type("BrokenWorker", (Worker,), {"make_link": link})})


def test_duplicates_that_are_taken_again_are_caught():
    class Greedy(Inbox):
        def place(self, key, check, payload):
            if key <= self.taken:
                self.waiting[key] = (check, payload)
                return Verdict.ACCEPTED
            return super().place(key, check, payload)

        def take(self, key):
            old = [k for k in self.waiting if k < key]
            return self.waiting.pop(min(old))[1] if old and key in self.waiting else super().take(key)

        def passed_over(self):
            return None

    def init(self, *arguments):
        Link.__init__(self, *arguments)
        self.inbox = Greedy()

    assert first_bad_day(broken_link(__init__=init)) is not None


def test_incarnations_that_are_not_fenced_are_caught():
    world = broken_link(is_old=lambda self, incarnation: False)
    world.coordinator_class = type("Open", (Coordinator,), {"is_old": lambda self, seat, incarnation: False})
    assert first_bad_day(world, begin=10) is not None


def test_flipped_bits_that_no_checksum_finds_are_caught(monkeypatch):
    def believing(raw, run):
        frame = frames.decode(raw, run)
        if frame is not frames.Rejection.CHECKSUM:
            return frame
        return frames.decode(frames.stamped(bytes(raw), int.from_bytes(raw[16:20], "little")), run)

    monkeypatch.setattr(worker, "decode", believing)
    assert first_bad_day(World) is not None


def test_a_log_that_is_left_out_of_the_checkpoint_is_caught():
    def save(self):
        saved, _ = Link.save(self)
        return {**saved, "log": []}, b""

    told = first_bad_day(broken_link(save=save), begin=21)
    assert told is not None and "no progress" in told


def test_a_checkpoint_that_is_asked_for_once_is_caught():
    class Shy(Worker):
        def _ask_for_checkpoint(self, now):
            super()._ask_for_checkpoint(now)
            self._load_at = float("inf")

    world = type("ShyWorld", (World,), {"make_worker": Shy})
    told = first_bad_day(world, lambda seed: Day(seed, 3, 24, 4, 6, loss=0.2, die_at="durable", afar=True))
    assert told is not None and "no progress" in told


def test_forces_summed_in_the_order_of_arrival_are_caught():
    class Hasty(Process):
        def take_states(self, step, stage):
            missing = list(self.hears)
            came = {self.number: 0}
            while missing:
                for other in list(missing):
                    masses = self.hears[other]
                    link = self.core.links[self.world.names[other]]
                    payload = link.take(step, stage, 16 * len(masses), self.world.now)
                    if payload is None:
                        continue
                    numbers = memoryview(payload).cast("d")
                    missing.remove(other)
                    came[other] = len(came)
                    for k, m in enumerate(masses):
                        self.body.x[m], self.body.v[m] = numbers[2 * k], numbers[2 * k + 1]
                if missing:
                    yield
            owner = self.world.model.owner
            for springs in self.body.at.values():
                springs.sort(key=lambda s: came[owner[s.first]] + came[owner[s.second]])

    told = first_bad_day(type("HastyWorld", (World,), {"make_process": Hasty}))
    assert told is not None and ("other bits" in told or "different numbers" in told)


# --- safeguards beyond those -----------------------------------------------------------------------------------------


def test_a_log_that_is_trimmed_to_the_newest_checkpoint_is_caught():
    """The one before must stay within reach: the newest may turn out to be unreadable."""

    class Eager(Coordinator):
        def _checkpointed(self, seat, message, now):
            super()._checkpointed(seat, message, now)
            self._out = [self._newest(effect, seat) for effect in self._out]

        @staticmethod
        def _newest(effect, seat):
            if type(effect).__name__ != "Tell" or b'"message":"durable"' not in effect.message:
                return effect
            durable = worker.from_coordinator(effect.message)
            message = type(durable)(durable.step, durable.step)
            return type(effect)(effect.name, effect.incarnation, worker.schema.encode(message))

    world = type("EagerWorld", (World,), {"coordinator_class": Eager})
    assert first_bad_day(world, lambda seed: Day(seed, 3, 40, 4, 10, kills=3, rot=1.0)) is not None


def test_news_of_a_replacement_that_are_told_once_are_caught():
    class Curt(Coordinator):
        def _progress(self, seat, message, now):
            self._roster_of[seat.name] = 0
            super()._progress(seat, message, now)

    world = type("CurtWorld", (World,), {"coordinator_class": Curt})
    told = first_bad_day(world, lambda seed: Day(seed, 3, 24, 4, 6, loss=0.2, kills=2), begin=6)
    assert told is not None and "no progress" in told


@pytest.mark.parametrize("seed", [3, 4])
def test_nothing_broken_nothing_caught(seed):
    assert World(Day.drawn(seed)).run() is None
