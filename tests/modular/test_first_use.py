"""Whoever interrupts the compiler finds it in one piece."""

import signal
import threading
import time

import numba
import pytest
from numba.core import event

from modular import first_use
from modular.kernel import kernel


class Impatient(event.Listener):
    """Presses Ctrl-C while the compiler is at work, more than once if told so."""

    def __init__(self, times):
        self.times, self.heard = times, 0

    def on_start(self, event):
        for _ in range(self.times):
            self.heard += 1
            signal.raise_signal(signal.SIGINT)
        self.times = 0

    def on_end(self, event):
        pass


def fresh():
    return numba.njit(lambda x: 2.0 * x + 1.0)


def test_ctrl_c_waits_until_a_kernel_is_compiled():
    kernel = fresh()
    with event.install_listener("numba:compile", Impatient(1)), pytest.raises(KeyboardInterrupt):
        kernel(3.0)
    assert len(kernel.overloads) == 1 and kernel(3.0) == 7.0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_does_not_wait():
    kernel, eager = fresh(), Impatient(3)
    with event.install_listener("numba:compile", eager), pytest.raises(KeyboardInterrupt):
        kernel(3.0)
    assert not kernel.overloads and eager.heard == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert kernel(3.0) == 7.0


def test_other_threads_and_other_handlers_are_left_alone():
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
    try:
        with event.install_listener("numba:compile", Impatient(2)):
            fresh()(3.0)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(pressed) == 2
    thread = threading.Thread(target=lambda: fresh()(3.0))
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class Loop:
    """A loop that will be needed."""

    ready = False


def test_who_waits_hears_how_many_there_are_and_when_it_is_over(monkeypatch, caplog):
    """In the log, where nobody listens: one line when the wait can be felt, and one at its end."""
    ear = first_use._CompileListener()
    monkeypatch.setattr(first_use, "_compile_listener", ear)
    monkeypatch.setattr(first_use, "_sight", {k: Loop() for k in range(44)})
    ear.began = time.perf_counter() - 1.5 * first_use.COMPILE_NOTICE_SECONDS
    kept = kernel(lambda x: 3.0 * x)
    for _ in range(2):
        ear.on_start(event.Event("numba:compile", event.EventStatus.START, {"dispatcher": kept}))
        ear.on_end(None)
    first_use.finish()
    first_use.finish()
    first, last = (record.getMessage() for record in caplog.records)
    assert first.startswith("compiling up to 44 kernels")
    assert last.startswith("compiled in 1 s")
    done = []
    with first_use.listening(lambda *_: None, lambda: done.append(1)):
        first_use.finish()
    first_use.finish()
    assert done == [1] and len(caplog.records) == 2


def test_functions_that_leave_compiled_code_for_a_while_work_beside_ours():
    """What numba lifts out of them (`objmode`) has no place on disk, and nothing to say."""

    @numba.njit
    def out_and_in(x):
        with numba.objmode(y="float64"):
            y = float(3)
        return x + y

    assert out_and_in(1.0) == 4.0
