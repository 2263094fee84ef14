"""Whoever interrupts the compiler finds it in one piece."""

import signal
import threading

import numba
import pytest
from numba.core import event

import modular.first_use  # noqa: F401


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
