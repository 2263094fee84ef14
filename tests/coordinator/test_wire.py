"""ZeroMQ by address: what goes in comes out; and a wire that loses, doubles and damages frames changes no bit of a run."""

import ctypes
import functools
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

import scenarios
from calm import Calm
from campaign import more
from coordinator import LaunchConfig, Simulation
from coordinator.distributed.transports import by_address, zeromq
from coordinator.distributed.transports.addresses import SocketFolder
from coordinator.distributed.transports.by_address import SEND, receive, send
from coordinator.distributed.transports.zeromq import Mailbox, fresh_keys
from coordinator.distributed.workers import compiled_ticks, process
from modular import Crossing, Cut
from waiting import GUARD
from worker_threads import Threads

LIBRARY = zeromq.library()
pytestmark = pytest.mark.skipif(LIBRARY is None, reason="the functions of ZeroMQ cannot be reached here")
UNTIL = 0.02


def heard(wire, tries=2000):
    for _ in range(tries):
        size = receive(wire.numbers)
        if size >= 0:
            return wire.last(size)
    return None


@pytest.mark.parametrize(("where", "guarded"), [("tcp://127.0.0.1:*", True), ("ipc", False), ("ipc", True)])
def test_frames_of_any_length_come_as_they_were_sent(where, guarded):
    place = SocketFolder()
    keys = fresh_keys() if guarded else None
    address = place.address("a") if where == "ipc" else where
    with closing(place), closing(Mailbox(address, keys=keys)) as inbox, closing(Mailbox(keys=keys)) as other:
        if guarded:
            inbox.authorized.keys[keys.public] = "other"
        other.connect("inbox", inbox.address, key=keys.public if guarded else b"")
        wire, wire_of_other = inbox.wire(2), other.wire(2, 20)
        assert receive(wire.numbers) == by_address.NO_FRAME
        rng = np.random.default_rng(1)
        frames = [rng.integers(0, 256, size, dtype=np.uint8) for size in (0, 1, 33, 88, 5000, 300_000)]
        for frame in frames:
            assert send(wire_of_other.numbers, other.connection_handle("inbox"), frame.ctypes.data, frame.nbytes)
            assert heard(wire) == frame.tobytes()
        assert not send(wire_of_other.numbers, other.connection_handle("nobody"), frames[0].ctypes.data, 0)
        assert other.send("inbox", b"two", b"parts") and receive(wire.numbers) in (
            by_address.NO_FRAME,
            by_address.INVALID_FRAME,
        )
        other.send("inbox", b"one")
        assert heard(wire) == b"one"


def test_the_folder_where_workers_meet_is_nobody_elses_and_goes_with_them():
    import stat
    from pathlib import Path

    place = SocketFolder.on_this_machine()
    folder = Path(place.address("a").removeprefix("ipc://")).parent
    with closing(place):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()


# --- a wire that does its worst ------------------------------------------------------------------------------------------

REAL = ctypes.cast(LIBRARY.zmq_send, ctypes.c_void_p).value if LIBRARY is not None else 0


@functools.cache
def bad_send():
    """Compiled: it loses some frames, sends some twice, some once more with a flipped bit or only so; which, their step decides."""
    from numba import carray, cfunc, types
    from numba.core import cgutils
    from numba.extending import intrinsic

    send_to, real = by_address._send, REAL

    @intrinsic
    def as_words(context, address):
        def generate(_, builder, kinds, values):
            return builder.inttoptr(values[0], cgutils.int32_t.as_pointer())

        return types.CPointer(types.uint32)(types.int64), generate

    @cfunc(types.int32(types.int64, types.int64, types.int64, types.int32))
    def send_badly(line, address, size, flags):
        words = carray(as_words(address), (10,))
        step = words[5]
        damaged = step % 13 == 6 or step % 29 == 20
        if step % 37 == 3:
            return size
        if damaged:
            words[6] ^= 4
            send_to(real, line, address, size, flags)
            words[6] ^= 4
            if step % 29 == 20:
                return size
        if step % 7 == 5:
            send_to(real, line, address, size, flags)
        return send_to(real, line, address, size, flags)

    return send_badly


def model():
    chain = scenarios.load("chain", bodies=9)
    chain.when(Crossing("rod8.end", "z", -1e-4, direction=-1), Cut("ball4"))
    return chain


@pytest.fixture
def counted(monkeypatch):
    """Why compiled code came back, as often as it did."""
    found = []
    go = compiled_ticks.CompiledTicks.go

    def counting(self):
        found.append(go(self))
        return found[-1]

    monkeypatch.setattr(compiled_ticks.CompiledTicks, "go", counting)
    monkeypatch.setattr(process.gc, "freeze", lambda: None)
    return found


@pytest.mark.parametrize(("every", "workers"), [(7, 2), *more(((1, 2), (1, 3), (7, 3)))])
def test_frames_that_are_lost_doubled_and_damaged_change_no_bit(workers, every, counted, monkeypatch):
    make = Mailbox.wire

    def bad_wire(self, *settings):
        wire = make(self, *settings)
        wire.numbers[SEND] = bad_send().address
        return wire

    monkeypatch.setattr(Mailbox, "wire", bad_wire)
    with Simulation(model(), 1e-4, record_every=every) as simulation:
        alone = simulation.run(UNTIL)
    with (
        Calm() as took,
        Simulation(model(), 1e-4, record_every=every, workers=workers, launcher=LaunchConfig(Threads())) as simulation,
    ):
        together = simulation.run(UNTIL)
        assert simulation.distributed_run.pool.deaths == []
    assert together.digest == alone.digest
    assert together.events == alone.events and len(alone.events) == 1
    assert {compiled_ticks.driver.MAIL, compiled_ticks.driver.WAITS, compiled_ticks.driver.TRUE} <= set(counted)
    assert took.seconds < 60.0


def test_without_the_functions_of_zeromq_workers_do_as_well(monkeypatch):
    monkeypatch.setattr(zeromq, "library", lambda: None)
    with Simulation(model(), 1e-4, record_every=7) as simulation:
        alone = simulation.run(UNTIL)
    with Simulation(model(), 1e-4, record_every=7, workers=2, launcher=LaunchConfig(Threads())) as simulation:
        assert simulation.run(UNTIL).digest == alone.digest


def test_a_program_that_ends_without_closing_leaves_no_thread_in_zeromq():
    """Python ends threads that are left by force, and from inside of ZeroMQ that may abort the whole program."""
    script = """
import atexit, threading
atexit.register(lambda: print([t.name for t in threading.enumerate() if t is not threading.main_thread()], flush=True))
from coordinator.distributed.transports.zeromq import Mailbox, fresh_keys
left, closed = Mailbox("tcp://127.0.0.1:*", keys=fresh_keys()), Mailbox("tcp://127.0.0.1:*", keys=fresh_keys())
closed.close()
raise SystemExit(3)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=GUARD)
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "[]\n", "")
